//! A model's judgement of borderline pairs: asked in a step of its own before dedup, evidence there, and overruled by people.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::{CallResult, Workspace, assert_same, source};

/// Two borderline pairs, a denial and words that change places, and two posts that are like no other.
const POSTS: &str = "no,title\n1,为什么天气越冷企鹅越会感冒\n2,为什么天气越冷企鹅越不会感冒\n3,医生的手会不会给自己看病？\n4,病会不会给医生的手看自己？\n5,影子会不会嫌我胖？\n6,门槛算不算门的一部分？\n";

const JUDGE: &str = "[same_joke]\nendpoint = \"loop\"\n";

/// A judge to whom penguins are one joke.
fn judge(prompt: &str) -> (&'static str, String) {
    assert!(prompt.contains("<joke_1>") && prompt.contains("<joke_2>"), "{prompt}");
    let one = prompt.contains("企鹅");
    (
        "same_joke",
        json!({ "one": one, "why": if one { "both about penguins" } else { "other roles" } }).to_string(),
    )
}

/// A judge that never says it.
fn unsure(_: &str) -> (&'static str, String) {
    ("same_joke", "Perhaps, who knows?".into())
}

fn start(reply: fn(&str) -> (&'static str, String)) -> Server {
    Server::replying(reply, None, Duration::ZERO)
}

/// A workspace with these posts and the server as an endpoint, of which no step asks anything.
fn posts(server: &Server) -> Workspace {
    let ws = Workspace::with(
        &(source("jokes", "table", "raw/dumps/posts.csv")
            + "fields = { id = \"joke:{no}\", title = \"title\" }\nrecipes = [\"flub\"]\n"
            + "[[annotator]]\nname = \"owner\"\nrole = \"senior\"\n"
            + &server.settings()),
    );
    ws.write("raw/dumps/posts.csv", POSTS);
    ws
}

/// The same, with the server judging.
fn judging(server: &Server) -> Workspace {
    let ws = posts(server);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + JUDGE);
    ws
}

fn run(ws: &Workspace, more: &[&str]) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--to", "dedup"].iter().chain(more))
}

/// The merged records, with what they went into and why.
fn merged(ws: &Workspace) -> BTreeMap<String, (String, String)> {
    let out = ws.call(["show", "dedup", "--recipe", "flub", "--outcome", "merged", "--json"]).expect(0).out;
    let shown: Value = serde_json::from_str(&out).unwrap();
    let rows = shown[0]["rows"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    rows.iter().map(|row| (text(&row["id"]), (text(&row["into"]), text(&row["evidence"])))).collect()
}

/// The state of a step, and why it is not fresh; `None` if there is no such step.
fn state(ws: &Workspace, more: &[&str]) -> Option<(String, String)> {
    let result = ws.call(["status", "--recipe", "flub", "--json"].iter().chain(more)).expect(0).out;
    let steps: Vec<Value> = serde_json::from_str(&result).unwrap();
    let step = steps.iter().find(|row| row["stage"] == "same_joke")?;
    let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    Some((text("state"), text("why")))
}

fn decide(ws: &Workspace, verdict: &str, one: &str, other: &str) {
    ws.call(["decide", verdict, one, other, "--by", "owner", "--why", "read both", "--recipe", "flub"])
        .expect(0);
}

#[test]
fn a_judge_says_which_borderline_pairs_are_one_and_people_have_the_last_word() {
    let server = start(judge);
    let ws = judging(&server);

    // Without a reply every post goes on, and the pairs are listed for people.
    run(&ws, &["--offline"]).expect(0);
    assert_eq!((merged(&ws).len(), server.count()), (0, 0));
    assert_eq!(ws.reasons("flub").get("changed/not_judged"), Some(&4), "{:?}", ws.reasons("flub"));
    let shown = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(
        shown.contains("4 continued without a judgement: the run was offline; riddlemill run"),
        "{shown}"
    );
    assert_eq!(state(&ws, &[]).unwrap().0, "stale", "{shown}");
    assert!(state(&ws, &[]).unwrap().1.contains("2 replies are missing"), "{:?}", state(&ws, &[]));
    let estimate = ws.call(["estimate", "--recipe", "flub", "--json"]).expect(0).out;
    let estimate: Value = serde_json::from_str(&estimate).unwrap();
    assert_eq!(
        (&estimate[0]["stage"], &estimate[0]["requests"]),
        (&json!("same_joke"), &json!(2)),
        "{estimate}"
    );

    run(&ws, &[]).expect(0);
    assert_eq!(server.take()["same_joke"], 2);
    let found = merged(&ws);
    let (into, evidence) = &found["joke:1"];
    assert_eq!((found.len(), into.as_str()), (1, "joke:2"), "{found:?}");
    assert!(evidence.starts_with("judge; "), "{evidence}");
    let borderline = ws.call(["show", "dedup", "--recipe", "flub", "--borderline"]).expect(0).out;
    assert!(borderline.contains("joke:3") && !borderline.contains("joke:1"), "{borderline}");
    assert_eq!(ws.reasons("flub").get("changed/pair_judged"), Some(&4), "{:?}", ws.reasons("flub"));
    assert_eq!(state(&ws, &[]).unwrap().0, "fresh");
    ws.audit_clean();

    // What the judge said is in the ledger of both posts, with its reply; the texts are their own.
    for (post, says) in [
        ("joke:1", "one with joke:2: both about penguins (reply:"),
        ("joke:3", "two with joke:4: other roles (reply:"),
    ] {
        let explained = ws.explain("flub", post);
        let way = explained["way"].as_array().unwrap();
        let judged = way.iter().find(|passage| passage["stage"] == "same_joke").unwrap();
        assert_eq!(judged["reason"], "pair_judged", "{judged}");
        assert!(judged["evidence"].as_str().unwrap().starts_with(says), "{judged}");
        assert!(
            explained["text"].as_str().is_some_and(|text| POSTS.contains(text) && !text.is_empty()),
            "{explained}"
        );
    }
    let funnel = ws.call(["report", "--recipe", "flub"]).expect(0).out;
    assert!(funnel.contains("same_joke"), "{funnel}");

    // The derived files are rebuilt from the stored replies.
    let derived = ws.derived();
    ws.remove_derived();
    run(&ws, &["--offline"]).expect(0);
    run(&ws, &[]).expect(0);
    assert_eq!(server.count(), 0);
    assert_same(&derived, &ws.derived(), "from stored judgements");
    ws.call(["replies", "verify"]).expect(0);

    // People decide otherwise, in both directions; nothing is asked again.
    decide(&ws, "two", "joke:1", "joke:2");
    decide(&ws, "one", "joke:3", "joke:4");
    run(&ws, &[]).expect(0);
    let found = merged(&ws);
    assert_eq!(found.len(), 1, "{found:?}");
    let (post, (into, _)) = found.first_key_value().unwrap();
    assert!(["joke:3", "joke:4"].contains(&post.as_str()) && ["joke:3", "joke:4"].contains(&into.as_str()));
    let kept = ws.explain("flub", "joke:1")["way"].as_array().unwrap().last().cloned().unwrap();
    assert_eq!(kept["reason"], "decided_two", "{kept}");
    assert_eq!(server.count(), 0);
    ws.audit_clean();
}

#[test]
fn without_a_judge_there_is_no_such_step() {
    let server = start(judge);
    let ws = posts(&server);
    run(&ws, &[]).expect(0);
    let without = ws.derived();
    assert_eq!((state(&ws, &[]), server.count()), (None, 0));

    let on = ["--set", "same_joke.endpoint=loop"];
    assert_eq!(state(&ws, &on), Some(("missing".into(), "not made yet".into())));
    ws.audit_clean_with(&on);
    run(&ws, &on).expect(0);
    assert_eq!(server.take()["same_joke"], 2);
    assert!(ws.exists("staged/flub/05_same_joke/manifest.json"));
    // What was made with it stays readable without it, too.
    ws.audit_clean();

    // Taken back, everything is as if it had never been, and set again, nothing is asked a second time.
    run(&ws, &[]).expect(0);
    assert_same(&without, &ws.derived(), "without a judge");
    run(&ws, &on).expect(0);
    assert_eq!((merged(&ws).len(), server.count()), (1, 0));

    for stage in ["dedup", "dedup-keys"] {
        let refused = ws.call(["apply", stage].iter().chain(&on));
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(
            refused.err.contains("same_joke.endpoint: pairs are judged in `run` alone"),
            "{}",
            refused.err
        );
    }
    let unknown = run(&ws, &["--set", "same_joke.endpoint=nobody"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("same_joke.endpoint: there is no [llm.nobody]"), "{}", unknown.err);
}

#[test]
fn paid_judgements_need_consent() {
    let server = start(judge);
    let ws = judging(&server);
    let prices = "usd_per_million_in = 1000.0\nusd_per_million_out = 1000.0";
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("free = true", prices));
    let refused = run(&ws, &[]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("for 2 requests to loop"), "{}", refused.err);
    assert_eq!(server.count(), 0);
    run(&ws, &["--yes"]).expect(0);
    assert_eq!(server.take()["same_joke"], 2);
}

/// A reply that says nothing, and one that is refused, judge nothing: the pairs stay listed, and are asked about again on
/// request alone.
#[test]
fn what_is_no_judgement_merges_nothing() {
    let server = start(unsure);
    let ws = judging(&server);
    run(&ws, &[]);
    assert!(server.take()["same_joke"] >= 2);
    assert_eq!(merged(&ws).len(), 0);
    assert_eq!(ws.reasons("flub").get("changed/unjudgeable"), Some(&4), "{:?}", ws.reasons("flub"));
    assert_eq!(state(&ws, &[]).unwrap().0, "fresh");
    run(&ws, &[]);
    assert_eq!(server.count(), 0);
    ws.audit_clean();

    let refusing = Server::guarded(
        judge,
        None,
        Duration::ZERO,
        Arc::new(|prompt, _| prompt.contains("企鹅").then_some((400, "content policy"))),
    );
    let ws = judging(&refusing);
    run(&ws, &[]);
    assert_eq!(merged(&ws).len(), 0);
    let reasons = ws.reasons("flub");
    assert_eq!(
        (reasons.get("changed/unjudgeable"), reasons.get("changed/pair_judged")),
        (Some(&2), Some(&2)),
        "{reasons:?}"
    );
    let shown = ws.call(["status", "--recipe", "flub"]).expect(0).out;
    assert!(shown.contains("2 continued without a judgement: 400 from loop"), "{shown}");
    refusing.take();
    run(&ws, &["--retry-failed"]);
    assert_eq!(refusing.take()["same_joke"], 1);
}

/// Both steps that ask a model before dedup: the judge is asked after embeddings, whose pairs reach dedup through it.
#[test]
fn judgements_and_embeddings_work_together() {
    let server = start(judge);
    let ws = judging(&server);
    ws.write(
        "pipeline.toml",
        ws.read("pipeline.toml") + "[embeddings]\nendpoint = \"loop\"\ncosine = 0.99\n",
    );
    run(&ws, &[]).expect(0);
    let asked = server.take();
    assert_eq!((asked["embedding"], asked["same_joke"]), (6, 2), "{asked:?}");
    for folder in ["05_embeddings", "05_same_joke", "05_dedup"] {
        assert!(ws.exists(&format!("staged/flub/{folder}/manifest.json")), "{folder}");
    }
    assert!(merged(&ws)["joke:1"].1.starts_with("judge; "));
    ws.audit_clean();
    // Without one of them, the stage that it made goes, and the other stays.
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings.replace(JUDGE, ""));
    run(&ws, &[]).expect(0);
    assert!(ws.exists("staged/flub/05_embeddings") && !ws.exists("staged/flub/05_same_joke"));
    ws.audit_clean();
    assert_eq!(server.count(), 0);
}

/// A workspace's own wording is another question.
#[test]
fn a_workspace_may_word_the_question() {
    let server = start(judge);
    let ws = judging(&server);
    run(&ws, &[]).expect(0);
    server.take();
    let listed = ws.call(["prompts", "list"]).expect(0).out;
    assert!(listed.contains("dedup/same_joke"), "{listed}");
    let shown = ws.call(["prompts", "show", "dedup/same_joke"]).expect(0).out;
    ws.write("prompts/dedup/same_joke.jinja", shown.replace("one short sentence", "one sentence"));
    let (state_of, why) = state(&ws, &[]).unwrap();
    assert_eq!((state_of.as_str(), why.contains("prompt dedup/same_joke changed")), ("stale", true), "{why}");
    run(&ws, &[]).expect(0);
    assert_eq!(server.take()["same_joke"], 2);
}
