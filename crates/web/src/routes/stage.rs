//! One stage: its records by outcome and reason, with search, filters and sorting; its rules; its figures.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query as UrlQuery, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::causes::{self, CauseLine};
use super::decide::{DecisionDesk, decision_desk, possible_decisions};
use crate::app::{App, find_recipe, read_blocking};
use crate::decisions::seen_text;
use crate::error::PageError;
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, Step};
use crate::record::{Counts, State as Left};
use crate::store::view::{Query, Record, Sort};
use crate::store::{Error, Manifest};
use crate::view;
use crate::visitor::Visitor;

/// Records per page.
const PAGE: usize = 50;
/// Longest text with a bar of its own, in characters.
const LONGEST: usize = 120;
/// With more records than this, figures are loaded after the page, because they need all texts.
const AT_ONCE: u64 = 50_000;
/// Most examples of a rule.
const EXAMPLES: usize = 3;

/// Query parameters.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct StageQuery {
    outcome: String,
    reason: String,
    q: String,
    min: String,
    max: String,
    sort: String,
    page: String,
}

#[derive(Serialize)]
struct StagePage {
    recipe: &'static str,
    stage: &'static str,
    steps: Vec<&'static str>,
    filter: StageQuery,
    counts: Counts,
    /// What keeps its records back, grouped by cause.
    causes: Vec<CauseLine>,
    /// Whether causes are loaded after the page.
    causes_later: bool,
    reasons: Vec<ReasonCount>,
    records: Vec<StageRecord>,
    found: usize,
    page: usize,
    pages: usize,
    first: usize,
    sorts: Vec<&'static str>,
    settings: BTreeMap<String, Value>,
    compares: bool,
    /// Whether this stage's records are texts whose lengths are worth a figure.
    texts: bool,
    desk: DecisionDesk,
    /// Possible decisions here; empty if they are only offered on a record's own page.
    decides: Vec<&'static str>,
}

/// A record with the hash of what is shown.
#[derive(Serialize)]
struct StageRecord {
    #[serde(flatten)]
    record: Record,
    seen: Option<String>,
    /// The text of the record it was merged into.
    into_text: Option<String>,
}

#[derive(Serialize)]
struct ReasonCount {
    state: String,
    code: String,
    count: u64,
    /// Thousandths of the most frequent one.
    share: u64,
}

pub(crate) async fn show_stage(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, stage)): Path<(String, String)>,
    UrlQuery(filter): UrlQuery<StageQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (_, step) = recipe.find_step(&stage).ok_or_else(PageError::not_found)?;
    let who = visitor.clone();
    let found = read_blocking(move || find_stage_page(&app, recipe, step, filter, &who)).await?;
    view::render_page(&visitor, "stage.html", found)
}

fn find_stage_page(
    app: &App,
    recipe: &'static Recipe,
    step: &'static Step,
    filter: StageQuery,
    visitor: &Visitor,
) -> Result<StagePage, PageError> {
    let steps = recipe.steps().iter().map(|step| step.name).collect();
    let sorts = Sort::ALL.into_iter().map(Sort::name).collect();
    let number = |name: &str, text: &str| match text.trim() {
        "" => Ok(0),
        text => text
            .parse::<u32>()
            .map_err(|_| PageError::bad_request(format!("{name} is a whole number, not {text:?}"))),
    };
    let (min, max) = (number("min", &filter.min)?, number("max", &filter.max)?);
    let query = Query {
        outcome: filter.outcome.clone(),
        reason: filter.reason.clone(),
        words: filter.q.trim().to_string(),
        min,
        max,
        // Doubtful merges come first.
        sort: Sort::from_name(&filter.sort).unwrap_or(if filter.outcome == Left::Merged.code() {
            Sort::Lowest
        } else {
            Sort::Entered
        }),
    };
    let mut found = StagePage {
        recipe: recipe.name,
        stage: step.name,
        steps,
        counts: Counts::default(),
        causes: Vec::new(),
        causes_later: false,
        reasons: Vec::new(),
        records: Vec::new(),
        found: 0,
        page: filter.page.trim().parse().unwrap_or(1).max(1),
        pages: 0,
        first: 0,
        sorts,
        settings: BTreeMap::new(),
        compares: false,
        texts: false,
        desk: decision_desk(&app.current_config().0, visitor)?,
        decides: possible_decisions(step),
        filter,
    };
    let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else { return Ok(found) };
    let manifest = opened.stage.manifest();
    found.counts = manifest.counts.clone();
    found.causes_later = !causes::come_at_once(manifest);
    if !found.causes_later {
        found.causes = causes::cause_lines(app, &app.current_config().0, recipe, manifest, visitor)?;
    }
    found.settings = manifest.settings.clone();
    found.compares = manifest.tables.contains_key("pairs");
    found.texts = opened.len() > 0;
    found.reasons = sort_reasons(&found.counts);
    // The total comes first, because the number of the page is limited by it.
    let (_, count) = opened.records_page(&query, 0, 0)?;
    found.pages = count.div_ceil(PAGE);
    found.page = found.page.min(found.pages.max(1));
    found.first = (found.page - 1) * PAGE;
    let (mut records, all) = opened.records_page(&query, found.first, PAGE)?;
    let withheld = Withheld::open(&app.workspace, recipe)?;
    withhold_records(&withheld, &mut records, !query.words.is_empty())?;
    let ids: Vec<&str> = records.iter().map(|record| record.entry.id.as_str()).collect();
    let mut words = causes::in_words(visitor.language, &opened.stage, &ids)?;
    for record in records.iter_mut().filter(|record| record.entry.evidence.is_some()) {
        record.entry.evidence = words.remove(&record.entry.id).or(record.entry.evidence.take());
    }
    let into = |record: &Record| {
        let merged = record.entry.outcome == Left::Merged.code();
        record.entry.into.as_deref().filter(|_| merged && record.text.is_some()).map(str::to_owned)
    };
    let keepers: Vec<String> = records.iter().filter_map(into).collect();
    let keepers: Vec<&str> = keepers.iter().map(String::as_str).collect();
    let mut keepers = opened.texts_of(&keepers)?;
    let withdrawn: Vec<String> = withheld
        .withdrawn_among(keepers.keys().map(String::as_str))?
        .into_iter()
        .map(str::to_owned)
        .collect();
    keepers.retain(|id, text| !withdrawn.contains(id) && !withheld.is_withdrawn_text(text));
    let shown = |record: Record| StageRecord {
        seen: record.text.as_deref().map(|text| seen_text(text).to_string()),
        into_text: into(&record).and_then(|into| keepers.get(&into).cloned()),
        record,
    };
    (found.records, found.found) = (records.into_iter().map(shown).collect(), all);
    Ok(found)
}

/// Removes the texts of withdrawn records; in a search the records too, because a hit reveals text.
pub(super) fn withhold_records(
    withheld: &Withheld,
    records: &mut Vec<Record>,
    sought: bool,
) -> Result<(), Error> {
    let ids = records.iter().flat_map(|record| [Some(&record.entry.id), record.entry.into.as_ref()]);
    let withdrawn = withheld.withdrawn_among(ids.flatten().map(String::as_str))?;
    let is_gone = |record: &Record| {
        let entry = &record.entry;
        let own = entry.into.as_ref().filter(|_| entry.outcome != Left::Merged.code());
        let texts = [&record.text, &entry.before, &entry.after].into_iter().flatten();
        withdrawn.contains(entry.id.as_str())
            || own.is_some_and(|own| withdrawn.contains(own.as_str()))
            || texts.into_iter().any(|text| withheld.is_withdrawn_text(text))
    };
    // Computed before a record changes, because `withdrawn` borrows their ids.
    let places: Vec<bool> = records.iter().map(is_gone).collect();
    let mut places = places.into_iter();
    records.retain_mut(|record| {
        if !places.next().unwrap_or_default() {
            return true;
        }
        let entry = &mut record.entry;
        (record.text, entry.before, entry.after, entry.evidence) = (None, None, None, None);
        !sought
    });
    Ok(())
}

/// The reasons of a stage, most frequent first.
fn sort_reasons(counts: &Counts) -> Vec<ReasonCount> {
    let most = counts.reasons.values().copied().max().unwrap_or(1).max(1);
    let mut reasons: Vec<ReasonCount> = counts
        .reasons
        .iter()
        .map(|(key, count)| {
            let (state, code) = key.split_once('/').unwrap_or((key, ""));
            ReasonCount { state: state.into(), code: code.into(), count: *count, share: count * 1000 / most }
        })
        .collect();
    reasons.sort_by(|a, b| (b.count, &a.code).cmp(&(a.count, &b.code)));
    reasons
}

/// The figures of a stage: lengths by outcome, the effect of other limits and of other similarity thresholds,
/// and examples of each rule. Loaded after the page.
pub(crate) async fn show_figures(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, stage)): Path<(String, String)>,
    UrlQuery(asked): UrlQuery<BTreeMap<String, String>>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (number, step) = recipe.find_step(&stage).ok_or_else(PageError::not_found)?;
    let manifest = Manifest::read_from_stage(&app.workspace.stage_folder(recipe.name, number, step.name))?;
    let records = manifest.map_or(0, |manifest| manifest.counts.records_in);
    if records > AT_ONCE && !asked.contains_key("whole") {
        let later = json!({ "recipe": recipe.name, "stage": step.name, "later": true });
        return view::render_page(&visitor, "figures.html", later);
    }
    let found = read_blocking(move || {
        let Some(opened) = app.stages.open_stage(&app.workspace, recipe, step)? else {
            return Err(PageError::not_found());
        };
        let lengths = opened.count_lengths(LONGEST)?;
        let all: Vec<u64> = (0..=LONGEST).map(|at| lengths.values().map(|bars| bars[at]).sum()).collect();
        let limits = if step.stage.is_kind_filter() { count_by_limit(&all) } else { Value::Null };
        let sweep = app.stages.stage_likeness(&app.workspace, recipe, step)?;
        let mut examples = BTreeMap::new();
        let withheld = Withheld::open(&app.workspace, recipe)?;
        for reason in sort_reasons(&opened.stage.manifest().counts) {
            let query =
                Query { outcome: reason.state.clone(), reason: reason.code.clone(), ..Query::default() };
            let (mut some, _) = opened.records_page(&query, 0, EXAMPLES)?;
            withhold_records(&withheld, &mut some, true)?;
            examples.insert(format!("{}/{}", reason.state, reason.code), some);
        }
        Ok(json!({
            "recipe": recipe.name, "stage": step.name, "lengths": lengths, "limits": limits,
            "sweep": sweep.as_ref(), "examples": examples, "settings": opened.stage.manifest().settings,
            "longest": LONGEST, "later": false,
        }))
    })
    .await?;
    view::render_page(&visitor, "figures.html", found)
}

/// How many records a minimum and a maximum length would drop, for every length.
fn count_by_limit(lengths: &[u64]) -> Value {
    let mut shorter = 0;
    let under: Vec<u64> = lengths
        .iter()
        .map(|n| {
            shorter += n;
            shorter - n
        })
        .collect();
    let total: u64 = lengths.iter().sum();
    let over: Vec<u64> = under.iter().zip(lengths).map(|(under, n)| total - under - n).collect();
    json!({ "under": under, "over": over })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_what_is_shorter_and_what_is_longer() {
        let found = count_by_limit(&[1, 2, 3]);
        assert_eq!(found["under"], json!([0, 1, 3]));
        assert_eq!(found["over"], json!([5, 3, 0]));
    }
}
