//! Conversations: a player asks about a puzzle turn by turn, and a host who knows the answer replies; from a folder of the
//! examples to figures.

use std::time::Duration;

use serde_json::Value;

use crate::generate::Server;
use crate::harness::Workspace;
use crate::own::example;

const SOUPS: &str = "turtle-soups";

fn figures(ws: &Workspace) -> Vec<f64> {
    let found: Value = serde_json::from_str(&ws.read("results/evaluation.json")).unwrap();
    let tables = found["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["name"] == "conversations").unwrap();
    assert_eq!(table["columns"], serde_json::json!(["Solved", "Questions until solved", "Questions"]));
    table["rows"][0]["cells"].as_array().unwrap().iter().map(|cell| cell["value"].as_f64().unwrap()).collect()
}

#[test]
fn an_example_is_played_and_scored_by_success_and_turns() {
    let ws = example(SOUPS);
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    assert_eq!(ws.candidates(SOUPS).len(), 4);
    let args = ["evaluate", SOUPS, "--model", "player", "--out", "results"];
    let told = ws.call(args).expect(2).err;
    assert!(told.contains("is a conversation") && told.contains("--judge NAME"), "{told}");
    ws.call(args.iter().chain(&["--judge", "host"])).expect(0);
    // Solved at the second, the third and the first question; the fourth puzzle is not.
    assert_eq!(figures(&ws), [75.0, 2.0, 2.25]);
    let answers = ws.read("results/answers.jsonl");
    let third = answers.lines().find(|line| line.contains("soup:3")).unwrap();
    let third: Value = serde_json::from_str(third).unwrap();
    assert_eq!((&third["chosen"], &third["turns"]), (&"unsolved".into(), &3.into()));
    assert!(third["text"].as_str().unwrap().contains("Does the moon shine?\n> irrelevant"), "{third}");
    assert!(ws.read("results/report.html").contains("对话，"), "Chinese");
    // How a game ends is no class of its puzzle.
    let found: Value = serde_json::from_str(&ws.read("results/evaluation.json")).unwrap();
    let table = found["tables"].as_array().unwrap().iter().find(|table| table["name"] == "tasks").unwrap();
    assert_eq!(table["columns"][0], "soup solved", "{table}");
    assert!(!table["columns"].to_string().contains("F1"), "{table}");
    // People are not asked to talk on a sheet, and that is told.
    let told = ws.call(["evaluate", SOUPS, "--model", "random", "--write-ballots", "sheets"]).expect(0).err;
    assert!(!ws.exists("sheets/classify.csv"));
    assert!(told.contains("note: no sheet for turtle-soups/soup: it is a conversation"), "{told}");
}

/// The host solves the second question; the player asks what it has not asked.
fn talk(prompt: &str) -> (&'static str, String) {
    if prompt.contains("You know the answer to a puzzle") {
        let is_second = prompt.contains("Is it the second");
        return ("host", if is_second { "solved" } else { "no" }.into());
    }
    let is_second = prompt.contains("Is it the first");
    ("player", if is_second { "Is it the second?" } else { "Is it the first?" }.into())
}

#[test]
fn every_turn_is_estimated_and_paid_for_once() {
    let ws = example(SOUPS);
    ws.run().expect(0);
    let server = Server::replying(talk, None, Duration::ZERO);
    let both = server.settings()
        + &server.settings().replace("[llm.loop]", "[llm.loop-2]").replace("\"m\"", "\"n\"");
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &both);
    let call = |more: &[&str]| {
        let args = ["evaluate", SOUPS, "--model", "loop", "--judge", "loop-2", "--out", "results"];
        ws.call(args.iter().chain(more)).expect(0)
    };
    let rows = |more: &[&str]| -> Vec<(String, u64)> {
        let rows: Vec<Value> = serde_json::from_str(&call(more).out).unwrap();
        let row =
            |row: &Value| (row["stage"].as_str().unwrap().to_owned(), row["requests"].as_u64().unwrap());
        rows.iter().map(row).filter(|(_, requests)| *requests > 0).collect()
    };
    // Four puzzles of at most three turns.
    let most = [("questions".to_owned(), 12), ("replies".to_owned(), 12)];
    assert_eq!(rows(&["--dry-run", "--json"]), most);
    assert_eq!(server.count(), 0);
    call(&["--yes"]);
    assert_eq!(server.count(), 16, "two questions and two replies of each");
    assert_eq!(figures(&ws), [100.0, 2.0, 2.0]);
    call(&["--yes"]);
    assert_eq!(server.count(), 16, "nothing twice");
    assert!(rows(&["--dry-run", "--json"]).is_empty(), "all games are over");
}
