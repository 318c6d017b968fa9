//! `status`: fresh and stale stages with reasons, and who is waited for.

use std::time::Duration;

use super::args::{Global, RecipeArgs};
use super::commands::{complete_causes, complete_command};
use super::convert;
use super::exit::{Exit, Failure};
use super::next;
use super::origins;
use super::output::{self, count};
use super::released;
use super::stage_table::{StageTable, StageTableRow};
use super::terminal::{HANG, Tone, tint_text, tone_of_state};
use crate::config::Config;
use crate::pipeline::Outdated;
use crate::recipe::Recipe;
use crate::release;
use crate::report::{CrawlAge, RecipeStatus, Status};
use crate::store::Manifest;

pub(super) fn print_status(args: &RecipeArgs, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let recipes = output::select_recipes(&config, args)?;
    print_plan(&config, &recipes, args, global)
}

/// Prints what a run would make, and why; what is waited for; and what to do next.
pub(super) fn print_plan(
    config: &Config,
    recipes: &[&'static Recipe],
    only: &RecipeArgs,
    global: &Global,
) -> Result<Exit, Failure> {
    convert::hint_convert(recipes.iter().copied(), global);
    output::warn_of_missing_people(config, recipes)?;
    let mut status = crate::report::report_status(config, recipes, &only.recipes)?;
    status.next.iter_mut().for_each(complete_command);
    let stages = status.recipes.iter_mut().flat_map(|recipe| &mut recipe.stages);
    complete_causes(stages.flat_map(|stage| &mut stage.causes));
    match global.json {
        true => output::print_json(&status)?,
        false => output::print_text(&status_text(&status, global.verbose))?,
    }
    Ok(Exit::Done)
}

fn status_text(status: &Status, verbose: bool) -> String {
    let mut text = String::new();
    let mut passed = Vec::new();
    status.recipes.iter().for_each(|recipe| put_recipe(&mut text, recipe, &mut passed, verbose));
    put_lines(&mut text, next::kept_back(&status.states));
    put_lines(&mut text, status.endpoints.iter().map(origins::origins_line).collect());
    put_lines(&mut text, status.crawls.iter().map(of_crawl).collect());
    put_lines(&mut text, status.next.iter().flat_map(next::next_lines).collect());
    text
}

/// The table of a recipe, and what is to be said of it. `passed` are the stages of the recipes before.
fn put_recipe(text: &mut String, status: &RecipeStatus, passed: &mut Vec<Manifest>, verbose: bool) {
    let mut table = StageTable::new(status.recipe, verbose);
    for stage in &status.stages {
        let made = stage.made.as_ref().filter(|_| stage.state == "fresh");
        let row = match made {
            Some(manifest) => StageTableRow::made_stage(manifest, Duration::ZERO, passed),
            None => StageTableRow::due_stage(stage.stage, stage.state, stage.why.clone()),
        };
        put_lines(text, table.add_row(row));
        passed.extend(made.cloned());
        // What follows is below the row of its stage alone.
        if let Some(what) = &stage.lacks {
            put_lines(text, table.remaining_lines());
            let what = what.replace("\n  hint: ", "; ");
            text.push_str(&format!("    {} {HANG}{what}\n", tint_text(tone_of_state("failed"), "lacks")));
        }
        if let Some(found) = stage.outdates {
            put_lines(text, table.remaining_lines());
            text.push_str(&format!("    outdates {HANG}{}\n", of_outdated(found)));
        }
    }
    put_lines(text, table.remaining_lines());
    for left in &status.rowless {
        text.push_str(&format!("  at the end and no row: {HANG}{}\n", left.describe()));
    }
    for why in &status.refused {
        let label = tint_text(Tone::Bad, "a release would be refused:");
        text.push_str(&format!("  {label} {HANG}{why}\n"));
    }
    for told in release::alike_told(status.recipe, &status.alike) {
        text.push_str(&format!("  {HANG}{told}\n"));
    }
    status
        .released
        .iter()
        .for_each(|version| text.push_str(&released::released_lines(status.recipe, version)));
}

fn put_lines(text: &mut String, lines: Vec<String>) {
    lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
}

/// The age of crawled pages.
fn of_crawl(age: &CrawlAge) -> String {
    let CrawlAge { crawl, last, days, pass, ended, pages } = age;
    let ago = match days {
        None => String::new(),
        Some(0) => " (less than a day ago)".into(),
        Some(days) => format!(" ({} ago)", count(*days as u64, "day")),
    };
    let (ended, hint) = match ended {
        true => ("over", format!("`riddlemill crawl {crawl} --refresh` asks for what is new")),
        false => ("not finished", format!("`riddlemill crawl {crawl}` continues")),
    };
    format!(
        "crawl {crawl}: {HANG}the last page is of {}{ago}; pass {pass} is {ended}, {}; {hint}",
        last.get(..10).unwrap_or_default(),
        count(*pages, "page"),
    )
}

/// What a run would make outdated, as text.
fn of_outdated(found: Outdated) -> String {
    let counted = |n: usize, noun: &str| count(n as u64, noun);
    format!(
        "texts of {}; {} and {} are on the present texts",
        counted(found.posts, "post"),
        counted(found.votes, "vote"),
        counted(found.replies, "reply")
    )
}
