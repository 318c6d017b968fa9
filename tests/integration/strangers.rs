//! What somebody else's workspace may not do to this machine, and what one person's page does to another's.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::browser::{Browser, Server, coded, hidden, item, made};
use crate::generate::{self, GEN, LOOP, served};
use crate::harness::{CallResult, Workspace, source};
use crate::log_damages::chained;

/// Calls the command, which must end by itself.
fn call_within(ws: &Workspace, limit: Duration, args: &[&str]) -> CallResult {
    let mut command = ws.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            panic!("{args:?} waits");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    CallResult::new(child.wait_with_output().unwrap())
}

/// A workspace with one dump of posts.
fn with_posts(lines: &str, settings: &str) -> Workspace {
    let source = source("dump", "table", "raw/dumps/dump.jsonl");
    let fields = "fields = { id = \"tieba:{id}\", content = \"content\" }\n";
    let ws = Workspace::with(&format!("{source}{fields}\n{settings}"));
    ws.write("raw/dumps/dump.jsonl", lines);
    ws
}

const SOON: Duration = Duration::from_secs(60);

fn said(result: &CallResult) -> String {
    format!("{}{}", result.out, result.err)
}

#[test]
fn a_link_in_a_release_is_neither_served_nor_verified() {
    let ws = made();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    fs::write(&secret, "root:x:0:0").unwrap();
    let candidate = ws.path("output/flub/candidate");
    symlink(&secret, candidate.join("leak.txt")).unwrap();
    symlink(outside.path(), candidate.join("folder")).unwrap();
    // A link inside of the workspace is a file like others.
    symlink("README.md", candidate.join("card.md")).unwrap();
    let server = Server::start(&ws, &[]);
    let page = server.get("/flub/release/candidate").body;
    assert!(page.contains("README.md") && !page.contains("leak.txt"), "{page}");
    for name in ["leak.txt", "folder/secret.txt", "folder"] {
        let answer = server.get(&format!("/flub/release/candidate/file/{name}"));
        assert_eq!(answer.status, 404, "{name}: {}", answer.body);
        assert!(!answer.body.contains("root:x"), "{name}");
    }
    assert_eq!(server.get("/flub/release/candidate/file/card.md").status, 200);
    let verified = ws.call(["verify", "output/flub/candidate"]);
    assert_ne!(verified.code, 0);
    assert!(said(&verified).contains("leak.txt"), "{}", said(&verified));
    // The manifest, the table and the checksums are read by the same function.
    for name in ["MANIFEST.json", "SHA256SUMS", "README.md", "data/flub/test.jsonl"] {
        let path = candidate.join(name);
        let kept = fs::read(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        fs::write(outside.path().join("copy"), &kept).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(outside.path().join("copy"), &path).unwrap();
        for address in
            ["/flub/release/candidate", "/flub/release/candidate/card", "/flub/release/candidate/rows"]
        {
            let answer = server.get(address);
            assert!(!answer.body.contains("panicked"), "{name} {address}");
        }
        assert_ne!(server.get(&format!("/flub/release/candidate/file/{name}")).status, 200, "{name}");
        assert_ne!(ws.call(["verify", "output/flub/candidate"]).code, 0, "{name}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
}

/// Calls the command where nobody has agreed to anything.
fn unagreed(ws: &Workspace, args: &[&str]) -> CallResult {
    CallResult::new(ws.command(args).env_remove("RIDDLEMILL_TRUST").output().unwrap())
}

#[test]
fn nothing_is_cleaned_behind_a_link() {
    // Who made a workspace on this machine needs no further yes.
    let ws = made().copy();
    let disk = tempfile::tempdir().unwrap();
    let old = [".old-02_clean/keep.txt", ".making-02_clean/keep.txt"];
    // A recipe's folder, and then all of staged/ and output/.
    for linked in ["staged/flub", "staged", "output/flub", "output"] {
        let target = disk.path().join(linked.replace('/', "-"));
        fs::rename(ws.path(linked), &target).unwrap();
        symlink(&target, ws.path(linked)).unwrap();
        for name in old {
            for folder in [target.clone(), target.join("flub")] {
                let place = folder.join(name);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, "mine").unwrap();
            }
        }
        let before = listing(&target);
        let run = unagreed(&ws, &["run", "--offline"]);
        assert_ne!(run.code, 0, "{linked}: {}", said(&run));
        assert!(said(&run).contains("link") || said(&run).contains("leads out"), "{linked}: {}", said(&run));
        unagreed(&ws, &["run", "--offline", "--force"]);
        assert_eq!(listing(&target), before, "{linked}");
        if linked == "staged" {
            // Its owner may keep it on a larger disk.
            let mut yes = ws.command(["status"]);
            let yes = yes.env("RIDDLEMILL_TRUST", target.canonicalize().unwrap()).output().unwrap();
            assert_eq!(yes.status.code(), Some(0), "{}", String::from_utf8_lossy(&yes.stderr));
        }
        fs::remove_file(ws.path(linked)).unwrap();
        fs::rename(&target, ws.path(linked)).unwrap();
        for name in [".old-02_clean", ".making-02_clean"] {
            ws.remove(&format!("{linked}/{name}"));
            ws.remove(&format!("{linked}/flub/{name}"));
        }
        ws.remove("staged/flub/flub");
        ws.remove("output/flub/flub");
    }
    ws.run();
}

/// Every file below a folder with its content, without locks.
fn listing(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(place) = waiting.pop() {
        for entry in fs::read_dir(&place).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_salvage_follows_no_name_out_of_raw() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("notes.jsonl");
    let absolute = victim.display().to_string();
    let up = format!("../../{}/notes.jsonl", outside.path().file_name().unwrap().to_string_lossy());
    for name in [absolute.as_str(), &up, "../pipeline.toml", "votes/../../pipeline.toml", "../x/000001"] {
        fs::write(&victim, "{\"a\":1}\nno JSON\n").unwrap();
        let ws = Workspace::with("");
        let head = format!(
            "{{\"file\":{},\"bytes\":100,\"at\":\"{}\"}}",
            serde_json::to_string(name).unwrap(),
            "0".repeat(32)
        );
        ws.write("raw/heads.jsonl", chained("heads.jsonl", &[&head]));
        let found = ws.call(["fsck"]).expect(1);
        assert!(found.out.contains("leads out of"), "{name}: {}", found.out);
        let salvaged = ws.call(["fsck", "--salvage"]);
        assert!(salvaged.out.contains("salvaged raw/heads.jsonl"), "{name}: {}", said(&salvaged));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "{\"a\":1}\nno JSON\n", "{name}");
        assert_eq!(ws.read("pipeline.toml"), "", "{name}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "{name}");
    }
    // A log that is a link is moved aside itself.
    let ws = Workspace::with("");
    ws.call(["access", "grant", "ann", "--rank", "reader"]).expect(0);
    fs::write(&victim, "{\"a\":1}\nno JSON\n").unwrap();
    ws.remove("raw/access.jsonl");
    symlink(&victim, ws.path("raw/access.jsonl")).unwrap();
    let found = ws.call(["fsck"]).expect(1);
    assert!(found.out.contains("leads out of the workspace"), "{}", found.out);
    ws.call(["fsck", "--salvage"]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "{\"a\":1}\nno JSON\n");
}

#[test]
fn pipes_sockets_and_devices_are_refused_and_not_waited_for() {
    let pipe = |ws: &Workspace, path: &str| {
        ws.remove(path);
        fs::create_dir_all(ws.path(path).parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(ws.path(path)).status().unwrap().success());
    };
    let dump = "{\"id\": \"p1\", \"content\": \"雨伞怕不怕太阳？\"}\n";
    for path in [
        "raw/dumps/dump.jsonl",
        "raw/salt",
        "raw/votes/000001.jsonl",
        "raw/decisions/000001.jsonl",
        "raw/heads.jsonl",
        "raw/access.jsonl",
        "raw/withdrawn.jsonl",
        "raw/replies/000001.jsonl",
        "raw/warc/a/00001.warc",
    ] {
        let ws = with_posts(dump, "");
        pipe(&ws, path);
        let fsck = call_within(&ws, SOON, &["fsck"]);
        assert!(
            fsck.code != 0 && ["a named pipe", "is not a file"].iter().any(|what| said(&fsck).contains(what)),
            "{path}: {}",
            said(&fsck)
        );
        for args in [&["status"][..], &["run", "--offline"], &["status", "--verify"], &["fsck", "--salvage"]]
        {
            call_within(&ws, SOON, args);
        }
    }
    let ws = with_posts(dump, "");
    ws.remove("raw/dumps/dump.jsonl");
    symlink("/dev/zero", ws.path("raw/dumps/dump.jsonl")).unwrap();
    for args in [&["fsck"][..], &["run", "--offline"]] {
        let result = call_within(&ws, SOON, args);
        let named = ["a device", "is not a file"].iter().any(|what| said(&result).contains(what));
        assert!(result.code != 0 && named, "{}", said(&result));
    }
    // A dump may be a link.
    ws.remove("raw/dumps/dump.jsonl");
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("dump"), dump).unwrap();
    symlink(elsewhere.path().join("dump"), ws.path("raw/dumps/dump.jsonl")).unwrap();
    ws.call(["fsck"]).expect(0);
}

#[test]
fn heads_saved_by_an_editor_are_seen() {
    let ws = Workspace::with("");
    ws.call(["access", "grant", "ann", "--rank", "reader"]).expect(0);
    ws.call(["fsck"]).expect(0);
    let heads = ws.read("raw/heads.jsonl");
    ws.write("raw/heads.jsonl", heads.replace('\n', "\r\n"));
    let found = ws.call(["fsck"]).expect(1);
    assert!(found.out.contains("heads.jsonl") && found.out.contains("line ends"), "{}", found.out);
    ws.call(["fsck", "--salvage"]);
    ws.call(["fsck"]).expect(0);
}

/// It was called damaged, and a backup was advised.
#[test]
fn what_a_newer_program_wrote_is_called_that() {
    let ws = Workspace::with("");
    ws.call(["access", "grant", "ann", "--rank", "reader"]).expect(0);
    let granted = ws.read("raw/access.jsonl");
    let mut line: Value = serde_json::from_str(&granted).unwrap();
    line.as_object_mut().unwrap().remove("chain");
    let own = granted.split(",\"chain\"").next().unwrap().to_owned() + "}";
    let newer = own.replace("\"rank\":\"reader\"", "\"rank\":\"overseer\"");
    assert_ne!(own, newer);
    let text = chained("access.jsonl", &[&own, &newer]);
    assert!(text.starts_with(&granted), "the test's chain is the program's: {text} {granted}");
    ws.write("raw/access.jsonl", &text);
    let found = ws.call(["fsck"]).expect(1);
    assert!(found.out.contains("newer riddlemill") && !found.out.contains("backup"), "{}", found.out);
    let salvaged = ws.call(["fsck", "--salvage"]).expect(1);
    assert!(!salvaged.out.contains("salvaged"), "{}", salvaged.out);
    assert_eq!(ws.read("raw/access.jsonl"), text, "nothing of it is thrown away");
    assert_ne!(ws.call(["access", "grant", "bob", "--rank", "reader"]).code, 0);

    let heads = ws.read("raw/heads.jsonl");
    let lines: Vec<String> =
        heads.lines().map(|line| line.split(",\"chain\"").next().unwrap().to_owned() + "}").collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("{\"file\":[\"access.jsonl\"],\"bytes\":1,\"at\":\"00\"}");
    ws.write("raw/heads.jsonl", chained("heads.jsonl", &lines));
    let found = ws.call(["fsck"]).expect(1);
    assert!(found.out.contains("newer riddlemill"), "{}", found.out);
}

/// A run from a page that was closed held its recipe for good.
#[test]
fn a_question_that_nobody_looks_at_is_withdrawn() {
    let endpoint = generate::Server::start(None);
    let ws = served(&endpoint);
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 100 }\n";
    let settings = ws.read("pipeline.toml").replace("free = true\n", prices);
    ws.write("pipeline.toml", settings);
    let server = Server::start(&ws, &LOOP);
    let mut boss = Browser::default();
    let csrf = hidden(&boss.get(&server, "/run").body, "csrf");
    assert_eq!(boss.post(&server, "/run", &[("csrf", &csrf), ("recipe", GEN)]).status, 303);
    let start = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        // Whoever looks at the page keeps the question: only the command line is asked.
        let run = ws.call(["run", "--recipe", GEN, "--offline"]);
        if run.code == 0 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{}", said(&run));
    }
    let page = boss.get(&server, "/run").body;
    assert!(page.contains("nobody answered the question"), "{page}");
    assert_eq!(endpoint.count(), 0);
}

/// Two texts that take minutes to compare, and a Ctrl-C in the middle.
#[test]
fn ctrl_c_ends_a_long_comparison_within_two_seconds() {
    let ws =
        with_posts("", "[filter]\nmax_chars = 1000000\n\n[dedup]\nmetric = \"indel\"\nthreshold = 0.5\n");
    let mut draw = 1_u64;
    let mut letter = || {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from_u32(0x4E00 + (draw >> 33) as u32 % 3000).unwrap()
    };
    // Alike, so that each is compared whole with each other.
    let base: Vec<char> = (0..150_000).map(|_| letter()).collect();
    let lines: Vec<String> = (0..12)
        .map(|n| {
            let changed = |(at, c): (usize, &char)| if at % 10 == 0 { letter() } else { *c };
            let text: String = base.iter().enumerate().map(changed).collect();
            serde_json::json!({ "id": format!("p{n}"), "content": format!("{text}？") }).to_string()
        })
        .collect();
    ws.write("raw/dumps/dump.jsonl", lines.join("\n"));
    let mut run = ws.interruptible(["run", "--recipe", "flub", "--offline"]);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // In whichever rule it is by then.
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(50));
        if ws.exists("staged/flub") {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "it is over");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let asked = Instant::now();
    let status = child.wait().unwrap();
    assert!(asked.elapsed() < Duration::from_millis(2500), "{:?}", asked.elapsed());
    assert_eq!(status.code(), Some(130));
}

/// A copy of the advisories is not taken for today's.
#[test]
fn how_old_the_known_advisories_are_is_told() {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("crates")).unwrap();
    let told = |of: Option<&str>| {
        match of {
            Some(date) => fs::write(copy.path().join("DATE"), date).unwrap(),
            None => drop(fs::remove_file(copy.path().join("DATE"))),
        }
        let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/advisories"));
        let output = command.arg("--age").env("RIDDLEMILL_ADVISORIES", copy.path()).output().unwrap();
        CallResult::new(output)
    };
    let today = Command::new("date").args(["-u", "-d", "5 days ago", "+%F"]).output().unwrap().stdout;
    let fresh = told(Some(&String::from_utf8(today).unwrap()));
    assert!(fresh.code == 0 && fresh.out.contains("5 days old"), "{}", said(&fresh));
    let old = told(Some("2020-01-01\n"));
    assert!(old.code == 4 && old.out.contains("older than 90 days"), "{}", said(&old));
    let undated = told(None);
    assert!(undated.code == 4 && undated.out.contains("of when it is"), "{}", said(&undated));
}

/// A sample workspace after a run, with one annotator and one adjudicator more.
fn with_more_people() -> Workspace {
    let ws = Workspace::sample();
    let more = ["annotator", "meta"].iter().zip(["annotator-4", "meta-2"]).map(|(role, name)| {
        format!("\n[[annotator]]\nname = \"{name}\"\nrole = \"{role}\"\nlanguages = [\"zh\", \"en\"]\n")
    });
    let settings = ws.read("pipeline.toml") + &more.collect::<String>();
    ws.write("pipeline.toml", settings);
    ws.run();
    ws
}

/// A vote of an open page.
fn vote(server: &Server, place: &str, who: &str, page: &str, answer: &[(&str, &str)]) -> (u16, String) {
    let mut browser = Browser::default();
    let csrf = browser.mark(server, "/run");
    let (id, hash, base) = item(page);
    let mut fields =
        vec![("csrf", csrf.as_str()), ("as", who), ("item", &id), ("hash", &hash), ("base", &base)];
    fields.extend(answer);
    let answer = browser.post(server, place, &fields);
    (answer.status, answer.body)
}

/// Of 8,443 votes by fifty people without assignments, 2,256 were thrown away.
#[test]
fn an_answer_that_comes_second_is_one_more_vote() {
    let ws = with_more_people();
    let server = Server::start(&ws, &[]);
    let place = "/review/ruozhibench-gen/translation/vote";
    let open = |who: &str, of: &str| {
        let asked = if of.is_empty() { String::new() } else { format!("&item={}", coded(of)) };
        Browser::default().get(&server, &format!("{place}?as={who}{asked}")).body
    };
    let first = open("annotator-1", "");
    let (id, ..) = item(&first);
    let pages: Vec<String> =
        ["annotator-1", "annotator-2", "annotator-3"].iter().map(|who| open(who, &id)).collect();
    for (n, page) in pages.iter().enumerate() {
        let who = format!("annotator-{}", n + 1);
        let text = format!("Does my umbrella mind the sun, asks {who}?");
        let answer = [("f.verdict", "rewrite"), ("f.question_en", text.as_str()), ("n.text", "a remark")];
        let (status, body) = vote(&server, place, &who, page, &answer);
        assert_eq!(status, 200, "{who}: {body}");
    }
    assert_eq!(ws.read("raw/votes/000001.jsonl").lines().count(), 3);
    let notes = ws.read("raw/votes/notes/ruozhibench-gen.translation.jsonl");
    assert_eq!(notes.matches("a remark").count(), 3, "{notes}");
    // Whoever has not seen the texts is not heard.
    let unseen = pages[0].replace("name=\"hash\" value=\"", "name=\"hash\" value=\"0");
    let (status, body) = vote(&server, place, "annotator-4", &unseen, &[("f.verdict", "rewrite")]);
    assert_eq!(status, 403, "{body}");
}

#[test]
fn two_people_who_ask_at_once_get_different_items_and_one_decides() {
    let ws = with_more_people();
    let server = Server::start(&ws, &[]);
    let get = |place: &str, who: &str| Browser::default().get(&server, &format!("{place}?as={who}")).body;
    // One page more than an item needs votes: the last one is another item.
    let place = "/review/ruozhibench-gen/category/vote";
    let ids: Vec<String> = (1..=3).map(|n| item(&get(place, &format!("annotator-{n}"))).0).collect();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    // An open page stays that person's.
    assert_eq!(item(&get(place, "annotator-1")).0, ids[0]);
    for (who, answer) in [("annotator-1", "1"), ("annotator-2", "2")] {
        let page = get(place, who);
        let (status, body) = vote(&server, place, who, &page, &[("f.categories", answer), ("f.sure", "yes")]);
        assert_eq!(status, 200, "{body}");
    }
    // Of two adjudicators the first decides; the second is told, and keeps what they wrote.
    let place = "/review/ruozhibench-gen/category/adjudication";
    let page = get(place, "meta-1");
    let answer = [("f.categories", "1"), ("f.reason", "The trap is plain.")];
    assert_eq!(vote(&server, place, "meta-1", &page, &answer).0, 200);
    let late = [("f.categories", "2"), ("f.reason", "I think otherwise.")];
    let (status, body) = vote(&server, place, "meta-2", &page, &late);
    assert!(status == 409 && body.contains("answered"), "{status} {body}");
    // Without the script, the page has the text.
    let mut browser = Browser::default();
    let csrf = browser.mark(&server, "/run");
    let (id, hash, _) = item(&page);
    let form = format!(
        "csrf={csrf}&as=meta-2&item={}&hash={}&base=&f.categories=2&f.reason=I+think+otherwise.",
        coded(&id),
        coded(&hash)
    );
    let answer = browser.send(&server, "POST", place, &[], &form).unwrap();
    assert!(answer.status == 409 && answer.body.contains("I think otherwise."), "{}", answer.body);
    assert!(answer.body.contains("Somebody else has answered"), "{}", answer.body);
    assert_eq!(ws.read("raw/votes/000001.jsonl").lines().count(), 3);
}
