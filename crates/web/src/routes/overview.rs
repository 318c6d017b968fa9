//! Every recipe at a glance: what comes next, the stages that recipes share, and each recipe as a row of a flow that opens.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::causes::{self, CauseLine};
use super::next::{Thing, Todos, find_place};
use super::pending::count_undecided;
use crate::app::{App, read_blocking};
use crate::config::Config;
use crate::error::PageError;
use crate::i18n::{self, Language};
use crate::pipeline::{self, Cause, CauseState, Freshness, Planned, plan_recipe, same_work};
use crate::recipe::{self, Recipe};
use crate::record::{State as Left, is_passed_on};
use crate::report::{self, RecipeState};
use crate::store::Manifest;
use crate::view;
use crate::visitor::Visitor;
use riddlemill_pipeline::stages::draft;
use riddlemill_text::hint::split_hint;

/// With more held posts than this, those decided since the last run are not told from the others.
const LOOKED_THROUGH: u64 = 1000;

#[derive(Serialize)]
struct OverviewPage {
    /// What is to be done, each with the page where it is.
    next: Vec<Thing>,
    /// Records that wait, those of a shared stage once.
    waiting: u64,
    /// Stages that several recipes share, in the order of the first of them.
    shared: Vec<Shared>,
    recipes: Vec<Funnel>,
    dollars: f64,
    attempts: u64,
    spent: Vec<Spent>,
    /// The errors in pipeline.toml.
    problem: Option<String>,
    /// Benchmarks that cannot be used.
    aside: Vec<Aside>,
    /// What the settings name and what is not there.
    warnings: Vec<String>,
}

/// A benchmark whose folder cannot be used.
#[derive(Serialize)]
pub(super) struct Aside {
    name: &'static str,
    problems: usize,
    /// The first of its problems, with its place.
    first: String,
}

/// Consecutive stages that the same recipes share.
#[derive(Serialize)]
struct Shared {
    /// The recipe whose pages show them.
    recipe: &'static str,
    recipes: Vec<&'static str>,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Funnel {
    recipe: &'static str,
    about: &'static str,
    read: u64,
    /// What no stage left out: it is done, or waits.
    kept: u64,
    done: u64,
    waiting: u64,
    /// Thousandths of what was read, or of what was kept where records are expanded.
    done_share: u64,
    waiting_share: u64,
    stale: usize,
    made: usize,
    /// How many of its stages are shown as shared.
    shared: usize,
    lines: Vec<Line>,
}

/// A row: one stage, or consecutive ones of which the same is to be said.
#[derive(Serialize)]
struct Line {
    kind: RowKind,
    steps: Vec<FunnelStep>,
}

/// What is said of a row.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum RowKind {
    /// Something of its own.
    Own,
    /// Nothing was left out.
    Through,
    /// No record has come there.
    Empty,
    /// Not made.
    Missing,
}

#[derive(Serialize)]
struct FunnelStep {
    stage: &'static str,
    /// `fresh`, `stale`, `depends`, `missing` or `damaged`.
    freshness: &'static str,
    why: String,
    records_in: u64,
    records_out: u64,
    /// The share of imported records that remains, in thousandths.
    left: u64,
    /// Records by state, without those that went on.
    gone: Vec<(String, u64)>,
    held: u64,
    /// What keeps records back, grouped by cause.
    causes: Vec<CauseLine>,
    /// Whether causes are loaded after the page.
    causes_later: bool,
    compares: bool,
}

#[derive(Serialize)]
struct Spent {
    budget: String,
    dollars: f64,
    attempts: u64,
}

pub(crate) async fn show_overview(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let who = visitor.clone();
    let overview = read_blocking(move || prepare_overview(&app, &who)).await?;
    view::render_page(&visitor, "overview.html", overview)
}

fn prepare_overview(app: &App, visitor: &Visitor) -> Result<OverviewPage, PageError> {
    let (config, problem) = app.current_config();
    let language = visitor.language;
    let mut plans = Vec::new();
    for recipe in recipe::used_recipes(&config) {
        plans.push((recipe, plan_recipe(&config, recipe)?));
    }
    let mut todos = Todos::default();
    let (mut recipes, mut shared): (Vec<Funnel>, Vec<Shared>) = (Vec::new(), Vec::new());
    let mut waiting = 0;
    let mut states = Vec::new();
    for (at, &(recipe, ref planned)) in plans.iter().enumerate() {
        let with: Vec<Vec<usize>> = planned.iter().map(|one| find_sharing_plans(&plans, at, one)).collect();
        // What an earlier recipe shows is not read again.
        let own: Vec<&Planned> = planned
            .iter()
            .zip(&with)
            .filter(|(_, with)| with.first() == Some(&at))
            .map(|(one, _)| one)
            .collect();
        let causes = causes_of(app, &config, recipe, &own)?;
        let mut lines: Vec<(&str, CauseLine)> = Vec::new();
        for cause in &causes {
            let place = find_place(app, &config, recipe, cause, visitor)?;
            todos.add(recipe, cause, place.clone());
            lines.push((cause.stage, CauseLine::new(cause, place, language)));
        }
        let mut funnel = Funnel::new(recipe, planned, language);
        for (one, with) in planned.iter().zip(&with) {
            funnel.shared += usize::from(with.len() > 1);
            if with.first() != Some(&at) {
                continue;
            }
            let of_step = lines.extract_if(.., |(stage, _)| *stage == one.step).map(|(_, line)| line);
            let step = describe_step(one, funnel.read, of_step.collect(), language);
            waiting += step.held;
            if with.len() == 1 {
                add_step(&mut funnel.lines, step);
                continue;
            }
            let names: Vec<&'static str> = with.iter().map(|at| plans[*at].0.name).collect();
            match shared.last_mut().filter(|last| last.recipes == names) {
                Some(last) => add_step(&mut last.lines, step),
                None => {
                    let mut lines = Vec::new();
                    add_step(&mut lines, step);
                    shared.push(Shared { recipe: recipe.name, recipes: names, lines });
                }
            }
        }
        recipes.push(funnel);
        let due = planned.iter().filter(|one| one.is_due()).count();
        states.push(RecipeState::new(&app.workspace, recipe, due, causes));
    }
    let due = |planned: &[Planned]| planned.iter().filter(|one| one.is_due()).count();
    let due: Vec<(&'static str, usize)> =
        plans.iter().map(|(recipe, planned)| (recipe.name, due(planned))).filter(|(_, n)| *n > 0).collect();
    let spent = read_charges(app, &config)?;
    let mut things = todos.list_things(language, &due);
    // What cannot be read is told by `status`, and hides nothing of the rest here.
    let named = report::next(&config, &states, &[]).ok().flatten();
    things.sort_by_key(|thing| !thing.is_named(named.as_ref()));
    Ok(OverviewPage {
        next: things,
        waiting,
        shared,
        recipes,
        dollars: spent.iter().map(|one| one.dollars).sum(),
        attempts: spent.iter().map(|one| one.attempts).sum(),
        spent,
        problem,
        aside: benchmarks_aside(),
        warnings: warn_of_settings(&config, language),
    })
}

/// What the settings name and what is not there, each with its place.
pub(super) fn warn_of_settings(config: &Config, language: Language) -> Vec<String> {
    let told = |problem: riddlemill_benchmarks::Problem| {
        let (what, hint) = split_hint(&problem.what);
        let say = |text: &str| i18n::translate_sentence(language, text);
        let hint = hint.map(|hint| format!(" ({})", say(hint))).unwrap_or_default();
        format!("{}: {}{hint}", problem.place, say(what))
    };
    pipeline::list_setting_warnings(config).into_iter().map(told).collect()
}

/// The benchmarks that are set aside, because their folders have problems.
pub(super) fn benchmarks_aside() -> Vec<Aside> {
    let first = |problem: &riddlemill_benchmarks::Problem| format!("{}: {}", problem.place, problem.what);
    let told = |aside: &riddlemill_benchmarks::SetAside| Aside {
        name: aside.name,
        problems: aside.problems.len(),
        first: aside.problems.first().map(first).unwrap_or_default(),
    };
    riddlemill_benchmarks::set_aside_folders().iter().map(told).collect()
}

/// Which of the plans made the same of the same records, in their order; the one at a place is among them.
fn find_sharing_plans(plans: &[(&'static Recipe, Vec<Planned>)], at: usize, one: &Planned) -> Vec<usize> {
    let same = |other: &Planned| {
        let both = other.existing_manifest().zip(one.existing_manifest());
        both.is_some_and(|(other, one)| same_work(other, one))
            && stage_freshness(other, Language::En) == stage_freshness(one, Language::En)
    };
    let shares = |(n, (_, planned)): (usize, &(&'static Recipe, Vec<Planned>))| {
        (n == at || planned.iter().any(same)).then_some(n)
    };
    plans.iter().enumerate().filter_map(shares).collect()
}

/// What keeps records of these stages back; of stages of many records it is loaded after the page.
fn causes_of(
    app: &App,
    config: &Config,
    recipe: &'static Recipe,
    own: &[&Planned],
) -> Result<Vec<Cause>, PageError> {
    let made = own.iter().filter_map(|one| one.existing_manifest().cloned());
    let few: Vec<Manifest> = made.filter(causes::come_at_once).collect();
    let mut found = pipeline::list_causes(config, recipe, &few)?;
    let stale = |stage: &str| own.iter().any(|one| one.step == stage && one.is_due());
    // What was decided since then waits for a run, and for nobody.
    for cause in &mut found {
        let is_queue = cause.state == CauseState::Person && cause.records <= LOOKED_THROUGH;
        if let Some((_, step)) = recipe.find_step(cause.stage).filter(|_| is_queue && stale(cause.stage)) {
            cause.records = cause.records.min(count_undecided(app, recipe, step)?);
        }
    }
    found.retain(|cause| cause.records > 0);
    Ok(found)
}

impl Funnel {
    fn new(recipe: &'static Recipe, planned: &[Planned], language: Language) -> Funnel {
        let made = || planned.iter().filter_map(Planned::existing_manifest);
        let read = planned.first().and_then(Planned::existing_manifest).map_or(0, |m| m.counts.records_in);
        let done = planned.last().and_then(Planned::existing_manifest).map_or(0, |m| m.counts.records_out);
        let waiting: u64 = made().map(|made| made.counts.records_in_state(Left::Held)).sum();
        let kept = done + waiting;
        let share = |part: u64| (part * 1000).checked_div(read.max(kept)).unwrap_or(0);
        let stale = |one: &&Planned| matches!(stage_freshness(one, language).0, "stale" | "damaged");
        Funnel {
            recipe: recipe.name,
            about: language.pick_text(recipe.about, recipe.about_zh),
            read,
            kept,
            done,
            waiting,
            done_share: share(done),
            waiting_share: share(waiting),
            stale: planned.iter().filter(stale).count(),
            made: planned.iter().filter(|one| !matches!(one.freshness, Freshness::Missing)).count(),
            shared: 0,
            lines: Vec::new(),
        }
    }
}

/// Adds a stage to the rows: to the last one where the same is to be said.
fn add_step(lines: &mut Vec<Line>, step: FunnelStep) {
    let kind = step.step_kind();
    let is_alike = |line: &&mut Line| {
        let last = line.steps.last();
        line.kind == kind
            && kind != RowKind::Own
            && last.is_some_and(|last| {
                (last.freshness, &last.why, last.records_out) == (step.freshness, &step.why, step.records_out)
            })
    };
    match lines.last_mut().filter(is_alike) {
        Some(line) => line.steps.push(step),
        None => lines.push(Line { kind, steps: vec![step] }),
    }
}

impl FunnelStep {
    fn step_kind(&self) -> RowKind {
        let says_more =
            !self.causes.is_empty() || self.causes_later || self.compares || !self.gone.is_empty();
        match (self.freshness, says_more) {
            ("missing", _) => RowKind::Missing,
            ("fresh" | "depends", false) if self.records_in + self.records_out == 0 => RowKind::Empty,
            ("fresh" | "depends", false) if self.records_in == self.records_out => RowKind::Through,
            _ => RowKind::Own,
        }
    }
}

/// The state of a stage, and why it is not fresh.
fn stage_freshness(planned: &Planned, language: Language) -> (&'static str, String) {
    match (&planned.freshness, planned.after) {
        (Freshness::Fresh(_), None) => ("fresh", String::new()),
        (Freshness::Fresh(_), Some(after)) => ("depends", after.to_string()),
        (Freshness::Stale(_, why), _) => ("stale", i18n::explain_stale(language, why)),
        (Freshness::Missing, _) => ("missing", String::new()),
        (Freshness::Layout(layout), _) => {
            ("stale", i18n::translate_sentence(language, &Freshness::of_layout(*layout).1))
        }
        (Freshness::Damaged(what), _) => {
            ("damaged", i18n::translate_sentence(language, what.lines().next().unwrap_or_default()))
        }
    }
}

fn describe_step(planned: &Planned, read: u64, causes: Vec<CauseLine>, language: Language) -> FunnelStep {
    let (freshness, why) = stage_freshness(planned, language);
    let counts = planned.existing_manifest().map(|m| m.counts.clone()).unwrap_or_default();
    FunnelStep {
        stage: planned.step,
        freshness,
        why,
        records_in: counts.records_in,
        records_out: counts.records_out,
        // Records may be expanded into more than were imported.
        left: (counts.records_out.min(read) * 1000).checked_div(read).unwrap_or(0),
        held: counts.records_in_state(Left::Held),
        gone: counts.states.into_iter().filter(|(state, n)| !is_passed_on(state) && *n > 0).collect(),
        causes,
        causes_later: planned.existing_manifest().is_some_and(|made| !causes::come_at_once(made)),
        compares: planned.existing_manifest().is_some_and(|m| m.tables.contains_key("pairs")),
    }
}

/// The reply store's charges; empty if no model was ever asked. Does not create a store.
fn read_charges(app: &App, config: &Config) -> Result<Vec<Spent>, PageError> {
    if !app.workspace.raw_folder().join("replies").exists() {
        return Ok(Vec::new());
    }
    let stats = draft::open_store(config)?.compute_stats().map_err(PageError::internal_error)?;
    let budget = |(budget, usd, attempts): (String, crate::llm::Usd, u64)| Spent {
        budget,
        dollars: usd.in_dollars(),
        attempts,
    };
    Ok(stats.budgets.into_iter().map(budget).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(stage: &'static str, records_in: u64, records_out: u64) -> FunnelStep {
        let dropped = records_in.saturating_sub(records_out);
        FunnelStep {
            stage,
            freshness: "fresh",
            why: String::new(),
            records_in,
            records_out,
            left: 0,
            gone: (dropped > 0).then(|| ("dropped".to_owned(), dropped)).into_iter().collect(),
            held: 0,
            causes: Vec::new(),
            causes_later: false,
            compares: false,
        }
    }

    fn rows(steps: Vec<FunnelStep>) -> Vec<Line> {
        let mut lines = Vec::new();
        steps.into_iter().for_each(|step| add_step(&mut lines, step));
        lines
    }

    #[test]
    fn stages_of_which_the_same_is_to_be_said_are_one_row() {
        let lines = rows(vec![
            made("filter", 9, 5),
            made("type", 5, 5),
            made("options", 5, 5),
            made("late", 0, 0),
            made("later", 0, 0),
        ]);
        let said: Vec<(&str, usize)> =
            lines.iter().map(|line| (line.steps[0].stage, line.steps.len())).collect();
        assert_eq!(said, [("filter", 1), ("type", 2), ("late", 2)]);
        assert!(lines[1].kind == RowKind::Through && lines[2].kind == RowKind::Empty);
    }

    proptest! {
        /// No stage is lost, and none that left something out is put together with another.
        #[test]
        fn every_stage_is_in_one_row(numbers in prop::collection::vec((0u64..4, 0u64..4), 0..20)) {
            let lines = rows(numbers.iter().map(|(taken, given)| made("s", *taken, *given)).collect());
            let shown: Vec<(u64, u64)> = lines
                .iter()
                .flat_map(|line| &line.steps)
                .map(|step| (step.records_in, step.records_out))
                .collect();
            prop_assert_eq!(shown, numbers);
            prop_assert!(lines.iter().all(|line| line.steps.len() == 1 || line.kind != RowKind::Own));
        }
    }
}
