//! Embeddings as a second kind of evidence for duplicates: among posts in a step of their own before dedup, among puzzles in
//! the operation that compares them.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use riddlemill::record::Row;
use riddlemill::store::StageReader;
use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::{CallResult, Workspace, source, title};

/// Texts on one topic are close to each other; a text without a topic is far from all.
fn vector(text: &str) -> Vec<f64> {
    let topics = [["brook", "stream"], ["clock", "watch"], ["门槛", "门坎"], ["企鹅", "企鹅"]];
    let topic = topics.iter().position(|words| words.iter().any(|word| text.contains(word)));
    let mut vector = vec![0.0; 6];
    vector[topic.unwrap_or(4)] = 1.0;
    vector[5] = text.len() as f64 / 1000.0;
    vector
}

/// A text that the server refuses to embed.
const REFUSED: &str = "不许嵌入";

/// Responds to a request for embeddings.
pub fn embedded(
    mut stream: TcpStream,
    texts: &[Value],
    counts: &Mutex<BTreeMap<&'static str, u32>>,
    delay: Duration,
) {
    *counts.lock().unwrap().entry("embedding").or_default() += texts.len() as u32;
    std::thread::sleep(delay);
    if texts.iter().any(|text| text.as_str().unwrap().contains(REFUSED)) {
        let body = json!({ "error": { "message": "content policy" } }).to_string();
        let _ = write!(
            stream,
            "HTTP/1.1 400 Refused\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        return;
    }
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
    let result =
        ws.call(["show", "dedup", "--recipe", recipe, "--outcome", "merged", "--json"]).expect(0).out;
    let actual: Value = serde_json::from_str(&result).unwrap();
    let rows = actual[0]["rows"].as_array().unwrap().clone();
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
    let (number, step) = riddlemill::recipe::find_recipe("brainteaser").unwrap().find_step("dedup").unwrap();
    let stage = StageReader::open(&place.stage_folder("brainteaser", number, step.name)).unwrap().unwrap();
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

const EMBEDDINGS: &str = "[embeddings]\nendpoint = \"loop\"\n";

/// A workspace with these posts and the server as an endpoint, of which no step asks anything.
fn posts(server: &Server, texts: &[&str]) -> Workspace {
    let ws = Workspace::with(&(source("own", "leymore-titles", "raw/dumps/posts.json") + &server.settings()));
    let posts: Vec<String> = (1..).zip(texts).map(|(tid, text)| title(tid, text)).collect();
    ws.write("raw/dumps/posts.json", format!("[{}]", posts.join(",")));
    ws
}

/// The same, with the server embedding the posts.
fn embedding(server: &Server, texts: &[&str]) -> Workspace {
    let ws = posts(server, texts);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + EMBEDDINGS);
    ws
}

fn run(ws: &Workspace, more: &[&str]) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--to", "dedup"].iter().chain(more))
}

/// The state of a step, and why it is not fresh.
fn state(ws: &Workspace, step: &str, more: &[&str]) -> Option<(String, String)> {
    let result = ws.call(["status", "--recipe", "flub", "--json"].iter().chain(more)).expect(0).out;
    let steps: Vec<Value> = serde_json::from_str(&result).unwrap();
    let step = steps.iter().find(|row| row["stage"] == step)?;
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    Some((text("state"), text("why")))
}

#[test]
fn near_embeddings_merge_posts_unless_a_veto_holds() {
    let server = Server::start(None);
    let ws = embedding(&server, &POSTS);

    // Without a reply every post goes on, and its words alone are compared.
    run(&ws, &["--offline"]).expect(0);
    assert_eq!((merged(&ws, "flub").len(), server.count()), (0, 0));
    let shown = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(
        shown.contains("5 continued without an embedding: the run was offline; riddlemill run"),
        "{shown}"
    );
    assert_eq!(
        state(&ws, "embeddings", &[]),
        Some(("stale".into(), "5 embeddings are missing".into())),
        "{shown}"
    );
    let estimate = ws.call(["estimate", "--recipe", "flub", "--json"]).expect(0).out;
    let estimate: Value = serde_json::from_str(&estimate).unwrap();
    assert_eq!(
        (&estimate[0]["stage"], &estimate[0]["requests"]),
        (&json!("embeddings"), &json!(5)),
        "{estimate}"
    );

    run(&ws, &[]).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    let found = merged(&ws, "flub");
    let (into, evidence) = &found["tieba:1"];
    assert_eq!((found.len(), into.as_str()), (1, "tieba:2"), "{found:?}");
    assert!(evidence.contains("cosine"), "{evidence}");
    let borderline = ws.call(["show", "dedup", "--recipe", "flub", "--borderline"]).expect(0).out;
    assert!(borderline.contains("企鹅") && borderline.contains("negation"), "{borderline}");
    let way = ws.explain("flub", "tieba:1")["way"].clone();
    let way: Vec<&Value> = way.as_array().unwrap().iter().collect();
    assert_eq!((&way[4]["stage"], &way[5]["stage"]), (&json!("embeddings"), &json!("dedup")), "{way:?}");
    assert_eq!(way[4]["reason"], "embedded", "{way:?}");
    assert!(way[4]["evidence"].as_str().unwrap().starts_with("reply:"), "{way:?}");
    let funnel = ws.call(["report", "--recipe", "flub"]).expect(0).out;
    assert!(funnel.contains("embeddings"), "{funnel}");
    assert_eq!(state(&ws, "embeddings", &[]).unwrap().0, "fresh");
    ws.audit_clean();

    // The derived files are rebuilt from the stored embeddings, and a run that has all of them requests
    // nothing.
    let derived = ws.derived();
    ws.remove_derived();
    run(&ws, &["--offline"]).expect(0);
    run(&ws, &[]).expect(0);
    assert_eq!(server.count(), 0);
    crate::harness::assert_same(&derived, &ws.derived(), "from stored embeddings");
    run(&ws, &["--set", "embeddings.cosine=1.0"]).expect(0);
    assert_eq!((merged(&ws, "flub").len(), server.count()), (0, 0));
}

#[test]
fn without_a_model_there_is_no_step_that_embeds() {
    let server = Server::start(None);
    let ws = posts(&server, &POSTS);
    run(&ws, &[]).expect(0);
    let without = ws.derived();
    assert_eq!(state(&ws, "embeddings", &[]), None);
    let unknown = ws.call(["run", "--recipe", "flub", "--to", "embeddings"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);

    // Set, it is made, and what was made without it stays readable until then.
    let on = ["--set", "embeddings.endpoint=loop"];
    assert_eq!(state(&ws, "embeddings", &on), Some(("missing".into(), "not made yet".into())));
    ws.audit_clean_with(&on);
    let explained = ws.call(["explain", "tieba:1", "--recipe", "flub"].iter().chain(&on)).expect(0).out;
    assert!(explained.contains("dedup"), "{explained}");
    run(&ws, &on).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    assert!(ws.exists("staged/flub/05_embeddings/manifest.json"));
    ws.audit_clean_with(&on);
    // What was made with it stays readable without it, too.
    ws.audit_clean();

    // Taken back, everything is as if it had never been, and set again, nothing is asked a second time.
    run(&ws, &[]).expect(0);
    crate::harness::assert_same(&without, &ws.derived(), "without a model");
    run(&ws, &on).expect(0);
    assert_eq!((merged(&ws, "flub").len(), server.count()), (1, 0));

    // In parts, not all pairs could be compared.
    for stage in ["dedup", "dedup-keys"] {
        let refused = ws.call(["apply", stage].iter().chain(&on));
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(
            refused.err.contains("embeddings.endpoint: embeddings are compared by `run` alone"),
            "{}",
            refused.err
        );
    }
    ws.write("ledger.jsonl", "");
    for stage in ["embeddings", "dedup"] {
        let refused = ws.call(["assemble", stage, "--recipe", "flub", "ledger.jsonl"].iter().chain(&on));
        assert_ne!(refused.code, 0);
        assert!(refused.err.contains("embeddings are compared by `run` alone"), "{}", refused.err);
    }
    let unknown = run(&ws, &["--set", "embeddings.endpoint=nobody"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("embeddings.endpoint: there is no [llm.nobody]"), "{}", unknown.err);
}

#[test]
fn another_model_is_asked_and_two_recipes_share_what_it_answers() {
    let server = Server::start(None);
    let ws = embedding(&server, &POSTS);
    let both = ["run", "--recipe", "flub", "--recipe", "ruozhibench-gen", "--to", "dedup"];
    ws.call(both.iter().chain(&["--offline"])).expect(0);
    ws.call(both).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    assert_eq!((merged(&ws, "flub").len(), merged(&ws, "ruozhibench-gen").len()), (1, 1));

    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings.replace("model = \"m\"", "model = \"n\""));
    let (state_of, why) = state(&ws, "embeddings", &[]).unwrap();
    assert_eq!(state_of, "stale");
    assert!(why.contains("model \"m\" -> \"n\""), "{why}");
    ws.call(both).expect(0);
    assert_eq!(server.take()["embedding"], 5);
    ws.audit_clean();
    ws.write("pipeline.toml", settings);
    ws.call(both).expect(0);
    assert_eq!(server.count(), 0);
}

#[test]
fn a_killed_run_loses_no_embedding_and_a_refused_post_goes_on() {
    let server = Server::slow(None, Duration::from_millis(100));
    let mut texts: Vec<String> = (0..12).map(|n| format!("第{n}只风筝断了线会不会想家？")).collect();
    texts.push(format!("{REFUSED}的风筝为什么还会想家？"));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ws = embedding(&server, &texts);
    let one_by_one =
        ws.read("pipeline.toml").replace("free = true", "free = true\nembedding_batch = 1\nconcurrency = 1");
    ws.write("pipeline.toml", one_by_one);
    let mut child = ws.start(["run", "--recipe", "flub", "--to", "dedup"]);
    let started = Instant::now();
    while server.count() < 4 {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let before = server.take()["embedding"];
    assert!((4..12).contains(&before), "{before}");
    run(&ws, &[]).expect(0);
    let after = server.take()["embedding"];
    // Only what was in flight is asked again.
    assert!((13..=14).contains(&(before + after)), "{before} and {after}");
    ws.audit_clean();
    ws.call(["replies", "verify"]).expect(0);

    // One text has no embedding from this model: it goes on, and is asked for again only on request.
    let result = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(result.contains("1 continued without an embedding: 400 from loop"), "{result}");
    assert_eq!(state(&ws, "embeddings", &[]).unwrap().0, "fresh");
    run(&ws, &[]).expect(0);
    assert_eq!(server.count(), 0);
    run(&ws, &["--retry-failed"]).expect(0);
    assert_eq!(server.take()["embedding"], 1);
}

#[test]
fn paid_embeddings_need_consent() {
    let server = Server::start(None);
    let ws = embedding(&server, &POSTS);
    let prices = "usd_per_million_in = 1000.0\nusd_per_million_out = 1000.0";
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("free = true", prices));
    let refused = run(&ws, &[]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("for 5 requests to loop"), "{}", refused.err);
    assert_eq!(server.count(), 0);
    run(&ws, &["--yes"]).expect(0);
    assert_eq!(server.take()["embedding"], 5);
}
