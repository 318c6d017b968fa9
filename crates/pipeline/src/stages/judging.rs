//! The step before dedup that has a model judge borderline pairs of posts, as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::context::{About, NewRows, StageError, StageRows, Stop};
use super::job::{Job, StepContext};
use super::same_joke;
use super::seconds::Seconds;
use super::stage::{ByEndpoint, Stage};
use crate::config::{Config, sections};
use riddlemill_tables::{Manifest, StageReader};
use riddlemill_text::join::Unwatched;

/// What a model says of borderline pairs, for dedup: only where the settings name one.
#[derive(Debug)]
pub struct Judging;

impl Stage for Judging {
    fn describe_stage(&self) -> About {
        About {
            name: "judge",
            version: 1,
            section: "same_joke",
            rows: StageRows::Posts,
            detail: "asks same_joke.endpoint",
        }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.create_post_writer()?;
        let judged =
            same_joke::judge_pairs(job.inputs, &job.find_repeated_records()?, &mut writer, &job.asking)?;
        let evidence = same_joke::evidence_of(job.step.config, job.step.recipe, &judged)?;
        Ok(NewRows::from(writer).with_evidence(evidence))
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        same_joke::judging_settings(config, recipe)
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        same_joke::collect_evidence(step.config, step.recipe, &step.place)
    }

    fn is_pair_judge(&self) -> bool {
        true
    }

    fn collect_requests(&self, step: &StepContext<'_>) -> Result<Option<Option<ByEndpoint>>, StageError> {
        let Some(endpoint) = same_joke::find_judge(step.config, step.recipe)? else { return Ok(None) };
        let Some(inputs) = step.open_inputs()? else { return Ok(Some(None)) };
        let inputs: Vec<&StageReader> = inputs.iter().collect();
        let seconds = Seconds::find_in_inputs(
            &inputs.iter().map(|input| (StageRows::Posts, *input)).collect::<Vec<_>>(),
        )?;
        let (posts, near) = same_joke::read_posts_and_pairs(&inputs, &seconds, &Stop::default())?;
        let settings: sections::Dedup = step.section_settings("dedup");
        let pairs = same_joke::find_borderline_pairs(&posts, &near, &settings, &Unwatched);
        Ok(Some(Some(vec![(endpoint, same_joke::questions_of_pairs(step.config, &posts, &pairs)?)])))
    }

    fn count_missing(
        &self,
        step: &StepContext<'_>,
        _: &Manifest,
    ) -> Result<Option<(&'static str, u64)>, StageError> {
        match same_joke::may_ask_judge(step.config, step.recipe)? {
            true => Ok(Some(("replies", same_joke::count_missing(&step.place)?))),
            false => Ok(None),
        }
    }
}
