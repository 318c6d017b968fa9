//! No stage waits or fails silently: each cause is reported once, with the number of records it holds back
//! and what resolves it.

use std::net::TcpListener;

use crate::generate::GEN;
use crate::harness::{CallResult, Site, Workspace, source, title};
use crate::support::Reply;

const QUESTIONS: [&str; 3] = ["为什么鱼不会口渴？", "雨伞会不会淋湿？", "云会恐高吗？"];

/// Three questions, an endpoint with these settings, and no voters.
fn asking(endpoint: &str) -> Workspace {
    let settings = format!(
        "{}\n[draft]\nendpoint = \"mine\"\n\n[llm.mine]\nmodel = \"m\"\nretries = {{ max_attempts = 1 }}\n{endpoint}\n",
        source("own", "leymore-titles", "raw/dumps/own.json")
    );
    let ws = Workspace::with(&settings);
    let rows: Vec<String> = (1..).zip(QUESTIONS).map(|(tid, text)| title(tid, text)).collect();
    ws.write("raw/dumps/own.json", format!("[{}]", rows.join(",\n")));
    ws
}

/// The output of a run about its causes, and the next step.
fn causes(ws: &Workspace, recipe: &str, more: &[&str], code: i32) -> String {
    let result = ws.call(["run", "--recipe", recipe].iter().chain(more)).expect(code);
    actual(ws, &result)
}

/// The lines about causes, without what differs from machine to machine.
fn actual(ws: &Workspace, result: &CallResult) -> String {
    let lines = result
        .err
        .lines()
        // Behind the tables of stages.
        .skip_while(|line| *line != "what waits or failed:" && !line.starts_with("next:"))
        .filter(|line| ["  ", "first:", "next:", "warning:"].iter().any(|start| line.starts_with(start)));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace(&ws.root().display().to_string(), "WORKSPACE")
}

/// A local port without a listener; its number is removed from the output.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn refusing(status: u16, says: &'static str) -> Site {
    let body = format!("{{\"error\": {{\"message\": \"{says}\"}}}}");
    Site::start(move |_| {
        Reply::Plain(status, "Content-Type: application/json\r\n".into(), body.clone().into_bytes())
    })
}

fn at(port: u16, more: &str) -> String {
    format!("base_url = \"http://127.0.0.1:{port}/v1\"\n{more}")
}

#[test]
fn an_endpoint_that_is_not_set_up_is_waited_for() {
    let ws = asking("base_url = \"http://127.0.0.1:9/v1\"\nfree = true\nkey_env = \"WAITS_KEY_OF_NOBODY\"");
    insta::assert_snapshot!("no_key", causes(&ws, GEN, &[], 0));
    insta::assert_snapshot!("no_key_status", ws.call(["status", "--recipe", GEN]).expect(0).out);
    let ws = asking("base_url = \"http://127.0.0.1:9/v1\"\nusd_per_million_in = 1.0");
    insta::assert_snapshot!("no_price", causes(&ws, GEN, &[], 0));
    let ws = asking("base_url = \"http://127.0.0.1:9/v1\"\nfree = true");
    insta::assert_snapshot!("offline", causes(&ws, GEN, &["--offline"], 0));
    insta::assert_snapshot!("no_endpoint", causes(&ws, GEN, &["--set", "draft.endpoint=sample"], 0));
}

#[test]
fn an_endpoint_that_fails_is_reported_with_what_mends_it() {
    let key = "free = true\nkey_env = \"WAITS_KEY\"";
    for (name, status, says) in [
        ("refused_401", 401, "invalid api key"),
        ("refused_404", 404, "the model `m` does not exist"),
        ("refused_400", 400, "content policy"),
        ("refused_402", 402, "insufficient credit"),
        ("refused_500", 500, "overloaded"),
    ] {
        let site = refusing(status, says);
        let ws = asking(&at(site.server.port, key));
        let result = CallResult::from(ws.command(["run", "--recipe", GEN]).env("WAITS_KEY", "sk-12345678"));
        insta::assert_snapshot!(name, actual(&ws, &result.expect(3)));
    }
    let port = closed_port();
    let ws = asking(&at(port, "free = true"));
    insta::assert_snapshot!("down", causes(&ws, GEN, &[], 3).replace(&port.to_string(), "PORT"));
}

#[test]
fn a_model_that_is_nearly_there_and_a_parameter_it_does_not_take_are_named() {
    let missing = r#"{"error": {"message": "The model `m` does not exist"}}"#;
    let list = r#"{"object": "list", "data": [{"id": "m2"}, {"id": "another-model"}]}"#;
    let site = Site::start(move |asked| {
        let (status, body) = if asked.path.ends_with("/models") { (200, list) } else { (404, missing) };
        Reply::Plain(status, "Content-Type: application/json\r\n".into(), body.as_bytes().to_vec())
    });
    let ws = asking(&at(site.server.port, "free = true"));
    insta::assert_snapshot!("near_model", causes(&ws, GEN, &[], 3));
    let says = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let site = refusing(400, says);
    let ws = asking(&at(site.server.port, "free = true"));
    insta::assert_snapshot!("limit_field", causes(&ws, GEN, &[], 3));
}

#[test]
fn an_optional_draft_that_was_refused_is_no_success() {
    let site = refusing(401, "invalid api key");
    let ws = asking(&at(site.server.port, "free = true"));
    let optional = ["--set", "draft.optional=[\"screen\"]"];
    insta::assert_snapshot!("optional_refused", causes(&ws, GEN, &optional, 3));
}

#[test]
fn opponents_that_nobody_named_are_what_lacks() {
    let ws = asking("base_url = \"http://127.0.0.1:9/v1\"\nfree = true");
    let on = ["--set", "review.optional=[\"screen\", \"explanation\"]"];
    insta::assert_snapshot!("no_opponents", causes(&ws, "chumor", &on, 0));
}

#[test]
fn a_dump_of_another_kind_is_reported_at_once() {
    let ws = asking("free = true");
    let settings = ws.read("pipeline.toml").replace("leymore-titles", "leymore-annual");
    ws.write("pipeline.toml", settings);
    insta::assert_snapshot!("wrong_kind", causes(&ws, GEN, &[], 3));
}

#[test]
fn votes_are_waited_for_by_command() {
    let ws = asking("free = true");
    insta::assert_snapshot!("nobody_votes", causes(&ws, "chumor", &[], 0));
    let person = "\n[[annotator]]\nname = \"a1\"\nrole = \"annotator\"\nlanguages = [\"zh\"]\n";
    ws.write("pipeline.toml", ws.read("pipeline.toml") + person);
    insta::assert_snapshot!("not_assigned", causes(&ws, "chumor", &[], 0));
    ws.call(["review", "assign", "screen", "--recipe", "chumor"]).expect(0);
    insta::assert_snapshot!("assigned", causes(&ws, "chumor", &[], 0));
    // The same for machines.
    let result = ws.call(["status", "--recipe", "chumor", "--json"]).expect(0);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&result.out).unwrap();
    let screen = rows.iter().find(|row| row["stage"] == "review:screen").unwrap();
    assert_eq!((&screen["causes"][0]["records"], &screen["causes"][0]["failed"]), (&3.into(), &false.into()));
    let next = rows.last().unwrap()["next"]["command"].as_str().unwrap();
    assert_eq!(next, "riddlemill review export screen --recipe chumor --annotator a1");
}

#[test]
fn the_codes_are_in_the_help() {
    let help = Workspace::folder().call(["--help"]).expect(0).out;
    assert!(help.contains("waiting for people or for an endpoint that is not set up"), "{help}");
    assert!(help.contains("an endpoint failed"), "{help}");
}
