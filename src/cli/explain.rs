//! `explain`: why a post is in or out.

use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::args::{Explain, Global};
use super::exit::{Exit, Failure};
use super::output;
use crate::audit::{Explained, Passage, details, explain as way, find};
use crate::release::origin;
use crate::store::Workspace;

/// More hits than this are listed, not told.
const TELL: usize = 3;

pub(super) fn explain(args: &Explain, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let workspace = Workspace::new(&config.root);
    let mut told = Vec::new();
    let mut many = Vec::new();
    for recipe in output::recipes(&config, &args.only)? {
        let released = origin(&workspace, recipe, &args.target)?;
        let ids = find(&workspace, recipe, released.as_ref().unwrap_or(&args.target))?;
        if ids.len() > TELL {
            many.extend(ids.into_iter().map(|id| (recipe.name, id)));
            continue;
        }
        for id in ids {
            let mut explained = way(&workspace, recipe, &id)?;
            for passage in &mut explained.way {
                passage.details = details(&config, recipe, &passage.stage, &passage.id)?;
            }
            told.push(explained);
        }
    }
    if global.json {
        let many: Vec<_> = many.iter().map(|(recipe, id)| json!({ "recipe": recipe, "id": id })).collect();
        output::json(&json!({ "explained": told, "also": many }))?;
    } else {
        let mut text: String = told.iter().map(print).collect();
        if !many.is_empty() {
            text.push_str("several posts hold this text; name one of them:\n");
            many.iter().take(20).for_each(|(recipe, id)| text.push_str(&format!("  {recipe}  {id}\n")));
            if many.len() > 20 {
                text.push_str(&format!("  … and {} more\n", many.len() - 20));
            }
        }
        output::print(&text)?;
    }
    if told.is_empty() && many.is_empty() {
        return Err(Failure {
            exit: Exit::Gap,
            message: format!(
                "no stage knows {:?}\n  hint: an id such as tieba:8370518555 or, of a released row, RB-12; SOURCE:LINE as in `recommended:17`, or a piece of its text",
                args.target
            ),
        });
    }
    Ok(Exit::Done)
}

fn print(explained: &Explained) -> String {
    let bold = Style::new().bold();
    let state = match explained.ends.as_str() {
        "in" => "in".to_string(),
        other => format!("out ({other})"),
    };
    let mut text = format!(
        "{bold}{}{bold:#} in {}: {}\n",
        explained.id,
        explained.recipe,
        colour(&explained.ends, &state)
    );
    for passage in &explained.way {
        text.push_str(&print_passage(passage));
    }
    if !explained.absorbed.is_empty() {
        text.push_str("  went into it:\n");
        for passage in &explained.absorbed {
            text.push_str(&print_passage(passage));
        }
    }
    text.push('\n');
    text
}

fn print_passage(passage: &Passage) -> String {
    let mut text = format!("  {:<10} {}", passage.stage, colour(&passage.outcome, &passage.outcome));
    if let Some(reason) = &passage.reason {
        text.push_str(&format!(" ({reason})"));
    }
    if passage.stage == "import" || passage.outcome == "merged" {
        text.push_str(&format!(" {}", passage.id));
    }
    if let Some(into) = &passage.into {
        text.push_str(&format!(" -> {into}"));
    }
    if let Some(score) = passage.score {
        text.push_str(&format!(" at {score:.3}"));
    }
    text.push('\n');
    let mut detail = |name: &str, value: &Option<String>| {
        if let Some(value) = value.as_deref().filter(|v| !v.is_empty()) {
            text.push_str(&format!(
                "             {name:<8} {}\n",
                value.replace('\n', "⏎").replace('\r', "␍")
            ));
        }
    };
    detail("means", &passage.definition);
    detail("because", &passage.evidence);
    detail("before", &passage.before);
    detail("after", &passage.after);
    for piece in &passage.details {
        text.push_str(&format!("             {:<8} {}\n", piece.what, piece.id));
        piece.text.lines().for_each(|line| text.push_str(&format!("               | {line}\n")));
    }
    text
}

fn colour(state: &str, text: &str) -> String {
    use std::io::IsTerminal;
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.into();
    }
    let colour = match state {
        "in" | "kept" => AnsiColor::Green,
        "changed" | "merged" | "joined" | "expanded" => AnsiColor::Cyan,
        "held" => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    format!("{style}{text}{style:#}")
}
