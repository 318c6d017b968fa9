//! A run remakes what changed and what depends on it, and `status` says why.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::harness::{Workspace, assert_same};

const STAGES: [&str; 5] = ["01_import", "02_clean", "03_anonymise", "04_filter", "05_dedup"];

/// The stages of flub that a call remakes.
fn made(ws: &Workspace, args: &[&str]) -> Vec<&'static str> {
    let making = |stage: &str| ws.making(&format!("staged/flub/{stage}"));
    let before = STAGES.map(making);
    ws.call(args).expect(0);
    STAGES
        .into_iter()
        .zip(before)
        .filter(|(stage, before)| making(stage) != *before)
        .map(|(stage, _)| stage)
        .collect()
}

fn status(ws: &Workspace, args: &[&str]) -> Vec<(String, String)> {
    let result = ws.call([&["status", "--recipe", "flub", "--json"], args].concat()).expect(0);
    let stages: Vec<serde_json::Value> = serde_json::from_str(&result.out).unwrap();
    let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
    let stages = stages.iter().filter(|row| row["stage"].is_string());
    stages.map(|s| (text(&s["state"]), text(&s["why"]))).collect()
}

#[test]
fn a_second_run_makes_nothing() {
    let ws = Workspace::sample();
    ws.run();
    let before = ws.derived();
    assert_eq!(made(&ws, &["run"]), [""; 0]);
    assert_same(&before, &ws.derived(), "after a second run");
}

#[test]
fn a_setting_makes_its_stage_and_what_follows() {
    let ws = Workspace::sample();
    ws.run();
    let set = ["--set", "filter.min_chars=12"];
    let planned = status(&ws, &set);
    assert_eq!(planned[3], ("stale".into(), "min_chars 4 -> 12".into()));
    assert_eq!(planned.iter().filter(|(state, _)| state == "fresh").count(), 3, "{planned:?}");
    let dry = ws.call([&["run", "--dry-run", "--recipe", "flub"], &set[..]].concat()).expect(0);
    assert!(dry.out.contains("min_chars 4 -> 12"), "{}", dry.out);
    assert_eq!(made(&ws, &[&["run", "--recipe", "flub"], &set[..]].concat()), ["04_filter", "05_dedup"]);
    // And back again.
    assert_eq!(made(&ws, &["run", "--recipe", "flub"]), ["04_filter", "05_dedup"]);
}

#[test]
fn status_says_which_value_became_which() {
    let ws = Workspace::sample();
    ws.run();
    let planned = status(&ws, &["--set", "dedup.threshold=0.85"]);
    assert_eq!(planned[4], ("stale".into(), "threshold 0.8 -> 0.85".into()));
    ws.write("raw/sample/dumps/annual.json", "[]\n");
    let planned = status(&ws, &[]);
    assert_eq!(planned[0], ("stale".into(), "sample-annual/annual.json changed".into()));
    assert_eq!(planned[1].0, "depends");
}

#[test]
fn a_stage_of_another_layout_is_reported_and_made_anew() {
    let ws = Workspace::sample();
    ws.run();
    let (manifest, before) = (ws.root().join("staged/flub/02_clean/manifest.json"), ws.derived());
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let layout = written["format"].as_u64().unwrap();
    for (other, state) in [(layout - 1, "older"), (layout + 1, "newer")] {
        let mut stage = written.clone();
        stage["format"] = other.into();
        fs::write(&manifest, serde_json::to_vec(&stage).unwrap()).unwrap();
        assert_eq!(
            status(&ws, &[])[1],
            (state.into(), format!("layout {other}, a run writes layout {layout}")),
        );
        let shown = ws.call(["show", "clean", "--recipe", "flub"]).expect(4);
        assert!(shown.err.contains("`riddlemill run --recipe flub` writes it again"), "{}", shown.err);
        assert_eq!(made(&ws, &["run", "--recipe", "flub"]), ["02_clean"]);
        assert_same(&before, &ws.derived(), "after a stage of another layout");
    }
}

#[test]
fn rows_that_come_out_the_same_end_it() {
    let ws = Workspace::sample();
    ws.run();
    // No text of the sample exceeds 300 characters, so only the setting changes.
    let args = ["--recipe", "flub", "--set", "filter.max_chars=301"];
    assert_eq!(made(&ws, &[&["run"], &args[..]].concat()), ["04_filter"]);
}

#[test]
fn a_recipe_s_own_setting_leaves_the_others_alone() {
    let ws = Workspace::sample();
    ws.run();
    let settings = ws.read("pipeline.toml") + "\n[recipe.chumor.filter]\nmin_chars = 12\n";
    ws.write("pipeline.toml", settings);
    assert_eq!(made(&ws, &["run"]), [""; 0]);
    assert!(ws.read("staged/chumor/04_filter/manifest.json").contains("\"min_chars\": 12"));
}

#[test]
fn flags_choose_the_stages() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--to", "clean"]).expect(0);
    assert!(ws.exists("staged/flub/02_clean") && !ws.exists("staged/flub/03_anonymise"));
    assert!(!ws.exists("staged/chumor") && !ws.exists("output"));
    ws.call(["run", "--recipe", "flub", "--only", "filter"]).expect(2);
    ws.run();
    assert_eq!(made(&ws, &["run", "--only", "clean", "--force"]), ["02_clean"]);
    assert_eq!(made(&ws, &["run", "--from", "filter", "--force"]), ["04_filter", "05_dedup"]);
    let result = ws.call(["run", "--from", "polish"]).expect(2);
    assert!(
        result.err.contains("unknown stage \"polish\"") && result.err.contains("dedup"),
        "{}",
        result.err
    );
}

#[test]
fn what_is_gone_or_cut_is_made_anew() {
    let ws = Workspace::sample();
    ws.run();
    let whole = ws.derived();
    ws.remove("staged/flub/03_anonymise");
    assert_eq!(status(&ws, &[])[2].0, "missing");
    ws.run();
    assert_same(&whole, &ws.derived(), "a stage folder was deleted");

    let manifest = ws.bytes("staged/flub/02_clean/manifest.json");
    ws.write("staged/flub/02_clean/manifest.json", &manifest[..manifest.len() / 2]);
    assert_eq!(status(&ws, &[])[1].0, "damaged");
    ws.call(["audit"]).expect(1);
    ws.run();
    assert_same(&whole, &ws.derived(), "a manifest was cut in half");

    ws.remove("output/flub");
    ws.run();
    assert_same(&whole, &ws.derived(), "the candidate was deleted");
}

#[test]
fn clocks_decide_nothing() {
    let ws = Workspace::sample();
    ws.run();
    let before = ws.derived();
    for (name, _) in before.iter().filter(|(name, _)| !name.ends_with('/')) {
        let past = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
        File::options().write(true).open(ws.path(name)).unwrap().set_modified(past).unwrap();
    }
    for dump in fs::read_dir(ws.path("raw/sample/dumps")).unwrap() {
        let future = SystemTime::now() + Duration::from_secs(365 * 86_400);
        File::options().write(true).open(dump.unwrap().path()).unwrap().set_modified(future).unwrap();
    }
    assert_eq!(made(&ws, &["run"]), [""; 0]);
}

#[test]
fn looking_changes_nothing() {
    let ws = Workspace::folder();
    ws.call(["init"]).expect(0);
    for args in [&["status"][..], &["run", "--dry-run"], &["report"], &["audit"], &["config"]] {
        ws.call(args).expect(0);
    }
    assert!(ws.derived().is_empty() && !ws.exists("raw/salt"), "something was written");
}
