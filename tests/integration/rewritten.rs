//! Two posts that people rewrote to one sentence, or nearly: they are compared again, whoever decides is shown the pair, and
//! what is advised mends it.

use serde_json::{Value, json};

use crate::browser::Server;
use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "plain-traps";

/// The steps that FLUB has up to the rewriting, and its ids.
const BENCHMARK: &str = r#"about = "plain traps"
steps = ["import", "filter", "dedup", "review:plain"]

[data]
about = "A trap."
rests_on = ["plain"]
columns = [
  { name = "id", type = "text", is = "(plain.wording | default('') or text) | sha1", about = "The SHA-1 of its text." },
  { name = "trap", type = "text", is = "plain.wording | default('') or text", about = "The trap." },
  { name = "source_id", type = "text", is = "id", about = "Where it is from." },
]
"#;

const BALLOTS: &str = r#"[ballot.plain]
title = "Is the trap plain?"
guideline = "Rewrite what is not plain."
shows = [{ key = "trap", is = "text", label = "Trap" }]
voters = ["annotator"]
votes = 1
[[ballot.plain.fields]]
name = "verdict"
label = "Plain?"
kind = "choice"
options = [
  { code = "accept", label = "accept", means = "It stays." },
  { code = "rewrite", label = "rewrite", means = "Write it plainly." },
]
[[ballot.plain.fields]]
name = "wording"
label = "In plain words"
kind = "text"
when = { field = "verdict", write = ["rewrite"] }
"#;

const SETTINGS: &str = r#"
[[annotator]]
name = "annotator-1"
role = "annotator"

[[annotator]]
name = "senior-1"
role = "senior"

[filter]
questions = false
forum = false
min_chars = 0
max_chars = 100000

[dedup]
metric = "levenshtein"
threshold = 0.8

[[source]]
name = "list"
kind = "table"
path = "raw/dumps/list.jsonl"
licence = "CC0-1.0"
fields = { id = "d:{n}", content = "text" }
"#;

const TEXTS: [&str; 3] = [
    "A bridge holds one of two carts. Which one waits?",
    "You promised two neighbours one lamp. Who gets it?",
    "Why does a mirror swap left and right but not up and down?",
];

/// A workspace whose second post people rewrote to this, and the messages of the run after it.
fn rewritten(to: &str) -> (Workspace, String) {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    let line = |(n, text): (usize, &&str)| json!({ "n": n + 1, "text": text }).to_string() + "\n";
    ws.write("raw/dumps/list.jsonl", TEXTS.iter().enumerate().map(line).collect::<String>());
    ws.write("pipeline.toml", SETTINGS);
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(&ws, NAME, "plain", "annotator-1", |see| match see["trap"] == TEXTS[1] {
        true => json!({ "verdict": "rewrite", "wording": to }),
        false => json!({ "verdict": "accept" }),
    });
    let run = ws.call(["run", "--recipe", NAME]).expect(0);
    (ws, run.err)
}

fn status(ws: &Workspace) -> String {
    ws.call(["status", "--recipe", NAME]).expect(0).out
}

#[test]
fn posts_rewritten_to_one_sentence_are_told_and_the_advised_drop_leads_to_a_release() {
    let (ws, run) = rewritten(TEXTS[0]);
    for told in [&run, &status(&ws)] {
        assert!(told.contains("d:1 and d:2 became one row"), "{told}");
        assert!(told.contains("d:1 and d:2 are alike since their texts were rewritten, 1.00"), "{told}");
    }
    let release = || ws.call(["release", NAME, "--date", "2026-01-02"]);
    let refused = release().expect(1).err;
    // What it says, word for word, with a name and a reason.
    let advised = refused.split('`').find(|part| part.starts_with("riddlemill decide drop")).unwrap();
    let advised = advised.replace("NAME", "senior-1").replace("TEXT", "one-sentence");
    ws.call(advised.split(' ').skip(1)).expect(0);
    ws.call(["run", "--recipe", NAME]).expect(0);
    let after = status(&ws);
    assert!(!after.contains("would be refused") && !after.contains("are alike"), "{after}");
    assert!(release().expect(0).out.contains("2 rows"));
}

#[test]
fn posts_rewritten_to_nearly_one_sentence_are_shown_until_somebody_decides() {
    let (ws, run) = rewritten("A bridge holds only one of two carts. Which one waits?");
    for told in [&run, &status(&ws)] {
        assert!(told.contains("d:1 and d:2 are alike since their texts were rewritten, 0."), "{told}");
        assert!(!told.contains("would be refused"), "{told}");
    }
    let shown = ws.call(["show", "dedup", "--borderline", "--recipe", NAME]).expect(0).out;
    assert!(shown.contains("alike since their texts were rewritten") && shown.contains("d:2"), "{shown}");
    let json: Value = serde_json::from_str(
        &ws.call(["show", "dedup", "--borderline", "--recipe", NAME, "--json"]).expect(0).out,
    )
    .unwrap();
    assert_eq!(
        (&json[0]["alike"][0]["a"], &json[0]["alike"][0]["b"]),
        (&json!("d:1"), &json!("d:2")),
        "{json}"
    );
    {
        let server = Server::start(&ws, &[]);
        let page = server.get(&format!("/{NAME}/duplicates?show=pairs")).body;
        assert!(
            page.contains("alike since their texts were rewritten") && page.contains("only one of two"),
            "{page}"
        );
    }
    let decide = |verdict: &str| {
        let by = ["--recipe", NAME, "--by", "senior-1", "--why", "asked"];
        ws.call(["decide", verdict, "d:1", "d:2"].into_iter().chain(by)).expect(0);
        ws.call(["run", "--recipe", NAME]).expect(0);
        (status(&ws), ws.candidates(NAME).len())
    };
    let (after, rows) = decide("two");
    assert!(!after.contains("are alike"), "{after}");
    assert_eq!(rows, 3);
    // Of two decisions the later one holds.
    let (after, rows) = decide("one");
    assert!(!after.contains("are alike"), "{after}");
    assert_eq!(rows, 2);
}

#[test]
fn posts_that_nobody_made_alike_are_not_told() {
    let (ws, run) = rewritten("Two neighbours were promised one lamp. Who gets it?");
    assert!(!run.contains("are alike") && !status(&ws).contains("are alike"), "{run}");
}
