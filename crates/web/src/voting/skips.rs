//! Skipped items with reasons: raw/votes/skipped/<recipe>.<step>.jsonl, append-only.
//!
//! A skip is not a vote. It puts an item after the others for that person and informs the curator.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::review::ballot::Round;
use crate::review::guidance;
use crate::store::{Error, Workspace};

/// A skipped item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Skip {
    pub(crate) item: String,
    pub(crate) annotator: String,
    pub(crate) round: Round,
    /// Why.
    pub(crate) reason: String,
    /// When, RFC 3339.
    pub(crate) at: String,
}

pub(super) fn path(workspace: &Workspace, recipe: &str, step: &str) -> PathBuf {
    workspace.raw().join("votes").join("skipped").join(format!("{recipe}.{step}.jsonl"))
}

/// The skipped items of a step, in order. Unreadable lines are ignored, because they contain no votes.
pub(crate) fn skips(workspace: &Workspace, recipe: &str, step: &str) -> Result<Vec<Skip>, Error> {
    Ok(guidance::read(path(workspace, recipe, step))?)
}

/// Records a skip, which is on disk when this returns.
pub(crate) fn skip(workspace: &Workspace, recipe: &str, step: &str, new: &Skip) -> Result<(), Error> {
    Ok(guidance::add(path(workspace, recipe, step), new)?)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn what_was_passed_over_is_kept_with_its_reason() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let one = Skip {
            item: "1".into(),
            annotator: "a".into(),
            round: Round::Vote,
            reason: "I know who wrote it".into(),
            at: "2026-01-01T00:00:00Z".into(),
        };
        assert!(skips(&workspace, "r", "s").unwrap().is_empty());
        skip(&workspace, "r", "s", &one).unwrap();
        let file = dir.path().join("raw/votes/skipped/r.s.jsonl");
        OpenOptions::new().append(true).open(file).unwrap().write_all(b"{\"item\":").unwrap();
        skip(&workspace, "r", "s", &one).unwrap();
        assert_eq!(skips(&workspace, "r", "s").unwrap(), [one.clone(), one]);
    }
}
