//! `report`: the funnel by stage, state and reason.

use std::path::Path;

use super::args::{Global, Report};
use super::exit::{Exit, Failure};
use super::output::{self, format_count};
use super::terminal::{HANG, tint_text, tone_of_state, visible_line};
use crate::audit::{Funnel, compute_figures, declared_tables, figure_files, render_audit_page};
use crate::record::State;
use crate::release::LeftOut;
use crate::report::{Examples, RecipeReport, recipe_report};
use crate::stages;
use crate::store::{Workspace, durable};

/// Examples of each reason on the page by default.
const ON_PAGE: usize = 3;

/// Characters of the longest bar, so that a line fits 80 columns.
const BAR: u64 = 20;

pub(super) fn print_report(args: &Report, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let workspace = Workspace::new(&config.root);
    let recipes = output::select_recipes(&config, &args.only)?;
    if let Some(folder) = &args.figures {
        let mut files = Vec::new();
        for recipe in &recipes {
            files.extend(figure_files(&config, recipe)?);
        }
        crate::figures::write(folder, &files)?;
        print_figures(folder, files.len(), global);
    }
    if let Some(file) = &args.html {
        let size = if args.examples > 0 { args.examples } else { ON_PAGE };
        let figures =
            recipes.iter().map(|r| compute_figures(&workspace, r, size)).collect::<Result<Vec<_>, _>>()?;
        let tables = recipes.iter().map(|r| declared_tables(&config, r)).collect::<Result<Vec<_>, _>>()?;
        let html = render_audit_page(&config, &figures, &tables)
            .map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })?;
        durable::replace_file(file, html.as_bytes())?;
        if !global.quiet {
            eprintln!("{} written", file.display());
        }
        return Ok(Exit::Done);
    }
    let reports: Vec<RecipeReport> = recipes
        .into_iter()
        .map(|recipe| recipe_report(&config, recipe, args.examples))
        .collect::<Result<_, _>>()?;
    match global.json {
        true => output::print_json(&reports)?,
        false => output::print_text(&reports.iter().map(report_text).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(Exit::Done)
}

fn report_text(report: &RecipeReport) -> String {
    let below = report.tables.as_ref().map(|tables| tables.text.as_str()).unwrap_or_default();
    let none = Examples::new();
    funnel_text(&report.funnel, report.examples.as_ref().unwrap_or(&none))
        + &print_stopped(&report.stopped)
        + below
}

/// Says where figures are.
pub(super) fn print_figures(folder: &Path, count: usize, global: &Global) {
    if !global.quiet {
        eprintln!("{} in {}", output::count(count as u64, "file"), folder.display());
    }
}

fn funnel_text(funnel: &Funnel, examples: &Examples) -> String {
    let mut text = format!("{}\n", funnel.recipe);
    let Some(first) = funnel.stages.first() else {
        return text + "  not made yet\n";
    };
    let wide = funnel.stages.iter().map(|stage| stage.stage.len()).max().unwrap_or(0).max(10);
    let widest = first.counts.records_in.max(1);
    for stage in &funnel.stages {
        let counts = &stage.counts;
        // Rounded up, so that a single record shows; limited, as pages expand into more posts than came in.
        let bar = "█".repeat((counts.records_out * BAR).div_ceil(widest).min(BAR) as usize);
        text.push_str(&format!(
            "  {:<wide$} {:>9} in {:>9} out  {bar}\n",
            stage.stage,
            format_count(counts.records_in),
            format_count(counts.records_out)
        ));
        if let Some(names) = stage.names {
            let what = "names of users, looked for in every text";
            text.push_str(&format!("    {:>9} {what}\n", format_count(names)));
        }
        for state in State::ALL {
            let prefix = format!("{}/", state.code());
            let mut reasons: Vec<_> =
                counts.reasons.iter().filter_map(|(k, n)| Some((k.strip_prefix(&prefix)?, *n))).collect();
            reasons.sort_by_key(|(code, n)| (std::cmp::Reverse(*n), *code));
            for (code, n) in reasons {
                let meaning = stages::define_code(code).unwrap_or_default();
                let shown = tint_text(tone_of_state(state.code()), &format!("{:<8}", state.code()));
                // Not below the stage's name: a terminal of 80 columns would have no room for the meaning.
                text.push_str(&format!("    {:>9}  {shown} {code:<20} {HANG}{meaning}\n", format_count(n)));
                let some = examples.get(&stage.stage).and_then(|by| by.get(&format!("{prefix}{code}")));
                for one in some.into_iter().flatten() {
                    let named = one
                        .text
                        .as_ref()
                        .or(one.entry.evidence.as_ref())
                        .map(|t| shorten_text(t))
                        .unwrap_or_default();
                    text.push_str(&format!("    {:>9}    {}  {HANG}{named}\n", "", one.entry.id));
                }
            }
        }
    }
    text
}

/// What the conditions of `[data]` stopped of the records at the end, told as steps.
fn print_stopped(stopped: &[LeftOut]) -> String {
    let mut text = String::new();
    for (at, left) in stopped.iter().enumerate() {
        if at == 0 || stopped[at - 1].stage != left.stage {
            text.push_str(&format!("  {}\n", left.stage));
        }
        let shown = tint_text(tone_of_state(&left.state), &format!("{:<8}", left.state));
        let means = left.says.as_deref().unwrap_or_default();
        let (count, code) = (format_count(left.items.count), &left.reason);
        text.push_str(&format!("    {count:>9}  {shown} {code:<20} {HANG}{means}\n"));
    }
    text
}

/// The beginning of a text, on one line.
fn shorten_text(text: &str) -> String {
    const CHARS: usize = 60;
    let line = visible_line(&text.chars().take(CHARS).collect::<String>());
    if text.chars().count() > CHARS { line + "…" } else { line }
}
