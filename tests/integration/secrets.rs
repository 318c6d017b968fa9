//! Another secret in the place of one that was used stops whatever rests on it, and says the way back.

use crate::harness::{CallResult, Workspace, source, title};
use crate::reviewed::{GEN, release};

fn workspace() -> Workspace {
    let ws = Workspace::with(&source("a", "leymore-titles", "raw/dumps/a.json"));
    ws.write(
        "raw/dumps/a.json",
        title(1, "冰块怕热还是怕化？") + "\n" + &title(2, "梯子为什么从来不上进？") + "\n",
    );
    ws
}

fn run(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--offline", "--to", "dedup"])
}

/// Changes one hex digit.
fn spoil(ws: &Workspace, secret: &str) -> String {
    let before = ws.read(&format!("raw/{secret}"));
    let other = if before.starts_with('0') { "1" } else { "0" };
    ws.write(&format!("raw/{secret}"), format!("{other}{}", &before[1..]));
    before
}

fn assert_stops(result: &CallResult, code: i32, secret: &str) {
    assert_eq!(result.code, code, "{}{}", result.out, result.err);
    let all = format!("{}{}", result.out, result.err);
    for word in [&format!("raw/{secret}"), &format!("another {secret}"), "backup", "replaces "] {
        assert!(all.contains(word), "no {word:?}: {all}");
    }
}

#[test]
fn one_changed_digit_of_the_salt_brings_no_withdrawn_post_back() {
    let ws = workspace();
    run(&ws).expect(0);
    ws.call(["withdraw", "tieba:1", "--reason", "asked"]).expect(0);
    run(&ws).expect(0);
    assert!(ws.read("raw/withdrawn.jsonl").contains("\"salt\":\""), "{}", ws.read("raw/withdrawn.jsonl"));
    let other = ws.copy();
    let salt = spoil(&ws, "salt");
    // Also where nothing derived is left.
    for derived in [true, false] {
        if !derived {
            ws.remove_derived();
        }
        assert_stops(&run(&ws), 4, "salt");
        assert_stops(&ws.call(["withdraw", "tieba:2", "--reason", "asked"]), 4, "salt");
        assert_stops(&ws.call(["release", "flub"]), 4, "salt");
        assert_stops(&ws.call(["serve", "--port", "0"]), 4, "salt");
        assert_stops(&ws.call(["raw", "merge", &other.root().display().to_string()]), 4, "salt");
        let found = ws.call(["fsck"]).expect(1);
        assert!(found.out.contains("another salt") && !found.out.contains("is intact"), "{}", found.out);
    }
    ws.write("raw/salt", &salt);
    run(&ws).expect(0);
    ws.call(["fsck"]).expect(0);
    assert_eq!(ws.posts("flub").len(), 1);
    // The secret itself is nowhere but in its file.
    let logs: String = ["raw/withdrawn.jsonl", "raw/secrets.jsonl", "raw/heads.jsonl"]
        .iter()
        .filter(|log| ws.exists(log))
        .map(|log| ws.read(log))
        .collect();
    assert!(!logs.contains(&salt.trim()[..16]), "{logs}");
}

/// What the message advises mends the cause.
#[test]
fn a_salt_that_is_lost_for_good_is_replaced_on_purpose() {
    let ws = workspace();
    run(&ws).expect(0);
    ws.call(["withdraw", "tieba:1", "--reason", "asked"]).expect(0);
    spoil(&ws, "salt");
    let result = run(&ws);
    assert_stops(&result, 4, "salt");
    let digest = result.err.split("`replaces ").nth(1).unwrap().split('`').next().unwrap();
    ws.write("raw/salt", format!("{}\nreplaces {digest}\n", "ab".repeat(32)));
    run(&ws).expect(0);
    // The withdrawal names no post any longer, and that is said.
    let found = ws.call(["fsck"]).expect(0);
    assert!(found.err.contains("1 withdrawal was made under a salt"), "{}", found.err);
    assert_eq!(ws.posts("flub").len(), 2);
    ws.call(["withdraw", "tieba:1", "--reason", "asked"]).expect(0);
    run(&ws).expect(0);
    assert_eq!(ws.posts("flub").len(), 1);
}

/// A workspace of before: no line states a digest, so the salt that is there counts.
#[test]
fn lines_of_before_belong_to_the_salt_that_is_there() {
    let ws = workspace();
    run(&ws).expect(0);
    ws.call(["withdraw", "tieba:1", "--reason", "asked"]).expect(0);
    let lines = ws.read("raw/withdrawn.jsonl");
    let (before, after) = (lines.find(",\"salt\":").unwrap(), lines.find(",\"what\":").unwrap());
    let chain = lines.find(",\"chain\":").unwrap();
    ws.write("raw/withdrawn.jsonl", format!("{}{}}}\n", &lines[..before], &lines[after..chain]));
    ws.remove("raw/heads.jsonl");
    ws.remove("raw/secrets.jsonl");
    ws.remove_derived();
    run(&ws).expect(0);
    assert_eq!(ws.posts("flub").len(), 1);
    // From then on the digest is known, and another salt is noticed.
    spoil(&ws, "salt");
    assert_stops(&run(&ws), 4, "salt");
}

#[test]
fn every_secret_of_raw_is_watched() {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--recipe", GEN, "--recipe", "chumor"]).expect(0);
    let export = ["review", "export", "preference", "--recipe", "chumor", "--annotator", "annotator-1"];
    ws.call(export).expect(0);
    let secret = spoil(&ws, "blinding");
    assert_stops(&ws.call(export), 4, "blinding");
    assert_stops(&ws.call(["run", "--offline", "--recipe", "chumor"]), 4, "blinding");
    assert_stops(&ws.call(["serve", "--port", "0"]), 4, "blinding");
    assert_stops(&release(&ws, &[]), 4, "blinding");
    ws.call(["fsck"]).expect(1);
    ws.remove("raw/blinding");
    let gone = ws.call(export).expect(4);
    assert!(gone.err.contains("missing") && gone.err.contains("backup"), "{}", gone.err);
    ws.write("raw/blinding", secret);
    ws.call(export).expect(0);
    release(&ws, &[]).expect(0);
}
