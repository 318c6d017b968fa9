//! Embeddings as the second piece of evidence for duplicates among puzzles.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;

use riddlemill::record::Puzzle;
use riddlemill::store::StageReader;
use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::{Workspace, source};

/// Texts on one topic lie close to each other; what has none lies far from all.
fn vector(text: &str) -> Vec<f64> {
    let topics = [["brook", "stream"], ["clock", "watch"]];
    let topic = topics.iter().position(|words| words.iter().any(|word| text.contains(word)));
    let mut vector = vec![0.0; 4];
    vector[topic.unwrap_or(2)] = 1.0;
    vector[3] = text.len() as f64 / 1000.0;
    vector
}

/// Answers a request for embeddings.
pub fn embedded(mut stream: TcpStream, texts: &[Value], counts: &Mutex<BTreeMap<&'static str, u32>>) {
    *counts.lock().unwrap().entry("embedding").or_default() += texts.len() as u32;
    let data = texts.iter().enumerate().map(|(index, text)| {
        json!({ "object": "embedding", "index": index, "embedding": vector(text.as_str().unwrap()) })
    });
    let data: Vec<Value> = data.collect();
    let body = json!({ "object": "list", "model": "m", "data": data, "usage": { "prompt_tokens": 9, "total_tokens": 9 } });
    let body = body.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// Two puzzles on the brook say the same in other words; two on timepieces have answers of their own.
const PUZZLES: &str = r#"{"id": "riddle:1", "question": "How did the shepherd get over the brook and stay dry?", "answer": "It was frozen."}
{"id": "riddle:2", "question": "A girl walks across a stream. No bridge, no boat, dry shoes. What happened?", "answer": "The stream was frozen."}
{"id": "riddle:3", "question": "What did the broken clock say to the wall?", "answer": "You hold me up."}
{"id": "riddle:4", "question": "Why does no baker trust a watch that is right twice a day?", "answer": "It stands still."}
{"id": "riddle:5", "question": "Which ladder has no steps?", "answer": "A ladder in a stocking."}
"#;

fn merged(ws: &Workspace) -> BTreeMap<String, (String, String)> {
    let said =
        ws.call(["show", "dedup", "--recipe", "brainteaser", "--outcome", "merged", "--json"]).expect(0).out;
    let told: Value = serde_json::from_str(&said).unwrap();
    let rows = told[0]["rows"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    rows.iter().map(|row| (text(&row["id"]), (text(&row["into"]), text(&row["evidence"])))).collect()
}

#[test]
fn near_embeddings_merge_puzzles_whose_answers_agree() {
    let server = Server::start(None);
    let puzzles = "[recipe.brainteaser.puzzles]\nembeddings = \"loop\"\n";
    let ws = Workspace::with(
        &(source("own", "puzzles", "raw/dumps/puzzles.jsonl") + &server.settings() + puzzles),
    );
    ws.write("raw/dumps/puzzles.jsonl", PUZZLES);
    let run = |more: &[&str]| ws.call(["run", "--recipe", "brainteaser", "--to", "dedup"].iter().chain(more));

    // Without replies nothing is near but by words, and nothing is asked.
    run(&["--offline"]).expect(0);
    assert_eq!((merged(&ws).len(), server.count()), (0, 0));

    run(&[]).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    let found = merged(&ws);
    assert_eq!(found.len(), 1, "{found:?}");
    let (into, evidence) = found.values().next().unwrap();
    let other = found.keys().next().unwrap();
    assert!(
        [into.as_str(), other.as_str()].iter().all(|id| ["riddle:1", "riddle:2"].contains(id)),
        "{found:?}"
    );
    assert!(evidence.contains("cosine") && evidence.contains("answers share"), "{evidence}");
    ws.audit_clean();
    let place = riddlemill::store::Workspace::new(ws.root());
    let (number, step) = riddlemill::recipe::find("brainteaser").unwrap().step("dedup").unwrap();
    let stage = StageReader::open(&place.stage("brainteaser", number, step.name)).unwrap().unwrap();
    assert_eq!(stage.all::<Puzzle>("rows").unwrap().len(), 4);

    // They are stored for good: nothing is asked again, and what was derived comes back from them.
    let derived = ws.derived();
    ws.remove_derived();
    run(&["--offline"]).expect(0);
    assert_eq!(server.count(), 0);
    crate::harness::assert_same(&derived, &ws.derived(), "from stored embeddings");
    ws.call(["replies", "verify"]).expect(0);
    // A threshold that no pair reaches is another decision on the same replies.
    run(&["--set", "puzzles.cosine=1.0"]).expect(0);
    assert_eq!((merged(&ws).len(), server.count()), (0, 0));
}
