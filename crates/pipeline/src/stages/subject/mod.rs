//! Records that models draft for and people decide on.
//!
//! The benchmark's folder declares what is asked and shown of a record, and where the answers go. `drafts` and `columns` apply
//! this to records whose columns are filled by steps, [`declared`] to records that the folder declares.
//! [`super::draft`] and [`super::review`] contain what both have in common.

mod columns;
pub(super) mod declared;
mod drafts;

pub(super) use columns::{answers_as_template as replied, evaluate_list, fill_kept_columns};
pub use declared::take_language;
pub use drafts::DraftItem;

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::native::NativeStep;
use riddlemill_benchmarks::option_steps::{CHOSEN, Options};
use riddlemill_benchmarks::scope::Scope;
use riddlemill_record::{Declared, Post, Reason, Row, Standing};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Digest, Item, Values};
use riddlemill_tables::{Error, StageReader};
use serde_json::{Map, Value as Json, json};

use super::context::StageRows;
use super::draft::{DraftStep, Slot};

/// The values of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The template, `<benchmark>/<step>`.
    pub template: &'static str,
    /// What it asks for, by name.
    pub values: BTreeMap<&'static str, String>,
}

impl Prompt {
    /// A template with its values.
    pub fn new<const N: usize>(template: &'static str, values: [(&'static str, &str); N]) -> Prompt {
        Prompt { template, values: values.map(|(name, value)| (name, value.to_owned())).into() }
    }
}

/// A reply that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Drafted {
    /// The place of the element that it is about, where a step asks about those of a list; else 0.
    pub element: usize,
    /// Which of a step's replies it is.
    pub slot: Slot,
    /// What it says.
    pub values: Values,
    /// `reply:<key>` or `sample:<key>`.
    pub basis: String,
}

/// The answers of people, a sample or a draft about one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The answers.
    pub values: Values,
    /// The latest answers of each who voted, by name.
    pub given: Vec<Values>,
}

/// The column of what the steps of a record without a kind left.
pub const GROUPS: &str = "groups";

/// Whether the steps of a record leave groups.
fn is_grouped(record: &Row) -> bool {
    record.has_column(GROUPS)
}

/// The record that a post becomes.
pub fn of_post(rows: StageRows, post: Post) -> Row {
    match rows {
        StageRows::Groups => declared::of_post(post),
        rows => Row::of_post(rows.columns(), &post),
    }
}

/// A record's parts by the names that expressions give them: its columns, or the groups of its steps.
pub(super) fn names_of_record(record: &Row) -> TemplateValue {
    if is_grouped(record) { declared::names_of_record(record) } else { columns::row_as_template(record) }
}

/// Takes what a named operation found. Returns what could not be computed.
pub(super) fn write_findings(
    record: &mut Row,
    native: &NativeStep,
    values: &Values,
    basis: &[String],
) -> Vec<String> {
    match is_grouped(record) {
        true => declared::write_findings(record, native, values, basis),
        false => columns::write_findings(record, native, values, basis),
    }
}

/// Puts the options in their order, and the place of the right one, where the step says. Returns what could not be computed.
pub(super) fn write_options(
    record: &mut Row,
    options: &Options,
    shown: &[String],
    right: usize,
) -> Vec<String> {
    if is_grouped(record) {
        let drawn = CHOSEN.into_iter().map(str::to_owned).zip([json!(shown), json!(right)]);
        declared::add(record, options.name, drawn.collect());
        return Vec::new();
    }
    let shown: TemplateValue = shown.iter().map(|option| TemplateValue::from(option.as_str())).collect();
    let drawn = CHOSEN.into_iter().zip([shown, TemplateValue::from(right)]);
    let said = BTreeMap::from([("said", TemplateValue::from_pairs(drawn))]);
    columns::write_kept_columns(record, &options.keeps, said, options.benchmark)
}

/// What a draft asks about: the record, or each element of its list.
///
/// # Errors
/// [`ExpressionError`] where that list cannot be computed, or is none.
pub fn draft_items(record: &Row, draft: DraftStep) -> Result<Vec<DraftItem>, ExpressionError> {
    drafts::items_of_draft(record, draft.draft_declaration())
}

/// Takes the replies of all slots, in their order. Returns what the self-checks find in them.
pub(super) fn write_drafts(record: &mut Row, draft: DraftStep, drafts: &[Drafted]) -> Vec<String> {
    match is_grouped(record) {
        true => declared::write_drafts(record, draft, drafts),
        false => drafts::write_drafts(record, draft.draft_declaration(), drafts),
    }
}

/// Why no reply can be kept: those about an item are tied, and nobody votes on the draft.
pub(super) fn describe_tie(record: &Row, draft: DraftStep, drafts: &[Drafted]) -> Option<String> {
    let declared = draft.draft_declaration();
    declared.majority.filter(|_| declared.ballot.is_none())?;
    drafts::describe_tie(record, declared, drafts)
}

/// A record in groups, of an answer to this one: with its groups, and one more.
pub(super) fn child_record(record: &Row, id: String, step: &str, fields: Map<String, Json>) -> Row {
    let mut child = match is_grouped(record) {
        true => record.clone(),
        false => Row::from(Declared::default()),
    };
    child.set_text("id", id);
    declared::add(&mut child, step, fields);
    child
}

/// What annotators see of a record: one item, several if a step asks about several of its parts, none if it asks about
/// nothing of it. `seed` draws the order of what is shown side by side.
pub fn items_of_record(record: &Row, ballot: &Ballot, seed: u64) -> Vec<Item> {
    if is_grouped(record) {
        declared::items_of_record(record, ballot, seed)
    } else {
        columns::items_of_record(record, ballot, seed)
    }
}

/// Applies the decision on each of a record's items; `None` if an optional step has no decision.
pub(super) fn write_decisions(
    record: &mut Row,
    ballot: &Ballot,
    decisions: &[Option<Decision>],
    standing: Standing,
    basis: Vec<String>,
) {
    match is_grouped(record) {
        true => declared::write_decisions(record, ballot, decisions, standing, basis),
        false => columns::write_decisions(record, ballot, decisions, standing, basis),
    }
}

/// Why a record cannot continue from a step without an answer, regardless of settings.
pub(super) fn reason_to_stop(record: &Row, ballot: &Ballot) -> Option<Reason> {
    let passes = ballot.asked?.passes.as_ref()?;
    let holds = in_scope(record, ballot.recipe).is_true(Some(&passes.when));
    (!holds.unwrap_or(false)).then_some(passes.lacks)
}

/// A step's draft as a ledger shows it; empty where there is none.
pub(super) fn describe_draft(record: &Row, ballot: &Ballot) -> String {
    match is_grouped(record) {
        true => declared::describe_draft(record, ballot),
        false => columns::text_of_expression(record, ballot, |asked| asked.before.as_ref()),
    }
}

/// A step's decision as a ledger shows it.
pub(super) fn describe_decision(record: &Row, ballot: &Ballot) -> String {
    match is_grouped(record) {
        true => declared::describe_decision(record, ballot),
        false => columns::text_of_expression(record, ballot, |asked| asked.after.as_ref()),
    }
}

/// Names, and the `[fields]` of a benchmark.
pub(super) fn with_names(benchmark: &str, names: &TemplateValue) -> Scope<'static> {
    columns::scope_of_names(names, benchmark)
}

/// A record as a benchmark's expressions see it.
pub(super) fn in_scope(record: &Row, benchmark: &str) -> Scope<'static> {
    columns::scope_of_names(&names_of_record(record), benchmark)
}

/// A stage's rows as the records that a step works on: posts are records without drafts and votes.
///
/// # Errors
/// [`Error`] where a part is missing or damaged.
pub fn read_subjects(reader: &StageReader, rows: StageRows, records: StageRows) -> Result<Vec<Row>, Error> {
    match rows {
        StageRows::Posts => {
            let posts = reader.read_table::<Post>("rows")?.into_iter();
            Ok(posts.map(|post| of_post(records, post)).collect())
        }
        rows => reader.all_of(rows.columns(), "rows"),
    }
}

/// The votes in the basis of a decision.
fn votes_of(basis: &[String]) -> Vec<Digest> {
    basis.iter().filter_map(|one| one.strip_prefix("vote:")?.parse().ok()).collect()
}

/// The decision of a step with one item per record.
fn single_decision(decisions: &[Option<Decision>]) -> Option<&Decision> {
    decisions.first()?.as_ref()
}

/// What the replies about one item decide.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Majority {
    /// The place of the first reply with the most frequent value.
    Kept(usize),
    /// Several values are the most frequent: what is found.
    Tied(String),
}

/// The majority of the values of a field; replies without a value do not count, and if none has one, the first is kept.
fn find_majority(field: &str, replies: &[Drafted]) -> Majority {
    // By value how many gave it, and the first that did.
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (at, reply) in replies.iter().enumerate() {
        let Some(value) = reply.values.get(field) else { continue };
        counts.entry(value.to_string()).or_insert((0, at)).0 += 1;
    }
    let most = counts.values().map(|(count, _)| *count).max().unwrap_or(0);
    let first: Vec<(&String, usize)> =
        counts.iter().filter(|(_, (count, _))| *count == most).map(|(value, (_, at))| (value, *at)).collect();
    match first[..] {
        [] => Majority::Kept(0),
        [(_, at)] => Majority::Kept(at),
        _ => {
            let values: Vec<&str> = first.iter().map(|(value, _)| value.as_str()).collect();
            let of = replies.len();
            Majority::Tied(format!("{field}: {of} replies are tied, {most} each for {}", values.join(", ")))
        }
    }
}

#[cfg(test)]
mod puzzle_tests;
#[cfg(test)]
pub(in crate::stages) mod rows;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::draft::Slot;
    use proptest::prelude::*;

    fn replies(values: &[Option<&str>]) -> Vec<Drafted> {
        let reply = |value: &Option<&str>| Drafted {
            element: 0,
            slot: Slot::default(),
            values: value.iter().map(|value| ("kind", *value)).collect(),
            basis: String::new(),
        };
        values.iter().map(reply).collect()
    }

    #[test]
    fn the_first_reply_of_the_most_frequent_value_is_kept_and_a_tie_is_told() {
        let of = |values: &[Option<&str>]| find_majority("kind", &replies(values));
        assert_eq!(of(&[Some("a"), Some("b"), Some("b")]), Majority::Kept(1));
        assert_eq!(of(&[None, Some("a"), None]), Majority::Kept(1));
        assert_eq!(of(&[None, None]), Majority::Kept(0));
        let tied = of(&[Some("b"), Some("a"), None]);
        assert_eq!(tied, Majority::Tied("kind: 3 replies are tied, 1 each for a, b".into()));
    }

    proptest! {
        /// Whatever the order of the replies, the same value is kept, or the same tie is told.
        #[test]
        fn the_order_of_replies_decides_nothing(values in prop::collection::vec(0usize..3, 1..12), turn in 0usize..12) {
            let codes = ["a", "b", "c"];
            let mut given: Vec<Option<&str>> = values.iter().map(|at| Some(codes[*at])).collect();
            let value = |given: &[Option<&str>]| match find_majority("kind", &replies(given)) {
                Majority::Kept(at) => given[at].unwrap().to_owned(),
                Majority::Tied(what) => what,
            };
            let before = value(&given);
            let turn = turn % given.len();
            given.rotate_left(turn);
            prop_assert_eq!(before, value(&given));
        }
    }
}
