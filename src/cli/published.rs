//! `published`: reports on the rows of published sets.

use std::fmt::Write;

use super::args::{Global, PublishedArgs};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::terminal::visible_line;
use crate::audit::{PublishedReport, examine_published, published_page};
use crate::store::durable;

/// Most ids named for each rule; `--json` and `--html` have all.
const NAMED: usize = 5;

pub(super) fn report_published(args: &PublishedArgs, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let mut reports = Vec::new();
    for recipe in output::select_recipes(&config, &args.only)? {
        reports.extend(examine_published(&config, recipe)?);
    }
    if reports.is_empty() {
        let what = "no published row is in staged/\n  hint: name its file as [[published]] in pipeline.toml, then `riddlemill run`";
        return Err(Failure { exit: Exit::Gap, message: what.into() });
    }
    if let Some(path) = &args.html {
        let page = published_page(&reports).map_err(|e| Failure::usage(e.to_string()))?;
        durable::replace_file(path, page.as_bytes())?;
    }
    if global.json {
        output::print_json(&reports)?;
    } else {
        output::print_text(&reports.iter().map(describe_published).collect::<String>())?;
    }
    // Rows changed by people are reported, but are not an error.
    Ok(Exit::Done)
}

fn describe_published(report: &PublishedReport) -> String {
    let mut text = format!(
        "{}: {} published, {} reproduced exactly\n",
        report.recipe,
        count(report.rows as u64, "row"),
        report.equal
    );
    let mut line = |what: &str, ids: &[String]| {
        let more = if ids.len() > NAMED { ", …" } else { "" };
        let named = ids[..ids.len().min(NAMED)].join(", ");
        let _ = writeln!(text, "  {:>5}  {what}: {named}{more}", ids.len());
    };
    if !report.other.is_empty() {
        line("not as published", &report.other);
    }
    for (rule, ids) in &report.oddities {
        line(rule, ids);
    }
    if !report.missing.is_empty() {
        let missing: Vec<String> = report.missing.iter().map(u64::to_string).collect();
        line("numbers that no row has", &missing);
    }
    for stage in &report.let_through {
        line(&format!("{} would have: {}", stage.stage, stage.what), &stage.records);
    }
    let (near, same): (Vec<_>, Vec<_>) = report.found.iter().partition(|post| post.how == "borderline");
    for (posts, what) in
        [(same, "posts of the dumps are published rows"), (near, "posts are nearly equal to published rows")]
    {
        if !posts.is_empty() {
            let named: Vec<String> =
                posts.iter().map(|post| format!("{} ({})", post.post, post.published)).collect();
            line(what, &named);
        }
    }
    if !report.kept.is_empty() {
        let kept: Vec<String> = report.kept.iter().map(|post| post.post.clone()).collect();
        line("posts of the dumps are not published, although every rule keeps them", &kept);
    }
    let _ = writeln!(
        text,
        "  {:>5}  {} no post of another source, not even nearly{}",
        report.without.len(),
        if report.without.len() == 1 { "row is" } else { "rows are" },
        if report.without.is_empty() { "" } else { "; each with the nearest post:" }
    );
    for row in &report.without {
        let _ = writeln!(text, "         {}  {}", row.published, visible_line(&row.text));
        let _ = match &row.nearest {
            None => writeln!(text, "           there are no posts"),
            Some(near) => writeln!(
                text,
                "           {:.3} {} {} ({}): {}",
                near.score,
                near.post,
                near.place,
                near.ended,
                visible_line(&near.post_text)
            ),
        };
    }
    text
}
