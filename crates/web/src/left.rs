//! Why a row is no longer in a set, for pages and sites.

use serde::Serialize;

use crate::audit::StageEntry;
use crate::record::{Reason, is_passed_on};

/// Where the record of a row stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Left {
    pub(super) stage: String,
    pub(super) outcome: String,
    pub(super) reason: Option<String>,
    /// The folder's sentence, of a requirement that is not met.
    pub(super) says: Option<String>,
    /// What the ledger says of it, where that is more than the reason. It may quote the text.
    pub(super) evidence: Option<String>,
}

impl Left {
    /// Of the last passage of a record; `None` where it went on: then it is in the set, or waits where no stage says so.
    pub(super) fn from_passage(last: &StageEntry) -> Option<Left> {
        let of_folder = last.stage.starts_with("[data]")
            && last.reason.as_deref() == Some(Reason::RequirementBroken.code());
        (!is_passed_on(&last.outcome)).then(|| Left {
            stage: last.stage.clone(),
            outcome: last.outcome.clone(),
            reason: last.reason.clone(),
            says: last.definition.clone().filter(|_| of_folder),
            evidence: last.evidence.clone().filter(|evidence| Some(evidence) != last.reason.as_ref()),
        })
    }
}
