//! `show`: the records of a stage, and close pairs.

use anstyle::{AnsiColor, Style};

use super::args::{Global, Show};
use super::exit::{Exit, Failure};
use super::output::{self, format_count};
use super::terminal::{self, HANG};
use crate::audit::{NearTexts, Piece, PieceSide, Query, Shown, diff_texts};
use crate::config::{near_miss, unknown};
use crate::recipe::{RECIPES, Recipe, Step};
use crate::record::State;
use crate::release::AlikePair;
use crate::report::{ShownRows, ShownStage, show_stage};
use crate::store::Workspace;

pub(super) fn show_records(args: &Show, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let workspace = Workspace::new(&config.root);
    let query = build_query(args)?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let mut answers = Vec::new();
    for (recipe, step) in find_steps(args, output::select_recipes(&config, &args.only)?)? {
        answers.extend(show_stage(&workspace, recipe, step, &query, (args.borderline, limit))?);
    }
    if answers.is_empty() {
        let what = if args.borderline { "no pairs in" } else { "not made yet:" };
        let hint = format!("{what} {:?}\n  hint: `riddlemill run --to {}` makes it", args.stage, args.stage);
        return Err(Failure { exit: Exit::Gap, message: hint });
    }
    match global.json {
        true => output::print_json(&answers)?,
        false => output::print_text(&answers.iter().map(stage_text).collect::<String>())?,
    }
    Ok(Exit::Done)
}

fn stage_text(stage: &ShownStage) -> String {
    let mut text: String = match &stage.rows {
        ShownRows::Records(shown) => shown.iter().map(record_text).collect(),
        ShownRows::Pairs(near) => near.iter().map(print_near).collect(),
    };
    text.extend(stage.alike.iter().map(print_alike));
    let near = match &stage.rows {
        ShownRows::Pairs(near) => near.first().map(|near| (&near.pair.a, &near.pair.b)),
        ShownRows::Records(_) => None,
    };
    if let Some((a, b)) = near.or_else(|| stage.alike.first().map(|pair| (&pair.a, &pair.b))) {
        text.push_str(&format!(
            "`riddlemill decide one {a} {b} --recipe {} --by NAME --why TEXT` leaves one of two, `decide two` both\n",
            stage.recipe
        ));
    }
    let here = format_count(stage.rows.count_rows() as u64);
    text.push_str(&format!("{} {}: {here} of {}\n", stage.recipe, stage.stage, format_count(stage.all)));
    text
}

fn build_query(args: &Show) -> Result<Query, Failure> {
    let grep = args.grep.as_deref().map(regex::Regex::new).transpose();
    if let Some(code) = args.outcome.as_deref().filter(|code| State::from_code(code).is_none()) {
        return Err(Failure::usage(unknown("outcome", code, State::ALL.iter().map(|s| s.code()))));
    }
    if let Some(code) = args.reason.as_deref().filter(|code| crate::stages::define_code(code).is_none()) {
        let near = near_miss(code, crate::stages::reason_codes());
        let hint = near
            .map_or("`riddlemill report` lists those that occur".into(), |n| format!("did you mean {n:?}?"));
        return Err(Failure::usage(format!("unknown reason {code:?}\n  hint: {hint}")));
    }
    Ok(Query {
        outcome: args.outcome.clone(),
        reason: args.reason.clone(),
        grep: grep.map_err(|e| Failure::usage(format!("--grep: {e}")))?,
        like: args.like.clone(),
        sample: args.sample,
        seed: args.seed,
    })
}

/// The step with that name in each recipe that has one.
fn find_steps(
    args: &Show,
    recipes: Vec<&'static Recipe>,
) -> Result<Vec<(&'static Recipe, &'static Step)>, Failure> {
    let found: Vec<_> =
        recipes.iter().filter_map(|r| r.find_step(&args.stage).map(|(_, step)| (*r, step))).collect();
    if found.is_empty() {
        let recipes = if recipes.is_empty() { RECIPES.iter().collect() } else { recipes };
        let mut known: Vec<&str> = recipes.iter().flat_map(|r| r.steps().iter().map(|s| s.name)).collect();
        known.sort_unstable();
        known.dedup();
        return Err(Failure::usage(unknown("stage", &args.stage, known)));
    }
    Ok(found)
}

fn record_text(shown: &Shown) -> String {
    let entry = &shown.entry;
    let bold = Style::new().bold();
    let mut head = format!("{}{}{}  {}", style_start(bold), entry.id, style_end(bold), entry.outcome);
    if let Some(reason) = &entry.reason {
        head.push_str(&format!(" ({reason})"));
    }
    if let Some(into) = &entry.into {
        head.push_str(&format!(" -> {into}"));
    }
    if let Some(score) = entry.score {
        head.push_str(&format!(" at {score:.3}"));
    }
    if let Some(likeness) = shown.likeness {
        head.push_str(&format!("  [like {likeness:.2}]"));
    }
    head.push('\n');
    let mut detail = |name: &str, value: &Option<String>| {
        if let Some(value) = value.as_deref().filter(|v| !v.is_empty()) {
            head.push_str(&format!("    {name:<8} {HANG}{}\n", one_line(value)));
        }
    };
    if entry.after.is_some() {
        detail("before", &entry.before);
        detail("after", &entry.after);
    } else if let (Some(own), Some(into)) = (&shown.text, shown.into_text.as_ref()) {
        head.push_str(&both_sides(&entry.id, own, entry.into.as_deref().unwrap_or_default(), into));
    } else {
        detail("text", &shown.text);
    }
    let mut detail = |name: &str, value: &Option<String>| {
        if let Some(value) = value.as_deref().filter(|v| !v.is_empty()) {
            head.push_str(&format!("    {name:<8} {}\n", one_line(value)));
        }
    };
    detail("because", &entry.evidence);
    head
}

fn print_near(near: &NearTexts) -> String {
    let pair = &near.pair;
    let veto = pair.veto.as_deref().map(|v| format!(", demoted by {v}")).unwrap_or_default();
    let mut text =
        format!("{:.3} {}{veto}; levenshtein {:.3}\n", pair.score, pair.predicate, pair.levenshtein);
    text.push_str(&print_sides(&pair.a, &pair.b, &near.diff));
    text
}

fn print_alike(pair: &AlikePair) -> String {
    let head = format!("{:.3} {}; alike since their texts were rewritten\n", pair.score, pair.predicate);
    head + &both_sides(&pair.a, &pair.text_a, &pair.b, &pair.text_b)
}

/// Two texts, one below the other, with the differences marked.
pub(super) fn both_sides(a: &str, text_a: &str, b: &str, text_b: &str) -> String {
    print_sides(a, b, &diff_texts(text_a, text_b))
}

fn print_sides(a: &str, b: &str, pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (id, side, colour, marks) in
        [(a, PieceSide::A, AnsiColor::Red, ("[-", "-]")), (b, PieceSide::B, AnsiColor::Green, ("{+", "+}"))]
    {
        let style = Style::new().fg_color(Some(colour.into())).underline();
        // Without colours the differences need marks of their own.
        let (open, close) = if has_colours() {
            (style_start(style), style_end(style))
        } else {
            (marks.0.into(), marks.1.into())
        };
        text.push_str(&format!("    {id:<28} {HANG}"));
        for piece in pieces.iter().filter(|p| p.side == PieceSide::Both || p.side == side) {
            let piece_text = one_line(&piece.text);
            match piece.side {
                PieceSide::Both => text.push_str(&piece_text),
                _ => text.push_str(&format!("{open}{piece_text}{close}")),
            }
        }
        text.push('\n');
    }
    text
}

fn one_line(text: &str) -> String {
    terminal::visible_line(text)
}

fn has_colours() -> bool {
    terminal::stdout_style().colours
}

fn style_start(style: Style) -> String {
    style.render().to_string()
}

fn style_end(style: Style) -> String {
    style.render_reset().to_string()
}
