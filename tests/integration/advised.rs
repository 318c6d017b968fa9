//! What messages advise is done as they say, in the folder where they were read, and mends the cause.

use std::fs;
use std::io::Write;

use serde_json::Value;

use crate::harness::{CallResult, Workspace, source};

const POSTS: &str = "编号,标题\n1,为什么鱼不会口渴？\n2,云会恐高吗？\n3,雨伞会不会淋湿？\n";

/// Does what a command line of a message says, in the folder of this workspace.
fn follow(ws: &Workspace, command: &str) -> CallResult {
    ws.shell(&format!("riddlemill() {{ \"$0\" \"$@\"; }}; {command}"))
}

/// The commands between backticks of a message.
fn commands(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// The command of the line `next:`.
fn next(message: &str) -> &str {
    let next =
        message.lines().find_map(|line| line.strip_prefix("next: ")).unwrap_or_else(|| panic!("{message}"));
    next.split("  (").next().unwrap().split(" && ").next().unwrap()
}

/// A table with these fields.
fn table(name: &str, path: &str, fields: &str) -> String {
    format!("{}fields = {{ {fields} }}\n", source(name, "table", path))
}

/// What keeps records of import back.
fn causes(ws: &Workspace) -> Vec<Value> {
    let status = ws.call(["status", "--recipe", "flub", "--json"]).expect(0).out;
    let rows: Vec<Value> = serde_json::from_str(&status).unwrap();
    let causes =
        rows.iter().filter(|row| row["stage"] == "import").filter_map(|row| row["causes"].as_array());
    causes.flatten().cloned().collect()
}

fn import(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--to", "import"])
}

#[test]
fn a_dump_that_is_a_link_is_read_and_explained() {
    let ws = Workspace::with(&table("own", "raw/dumps/posts.csv", "id = \"编号\", title = \"标题\""));
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("posts.csv"), POSTS).unwrap();
    fs::create_dir_all(ws.path("raw/dumps")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("posts.csv"), ws.path("raw/dumps/posts.csv")).unwrap();
    import(&ws).expect(0);
    for post in ["为什么鱼", "云会恐高"] {
        ws.call(["explain", post]).expect(0);
    }
}

#[test]
fn an_empty_workspace_is_filled_by_what_run_advises() {
    let ws = Workspace::folder();
    ws.write("posts.csv", POSTS);
    ws.call(["init", "--empty"]).expect(0);
    let refused = ws.call(["run"]).expect(2).err;
    let advised = commands(&refused)[0].replace("FILE…", "posts.csv --write");
    assert!(advised.starts_with("riddlemill init . "), "{refused}");
    let written = follow(&ws, &advised).expect(0).err;
    follow(&ws, &next(&written).replace("run", "run --to dedup")).expect(0);
    let again = ws.call(["init"]).expect(2).err;
    assert!(again.contains("riddlemill init . FILE…"), "{again}");
}

#[test]
fn commands_name_the_workspace_and_the_recipe_that_were_given() {
    let ws = Workspace::folder();
    ws.write("posts.csv", POSTS);
    let shown = ws.call(["init", "it's my mill", "posts.csv"]).expect(0).err;
    let written = follow(&ws, next(&shown)).expect(0).err;
    assert!(next(&written).contains("-C 'it'\\''s my mill' run"), "{written}");
    let at = ["-C", "it's my mill"];
    let status = ws.call([&at[..], &["status", "--recipe", "flub"]].concat()).expect(0).out;
    let command = next(&status);
    assert_eq!(command, r"riddlemill -C 'it'\''s my mill' run --recipe flub");
    follow(&ws, &format!("{command} --offline")).expect(0);
    let json = ws.call([&at[..], &["status", "--json", "--recipe", "flub"]].concat()).expect(0).out;
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let told = rows.iter().find_map(|row| row["next"]["command"].as_str()).unwrap();
    assert!(told.contains("riddlemill -C 'it'\\''s my mill' "), "{told}");
    let refused = ws.call([&at[..], &["show", "screening"]].concat()).expect(2).err;
    for command in commands(&refused).iter().filter(|command| command.starts_with("riddlemill ")) {
        assert!(command.starts_with("riddlemill -C 'it'\\''s my mill' "), "{refused}");
    }
}

#[test]
fn a_setting_that_is_proposed_is_toml() {
    let rows = "{\"\u{200b}标题\": \"云会恐高吗？\"}\n{\"\u{200b}标题\": \"为什么鱼不会口渴？\"}\n";
    let ws = Workspace::with(&table("own", "raw/dumps/posts.jsonl", "title = \"标题\""));
    ws.write("raw/dumps/posts.jsonl", rows);
    let failed = import(&ws).expect(3).err;
    assert!(!failed.contains("u{200b}"), "{failed}");
    let fragment = failed.split("fields.title = ").nth(1).unwrap_or_else(|| panic!("{failed}"));
    let end = fragment[1..].find('"').unwrap() + 2;
    ws.write(
        "pipeline.toml",
        table("own", "raw/dumps/posts.jsonl", &format!("title = {}", &fragment[..end])),
    );
    import(&ws).expect(0);
}

#[test]
fn lists_within_an_object_have_the_remedy_that_their_source_takes() {
    let two = "{\"a\": [{\"id\": 1}], \"b c\": [{\"id\": 2}]}";
    let ws = Workspace::with("[[published]]\nbenchmark = \"flub\"\npath = \"raw/dumps/set.json\"\n");
    ws.write("raw/dumps/set.json", two);
    let failed = import(&ws).expect(3).err;
    assert!(
        failed.contains("jq -c '.a[]' ./raw/dumps/set.json")
            || failed.contains("jq -c '.a[]' raw/dumps/set.json"),
        "{failed}"
    );
    assert!(!failed.contains("at = "), "{failed}");
    let ws = Workspace::with(&table("own", "raw/dumps/posts.jsonl", "content = \"text\""));
    let line = "{\"code\":0,\"data\":[{\"text\":\"云会恐高吗？\"},{\"text\":\"为什么鱼不会口渴？\"}]}\n";
    ws.write("raw/dumps/posts.jsonl", line.repeat(3));
    // Lines that are only around their lists are read by these.
    import(&ws).expect(0);
    let proposed = ws.call(["init", ".", "raw/dumps/posts.jsonl"]);
    assert!(!proposed.out.contains("\"data\""), "{}", proposed.out);
}

#[test]
fn a_file_in_another_encoding_is_one_finding_with_its_command() {
    let ws = Workspace::with(&table("own", "raw/dumps/posts.csv", "id = \"id\", title = \"title\""));
    let mut bytes = b"id,title\n".to_vec();
    for n in 0..3000 {
        writeln!(bytes, "{n},why is caf~ number {n} closed?").unwrap();
    }
    bytes.iter_mut().filter(|byte| **byte == b'~').for_each(|byte| *byte = 0xe9);
    ws.write("raw/dumps/posts.csv", &bytes);
    let failed = import(&ws).expect(3).err;
    assert!(failed.contains("3,000 of 3,001 lines are not UTF-8"), "{failed}");
    let causes = causes(&ws);
    assert_eq!((causes.len(), causes[0]["records"].as_u64()), (1, Some(1)), "{causes:?}");
    let mend = causes[0]["mend"].as_str().unwrap();
    follow(&ws, commands(mend)[0]).expect(0);
    let to = commands(mend)[0].rsplit(' ').next().unwrap();
    ws.write("pipeline.toml", table("own", to, "id = \"id\", title = \"title\""));
    import(&ws).expect(0);
    assert!(ws.call(["explain", "17"]).expect(0).out.contains("café"));
}

#[test]
fn tables_that_number_their_own_rows_are_told_the_setting() {
    let fields = "id = \"id\", title = \"title\"";
    let ws = Workspace::with(&table("own", "raw/dumps/*.csv", fields));
    ws.write("raw/dumps/a.csv", "id,title\n1,为什么鱼不会口渴？\n2,云会恐高吗？\n");
    ws.write("raw/dumps/b.csv", "id,title\n1,雨伞会不会淋湿？\n2,影子有没有重量？\n");
    let told = import(&ws).expect(0).err;
    assert!(told.contains("own/b.csv: 2 posts with the id of an earlier post"), "{told}");
    let id = told.split("with `id = ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let second = table("second", "raw/dumps/b.csv", &format!("id = {id}, title = \"title\""));
    ws.write("pipeline.toml", format!("{}{second}", table("own", "raw/dumps/a.csv", fields)));
    let told = import(&ws).expect(0).err;
    assert!(!told.contains("the id of an earlier post"), "{told}");
    for (id, text) in [("为什么鱼", "鱼"), ("b:1", "雨伞")] {
        assert!(ws.call(["explain", id]).expect(0).out.contains(text), "{id}");
    }
}

#[test]
fn an_archive_in_another_packing_is_named() {
    let ws = Workspace::with(&source("own", "warc", "raw/dumps/site.warc.bz2"));
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n").unwrap();
    ws.write("raw/dumps/site.warc.bz2", encoder.finish().unwrap());
    let failed = import(&ws).expect(3).err;
    assert!(failed.contains("packed with bzip2") && failed.contains("`bzip2 -dc "), "{failed}");
    assert!(!failed.contains("truncated"), "{failed}");
}

#[test]
fn a_recipe_that_goes_on_from_another_names_both() {
    let ws = Workspace::sample();
    let refused = ws.call(["run", "--recipe", "ruozhibench-mc"]).expect(2).err;
    follow(&ws, commands(&refused)[0]).expect(0);
    ws.call(["run", "--recipe", "ruozhibench-mc"]).expect(0);
}

#[test]
fn a_lock_without_votes_changes_nothing() {
    let ws = Workspace::sample();
    ws.run();
    let before = ws.call(["status"]).expect(0).out;
    ws.write("raw/votes/lock", "");
    assert_eq!(next(&ws.call(["status"]).expect(0).out), next(&before));
}

#[test]
fn what_a_browser_saved_beside_a_page_is_not_a_page() {
    let ws =
        Workspace::with(&format!("{}profile = \"discuz\"\n", source("own", "profile", "raw/dumps/saved")));
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sites/discuz/thread.html");
    ws.write("raw/dumps/saved/thread.html", fs::read(page).unwrap());
    ws.write("raw/dumps/saved/thread_files/style.css", "p { color: red }\n");
    ws.write("raw/dumps/saved/thread_files/script.js", "alert(1);\n");
    import(&ws).expect(0);
    ws.call(["explain", "forum.example:3001"]).expect(0);
}

#[test]
fn an_address_is_repeated_as_it_was_given() {
    let ws = Workspace::sample();
    let refused = ws.call(["serve", "--port", "0", "--public", "https://me:s3cret@mill.example.org/label"]);
    let refused = refused.expect(2).err;
    assert!(refused.contains("https://mill.example.org/label") && !refused.contains("s3cret"), "{refused}");
}

#[test]
fn one_is_not_several() {
    let ws = Workspace::with(&table("own", "raw/dumps/posts.jsonl", "content = \"text\""));
    ws.write(
        "raw/dumps/posts.jsonl",
        "{\"text\": \"云会恐高吗\\ud83d？\"}\n{\"text\": \"为什么鱼不会口渴？\"}\n",
    );
    import(&ws).expect(0);
    let shown = ws.call(["show", "import", "--recipe", "flub", "--outcome", "changed"]).expect(0).out;
    assert!(shown.contains("at 1 place,") && !shown.contains("1 places"), "{shown}");
}
