//! `site`: a release as a folder of pages that anybody can read and check, without a server.
//!
//! In reading order: `set` is what is shown of a release and its workspace; `way` turns the ways of its rows, their votes
//! and their drafts into counts; `shown` prepares one row; `names` are the addresses of its pages; `search` is the index
//! that the browser loads in pieces; `folder` decides where a site may be written, and writes it whole or not at all;
//! `write` renders the pages.
//!
//! Invariants:
//! - Of posts that are not in the release, the pages have numbers only: no text, no id, no place. Of a row that an earlier
//!   version has, its id stays, with the stage and the reason that took it out.
//! - Votes are counts; who gave them is in no file. Evidence of rules is not shown, as it may quote what was left out.
//! - Texts as they were before somebody changed them are shown only where `[site] originals` says so.
//! - The same release and workspace give the same bytes.
//! - The templates and words are those of `serve`; only the search is a script.

mod changes;
mod folder;
mod names;
mod search;
mod set;
mod shown;
mod way;
mod write;

pub use folder::site_of;
pub use write::{Written, write_site};

use std::path::PathBuf;

use riddlemill_pipeline::stages::StageError;

use crate::pipeline::RunError;
use crate::store::Error;
use crate::text::clean::Rule;

/// Why a site is not written. What was in its folder before is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// Votes, replies or stages cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A page cannot be rendered.
    #[error("a page cannot be rendered: {0:#}")]
    Page(#[from] minijinja::Error),
    /// The folder is no released version.
    #[error("{} is no released version\n  hint: a version is made by `riddlemill release RECIPE`, in output/RECIPE/VERSION", .0.display())]
    NoRelease(PathBuf),
    /// The release fails its own verification.
    #[error("{} does not verify:\n{}\n  hint: `riddlemill verify` says what differs; a version in output/ that was removed is made again by `riddlemill release`", folder.display(), findings.iter().map(|f| format!("  {f}")).collect::<Vec<_>>().join("\n"))]
    Findings {
        /// The release's folder.
        folder: PathBuf,
        /// What does not hold.
        findings: Vec<String>,
    },
    /// The workspace never released it.
    #[error(
        "the registry of this workspace names no {recipe} {version}\n  hint: a site is made where the version was released; name that workspace with -C"
    )]
    Unregistered { recipe: String, version: String },
    /// The folder to write holds something else.
    #[error("{} is not empty, and {what}; nothing was written\n  hint: give an empty folder, or one that has a site of the same set: --out DIR", folder.display())]
    Occupied {
        /// The folder to write.
        folder: PathBuf,
        /// What is in it.
        what: String,
    },
    /// The folder to write is one that other verbs write or read.
    #[error("{} belongs to the workspace or to the release itself; nothing was written\n  hint: give a folder beside them, such as --out site", .0.display())]
    Inside(PathBuf),
}

impl From<StageError> for SiteError {
    fn from(error: StageError) -> SiteError {
        SiteError::Run(error.into())
    }
}

/// Reasons that are not rules of clean, each with a text to which it applies. A reason about files, replies or votes has
/// no text.
const EXAMPLES: &[(&str, &str)] = &[
    ("not_owner", "2楼：云会恐高吗？（不是楼主）"),
    ("chatter", "回复楼主：哈哈哈哈，云真的会吗"),
    ("note", "（楼主注：那几天一直在下雨。）"),
    ("no_number", "0.本帖由云朵商店赞助"),
    ("taken_away", "[removed]"),
    ("page_deleted", "该贴已被删除"),
    ("page_hidden", "该贴已被隐藏"),
    ("personal_data", "云恐高请打 138-0000-0000"),
    ("personal_data_marked", "云恐高请找 [电话]"),
    ("empty", "……！！"),
    ("too_short", "云？"),
    ("management", "【吧规】发帖前请先数云，违者删帖"),
    ("link_only", "http://example.com/cloud"),
    ("promised_elsewhere", "云为什么恐高，答案见下图"),
    ("not_a_question", "云恐高，所以下雨。"),
    ("exact_duplicate", "云会恐高吗？ = 云会恐高吗"),
    ("near_duplicate", "云会恐高吗？ ≈ 云到底会不会恐高？"),
    ("promotion", "云为什么恐高？更多谜语请看本站"),
    ("misspelt", "Why are cluods afraid of heights?"),
];

/// An example of a reason: a text, and what became of it, if it went on.
fn reason_example(code: &str) -> Option<(&'static str, Option<&'static str>)> {
    let of_clean = Rule::ALL.iter().find(|rule| rule.code() == code).map(|rule| rule.example());
    let written = || EXAMPLES.iter().find(|(known, _)| *known == code).map(|(_, text)| (*text, None));
    of_clean.map(|(before, after)| (before, Some(after))).or_else(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_of_a_reason_there_is() {
        for (code, _) in EXAMPLES {
            assert!(riddlemill_pipeline::stages::define_code(code).is_some(), "{code}");
        }
        assert_eq!(reason_example("number"), Some(("12*.云会恐高吗", Some("云会恐高吗"))));
        assert_eq!(reason_example("votes_missing"), None);
    }
}
