//! Reviews: what people decided, taken from the votes.
//!
//! A review stage makes the items of its step's ballot from each record, resolves the votes on them and
//! writes the result to the record. Votes are inputs: a stage reads them and does not change them.

pub(super) mod step;
mod votes;

pub use votes::Votes;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::context::StageRows;
use super::overrule::{by_rule, is_stopped};
use super::published::{Published, let_through};
use super::subject::{self, Decision};
use super::written::WrittenRules;
use crate::config::sections;
use riddlemill_benchmarks::requirement::Unmet;
use riddlemill_record::{Cause, Evidence as Words, Outcome, Reason, Record, Row, Standing, is_published};
use riddlemill_review::ballot::{AnswerKind, Ballot, Drafts, Field, KEEP, Round};
use riddlemill_review::decisions::{StageDecisions, seen_text};
use riddlemill_review::votes::{Vote, current_votes};
use riddlemill_review::{self as review, Digest, Item, Pending, Resolution, Values, resolve_all};
use riddlemill_tables::StageWriter;

/// A review: what the people of a benchmark are asked in one of its steps.
#[derive(Clone, Copy)]
pub struct ReviewStep(&'static Ballot);

impl PartialEq for ReviewStep {
    fn eq(&self, other: &ReviewStep) -> bool {
        self.benchmark_and_ballot() == other.benchmark_and_ballot()
    }
}

impl Eq for ReviewStep {}

impl std::fmt::Debug for ReviewStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.0.recipe, self.0.name)
    }
}

impl ReviewStep {
    /// By the ballot that a folder declares.
    pub fn new(ballot: &'static Ballot) -> ReviewStep {
        ReviewStep(ballot)
    }

    /// The benchmark and the name of the ballot.
    pub fn benchmark_and_ballot(self) -> (&'static str, &'static str) {
        (self.0.recipe, self.0.name)
    }

    /// Whose fields it decides on.
    pub fn subject_rows(self) -> StageRows {
        StageRows::of_benchmark(self.0.recipe)
    }

    /// The ballot; the settings decide whether drafts go ahead.
    pub fn ballot_by_settings(self, settings: &sections::Review) -> Ballot {
        let name = self.0.name;
        let named = |steps: &[String]| steps.iter().any(|step| step == name);
        Ballot {
            draft_ahead: settings.preview || named(&settings.draft_ahead),
            drafts: if named(&settings.blind) { Drafts::Hidden } else { self.0.drafts },
            on_demand: self.0.on_demand && !named(&settings.wanted),
            ..self.0.clone()
        }
    }
}

/// What a review decides by.
pub struct Evidence<'a> {
    pub votes: &'a Votes,
    /// What people decided over them.
    pub people: &'a StageDecisions,
    /// The rows of published sets.
    pub published: &'a Published,
    /// The rules for what people write.
    pub written: &'a WrittenRules,
}

/// Resolves the votes on all records of a step. `seed` draws the order of what is shown side by side.
pub fn review_records(
    review: ReviewStep,
    records: Vec<Row>,
    settings: &sections::Review,
    seed: u64,
    evidence: &Evidence<'_>,
    writer: &mut StageWriter<Row>,
) {
    let Evidence { votes, people, published, written } = *evidence;
    let step = review.ballot_by_settings(settings);
    let missing = match settings.preview {
        true => MissingAnswer::Provisional,
        false if settings.optional.iter().any(|name| name == step.name) => MissingAnswer::GoesOn,
        false => MissingAnswer::Holds,
    };
    // Whether records continue from it without an answer, regardless of settings.
    let may_pass = step.asked.is_some_and(|asked| asked.passes.is_some());
    let by_item = votes.by_item(step.recipe, step.name);
    // Records without a ballot pass.
    let items_of = |record: &Row| {
        if step.on_demand { Vec::new() } else { subject::items_of_record(record, &step, seed) }
    };
    let mut items: Vec<Vec<Item>> = records.iter().map(items_of).collect();
    if settings.preview {
        // Nothing drafts which of nine wrong answers are the best. For a preview any three will do.
        for field in &step.fields {
            let AnswerKind::Pick { k, any: false, .. } = field.kind else { continue };
            let first = || (1..=k).map(|number| number.to_string()).collect::<Vec<_>>();
            items.iter_mut().flatten().for_each(|item| item.draft.set(field.name, first()));
        }
    }
    let lengths: Vec<usize> = items.iter().map(Vec::len).collect();
    let items = items.concat();
    let mut resolved = resolve_all(&step, &items, &by_item);
    let marked: Vec<Vec<String>> = resolved.iter_mut().map(|found| mark_decided(written, found)).collect();
    let mut looked_at = items.iter().zip(resolved.iter().zip(&marked));
    for (record, length) in records.into_iter().zip(lengths) {
        let looked_at: Vec<(&Item, (&Resolution, &Vec<String>))> = looked_at.by_ref().take(length).collect();
        let parts: Vec<Part<'_>> = looked_at
            .iter()
            .map(|(item, (found, marked))| Part::new(item, found, marked, &by_item))
            .collect();
        let id = record.id().to_owned();
        let seen = || seen_items(looked_at.iter().map(|(item, _)| *item));
        let lacks = subject::reason_to_stop(&record, &step);
        let missing = match (&lacks, may_pass) {
            (Some(_), _) => MissingAnswer::Holds,
            (None, true) => MissingAnswer::GoesOn,
            (None, false) => missing,
        };
        let outcome = match people.ruling_on(&id, seen) {
            None if is_published(&id) => {
                let by_votes = outcome_of_record(&step, record.clone(), &parts, missing, written);
                of_published(published, &step, &record, by_votes)
            }
            None => match (outcome_of_record(&step, record, &parts, missing, written), lacks) {
                (Outcome::Held { reason: Reason::VotesMissing, evidence }, Some(reason)) => {
                    Outcome::Held { reason, evidence }
                }
                (outcome, _) => outcome,
            },
            Some(ruling) => {
                let before = outcome_of_record(&step, record.clone(), &parts, missing, written);
                let keep = ruling.outcome.filter(|_| is_stopped(&before));
                let values = keep.and(passing_answers(&step, looked_at.iter().map(|(item, _)| *item)));
                match (keep, values) {
                    (Some(decision), Some(values)) => keep_record(&step, record, values, decision, &before),
                    _ => before,
                }
            }
        };
        writer.append(&id, &outcome);
    }
}

/// Marks personal data in what was decided about an item, and returns what was marked.
fn mark_decided(written: &WrittenRules, found: &mut Resolution) -> Vec<String> {
    match &mut found.outcome {
        review::Outcome::Confirmed { values, .. } | review::Outcome::Provisional { values, .. } => {
            written.mark_answers(values)
        }
        review::Outcome::Pending(_) => Vec::new(),
    }
}

/// A published record: votes of this workspace count, otherwise the published values.
fn of_published(
    published: &Published,
    ballot: &Ballot,
    record: &Row,
    by_votes: Outcome<Row>,
) -> Outcome<Row> {
    let voted = match &by_votes {
        Outcome::Changed { rule, .. } => {
            [Reason::Confirmed, Reason::Rewritten].iter().any(|reason| reason.code() == *rule)
        }
        Outcome::Dropped { .. } => true,
        _ => false,
    };
    if voted {
        return by_votes;
    }
    let through = let_through(published, &format!("review:{}", ballot.name), record, &by_votes);
    match through {
        Outcome::Changed { row, rule, evidence, .. } => {
            let (before, after) =
                (subject::describe_draft(record, ballot), subject::describe_decision(&row, ballot));
            let evidence = evidence.replacen("by rule", "by votes", 1).into();
            Outcome::Changed { row, rule, evidence, before, after }
        }
        other => other,
    }
}

/// The hash of what annotators see of a record in a step, which is what a decision over their votes is about.
pub fn seen_items<'a>(items: impl Iterator<Item = &'a Item>) -> Digest {
    let hashes: Vec<String> = items.map(|item| item.content_hash.to_string()).collect();
    seen_text(&hashes.join(" "))
}

/// The answers with which a record continues if a person lets it through: "keep" if the step asks for that,
/// otherwise the draft. `None` if neither suffices: then the person has to vote or adjudicate.
pub fn passing_answers<'a>(ballot: &Ballot, items: impl Iterator<Item = &'a Item>) -> Option<Vec<Values>> {
    let values: Option<Vec<Values>> = items.map(|item| passing_item(ballot, item)).collect();
    values.filter(|values| !values.is_empty())
}

/// The first requirement of a ballot that answers to any of its questions do not meet.
fn unmet_requirement(ballot: &Ballot, item: &Item, values: &Values) -> Option<Unmet> {
    item.requires.as_ref()?;
    let second = ballot.review.iter().flat_map(|second| &second.fields);
    let form: Vec<Field> = ballot.fields.iter().chain(second).cloned().collect();
    item.unmet_requirement(&form, values)
}

fn passing_item(ballot: &Ballot, item: &Item) -> Option<Values> {
    if let Some(keep) = ballot.fields.iter().find(|field| matches!(field.kind, AnswerKind::Keep { .. })) {
        return Some([(keep.name, KEEP)].into_iter().collect());
    }
    // The draft must be complete: a puzzle is not let through without its answer.
    let taken = |field: &&Field| field.required && field.when.is_some_and(|when| !when.draft.is_empty());
    let whole = ballot.fields.iter().filter(taken).all(|field| item.draft.get(field.name).is_some());
    let met = unmet_requirement(ballot, item, &item.draft).is_none();
    let drafted = whole && met && !item.draft.is_empty() && rejection_reasons(ballot, &item.draft).is_none();
    drafted.then(|| item.draft.clone())
}

/// A record that a person lets through, regardless of votes.
fn keep_record(
    ballot: &Ballot,
    mut record: Row,
    values: Vec<Values>,
    decision: &riddlemill_review::decisions::Decision,
    rule: &Outcome<Row>,
) -> Outcome<Row> {
    let evidence = format!("{decision}; {}", by_rule(rule).replacen("by rule", "by votes", 1));
    let before = subject::describe_draft(&record, ballot);
    let decisions: Vec<Option<Decision>> =
        values.into_iter().map(|values| Some(Decision { values, given: Vec::new() })).collect();
    subject::write_decisions(
        &mut record,
        ballot,
        &decisions,
        Standing::Confirmed,
        vec![format!("decision:{}", decision.id)],
    );
    let after = subject::describe_decision(&record, ballot);
    let rule = Reason::DecidedKeep.code();
    Outcome::Changed { row: record, rule, evidence: evidence.into(), before, after }
}

/// The outcome of a record whose answer is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingAnswer {
    /// It waits.
    Holds,
    /// It continues without one: the step is optional.
    GoesOn,
    /// It continues without one, provisionally: the run is a preview.
    Provisional,
}

/// One item of a record, and its state.
struct Part<'a> {
    item: &'a Item,
    resolution: &'a Resolution,
    /// The personal data that was marked in it.
    marked: &'a [String],
    /// The latest votes on it.
    votes: Vec<&'a Vote>,
}

impl<'a> Part<'a> {
    fn new(
        item: &'a Item,
        resolution: &'a Resolution,
        marked: &'a [String],
        votes: &FxHashMap<&str, Vec<&'a Vote>>,
    ) -> Part<'a> {
        let on_it = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        Part { item, resolution, marked, votes: current_votes(on_it) }
    }

    /// The first requirement of the ballot that what is decided, or goes ahead, does not meet: votes from before there was
    /// one, or answers to several questions from several people.
    fn unmet_by_part(&self, ballot: &Ballot) -> Option<Unmet> {
        match &self.resolution.outcome {
            review::Outcome::Confirmed { values, .. } | review::Outcome::Provisional { values, .. } => {
                unmet_requirement(ballot, self.item, values)
            }
            review::Outcome::Pending(_) => None,
        }
    }

    /// The votes of a round that count: the latest of those who made the decision, on today's text.
    fn counted_votes(&self, by: &[String], synthetic: bool) -> impl Iterator<Item = &'a Vote> {
        self.votes.iter().copied().filter(move |vote| {
            by.contains(&vote.annotator)
                && (synthetic || !vote.synthetic)
                && !self.resolution.stale.contains(&vote.id)
        })
    }

    /// The first answers of each voter, by name, with marks.
    fn given_answers(&self, by: &[String], synthetic: bool, written: &WrittenRules) -> Vec<Values> {
        let mut votes: Vec<&Vote> =
            self.counted_votes(by, synthetic).filter(|vote| vote.round == Round::Vote).collect();
        votes.sort_by(|a, b| a.annotator.cmp(&b.annotator));
        let mut given: Vec<Values> = votes.into_iter().map(|vote| vote.values.clone()).collect();
        given.iter_mut().for_each(|values| drop(written.mark_answers(values)));
        given
    }
}

fn outcome_of_record(
    ballot: &Ballot,
    mut record: Row,
    parts: &[Part<'_>],
    missing: MissingAnswer,
    written: &WrittenRules,
) -> Outcome<Row> {
    let stale = match parts.iter().map(|part| part.resolution.stale.len()).sum::<usize>() {
        0 => String::new(),
        n => format!("; outdated votes, not counted: {n}"),
    };
    let mut decisions = Vec::with_capacity(parts.len());
    let (mut standing, mut basis, mut voters) = (Standing::Confirmed, Vec::new(), Vec::new());
    let (mut waits, mut against) = (Vec::new(), Vec::new());
    // What the first of the items waits for that go on with their drafts.
    let mut provisional = None;
    let mut edited = false;
    if let Some(unmet) = parts.iter().find_map(|part| part.unmet_by_part(ballot)) {
        let evidence = format!("{}{stale}", unmet.says.en).into();
        return Outcome::Held { reason: Reason::RequirementBroken, evidence };
    }
    for part in parts {
        match &part.resolution.outcome {
            review::Outcome::Pending(_) if missing == MissingAnswer::GoesOn => decisions.push(None),
            review::Outcome::Pending(pending) if missing == MissingAnswer::Provisional => {
                standing = Standing::Provisional;
                provisional.get_or_insert_with(|| cause_of_waiting(pending));
                basis.push(pending.to_string());
                decisions.push(Some(Decision { values: Values::new(), given: Vec::new() }));
            }
            review::Outcome::Pending(pending) => waits.push(pending),
            // A draft alone does not reject a record.
            review::Outcome::Provisional { values, pending }
                if rejection_reasons(ballot, values).is_some() =>
            {
                waits.push(pending);
            }
            review::Outcome::Provisional { values, pending } => {
                standing = Standing::Provisional;
                provisional.get_or_insert_with(|| cause_of_waiting(pending));
                basis.push(pending.to_string());
                decisions.push(Some(Decision { values: values.clone(), given: Vec::new() }));
            }
            review::Outcome::Confirmed { values, by, synthetic } => {
                if *synthetic {
                    standing = standing.min(Standing::Synthetic);
                }
                against.extend(rejection_reasons(ballot, values).unwrap_or_default());
                basis.extend(part.counted_votes(by, *synthetic).map(|vote| format!("vote:{}", vote.id)));
                voters.extend(by.iter().cloned());
                edited |= part.resolution.edited == Some(true);
                decisions.push(Some(Decision {
                    values: values.clone(),
                    given: part.given_answers(by, *synthetic, written),
                }));
            }
        }
    }
    if let Some(pending) = waits.first() {
        let reason = match pending {
            Pending::Waiting { .. } => Reason::VotesMissing,
            Pending::Adjudicate { .. } => Reason::Disputed,
        };
        let evidence =
            Words::with_cause(format!("{}{stale}", describe_waits(&waits)), cause_of_waiting(pending));
        return Outcome::Held { reason, evidence };
    }
    if decisions.iter().all(Option::is_none) {
        return Outcome::Kept(record);
    }
    voters.sort();
    voters.dedup();
    let sample = if standing == Standing::Synthetic { " of the sample" } else { "" };
    let evidence = match standing {
        Standing::Provisional => format!("{}{stale}", basis.join("; ")),
        _ => format!("votes{sample} by {}: {}{stale}", voters.join(", "), basis.join(" ")),
    };
    let marked: Vec<&str> = parts.iter().flat_map(|part| part.marked).map(String::as_str).collect();
    let evidence = match marked.is_empty() {
        true => evidence,
        false => format!("{evidence}; marked in what was written: {}", marked.join(", ")),
    };
    if !against.is_empty() {
        let evidence = format!("{}; {evidence}", against.join(", "));
        return Outcome::Dropped { reason: Reason::Rejected, evidence };
    }
    let reason = match (edited, standing) {
        (_, Standing::Provisional) => Reason::Provisional,
        (true, Standing::Synthetic) => Reason::SampleRewritten,
        (false, Standing::Synthetic) => Reason::SampleConfirmed,
        (true, Standing::Confirmed) => Reason::Rewritten,
        (false, Standing::Confirmed) => Reason::Confirmed,
        // No vote is published.
        (_, Standing::Published) => Reason::Published,
    };
    let before = subject::describe_draft(&record, ballot);
    basis.retain(|evidence| evidence.starts_with("vote:"));
    subject::write_decisions(&mut record, ballot, &decisions, standing, basis);
    let after = subject::describe_decision(&record, ballot);
    let evidence = match provisional.filter(|_| standing == Standing::Provisional) {
        Some(cause) => Words::with_cause(evidence, cause),
        None => evidence.into(),
    };
    Outcome::Changed { row: record, rule: reason.code(), evidence, before, after }
}

/// What an item waits for, as fields.
fn cause_of_waiting(pending: &Pending) -> Cause {
    match pending {
        Pending::Waiting { round, on, votes } => Cause::Votes {
            review: *round == Round::Review,
            votes: *votes as u64,
            roles: on.iter().map(|role| role.name().to_owned()).collect(),
        },
        Pending::Adjudicate { by, .. } => Cause::Decision { role: by.name().to_owned() },
    }
}

/// What a record's items wait for, each once.
fn describe_waits(waits: &[&Pending]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for pending in waits {
        *counts.entry(pending.to_string()).or_default() += 1;
    }
    let descriptions =
        counts.into_iter().map(|(what, n)| if n > 1 { format!("{what} ({n}×)") } else { what });
    descriptions.collect::<Vec<_>>().join("; ")
}

/// The reasons of a rejection, where the answers are one: those against [`KEEP`], or those that the ballot defines.
fn rejection_reasons(ballot: &Ballot, values: &Values) -> Option<Vec<String>> {
    if let Some(keep) = ballot.fields.iter().find(|field| matches!(field.kind, AnswerKind::Keep { .. })) {
        let reasons = || values.get(keep.name).and_then(review::Value::as_list).map(<[String]>::to_vec);
        return (values.text_of(keep.name) != Some(KEEP)).then(reasons).flatten();
    }
    // An answer that the rule cannot evaluate does not drop the record.
    ballot
        .drop?
        .find_drop_reasons(&riddlemill_benchmarks::expression::bind_variables(
            values.iter().map(answer_for_rules),
        ))
        .ok()
        .flatten()
}

/// An answer as the rules of a ballot see it.
fn answer_for_rules<'v>((field, value): (&'v str, &'v review::Value)) -> (&'v str, minijinja::Value) {
    let value = match value {
        review::Value::Text(text) => text.as_str().into(),
        review::Value::List(list) => list.clone().into(),
        review::Value::Number(number) => (*number).into(),
    };
    (field, value)
}

#[cfg(test)]
mod tests;
