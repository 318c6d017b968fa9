//! Dedup as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{OnDisk, dedup};
use crate::config::{Config, sections};
use crate::stages::commit::NewRows;
use crate::stages::context::{About, Rows, StageError};
use crate::stages::embed::Embeds;
use crate::stages::job::Job;
use crate::stages::stage::Stage;
use riddlemill_review::decisions::Verdict;

/// One record a joke.
#[derive(Debug)]
pub struct Deduplicating;

impl Stage for Deduplicating {
    fn about(&self) -> About {
        // 2 keeps a text in capitals alone where there is no other. 3 wants a third of the pairs of neighbours. 4 takes
        // more retellings for the same, and the forum's names for no likeness. 5 takes what over 256 posts hold for no
        // likeness of two. 6 goes by the language of the record, and lists exchanged words, other numbers and other subjects as
        // borderline. 7 compares texts over 4,000 units as copies and beginnings alone.
        About { name: "dedup", version: 7, section: "dedup", rows: Rows::Posts, detail: "" }
    }

    fn make(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.posts()?;
        let run: sections::Run = job.asking.config.typed(None, "run");
        let on_disk = OnDisk { folder: job.folder(), check: run.disk_check };
        let watched = (job.asking.stop, job.asking.pulse);
        let (people, seconds) = (job.step.people()?, job.seconds()?);
        dedup((job.inputs, &seconds), &job.settings(), &people, on_disk, &mut writer, watched)?;
        Ok(writer.into())
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        Embeds::Posts.comparison(config, recipe)
    }

    fn takes(&self, verdict: Verdict) -> bool {
        verdict.is_of_pair()
    }

    fn merges_posts(&self) -> bool {
        true
    }
}
