//! What folders may name of each other: ballots, prompts, kinds of records.

use std::collections::BTreeMap;

use crate::ballot::reader::{Ballots, parse_ballots};
use crate::reader::Problem;
use crate::record_kind::{self, RecordKind};

/// The files of a folder, by their paths in it.
pub(super) type FolderFiles = [(&'static str, &'static str)];
/// A folder's name, and its files.
pub(super) type OtherFolder = (&'static str, Vec<(&'static str, &'static str)>);

/// What a folder may reference in others, read before any folder is read whole.
pub(super) struct Others {
    /// The ballots of each folder, but of those with problems.
    pub(super) asked: BTreeMap<&'static str, Ballots>,
    pub(super) prompts: crate::task::reader::Folders,
    known: BTreeMap<&'static str, Vec<&'static RecordKind>>,
    kinds: BTreeMap<&'static str, Kinds>,
    /// Whether these are all folders.
    pub(super) whole: bool,
}

impl Others {
    /// What folders hold that others, or they themselves, may reference; problems of their ballots are added to `problems`.
    pub(super) fn collect(folders: &[OtherFolder], whole: bool, problems: &mut Vec<Problem>) -> Others {
        let mut asked: BTreeMap<&'static str, Ballots> = BTreeMap::new();
        let prompts = folders.iter().map(|(name, files)| (*name, prompt_files(name, files))).collect();
        for (name, files) in folders {
            let text = find_file(files, "ballots.toml").unwrap_or_default();
            match parse_ballots(name, &format!("{name}/ballots.toml"), text) {
                Ok(ballots) => drop(asked.insert(name, ballots)),
                Err(more) => problems.extend(more.0),
            }
        }
        let declared: Vec<(&str, Vec<&'static RecordKind>)> = folders
            .iter()
            .map(|(name, files)| {
                (*name, record_kind::of_file(find_file(files, "benchmark.toml").unwrap_or_default()))
            })
            .collect();
        // A folder's own kinds go before those of others.
        let known = |name: &str| -> Vec<&'static RecordKind> {
            let own = declared.iter().filter(|(folder, _)| *folder == name);
            let rest = declared.iter().filter(|(folder, _)| *folder != name);
            let all = own.chain(rest).flat_map(|(_, kinds)| kinds);
            let mut known: Vec<&'static RecordKind> = Vec::new();
            for kind in all.chain(record_kind::built_in()) {
                if !known.iter().any(|known| known.name == kind.name) {
                    known.push(kind);
                }
            }
            known
        };
        let known: BTreeMap<&str, Vec<&'static RecordKind>> =
            folders.iter().map(|(name, _)| (*name, known(name))).collect();
        let kinds =
            folders.iter().map(|(name, files)| (*name, Kinds::collect(files, &known[name]))).collect();
        Others { asked, prompts, known, kinds, whole }
    }

    /// The kinds of records that a folder may name: its own go before those of others.
    pub(super) fn known_kinds(&self, benchmark: &str) -> &[&'static RecordKind] {
        self.known.get(benchmark).map(Vec::as_slice).unwrap_or_default()
    }

    /// The kind of the records behind a step.
    pub(super) fn kind_behind_step(&self, benchmark: &str, step: &str) -> Option<&'static RecordKind> {
        self.kinds.get(benchmark)?.0.get(step).copied().flatten()
    }
}

/// The kinds of a folder's records, behind each of its steps.
#[derive(Default)]
struct Kinds(BTreeMap<String, Option<&'static RecordKind>>);

impl Kinds {
    fn collect(files: &FolderFiles, known: &[&'static RecordKind]) -> Kinds {
        let text = find_file(files, "benchmark.toml").unwrap_or_default();
        let Ok(document) = toml_edit::Document::parse(text) else { return Kinds::default() };
        let word = |item: Option<&toml_edit::Item>| {
            let name = item?.as_str()?;
            known.iter().copied().find(|kind| kind.name == name)
        };
        let mut kind = word(document.get("records"));
        let steps = document.get("steps").and_then(|steps| steps.as_array());
        let mut kinds = BTreeMap::new();
        for step in steps.into_iter().flat_map(|steps| steps.iter()).filter_map(|step| step.as_str()) {
            let own = document.get("step").and_then(|tables| tables.get(step)?.get("records"));
            kind = word(own).or(kind);
            kinds.insert(step.to_owned(), kind);
        }
        Kinds(kinds)
    }
}

/// The benchmark's name in replies, and the names of its prompts.
fn prompt_files(name: &str, files: &FolderFiles) -> (String, Vec<String>) {
    let text = find_file(files, "benchmark.toml").unwrap_or_default();
    let document: Option<toml_edit::Document<&str>> = toml_edit::Document::parse(text).ok();
    let of = document.as_ref().and_then(|document| document.get("prompts_of")?.as_str());
    let names = files.iter().filter_map(|(path, _)| path.strip_prefix("prompts/")?.strip_suffix(".jinja"));
    (of.unwrap_or(name).to_owned(), names.map(str::to_owned).collect())
}

pub(super) fn find_file(files: &FolderFiles, path: &str) -> Option<&'static str> {
    files.iter().find(|(file, _)| *file == path).map(|(_, text)| *text)
}
