//! The pages as a browser asks for them: what they show, what they never show, and what becomes of votes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::harness::{Workspace, title};

/// A server at work; killed when it goes out of scope.
struct Server {
    child: Child,
    address: String,
}

/// An answer.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

/// A browser without a screen: it keeps its cookies.
#[derive(Clone, Default)]
struct Browser {
    cookies: Vec<(String, String)>,
}

impl Server {
    fn start(workspace: &Workspace, more: &[&str]) -> Server {
        let mut command = workspace.command(["serve", "--port", "0"].iter().chain(more));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_string();
        Server { child, address }
    }

    /// Sends bytes and reads whatever comes back.
    fn raw(&self, request: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request).ok()?;
        let mut bytes = Vec::new();
        // A server that was killed in between leaves less than an answer.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head: head.to_lowercase(), body: body.to_string() })
    }

    fn get(&self, path: &str) -> Answer {
        Browser::default().get(self, path)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    fn get(&mut self, server: &Server, path: &str) -> Answer {
        self.send(server, "GET", path, &[], "").expect("an answer")
    }

    fn post(&mut self, server: &Server, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.try_post(server, path, fields).expect("an answer")
    }

    fn try_post(&mut self, server: &Server, path: &str, fields: &[(&str, &str)]) -> Option<Answer> {
        let body: Vec<String> = fields.iter().map(|(k, v)| format!("{}={}", coded(k), coded(v))).collect();
        self.send(server, "POST", path, &["Accept: application/json"], &body.join("&"))
    }

    fn send(
        &mut self,
        server: &Server,
        method: &str,
        path: &str,
        more: &[&str],
        body: &str,
    ) -> Option<Answer> {
        let cookies: Vec<String> = self.cookies.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !more.iter().any(|line| line.starts_with("Host:")) {
            request.push_str(&format!("Host: {}\r\n", server.address));
        }
        if !cookies.is_empty() {
            request.push_str(&format!("Cookie: {}\r\n", cookies.join("; ")));
        }
        if method == "POST" {
            let kind = "application/x-www-form-urlencoded";
            request.push_str(&format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()));
        }
        more.iter().for_each(|line| request.push_str(&format!("{line}\r\n")));
        let answer = server.raw(format!("{request}\r\n{body}").as_bytes())?;
        for line in answer.head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = line.split(';').next()?.split_once('=')?;
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_string(), value.to_string()));
        }
        Some(answer)
    }

    /// The mark that this browser's forms carry.
    fn mark(&mut self, server: &Server, path: &str) -> String {
        hidden(&self.get(server, path).body, "csrf")
    }

    fn login(server: &Server, token: &str) -> Browser {
        let mut browser = Browser::default();
        let csrf = browser.mark(server, "/login");
        let answer = browser.post(server, "/login", &[("csrf", &csrf), ("token", token)]);
        assert_eq!(answer.status, 303, "{}", answer.body);
        browser
    }
}

/// A form's coding of a text.
fn coded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The value of a hidden field.
fn hidden(html: &str, name: &str) -> String {
    let at = format!("name=\"{name}\" value=\"");
    let rest = html.split_once(&at).unwrap_or_else(|| panic!("no {name} in {html}")).1;
    rest.split('"').next().unwrap().to_string()
}

/// A sample workspace that has run. What is read alone is made once.
fn made() -> Workspace {
    let workspace = Workspace::sample();
    workspace.run();
    workspace
}

const READERS: [&str; 9] = [
    "/",
    "/find?q=x",
    "/flub/stage/dedup",
    "/flub/figures/dedup",
    "/ruozhibench-gen/record/tieba:990001059",
    "/flub/duplicates",
    "/releases",
    "/flub/release/candidate",
    "/flub/diff",
];
const CURATORS: [&str; 2] = ["/curate", "/curate/ruozhibench-gen/screen/votes.jsonl"];

#[test]
fn pages_tell_where_a_post_went_and_are_safe_to_open() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    for path in READERS.iter().chain(&CURATORS) {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(
            answer.head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{path}"
        );
        assert!(answer.head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(answer.head.contains("cache-control: no-store"), "{path}");
    }
    let dropped = server.get("/ruozhibench-gen/stage/filter?outcome=dropped&reason=too_short").body;
    assert!(
        dropped.contains("The text is shorter than the settings allow.") && dropped.contains("3 records")
    );
    let found = server.get(&format!("/ruozhibench-gen/stage/import?q={}", coded("声控燈"))).body;
    assert!(found.contains("声控灯"), "a search finds the other script");
    let record = server.get("/ruozhibench-gen/record/tieba:990001059").body;
    assert!(
        record.contains("tieba:990010923") && record.contains("<ins>") && record.contains("near_duplicate")
    );
    let pairs = server.get("/ruozhibench-gen/duplicates?show=pairs&verdict=borderline&score=0.80").body;
    assert!(pairs.contains("near, kept apart") && !pairs.contains("0.917"));
    assert!(server.get("/releases?lang=zh").head.contains("location: /releases\r"));
    let chinese = Browser { cookies: vec![("lang".into(), "zh".into())] }.get(&server, "/");
    assert!(chinese.body.contains("总览") && chinese.body.contains("lang=\"zh-Hans\""));

    // Nothing an address can say leads out of what the pages are for.
    for path in [
        "/flub/release/..%2f..%2f..%2fpipeline.toml",
        "/flub/release/..",
        "/flub/release/%2e%2e",
        "/..%2f..%2fetc/stage/x",
        "/assets/..%2f/page.css",
        "/flub/stage/..%2f..%2f01_import",
        "/nothing",
        "/flub/record/nobody:1",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let reference = server.get("/flub/release/candidate?reference=..%2f..%2fpipeline.toml");
    assert!(reference.status == 200 && !reference.body.contains("version = 1"));

    // A name that somebody made up and pointed here.
    let mut browser = Browser::default();
    let host = browser.send(&server, "GET", "/", &["Host: evil.example"], "").unwrap();
    assert_eq!(host.status, 421);
    assert!(!host.body.contains("ruozhibench"));

    // More than a form may weigh.
    let csrf = browser.mark(&server, "/login");
    let long = "x".repeat(300 << 10);
    assert_eq!(browser.post(&server, "/logout", &[("csrf", &csrf), ("a", &long)]).status, 413);
    // More than a head may.
    let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(64 << 10));
    assert!(server.raw(head.as_bytes()).is_none_or(|answer| answer.status == 431));
}

#[test]
fn what_posts_hold_does_nothing() {
    let hostile = [
        "<script>document.title='owned'</script>雨伞会不会怕水？",
        "<img src=x onerror=alert(1)>镜子会不会看腻我？",
        "\"><svg/onload=alert(2)>影子会不会累？",
        "\u{202e}gnp.exe\u{202c}反着念会不会头晕？",
        "{{ 7 * 7 }}{% include \"x\" %}模板会不会饿？",
    ];
    let rows: Vec<String> = hostile.iter().zip(1..).map(|(text, n)| title(100 + n, text)).collect();
    let workspace = Workspace::with_dump("leymore-titles", format!("[{}]", rows.join(",")));
    workspace.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    let server = Server::start(&workspace, &[]);
    for path in [
        "/flub/stage/import",
        "/flub/stage/filter",
        "/flub/record/tieba:101",
        "/flub/record/tieba:104",
        "/find?q=%3Cscript%3E",
        "/find?q=%22%3E%3Cscript%3E",
    ] {
        let body = server.get(path).body;
        assert!(!body.contains("<script>") && !body.contains("<svg/onload"), "{path}");
        assert!(!body.contains("<img src=x") && !body.contains('\u{202e}'), "{path}");
    }
    let import = server.get("/flub/stage/import").body;
    assert!(import.contains("&lt;script&gt;") && import.contains("U+202E") && !import.contains("49{%"));
}

#[test]
fn nobody_gets_further_than_their_token() {
    let workspace = made();
    let refused = workspace.call(["serve", "--bind", "0.0.0.0", "--port", "0"]).expect(2);
    assert!(refused.err.contains("no token is granted"));
    let token = |name: &str, rank: &str| {
        workspace.call(["access", "grant", name, "--rank", rank]).expect(0).out.trim().to_string()
    };
    workspace.call(["access", "grant", "stranger", "--rank", "annotator"]).expect(2);
    let (one, two) = (token("annotator-1", "annotator"), token("annotator-2", "annotator"));
    let (reader, curator) = (token("looker", "reader"), token("boss", "curator"));
    let stored = workspace.read("raw/access.jsonl");
    assert!([&one, &two, &reader, &curator].iter().all(|token| !stored.contains(token.as_str())));

    let server = Server::start(&workspace, &[]);
    let review = "/review/ruozhibench-gen/screen/vote";
    for path in READERS.iter().chain(&CURATORS).chain(&["/review", review]) {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.body.contains("tieba:")), (303, false), "{path}");
        assert!(answer.head.contains("location: /login"));
    }
    let mut annotator = Browser::login(&server, &one);
    for path in READERS.iter().chain(&CURATORS) {
        let answer = annotator.get(&server, path);
        assert_eq!(answer.status, 403, "{path}");
        assert!(!answer.body.contains("tieba:"), "{path}");
    }
    let csrf = annotator.mark(&server, "/review");
    let assign = "/curate/ruozhibench-gen/screen/assign";
    assert_eq!(annotator.post(&server, assign, &[("csrf", &csrf)]).status, 403);
    // Rounds that are others'.
    for round in ["review", "adjudication"] {
        let path = format!("/review/ruozhibench-gen/screen/{round}");
        assert_eq!(annotator.get(&server, &path).status, 403, "{path}");
        assert_eq!(annotator.post(&server, &path, &[("csrf", &csrf)]).status, 403, "{path}");
    }
    let mut looker = Browser::login(&server, &reader);
    for path in READERS {
        assert_eq!(looker.get(&server, path).status, 200, "{path}");
    }
    assert!(CURATORS.iter().all(|path| looker.get(&server, path).status == 403));
    assert_eq!(looker.get(&server, review).status, 403, "a reader votes on nothing");
    let mut boss = Browser::login(&server, &curator);
    assert!(READERS.iter().chain(&CURATORS).all(|path| boss.get(&server, path).status == 200));

    // A token that is taken back ends its sessions at once; a restart ends none.
    workspace.call(["access", "revoke", "looker"]).expect(0);
    assert_eq!(looker.get(&server, "/").status, 303);

    // Guessing is slow.
    let mut guesser = Browser::default();
    let csrf = guesser.mark(&server, "/login");
    let guess =
        |browser: &mut Browser| browser.post(&server, "/login", &[("csrf", &csrf), ("token", "0123")]).status;
    let tries: Vec<u16> = (0..7).map(|_| guess(&mut guesser)).collect();
    assert_eq!(tries, [401, 401, 401, 401, 401, 429, 429]);
}

/// The next item of a ballot, as the page has it.
fn item(html: &str) -> (String, String, String) {
    (hidden(html, "item"), hidden(html, "hash"), hidden(html, "base"))
}

#[test]
fn a_vote_is_stored_once_and_people_are_told() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let place = "/review/ruozhibench-gen/translation/vote";
    let mut one = Browser::default();
    let page = one.get(&server, &format!("{place}?as=annotator-1")).body;
    let (id, hash, base) = item(&page);
    let csrf = hidden(&page, "csrf");
    let vote = |verdict: &str, text: &str, base: &str, hash: &str, csrf: &str| {
        let mut fields = vec![("csrf", csrf.to_string()), ("as", "annotator-1".into()), ("item", id.clone())];
        fields.extend([("hash", hash.to_string()), ("base", base.into()), ("seconds", "7.5".into())]);
        fields.push(("f.verdict", verdict.into()));
        if !text.is_empty() {
            fields.push(("f.question_en", text.into()));
        }
        fields
    };
    let send = |browser: &mut Browser, fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        browser.post(&server, place, &fields)
    };
    let text = "Does my umbrella mind the sun?";

    // Not from our page, not by our browser, not from our site.
    assert_eq!(send(&mut one, &vote("rewrite", text, &base, &hash, "")).status, 403);
    assert_eq!(send(&mut Browser::default(), &vote("rewrite", text, &base, &hash, &csrf)).status, 403);
    let other = one.send(&server, "POST", place, &["Origin: http://evil.example"], "csrf=x").unwrap();
    assert_eq!(other.status, 403);
    let other = one.send(&server, "POST", place, &["Sec-Fetch-Site: cross-site"], "csrf=x").unwrap();
    assert_eq!(other.status, 403);
    assert!(!workspace.exists("raw/votes"), "nothing was stored");

    let faulty = send(&mut one, &vote("rewrite", "", &base, &hash, &csrf));
    assert!(faulty.status == 422 && faulty.body.contains("question_en"), "{}", faulty.body);
    let changed = send(&mut one, &vote("rewrite", text, &base, &hash.replace(['0', '1', '2'], "3"), &csrf));
    assert!(changed.status == 409 && changed.body.contains("item_changed"), "{}", changed.body);

    let saved = send(&mut one, &vote("rewrite", text, &base, &hash, &csrf));
    assert!(saved.status == 200 && saved.body.contains("saved"), "{}", saved.body);
    let lines = || workspace.read("raw/votes/000001.jsonl").lines().count();
    assert_eq!(lines(), 1);
    let again = send(&mut one, &vote("rewrite", text, &base, &hash, &csrf));
    assert_eq!((again.status, lines()), (200, 1), "a double click is one vote");
    let tab = send(&mut one, &vote("rewrite", "Another text?", &base, &hash, &csrf));
    assert!(tab.status == 409 && tab.body.contains("overtaken") && lines() == 1, "{}", tab.body);

    // Going back shows the vote, and it may be changed.
    let back = one.get(&server, &format!("{place}?as=annotator-1&item={}", coded(&id))).body;
    assert!(back.contains(text));
    let (_, hash, base) = item(&back);
    assert_eq!(send(&mut one, &vote("rewrite", "Better so?", &base, &hash, &csrf)).status, 200);
    assert_eq!(lines(), 2);
    // Nobody else sees it, though they ask for the very item.
    let peek = one.get(&server, &format!("{place}?as=annotator-2&item={}", coded(&id)));
    assert!(peek.status == 403 && !peek.body.contains("Better so?"));
    let list = one.get(&server, &format!("{place}?as=annotator-2")).body;
    assert!(!list.contains("Better so?") && !list.contains("annotator-1</"));

    workspace.run();
    let told = workspace.explain("ruozhibench-gen", &id).to_string();
    assert!(told.contains("Better so?"), "the run uses the vote: {told}");
}

#[test]
fn a_dispute_goes_to_whoever_settles_it_and_names_nobody() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let place = "/review/ruozhibench-gen/category/vote";
    let first = Browser::default().get(&server, &format!("{place}?as=annotator-1")).body;
    let (id, ..) = item(&first);
    for (name, said) in [("annotator-1", "1"), ("annotator-2", "2")] {
        let mut browser = Browser::default();
        let page = browser.get(&server, &format!("{place}?as={name}&item={}", coded(&id))).body;
        let (_, hash, base) = item(&page);
        assert!(!page.contains("votes ·"), "a first look is blind");
        let csrf = hidden(&page, "csrf");
        let fields = [
            ("csrf", csrf.as_str()),
            ("as", name),
            ("item", &id),
            ("hash", &hash),
            ("base", &base),
            ("f.categories", said),
            ("f.sure", "yes"),
        ];
        let answer = browser.post(&server, place, &fields);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let place = "/review/ruozhibench-gen/category/adjudication";
    let mut meta = Browser::default();
    let page = meta.get(&server, &format!("{place}?as=meta-1")).body;
    assert!(page.contains("votes · categories") && !page.contains("annotator-"), "{page}");
    let (item_id, hash, base) = item(&page);
    assert_eq!(item_id, id);
    let csrf = hidden(&page, "csrf");
    let decide = |meta: &mut Browser, reason: &str| {
        let mut fields =
            vec![("csrf", csrf.as_str()), ("as", "meta-1"), ("item", &id), ("hash", &hash), ("base", &base)];
        fields.extend([("f.categories", "1"), ("f.reason", reason)]);
        meta.post(&server, place, &fields)
    };
    assert_eq!(decide(&mut meta, "").status, 422, "a decision needs a reason");
    assert_eq!(decide(&mut meta, "The trap is plain in English too.").status, 200);
    let curate = meta.get(&server, "/curate").body;
    assert!(curate.contains("meta-1") && curate.contains("annotator-2"));
    workspace.run();
    assert!(workspace.explain("ruozhibench-gen", &id).to_string().contains("meta-1"));
}

#[test]
fn a_killed_server_has_every_vote_it_called_saved() {
    let workspace = made();
    let place = "/review/ruozhibench-gen/translation/vote";
    let mut saved: BTreeSet<String> = BTreeSet::new();
    for life in 0..2 {
        let mut server = Server::start(&workspace, &[]);
        let (sent, done) = std::sync::mpsc::channel::<String>();
        std::thread::scope(|scope| {
            for name in ["annotator-1", "annotator-2", "annotator-3"] {
                let (server, sent) = (&server, sent.clone());
                scope.spawn(move || {
                    let mut browser = Browser::default();
                    loop {
                        let path = format!("{place}?as={name}");
                        let Some(page) = browser.send(server, "GET", &path, &[], "") else { return };
                        if !page.body.contains("name=\"hash\"") {
                            return;
                        }
                        let (id, hash, base) = item(&page.body);
                        let (csrf, text) =
                            (hidden(&page.body, "csrf"), format!("Is {id} a question of {name}?"));
                        let fields = [
                            ("csrf", csrf.as_str()),
                            ("as", name),
                            ("item", &id),
                            ("hash", &hash),
                            ("base", &base),
                            ("f.verdict", "rewrite"),
                            ("f.question_en", &text),
                        ];
                        match browser.try_post(server, place, &fields) {
                            Some(answer) if answer.body.contains("\"saved\"") => {
                                let told: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
                                sent.send(told["vote"].as_str().unwrap().to_string()).unwrap();
                            }
                            // Somebody else was faster, or the server is gone.
                            _ => {}
                        }
                    }
                });
            }
            drop(sent);
            let id = server.child.id().to_string();
            for (n, vote) in done.iter().enumerate() {
                saved.insert(vote);
                if n == 8 && life == 0 {
                    std::process::Command::new("kill").args(["-9", &id]).status().unwrap();
                }
            }
        });
        let _ = server.child.kill();
    }
    let stored = workspace.read("raw/votes/000001.jsonl");
    let ids: Vec<String> = stored
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_string()
        })
        .collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "no vote stands twice");
    assert!(saved.iter().all(|vote| unique.contains(vote)), "a vote that was called saved is lost");
    assert!(saved.len() > 20);
}
