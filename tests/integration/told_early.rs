//! Mistakes of folders that used to be accepted and then changed a set without a word.

use serde_json::json;

use crate::harness::{Workspace, title};
use crate::own::vote;

/// A workspace with a benchmark of these files, and two posts.
fn folder(benchmark: &str, ballots: &str) -> Workspace {
    let ws = Workspace::with_dump(
        "leymore-titles",
        format!(
            "[{},{},{}]",
            title(1, "云会恐高吗？"),
            title(2, "雨伞会不会淋湿？"),
            title(3, "鱼会口渴吗？")
        ),
    );
    ws.write("benchmarks/own/benchmark.toml", benchmark);
    if !ballots.is_empty() {
        ws.write("benchmarks/own/ballots.toml", ballots);
    }
    ws
}

fn checked(benchmark: &str, ballots: &str) -> String {
    let result = folder(benchmark, ballots).call(["benchmark", "check", "own"]);
    format!("{}{}", result.out, result.err)
}

const DATA: &str = "
[data]
about = \"Questions.\"
[data.columns]
id = [\"id\", \"Its id.\"]
q = [\"text\", \"The question.\"]
source_id = true
";

#[test]
fn a_release_of_records_needs_a_step_that_makes_them() {
    let told = checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"filter\"]\n{DATA}"), "");
    assert!(told.contains("there are no records to release these columns of"), "{told}");
    let select = "[step.short]\ndrop_if = \"characters(text) > 40\"\nreason = [\"long\", \"It is long.\"]\n";
    let told = checked(
        &format!("about = \"Own.\"\nsteps = [\"import\", \"filter\", \"short\"]\n{select}{DATA}"),
        "",
    );
    assert!(told.contains("no problem in own"), "{told}");
}

#[test]
fn fields_use_those_before_them() {
    let fields = "[fields]\na = \"b\"\nb = \"text\"\n";
    let select = "[step.short]\ndrop_if = \"a\"\nreason = [\"long\", \"It is long.\"]\n";
    let told =
        checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"short\"]\n{fields}{select}{DATA}"), "");
    assert!(told.contains("unknown name \"b\""), "{told}");
}

#[test]
fn every_answer_that_drops_drops() {
    let steps = "about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n";
    let ballots = "
[ballot.ok]
title = \"Is it sound?\"
guideline = \"Say whether it is fair and clear.\"
shows = [\"text\"]
votes = 1
[ballot.ok.fields]
fair = { label = \"Fair?\", yes = \"It is fair.\", no = \"It is not.\", drops = \"no\" }
clear = { label = \"Clear?\", yes = \"It is clear.\", no = \"It is not.\", drops = \"no\" }
funny = { label = \"How funny?\", score = [1, 5], drops = \"1\" }
";
    let ws = folder(&format!("{steps}{DATA}"), ballots);
    let people = ws.read("pipeline.toml") + "\n[[annotator]]\nname = \"p1\"\nrole = \"annotator\"\n";
    ws.write("pipeline.toml", people);
    ws.call(["run", "--recipe", "own"]);
    vote(&ws, "own", "ok", "p1", |see| match see["text"].as_str().unwrap().contains('云') {
        true => json!({ "fair": "yes", "clear": "no", "funny": "5" }),
        false if see["text"].as_str().unwrap().contains('鱼') => {
            json!({ "fair": "yes", "clear": "yes", "funny": "1" })
        }
        false => json!({ "fair": "no", "clear": "yes", "funny": "5" }),
    });
    ws.call(["run", "--recipe", "own"]);
    let shown =
        ws.call(["show", "review:ok", "--recipe", "own", "--outcome", "dropped", "--json"]).expect(0).out;
    for post in ["tieba:1", "tieba:2", "tieba:3"] {
        assert!(shown.contains(post), "{post}: {shown}");
    }
}

#[test]
fn names_of_decisions_are_no_fields() {
    let ballots = "
[ballot.ok]
title = \"Is it sound?\"
guideline = \"Say whether it stands.\"
shows = [\"text\"]
votes = 1
[ballot.ok.fields]
standing = { label = \"Standing?\", yes = \"It stands.\", no = \"It does not.\" }
";
    let told = checked(&format!("about = \"Own.\"\nsteps = [\"import\", \"review:ok\"]\n{DATA}"), ballots);
    assert!(told.contains("the name \"standing\" is taken"), "{told}");
}
