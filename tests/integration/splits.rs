//! `[data.splits]`: a set that is divided, from the draw to the second release, and what `verify` finds where somebody
//! divided it otherwise.

use std::collections::BTreeMap;
use std::fs::File;

use polars_io::SerReader;
use polars_io::prelude::ParquetReader;
use serde_json::{Value, json};

use crate::browser::Server;
use crate::harness::Workspace;
use crate::own::vote;
use crate::viewer::fetched;

const NAME: &str = "dilemmas";

const BENCHMARK: &str = r#"about = "short dilemmas in three splits"
steps = ["import", "dedup", "review:fair"]
prompts = ["kind"]

[data]
about = "A dilemma with its kind."
rests_on = ["fair"]
group = "family"
counted = ["kind"]

[data.columns]
id = ["id", "Its name."]
dilemma = ["text", "The dilemma."]
kind = ["table.kind", "moral | practical", "What it is about."]
family = ["table.family", "Those that were written together."]
standing = true

[data.splits]
shares = { train = 0.5, test = 0.5 }
fewshot = { shots = 2 }
stratify = "kind"
seed = 3

[task.kind]
about = "Whether a dilemma is moral or practical."
with = { dilemma = "dilemma" }
classify = { list = "kinds", gold = "kind" }

[paper]
set = "Dilemmas"
languages = ["en"]
"#;

const BALLOTS: &str = r#"[list.kinds]
moral = "Somebody is wronged."
practical = "Something is lost."

[ballot.fair]
title = "Is the dilemma fair?"
guideline = "Keep it where both sides have a reason."
voters = ["annotator"]
votes = 1
shows = [{ dilemma = ["Dilemma", "text"] }]
[ballot.fair.fields]
clear = { label = "Is it clear?", score = [1, 5] }
"#;

const SETTINGS: &str = r#"[[annotator]]
name = "annotator-1"
role = "annotator"

[dedup]
metric = "indel"
threshold = 0.97
margin = 0.17

[[source]]
name = "list"
kind = "table"
path = "raw/dumps/list.jsonl"
licence = "CC0-1.0"
fields = { id = "d:{n}", content = "text" }
columns = { kind = "kind", family = "family" }
recipes = ["dilemmas"]
"#;

/// Number, kind, family and text. The first two are near duplicates, and the next two of one family.
const FIRST: &[(u32, &str, &str, &str)] = &[
    (1, "moral", "a", "A bridge holds one of two carts. Which of them waits?"),
    (2, "moral", "b", "A bridge holds one of five carts. Which of them waits?"),
    (3, "practical", "c", "You promised both neighbours your only lamp. Who gets it tonight?"),
    (4, "practical", "c", "Rain ruins either the hay or the wedding dress; save what?"),
    (5, "moral", "d", "Tell an old sailor that his son drowned, or let him hope?"),
    (6, "moral", "e", "Should Emma report her brother's forged diploma?"),
    (7, "moral", "f", "Kill the queen bee to spare forty hikers a detour?"),
    (8, "moral", "g", "Is a stolen kidney returned when its new owner would die?"),
    (9, "practical", "h", "Buy winter boots now or wait through March for half price?"),
    (10, "practical", "i", "Which tyre do you mend first with glue enough for one?"),
    (11, "practical", "j", "Go by ferry without luggage, or by train without sleep?"),
    (12, "practical", "k", "Plant potatoes where the orchard got blight last year?"),
];

fn dump(ws: &Workspace, rows: &[(u32, &str, &str, &str)]) {
    let line = |(n, kind, family, text): &(u32, &str, &str, &str)| {
        format!("{}\n", json!({ "n": n, "kind": kind, "family": family, "text": text }))
    };
    ws.write("raw/dumps/list.jsonl", rows.iter().map(line).collect::<String>());
}

fn run(ws: &Workspace) {
    ws.call(["run", "--recipe", NAME]).expect(0);
    vote(ws, NAME, "fair", "annotator-1", |_| json!({ "clear": "4" }));
    ws.call(["run", "--recipe", NAME]).expect(0);
}

fn workspace() -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    ws.write(&format!("benchmarks/{NAME}/prompts/kind.jinja"), "{# It asks for the kind.\n   output: text #}\n=== user ===\nmoral or practical?\n{{ dilemma | inside(\"dilemma\") }}\n");
    ws.write("pipeline.toml", SETTINGS);
    dump(&ws, FIRST);
    run(&ws);
    ws
}

fn file(version: &str, split: &str) -> String {
    format!("output/{NAME}/{version}/data/{NAME}/{split}.jsonl")
}

/// The split of each row, by its id.
fn splits(ws: &Workspace, version: &str) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    for split in ["train", "test", "shots"] {
        for line in ws.read(&file(version, split)).lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            found.insert(row["id"].as_str().unwrap().to_owned(), split);
        }
    }
    found
}

/// Puts a row into the file of another split.
fn move_row(ws: &Workspace, version: &str, id: &str, from: &str, to: &str) {
    let (from, to) = (file(version, from), file(version, to));
    let quoted = format!("\"{id}\"");
    let text = ws.read(&from);
    let (gone, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains(&quoted));
    assert_eq!(gone.len(), 1, "{id}");
    let lines = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    ws.write(&to, ws.read(&to) + &lines(&gone));
    ws.write(&from, lines(&rest));
}

#[test]
fn a_set_is_divided_and_a_released_row_never_moves() {
    let ws = workspace();
    ws.audit_clean();
    let drawn = splits(&ws, "candidate");
    let of = |drawn: &BTreeMap<String, &str>, split| drawn.values().filter(|is| **is == split).count();
    assert_eq!(["train", "test", "shots"].map(|split| of(&drawn, split)), [5, 5, 2], "{drawn:?}");
    assert_eq!((drawn["d:1"], drawn["d:3"]), (drawn["d:2"], drawn["d:4"]), "what belongs together");

    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    assert_eq!(splits(&ws, "1.0.0"), drawn);
    let release = format!("output/{NAME}/1.0.0");
    ws.call(["verify", &release, "--raw"]).expect(0);
    let read = |name: &str| ws.read(&format!("{release}/{name}"));
    let card = read("README.md");
    for part in
        ["  - split: train\n    path: data/dilemmas/train.jsonl\n", "  - name: shots\n", "num_examples: 2\n"]
    {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(card.contains("A released row never moves") && read("DATASHEET.md").contains("`train` 5"));
    assert!(
        read("croissant.json").contains("\"dilemmas-train\"") && read("croissant.json").contains("cr:Split")
    );
    assert!(read("datapackage.json").contains("data/dilemmas/shots.jsonl"));
    let asked = read("eval/lm_eval/dilemmas_kind.yaml");
    assert!(asked.contains("test_split: test\nfewshot_split: shots\n"), "{asked}");
    assert_eq!(read("eval/items/dilemmas_kind.shots.jsonl").lines().count(), 2);
    assert!(read("eval/opencompass/datasets/dilemmas.py").contains("dilemmas_kind.test.jsonl"));

    // Nothing changed: nothing moves, and no new draw makes a new version.
    ws.call(["run", "--recipe", NAME]).expect(0);
    assert_eq!(splits(&ws, "candidate"), drawn);
    assert!(ws.call(["release", NAME]).expect(2).err.contains("nothing changed"));

    // A near duplicate of a row, one that is also in the family of a row elsewhere, and rows of their own.
    let single = |split: &str| {
        let of_split = |row: &&(u32, &str, &str, &str)| row.0 > 4 && drawn[&format!("d:{}", row.0)] == split;
        *FIRST.iter().find(of_split).unwrap()
    };
    let (train, test) = (single("train"), single("test"));
    let like = |text: &str| text.replacen('?', ", say?", 1);
    let (near, between) = (like(train.3), like(train.3).replace(", say?", ", truly?"));
    let mut all = FIRST.to_vec();
    all.extend([
        (13, "moral", "new", near.as_str()),
        (14, "moral", test.2, between.as_str()),
        (15, "moral", "l", "Wake the night nurse for a stranger's nightmare?"),
        (16, "practical", "m", "Carry the piano up first, or the twins?"),
    ]);
    dump(&ws, &all);
    run(&ws);
    let told = ws.call(["release", NAME, "--date", "2026-02-03"]).expect(0).out;
    assert!(told.contains("1.1.0") && told.contains("near rows of two splits"), "{told}");
    let now = splits(&ws, "1.1.0");
    for (id, split) in &drawn {
        assert_eq!(now[id], *split, "{id} moved");
    }
    assert_eq!((now["d:13"], now.get("d:14")), ("train", None));
    assert!(["d:15", "d:16"].iter().all(|id| ["train", "test"].contains(&now[*id])), "{now:?}");
    assert!(ws.read(&format!("output/{NAME}/1.1.0/README.md")).contains("near rows of two splits"));
    let diff = ws.call(["diff", &release, &format!("output/{NAME}/1.1.0")]).expect(1).out;
    assert!(diff.contains("3 added, 0 removed") && diff.contains("near rows of two splits"), "{diff}");
    let explained = ws.call(["explain", "d:14", "--recipe", NAME]).expect(0).out;
    assert!(explained.contains("near rows of two splits"), "{explained}");
    ws.call(["verify", &format!("output/{NAME}/1.1.0"), "--raw"]).expect(0);
    ws.audit_clean();

    // Releases come back from the registry with their splits.
    let output = ws.derived();
    ws.remove("output");
    ws.call(["run", "--recipe", NAME]).expect(0);
    crate::harness::assert_same(&output, &ws.derived(), "restored");
}

#[test]
fn verify_finds_a_row_that_moved_and_a_pair_that_crosses() {
    let ws = workspace();
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let mut all = FIRST.to_vec();
    all.push((15, "moral", "l", "Wake the night nurse for a stranger's nightmare?"));
    dump(&ws, &all);
    run(&ws);
    ws.call(["release", NAME, "--date", "2026-02-03"]).expect(0);
    let place = format!("output/{NAME}/1.1.0");
    let drawn = splits(&ws, "1.1.0");
    let kept = ws.tree(&place);
    for (id, other, what) in [("d:2", "d:1", "is a near duplicate of"), ("d:4", "d:3", "in the group \"c\"")]
    {
        let from = drawn[id];
        let to = if from == "test" { "train" } else { "test" };
        move_row(&ws, "1.1.0", id, from, to);
        let told = ws.call(["verify", &place]).expect(1).out;
        let moved = format!("{id} was in data/{NAME}/{from}.jsonl of 1.0.0, and a released row never moves");
        let lines = |part: &str| told.lines().any(|line| line.contains(part));
        assert!(lines(&moved), "{moved}: {told}");
        let crosses = |line: &str| line.contains(what) && line.contains(id) && line.contains(other);
        assert!(told.lines().any(crosses), "{what}: {told}");
        move_row(&ws, "1.1.0", id, to, from);
    }
    for (path, bytes) in kept.iter().filter(|(path, _)| !path.ends_with('/')) {
        ws.write(&format!("{place}/{path}"), bytes);
    }
    ws.call(["verify", &place]).expect(0);
}

/// Alike enough to be near only where `dedup.margin` is wide.
const ALIKE: &[(u32, &str, &str, &str)] = &[
    (20, "moral", "q0", "May a baker water the milk in a famine year?"),
    (21, "moral", "q1", "May a farmer sell the seed in a drought year?"),
    (22, "moral", "q2", "May a doctor share the pills in a plague year?"),
    (23, "moral", "q3", "May a miller hide the flour in a hungry year?"),
    (24, "moral", "q4", "May a judge burn the files in a war year?"),
    (25, "moral", "q5", "May a smith melt the bells in a siege year?"),
];

#[test]
fn released_rows_stay_where_they_are_when_other_settings_of_dedup_make_them_near() {
    let ws = workspace();
    let mut all = FIRST.to_vec();
    all.extend(ALIKE);
    dump(&ws, &all);
    run(&ws);
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let drawn = splits(&ws, "1.0.0");
    assert_eq!(drawn.len(), all.len());

    ws.write("pipeline.toml", SETTINGS.replace("margin = 0.17", "margin = 0.44"));
    ws.call(["run", "--recipe", NAME]).expect(0);
    assert_eq!(splits(&ws, "candidate"), drawn, "nothing moves, and nothing is taken back");
    ws.call(["verify", &format!("output/{NAME}/candidate"), "--raw"]).expect(0);
    all.extend([
        (15, "moral", "l", "Wake the night nurse for a stranger's nightmare?"),
        (16, "practical", "m", "Carry the piano up first, or the twins?"),
    ]);
    dump(&ws, &all);
    run(&ws);
    let told = ws.call(["release", NAME, "--date", "2026-02-03"]).expect(0).out;
    let place = format!("output/{NAME}/1.1.0");
    let now = splits(&ws, "1.1.0");
    assert!(drawn.iter().all(|(id, split)| now.get(id) == Some(split)), "{now:?}");
    // The pairs are named, and each is of two splits.
    let manifest: Value = serde_json::from_str(&ws.read(&format!("{place}/MANIFEST.json"))).unwrap();
    let pairs: Vec<[String; 2]> = serde_json::from_value(manifest["crossing"].clone()).unwrap();
    assert!(!pairs.is_empty() && pairs.iter().all(|[one, other]| now[one] != now[other]), "{pairs:?}");
    let [one, other] = &pairs[0];
    assert!(told.contains(&format!("in two splits: {one} and {other} became near")), "{told}");
    for card in ["README.md", "README.zh.md"] {
        assert!(ws.read(&format!("{place}/{card}")).contains(&format!("`{one}` ")), "{card}");
    }
    ws.call(["verify", &place, "--raw"]).expect(0);
    ws.audit_clean();
    // A pair that is not named is found.
    let text = ws.read(&format!("{place}/MANIFEST.json"));
    ws.write(&format!("{place}/MANIFEST.json"), text.replacen("\"crossing\"", "\"crossings\"", 1));
    let found = ws.call(["verify", &place]).expect(1).out;
    let crosses = |line: &str| {
        line.contains("is a near duplicate of")
            && line.contains(one.as_str())
            && line.contains(other.as_str())
    };
    assert!(found.lines().any(crosses), "{found}");
}

#[test]
fn a_divided_set_is_downloaded_as_it_is_found_and_its_cards_name_files_that_are_there() {
    let ws = workspace();
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let server = Server::start(&ws, &[]);
    let rows = format!("/{NAME}/release/1.0.0/rows");
    let lines = fetched(&server, &format!("{rows}/jsonl?sort=id&order=down")).2;
    let lines = String::from_utf8(lines).unwrap();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    let want: Vec<String> = lines.lines().map(id).collect();
    assert_eq!(want.len(), splits(&ws, "1.0.0").len());
    ws.write("part.parquet", fetched(&server, &format!("{rows}/parquet?sort=id&order=down")).2);
    let file = File::open(ws.path("part.parquet")).unwrap();
    let frame = ParquetReader::new(file).finish().unwrap();
    let ids = frame.column("id").unwrap().str().unwrap();
    let found: Vec<&str> = (0..frame.height()).map(|at| ids.get(at).unwrap()).collect();
    assert_eq!(found, want);
    for (card, how) in [("README.md", "Splits: Drawn by the seed"), ("README.zh.md", "划分：按随机种子")]
    {
        let text = ws.read(&format!("output/{NAME}/1.0.0/{card}"));
        assert!(text.contains(how), "{card}");
        let named = text.split(['`', '"', ' ', '\n']).filter(|word| word.starts_with("data/"));
        for path in named.filter(|path| path.contains('.')) {
            assert!(ws.exists(&format!("output/{NAME}/1.0.0/{path}")), "{card} names {path}");
        }
    }
}

#[test]
fn one_split_is_evaluated() {
    let ws = workspace();
    ws.call(["release", NAME, "--date", "2026-01-02"]).expect(0);
    let evaluate = |split: &str| {
        let set = format!("{NAME}@1.0.0");
        ws.call(["evaluate", &set, "--split", split, "--model", "random", "--json"])
    };
    let told = evaluate("test").expect(0).out;
    assert!(told.contains("1.0.0+test"), "{told}");
    assert!(ws.path(&format!("output/{NAME}/evaluation/1.0.0+test")).is_dir());
    let answers = ws.tree(&format!("output/{NAME}/evaluation/1.0.0+test"));
    let drawn = splits(&ws, "1.0.0");
    let all: String = answers.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    for (id, split) in &drawn {
        assert_eq!(all.contains(&format!("\"{id}\"")), *split == "test", "{id} of {split}");
    }
    let wrong = evaluate("tset").expect(2).err;
    assert!(wrong.contains("unknown split") && wrong.contains("did you mean \\\"test\\\""), "{wrong}");
}

#[test]
fn mistakes_in_the_splits_are_told_at_once_with_their_lines() {
    let ws = workspace();
    let path = format!("benchmarks/{NAME}/benchmark.toml");
    let told = |change: &[(&str, &str)]| {
        let text = change.iter().fold(BENCHMARK.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
        ws.write(&path, text);
        ws.call(["status"]).expect(2).err
    };
    let several = told(&[
        ("test = 0.5", "Test = 0.7"),
        ("stratify = \"kind\"", "stratify = \"kinds\""),
        ("{ shots = 2 }", "{ train = 2 }"),
    ]);
    for part in [
        "sum to 1.2, and at most to 1",
        "\"Test\" is no name of a split",
        "unknown column \"kinds\"",
        "did you mean \"kind\"",
        "\"train\" is declared twice",
        &format!("{NAME}/benchmark.toml:"),
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let unknown = told(&[("seed = 3", "seeds = 3")]);
    assert!(unknown.contains("did you mean \"seed\""), "{unknown}");
    // A column `split` means the split where `column` says so, and never another one.
    let column = "family = [";
    let split = "split = [\"'train' if table.family in ['a', 'b', 'c', 'd', 'e'] else 'test'\", \"train | test\", \"Its split.\"]\nfamily = [";
    let both = told(&[(column, split)]);
    assert!(both.contains("the column `split`") && both.contains("column = \"split\""), "{both}");
    let said = BENCHMARK.replacen(column, split, 1);
    let (before, after) = said.split_once("shares = ").unwrap();
    let (_, rest) = after.split_once("seed = 3\n").unwrap();
    ws.write(&path, format!("{before}column = \"split\"\n{rest}"));
    ws.call(["run", "--recipe", NAME]).expect(0);
    for (split, n) in [("train", 6), ("test", 6)] {
        let rows = ws.read(&file("candidate", split));
        assert_eq!(rows.lines().count(), n, "{split}");
        assert!(rows.lines().all(|line| line.contains(&format!("\"split\":\"{split}\""))), "{rows}");
    }
}
