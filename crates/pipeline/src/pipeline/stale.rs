//! Which stages under a recipe's end do not match the current raw/ and settings.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::config::Config;
use crate::recipe::Recipe;
use riddlemill_record::{Reason, State};
use riddlemill_tables::Manifest;

use super::RunError;
use super::freshness::Freshness;
use super::plan::{Planned, plan_of};
use riddlemill_text::text::count_with_noun;

/// A stage that a run would remake, and what changed since it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StaleStage {
    /// Its recipe: the one asked for, or one that it continues.
    pub recipe: &'static str,
    pub stage: &'static str,
    /// The changes as text: `3 new votes`, `max_chars 300 -> 30`.
    pub why: Vec<String>,
}

impl fmt::Display for StaleStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.recipe, self.stage, self.why.join("; "))
    }
}

/// The stages under a recipe's end, including those of the recipes it continues, that do not match the
/// current raw/ and settings, or whose run was interrupted. Records that wait for a person or a reply make no
/// stage stale. Empty if a release would match the newest evidence.
///
/// # Errors
/// [`RunError`] if sources, votes or replies cannot be read.
pub fn stale_stages(config: &Config, recipe: &'static Recipe) -> Result<Vec<StaleStage>, RunError> {
    let mut found = Vec::new();
    for (from, steps) in upstream_recipes(recipe) {
        found.extend(of_recipe(config, from, |step| steps.contains(step))?);
    }
    found.extend(of_recipe(config, recipe, |_| true)?);
    Ok(found)
}

fn of_recipe(
    config: &Config,
    recipe: &'static Recipe,
    under: impl Fn(&str) -> bool,
) -> Result<Vec<StaleStage>, RunError> {
    // Offline, because replies that may still be asked for make no stage stale.
    let planned = plan_of(config, recipe, true)?;
    let stale = planned.into_iter().filter(|planned| under(planned.step)).filter_map(|planned| {
        let why = stale_reasons(&planned);
        (!why.is_empty()).then_some(StaleStage { recipe: recipe.name, stage: planned.step, why })
    });
    Ok(stale.collect())
}

fn stale_reasons(planned: &Planned) -> Vec<String> {
    match &planned.freshness {
        Freshness::Fresh(manifest) => cut_short(manifest).into_iter().collect(),
        Freshness::Stale(_, why) => why.iter().map(ToString::to_string).collect(),
        Freshness::Missing => vec!["not made yet".into()],
        Freshness::Layout(layout) => vec![Freshness::of_layout(*layout).1],
        Freshness::Damaged(what) => vec![what.lines().next().unwrap_or_default().to_string()],
    }
}

/// Records that an interrupted run did not reach.
fn cut_short(manifest: &Manifest) -> Option<String> {
    let key = format!("{}/{}", State::Held.code(), Reason::Interrupted.code());
    let left = manifest.counts.reasons.get(&key).copied().unwrap_or(0);
    (left > 0)
        .then(|| format!("the run was interrupted before it asked for {}", count_with_noun(left, "record")))
}

/// The recipes that this one continues, each with the steps that lead to its input.
fn upstream_recipes(recipe: &'static Recipe) -> Vec<(&'static Recipe, BTreeSet<&'static str>)> {
    let mut found: Vec<(&'static Recipe, BTreeSet<&'static str>)> = Vec::new();
    let inputs = recipe.steps().iter().flat_map(|step| step.inputs);
    for (from, _, step) in
        inputs.filter(|input| input.contains('/')).filter_map(|name| recipe.find_input(name))
    {
        let place = found.iter().position(|(known, _)| known.name == from.name).unwrap_or_else(|| {
            found.push((from, BTreeSet::new()));
            found.len() - 1
        });
        let steps = &mut found[place].1;
        let mut waiting = vec![step.name];
        while let Some(name) = waiting.pop() {
            // Several steps may share an input, which is followed once.
            if steps.insert(name)
                && let Some((_, step)) = from.find_step(name)
            {
                waiting.extend(step.inputs.iter().copied());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::find_recipe;

    #[test]
    fn a_recipe_rests_on_the_steps_that_lead_to_what_it_takes() {
        let [(from, steps)] = &upstream_recipes(find_recipe("ruozhibench-mc").unwrap())[..] else {
            panic!("one recipe")
        };
        assert_eq!(from.name, "ruozhibench-gen");
        assert!(steps.contains("import") && steps.contains("dedup"), "{steps:?}");
        assert!(upstream_recipes(find_recipe("flub").unwrap()).is_empty());
    }
}
