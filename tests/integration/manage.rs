//! A manager's actions on the pages: tasks are assigned and withdrawn, people are invited by links, a run is
//! started.

use std::time::{Duration, Instant};

use crate::browser::{Browser, Server, hidden, made};
use crate::generate::{self, GEN, LOOP, served};

#[test]
fn work_is_looked_at_before_it_is_given_and_taken_back_where_it_was_a_mistake() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let place = "/curate/brainteaser/validity/assign";
    let page = boss.get(&server, place).body;
    // English puzzles are not offered to people who only read Chinese.
    assert!(page.contains("does not read en") && page.contains("value=\"junior-1\" disabled"), "{page}");
    let csrf = hidden(&page, "csrf");
    // Nobody ticked is nobody, and an answer cannot be wanted by a day that is past.
    let nobody = boss.post(&server, place, &[("csrf", &csrf), ("round", "vote"), ("overlap", "0")]);
    assert!(nobody.status == 400 && nobody.body.contains("at least one annotator"), "{}", nobody.body);
    let past = [("csrf", &*csrf), ("round", "vote"), ("to", "annotator-1"), ("until", "2020-01-01")];
    let past = boss.post(&server, place, &past);
    assert!(past.status == 400 && past.body.contains("2020-01-01, is past"), "{}", past.body);
    let people = [("to", "annotator-1"), ("to", "annotator-2"), ("to", "annotator-3")];
    let mut wish = vec![("csrf", csrf.as_str()), ("round", "vote"), ("overlap", "0")];
    wish.extend(people);
    let preview = boss.post(&server, place, &wish).body;
    let file = "raw/votes/assigned/brainteaser.validity.jsonl";
    assert!(preview.contains("id=\"preview\"") && !workspace.exists(file), "nothing is given by looking");
    let digest = hidden(&preview, "digest");
    let with = |digest: &str, more: &[(&'static str, &'static str)]| {
        let mut fields: Vec<(&str, String)> = wish.iter().map(|(k, v)| (*k, (*v).to_string())).collect();
        fields.push(("digest", digest.to_string()));
        fields.extend(more.iter().map(|(k, v)| (*k, (*v).to_string())));
        fields
    };
    let send = |browser: &mut Browser, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        browser.post(&server, place, &fields)
    };
    let other = send(&mut boss, &with("0000", &[]));
    assert!(other.body.contains("Something has changed") && !workspace.exists(file), "{}", other.body);
    assert_eq!(send(&mut boss, &with(&digest, &[])).status, 303);
    let given = workspace.read(file);
    let lines = given.lines().count();
    assert!(lines > 0 && !given.contains("junior") && given.contains("\"at\":\""), "{given}");
    // Pressed twice, it is assigned once.
    assert!(send(&mut boss, &with(&digest, &[])).body.contains("Something has changed"));
    assert_eq!(workspace.read(file).lines().count(), lines);
    let page = boss.get(&server, place).body;
    let undo = hidden(&page, "undo");
    assert_eq!(boss.post(&server, place, &[("csrf", &csrf), ("undo", &undo)]).status, 303);
    assert_eq!(workspace.read(file).lines().count(), 2 * lines, "what was given stays on record");
    assert!(!boss.get(&server, place).body.contains("name=\"undo\""));
    let status = workspace.call(["review", "status", "--recipe", "brainteaser", "--json"]).expect(0).out;
    assert!(!status.contains("\"assigned\": 1"), "{status}");
    workspace.audit_clean();
}

#[test]
fn an_invitation_opens_what_it_says_once() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut boss = Browser::default();
    let csrf = boss.mark(&server, "/people");
    let ask = |browser: &mut Browser, csrf: &str, name: &str, rank: &str| {
        browser.post(&server, "/people/invite", &[("csrf", csrf), ("name", name), ("rank", rank)])
    };
    let link = |page: &str| {
        let page = page.replace("&#x2f;", "/");
        let at = page.find("/join/").expect("a link");
        page[at..].split('"').next().unwrap().to_string()
    };
    let refused = ask(&mut boss, &csrf, "annotator-1", "annotator");
    assert_eq!(refused.status, 400, "the first who comes in must be a curator");
    let own = link(&ask(&mut boss, &csrf, "meta-1", "curator").body);
    assert_eq!(boss.get(&server, "/curate").status, 200, "nobody is shut out yet");
    // Viewing does not use it up.
    assert_eq!(server.get(&own).status, 200);
    let mark = boss.mark(&server, &own);
    assert_eq!(boss.post(&server, &own, &[("csrf", &mark)]).status, 303);
    assert_eq!(boss.get(&server, "/curate").status, 200);
    assert_eq!(server.get("/curate").status, 303, "others need one now");
    let csrf = boss.mark(&server, "/people");
    assert_eq!(ask(&mut boss, &csrf, "nobody", "annotator").status, 400);
    let theirs = link(&ask(&mut boss, &csrf, "annotator-1", "annotator").body);
    let mut one = Browser::default();
    let mark = one.mark(&server, &theirs);
    assert_eq!(one.post(&server, &theirs, &[("csrf", &mark)]).status, 303);
    assert_eq!((one.get(&server, "/review").status, one.get(&server, "/curate").status), (200, 403));
    let mut late = Browser::default();
    let mark = late.mark(&server, "/login");
    assert_eq!(late.get(&server, &theirs).status, 410);
    assert_eq!(late.post(&server, &theirs, &[("csrf", &mark)]).status, 410);
    let out = |name: &str, boss: &mut Browser| {
        boss.post(&server, "/people/revoke", &[("csrf", &csrf), ("name", name)]).status
    };
    assert_eq!((out("meta-1", &mut boss), out("annotator-1", &mut boss)), (400, 303));
    assert_eq!(one.get(&server, "/review").status, 303, "shut out at once");
    // From the command line, too.
    let path = workspace.call(["access", "invite", "looker", "--rank", "reader"]).expect(0).out;
    let mut looker = Browser::default();
    let mark = looker.mark(&server, path.trim());
    assert_eq!(looker.post(&server, path.trim(), &[("csrf", &mark)]).status, 303);
    assert_eq!((looker.get(&server, "/").status, looker.get(&server, "/people").status), (200, 403));
}

/// Polls the page of runs until it says so.
fn until(browser: &mut Browser, server: &Server, what: &str) -> String {
    let begun = Instant::now();
    loop {
        let page = browser.get(server, "/run").body;
        if page.contains(what) {
            return page;
        }
        assert!(begun.elapsed() < Duration::from_secs(180), "no {what:?} in {page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_run_from_the_page_asks_before_it_pays() {
    let endpoint = generate::Server::start(None);
    let ws = served(&endpoint);
    let settings = ws.read("pipeline.toml");
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 100 }\n";
    ws.write("pipeline.toml", settings.replace("free = true\n", prices));
    let server = Server::start(&ws, &LOOP);
    let mut boss = Browser::default();
    let page = boss.get(&server, "/run").body;
    assert!(page.contains("not made yet") || page.contains("stale"), "what a run would do: {page}");
    let csrf = hidden(&page, "csrf");
    let start = |boss: &mut Browser| boss.post(&server, "/run", &[("csrf", &csrf), ("recipe", GEN)]).status;
    assert_eq!(start(&mut boss), 303);
    let asked = until(&mut boss, &server, "name=\"answer\"");
    assert!(asked.contains("about $") && endpoint.count() == 0, "nothing is sent before a yes: {asked}");
    assert_eq!(start(&mut boss), 409, "one at a time");
    boss.post(&server, "/run", &[("csrf", &csrf), ("answer", "no")]);
    let ended = until(&mut boss, &server, "not agreed");
    assert!(ended.contains("nothing was sent") && endpoint.count() == 0, "{ended}");
    assert_eq!(start(&mut boss), 303);
    until(&mut boss, &server, "name=\"answer\"");
    boss.post(&server, "/run", &[("csrf", &csrf), ("answer", "yes")]);
    let done = until(&mut boss, &server, "The run is done.");
    assert!(endpoint.count() > 0 && done.contains("/ruozhibench-gen/release/candidate"), "{done}");
    let events = boss.get(&server, "/run/events");
    assert!(
        events.head.contains("text/event-stream") && events.body.contains("event: over"),
        "{}",
        events.body
    );
    drop(server);
    // pipeline.toml says who may.
    let nobody = Server::start(&ws, &["--set", "run.from_pages=nobody"]);
    let csrf = boss.mark(&nobody, "/people");
    assert_eq!(boss.post(&nobody, "/run", &[("csrf", &csrf), ("recipe", GEN)]).status, 403);
    assert!(!boss.get(&nobody, "/run").body.contains("Start the run"));
}

#[test]
fn pages_do_not_agree_for_the_machine() {
    let endpoint = generate::Server::start(None);
    let ws = served(&endpoint);
    let settings = ws.read("pipeline.toml");
    // A host that these tests did not agree to, and a variable that every process has.
    let address = format!("127.0.0.1:{}", endpoint.port);
    assert!(settings.contains(&address), "{settings}");
    let settings = settings.replace(&address, &format!("127.0.0.2:{}", endpoint.port));
    ws.write("pipeline.toml", settings.replace("free = true\n", "free = true\nkey_env = \"PATH\"\n"));
    let server = Server::start(&ws, &LOOP);
    let mut boss = Browser::default();
    let csrf = hidden(&boss.get(&server, "/run").body, "csrf");
    assert_eq!(boss.post(&server, "/run", &[("csrf", &csrf), ("recipe", GEN)]).status, 303);
    let ended = until(&mut boss, &server, "nothing was sent");
    assert!(ended.contains("the value of PATH") && !ended.contains("name=\"answer\""), "{ended}");
    assert_eq!(endpoint.count(), 0);
}

#[test]
fn pages_are_sent_compressed_to_whoever_takes_them_so() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut one = Browser::default();
    let plain = one.get(&server, "/");
    assert!(!plain.head.contains("content-encoding"));
    let small = one.send(&server, "GET", "/", &["Accept-Encoding: gzip"], "").unwrap();
    assert!(small.head.contains("content-encoding: gzip"), "{}", small.head);
}
