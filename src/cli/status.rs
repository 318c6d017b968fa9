//! `status`: fresh, stale and why, waiting on whom.

use serde_json::json;

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::output::{self, number};
use crate::config::Config;
use crate::pipeline::{Freshness, Planned, plan};
use crate::recipe::Recipe;
use crate::record::State;
use crate::stages::Stage;

pub(super) fn status(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let recipes = output::recipes(&config, args)?;
    print(&config, &recipes, global)
}

/// Prints what a run would make, and why.
pub(super) fn print(config: &Config, recipes: &[&'static Recipe], global: &Global) -> Result<Exit, Failure> {
    let mut text = String::new();
    let mut machine = Vec::new();
    for recipe in recipes {
        let planned = plan(config, recipe)?;
        let width = recipe.steps.iter().map(|s| s.name.len()).max().unwrap_or(0);
        text.push_str(&format!("{}\n", recipe.name));
        for step in &planned {
            let (state, words) = describe(step);
            let waits = waiting(step);
            text.push_str(&format!("  {:width$}  {state:8} {words}\n", step.step));
            let drafts = recipe.step(step.step).is_some_and(|(_, s)| matches!(s.stage, Stage::Draft(_)));
            let whom = if drafts { "a reply" } else { "a person" };
            if waits > 0 {
                text.push_str(&format!(
                    "  {:width$}  {:8} {} held for {whom}\n",
                    "",
                    "waiting",
                    number(waits)
                ));
            }
            machine.push(json!({
                "recipe": recipe.name, "stage": step.step, "state": state, "why": words, "held": waits,
            }));
        }
    }
    if global.json {
        output::json(&machine)?
    } else {
        output::print(&text)?
    }
    Ok(Exit::Done)
}

fn describe(step: &Planned) -> (&'static str, String) {
    match (&step.freshness, step.after) {
        (Freshness::Fresh(manifest), None) => {
            ("fresh", format!("{} records", number(manifest.counts.records_out)))
        }
        (Freshness::Fresh(_), Some(after)) => ("depends", format!("fresh if {after} comes out as before")),
        (Freshness::Stale(_, why), _) => ("stale", why.join("; ")),
        (Freshness::Missing, _) => ("missing", "not made yet".into()),
        (Freshness::Layout(layout), _) => Freshness::of_layout(*layout),
        (Freshness::Damaged(what), _) => ("damaged", what.lines().next().unwrap_or_default().into()),
    }
}

fn waiting(step: &Planned) -> u64 {
    match &step.freshness {
        Freshness::Fresh(manifest) | Freshness::Stale(manifest, _) => manifest.counts.state(State::Held),
        Freshness::Missing | Freshness::Layout(_) | Freshness::Damaged(_) => 0,
    }
}
