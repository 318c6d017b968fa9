//! `report`: the funnel by stage, state and reason.

use serde::Serialize;

use super::args::{Global, Only};
use super::exit::{Exit, Failure};
use super::output::{self, number};
use crate::audit::{Funnel, Tables, funnel, tables};
use crate::record::State;
use crate::stages;
use crate::store::Workspace;

pub(super) fn report(args: &Only, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let workspace = Workspace::new(&config.root);
    let recipes = output::recipes(&config, args)?;
    let mut funnels = Vec::new();
    for recipe in recipes {
        funnels.push(Report { funnel: funnel(&workspace, recipe)?, tables: tables(&workspace, recipe)? });
    }
    if global.json {
        output::json(&funnels)?;
    } else {
        let told: Vec<String> = funnels
            .iter()
            .map(|report| {
                print(&report.funnel) + &report.tables.as_ref().map(print_tables).unwrap_or_default()
            })
            .collect();
        output::print(&told.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// A recipe's funnel with the tables of its paper.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    funnel: Funnel,
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<Tables>,
}

fn print_tables(tables: &Tables) -> String {
    let mut text = String::from("  table 1: questions by category\n");
    for category in &tables.categories {
        let label = format!("{} {}", category.number, category.name);
        text.push_str(&format!("    {label:<30} {:>6}\n", category.questions));
    }
    text.push_str(&format!(
        "  table 2: {} questions, {} with a pair; words:       average   max   min\n",
        tables.questions, tables.with_pair
    ));
    let lengths = [
        ("question", tables.question_words),
        ("irrationality", tables.irrationality_words),
        ("pair", tables.pair_words),
    ];
    for (name, length) in lengths {
        if let Some(length) = length {
            text.push_str(&format!(
                "    {name:<46} {:>7.2} {:>5} {:>5}\n",
                length.average, length.max, length.min
            ));
        }
    }
    text.push_str("  reviews\n");
    for review in &tables.reviews {
        let mut parts = Vec::new();
        let counts = [
            (review.confirmed, "confirmed"),
            (review.rewritten, "rewritten"),
            (review.sample_confirmed, "confirmed by the sample"),
            (review.sample_rewritten, "rewritten by the sample"),
            (review.provisional, "provisional"),
            (review.rejected, "rejected"),
            (review.held, "held"),
        ];
        parts.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
        let share = review.share_rewritten().filter(|share| *share > 0.0);
        let share = share.map(|share| format!("; {:.0} % rewritten", share * 100.0)).unwrap_or_default();
        text.push_str(&format!("    {:<22} {}{share}\n", review.stage, parts.join(", ")));
    }
    text
}

fn print(funnel: &Funnel) -> String {
    let mut text = format!("{}\n", funnel.recipe);
    let Some(first) = funnel.stages.first() else {
        return text + "  not made yet\n";
    };
    let wide = funnel.stages.iter().map(|stage| stage.stage.len()).max().unwrap_or(0).max(10);
    let widest = first.counts.records_in.max(1);
    for stage in &funnel.stages {
        let counts = &stage.counts;
        let bar = "█".repeat((counts.records_out * 40).div_ceil(widest).min(40) as usize);
        text.push_str(&format!(
            "  {:<wide$} {:>11} in {:>11} out  {bar}\n",
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
                    "  {:<wide$} {:>11} {:<8} {code:<18} {meaning}\n",
                    "",
                    number(n),
                    state.code()
                ));
            }
        }
    }
    text
}
