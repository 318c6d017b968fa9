//! docs/own-benchmark.md is executed as written: its files are created, its commands run, and their output is
//! that of the chapter. `RIDDLEMILL_BLESS=1` updates the chapter instead.

use std::fs;
use std::path::Path;

use crate::harness::Workspace;

/// A fenced block: its language, and where its contents begin and end in the chapter.
pub struct Block<'c> {
    pub language: &'c str,
    pub text: &'c str,
}

/// The blocks and the text between them, in order.
pub fn blocks(chapter: &str) -> Vec<Result<Block<'_>, &str>> {
    let mut parts = Vec::new();
    let mut rest = chapter;
    while let Some((before, block)) = rest.split_once("```") {
        let (block, after) = block.split_once("```").unwrap();
        let (language, text) = block.split_once('\n').unwrap();
        parts.push(Err(before));
        parts.push(Ok(Block { language, text }));
        rest = after;
    }
    parts.push(Err(rest));
    parts
}

/// Fills in somebody's sheet of a step, as the chapter says.
fn vote(ws: &Workspace, step: &str, who: &str) {
    let sheet = format!("twisters/ballots/brain-twisters.{step}.{who}.jsonl");
    let answers: &[(&str, &str)] = match step {
        "fair" => &[("fair", "yes")],
        "more" => &[("wrong_4", "A shoe."), ("wrong_5", "A ghost.")],
        _ => &[("wrong", "1; 2; 4"), ("verdict", "accept")],
    };
    let filled = answers.iter().fold(ws.read(&sheet), |sheet, (field, answer)| {
        sheet.replace(&format!("\"{field}\":\"\""), &format!("\"{field}\":\"{answer}\""))
    });
    ws.write(&sheet, filled);
}

/// Runs a command of the chapter, in the workspace created by its first one. Other voters vote like the one
/// shown.
fn call(ws: &Workspace, command: &str) -> String {
    let command = command.strip_prefix("riddlemill ").unwrap();
    let sheet = command.strip_prefix("review import ").and_then(|rest| {
        let (step, sheet) = rest.split_once(' ')?;
        Some((step, sheet.strip_suffix(".jsonl")?.rsplit_once('.')?.1))
    });
    if let Some((step, who)) = sheet {
        vote(ws, step, who);
    }
    let folder = if command.starts_with("init") { "." } else { "twisters" };
    let result = ws.shell(&format!("cd {folder} && \"$0\" {command} 2>&1"));
    assert!([0, 3].contains(&result.code), "{command}: {} {}", result.out, result.err);
    let others = ["annotator-2", "annotator-3"];
    for (step, who) in
        sheet.iter().filter(|(step, _)| *step != "best").flat_map(|(step, _)| others.map(|who| (step, who)))
    {
        let export = format!("review export {step} --annotator {who} --format jsonl --out ballots");
        ws.shell(&format!("cd twisters && \"$0\" {export}"));
        if !ws.exists(&format!("twisters/ballots/brain-twisters.{step}.{who}.jsonl")) {
            continue;
        }
        vote(ws, step, who);
        ws.shell(&format!(
            "cd twisters && \"$0\" review import {step} ballots/brain-twisters.{step}.{who}.jsonl"
        ))
        .expect(0);
    }
    untimed(&result.out)
}

/// Without the durations that `run` prints for slow steps.
fn untimed(result: &str) -> String {
    let line = |line: &str| {
        let (before, word) = line.rsplit_once(' ').unwrap_or_default();
        let (before, time) = before.rsplit_once(' ').unwrap_or_default();
        match line.starts_with("  ") && word == "s" && time.contains('.') && time.parse::<f64>().is_ok() {
            true => format!("{}\n", before.trim_end_matches([' ', ','])),
            false => format!("{line}\n"),
        }
    };
    result.lines().map(line).collect()
}

/// Writes a block's contents into its file: appended, or replacing the steps or the columns.
fn write_block(ws: &Workspace, file: &str, block: &str) {
    let before = if ws.exists(file) { ws.read(file) } else { String::new() };
    let text = if block.starts_with("steps = ") && before.contains("\nsteps = ") {
        let lines =
            before.lines().map(|line| if line.starts_with("steps = ") { block.trim_end() } else { line });
        lines.map(|line| format!("{line}\n")).collect()
    } else {
        let mut in_data = false;
        let kept = before.lines().filter(|line| {
            if line.starts_with('[') {
                in_data = line.starts_with("[data") && block.starts_with("[data]");
            }
            !in_data
        });
        kept.map(|line| format!("{line}\n")).collect::<String>() + "\n" + block
    };
    ws.write(file, text);
}

#[test]
fn the_chapter_on_benchmarks_of_ones_own_says_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/own-benchmark.md");
    let chapter = fs::read_to_string(&path).unwrap();
    let (typed, rest) = chapter.split_once("## 7. ").unwrap();
    let ws = Workspace::folder();
    let (benchmark, ballots, pipeline) = ("benchmark.toml", "ballots.toml", "pipeline.toml");
    let mut tables = [
        pipeline,
        benchmark,
        ballots,
        benchmark,
        benchmark,
        ballots,
        benchmark,
        benchmark,
        pipeline,
        benchmark,
        benchmark,
        "report.toml",
    ]
    .into_iter();
    let mut prompts = ["ideas", "choose"].into_iter();
    let folder = "twisters/benchmarks/brain-twisters";
    let mut actual = String::new();
    for part in blocks(typed) {
        let block = match part {
            Err(text) => {
                actual += text;
                continue;
            }
            Ok(block) => block,
        };
        let mut result = String::new();
        match block.language {
            "csv" => ws.write("twisters/raw/dumps/riddles.csv", block.text),
            "json" => ws.write("twisters/raw/sample/replies.jsonl", block.text),
            "jinja" => ws.write(&format!("{folder}/prompts/{}.jinja", prompts.next().unwrap()), block.text),
            "toml" => match tables.next().unwrap() {
                "pipeline.toml" => write_block(&ws, "twisters/pipeline.toml", block.text),
                name => write_block(&ws, &format!("{folder}/{name}"), block.text),
            },
            "console" => {
                for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                    result += &format!("$ {line}\n{}", call(&ws, line));
                }
            }
            other => panic!("a block of {other}"),
        }
        let text = if block.language == "console" { &result } else { block.text };
        actual += &format!("```{}\n{text}```", block.language);
    }
    assert_eq!((tables.next(), prompts.next()), (None, None));
    // The result equals the example, except for the Chinese texts.
    let shown = |workspace: &str| {
        let result =
            ws.shell(&format!("\"$0\" -C {workspace} benchmark show brain-twisters --json")).expect(0);
        serde_json::from_str::<serde_json::Value>(&result.out).unwrap()
    };
    assert_eq!(shown("twisters"), shown(&format!("\"{}\"", root.join("examples/brain-twisters").display())));
    if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
        fs::write(&path, format!("{actual}## 7. {rest}")).unwrap();
        return;
    }
    assert_eq!(actual, typed);
}
