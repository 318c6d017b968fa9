//! A review as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Evidence, ReviewStep, review_records};
use crate::config::{Config, sections};
use crate::stages::context::{About, NewRows, StageError};
use crate::stages::job::{Job, StepContext};
use crate::stages::stage::Stage;
use crate::stages::written::{WrittenRules, settings_of_written};
use riddlemill_review::decisions::Verdict;

/// What people decided.
#[derive(Debug)]
pub struct Reviewing(pub ReviewStep);

impl Stage for Reviewing {
    fn describe_stage(&self) -> About {
        About { name: "ballot", version: 2, section: "review", rows: self.0.subject_rows(), detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.create_row_writer()?;
        let settings: sections::Review = job.step_settings();
        let (records, again) = job.read_subjects(self.0.subject_rows())?;
        let count = (records.len() + again.len()) as u64;
        let people = job.step.read_decisions()?;
        let votes = job.step.logs.load_votes()?;
        let published = job.load_published()?;
        let written = WrittenRules::by_settings(job.step.config, job.step.recipe)?;
        let evidence = Evidence { votes, people: &people, published: &published, written: &written };
        review_records(self.0, records, &settings, job.seed(), &evidence, &mut writer);
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        job.asking.pulse.report_done(count);
        Ok(writer.into())
    }

    fn stage_detail(&self) -> String {
        let ballot = self.0.0;
        let fields: Vec<&str> = ballot.fields.iter().map(|field| field.name).collect();
        let roles: Vec<&str> = ballot.voters.iter().map(|role| role.name()).collect();
        let over = ballot.asked.and_then(|asked| asked.over.as_ref());
        let over = over.map_or_else(String::new, |over| format!("; for each of {}", over.list.source()));
        format!("{} of {} each: {}{over}", ballot.votes_needed, roles.join(", "), fields.join(", "))
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let review: sections::Review = config.typed_settings(Some(recipe), "review");
        let name = self.0.benchmark_and_ballot().1;
        let named = |steps: &[String]| Value::from(steps.iter().any(|step| step == name));
        let mut decide = BTreeMap::from([
            ("draft_ahead".into(), named(&review.draft_ahead)),
            ("optional".into(), named(&review.optional)),
        ]);
        // Only included if set, so that stages from before previews stay fresh.
        if review.preview {
            decide.insert("preview".into(), true.into());
        }
        for (key, holds) in [("wanted", named(&review.wanted)), ("blind", named(&review.blind))] {
            if holds.as_bool() == Some(true) {
                decide.insert(key.into(), holds);
            }
        }
        if self.0.ballot_by_settings(&review).is_drawn() {
            decide.extend(config.stage_settings(Some(recipe), "options"));
        }
        decide.extend(settings_of_written(config, recipe));
        decide
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        let (recipe, ballot) = self.0.benchmark_and_ballot();
        Ok(BTreeMap::from([("votes".into(), step.logs.load_votes()?.manifest_evidence(recipe, ballot))]))
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        verdict == Verdict::Keep
    }

    fn declared_review(&self) -> Option<ReviewStep> {
        Some(self.0)
    }
}
