//! What the program asks a stage. Each stage answers in its own file, and [`registry`](super) knows which step is
//! which; code that runs, shows or checks steps never depends on a particular one.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde_json::Value;

use super::context::{About, NewRows, StageError, StageRows};
use super::draft::DraftStep;
use super::embed::{Embedded, Embeds};
use super::job::{Job, StepContext};
use super::native::{Rewrite, full_text};
use super::review::ReviewStep;
use crate::config::Config;
use riddlemill_llm::{Ask, Endpoint};
use riddlemill_record::{Post, Row};
use riddlemill_review::decisions::Verdict;
use riddlemill_tables::{ColumnAccess, Manifest};

/// Requests by endpoint.
pub type ByEndpoint = Vec<(Endpoint, Vec<Ask>)>;

/// What a step of a recipe does. The defaults are those of a stage that decides by rules alone.
pub trait Stage: Debug + Send + Sync {
    /// What it is called and leaves.
    fn describe_stage(&self) -> About;

    /// Makes the step's rows. Who calls it commits them.
    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError>;

    /// [`About::name`].
    fn name(&self) -> &'static str {
        self.describe_stage().name
    }

    /// [`About::version`].
    fn version(&self) -> u32 {
        self.describe_stage().version
    }

    /// [`About::section`].
    fn section(&self) -> &'static str {
        self.describe_stage().section
    }

    /// [`About::rows`].
    fn rows(&self) -> StageRows {
        self.describe_stage().rows
    }

    /// [`About::detail`], or what the folder says.
    fn stage_detail(&self) -> String {
        self.describe_stage().detail.to_owned()
    }

    /// The settings of pipeline.toml that can change its rows.
    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        config.stage_settings(Some(recipe), self.section())
    }

    /// What it reads in addition to its input: name and hash.
    fn collect_evidence(&self, _: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(BTreeMap::new())
    }

    /// Whether a person may overrule it so.
    fn may_be_overruled(&self, _: Verdict) -> bool {
        false
    }

    /// Whether it reads dumps, and no other stage.
    fn is_import(&self) -> bool {
        false
    }

    /// Whether it writes texts by rules alone, before anybody votes on them: then it has a [`Stage::text_rereader`].
    fn writes_texts(&self) -> bool {
        false
    }

    /// How it would write a text today; `None` where it writes none.
    fn text_rereader(&self, _: &Config, _recipe: &str) -> Result<Option<Rewrite>, StageError> {
        Ok(None)
    }

    /// Whether posts that are not of the recipe's kind end here.
    fn is_kind_filter(&self) -> bool {
        false
    }

    /// Whether an expression of the folder decides which records end here.
    fn has_selection(&self) -> bool {
        false
    }

    /// Whether it merges posts that are one joke.
    fn merges_posts(&self) -> bool {
        false
    }

    /// Whether it compares every record with the others, merges those that are one, and writes a table of pairs.
    fn compares_pairs(&self) -> bool {
        self.merges_posts()
    }

    /// The columns that it reads, the id first, and those that it writes, where it decides post by post; all others are copied
    /// unchanged.
    fn touched_columns(&self) -> Option<ColumnAccess> {
        None
    }

    /// The text of a post as people see it who decide about it here.
    fn text_of(&self, post: Post) -> String {
        post.text
    }

    /// The text of another record as people see it who decide about it here.
    fn text_of_record(&self, record: &Row) -> String {
        full_text(record)
    }

    /// What is asked of models, where it is a draft.
    fn declared_draft(&self) -> Option<DraftStep> {
        None
    }

    /// What people are asked, where it is a review.
    fn declared_review(&self) -> Option<ReviewStep> {
        None
    }

    /// What it has a model embed, where settings name one.
    fn embedding_task(&self) -> Option<Embeds> {
        None
    }

    /// What would be embedded of its inputs, as far as those were made.
    fn texts_to_embed(&self, _: &StepContext<'_>) -> Result<Vec<Embedded>, StageError> {
        Ok(Vec::new())
    }

    /// Whether a model judges pairs for dedup.
    fn is_pair_judge(&self) -> bool {
        false
    }

    /// Whether what it asks for while it is made is part of its evidence.
    fn has_reply_evidence(&self) -> bool {
        self.declared_draft().is_some() || self.embedding_task().is_some() || self.is_pair_judge()
    }

    /// Its requests for the rows that its inputs have, by endpoint: `None` if it asks nothing, `Some(None)` if those rows have
    /// not been made.
    fn collect_requests(&self, step: &StepContext<'_>) -> Result<Option<Option<ByEndpoint>>, StageError> {
        let Some(embeds) = self.embedding_task() else { return Ok(None) };
        let Some(endpoint) = embeds.find_endpoint(step.config, step.recipe)? else { return Ok(None) };
        Ok(Some(Some(vec![(endpoint, embeds.requests_of_texts(&self.texts_to_embed(step)?))])))
    }

    /// What the stage that was made lacks and another run may get: the key of its evidence, and how many.
    fn count_missing(
        &self,
        step: &StepContext<'_>,
        made: &Manifest,
    ) -> Result<Option<(&'static str, u64)>, StageError> {
        match self.embedding_task() {
            Some(embeds) if embeds.may_ask_endpoint(step.config, step.recipe)? => {
                Ok(Some(("embeddings", embeds.count_missing(made))))
            }
            _ => Ok(None),
        }
    }

    /// How many records it makes from one, judged by the stage that was made.
    fn count_children(&self, _: &StepContext<'_>, _made: &Manifest) -> Result<u64, StageError> {
        Ok(1)
    }

    /// What it will need from outside of the workspace and is not there, with what helps; `None` if nothing is missing.
    fn missing_resource(&self, _: &Config, _recipe: &str) -> Option<String> {
        None
    }

    /// Whether its input are riddles and their answers, and not a forum's posts.
    fn is_of_riddles(&self) -> bool {
        false
    }
}
