//! `report`: the funnel by stage, state and reason.

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::output::{self, number};
use crate::audit::{Funnel, funnel};
use crate::record::State;
use crate::stages;
use crate::store::Workspace;

pub(super) fn report(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let workspace = Workspace::new(&config.root);
    let recipes = output::recipes(&config, args)?;
    let funnels: Vec<Funnel> =
        recipes.into_iter().map(|r| funnel(&workspace, r)).collect::<Result<_, _>>()?;
    if global.json {
        output::json(&funnels)?;
    } else {
        output::print(&funnels.iter().map(print).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}

fn print(funnel: &Funnel) -> String {
    let mut text = format!("{}\n", funnel.recipe);
    let Some(first) = funnel.stages.first() else {
        return text + "  not made yet\n";
    };
    let widest = first.counts.records_in.max(1);
    for stage in &funnel.stages {
        let counts = &stage.counts;
        let bar = "█".repeat((counts.records_out * 40).div_ceil(widest).min(40) as usize);
        text.push_str(&format!(
            "  {:<10} {:>11} in {:>11} out  {bar}\n",
            stage.stage,
            number(counts.records_in),
            number(counts.records_out)
        ));
        for state in State::ALL {
            let prefix = format!("{}/", state.code());
            let mut reasons: Vec<_> =
                counts.reasons.iter().filter_map(|(k, n)| Some((k.strip_prefix(&prefix)?, *n))).collect();
            reasons.sort_by_key(|(code, n)| (std::cmp::Reverse(*n), *code));
            for (code, n) in reasons {
                let meaning = stages::definition(code).unwrap_or_default();
                text.push_str(&format!(
                    "  {:<10} {:>11} {:<8} {code:<18} {meaning}\n",
                    "",
                    number(n),
                    state.code()
                ));
            }
        }
    }
    text
}
