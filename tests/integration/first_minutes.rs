//! What a newcomer sees in the first ten minutes: a run on one screen, help by purpose, and a file of their own
//! that becomes a source.

use std::fs;
use std::path::Path;

use crate::harness::{CallResult, Workspace};

const POSTS: &str = "编号,标题,楼主\n1,为什么鱼不会口渴？,甲\n2,云会恐高吗？,乙\n3,雨伞会不会淋湿？,丙\n";

/// A call whose output has this many columns.
fn narrow(ws: &Workspace, args: &[&str], columns: &str) -> CallResult {
    CallResult::from(ws.command(args).env("COLUMNS", columns)).expect(0)
}

#[test]
fn a_run_of_the_sample_is_one_screen_and_leads_a_newcomer_on() {
    let ws = Workspace::sample();
    let result = ws.call(["run"]).expect(0).err;
    let lines: Vec<&str> = result.lines().collect();
    assert!(lines.len() <= 60, "{} lines\n{result}", lines.len());
    let heading = |line: &&&str| line.ends_with("changed or left out");
    let ends: Vec<usize> =
        lines.iter().filter(heading).filter_map(|line| line.find(" out  changed")).collect();
    assert!(ends.len() >= 5 && ends.iter().all(|end| *end == ends[0]), "aligned: {result}");
    assert!(result.contains("as in ruozhibench-gen"), "shared stages are not told twice: {result}");
    assert!(!result.contains(" 0 records in, 0 out"), "{result}");
    // What waits comes once, behind all tables.
    let (tables, waits) = result.split_once("what waits or failed:\n").unwrap();
    assert!(tables.contains("brainteaser: ") && waits.contains("ruozhibench-gen, flub, chumor anonymise: "));
    // Puzzles that wait for an answer wait for votes like all others.
    let of_votes =
        "brainteaser review:text: 3 wait for votes: riddlemill review assign text --recipe brainteaser";
    assert!(waits.contains(of_votes), "{waits}");
    let next = lines.last().unwrap();
    assert!(
        next.starts_with("next: riddlemill serve") && next.contains("riddlemill explain tieba:"),
        "{next}"
    );
    let post = next.split("riddlemill explain ").nth(1).unwrap().split_whitespace().next().unwrap();
    ws.call(["explain", post]).expect(0);
    // The same table again.
    let status = ws.call(["status"]).expect(0).out;
    let row = |text: &str| text.lines().find(|line| line.starts_with("  filter ")).unwrap().to_owned();
    assert_eq!(row(&status), row(tables));
    assert!(status.lines().last().unwrap().starts_with("next: riddlemill serve"));
}

#[test]
fn every_stage_has_a_row_where_that_is_asked_for() {
    let ws = Workspace::sample();
    ws.run();
    let all = ws.call(["status", "--verbose", "--recipe", "flub"]).expect(0).out;
    for stage in ["import", "type", "review:type", "options"] {
        assert!(all.lines().any(|line| line.starts_with(&format!("  {stage} "))), "{stage}: {all}");
    }
}

#[test]
fn a_narrow_terminal_has_no_columns_of_three_words() {
    let ws = Workspace::sample();
    ws.run();
    for args in [&["report", "--recipe", "brainteaser"][..], &["status"], &["explain", "tieba:9900002233"]] {
        let result = narrow(&ws, args, "80").out;
        for line in result.lines() {
            let columns: usize = line.chars().map(|c| if c > '\u{2e80}' { 2 } else { 1 }).sum();
            assert!(columns <= 80, "{args:?}: {line:?}");
        }
    }
    let told = ws.call(["explain", "tieba:9900002233"]).expect(0).out;
    let long_run =
        |line: &&str| line.split(|c: char| !c.is_ascii_hexdigit()).any(|digits| digits.len() >= 32);
    assert_eq!(told.lines().find(long_run), None, "no hash in full: {told}");
    assert!(!told.contains("because  cut_title"), "a rule is told by its sentence: {told}");
}

#[test]
fn help_names_verbs_by_their_purpose() {
    let help = Workspace::folder().call(["--help"]).expect(0).out;
    for purpose in ["Begin:", "Ask models:", "Let people decide:", "Options of every verb:", "Exit codes:"] {
        assert!(help.contains(&format!("\n{purpose}\n")), "{purpose} {help}");
    }
    assert!(help.find("  run  ").unwrap() < help.find("  evaluate  ").unwrap());
}

#[test]
fn problems_of_a_list_begin_alike() {
    let ws = Workspace::with("[dedup]\nmetrik = \"indel\"\n[filtr]\nmin_chars = 1\n");
    let result = ws.call(["status"]).expect(2).err;
    let problems = result.lines().filter(|line| !line.starts_with("  "));
    assert!(
        problems.clone().count() >= 2 && problems.clone().all(|line| line.starts_with("error: ")),
        "{result}"
    );
    let json = ws.call(["status", "--json"]).expect(2).err;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(!json["error"].as_str().unwrap().contains("error: "), "{json}");
}

#[test]
fn a_strangers_file_is_three_commands_from_an_audited_result() {
    let ws = Workspace::folder();
    ws.write("posts.csv", POSTS);
    let shown = ws.call(["init", "mill", "posts.csv"]).expect(0);
    for part in
        ["kind = \"table\"", "title = \"标题\"", "id = \"编号\"", "language = \"zh\"", "为什么鱼不会口渴？"]
    {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert!(!ws.exists("mill"), "a proposal writes nothing");
    assert!(shown.err.contains("next: riddlemill init mill posts.csv --write"), "{}", shown.err);
    let written = ws.call(["init", "mill", "posts.csv", "--write"]).expect(0);
    assert!(written.err.contains("next: riddlemill -C mill run"), "{}", written.err);
    assert_eq!(ws.read("mill/raw/dumps/posts.csv"), POSTS);
    let run = ws.call(["-C", "mill", "run", "--recipe", "flub", "--to", "dedup"]).expect(0);
    assert!(!run.err.contains("warning"), "{}", run.err);
    ws.call(["-C", "mill", "audit"]).expect(0);
    // Once more: the file that is there stays as it is, and so do the settings.
    let settings = ws.read("mill/pipeline.toml");
    let again = ws.call(["init", "mill", "posts.csv", "--write"]).expect(2).err;
    assert!(again.contains("it was not changed"), "{again}");
    assert_eq!(ws.read("mill/pipeline.toml"), settings);
}

#[test]
fn what_cannot_be_a_source_is_named_and_the_others_are_proposed() {
    let ws = Workspace::folder();
    ws.write("posts.csv", POSTS);
    ws.write("posts.db", "SQLite format 3\0");
    let result = ws.call(["init", "mill", "posts.db", "posts.csv"]).expect(3).out;
    assert!(result.contains("posts.db: no source: ") && result.contains("sqlite3"), "{result}");
    assert!(result.contains("name = \"posts\""), "{result}");
    let missing = ws.call(["init", "mill", "post.csv"]).expect(2).err;
    assert!(missing.contains("there is no such file") && !ws.exists("post.csv"), "{missing}");
}

#[test]
fn pages_become_a_source_with_the_profile_that_reads_them() {
    let ws = Workspace::folder();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sites/discuz/thread.html");
    ws.write("saved.html", fs::read(page).unwrap());
    let written = ws.call(["init", "mill", "saved.html", "--write"]).expect(0);
    for part in ["kind = \"profile\"", "profile = \"discuz\""] {
        assert!(written.out.contains(part), "{part}: {}", written.out);
    }
    ws.call(["-C", "mill", "run", "--recipe", "flub", "--to", "import"]).expect(0);
    ws.call(["-C", "mill", "explain", "forum.example:3001"]).expect(0);
    ws.write("page.html", "<!DOCTYPE html><title>x</title><p>Why do fish never get thirsty?</p>");
    let unread = ws.call(["init", "mill", "page.html"]).expect(3).out;
    assert!(
        unread.contains("no source: ") && unread.contains("riddlemill profiles copy articles"),
        "{unread}"
    );
    // A profile of one's own is asked, too.
    ws.write("mill/profiles/mine.toml", "item = \"body\"\nbody = \"p\"\n");
    let read = ws.call(["init", "mill", "page.html"]).expect(0).out;
    assert!(read.contains("profile = \"mine\""), "{read}");
}

#[test]
fn two_files_of_one_name_are_two_sources() {
    let ws = Workspace::folder();
    ws.write("a/posts.csv", POSTS);
    ws.write("b/posts.csv", POSTS.replace("鱼", "鸟").replace("\n1,", "\n4,"));
    ws.call(["init", "mill", "a/posts.csv", "b/posts.csv", "--write"]).expect(0);
    let settings = ws.read("mill/pipeline.toml");
    for part in [
        "name = \"posts\"",
        "path = \"raw/dumps/posts.csv\"",
        "name = \"posts-2\"",
        "path = \"raw/dumps/posts-2.csv\"",
    ] {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    assert!(ws.read("mill/raw/dumps/posts.csv").contains("鱼"));
    assert!(ws.read("mill/raw/dumps/posts-2.csv").contains("鸟"));
    // What a source reads already is no second source.
    let again = ws.call(["init", "mill", "mill/raw/dumps/posts-2.csv", "--write"]).expect(3).out;
    assert!(again.contains("[[source]] posts-2 reads it already"), "{again}");
    assert_eq!(ws.read("mill/pipeline.toml"), settings);
    let twice = ws.call(["init", "other", "a/posts.csv", "a/../a/posts.csv"]).expect(2).err;
    assert!(twice.contains("is given twice"), "{twice}");
}

#[test]
fn an_empty_workspace_is_told_what_to_write() {
    let ws = Workspace::folder();
    let result = ws.call(["init", "--empty"]).expect(0).err;
    assert!(result.contains("hint: `riddlemill init . FILE…`") && result.contains("[[source]]"), "{result}");
}

#[test]
fn an_address_with_a_path_is_refused_at_the_start() {
    let ws = Workspace::sample();
    for (address, says) in [
        ("https://mill.example.org/label", "a path"),
        ("https://mill.example.org/?a=b", "a query"),
        ("https://me:s3cret@mill.example.org", "a name or a password"),
        ("ftp://mill.example.org", "another scheme"),
    ] {
        let result = ws.call(["serve", "--port", "0", "--public", address]).expect(2).err;
        assert!(result.contains(says) && result.contains("hint: "), "{address}: {result}");
        assert!(!result.contains("s3cret"), "a password is not repeated: {result}");
    }
}

#[test]
fn settings_in_another_encoding_are_named() {
    let ws = Workspace::with("");
    let wide = |big: bool, mark: bool| -> Vec<u8> {
        let text = if mark { "\u{feff}[dedup]\n" } else { "[dedup]\n" };
        text.encode_utf16().flat_map(|c| if big { c.to_be_bytes() } else { c.to_le_bytes() }).collect()
    };
    for bytes in [wide(false, true), wide(true, true), wide(false, false)] {
        ws.write("pipeline.toml", bytes);
        let result = ws.call(["status"]).expect(2).err;
        assert!(result.contains("UTF-16") && result.contains("hint: save it as UTF-8"), "{result}");
    }
    let quarters = |big: bool, mark: bool| -> Vec<u8> {
        let text = if mark { "\u{feff}[dedup]\n" } else { "[dedup]\n" };
        text.chars()
            .flat_map(|c| if big { (c as u32).to_be_bytes() } else { (c as u32).to_le_bytes() })
            .collect()
    };
    for bytes in [quarters(false, true), quarters(true, true), quarters(false, false), quarters(true, false)]
    {
        ws.write("pipeline.toml", bytes);
        let result = ws.call(["status"]).expect(2).err;
        assert!(result.contains("UTF-32") && result.contains("hint: save it as UTF-8"), "{result}");
    }
    ws.write("pipeline.toml", b"# \xd4\xc6\n");
    let result = ws.call(["status"]).expect(2).err;
    assert!(result.contains("not UTF-8 at byte 2") && result.contains("hint: save it as UTF-8"), "{result}");
}

#[test]
fn the_reference_has_a_page_a_verb() {
    let ws = Workspace::folder();
    ws.call(["man", "--reference", "reference"]).expect(0);
    let list = ws.read("reference/commands.md");
    assert!(list.contains("[`run`](commands/run.md)") && list.lines().count() < 120, "{list}");
    assert!(ws.read("reference/commands/run.md").starts_with("# riddlemill run\n"));
    assert!(ws.read("reference/commands/review.md").contains("## riddlemill review export"));
}
