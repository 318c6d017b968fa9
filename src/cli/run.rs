//! `run`: makes every stage that is not fresh, then the candidates.

use std::sync::Mutex;

use super::args::{Global, Run};
use super::commands::{complete_causes, complete_command};
use super::convert;
use super::disk;
use super::exit::{Exit, Failure};
use super::next;
use super::output::{self, count};
use super::progress::{RemainingWork, RunConsole};
use super::status;
use super::terminal::{HANG, Tone, tint_text};
use crate::config::{Config, Source, sections};
use crate::llm;
use crate::pipeline::{self, Selection};
use crate::recipe::{Recipe, Step};
use crate::release::{self, CandidateManifest};
use crate::report::{BuiltCandidate, RecipeState};
use crate::stages::respond::Refused;
use crate::stages::{StageError, Stop, draft};
use crate::store::{Manifest, StageReader, Workspace};

/// Reports lost replies, and continues without them.
fn accept_losses(config: &Config, global: &Global) -> Result<(), Failure> {
    let store = draft::open_damaged_store(config)?;
    for damage in store.damage().iter().filter(|_| !global.quiet) {
        let replies = damage.replies.map_or("replies".into(), |n| count(n, "reply"));
        let spent = match damage.charged {
            Some(_) => "still counts against the caps",
            None => "is not known, and counts against no cap",
        };
        eprintln!(
            "note: {replies} lost with {}: {}; what it was charged {spent}",
            damage.path.display(),
            damage.what
        );
    }
    store.accept_losses().map_err(StageError::from)?;
    Ok(())
}

pub(super) fn run_pipeline(args: &Run, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    let mut flags: Vec<_> = args.threads.iter().map(|n| ("run.threads".to_string(), n.to_string())).collect();
    if args.preview {
        flags.push(("review.preview".into(), "true".into()));
    }
    let config = output::load_with(global, &flags)?;
    let recipes = output::recipes_to_make(&config, &args.only)?;
    if args.dry_run {
        return status::print_plan(&config, &recipes, &args.only, global);
    }
    convert::hint_convert(recipes.iter().copied(), global);
    let settings: sections::Run = config.typed_settings(None, "run");
    // The pool is built once per process; only a second call in the same process could fail.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build_global();
    let selection = Selection {
        from: args.stage.clone().or_else(|| args.from.clone()),
        to: args.stage.clone().or_else(|| args.to.clone()),
        force: args.force,
        offline: args.offline,
        retry_failed: args.retry_failed,
        run: llm::Run::new((settings.max_usd > 0.0).then(|| llm::Usd::from_dollars(settings.max_usd))),
    };
    if args.yes {
        selection.run.agree_to_cost();
    }
    let recipes = with_stages(recipes, args, &selection);
    if args.accept_lost_replies && Workspace::new(&config.root).raw_folder().join("replies").exists() {
        accept_losses(&config, global)?;
    }
    // After losses were accepted, which leaves nothing to refuse.
    draft::refuse_lost_replies(&config)?;
    if settings.disk_check {
        disk::check_disk(&config, &recipes)?;
    }
    if !args.offline {
        output::warn_of_short_keys(&config, global);
        output::warn_of_unsent(&config, global);
    }
    let (mut failed, mut unread) = (false, 0);
    let (mut built, mut standings) = (Vec::new(), Vec::new());
    let (passed, mut unwritten) = (Mutex::new(Vec::new()), Vec::new());
    for (at, recipe) in recipes.iter().enumerate() {
        // The recipes still ahead count in the estimate that a question shows.
        let (standing, candidate) =
            match run_recipe(&config, &recipes[at..], &selection, stop, &passed, global) {
                Ok(made) => made,
                // A file of one recipe that cannot be read or written does not keep the others from being made.
                Err(failure) if failure.exit == Exit::Io => {
                    unwritten.push(failure);
                    continue;
                }
                Err(failure) => {
                    // What waits in the finished recipes is worth knowing all the same, and so is what failed before: it may be why.
                    print_kept_back(&standings, global);
                    unwritten.push(failure);
                    return Err(Failure::of_all(unwritten));
                }
            };
        failed |= standing.causes.iter().any(|cause| cause.failed);
        unread += count_refused(&config, recipe, global)?;
        built.extend(candidate);
        standings.push(standing);
    }
    print_kept_back(&standings, global);
    output::print_remarks(&selection.run, global);
    if !unwritten.is_empty() {
        return Err(Failure::of_all(unwritten));
    }
    let mut next = crate::report::next(&config, &standings, &args.only.recipes)?;
    next.iter_mut().for_each(complete_command);
    if global.json {
        let mut built: Vec<BuiltCandidate<'_>> = built
            .iter()
            .map(|(candidate, written)| BuiltCandidate::new(candidate, *written, &standings, next.as_ref()))
            .collect();
        complete_causes(built.iter_mut().flat_map(BuiltCandidate::causes_mut));
        output::print_json(&built)?;
    }
    if !global.quiet {
        if unread > 0 {
            eprintln!(
                "warning: {} of raw/responses and raw/ratings could not be read",
                count(unread, "line")
            );
        }
        next.iter().flat_map(next::next_lines).for_each(|line| eprintln!("{line}"));
    }
    Ok(if failed || unread > 0 { Exit::Partial } else { Exit::Done })
}

/// If no recipe is given, a stage's name selects the recipes that have it.
fn with_stages(recipes: Vec<&'static Recipe>, args: &Run, selection: &Selection) -> Vec<&'static Recipe> {
    let has = |recipe: &&'static Recipe| {
        [&selection.from, &selection.to].into_iter().flatten().all(|name| recipe.find_step(name).is_some())
    };
    if !args.only.recipes.is_empty() || !recipes.iter().any(has) {
        return recipes;
    }
    recipes.into_iter().filter(has).collect()
}

/// Reports and counts invalid lines of raw/responses and raw/ratings.
fn count_refused(config: &Config, recipe: &'static Recipe, global: &Global) -> Result<u64, Failure> {
    const SHOWN: usize = 10;
    let takes = |step: &&Step| {
        step.stage.declared_draft().is_some_and(|draft| draft.draft_declaration().made.is_some())
    };
    let mut lines: Vec<Refused> = Vec::new();
    for step in recipe.steps().iter().filter(takes) {
        let place = Workspace::new(&config.root).stage_folder(recipe.name, step.number, step.name);
        let Some(stage) = StageReader::open(&place)? else { continue };
        // Stages made by earlier versions have no such table.
        if stage.manifest().tables.contains_key("refused") {
            lines.extend(stage.read_table::<Refused>("refused")?);
        }
    }
    for line in lines.iter().take(SHOWN).filter(|_| !global.quiet) {
        eprintln!("warning: {}: {}", line.id, line.evidence);
    }
    Ok(lines.len() as u64)
}

/// The sources of a workspace of which a recipe can use none, so that an empty import has its cause.
fn unused_sources(config: &Config, recipe: &'static Recipe) -> Vec<String> {
    let origin = recipe.origin_recipe();
    if config.sources.iter().any(|source| source.is_for_recipe(origin.name, origin.is_of_riddles())) {
        return Vec::new();
    }
    let note = |source: &Source| {
        let readers: Vec<&str> = crate::recipe::used_recipes(config)
            .filter(|other| source.is_for_recipe(other.name, other.is_of_riddles()))
            .map(|other| other.name)
            .collect();
        let for_whom = match readers.is_empty() {
            true => "for no recipe".to_owned(),
            false => format!("for {}", readers.join(", ")),
        };
        format!("note: {} reads none of [[source]] {}: it is {for_whom}", recipe.name, source.name)
    };
    config.sources.iter().map(note).collect()
}

/// Prints what waits or failed in all recipes.
fn print_kept_back(standings: &[RecipeState], global: &Global) {
    next::kept_back(standings).iter().filter(|_| !global.quiet).for_each(|line| eprintln!("{line}"));
}

type RunResult = (RecipeState, Option<(CandidateManifest, bool)>);

/// Runs the first of the remaining recipes.
fn run_recipe(
    config: &Config,
    ahead: &[&'static Recipe],
    selection: &Selection,
    stop: &Stop,
    passed: &Mutex<Vec<Manifest>>,
    global: &Global,
) -> Result<RunResult, Failure> {
    let recipe = ahead[0];
    if !global.quiet {
        unused_sources(config, recipe).iter().for_each(|note| eprintln!("{note}"));
        output::warn_of_missing_people(config, &[recipe])?;
        // Before the first step, because it comes after the votes of people.
        for one in pipeline::list_lacking(config, recipe)? {
            eprintln!("warning: {} {}, a later step: {}", recipe.name, one.step, one.what);
        }
    }
    let console = RunConsole::new(
        global.quiet,
        global.verbose,
        Some(RemainingWork { config, recipes: ahead, selection, passed }),
    );
    let made = pipeline::run_recipe(config, recipe, selection, stop, &console);
    console.finish();
    let manifests = made?;
    let standing = RecipeState::after_run(config, recipe, &manifests)?;
    let mut candidate = None;
    if manifests.len() == recipe.steps().len() && !release::is_published(recipe) {
        if !global.quiet {
            eprintln!("{}: its benchmark.toml has no [data] yet, so it cannot be released", recipe.name);
        }
    } else if manifests.len() == recipe.steps().len() {
        let workspace = Workspace::new(&config.root);
        let (built, written) = release::build_candidate(config, recipe, &manifests)?;
        // Everything in output/ may have been deleted, but released versions have to stay available.
        super::release::restore_versions(&workspace, recipe, global)?;
        if !global.quiet {
            let fresh = if written { "" } else { " (unchanged)" };
            let place = workspace.candidate_folder(recipe.name);
            eprintln!(
                "{}: {} at the end -> {}{fresh}",
                recipe.name,
                count(built.rows, "item"),
                place.display()
            );
        }
        if !global.quiet {
            for left in built.rowless_records() {
                eprintln!("  {}: {HANG}at the end and no row: {}", recipe.name, left.describe());
            }
            release::list_refusals(config, recipe).iter().for_each(|why| {
                eprintln!("  {}: {HANG}a release would be refused: {why}", tint_text(Tone::Bad, recipe.name));
            });
            for told in release::alike_told(recipe, &release::alike_pairs(&workspace, recipe)?) {
                eprintln!("  {}: {HANG}{told}", recipe.name);
            }
        }
        candidate = Some((built, written));
    }
    Ok((standing, candidate))
}
