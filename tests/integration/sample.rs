//! A new workspace: created, run, queried.

use std::collections::BTreeSet;

use riddlemill::config::sample_pipeline;
use riddlemill::record::Reason;
use riddlemill::text::clean::Rule;

use crate::harness::{RECIPES, Workspace};

/// The report of a stage and those before it.
fn up_to(report: &str, stage: &str) -> String {
    let mut keep = true;
    let mut text = String::new();
    for line in report.lines() {
        if !line.starts_with(' ') {
            keep = true;
        }
        keep &= !line.starts_with(&format!("  {stage} "));
        if keep {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

#[test]
fn a_new_workspace_runs_and_answers() {
    let ws = Workspace::folder();
    let result = ws.call(["init"]).expect(0);
    assert!(result.err.contains("next: riddlemill run"), "{}", result.err);
    let result = ws.call(["run"]).expect(0);
    assert_eq!(result.out, "", "talk goes to stderr");
    for recipe in RECIPES {
        assert!(result.err.contains(&format!("{recipe}: ")), "{}", result.err);
        let rows = ws.candidates(recipe);
        let least = if recipe == "ruozhibench-gen" { 50 } else { 20 };
        assert!(rows.len() >= least, "{recipe}: {} candidates", rows.len());
        let ids: BTreeSet<&str> = rows.iter().map(|r| r["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rows.len(), "{recipe}: an id occurs twice");
        let text =
            |row: &serde_json::Value| row.get("text").or(row.get("joke")).or(row.get("question_zh")).cloned();
        assert!(rows.iter().all(|r| !text(r).unwrap().as_str().unwrap().trim().is_empty()));
    }
    let asks = |row: &serde_json::Value| row["is_question"] == true;
    assert!(!ws.candidates("flub").iter().all(asks), "FLUB has statements too");

    let status = ws.call(["status"]).expect(0).out;
    assert!(!status.contains("stale") && !status.contains("missing"), "{status}");
    ws.audit_clean();
    for verb in ["status", "report", "audit", "config"] {
        let out = ws.call([verb, "--json"]).expect(0).out;
        serde_json::from_str::<serde_json::Value>(&out).unwrap_or_else(|e| panic!("{verb}: {e}\n{out}"));
    }
    assert_eq!(ws.call(["run", "-q"]).expect(0).err, "");
}

#[test]
fn init_keeps_what_is_there() {
    let ws = Workspace::sample();
    ws.write("pipeline.toml", "# mine\n");
    let result = ws.call(["init"]).expect(2);
    assert!(result.err.contains("it was not changed"), "{}", result.err);
    assert_eq!(ws.read("pipeline.toml"), "# mine\n");
}

#[test]
fn the_repository_is_the_sample_workspace() {
    assert_eq!(
        include_str!("../../pipeline.toml"),
        sample_pipeline(),
        "write it anew with `riddlemill init`"
    );
    let ws = Workspace::sample();
    assert_eq!(ws.read("pipeline.toml"), sample_pipeline());
}

#[test]
fn the_sample_hits_every_rule() {
    let ws = Workspace::sample();
    ws.run();
    let mut hit = BTreeSet::new();
    for recipe in riddlemill::recipe::recipe_names() {
        hit.extend(ws.reasons(recipe).into_keys().filter_map(|k| Some(k.split_once('/')?.1.to_string())));
    }
    // An intact sample has no broken line; tests/integration/importers.rs has one of each.
    let broken = [Reason::Unreadable, Reason::Oversize, Reason::Encoding, Reason::Truncated];
    // Nor a file that is none of its source's, or has no posts: tests/integration/handed_in.rs.
    let files = [Reason::ForeignFile, Reason::ColumnMissing, Reason::NothingRead, Reason::Mended];
    // Nor has a spreadsheet been at its ids: tests/integration/texts.rs.
    let ids = [Reason::IdTaken, Reason::DamagedId];
    // The settings of the sample allow marked personal data; `refused_kinds_are_dropped` below.
    let off = [Reason::PersonalData];
    let missed: Vec<&str> = Reason::ALL
        .iter()
        .filter(|r| {
            !broken.contains(r)
                && !files.contains(r)
                && !ids.contains(r)
                && !off.contains(r)
                && !LATER.contains(r)
        })
        .map(|r| r.code())
        .filter(|code| !hit.contains(*code))
        .collect();
    assert!(missed.is_empty(), "no post of the sample is {missed:?}");

    let mut rules = BTreeSet::new();
    for row in ledger(&ws, "flub", "02_clean") {
        rules.extend(row.evidence.unwrap_or_default().split(',').map(str::to_string));
    }
    let missed: Vec<&str> =
        Rule::ALL.iter().map(|r| r.code()).filter(|code| !rules.contains(*code)).collect();
    assert!(missed.is_empty(), "no post of the sample shows {missed:?}");
}

/// Reasons that the sample cannot show: its replies are complete and readable, its votes are a sample's and
/// decide everything; tests/integration/generate.rs has those of missing votes, replies and people.
const LATER: &[Reason] = &[
    // embeddings.rs: the sample's settings name no model that embeds.
    Reason::Embedded,
    Reason::NotEmbedded,
    Reason::Unembeddable,
    // same_joke.rs: nor one that judges pairs.
    Reason::PairJudged,
    Reason::NotJudged,
    Reason::Unjudgeable,
    // own_elements.rs: the sample asks about no elements of lists.
    Reason::NotAList,
    // selecting.rs and traps.rs: the built-in folders select nothing, make no records of elements, and demand nothing.
    Reason::NotComputed,
    Reason::NoElements,
    Reason::RequirementBroken,
    Reason::NotWanted,
    // samples.rs: nor for several replies of which the majority is kept.
    Reason::RepliesTied,
    // An endpoint that fails: tests/integration/waits.rs and breaker.rs.
    Reason::EndpointLeft,
    Reason::RequestRefused,
    Reason::Undraftable,
    // What an earlier version stored: tests/integration/judged_whole.rs.
    Reason::DraftedFromCut,
    // No published set is among the sources: tests/integration/published.rs.
    Reason::Published,
    Reason::GroupMember,
    // Nobody asked for a removal: tests/integration/withdraw.rs.
    Reason::Withdrawn,
    // People's decisions: tests/integration/decisions.rs.
    Reason::DecidedKeep,
    Reason::DecidedDrop,
    Reason::DecidedHold,
    Reason::DecidedText,
    Reason::DecidedOne,
    Reason::DecidedTwo,
    // The sample's dumps are neither of an app nor pages; src/stages/import has tests of each.
    Reason::NoNumber,
    // Reviews hold a puzzle before it; src/stages/puzzle has a test of it.
    Reason::GroupIncomplete,
    Reason::TakenAway,
    Reason::PageOther,
    Reason::PageBlocked,
    Reason::PageForbidden,
    Reason::PageShell,
    Reason::PageDeleted,
    Reason::PageHidden,
    Reason::PageMerged,
    Reason::PageEmpty,
    Reason::PageUnparsed,
    Reason::BudgetReached,
    Reason::NoPrice,
    Reason::AnswerCut,
    Reason::KeyMissing,
    Reason::Interrupted,
    Reason::RequestFailed,
    Reason::ReplyUnparseable,
    Reason::NotDrafted,
    // The sample's judges have rated everything.
    Reason::JudgesMissing,
    Reason::Confirmed,
    Reason::Rewritten,
    Reason::Provisional,
    Reason::VotesMissing,
    Reason::Disputed,
];

fn ledger(ws: &Workspace, recipe: &str, stage: &str) -> Vec<riddlemill::record::Entry> {
    let place = ws.path(&format!("staged/{recipe}/{stage}"));
    riddlemill::store::StageReader::open(&place).unwrap().unwrap().read_table("ledger").unwrap()
}

#[test]
fn refused_kinds_are_dropped() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "--set", "anonymise.contacts=drop"]).expect(0);
    let reasons = ws.reasons("flub");
    assert!(reasons.get("dropped/personal_data").is_some_and(|n| *n > 0), "{reasons:?}");
}

#[test]
fn the_report_of_the_sample() {
    let ws = Workspace::sample();
    ws.run();
    let report = ws.call(["report", "--recipe", "ruozhibench-gen"]).expect(0).out;
    insta::assert_snapshot!("report", up_to(&report, "dedup"));
}

#[test]
fn a_post_shows_its_path() {
    let ws = Workspace::sample();
    ws.run();
    // Identified by its id, by its place in the dump and by a piece of its text.
    let ways = ["tieba:9900002233", "sample-titles:10", "半夜的地铁没有人坐，为什么不让它先睡一觉"]
        .map(|post| ws.call(["explain", post, "--recipe", "flub"]).expect(0).out);
    assert_eq!(ways[0], ways[1]);
    assert_eq!(ways[0], ways[2]);
    insta::assert_snapshot!("explain", ways[0]);
    // A dropped one, and one that was merged into another.
    assert_eq!(ws.explain("flub", "tieba:9900001000")["ends"], "dropped");
    let copy = ws.explain("flub", "tieba:990003662");
    assert_eq!(copy["ends"], "merged");
    let into = copy["way"].as_array().unwrap().last().unwrap()["into"].as_str().unwrap().to_string();
    let absorbed = ws.explain("flub", &into)["absorbed"].to_string();
    assert!(absorbed.contains("tieba:990003662"), "{absorbed}");
}

#[test]
fn who_is_not_there_is_not_explained() {
    let ws = Workspace::sample();
    ws.run();
    let result = ws.call(["explain", "tieba:1"]).expect(1);
    assert!(result.err.contains("no post matches"), "{}", result.err);
}
