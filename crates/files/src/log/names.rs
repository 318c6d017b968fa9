//! The names of logs. Each crate registers its own, and this one knows none of them.

use std::path::Path;

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
    fn covers(self, name: &str) -> bool {
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
}

impl<'n> Logs<'n> {
    /// The logs of these names in a folder, usually raw/.
    pub fn new(raw: &'n Path, names: &'n [LogName]) -> Logs<'n> {
        Logs { raw, names }
    }

    /// Whether a crate registered a log of this name: anybody can write a name into raw/heads.jsonl.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.names.iter().any(|log| log.covers(name))
    }

    /// Whether a log is readable by its owner only.
    pub(super) fn is_private(&self, name: &str) -> bool {
        self.names.iter().any(|log| matches!(log, LogName::Private(own) if *own == name))
    }
}

#[cfg(test)]
mod tests {
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
            assert!(logs.knows(known), "{known}");
        }
        for unknown in
            ["salt", "replies", "votes/notes", "votes/notes/a", "releases/registry.jsonl", "x.jsonl"]
        {
            assert!(!logs.knows(unknown), "{unknown}");
        }
        assert!(logs.is_private("access.jsonl") && !logs.is_private("votes"));
    }
}
