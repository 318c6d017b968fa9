//! SIGKILL at any moment in every writer to raw/: everything reported is stored, nothing is damaged, and the
//! same command continues where it was stopped.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Workspace, title};
use crate::reviewed::{GEN, Reviewed, item};

/// Kills of each writer; a hundred if requested.
fn kills() -> u64 {
    std::env::var("RIDDLEMILL_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(8)
}

/// Kills a command in copies of a workspace, each at another moment of its duration, and calls it again.
/// `made` returns the result, which must be the same each time; `ends` are the exit codes of the command,
/// where a second call may say that all was done, and `whole` those of `fsck` in between.
fn killed(
    name: &str,
    ws: &Workspace,
    args: &[&str],
    [ends, whole]: [&[i32]; 2],
    made: impl Fn(&Workspace) -> Value,
) {
    let undisturbed = ws.copy();
    let start = Instant::now();
    let call = |ws: &Workspace| {
        let result = ws.call(args);
        assert!(ends.contains(&result.code), "{name}: {} {} {}", result.code, result.out, result.err);
    };
    call(&undisturbed);
    let takes = start.elapsed();
    let want = made(&undisturbed);
    let after = undisturbed.call(["fsck"]).code;
    let (mut cut, mut draw) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    for kill in 0..kills() {
        let ws = ws.copy();
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        let mut child = ws.start(args);
        std::thread::sleep(Duration::from_secs_f64(takes.as_secs_f64() * share));
        cut += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let result = ws.call(["fsck"]);
        assert!(
            whole.contains(&result.code),
            "{name}, kill {kill} at {share:.3}: {} {}",
            result.out,
            result.err
        );
        call(&ws);
        let result = ws.call(["fsck"]);
        assert_eq!(result.code, after, "{name}, kill {kill}: {} {}", result.out, result.err);
        assert_eq!(made(&ws), want, "{name}, kill {kill} at {share:.3}");
    }
    eprintln!("{name}: {cut} of {} were at work when they were killed", kills());
    assert!(cut * 4 >= kills(), "{name}: only {cut} of {} were at work", kills());
}

/// Questions that wait for their first votes, and a sheet with those of one annotator.
pub fn waiting() -> Workspace {
    let ws = Reviewed::new().ws;
    let dump: String = (1..=60).map(|n| title(n, &format!("第{n}只风筝断了线会不会想家？")) + "\n").collect();
    ws.write("raw/dumps/1.json", dump);
    ws.call(["run", "--recipe", GEN, "--offline"]).expect(0);
    let export = ["review", "export", "screen", "--recipe", GEN, "--annotator", "annotator-1"];
    let files = ws.call(export.iter().chain(&["--format", "jsonl", "--out", "ballots"])).expect(0).out;
    let mut filled = String::new();
    for line in
        files.lines().flat_map(|file| ws.read(file.trim()).lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let mut row: Value = serde_json::from_str(&line).unwrap();
        row["answers"] = json!({ "screen": "keep" });
        filled += &format!("{row}\n");
    }
    ws.write("votes.jsonl", filled);
    ws
}

/// The contents of a log's lines without its hash chain.
pub fn lines(ws: &Workspace, path: &str, fields: &[&str]) -> Value {
    let text = ws.read(path);
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| fields.iter().map(|field| row[*field].clone()).collect::<Value>()).collect()
}

#[test]
fn votes_tasks_and_tokens() {
    let ws = waiting();
    let import = ["review", "import", "screen", "--recipe", GEN, "votes.jsonl"];
    let votes = |ws: &Workspace| lines(ws, "raw/votes/000001.jsonl", &["id", "item", "annotator", "values"]);
    killed("review import", &ws, &import, [&[0], &[0]], votes);
    let tasks = format!("raw/votes/assigned/{GEN}.screen.jsonl");
    let actual = |ws: &Workspace| lines(ws, &tasks, &["item", "annotator", "round"]);
    killed("review assign", &ws, &["review", "assign", "screen", "--recipe", GEN], [&[0], &[0]], actual);
    // Each call replaces the previous token by a new random one.
    let who = |ws: &Workspace| {
        let list = ws.call(["access", "list", "--json"]).expect(0).out;
        let list: Value = serde_json::from_str(&list).unwrap_or_else(|_| json!(list));
        list.as_array().map_or(json!(0), |people| json!(people.len()))
    };
    killed(
        "access grant",
        &ws,
        &["access", "grant", "annotator-1", "--rank", "annotator"],
        [&[0], &[0]],
        who,
    );
}

#[test]
fn withdrawals_releases_and_what_is_taken_over() {
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    let mut people = Reviewed::new();
    people.add(&[
        item("风筝断了线会不会想家？", "Does a kite miss home?", "Kites miss nothing.", None, plain),
        item("枕头晚上枕着什么睡？", "What does a pillow rest on?", "A pillow does not sleep.", None, plain),
    ]);
    let ws = &people.ws;
    let there = people.copy();
    there.vote_again("screen", "annotator-2", "枕头晚上枕着什么睡？", &json!({ "screen": ["harmful"] }));
    there.ws.call(["withdraw", "风筝断了线会不会想家？", "--reason", "its author asked"]).expect(0);
    let other = there.ws.root().to_str().unwrap();
    let both = |ws: &Workspace| {
        let withdrawn = ws.read("raw/withdrawn.jsonl").lines().count();
        json!([withdrawn, lines(ws, "raw/votes/000001.jsonl", &["id"])])
    };
    killed("raw merge", ws, &["raw", "merge", other], [&[0], &[0]], both);
    let withdraw = ["withdraw", "风筝断了线会不会想家？", "--reason", "its author asked"];
    let listed = |ws: &Workspace| {
        let list: Value =
            serde_json::from_str(&ws.call(["withdraw", "--list", "--json"]).expect(0).out).unwrap();
        json!(list.as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>())
    };
    killed("withdraw", ws, &withdraw, [&[0], &[0]], listed);
    let registry = format!("raw/releases/{GEN}/registry.jsonl");
    let released = |ws: &Workspace| {
        ws.call(["verify", &format!("output/{GEN}/1.0.0"), "--raw"]).expect(0);
        lines(ws, &registry, &["event", "version"])
    };
    // A version whose event is recorded and whose folder is not yet renamed is finished by the next call.
    killed("release", ws, &["release", GEN, "--date", "2026-01-02"], [&[0, 2], &[0, 1]], released);
}

/// What people decide, which needs somebody entitled.
pub fn with_meta(ws: &Workspace) {
    let meta = "\n[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\nlanguages = [\"zh\", \"en\"]\n";
    ws.write("pipeline.toml", ws.read("pipeline.toml") + meta);
}

#[test]
fn decisions_and_votes_set_aside() {
    let ws = waiting();
    with_meta(&ws);
    let decide = ["decide", "drop", "tieba:2", "--by", "meta-1", "--why", "Seen before"];
    let decided = |ws: &Workspace| lines(ws, "raw/decisions/000001.jsonl", &["event", "record", "verdict"]);
    killed("decide", &ws, &decide, [&[0], &[0]], decided);
    ws.call(["review", "import", "screen", "--recipe", GEN, "votes.jsonl"]).expect(0);
    let aside = ["review", "set-aside", "annotator-1", "--by", "meta-1", "--why", "clicked through"];
    let set_aside = |ws: &Workspace| lines(ws, "raw/votes/aside/set-aside.jsonl", &["event", "annotator"]);
    killed("review set-aside", &ws, &aside, [&[0], &[0]], set_aside);
}

#[test]
fn a_salvage_that_is_stopped() {
    let ws = waiting();
    ws.call(["review", "import", "screen", "--recipe", GEN, "votes.jsonl"]).expect(0);
    let mut log = ws.bytes("raw/votes/000001.jsonl");
    let middle = log.len() / 2;
    log[middle] ^= 1;
    ws.write("raw/votes/000001.jsonl", log);
    let left = |ws: &Workspace| {
        let votes = ws.call(["review", "status", "--recipe", GEN, "--json"]).expect(0).out;
        let votes: Value = serde_json::from_str(&votes).unwrap();
        votes
    };
    killed("fsck --salvage", &ws, &["fsck", "--salvage"], [&[0, 1], &[0, 1]], left);
}
