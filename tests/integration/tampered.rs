//! What `run` reports if files that it would reuse were changed, and foreign files in raw/.

use crate::harness::{Workspace, assert_same};

fn flip(ws: &Workspace, path: &str) {
    let mut bytes = ws.bytes(path);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    ws.write(path, bytes);
}

#[test]
fn a_stage_that_somebody_changed_is_made_anew() {
    let ws = Workspace::sample();
    ws.run();
    let before = ws.derived();
    let parts: Vec<&String> = before.keys().filter(|name| name.ends_with(".parquet")).collect();
    assert!(parts.len() > 100, "{}", parts.len());
    // One recipe's parts may also be another's: two rounds, so that no byte is flipped back.
    for (round, parts) in [parts.iter().step_by(7), parts[3..].iter().step_by(11)].into_iter().enumerate() {
        for part in parts.into_iter().filter(|part| part.starts_with("staged/")) {
            flip(&ws, part);
        }
        ws.call(["audit"]).expect(1);
        let result = ws.run();
        assert!(result.err.contains("changed or left out"), "{}", result.err);
        assert_same(&before, &ws.derived(), &format!("round {round}"));
        ws.audit_clean();
    }
    let result = ws.run();
    assert!(!result.err.contains("changed or left out"), "nothing is made again: {}", result.err);
}

#[test]
fn a_stages_manifest_that_somebody_changed_is_made_anew() {
    let ws = Workspace::sample();
    let run = ["run", "--recipe", "flub", "--offline"];
    ws.call(run).expect(0);
    let before = ws.derived();
    let path = "staged/flub/04_filter/manifest.json";
    let whole = ws.read(path);
    ws.write(path, whole.replacen("\"hash\": \"", "\"hash\": \"0", 1));
    ws.call(run).expect(0);
    assert_same(&before, &ws.derived(), "a hash");
}

#[test]
fn a_candidate_that_somebody_changed_is_not_unchanged() {
    let ws = Workspace::sample();
    let run = ["run", "--recipe", "flub", "--offline"];
    ws.call(run).expect(0);
    let result = ws.call(run).expect(0);
    assert!(result.err.contains("(unchanged)"), "{}", result.err);
    let before = ws.derived();
    let files: Vec<&String> = before
        .keys()
        .filter(|name| name.starts_with("output/flub/candidate/") && !name.ends_with('/'))
        .collect();
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        flip(&ws, file);
        let result = ws.call(run).expect(0);
        assert!(!result.err.contains("(unchanged)"), "{file}: {}", result.err);
        assert_same(&before, &ws.derived(), file);
    }
}

#[test]
fn rows_that_somebody_changed_are_not_evaluated_as_those_of_their_version() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let file = "output/flub/candidate/data/flub/test.jsonl";
    let (before, name) = (ws.read(file), "flub@candidate");
    let outputs = |ws: &Workspace| ws.call(["evaluate", name, "--outputs", "m=none.jsonl"]);
    ws.write("none.jsonl", "");
    ws.write(file, before.replacen("\"answer\":\"", "\"answer\":\"-", 1));
    let told = outputs(&ws);
    assert!(told.code != 0 && told.err.contains("its rows are not those of flub@candidate"), "{}", told.err);
    assert!(told.err.contains("riddlemill verify"), "{}", told.err);
    ws.write(file, before);
    assert!(!outputs(&ws).err.contains("its rows are not"));
}

#[test]
fn what_nobody_wrote_into_raw_is_seen() {
    let ws = Workspace::sample();
    let run = ["run", "--recipe", "flub", "--offline"];
    ws.call(run).expect(0);
    ws.call(["fsck"]).expect(0);
    let hash = "0123456789abcdef".repeat(4);
    for folder in ["raw/votes", "raw/decisions", "raw/replies"] {
        for name in [hash.clone(), "notes.txt".into()] {
            let path = format!("{folder}/{name}");
            ws.write(&path, "{}\n");
            let result = ws.call(["fsck"]).expect(1).out;
            assert!(result.contains(&format!("{folder}: {name}: riddlemill did not write it")), "{result}");
            ws.remove(&path);
        }
    }
    // A file that looks like votes is not skipped by any reader of votes.
    ws.write(&format!("raw/votes/{hash}.jsonl"), "");
    for args in [&run[..], &["status"]] {
        let result = ws.call(args).expect(4).err;
        assert!(result.contains(&hash) && result.contains("riddlemill did not write it"), "{result}");
    }
    ws.call(["fsck"]).expect(1);
    let result = ws.call(["fsck", "--salvage"]).expect(0).out;
    assert!(result.contains("votes"), "{result}");
    assert!(ws.exists(&format!("raw/damaged/001/votes/{hash}.jsonl")));
    ws.call(run).expect(0);
}
