//! Which files a source names, and what identifies them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::config::places::{PatternError, list_matching_files};
use crate::config::{Config, Problem, Problems, Source, SourceKind, Take};
use crate::stages::withdrawal::Withdrawals;
use riddlemill_harvest::fetch::{FilePins, LOCK, Pin};
use riddlemill_harvest::pages::Profile;
use riddlemill_record::{Language, record};
use riddlemill_tables::{Error, StageReader, Workspace, durable};
use riddlemill_text::text::language::{Detected, detect};

record! {
    /// A file that import read.
    pub struct FileRow {
        /// `source/file`.
        id: String,
        /// The source's name.
        source: String,
        /// The source's kind.
        kind: String,
        /// The file's name.
        file: String,
        /// The SHA-256 of the file in raw/.
        sha256: String,
        /// Its length.
        bytes: u64,
        /// The lines or array elements in it.
        items: u64,
        /// The licence its source states.
        licence: Option<String>,
    }
}

/// A file of a source, about to be imported.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The source's name.
    pub source: String,
    pub kind: SourceKind,
    /// The language of its posts, where its source or the settings state it.
    pub language: Option<Language>,
    /// Which posts of a thread are taken.
    pub take: Take,
    /// For a published file: the benchmark whose format it has.
    pub published: Option<&'static str>,
    /// For a table: its columns by the fields of a post.
    pub fields: BTreeMap<String, String>,
    /// Of these: columns that rows of a file may lack.
    pub optional: Vec<String>,
    /// In a file that is one JSON object: the pointer to the list of records.
    pub at: Option<String>,
    /// Of pages of any site: how they are read.
    pub profile: Option<Profile>,
    /// The licence its texts are under.
    pub licence: Option<String>,
    /// The file's name, with the folder before it where two files of a source share one.
    pub file: String,
    pub path: PathBuf,
    /// How its workspace names it, for advice in the ledger: below the workspace's folder, wherever that lies.
    pub named: PathBuf,
    /// Its SHA-256.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Its place in its file, if it is a piece; otherwise the beginning.
    pub piece: Piece,
}

/// What is before a piece of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the file on disk.
    pub byte: u64,
    /// Lines, once it is unpacked.
    pub lines: u64,
    /// Whether the file has more pieces. Import sets it, by the census.
    pub is_cut: bool,
}

impl Piece {
    /// Whether it is the beginning of its file.
    pub fn is_first(self) -> bool {
        self.byte == 0
    }
}

/// The kind of every file that an import stage read, by `source/file`.
///
/// # Errors
/// [`Error`] where its table of files is damaged.
pub fn kinds_of_files(import: &StageReader) -> Result<BTreeMap<String, String>, Error> {
    if !import.manifest().tables.contains_key("files") {
        return Ok(BTreeMap::new());
    }
    Ok(import.read_table::<FileRow>("files")?.into_iter().map(|file| (file.id, file.kind)).collect())
}

/// What a post comes from, as releases name it: `annual` of a thread of the year's best, `recommended` of the
/// moderators' list, else the kind of its source.
pub fn source_kind(kinds: &BTreeMap<String, String>, numbered: bool, source: &str, file: &str) -> String {
    match kinds.get(&format!("{source}/{file}")).map(String::as_str) {
        _ if numbered => "annual".into(),
        Some("leymore-titles") => "recommended".into(),
        kind => kind.unwrap_or("unknown").into(),
    }
}

impl Dump {
    /// A file of no source, to look at.
    pub(super) fn looked_at(path: &Path) -> Dump {
        Dump {
            source: String::new(),
            kind: SourceKind::Table,
            language: None,
            take: Take::default(),
            published: None,
            fields: BTreeMap::new(),
            optional: Vec::new(),
            at: None,
            profile: None,
            licence: None,
            file: String::new(),
            path: path.to_owned(),
            named: path.to_owned(),
            sha256: String::new(),
            bytes: 0,
            piece: Piece::default(),
        }
    }

    /// A file of this source, with what is known of its bytes.
    fn new(root: &Path, source: &Source, path: &Path, file: String, sha256: String, bytes: u64) -> Dump {
        Dump {
            source: source.name.clone(),
            kind: source.kind,
            language: source.language,
            take: source.take,
            published: source.published,
            fields: source.fields.clone(),
            optional: source.optional.clone(),
            at: source.at.clone(),
            profile: source.profile.clone(),
            licence: source.licence.clone(),
            file,
            path: path.to_path_buf(),
            named: path.strip_prefix(root).unwrap_or(path).to_path_buf(),
            sha256,
            bytes,
            piece: Piece::default(),
        }
    }

    /// The language of a post of this file, and how certain it is: the one that is stated, else that of its kind of source,
    /// else detected.
    pub(super) fn language_of(&self, text: &str) -> (Language, f64) {
        match self.language.or(self.kind.language()) {
            Some(language) => (language, 1.0),
            None => {
                let Detected { language, certainty } = detect(text);
                (language, certainty)
            }
        }
    }

    /// As one of several pieces of its file.
    pub(super) fn as_cut(&self) -> Dump {
        Dump { piece: Piece { is_cut: true, ..self.piece }, ..self.clone() }
    }

    /// What an item of this file is called in the ledger.
    pub fn locator_of_item(&self, position: impl Display) -> String {
        [&self.source, "/", &self.file, ":", &position.to_string()].concat()
    }

    /// The file as a row of the stage's table, with how many items it holds.
    pub fn file_row(&self, items: u64) -> FileRow {
        FileRow {
            id: format!("{}/{}", self.source, self.file),
            source: self.source.clone(),
            kind: kind_name(self.kind),
            file: self.file.clone(),
            sha256: self.sha256.clone(),
            bytes: self.bytes,
            items,
            licence: self.licence.clone(),
        }
    }

    /// What decides the rows of this file: a stage is fresh while it is the same.
    pub fn file_evidence(&self) -> (String, String) {
        let Dump { source, file, kind, take, licence, sha256, .. } = self;
        let mut decides =
            serde_json::json!({ "kind": kind, "take": take, "licence": licence, "sha256": sha256 });
        if let Some(language) = self.language {
            decides["language"] = serde_json::json!(language);
        }
        if !self.fields.is_empty() {
            decides["fields"] = serde_json::json!(self.fields);
        }
        if !self.optional.is_empty() {
            decides["optional"] = serde_json::json!(self.optional);
        }
        if let Some(at) = &self.at {
            decides["at"] = serde_json::json!(at);
        }
        if let Some(profile) = &self.profile {
            decides["profile"] = profile.decides();
        }
        if let Some(benchmark) = self.published {
            let declared =
                riddlemill_benchmarks::find_benchmark(benchmark).and_then(|found| found.declares_published());
            decides["published"] = serde_json::json!([benchmark, declared]);
        }
        (format!("{source}/{file}"), decides.to_string())
    }
}

pub(super) fn kind_name(kind: SourceKind) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// The files of a recipe's sources, of riddles or of posts, in the order in which they are imported, each hashed.
///
/// # Errors
/// [`Problems`]: every source without a file, every file that cannot be read, and every hash that
/// is not the one the settings state or `fetch` pinned.
pub fn find_source_files(config: &Config, recipe: &str, riddles: bool) -> Result<Vec<Dump>, Problems> {
    let (mut dumps, mut problems) = (Vec::new(), Vec::new());
    let withdrawn = Withdrawals::load(&Workspace::new(&config.root))
        .map_err(|e| Problems(vec![Problem { place: "raw/withdrawn.jsonl".into(), what: e.to_string() }]))?;
    let used = config.sources.iter().filter(|source| source.is_for_recipe(recipe, riddles));
    let stated = config.stated_language(Some(recipe));
    let pins = FilePins::read_pins(&config.root)
        .map_err(|e| Problems(vec![Problem { place: LOCK.into(), what: e.to_string() }]))?;
    for source in used {
        match dumps_of(config, source, &pins) {
            Ok(found) => {
                let found = found.into_iter().filter(|dump| withdrawn.of_dump(&dump.sha256).is_none());
                dumps.extend(found.map(|dump| Dump { language: dump.language.or(stated), ..dump }));
            }
            // The only dump of a source may have been withdrawn and deleted.
            Err(MissingDumps::NoFile(_)) if withdrawn.touches_source(&source.name) => {}
            Err(MissingDumps::NoFile(problem)) => problems.push(problem),
            Err(MissingDumps::Problems(found)) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    // The rows must not depend on the order of pipeline.toml or of the file system.
    dumps.sort_by(|a, b| (&a.source, &a.file).cmp(&(&b.source, &b.file)));
    Ok(dumps)
}

/// The files that a source's path names; of a folder all files below it that are not hidden.
fn match_files(config: &Config, path: &str) -> Result<Vec<glob::GlobResult>, PatternError> {
    let folder = config.root.join(path);
    if is_pattern(path) || !folder.is_dir() {
        return list_matching_files(&config.root, &config.trust, path);
    }
    let found =
        list_matching_files(&config.root, &config.trust, &format!("{}/**/*", path.trim_end_matches('/')))?;
    Ok(found.into_iter().filter(|path| path.as_ref().map_or(true, |path| path.is_file())).collect())
}

/// Every file of every source, in the order in which they are imported, not hashed: `sha256` is empty. A source
/// whose files are not there has none.
pub fn locate_files(config: &Config) -> Vec<Dump> {
    let mut dumps = Vec::new();
    for source in &config.sources {
        let found = match_files(config, &source.path).into_iter().flatten().filter_map(Result::ok);
        let many = is_pattern(&source.path) || config.root.join(&source.path).is_dir();
        let is_dump = |path: &PathBuf| path.is_file() && !(many && is_passed_over(path));
        let paths: Vec<PathBuf> = found.filter(is_dump).collect();
        dumps.extend(paths.iter().map(|path| {
            let bytes = path.metadata().map_or(0, |meta| meta.len());
            Dump::new(&config.root, source, path, short_name(path, &paths), String::new(), bytes)
        }));
    }
    dumps.sort_by(|a, b| (&a.source, &a.file).cmp(&(&b.source, &b.file)));
    dumps
}

/// Why a source gave no dumps.
enum MissingDumps {
    /// No file is there.
    NoFile(Problem),
    /// Files cannot be used.
    Problems(Vec<Problem>),
}

fn dumps_of(config: &Config, source: &Source, pins: &FilePins) -> Result<Vec<Dump>, MissingDumps> {
    let place = format!("{}:{} (source {:?})", crate::config::FILE, source.line, source.name);
    let problem = |what: String| Problem { place: place.clone(), what };
    let pattern = config.root.join(&source.path);
    let many = is_pattern(&source.path) || pattern.is_dir();
    let found: Vec<_> = match match_files(config, &source.path) {
        Ok(found) => found,
        Err(error) => return Err(MissingDumps::Problems(vec![problem(error.to_string())])),
    };
    let mut problems = Vec::new();
    let mut paths = Vec::new();
    for path in found {
        match path {
            Ok(path) => match path.metadata() {
                Ok(meta) if meta.is_file() && !(many && is_passed_over(&path)) => {
                    paths.push(path);
                }
                // A pattern may match folders; a file that was named is reported.
                Ok(meta) if !(meta.is_file() || meta.is_dir() && is_pattern(&source.path)) => {
                    problems.push(problem(format!("{} is not a file", path.display())));
                }
                Ok(_) => {}
                Err(e) => problems.push(problem(format!("cannot read {}: {e}", path.display()))),
            },
            Err(e) => problems.push(problem(format!("cannot list {}: {}", e.path().display(), e.error()))),
        }
    }
    // Behind a folder that may not be entered a file is not absent, it is out of reach.
    if let Err(e) = pattern.metadata()
        && e.kind() == std::io::ErrorKind::PermissionDenied
    {
        problems.push(problem(format!("cannot read {}: {e}", pattern.display())));
    }
    for path in
        find_unnamable_files(&pattern).into_iter().filter(|_| is_pattern(&source.path) && !pattern.is_file())
    {
        problems.push(problem(format!(
            "the name of {} is not Unicode\n  hint: rename the file; every ledger contains its name",
            path.display()
        )));
    }
    if paths.is_empty() && problems.is_empty() {
        let hint = match (&source.url, source.path.starts_with("raw/sample/")) {
            (Some(_), _) => "\n  hint: `riddlemill fetch` downloads it",
            (None, true) => "\n  hint: the sample comes with riddlemill; `riddlemill init` writes it again",
            (None, false) if pattern.is_dir() => "\n  hint: the folder has no file in it that is not hidden",
            (None, false) => "\n  hint: paths are relative to pipeline.toml",
        };
        return Err(MissingDumps::NoFile(problem(format!("no file matches {:?}{hint}", source.path))));
    }
    let mut dumps = Vec::new();
    let digests: Vec<_> = paths.par_iter().map(|path| durable::digest_plain(path)).collect();
    for (path, digest) in paths.iter().zip(digests) {
        let (sha256, bytes) = match digest {
            Ok(found) => found,
            Err(e) => {
                problems.push(problem(format!("cannot read {}: {e}", path.display())));
                continue;
            }
        };
        if let Some(stated) = source.sha256.as_ref().filter(|s| **s != sha256) {
            let what = format!("{} has the SHA-256 {sha256}, the settings state {stated}", path.display());
            problems.push(problem(what));
        } else if let Some(pin) = find_pin(source, pins).filter(|pin| pin.sha256 != sha256) {
            let what = format!(
                "{} has the SHA-256 {sha256}, {LOCK} has {}\n  \
                 hint: move it away and `riddlemill fetch` downloads the pinned bytes; `riddlemill fetch \
                 --update` accepts the current ones",
                path.display(),
                pin.sha256
            );
            problems.push(problem(what));
        }
        dumps.push(Dump::new(&config.root, source, path, short_name(path, &paths), sha256, bytes));
    }
    if problems.is_empty() { Ok(dumps) } else { Err(MissingDumps::Problems(problems)) }
}

/// What `fetch` found behind a source's url. A hash that the settings state is above it.
fn find_pin<'a>(source: &Source, pins: &'a FilePins) -> Option<&'a Pin> {
    let url = source.url.as_ref().filter(|_| source.sha256.is_none())?;
    pins.find_pin(&source.path).filter(|pin| pin.url == *url)
}

/// Files with names that are not Unicode in the folders of a pattern: the pattern cannot match them, so they
/// would be missed silently.
fn find_unnamable_files(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name().and_then(OsStr::to_str)) else {
        return Vec::new();
    };
    let Ok(name) = glob::Pattern::new(name) else { return Vec::new() };
    let folders = match folder.to_str().filter(|folder| is_pattern(folder) && !Path::new(folder).is_dir()) {
        Some(folder) => glob::glob(folder).into_iter().flatten().filter_map(Result::ok).collect(),
        None => vec![folder.to_path_buf()],
    };
    let files = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().filter_map(Result::ok);
    let odd = |path: &PathBuf| {
        let own = path.file_name().unwrap_or_default();
        own.to_str().is_none()
            && name.matches(&own.to_string_lossy())
            && path.is_file()
            && !is_unfinished(path)
    };
    let mut found: Vec<PathBuf> = files.map(|file| file.path()).filter(odd).collect();
    found.sort();
    found
}

/// Whether a path is a pattern.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether a file is an unfinished download, or the note that belongs to it.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".part") || name.ends_with(".part.json")
}

/// Whether a folder or a pattern does not mean this file.
fn is_passed_over(path: &Path) -> bool {
    is_unfinished(path) || belongs_to_page(path)
}

/// Ends of the folders in which browsers save what a page is shown with, beside the page.
const BESIDE: [&str; 6] = ["_files", ".files", "-Dateien", "_fichiers", "_archivos", "_arquivos"];

/// Whether a file is one of those that a browser saved beside a page: scripts, styles, pictures and frames.
fn belongs_to_page(path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let Some(name) = folder.file_name().and_then(OsStr::to_str) else { return false };
        let page = BESIDE.iter().find_map(|end| name.strip_suffix(end)).filter(|page| !page.is_empty());
        page.is_some_and(|page| {
            ["html", "htm", "xhtml", "shtml"]
                .iter()
                .any(|end| folder.with_file_name(format!("{page}.{end}")).is_file())
        })
    })
}

/// The file's name; where two files of a source share it, as many folders before it as tell them apart.
fn short_name(path: &Path, all: &[PathBuf]) -> String {
    let tail = |path: &Path, parts: usize| -> PathBuf {
        let parts: Vec<_> = path.components().rev().take(parts).collect();
        parts.into_iter().rev().collect()
    };
    let unique = |parts: &usize| all.iter().filter(|p| tail(p, *parts) == tail(path, *parts)).count() == 1;
    let parts = (1..=path.components().count()).find(unique).unwrap_or(1);
    tail(path, parts).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_comes_from_the_kind_of_its_file() {
        let kinds = [("a/x", "leymore-titles"), ("b/x", "table"), ("c/x", "thread-dump")];
        let kinds = kinds.map(|(file, kind)| (file.to_string(), kind.to_string())).into();
        let of = |numbered, source| source_kind(&kinds, numbered, source, "x");
        assert_eq!((of(false, "a"), of(false, "b")), ("recommended".into(), "table".into()));
        assert_eq!((of(true, "c"), of(false, "c")), ("annual".into(), "thread-dump".into()));
        assert_eq!(of(false, "gone"), "unknown");
    }

    #[test]
    fn files_of_one_name_are_distinguished() {
        let paths: Vec<PathBuf> = ["/a/2020/x.json", "/a/2021/x.json", "/a/y.json"].map(PathBuf::from).into();
        let names: Vec<String> = paths.iter().map(|p| short_name(p, &paths)).collect();
        assert_eq!(names, ["2020/x.json", "2021/x.json", "y.json"]);
    }

    #[test]
    fn what_browsers_save_beside_a_page_is_no_dump() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            path
        };
        write("云 (1).html");
        for (path, is_beside) in [
            ("云 (1).html", false),
            ("云 (1)_files/style.css", true),
            ("云 (1)_files/deep/frame.html", true),
            ("my_files/page.html", false),
            ("_files/page.html", false),
        ] {
            assert_eq!(belongs_to_page(&write(path)), is_beside, "{path}");
        }
    }
}
