//! `review adjudicate`: lists disputes, and stores decisions.

use super::args::Global;
use super::commands::runnable_commands;
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{ReviewSession, io_failure, usage_failure};
use super::terminal::{HANG, visible_line};
use crate::config::unknown;
use crate::pipeline::current_time;
use crate::report::DisputeRow;
use crate::review::adjudicate::Dispute;
use crate::review::ballot::{AnswerKind, Field, KEEP, Round};
use crate::review::guidance::{Note, latest_notes};
use crate::review::{Annotator, Item, Value, Vote, decide_dispute, find_disputes, reopen_item, resolve_all};

fn open_disputes(room: &ReviewSession<'_>) -> Vec<Dispute> {
    let votes = room.by_item();
    let resolved = resolve_all(&room.step, &room.items, &votes);
    find_disputes(&room.step, room.items.iter().zip(&resolved), |id| {
        votes.get(id).cloned().unwrap_or_default()
    })
}

pub(super) fn list_disputes(room: &ReviewSession<'_>, global: &Global) -> Result<Exit, Failure> {
    let disputes = open_disputes(room);
    if global.json {
        output::print_json(&disputes.iter().map(DisputeRow::from).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    let form: Vec<Field> =
        Round::ALL.into_iter().flat_map(|round| room.step.questions_of_round(round)).collect();
    let notes = room.read_remarks()?;
    let remarks = latest_notes(&notes);
    let mut text = String::new();
    if !disputes.is_empty() {
        text.push_str(&format!("How to decide: {HANG}{}\n", visible_line(&room.read_guideline()?)));
    }
    for dispute in &disputes {
        text.push_str(&format!("{}\n", dispute.item.id));
        // Votes are shown one by one below.
        let of_votes = |key: &str| key.starts_with("votes.") || key.starts_with("review.");
        for (key, value) in dispute.item.content.iter().filter(|(key, _)| !of_votes(key)) {
            text.push_str(&format!("  {key}: {HANG}{}\n", visible_line(&value.to_string())));
        }
        for (field, value) in dispute.item.draft.iter() {
            let value_text = describe_answer(&form, field, value);
            text.push_str(&format!("  draft {field}: {HANG}{}\n", visible_line(&value_text)));
        }
        // Sorted by id, so that the order does not reveal the voters to the adjudicator.
        let mut votes: Vec<&Vote> = dispute.votes.iter().collect();
        votes.sort_by_key(|vote| (vote.round, vote.id));
        for (at, vote) in votes.into_iter().enumerate() {
            let answer = |(field, value): (&str, &Value)| {
                format!("{field} = {}", describe_answer(&form, field, value))
            };
            let answers: Vec<String> = vote.values.iter().map(answer).collect();
            let nth = format!("vote {} ({})", at + 1, vote.round.name());
            text.push_str(&format!("  {nth}: {HANG}{}\n", visible_line(&answers.join(", "))));
            let of = |note: &&&Note| {
                (&note.item, &note.annotator, note.round) == (&vote.item, &vote.annotator, vote.round)
            };
            if let Some(note) = remarks.iter().find(of) {
                let flag = if note.flag { "flagged, " } else { "" };
                text.push_str(&format!("    {flag}remarked: {HANG}{}\n", visible_line(&note.text)));
            }
        }
        dispute.why.iter().for_each(|why| text.push_str(&format!("  open: {why}\n")));
        text.push_str(&format!(
            "  decide: {HANG}{}\n",
            runnable_commands(&visible_line(&decide_command(room, &dispute.item.id)))
        ));
    }
    text.push_str(&format!("{}\n", count(disputes.len() as u64, "dispute")));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// The command that decides a dispute, but for what is decided.
fn decide_command(room: &ReviewSession<'_>, item: &str) -> String {
    let may = |person: &&Annotator| person.may_vote(&room.step, Round::Adjudication);
    let by = room.config.annotators.iter().find(may).map_or("NAME", |person| person.name.as_str());
    let asked = room.step.questions_of_round(Round::Adjudication).into_iter();
    let asked = asked.filter(|field| field.required && field.when.is_none());
    let answers: String = asked.map(|field| format!(" --answer {}=…", field.name)).collect();
    let (step, recipe) = (room.step.name, room.step.recipe);
    format!("riddlemill review adjudicate {step} --recipe {recipe} --item {item} --by {by}{answers}")
}

/// An answer by its name, followed by the code for `--answer`.
fn describe_answer(form: &[Field], name: &str, value: &Value) -> String {
    let options = form.iter().find(|field| field.name == name).map(Field::options).unwrap_or_default();
    let of_code = |code: &str| match options.iter().find(|option| option.code == code) {
        Some(option) if option.label.en == code => code.to_string(),
        Some(option) => format!("{} [{code}]", option.label.en),
        None => code.to_string(),
    };
    match value {
        Value::List(codes) => codes.iter().map(|code| of_code(code)).collect::<Vec<_>>().join("; "),
        one => of_code(&one.to_string()),
    }
}

pub(super) fn record_decision(
    room: &ReviewSession<'_>,
    item: &str,
    by: &str,
    answers: &[(String, String)],
    overrule: bool,
) -> Result<Exit, Failure> {
    let name = room.step.name;
    let votes = room.by_item();
    let known = room.items.iter().find(|known| known.id == item);
    let settled =
        |item: &Item| reopen_item(&room.step, item, votes.get(item.id.as_str()).map_or(&[], Vec::as_slice));
    let dispute = open_disputes(room).into_iter().find(|d| d.item.id == item);
    let dispute = match (dispute, known) {
        (Some(dispute), _) => dispute,
        (None, Some(item)) if overrule => settled(item),
        (None, Some(_)) => {
            let hint = "--overrule adjudicates an item that is settled or open";
            return Err(usage_failure(format!("{item} is not a dispute of {name}\n  hint: {hint}")));
        }
        (None, None) => return Err(usage_failure(format!("{item} is not an item of {name}"))),
    };
    let person = room.config.annotators.iter().find(|person| person.name == by);
    let person = person.ok_or_else(|| usage_failure(output::unknown_annotator(room.config, by)))?;
    let form = room.step.questions_of_round(Round::Adjudication);
    if let Some((field, _)) = answers.iter().find(|(field, _)| !form.iter().any(|f| f.name == field)) {
        return Err(usage_failure(unknown("field", field, form.iter().map(|f| f.name))));
    }
    let repeated = |at: usize| answers[..at].iter().any(|(field, _)| *field == answers[at].0);
    if let Some(at) = (0..answers.len()).find(|at| repeated(*at)) {
        let field = &answers[at].0;
        return Err(usage_failure(format!(
            "{field} is answered twice\n  hint: give --answer {field}=… once{}",
            match field.as_str() {
                "reason" => ", or --why instead of it",
                _ => "",
            }
        )));
    }
    let given = |name: &str| {
        let text = answers.iter().find(|(field, _)| field == name).map(|(_, text)| text)?;
        let listed = form.iter().any(|f| {
            f.name == name && matches!(f.kind, AnswerKind::Choices { .. } | AnswerKind::Keep { .. })
        });
        let codes = || text.split(';').map(|code| code.trim().to_string()).collect::<Vec<_>>();
        let keep = text.trim() == KEEP;
        Some(if listed && !keep { Value::List(codes()) } else { Value::from(text.as_str()) })
    };
    let vote = decide_dispute(&room.step, &dispute, person, given, &current_time(), "command line")
        .map_err(usage_failure)?;
    room.open_vote_log()?.append_votes(vec![vote]).map_err(io_failure)?;
    output::print_text(&format!("{item}: decided by {by}\n"))?;
    Ok(Exit::Done)
}
