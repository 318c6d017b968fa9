//! Nothing that people wrote is left out in silence.

use serde_json::{Value as Json, json};

use super::tests::*;
use super::*;
use crate::ballots;

fn table(file: &str, grid: &[Vec<String>]) -> VoteTable {
    VoteTable { file: file.to_owned(), bytes: to_csv(grid), sheet: None }
}

fn lines_of(file: &File) -> Vec<Json> {
    let text = std::str::from_utf8(&file.bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn jsonl(lines: &[Json]) -> Vec<u8> {
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn losses(import: &Import) -> Vec<String> {
    let lost = import.problems.iter().filter(|problem| !problem.trouble.is_note());
    lost.map(Problem::to_string).collect()
}

#[test]
fn two_files_that_differ_cancel_each_other_as_two_rows_do() {
    let (step, items, grid) = filled(3);
    let kind = column(&grid, "type");
    let mut other = grid.clone();
    other[2][kind] = "ambiguity".into();
    let people = people();
    let both = [table("sheet (1).csv", &other), table("sheet.csv", &grid), table("third.csv", &other)];
    let imports = import_tables(both.to_vec(), &index(&items), &settings(&step, &people));
    // The rows that are the same are stored once, and a third file does not bring the conflict back.
    assert_eq!(imports.iter().map(|import| import.votes.len()).collect::<Vec<_>>(), [2, 0, 0]);
    let item = &grid[2][0];
    let told = |file: &str| {
        format!(
            "{file}: A3: j1 answers {item} differently here and at sheet (1).csv, A3; neither answer was imported"
        )
    };
    assert_eq!(messages(&imports[1]), [told("sheet.csv")]);
    assert_eq!(messages(&imports[2]), [told("third.csv")]);

    // A sheet that names the earlier vote is the later one: the log knows what replaces what.
    let vote = column(&grid, "vote");
    other[2][vote] = imports[0].votes[0].id.to_string();
    let imports = import_tables(
        vec![table("a.csv", &grid), table("b.csv", &other)],
        &index(&items),
        &settings(&step, &people),
    );
    assert_eq!(imports.iter().map(|import| import.votes.len()).collect::<Vec<_>>(), [3, 1]);
    assert!(imports.iter().all(|import| import.problems.is_empty()));
}

#[test]
fn an_answer_in_a_column_that_nothing_reads_is_lost_and_a_remark_is_told() {
    let (step, items, grid) = filled(2);
    let with = |name: &str, cells: [&str; 2]| {
        let mut grid = grid.clone();
        for (row, cell) in grid.iter_mut().zip([name, cells[0], cells[1]]) {
            row.insert(1, cell.to_owned());
        }
        read(&step, &items, "a.csv", &to_csv(&grid))
    };
    let remark = with("Remarks", ["", "odd"]);
    assert!(messages(&remark)[0].contains("the column `Remarks` is not read, and 1 row has something"));
    assert!(losses(&remark).is_empty() && remark.votes.len() == 2);
    assert!(with("Remarks", ["", " "]).problems.is_empty());
    let slip = with("typ", ["pun", "pun"]);
    assert!(losses(&slip)[0].contains("the column `typ` is not read, and 2 rows have"), "{slip:?}");
    assert!(losses(&slip)[0].contains("the ballot asks for type, also"), "{slip:?}");
    assert!(losses(&with("", ["", "odd"])).is_empty());
    assert!(messages(&with("", ["", "odd"]))[0].contains("column B, which has no header, is not read"));
    // A question has no column: then any other one may be its answers.
    let mut lacking = grid.clone();
    let also = column(&lacking, "also");
    lacking.iter_mut().for_each(|row| row[also] = "further kinds".into());
    assert!(losses(&read(&step, &items, "a.csv", &to_csv(&lacking)))[0].contains("`further kinds`"));
}

#[test]
fn lines_tell_what_they_hold_beside_their_answers() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 2);
    let mut lines = lines_of(&written(&step, &items, "j1", Format::Jsonl));
    lines[0]["answers"] = json!({ "type": "paradox", "typpe": "pun" });
    lines[0]["comment"] = "odd".into();
    lines[1]["answer"] = json!({ "type": "paradox" });
    let import = read(&step, &items, "a.jsonl", &jsonl(&lines));
    assert_eq!((import.votes.len(), import.blank), (1, 1));
    let told = messages(&import).join("\n");
    assert!(told.contains("the key `comment` is not read, and 1 row has"), "{told}");
    let lost = losses(&import).join("\n");
    assert!(lost.contains("the answer `typpe`") && lost.contains("the key `answer`"), "{lost}");
    assert!(!lost.contains("comment"), "{lost}");

    // A list or a text is no answers, and an object is no answer.
    for wrong in [json!(["paradox"]), json!("paradox"), json!({ "type": { "is": "paradox" } })] {
        lines[0]["answers"] = wrong.clone();
        assert!(!losses(&read(&step, &items, "a.jsonl", &jsonl(&lines[..1]))).is_empty(), "{wrong}");
    }
    // Two values of a key.
    lines[0]["answers"] = json!({ "type": "paradox" });
    let whole = lines[0].to_string();
    for (twice, key) in [
        (whole.replace("\"type\":\"paradox\"", "\"type\":\"paradox\",\"type\":\"pun\""), "type"),
        (whole.replacen('{', "{\"annotator\":\"j2\",", 1), "annotator"),
    ] {
        let import = read(&step, &items, "a.jsonl", twice.as_bytes());
        let told = format!(
            "a.jsonl: line 1: the line gives the key `{key}` two different values; it was not imported"
        );
        assert!(import.votes.is_empty() && losses(&import) == [told], "{import:?}");
    }
    let same = whole.replace("\"type\":\"paradox\"", "\"type\":\"paradox\",\"type\": \"paradox\"");
    assert_eq!(read(&step, &items, "a.jsonl", same.as_bytes()).votes.len(), 1);
}

#[test]
fn lines_of_another_program_are_named_by_their_own_keys() {
    let step = ballots::find_step("flub", "type").unwrap();
    let line = json!({ "id": 1, "text": "x", "label": ["paradox"], "item": "tieba:0", "Comments": [] });
    let import = read(&step, &items(&step, 1), "doccano.jsonl", &jsonl(&[line]));
    let told = messages(&import);
    for name in ["annotator", "content_hash", "answers"] {
        let lacks =
            format!("doccano.jsonl: no column `{name}`; its columns are id, text, label, item, Comments");
        assert!(told.contains(&lacks), "{told:?}");
    }
}

#[test]
fn label_studio_tells_which_controls_and_comments_no_ballot_has() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 1);
    let tasks = written(&step, &items, "j1", Format::LabelStudio);
    let mut tasks: Json = serde_json::from_slice(&tasks.bytes).unwrap();
    let region = |name: &str, value: Json| json!({ "from_name": name, "to_name": "item", "value": value });
    let mut result = vec![region("type", json!({ "choices": ["paradox"] }))];
    result.push(region("remarks", json!({ "text": ["odd"] })));
    tasks[0]["annotations"] = json!([{ "completed_by": 7, "result": result }]);
    tasks[0]["comments"] = json!([{ "text": "ask me" }]);
    let bytes = |tasks: &Json| serde_json::to_vec(tasks).unwrap();
    let import = read(&step, &items, "export.json", &bytes(&tasks));
    let told = messages(&import).join("\n");
    assert!(import.votes.len() == 1 && losses(&import).is_empty(), "{told}");
    assert!(told.contains("the control `remarks`") && told.contains("the key `comments`"), "{told}");
    // A value of a shape that no question has.
    tasks[0]["annotations"][0]["result"][0]["value"] = json!({ "taxonomy": [["paradox"]] });
    let import = read(&step, &items, "export.json", &bytes(&tasks));
    assert!(losses(&import)[0].contains("the control `type` is not read"), "{import:?}");

    // JSON-MIN.
    let mut record = tasks[0]["data"].clone();
    for (key, value) in [
        ("id", json!(1)),
        ("annotation_id", json!(5)),
        ("annotator", json!(7)),
        ("type", json!("paradox")),
        ("remarks", json!("odd")),
    ] {
        record[key] = value;
    }
    let import = read(&step, &items, "export.json", &bytes(&json!([record])));
    assert_eq!(messages(&import).len(), 1, "{:?}", messages(&import));
    assert!(messages(&import)[0].contains("the control `remarks`"));
    // Of nobody.
    record["annotator"] = Json::Null;
    let import = read(&step, &items, "export.json", &bytes(&json!([record])));
    assert!(import.votes.is_empty() && losses(&import)[0].contains("answers of no account"));
}

#[test]
fn a_hash_of_another_item_or_of_nothing_makes_no_vote_that_counts() {
    let (step, items, grid) = filled(3);
    let hash = column(&grid, "content_hash");
    let mut turned = grid.clone();
    (turned[1][hash], turned[2][hash]) = (grid[2][hash].clone(), grid[1][hash].clone());
    turned[3][hash] = "0123456789abcdef0123456789abcdef".into();
    let import = read(&step, &items, "a.csv", &to_csv(&turned));
    let lost = losses(&import);
    assert_eq!((lost.len(), import.misplaced, import.votes.len()), (3, 2, 1), "{lost:?}");
    assert_eq!(import.outdated, [import.votes[0].id]);
    let told = format!("this is the hash of {}, not of {}", grid[2][0], grid[1][0]);
    assert!(lost[0].contains(&told), "{lost:?}");
    assert!(lost[2].contains("is outdated and will not count"), "{lost:?}");
}
