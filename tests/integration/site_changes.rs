//! What the pages of a release say of the version before: which rows left and why, which came, and what changed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{Tree, Workspace, assert_same};
use crate::site::{assert_whole, pages, released, text_of, unescaped};

/// Settings under which four rows of the sample are too short, and options are in another order.
const OTHERWISE: [&str; 4] = ["--set", "filter.min_chars=20", "--set", "options.seed=2"];
const TWO: &str = "output/flub/1.0.0-draft.2";

/// The sample's FLUB, released twice.
fn released_twice() -> Workspace {
    let ws = released("flub");
    ws.call(["run", "--offline", "-q", "--recipe", "flub"].iter().chain(&OTHERWISE)).expect(0);
    ws.call(["release", "flub", "--date", "2026-01-03"].iter().chain(&OTHERWISE)).expect(0);
    ws
}

fn site(ws: &Workspace, more: &[&str]) -> Tree {
    ws.call(["site", TWO, "--out", "site"].iter().chain(&OTHERWISE).chain(more)).expect(0);
    let site = ws.tree("site");
    assert_whole(&site);
    site
}

fn rows(ws: &Workspace, version: &str) -> Vec<Value> {
    let text = ws.read(&format!("output/flub/{version}/data/flub/test.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_reader_sees_what_left_and_why_and_what_changed() {
    let ws = released_twice();
    let (old, new) = (rows(&ws, "1.0.0-draft.1"), rows(&ws, "1.0.0-draft.2"));
    let kept: BTreeSet<&str> = new.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let (stayed, left): (Vec<&Value>, Vec<&Value>) =
        old.iter().partition(|row| kept.contains(row["id"].as_str().unwrap()));
    assert_eq!((old.len(), new.len(), left.len()), (28, 24, 4));
    let site = site(&ws, &[]);
    let page = |path: &str| unescaped(&text_of(&site[path]));

    // All of it on pages of its own, in both languages.
    let all: String = pages(&site)
        .filter(|(path, _)| path.starts_with("changes/1.0.0-draft.2"))
        .map(|(_, page)| unescaped(&page))
        .collect();
    assert!(all.contains("28 → 24") && all.contains("(−4)"), "{all}");
    assert!(page("zh/changes/1.0.0-draft.2.html").contains("从 1.0.0-draft.1 到 1.0.0-draft.2"));
    assert!(!site.contains_key("changes/1.0.0-draft.1.html"), "the first version has none before it");
    assert_eq!(all.matches("<code>too_short</code>").count(), left.len(), "{all}");
    for row in &left {
        let (id, text) = (row["id"].as_str().unwrap(), row["text"].as_str().unwrap());
        assert!(all.contains(&format!("../rows/{id}.html")), "{id}");
        assert!(page(&format!("rows/{id}.html")).contains("<code>too_short</code>"), "{id}");
        // The evidence would tell how long it was, and its text is not in the set any more.
        assert!(pages(&site).all(|(_, page)| !unescaped(&page).contains(text)), "{text}");
        assert!(!all.contains("of at least 20"), "{all}");
    }

    // Labels before and after; texts as they were are not published.
    let moved = stayed.iter().find(|row| {
        let now = new.iter().find(|now| now["id"] == row["id"]).unwrap();
        now["answer"] != row["answer"]
    });
    let before = moved.unwrap();
    let after = new.iter().find(|row| row["id"] == before["id"]).unwrap();
    let row = page(&format!("rows/{}.html", before["id"].as_str().unwrap()));
    let [was, is] = [before, after].map(|row| row["answer"].as_str().unwrap());
    assert!(row.contains("Changed since 1.0.0-draft.1"), "{row}");
    assert!(row.contains(&format!("<del>{was}</del>")) && row.contains(&format!("<ins>{is}</ins>")), "{row}");
    assert!(row.contains("What the text was before is not published."), "{row}");
    assert!(row.contains("../changes/1.0.0-draft.2.html"), "{row}");

    // The overview lists them, and leads on.
    let overview = page("index.html");
    assert!(overview.contains("From 1.0.0-draft.1 to 1.0.0-draft.2"), "{overview}");
    assert!(overview.contains("too_short") && overview.contains("changes/1.0.0-draft.2.html"), "{overview}");
}

#[test]
fn values_of_the_version_before_need_the_setting_and_the_bytes_are_the_same_each_time() {
    let ws = released_twice();
    let first = site(&ws, &[]);
    assert_same(&first, &site(&ws, &[]), "written again");
    // Options are texts: the same ones in another order.
    let hidden = "What the text was before is not published.";
    assert!(pages(&first).any(|(path, page)| path.starts_with("changes/") && page.contains(hidden)));
    let open = site(&ws, &["--set", "site.originals=true"]);
    assert!(pages(&open).all(|(path, page)| !path.starts_with("changes/") || !page.contains(hidden)));
    let changed = pages(&open).filter(|(path, page)| path.starts_with("changes/") && page.contains("<del>"));
    assert!(changed.count() > 0);
}
