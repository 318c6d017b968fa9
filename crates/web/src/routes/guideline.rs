//! The guideline of a ballot with examples, in every version, with agreement by version.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::json;

use super::ballot::label_in;
use super::decide::{decision_desk, find_decider};
use super::faults::field_name;
use super::review::{Who, find_ballot};
use crate::access::Rank;
use crate::app::{App, find_recipe, read_blocking};
use crate::error::PageError;
use crate::form::Form;
use crate::i18n::Language;
use crate::pipeline::current_time;
use crate::recipe::Recipe;
use crate::review::agreement::{self, Bootstrap};
use crate::review::ballot::{AnswerKind, Choice, Round};
use crate::review::{Digest, Vote};
use crate::view;
use crate::visitor::Visitor;
use crate::voting::{BallotGuideline, BallotItems};

/// Most characters of a guideline, and of examples.
const CHARS: usize = 8000;

/// A version with the votes cast under it.
#[derive(Serialize)]
struct GuidelineVersion {
    #[serde(flatten)]
    guide: BallotGuideline,
    version: String,
    /// People's votes whose page showed it.
    votes: usize,
    /// For each field: items with at least two votes under this version, the share that agree, and alpha.
    agreement: Vec<(String, usize, Option<f64>, Option<f64>)>,
    /// Whether it is the current one.
    holds: bool,
}

/// The guideline of a step, for voters; its versions, and a form to edit it, for curators.
pub(crate) async fn show_guideline(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
    Query(asked): Query<Who>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (config, _) = app.current_config();
    let curator = visitor.rank() >= Some(Rank::Curator);
    let language = visitor.language;
    let desk = decision_desk(&config, &visitor)?;
    let found = read_blocking(move || {
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        let step = &ballot.step;
        let guides = app.desk.read_guidelines(recipe.name, step)?;
        let guide = guides.last().cloned();
        let meanings: Vec<(&str, Vec<(&str, &str)>)> = step
            .questions_of_round(Round::Vote)
            .iter()
            .filter_map(|field| {
                let options: &[Choice] = match &field.kind {
                    AnswerKind::Choice(options) | AnswerKind::Choices { options, .. } => options,
                    AnswerKind::Keep { reasons } => reasons,
                    _ => return None,
                };
                let meaning = |option: &Choice| (label_in(language, option.label), label_in(language, option.definition));
                Some((label_in(language, field.label), options.iter().map(meaning).collect()))
            })
            .collect();
        let versions = if curator { list_versions(&app, recipe, &ballot, guides, language)? } else { Vec::new() };
        let text = guide.as_ref().map(|guide| language.pick_text(&guide.en, &guide.zh).to_string());
        let examples = guide.as_ref().map(|guide| language.pick_text(&guide.examples, guide.examples_in_chinese()).to_string());
        Ok(json!({
            "recipe": recipe.name, "step": step.name, "title": label_in(language, step.title), "paper": step.paper,
            "text": text, "examples": examples, "guide": guide, "meanings": meanings, "versions": versions,
        }))
    })
    .await?;
    let all = json!({ "found": found, "desk": desk, "who": asked.r#as });
    view::render_page(&visitor, "guideline.html", all)
}

/// Every version once, latest first.
fn list_versions(
    app: &App,
    recipe: &'static Recipe,
    ballot: &BallotItems,
    guides: Vec<BallotGuideline>,
    language: Language,
) -> Result<Vec<GuidelineVersion>, PageError> {
    let vote_index = app.desk.current_votes().map_err(PageError::internal_error)?;
    let votes = vote_index.by_item(recipe.name, ballot.step.name);
    let holds = guides.last().map(BallotGuideline::version);
    let mut seen: Vec<Digest> = Vec::new();
    let mut versions = Vec::new();
    for guide in guides.into_iter().rev() {
        let version = guide.version();
        if seen.contains(&version) {
            continue;
        }
        seen.push(version);
        // Only people read guidelines.
        let of = |vote: &&Vote| vote.guideline == Some(version) && !vote.synthetic;
        let by_it: FxHashMap<&str, Vec<&Vote>> = votes
            .iter()
            .map(|(item, votes)| (*item, votes.iter().copied().filter(of).collect::<Vec<_>>()))
            .filter(|(_, votes)| !votes.is_empty())
            .collect();
        let agreement = agreement::step_agreement(&ballot.step, &ballot.items, &by_it, Bootstrap::NONE);
        let fields = agreement.fields.iter().filter(|field| !by_it.is_empty() && field.items > 0);
        let point = |e: &Option<agreement::Estimate>| e.as_ref().map(|e| e.value);
        versions.push(GuidelineVersion {
            version: version.to_string(),
            votes: by_it.values().map(Vec::len).sum(),
            agreement: fields
                .map(|field| {
                    (
                        field_name(language, &ballot.step, &field.field),
                        field.items,
                        point(&field.percent),
                        point(&field.alpha),
                    )
                })
                .collect(),
            holds: holds == Some(version),
            guide,
        });
    }
    Ok(versions)
}

/// Saves a new version. It makes no vote outdated.
pub(crate) async fn save_guideline(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, step)): Path<(String, String)>,
    form: Form,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (config, _) = app.current_config();
    let by = find_decider(&config, &visitor, &form)?;
    let text = |field: &str| form.text_within(field, CHARS);
    let (examples, examples_zh) = (text("examples")?, text("examples_zh")?);
    let examples_zh = if examples_zh == examples { String::new() } else { examples_zh };
    let new =
        BallotGuideline { en: text("en")?, zh: text("zh")?, examples, examples_zh, by, at: current_time() };
    if new.en.is_empty() || new.zh.is_empty() {
        return Err(PageError::bad_request(
            "a guideline is needed in both languages, because annotators may read \
                                   either",
        ));
    }
    let here = format!("/review/{}/{}/guideline", recipe.name, view::encode_segment(&step));
    read_blocking(move || {
        let ballot = find_ballot(&app, &config, recipe, &step)?;
        // Two curators who save at once would compare with the same version.
        let _alone = app.assigning.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let holds = app.desk.read_guidelines(recipe.name, &ballot.step)?.pop().map(|guide| guide.version());
        // Saving without a change makes no new version.
        if holds != Some(new.version()) {
            app.desk.store_guideline(recipe.name, ballot.step.name, &new)?;
        }
        Ok(())
    })
    .await?;
    Ok(Redirect::to(&here).into_response())
}
