//! What people made of the drafts, and how far they agree.

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Found;
use super::source::Source;
use crate::figures::{Cell, Column, ColumnUnit, Digits, Figure, Keys, Place, Row, Table};
use crate::measures::percent;
use crate::pipeline::{RunError, review_items};
use crate::record::{Reason, State};
use crate::review::agreement::{Bootstrap, StepAgreement, pool_questions, step_agreement};
use crate::review::{Ballot, Item, Vote, Voted, resolve_all};
use crate::store::Manifest;
use crate::text::format_decimals;

/// What people, or a sample in their place, made of a step's drafts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reviewed {
    pub stage: String,
    /// Taken as drafted, or decided without a draft, by people.
    pub confirmed: u64,
    /// Written anew by people.
    pub rewritten: u64,
    /// Taken as drafted by a sample's votes.
    pub sample_confirmed: u64,
    /// Written anew by a sample's votes.
    pub sample_rewritten: u64,
    /// On the draft for the time being.
    pub provisional: u64,
    /// Rejected.
    pub rejected: u64,
    /// Waiting for votes or a decision.
    pub held: u64,
    /// What the votes come to: agreement, disputes, trials.
    pub voted: Voted,
}

/// What may become of a draft.
const OUTCOMES: [&str; 7] = [
    "Confirmed",
    "Rewritten",
    "Confirmed by the sample",
    "Rewritten by the sample",
    "Provisional",
    "Rejected",
    "Held",
];

impl Reviewed {
    /// The share that was written anew, people's and the sample's together; 319 of 677 translations in
    /// RuozhiBench.
    pub fn share_rewritten(&self) -> Option<f64> {
        let rewritten = self.rewritten + self.sample_rewritten;
        let all = rewritten + self.confirmed + self.sample_confirmed;
        (all > 0).then(|| rewritten as f64 / all as f64)
    }

    fn new(manifest: &Manifest) -> Reviewed {
        let counts = &manifest.counts;
        let so_many = |state: State, reason: Reason| {
            counts.reasons.get(&format!("{}/{}", state.code(), reason.code())).copied().unwrap_or(0)
        };
        Reviewed {
            stage: manifest.stage.clone(),
            confirmed: so_many(State::Changed, Reason::Confirmed),
            rewritten: so_many(State::Changed, Reason::Rewritten),
            sample_confirmed: so_many(State::Changed, Reason::SampleConfirmed),
            sample_rewritten: so_many(State::Changed, Reason::SampleRewritten),
            provisional: so_many(State::Changed, Reason::Provisional),
            rejected: so_many(State::Dropped, Reason::Rejected),
            held: counts.records_in_state(State::Held),
            voted: Voted::default(),
        }
    }

    /// How many of each of [`OUTCOMES`].
    fn outcomes(&self) -> [u64; 7] {
        [
            self.confirmed,
            self.rewritten,
            self.sample_confirmed,
            self.sample_rewritten,
            self.provisional,
            self.rejected,
            self.held,
        ]
    }

    fn describe_counts(&self) -> String {
        let counts = self.outcomes().into_iter().zip(OUTCOMES).filter(|(n, _)| *n > 0);
        let parts: Vec<String> = counts.map(|(n, what)| format!("{n} {}", what.to_lowercase())).collect();
        let share = self.share_rewritten().filter(|share| *share > 0.0);
        let share = share.map(|share| format!("; {:.0} % rewritten", share * 100.0)).unwrap_or_default();
        let mut text = format!("    {:<22} {}{share}\n", self.stage, parts.join(", "));
        for line in voted_lines(&self.voted) {
            text.push_str(&format!("      {line}\n"));
        }
        text
    }
}

/// A line a ballot.
pub(super) fn count_reviews(source: &Source<'_>) -> Result<Found, RunError> {
    let recipe = source.recipe;
    let mut reviews = Vec::new();
    for step in recipe.steps() {
        if let Some(review) = step.stage.declared_review()
            && let Some(manifest) = Manifest::read_from_stage(&source.workspace.stage_folder(
                recipe.name,
                step.number,
                step.name,
            ))?
        {
            let voted = on_ballot(source, review.benchmark_and_ballot().1, |step, items, votes| {
                let resolved = resolve_all(step, items, votes);
                // The lines of `report` have no intervals, so nothing is resampled.
                Voted::summarise_step(
                    step,
                    items,
                    &resolved,
                    votes,
                    &source.config.annotators,
                    Bootstrap::NONE,
                )
            })?;
            let (of, ballot) = review.benchmark_and_ballot();
            let set_aside = source.load_votes()?.set_aside(of, ballot).count();
            let voted = Voted { set_aside, ..voted.unwrap_or_default() };
            reviews.push(Reviewed { voted, ..Reviewed::new(&manifest) });
        }
    }
    let lines = reviews.iter().map(Reviewed::describe_counts).collect::<String>();
    let tables = vec![table_of_outcomes(&reviews), table_of_fields(&reviews)];
    Ok(Found { tables, ..Found::new(reviews, format!("  reviews\n{lines}")) })
}

/// What became of each step's drafts. What became of none has no column.
fn table_of_outcomes(reviews: &[Reviewed]) -> Table {
    let mut columns = vec![Column::of_words("Step")];
    let mut rows: Vec<Row> = reviews.iter().map(|of| vec![Cell::Text(of.stage.clone())]).collect();
    for (at, outcome) in OUTCOMES.into_iter().enumerate() {
        let counts: Vec<u64> = reviews.iter().map(|of| of.outcomes()[at]).collect();
        if counts.iter().any(|count| *count > 0) {
            columns.push(Column::of_counts(outcome));
            rows.iter_mut().zip(counts).for_each(|(row, count)| row.push(Cell::plain_number(count as f64)));
        }
    }
    Table { columns, rows, ..Table::default() }
}

/// How far the voters of each step agree, by field.
fn table_of_fields(reviews: &[Reviewed]) -> Table {
    let mut rows = Vec::new();
    for review in reviews {
        // Options that may be marked are reported together, not one by one.
        for of in review.voted.fields.iter().filter(|of| !of.field.contains(':')) {
            let [step, field] = [&review.stage, &of.field].map(|text| Cell::Text(text.clone()));
            let first = |e: Option<[f64; 3]>| e.map_or(Cell::Empty, |[value, ..]| Cell::plain_number(value));
            let figures = [of.percent, of.alpha, of.fleiss, of.cohen].map(first);
            let row = [step, field, Cell::plain_number(of.items as f64)].into_iter().chain(figures);
            rows.push(row.chain([voters(review.voted.sample)]).collect());
        }
    }
    let digits = ColumnUnit::Number { digits: 3 };
    let share = Column::of_numbers("Pairs that agree").with_unit(ColumnUnit::Share { digits: 2 });
    let figures =
        ["Krippendorff's alpha", FLEISS, "Cohen's kappa"].map(|of| Column::of_numbers(of).with_unit(digits));
    let named =
        ["Step", "Field"].map(Column::of_words).into_iter().chain([Column::of_counts("Items"), share]);
    let columns = named.chain(figures).chain([Column::of_words(VOTES)]).collect();
    Table { name: "agreement".to_owned(), columns, rows, ..Table::default() }
}

const FLEISS: &str = "Fleiss' kappa";

/// The heading of whose votes they are.
const VOTES: &str = "Votes";

/// Whose votes they are, where they are no person's.
fn voters(sample: bool) -> Cell {
    if sample { Cell::Text("sample".to_owned()) } else { Cell::Empty }
}

/// What a ballot with its items and votes comes to; `None` where the recipe does not have it, or its items are not made.
fn on_ballot<T>(
    source: &Source<'_>,
    ballot: &str,
    count: impl FnOnce(&Ballot, &[Item], &FxHashMap<&str, Vec<&Vote>>) -> T,
) -> Result<Option<T>, RunError> {
    let (step, items) = match review_items(source.config, source.recipe, ballot) {
        Ok(Some(found)) => found,
        Ok(None) | Err(RunError::Missing { .. }) => return Ok(None),
        Err(e) => return Err(e),
    };
    let votes = source.load_votes()?;
    Ok(Some(count(&step, &items, &votes.by_item(step.recipe, step.name))))
}

/// How many of a ballot's decisions the reviewer changed, and how many were looked at.
pub(super) fn count_modified(source: &Source<'_>, ballot: &str) -> Result<(usize, usize), RunError> {
    let found = on_ballot(source, ballot, |step, items, votes| {
        let resolved = resolve_all(step, items, votes);
        let looked_at: Vec<bool> = resolved.iter().filter_map(|resolution| resolution.modified).collect();
        (looked_at.iter().filter(|modified| **modified).count(), looked_at.len())
    })?;
    Ok(found.unwrap_or_default())
}

/// How far the voters of a ballot agree: in one field, null where nobody voted twice; or a list of the fields in which
/// somebody did, each with its agreement.
pub(super) fn measure_agreement(
    source: &Source<'_>,
    ballot: &str,
    fields: &[&str],
    listed: bool,
) -> Result<Found, RunError> {
    let agreement = on_ballot(source, ballot, |step, items, votes| {
        step_agreement(step, items, votes, Bootstrap::AGREEMENT)
    })?;
    let measured = agreement.as_ref();
    let rows: Vec<Row> =
        fields.iter().filter_map(|field| measured.and_then(|of| row_of_field(of, field))).collect();
    // A word in a sentence, so that nothing is left out where something is not defined.
    let word = |after: &'static str, digits| {
        Place::align_right(1, digits).with_prefix("").with_none("-").with_unit(after)
    };
    let items =
        Place::align_right(1, Digits::Fixed(0)).with_prefix(": ").with_unit(" items, pairs that agree ");
    let columns = vec![
        Column::of_words("Field").with_key("field").with_place(Place::align_left(0)),
        Column::of_counts("Items").with_key("items").with_place(items),
        Column::of_numbers("Pairs that agree, %")
            .with_key("percent")
            .with_place(word(" %, Fleiss' kappa ", Digits::Fixed(2))),
        Column::of_numbers(FLEISS)
            .with_key("fleiss")
            .with_unit(ColumnUnit::Number { digits: 3 })
            .with_place(word("", Digits::OfUnit)),
        Column::of_key("sample"),
        Column::of_words("").with_place(Place::align_left(0)),
        Column::of_words(VOTES),
    ];
    let mut found = Found::of_table(Table { columns, rows, ..Table::default() });
    // By field, or of the only one.
    let mut objects = found.value.as_array().cloned().unwrap_or_default().into_iter().map(|mut of| {
        let field = of.as_object_mut().and_then(|of| of.shift_remove("field"));
        (field, of)
    });
    found.value = match listed {
        true => objects.map(|(field, of)| json!([field, of])).collect(),
        false => objects.next().map_or(Json::Null, |(_, of)| of),
    };
    Ok(found)
}

/// A coefficient and its interval.
fn format_interval([kappa, low, high]: [f64; 3]) -> String {
    format!("{} [{}, {}]", format_decimals(kappa, 3), format_decimals(low, 3), format_decimals(high, 3))
}

/// How far voters agree in one field of one step, where two voted.
fn row_of_field(agreement: &StepAgreement, field: &str) -> Option<Row> {
    let found = agreement.fields.iter().find(|found| found.field == field).filter(|found| found.items > 0)?;
    let kappa = found.fleiss.map(|e| with_ends([e.value, e.low, e.high]));
    let told = if agreement.sample { " (of the sample)" } else { "" };
    Some(vec![
        Cell::Text(field.to_owned()),
        Cell::plain_number(found.items as f64),
        found.percent.map_or(Cell::Empty, |e| Cell::plain_number(e.value * 100.0)),
        kappa.unwrap_or_default(),
        Cell::Nested(agreement.sample.into()),
        Cell::Text(told.to_owned()),
        voters(agreement.sample),
    ])
}

/// A coefficient and its interval.
fn with_ends([value, low, high]: [f64; 3]) -> Cell {
    let unit = Some(ColumnUnit::Number { digits: 3 });
    Cell::Figure(Figure { value, ends: Some([low, high]), n: None, from: Keys::new(), unit })
}

/// How far they agree over all questions of a ballot that have the same options, and the share to which the first option
/// applies by each question; null where nobody voted.
pub(super) fn pooled_agreement(source: &Source<'_>, ballot: &str) -> Result<Found, RunError> {
    let found = on_ballot(source, ballot, |step, items, votes| {
        pool_questions(step, items, votes, Bootstrap::AGREEMENT)
    })?;
    let Some(found) = found.flatten() else { return Ok(Found::default()) };
    let kappa = found.fleiss.map(|e| [e.value, e.low, e.high]);
    let shares: Vec<String> =
        found.shares.iter().map(|(field, share)| format!("{field} {:.0} %", share * 100.0)).collect();
    let lines = format!(
        "    {}: {} ({} items); Fleiss' kappa of these questions together {}\n",
        found.code,
        shares.join(", "),
        found.items,
        kappa.map_or_else(|| NOT_DEFINED.into(), format_interval)
    );
    let value: Json =
        json!({ "items": found.items, "shares": found.shares, "kappa": kappa, "sample": found.sample });
    let share = |(field, share): &(&str, f64)| {
        let share = Cell::of_unit(Some(*share), ColumnUnit::Share { digits: 0 });
        vec![Cell::Text((*field).to_owned()), share, voters(found.sample)]
    };
    let together = vec!["Fleiss' kappa of these together".to_owned()].into_iter().map(Cell::Text);
    let together = together.chain([kappa.map(with_ends).unwrap_or_default(), voters(found.sample)]).collect();
    let columns = vec![
        Column::of_words("Question"),
        Column::of_numbers(format!("Rated {}", found.code)),
        Column::of_words(VOTES),
    ];
    let rows = found.shares.iter().map(share).chain([together]).collect();
    let table = Table { columns, rows, ..Table::default() };
    Ok(Found { tables: vec![table], ..Found::new(value, lines) })
}

/// Why kappa over several questions has no value.
const NOT_DEFINED: &str =
    "not defined (every vote gives the same answer, or no items have equally many votes)";

/// What votes come to, a line each: agreement in each field, disputes, what seniors changed, trials.
pub fn voted_lines(voted: &Voted) -> Vec<String> {
    let figure = |e: Option<[f64; 3]>| e.map_or("-".to_owned(), |[value, ..]| format_decimals(value, 3));
    let sample = if voted.sample { " (of the sample)" } else { "" };
    let mut lines: Vec<String> = Vec::new();
    // Options that may be marked are reported together, not one by one.
    for field in voted.fields.iter().filter(|field| !field.field.contains(':')) {
        let cohen = match field.cohen {
            Some([mean, least, most]) if field.pairs > 1 => {
                format!(
                    "{} ({} to {}, {} pairs)",
                    format_decimals(mean, 3),
                    format_decimals(least, 3),
                    format_decimals(most, 3),
                    field.pairs
                )
            }
            other => figure(other),
        };
        let why = field.undefined.as_ref().map_or_else(String::new, |why| format!(" (not defined: {why})"));
        lines.push(format!(
            "{}{sample}: {} items, pairs that agree {}, alpha {}, Fleiss {}, Cohen {cohen}{why}",
            field.field,
            field.items,
            figure(field.percent),
            figure(field.alpha),
            figure(field.fleiss)
        ));
    }
    if voted.settled + voted.disputed > 0 {
        lines.push(format!("disputes: {} settled by adjudication, {} open", voted.settled, voted.disputed));
    }
    if voted.set_aside > 0 {
        lines.push(format!("votes set aside, which count in none of this: {}", voted.set_aside));
    }
    if let Some((modified, of)) = voted.modified {
        lines.push(format!("seniors modified {modified} of {of} ({:.2} %)", percent(modified, of)));
    }
    if let Some(trial) = voted.trial.filter(|trial| trial.passed + trial.by_hand + trial.failed > 0) {
        let failed =
            if trial.failed > 0 { format!(", {} not any more", trial.failed) } else { String::new() };
        lines.push(format!(
            "may vote: {} by a trial, {} by qualified = true alone{failed}",
            trial.passed, trial.by_hand
        ));
    }
    lines
}
