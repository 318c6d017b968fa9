//! Scores the text rules on labelled files, separately on the two parts of a split by hash of the text.
//!
//! `cargo run -p riddlemill-text --example quality -- FOLDER [--misses]`, where FOLDER has `gold/*-dev.jsonl`
//! and `data/reference/*-dev.jsonl`; missing files are skipped, so that your own labels can be scored alone.
//! A row is in the fit part if the first byte of BLAKE3 over a zero byte and its text is even, and held out
//! otherwise; title and content, or the two texts of a pair, are joined by a line break. Misses are shown for
//! the fit part only, because held-out rows are no longer a fair test once they have been read.

use std::path::Path;

use riddlemill_text::offline::asks_in;
use riddlemill_text::text::clean::{DraftKind, PostText, clean};
use riddlemill_text::text::interrogative::{self, Notion};
use riddlemill_text::text::language::{Language, detect, tag_language};
use riddlemill_text::text::sameness::{Verdict, compare};
use serde_json::Value;

const RAW: &str = "gold/question-dev.jsonl";
const FLUB: &str = "data/reference/flub-dev.jsonl";
const RUOZHIBENCH: &str = "data/reference/ruozhibench-gen-dev.jsonl";

/// One labelled row: the text that decides its part, the label, the program's result, what to show.
struct Row {
    text: String,
    want: bool,
    got: bool,
    why: String,
}

fn rows(path: &Path) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let text = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|e| format!("{}: {e}", path.display()))?,
    };
    let rows: Vec<Value> = text
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| serde_json::from_str(&l.replace(": NaN", ": null")))
        .collect::<Result<_, _>>()?;
    Ok(rows.into_iter().filter(|row| row["unsure"] != Value::Bool(true)).collect())
}

/// 0 for a text of the fit part, 1 for a held-out one.
fn part(text: &str) -> u8 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[0]);
    hasher.update(text.as_bytes());
    hasher.finalize().as_bytes()[0] % 2
}

fn print_scores<'r>(name: &str, part: &str, rows: impl Iterator<Item = &'r Row>, exact: bool) {
    let (mut tp, mut fp, mut fneg, mut tn) = (0u32, 0u32, 0u32, 0u32);
    for row in rows {
        *match (row.want, row.got) {
            (true, true) => &mut tp,
            (false, true) => &mut fp,
            (true, false) => &mut fneg,
            (false, false) => &mut tn,
        } += 1;
    }
    let ratio = |a: u32, b: u32| f64::from(a) / f64::from(b.max(1));
    let n = tp + fp + fneg + tn;
    if exact {
        println!("{name} | {part} | {n} | {:.4}", ratio(tp, tp + fneg));
    } else {
        println!(
            "{name} | {part} | {n} | f1 {:.4} | precision {:.4} | recall {:.4} | specificity {:.4}",
            ratio(2 * tp, 2 * tp + fp + fneg),
            ratio(tp, tp + fp),
            ratio(tp, tp + fneg),
            ratio(tn, tn + fp)
        );
    }
}

/// The labelled sets in English that are in the repository: 0 or 1, a kind, and the texts, by tabs.
fn fixture(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().map(|line| line.split('\t').collect())
}

fn english_questions() -> Vec<Row> {
    let row = |line: Vec<&str>| {
        let text = line[2].to_owned();
        let (got, rule, _) = asks_in(&text, Language::En);
        let why = format!("{} {rule} {text:?}", line[1]);
        Row { text, want: line[0] == "1", got, why }
    };
    fixture(include_str!("../fixtures/english-questions.tsv")).map(row).collect()
}

fn english_pairs() -> Vec<Row> {
    let row = |line: Vec<&str>| {
        let (a, b) = (line[2], line[3]);
        let found = compare(&tag_language(a, Language::En), &tag_language(b, Language::En));
        let why = format!(
            "{} {:?} {:?} {:?}\n      {a}\n      {b}",
            line[1], found.verdict, found.predicate, found.veto
        );
        Row { text: format!("{a}\n{b}"), want: line[0] == "1", got: found.verdict == Verdict::Same, why }
    };
    fixture(include_str!("../fixtures/english-pairs.tsv")).map(row).collect()
}

/// Whether texts in English, and in other languages, are detected as this one.
fn detected(language: Language) -> Vec<Row> {
    let row = |text: &str, want: bool| {
        let found = detect(text);
        let why = format!("{found:?} {text:?}");
        Row { text: text.to_owned(), want, got: found.language == language, why }
    };
    let questions = fixture(include_str!("../fixtures/english-questions.tsv")).map(|line| row(line[2], true));
    let pairs = fixture(include_str!("../fixtures/english-pairs.tsv"))
        .flat_map(|line| [row(line[2], true), row(line[3], true)]);
    let foreign = fixture(include_str!("../fixtures/foreign.tsv")).map(|line| row(line[1], false));
    questions.chain(pairs).chain(foreign).collect()
}

/// Whether posts of a Chinese forum are detected as Chinese.
fn chinese(folder: &Path) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    for (file, field) in [(RAW, "text"), (FLUB, "text"), (RUOZHIBENCH, "question_zh")] {
        for row in rows(&folder.join(file))? {
            let text = row[field].as_str().unwrap_or_default().to_owned();
            let detected = detect(&text);
            let why = format!("{detected:?} {text:?}");
            found.push(Row { text, want: true, got: detected.language == Language::Zh, why });
        }
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or("usage: quality FOLDER [--misses]")?);
    let misses = arguments.iter().any(|a| a == "--misses");
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let squash = |s: &str| s.split_whitespace().collect::<String>();

    let cleaned = rows(&folder.join("gold/clean-dev.jsonl"))?
        .iter()
        .map(|row| {
            let (title, content) = (text(row, "title"), text(row, "abs"));
            let draft = PostText { kind: DraftKind::Thread, title: &title, content: Some(&content) };
            let got = clean(&draft).text;
            let why = format!("{title:?} / {content:?}: want {} got {got:?}", row["text"]);
            Row {
                text: format!("{title}\n{content}"),
                want: true,
                got: squash(&got) == squash(&text(row, "text")),
                why,
            }
        })
        .collect::<Vec<_>>();
    let questions = |file: &str,
                     field: &str,
                     label: Option<&str>,
                     notion|
     -> Result<Vec<Row>, Box<dyn std::error::Error>> {
        Ok(rows(&folder.join(file))?
            .iter()
            .map(|row| {
                let text = text(row, field);
                let found = interrogative::judge_by(&text, notion);
                let why = format!("{} {text:?}", found.rule.code());
                let want = label.is_none_or(|label| row[label] == Value::Bool(true));
                Row { text, want, got: found.is_question, why }
            })
            .collect())
    };
    let pairs = rows(&folder.join("gold/dedup-dev.jsonl"))?
        .iter()
        .map(|row| {
            let (a, b) = (text(row, "a"), text(row, "b"));
            let found = compare(&a, &b);
            let why = format!(
                "{:?} {:?} {:?} {:.3} {}\n      {a:?}\n      {b:?}",
                found.verdict, found.predicate, found.veto, found.score, row["kind"]
            );
            Row {
                text: format!("{a}\n{b}"),
                want: row["duplicate"] == Value::Bool(true),
                got: found.verdict == Verdict::Same,
                why,
            }
        })
        .collect::<Vec<_>>();
    let label = Some("is_question");
    let sets = [
        ("clean", cleaned, true),
        ("raw questions", questions(RAW, "text", label, Notion::Sense)?, false),
        ("FLUB is_question", questions(FLUB, "text", label, Notion::Sense)?, false),
        ("FLUB is_question, by form", questions(FLUB, "text", label, Notion::Form)?, false),
        ("RuozhiBench", questions(RUOZHIBENCH, "question_zh", None, Notion::Sense)?, true),
        ("RuozhiBench, by form", questions(RUOZHIBENCH, "question_zh", None, Notion::Form)?, true),
        ("same joke", pairs, false),
        ("English questions", english_questions(), false),
        ("English, the same joke", english_pairs(), false),
        ("English is English", detected(Language::En), false),
        ("Chinese is Chinese", chinese(folder)?, true),
    ];
    for (name, rows, exact) in sets.iter().filter(|(_, rows, _)| !rows.is_empty()) {
        let part = |of: u8| rows.iter().filter(move |row| part(&row.text) == of);
        print_scores(name, "fit", part(0), *exact);
        print_scores(name, "held", part(1), *exact);
        if misses {
            for row in part(0).filter(|row| row.want != row.got) {
                println!("   {} {}", if row.want { "missed" } else { "false " }, row.why);
            }
        }
    }
    Ok(())
}
