//! Accounting is complete for any bytes, whatever kind of source they are declared to be.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use riddlemill::audit::{Proof, prove_stages};
use riddlemill::config::{Config, Overrides, SourceKind};
use riddlemill::decisions::{DecisionLog, Verdict};
use riddlemill::pipeline::decide::{Act, DecisionRequest, make_decisions};
use riddlemill::pipeline::{self, Selection};
use riddlemill::recipe::{self, Recipe};
use riddlemill::stages::Stop;
use riddlemill::store::{Manifest, Workspace};

use crate::harness::{Silent, source, title};

/// Runs flub over one dump of every kind, all with these bytes, and audits it.
fn closes(root: &Path, bytes: &[u8]) -> Result<(), TestCaseError> {
    let of_kind = |kind: &&str| {
        let fields = match *kind {
            "table" => "fields = { title = \"title\", content = \"content\" }\n",
            "profile" => "profile = \"articles\"\n",
            _ => "",
        };
        source(kind, kind, &format!("raw/dumps/{kind}")) + fields
    };
    let settings: String = SourceKind::NAMES.iter().map(of_kind).collect();
    fs::create_dir_all(root.join("raw/dumps")).unwrap();
    fs::write(root.join("pipeline.toml"), settings).unwrap();
    for kind in SourceKind::NAMES {
        fs::write(root.join("raw/dumps").join(kind), bytes).unwrap();
    }
    let config =
        Config::load(root, &recipe::recipe_names(), &recipe::changed_defaults(), &Overrides::default())
            .unwrap();
    let flub = recipe::find_recipe("flub").unwrap();
    let made = pipeline::run_recipe(&config, flub, &Selection::default(), &Stop::default(), &Silent);
    let made = made.map_err(|e| TestCaseError::fail(e.to_string()))?;
    books_close(root, flub, &made)
}

/// Every record of every stage is in exactly one state, and the audit finds no gap from end to end.
fn books_close(root: &Path, recipe: &'static Recipe, made: &[Manifest]) -> Result<(), TestCaseError> {
    for stage in made {
        let sum: u64 = stage.counts.states.values().sum();
        prop_assert_eq!(sum, stage.counts.records_in, "{}", stage.stage);
    }
    let mut proof = Proof::default();
    prove_stages(&Workspace::new(root), recipe, &mut proof);
    prop_assert!(proof.gaps.is_empty(), "{:?}", proof.gaps);
    prop_assert_eq!(proof.stages, recipe.steps().len());
    Ok(())
}

/// Bytes that resemble a dump more or less: rows of all kinds, cut, joined and mixed with others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let words = "[\\p{Han}a-z0-9，。？！、丨\\[\\]\u{200b}@ \n]{0,12}";
    let row = (0..4u8, words, words, 0..6u64).prop_map(|(kind, a, b, n)| {
        let row = match kind {
            0 => serde_json::json!({ "title": a, "abs": b, "href": format!("/p/{n}?fr=good"), "lz": "某人" }),
            1 => serde_json::json!({ "author": "某人", "content": format!("{n}、{a}"), "l_num": n, "ctime": b }),
            2 => serde_json::json!({ "pid": n, "tid": 7, "user_id": n % 2, "user_name": b, "text": format!("{n}.{a}"),
                "floor": n, "is_comment": n == 5, "image_links": [b] }),
            _ => serde_json::json!([a, { "x": b }]),
        };
        row.to_string().into_bytes()
    });
    let joint =
        prop_oneof![4 => Just(b"\n".to_vec()), 3 => Just(b",\n".to_vec()), 1 => vec(any::<u8>(), 0..6)];
    let like = (any::<bool>(), vec((row, joint), 0..20), 0..100usize).prop_map(|(array, rows, cut)| {
        let mut bytes = if array { b"[\n".to_vec() } else { Vec::new() };
        rows.into_iter().for_each(|(row, joint)| bytes.extend([row, joint].concat()));
        if array {
            bytes.push(b']');
        }
        // Four of five are complete.
        bytes.truncate(if cut < 20 { bytes.len() * cut / 20 } else { bytes.len() });
        bytes
    });
    let packed = like.clone().prop_map(|bytes| zstd::encode_all(&bytes[..], 1).unwrap());
    prop_oneof![6 => like, 1 => packed, 2 => vec(any::<u8>(), 0..300)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_accounted_for(bytes in bytes()) {
        let folder = tempfile::tempdir().unwrap();
        closes(folder.path(), &bytes)?;
    }
}

/// Texts of which some are too short, equal, similar, empty or listed.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let near = "冰箱里的灯关门后还亮吗，我钻进去(看|瞧)过(了|吧)?";
    let text = prop_oneof![
        3 => "[雨伞镜子影]{3,5}会不会[累怕水饿]{1,2}？",
        3 => near,
        1 => "[嗯啊]{0,3}",
        1 => Just("[禁词][会不会]{3}怕？13800138000".to_string()),
        1 => Just("如题".to_string()),
    ];
    vec(text, 1..9)
}

/// A decision: the index of the verdict, two records, a text, and whether it is undone at once.
type Row = (usize, usize, usize, String, bool);

/// Runs flub over these posts, decides, runs again, and audits it; then repeats that from scratch.
fn closes_with(root: &Path, texts: &[String], result: &[Row]) -> Result<(), TestCaseError> {
    let fail = |e: &dyn std::fmt::Display| TestCaseError::fail(e.to_string());
    fs::create_dir_all(root.join("raw/dumps")).unwrap();
    let rows: Vec<String> = texts.iter().zip(1..).map(|(text, n)| title(n, text)).collect();
    fs::write(root.join("raw/dumps/posts"), format!("[{}]", rows.join(","))).unwrap();
    fs::write(root.join("terms.txt"), "禁词\n").unwrap();
    let people = "[anonymise]\npolicy = [\"terms.txt\"]\n[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\n";
    fs::write(root.join("pipeline.toml"), source("posts", "leymore-titles", "raw/dumps/posts") + people)
        .unwrap();
    let config =
        Config::load(root, &recipe::recipe_names(), &recipe::changed_defaults(), &Overrides::default())
            .unwrap();
    let flub = recipe::find_recipe("flub").unwrap();
    let run = || {
        pipeline::run_recipe(&config, flub, &Selection::default(), &Stop::default(), &Silent)
            .map_err(|e| fail(&e))
    };
    run()?;
    let folder = Workspace::new(root).decisions_folder();
    for (verdict, record, other, text, undo) in result {
        let verdict = Verdict::ALL[verdict % Verdict::ALL.len()];
        let id = |n: &usize| format!("tieba:{}", n % texts.len() + 1);
        let wish = DecisionRequest {
            verdict,
            record: id(record),
            other: verdict.is_of_pair().then(|| id(other)),
            text: verdict.is_edit().then(|| text.clone()),
            recipe: undo.then(|| "flub".to_string()),
            stage: None,
            seen: None,
        };
        let act = Act { by: "meta-1", why: "a test", at: "2026-11-23T00:00:00Z", source: "test" };
        // An impossible decision is refused with a message.
        let Ok(decisions) = make_decisions(&config, &wish, act) else { continue };
        let receipt = DecisionLog::append_decisions(&folder, decisions).map_err(|e| fail(&e))?;
        if *undo {
            for id in receipt.added {
                prop_assert!(
                    DecisionLog::withdraw_decision(&folder, id, "meta-1", "a slip", act.at)
                        .map_err(|e| fail(&e))?
                );
            }
        }
    }
    let mut before = None;
    for _ in 0..2 {
        let made = run()?;
        books_close(root, flub, &made)?;
        let manifests: Vec<Vec<u8>> = made.iter().map(Manifest::to_bytes).collect();
        prop_assert_eq!(before.get_or_insert_with(|| manifests.clone()), &manifests);
        fs::remove_dir_all(root.join("staged")).unwrap();
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_accounted_for_with_decisions_of_every_kind(
        texts in texts(),
        result in vec((any::<usize>(), any::<usize>(), any::<usize>(), "[雨伞会不会怕]{1,9}？", prop::bool::weighted(0.2)), 1..10),
    ) {
        let folder = tempfile::tempdir().unwrap();
        closes_with(folder.path(), &texts, &result)?;
    }
}

/// A case writes and audits five stages; `PROPTEST_CASES` sets a higher number.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}
