//! What would make a release refuse is told before anybody tries, with a remedy that mends it; licences of every upstream
//! decide, and a set of which most waits is released only by who asks for it.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;
use crate::reviewed::{GEN, Reviewed, item};

const NAME: &str = "short-traps";

/// The id follows from the text, as FLUB's does, so that two posts with one text are one id.
const BENCHMARK: &str = r#"about = "short traps"
steps = ["import", "review:fair"]

[data]
about = "A trap."
rests_on = ["fair"]
columns = [
  { name = "id", type = "text", is = "text | sha1", about = "The SHA-1 of its text." },
  { name = "trap", type = "text", is = "text", about = "The trap." },
  { name = "source_id", type = "text", is = "id", about = "Where it is from." },
]
checks = [{ holds = "trap | length < 60", says = "trap: too long" }]
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

const SETTINGS: &str = r#"
[[annotator]]
name = "annotator-1"
role = "annotator"

[[annotator]]
name = "senior-1"
role = "senior"

[[source]]
name = "list"
kind = "table"
path = "raw/dumps/list.jsonl"
licence = "CC-BY-NC-4.0"
fields = { id = "d:{n}", content = "text" }
"#;

fn workspace(texts: &[&str], more: &str) -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    let line = |(n, text): (usize, &&str)| json!({ "n": n + 1, "text": text }).to_string() + "\n";
    ws.write("raw/dumps/list.jsonl", texts.iter().enumerate().map(line).collect::<String>());
    ws.write("pipeline.toml", format!("{SETTINGS}\n{more}"));
    ws.call(["run", "--recipe", NAME]).expect(0);
    ws
}

/// Keeps every trap that the sheet shows, and runs.
fn keep_all(ws: &Workspace) {
    vote(ws, NAME, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(["run", "--recipe", NAME]).expect(0);
}

fn release(ws: &Workspace, more: &[&str]) -> crate::harness::CallResult {
    ws.call(["release", NAME, "--date", "2026-01-02"].iter().chain(more))
}

const TWO: [&str; 2] = [
    "A bridge holds one of two carts. Which one waits?",
    "You promised two neighbours one lamp. Who gets it?",
];

#[test]
fn two_posts_of_one_text_are_told_by_run_and_its_advice_leads_to_a_release() {
    let ws = workspace(&[TWO[0], TWO[1]], "");
    keep_all(&ws);
    assert!(!ws.call(["status", "--recipe", NAME]).expect(0).out.contains("would be refused"));
    // A third post has the text of the first.
    ws.write(
        "raw/dumps/list.jsonl",
        [TWO[0], TWO[1], TWO[0]]
            .iter()
            .enumerate()
            .map(|(n, text)| json!({ "n": n + 1, "text": text }).to_string() + "\n")
            .collect::<String>(),
    );
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(&ws, NAME, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    let run = ws.call(["run", "--recipe", NAME]).expect(0);
    let status = ws.call(["status", "--recipe", NAME]).expect(0).out;
    for told in [&run.err, &status] {
        assert!(told.contains("a release would be refused:"), "{told}");
        assert!(told.contains("d:1 and d:3 became one row") && told.contains("a step `dedup`"), "{told}");
    }
    assert!(!run.err.contains("next: riddlemill release"), "{}", run.err);
    let refused = release(&ws, &[]).expect(1);
    assert!(refused.err.contains("d:1 and d:3 became one row"), "{}", refused.err);
    // What it says mends it: the votes stand, since no text changed.
    let deduped = BENCHMARK.replace("[\"import\", ", "[\"import\", \"dedup\", ");
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), deduped);
    let run = ws.call(["run", "--recipe", NAME]).expect(0);
    assert!(!run.err.contains("would be refused"), "{}", run.err);
    release(&ws, &[]).expect(0);
}

#[test]
fn a_row_that_fails_a_check_is_told_by_run_without_what_follows_from_it() {
    let long =
        "A lamp promised to two neighbours, to their children and to the children of those. Who gets it?";
    let ws = workspace(&[TWO[0], long], "");
    keep_all(&ws);
    let status = ws.call(["status", "--recipe", NAME, "--json"]).expect(0).out;
    assert!(status.contains("trap: too long") && status.contains("explain d:2"), "{status}");
    let refused = release(&ws, &[]).expect(1);
    assert!(refused.err.contains("trap: too long"), "{}", refused.err);
    assert!(!refused.err.contains("published form"), "{}", refused.err);
}

#[test]
fn a_set_of_which_most_waits_is_released_only_as_a_partial_one() {
    let texts: Vec<String> =
        (1..=9).map(|n| format!("A bridge holds {n} of ten carts. Which one waits?")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ws = workspace(&texts, "");
    vote(&ws, NAME, "fair", "annotator-1", |see| match see["trap"].as_str().unwrap().contains("holds 1 ") {
        true => json!({ "keep": "keep" }),
        false => json!({}),
    });
    ws.call(["run", "--recipe", NAME]).expect(0);
    let manifest: Value =
        serde_json::from_str(&ws.read(&format!("output/{NAME}/candidate/MANIFEST.json"))).unwrap();
    assert_eq!((&manifest["rows"], &manifest["waiting"]), (&json!(1), &json!(8)), "{manifest}");
    let refused = release(&ws, &[]).expect(2);
    assert!(refused.err.contains("1 of 9 items") && refused.err.contains("--partial"), "{}", refused.err);
    assert!(refused.err.contains("8 held at review:fair (votes_missing)"), "{}", refused.err);
    assert!(!ws.exists(&format!("output/{NAME}/1.0.0")));
    let done = release(&ws, &["--partial"]).expect(0);
    assert!(done.out.contains("8 held at review:fair"), "{}", done.out);
}

#[test]
fn a_licence_that_forbids_it_stops_a_release_and_another_one_is_a_change() {
    let ws = workspace(&TWO, "[release]\nlicence = \"CC0-1.0\"\n");
    keep_all(&ws);
    let refused = release(&ws, &[]).expect(2);
    assert!(
        refused.err.contains("list: CC-BY-NC-4.0 forbids commercial use, which CC0-1.0 allows"),
        "{}",
        refused.err
    );
    let status = ws.call(["status", "--recipe", NAME]).expect(0).out;
    assert!(status.contains("CC-BY-NC-4.0 forbids commercial use"), "{status}");
    let checked = ws.call(["verify", &format!("output/{NAME}/candidate")]).expect(1);
    assert!((checked.out + &checked.err).contains("CC0-1.0 is not allowed"));

    let licensed = |licence: &str| {
        ws.write("pipeline.toml", format!("{SETTINGS}\n[release]\nlicence = \"{licence}\"\n"));
        ws.call(["run", "--recipe", NAME]).expect(0);
    };
    licensed("CC-BY-NC-4.0");
    release(&ws, &[]).expect(0);
    assert!(release(&ws, &[]).expect(2).err.contains("nothing changed"));
    licensed("CC-BY-NC-SA-4.0");
    let next = ws.call(["status", "--recipe", NAME]).expect(0).out;
    assert!(next.contains(&format!("next: riddlemill release {NAME}")), "{next}");
    let done = release(&ws, &[]).expect(0);
    assert!(done.out.contains("1.0.1") && done.out.contains("before CC-BY-NC-4.0"), "{}", done.out);
    let log = ws.read(&format!("output/{NAME}/1.0.1/CHANGELOG.md"));
    assert!(log.contains("- the licence: CC-BY-NC-SA-4.0 for the set, before CC-BY-NC-4.0"), "{log}");
    ws.call(["verify", &format!("output/{NAME}/1.0.1"), "--raw"]).expect(0);
}

/// A set that goes on from the rows of another one, which alone has dumps.
#[test]
fn the_papers_of_a_set_name_every_upstream_and_its_licence() {
    const CHILD: &str = "long-traps";
    let ws = workspace(&TWO, "");
    keep_all(&ws);
    let child = BENCHMARK.replace(
        "[\"import\", \"review:fair\"]",
        "[\"review:fair\"]\n[step.\"review:fair\"]\nfrom = [\"short-traps/review:fair\"]",
    );
    ws.write(&format!("benchmarks/{CHILD}/benchmark.toml"), child);
    ws.write(&format!("benchmarks/{CHILD}/ballots.toml"), BALLOTS);
    ws.write("curator/authors.md", "The contributors of riddlemill\n");
    ws.call(["run", "--recipe", CHILD]).expect(0);
    let read = |name: &str| ws.read(&format!("output/{CHILD}/candidate/{name}"));
    assert!(
        read("README.md").contains("| list/list.jsonl |") && read("README.md").contains("| CC-BY-NC-4.0 |")
    );
    assert!(read("LICENSES/list.txt").contains("Licence: CC-BY-NC-4.0"));
    assert!(read("CITATION.cff").contains("Made from: list: CC-BY-NC-4.0"), "{}", read("CITATION.cff"));
    let manifest: Value = serde_json::from_str(&read("MANIFEST.json")).unwrap();
    assert_eq!(manifest["raw"][0]["licence"], "CC-BY-NC-4.0", "{manifest}");
    assert_eq!(manifest["licence"], "CC-BY-NC-4.0", "{manifest}");
}

/// Two sources of the first set, of which one forbids what the other allows; the second set goes on from the first.
#[test]
fn each_of_several_sources_is_named_and_the_strictest_decides_for_every_set_made_from_them() {
    const CHILD: &str = "long-traps";
    let other = "[[source]]\nname = \"other\"\nkind = \"table\"\npath = \"raw/dumps/other.jsonl\"\nlicence = \"CC-BY-4.0\"\n\
                 fields = { id = \"e:{n}\", content = \"text\" }\n";
    let ws = workspace(&TWO, "");
    let more = json!({ "n": 1, "text": "A key opens one of two doors. Which one stays shut?" });
    ws.write("raw/dumps/other.jsonl", format!("{more}\n"));
    let child = BENCHMARK.replace(
        "[\"import\", \"review:fair\"]",
        "[\"review:fair\"]\n[step.\"review:fair\"]\nfrom = [\"short-traps/review:fair\"]",
    );
    ws.write(&format!("benchmarks/{CHILD}/benchmark.toml"), child);
    ws.write(&format!("benchmarks/{CHILD}/ballots.toml"), BALLOTS);
    let licensed = |licence: &str| {
        ws.write("pipeline.toml", format!("{SETTINGS}\n{other}\n{licence}"));
        ws.call(["run", "--recipe", NAME]).expect(0);
        ws.call(["run", "--recipe", CHILD]).expect(0);
    };
    licensed("");
    keep_all(&ws);
    ws.call(["run", "--recipe", CHILD]).expect(0);
    vote(&ws, CHILD, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    licensed("");
    let release = |name: &str| ws.call(["release", name, "--date", "2026-01-02"]);
    for name in [NAME, CHILD] {
        // Two licences are none for the whole, and both are named.
        let refused = release(name).expect(2).err;
        assert!(refused.contains("list: CC-BY-NC-4.0; other: CC-BY-4.0"), "{name}: {refused}");
    }
    licensed("[release]\nlicence = \"CC-BY-4.0\"\n");
    for name in [NAME, CHILD] {
        let refused = release(name).expect(2).err;
        assert!(refused.contains("list: CC-BY-NC-4.0 forbids commercial use"), "{name}: {refused}");
        assert!(!refused.contains("other:"), "{name}: {refused}");
    }
    licensed("[release]\nlicence = \"CC-BY-NC-4.0\"\n");
    for name in [NAME, CHILD] {
        release(name).expect(0);
        let read = |file: &str| ws.read(&format!("output/{name}/1.0.0/{file}"));
        assert!(read("LICENSES/list.txt").contains("CC-BY-NC-4.0"), "{name}");
        assert!(read("LICENSES/other.txt").contains("CC-BY-4.0"), "{name}");
        let card = read("README.md");
        assert!(card.contains("| list/list.jsonl |") && card.contains("| other/other.jsonl |"), "{card}");
    }
    ws.call(["verify", &format!("output/{NAME}/1.0.0"), "--raw"]).expect(0);
}

/// What a voter accepts all the same is no pair, and its question says in the accounting why it is no row.
#[test]
fn a_normal_question_that_is_its_trick_question_is_no_row() {
    let trick = "Why is an umbrella afraid of the sun?";
    let mut people = Reviewed::new();
    people.add(&[
        item(
            "雨伞为什么怕晒太阳？",
            trick,
            "Umbrellas fear nothing.",
            Some(trick),
            "3(Erroneous Assumption)",
        ),
        item(
            "楼梯累了能坐电梯吗？",
            "May tired stairs take the lift?",
            "Stairs do not tire.",
            None,
            "3(Erroneous Assumption)",
        ),
    ]);
    let rows = people.ws.candidates(GEN);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["question_en"], "May tired stairs take the lift?");
    let manifest: Value =
        serde_json::from_str(&people.ws.read(&format!("output/{GEN}/candidate/MANIFEST.json"))).unwrap();
    let left = &manifest["left_out"][0];
    let told = ["stage", "state", "reason"].map(|key| left[key].as_str().unwrap_or_default().to_owned());
    assert_eq!(told, ["[data] when", "dropped", "not_wanted"], "{manifest}");
    // Its answers are judged, so that no other program's likeness to the analysis stands for the figure.
    assert!(!people.ws.exists(&format!("output/{GEN}/candidate/eval/lm_eval")));
    let card = people.ws.read(&format!("output/{GEN}/candidate/README.md"));
    assert!(
        card.contains("eval/inspect/ruozhibench_gen.py@ruozhibench_gen_answer --model-role grader=JUDGE"),
        "{card}"
    );
}
