//! What keeps the records of a stage back: on the page if there are few, else loaded afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::next::{self, ActionButton, CausePage};
use crate::app::{App, find_recipe, read_blocking};
use crate::audit::StageEntry;
use crate::config::Config;
use crate::error::PageError;
use crate::i18n::{self, Language};
use crate::pipeline::{Cause, describe_fact, kept_back, list_causes};
use crate::recipe::Recipe;
use crate::record::{self, Caused};
use crate::store::{CAUSES, Error, Filter, Manifest, StageReader, select_rows};
use crate::view;
use crate::visitor::Visitor;

/// With more records than this, causes are counted after the page is loaded.
const AT_ONCE: u64 = 20_000;

/// A cause for pages.
#[derive(Serialize)]
pub(super) struct CauseLine {
    /// The number of records, the cause, and how to fix it where no page does.
    words: String,
    /// Whether input or an endpoint failed.
    failed: bool,
    /// The page that fixes it.
    go: Option<ActionButton>,
    /// Whether an endpoint has to be named first.
    endpoint: bool,
}

impl CauseLine {
    /// A cause with the page that helps it, in a language.
    pub(super) fn new(cause: &Cause, place: Option<CausePage>, language: Language) -> CauseLine {
        let words = place.as_ref().map(|place| place.cause_words(language, cause));
        CauseLine {
            words: words.unwrap_or_else(|| i18n::explain_cause(language, cause)),
            failed: cause.failed,
            endpoint: place.as_ref().is_some_and(CausePage::names_an_endpoint),
            go: place.filter(CausePage::mends).map(|place| place.make_button(language, cause.records)),
        }
    }
}

/// The evidence of records of a stage in the language of a page, by their ids, as far as the fields of its cause say it. In
/// English it is in the ledger.
pub(super) fn in_words(
    language: Language,
    stage: &StageReader,
    ids: &[&str],
) -> Result<BTreeMap<String, String>, Error> {
    if language == Language::En || stage.table(CAUSES).rows == 0 {
        return Ok(BTreeMap::new());
    }
    let wanted = Filter::any_of("id", ids.iter().copied());
    let words = |caused: Caused| {
        let said = describe_fact(&serde_json::from_str::<record::Cause>(&caused.cause).ok()?);
        said.as_verbatim().is_none().then(|| (caused.id, i18n::pipeline_sentence(language, &said)))
    };
    Ok(select_rows::<Caused>(stage, CAUSES, &wanted)?.into_iter().filter_map(words).collect())
}

/// Puts the evidence of passages into the language of a page, as far as the fields of their causes say it.
pub(super) fn translate_passages<'p>(
    app: &App,
    recipe: &'static Recipe,
    language: Language,
    passages: impl IntoIterator<Item = &'p mut StageEntry>,
) -> Result<(), PageError> {
    let mut by_stage: BTreeMap<String, Vec<&mut StageEntry>> = BTreeMap::new();
    for passage in passages {
        by_stage.entry(passage.stage.clone()).or_default().push(passage);
    }
    for (stage, passages) in by_stage {
        let Some((_, step)) = recipe.find_step(&stage) else { continue };
        let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { continue };
        let ids: Vec<&str> = passages.iter().map(|passage| passage.id.as_str()).collect();
        let mut words = in_words(language, &opened.stage, &ids)?;
        for passage in passages {
            passage.evidence = words.remove(&passage.id).or(passage.evidence.take());
        }
    }
    Ok(())
}

/// Whether a page includes a stage's causes.
pub(super) fn come_at_once(manifest: &Manifest) -> bool {
    kept_back(manifest) <= AT_ONCE
}

/// The causes of one stage.
pub(super) fn cause_lines(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    manifest: &Manifest,
    visitor: &Visitor,
) -> Result<Vec<CauseLine>, PageError> {
    let causes = list_causes(config, recipe, std::slice::from_ref(manifest))?;
    let line = |cause: &Cause| -> Result<CauseLine, PageError> {
        let place = next::find_place(app, config, recipe, cause, visitor)?;
        Ok(CauseLine::new(cause, place, visitor.language))
    };
    causes.iter().map(line).collect()
}

/// The causes of a stage of many records, which pages load afterwards.
pub(crate) async fn show_causes(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, stage)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (number, step) = recipe.find_step(&stage).ok_or_else(PageError::not_found)?;
    let who = visitor.clone();
    let causes = read_blocking(move || {
        let manifest =
            Manifest::read_from_stage(&app.workspace.stage_folder(recipe.name, number, step.name))?;
        manifest.map_or(Ok(Vec::new()), |manifest| {
            cause_lines(&app, &app.current_config().0, recipe, &manifest, &who)
        })
    })
    .await?;
    let found = json!({ "recipe": recipe.name, "stage": step.name, "causes": causes });
    view::render_page(&visitor, "causes.html", found)
}
