//! Files in the folders of raw/ that no writer creates.

use std::io;
use std::path::{Path, PathBuf};

use super::LogError;
use crate::fence;

/// Folders that contain only numbered segments and their companions.
const FOLDERS: [&str; 4] = ["votes", "decisions", "seen", "replies"];

/// Files among the segments of raw/ that are not segments and that no writer leaves there.
///
/// # Errors
/// [`LogError`] if a folder cannot be listed.
pub fn strays(raw: &Path) -> Result<Vec<PathBuf>, LogError> {
    let mut found = Vec::new();
    for (of, folder) in FOLDERS.map(|name| (name, raw.join(name))) {
        let entries = match fence::list(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(LogError::io(&folder, "list")(e)),
        };
        for entry in entries {
            let entry = entry.map_err(LogError::io(&folder, "list"))?;
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder && !name.to_str().is_some_and(|name| belongs(of, name)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn belongs(folder: &str, name: &str) -> bool {
    if ["lock", "segments.jsonl", "batches.jsonl", "batches.lock", "lines.salvage", "segments.salvage"]
        .contains(&name)
    {
        return true;
    }
    let Some((number, rest)) = name.split_once('.') else { return false };
    let hash = rest.split('.').next().unwrap_or_default();
    let is_sealed = hash.len() >= 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = if is_sealed { rest[hash.len()..].trim_start_matches('.') } else { rest };
    // Sealed replies have their hash in a file beside them, other segments in their names.
    let rests: &[&str] = match (is_sealed, folder) {
        (true, _) => &["jsonl.zst"],
        (false, "replies") => &["jsonl", "jsonl.zst", "jsonl.zst.sha256", "jsonl.zst.tmp", "tmp"],
        (false, _) => &["jsonl", "jsonl.zst", "jsonl.zst.tmp", "tmp"],
    };
    number.len() == 6 && number.bytes().all(|byte| byte.is_ascii_digit()) && rests.contains(&rest)
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
}
