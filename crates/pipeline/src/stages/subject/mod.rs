//! Records that models draft for and people decide on.
//!
//! The benchmark's folder declares what is asked and shown of a record, and where the answers go. `drafts` and `columns` apply
//! this to records whose columns are filled by steps, [`declared`] to records that the folder declares.
//! [`super::draft`] and [`super::review`] contain what both have in common.

mod columns;
pub(super) mod declared;
mod drafts;
#[cfg(test)]
mod puzzle_tests;
#[cfg(test)]
pub(in crate::stages) mod typed;

use std::collections::BTreeMap;

pub use drafts::DraftItem;
use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::Trouble;
use riddlemill_benchmarks::native::Native;
use riddlemill_benchmarks::scope::Scope;
use serde_json::{Map, Value as Json};

use super::draft::{Draft, Slot};
use super::stage::Rows;
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Digest, Item, Values};
use riddlemill_tables::{Error, StageReader};
use riddlemill_text::record::{Declared, Post, Reason, Row, Standing, set_flags};

/// What a prompt is made of.
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

/// What people, a sample or a draft say about one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The answers.
    pub values: Values,
    /// The latest answers of each who voted, by name.
    pub given: Vec<Values>,
}

/// A record that models draft for and people decide on: of a kind, whose columns steps fill, or in groups.
pub trait Annotatable: Sized {
    /// The record that a post becomes.
    fn of_post(rows: Rows, post: Post) -> Self;

    /// Its parts by the names that expressions give them: its columns, or the groups of its steps.
    fn names(&self) -> TemplateValue;

    /// Takes what a named operation found. Returns what could not be computed.
    fn found(&mut self, native: &Native, values: &Values, basis: &[String]) -> Vec<String>;

    /// What a draft asks about: the record, or each element of its list.
    ///
    /// # Errors
    /// [`Trouble`] where that list cannot be computed, or is none.
    fn draft_items(&self, draft: Draft) -> Result<Vec<DraftItem>, Trouble>;

    /// Takes the replies of all slots, in their order. Returns what the self-checks find in them.
    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String>;

    /// A record in groups, of an answer to this one: with its groups, and one more.
    fn child(&self, id: String, step: &str, fields: Map<String, Json>) -> Self;

    /// The findings, `step: finding`.
    fn flags(&self) -> &[String];

    /// Adds findings.
    fn add_flags(&mut self, findings: impl IntoIterator<Item = String>);

    /// Replaces the findings on one step's draft.
    fn set_flags(&mut self, step: &str, findings: Vec<String>);

    /// What annotators see of it: one item, several where a step looks at several things of a record, none where it looks
    /// at nothing of it. `seed` draws the order of what is shown side by side.
    fn items(&self, step: &Ballot, seed: u64) -> Vec<Item>;

    /// Takes what was decided on each of its items; `None` where an optional step decided nothing.
    fn decided(
        &mut self,
        step: &Ballot,
        decisions: &[Option<Decision>],
        standing: Standing,
        basis: Vec<String>,
    );

    /// Whether it goes on from a step without an answer, whatever the settings say.
    fn may_pass(&self, step: &Ballot) -> bool {
        step.asked.is_some_and(|asked| asked.passes.is_some())
    }

    /// Why it cannot go on from a step without an answer, whatever the settings say.
    fn lacks(&self, step: &Ballot) -> Option<Reason>;

    /// A step's draft as a ledger shows it; empty where there is none.
    fn before(&self, step: &Ballot) -> String;

    /// A step's decision as a ledger shows it.
    fn after(&self, step: &Ballot) -> String;
}

/// The column of findings.
const FLAGS: &str = "flags";
/// The column of what the steps of a record without a kind left.
pub const GROUPS: &str = "groups";

/// Whether the steps of a record leave groups.
fn is_grouped(record: &Row) -> bool {
    record.has(GROUPS)
}

impl Annotatable for Row {
    fn of_post(rows: Rows, post: Post) -> Row {
        match rows {
            Rows::Groups => declared::of_post(post),
            rows => Row::of_post(rows.columns(), &post),
        }
    }

    fn names(&self) -> TemplateValue {
        if is_grouped(self) { declared::names(self) } else { columns::row(self) }
    }

    fn found(&mut self, native: &Native, values: &Values, basis: &[String]) -> Vec<String> {
        match is_grouped(self) {
            true => declared::found(self, native, values, basis),
            false => columns::found(self, native, values, basis),
        }
    }

    fn draft_items(&self, draft: Draft) -> Result<Vec<DraftItem>, Trouble> {
        drafts::items(self, draft.declared())
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        match is_grouped(self) {
            true => declared::drafted(self, draft, drafts),
            false => drafts::drafted(self, draft.declared(), drafts),
        }
    }

    fn child(&self, id: String, step: &str, fields: Map<String, Json>) -> Row {
        let mut child = match is_grouped(self) {
            true => self.clone(),
            false => Row::from(Declared::default()),
        };
        child.set_text("id", id);
        declared::add(&mut child, step, fields);
        child
    }

    fn flags(&self) -> &[String] {
        self.list(FLAGS)
    }

    fn add_flags(&mut self, findings: impl IntoIterator<Item = String>) {
        let mut flags = self.flags().to_vec();
        flags.extend(findings);
        self.set_list(FLAGS, flags);
    }

    fn set_flags(&mut self, step: &str, findings: Vec<String>) {
        let mut flags = self.flags().to_vec();
        set_flags(&mut flags, step, findings);
        self.set_list(FLAGS, flags);
    }

    fn items(&self, step: &Ballot, seed: u64) -> Vec<Item> {
        if is_grouped(self) { declared::items(self, step, seed) } else { columns::items(self, step, seed) }
    }

    fn decided(
        &mut self,
        step: &Ballot,
        decisions: &[Option<Decision>],
        standing: Standing,
        basis: Vec<String>,
    ) {
        match is_grouped(self) {
            true => declared::decided(self, step, decisions, standing, basis),
            false => columns::decided(self, step, decisions, standing, basis),
        }
    }

    fn lacks(&self, step: &Ballot) -> Option<Reason> {
        let passes = step.asked?.passes.as_ref()?;
        let holds = in_scope(self, step.recipe).holds(Some(&passes.when));
        (!holds.unwrap_or(false)).then_some(passes.lacks)
    }

    fn before(&self, step: &Ballot) -> String {
        match is_grouped(self) {
            true => declared::before(self, step),
            false => columns::text(self, step, |asked| asked.before.as_ref()),
        }
    }

    fn after(&self, step: &Ballot) -> String {
        match is_grouped(self) {
            true => declared::after(self, step),
            false => columns::text(self, step, |asked| asked.after.as_ref()),
        }
    }
}

pub(super) use columns::{answers as replied, kept};

/// Names, and the `[fields]` of a benchmark.
pub(super) fn with_names(benchmark: &str, names: &TemplateValue) -> Scope<'static> {
    columns::scope(names, benchmark)
}

/// A record as a benchmark's expressions see it.
pub(super) fn in_scope(record: &Row, benchmark: &str) -> Scope<'static> {
    columns::scope(&record.names(), benchmark)
}

/// A stage's rows as the records that a step works on: posts are records nobody has looked at yet.
///
/// # Errors
/// [`Error`] where a part is missing or damaged.
pub fn subjects(reader: &StageReader, rows: Rows, records: Rows) -> Result<Vec<Row>, Error> {
    match rows {
        Rows::Posts => {
            let posts = reader.all::<Post>("rows")?.into_iter();
            Ok(posts.map(|post| <Row as Annotatable>::of_post(records, post)).collect())
        }
        rows => reader.all_of(rows.columns(), "rows"),
    }
}

/// The votes among what a decision rests on.
fn votes_of(basis: &[String]) -> Vec<Digest> {
    basis.iter().filter_map(|one| one.strip_prefix("vote:")?.parse().ok()).collect()
}

/// The decision of a step that looks at one thing of a record.
fn only(decisions: &[Option<Decision>]) -> Option<&Decision> {
    decisions.first()?.as_ref()
}
