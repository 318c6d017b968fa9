//! What the papers of a release say: of a set that has nothing in common with the built-in ones, nothing about them.

use serde_json::json;

use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "ethical-traps";

const BENCHMARK: &str = r#"about = "short dilemmas in Chinese and English"
steps = ["import", "review:fair"]

[data]
about = "A dilemma with its split."
rests_on = ["fair"]
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "dilemma", type = "text", is = "text", about = "The dilemma." },
  { name = "split", type = "text", is = "'train' if 'bridge' in text else 'test'", values = ["train", "test"], about = "Where it belongs." },
]
labels = ["split"]
"#;

const BALLOTS: &str = r#"[ballot.fair]
title = "Is the dilemma fair?"
guideline = "Keep it where both sides have a reason."
shows = [{ key = "dilemma", is = "text", label = "Dilemma" }]
voters = ["annotator"]
votes = 1
[[ballot.fair.fields]]
name = "keep"
label = "Keep it?"
kind = "keep"
options = [{ code = "unfair", label = "unfair", means = "One side has no reason." }]
"#;

/// Words of the built-in sets, and of sentences that name nothing.
const FOREIGN: &[&str] = &[
    "joke",
    "forum",
    "humour",
    "humor",
    "riddle",
    "puzzle",
    "ruozhi",
    "flub",
    "chumor",
    "brainteaser",
    "cunning",
    "rebuilt",
    "rebuild",
    "named below",
    "listed below",
    "the curator of",
    ": ,",
    "{, ",
    "{}",
    "\"\"",
];

fn workspace(paper: &str) -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), format!("{BENCHMARK}{paper}"));
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    ws.write(
        "raw/dumps/list.jsonl",
        concat!(
            "{\"n\": 1, \"title\": \"bridge\", \"text\": \"A bridge holds one of two carts. Which one waits?\"}\n",
            "{\"n\": 2, \"title\": \"lamp\", \"text\": \"You promised two neighbours the same lamp. Who gets it?\"}\n",
        ),
    );
    ws.write(
        "pipeline.toml",
        "[[annotator]]\nname = \"annotator-1\"\nrole = \"annotator\"\n\n[[source]]\nname = \"list\"\nkind = \"table\"\npath = \"raw/dumps/list.jsonl\"\nlicence = \"CC-BY-4.0\"\n\
         fields = { id = \"d:{n}\", title = \"title\", content = \"text\" }\n",
    );
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(&ws, NAME, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(["run", "--recipe", NAME]).expect(0);
    ws
}

/// The texts of a candidate, but for the sealed folder and the licences of sources.
fn papers(ws: &Workspace) -> Vec<(String, String)> {
    let all = [
        "README.md",
        "DATASHEET.md",
        "CHANGELOG.md",
        "LICENSE",
        "croissant.json",
        "datapackage.json",
        "CITATION.cff",
    ];
    let place = |name: &str| format!("output/{NAME}/candidate/{name}");
    all.iter()
        .filter(|name| ws.exists(&place(name)))
        .map(|name| (name.to_string(), ws.read(&place(name))))
        .collect()
}

#[test]
fn a_set_of_its_own_is_not_described_as_another() {
    let ws = workspace("");
    for (name, text) in papers(&ws) {
        let lower = text.to_lowercase().replace("riddlemill", "");
        for word in FOREIGN {
            // An empty dictionary is JSON, and an empty cell a table.
            assert!(
                !lower.contains(word) || name.ends_with(".json") && word.starts_with('{'),
                "{name}: {word:?} in\n{text}"
            );
        }
    }
    // Nobody is an author whom the curator did not name, and the format of citations requires one.
    assert!(!ws.exists(&format!("output/{NAME}/candidate/CITATION.cff")));
    let card = ws.read(&format!("output/{NAME}/candidate/README.md"));
    assert!(card.contains("\n# ethical-traps\n"), "{card}");
    assert!(card.contains("Short dilemmas in Chinese and English, built by riddlemill"), "{card}");
    assert!(card.contains("The curator has not named the authors"), "{card}");
    // No stage of this set looks for personal data or near duplicates, and no paper says so.
    assert!(card.contains("No stage looked for personal data in texts"), "{card}");
    // A person has looked at both rows, though no column says so.
    assert!(!card.contains("no person has looked"), "{card}");
    let sheet = ws.read(&format!("output/{NAME}/candidate/DATASHEET.md"));
    for said in [
        "No stage merged near duplicates.",
        "Column `split` of ethical-traps: test 1, train 1.",
        "No stage looked for personal data in texts",
        "17. **Does it identify subpopulations?** **Open for the curator.**",
    ] {
        assert!(sheet.contains(said), "{said} in\n{sheet}");
    }
}

#[test]
fn the_folder_answers_what_a_run_cannot_know() {
    let ws = workspace(
        "[paper]\nset = \"Ethical Traps\"\nlanguages = [\"en\"]\n[paper.datasheet]\noffence = \"Some dilemmas end badly.\"\nsubpopulations = \"No.\"\n",
    );
    ws.write("curator/authors.md", "The contributors of riddlemill\n");
    ws.call(["run", "--recipe", NAME]).expect(0);
    let read = |name: &str| ws.read(&format!("output/{NAME}/candidate/{name}"));
    let (card, sheet, citation) = (read("README.md"), read("DATASHEET.md"), read("CITATION.cff"));
    assert!(card.contains("\n# Ethical Traps\n") && card.contains("Some dilemmas end badly."), "{card}");
    assert!(
        sheet.contains("offend or frighten?** Some dilemmas end badly.")
            && sheet.contains("subpopulations?** No.")
    );
    assert!(
        citation.contains("title: \"Ethical Traps\"") && citation.contains("The contributors of riddlemill")
    );
    assert!(!citation.contains("references") && !citation.contains("url:"), "{citation}");
    // A key that is no question is named with those that are.
    ws.write(
        &format!("benchmarks/{NAME}/benchmark.toml"),
        format!("{BENCHMARK}[paper]\nset = \"Ethical Traps\"\n[paper.datasheet]\noffense = \"x\"\n"),
    );
    let called = ws.call(["run", "--recipe", NAME]).expect(2);
    assert!(called.err.contains("offense") && called.err.contains("offence"), "{}", called.err);
}
