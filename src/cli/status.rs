//! `status`: fresh and stale stages with reasons, and who is waited for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::next::{self, RecipeState};
use super::origins;
use super::output::{self, number};
use super::released;
use super::stage_table::{Row, StageTable};
use super::terminal::{HANG, Tone, tint, tone};
use crate::config::Config;
use crate::crawl;
use crate::pages::time::unix;
use crate::pipeline::{self, Freshness, Outdated, Planned, outdated, plan};
use crate::recipe::Recipe;
use crate::record::State;
use crate::release;
use crate::stages::draft;
use crate::store::Workspace;

pub(super) fn status(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let recipes = output::recipes(&config, args)?;
    print(&config, &recipes, args, global)
}

/// Prints what a run would make, and why; what is waited for; and what to do next.
pub(super) fn print(
    config: &Config,
    recipes: &[&'static Recipe],
    only: &Only,
    global: &Global,
) -> Result<Exit, Failure> {
    draft::refuse_lost_replies(config)?;
    let mut text = String::new();
    let mut machine = Vec::new();
    let mut standings = Vec::new();
    let mut passed = Vec::new();
    for recipe in recipes {
        let planned = plan(config, recipe)?;
        let lacking = pipeline::lacking(config, recipe)?;
        let standing = RecipeState::planned(config, recipe, &planned)?;
        let outdates = outdated(config, recipe, &planned)?.filter(|found| found.posts > 0);
        let mut table = StageTable::new(recipe, global.verbose);
        for step in &planned {
            let (state, description) = describe(step);
            let row = match (state, step.manifest()) {
                ("fresh", Some(manifest)) => Row::made(manifest, Duration::ZERO, &passed),
                _ => Row::due(step.step, state, description.clone()),
            };
            put_lines(&mut text, table.put(row));
            passed.extend(step.manifest().filter(|_| state == "fresh").cloned());
            // What follows is below the row of its stage alone.
            let lacks = lacking.iter().find(|one| one.step == step.step).map(|one| one.what.as_str());
            if let Some(what) = lacks {
                put_lines(&mut text, table.end());
                let what = what.replace("\n  hint: ", "; ");
                text.push_str(&format!("    {} {HANG}{what}\n", tint(tone("failed"), "lacks")));
            }
            let outdates = outdates.filter(|found| found.step == step.step);
            if let Some(found) = outdates {
                put_lines(&mut text, table.end());
                text.push_str(&format!("    outdates {HANG}{}\n", of_outdated(found)));
            }
            machine.push(json!({
                "recipe": recipe.name, "stage": step.step, "state": state, "why": description, "held": step.manifest().map_or(0, |made| made.counts.state(State::Held)),
                "causes": standing.causes(step.step).map(next::row).collect::<Vec<_>>(), "outdates": outdates, "lacks": lacks,
            }));
        }
        put_lines(&mut text, table.end());
        let refused = release::refusals(config, recipe);
        for why in &refused {
            let label = tint(Tone::Bad, "a release would be refused:");
            text.push_str(&format!("  {label} {HANG}{why}\n"));
        }
        if !refused.is_empty() {
            machine.push(json!({ "recipe": recipe.name, "refused": refused }));
        }
        let alike = release::alike_pairs(&Workspace::new(&config.root), recipe)?;
        for told in release::alike_told(recipe, &alike) {
            text.push_str(&format!("  {HANG}{told}\n"));
        }
        if !alike.is_empty() {
            machine.push(json!({ "recipe": recipe.name, "alike": alike }));
        }
        let (released, versions) = released::describe(&Workspace::new(&config.root), recipe)?;
        text.push_str(&released);
        machine.extend(versions);
        standings.push(standing);
    }
    put_lines(&mut text, next::kept_back(&standings));
    let (text_of_origins, rows) = origins::changed(config)?;
    text.push_str(&text_of_origins);
    machine.extend(rows);
    let (text_of_crawls, rows) = crawled(config);
    text.push_str(&text_of_crawls);
    machine.extend(rows);
    if let Some(next) = next::next(config, &standings, &only.recipes)? {
        text.push_str(&format!("{}\n", next.line()));
        machine.push(json!({ "next": next.json() }));
    }
    if global.json {
        output::json(&machine)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Done)
}

fn put_lines(text: &mut String, lines: Vec<String>) {
    lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
}

/// The age of crawled pages.
fn crawled(config: &Config) -> (String, Vec<serde_json::Value>) {
    let (mut text, mut machine) = (String::new(), Vec::new());
    let dirs = super::crawl::dirs(config);
    for source in &config.crawls {
        // The crawl and `fsck` report an unreadable archive.
        let Some(age) = crawl::age(source, &dirs).ok().flatten() else { continue };
        let name = &source.name;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        // The clock of the machine that crawled may be ahead.
        let days = unix(&age.last).map(|then| (now - then).max(0) / 86_400);
        let ago = match days {
            None => String::new(),
            Some(0) => " (less than a day ago)".into(),
            Some(days) => format!(" ({} ago)", output::count(days as u64, "day")),
        };
        let (ended, hint) = match age.ended {
            true => ("over", format!("`riddlemill crawl {name} --refresh` asks for what is new")),
            false => ("not finished", format!("`riddlemill crawl {name}` continues")),
        };
        text.push_str(&format!(
            "crawl {name}: {HANG}the last page is of {}{ago}; pass {} is {ended}, {}; {hint}\n",
            age.last.get(..10).unwrap_or_default(),
            age.pass,
            output::count(age.pages, "page"),
        ));
        machine.push(json!({
            "crawl": name, "last": age.last, "days": days, "pass": age.pass, "ended": age.ended, "pages": age.pages,
        }));
    }
    (text, machine)
}

/// What a run would make outdated, as text.
fn of_outdated(found: Outdated) -> String {
    let counted = |n: usize, noun: &str| output::count(n as u64, noun);
    format!(
        "texts of {}; {} and {} are on the present texts",
        counted(found.posts, "post"),
        counted(found.votes, "vote"),
        counted(found.replies, "reply")
    )
}

fn describe(step: &Planned) -> (&'static str, String) {
    match (&step.freshness, step.after) {
        (Freshness::Fresh(manifest), None) => {
            ("fresh", format!("{} records", number(manifest.counts.records_out)))
        }
        (Freshness::Fresh(_), Some(after)) => (
            "depends",
            format!(
                "fresh if the result of {after} does not \
                                         change"
            ),
        ),
        (Freshness::Stale(_, why), _) => ("stale", pipeline::describe_changes(why)),
        (Freshness::Missing, _) => ("missing", "not made yet".into()),
        (Freshness::Layout(layout), _) => Freshness::of_layout(*layout),
        // A step has one line here; an error may have several.
        (Freshness::Damaged(what), _) => ("damaged", what.lines().next().unwrap_or_default().into()),
    }
}
