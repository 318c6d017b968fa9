//! docs/own-benchmark.md is typed as it stands: its files are written, its commands called, and they say what it says.
//! `RIDDLEMILL_BLESS=1` writes down what they say instead.

use std::fs;
use std::path::Path;

use crate::harness::Workspace;

/// A fenced block: its language, and where what stands in it begins and ends in the chapter.
pub struct Block<'c> {
    pub language: &'c str,
    pub text: &'c str,
}

/// The blocks and what is between them, in order.
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

/// Fills somebody's sheet in: every riddle is fair.
fn vote(ws: &Workspace, who: &str) {
    let sheet = format!("twisters/ballots/brain-twisters.fair.{who}.jsonl");
    ws.write(&sheet, ws.read(&sheet).replace("\"fair\":\"\"", "\"fair\":\"yes\""));
}

/// Calls a command of the chapter, in the workspace that its first one makes.
fn call(ws: &Workspace, command: &str) -> String {
    let command = command.strip_prefix("riddlemill ").unwrap();
    if command.starts_with("review import") {
        vote(ws, "annotator-1");
    }
    let folder = if command.starts_with("init") { "." } else { "twisters" };
    let said = ws.shell(&format!("cd {folder} && \"$0\" {command} 2>&1"));
    assert!([0, 3].contains(&said.code), "{command}: {} {}", said.out, said.err);
    if command.starts_with("review import") {
        for who in ["annotator-2", "annotator-3"] {
            ws.shell(&format!(
                "cd twisters && \"$0\" review export fair --annotator {who} --format jsonl --out ballots"
            ))
            .expect(0);
            vote(ws, who);
            ws.shell(&format!(
                "cd twisters && \"$0\" review import fair ballots/brain-twisters.fair.{who}.jsonl"
            ))
            .expect(0);
        }
    }
    said.out
}

#[test]
fn the_chapter_on_benchmarks_of_ones_own_says_what_happens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/own-benchmark.md");
    let chapter = fs::read_to_string(&path).unwrap();
    let (typed, rest) = chapter.split_once("## 4. ").unwrap();
    let ws = Workspace::folder();
    let files = ["pipeline.toml", "benchmark.toml", "ballots.toml", "benchmark.toml"];
    let mut files = files.into_iter();
    let mut told = String::new();
    for part in blocks(typed) {
        let block = match part {
            Err(text) => {
                told += text;
                continue;
            }
            Ok(block) => block,
        };
        let mut said = String::new();
        match block.language {
            "csv" => ws.write("twisters/raw/dumps/riddles.csv", block.text),
            "toml" => {
                let name = files.next().unwrap();
                let folder = if name == "pipeline.toml" { "" } else { "benchmarks/brain-twisters/" };
                let file = format!("twisters/{folder}{name}");
                let before = if ws.exists(&file) { ws.read(&file) + "\n" } else { String::new() };
                ws.write(&file, before + block.text);
            }
            "console" => {
                for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                    said += &format!("$ {line}\n{}", call(&ws, line));
                }
            }
            other => panic!("a block of {other}"),
        }
        let text = if block.language == "console" { &said } else { block.text };
        told += &format!("```{}\n{text}```", block.language);
    }
    assert_eq!(files.next(), None);
    if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
        fs::write(&path, format!("{told}## 4. {rest}")).unwrap();
        return;
    }
    assert_eq!(told, typed);
}
