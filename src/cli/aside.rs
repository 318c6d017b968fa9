//! `review set-aside`: votes that no longer count.

use serde::Serialize;

use super::args::{Global, RecipeArgs, SetAsideArgs};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{io_failure, usage_failure};
use crate::config::Config;
use crate::pipeline::decide::check_entitled;
use crate::pipeline::{AsideEffect, current_time, look_aside, restore_votes, set_aside};
use crate::recipe::Recipe;
use crate::review::VoteLog;
use crate::review::votes::{Admitted, AsideLine, Asides, Restored, SetAside, aside};
use crate::store::Workspace;
use crate::web::access::{Access, Rank};

/// Sets votes aside, undoes that, or lists what was decided.
pub(super) fn set_votes_aside(
    config: &Config,
    args: &SetAsideArgs,
    global: &Global,
) -> Result<Exit, Failure> {
    let folder = Workspace::new(&config.root).raw_folder().join("votes");
    let asides = Asides::read_asides(&folder).map_err(io_failure)?;
    let recipes = output::select_recipes(config, &RecipeArgs::default())?;
    match (&args.annotator, &args.undo) {
        (None, None) => list_asides(&asides, global),
        (_, Some(id)) => {
            let (by, why) = name_and_reason(config, args)?;
            undo_aside(config, &recipes, &asides, id, by, why)
        }
        (Some(name), None) => {
            let has_voted =
                || VoteLog::open(&folder).map(|log| log.votes().iter().any(|vote| vote.annotator == *name));
            // Whoever left may have votes that still count.
            if !config.annotators.iter().any(|person| person.name == *name)
                && !has_voted().map_err(io_failure)?
            {
                return Err(usage_failure(output::unknown_annotator(config, name)));
            }
            if args.admit {
                let (by, why) = name_and_reason(config, args)?;
                let admitted =
                    Admitted { annotator: name.clone(), by: by.into(), why: why.into(), at: current_time() };
                aside::append_line(&folder, &AsideLine::Admit(admitted)).map_err(io_failure)?;
                output::print_text(&format!(
                    "{name} gets work again; known items that they answered before no longer stop them\n"
                ))?;
                return Ok(Exit::Done);
            }
            let new = build_decision(config, args, name)?;
            let effects = if args.dry_run {
                look_aside(config, &recipes, &new)?
            } else {
                if new.by == new.annotator {
                    return Err(usage_failure(format!("{} cannot set their own votes aside", new.by)));
                }
                set_aside(config, &recipes, &new)?
            };
            report_effects(&new, &effects, args.dry_run, global)
        }
    }
}

/// Who decides, and why. Curators decide this on the pages; others need the role that every decision needs.
fn name_and_reason<'a>(config: &Config, args: &'a SetAsideArgs) -> Result<(&'a str, &'a str), Failure> {
    match (&args.by, &args.why) {
        (Some(by), Some(why)) if !by.trim().is_empty() && !why.trim().is_empty() => {
            let by = by.trim();
            let grants = Access::in_workspace(&Workspace::new(&config.root)).list_grants()?;
            if !grants.iter().any(|grant| grant.name == by && grant.rank == Rank::Curator) {
                check_entitled(config, by).map_err(usage_failure)?;
            }
            Ok((by, why.trim()))
        }
        _ => Err(usage_failure("--by NAME says who decides, --why TEXT the reason; both stay on record")),
    }
}

fn build_decision(config: &Config, args: &SetAsideArgs, name: &str) -> Result<SetAside, Failure> {
    let (by, why) = match (args.dry_run, &args.by, &args.why) {
        (true, None, _) | (true, _, None) => ("nobody", "only looked at"),
        _ => name_and_reason(config, args)?,
    };
    let mut new = SetAside::all_of(name, by, why, &current_time());
    let step = args.step.as_deref().map(|step| step.strip_prefix("review:").unwrap_or(step));
    new.recipe = match (step, &args.recipe) {
        (Some(step), recipe) => Some(output::recipe_of(config, step, recipe.as_deref())?.name.to_owned()),
        (None, Some(recipe)) => {
            let known = output::select_recipes(config, &RecipeArgs { recipes: vec![recipe.clone()] })?;
            known.first().map(|recipe| recipe.name.to_owned())
        }
        (None, None) => None,
    };
    new.step = step.map(str::to_owned);
    new.from = args.from.as_deref().map(|text| parse_time("--from", text)).transpose()?;
    new.until = args.until.as_deref().map(|text| parse_time("--until", text)).transpose()?;
    new.check_span().map_err(usage_failure)?;
    Ok(new.with_id())
}

/// A day, or a time in UTC.
fn parse_time(flag: &str, text: &str) -> Result<String, Failure> {
    let day = text.trim().parse::<jiff::civil::Date>().map(|day| day.to_string());
    // A day is also the beginning of a time, so that the longer form is tried first.
    let time = text.trim().parse::<jiff::Timestamp>().map(|time| time.to_string());
    time.or(day).map_err(|_| {
        usage_failure(format!("{flag} is a day, YYYY-MM-DD, or a time, YYYY-MM-DDTHH:MM:SSZ, not {text:?}"))
    })
}

/// What a decision changes; without an id it was only looked at.
#[derive(Serialize)]
struct Effects<'e> {
    id: Option<String>,
    steps: &'e [AsideEffect],
}

/// A decision, and what undid it.
#[derive(Serialize)]
struct SetAsideDecision<'d> {
    decision: &'d SetAside,
    undone: Option<&'d Restored>,
}

fn report_effects(
    new: &SetAside,
    effects: &[AsideEffect],
    only_look: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    if global.json {
        output::print_json(&Effects { id: (!only_look).then(|| new.id.to_string()), steps: effects })?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for effect in effects {
        text.push_str(&format!(
            "{} review:{}: {} of {} set aside, {} open again, {} settled by that, {} given to others\n",
            effect.recipe,
            effect.step,
            count(effect.votes as u64, "vote"),
            new.annotator,
            count(effect.reopened as u64, "item"),
            count(effect.undisputed as u64, "dispute"),
            count(effect.given.len() as u64, "new task"),
        ));
        if effect.left > 0 {
            text.push_str(&format!(
                "  {} of these without anybody else who may vote on it\n  hint: add an [[annotator]] to pipeline.toml, then `riddlemill review assign {} --recipe {}`\n",
                count(effect.left as u64, "item"),
                effect.step,
                effect.recipe
            ));
        }
    }
    match (effects.is_empty(), only_look) {
        (true, _) => text.push_str(&format!("{} has no such votes that count\n", new.annotator)),
        (false, true) => text.push_str("nothing was changed\n"),
        (false, false) => text.push_str(&format!(
            "decision {}: `riddlemill review set-aside --undo {} --by NAME --why TEXT` undoes it; `riddlemill run` applies it\n",
            short_id(new),
            short_id(new)
        )),
    }
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// The beginning of an id, as it is typed.
fn short_id(decision: &SetAside) -> String {
    decision.id.to_string().chars().take(12).collect()
}

fn undo_aside(
    config: &Config,
    recipes: &[&'static Recipe],
    asides: &Asides,
    id: &str,
    by: &str,
    why: &str,
) -> Result<Exit, Failure> {
    let named: Vec<&SetAside> = asides
        .all_decisions()
        .iter()
        .filter(|known| known.id.to_string().starts_with(id) && !id.is_empty())
        .collect();
    let [decision] = named[..] else {
        let hint = "`riddlemill review set-aside` lists them with their ids";
        return Err(usage_failure(match named.len() {
            0 => format!("no decision {id:?}\n  hint: {hint}"),
            n => format!("{id:?} begins {n} decisions\n  hint: {hint}"),
        }));
    };
    if let Some(undone) = asides.undo_of(decision.id) {
        return Err(usage_failure(format!("{} has undone it already: {}", undone.by, undone.why)));
    }
    let undo = Restored { undoes: decision.id, by: by.into(), why: why.into(), at: current_time() };
    let taken = restore_votes(config, recipes, decision, &undo)?;
    output::print_text(&format!(
        "the votes of {} count again; {} that others got for them and had not done taken back\n",
        decision.annotator,
        count(taken as u64, "task")
    ))?;
    Ok(Exit::Done)
}

fn list_asides(asides: &Asides, global: &Global) -> Result<Exit, Failure> {
    if global.json {
        let row = |decision| SetAsideDecision { decision, undone: asides.undo_of(decision.id) };
        output::print_json(&asides.all_decisions().iter().map(row).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for known in asides.all_decisions() {
        let place = match (&known.recipe, &known.step) {
            (Some(recipe), Some(step)) => format!(" on {recipe} review:{step}"),
            (Some(recipe), None) => format!(" on {recipe}"),
            _ => String::new(),
        };
        let from = known.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
        let until = known.until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
        let undone = asides
            .undo_of(known.id)
            .map_or_else(String::new, |undo| format!("; undone by {}: {}", undo.by, undo.why));
        text.push_str(&format!(
            "{} {}: votes{place}{from}{until} set aside by {} at {}: {}{undone}\n",
            short_id(known),
            known.annotator,
            known.by,
            known.at,
            known.why
        ));
    }
    text.push_str(&format!("{}\n", count(asides.all_decisions().len() as u64, "decision")));
    output::print_text(&text)?;
    Ok(Exit::Done)
}
