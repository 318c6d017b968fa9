//! Checks that reviews forget: who may import whom, import loops, paths of somebody's machine, stray panics,
//! errors that are texts, documentation that is missing or says nothing, names that say nothing, long files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/errors.rs"]
mod errors;
#[path = "tidy/names.rs"]
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use riddlemill::record::Reason;
use riddlemill::text::clean::Rule;

/// The rooms in the order of dependency: a room imports its own rank and lower ones. Between crates Cargo
/// enforces it, too.
const RANKS: &[&[&str]] = &[
    &["notation", "text", "join", "vectors", "options", "shortcuts", "offline", "puzzle", "replies"],
    &["config", "warc", "pages", "crawl", "fetch"],
    &["stages"],
    &["recipe"],
    &["pipeline"],
    &["search"],
    &["cli"],
];

/// Crates without tables and network, so that they build in a minute and can be used elsewhere.
const BARE: &[&str] = &["benchmarks", "files", "record", "schema", "text"];

/// Crates that are one room.
const ONE_ROOM: &[&str] = &[
    "benchmarks",
    "evaluate",
    "figures",
    "files",
    "http",
    "llm",
    "record",
    "release",
    "report",
    "review",
    "schema",
    "tables",
    "web",
];

/// Files that may be long, each with its reason.
const LONG: &[(&str, &str)] = &[
    ("crates/review/src/exchange/tests.rs", "one table of cases a format of exchange"),
    ("crates/llm/src/tests.rs", "one scripted server for all of them"),
    ("tests/crawl.rs", "one scripted site for all of them"),
];

/// Longer files contain two subjects.
const LINES: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files under a folder, relative to the repository.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        let relative = path.strip_prefix(root()).unwrap().to_path_buf();
        if path.is_dir() {
            found.extend(files(&relative.to_string_lossy()));
        } else {
            found.push(relative);
        }
    }
    found.sort();
    found
}

/// The folders of the crates' code, the root's first.
fn crates() -> Vec<String> {
    let mut folders = vec!["src".to_string()];
    let below = fs::read_dir(root().join("crates")).unwrap();
    folders.extend(below.map(|e| format!("crates/{}/src", e.unwrap().file_name().to_string_lossy())));
    folders.sort();
    folders
}

/// The room of a file: its module below the crate. `None` in a crate that is one room, where Cargo enforces
/// the order.
fn room_of(path: &str) -> Option<&str> {
    let room = match path.split('/').collect::<Vec<_>>().as_slice() {
        ["crates", krate, ..] if ONE_ROOM.contains(krate) => return None,
        ["crates", _, "src", room, ..] | ["src", room, ..] => *room,
        _ => return None,
    };
    Some(room.trim_end_matches(".rs")).filter(|room| !["lib", "main"].contains(room))
}

fn sources() -> Vec<(String, String)> {
    let all = crates().iter().flat_map(|folder| files(folder)).collect::<Vec<_>>();
    let rust = all.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs"));
    rust.map(|p| (p.to_string_lossy().into_owned(), fs::read_to_string(root().join(&p)).unwrap())).collect()
}

/// The code of a file without comments and test-only code.
fn code(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut rest = text.lines().enumerate().peekable();
    while let Some((i, line)) = rest.next() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("#[cfg(test)]") && rest.peek().is_some_and(|(_, next)| next.contains("mod ")) {
            if rest.peek().is_some_and(|(_, next)| next.trim_end().ends_with(';')) {
                rest.next();
                continue;
            }
            // A test module is the last thing in its file.
            break;
        }
        if !trimmed.starts_with("//") {
            lines.push((i + 1, line));
        }
    }
    lines
}

/// Whether a file is only compiled for tests, by its module declaration.
fn only_for_tests(path: &str, all: &[(String, String)]) -> bool {
    let path = Path::new(path);
    let (Some(stem), Some(folder)) = (path.file_stem(), path.parent()) else { return false };
    let stem = stem.to_string_lossy();
    let declared = [format!("mod {stem};"), format!("#[path = \"{stem}.rs\"]")];
    all.iter()
        .filter(|(p, _)| Path::new(p).parent() == Some(folder) || Path::new(p) == folder.with_extension("rs"))
        .any(|(_, text)| {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            lines.windows(2).any(|two| two[0] == "#[cfg(test)]" && declared.iter().any(|d| two[1] == d))
        })
}

/// The rooms that a line names after `crate::` or after another crate of ours.
fn rooms_in(line: &str) -> Vec<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    let mut rooms = Vec::new();
    // `$crate::` in a macro and `crate::` in a path are the same for this rule.
    let own = line.match_indices("crate::").map(|(at, found)| &line[at + found.len()..]);
    let others = line.match_indices("riddlemill_").filter_map(|(at, _)| line[at..].split_once("::"));
    for rest in own.chain(others.map(|(_, rest)| rest)) {
        match rest.strip_prefix('{') {
            Some(list) => {
                rooms.extend(list.split('}').next().unwrap_or_default().split(',').map(|r| word(r.trim())))
            }
            None => rooms.push(word(rest)),
        }
    }
    rooms.retain(|room| !room.is_empty());
    rooms
}

fn rank(room: &str) -> Option<usize> {
    RANKS.iter().position(|rooms| rooms.contains(&room))
}

#[test]
fn dependencies_point_one_way() {
    let all = sources();
    let mut wrong = Vec::new();
    let mut unranked = BTreeSet::new();
    for (path, text) in all.iter().filter(|(path, _)| !only_for_tests(path, &all)) {
        let Some(room) = room_of(path) else { continue };
        let Some(own) = rank(room) else {
            unranked.insert(room.to_string());
            continue;
        };
        for (number, line) in code(text) {
            for other in rooms_in(line) {
                match rank(&other) {
                    Some(theirs) if theirs > own => {
                        wrong.push(format!("{path}:{number}: {room} imports {other}"))
                    }
                    // Macros and constants of the crate are not rooms.
                    _ => {}
                }
            }
        }
    }
    assert!(unranked.is_empty(), "give these rooms a rank in tests/tidy.rs: {unranked:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_loop() {
    let found = crates().iter().flat_map(|folder| circles::circles(root(), folder)).collect::<Vec<_>>();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

#[test]
fn bare_crates_stay_bare() {
    for krate in BARE {
        let manifest = fs::read_to_string(root().join("crates").join(krate).join("Cargo.toml")).unwrap();
        for heavy in ["polars", "tokio", "reqwest", "rusqlite"] {
            assert!(!manifest.contains(heavy), "riddlemill-{krate} builds without {heavy}");
        }
    }
}

#[test]
fn no_path_of_a_machine() {
    let top = fs::read_dir(root()).unwrap().map(|e| e.unwrap()).filter(|e| e.path().is_file());
    let top = top
        .map(|e| PathBuf::from(e.file_name()))
        .filter(|p| ![".git", "Cargo.lock"].map(Path::new).contains(&p.as_path()));
    let below = [
        "src",
        "crates",
        "tests",
        "benches",
        "examples",
        "docs",
        "fuzz",
        ".ci",
        "raw/sample",
        "cluster",
        "python",
    ]
    .into_iter()
    .flat_map(files);
    // Pages as served by a forum, with the paths used there.
    let below = below.filter(|p| !p.starts_with("tests/fixtures"));
    let mut found = Vec::new();
    for path in top.chain(below) {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (i, line) in text.lines().enumerate() {
            for start in ["work", "root", "home", "tmp", "Users"] {
                let needle = format!("/{start}/");
                // The start of a path, not part of a link or of a pattern.
                let starts = line.match_indices(&needle).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    before.is_none_or(|c| c.is_whitespace() || "\"'`(=:".contains(c))
                });
                if starts {
                    found.push(format!("{}:{}: {}", path.display(), i + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_stray_panics() {
    let all = sources();
    let mut found = Vec::new();
    for (path, text) in all.iter().filter(|(path, _)| !only_for_tests(path, &all)) {
        for (number, line) in code(text) {
            let stray =
                [".unwrap()", "todo!(", "unimplemented!(", "dbg!("].iter().find(|s| line.contains(**s));
            if let Some(stray) = stray {
                found.push(format!("{path}:{number}: {stray}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Functions whose errors may be texts: clap parses arguments with them, and prints the text with the argument.
const PLAIN_ERRORS: &[(&str, &[&str])] =
    &[("src/cli/args.rs", &["split", "dollars"]), ("src/cli/args/release.rs", &["from_str"])];

#[test]
fn errors_are_types() {
    let all = sources();
    let mut found = Vec::new();
    for (path, text) in all.iter().filter(|(path, _)| !only_for_tests(path, &all)) {
        let allowed = PLAIN_ERRORS.iter().find(|(file, _)| file == path).map_or(&[][..], |(_, all)| all);
        let plain = errors::plain_text(text);
        for gone in allowed.iter().filter(|name| !plain.iter().any(|function| function == *name)) {
            found.push(format!("{path}: `{gone}` returns no text as its error any more"));
        }
        let wrong = plain.iter().filter(|function| !allowed.contains(&function.as_str()));
        found.extend(wrong.map(|function| format!("{path}: an error of `{function}` is a String")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn documentation_says_something() {
    let all = sources();
    let mut found = Vec::new();
    for (path, text) in all.iter().filter(|(path, _)| !only_for_tests(path, &all)) {
        let file = syn::parse_file(text).unwrap();
        found.extend(
            docs::undocumented(&file).iter().map(|name| format!("{path}: `{name}` has no documentation")),
        );
        // Of arguments it is the help.
        let repeated = if path.starts_with("src/cli/args") { Vec::new() } else { docs::repeated(&file) };
        found
            .extend(repeated.iter().map(|name| format!("{path}: the documentation of `{name}` is its name")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn files_hold_one_thing() {
    let rust = ["src", "crates", "tests", "benches", "examples"].into_iter().flat_map(files);
    let mut long = Vec::new();
    for path in rust.filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let lines = fs::read_to_string(root().join(&path)).unwrap().lines().count();
        let name = path.to_string_lossy().into_owned();
        if lines > LINES && !LONG.iter().any(|(known, _)| *known == name) {
            long.push(format!("{name}: {lines} lines"));
        }
    }
    assert!(long.is_empty(), "split these, or give a reason in LONG:\n{}", long.join("\n"));
    for (path, reason) in LONG {
        assert!(root().join(path).exists(), "{path} is gone; it was long because: {reason}");
    }
}

/// At most so many percent of the functions have a name of one word.
const ONE_WORD: f64 = 20.0;

/// At most so many percent of a workspace's types have a name that another type of their crate has.
const SHARED: f64 = 5.0;

#[test]
fn names_say_what_they_name() {
    let all = sources();
    let mut by_crate: BTreeMap<&str, names::Names> = BTreeMap::new();
    for (path, text) in all.iter().filter(|(path, _)| !only_for_tests(path, &all)) {
        let krate = path.split_once("/src/").map_or("src", |(krate, _)| krate);
        by_crate.entry(krate).or_default().add_file(&syn::parse_file(text).unwrap());
    }
    let mut whole = names::Names::default();
    let mut shared = Vec::new();
    for (krate, names) in &by_crate {
        shared.extend(names.shared_types().into_iter().map(|(name, count)| (*krate, name.to_owned(), count)));
        whole.functions.extend(names.functions.iter().cloned());
        whole.types.extend(names.types.iter().cloned());
    }
    let one_word = whole.percent_of_one_word();
    assert!(one_word <= ONE_WORD, "{one_word:.1} % of the functions have a name of one word");
    let percent =
        100.0 * shared.iter().map(|(.., count)| *count).sum::<usize>() as f64 / whole.types.len() as f64;
    assert!(percent <= SHARED, "{percent:.1} % of the types share their name: {shared:?}");
}

/// What `cargo mutants` leaves out is named by file and function: a name that is gone would leave nothing out, or a line
/// that a test should see.
#[test]
fn what_mutants_leave_out_is_there() {
    let all = sources();
    let list = fs::read_to_string(root().join(".cargo/mutants.toml")).unwrap();
    let lines: Vec<&str> = list.lines().filter_map(|line| line.trim().strip_prefix('"')).collect();
    assert!(lines.len() > 20, "{}", lines.len());
    for line in lines {
        let Some((file, rest)) = line.split_once("\\\\.rs") else { continue };
        let names =
            rest.rsplit_once(" in ").or_else(|| rest.split_once("replace ")).map_or("", |(_, names)| names);
        let names: Vec<&str> = names
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| word.len() > 3 && word.starts_with(char::is_lowercase))
            .collect();
        // `log/(file|heads)` is either file.
        let (folder, files) = file.rsplit_once('/').unwrap_or(("", file));
        let files = files.trim_matches(['(', ')']).split('|').map(|name| format!("{folder}/{name}.rs"));
        let texts: Vec<&str> = files
            .flat_map(|end| all.iter().filter(move |(path, _)| path.ends_with(&end)))
            .map(|(_, text)| text.as_str())
            .collect();
        assert!(!texts.is_empty(), "no file of {line}");
        for name in names.iter().filter(|name| !["with", "true", "false"].contains(*name)) {
            let defined = format!("fn {name}");
            assert!(texts.iter().any(|text| text.contains(&defined)), "no {defined} in {line}");
        }
    }
}

#[test]
fn every_reason_and_rule_is_defined_once() {
    let reasons = Reason::ALL.iter().map(|r| (r.code(), r.definition()));
    let rules = Rule::ALL.iter().map(|r| (r.code(), r.definition()));
    for list in [reasons.collect::<Vec<_>>(), rules.collect()] {
        let codes: BTreeSet<&str> = list.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.len(), list.len(), "a code occurs twice");
        for (code, definition) in list {
            assert!(code.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{code}");
            assert!(
                definition.chars().count() > 15 && definition.ends_with(['.', ')']),
                "{code}: {definition:?}"
            );
        }
    }
    assert!(Reason::ALL.iter().all(|r| Reason::from_code(r.code()) == Some(*r)));
}

#[test]
fn every_file_is_compiled() {
    let all = sources();
    let mut orphans = Vec::new();
    for (path, _) in &all {
        let path = Path::new(path);
        let (Some(stem), Some(folder)) = (path.file_stem(), path.parent()) else { continue };
        let stem = stem.to_string_lossy();
        if ["lib", "main"].contains(&&*stem) {
            continue;
        }
        // A `mod.rs` is declared as its folder, one level up.
        let (name, folder) = match &*stem {
            "mod" => {
                (folder.file_name().unwrap_or_default().to_string_lossy(), folder.parent().unwrap_or(folder))
            }
            _ => (stem.clone(), folder),
        };
        let declared = [format!("mod {name};"), format!("#[path = \"{name}.rs\"]")];
        let near =
            |p: &str| Path::new(p).parent() == Some(folder) || Path::new(p) == folder.with_extension("rs");
        let known = all.iter().filter(|(p, _)| near(p)).any(|(_, text)| {
            text.lines().any(|line| declared.iter().any(|d| line.trim().ends_with(d.as_str())))
        });
        if !known {
            orphans.push(path.display().to_string());
        }
    }
    assert!(orphans.is_empty(), "declared as a module nowhere: {orphans:?}");
}

#[test]
fn files_that_the_docs_name_are_there() {
    let mut gone = Vec::new();
    let top = ["CONTRIBUTING.md", "README.md", "cluster/README.md"].map(PathBuf::from);
    let docs = files("docs").into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    for page in top.into_iter().chain(docs) {
        let page = page.display();
        let text = fs::read_to_string(root().join(page.to_string())).unwrap();
        let named = text.split('`').skip(1).step_by(2).filter(|name| !name.contains([' ', '<', '*']));
        let paths = named
            .clone()
            .filter(|name| ["src/", "crates/", "tests/", "docs/"].iter().any(|top| name.starts_with(top)));
        gone.extend(paths.filter(|path| !root().join(path).exists()).map(|path| format!("{page}: {path}")));
        // A name alone is that of a file in the crate of the last path.
        let mut folder = String::new();
        let is_elsewhere =
            |name: &&str| name.contains(':') || name.starts_with("tests/") || name.starts_with("docs/");
        for name in named.filter(|name| !is_elsewhere(name)) {
            let of_top = |part: usize| name.split('/').take(part).collect::<Vec<_>>().join("/");
            if name.starts_with("crates/") {
                folder = of_top(2);
            } else if name.starts_with("src/") {
                folder = of_top(1);
            } else if name.ends_with(".rs") && !folder.is_empty() {
                let is_it = |file: &PathBuf| file.ends_with(name);
                if !files(&folder).iter().any(is_it) {
                    gone.push(format!("{page}: {name} in {folder}"));
                }
            }
        }
    }
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

#[test]
fn the_changelog_has_the_version_of_the_package() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let manifest = read("Cargo.toml");
    let version =
        manifest.lines().find_map(|line| line.strip_prefix("version = ")).unwrap().trim_matches('"');
    let log = read("CHANGELOG.md");
    let heads: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(heads.first(), Some(&"Unreleased"), "what comes next has its place");
    let second = heads.get(1).map(|head| head.split([' ', ',']).next().unwrap_or_default());
    assert_eq!(second, Some(version), "`[workspace.package]` and CHANGELOG.md: {heads:?}");
}
