//! Every layout from hand-made rows to a complete folder, and the published sets converted from their items.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use sha1::{Digest, Sha1};

use super::changes::Changes;
use super::facts::{Facts, Origin};
use super::layout::{self, Layout};
use super::licence::Licence;
use super::row::Row;
use super::{data, eval_files, folder, read_rows, verify};
use crate::config::Config;
use crate::options::LETTERS;

fn question(index: u64) -> Json {
    json!({
        "id": format!("RB-{index}"),
        "index": index,
        "question_zh": format!("第{index}把雨伞为什么怕晒太阳？"),
        "question_en": format!("Why is umbrella number {index} afraid of the sun?"),
        "irrationality": "Umbrellas have no fears.",
        "pair": index.is_multiple_of(2).then_some("Why does an umbrella fade in the sun?"),
        "categories": [3, 5],
        "category_names": ["Erroneous Assumption", "Absurd Imagination"],
    })
}

/// The columns of one object, followed by those of another.
fn and(mut first: Json, second: Json) -> Json {
    if let (Some(first), Json::Object(second)) = (first.as_object_mut(), second) {
        first.extend(second);
    }
    first
}

fn row(config: &str, i: u64) -> Json {
    let common = json!({ "source_id": format!("tieba:{i}"), "standing": "confirmed" });
    match config {
        "ruozhibench-gen" => and(
            question(i),
            json!({
                "source_id": format!("tieba:{i}"), "source": "titles", "licence": "CC0-1.0",
                "standing": "confirmed", "screen_status": "confirmed", "translation_status": "confirmed",
                "irrationality_status": "confirmed", "category_status": "confirmed", "pair_status": "confirmed",
            }),
        ),
        "ruozhibench-mc" => {
            let (good, bad) = (("It is not.", "m-large", 3.5), ("It fears sunburn.", "m-small", 0.0));
            let [one, two] = if i.is_multiple_of(2) { [good, bad] } else { [bad, good] };
            let answers = json!({
                "options": [one.0, two.0], "answer": i % 2, "option_models": [one.1, two.1],
                "option_scores": [one.2, two.2], "rating_models": ["m-large", "m-small", "m-large"],
                "rating_judges": ["j-one", "j-one", "j-two"], "ratings": [4, 0, 3], "gap": 3.5,
            });
            and(and(question(i), answers), common)
        }
        "flub" => {
            let text = format!("第{i}个闹钟每天叫醒我，可是谁叫醒它？");
            let right = (i % 4) as usize;
            let option = |j| if j == right { "闹钟不睡觉。".to_owned() } else { format!("解释{j}") };
            let item = json!({
                "id": hex::encode(Sha1::digest(text.as_bytes())), "text": text, "is_question": true,
                "type": (!i.is_multiple_of(3)).then_some("推理错误"), "explanation": "闹钟不睡觉。",
                "options": [option(0), option(1), option(2), option(3)], "answer": LETTERS[right],
                "wrong_from": "people",
            });
            and(item, common)
        }
        "chumor" => and(
            json!({
                "id": format!("tieba:{i}"), "joke": format!("第{i}部电梯说它见过大起大落。"),
                "explanation": "电梯上下，人生起落。", "source_kind": "annual", "opponent_models": ["m-large"],
                "opponent_explanations": ["因为它高。"], "votes_human": [2], "votes_model": [0], "votes_tie": [1],
                "verdicts": ["human"], "errors": [""],
            }),
            common,
        ),
        _ => {
            let kind = if i.is_multiple_of(2) { "SP" } else { "WP" };
            let variant = ["", "_SR", "_CR"][(i / 2 % 3) as usize];
            json!({
                "id": format!("{kind}-{}{variant}", i / 6),
                "question": format!("A man has {i} clocks and is late. Why?"), "answer": "All of them stand.",
                "distractor1": "He is lazy.", "distractor2": "He is lost.", "distractor(unsure)": "None of above.",
                "label": 1,
                "choice_list": ["He is lost.", "All of them stand.", "He is lazy.", "None of above."],
                "choice_order": [2, 0, 1, 3], "original_answer": null,
                "source_id": format!("riddle:{i}"), "standing": "confirmed",
            })
        }
    }
}

fn rows(config: &str) -> Vec<Row> {
    let layout = layout::find_layout(config).unwrap();
    (0..12).map(|i| Row::from_json(layout, row(config, i).as_object().unwrap()).unwrap()).collect()
}

/// A complete folder of a layout's rows.
fn release(place: &Path, layout: &Layout) {
    release_of(place, layout, rows(layout.config));
}

/// A complete folder of these rows.
fn release_of(place: &Path, layout: &Layout, rows: Vec<Row>) {
    let config = Config::defaults();
    let recipe = &crate::recipe::RECIPES[0];
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place).unwrap();
    let written = data::write_data(place, layout, vec![("test", [Ok(rows)].into_iter())], |_| ()).unwrap();
    let mut facts =
        Facts::gather(&config, recipe, &[*layout], vec![written], Vec::new(), Origin::default(), &[])
            .unwrap();
    facts.exported =
        eval_files::write_eval_files(place, &config, &[*layout], &facts.files_of_configs()).unwrap();
    facts.candidate = false;
    facts.version = "1.0.0-draft.1".into();
    facts.date = Some("2026-01-02".into());
    facts.canary = Some("0a1b2c3d-1111-4222-8333-444455556666".into());
    facts.licence = Licence::parse_licence("CC0-1.0");
    facts.changes =
        vec![Changes { version: facts.version.clone(), date: "2026-01-02".into(), ..Changes::default() }];
    folder::finish_folder(place, &facts, &[*layout], Vec::new(), String::new()).unwrap();
}

#[test]
fn every_layout_makes_a_folder_that_verifies() {
    // If the variable names a folder, the releases are kept there for other tools to check.
    let kept = std::env::var_os("RIDDLEMILL_RELEASES").map(PathBuf::from);
    let dir = tempfile::tempdir().unwrap();
    for layout in layout::finished_layouts() {
        let place = kept.as_deref().unwrap_or(dir.path()).join(layout.config);
        release(&place, layout);
        assert_eq!(
            verify::verify_folder(&place).unwrap().findings,
            Vec::<String>::new(),
            "{}",
            layout.config
        );
        let again = dir.path().join("again");
        release(&again, layout);
        for file in folder::list_files(&place).unwrap() {
            assert_eq!(fs::read(place.join(&file)).unwrap(), fs::read(again.join(&file)).unwrap(), "{file}");
        }
    }
}

#[test]
fn a_flipped_byte_fails_with_the_file_name() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::find_layout("flub").unwrap();
    release(dir.path(), layout);
    for file in folder::list_files(dir.path()).unwrap() {
        let path = dir.path().join(&file);
        let whole = fs::read(&path).unwrap();
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, flipped).unwrap();
            let findings = verify::verify_folder(dir.path()).unwrap().findings;
            assert!(findings.iter().any(|f| f.contains(&file)), "{file} byte {at}: {findings:?}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(verify::verify_folder(dir.path()).unwrap().findings.is_empty());
}

/// That the published form is not that of the rows would follow from any failed row, and says nothing more.
#[test]
fn a_failed_row_is_told_without_what_follows_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::find_layout("flub").unwrap();
    let mut rows = rows("flub");
    rows[1].0[0] = super::row::Value::Text("0".repeat(40));
    release_of(dir.path(), layout, rows);
    let findings = verify::verify_folder(dir.path()).unwrap().findings;
    assert_eq!(findings, ["data/flub/test.jsonl:2: id: not the SHA-1 of the text"]);
}

#[test]
fn a_split_is_in_a_column_where_groups_are_split_and_as_it_was_released() {
    let layout = *layout::find_layout("brainteaser").unwrap();
    let names: Vec<&str> = layout.columns.iter().map(|column| column.name).collect();
    let split: Vec<&str> = names.iter().copied().chain(["split"]).collect();
    assert!(!names.contains(&"split"));
    for keys in [names, split] {
        let found = layout.of_keys(keys.iter().copied());
        assert!(found.columns.iter().map(|column| column.name).eq(keys));
    }
    let flub = *layout::find_layout("flub").unwrap();
    assert_eq!(flub.with_columns(&["split"]).columns.len(), flub.columns.len());
    let row = and(row("brainteaser", 0), json!({ "split": "train" }));
    assert!(Row::from_json(&layout.with_columns(&["split"]), row.as_object().unwrap()).is_ok());
}

#[test]
fn the_parquet_file_of_an_earlier_program_can_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::find_layout("flub").unwrap();
    let path = dir.path().join(data::parquet_of(layout));
    let batches = || [Ok(rows("flub"))].into_iter();
    data::write_data(dir.path(), layout, vec![("test", batches())], |_| ()).unwrap();
    let plain = fs::read(&path).unwrap();
    data::write_views(dir.path(), layout, batches()).unwrap();
    assert_ne!(fs::read(&path).unwrap(), plain);
    assert_eq!(super::parquet::read_parquet(&path, layout.columns).unwrap(), rows("flub"));
}

#[test]
fn what_does_not_fit_within_a_row_is_found() {
    use super::row::Value;
    for (config, column, value) in [
        ("flub", 6, Value::Text("E".into())),
        ("flub", 0, Value::Text("0".repeat(40))),
        ("ruozhibench-gen", 6, Value::Counts(vec![5, 3])),
        ("ruozhibench-mc", 9, Value::Count(7)),
        ("brainteaser", 6, Value::Count(0)),
        ("chumor", 6, Value::Counts(Vec::new())),
    ] {
        let layout = layout::find_layout(config).unwrap();
        let mut row = rows(config).remove(1);
        assert_eq!(layout.check_row(&row), Ok(()), "{config}");
        row.0[column] = value;
        assert!(layout.check_row(&row).is_err(), "{config} column {column}");
    }
}

/// The reference items of a file, or none where it is not at hand.
fn reference(file: &str) -> Vec<read_rows::JsonRow> {
    match std::env::var("RIDDLEMILL_REFERENCE") {
        Ok(root) => read_rows::of_file(&Path::new(&root).join("data/reference").join(file)).unwrap(),
        Err(_) => {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
            Vec::new()
        }
    }
}

/// Published items converted to rows and back into the published form. Returns the items that were not
/// reproduced exactly.
fn round_trip(file: &str, compat: usize, config: &str) -> Vec<(String, Vec<String>)> {
    let mut strange = Vec::new();
    for item in reference(file) {
        let (layout, row) = layout::from_published(&item).unwrap();
        assert_eq!(layout.config, config, "{file}");
        let back = layout.published_form(&layout.compat[compat], &row).unwrap().unwrap_or_default();
        if serde_json::to_string(&back).unwrap() != serde_json::to_string(&item).unwrap() {
            assert!(back.keys().eq(item.keys()), "{file}: keys or their order");
            let differs = item.keys().filter(|key| back[*key] != item[*key]).cloned().collect();
            strange.push((item.get("id").and_then(Json::as_str).unwrap_or_default().to_string(), differs));
        }
    }
    strange
}

#[test]
fn published_rows_come_back_field_for_field() {
    assert_eq!(round_trip("ruozhibench-gen-dev.jsonl", 0, "ruozhibench-gen"), []);
    assert_eq!(round_trip("brainteaser-sentence-dev.jsonl", 0, "brainteaser"), []);
    let strange = round_trip("brainteaser-word-dev.jsonl", 1, "brainteaser");
    // Its published answer text is longer than its published choice.
    assert!(strange.iter().all(|s| *s == ("WP-84_SR".into(), vec!["choice_list".into()])), "{strange:?}");
    let strange = round_trip("flub-dev.jsonl", 0, "flub");
    // Three texts of the published file were edited after their ids were made; two of them are at hand.
    assert!(strange.len() <= 3 && strange.iter().all(|s| s.1 == ["id"]), "{strange:?}");
}

#[test]
fn texts_and_labels_of_sets_are_those_of_their_folders() {
    assert_eq!(layout::text_columns(), ["question_zh", "text", "joke", "question"]);
    let flub = layout::find_layout("flub").unwrap();
    assert_eq!(flub.label_for("type", "谐音"), Some("字音错误"));
    assert_eq!((flub.label_for("type", "歧义"), flub.label_for("text", "谐音")), (None, None));
    assert_eq!(layout::renamed_labels()["违反常识"], "事实性错误");
    let row = json!({ "id": "a", "text": "其他", "joke": "笑话" });
    assert_eq!(layout::text_of("chumor", row.as_object().unwrap()), Some(&json!("笑话")));
    assert_eq!(layout::text_of("unknown", row.as_object().unwrap()), Some(&json!("其他")));
}

/// Rows of a layout can be read back from its published form, apart from what that form lacks.
#[test]
fn a_published_form_is_known_by_its_keys() {
    // Chumor's two files do not count as published forms: they cannot be read back.
    for layout in
        layout::finished_layouts().filter(|layout| !layout.compat.is_empty() && layout.config != "chumor")
    {
        for row in rows(layout.config) {
            let published: Vec<_> = layout
                .compat
                .iter()
                .filter_map(|compat| layout.published_form(compat, &row).unwrap())
                .collect();
            assert_eq!(published.len(), 1, "{}", layout.config);
            let (found, back) = layout::from_published(&published[0]).unwrap();
            assert_eq!((found.config, back.id()), (layout.config, row.id()));
        }
    }
    let strange = json!({ "text": "一", "is_question": "no" });
    assert!(layout::from_published(strange.as_object().unwrap()).is_none());
}

/// The possible sources of a joke: the paper's two, the other kinds of posts, a published file, and an
/// unnamed one.
#[test]
fn every_kind_of_source_is_one_that_a_joke_may_come_from() {
    let layout = layout::find_layout("chumor").unwrap();
    let column = layout.columns.iter().find(|column| column.name == "source_kind").unwrap();
    let kinds = crate::config::SourceKind::OF_POSTS;
    let known: Vec<&str> = ["annual", "recommended"]
        .into_iter()
        .chain(kinds[1..].iter().copied())
        .chain(["published", "unknown"])
        .collect();
    assert_eq!(column.values, known);
}
