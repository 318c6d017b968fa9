//! Figures on labelled real pairs, if `RIDDLEMILL_REFERENCE` names a folder of them.

use std::path::PathBuf;
use std::time::Instant;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Labelled {
    a: String,
    b: String,
    duplicate: bool,
    unsure: bool,
}

fn read_labelled() -> Option<Vec<Labelled>> {
    let Some(folder) = std::env::var_os("RIDDLEMILL_REFERENCE").map(PathBuf::from) else {
        eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
        return None;
    };
    let rows = std::fs::read_to_string(folder.join("gold/dedup-dev.jsonl")).unwrap();
    Some(rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect())
}

/// Precision, recall, specificity and F1 over the rows that are not unsure; only `Same` counts as a
/// duplicate.
#[test]
fn figures_on_labelled_pairs() {
    let Some(rows) = read_labelled() else { return };
    let (mut tp, mut fp, mut fn_, mut tn) = (0.0, 0.0, 0.0, 0.0);
    for row in rows.iter().filter(|row| !row.unsure) {
        let pair = compare(&row.a, &row.b);
        match (row.duplicate, pair.verdict == Verdict::Same) {
            (true, true) => tp += 1.0,
            (false, true) => fp += 1.0,
            (true, false) => fn_ += 1.0,
            (false, false) => tn += 1.0,
        }
        if row.duplicate != (pair.verdict == Verdict::Same) {
            eprintln!(
                "{} {pair:?}\n  {}\n  {}",
                if row.duplicate { "missed" } else { "false" },
                row.a,
                row.b
            );
        }
    }
    let (f1, specificity) = (2.0 * tp / (2.0 * tp + fp + fn_), tn / (tn + fp));
    eprintln!(
        "precision {:.4} recall {:.4} specificity {specificity:.4} f1 {f1:.4}",
        tp / (tp + fp),
        tp / (tp + fn_)
    );
    assert!(f1 >= 0.88, "f1 {f1}");
    assert!(specificity >= 0.92, "specificity {specificity}");
}

/// Time for each pair of all texts with all others.
#[test]
#[ignore = "a measurement: run it in release"]
fn speed() {
    let Some(rows) = read_labelled() else { return };
    let texts: Vec<PreparedText> =
        rows.iter().flat_map(|row| [&row.a, &row.b]).map(|text| PreparedText::new(text)).collect();
    let start = Instant::now();
    let mut same = 0;
    for (i, a) in texts.iter().enumerate() {
        same += texts[..i].iter().filter(|b| compare_prepared(a, b).verdict == Verdict::Same).count();
    }
    let pairs = texts.len() * (texts.len() - 1) / 2;
    eprintln!(
        "{same} of {pairs} pairs same; {:.0} ns a pair",
        start.elapsed().as_nanos() as f64 / pairs as f64
    );
}
