//! A step in which models are asked, as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Draft, Ratings, asks, draft, endpoints, evidence, is_skipped, is_unseen, optional, prompts, requests,
    sends, several, slots, wants_unseen,
};
use crate::config::{Config, sections};
use crate::stages::context::{About, NewRows, StageError};
use crate::stages::job::{Job, StepContext};
use crate::stages::respond::{Made, respond};
use crate::stages::stage::{ByEndpoint, Stage};
use crate::stages::subject::subjects;
use riddlemill_llm::Ask;
use riddlemill_record::{Reason, State};
use riddlemill_tables::Manifest;

/// What a model proposes, or what models answer.
#[derive(Debug)]
pub struct Drafting(pub Draft);

impl Stage for Drafting {
    fn about(&self) -> About {
        // 2 reads no reasoning as an answer. 3 takes no reply that was cut or refused for one, and reads more forms.
        About { name: "draft", version: 3, section: "draft", rows: self.0.rows(), detail: "" }
    }

    fn make(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let of = self.0.subjects();
        if self.0.responds() {
            return respond(self.0, job.subjects(of)?, &job.published()?, job);
        }
        let mut writer = job.writer_of(of)?;
        let (records, again) = job.subjects(of)?;
        let declared = self.0.declared();
        match declared.at_least.is_some() || declared.made.is_some() {
            true => several::draft(self.0, records, &job.asking, &mut writer)?,
            false => draft(self.0, records, &job.asking, &mut writer)?,
        }
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        Ok(writer.into())
    }

    fn detail(&self) -> String {
        let declared = self.0.declared();
        let over = declared.over.as_ref().map(|over| format!("; for each of {}", over.list.source()));
        let majority = declared.majority.map(|field| format!("; keeps the majority of {field}"));
        let (over, majority) = (over.unwrap_or_default(), majority.unwrap_or_default());
        format!("asks {}{over}{majority}", self.0.templates().join(", "))
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let kind = self.0;
        let settings = config.typed::<sections::Draft>(Some(recipe), "draft");
        let optional = optional(kind, config, recipe);
        let mut decide = BTreeMap::from([
            ("max_reasks".into(), settings.max_reasks.into()),
            ("optional".into(), optional.into()),
        ]);
        // Only included if set, so that stages from before these settings stay fresh.
        if is_skipped(kind, config, recipe) {
            decide.insert("skip".into(), true.into());
        }
        let endpoints = endpoints(kind, config, recipe);
        if wants_unseen(kind, config, recipe) && endpoints.is_ok_and(|endpoints| endpoints.iter().any(sends))
        {
            decide.insert("unseen".into(), true.into());
        }
        let (declared, asks) = (kind.declared(), asks(kind, config, recipe));
        if asks.several {
            decide.insert(declared.asks.1.into(), asks.names.into());
        }
        for (section, key) in declared.settings() {
            let value = config.value(recipe, section, key);
            decide.extend(value.map(|value| (key.to_owned(), value.clone())));
        }
        decide
    }

    fn evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        let mut all = BTreeMap::new();
        all.extend(Made::load(self.0, step.config, step.recipe)?.evidence());
        all.extend(Ratings::load(self.0, step.config)?.evidence());
        let records = || step.records(self.0.subjects());
        all.extend(evidence(self.0, step.config, step.recipe, records)?);
        Ok(all)
    }

    fn draft(&self) -> Option<Draft> {
        Some(self.0)
    }

    fn requests(&self, step: &StepContext<'_>) -> Result<Option<Option<ByEndpoint>>, StageError> {
        if is_unseen(self.0, step.config, step.recipe) {
            return Ok(Some(Some(Vec::new())));
        }
        let prompts = prompts(step.config)?;
        let endpoints = endpoints(self.0, step.config, step.recipe)?;
        let slots = slots(self.0, step.config, step.recipe, &endpoints)?;
        let mut asks: Vec<Vec<Ask>> = endpoints.iter().map(|_| Vec::new()).collect();
        let Some(readers) = step.readers()? else { return Ok(Some(None)) };
        for (input, reader) in step.inputs.iter().zip(readers) {
            let records = subjects(&reader, input.rows, self.0.subjects())?;
            for request in requests(self.0, &prompts, &slots, &records)? {
                asks[request.slot.endpoint].push(request.ask);
            }
        }
        Ok(Some(Some(endpoints.into_iter().zip(asks).collect())))
    }

    fn missing(
        &self,
        step: &StepContext<'_>,
        made: &Manifest,
    ) -> Result<Option<(&'static str, u64)>, StageError> {
        let sends = endpoints(self.0, step.config, step.recipe)?.iter().any(sends);
        Ok(sends.then(|| ("replies", missing(made))))
    }

    fn children(&self, step: &StepContext<'_>, made: &Manifest) -> Result<u64, StageError> {
        if !self.0.responds() {
            return Ok(1);
        }
        let endpoints = endpoints(self.0, step.config, step.recipe)?;
        let asked = slots(self.0, step.config, step.recipe, &endpoints)?.len() as u64;
        // Responses made elsewhere come with the questions, as many as those that exist.
        Ok(asked + made.counts.records_out.div_ceil(made.counts.state(State::Expanded).max(1)))
    }
}

/// Records without a reply that another run may get.
fn missing(made: &Manifest) -> u64 {
    let failed = format!("{}/{}", State::Failed.code(), Reason::RequestFailed.code());
    let optional = format!("{}/{}", State::Changed.code(), Reason::NotDrafted.code());
    let further = [failed, optional].iter().filter_map(|key| made.counts.reasons.get(key)).sum::<u64>();
    made.counts.state(State::Held) + further
}
