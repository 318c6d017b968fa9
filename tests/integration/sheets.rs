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

#[test]
fn two_downloads_of_a_sheet_that_differ_are_both_refused_and_what_is_not_read_is_named() {
    let workspace = made();
    workspace.call(["review", "export", "--all", "round", "--format", "jsonl"]).expect(0);
    let sheet = workspace.read("round/annotator-1/chumor.screen.annotator-1.jsonl");
    let rows: Vec<Value> = sheet.lines().take(2).map(|line| serde_json::from_str(line).unwrap()).collect();
    let filled = |answer: &str, comment: &str| {
        let mut rows = rows.clone();
        rows.iter_mut().for_each(|row| row["answers"]["screen"] = json!(answer));
        rows[0]["comment"] = json!(comment);
        rows.iter().map(|row| format!("{row}\n")).collect::<String>()
    };
    workspace.write("back/sheet.jsonl", filled("keep", ""));
    workspace.write("back/sheet (1).jsonl", filled("not_funny", ""));
    let refused = workspace.call(["review", "import", "back"]).expect(3);
    let told = "answers tieba:";
    assert_eq!(refused.err.matches(told).count(), 2, "{}", refused.err);
    assert!(
        refused.err.contains("sheet.jsonl: line 1, item: annotator-1")
            && refused.err.contains("at sheet (1).jsonl, line 1"),
        "{}",
        refused.err
    );
    assert_eq!(refused.out.matches("0 added").count(), 2, "{}", refused.out);
    workspace.remove("back/sheet.jsonl");

    // A remark is named and loses no answer; the hash of another item makes no vote.
    workspace.write("back/sheet (1).jsonl", filled("keep", "odd"));
    let taken = workspace.call(["review", "import", "back"]).expect(0);
    assert!(
        taken.out.contains("2 added") && taken.err.contains("the key `comment` is not read"),
        "{}",
        taken.err
    );
    let mut turned = rows.clone();
    turned.iter_mut().for_each(|row| row["answers"]["screen"] = json!("not_funny"));
    turned[0]["content_hash"] = rows[1]["content_hash"].clone();
    turned[1]["content_hash"] = json!("0".repeat(32));
    let turned: String = turned.iter().map(|row| format!("{row}\n")).collect();
    workspace.write("back/sheet (1).jsonl", turned);
    let outdated = workspace.call(["review", "import", "back"]).expect(3);
    let other = rows[1]["item"].as_str().unwrap();
    assert!(outdated.err.contains(&format!("this is the hash of {other}")), "{}", outdated.err);
    assert!(outdated.out.contains("2 rows, 0 added"), "{}", outdated.out);
    // The vote that counts is not replaced by one that would not.
    assert!(outdated.err.contains("their annotator has voted since"), "{}", outdated.err);
    assert_eq!(workspace.read("raw/votes/000001.jsonl").lines().count(), 2);

    // Whoever is no longer in the settings is named, with what to do.
    let settings = workspace.read("pipeline.toml");
    workspace.write("pipeline.toml", settings.replace("\"annotator-1\"", "\"annotator-one\""));
    for verb in [&["status"][..], &["review", "status"]] {
        let told = workspace.call(verb).expect(0).err;
        assert!(told.contains("2 of 2 votes that count are of annotator-1"), "{told}");
        assert!(told.contains("riddlemill review set-aside annotator-1"), "{told}");
    }
    let aside = ["review", "set-aside", "annotator-1", "--why", "left", "--by"];
    let refused = workspace.call(aside.iter().chain(&["annotator-2"]));
    assert!(refused.code == 2 && refused.err.contains("senior or meta"), "{}", refused.err);
    workspace.call(aside.iter().chain(&["meta-1"])).expect(0);
    assert!(!workspace.call(["review", "status"]).expect(0).err.contains("annotator-1"));
}
