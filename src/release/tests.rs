//! Every layout from hand-made rows to a whole folder, and the published sets through their items.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::candidate::Origin;
use super::changes::Changes;
use super::facts::Facts;
use super::layout::{self, Choice, Cunning, Joke, LAYOUTS, Layout, Puzzle, Question, Rating, Statuses};
use super::licence::Licence;
use super::row::Row;
use super::{data, folder, rows_of, verify};
use crate::config::Config;

fn question(index: u64) -> Question {
    Question {
        index,
        question_zh: format!("第{index}把雨伞为什么怕晒太阳？"),
        question_en: format!("Why is umbrella number {index} afraid of the sun?"),
        irrationality: "Umbrellas have no fears.".into(),
        pair: index.is_multiple_of(2).then(|| "Why does an umbrella fade in the sun?".into()),
        categories: vec![3, 5],
        source_id: format!("tieba:{index}"),
        source: "titles".into(),
        licence: Some("CC0-1.0".into()),
        statuses: Statuses::confirmed(),
    }
}

fn rows(config: &str) -> Vec<Row> {
    let one = |i: u64| match config {
        "ruozhibench-gen" => question(i).row(),
        "ruozhibench-mc" => Choice {
            question: question(i),
            good: ("m-large".into(), "It is not.".into()),
            bad: ("m-small".into(), "It fears sunburn.".into()),
            good_first: i.is_multiple_of(2),
            ratings: [("m-large", "j-one", 4), ("m-small", "j-one", 0), ("m-large", "j-two", 3)]
                .map(|(model, judge, rating)| Rating { model: model.into(), judge: judge.into(), rating })
                .into(),
        }
        .row(),
        "flub" => Cunning {
            text: format!("第{i}个闹钟每天叫醒我，可是谁叫醒它？"),
            is_question: true,
            kind: (!i.is_multiple_of(3)).then(|| "推理错误".into()),
            explanation: "闹钟不睡觉。".into(),
            options: std::array::from_fn(|j| {
                if j as u64 == i % 4 { "闹钟不睡觉。".into() } else { format!("解释{j}") }
            }),
            answer: (i % 4) as usize,
            wrong_from: "people".into(),
            source_id: format!("tieba:{i}"),
            standing: "confirmed".into(),
        }
        .row(),
        "chumor" => Joke {
            id: format!("tieba:{i}"),
            joke: format!("第{i}部电梯说它见过大起大落。"),
            explanation: "电梯上下，人生起落。".into(),
            source_kind: "annual".into(),
            opponents: vec![layout::Opponent {
                model: "m-large".into(),
                explanation: "因为它高。".into(),
                human: 2,
                equal: 1,
                verdict: "human".into(),
                ..layout::Opponent::default()
            }],
            source_id: format!("tieba:{i}"),
            standing: "confirmed".into(),
        }
        .row(),
        _ => Puzzle {
            id: format!(
                "{}-{}{}",
                if i.is_multiple_of(2) { "SP" } else { "WP" },
                i / 6,
                ["", "_SR", "_CR"][(i / 2 % 3) as usize]
            ),
            question: format!("A man has {i} clocks and is late. Why?"),
            answer: "All of them stand.".into(),
            distractors: ["He is lazy.".into(), "He is lost.".into(), "None of above.".into()],
            order: [2, 0, 1, 3],
            original_answer: None,
            split: None,
            source_id: format!("riddle:{i}"),
            standing: "confirmed".into(),
        }
        .row(),
    };
    (0..12).map(one).collect()
}

/// A whole folder of a layout's rows.
fn release(place: &Path, layout: &Layout) {
    let config = Config::defaults();
    let recipe = &crate::recipe::RECIPES[0];
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place).unwrap();
    let written = data::write(place, layout, [Ok(rows(layout.config))].into_iter()).unwrap();
    let mut facts =
        Facts::gather(&config, recipe, &[*layout], vec![written], Vec::new(), Origin::default(), &[])
            .unwrap();
    facts.candidate = false;
    facts.version = "1.0.0-draft.1".into();
    facts.date = Some("2026-01-02".into());
    facts.canary = Some("0a1b2c3d-1111-4222-8333-444455556666".into());
    facts.licence = Licence::named("CC0-1.0");
    facts.changes =
        vec![Changes { version: facts.version.clone(), date: "2026-01-02".into(), ..Changes::default() }];
    folder::finish(place, &facts, &[*layout], Vec::new(), String::new()).unwrap();
}

#[test]
fn every_layout_makes_a_folder_that_verifies() {
    // Where the variable names a folder, the releases stay there for other tools to check.
    let kept = std::env::var_os("RIDDLEMILL_RELEASES").map(PathBuf::from);
    let dir = tempfile::tempdir().unwrap();
    for layout in LAYOUTS {
        let place = kept.as_deref().unwrap_or(dir.path()).join(layout.config);
        release(&place, layout);
        assert_eq!(verify::verify(&place).unwrap().findings, Vec::<String>::new(), "{}", layout.config);
        let again = dir.path().join("again");
        release(&again, layout);
        for file in folder::files(&place).unwrap() {
            assert_eq!(fs::read(place.join(&file)).unwrap(), fs::read(again.join(&file)).unwrap(), "{file}");
        }
    }
}

#[test]
fn a_flipped_byte_fails_with_the_file_name() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::find("flub").unwrap();
    release(dir.path(), layout);
    for file in folder::files(dir.path()).unwrap() {
        let path = dir.path().join(&file);
        let whole = fs::read(&path).unwrap();
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, flipped).unwrap();
            let findings = verify::verify(dir.path()).unwrap().findings;
            assert!(findings.iter().any(|f| f.contains(&file)), "{file} byte {at}: {findings:?}");
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(verify::verify(dir.path()).unwrap().findings.is_empty());
}

#[test]
fn a_split_stands_in_a_column_where_groups_are_split_and_as_it_was_released() {
    let layout = *layout::find("brainteaser").unwrap();
    let names: Vec<&str> = layout.columns.iter().map(|column| column.name).collect();
    let split: Vec<&str> = names.iter().copied().chain(["split"]).collect();
    assert!(!names.contains(&"split"));
    for keys in [names, split] {
        let found = layout.of_keys(keys.iter().copied());
        assert!(found.columns.iter().map(|column| column.name).eq(keys));
    }
    let flub = *layout::find("flub").unwrap();
    assert_eq!(flub.split().columns.len(), flub.columns.len());
    let row = Puzzle { split: Some("train".into()), ..Puzzle::default() }.row();
    assert_eq!(row.0.len(), layout.split().columns.len());
}

#[test]
fn the_parquet_file_of_an_earlier_program_can_be_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::find("flub").unwrap();
    let path = dir.path().join(data::parquet_of(layout));
    let batches = || [Ok(rows("flub"))].into_iter();
    data::write(dir.path(), layout, batches()).unwrap();
    let plain = fs::read(&path).unwrap();
    data::write_views(dir.path(), layout, batches()).unwrap();
    assert_ne!(fs::read(&path).unwrap(), plain);
    assert_eq!(super::parquet::read(&path, layout).unwrap(), rows("flub"));
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
        let layout = layout::find(config).unwrap();
        let mut row = rows(config).remove(1);
        assert_eq!((layout.check)(&row), Ok(()), "{config}");
        row.0[column] = value;
        assert!((layout.check)(&row).is_err(), "{config} column {column}");
    }
}

/// A figure of the machine it runs on, so not run with the others: `--ignored`, in a release build.
#[test]
#[ignore = "a measurement"]
fn a_million_rows() {
    let dir = tempfile::tempdir().unwrap();
    let layout = layout::posts("flub");
    let batch = |n: u64| -> Vec<Row> {
        let post = |i: u64| crate::record::Post {
            id: format!("tieba:{i}"),
            text: format!("第{i}个闹钟每天叫醒我，可是谁来叫醒它？它会不会也想多睡一会儿？"),
            source: "titles".into(),
            file: "titles.json".into(),
            position: i,
            time: Some("2021-03-04".into()),
            ..crate::record::Post::default()
        };
        (n * 65_536..(n + 1) * 65_536).map(|i| layout::post_row(post(i))).collect()
    };
    let start = std::time::Instant::now();
    let written = data::write(dir.path(), &layout, (0..16).map(|n| Ok(batch(n)))).unwrap();
    eprintln!("{} rows in {:?}", written.rows, start.elapsed());
}

/// The reference items of a file, or none where it is not at hand.
fn reference(file: &str) -> Vec<rows_of::JsonRow> {
    match std::env::var("RIDDLEMILL_REFERENCE") {
        Ok(root) => rows_of::of_file(&Path::new(&root).join("data/reference").join(file)).unwrap(),
        Err(_) => {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
            Vec::new()
        }
    }
}

/// Published items, read, made rows and written in the published form. Returns the items that did not
/// come back to the letter.
fn round_trip(
    file: &str,
    compat: usize,
    config: &str,
    row: impl Fn(&rows_of::JsonRow) -> Option<Row>,
) -> Vec<(String, Vec<String>)> {
    let layout = layout::find(config).unwrap();
    let mut strange = Vec::new();
    for item in reference(file) {
        let back = row(&item).and_then(|row| (layout.compat[compat].published)(&row)).unwrap_or_default();
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
    assert_eq!(
        round_trip("ruozhibench-gen-dev.jsonl", 0, "ruozhibench-gen", |i| Some(
            Question::from_published(i)?.row()
        )),
        []
    );
    assert_eq!(
        round_trip("brainteaser-sentence-dev.jsonl", 0, "brainteaser", |i| Some(
            Puzzle::from_published(i)?.row()
        )),
        []
    );
    let strange = round_trip("brainteaser-word-dev.jsonl", 1, "brainteaser", |i| {
        Some(Puzzle::from_published(i)?.row())
    });
    // Its published answer text is longer than its published choice.
    assert!(strange.iter().all(|s| *s == ("WP-84_SR".into(), vec!["choice_list".into()])), "{strange:?}");
    let strange = round_trip("flub-dev.jsonl", 0, "flub", |i| Some(Cunning::from_published(i)?.row()));
    // Three texts of the published file were edited after their ids were made; two are at hand.
    assert!(strange.len() <= 3 && strange.iter().all(|s| s.1 == ["id"]), "{strange:?}");
}
