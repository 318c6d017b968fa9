//! The folders that the program is built with, in both editions; and what is told of mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use super::lower::{is_first, read_folder};
use super::tree::{FILES, parse_table};
use super::*;
use crate::reader::leak_text;

pub(super) type Owned = Vec<(&'static str, &'static str)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a folder, by their paths in it.
fn files(folder: &Path) -> Owned {
    let mut found = Vec::new();
    for file in FILES {
        if let Ok(text) = fs::read_to_string(folder.join(file)) {
            found.push((file, leak_text(&text)));
        }
    }
    let prompts = fs::read_dir(folder.join("prompts")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        prompts.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names {
        let path = leak_text(&format!("prompts/{name}"));
        found.push((path, leak_text(&fs::read_to_string(folder.join(path)).unwrap())));
    }
    found
}

/// Each folder as it was in the first edition, and as it is.
pub(super) fn folders() -> Vec<(String, PathBuf, PathBuf)> {
    let first = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/first-edition");
    let mut names: Vec<String> = fs::read_dir(&first)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    // The examples are kept in both editions: their folders are what the chapter on benchmarks of one's own makes.
    let second = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/second-edition");
    let now = |name: &str| {
        let built_in = root().join("src/benchmarks").join(name);
        if built_in.is_dir() { built_in } else { second.join(name) }
    };
    names.into_iter().map(|name| (name.clone(), first.join(&name), now(&name))).collect()
}

/// A folder's files with its prompts, which both editions share.
pub(super) fn with_prompts(name: &str, folder: &Path) -> Owned {
    let example = root().join("examples").join(name).join("benchmarks").join(name);
    let built_in = root().join("src/benchmarks").join(name);
    let mut all: Owned = files(folder).into_iter().filter(|(path, _)| path.ends_with(".toml")).collect();
    let prompts = files(if built_in.is_dir() { &built_in } else { &example });
    all.extend(prompts.into_iter().filter(|(path, _)| path.starts_with("prompts/")));
    all
}

/// Values of a file, without its places.
fn values(text: &str) -> super::tree::Table {
    parse_table(0, "", text).unwrap()
}

/// The keys of the replies of each step, in order.
fn reply_keys(benchmark: &super::tree::Table) -> Vec<Vec<String>> {
    let steps = benchmark.table("step").into_iter().flat_map(|steps| steps.iter());
    let replies = steps.filter_map(|(_, step)| step.as_table()?.table("reply")?.table("json"));
    let mut keys: Vec<Vec<String>> = replies.map(|json| json.keys().map(str::to_owned).collect()).collect();
    keys.sort();
    keys
}

#[test]
fn every_folder_is_lowered_to_what_it_was() {
    let all = folders();
    assert_eq!(all.len(), 9, "the five, and four examples");
    for (name, before, now) in all {
        let first = with_prompts(&name, &before);
        assert!(is_first(&first), "{name}");
        let second = with_prompts(&name, &now);
        assert!(!is_first(&second), "{name}");
        let (low, problems) = read_folder(&name, &second);
        assert!(problems.is_empty(), "{name}: {problems:?}");
        let text =
            |files: &Owned, file: &str| files.iter().find(|(path, _)| *path == file).map_or("", |(_, t)| *t);
        // `[every] voters` stands in each ballot: two of the examples had it.
        for file in FILES.into_iter().take(3) {
            let (had, has) = (values(text(&first, file)), values(text(&low, file)));
            if file == "ballots.toml" && had.table("every").is_some_and(|every| every.has_key("voters")) {
                continue;
            }
            for (key, node) in had.iter() {
                if let (Some(had), Some(has)) = (node.as_table(), has.table(key)) {
                    for (below, node) in had.iter() {
                        assert_eq!(has.get(below), Some(node), "{name}/{file} {key}.{below}");
                    }
                }
                assert_eq!(has.get(key), Some(node), "{name}/{file} {key}");
            }
            assert_eq!(had, has, "{name}/{file}");
            assert_eq!(
                reply_keys(&had),
                reply_keys(&has),
                "{name}/{file}: the order in which a model is asked"
            );
        }
    }
}

#[test]
fn every_folder_of_the_first_edition_is_converted_and_nothing_is_lost() {
    for (name, before, now) in folders() {
        let converted = convert_folder(&name, &with_prompts(&name, &before)).unwrap();
        assert_eq!(converted.lost, Vec::<String>::new(), "{name}");
        let made: Owned =
            converted.files.iter().map(|(file, text)| (leak_text(file), leak_text(text))).collect();
        assert!(!is_first(&made), "{name}");
        let again = convert_folder(&name, &made).unwrap_err().to_string();
        assert!(again.contains("second edition"), "{again}");
        let mut whole = made.clone();
        whole.extend(
            with_prompts(&name, &before).into_iter().filter(|(path, _)| path.starts_with("prompts/")),
        );
        let (_, problems) = read_folder(&name, &whole);
        assert!(problems.is_empty(), "{name}: {problems:?}");
        // The folder in the program says the same as the one that the converter writes.
        for (file, text) in &made {
            let own = fs::read_to_string(now.join(file)).unwrap_or_default();
            assert_eq!(values(text), values(&own), "{name}/{file}");
        }
    }
}

#[test]
fn the_five_are_short() {
    let mut all = 0;
    for name in ["flub", "chumor", "ruozhibench-gen", "ruozhibench-mc", "brainteaser"] {
        let lines = files(&root().join("src/benchmarks").join(name));
        let count = |(file, text): &(&str, &str)| {
            let counted = file.ends_with(".toml") && !file.ends_with(".zh.toml");
            let said = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
            if counted { text.lines().filter(said).count() } else { 0 }
        };
        let count: usize = lines.iter().map(count).sum();
        assert!(name != "flub" || count <= 270, "flub has {count} lines");
        all += count;
    }
    assert!(all <= 1400, "the five have {all} lines");
}

/// A small folder of the second edition.
const SMALL: [(&str, &str); 4] = [
    (
        "benchmark.toml",
        r#"about = "jokes"
steps = ["import", "review:kind"]
[data]
about = "A joke."
counted = ["kind"]
checks = [["kind", "kind: none"]]
[data.columns]
id = ["id", "The id."]
kind = ["kind.kind", "pun | other", "Its kind."]
source_id = true
standing = true
[task.name]
with = { joke = "id" }
classify = { list = "kinds", gold = "kind" }
"#,
    ),
    (
        "ballots.toml",
        r#"[list.kinds]
pun = "Two meanings."
other = ["none of these", "Another."]
[ballot.kind]
title = "Which kind?"
guideline = "Say which."
voters = ["annotator"]
votes = 3
shows = [{ joke = ["Joke", "text"] }]
fields.kind = { label = "Kind", choice = "kinds" }
"#,
    ),
    (
        "ballots.zh.toml",
        "[list.kinds]\npun = [\"双关\", \"两层意思。\"]\n[ballot.kind]\ntitle = \"哪一种？\"\nshows = { joke = \"笑话\" }\nfields.kind = \"类型\"\n",
    ),
    ("prompts/name.jinja", "{{ joke }}"),
];

fn told(change: impl Fn(&str) -> String) -> String {
    let files: Owned = SMALL.into_iter().map(|(path, text)| (path, leak_text(&change(text)))).collect();
    match crate::benchmark::load_benchmarks(&[("jokes", files)], true) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn a_small_folder_is_read() {
    let problems = told(str::to_owned);
    assert!(!problems.contains("unknown key"), "{problems}");
    let files: Owned = SMALL.to_vec();
    let (low, problems) = read_folder("jokes", &files);
    assert!(problems.is_empty(), "{problems:?}");
    let ballots = values(low.iter().find(|(path, _)| *path == "ballots.toml").unwrap().1);
    let kind = ballots.table("ballot").unwrap().table("kind").unwrap();
    let field = kind.list("fields").unwrap()[0].as_table().unwrap();
    assert_eq!(field.get("label").unwrap().chinese_text(), Some("类型"));
    let kinds = ballots.table("list").unwrap().list("kinds").unwrap();
    assert_eq!(kinds[0].as_table().unwrap().get("label").unwrap().chinese_text(), Some("双关"));
}

#[test]
fn an_unknown_key_is_told_with_its_place_and_the_valid_ones() {
    let problems = told(|text| text.replace("guideline =", "guidline ="));
    assert!(
        problems.contains(
            "jokes/ballots.toml:6:1: unknown key \"guidline\"\n  hint: did you mean \"guideline\"?"
        ),
        "{problems}"
    );
    let problems = told(|text| text.replace("voters =", "colour ="));
    assert!(
        problems.contains("unknown key \"colour\"\n  hint: valid here: adjudicate, after, before,"),
        "{problems}"
    );
    let problems = told(|text| text.replace("counted =", "labels ="));
    assert!(
        problems.contains(
            "jokes/benchmark.toml:5:1: unknown key \"labels\"\n  hint: it is called \"counted\" in the second edition"
        ),
        "{problems}"
    );
}

#[test]
fn what_is_wrong_with_a_value_is_told_at_its_line() {
    let problems = told(|text| text.replace("\"pun | other\"", "\"txt\""));
    assert!(problems.contains("jokes/benchmark.toml:9:"), "{problems}");
    let problems = told(|text| text.replace("choice = \"kinds\"", "choice = \"kind\""));
    assert!(
        problems.contains("jokes/ballots.toml:10:") && problems.contains("did you mean \"kinds\"?"),
        "{problems}"
    );
    let problems = told(|text| text.replace("title = \"哪一种？\"", "titel = \"哪一种？\""));
    assert!(problems.contains("jokes/ballots.zh.toml:4:1:"), "{problems}");
    let problems = told(|text| text.replace("title = \"Which kind?\"", "title = \"Which kind?"));
    assert!(problems.contains("jokes/ballots.toml:5:"), "{problems}");
}

/// What is of models' answers is known by its tasks or columns, wherever it stands; everything else is of records.
#[test]
fn either_file_takes_figures_of_records_and_tables_of_answers() {
    let (name, _, now) = folders().into_iter().find(|(name, ..)| name == "joke-kinds").unwrap();
    let read = |in_benchmark: &str, in_report: &str| {
        let mut all = with_prompts(&name, &now);
        for (file, text) in &mut all {
            let more = match *file {
                "benchmark.toml" => in_benchmark,
                "report.toml" => in_report,
                _ => continue,
            };
            *text = leak_text(&format!("{text}\n{more}"));
        }
        crate::benchmark::load_benchmarks(&[("joke-kinds", all)], true)
    };
    let votes = "[table.marks]\nlayout = \"votes\"\ntitle = \"Marks\"\nabout = \"By anybody.\"\npaper = \"table 1\"\nchart = false\n\
                 of = \"kinds.tally.kinds\"\nlist = \"kinds\"\n";
    let named = "[figure.named]\ntitle = \"Kinds that models name\"\nabout = \"Macro F1.\"\n\
                 columns = { \"F1\" = { f1 = \"kinds\" }, \"Format\" = { format = \"kinds\" } }\n";
    let found = read(votes, named).unwrap().remove(0);
    let [table] = &found.evaluation[..] else { panic!("{:?}", found.evaluation) };
    assert_eq!((table.name, table.heading, table.about), ("named", "Kinds that models name", "Macro F1."));
    assert!(table.of_answers().is_some() && table.drawn.len() == 1);
    let figures = &found.report.figures;
    let marks = figures.iter().find(|figure| figure.name == "marks").unwrap();
    assert_eq!((marks.about, marks.paper, marks.drawn.len()), ("By anybody.", "table 1", 0));
    assert!(figures.iter().all(|figure| figure.of_answers().is_none()));
    let kinds = figures.iter().find(|figure| figure.name == "kinds").unwrap();
    assert_eq!((kinds.about, kinds.drawn.len()), ("", 1));
    let twice = read(&votes.replace("marks", "kinds"), "").unwrap_err().to_string();
    assert!(twice.contains("two figures are named \"kinds\""), "{twice}");
    let lines = votes.replace("chart = false", "drawn = [{ as = \"lines\" }]");
    let drawn = read(&lines, "").unwrap_err().to_string();
    assert!(drawn.contains("a figure of records is drawn once, as `bars` or `stacked`"), "{drawn}");
}
