//! The logs of raw/: those of earlier versions, and damage of every kind to every file of a small workspace.

use std::fs;
use std::path::Path;
use std::process::Command;

use riddlemill::log::{Log, Segments};
use serde_json::{Value, json};

use crate::generate::{GEN, Server};
use crate::harness::{SALT, Workspace, title};

/// The settings with which `tests/fixtures/logs` was written.
const SETTINGS: &str = r#"
version = 1

[[source]]
name = "posts"
kind = "leymore-titles"
path = "raw/dumps/*.json"
licence = "CC0-1.0"

[anonymise]
links = "keep"
names = "keep"
contacts = "keep"
identity = "keep"
addresses = "keep"
policy = []

[filter]
questions = false
forum = false
min_chars = 0
max_chars = 100000

[draft]
endpoint = "loop"

[review]
sample = ""

[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-2"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-3"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "meta-1"
role = "meta"
languages = ["zh", "en"]
"#;

const RUN: [&str; 4] = ["run", "--recipe", GEN, "--offline"];

/// A raw/ that the program wrote before its two logs shared their mechanism: votes, tasks, decisions, texts that
/// voters saw, a withdrawal, an invitation, and a sealed segment of three replies.
fn of_before(endpoint: &str) -> Workspace {
    let ws = Workspace::with(&format!("{SETTINGS}{endpoint}"));
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs/.");
    assert!(Command::new("cp").arg("-r").arg(from).arg(ws.path("raw")).status().unwrap().success());
    assert_eq!(ws.read("raw/salt"), SALT);
    ws
}

/// Nothing listens there.
const NOWHERE: &str = "\n[llm.loop]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nfree = true\nretries = { max_attempts = 1 }\n";

/// The files of a folder by their path in the workspace, sorted, without locks.
fn files(ws: &Workspace, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(ws.path(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        match entry.path().is_dir() {
            true => found.extend(files(ws, &path)),
            false => found.extend(Some(path).filter(|_| name != "lock" && name != ".lock")),
        }
    }
    found.sort();
    found
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn logs_of_before_are_read_and_appended_to() {
    let server = Server::start(None);
    let ws = of_before(&server.settings());
    let before: Vec<(String, Vec<u8>)> =
        files(&ws, "raw").into_iter().map(|path| (path.clone(), ws.bytes(&path))).collect();
    assert_eq!(before.len(), 12, "{before:?}");
    ws.call(["fsck"]).expect(0);
    ws.call(RUN).expect(0);
    ws.audit_clean();
    assert_eq!(server.count(), 0);
    let list = ws.call(["decide", "list"]).expect(0).out;
    assert!(list.contains("It is an old joke") && list.contains("I looked at it"), "{list}");
    assert!(ws.call(["replies", "verify"]).expect(0).out.contains("3 replies"));
    // Looking changed nothing.
    for (path, bytes) in &before {
        assert_eq!(&ws.bytes(path), bytes, "{path}");
    }

    // Votes of somebody else, a decision, and a post whose draft is asked for: the others are not asked again.
    let export = ["review", "export", "screen", "--recipe", GEN, "--annotator", "annotator-2"];
    let sheets = ws.call(export.iter().chain(&["--format", "jsonl", "--out", "ballots"])).expect(0).out;
    let mut filled = String::new();
    for sheet in sheets.lines().map(str::trim) {
        for mut row in rows(&ws.read(sheet)) {
            row["answers"] = json!({ "screen": "keep" });
            filled += &format!("{row}\n");
        }
    }
    ws.write("votes.jsonl", filled);
    ws.call(["review", "import", "screen", "--recipe", GEN, "votes.jsonl"]).expect(0);
    ws.call([
        "decide", "keep", "tieba:2", "--recipe", GEN, "--stage", "filter", "--by", "meta-1", "--why", "Fine",
    ])
    .expect(0);
    ws.write("raw/dumps/2.json", title(4, "雪人怕不怕冷？") + "\n");
    ws.call(["run", "--recipe", GEN, "--yes"]).expect(0);
    assert_eq!(server.take().get("screen"), Some(&1), "only the new post is asked about");
    let found = ws.call(["fsck"]).expect(0);
    assert!(found.out.contains("raw/ is intact"), "{}", found.out);
    ws.audit_clean();
    // What was there is there, byte for byte, and what was added follows it.
    for (path, bytes) in &before {
        assert!(ws.bytes(path).starts_with(bytes), "{path}");
    }
    for log in ["raw/votes/000001.jsonl", "raw/decisions/000001.jsonl", "raw/replies/segments.jsonl"] {
        let (_, old) = before.iter().find(|(path, _)| path == log).unwrap();
        let (old, new) = (rows(&String::from_utf8(old.clone()).unwrap()), rows(&ws.read(log)));
        assert!(new.len() > old.len() && new.starts_with(&old), "{log}");
        assert!(
            new.iter().all(|line| line["chain"].as_str().is_some_and(|chain| chain.len() == 32)),
            "{log}"
        );
    }
    // An earlier program, if one is named, reads what this one added.
    if let Some(earlier) = std::env::var_os("RIDDLEMILL_BEFORE") {
        for args in [&["fsck"][..], &["replies", "verify"], &RUN] {
            let status = Command::new(&earlier)
                .args(args)
                .current_dir(ws.root())
                .env("RIDDLEMILL_TRUST", "127.0.0.1")
                .status()
                .unwrap();
            assert!(status.success(), "{args:?}");
        }
    }
}

/// The nine damages, and whether what is left is the same file; `None` is no file.
fn damages(bytes: &[u8]) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let (middle, line) = (bytes.len() / 2, lines.len() / 2);
    let mut flipped = bytes.to_vec();
    flipped[middle] ^= 1;
    let is_text = std::str::from_utf8(bytes).is_ok() && lines.len() > 1;
    let (shorter, reordered) = match is_text {
        true => (
            [&lines[..line], &lines[line + 1..]].concat().concat(),
            lines.iter().rev().copied().collect::<Vec<_>>().concat(),
        ),
        false => {
            ([&bytes[..middle], &bytes[middle + 1..]].concat(), [&bytes[middle..], &bytes[..middle]].concat())
        }
    };
    let doubled = if is_text { [lines[0], bytes].concat() } else { [bytes, bytes].concat() };
    let crlf: Vec<u8> =
        bytes.iter().flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] }).collect();
    let all = vec![
        ("flipped", Some(flipped)),
        ("with a line less", Some(shorter)),
        ("cut", Some(bytes[..middle].to_vec())),
        ("reordered", Some(reordered)),
        ("with a line twice", Some(doubled)),
        ("empty", Some(Vec::new())),
        ("gone", None),
        ("with other line ends", Some(crlf)),
        ("with a byte order mark", Some([&b"\xef\xbb\xbf"[..], bytes].concat())),
    ];
    all.into_iter().filter(|(_, damaged)| damaged.as_deref() != Some(bytes)).collect()
}

/// The line end of a secret, and those of JSON that is no log, say nothing.
fn is_harmless(path: &str, what: &str) -> bool {
    what == "with other line ends" && (path == "raw/salt" || path.ends_with("/manifest.json"))
}

/// Tries each damage to each file that is chosen, in copies of a workspace. Returns how many there were.
fn damage_each(ws: &Workspace, paths: &[String]) -> usize {
    let (mut tried, mut unseen) = (0, Vec::new());
    for path in paths {
        let bytes = ws.bytes(path);
        for (what, damaged) in damages(&bytes) {
            let copy = ws.copy();
            match &damaged {
                Some(damaged) => copy.write(path, damaged),
                None => copy.remove(path),
            }
            tried += 1;
            let is_seen = copy.call(["fsck"]).code != 0 || copy.call(["audit"]).code != 0 || {
                let run = copy.call(RUN);
                // What is derived is made again, and that is said.
                run.code != 0 || run.err.contains("changed or left out")
            };
            let is_restored = || copy.exists(path) && copy.bytes(path) == bytes;
            if !is_seen && !is_harmless(path, what) && (path.starts_with("raw/") || !is_restored()) {
                unseen.push(format!("{path} {what}"));
            }
        }
    }
    assert!(unseen.is_empty(), "neither fsck nor audit nor run sees:\n{}", unseen.join("\n"));
    tried
}

/// Two lines in each log of raw/ that the fixture lacks. Returns the files.
fn add_other_logs(ws: &Workspace) -> Vec<String> {
    let step = format!("{GEN}.screen.jsonl");
    let at = "2026-01-01T00:00:00Z";
    let by = json!({ "item": "tieba:1", "annotator": "annotator-1", "round": "vote", "at": at });
    let with = |base: &Value, more: Value| {
        let mut value = base.clone();
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let guide = json!({ "en": "Keep it.", "zh": "保留。", "examples": "", "by": "meta-1", "at": at });
    let batch = json!({ "batch": "1-1-0", "endpoint": "loop", "at_ms": 1, "over": "cancelled" });
    let admit =
        json!({ "event": "admit", "annotator": "annotator-3", "by": "meta-1", "why": "talked", "at": at });
    let canary = json!({ "event": "canary", "guid": "b6c1f8d0-0000-4000-8000-000000000001" });
    let logs = [
        (format!("votes/notes/{step}"), with(&by, json!({ "text": "unsure", "flag": true })), "text"),
        (format!("votes/skipped/{step}"), with(&by, json!({ "reason": "too long" })), "reason"),
        (format!("votes/guidelines/{step}"), guide, "en"),
        ("votes/aside/set-aside.jsonl".to_owned(), admit, "why"),
        ("replies/batches.jsonl".to_owned(), batch, "batch"),
        (format!("releases/{GEN}/registry.jsonl"), canary, "guid"),
    ];
    logs.map(|(name, line, field)| {
        let path = format!("raw/{name}");
        let other = with(&line, json!({ field: format!("{}2", line[field].as_str().unwrap()) }));
        Log::in_file(ws.path(&path)).append_lines(format!("{line}\n{other}\n").as_bytes()).unwrap();
        path
    })
    .into()
}

#[test]
fn every_damage_to_a_file_of_raw_is_seen() {
    let ws = of_before(NOWHERE);
    let others = add_other_logs(&ws);
    ws.call(["fsck"]).expect(0);
    ws.call(RUN).expect(0);
    let paths = files(&ws, "raw");
    assert!(paths.len() >= 18 && others.iter().all(|path| paths.contains(path)), "{paths:?}");
    assert!(paths.iter().any(|path| path == "raw/replies/segments.jsonl"), "{paths:?}");
    let tried = damage_each(&ws, &paths);
    assert!(tried >= 150, "{tried}");
}

/// What a newer program wrote with a right chain is said to be that: this one neither reads it, nor salvages it, nor
/// appends to it.
#[test]
fn what_a_newer_program_wrote_about_peoples_work_is_left_alone() {
    let newer = [
        ("votes", json!({ "item": "tieba:1", "verdict": 7 })),
        ("decisions", json!({ "event": "postpone", "id": "00" })),
        ("seen", json!({ "content_hash": 7 })),
    ];
    for (log, line) in newer {
        let ws = of_before(NOWHERE);
        ws.call(RUN).expect(0);
        let segments = Segments::in_folder(ws.path(&format!("raw/{log}")));
        segments.open_writer().unwrap().append_blocks(&[format!("{line}\n")]).unwrap();
        let path = format!("raw/{log}/000001.jsonl");
        let before = ws.bytes(&path);
        let found = ws.call(["fsck"]).expect(1).out;
        assert!(found.contains("newer riddlemill") && !found.contains("backup"), "{log}: {found}");
        let salvaged = ws.call(["fsck", "--salvage"]).expect(1).out;
        assert!(!salvaged.contains("salvaged"), "{log}: {salvaged}");
        let refused = match log {
            "votes" => ws.call(["review", "status", "--recipe", GEN]),
            "decisions" => ws.call(["decide", "drop", "tieba:2", "--by", "meta-1", "--why", "Seen before"]),
            _ => ws.call(["review", "carry", "screen", "--recipe", GEN]),
        };
        assert!(refused.code != 0 && refused.err.contains("newer riddlemill"), "{log}: {}", refused.err);
        assert_eq!(ws.bytes(&path), before, "{log}");
    }
}

#[test]
fn every_damage_to_what_is_derived_is_seen_or_made_again() {
    let ws = of_before(NOWHERE);
    ws.call(RUN).expect(0);
    let mut paths = files(&ws, &format!("staged/{GEN}/06_screen"));
    paths.extend(files(&ws, &format!("output/{GEN}/candidate/data")));
    assert!(paths.len() >= 4, "{paths:?}");
    let paths: Vec<String> = paths.into_iter().filter(|path| !ws.bytes(path).is_empty()).collect();
    damage_each(&ws, &paths);
}

/// A page skips a remark of a newer program; `fsck` says that there is one.
#[test]
fn a_remark_of_a_newer_program_is_named() {
    let ws = of_before(NOWHERE);
    let path = format!("votes/notes/{GEN}.screen.jsonl");
    ws.write(&format!("raw/{path}"), "{\"judgement\":1}\n");
    let found = ws.call(["fsck"]).expect(1);
    assert!(found.out.contains(&path) && found.out.contains("newer riddlemill"), "{}", found.out);
}

/// Some file systems leave zero bytes after a power cut where a write was under way.
#[test]
fn zero_bytes_at_the_end_of_a_log_are_cut_off_by_the_next_writer() {
    let ws = of_before(NOWHERE);
    let logs =
        ["raw/votes/000001.jsonl", "raw/decisions/000001.jsonl", "raw/access.jsonl", "raw/heads.jsonl"];
    for log in logs {
        let whole = ws.bytes(log);
        ws.write(log, [&whole[..], &[0; 9]].concat());
    }
    ws.call(["fsck"]).expect(0);
    ws.call(["run", "--offline", "--to", "dedup"]);
    ws.call(["decide", "drop", "tieba:2", "--by", "meta-1", "--why", "Seen before"]).expect(0);
    ws.call(["access", "grant", "bob", "--rank", "reader"]).expect(0);
    for log in &logs[1..] {
        assert!(!ws.bytes(log).contains(&0), "{log}");
        rows(&ws.read(log));
    }
    ws.call(["fsck"]).expect(0);
}

#[test]
fn zero_bytes_at_the_end_of_any_log_take_nothing_away() {
    let ws = of_before(NOWHERE);
    let mut logs = add_other_logs(&ws);
    let tasks = format!("raw/votes/assigned/{GEN}.screen.jsonl");
    logs.extend(["raw/withdrawn.jsonl", "raw/replies/segments.jsonl", &tasks].map(str::to_owned));
    let lines: Vec<Vec<u8>> =
        logs.iter().map(|path| Log::in_file(ws.path(path)).read_lines().unwrap()).collect();
    for path in &logs {
        let whole = ws.bytes(path);
        ws.write(path, [&whole[..], &[0; 4096]].concat());
    }
    ws.call(["fsck"]).expect(0);
    ws.call(RUN).expect(0);
    for (path, lines) in logs.iter().zip(lines) {
        let log = Log::in_file(ws.path(path));
        assert_eq!(log.read_lines().unwrap(), lines, "{path}");
        let last = lines.split_inclusive(|&byte| byte == b'\n').next_back().unwrap();
        log.append_lines(last).unwrap();
        assert!(!ws.bytes(path).contains(&0), "{path}");
        assert_eq!(log.read_lines().unwrap(), [&lines[..], last].concat(), "{path}");
    }
    ws.call(["fsck"]).expect(0);
}

/// They were: the list of replies stayed without a head, and nothing could be run any more.
#[test]
fn heads_that_are_lost_are_made_anew_for_the_replies_too() {
    for is_gone in [true, false] {
        let ws = of_before(NOWHERE);
        match is_gone {
            true => ws.remove("raw/heads.jsonl"),
            false => {
                let mut heads = ws.bytes("raw/heads.jsonl");
                heads[40] ^= 1;
                ws.write("raw/heads.jsonl", heads);
            }
        }
        ws.call(["fsck"]).expect(1);
        ws.call(["fsck", "--salvage"]);
        let found = ws.call(["fsck"]).expect(0);
        assert!(found.out.contains("raw/ is intact"), "{}", found.out);
        assert!(ws.call(["replies", "verify"]).expect(0).out.contains("3 replies"));
        ws.call(RUN).expect(0);
        assert!(ws.call(["decide", "list"]).expect(0).out.contains("It is an old joke"));
    }
}

/// Lines of a log with their chain.
pub fn chained(name: &str, lines: &[impl AsRef<str>]) -> String {
    let link = |parts: &[&[u8]]| -> [u8; 16] {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().as_bytes()[..16].try_into().unwrap()
    };
    let mut chain = link(&[b"riddlemill chain v1", name.as_bytes()]);
    let mut text = String::new();
    for line in lines {
        let line = line.as_ref();
        chain = link(&[&chain, line.as_bytes()]);
        let open = line.strip_suffix('}').unwrap();
        text.push_str(&format!("{open},\"chain\":\"{}\"}}\n", hex::encode(chain)));
    }
    text
}

/// Anybody can write a head: it decides neither what is moved out of raw/ nor what is moved aside in it.
#[test]
fn a_head_has_only_logs_moved_aside() {
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("000001.jsonl");
    let absolute = outside.path().join("000001").display().to_string();
    let up = format!("../../{}/000001", outside.path().file_name().unwrap().to_string_lossy());
    let names = [
        &*absolute,
        &up,
        "../raw/dumps/1.json",
        "votes/../../pipeline.toml",
        "salt",
        "dumps/1.json",
        "dumps/000001",
        "replies/000001",
        "releases/x/y/registry.jsonl",
    ];
    for name in names {
        fs::write(&victim, "{\"a\":1}\nno JSON\n").unwrap();
        let ws = of_before(NOWHERE);
        let text = ws.read("raw/heads.jsonl");
        let mut lines: Vec<String> =
            text.lines().map(|line| line.split(",\"chain\"").next().unwrap().to_owned() + "}").collect();
        lines.push(format!("{{\"file\":{},\"bytes\":999999,\"at\":\"{}\"}}", json!(name), "0".repeat(32)));
        ws.write("raw/heads.jsonl", chained("heads.jsonl", &lines));
        assert!(ws.read("raw/heads.jsonl").starts_with(&text), "the test's chain is the program's");
        let kept: Vec<(String, Vec<u8>)> = ["raw/salt", "raw/dumps/1.json", "raw/replies/000001.jsonl.zst"]
            .map(|path| (path.to_owned(), ws.bytes(path)))
            .into();
        let found = ws.call(["fsck"]).expect(1);
        assert!(!found.out.contains("raw/ is intact"), "{name}: {}", found.out);
        ws.call(["fsck", "--salvage"]);
        for (path, bytes) in kept {
            assert_eq!(ws.bytes(&path), bytes, "{name}: {path}");
        }
        assert!(!ws.read("pipeline.toml").is_empty(), "{name}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "{\"a\":1}\nno JSON\n", "{name}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1, "{name}");
    }
}
