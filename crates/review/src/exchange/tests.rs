//! Export, filling in, import; and every kind of faulty file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::entries::RowCells;
use super::*;
use crate::answers;
use crate::assign::{Annotator, Task};
use crate::ballot::{AnswerKind, Ballot, Role, Round};
use crate::ballots;
use crate::item::{Content, Item};
use crate::value::{Value, Values};
use crate::votes::{Vote, VoteLog};

const AT: &str = "2026-01-01T00:00:00Z";

pub(super) fn people() -> Vec<Annotator> {
    let person = |name: &str, role, account: &str| Annotator {
        name: name.into(),
        role,
        languages: vec!["zh".into()],
        qualified: true,
        accounts: vec![account.into()],
        trials: Vec::new(),
    };
    vec![person("j1", Role::Junior, "7"), person("j2", Role::Junior, "8"), person("s1", Role::Senior, "9")]
}

pub(super) fn items(ballot: &Ballot, count: usize) -> Vec<Item> {
    let item = |at: usize| {
        let id = format!("tieba:{at}");
        let text = format!("“第{at}题”, with \"quotes\",\nlines; and = signs");
        let content = Content::from([
            ("text".to_owned(), Value::Text(text)),
            ("candidates".to_owned(), Value::List((1..=9).map(|n| format!("answer {n}")).collect())),
        ]);
        let draft = ballot.fields.iter().filter(|field| matches!(field.kind, AnswerKind::Text));
        let draft: Values =
            draft.map(|field| (field.name, Value::Text(format!("draft of {} {at}", field.name)))).collect();
        match ballot.name {
            "preference" => {
                let sides = [("human", format!("h{at}")), ("llm", format!("l{at}"))];
                Item::from_sides(ballot, id, content, "explanation", sides, 5)
            }
            _ => Item::new(ballot, id, content, draft),
        }
    };
    (0..count).map(item).collect()
}

pub(super) fn settings<'s>(ballot: &'s Ballot, people: &'s [Annotator]) -> ImportSettings<'s> {
    ImportSettings { step: ballot, round: Round::Vote, people, assigned: &[], at: AT, synthetic: false }
}

pub(super) fn index(items: &[Item]) -> ItemIndex<'_> {
    items.iter().map(|item| (item.id.as_str(), item)).collect()
}

pub(super) fn read(ballot: &Ballot, items: &[Item], file: &str, bytes: &[u8]) -> Import {
    let people = people();
    import_votes(file, bytes, &index(items), &settings(ballot, &people))
}

pub(super) fn written(step: &Ballot, items: &[Item], annotator: &str, format: Format) -> File {
    let rows: Vec<(&Item, Option<&Vote>)> = items.iter().map(|item| (item, None)).collect();
    let ballot = BallotSheet { step, round: Round::Vote, annotator, rows: &rows, seed: 5, proposed: None };
    export_ballot(&ballot, format).unwrap().remove(0)
}

/// The rows of an exported CSV, to fill in and corrupt.
fn grid(file: &File) -> Vec<Vec<String>> {
    let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(&file.bytes[3..]);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

pub(super) fn column(grid: &[Vec<String>], name: &str) -> usize {
    grid[0].iter().position(|header| header == name).unwrap()
}

pub(super) fn to_csv(grid: &[Vec<String>]) -> Vec<u8> {
    let mut writer = ::csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    grid.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.into_inner().unwrap()
}

fn to_xlsx(sheet: &str, grid: &[Vec<String>], merge: Option<(u32, u32, u16)>) -> Vec<u8> {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let worksheet = workbook.add_worksheet().set_name(sheet).unwrap();
    for (row, cells) in grid.iter().enumerate() {
        for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            worksheet.write_string(row as u32, at as u16, cell).unwrap();
        }
    }
    if let Some((first, last, at)) = merge {
        let text = grid[first as usize][at as usize].clone();
        worksheet.merge_range(first, at, last, at, &text, &rust_xlsxwriter::Format::new()).unwrap();
    }
    workbook.save_to_buffer().unwrap()
}

/// A FLUB type ballot of `j1` with every row filled in.
pub(super) fn filled(count: usize) -> (Ballot, Vec<Item>, Vec<Vec<String>>) {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, count);
    let mut grid = grid(&written(&step, &items, "j1", Format::Csv));
    let kind = column(&grid, "type");
    grid[1..].iter_mut().for_each(|row| row[kind] = "paradox".into());
    (step, items, grid)
}

pub(super) fn messages(import: &Import) -> Vec<String> {
    import.problems.iter().map(Problem::to_string).collect()
}

#[test]
fn a_blind_ballot_holds_no_draft_and_no_name_of_another() {
    let step = ballots::find_step("flub", "explanation").unwrap();
    let items = items(&step, 3);
    for format in [Format::Csv, Format::Jsonl, Format::LabelStudio] {
        let file = written(&step, &items, "j1", format);
        let text = String::from_utf8(file.bytes).unwrap();
        assert!(!text.contains("draft"), "{}", file.name);
        assert!(!text.contains("j2"));
    }
    let workbook = written(&step, &items, "j1", Format::Xlsx);
    let (entries, _) = xlsx::read_xlsx(&workbook.bytes, "explanation").unwrap();
    assert!(!entries.columns.iter().any(|header| header.starts_with("draft.")));
    assert_eq!(
        workbook.bytes,
        written(&step, &items, "j1", Format::Xlsx).bytes,
        "the same ballot, the same bytes"
    );
}

#[test]
fn rows_are_ordered_for_each_annotator_and_not_by_id() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 30);
    let ids = |annotator: &str| -> Vec<String> {
        grid(&written(&step, &items, annotator, Format::Csv))[1..].iter().map(|row| row[0].clone()).collect()
    };
    assert_ne!(ids("j1"), ids("j2"));
    assert_eq!(ids("j1"), ids("j1"));
}

#[test]
fn a_cell_in_the_last_corner_of_a_workbook_takes_no_memory() {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_string(0, 0, "item").unwrap();
    sheet.write_string(1_048_575, 16_383, "x").unwrap();
    let trouble = xlsx::read_xlsx(&workbook.save_to_buffer().unwrap(), "Sheet1").err().unwrap().to_string();
    assert!(trouble.contains("too large") && trouble.contains("XFD1048576"), "{trouble}");

    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write_string(0, 0, "item").unwrap();
    for row in 0..9000 {
        sheet.write_string(row + 1, 0, format!("{row}{}", "a".repeat(32_000))).unwrap();
    }
    let bomb = workbook.save_to_buffer().unwrap();
    assert!(bomb.len() < 4 << 20, "{}", bomb.len());
    let trouble = xlsx::read_xlsx(&bomb, "Sheet1").err().unwrap().to_string();
    assert!(trouble.contains("unpacks to more than"), "{trouble}");
}

#[test]
fn a_forums_formula_is_shown_and_not_run() {
    let step = ballots::find_step("flub", "type").unwrap();
    let content = Content::from([("text".to_owned(), Value::from("=HYPERLINK(\"x\")"))]);
    let items = [Item::new(&step, "i", content, Values::new())];
    let grid = grid(&written(&step, &items, "j1", Format::Csv));
    assert_eq!(grid[1][1], "'=HYPERLINK(\"x\")");
}

/// The item's own id, and an answer, come from strangers too.
#[test]
fn an_id_that_is_a_formula_comes_back_from_every_ballot() {
    let step = ballots::find_step("flub", "type").unwrap();
    let id = "=HYPERLINK(\"http://x\",\"y\")";
    let content = Content::from([("text".to_owned(), Value::from("云"))]);
    let items = [Item::new(&step, id, content, Values::new())];
    let csv = written(&step, &items, "j1", Format::Csv);
    let mut grid = grid(&csv);
    for cell in grid.iter().flatten() {
        assert!(!cell.starts_with(['=', '+', '@', '\t', '\r']), "{cell}");
    }
    let kind = column(&grid, "type");
    grid[1][kind] = "paradox".into();
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.len(), 1, "{:?}", messages(&import));
    assert_eq!(import.votes[0].item, id);
    // Saved as a workbook, the apostrophe is part of the cell.
    let import = read(&step, &items, "a.xlsx", &to_xlsx("type", &grid, None));
    assert_eq!(import.votes.len(), 1, "{:?}", messages(&import));
}

#[test]
fn moved_columns_and_added_ones_change_nothing() {
    let (step, items, mut grid) = filled(5);
    grid.iter_mut().for_each(|row| row.reverse());
    grid.iter_mut()
        .enumerate()
        .for_each(|(at, row)| row.insert(2, if at == 0 { "note".into() } else { "!".into() }));
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.len(), 5, "{:?}", messages(&import));
    let told = "a.csv: the column `note` is not read, and 5 rows have something in it: it is no question of the ballot, so nothing of it is kept";
    assert_eq!(messages(&import), [told]);
    assert!(import.problems[0].trouble.is_note());
}

#[test]
fn an_unknown_choice_is_reported_with_its_cell_and_the_others_are_taken() {
    let (step, items, mut grid) = filled(20);
    let kind = column(&grid, "type");
    grid[16][kind] = "paradocks".into();
    let cell = format!("{}17", entries::column_letters(kind));
    let csv = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(csv.votes.len(), 19);
    assert!(
        messages(&csv)[0]
            .starts_with(&format!("a.csv: {cell}: unknown choice `paradocks`; one of false_analogy")),
        "{:?}",
        messages(&csv)
    );
    let xlsx = read(&step, &items, "votes.xlsx", &to_xlsx("type", &grid, None));
    assert_eq!(xlsx.votes.len(), 19);
    assert!(
        messages(&xlsx)[0].starts_with(&format!("votes.xlsx: sheet type, {cell}: unknown choice")),
        "{:?}",
        messages(&xlsx)
    );
}

#[test]
fn only_the_first_row_of_a_merged_range_is_a_vote() {
    let (step, items, grid) = filled(6);
    let kind = column(&grid, "type");
    let bytes = to_xlsx("type", &grid, Some((2, 4, kind as u16)));
    let import = read(&step, &items, "a.xlsx", &bytes);
    assert_eq!(import.votes.len(), 4);
    let letter = entries::column_letters(kind);
    let merged = |row: usize| {
        format!(
            "a.xlsx: sheet type, {letter}{row}: merged into {letter}3; only the first row of a merged range is read"
        )
    };
    assert_eq!(messages(&import), [merged(4), merged(5)]);
}

#[test]
fn deleted_rows_are_noticed_where_it_is_known_what_was_assigned() {
    let (step, items, mut grid) = filled(5);
    let removed_row = grid.remove(2);
    let people = people();
    let task = |item: &Item| Task {
        item: item.id.clone(),
        annotator: "j1".into(),
        round: Round::Vote,
        gold: false,
        ..Task::default()
    };
    let assigned: Vec<Task> = items.iter().map(task).collect();
    let settings = ImportSettings { assigned: &assigned, ..settings(&step, &people) };
    let import = import_votes("a.csv", &to_csv(&grid), &index(&items), &settings);
    assert_eq!(import.votes.len(), 4);
    assert_eq!(
        messages(&import),
        [format!(
            "a.csv: 1 item assigned to j1 but not in the file, the first is {}; what is not there stays open",
            removed_row[0]
        )]
    );
}

#[test]
fn two_rows_that_differ_cancel_each_other_and_two_alike_are_one() {
    let (step, items, mut grid) = filled(4);
    let kind = column(&grid, "type");
    let mut other = grid[2].clone();
    other[kind] = "ambiguity".into();
    grid.push(other);
    grid.push(grid[3].clone());
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.len(), 3);
    let item = &grid[2][0];
    assert_eq!(
        messages(&import),
        [format!("a.csv: A6: j1 answers {item} differently here and at A3; neither answer was imported")]
    );
}

#[test]
fn a_third_row_does_not_bring_a_conflict_back() {
    let (step, items, mut grid) = filled(1);
    let kind = column(&grid, "type");
    let mut other = grid[1].clone();
    other[kind] = "ambiguity".into();
    grid.push(other.clone());
    grid.push(other);
    assert_eq!(read(&step, &items, "a.csv", &to_csv(&grid)).votes, []);
}

#[test]
fn strangers_other_steps_and_the_unqualified_are_distinguished() {
    let (step, items, mut grid) = filled(6);
    let (who, recipe, name) = (column(&grid, "annotator"), column(&grid, "recipe"), column(&grid, "step"));
    grid[1][who] = "nobody".into();
    grid[2][who] = "s1".into();
    grid[3][recipe] = "chumor".into();
    grid[4][name] = "clean".into();
    grid[5][0] = "tieba:99".into();
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.len(), 1);
    let messages = messages(&import).join("\n");
    for part in [
        "unknown annotator `nobody`",
        "s1 (senior) may not vote here: this is for the role junior; who may: j1, j2",
        "recipe `chumor`, not `flub`",
        "step `clean`, not `type`",
        "`tieba:99` is not an item of this step",
    ] {
        assert!(messages.contains(part), "{part} in {messages}");
    }
}

#[test]
fn encodings_and_separators_of_spreadsheets_are_read() {
    let (step, items, mut grid) = filled(4);
    let kind = column(&grid, "type");
    grid[1][kind] = "悖论".into();
    let text = String::from_utf8(to_csv(&grid)).unwrap();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let (gbk, _, _) = encoding_rs::GBK.encode(&text);
    let bom = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    let semicolons = {
        let mut writer = ::csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
        grid.iter().for_each(|row| writer.write_record(row).unwrap());
        writer.into_inner().unwrap()
    };
    for (name, bytes, notes) in
        [("utf16", utf16, 0), ("gbk", gbk.into_owned(), 1), ("bom", bom, 0), ("semicolons", semicolons, 0)]
    {
        let import = read(&step, &items, "a.csv", &bytes);
        assert_eq!(
            (import.votes.len(), import.problems.len()),
            (4, notes),
            "{name}: {:?}",
            messages(&import)
        );
        assert!(import.problems.iter().all(|problem| problem.trouble.is_note()));
    }
}

#[test]
fn half_saved_files_lose_what_is_torn_and_nothing_else() {
    let (step, items, grid) = filled(8);
    let whole = to_csv(&grid);
    let full = read(&step, &items, "a.csv", &whole).votes;
    for end in (whole.len() / 2..whole.len()).step_by(7) {
        let import = read(&step, &items, "a.csv", &whole[..end]);
        assert!(import.votes.iter().all(|vote| full.contains(vote)), "cut at {end}");
        // A cut between two rows leaves a valid file with fewer of them.
        let left = ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&whole[..end]);
        let last = left.into_byte_records().last().unwrap().unwrap();
        let is_whole = last.len() == grid[0].len() && last[last.len() - 1].len() == 32;
        assert_eq!(import.problems.is_empty(), is_whole, "cut at {end}: {:?}", messages(&import));
    }
    let workbook = to_xlsx("type", &grid, None);
    let import = read(&step, &items, "a.xlsx", &workbook[..workbook.len() / 2]);
    assert!(
        import.votes.is_empty() && messages(&import)[0].contains("saved to its end"),
        "{:?}",
        messages(&import)
    );
    let json = read(&step, &items, "a.json", b"[{\"data\":");
    assert!(messages(&json)[0].contains("saved to its end"), "{:?}", messages(&json));
    assert!(messages(&read(&step, &items, "a.doc", b"x"))[0].contains("not a known kind of file"));
    assert!(messages(&read(&step, &items, "a.csv", b""))[0].contains("the file is empty"));
}

#[test]
fn a_vote_on_an_older_text_is_taken_as_stale_unless_it_leans_on_that_text() {
    let (step, mut items, grid) = filled(3);
    items[0].content.insert("text".into(), Value::from("changed"));
    let changed = Item::new(&step, items[0].id.clone(), items[0].content.clone(), Values::new());
    items[0] = changed;
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.len(), 3);
    assert!(
        matches!(&import.problems[..], [Problem { trouble: VoteProblem::Stale(_), .. }]),
        "{:?}",
        messages(&import)
    );

    let step = ballots::find_step("chumor", "preference").unwrap();
    let people = people();
    let old = self::items(&step, 1);
    let mut grid = self::grid(&written(&step, &old, "j1", Format::Csv));
    let at = column(&grid, "preference");
    grid[1][at] = "1".into();
    let sides = [("human", "new".to_owned()), ("llm", "l0".to_owned())];
    let new = Item::from_sides(&step, old[0].id.clone(), Content::new(), "explanation", sides, 5);
    let import = super::import_votes(
        "a.csv",
        &to_csv(&grid),
        &index(std::slice::from_ref(&new)),
        &settings(&step, &people),
    );
    assert!(
        matches!(&import.problems[..], [Problem { trouble: VoteProblem::StaleUnread(_), .. }]),
        "{:?}",
        messages(&import)
    );
}

#[test]
fn missing_and_doubled_headers_are_reported() {
    let (step, items, mut grid) = filled(2);
    let kind = column(&grid, "type");
    grid[0][kind] = "Typ".into();
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert!(
        messages(&import)[0].starts_with("a.csv: no column `type`; its columns are "),
        "{:?}",
        messages(&import)
    );
    assert!(import.votes.is_empty());
    let (_, _, mut grid) = filled(2);
    grid.iter_mut().for_each(|row| row.push(row[kind].clone()));
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert!(messages(&import)[0].contains("a second time"), "{:?}", messages(&import));
    assert_eq!(import.votes.len(), 2);
}

#[test]
fn two_imports_at_once_store_each_vote_once() {
    let (step, items, grid) = filled(50);
    let bytes = to_csv(&grid);
    let dir = tempfile::tempdir().unwrap();
    let added: usize = std::thread::scope(|scope| {
        let import = || {
            let votes = read(&step, &items, "a.csv", &bytes).votes;
            VoteLog::open(dir.path()).unwrap().append_votes(votes).unwrap().added.len()
        };
        let handles: Vec<_> = (0..4).map(|_| scope.spawn(import)).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum()
    });
    assert_eq!(added, 50);
    assert_eq!(VoteLog::open(dir.path()).unwrap().votes().len(), 50);
}

#[test]
fn label_studio_signs_by_account_and_takes_displayed_labels() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 2);
    let tasks = written(&step, &items, "", Format::LabelStudio);
    let mut tasks: serde_json::Value = serde_json::from_slice(&tasks.bytes).unwrap();
    let choice = |by: serde_json::Value, code: &str| {
        serde_json::json!({ "completed_by": by, "lead_time": 4.5, "was_cancelled": false, "result": [
            { "from_name": "type", "to_name": "item", "type": "choices", "value": { "choices": [code] } } ] })
    };
    tasks[0]["annotations"] = serde_json::json!([
        choice(7.into(), "paradox"),
        choice(serde_json::json!({"id": 8}), "悖论 Paradox")
    ]);
    let mut skipped = choice(7.into(), "paradox");
    skipped["was_cancelled"] = true.into();
    tasks[1]["annotations"] =
        serde_json::json!([skipped, choice("x@example.org".into(), "paradox"), choice(8.into(), "paradoxx")]);
    let import = read(&step, &items, "export.json", &serde_json::to_vec(&tasks).unwrap());
    let who: Vec<(&str, &str)> =
        import.votes.iter().map(|vote| (&*vote.annotator, vote.values.text_of("type").unwrap())).collect();
    assert_eq!(who, [("j1", "paradox"), ("j2", "paradox")]);
    assert_eq!(import.votes[0].seconds, Some(4.5));
    let messages = messages(&import);
    assert!(
        messages[0].starts_with("export.json: task 2, annotator: unknown annotator `x@example.org`"),
        "{messages:?}"
    );
    assert!(messages[1].starts_with("export.json: task 2, type: unknown choice `paradoxx`"), "{messages:?}");
}

#[test]
fn label_studios_short_export_is_read_and_what_holds_no_annotation_is_refused() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 3);
    let tasks = written(&step, &items, "", Format::LabelStudio);
    let whole: Vec<serde_json::Value> = serde_json::from_slice(&tasks.bytes).unwrap();
    let short = |task: &serde_json::Value, by: i64, given: serde_json::Value| {
        let mut record = task["data"].clone();
        for (key, value) in [("id", 1.into()), ("annotation_id", 5.into()), ("annotator", by.into())] {
            record[key] = value;
        }
        record["type"] = given;
        record["lead_time"] = 4.5.into();
        record
    };
    let records = [
        short(&whole[0], 7, "paradox".into()),
        short(&whole[1], 8, serde_json::json!(["pun", "悖论 Paradox"])),
        short(&whole[2], 99, "paradox".into()),
    ];
    let import = read(&step, &items, "export.json", &serde_json::to_vec(&records).unwrap());
    let who: Vec<(&str, &str)> =
        import.votes.iter().map(|vote| (&*vote.annotator, vote.values.text_of("type").unwrap())).collect();
    assert_eq!(who, [("j1", "paradox"), ("j2", "paradox")]);
    assert_eq!(import.votes[0].seconds, Some(4.5));
    assert_eq!(messages(&import).len(), 1, "{:?}", messages(&import));
    assert!(messages(&import)[0].contains("unknown annotator `99`"), "{:?}", messages(&import));
    for (bytes, word) in [
        (tasks.bytes.clone(), "none of its 3 tasks has an annotation"),
        (br#"[{"image": "a.png"}]"#.to_vec(), "task 1 is not in a known export format"),
    ] {
        let import = read(&step, &items, "export.json", &bytes);
        assert!(import.votes.is_empty() && messages(&import)[0].contains(word), "{:?}", messages(&import));
        assert!(!import.problems[0].trouble.is_note());
    }
}

#[test]
fn an_account_that_nobody_has_is_the_problem_of_its_row_in_every_format() {
    let step = ballots::find_step("flub", "type").unwrap();
    let items = items(&step, 3);
    // A project that was exported for one person, and answered by others too.
    let tasks = written(&step, &items, "j1", Format::LabelStudio);
    let mut tasks: serde_json::Value = serde_json::from_slice(&tasks.bytes).unwrap();
    let answered = |by: serde_json::Value| {
        serde_json::json!([{ "completed_by": by, "result": [
            { "from_name": "type", "to_name": "item", "type": "choices", "value": { "choices": ["paradox"] } } ] }])
    };
    tasks[0]["annotations"] = answered(serde_json::json!({ "id": 70, "email": "second@example.org" }));
    tasks[1]["annotations"] = answered(serde_json::json!({ "id": 8, "email": "second@example.org" }));
    tasks[2]["annotations"] = answered(serde_json::Value::Null);
    let import = read(&step, &items, "export.json", &serde_json::to_vec(&tasks).unwrap());
    let who: Vec<&str> = import.votes.iter().map(|vote| &*vote.annotator).collect();
    assert_eq!(who, ["j2"]);
    let found = messages(&import);
    assert_eq!(found.len(), 2, "{found:?}");
    // Whoever the task was exported for, nobody says that they answered it.
    assert!(found[1].starts_with("export.json: task 3, annotator: answers of no account"), "{found:?}");
    assert!(!import.problems[1].trouble.is_note());
    assert!(found[0].contains("second@example.org") && found[0].contains("nobody's account"), "{found:?}");
    assert!(found[0].contains("accounts = [\"second@example.org\"]"), "{found:?}");

    // What the message says mends it.
    let mended: Vec<Annotator> = people()
        .into_iter()
        .map(|mut person| {
            if person.name == "j1" {
                person.accounts.push("Second@example.org".into());
            }
            person
        })
        .collect();
    tasks[1]["annotations"] = answered(8.into());
    tasks[2]["annotations"] = answered(7.into());
    let bytes = serde_json::to_vec(&tasks).unwrap();
    let import = super::import_votes("export.json", &bytes, &index(&items), &settings(&step, &mended));
    assert_eq!((import.votes.len(), import.problems.len()), (3, 0), "{:?}", messages(&import));

    // Tables name accounts in their column `annotator`.
    let (step, items, mut grid) = filled(4);
    let (name, lines) = (column(&grid, "annotator"), |import: &Import| messages(import).join("\n"));
    grid[1][name] = "8".into();
    grid[2][name] = "third@example.org".into();
    grid[3][name] = String::new();
    let import = read(&step, &items, "a.csv", &to_csv(&grid));
    assert_eq!(import.votes.iter().filter(|vote| vote.annotator == "j2").count(), 1);
    assert!(lines(&import).contains("accounts = [\"third@example.org\"]"), "{}", lines(&import));
    assert!(lines(&import).contains("answers without an annotator"), "{}", lines(&import));

    // An account of two people is neither's.
    let mut twins = people();
    twins[1].accounts = vec!["7".into()];
    grid[1][name] = "7".into();
    let import = super::import_votes("a.csv", &to_csv(&grid), &index(&items), &settings(&step, &twins));
    assert!(lines(&import).contains("`7` is the account of j1 and of j2"), "{}", lines(&import));
}

#[test]
fn a_workbook_of_several_sheets_says_which_step_each_is_of() {
    let (step, items, grid) = filled(2);
    let mut other = grid.clone();
    let (name, recipe) = (column(&grid, "step"), column(&grid, "recipe"));
    other[1..].iter_mut().for_each(|row| row[name] = "clean".into());
    let mut workbook = rust_xlsxwriter::Workbook::new();
    for (sheet, grid) in [("types", &grid), ("guideline", &grid), ("cleaning", &other)] {
        let worksheet = workbook.add_worksheet().set_name(sheet).unwrap();
        for (row, cells) in grid.iter().enumerate() {
            for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                worksheet.write_string(row as u32, at as u16, cell).unwrap();
            }
        }
    }
    workbook.add_worksheet().set_name("empty").unwrap();
    let bytes = workbook.save_to_buffer().unwrap();
    let found: Vec<(String, Vec<BallotPlace>)> = read_contents("all.xlsx", &bytes)
        .unwrap()
        .into_iter()
        .map(|table| (table.sheet.unwrap(), table.places.into_iter().collect()))
        .collect();
    let of = |step: &str| vec![(grid[1][recipe].clone(), step.to_owned(), "vote".to_owned())];
    assert_eq!(found, [("types".to_owned(), of("type")), ("cleaning".to_owned(), of("clean"))]);
    let people = people();
    let table = VoteTable { file: "all.xlsx".into(), bytes, sheet: Some("types".into()) };
    let import = import_tables(vec![table], &index(&items), &settings(&step, &people)).remove(0);
    assert_eq!((import.votes.len(), import.problems.len()), (2, 0), "{:?}", messages(&import));
    // Every format says so.
    for format in [Format::Csv, Format::Xlsx, Format::Jsonl] {
        let file = written(&step, &items, "j1", format);
        let places = &read_contents(&file.name, &file.bytes).unwrap()[0].places;
        assert_eq!(places.iter().cloned().collect::<Vec<_>>(), of("type"), "{}", file.name);
    }
}

#[test]
fn label_studios_configuration_is_stable() {
    let step = ballots::find_step("flub", "clean").unwrap();
    let items = items(&step, 1);
    let rows: Vec<(&Item, Option<&Vote>)> = items.iter().map(|item| (item, None)).collect();
    let ballot =
        BallotSheet { step: &step, round: Round::Vote, annotator: "", rows: &rows, seed: 5, proposed: None };
    let files = export_ballot(&ballot, Format::LabelStudio).unwrap();
    assert_eq!(files[1].name, "flub.clean.config.xml");
    insta::assert_snapshot!(String::from_utf8(files[1].bytes.clone()).unwrap());
}

/// Ballots that together contain every kind of field.
const STEPS: [(&str, &str); 6] = [
    ("ruozhibench-gen", "category"),
    ("ruozhibench-gen", "translation"),
    ("flub", "clean"),
    ("flub", "wrong"),
    ("chumor", "preference"),
    ("chumor", "screen"),
];

/// Some answers to a ballot, drawn from `numbers`.
fn some_answers(ballot: &Ballot, numbers: &[usize]) -> BTreeMap<&'static str, Value> {
    let mut given = BTreeMap::new();
    for (at, field) in ballot.fields.iter().enumerate() {
        let number = numbers[at % numbers.len()];
        let options = field.options();
        let value = match &field.kind {
            AnswerKind::Choice(options) => Value::from(options[number % options.len()].code),
            AnswerKind::Choices { .. } => {
                Value::List(vec![options[number % options.len()].code.into(), options[0].code.into()])
            }
            AnswerKind::Keep { .. } if number.is_multiple_of(2) => Value::from("keep"),
            AnswerKind::Keep { .. } => Value::List(vec![options[number % options.len()].code.into()]),
            AnswerKind::Preference { .. } => Value::from(["1", "2", "equal"][number % 3]),
            AnswerKind::Pick { k, .. } => {
                Value::List((0..*k).map(|pick| ((number + pick * 2) % 9 + 1).to_string()).collect())
            }
            AnswerKind::Score { min, .. } => Value::Number(f64::from(*min)),
            AnswerKind::Text | AnswerKind::Edited { .. } => {
                Value::Text(format!("改写 {number}, \"quoted\"\nsecond line; =1+{number}"))
            }
        };
        let verdict =
            field.when.and_then(|when| given.get(when.field).map(|value: &Value| (when, value.to_string())));
        if verdict.is_none_or(|(when, verdict)| when.write.contains(&verdict.as_str())) {
            given.insert(field.name, value);
        }
    }
    given
}

/// The exported file with the answers filled in, in its own format.
fn fill(
    ballot: &Ballot,
    file: &File,
    format: Format,
    answers: &BTreeMap<String, BTreeMap<&'static str, Value>>,
) -> Vec<u8> {
    match format {
        Format::Csv => to_csv(&fill_grid(ballot, grid(file), answers)),
        Format::Xlsx => {
            let (entries, _) = xlsx::read_xlsx(&file.bytes, ballot.name).unwrap();
            let text = |cells: &RowCells, at| cells.text_at(at).map(Cow::into_owned).unwrap_or_default();
            let rows = entries.rows.iter();
            let rows = rows.map(|row| (0..row.cells.len()).map(|at| text(&row.cells, at)).collect());
            let grid = std::iter::once(entries.columns.clone()).chain(rows).collect();
            to_xlsx(ballot.name, &fill_grid(ballot, grid, answers), None)
        }
        Format::Jsonl => {
            let lines = std::str::from_utf8(&file.bytes).unwrap().lines().map(|line| {
                let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
                let given = &answers[line["item"].as_str().unwrap()];
                line["answers"] = serde_json::to_value(given).unwrap();
                line.to_string()
            });
            lines.collect::<Vec<_>>().join("\n").into_bytes()
        }
        Format::LabelStudio => {
            let mut tasks: serde_json::Value = serde_json::from_slice(&file.bytes).unwrap();
            for task in tasks.as_array_mut().unwrap() {
                let given = &answers[task["data"]["item"].as_str().unwrap()];
                let region = |(field, value): (&&str, &Value)| {
                    let kind = &ballot.fields.iter().find(|other| other.name == *field).unwrap().kind;
                    let value = match (kind, value) {
                        (AnswerKind::Text, text) => serde_json::json!({ "text": [text] }),
                        (_, Value::List(codes)) => serde_json::json!({ "choices": codes }),
                        (_, code) => serde_json::json!({ "choices": [code] }),
                    };
                    serde_json::json!({ "from_name": field, "to_name": "item", "type": "any", "value": value })
                };
                let result: Vec<serde_json::Value> = given.iter().map(region).collect();
                task["annotations"] = serde_json::json!([{ "completed_by": 7, "result": result }]);
            }
            serde_json::to_vec(&tasks).unwrap()
        }
    }
}

fn fill_grid(
    ballot: &Ballot,
    mut grid: Vec<Vec<String>>,
    answers: &BTreeMap<String, BTreeMap<&'static str, Value>>,
) -> Vec<Vec<String>> {
    let at: BTreeMap<&str, usize> =
        ballot.fields.iter().map(|field| (field.name, column(&grid, field.name))).collect();
    for row in &mut grid[1..] {
        for (field, value) in &answers[&row[0]] {
            row[at[field]] = value.to_string();
        }
    }
    grid
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    /// Answers come back unchanged through every format, once; the ballot exported with these votes comes
    /// back as nothing new.
    #[test]
    fn out_filled_and_in_again(
        which in 0usize..STEPS.len(),
        numbers in prop::collection::vec(prop::collection::vec(0usize..100, 4), 1..6),
    ) {
        let (recipe, name) = STEPS[which];
        let mut step = ballots::find_step(recipe, name).unwrap();
        step.voters = vec![Role::Junior];
        let items = items(&step, numbers.len());
        let answers: BTreeMap<String, _> =
            items.iter().zip(&numbers).map(|(item, numbers)| (item.id.clone(), some_answers(&step, numbers))).collect();
        let expected = |item: &Item| match answers::read_answers(&step.fields, item, |field| answers[&item.id].get(field).cloned()) {
            answers::Answers::Given(values) => values,
            other => panic!("{other:?}"),
        };
        let dir = tempfile::tempdir().unwrap();
        let mut log = VoteLog::open(dir.path()).unwrap();
        for format in [Format::Csv, Format::Xlsx, Format::Jsonl, Format::LabelStudio] {
            let file = written(&step, &items, "j1", format);
            let bytes = fill(&step, &file, format, &answers);
            let import = read(&step, &items, &file.name, &bytes);
            prop_assert_eq!(messages(&import), Vec::<String>::new());
            prop_assert_eq!(import.votes.len(), items.len());
            for vote in &import.votes {
                let item = items.iter().find(|item| item.id == vote.item).unwrap();
                prop_assert_eq!(&vote.values, &expected(item), "{:?}", format);
            }
            let before = log.votes().len();
            let receipt = log.append_votes(import.votes.clone()).unwrap();
            prop_assert_eq!(receipt.added.len(), if before == 0 { items.len() } else { 0 });
            prop_assert_eq!(log.append_votes(import.votes).unwrap().added.len(), 0);
        }
        let rows: Vec<(&Item, Option<&Vote>)> =
            items.iter().map(|item| (item, log.votes().iter().find(|vote| vote.item == item.id))).collect();
        let ballot = BallotSheet { step: &step, round: Round::Vote, annotator: "j1", rows: &rows, seed: 5, proposed: None };
        for format in [Format::Csv, Format::Xlsx, Format::Jsonl] {
            let file = export_ballot(&ballot, format).unwrap().remove(0);
            let again = read(&step, &items, &file.name, &file.bytes);
            prop_assert_eq!(messages(&again), Vec::<String>::new());
            prop_assert_eq!(again.votes.len(), items.len());
            let mut log = VoteLog::open(dir.path()).unwrap();
            prop_assert_eq!(log.append_votes(again.votes).unwrap().known, items.len());
        }
    }
}
