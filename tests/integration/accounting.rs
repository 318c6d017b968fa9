//! Accounting closes on any bytes, whatever kind of source they are said to be.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use riddlemill::audit::{Proof, prove};
use riddlemill::config::{Config, Overrides, SourceKind};
use riddlemill::pipeline::{self, Selection};
use riddlemill::recipe;
use riddlemill::stages::Stop;
use riddlemill::store::Workspace;

use crate::harness::{Silent, source};

/// Runs flub over one dump of every kind, all with these bytes, and audits it.
fn closes(root: &Path, bytes: &[u8]) -> Result<(), TestCaseError> {
    let of_kind = |kind: &&str| {
        let fields =
            if **kind == *"table" { "fields = { title = \"title\", content = \"content\" }\n" } else { "" };
        source(kind, kind, &format!("raw/dumps/{kind}")) + fields
    };
    let settings: String = SourceKind::NAMES.iter().map(of_kind).collect();
    fs::create_dir_all(root.join("raw/dumps")).unwrap();
    fs::write(root.join("pipeline.toml"), settings).unwrap();
    for kind in SourceKind::NAMES {
        fs::write(root.join("raw/dumps").join(kind), bytes).unwrap();
    }
    let config = Config::load(root, &recipe::names(), &recipe::choices(), &Overrides::default()).unwrap();
    let flub = recipe::find("flub").unwrap();
    let made = pipeline::run(&config, flub, &Selection::default(), &Stop::default(), &Silent);
    let made = made.map_err(|e| TestCaseError::fail(e.to_string()))?;
    for stage in &made {
        let sum: u64 = stage.counts.states.values().sum();
        prop_assert_eq!(sum, stage.counts.records_in, "{}", stage.stage);
    }
    let mut proof = Proof::default();
    prove(&Workspace::new(root), flub, &mut proof);
    prop_assert!(proof.gaps.is_empty(), "{:?}", proof.gaps);
    prop_assert_eq!(proof.stages, flub.steps.len());
    Ok(())
}

/// Bytes that look more or less like a dump: rows of all kinds, cut, joined and salted with others.
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
        // Four of five come whole.
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

/// A case writes and audits five stages; `PROPTEST_CASES` asks for more of them.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}
