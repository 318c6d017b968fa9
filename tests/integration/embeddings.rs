//! Embeddings as a second kind of evidence for duplicates among puzzles.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;

use riddlemill::record::Row;
use riddlemill::store::StageReader;
use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::{Workspace, source, title};

/// Texts on one topic are close to each other; a text without a topic is far from all.
fn vector(text: &str) -> Vec<f64> {
    let topics = [["brook", "stream"], ["clock", "watch"], ["门槛", "门坎"], ["企鹅", "企鹅"]];
    let topic = topics.iter().position(|words| words.iter().any(|word| text.contains(word)));
    let mut vector = vec![0.0; 6];
    vector[topic.unwrap_or(4)] = 1.0;
    vector[5] = text.len() as f64 / 1000.0;
    vector
}

/// Responds to a request for embeddings.
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

/// Two puzzles on the brook are paraphrases; two on timepieces have different answers.
const PUZZLES: &str = r#"{"id": "riddle:1", "question": "How did the shepherd get over the brook and stay dry?", "answer": "It was frozen."}
{"id": "riddle:2", "question": "A girl walks across a stream. No bridge, no boat, dry shoes. What happened?", "answer": "The stream was frozen."}
{"id": "riddle:3", "question": "What did the broken clock say to the wall?", "answer": "You hold me up."}
{"id": "riddle:4", "question": "Why does no baker trust a watch that is right twice a day?", "answer": "It stands still."}
{"id": "riddle:5", "question": "Which ladder has no steps?", "answer": "A ladder in a stocking."}
"#;

fn merged(ws: &Workspace, recipe: &str) -> BTreeMap<String, (String, String)> {
    let said = ws.call(["show", "dedup", "--recipe", recipe, "--outcome", "merged", "--json"]).expect(0).out;
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

    // Without replies only similar words count, and nothing is requested.
    run(&["--offline"]).expect(0);
    assert_eq!((merged(&ws, "brainteaser").len(), server.count()), (0, 0));

    run(&[]).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    let found = merged(&ws, "brainteaser");
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
    assert_eq!(stage.all_of::<Row>(step.stage.rows().columns(), "rows").unwrap().len(), 4);

    // They are stored permanently: nothing is requested again, and the derived files are rebuilt from them.
    let derived = ws.derived();
    ws.remove_derived();
    run(&["--offline"]).expect(0);
    assert_eq!(server.count(), 0);
    crate::harness::assert_same(&derived, &ws.derived(), "from stored embeddings");
    ws.call(["replies", "verify"]).expect(0);
    // A threshold that no pair reaches changes the result for the same replies.
    run(&["--set", "puzzles.cosine=1.0"]).expect(0);
    assert_eq!((merged(&ws, "brainteaser").len(), server.count()), (0, 0));
}

/// Two posts are paraphrases, two are opposites, and one is unlike the others.
const POSTS: [&str; 5] = [
    "门槛算不算门的一部分？",
    "脚抬起来跨过那道门坎，我在屋里还是屋外？",
    "为什么天气越冷企鹅越会感冒",
    "为什么天气越冷企鹅越不会感冒",
    "影子会不会嫌我胖？",
];

#[test]
fn near_embeddings_merge_posts_unless_a_veto_holds() {
    let server = Server::start(None);
    let embeddings = "[embeddings]\nendpoint = \"loop\"\n";
    let ws = Workspace::with(
        &(source("own", "leymore-titles", "raw/dumps/posts.json") + &server.settings() + embeddings),
    );
    let posts: Vec<String> = (1..).zip(POSTS).map(|(tid, text)| title(tid, text)).collect();
    ws.write("raw/dumps/posts.json", format!("[{}]", posts.join(",")));
    let run = |more: &[&str]| ws.call(["run", "--recipe", "flub", "--to", "dedup"].iter().chain(more));

    run(&["--offline"]).expect(0);
    assert_eq!((merged(&ws, "flub").len(), server.count()), (0, 0));
    let estimate = ws.call(["estimate", "--recipe", "flub", "--json"]).expect(0).out;
    assert!(estimate.contains("\"dedup\""), "{estimate}");

    run(&[]).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    let found = merged(&ws, "flub");
    let (into, evidence) = &found["tieba:1"];
    assert_eq!((found.len(), into.as_str()), (1, "tieba:2"), "{found:?}");
    assert!(evidence.contains("cosine"), "{evidence}");
    let borderline = ws.call(["show", "dedup", "--recipe", "flub", "--borderline"]).expect(0).out;
    assert!(borderline.contains("企鹅") && borderline.contains("negation"), "{borderline}");
    ws.audit_clean();

    // The derived files are rebuilt from the stored embeddings, and a run that has all of them requests
    // nothing.
    let derived = ws.derived();
    ws.remove_derived();
    run(&["--offline"]).expect(0);
    run(&[]).expect(0);
    assert_eq!(server.count(), 0);
    crate::harness::assert_same(&derived, &ws.derived(), "from stored embeddings");
    run(&["--set", "embeddings.cosine=1.0"]).expect(0);
    assert_eq!((merged(&ws, "flub").len(), server.count()), (0, 0));
    // Without an endpoint the stage is the same as without the section.
    run(&["--set", "embeddings.endpoint="]).expect(0);
    let manifest = ws.read("staged/flub/05_dedup/manifest.json");
    assert!(!manifest.contains("cosine") && !manifest.contains("embeddings"), "{manifest}");

    // In parts, not all pairs could be compared.
    for stage in ["dedup", "dedup-keys"] {
        let refused = ws.call(["apply", stage]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(
            refused.err.contains("embeddings.endpoint: embeddings are compared by `run` alone"),
            "{}",
            refused.err
        );
    }
    let unknown = run(&["--set", "embeddings.endpoint=nobody"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("embeddings.endpoint: there is no [llm.nobody]"), "{}", unknown.err);
}
