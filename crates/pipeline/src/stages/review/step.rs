//! A review as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Evidence, Review, review};
use crate::config::{Config, sections};
use crate::stages::context::{About, NewRows, StageError};
use crate::stages::job::{Job, StepContext};
use crate::stages::stage::Stage;
use riddlemill_review::decisions::Verdict;

/// What people decided.
#[derive(Debug)]
pub struct Reviewing(pub Review);

impl Stage for Reviewing {
    fn about(&self) -> About {
        About { name: "ballot", version: 1, section: "review", rows: self.0.subjects(), detail: "" }
    }

    fn make(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.writer()?;
        let settings: sections::Review = job.settings();
        let (records, again) = job.subjects(self.0.subjects())?;
        let count = (records.len() + again.len()) as u64;
        let people = job.step.people()?;
        let votes = job.step.logs.votes()?;
        let published = job.published()?;
        let evidence = Evidence { votes, people: &people, published: &published };
        review(self.0, records, &settings, job.seed(), &evidence, &mut writer);
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        job.asking.pulse.advance(count);
        Ok(writer.into())
    }

    fn detail(&self) -> String {
        let ballot = self.0.0;
        let fields: Vec<&str> = ballot.fields.iter().map(|field| field.name).collect();
        let roles: Vec<&str> = ballot.voters.iter().map(|role| role.name()).collect();
        let over = ballot.asked.and_then(|asked| asked.over.as_ref());
        let over = over.map_or_else(String::new, |over| format!("; for each of {}", over.list.source()));
        format!("{} of {} each: {}{over}", ballot.votes_needed, roles.join(", "), fields.join(", "))
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let review: sections::Review = config.typed(Some(recipe), "review");
        let name = self.0.place().1;
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
        if self.0.ballot(&review).is_drawn() {
            decide.extend(config.stage(Some(recipe), "options"));
        }
        decide
    }

    fn evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        let (recipe, ballot) = self.0.place();
        Ok(BTreeMap::from([("votes".into(), step.logs.votes()?.evidence(recipe, ballot))]))
    }

    fn takes(&self, verdict: Verdict) -> bool {
        verdict == Verdict::Keep
    }

    fn review(&self) -> Option<Review> {
        Some(self.0)
    }
}
