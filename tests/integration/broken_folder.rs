//! A mistake in one benchmark's folder stops what needs it, and nothing else.

use std::fs;

use crate::harness::Workspace;

/// The sample with a folder of its own that has two mistakes.
fn broken() -> Workspace {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    ws.call(["init", "--benchmark", "chumor"]).expect(0);
    let (built_in, own) = (ws.path("benchmarks/chumor"), ws.path("benchmarks/my-own"));
    fs::rename(built_in, own).unwrap();
    let path = "benchmarks/my-own/benchmark.toml";
    ws.write(path, format!("tempo = 3\nspeed = 4\n{}", ws.read(path)));
    ws
}

#[test]
fn a_broken_folder_stops_nothing_that_does_not_need_it() {
    let ws = broken();
    for args in [
        &["fsck"][..],
        &["status"],
        &["audit"],
        &["man", "--reference", "reference"],
        &["run", "--recipe", "flub", "--offline"],
        &["benchmark", "show", "flub"],
        &["benchmark", "check", "flub"],
        &["config"],
        &["report", "--recipe", "flub"],
        &["release", "flub", "--date", "2026-01-02"],
        &["explain", "1001"],
    ] {
        let result = ws.call(args);
        // `explain` ends with 1 where no post has the id.
        let most = i32::from(args[0] == "explain");
        assert!((0..=most).contains(&result.code), "{args:?}: {}{}", result.out, result.err);
        let told = result
            .err
            .matches("the benchmark my-own is left out until its folder is mended: 2 problems, the first is ")
            .count();
        assert_eq!(told, usize::from(args[0] != "benchmark"), "{args:?}: {}", result.err);
    }
    let listed = ws.call(["benchmark", "list"]).expect(0).out;
    assert!(listed.contains("my-own") && listed.contains("left out until mended: 2 problems"), "{listed}");
}

#[test]
fn what_needs_a_broken_folder_gets_all_its_problems() {
    let ws = broken();
    for args in [
        &["run"][..],
        &["run", "--recipe", "my-own"],
        &["estimate"],
        &["benchmark", "check"],
        &["benchmark", "check", "my-own"],
        &["benchmark", "show", "my-own"],
        &["release", "my-own"],
        &["evaluate", "my-own", "--model", "random"],
        &["status", "--recipe", "my-own"],
    ] {
        let result = ws.call(args).expect(2);
        for part in ["\"tempo\"", "\"speed\"", "my-own/benchmark.toml:"] {
            assert!(result.err.contains(part), "{args:?}: {part}: {}", result.err);
        }
    }
    // Settings that name it stay valid; recipes that are no mistake run.
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", format!("{settings}\n[recipe.my-own.filter]\nmin_chars = 3\n"));
    ws.call(["status"]).expect(0);
    ws.call(["run", "--recipe", "flub", "--offline", "--set", "recipe.my-own.mine.pace=3"]).expect(0);
    let mut command = ws.command(["status"]);
    let output = command.env("RIDDLEMILL_RECIPE__MY_OWN__FILTER__MIN_CHARS", "3").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // Mended, nothing is told.
    let path = "benchmarks/my-own/benchmark.toml";
    ws.write(path, ws.read(path).replacen("tempo = 3\nspeed = 4\n", "", 1));
    let result = ws.call(["benchmark", "check", "my-own"]).expect(0);
    assert!(!result.err.contains("is left out"), "{}", result.err);
}

#[test]
fn settings_that_name_a_broken_folder_leave_it_out_where_others_are_left() {
    let ws = broken();
    let (both, alone) = ("run.recipes=[\"my-own\", \"flub\"]", "run.recipes=[\"my-own\"]");
    for verb in ["status", "audit", "fsck"] {
        ws.call([verb, "--set", both]).expect(0);
    }
    for args in [["run", "--set", both], ["estimate", "--set", both], ["status", "--set", alone]] {
        let result = ws.call(args).expect(2).err;
        assert!(result.contains("\"tempo\"") && result.contains("\"speed\""), "{args:?}: {result}");
    }
    // They do not name it.
    ws.call(["run", "--offline", "--set", "run.recipes=[\"flub\"]"]).expect(0);
}

#[test]
fn an_editor_accepts_settings_of_a_broken_folder() {
    let schema = broken().call(["config", "--schema"]).expect(0).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let recipes = &schema["properties"]["recipe"]["properties"];
    assert_eq!(recipes["my-own"], serde_json::json!({}));
    assert!(recipes["flub"]["properties"].is_object());
}

#[test]
fn a_built_in_benchmark_does_not_stand_in_for_a_broken_folder_of_its_name() {
    let ws = Workspace::sample();
    ws.call(["init", "--benchmark", "ruozhibench-gen"]).expect(0);
    let path = "benchmarks/ruozhibench-gen/benchmark.toml";
    ws.write(path, format!("tempo = 3\n{}", ws.read(path)));
    let result = ws.call(["run", "--recipe", "ruozhibench-gen", "--offline"]).expect(2).err;
    assert!(result.contains("\"tempo\""), "{result}");
    // It continues the other.
    ws.call(["run", "--recipe", "ruozhibench-mc", "--offline"]).expect(2);
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
}
