//! A set that goes on from two other benchmarks, each with a source and a licence of its own: people vote on the records of both,
//! every paper of a release names both, the stricter one decides, and a changed licence is a change.

use serde_json::{Value, json};

use crate::harness::{CallResult, Workspace};
use crate::own::vote;

const STEPS: &str = "about = \"short traps\"\nsteps = [\"import\", \"review:fair\"]\n";

const BOTH: &str = r#"about = "traps of two"
steps = ["review:last"]

[step."review:last"]
from = ["left/review:fair", "right/review:fair"]

[data]
about = "A trap."
rests_on = ["last"]
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "trap", type = "text", is = "text", about = "The trap." },
]
"#;

const BALLOTS: &str = r#"[ballot.fair]
title = "Is the trap fair?"
guideline = "Keep what is fair."
shows = [{ key = "trap", is = "text", label = "Trap" }]
voters = ["annotator"]
votes = 1
[[ballot.fair.fields]]
name = "keep"
label = "Keep it?"
kind = "keep"
options = [{ code = "unfair", label = "unfair", means = "One side has no reason." }]
"#;

/// The settings: the licences of the two sources, and that of the whole.
fn settings(list: &str, other: &str, whole: Option<&str>) -> String {
    let source = |name: &str, letter: &str, licence: &str, recipe: &str| {
        format!(
            "[[source]]\nname = \"{name}\"\nkind = \"table\"\npath = \"raw/dumps/{name}.jsonl\"\nlicence = \"{licence}\"\n\
             fields = {{ id = \"{letter}:{{n}}\", content = \"text\" }}\nrecipes = [\"{recipe}\"]\n"
        )
    };
    let whole = whole.map(|whole| format!("[release]\nlicence = \"{whole}\"\n")).unwrap_or_default();
    format!(
        "[[annotator]]\nname = \"annotator-1\"\nrole = \"annotator\"\n{}{}{whole}",
        source("list", "d", list, "left"),
        source("other", "e", other, "right")
    )
}

const ALL: [&str; 7] = ["run", "--recipe", "left", "--recipe", "right", "--recipe", "both"];

/// Both benchmarks and the one made of them, everything kept by people.
fn workspace(list: &str, other: &str) -> Workspace {
    let ws = Workspace::with(&settings(list, other, None));
    for (name, steps, ballot) in [("left", STEPS, "fair"), ("right", STEPS, "fair"), ("both", BOTH, "last")] {
        ws.write(&format!("benchmarks/{name}/benchmark.toml"), steps);
        ws.write(
            &format!("benchmarks/{name}/ballots.toml"),
            BALLOTS.replace("ballot.fair", &format!("ballot.{ballot}")),
        );
    }
    let line = |text: &str| json!({ "n": 1, "text": text }).to_string() + "\n";
    ws.write("raw/dumps/list.jsonl", line("A bridge holds one of two carts. Which one waits?"));
    ws.write("raw/dumps/other.jsonl", line("You promised two neighbours one lamp. Who gets it?"));
    ws.write("curator/authors.md", "The contributors of riddlemill\n");
    ws.call(ALL).expect(0);
    for name in ["left", "right"] {
        vote(&ws, name, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    }
    ws.call(ALL).expect(0);
    // The sheet has the records of both.
    vote(&ws, "both", "last", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(ALL).expect(0);
    let ids: Vec<Value> = ws.candidates("both").iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["d:1", "e:1"], "people voted on the records of both");
    ws
}

fn release(ws: &Workspace) -> CallResult {
    ws.call(["release", "both", "--date", "2026-01-02"])
}

/// Sets the licences, and makes what depends on them.
fn licensed(ws: &Workspace, list: &str, other: &str, whole: &str) {
    ws.write("pipeline.toml", settings(list, other, Some(whole)));
    ws.call(ALL).expect(0);
}

#[test]
fn every_paper_names_the_sources_and_licences_of_both() {
    let ws = workspace("CC-BY-NC-4.0", "CC-BY-4.0");
    // Two licences are none for the whole; the one that is proposed is allowed by both, and following it is enough.
    let refused = release(&ws).expect(2).err;
    assert!(
        refused.contains("no licence is set for both as a whole: list: CC-BY-NC-4.0; other: CC-BY-4.0"),
        "{refused}"
    );
    assert!(refused.contains("set `licence = \"CC-BY-NC-4.0\"`"), "{refused}");
    licensed(&ws, "CC-BY-NC-4.0", "CC-BY-4.0", "CC-BY-NC-4.0");
    release(&ws).expect(0);

    let read = |name: &str| ws.read(&format!("output/both/1.0.0/{name}"));
    for card in [read("README.md"), read("README.zh.md")] {
        for (file, licence) in [("list/list.jsonl", "CC-BY-NC-4.0"), ("other/other.jsonl", "CC-BY-4.0")] {
            let row = card.lines().find(|line| line.starts_with(&format!("| {file} |")));
            assert!(row.is_some_and(|row| row.contains(&format!("| {licence} |"))), "{file}: {card}");
        }
    }
    assert!(read("LICENSES/list.txt").contains("Licence: CC-BY-NC-4.0"));
    assert!(read("LICENSES/other.txt").contains("Licence: CC-BY-4.0"));
    assert!(read("LICENSE").contains("SPDX-License-Identifier: CC-BY-NC-4.0"));
    let citation = read("CITATION.cff");
    assert!(citation.contains("Made from: list: CC-BY-NC-4.0; other: CC-BY-4.0"), "{citation}");
    assert!(read("DATASHEET.md").contains("list/list.jsonl: CC-BY-NC-4.0; other/other.jsonl: CC-BY-4.0"));
    let manifest: Value = serde_json::from_str(&read("MANIFEST.json")).unwrap();
    let raw = manifest["raw"].as_array().unwrap().iter();
    let raw: Vec<(&str, &str)> =
        raw.map(|file| (file["file"].as_str().unwrap(), file["licence"].as_str().unwrap())).collect();
    assert_eq!(raw, [("list/list.jsonl", "CC-BY-NC-4.0"), ("other/other.jsonl", "CC-BY-4.0")]);
    assert_eq!(manifest["licence"], "CC-BY-NC-4.0", "{manifest}");
    ws.call(["verify", "output/both/1.0.0", "--raw"]).expect(0);
    ws.audit_clean();
}

#[test]
fn a_licence_of_one_of_them_forbids_the_release_and_its_change_is_one() {
    let ws = workspace("CC-BY-NC-4.0", "CC-BY-4.0");
    licensed(&ws, "CC-BY-NC-4.0", "CC-BY-4.0", "CC-BY-4.0");
    let refused = release(&ws).expect(2).err;
    assert!(
        refused.contains("list: CC-BY-NC-4.0 forbids commercial use, which CC-BY-4.0 allows"),
        "{refused}"
    );
    assert!(!refused.contains("other:"), "{refused}");
    assert!(!ws.exists("output/both/1.0.0"));
    licensed(&ws, "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-4.0");
    let refused = release(&ws).expect(2).err;
    assert!(
        refused.contains("other: CC-BY-NC-4.0 forbids commercial use"),
        "the second counts as the first: {refused}"
    );

    licensed(&ws, "CC-BY-4.0", "CC-BY-4.0", "CC-BY-4.0");
    release(&ws).expect(0);
    let told = release(&ws).expect(2).err;
    assert!(told.contains("nothing changed"), "{told}");
    // A licence that changed in the second benchmark is told with the command that makes what depends on it.
    ws.write("pipeline.toml", settings("CC-BY-4.0", "CC0-1.0", Some("CC-BY-4.0")));
    let stale = release(&ws).expect(2).err;
    assert!(!stale.contains("nothing changed"), "{stale}");
    assert!(stale.contains("`riddlemill run --recipe right --recipe both` rebuilds it"), "{stale}");
    ws.call(["run", "--recipe", "right", "--recipe", "both"]).expect(0);
    let done = release(&ws).expect(0).out;
    assert!(
        done.contains("both 1.0.1") && done.contains("the licence: CC0-1.0 for other, before CC-BY-4.0"),
        "{done}"
    );
    let log = ws.read("output/both/1.0.1/CHANGELOG.md");
    assert!(log.contains("- the licence: CC0-1.0 for other, before CC-BY-4.0"), "{log}");
    ws.call(["verify", "output/both/1.0.1", "--raw"]).expect(0);
}

#[test]
fn two_licences_that_exclude_each_other_propose_none() {
    let ws = workspace("CC-BY-SA-4.0", "CC-BY-NC-4.0");
    let refused = release(&ws).expect(2).err;
    assert!(refused.contains("list: CC-BY-SA-4.0; other: CC-BY-NC-4.0"), "{refused}");
    assert!(refused.contains("no common licence is allowed by all of them: leave a source out"), "{refused}");
}

/// What the steps of the other benchmarks found is there, and a name that none of them has is told.
#[test]
fn fields_of_the_joined_records_may_be_named() {
    let ws = workspace("CC0-1.0", "CC0-1.0");
    let folder = "benchmarks/both/benchmark.toml";
    let with = |is: &str| {
        let column = format!(
            "  {{ name = \"kept\", type = \"text\", is = \"{is}\", about = \"What people said.\" }},\n]\n"
        );
        ws.write(folder, format!("{}{column}", BOTH.trim_end().strip_suffix(']').unwrap()));
    };
    with("fair.keep");
    ws.call(["benchmark", "check", "both"]).expect(0);
    ws.call(ALL).expect(0);
    assert!(ws.candidates("both").iter().all(|row| row["kept"] == "keep"), "{:?}", ws.candidates("both"));
    with("fiar.keep");
    let told = ws.call(["benchmark", "check", "both"]).expect(2).err;
    assert!(told.contains("unknown name \"fiar\""), "{told}");
}

/// A record that both have is one, and people see it once.
#[test]
fn a_record_of_both_is_voted_on_once() {
    let ws = Workspace::with(
        &settings("CC0-1.0", "CC0-1.0", None)
            .replace("recipes = [\"left\"]", "recipes = [\"left\", \"right\"]"),
    );
    let steps = "about = \"traps\"\nsteps = [\"import\", \"clean\"]\n";
    for name in ["left", "right"] {
        ws.write(&format!("benchmarks/{name}/benchmark.toml"), steps);
    }
    ws.write("benchmarks/both/benchmark.toml", BOTH.replace("review:fair", "clean"));
    ws.write("benchmarks/both/ballots.toml", BALLOTS.replace("ballot.fair", "ballot.last"));
    let line = |text: &str| json!({ "n": 1, "text": text }).to_string() + "\n";
    ws.write("raw/dumps/list.jsonl", line("A bridge holds one of two carts. Which one waits?"));
    ws.write("raw/dumps/other.jsonl", line("You promised two neighbours one lamp. Who gets it?"));
    ws.call(ALL).expect(0);
    assert_eq!(ws.reasons("both").get("dropped/same_id"), Some(&1));
    vote(&ws, "both", "last", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(ALL).expect(0);
    let ids: Vec<Value> = ws.candidates("both").iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["d:1", "e:1"]);
}

/// The example: from the dumps of two lists to a release that names both, and to an evaluation.
#[test]
fn two_lists_are_joined_in_an_example() {
    const NAME: &str = "house-riddles";
    let ws = crate::own::example("two-lists");
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(NAME);
    let places: Vec<&Value> = rows.iter().map(|row| &row["place"]).collect();
    assert_eq!(places.iter().filter(|place| **place == "kitchen").count(), 3, "{rows:?}");
    assert_eq!(places.len(), 6, "{rows:?}");
    assert_eq!(ws.reasons(NAME)["dropped/long_riddle"], 1);
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    // Nobody looks at the riddles, so that it stays a draft.
    let release = format!("output/{NAME}/1.0.0-draft.1");
    let read = |name: &str| ws.read(&format!("{release}/{name}"));
    assert!(read("LICENSES/kitchen.txt").contains("Licence: CC0-1.0"));
    assert!(read("LICENSES/garden.txt").contains("Licence: CC-BY-4.0"));
    assert!(
        read("CITATION.cff").contains("kitchen: CC0-1.0")
            && read("CITATION.cff").contains("garden: CC-BY-4.0")
    );
    ws.call(["verify", release.as_str(), "--raw"]).expect(0);
    let told = ws.call(["evaluate", NAME, "--model", "random"]).expect(0).out;
    assert!(told.contains("place macro F1"), "{told}");
}
