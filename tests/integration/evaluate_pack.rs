//! The replies of the sample's solver and marker about the sample's sets: `raw/sample/evaluation.jsonl`, made
//! from the candidates' own rows. `RIDDLEMILL_WRITE_SAMPLE=1` rewrites it.

use std::fs;
use std::path::Path;

use riddlemill::options::{DrawStream, LETTERS};
use riddlemill::record::derive_id;
use riddlemill::review::ballots;
use serde_json::{Value as Json, json};

use crate::harness::Workspace;
use crate::packs::response_id;

const SOLVER: &str = "sample-solver";
const MARKER: &str = "sample-marker";

#[test]
fn the_pack_of_the_evaluation_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/evaluation.jsonl");
    let ws = Workspace::sample();
    ws.run();
    let made = pack(&ws);
    if std::env::var_os("RIDDLEMILL_WRITE_SAMPLE").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap();
    assert!(there == made, "evaluation.jsonl is not current; RIDDLEMILL_WRITE_SAMPLE=1 writes it");
}

fn pack(ws: &Workspace) -> String {
    let mut lines = Vec::new();
    ws.candidates("ruozhibench-gen").iter().for_each(|row| question(row, &mut lines));
    ws.candidates("ruozhibench-mc").iter().for_each(|row| pair(row, &mut lines));
    ws.candidates("flub").iter().for_each(|row| text(row, &mut lines));
    ws.candidates("chumor").iter().for_each(|row| joke(row, &mut lines));
    ws.candidates("brainteaser").iter().for_each(|row| puzzle(row, &mut lines));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn line(model: &str, template: &str, record: &str, reply: impl Into<Json>) -> Json {
    json!({ "model": model, "template": template, "record": record, "reply": reply.into() })
}

/// Whether the solver is correct: this percentage of the time.
fn lucky(purpose: &str, id: &str, percent: usize) -> bool {
    DrawStream::new(1, purpose, id).draw_below(100) < percent
}

fn result<'a>(row: &'a Json, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

/// Notices the trick, or takes the question literally; the marker rates accordingly.
fn question(row: &Json, lines: &mut Vec<Json>) {
    let record = result(row, "source_id");
    let sees = lucky("answer", record, 65);
    let answer = match sees {
        true => format!("There is a catch. {}", result(row, "irrationality")),
        false => "That depends on the circumstances. Try it in small steps and see what happens.".into(),
    };
    lines.push(line(SOLVER, "ruozhibench/respond", record, answer));
    let rate = |normal: bool, rating: usize| {
        let id = response_id(record, normal, SOLVER);
        let template = if normal { "ruozhibench/judge_normal" } else { "ruozhibench/judge" };
        let why = if rating > 2 { "It says what matters." } else { "It misses the point." };
        line(MARKER, template, &id, json!({ "rating": rating, "explanation": why }))
    };
    let spread = DrawStream::new(1, "rating", record).draw_below(2);
    lines.push(rate(false, if sees { 3 + spread } else { spread }));
    if row["pair"].is_string() {
        let answer = "Yes, in most cases; check the details before you rely on it.";
        lines.push(line(SOLVER, "ruozhibench/respond", &derive_id("pair", &[record]), answer));
        lines.push(rate(true, 3 + spread));
    }
}

fn pair(row: &Json, lines: &mut Vec<Json>) {
    let record = result(row, "source_id");
    for (order, percent, letters) in [("good-first", 80, ["A", "B"]), ("bad-first", 65, ["B", "A"])] {
        let letter = letters[usize::from(!lucky(order, record, percent))];
        let reply = match lucky("form", &format!("{record} {order}"), 92) {
            true => format!("One of them looks at the premise.\n<choice>Answer{letter}</choice>"),
            false => format!("I would take answer {letter}."),
        };
        lines.push(line(SOLVER, "ruozhibench/choose", &format!("{record} {order}"), reply));
    }
}

/// FLUB's types by their Chinese names, without Undefined.
fn types() -> Vec<&'static str> {
    let all = ballots::options_of_list("flub", "types");
    all.iter().filter(|kind| kind.code != "undefined").map(|kind| kind.label.zh).collect()
}

fn text(row: &Json, lines: &mut Vec<Json>) {
    let record = result(row, "source_id");
    let gold = LETTERS.iter().position(|letter| *letter == result(row, "answer")).unwrap();
    let pick = |purpose: &str, percent: usize| match lucky(purpose, record, percent) {
        true => gold,
        false => (gold + 1 + DrawStream::new(1, purpose, &format!("{record} wrong")).draw_below(3)) % 4,
    };
    let named = |purpose: &str, percent: usize| {
        let kind = row["type"].as_str()?;
        let other = types()[DrawStream::new(1, purpose, &format!("{record} other")).draw_below(8)];
        Some(if lucky(purpose, record, percent) { kind } else { other })
    };
    let two = format!("{record} 2-shot");
    for (about, purpose, percent) in [(record, "choose", 60), (two.as_str(), "choose 2-shot", 70)] {
        let reply = match lucky("form", about, 95) {
            true => LETTERS[pick(purpose, percent)].to_string(),
            false => "几个选项都有道理。".into(),
        };
        lines.push(line(SOLVER, "flub/choose", about, reply));
    }
    let cot = LETTERS[pick("choose_cot", 65)];
    lines.push(line(SOLVER, "flub/choose_cot", record, format!("分析: 其他选项没有说到要点。\n答案: {cot}")));
    for (about, purpose, percent) in [(record, "classify", 35), (two.as_str(), "classify 2-shot", 45)] {
        lines.extend(named(purpose, percent).map(|kind| line(SOLVER, "flub/classify", about, kind)));
    }
    let reasoned = |kind| format!("解释: 句子另有所指。\n理由: 它符合这一类的定义。\n分类: {kind}");
    lines.extend(
        named("classify_cot", 40).map(|kind| line(SOLVER, "flub/classify_cot", record, reasoned(kind))),
    );
    for (template, about, setting, percent) in [
        ("flub/explain", record, "0-shot", 55),
        ("flub/explain", two.as_str(), "2-shot", 60),
        ("flub/explain_cot", record, "cot", 65),
    ] {
        let option = pick(&format!("explain {setting}"), percent);
        let words = row["options"][option].as_str().unwrap();
        lines.push(line(SOLVER, template, about, words));
        let spread = DrawStream::new(1, "score", &format!("{record} {setting}")).draw_below(3);
        let rating = if option == gold { 8 + spread } else { 2 + spread };
        let reply = format!("与参考答案对照之后。\nRating: [[{rating}]]");
        lines.push(line(MARKER, "flub/judge", &format!("{record} {SOLVER} {setting}"), reply));
    }
}

/// The marker rates the models' explanations in the release.
fn joke(row: &Json, lines: &mut Vec<Json>) {
    let record = result(row, "source_id");
    let actual = match lucky("joke", record, 50) {
        true => format!("先按常理去想，再发现常理不管用。{}", result(row, "explanation")),
        false => "这是一个玩笑。听的人没想到会这样说。".into(),
    };
    lines.push(line(SOLVER, "chumor/explanation", record, actual));
    let opponents = row["opponent_models"].as_array().unwrap().iter().map(|model| model.as_str().unwrap());
    for model in opponents.chain([SOLVER]) {
        let about = format!("{record} {model}");
        let choice = ["1", "2", "1", "2", "tie"][DrawStream::new(1, "prefer", &about).draw_below(5)];
        lines.push(line(
            MARKER,
            "chumor/preference",
            &about,
            format!("两个都读过了。\n<choice>{choice}</choice>"),
        ));
    }
}

fn puzzle(row: &Json, lines: &mut Vec<Json>) {
    let id = result(row, "id");
    let gold = usize::try_from(row["label"].as_u64().unwrap()).unwrap();
    let option = |place: usize| row["choice_list"][place].as_str().unwrap().to_string();
    for (about, percent) in [(id.to_string(), 60), (format!("{id} 2-shot"), 65)] {
        let place = match lucky("solve", &about, percent) {
            true => gold,
            false => (gold + 1 + DrawStream::new(1, "solve wrong", &about).draw_below(3)) % 4,
        };
        let reply = match DrawStream::new(1, "form", &about).draw_below(12) {
            0 => "I cannot decide.".into(),
            1..=4 => option(place),
            _ => format!("{}.", LETTERS[place]),
        };
        lines.push(line(SOLVER, "brainteaser/choose", &about, reply));
    }
    // New situations, answered freely if they have their own answer.
    if id.ends_with("_CR") && gold < 3 {
        let (reply, score) = match DrawStream::new(1, "open", id).draw_below(6) {
            0 => ("-".to_string(), None),
            1..=2 => (option(gold), Some(5)),
            drawn => (option((gold + 1) % 3), Some(drawn - 2)),
        };
        lines.push(line(SOLVER, "brainteaser/answer", id, reply));
        lines.extend(score.map(|score| {
            let reply = format!("Held against the reference.\nRating: [[{score}]]");
            line(MARKER, "brainteaser/judge", &format!("{id} {SOLVER}"), reply)
        }));
    }
}
