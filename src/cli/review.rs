//! `review`: assigns items and reports progress; its other verbs are in files of their own.

use std::collections::BTreeMap;

use super::args::{Global, RecipeArgs, ReviewArgs, ReviewVerb, RoundArg};
use super::exit::{Exit, Failure};
use super::output::{self, count, format_count};
use super::review_session::{ReviewSession, usage_failure};
use super::{aside, carry, disputes, proposals, sheets, trials};
use crate::config::{Config, sections};
use crate::pipeline::{current_time, known_answers, read_due_day};
use crate::report::{AgreementRow, ReviewStatus, report_reviews};
use crate::review::agreement::{Estimate, PairAgreement};
use crate::review::{Annotator, AssignSettings, Item, Task, assign_items, kept_off, reassign_tasks};
use crate::text::format_decimals;

pub(super) fn run_review_verb(verb: &ReviewVerb, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    match verb {
        ReviewVerb::Export { place, annotator, format, out, gold, propose, all } => {
            match (all, place.named_place()) {
                (Some(folder), _) => sheets::write_all(&config, place, *format, folder, global),
                (None, Some(place)) => {
                    let room = ReviewSession::open(&config, &place)?;
                    sheets::write_ballot(&room, annotator, *format, out, gold.as_deref(), *propose, global)
                }
                (None, None) => {
                    Err(usage_failure("name the step, or write everybody's sheets with --all DIR"))
                }
            }
        }
        ReviewVerb::Import { place, files } => sheets::import_sheets(&config, place, files, global),
        ReviewVerb::Status { only, agreement } => print_status(&config, only, *agreement, global),
        ReviewVerb::Assign {
            place,
            overlap,
            sample,
            to,
            gold,
            gold_share,
            languages,
            seed,
            until,
            replace,
        } => {
            let room = ReviewSession::open(&config, place)?;
            let from_settings = gold.is_none();
            let chosen = config.typed_settings::<sections::Review>(Some(room.step.recipe), "review");
            let gold = match gold {
                Some(file) => trials::read_gold_file(&room, file)?,
                None => known_answers(&config, room.step.recipe, &room.step, &room.items)?,
            };
            if gold.is_empty() && gold_share.is_some() {
                return Err(usage_failure(format!(
                    "--gold-share: there are no known answers for {}\n  hint: --gold FILE names them, or review.gold a folder with {}.{}.jsonl",
                    room.step.name, room.step.recipe, room.step.name
                )));
            }
            let gold: Vec<&str> = gold.iter().map(|gold| gold.item.id.as_str()).collect();
            let languages: Vec<&str> = languages.iter().map(String::as_str).collect();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            let written_by = kept_off(&room.items, &config.annotators);
            let settings = AssignSettings {
                seed: *seed,
                round: room.round,
                languages: &languages,
                overlap: *overlap,
                decided: &[],
                to: &to,
                sample: *sample,
                gold: &gold,
                gold_share: gold_share.unwrap_or(chosen.gold_share),
                gold_seed: chosen.gold_seed,
                gold_is_due: from_settings,
                written_by: Some(&written_by),
            };
            assign_tasks(&room, &settings, replace.as_deref(), until.as_deref(), global)
        }
        ReviewVerb::Qualify { place, gold, fewest, sheet, graded, by, files } => {
            let asked = trials::QualifyOptions {
                gold: gold.as_deref(),
                fewest: *fewest,
                files,
                sheet: sheet.as_deref(),
                graded: graded.as_deref(),
                by: by.as_deref(),
            };
            trials::grade_trials(&ReviewSession::open(&config, place)?, &asked, global)
        }
        ReviewVerb::Carry { step, recipe, items, by, why, undo, out, files } => {
            let place = ReviewArgs { step: step.clone(), recipe: recipe.clone(), round: RoundArg::Vote };
            let room = ReviewSession::open(&config, &place)?;
            let act = carry::CarryConfirmation {
                by: by.as_deref().unwrap_or_default(),
                why: why.as_deref().unwrap_or_default(),
            };
            match (out, undo) {
                (Some(out), _) => carry::export_carryable(&room, out),
                (None, true) => carry::undo_carry(&room, items, &act),
                (None, false) if !files.is_empty() => carry::import_carried(&room, files, &act, global),
                (None, false) if !items.is_empty() => carry::confirm_votes(&room, items, &act),
                (None, false) => carry::list_carryable(&room, global),
            }
        }
        ReviewVerb::SetAside(asked) => aside::set_votes_aside(&config, asked, global),
        ReviewVerb::Adjudicate { place, item, by, why, answers, overrule } => {
            let room = ReviewSession::open(&config, place)?;
            match (item, by) {
                (Some(item), Some(by)) => {
                    let mut answers = answers.clone();
                    answers.extend(why.clone().map(|why| ("reason".to_owned(), why)));
                    disputes::record_decision(&room, item, by, &answers, *overrule)
                }
                _ => disputes::list_disputes(&room, global),
            }
        }
    }
}

fn assign_tasks(
    room: &ReviewSession<'_>,
    settings: &AssignSettings<'_>,
    leaving: Option<&str>,
    until: Option<&str>,
    global: &Global,
) -> Result<Exit, Failure> {
    for (flag, share) in [("--overlap", settings.overlap), ("--gold-share", settings.gold_share)] {
        if !(0.0..=1.0).contains(&share) {
            return Err(usage_failure(format!("{flag} is a share from 0 to 1, not {share}")));
        }
    }
    let day = |text| read_due_day(text, &current_time()).map_err(|e| usage_failure(format!("--until: {e}")));
    let until = until.map(day).transpose()?;
    let votes = room.by_item();
    let stopped = room.stopped_people()?;
    for (name, told) in &stopped {
        if settings.to.contains(&name.as_str()) {
            return Err(usage_failure(told));
        }
        eprintln!("note: {told}");
    }
    let people: Vec<Annotator> =
        room.config.annotators.iter().filter(|person| !stopped.contains_key(&person.name)).cloned().collect();
    let people = people.as_slice();
    let mut new = match leaving {
        Some(leaving) => {
            // A task that the leaving person has done stays theirs; a sample's vote does not do it for them.
            let open = |task: &Task| {
                let votes = votes.get(task.item.as_str()).map(Vec::as_slice).unwrap_or_default();
                !votes
                    .iter()
                    .any(|vote| !vote.synthetic && vote.annotator == leaving && vote.round == task.round)
            };
            reassign_tasks(&room.step, leaving, people, room.tasks.all_tasks(), open, settings)
                .map_err(usage_failure)?
        }
        None => {
            let seen = room.seen_items();
            let (open, decided): (Vec<_>, Vec<_>) = seen.iter().partition(|(_, open)| *open);
            let ids = |items: Vec<&'_ (Item, bool)>| -> Vec<String> {
                items.into_iter().map(|(item, _)| item.id.clone()).collect()
            };
            let (open, decided) = (ids(open), ids(decided));
            let [open, decided] =
                [&open, &decided].map(|ids| ids.iter().map(String::as_str).collect::<Vec<_>>());
            // A voter is on the item, whether it was their task or not.
            let mut tasks = room.tasks.all_tasks().to_vec();
            tasks.extend(room.cast_tasks());
            let settings = AssignSettings { decided: &decided, ..settings.clone() };
            assign_items(&room.step, &open, people, &tasks, &settings).map_err(usage_failure)?
        }
    };
    new.iter_mut().for_each(|task| task.until.clone_from(&until));
    room.tasks.append_tasks(&new)?;
    let lacking = proposals::lacking_voters(room, people, &new);
    if lacking.by_authors > 0 {
        eprintln!(
            "note: {} have nobody who may vote on them: the authors of what is judged may not, and no other annotator is available",
            count(lacking.by_authors, "open item")
        );
    }
    for (language, items) in &lacking.by_language {
        eprintln!(
            "note: {} have nobody who may vote on them: nobody who reads {language} is left",
            count(*items, "open item")
        );
    }
    let mut loads: BTreeMap<&str, u64> = BTreeMap::new();
    for task in &new {
        *loads.entry(&task.annotator).or_default() += 1;
    }
    if global.json {
        output::print_json(&new)?;
    } else {
        let loads: Vec<String> =
            loads.iter().map(|(name, n)| format!("{name} {}", format_count(*n))).collect();
        let loads = if loads.is_empty() { String::new() } else { format!(": {}", loads.join(", ")) };
        output::print_text(&format!("{} assigned{loads}\n", count(new.len() as u64, "new task")))?;
    }
    Ok(Exit::Done)
}

fn print_status(
    config: &Config,
    only: &RecipeArgs,
    with_agreement: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    let report = report_reviews(config, &output::select_recipes(config, only)?, with_agreement)?;
    report.damaged.iter().chain(&report.missing_people).for_each(|line| eprintln!("warning: {line}"));
    match global.json {
        true => output::print_json(&report)?,
        false => output::print_text(&report.reviews.iter().map(review_text).collect::<String>())?,
    }
    Ok(Exit::Done)
}

fn review_text(review: &ReviewStatus) -> String {
    let mut text = describe_status(review.recipe, review.step, &review.status);
    if review.set_aside > 0 {
        let votes = count(review.set_aside as u64, "vote");
        text.push_str(&format!(
            "    {votes} set aside (`riddlemill review set-aside` lists the decisions)\n"
        ));
    }
    let voted = crate::audit::voted_lines(&review.voted);
    let guessed = review.guessed.as_ref().map(proposals::describe_shortcuts);
    let agreement = review.agreement.iter().map(agreement_line);
    for line in voted.into_iter().chain(guessed).chain(agreement) {
        text.push_str(&format!("    {line}\n"));
    }
    text
}

/// The names of votes by round.
const NTH: [&str; 3] = ["first-round", "second-round", "adjudication"];

fn describe_status(recipe: &str, step: &str, status: &crate::review::Status) -> String {
    let mut parts = vec![format!("{} confirmed", status.confirmed)];
    let mut part = |n: usize, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    part(status.published, "as published");
    part(status.synthetic, "by the sample alone");
    part(status.provisional, "provisional, on their draft");
    for (round, (items, votes)) in &status.waiting {
        let votes = count(*votes as u64, &format!("{} vote", NTH[*round as usize]));
        part(*items, &format!("open: {votes} still needed"));
    }
    part(status.disputed, "disputed");
    part(status.stale, "outdated votes (`riddlemill review carry` shows old and new text)");
    let rewritten = match (status.edited.rate(), status.edited.of) {
        (Some(rate), of) => format!("; {:.0} % of {of} drafts rewritten", rate * 100.0),
        _ => String::new(),
    };
    let mut text = format!(
        "{recipe} review:{step}: {}, {}{rewritten}\n",
        count(status.items as u64, "item"),
        parts.join(", ")
    );
    for (name, progress) in &status.annotators {
        let stale = if progress.stale > 0 { format!(", {} outdated", progress.stale) } else { String::new() };
        text.push_str(&format!(
            "    {name:<14} {} of {} assigned, {}{stale}\n",
            progress.done,
            progress.assigned,
            count(progress.votes as u64, "vote")
        ));
    }
    text
}

/// The agreement in one field.
fn agreement_line(row: &AgreementRow) -> String {
    let shown = |estimate: &Option<Estimate>| match estimate {
        Some(e) => {
            format!(
                "{} [{}, {}]",
                format_decimals(e.value, 3),
                format_decimals(e.low, 3),
                format_decimals(e.high, 3)
            )
        }
        None => "not defined".to_string(),
    };
    let cohen = |pair: &PairAgreement| match pair.kappa {
        Some(kappa) => {
            format!("; Cohen {} and {} {}", pair.names[0], pair.names[1], format_decimals(kappa, 3))
        }
        None => String::new(),
    };
    let f = &row.of;
    format!(
        "{}{}: {}, percent {}, alpha {}, Fleiss {}, AC1 {}{}{}",
        f.field,
        if row.sample { " (sample)" } else { "" },
        count(f.items as u64, "item"),
        shown(&f.percent),
        shown(&f.alpha),
        shown(&f.fleiss),
        shown(&f.ac1),
        f.pairs.iter().map(cohen).collect::<String>(),
        f.why_undefined().map_or_else(String::new, |why| format!(" (not defined: {why})"))
    )
}
