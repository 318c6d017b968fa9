//! The names of logs, which each crate registers, and the files in the folders of raw/ that no writer creates.

use std::path::{Path, PathBuf};

use super::LogError;
use super::disk::{SegmentName, folder_entries, format_number};

#[cfg(test)]
use super::bench::find_strays;

/// Where logs are in raw/. Names are relative to it, with slashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogName {
    /// A folder of segments.
    Segments(&'static str),
    /// A folder of segments in the format of their own crate, and the files beside them. Only their names are
    /// looked at here.
    Foreign(&'static str, &'static [&'static str]),
    /// One file of lines.
    File(&'static str),
    /// A file that only its owner may read.
    Private(&'static str),
    /// A folder of files.
    Files(&'static str),
    /// A folder of folders, and the file's name in each.
    InEach(&'static str, &'static str),
}

impl LogName {
    /// Whether it is, or contains, the log of this name.
    fn is_or_contains(self, name: &str) -> bool {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        match self {
            LogName::Segments(own) | LogName::File(own) | LogName::Private(own) => own == name,
            LogName::Foreign(..) => false,
            LogName::Files(own) => own == folder && file.ends_with(".jsonl"),
            LogName::InEach(own, each) => {
                each == file && folder.rsplit_once('/').is_some_and(|(above, _)| above == own)
            }
        }
    }
}

/// The registered logs of a raw/ folder, to be checked and salvaged.
#[derive(Clone, Copy, Debug)]
pub struct Logs<'n> {
    pub(super) raw: &'n Path,
    pub(super) names: &'n [LogName],
    pub(super) reads: fn(&str, &[u8]) -> bool,
}

impl<'n> Logs<'n> {
    /// The logs of these names in a folder, usually raw/.
    pub fn new(raw: &'n Path, names: &'n [LogName]) -> Logs<'n> {
        Logs { raw, names, reads: |_, _| true }
    }

    /// With what says whether a line of a log can be read by those who use it. A salvage leaves out a line that cannot and
    /// that no chain proves: it would pass for one of a newer program.
    #[must_use]
    pub fn with_reader(self, reads: fn(&str, &[u8]) -> bool) -> Logs<'n> {
        Logs { reads, ..self }
    }

    /// Whether a crate registered a log of this name: anybody can write a name into raw/heads.jsonl.
    pub(super) fn is_registered(&self, name: &str) -> bool {
        self.names.iter().any(|log| log.is_or_contains(name))
    }

    /// Whether a log is readable by its owner only.
    pub(super) fn is_private(&self, name: &str) -> bool {
        self.names.iter().any(|log| matches!(log, LogName::Private(own) if *own == name))
    }
}

impl Logs<'_> {
    /// Files among the segments of raw/ that are not segments and that no writer leaves there.
    ///
    /// # Errors
    /// [`LogError`] if a folder cannot be listed.
    pub fn find_strays(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut found = Vec::new();
        for name in self.names {
            let (folder, beside) = match *name {
                LogName::Segments(folder) => (self.raw.join(folder), None),
                LogName::Foreign(folder, beside) => (self.raw.join(folder), Some(beside)),
                _ => continue,
            };
            for entry in folder_entries(&folder)? {
                let name = entry.file_name();
                let name = name.to_str().unwrap_or_default();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                // A hash is written before its segment is sealed, and moved aside with it.
                let is_orphan = name.strip_suffix(".sha256").is_some_and(|sealed| {
                    let open = sealed.strip_suffix(".zst").unwrap_or(sealed);
                    [sealed, open].iter().all(|segment| !folder.join(segment).exists())
                });
                if !is_folder && (is_orphan || !is_own_file(name, beside)) {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Whether a writer leaves files of this name among segments. `beside` are the other files of a format in which
/// sealed segments have their hash in a file of its own.
fn is_own_file(name: &str, beside: Option<&[&str]>) -> bool {
    if ["lock", "lines.salvage"].contains(&name) || beside.is_some_and(|beside| beside.contains(&name)) {
        return true;
    }
    // Left by a seal that was stopped.
    if let Some(stem) = name.strip_suffix(".tmp") {
        let stem = stem.strip_suffix(".jsonl.zst").unwrap_or(stem);
        return stem.parse().is_ok_and(|number| stem == format_number(number));
    }
    let of_hash = name.strip_suffix(".sha256");
    SegmentName::parse(of_hash.unwrap_or(name)).is_some_and(|segment| {
        let is_hash = |hash: &str| hash.len() >= 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let may_have_hash = beside.is_some() && segment.is_sealed && segment.hash.is_none();
        segment.is_exact && segment.hash.is_none_or(is_hash) && (of_hash.is_none() || may_have_hash)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_registered_names_are_known() {
        let names = [
            LogName::Segments("votes"),
            LogName::Foreign("replies", &["segments.jsonl"]),
            LogName::Private("access.jsonl"),
            LogName::Files("votes/notes"),
            LogName::InEach("releases", "registry.jsonl"),
        ];
        let logs = Logs::new(Path::new("raw"), &names);
        for known in ["votes", "access.jsonl", "votes/notes/a.b.jsonl", "releases/flub/registry.jsonl"] {
            assert!(logs.is_registered(known), "{known}");
        }
        for unknown in
            ["salt", "replies", "votes/notes", "votes/notes/a", "releases/registry.jsonl", "x.jsonl"]
        {
            assert!(!logs.is_registered(unknown), "{unknown}");
        }
        assert!(logs.is_private("access.jsonl") && !logs.is_private("votes"));
    }

    #[test]
    fn what_no_writer_leaves_is_named() {
        let raw = tempfile::tempdir().unwrap();
        let hash = "0123456789abcdef".repeat(4);
        let own = ["000001.jsonl", "lock", &format!("000002.{hash}.jsonl.zst"), "000003.jsonl.zst.tmp"];
        let strays = [format!("{hash}.jsonl"), hash.clone(), "notes.txt".into(), "1.jsonl".into()];
        // Nothing reads the hash beside a segment that has it in its name.
        let unread = [format!("000002.{hash}.jsonl.zst.sha256"), "000002.jsonl.zst.sha256".into()];
        let strays = [&strays[..], &unread[..]].concat();
        fs::create_dir_all(raw.path().join("votes/assigned")).unwrap();
        for name in own.iter().copied().chain(strays.iter().map(String::as_str)) {
            fs::write(raw.path().join("votes").join(name), "").unwrap();
        }
        let mut expected: Vec<_> = strays.iter().map(|name| raw.path().join("votes").join(name)).collect();
        expected.sort();
        assert_eq!(super::find_strays(raw.path()).unwrap(), expected);
    }

    /// Beside replies a hash belongs to a sealed segment, or to one whose seal was stopped.
    #[test]
    fn a_hash_without_its_segment_is_named() {
        let raw = tempfile::tempdir().unwrap();
        let replies = raw.path().join("replies");
        fs::create_dir_all(&replies).unwrap();
        let own = [
            "000001.jsonl.zst",
            "000001.jsonl.zst.sha256",
            "000002.jsonl",
            "000002.jsonl.zst.sha256",
            "segments.jsonl",
        ];
        for name in own.into_iter().chain(["000003.jsonl.zst.sha256", "000001.jsonl.sha256", "batches"]) {
            fs::write(replies.join(name), "").unwrap();
        }
        let found = super::find_strays(raw.path()).unwrap();
        let expected =
            ["000001.jsonl.sha256", "000003.jsonl.zst.sha256", "batches"].map(|name| replies.join(name));
        assert_eq!(found, expected);
    }
}
