//! Whole sets of sheets: everybody's ballots in one folder, and their votes from it.

use std::fs;

use serde_json::{Value, json};

use crate::browser::made;

#[test]
fn a_round_takes_two_commands() {
    let workspace = made();
    let written = workspace.call(["review", "export", "--all", "round", "--format", "jsonl"]).expect(0);
    assert!(written.out.contains("round/annotator-1: "), "{}", written.out);
    let sheet = "round/annotator-1/chumor.screen.annotator-1.jsonl";
    assert!(workspace.exists(sheet) && workspace.exists("round/annotator-2/chumor.screen.annotator-2.jsonl"));
    // Whoever may not vote on a step has no sheet of it.
    assert!(!workspace.exists("round/meta-1/chumor.screen.meta-1.jsonl"));

    // Sheets that nobody has filled in change nothing.
    let empty = workspace.call(["review", "import", "round"]).expect(0);
    assert!(empty.out.contains("0 added"), "{}", empty.out);

    // Two people, two steps.
    let fill = |path: &str, field: &str, answer: &str| {
        let lines: Vec<String> = workspace
            .read(path)
            .lines()
            .enumerate()
            .map(|(at, line)| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                if at < 2 {
                    line["answers"][field] = json!(answer);
                }
                line.to_string()
            })
            .collect();
        fs::write(workspace.root().join(path), lines.join("\n")).unwrap();
    };
    fill(sheet, "screen", "not_funny");
    fill("round/annotator-2/ruozhibench-gen.translation.annotator-2.jsonl", "verdict", "accept");
    let imported = workspace.call(["review", "import", "round"]).expect(0);
    assert_eq!(imported.out.matches("2 added").count(), 2, "{}", imported.out);
    let votes = workspace.read("raw/votes/000001.jsonl");
    assert_eq!(votes.lines().count(), 4);
    assert!(votes.contains("annotator-1") && votes.contains("annotator-2"));

    // What somebody has filled in is not written over.
    let refused = workspace.call(["review", "export", "--all", "round", "--format", "jsonl"]);
    assert!(refused.code == 2 && refused.err.contains("riddlemill review import round"), "{}", refused.err);

    // A file that is no ballot is named, and the rest is read.
    fs::write(workspace.root().join("round/notes.csv"), "a,b\n1,2\n").unwrap();
    let odd = workspace.call(["review", "import", "round"]);
    assert!(odd.code != 0 && odd.err.contains("notes.csv: no vote was read"), "{}", odd.err);
    assert!(odd.out.contains("2 known"), "{}", odd.out);

    // Without a step and without a folder there is nothing to read.
    let nothing = workspace.call(["review", "import", "screen"]);
    assert!(nothing.code == 2 && nothing.err.contains("review import DIR"), "{}", nothing.err);
    let unnamed = workspace.call(["review", "export"]);
    assert_eq!(unnamed.code, 2, "{}", unnamed.err);
}
