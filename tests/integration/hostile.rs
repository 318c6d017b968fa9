//! Hostile input and requests, and unusual places for a workspace.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::browser::{Browser, Server, coded, item, made};
use crate::generate::{self, GEN, reply_to, served};
use crate::harness::{Workspace, assert_same};

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ballot(ws: &Workspace, who: &str) -> Vec<Value> {
    let place = ["preference", "--recipe", "chumor", "--annotator", who, "--format", "jsonl"];
    let result = ws.call(["review", "export"].iter().chain(&place)).expect(0);
    rows(&ws.read(result.out.trim()))
}

/// Whether the person's explanation is shown before the model's, which is the second one in the row.
fn person_first(row: &Value, explanations: &[Value]) -> bool {
    let shown = &row["see"]["explanation_1"];
    explanations.iter().any(|explanation| explanation == shown)
}

/// With the item's id and the program's built-in seed, the sides of 58 of 58 ballots could be computed.
#[test]
fn nobody_computes_a_blind_side_and_old_sheets_hold() {
    let ws = made();
    let before = ws.derived();
    assert!(!ws.exists("raw/blinding"), "a run draws no secret");
    let first = ballot(&ws, "annotator-1");
    // Rows are in another order for every annotator.
    let by_item = |mut rows: Vec<Value>| {
        rows.sort_by_key(|row| row["item"].to_string());
        rows
    };
    let first = by_item(first);
    assert!(first.len() > 40, "{} ballots", first.len());
    let secret = ws.read("raw/blinding");
    let explanations: Vec<Value> =
        ws.candidates("chumor").iter().map(|row| row["explanation"].clone()).collect();
    let order =
        |rows: &[Value]| -> Vec<bool> { rows.iter().map(|r| person_first(r, &explanations)).collect() };

    // Another workspace with the same sample shows other sides, under other hashes.
    let other = made();
    let second = by_item(ballot(&other, "annotator-1"));
    assert_ne!(other.read("raw/blinding"), secret);
    let hash = |row: &Value| row["content_hash"].as_str().unwrap().split('.').next().unwrap().to_owned();
    assert!(first.iter().zip(&second).all(|(a, b)| a["item"] == b["item"] && hash(a) != hash(b)));
    assert_ne!(order(&first), order(&second));
    assert_eq!(order(&first), order(&by_item(ballot(&ws, "annotator-2"))), "one order for everybody");

    // A vote records whose explanation it prefers and in which order both were shown, whatever the order.
    let fill = |rows: &[Value]| -> String {
        let answered = rows.iter().map(|row| {
            let mut row = row.clone();
            row["answers"] =
                json!({ "preference": if person_first(&row, &explanations) { "1" } else { "2" } });
            format!("{row}\n")
        });
        answered.collect()
    };
    let import = |ws: &Workspace, rows: &str, code: i32| {
        ws.write("votes.jsonl", rows);
        ws.call(["review", "import", "preference", "--recipe", "chumor", "votes.jsonl"]).expect(code)
    };
    import(&ws, &fill(&first), 0);
    let votes: Vec<Value> = rows(&ws.read("raw/votes/000001.jsonl"));
    assert_eq!(votes.len(), first.len());
    assert!(votes.iter().all(|vote| vote["values"]["preference"] == "human"), "{}", votes[0]);
    let orders: Vec<bool> = votes.iter().map(|vote| vote["order"][0] == "human").collect();
    assert!(orders.contains(&true) && orders.contains(&false));

    // A sheet with another workspace's order is refused, and so is ours once the secret is gone.
    let refused = import(&ws, &fill(&second), 3);
    assert!(refused.err.contains("raw/blinding"), "{}", refused.err);

    // What votes hold is in no sheet: everybody can compute it in both orders, and it says which is drawn.
    let plain = |row: &Value, key: &str| {
        let vote = votes.iter().find(|vote| vote["item"] == row["item"]).unwrap();
        vote[key].as_str().unwrap().to_owned()
    };
    for format in ["jsonl", "csv", "label-studio"] {
        let place = ["preference", "--recipe", "chumor", "--annotator", "annotator-1", "--format", format];
        let result = ws.call(["review", "export"].iter().chain(&place)).expect(0);
        let sheet = ws.read(result.out.lines().next().unwrap().trim());
        for row in &first {
            assert!(sheet.contains(row["item"].as_str().unwrap()), "{format}");
            for key in ["content_hash", "id"] {
                assert!(!sheet.contains(&plain(row, key)), "{format}: {key} of {}", row["item"]);
            }
        }
    }

    // A sheet that was exported before hashes were covered, with its seal, changes the vote it names.
    let again: String = first
        .iter()
        .map(|row| {
            let mut row = row.clone();
            let seal = row["content_hash"].as_str().unwrap().split_once('.').unwrap().1.to_owned();
            row["content_hash"] = json!(format!("{}.{seal}", plain(&row, "content_hash")));
            row["vote"] = json!(plain(&row, "id"));
            row["answers"] =
                json!({ "preference": if person_first(&row, &explanations) { "2" } else { "1" } });
            format!("{row}\n")
        })
        .collect();
    import(&ws, &again, 0);
    let changed: Vec<Value> = rows(&ws.read("raw/votes/000001.jsonl"));
    assert!(changed[votes.len()..].iter().all(|vote| vote["values"]["preference"] == "llm"));
    assert_eq!(changed.len(), votes.len() * 2);

    // A sheet that was exported before there was a secret: no seal, and the order of the recipe's seed.
    let old: Vec<Value> = first
        .iter()
        .map(|row| {
            let mut row = row.clone();
            row["content_hash"] = json!(plain(&row, "content_hash"));
            row["annotator"] = json!("annotator-3");
            row["answers"] = json!({ "preference": "1" });
            row
        })
        .collect();
    let text: String = old.iter().map(|row| format!("{row}\n")).collect();
    import(&ws, &text, 0);
    import(&other, &text, 0);
    let result = |ws: &Workspace| -> Vec<Value> {
        let votes = rows(&ws.read("raw/votes/000001.jsonl")).into_iter();
        let votes = votes.filter(|vote| vote["annotator"] == "annotator-3");
        let mut result: Vec<_> = votes.map(|v| json!([v["item"], v["values"], v["order"]])).collect();
        result.sort_by_key(Value::to_string);
        result
    };
    assert_eq!(result(&ws), result(&other), "read alike whatever the secret");
    let seeded: Vec<bool> =
        old.iter().map(|row| result(&ws).iter().any(|v| v[0] == row["item"] && v[2][0] == "human")).collect();
    let alike = seeded.iter().zip(order(&first)).filter(|(a, b)| **a == *b).count();
    assert!((first.len() / 5..=first.len() * 4 / 5).contains(&alike), "{alike} of {}", first.len());

    // The secret occurs nowhere in the derived files.
    ws.remove("raw/votes");
    ws.remove("raw/heads.jsonl");
    // The log of the secrets is one of those that the heads list.
    ws.remove("raw/secrets.jsonl");
    ws.remove_derived();
    ws.run();
    assert_same(&before, &ws.derived(), "with a secret in raw/");
}

fn address(server: &Server) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()))
}

/// Requests a page within a time limit.
fn page_within(server: &Server, limit: Duration) {
    let start = Instant::now();
    let answer = server.get("/health");
    let took = start.elapsed();
    assert!(answer.status == 200 && took < limit, "{} after {took:?}", answer.status);
}

/// 560 clients that pipelined and never read, or 700 slow bodies, once blocked everybody else.
#[test]
fn two_thousand_hostile_clients_shut_nobody_out() {
    let ws = Workspace::sample();
    let server = Server::start(&ws, &[]);
    let host = format!("Host: localhost:{}\r\n", server.port());
    let greedy = format!("GET /login HTTP/1.1\r\n{host}\r\n").repeat(400);
    let slow = format!("POST /login HTTP/1.1\r\n{host}Content-Length: 1000\r\n\r\na=");
    let head = format!("GET / HTTP/1.1\r\n{host}X: ");
    let mut clients = Vec::new();
    for n in 0..2000 {
        let Ok(mut stream) = TcpStream::connect(address(&server)) else { continue };
        stream.set_nonblocking(true).unwrap();
        let bytes = [&greedy, &slow, &head][n % 3].as_bytes();
        // As much as fits: the other side does not read for long.
        let _ = stream.write(bytes);
        clients.push(stream);
        if n % 250 == 249 {
            page_within(&server, Duration::from_secs(1));
        }
    }
    for _ in 0..5 {
        page_within(&server, Duration::from_secs(1));
        for stream in &mut clients {
            let _ = stream.write(greedy.as_bytes());
        }
    }
}

#[test]
fn a_session_is_no_token_and_access_stays_closed() {
    let ws = Workspace::sample();
    let grant =
        |name: &str| ws.call(["access", "grant", name, "--rank", "curator"]).expect(0).out.trim().to_string();
    let token = grant("boss");
    let server = Server::start(&ws, &[]);
    let mut boss = Browser::login(&server, &token);
    let cookie = boss.cookies.iter().find(|(name, _)| name.starts_with("riddlemill-")).unwrap().1.clone();
    assert_ne!(cookie, token);
    let stored = ws.read(".index/sessions.jsonl");
    assert!(!stored.contains(&cookie) && !stored.contains(&token));
    assert_eq!(boss.get(&server, "/").status, 200);
    let mut stolen = Browser { cookies: vec![("riddlemill-0".into(), token.clone())] };
    stolen.cookies[0].0 = boss.cookies[0].0.clone();
    assert_eq!(stolen.get(&server, "/").status, 303, "the token itself is no cookie");

    // A session survives a restart of the server, and ends on logout, alone or with all sessions of its user.
    drop(server);
    let server = Server::start(&ws, &[]);
    let again = |browser: &Browser| {
        let cookies =
            browser.cookies.iter().map(|(_, value)| (format!("riddlemill-{}", server.port()), value.clone()));
        Browser { cookies: cookies.collect() }
    };
    let mut boss = again(&boss);
    assert_eq!(boss.get(&server, "/").status, 200);
    let mut elsewhere = Browser::login(&server, &token);
    let csrf = boss.mark(&server, "/");
    let kept = boss.clone();
    assert_eq!(boss.post(&server, "/logout", &[("csrf", &csrf)]).status, 303);
    assert_eq!(kept.clone().get(&server, "/").status, 303, "the cookie of a session that was left");
    assert_eq!(elsewhere.get(&server, "/").status, 200);
    ws.call(["access", "revoke", "boss", "--sessions"]).expect(0);
    assert_eq!(elsewhere.get(&server, "/").status, 303);
    assert_eq!(Browser::login(&server, &token).get(&server, "/").status, 200);

    // Wrong tokens from the same address lock out nobody with a valid one.
    let mut guesser = Browser::default();
    let csrf = guesser.mark(&server, "/login");
    for n in 0..60 {
        let wrong = format!("{n:064}");
        let status = guesser.post(&server, "/login", &[("csrf", &csrf), ("token", &wrong)]).status;
        assert!(matches!(status, 401 | 429), "{status}");
    }
    assert_eq!(Browser::login(&server, &token).get(&server, "/").status, 200);
    let forged = guesser.send(&server, "GET", "/", &["X-Forwarded-For: 10.0.0.1"], "").unwrap();
    assert_eq!(forged.status, 303);

    // The last token is revoked, and access does not become open.
    ws.call(["access", "revoke", "boss"]).expect(0);
    assert_eq!(server.get("/").status, 303);
    drop(server);
    let server = Server::start(&ws, &[]);
    assert_eq!(server.get("/").status, 303);
    ws.call(["access", "open"]).expect(0);
    assert_eq!(server.get("/").status, 200);
    grant("other");
    assert_eq!(server.get("/").status, 303);
    let line = ws.read("raw/access.jsonl");
    ws.write("raw/access.jsonl", format!("{line}{{\"event\":\"gra\nnt\"\n"));
    ws.call(["access", "grant", "third", "--rank", "reader"]).expect(4);
    assert_ne!(server.get("/").status, 200);
}

#[test]
fn over_tls_the_cookie_is_held_to_its_host() {
    let ws = Workspace::sample();
    let token = ws.call(["access", "grant", "boss", "--rank", "curator"]).expect(0).out.trim().to_string();
    let server = Server::start(&ws, &["--public", "https://localhost"]);
    let mut browser = Browser::default();
    let csrf = browser.mark(&server, "/login");
    let answer = browser.post(&server, "/login", &[("csrf", &csrf), ("token", &token)]);
    let cookie = answer.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(cookie.starts_with("set-cookie: __host-riddlemill-") && cookie.contains("; secure"), "{cookie}");
    assert!(cookie.contains("path=/") && !cookie.contains("domain"), "{cookie}");
}

#[test]
fn people_who_pass_over_at_the_same_moment_are_all_heard() {
    let ws = made();
    let server = Server::start(&ws, &[]);
    let place = "/review/ruozhibench-gen/screen/vote";
    let mut browser = Browser::default();
    let page = browser.get(&server, &format!("{place}?as=annotator-1")).body;
    let (id, ..) = item(&page);
    let csrf = crate::browser::hidden(&page, "csrf");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let pass = |n: usize| {
            let (mut browser, server, csrf, id) = (browser.clone(), &server, &csrf, &id);
            scope.spawn(move || {
                let reason = format!("reason {n}");
                let fields =
                    [("csrf", csrf.as_str()), ("as", "annotator-1"), ("item", id), ("reason", &reason)];
                browser.post(server, &format!("{place}/later"), &fields).status
            })
        };
        let threads: Vec<_> = (0..24).map(pass).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|status| *status == 303), "{statuses:?}");
    assert_eq!(rows(&ws.read("raw/votes/skipped/ruozhibench-gen.screen.jsonl")).len(), 24);
    assert!(server.get(&format!("{place}?as=annotator-1&item={}", coded(&id))).status == 200);
}

#[test]
fn a_workspace_may_lie_where_names_are_odd() {
    let ws = Workspace::folder();
    for name in ["a [b]*? c", "[a-z]", "{x}'\"\\ y", "换行\n名"] {
        let at = ws.path(name);
        std::fs::create_dir(&at).unwrap();
        let call = |args: &[&str]| {
            let own = [Path::new("-C").as_os_str(), at.as_os_str()];
            ws.call(own.into_iter().chain(args.iter().map(std::ffi::OsStr::new)))
        };
        call(&["init"]).expect(0);
        call(&["run", "--offline", "--recipe", "flub"]).expect(0);
        call(&["audit", "--recipe", "flub"]).expect(0);
    }
    // A file whose name looks like a pattern is taken literally.
    ws.write("pipeline.toml", crate::harness::source("dump", "leymore-titles", "raw/dumps/[1]*.json"));
    ws.write("raw/dumps/[1]*.json", format!("[{}]", crate::harness::title(1, "云会恐高吗，会不会")));
    ws.write("raw/dumps/1.json", "no dump");
    ws.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    assert_eq!(ws.posts("flub").len(), 1);
}

#[test]
fn a_place_that_cannot_be_worked_in_is_refused_with_a_word() {
    let ws = Workspace::folder();
    let long = vec!["x".repeat(200); 8].join("/");
    std::fs::create_dir_all(ws.path(&long)).unwrap();
    let call = |at: &Path, args: &[&str]| {
        let own = [Path::new("-C").as_os_str(), at.as_os_str()];
        ws.call(own.into_iter().chain(args.iter().map(std::ffi::OsStr::new)))
    };
    call(&ws.path(&long), &["init"]).expect(0);
    // What opens the reply index cannot work here: every command says why and what would help.
    for verb in [&["run", "--offline"][..], &["status"], &["estimate"], &["replies", "stats"]] {
        let result = call(&ws.path(&long), verb).expect(4);
        let actual = result.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        assert!(
            actual.starts_with("error: the path is too long: that of the reply index has 16"),
            "{actual}"
        );
        assert!(actual.ends_with("move the workspace to a shorter path"), "{verb:?}: {actual}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let odd = ws.root().join(std::ffi::OsStr::from_bytes(b"bytes-\xff\xfe"));
        std::fs::create_dir(&odd).unwrap();
        call(&odd, &["init"]).expect(0);
        let result = call(&odd, &["run", "--offline", "--recipe", "flub"]);
        assert!(result.code == 0 || result.err.contains("not Unicode"), "{}", result.err);
        ws.write("pipeline.toml", crate::harness::source("dump", "leymore-titles", "raw/dumps/*.json"));
        std::fs::create_dir_all(ws.path("raw/dumps")).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"\xff.json");
        std::fs::write(ws.path("raw/dumps").join(name), "[]").unwrap();
        // No pattern matches such a name: it is reported, alone and next to another file, not skipped.
        for _ in 0..2 {
            let result = ws.call(["run", "--offline", "--recipe", "flub"]).expect(2);
            assert!(
                result.err.contains("not Unicode") && result.err.contains("rename the file"),
                "{}",
                result.err
            );
            ws.write("raw/dumps/other.json", format!("[{}]", crate::harness::title(1, "云会恐高吗，会不会")));
        }
    }
}

/// A page sent as fast as its client reads it, byte by byte, still completes.
#[test]
fn a_reader_who_is_slow_but_reads_gets_the_page() {
    let ws = Workspace::sample();
    let server = Server::start(&ws, &[]);
    let mut stream = TcpStream::connect(address(&server)).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", server.port());
    stream.write_all(request.as_bytes()).unwrap();
    let (mut page, mut byte) = (Vec::new(), [0; 64]);
    while let Ok(read @ 1..) = stream.read(&mut byte) {
        page.extend_from_slice(&byte[..read]);
        std::thread::sleep(Duration::from_millis(5));
    }
    let page = String::from_utf8_lossy(&page).into_owned();
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("<body"), "{head}");
}

/// A user name that did not belong to the post it occurs in reached output/: only a post's own names were
/// searched for.
/// A reply is stored before it is read: one whose parsing overflowed the stack broke every later run, too.
#[test]
fn a_reply_that_nests_without_end_costs_itself_alone() {
    static MENDED: AtomicBool = AtomicBool::new(false);
    fn reply(prompt: &str) -> (&'static str, String) {
        match prompt.contains('雨') && prompt.contains("culture_bound") && !MENDED.load(Ordering::Relaxed) {
            true => {
                let (opened, closed) = ("[".repeat(40_000), "]".repeat(40_000));
                ("deep", format!("{{/*'*/\"culture_bound\":{opened}{closed}/*'*/}}"))
            }
            false => reply_to(prompt),
        }
    }
    let server = generate::Server::replying(reply, None, Duration::ZERO);
    let ws = served(&server);
    let run = |more: &[&str]| {
        let args = ["run", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=loop"];
        ws.call(args.iter().chain(more))
    };
    let result = run(&[]).expect(3);
    assert!(result.err.contains("the reply cannot be read"), "{}", result.err);
    let asked = server.take();
    let (deep, all) = (ws.reasons(GEN)["failed/reply_unparseable"], u64::from(asked["screen"]));
    assert!(deep >= 1 && all > 50, "{asked:?}");
    assert_eq!(u64::from(asked["deep"]) % deep, 0, "each is asked for again as often: {asked:?}");
    // As it is stored: from raw/ again, and for every reader of replies.
    let before = ws.derived();
    ws.remove_derived();
    run(&["--offline"]).expect(3);
    assert_same(&before, &ws.derived(), "with the reply in raw/");
    ws.call(["replies", "verify"]).expect(0);
    ws.call(["replies", "export", "replies.jsonl"]).expect(0);

    // Once forgotten, it is requested again, and the run continues where it stopped.
    MENDED.store(true, Ordering::Relaxed);
    run(&[]).expect(3);
    assert_eq!(server.count(), 0, "what failed for good is asked for by nobody");
    let stored = rows(&ws.read("replies.jsonl"));
    let nested: Vec<&str> = stored
        .iter()
        .filter(|row| row.to_string().contains(&"[".repeat(100)))
        .map(|row| row["reply"]["key"].as_str().unwrap())
        .collect();
    assert_eq!(nested.len(), asked["deep"] as usize);
    for key in nested {
        ws.call(["replies", "forget", key]).expect(2);
        ws.call(["replies", "forget", key, "--why", "brackets and nothing else"]).expect(0);
    }
    run(&[]).expect(0);
    assert_eq!(u64::from(server.count()), deep, "each once, and no other");
    assert!(!ws.reasons(GEN).contains_key("failed/reply_unparseable"));
    ws.call(["replies", "verify"]).expect(0);
    ws.audit_clean_with(&["--recipe", GEN, "--set", "draft.endpoint=loop"]);
    let segment = std::fs::read_dir(ws.path("raw/replies")).unwrap().map(|entry| entry.unwrap().path());
    let noted = |path: std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        let lines = zstd::decode_all(bytes.as_slice()).unwrap_or(bytes);
        String::from_utf8_lossy(&lines).contains("brackets and nothing else")
    };
    assert!(segment.into_iter().any(noted), "the reply stays, with the note");
}

/// A printed token is valid; an invalid one is not printed.
#[test]
fn no_token_is_shown_that_opens_nothing() {
    let ws = Workspace::sample();
    let grant = |name: &str| ws.call(["access", "grant", name, "--rank", "reader"]);
    grant("first").expect(0);
    let whole = ws.read("raw/access.jsonl");
    // A user was interrupted while the next line was written: no token was printed.
    ws.write("raw/access.jsonl", format!("{whole}{{\"event\":\"gra"));
    let token = grant("second").expect(0).out.trim().to_owned();
    let server = Server::start(&ws, &[]);
    Browser::login(&server, &token);
    drop(server);
    // A line whose token was printed is torn.
    let cut = whole.len() + 40;
    ws.write("raw/access.jsonl", &ws.read("raw/access.jsonl")[..cut]);
    let torn = ws.read("raw/access.jsonl");
    let result = grant("third").expect(4);
    assert!(
        result.out.is_empty() && result.err.contains("raw/access.jsonl is damaged"),
        "{} {}",
        result.out,
        result.err
    );
    assert_eq!(ws.read("raw/access.jsonl"), torn);
    ws.call(["fsck", "--salvage"]).expect(0);
    let token = grant("third").expect(0).out.trim().to_owned();
    let server = Server::start(&ws, &[]);
    Browser::login(&server, &token);
}
