//! What a run would make outdated: votes and replies on texts that a changed rule would change.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::Serialize;

use super::freshness::Freshness;
use super::plan::Planned;
use super::{RunError, rows};
use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::stages::native::{Rewrite, WrittenRecord};
use crate::stages::review::Votes;
use crate::stages::{self, StageError, StageRows, draft, subject};
use riddlemill_llm::Engine;
use riddlemill_record::{Post, Record, Row, is_published};
use riddlemill_review::votes::current_votes;
use riddlemill_tables::{StageReader, Workspace};

/// What refers to texts that a run would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outdated {
    /// The first of the steps whose rule has changed.
    pub step: &'static str,
    /// Posts whose text would change, or that would be dropped.
    pub posts: usize,
    /// People's votes on them that count today.
    pub votes: usize,
    /// Replies to requests about them.
    pub replies: usize,
}

/// What a run would make outdated, without running it; `None` if no rule for texts has changed since the
/// stages were made.
///
/// # Errors
/// [`RunError`] if stages, votes or replies cannot be read.
pub fn find_outdated(
    config: &Config,
    recipe: &'static Recipe,
    planned: &[Planned],
) -> Result<Option<Outdated>, RunError> {
    let stale = planned.iter().find(|planned| {
        let text = recipe.find_step(planned.step).is_some_and(|(_, step)| step.stage.writes_texts());
        text && matches!(planned.freshness, Freshness::Stale(..))
    });
    let Some(stale) = stale else { return Ok(None) };
    let chain: Vec<_> = recipe
        .steps()
        .iter()
        .take_while(|step| step.stage.is_import() || step.stage.writes_texts())
        .collect();
    let workspace = Workspace::new(&config.root);
    let open =
        |number: usize, name: &str| StageReader::open(&workspace.stage_folder(recipe.name, number, name));
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return Ok(None) };
    let (Ok(Some(import)), Ok(Some(before))) = (open(1, first.name), open(chain.len(), last.name)) else {
        return Ok(None);
    };

    let known = match last.stage.rows() {
        StageRows::Posts => text_digests::<Post>((), &before, WrittenRecord::from)?,
        rows => text_digests(rows.columns(), &before, WrittenRecord::Row)?,
    };
    let rule = |step: &&Step| step.stage.text_rereader(config, recipe.name);
    let rules: Vec<Option<Rewrite>> = chain.iter().skip(1).map(rule).collect::<Result<_, _>>()?;
    let today = |post: Post| {
        let passed =
            rules.iter().flatten().try_fold(WrittenRecord::from(post), |written, rule| rule(written));
        passed.map(|written| digest_text(&written.text()))
    };
    let mut changed: HashSet<String> = HashSet::new();
    for part in import.read_parts::<Post>("rows") {
        let differs = |post: Post| {
            // A post that was dropped by the rules has no text that votes or replies could refer to.
            let (id, old) = known.get_key_value(&post.id)?;
            // A published row passes unchanged, whatever the rules are.
            if is_published(id) {
                return None;
            }
            (today(post).as_ref() != Some(old)).then(|| id.clone())
        };
        changed.par_extend(part?.into_par_iter().filter_map(differs));
    }
    let mut found = Outdated { step: stale.step, posts: changed.len(), ..Outdated::default() };
    if changed.is_empty() {
        return Ok(Some(found));
    }
    for step in recipe.steps() {
        if let Some(review) = step.stage.declared_review() {
            let records = records_of_posts(&workspace, recipe, step, review.subject_rows(), &changed)?;
            found.votes += count_votes(config, recipe, review, &records)?;
        }
        if let Some(kind) = step.stage.declared_draft() {
            let records = records_of_posts(&workspace, recipe, step, kind.subject_rows(), &changed)?;
            found.replies += count_replies(config, recipe, kind, &records)?;
        }
    }
    Ok(Some(found))
}

/// The text of each record of a stage, as a digest.
fn text_digests<R: Record>(
    columns: R::Columns,
    stage: &StageReader,
    written: impl Fn(R) -> WrittenRecord,
) -> Result<HashMap<String, TextDigest>, riddlemill_tables::Error> {
    let mut texts = HashMap::new();
    for part in stage.parts_of::<R>(columns, "rows") {
        let text_digest = |row: R| (row.id().to_owned(), digest_text(&written(row).text()));
        texts.extend(part?.into_iter().map(text_digest));
    }
    Ok(texts)
}

type TextDigest = [u8; 32];

fn digest_text(text: &str) -> TextDigest {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// The records that enter a step and were made of these posts.
fn records_of_posts(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &Step,
    rows_of: StageRows,
    post_ids: &HashSet<String>,
) -> Result<Vec<Row>, StageError> {
    let mut found = Vec::new();
    for input in step.inputs {
        let records = rows::subjects_of(workspace, recipe, input, rows_of)?;
        found.extend(records.into_iter().filter(|record| post_ids.contains(record.id())));
    }
    Ok(found)
}

/// People's votes on these records that count today.
fn count_votes(
    config: &Config,
    recipe: &'static Recipe,
    review: stages::ReviewStep,
    records: &[Row],
) -> Result<usize, StageError> {
    let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
    let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
    let step = review.ballot_by_settings(&settings);
    let votes = Votes::load(config, recipe.name)?;
    let by_item = votes.by_item(step.recipe, step.name);
    let mut count = 0;
    for item in records.iter().flat_map(|record| subject::items_of_record(record, &step, seed)) {
        let on_it = by_item.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        let counts = current_votes(on_it).into_iter();
        count += counts.filter(|vote| !vote.synthetic && vote.content_hash == item.content_hash).count();
    }
    Ok(count)
}

/// Stored replies to requests about these records.
fn count_replies(
    config: &Config,
    recipe: &'static Recipe,
    kind: stages::DraftStep,
    records: &[Row],
) -> Result<usize, StageError> {
    let endpoints = draft::endpoints_of_draft(kind, config, recipe.name)?;
    let stored = Workspace::new(&config.root).raw_folder().join("replies").exists();
    if records.is_empty() || !stored || !endpoints.iter().any(draft::may_answer_later) {
        return Ok(0);
    }
    let store = draft::open_store(config)?;
    let slots = draft::slots_of_draft(kind, config, recipe.name, &endpoints)?;
    let mut count = 0;
    for request in draft::requests_of_step(kind, &draft::load_prompts(config)?, &slots, records)? {
        let endpoint = &endpoints[request.slot.endpoint];
        if draft::may_answer_later(endpoint)
            && store.contains(&Engine::request_of_ask(endpoint, &request.ask).key())?
        {
            count += 1;
        }
    }
    Ok(count)
}
