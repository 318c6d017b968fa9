//! The logs that other crates would register, for the tests of this folder.

use std::path::{Path, PathBuf};

use super::{LogError, LogName, Logs, Salvaged};

pub(super) const NAMES: &[LogName] = &[
    LogName::Segments("votes"),
    LogName::Segments("decisions"),
    LogName::Foreign("replies", &["segments.jsonl"]),
    LogName::File("replies/segments.jsonl"),
    LogName::Files("votes/assigned"),
    LogName::InEach("releases", "registry.jsonl"),
];

pub(super) fn check_logs(raw: &Path) -> Result<Vec<(String, String)>, LogError> {
    Logs::new(raw, NAMES).check_logs()
}

pub(super) fn salvage_logs(raw: &Path) -> Result<Vec<Salvaged>, LogError> {
    Logs::new(raw, NAMES).salvage_logs()
}

pub(super) fn find_strays(raw: &Path) -> Result<Vec<PathBuf>, LogError> {
    Logs::new(raw, NAMES).find_strays()
}
