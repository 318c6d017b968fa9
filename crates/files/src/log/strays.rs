//! Files in the folders of raw/ that no writer creates.

use std::path::PathBuf;

use super::LogError;
#[cfg(test)]
use super::bench::strays;
use super::disk::{SegmentName, entries, numbered};
use super::names::{LogName, Logs};

impl Logs<'_> {
    /// Files among the segments of raw/ that are not segments and that no writer leaves there.
    ///
    /// # Errors
    /// [`LogError`] if a folder cannot be listed.
    pub fn strays(&self) -> Result<Vec<PathBuf>, LogError> {
        let mut found = Vec::new();
        for name in self.names {
            let (folder, beside) = match *name {
                LogName::Segments(folder) => (self.raw.join(folder), None),
                LogName::Foreign(folder, beside) => (self.raw.join(folder), Some(beside)),
                _ => continue,
            };
            for entry in entries(&folder)? {
                let name = entry.file_name();
                let name = name.to_str().unwrap_or_default();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                // A hash is written before its segment is sealed, and moved aside with it.
                let is_orphan = name.strip_suffix(".sha256").is_some_and(|sealed| {
                    let open = sealed.strip_suffix(".zst").unwrap_or(sealed);
                    [sealed, open].iter().all(|segment| !folder.join(segment).exists())
                });
                if !is_folder && (is_orphan || !belongs(name, beside)) {
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
fn belongs(name: &str, beside: Option<&[&str]>) -> bool {
    if ["lock", "lines.salvage"].contains(&name) || beside.is_some_and(|beside| beside.contains(&name)) {
        return true;
    }
    // Left by a seal that was stopped.
    if let Some(stem) = name.strip_suffix(".tmp") {
        let stem = stem.strip_suffix(".jsonl.zst").unwrap_or(stem);
        return stem.parse().is_ok_and(|number| stem == numbered(number));
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
        assert_eq!(super::strays(raw.path()).unwrap(), expected);
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
        let found = super::strays(raw.path()).unwrap();
        let expected =
            ["000001.jsonl.sha256", "000003.jsonl.zst.sha256", "batches"].map(|name| replies.join(name));
        assert_eq!(found, expected);
    }
}
