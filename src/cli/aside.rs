//! `review set-aside`: votes that no longer count.

use serde::Serialize;

use super::args::{Global, Only, SetAsideArgs};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{io, usage};
use crate::config::Config;
use crate::pipeline::{AsideEffect, look_aside, now, restore, set_aside};
use crate::recipe::Recipe;
use crate::review::votes::{Admitted, AsideLine, Asides, Restored, SetAside, aside};
use crate::store::Workspace;

/// Sets votes aside, undoes that, or lists what was decided.
pub(super) fn run(config: &Config, asked: &SetAsideArgs, global: &Global) -> Result<Exit, Failure> {
    let folder = Workspace::new(&config.root).raw().join("votes");
    let asides = Asides::read(&folder).map_err(io)?;
    let recipes = output::recipes(config, &Only::default())?;
    match (&asked.annotator, &asked.undo) {
        (None, None) => list(&asides, global),
        (_, Some(id)) => {
            let (by, why) = signed(asked)?;
            undo(config, &recipes, &asides, id, by, why)
        }
        (Some(name), None) => {
            if !config.annotators.iter().any(|person| person.name == *name) {
                return Err(usage(output::unknown_annotator(config, name)));
            }
            if asked.admit {
                let (by, why) = signed(asked)?;
                let admitted =
                    Admitted { annotator: name.clone(), by: by.into(), why: why.into(), at: now() };
                aside::append(&folder, &AsideLine::Admit(admitted)).map_err(io)?;
                output::print(&format!(
                    "{name} gets work again; known items that they answered before no longer stop them\n"
                ))?;
                return Ok(Exit::Done);
            }
            let new = decision(config, asked, name)?;
            let effects = if asked.dry_run {
                look_aside(config, &recipes, &new)?
            } else {
                if new.by == new.annotator {
                    return Err(usage(format!("{} cannot set their own votes aside", new.by)));
                }
                set_aside(config, &recipes, &new)?
            };
            report(&new, &effects, asked.dry_run, global)
        }
    }
}

fn signed(asked: &SetAsideArgs) -> Result<(&str, &str), Failure> {
    match (&asked.by, &asked.why) {
        (Some(by), Some(why)) if !by.trim().is_empty() && !why.trim().is_empty() => {
            Ok((by.trim(), why.trim()))
        }
        _ => Err(usage("--by NAME says who decides, --why TEXT the reason; both stay on record")),
    }
}

fn decision(config: &Config, asked: &SetAsideArgs, name: &str) -> Result<SetAside, Failure> {
    let (by, why) = match (asked.dry_run, signed(asked)) {
        (true, Err(_)) => ("nobody", "only looked at"),
        (_, signed) => signed?,
    };
    let mut new = SetAside::all_of(name, by, why, &now());
    let step = asked.step.as_deref().map(|step| step.strip_prefix("review:").unwrap_or(step));
    new.recipe = match (step, &asked.recipe) {
        (Some(step), recipe) => Some(output::recipe_of(config, step, recipe.as_deref())?.name.to_owned()),
        (None, Some(recipe)) => {
            let known = output::recipes(config, &Only { recipes: vec![recipe.clone()] })?;
            known.first().map(|recipe| recipe.name.to_owned())
        }
        (None, None) => None,
    };
    new.step = step.map(str::to_owned);
    new.from = asked.from.as_deref().map(|text| time("--from", text)).transpose()?;
    new.until = asked.until.as_deref().map(|text| time("--until", text)).transpose()?;
    Ok(new.sealed())
}

/// A day, or a time in UTC.
fn time(flag: &str, text: &str) -> Result<String, Failure> {
    let day = text.trim().parse::<jiff::civil::Date>().map(|day| day.to_string());
    // A day is also the beginning of a time, so that the longer form is tried first.
    let time = text.trim().parse::<jiff::Timestamp>().map(|time| time.to_string());
    time.or(day).map_err(|_| {
        usage(format!("{flag} is a day, YYYY-MM-DD, or a time, YYYY-MM-DDTHH:MM:SSZ, not {text:?}"))
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
struct Decided<'d> {
    decision: &'d SetAside,
    undone: Option<&'d Restored>,
}

fn report(
    new: &SetAside,
    effects: &[AsideEffect],
    only_look: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    if global.json {
        output::json(&Effects { id: (!only_look).then(|| new.id.to_string()), steps: effects })?;
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
            short(new),
            short(new)
        )),
    }
    output::print(&text)?;
    Ok(Exit::Done)
}

/// The beginning of an id, as it is typed.
fn short(decision: &SetAside) -> String {
    decision.id.to_string().chars().take(12).collect()
}

fn undo(
    config: &Config,
    recipes: &[&'static Recipe],
    asides: &Asides,
    id: &str,
    by: &str,
    why: &str,
) -> Result<Exit, Failure> {
    let named: Vec<&SetAside> =
        asides.all().iter().filter(|known| known.id.to_string().starts_with(id) && !id.is_empty()).collect();
    let [decision] = named[..] else {
        let hint = "`riddlemill review set-aside` lists them with their ids";
        return Err(usage(match named.len() {
            0 => format!("no decision {id:?}\n  hint: {hint}"),
            n => format!("{id:?} begins {n} decisions\n  hint: {hint}"),
        }));
    };
    if let Some(undone) = asides.undone(decision.id) {
        return Err(usage(format!("{} has undone it already: {}", undone.by, undone.why)));
    }
    let undo = Restored { undoes: decision.id, by: by.into(), why: why.into(), at: now() };
    let taken = restore(config, recipes, decision, &undo)?;
    output::print(&format!(
        "the votes of {} count again; {} that others got for them and had not done taken back\n",
        decision.annotator,
        count(taken as u64, "task")
    ))?;
    Ok(Exit::Done)
}

fn list(asides: &Asides, global: &Global) -> Result<Exit, Failure> {
    if global.json {
        let row = |decision| Decided { decision, undone: asides.undone(decision.id) };
        output::json(&asides.all().iter().map(row).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for known in asides.all() {
        let place = match (&known.recipe, &known.step) {
            (Some(recipe), Some(step)) => format!(" on {recipe} review:{step}"),
            (Some(recipe), None) => format!(" on {recipe}"),
            _ => String::new(),
        };
        let from = known.from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
        let until = known.until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
        let undone = asides
            .undone(known.id)
            .map_or_else(String::new, |undo| format!("; undone by {}: {}", undo.by, undo.why));
        text.push_str(&format!(
            "{} {}: votes{place}{from}{until} set aside by {} at {}: {}{undone}\n",
            short(known),
            known.annotator,
            known.by,
            known.at,
            known.why
        ));
    }
    text.push_str(&format!("{}\n", count(asides.all().len() as u64, "decision")));
    output::print(&text)?;
    Ok(Exit::Done)
}
