//! The real dumps through the three recipes, compared with labels and published sets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use riddlemill::record::{Entry, Post, State};
use riddlemill::store::StageReader;
use serde_json::Value;

use crate::harness::{RECIPES, Workspace, reference};

/// The real dumps, run through the three recipes.
fn real(reference: &Path) -> Workspace {
    let at = |path: &str| reference.join("data/raw").join(path).display().to_string();
    let source = crate::harness::source;
    let settings = source("recommended", "leymore-titles", &at("leymore/ruozhiba-title-good.json"))
        + &source("annual", "leymore-annual", &at("leymore/ruozhiba-post-annual.json"))
        + &source("threads", "thread-dump", &at("threads/*.jsonl"));
    let ws = Workspace::with(&settings);
    ws.run();
    ws
}

fn stage(ws: &Workspace, recipe: &str, stage: &str) -> StageReader {
    StageReader::open(&ws.path(&format!("staged/{recipe}/{stage}"))).unwrap().unwrap()
}

/// Without whitespace, and without the bars inserted against word filters, which the labels keep and clean
/// removes.
fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '丨').collect()
}

/// Without whitespace and punctuation.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn rows(path: &Path) -> Vec<Value> {
    // The published file contains the bare token NaN, which is not JSON.
    let text = fs::read_to_string(path).unwrap().replace(": NaN", ": null");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_jokes_of_annual_threads() {
    let Some(reference) = reference() else { return };
    let ws = real(&reference);
    let posts: Vec<Post> = stage(&ws, "chumor", "02_clean").read_table("rows").unwrap();
    let mut threads = 0;
    for entry in fs::read_dir(reference.join("gold")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let Some(tid) = name.strip_prefix("annual-thread-") else { continue };
        threads += 1;
        let gold: Vec<Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let mut want: HashMap<String, i64> = HashMap::new();
        for joke in &gold {
            *want.entry(without_space(joke["text"].as_str().unwrap())).or_default() += 1;
        }
        let found: Vec<&Post> = posts.iter().filter(|p| p.id.starts_with(&format!("tieba:{tid}:"))).collect();
        let mut hits = 0;
        let mut strangers = Vec::new();
        for post in &found {
            match want.get_mut(&without_space(&post.text)) {
                Some(n) if *n > 0 => {
                    *n -= 1;
                    hits += 1;
                }
                _ => strangers.push(post.text.clone()),
            }
        }
        let recall = f64::from(hits) / gold.len() as f64;
        let precision = f64::from(hits) / found.len() as f64;
        eprintln!(
            "annual thread {tid}: {} labelled, {} found, recall {recall:.4}, precision {precision:.4}",
            gold.len(),
            found.len()
        );
        let missed: Vec<&String> = want.iter().filter(|(_, n)| **n > 0).map(|(text, _)| text).collect();
        assert!(recall >= 0.99 && precision >= 0.99, "{tid}: missed {missed:#?}\nstrangers {strangers:#?}");
    }
    assert!(threads >= 2, "{threads} labelled threads");
}

#[test]
fn published_texts_that_are_in_the_dumps_are_candidates() {
    let Some(reference) = reference() else { return };
    let ws = real(&reference);
    ws.audit_clean();
    let sets =
        [("flub", "flub-dev.jsonl", "text"), ("ruozhibench-gen", "ruozhibench-gen-dev.jsonl", "question_zh")];
    for (recipe, file, field) in sets {
        // Which records have the text: as in the dump, or after removing numbering and scores.
        let mut says: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in ["01_import", "02_clean"] {
            let posts: Vec<Post> = stage(&ws, recipe, name).read_table("rows").unwrap();
            for post in posts {
                for text in
                    [Some(&post.text), post.title.as_ref(), post.content.as_ref()].into_iter().flatten()
                {
                    says.entry(key(text)).or_default().insert(post.id.clone());
                }
            }
        }
        // Models' drafts and people's decisions come later.
        let kept: Vec<Post> = stage(&ws, recipe, "05_dedup").read_table("rows").unwrap();
        let candidates: BTreeSet<String> = kept.into_iter().map(|post| post.id).collect();
        let ledger: Vec<Entry> = stage(&ws, recipe, "05_dedup").read_table("ledger").unwrap();
        let merged: HashMap<String, String> = ledger
            .into_iter()
            .filter(|e| e.outcome == State::Merged.code())
            .filter_map(|e| Some((e.id, e.into?)))
            .collect();
        let lands = |id: &String| candidates.contains(merged.get(id).unwrap_or(id));
        let (mut stand, mut lost) = (0, Vec::new());
        let published = rows(&reference.join("data/reference").join(file));
        for row in &published {
            let text = row[field].as_str().unwrap();
            let Some(ids) = says.get(&key(text)) else { continue };
            stand += 1;
            if !ids.iter().any(lands) {
                lost.push(format!("{text}  {ids:?}"));
            }
        }
        eprintln!(
            "{recipe}: {} published texts, {stand} stand in the dumps, {} of them are candidates",
            published.len(),
            stand - lost.len()
        );
        assert!(stand > 0, "{recipe}: nothing stands in the dumps, so nothing is measured");
        assert!(
            lost.is_empty(),
            "{recipe}: {} of {stand} are no candidates:\n{}",
            lost.len(),
            lost.join("\n")
        );
    }
}

#[test]
fn the_books_of_the_real_dumps() {
    let Some(reference) = reference() else { return };
    let ws = real(&reference);
    ws.audit_clean();
    let before = ws.derived();
    ws.run();
    crate::harness::assert_same(&before, &ws.derived(), "a second run over the real dumps");
    for recipe in RECIPES {
        eprintln!("{recipe}: {} candidates", ws.candidates(recipe).len());
    }
}

#[test]
fn names_of_real_users_stay_inside() {
    let Some(reference) = reference() else { return };
    let ws = real(&reference);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let raw = reference.join("data/raw");
    let json =
        |path: &Path| -> Vec<Value> { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let mut posts = json(&raw.join("leymore/ruozhiba-title-good.json"));
    posts.extend(json(&raw.join("leymore/ruozhiba-post-annual.json")));
    for file in fs::read_dir(raw.join("threads")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        posts.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    for field in ["lz", "author", "user_name"] {
        names.extend(posts.iter().filter_map(|post| Some(post[field].as_str()?.to_owned())));
    }
    names.retain(|name| name.chars().count() >= 3);
    // What remains here may reach output/.
    let mut left: BTreeMap<String, String> = BTreeMap::new();
    for recipe in ["chumor", "flub", "ruozhibench-gen"] {
        let posts: Vec<Post> = stage(&ws, recipe, "05_dedup").read_table("rows").unwrap();
        for post in &posts {
            let result = [Some(&post.text), post.title.as_ref(), post.content.as_ref(), post.note.as_ref()];
            for text in result.into_iter().flatten() {
                let named = names.iter().filter(|name| text.contains(name.as_str()));
                left.extend(named.map(|name| (name.clone(), text.clone())));
            }
        }
    }
    eprintln!("of {} names of three characters and more {} are left: {left:?}", names.len(), left.len());
    // A hotline and a hope: the name begins inside a word, so it is not a name there.
    let left: Vec<&str> = left.keys().map(String::as_str).collect();
    assert_eq!(
        (names.len(), left),
        (3131, vec!["卖草莓星人", "大夫吃病人", "病死鸡", "百慕大三角裤衩", "线希望"])
    );
}
