//! Every rule's examples, and the published sets if they are at hand.

use std::collections::HashMap;

use super::*;
use crate::text::clean::{self, CleanVerdict, DraftKind, PostText, annual};

#[test]
fn every_example_holds() {
    let settings = FilterSettings::default();
    for expected in FilterRule::ALL {
        let (dropped, kept) = expected.example();
        assert_eq!(
            find_rule(dropped, &settings, Context::default()).map(|(rule, _)| rule),
            Some(*expected),
            "{dropped}"
        );
        assert_eq!(find_rule(kept, &settings, Context::default()), None, "{kept}");
    }
    assert_eq!(
        find_rule("", &settings, Context { images: 2 }).map(|(rule, _)| rule),
        Some(FilterRule::LinkOnly)
    );
}

#[test]
fn lengths_are_in_characters() {
    let settings = FilterSettings { min_chars: 2, max_chars: 3, ..FilterSettings::default() };
    assert_eq!(filter("云云云", &settings, Context::default()), None);
    assert_eq!(filter("云云云云", &settings, Context::default()).unwrap().0, Reason::TooLong);
    assert_eq!(filter("云。。", &settings, Context::default()).unwrap().0, Reason::TooShort);
}

fn squash(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn published_texts_survive() {
    let Some(root) = std::env::var_os("RIDDLEMILL_REFERENCE").map(std::path::PathBuf::from) else {
        eprintln!("skipped: RIDDLEMILL_REFERENCE is unset");
        return;
    };
    let lines = |path: &str| -> Vec<serde_json::Value> {
        // A published field contains a bare NaN, which is not JSON.
        let text = std::fs::read_to_string(root.join("data").join(path)).unwrap().replace(": NaN", ": null");
        text.lines().filter(|l| !l.trim().is_empty()).map(|l| serde_json::from_str(l).unwrap()).collect()
    };
    let array = |path: &str| -> Vec<serde_json::Value> {
        serde_json::from_str(&std::fs::read_to_string(root.join("data").join(path)).unwrap()).unwrap()
    };
    // Every raw text, and whether it was kept.
    let mut raw: HashMap<String, bool> = HashMap::new();
    let mut out: HashMap<String, bool> = HashMap::new();
    let (mut rows, mut dropped) = (0, Vec::new());
    let mut add = |draft: &PostText<'_>| {
        rows += 1;
        let cleaned = clean::clean(draft);
        let verdict = filter(&cleaned.text, &FilterSettings::default(), Context::default());
        for text in [draft.title, draft.content.unwrap_or_default()] {
            raw.insert(squash(text), true);
        }
        raw.insert(squash(&format!("{}{}", draft.title, draft.content.unwrap_or_default())), true);
        if draft.kind == DraftKind::NumberedPost
            && let Some(post) = draft.content.and_then(annual::numbered)
        {
            raw.insert(squash(post.text), true);
        }
        if verdict.is_none() && cleaned.verdict == CleanVerdict::Keep {
            out.insert(squash(&cleaned.text), true);
            if let Some(content) = &cleaned.content {
                out.insert(squash(content), true);
            }
            out.insert(squash(&cleaned.title), true);
        } else {
            dropped.push(format!("{verdict:?} {:?} {:.60}", cleaned.verdict, cleaned.text));
        }
    };
    for row in array("raw/leymore/ruozhiba-title-good.json") {
        add(&PostText {
            kind: DraftKind::Thread,
            title: row["title"].as_str().unwrap(),
            content: row["abs"].as_str(),
        });
    }
    for row in array("raw/leymore/ruozhiba-post-annual.json") {
        add(&PostText { kind: DraftKind::NumberedPost, title: "", content: row["content"].as_str() });
    }
    for tid in ["7339397421", "10354221105"] {
        for row in lines(&format!("raw/threads/{tid}_dump.jsonl")) {
            let text = row["text"].as_str().unwrap();
            if annual::numbered(text).is_some() {
                add(&PostText { kind: DraftKind::NumberedPost, title: "", content: Some(text) });
            }
        }
    }
    let mut published: Vec<String> = lines("reference/flub-dev.jsonl")
        .iter()
        .map(|row| row["text"].as_str().unwrap().to_owned())
        .chain(
            lines("reference/ruozhibench-gen-dev.jsonl")
                .iter()
                .map(|row| row["question_zh"].as_str().unwrap().to_owned()),
        )
        .collect();
    published.sort();
    published.dedup();
    let in_raw: Vec<_> = published.iter().filter(|text| raw.contains_key(&squash(text))).collect();
    let lost: Vec<_> = in_raw.iter().filter(|text| !out.contains_key(&squash(text))).collect();
    eprintln!("filter: {} of {rows} raw texts dropped: {dropped:#?}", dropped.len());
    eprintln!(
        "published: {} of {} stand in the dumps, {} lost: {lost:?}",
        in_raw.len(),
        published.len(),
        lost.len()
    );
    assert!(lost.is_empty());
}
