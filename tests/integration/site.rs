//! A release as static pages: whole, small, the same each time, and without anything that was not released.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use memchr::memmem;
use riddlemill::store::{StageReader, json_parts};
use serde_json::Value;

use crate::harness::{Tree, Workspace, assert_same, reference};
use crate::reviewed::{GEN, Reviewed, item, release};

pub const FLUB: &str = "output/flub/1.0.0-draft.1";
const GEN_1: &str = "output/ruozhibench-gen/1.0.0-draft.1";
/// The largest page, in bytes.
const PAGE: usize = 60_000;

/// The sample's recipe, run and released.
pub fn released(recipe: &str) -> Workspace {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "-q", "--recipe", recipe]).expect(0);
    ws.call(["release", recipe, "--date", "2026-01-02"]).expect(0);
    ws
}

pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn pages(site: &Tree) -> impl Iterator<Item = (&String, String)> {
    site.iter().filter(|(path, _)| path.ends_with(".html")).map(|(path, bytes)| (path, text_of(bytes)))
}

/// Where a link of a page leads, from the root of the site.
fn target(page: &str, link: &str) -> String {
    let mut at = PathBuf::from(page);
    at.pop();
    for part in Path::new(link.split(['#', '?']).next().unwrap()) {
        match part.to_str().unwrap() {
            ".." => assert!(at.pop(), "{page}: {link} leads out of the site"),
            part => at.push(part),
        }
    }
    at.display().to_string()
}

/// Every page is small, complete by itself, and leads to pages that exist.
pub fn assert_whole(site: &Tree) {
    let link = regex::Regex::new(r#"\b(?:href|src)="([^"]*)""#).unwrap();
    for (path, page) in pages(site) {
        assert!(page.len() <= PAGE, "{path}: {} bytes", page.len());
        assert!(
            page.contains(r#"http-equiv="Content-Security-Policy" content="default-src 'none';"#),
            "{path}"
        );
        let scripts = page.matches("<script").count();
        let is_table = path.rsplit('/').next().unwrap().starts_with("rows");
        assert_eq!(scripts, usize::from(is_table), "{path}: the search is the only script");
        assert!(
            !page.contains("<script>") && !page.contains("<style") && !page.contains(" style="),
            "{path}"
        );
        for found in link.captures_iter(&page) {
            let link = found[1].replace("&#x2f;", "/").replace("&amp;", "&");
            if !link.starts_with("https://") && !link.starts_with('#') {
                let target = target(path, &link);
                assert!(site.contains_key(&target), "{path}: {link} leads to {target}, which does not exist");
            }
        }
        let other = path.strip_prefix("zh/").map_or_else(|| format!("zh/{path}"), str::to_owned);
        assert!(site.contains_key(&other), "{path} is in one language only");
    }
}

#[test]
fn the_pages_of_the_sample_are_whole_and_the_same_each_time() {
    let ws = released("flub");
    let made = ws.call(["site", FLUB, "--out", "site"]).expect(0);
    assert!(made.out.starts_with("site: 28 rows") && made.err.contains("site/index.html"), "{}", made.out);
    let site = ws.tree("site");
    assert_whole(&site);
    let rows = ws.read(&format!("{FLUB}/data/flub/test.jsonl"));
    let first: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(ws.read("site/data/flub.jsonl").lines().count(), rows.lines().count());
    let of_rows = site.keys().filter(|path| path.starts_with("rows/") && path.ends_with(".html"));
    assert_eq!(of_rows.count(), 28);

    // Over the one before, elsewhere, and from a copy of the workspace whose stages were made again.
    ws.call(["site", FLUB, "--out", "site"]).expect(0);
    assert_same(&site, &ws.tree("site"), "written over");
    let copy = ws.copy();
    copy.remove("staged");
    copy.call(["run", "--offline", "-q", "--recipe", "flub"]).expect(0);
    copy.call(["site", FLUB, "--out", "deep/er/site"]).expect(0);
    assert_same(&site, &copy.tree("deep/er/site"), "made again elsewhere");

    // The row as a reader sees it: text, right option, way, place, votes as counts, drafts with their prompt.
    let row = regex::Regex::new(r"rows/[^.]+\.html").unwrap();
    let table = unescaped(&ws.read("site/rows.html"));
    let page = unescaped(&ws.read(&format!("site/{}", row.find(&table).unwrap().as_str())));
    for word in [
        first["text"].as_str().unwrap(),
        r#"class="post right""#,
        "In the dumps at:",
        "Votes written for the sample:",
        "written for the sample",
        "../prompts/",
        "In the set since its first version, 1.0.0-draft.1.",
    ] {
        assert!(page.contains(word), "no {word:?} in {page}");
    }
    let overview = unescaped(&ws.read("site/index.html"));
    for word in
        ["From posts to rows", "load_dataset", "riddlemill verify", "too long", "sample-annual/annual.json"]
    {
        assert!(overview.contains(word), "no {word:?} in the overview");
    }
    let left_out = ws.read("site/left-out.html");
    assert!(left_out.contains("<code>too_short</code>") && left_out.contains("云？"), "{left_out}");
    assert!(ws.read("site/zh/index.html").contains("从帖子到条目"));
    let space = ws.read("site/README.md");
    assert!(space.starts_with("---\ntitle: ") && space.contains("sdk: static"), "{space}");
}

/// The strings of JSON, whatever their keys.
fn strings(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { below(&path, found) } else { found.push(path) }
    }
}

/// Every string of every table of staged/, and of every file of raw/.
fn private(ws: &Workspace) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut files = Vec::new();
    below(&ws.path("staged"), &mut files);
    for manifest in files.iter().filter(|path| path.ends_with("manifest.json")) {
        let stage = StageReader::open(manifest.parent().unwrap()).unwrap().unwrap();
        for table in stage.manifest().tables.keys() {
            for part in json_parts(&stage, table, &[]) {
                part.unwrap()
                    .iter()
                    .flat_map(|row| row.values())
                    .for_each(|value| strings(value, &mut found));
            }
        }
    }
    files.clear();
    below(&ws.path("raw"), &mut files);
    // A dictionary and its words are everybody's; an earlier version's rows are in the release or have pages.
    files.retain(|path| !["wordnet", "releases"].iter().any(|part| path.iter().any(|p| p == *part)));
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let bytes = match file.extension().is_some_and(|ending| ending == "zst") {
            true => zstd::decode_all(bytes.as_slice()).unwrap(),
            false => bytes,
        };
        let text = text_of(&bytes);
        match serde_json::from_str::<Value>(&text) {
            Ok(whole) => strings(&whole, &mut found),
            Err(_) => {
                let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
                lines.for_each(|line| strings(&line, &mut found));
                if text.len() < 200 {
                    found.insert(text.trim().to_owned());
                }
            }
        }
    }
    found
}

/// Without the escapes of HTML.
pub fn unescaped(text: &str) -> String {
    let pairs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&#x2f;", "/")];
    pairs.iter().fold(text.to_owned(), |text, (code, c)| text.replace(code, c)).replace("&amp;", "&")
}

/// Whether a text has this name as a word of its own: `tieba:12` is not in `tieba:123`.
fn has_word(text: &[u8], word: &str) -> bool {
    let ends = |at: Option<&u8>| {
        at.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-' && *byte != b'_')
    };
    memmem::find_iter(text, word).any(|at| {
        ends(at.checked_sub(1).and_then(|before| text.get(before))) && ends(text.get(at + word.len()))
    })
}

/// Names: ids of posts and votes, hashes, places, people.
fn is_name(text: &str) -> bool {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:/#".contains(&b));
    plain && text.len() >= 5 && text.bytes().any(|b| b.is_ascii_digit())
}

/// Takes every text, name, id and vote of staged/ and raw/ that is not in the release, and finds none in the site. Of a
/// large workspace it takes `most` of each, evenly. Returns how many were looked for.
fn assert_no_leak(ws: &Workspace, release: &str, site: &str, most: usize) -> usize {
    let join = |tree: &Tree, of: &dyn Fn(&str) -> bool| {
        let texts = tree.iter().filter(|(path, _)| of(path)).map(|(_, bytes)| unescaped(&text_of(bytes)));
        texts.collect::<Vec<_>>().join("\n")
    };
    let tree = ws.tree(release);
    let all = join(&tree, &|path| !path.ends_with(".parquet"));
    // The manifest and the card name posts that wait; the pages do not.
    let rows = join(&tree, &|path| path.starts_with("data/") && path.ends_with(".jsonl"));
    let files = join(&tree, &|path| path == "MANIFEST.json");
    let files: Value = serde_json::from_str(&files).unwrap();
    let mut stated = BTreeSet::new();
    for key in ["raw", "recipe", "version", "stages", "riddlemill", "date"] {
        strings(&files[key], &mut stated);
    }
    // Where released rows stand in the dumps is what their pages are for.
    let mut placed = Vec::new();
    for row in rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let found = ws.call(["explain", row["source_id"].as_str().unwrap(), "--json"]).expect(0).out;
        placed.push(found);
    }
    let placed = placed.join("\n");
    let site = ws.tree(site);
    let shown = join(&site, &|_| true);
    let every = private(ws);
    let (names, texts): (Vec<String>, Vec<String>) = every.into_iter().partition(|text| is_name(text));
    // Codes of rules, states, steps and options are words of the program.
    let is_code = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b"_:- ".contains(&b));
    let some = |list: Vec<String>| {
        let step = list.len().div_ceil(most).max(1);
        list.into_iter().step_by(step)
    };
    let mut looked = 0;
    for name in some(names) {
        let released = stated.contains(&name)
            || has_word(rows.as_bytes(), &name)
            || name.contains('/') && has_word(placed.as_bytes(), &name);
        if !released {
            looked += 1;
            assert!(!has_word(shown.as_bytes(), &name), "{name} is in the pages");
        }
    }
    // Shorter words of English are words of the pages.
    let is_text =
        |text: &String| text.chars().count() >= if text.is_ascii() { 10 } else { 6 } && !is_code(text);
    for text in some(texts).filter(is_text) {
        // A released row is JSON: its line breaks are escaped.
        let json = serde_json::to_string(&text).unwrap();
        let is_released = [text.as_str(), json.trim_matches('"')]
            .iter()
            .any(|text| memmem::find(all.as_bytes(), text.as_bytes()).is_some());
        if !is_released {
            looked += 1;
            assert!(memmem::find(shown.as_bytes(), text.as_bytes()).is_none(), "{text:?} is in the pages");
        }
    }
    for who in ["annotator-1", "annotator-2", "junior-1", "senior-1", "meta-1"] {
        assert!(!shown.contains(who), "{who} is in the pages");
    }
    looked
}

#[test]
fn what_was_not_released_is_in_no_page() {
    for recipe in ["flub", GEN, "chumor"] {
        let ws = released(recipe);
        let release = format!("output/{recipe}/1.0.0-draft.1");
        ws.call(["site", &release, "--out", "site"]).expect(0);
        assert_whole(&ws.tree("site"));
        let looked = assert_no_leak(&ws, &release, "site", usize::MAX);
        assert!(looked > 1_000, "{recipe}: {looked} texts and names were looked for");
    }
}

/// Real dumps with 35,000 scripted votes, to the end of FLUB.
#[test]
fn a_large_set_leaks_nothing_and_stays_small() {
    let Some(reference) = reference() else { return };
    let voted = reference.join("data/workspaces/voted");
    if !voted.exists() {
        eprintln!("skipped: {} does not exist", voted.display());
        return;
    }
    let ws = Workspace::folder();
    ws.call(["init", "--empty", "--quiet"]).expect(0);
    let copied = |from: PathBuf, to: &str| {
        let done = std::process::Command::new("cp").arg("-r").arg(from).arg(ws.path(to)).status().unwrap();
        assert!(done.success());
    };
    copied(voted.join("raw/."), "raw/");
    fs::create_dir_all(ws.path("raw/dumps")).unwrap();
    copied(reference.join("data/raw/leymore/ruozhiba-title-good.json"), "raw/dumps/");
    copied(reference.join("data/raw/leymore/ruozhiba-post-annual.json"), "raw/dumps/");
    for entry in fs::read_dir(reference.join("data/raw/threads")).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with("_dump.jsonl") {
            copied(path, "raw/dumps/");
        }
    }
    let settings = fs::read_to_string(voted.join("settings.toml")).unwrap();
    ws.write("pipeline.toml", ws.read("pipeline.toml") + "\n" + &settings);
    ws.call(["run", "--offline", "-q", "--recipe", "flub"]);
    // Some of the scripted rewritings are one sentence: the message says which to drop.
    let refused = ws.call(["release", "flub", "--draft", "--date", "2026-01-02"]).err;
    for record in refused.split("`riddlemill decide drop ").skip(1).filter_map(|rest| rest.split(' ').next())
    {
        let why = ["--recipe", "flub", "--by", "meta", "--why", "one sentence twice"];
        ws.call(["decide", "drop", record].iter().chain(&why)).expect(0);
    }
    ws.call(["run", "--offline", "-q", "--recipe", "flub"]);
    ws.call(["release", "flub", "--draft", "--date", "2026-01-02"]).expect(0);
    let release = fs::read_dir(ws.path("output/flub")).unwrap().map(|entry| entry.unwrap().file_name());
    let release = release.map(|name| name.into_string().unwrap()).find(|name| name.starts_with('1')).unwrap();
    let release = format!("output/flub/{release}");
    let began = Instant::now();
    ws.call(["site", &release, "--out", "site"]).expect(0);
    eprintln!("site: {:.1} s", began.elapsed().as_secs_f64());
    let site = ws.tree("site");
    assert_whole(&site);
    let rows = ws.read("site/data/flub.jsonl").lines().count();
    let bytes: usize = site.values().map(Vec::len).sum();
    assert!(rows > 1_000, "{rows} rows");
    assert!(bytes / rows <= 20_000, "{bytes} bytes of {rows} rows: 2,000 rows have 40 MB");
    assert!(site.iter().all(|(path, bytes)| !path.ends_with(".js") || bytes.len() <= PAGE));
    assert!(assert_no_leak_of_many(&ws, &release) > 1_000);
}

/// [`assert_no_leak`] without asking for the way of every row.
fn assert_no_leak_of_many(ws: &Workspace, release: &str) -> usize {
    let site = ws.tree("site");
    let shown: Vec<String> = site
        .iter()
        .filter(|(path, _)| !path.starts_with("zh/rows/"))
        .map(|(_, bytes)| unescaped(&text_of(bytes)))
        .collect();
    let shown = shown.join("\n");
    let released = ws.tree(release);
    let released: Vec<String> = released
        .iter()
        .filter(|(path, _)| !path.ends_with(".parquet"))
        .map(|(_, bytes)| text_of(bytes))
        .collect();
    let released = released.join("\n");
    let long = |text: &String| text.chars().count() >= 10 && !text.is_ascii();
    let texts: Vec<String> = private(ws).into_iter().filter(long).collect();
    let step = texts.len().div_ceil(3_000).max(1);
    let mut looked = 0;
    for text in texts.iter().step_by(step) {
        // A line break before it is a space in a table's cell.
        let text = text.trim();
        // A released row is JSON: its line breaks are escaped.
        let json = serde_json::to_string(text).unwrap();
        if memmem::find(released.as_bytes(), json.trim_matches('"').as_bytes()).is_none() {
            looked += 1;
            assert!(memmem::find(shown.as_bytes(), text.as_bytes()).is_none(), "{text:?} is in the pages");
        }
    }
    looked
}

#[test]
fn hostile_texts_do_nothing_in_the_pages() {
    let mut people = Reviewed::new();
    people.add(&[
        item(
            "<script>alert(1)</script>雨伞会不会怕水？",
            "</title><img src=x onerror=alert(2)> Is an umbrella afraid of \"water\"?",
            "=HYPERLINK(\"http://a.example\";\"x\") it has no fears & <b>never</b> had",
            None,
            "2(Commonsense Misunderstanding)",
        ),
        item(
            "javascript:alert(3) 镜子会不会看腻我？",
            "Is the mirror tired of me? {{ 7 * 7 }} {% raw %}",
            "A mirror </dd></dl></main><svg/onload=alert(4)> sees nothing.",
            None,
            "2(Commonsense Misunderstanding)",
        ),
    ]);
    let ws = &people.ws;
    people.release(&["--draft"]).expect(0);
    let version = fs::read_dir(ws.path(&format!("output/{GEN}"))).unwrap();
    let mut versions = version.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let version = versions.find(|name| name.starts_with('1')).unwrap();
    ws.call(["site", &format!("output/{GEN}/{version}"), "--out", "site"]).expect(0);
    let site = ws.tree("site");
    assert_whole(&site);
    for (path, page) in pages(&site) {
        for hostile in ["<script>alert", "<img src=x", "<svg/onload", "</dd></dl></main><svg", "<b>never"] {
            assert!(!page.contains(hostile), "{path}: {hostile}");
        }
        assert!(!page.contains("href=\"javascript:") && !page.contains("href=\"http://a.example"), "{path}");
    }
    let row =
        site.iter().find(|(path, _)| path.starts_with("rows/RB-")).map(|(_, page)| text_of(page)).unwrap();
    assert!(row.contains("&lt;") && row.contains("lang=\"en\""), "{row}");
    // The index is data for a script, and nothing else.
    for (path, piece) in site.iter().filter(|(path, _)| path.starts_with("index/") && path.ends_with(".js")) {
        let piece = text_of(piece);
        let list = piece.strip_prefix("riddlemill(").and_then(|rest| rest.trim_end().strip_suffix(");"));
        assert!(list.is_some_and(|list| serde_json::from_str::<Value>(list).is_ok()), "{path}: {piece}");
    }
    // Votes of people are counts.
    assert!(row.contains("Votes of people: 3."), "{row}");
    assert!(site.values().all(|bytes| !text_of(bytes).contains("annotator-1")));
}

#[test]
fn a_withdrawn_row_keeps_its_page_and_nothing_else() {
    let ws = released(GEN);
    ws.call(["site", GEN_1, "--out", "site"]).expect(0);
    let before = ws.tree("site");
    let row = ws.candidates(GEN).remove(0);
    let number = row["id"].as_str().unwrap();
    let page = format!("rows/{number}.html");
    assert!(text_of(&before[&page]).contains(row["question_zh"].as_str().unwrap()));
    ws.call(["withdraw", number, "--reason", "its author asked"]).expect(0);
    let gone = |version: &str, more: &str| {
        let site = ws.tree("site");
        assert_whole(&site);
        for language in ["", "zh/"] {
            let page = text_of(&site[&format!("{language}{page}")]);
            assert!(page.contains("was withdrawn") || page.contains("已撤回"), "{version}: {page}");
            assert!(page.contains(more), "{version}: {page}");
        }
        let texts = ["question_zh", "question_en", "irrationality", "source_id"];
        for (path, bytes) in &site {
            let text = unescaped(&text_of(bytes));
            for column in texts {
                assert!(!text.contains(row[column].as_str().unwrap()), "{version}: {column} is in {path}");
            }
            assert!(!text.contains("its author asked"), "{version}: the reason is in {path}");
        }
        // The addresses of all pages stay.
        let missing: Vec<_> =
            before.keys().filter(|path| path.contains("rows/") && !site.contains_key(*path)).collect();
        assert!(missing.is_empty(), "{version}: {missing:?}");
    };
    // At once, and in the next version.
    let made = ws.call(["site", GEN_1, "--out", "site"]).expect(0);
    assert!(made.out.contains("1 page of withdrawn"), "{}", made.out);
    gone("the version that has it", "1.0.0-draft.1");
    ws.call(["run", "--offline", "-q", "--recipe", GEN]).expect(0);
    release(&ws, &[]).expect(0);
    ws.call(["site", "output/ruozhibench-gen/1.0.0-draft.2", "--out", "site"]).expect(0);
    gone("the version after", "1.0.0-draft.1");
    let site = ws.tree("site");
    let unchanged = pages(&site).filter(|(path, page)| {
        path.starts_with("rows/RB-") && page.contains("Unchanged since 1.0.0-draft.1.")
    });
    assert!(unchanged.count() > 5);
}

#[test]
fn texts_before_a_change_need_the_setting() {
    let ws = released("flub");
    let marked = |page: &str| page.contains("<del>") || page.contains("<ins>");
    ws.call(["site", FLUB, "--out", "site"]).expect(0);
    let site = ws.tree("site");
    assert!(pages(&site).all(|(_, page)| !marked(&page)));
    assert!(pages(&site).any(|(_, page)| page.contains("What it was before is not published")));
    ws.call(["site", FLUB, "--out", "site", "--set", "site.originals=true"]).expect(0);
    let site = ws.tree("site");
    assert!(pages(&site).any(|(_, page)| marked(&page)));
    assert_whole(&site);
}
