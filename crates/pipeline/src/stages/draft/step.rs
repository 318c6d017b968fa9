//! A step in which models are asked, as a stage.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    DraftStep, Ratings, collect_evidence, draft_records, endpoints_of_draft, is_optional, is_skipped,
    is_unseen, load_prompts, may_answer_later, requests_of_step, several, slots_of_draft, wants_unseen,
    whom_to_ask,
};
use crate::config::{Config, sections};
use crate::stages::context::{About, NewRows, StageError};
use crate::stages::job::{Job, StepContext};
use crate::stages::respond::{Made, respond_to_records};
use crate::stages::stage::{ByEndpoint, Stage};
use crate::stages::subject::read_subjects;
use crate::stages::written::settings_of_written;
use riddlemill_llm::Ask;
use riddlemill_record::{Reason, State};
use riddlemill_tables::Manifest;

/// What a model proposes, or what models answer.
#[derive(Debug)]
pub struct Drafting(pub DraftStep);

impl Stage for Drafting {
    fn describe_stage(&self) -> About {
        // 2 reads no reasoning as an answer. 3 takes no reply that was cut or refused for one, and reads more forms.
        About { name: "draft", version: 4, section: "draft", rows: self.0.written_rows(), detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let of = self.0.subject_rows();
        if self.0.is_responding() {
            return respond_to_records(self.0, job.read_subjects(of)?, &job.load_published()?, job);
        }
        let mut writer = job.writer_of(of)?;
        let (records, again) = job.read_subjects(of)?;
        let declared = self.0.draft_declaration();
        match declared.at_least.is_some() || declared.made.is_some() {
            true => several::draft_by_several(self.0, records, &job.asking, &mut writer)?,
            false => draft_records(self.0, records, &job.asking, &mut writer)?,
        }
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        Ok(writer.into())
    }

    fn stage_detail(&self) -> String {
        let declared = self.0.draft_declaration();
        let over = declared.over.as_ref().map(|over| format!("; for each of {}", over.list.source()));
        let majority = declared.majority.map(|field| format!("; keeps the majority of {field}"));
        let (over, majority) = (over.unwrap_or_default(), majority.unwrap_or_default());
        format!("asks {}{over}{majority}", self.0.templates().join(", "))
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let kind = self.0;
        let settings = config.typed_settings::<sections::Draft>(Some(recipe), "draft");
        let optional = is_optional(kind, config, recipe);
        let mut decide = BTreeMap::from([
            ("max_reasks".into(), settings.max_reasks.into()),
            ("optional".into(), optional.into()),
        ]);
        decide.extend(settings_of_written(config, recipe));
        // Only included if set, so that stages from before these settings stay fresh.
        if is_skipped(kind, config, recipe) {
            decide.insert("skip".into(), true.into());
        }
        let endpoints = endpoints_of_draft(kind, config, recipe);
        if wants_unseen(kind, config, recipe)
            && endpoints.is_ok_and(|endpoints| endpoints.iter().any(may_answer_later))
        {
            decide.insert("unseen".into(), true.into());
        }
        let (declared, asks) = (kind.draft_declaration(), whom_to_ask(kind, config, recipe));
        if asks.several {
            decide.insert(declared.asks.1.into(), asks.names.into());
        }
        for (section, key) in declared.setting_keys() {
            let value = config.setting_value(recipe, section, key);
            decide.extend(value.map(|value| (key.to_owned(), value.clone())));
        }
        decide
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        let mut all = BTreeMap::new();
        all.extend(Made::load(self.0, step.config, step.recipe)?.manifest_evidence());
        all.extend(Ratings::load(self.0, step.config)?.manifest_evidence());
        let records = || step.read_records(self.0.subject_rows());
        all.extend(collect_evidence(self.0, step.config, step.recipe, records)?);
        Ok(all)
    }

    fn declared_draft(&self) -> Option<DraftStep> {
        Some(self.0)
    }

    fn collect_requests(&self, step: &StepContext<'_>) -> Result<Option<Option<ByEndpoint>>, StageError> {
        if is_unseen(self.0, step.config, step.recipe) {
            return Ok(Some(Some(Vec::new())));
        }
        let prompts = load_prompts(step.config)?;
        let endpoints = endpoints_of_draft(self.0, step.config, step.recipe)?;
        let slots = slots_of_draft(self.0, step.config, step.recipe, &endpoints)?;
        let mut asks: Vec<Vec<Ask>> = endpoints.iter().map(|_| Vec::new()).collect();
        let Some(readers) = step.open_inputs()? else { return Ok(Some(None)) };
        for (input, reader) in step.inputs.iter().zip(readers) {
            let records = read_subjects(&reader, input.rows, self.0.subject_rows())?;
            for request in requests_of_step(self.0, &prompts, &slots, &records)? {
                asks[request.slot.endpoint].push(request.ask);
            }
        }
        Ok(Some(Some(endpoints.into_iter().zip(asks).collect())))
    }

    fn count_missing(
        &self,
        step: &StepContext<'_>,
        made: &Manifest,
    ) -> Result<Option<(&'static str, u64)>, StageError> {
        let sends = endpoints_of_draft(self.0, step.config, step.recipe)?.iter().any(may_answer_later);
        Ok(sends.then(|| ("replies", count_unanswered(made))))
    }

    fn count_children(&self, step: &StepContext<'_>, made: &Manifest) -> Result<u64, StageError> {
        if !self.0.is_responding() {
            return Ok(1);
        }
        let endpoints = endpoints_of_draft(self.0, step.config, step.recipe)?;
        let asked = slots_of_draft(self.0, step.config, step.recipe, &endpoints)?.len() as u64;
        // Responses made elsewhere come with the questions, as many as those that exist.
        Ok(asked + made.counts.records_out.div_ceil(made.counts.records_in_state(State::Expanded).max(1)))
    }
}

/// Records without a reply that another run may get.
fn count_unanswered(made: &Manifest) -> u64 {
    let failed = format!("{}/{}", State::Failed.code(), Reason::RequestFailed.code());
    let optional = format!("{}/{}", State::Changed.code(), Reason::NotDrafted.code());
    let further = [failed, optional].iter().filter_map(|key| made.counts.reasons.get(key)).sum::<u64>();
    made.counts.records_in_state(State::Held) + further
}
