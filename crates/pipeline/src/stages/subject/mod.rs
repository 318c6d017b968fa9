//! Records that models draft for and people decide on.
//!
//! What is asked and shown of a record, and where the answers go, its benchmark's folder says: `drafts` and `columns` do so
//! for records whose columns steps fill, [`declared`] for those that the folder declares.
//! [`super::draft`] and [`super::review`] hold what both share.

mod columns;
mod cunning;
pub(super) mod declared;
mod drafts;
mod joke;
mod puzzle;
mod question;
mod response;

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::native::Native;
use riddlemill_benchmarks::scope::Scope;
use serde_json::{Map, Value as Json};

use super::draft::{Draft, Slot};
use super::stage::Rows;
use riddlemill_review::ballot::Ballot;
use riddlemill_review::{Digest, Item, Values};
use riddlemill_tables::{Error, StageReader};
use riddlemill_text::record::{Declared, Post, Reason, Record, Standing};

/// The record types that drafts and reviews fill in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// [`riddlemill_text::record::Question`].
    Questions,
    /// [`riddlemill_text::record::CunningText`].
    Texts,
    /// [`riddlemill_text::record::Joke`].
    Jokes,
    /// [`riddlemill_text::record::Puzzle`].
    Puzzles,
    /// [`riddlemill_text::record::Variant`].
    Variants,
    /// [`riddlemill_text::record::Response`].
    Responses,
    /// [`riddlemill_text::record::Declared`].
    Declared,
}

impl Subjects {
    /// The records of a benchmark: of the kind that its folder names, or what its steps leave.
    pub fn of(benchmark: &str) -> Subjects {
        Subjects::of_kind(riddlemill_benchmarks::find(benchmark).and_then(|benchmark| benchmark.records))
    }

    /// The records of a kind, as folders name it; without one what the folder declares.
    pub fn of_kind(kind: Option<&str>) -> Subjects {
        match kind {
            Some("questions") => Subjects::Questions,
            Some("cunning texts") => Subjects::Texts,
            Some("jokes") => Subjects::Jokes,
            Some("puzzles") => Subjects::Puzzles,
            Some("reconstructions") => Subjects::Variants,
            Some("responses") => Subjects::Responses,
            _ => Subjects::Declared,
        }
    }

    /// The rows of a stage that holds them.
    pub fn rows(self) -> Rows {
        match self {
            Subjects::Questions => Rows::Questions,
            Subjects::Texts => Rows::Texts,
            Subjects::Jokes => Rows::Jokes,
            Subjects::Puzzles => Rows::Puzzles,
            Subjects::Variants => Rows::Variants,
            Subjects::Responses => Rows::Responses,
            Subjects::Declared => Rows::Declared,
        }
    }
}

/// Runs an expression with `$row` as the type behind a value of [`Subjects`].
#[doc(hidden)]
#[macro_export]
macro_rules! match_subjects {
    ($subjects:expr, $row:ident => $body:expr) => {
        match $subjects {
            $crate::stages::Subjects::Questions => {
                type $row = riddlemill_text::record::Question;
                $body
            }
            $crate::stages::Subjects::Texts => {
                type $row = riddlemill_text::record::CunningText;
                $body
            }
            $crate::stages::Subjects::Jokes => {
                type $row = riddlemill_text::record::Joke;
                $body
            }
            $crate::stages::Subjects::Puzzles => {
                type $row = riddlemill_text::record::Puzzle;
                $body
            }
            $crate::stages::Subjects::Variants => {
                type $row = riddlemill_text::record::Variant;
                $body
            }
            $crate::stages::Subjects::Responses => {
                type $row = riddlemill_text::record::Response;
                $body
            }
            $crate::stages::Subjects::Declared => {
                type $row = riddlemill_text::record::Declared;
                $body
            }
        }
    };
}
#[doc(inline)]
pub use match_subjects as of_subjects;

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

/// A record that models draft for and people decide on.
pub trait Annotatable: Record + Clone {
    /// The record that a post becomes; `None` where it is made of other records.
    fn of_post(post: Post) -> Option<Self>;

    /// Its parts by the names that expressions give them: its columns, or the groups of its steps.
    fn names(&self) -> TemplateValue {
        columns::row(self)
    }

    /// Takes what a named operation found. Returns what could not be computed.
    fn found(&mut self, native: &Native, values: &Values, basis: &[String]) -> Vec<String> {
        columns::found(self, native, values, basis)
    }

    /// What a draft asks for in one of its slots; `None` where nothing is asked of this record there.
    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        drafts::asked(draft.declared(), slot, &in_scope(self, draft.declared().benchmark))
    }

    /// What a draft asks about, as a sample pack knows it: the record, where no two drafts ask the same of it.
    fn about(&self, draft: Draft) -> String {
        drafts::known_as(self, draft.declared())
    }

    /// Takes the replies of all slots, in their order. Returns what the self-checks find in them.
    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        drafts::drafted(self, draft.declared(), drafts)
    }

    /// A record that the folder declares, of an answer to this one: with its groups, and one more.
    fn child(&self, id: String, step: &str, fields: Map<String, Json>) -> Declared {
        let mut child = Declared { id, ..Declared::default() };
        declared::add(&mut child, step, fields);
        child
    }

    /// The findings, `step: finding`.
    fn flags(&mut self) -> &mut Vec<String>;

    /// What annotators see of it: one item, several where a step looks at several things of a record, none where it looks
    /// at nothing of it. `seed` draws the order of what is shown side by side.
    fn items(&self, step: &Ballot, seed: u64) -> Vec<Item> {
        columns::items(self, step, seed)
    }

    /// Takes what was decided on each of its items; `None` where an optional step decided nothing.
    fn decided(
        &mut self,
        step: &Ballot,
        decisions: &[Option<Decision>],
        standing: Standing,
        basis: Vec<String>,
    ) {
        columns::decided(self, step, decisions, standing, basis);
    }

    /// Whether it goes on from a step without an answer, whatever the settings say.
    fn may_pass(&self, step: &Ballot) -> bool {
        step.asked.is_some_and(|asked| asked.passes.is_some())
    }

    /// Why it cannot go on from a step without an answer, whatever the settings say.
    fn lacks(&self, step: &Ballot) -> Option<Reason> {
        columns::lacks(self, step)
    }

    /// A step's draft as a ledger shows it; empty where there is none.
    fn before(&self, step: &Ballot) -> String {
        columns::text(self, step, |asked| asked.before.as_ref())
    }

    /// A step's decision as a ledger shows it.
    fn after(&self, step: &Ballot) -> String {
        columns::text(self, step, |asked| asked.after.as_ref())
    }
}

pub(super) use columns::{answers as replied, kept};

/// Names, and the `[fields]` of a benchmark.
pub(super) fn with_names(benchmark: &str, names: &TemplateValue) -> Scope<'static> {
    columns::scope(names, benchmark)
}

/// A record as a benchmark's expressions see it.
pub(super) fn in_scope<S: Annotatable>(record: &S, benchmark: &str) -> Scope<'static> {
    columns::scope(&record.names(), benchmark)
}

/// A stage's rows as records of a type: posts are records nobody has looked at yet.
///
/// # Errors
/// [`Error`] where a part is missing or damaged.
pub fn subjects<S: Annotatable>(reader: &StageReader, rows: Rows) -> Result<Vec<S>, Error> {
    match rows {
        Rows::Posts => Ok(reader.all::<Post>("rows")?.into_iter().filter_map(S::of_post).collect()),
        _ => reader.all("rows"),
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
