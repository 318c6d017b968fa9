//! Published files in the form that the ending of their names says: written, described, verified, and refused by the check of
//! the folder where an ending says none.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "short-traps";

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

[release]
licence = "CC0-1.0"

[[source]]
name = "list"
kind = "table"
path = "raw/dumps/list.jsonl"
licence = "CC0-1.0"
fields = { id = "d:{n}", content = "text" }
"#;

const TEXTS: [&str; 2] = [
    "A bridge, \"old\", holds one of two carts. Which one waits?",
    "You promised two neighbours one lamp. Who gets it?",
];

const KEYS: &str = r#"[compat.keys]
trap = "trap"
words = "trap | split | length"
parts = "trap | split('.')"
asks = "'?' in trap"
nothing = "none"
"#;

fn compat(files: &[&str]) -> String {
    let more =
        files[1..].iter().map(|file| format!("[[compat]]\nfile = \"{file}\"\nlike = \"{}\"\n", files[0]));
    format!("\n[[compat]]\nfile = \"{}\"\n{KEYS}{}", files[0], more.collect::<String>())
}

fn workspace(compat: &str) -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), format!("{BENCHMARK}{compat}"));
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    let line = |(n, text): (usize, &&str)| json!({ "n": n + 1, "text": text }).to_string() + "\n";
    ws.write("raw/dumps/list.jsonl", TEXTS.iter().enumerate().map(line).collect::<String>());
    ws.write("pipeline.toml", SETTINGS);
    ws
}

#[test]
fn each_ending_gives_its_form_and_verify_makes_it_again() {
    let ws = workspace(&compat(&["t.jsonl", "t.json", "t.csv", "t.tsv", "t.parquet"]));
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(&ws, NAME, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(["run", "--recipe", NAME]).expect(0);
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let set = format!("output/{NAME}/1.0.0");
    let read = |file: &str| ws.read(&format!("{set}/compat/{file}"));

    let lines: Vec<Value> = read("t.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let array: Vec<Value> = serde_json::from_str(&read("t.json")).unwrap();
    assert_eq!((lines.len(), &lines), (2, &array));

    for (file, mark) in [("t.csv", b','), ("t.tsv", b'\t')] {
        let text = read(file);
        let mut table = csv::ReaderBuilder::new().delimiter(mark).from_reader(text.as_bytes());
        let header: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!(header, ["trap", "words", "parts", "asks", "nothing"], "{file}");
        let cells: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
        assert_eq!(cells.len(), 2, "{file}");
        for (row, line) in cells.iter().zip(&lines) {
            assert_eq!(row[0], *line["trap"].as_str().unwrap(), "{file}");
            assert_eq!(row[1], line["words"].to_string(), "{file}");
            assert_eq!(row[2], line["parts"].to_string(), "{file}");
            assert_eq!((&row[3], &row[4]), ("true", ""), "{file}");
        }
    }
    let bytes = std::fs::read(ws.path(&format!("{set}/compat/t.parquet"))).unwrap();
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));

    let croissant = ws.read(&format!("{set}/croissant.json"));
    assert!(croissant.contains("text/csv") && croissant.contains("text/tab-separated-values"), "{croissant}");
    ws.call(["verify", &set, "--raw"]).expect(0);

    // A table with another cell is found, not only by its sum.
    for (file, then) in [("t.csv", "lamps"), ("t.tsv", "lamps")] {
        let before = read(file);
        ws.write(&format!("{set}/compat/{file}"), before.replace("lamp", then));
        let told = ws.call(["verify", &set]).expect(1);
        let told = told.out + &told.err;
        assert!(told.contains(&format!("compat/{file}: not the published form of the rows")), "{told}");
        ws.write(&format!("{set}/compat/{file}"), before);
    }
    ws.call(["verify", &set]).expect(0);
}

#[test]
fn an_ending_that_says_no_form_and_a_key_that_contradicts_it_are_told_with_their_places() {
    let told = |compat: &str| {
        let checked = workspace(compat).call(["benchmark", "check"]).expect(2);
        checked.out + &checked.err
    };
    let xlsx = told(&compat(&["t.xlsx"]));
    assert!(xlsx.contains("the ending of \"t.xlsx\" says no form") && xlsx.contains(".parquet"), "{xlsx}");
    assert!(xlsx.contains("benchmark.toml:"), "{xlsx}");
    let lines = told(&format!("\n[[compat]]\nfile = \"t.csv\"\nlines = true\n{KEYS}"));
    assert!(lines.contains("`lines` goes with a file that ends in .json"), "{lines}");
    let twice = told(&compat(&["t.csv", "t.csv"]));
    assert!(twice.contains("two published files are named \"t.csv\""), "{twice}");
    let folder = told(&compat(&["a/t.csv"]));
    assert!(folder.contains("directly under compat/"), "{folder}");
}

/// Some authors published JSON Lines under a name that ends in `.json`.
#[test]
fn lines_in_a_json_file_are_written_where_the_folder_says_so() {
    let ws = workspace(&format!("\n[[compat]]\nfile = \"t.json\"\nlines = true\n{KEYS}"));
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(&ws, NAME, "fair", "annotator-1", |_| json!({ "keep": "keep" }));
    ws.call(["run", "--recipe", NAME]).expect(0);
    let candidate = format!("output/{NAME}/candidate");
    let text = ws.read(&format!("{candidate}/compat/t.json"));
    assert_eq!(text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok()).count(), 2, "{text}");
    ws.call(["verify", &candidate]).expect(0);
}
