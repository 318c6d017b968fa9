//! Folders of the first edition are read as before and converted; what comes out says the same of votes, rows and files.

use std::path::Path;

use crate::harness::Workspace;
use crate::own::{TWISTERS, example};
use crate::own_columns::{LINES, vote_on_lines};

/// An example with its folder in the first edition.
fn of_first_edition(name: &str) -> Workspace {
    let ws = example(name);
    let folder = ws.path(&format!("benchmarks/{name}"));
    let files = |folder: &Path| {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect::<Vec<_>>()
    };
    files(&folder).iter().for_each(|file| std::fs::remove_file(file).unwrap());
    let first =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/benchmarks/tests/first-edition").join(name);
    for file in files(&first) {
        std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
    }
    ws
}

/// The example in the first edition, without its sample's votes.
fn lines() -> Workspace {
    let ws = of_first_edition(LINES);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    ws
}

/// Puts a converted folder in the place of the one that it was made from.
fn replace(ws: &Workspace, name: &str) {
    let (folder, new) = (ws.path(&format!("benchmarks/{name}")), ws.path(&format!("{name}-2")));
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::rename(new, folder).unwrap();
}

#[test]
fn a_folder_is_converted_and_its_votes_and_rows_stay() {
    let ws = lines();
    vote_on_lines(&ws);
    let rows = ws.candidates(LINES);
    let compat = ws.read("output/loan-lines/candidate/compat/loan_lines.jsonl");

    let told = ws.call(["benchmark", "check", LINES]).expect(0).err;
    let command = "riddlemill benchmark convert benchmarks/loan-lines --out loan-lines-2";
    assert!(told.contains("is of the first edition") && told.contains(command), "{told}");
    for verb in [&["status"][..], &["run"], &["run", "--dry-run"], &["benchmark", "list"]] {
        let told = ws.call(verb).expect(0).err;
        assert_eq!(told.matches(command).count(), 1, "{verb:?}: {told}");
    }
    let result =
        ws.call(["benchmark", "convert", "benchmarks/loan-lines", "--out", "loan-lines-2"]).expect(0).out;
    assert!(result.contains("It says the same"), "{result}");
    assert!(!ws.read("loan-lines-2/ballots.toml").contains("[["), "one dialect");
    assert!(ws.exists("loan-lines-2/prompts/errors.jinja"));

    // A folder that is there is not written over, and one of the second edition is left alone.
    let again =
        ws.call(["benchmark", "convert", "benchmarks/loan-lines", "--out", "loan-lines-2"]).expect(2).err;
    assert!(again.contains("is not empty"), "{again}");
    let again = ws.call(["benchmark", "convert", "loan-lines-2", "--out", "loan-lines-3"]).expect(2).err;
    assert!(again.contains("second edition") && !ws.exists("loan-lines-3"), "{again}");

    replace(&ws, LINES);
    assert_eq!(ws.call(["benchmark", "check", LINES]).expect(0).err, "");
    assert!(!ws.call(["status"]).expect(0).err.contains("edition"));
    ws.run().expect(0);
    assert_eq!(ws.candidates(LINES), rows);
    assert_eq!(ws.read("output/loan-lines/candidate/compat/loan_lines.jsonl"), compat);
    ws.audit_clean();
}

#[test]
fn a_release_is_made_and_verified_with_a_folder_of_the_second_edition() {
    let ws = of_first_edition(TWISTERS);
    ws.run().expect(0);
    let rows = ws.candidates(TWISTERS);
    let folder = format!("benchmarks/{TWISTERS}");
    ws.call(["benchmark", "convert", &folder, "--out", "brain-twisters-2"]).expect(0);
    replace(&ws, TWISTERS);
    ws.run().expect(0);
    assert_eq!(ws.candidates(TWISTERS), rows);
    ws.call(["release", TWISTERS, "--draft", "--date", "2026-01-02"]).expect(0);
    let version = "output/brain-twisters/1.0.0-draft.1";
    let sums = ws.read(&format!("{version}/SHA256SUMS"));
    // The release has the folder it was made with, in both languages.
    for file in ["benchmark.toml", "ballots.toml", "ballots.zh.toml"] {
        assert!(sums.contains(&format!(" benchmarks/brain-twisters/{file}\n")), "{sums}");
    }
    ws.call(["verify", version]).expect(0);
}

#[test]
fn a_mistake_is_told_with_the_line_where_it_was_written() {
    let ws = lines();
    ws.call(["benchmark", "convert", "benchmarks/loan-lines", "--out", "loan-lines-2"]).expect(0);
    replace(&ws, LINES);
    let told = |file: &str, from: &str, to: &str| {
        let path = format!("benchmarks/loan-lines/{file}");
        let text = ws.read(&path);
        assert!(text.contains(from), "{file} has no {from}");
        ws.write(&path, text.replacen(from, to, 1));
        let line = text[..text.find(from).unwrap()].lines().count();
        let result = ws.call(["status"]).expect(2).err;
        ws.write(&path, text);
        (format!("loan-lines/{file}:{}:", line.max(1)), format!("loan-lines/{file}:{}:", line + 1), result)
    };
    for (file, from, to, part) in [
        ("ballots.toml", "guideline =", "guidline =", "did you mean \"guideline\"?"),
        ("benchmark.toml", "counted =", "labels =", "it is called \"counted\" in the second edition"),
        ("benchmark.toml", "\"table.system\"", "\"table.sistem\"", "\"system\""),
        ("ballots.toml", "choice = \"kinds\"", "choice = \"kins\"", "did you mean \"kinds\"?"),
    ] {
        let (at, or, result) = told(file, from, to);
        assert!(result.contains(part), "{to}: {result}");
        assert!(result.contains(&at) || result.contains(&or), "{to}: {at} {result}");
    }
}
