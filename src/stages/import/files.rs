//! Which files a source names, and what identifies them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::config::{Config, Problem, Problems, Source, SourceKind, Take};
use crate::fetch::{LOCK, Pin, Pins};
use crate::record::record;
use crate::store::durable;

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
        /// The SHA-256 of the file as it lies in raw/.
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
    /// Its kind.
    pub kind: SourceKind,
    /// Which posts of a thread are taken.
    pub take: Take,
    /// Of a table: its columns by the fields of a post.
    pub fields: BTreeMap<String, String>,
    /// The licence its texts are under.
    pub licence: Option<String>,
    /// The file's name, with the folder before it where two files of a source share one.
    pub file: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its SHA-256.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
}

impl Dump {
    /// What an item of this file is called in the ledger.
    pub fn locator(&self, position: impl Display) -> String {
        [&self.source, "/", &self.file, ":", &position.to_string()].concat()
    }

    /// The file as a row of the stage's table, with how many items it holds.
    pub fn row(&self, items: u64) -> FileRow {
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
    pub fn evidence(&self) -> (String, String) {
        let Dump { source, file, kind, take, licence, sha256, .. } = self;
        let mut decides =
            serde_json::json!({ "kind": kind, "take": take, "licence": licence, "sha256": sha256 });
        if !self.fields.is_empty() {
            decides["fields"] = serde_json::json!(self.fields);
        }
        (format!("{source}/{file}"), decides.to_string())
    }
}

fn kind_name(kind: SourceKind) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// The files of a recipe's sources, of riddles or of posts, in the order in which they are imported, each hashed.
///
/// # Errors
/// [`Problems`]: every source without a file, every file that cannot be read, and every hash that
/// is not the one the settings state or `fetch` pinned.
pub fn files(config: &Config, recipe: &str, riddles: bool) -> Result<Vec<Dump>, Problems> {
    let (mut dumps, mut problems) = (Vec::new(), Vec::new());
    let used = config.sources.iter().filter(|source| source.serves(recipe, riddles));
    let pins = Pins::read(&config.root)
        .map_err(|e| Problems(vec![Problem { place: LOCK.into(), what: e.to_string() }]))?;
    for source in used {
        match dumps_of(&config.root, source, &pins) {
            Ok(found) => dumps.extend(found),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    dumps.sort_by(|a, b| (&a.source, &a.file).cmp(&(&b.source, &b.file)));
    Ok(dumps)
}

fn dumps_of(root: &Path, source: &Source, pins: &Pins) -> Result<Vec<Dump>, Vec<Problem>> {
    let place = format!("{}:{} (source {:?})", crate::config::FILE, source.line, source.name);
    let problem = |what: String| Problem { place: place.clone(), what };
    let pattern = root.join(&source.path);
    let found: Vec<_> = match glob::glob(&pattern.to_string_lossy()) {
        Ok(found) => found.collect(),
        Err(e) => return Err(vec![problem(format!("{:?} is no pattern: {e}", source.path))]),
    };
    let mut problems = Vec::new();
    let mut paths = Vec::new();
    for path in found {
        match path {
            Ok(path) => match path.metadata() {
                Ok(meta) if meta.is_file() && !(several(&source.path) && unfinished(&path)) => {
                    paths.push(path);
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
    if paths.is_empty() && problems.is_empty() {
        let hint = match (&source.url, source.path.starts_with("raw/sample/")) {
            (Some(_), _) => "\n  hint: `riddlemill fetch` downloads it",
            (None, true) => "\n  hint: the sample comes with riddlemill; `riddlemill init` lays it out anew",
            (None, false) => "\n  hint: paths are relative to pipeline.toml",
        };
        return Err(vec![problem(format!("no file matches {:?}{hint}", source.path))]);
    }
    let mut dumps = Vec::new();
    let digests: Vec<_> = paths.par_iter().map(|path| durable::digest(path)).collect();
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
        } else if let Some(pin) = pin(source, pins).filter(|pin| pin.sha256 != sha256) {
            let what = format!(
                "{} has the SHA-256 {sha256}, {LOCK} has {}\n  \
                 hint: move it away and `riddlemill fetch` brings the pinned bytes; `riddlemill fetch --update` takes those of today",
                path.display(),
                pin.sha256
            );
            problems.push(problem(what));
        }
        dumps.push(Dump {
            source: source.name.clone(),
            kind: source.kind,
            take: source.take,
            fields: source.fields.clone(),
            licence: source.licence.clone(),
            file: short_name(path, &paths),
            path: path.clone(),
            sha256,
            bytes,
        });
    }
    if problems.is_empty() { Ok(dumps) } else { Err(problems) }
}

/// What `fetch` found behind a source's url. A hash that the settings state stands above it.
fn pin<'a>(source: &Source, pins: &'a Pins) -> Option<&'a Pin> {
    let url = source.url.as_ref().filter(|_| source.sha256.is_none())?;
    pins.of(&source.path).filter(|pin| pin.url == *url)
}

/// Whether a path is a pattern.
fn several(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether a file is a download that has not come to its end, or the note beside it.
fn unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".part") || name.ends_with(".part.json")
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
    fn files_of_one_name_are_told_apart() {
        let paths: Vec<PathBuf> = ["/a/2020/x.json", "/a/2021/x.json", "/a/y.json"].map(PathBuf::from).into();
        let names: Vec<String> = paths.iter().map(|p| short_name(p, &paths)).collect();
        assert_eq!(names, ["2020/x.json", "2021/x.json", "y.json"]);
    }
}
