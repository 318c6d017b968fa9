//! What a verb prints, what it writes with --json and what a page shows are one report.

use serde_json::Value;

use crate::browser::Server;
use crate::harness::{Workspace, source, title};

/// Two questions that wait for an endpoint without a key.
fn waiting() -> Workspace {
    let settings = format!(
        "{}\n[draft]\nendpoint = \"mine\"\n\n[llm.mine]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\nfree = true\nkey_env = \"REPORT_KEY_OF_NOBODY\"\n",
        source("own", "leymore-titles", "raw/dumps/own.json")
    );
    let workspace = Workspace::with(&settings);
    let rows = [title(1, "为什么鱼不会口渴？"), title(2, "雨伞会不会淋湿？")].join(",\n");
    workspace.write("raw/dumps/own.json", format!("[{rows}]"));
    workspace.call(["run"]).expect(0);
    workspace
}

fn json(workspace: &Workspace, args: &[&str]) -> Value {
    let out = workspace.call(args.iter().chain(&["--json"])).expect(0).out;
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}"))
}

/// The names of an object's fields, in the order in which they are written.
fn fields(object: &Value) -> Vec<&str> {
    object.as_object().unwrap_or_else(|| panic!("no object: {object}")).keys().map(String::as_str).collect()
}

#[test]
fn the_fields_for_machines_and_their_order_stay() {
    let workspace = Workspace::sample();
    workspace.run();
    let status = json(&workspace, &["status"]);
    let rows = status.as_array().unwrap();
    let stage = ["recipe", "stage", "state", "why", "held", "causes", "outdates", "lacks"];
    assert_eq!(fields(&rows[0]), stage);
    let cause = rows.iter().find_map(|row| row["causes"].get(0)).expect("something waits in the sample");
    assert_eq!(fields(cause), ["stage", "records", "what", "words", "mend", "failed"]);
    let next = rows.last().unwrap();
    assert_eq!((fields(next), fields(&next["next"])), (vec!["next"], vec!["command", "why"]));

    let explained = json(&workspace, &["explain", "tieba:9900002233"]);
    let whole = ["explained", "also", "changed", "withdrawn", "read_as", "other_readings"];
    assert_eq!(fields(&explained), whole);
    let many = json(&workspace, &["explain", "为什么"]);
    let found = many["also"].as_array().unwrap().iter().find(|row| row.get("place").is_some());
    assert_eq!(fields(found.expect("many posts ask why")), ["place", "id", "text", "recipes"]);

    let estimate = json(&workspace, &["estimate"]);
    let step = estimate.as_array().unwrap().iter().find(|row| row.get("stage").is_some()).unwrap();
    assert_eq!(
        fields(step),
        [
            "recipe",
            "stage",
            "endpoint",
            "items",
            "stored",
            "requests",
            "prompt_tokens",
            "max_completion_tokens",
            "min_usd",
            "max_usd",
            "likely_usd",
            "prompt_tokens_share",
            "at_least_secs",
            "later_requests",
            "later_likely",
            "later_max_usd"
        ]
    );
    assert_eq!(fields(&json(&workspace, &["fsck"])), ["salvaged", "replies", "findings", "notes"]);
    let review = json(&workspace, &["review", "status"]);
    let names = fields(&review[0]);
    assert_eq!(names[..4], ["recipe", "step", "items", "confirmed"]);
    assert_eq!(names[15..], ["guessed", "annotators", "agreement"]);
    let shown = json(&workspace, &["show", "dedup", "--borderline"]);
    assert_eq!(fields(&shown[0]), ["recipe", "stage", "all", "rows"]);
    assert_eq!(fields(&json(&workspace, &["config"])), ["settings", "sources"]);
    assert_eq!(
        fields(&json(&workspace, &["replies", "stats"])),
        ["segments", "bytes", "replies", "failed_attempts", "open_attempts", "models", "budgets"]
    );
}

#[test]
fn the_overview_begins_with_what_the_command_line_names_next() {
    let workspace = waiting();
    let status = json(&workspace, &["status"]);
    let next = status.as_array().unwrap().last().unwrap()["next"].clone();
    let (command, why) = (next["command"].as_str().unwrap(), next["why"].as_str().unwrap());
    let mends = next["first"].as_str().unwrap();
    assert!(mends.contains("REPORT_KEY_OF_NOBODY") && command.starts_with("riddlemill run"), "{next}");
    let text = workspace.call(["status"]).expect(0).out;
    assert!(text.contains(&format!("first: {mends}\nnext: {command}  ({why})")), "{text}");
    // The stage of the first recipe of the reason is one of those that the page names beside its first button.
    let waits = status.as_array().unwrap().iter().find(|row| row["causes"][0].is_object()).unwrap();
    let (recipe, stage) = (waits["recipe"].as_str().unwrap(), waits["stage"].as_str().unwrap());
    assert!(why.starts_with(recipe) && why.contains(stage), "{next}");
    let page = Server::start(&workspace, &[]).get("/").body;
    let (_, card) = page.split_once("id=\"_next\"").expect("things to do");
    let first = card.split("</li>").next().unwrap();
    assert!(first.contains(&format!("/{recipe}/stage/{stage}")), "{why}: {first}");
    assert!(waits["causes"][0]["mend"].as_str().is_some_and(|mend| mends.starts_with(mend)), "{waits}");
}

#[test]
fn the_page_of_a_record_has_the_text_that_explain_tells() {
    let workspace = Workspace::sample();
    workspace.run();
    let server = Server::start(&workspace, &[]);
    let candidates = workspace.candidates("flub");
    let ids = candidates.iter().filter_map(|row| row["source_id"].as_str()).take(3);
    for id in ids.chain(["tieba:9900002233"]) {
        let told = json(&workspace, &["explain", id, "--recipe", "flub"]);
        let Some(text) = told["explained"][0]["text"].as_str() else { continue };
        let page = server.get(&format!("/flub/record/{id}")).body;
        let (_, shown) = page.split_once("<p class=\"post big\" dir=\"auto\">").expect("the text");
        let shown = shown.split("</p>").next().unwrap();
        assert!(shown.contains(text.trim()), "{id}: {shown}");
    }
}

#[test]
fn with_json_every_verb_prints_one_document() {
    let workspace = Workspace::sample();
    workspace.run();
    for args in [
        &["init", "other"][..],
        &["init", "third", "--benchmark", "flub"],
        &["profiles", "show", "tieba"],
        &["profiles", "copy", "tieba"],
        &["prompts", "show", "ruozhibench/screen"],
        &["review", "assign", "clean", "--recipe", "flub"],
        &["review", "export", "clean", "--recipe", "flub", "--out", "sheets"],
        &["review", "export", "--all", "all"],
        &["decide", "export", "--recipe", "flub", "--stage", "anonymise", "--out", "held.csv"],
        &["status"],
        &["fsck"],
    ] {
        let called = workspace.call(args.iter().chain(&["--json"])).expect(0);
        let read = serde_json::from_str::<Value>(&called.out);
        assert!(read.is_ok(), "{args:?}: {}", called.out);
    }
}
