//! `apply dedup`: pairs as promised, the same from memory and from disk, and rows of another set reported.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Workspace, assert_same, source};

const ROWS: &str = r#"{"id":7,"text":"冰箱里的灯关门后还亮吗，我钻进去看过"}
{"id":"x","text":"冰箱里的灯关了门还亮吗，我钻进去看过"}
{"id":{"of":[1,null]},"text":"云会恐高吗"}
no row at all
{"text":"云会恐高吗","more":[1.50,"kept as it is"]}
{"id":null,"text":""}
{"id":-1.5,"text":""}
{"id":true,"text":"abcdefghij"}
{"id":false,"text":"abcdefghXY"}
"#;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn workspace() -> Workspace {
    let workspace = Workspace::folder();
    workspace.write("rows.jsonl", ROWS);
    workspace
}

#[test]
fn pairs_come_in_input_order_with_ids_as_given() {
    let workspace = workspace();
    let numbers =
        "{\"id\":18446744073709551615,\"text\":\"云\"}\n{\"id\":18446744073709551616,\"text\":\"鱼\"}\n";
    workspace.write("rows.jsonl", format!("{ROWS}{numbers}"));
    let dedup = "\"$0\" apply dedup --metric indel --threshold 0.8 --normalize none --pairs";
    // A line that is not a row is reported, and the exit code is 3.
    let result = workspace.shell(&format!("{dedup} pairs.jsonl < rows.jsonl")).expect(3);
    let pairs: Vec<(Value, Value)> =
        lines(&workspace.read("pairs.jsonl")).into_iter().map(|p| (p["a"].clone(), p["b"].clone())).collect();
    // Two empty strings are not a pair; a row without an id is identified by its number; 8 of 10 is on the
    // threshold, and included.
    let expected =
        [(json!(7), json!("x")), (json!({"of": [1, null]}), json!(4)), (json!(true), json!(false))];
    assert_eq!(pairs, expected);
    let rows = lines(&result.out);
    assert_eq!(rows.len(), 11);
    assert_eq!(rows[3]["outcome"], "failed");
    // Numbers that JSON readers would round are reported, not rounded.
    assert_eq!(rows[9]["id"], json!(u64::MAX));
    assert!(rows[10]["evidence"].as_str().unwrap().contains("64 bits"), "{}", rows[10]);
    assert_eq!(
        (&rows[4]["into"], &rows[4]["more"]),
        (&json!({"of": [1, null]}), &json!([1.5, "kept as it is"]))
    );
    assert_eq!(rows[4]["reason"], "exact_duplicate");

    let on_disk =
        workspace.shell(&format!("{dedup} disk.jsonl --on-disk . --memory 1 < rows.jsonl")).expect(3);
    assert_eq!(on_disk.out, result.out);
    assert_eq!(workspace.read("disk.jsonl"), workspace.read("pairs.jsonl"));
    let left = std::fs::read_dir(workspace.root()).unwrap().count();
    assert_eq!(left, 3, "no working file is left");
}

#[test]
fn rows_that_resemble_another_set_are_named() {
    let workspace = workspace();
    workspace.write(
        "published.jsonl",
        "{\"id\":\"p1\",\"text\":\"鱼会口渴吗，我问过它\"}\n\n{\"id\":[2],\"text\":\"冰箱里的灯关了门以后还亮吗，我钻进去看过\"}\n",
    );
    for how in ["", "--metric levenshtein --threshold 0.8"] {
        let line = format!("grep id rows.jsonl | \"$0\" apply dedup {how} --against published.jsonl");
        let rows = lines(&workspace.shell(&line).expect(0).out);
        assert_eq!((&rows[0]["resembles"], &rows[1]["resembles"]), (&json!([2]), &json!([2])), "{how}");
        assert_eq!(rows[2]["resembles"], Value::Null);
        assert!(rows[1]["resembles_score"].as_f64().unwrap() > 0.8);
        assert_eq!(rows[1]["outcome"], "merged", "the set itself is deduplicated as ever");
    }
    workspace.write("published.jsonl", "{\"id\":1}\nno row\n");
    let result = workspace.shell("\"$0\" apply dedup --against published.jsonl < rows.jsonl").expect(2);
    assert!(result.err.contains("published.jsonl:2"), "{}", result.err);
}

#[test]
fn the_default_similarity_is_joined_on_disk_as_in_memory() {
    let workspace = workspace();
    let dedup = "\"$0\" apply dedup --pairs";
    let held = workspace.shell(&format!("{dedup} held.jsonl < rows.jsonl")).expect(3);
    let filed =
        workspace.shell(&format!("{dedup} filed.jsonl --on-disk . --memory 1 < rows.jsonl")).expect(3);
    assert_eq!(filed.out, held.out);
    assert_eq!(workspace.read("filed.jsonl"), workspace.read("held.jsonl"));
    assert!(held.out.contains("merged"), "{}", held.out);
}

/// Posts of characters drawn from many, deterministic: one in eleven is a copy of an earlier one with its
/// halves swapped, or with an addition.
fn posts(count: usize) -> String {
    let mut state = 7u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut posts, mut lines): (Vec<String>, _) = (Vec::new(), String::new());
    for n in 0..count {
        let text = match n % 11 {
            10 => {
                let earlier: Vec<char> = posts[draw(n)].chars().collect();
                let (first, last) = earlier.split_at(earlier.len() / 2);
                let ends = if draw(2) == 0 { [last, first] } else { [&earlier[..], &['后', '来']] };
                ends.concat().into_iter().collect()
            }
            _ => (0..10 + draw(10)).filter_map(|_| char::from_u32(0x4E00 + draw(3000) as u32)).collect(),
        };
        lines.push_str(&format!("{{\"id\":\"p{n}\",\"text\":\"{text}\"}}\n"));
        posts.push(text);
    }
    lines
}

#[test]
fn what_does_not_fit_in_memory_is_found_on_the_disk() {
    let fields = "fields = { content = \"text\" }\n";
    let workspace = Workspace::with(&(source("many", "table", "raw/dumps/many.jsonl") + fields));
    workspace.write("raw/dumps/many.jsonl", posts(12_000));
    let run = |flags: &[&str]| {
        let run = ["run", "--recipe", "flub", "--to", "dedup", "--offline", "--force"];
        workspace.call(run.into_iter().chain(flags.iter().copied())).expect(0)
    };
    let held = run(&[]);
    assert!(!held.err.contains("works on disk"), "{}", held.err);
    let in_memory = workspace.derived();
    let filed = run(&["--set", "dedup.memory_mib=16"]);
    assert!(filed.err.contains("dedup.memory_mib allows 16 MiB: it works on disk"), "{}", filed.err);
    assert_same(&in_memory, &workspace.derived(), "on the disk");
    // The memory limit has no influence on results: no stage becomes outdated.
    let status = workspace.call(["status", "--recipe", "flub", "--set", "dedup.memory_mib=64"]);
    assert!(!status.out.contains("memory_mib"), "{}", status.out);
    let left = std::fs::read_dir(workspace.path("staged/flub")).unwrap().map(|e| e.unwrap().file_name());
    let left: Vec<_> =
        left.filter(|name| name.to_string_lossy().starts_with('.') && name != ".lock").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The first Ctrl-C stops a filter, and its leftovers are removed by the next run.
#[test]
fn an_interrupt_ends_a_join_on_disk_at_once() {
    let workspace = workspace();
    let dedup = "apply dedup --metric indel --threshold 0.8 --on-disk .";
    let mut command = workspace.interruptible(dedup.split(' '));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // Waiting would close it, and end the input.
    let stdin = child.stdin.take();
    let working = || {
        let entries = std::fs::read_dir(workspace.root()).unwrap().map(|e| e.unwrap().path());
        entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".rows-"))
    };
    // Rows are kept from when the folder is locked.
    while !working().any(|folder| folder.join("lines").exists()) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let started = Instant::now();
    let ended = loop {
        match child.try_wait().unwrap() {
            Some(ended) => break ended,
            None => assert!(started.elapsed() < Duration::from_secs(60), "it goes on"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(!ended.success());
    drop(stdin);
    assert_eq!(working().count(), 1, "the killed leave their folder");
    workspace.shell(&format!("\"$0\" {dedup} < rows.jsonl")).expect(3);
    assert_eq!(working().count(), 0, "and the next removes it");
}
