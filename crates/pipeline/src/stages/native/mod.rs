//! Named operations, for what cannot be declared. A step of a benchmark's folder names one (`kind = "native"`, `op = …`), the
//! fields that it reads (`with`), and where its findings go (`for`, `keeps`).
//!
//! [`OPERATIONS`] is the closed list. Everything about an operation is in its own file, as an
//! [`Operation`]; code that runs, shows or checks steps asks [`Native`], and never depends on a particular operation. [`fill`] is common to
//! those that draft fields of a record, [`job`] is what a run passes to each, and [`check`] reports mistakes of a folder.

mod anonymise_riddle;
mod check;
mod fill;
mod given_premises;
mod job;
mod neighbours;
mod puzzle_group;
mod rated_pair;
mod reread;
mod riddle;
mod same_riddle;
mod spelling;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::commit::Commit;
use super::stage::{Rows, StageError};
use crate::config::{Config, sections};
pub use check::problems;
pub use job::Job;
pub use puzzle_group::ROLES;
pub(super) use puzzle_group::{bare_variant, of_role};
pub use reread::{Reread, Written};
pub use riddle::{full_text, shown};
use riddlemill_benchmarks::native::Native as Declared;
use riddlemill_review::decisions::Verdict;
use riddlemill_text::record::Row;

/// Every operation that a step may name.
static OPERATIONS: &[&dyn Operation] = &[
    &riddle::Riddle,
    &anonymise_riddle::AnonymiseRiddle,
    &spelling::Spelling,
    &same_riddle::SameRiddle,
    &given_premises::GivenPremises,
    &neighbours::Neighbours,
    &puzzle_group::PuzzleGroup,
    &rated_pair::RatedPair,
];

/// What an operation is called, takes and leaves.
struct Signature {
    /// What folders call it.
    name: &'static str,
    /// Grows whenever its code would give another output for the same input, so that what an older program made is made
    /// again.
    version: u32,
    /// The table of pipeline.toml with its settings.
    section: &'static str,
    /// The records that it works on.
    records: Records,
    /// What it takes of a record, by its own names.
    inputs: &'static [Input],
    /// The fields that it finds.
    gives: &'static [&'static str],
    /// Its settings in the step's table.
    settings: &'static [(&'static str, Form)],
}

/// Records that an operation works on.
enum Records {
    /// Any records, with columns or declared; the step names the values.
    AsTheyCome,
    /// It makes records of the second kind from records of the first.
    Made { of: &'static [Shape], into: &'static [Shape] },
}

/// What records have to be for an operation.
#[derive(Clone, Copy)]
enum Shape {
    /// Posts.
    Posts,
    /// Records of a kind with these columns.
    Columns(&'static [&'static str]),
    /// With a group for each step.
    Groups,
}

impl Shape {
    /// Whether rows are so.
    fn is_of(self, rows: Rows) -> bool {
        match (self, rows) {
            (Shape::Posts, Rows::Posts) | (Shape::Groups, Rows::Groups) => true,
            (Shape::Columns(columns), Rows::Kind(_)) => columns.iter().all(|column| rows.has(column)),
            _ => false,
        }
    }

    fn name(self) -> String {
        match self {
            Shape::Posts => Rows::Posts.name().to_owned(),
            Shape::Groups => Rows::Groups.name().to_owned(),
            Shape::Columns(columns) => format!("a kind of records with the columns {}", columns.join(", ")),
        }
    }
}

/// A part of a record that an operation takes.
struct Input {
    name: &'static str,
    /// Whether it is required.
    needed: bool,
}

/// What a setting in a step's table is.
#[derive(Clone, Copy)]
enum Form {
    /// A whole number between these.
    Count(u64, u64),
    Text,
}

/// A named operation. The defaults are those of most operations.
trait Operation: Sync {
    fn signature(&self) -> &'static Signature;

    /// Makes the step's rows. Who calls it commits them.
    ///
    /// # Errors
    /// [`StageError`] where files or stages cannot be read or written, or the user stopped.
    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError>;

    /// Whether a person may overrule it so.
    fn takes(&self, _: Verdict) -> bool {
        false
    }

    /// The settings of pipeline.toml that can change its rows.
    fn settings(&self, _: &Config, _recipe: &str) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    /// What it reads in addition to its input: name and hash.
    ///
    /// # Errors
    /// [`StageError`] where that cannot be read.
    fn evidence(&self, _: &Config, _recipe: &str) -> Result<BTreeMap<String, String>, StageError> {
        Ok(BTreeMap::new())
    }

    /// What it will need from outside of the workspace and is not there, with what helps; `None` if nothing is missing.
    fn lacks(&self, _: &Config, _recipe: &str) -> Option<String> {
        None
    }

    /// Whether it compares every record with the others, merges those that are one, and writes a table of pairs.
    fn compares_pairs(&self) -> bool {
        false
    }

    /// Whether its input are riddles and their answers, and not a forum's posts.
    fn is_of_riddles(&self) -> bool {
        false
    }

    /// Whether it writes texts by rules alone, before anybody votes on them: then it has a [`Reread`].
    fn writes_texts(&self) -> bool {
        false
    }

    /// How it would write a text today.
    ///
    /// # Errors
    /// [`StageError`] where its lists cannot be read.
    fn reread(&self, _: Native, _: &Config, _recipe: &str) -> Result<Option<Reread>, StageError> {
        Ok(None)
    }

    /// How many records it makes from one.
    fn children(&self) -> u64 {
        1
    }

    /// What helps whose records are declared, where it does not work on those.
    fn of_declared(&self) -> &'static str {
        ""
    }
}

/// A step that is a named operation.
#[derive(Clone, Copy)]
pub struct Native {
    op: &'static dyn Operation,
    declared: &'static Declared,
}

impl PartialEq for Native {
    fn eq(&self, other: &Native) -> bool {
        self.declared == other.declared
    }
}

impl Eq for Native {}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({})", self.declared, self.name())
    }
}

impl Native {
    /// The operation that a step names; `None` where there is none of that name.
    pub(super) fn find(declared: &'static Declared) -> Option<Native> {
        let op = OPERATIONS.iter().find(|op| op.signature().name == declared.op)?;
        Some(Native { op: *op, declared })
    }

    /// What folders call the operation.
    pub fn name(self) -> &'static str {
        self.op.signature().name
    }

    /// The step's table.
    pub fn declared(self) -> &'static Declared {
        self.declared
    }

    /// Its version: grows when its code would give another output for the same input.
    pub fn version(self) -> u32 {
        self.op.signature().version
    }

    /// The table of pipeline.toml with its settings.
    pub fn section(self) -> &'static str {
        self.op.signature().section
    }

    /// What it writes.
    pub fn rows(self) -> Rows {
        Rows::of_kind(self.declared.leaves)
    }

    /// The records that it works on, where those are what it leaves.
    pub fn subjects(self) -> Rows {
        Rows::of_kind(self.declared.records)
    }

    /// Whether a person may overrule it so.
    pub fn takes(self, verdict: Verdict) -> bool {
        self.op.takes(verdict)
    }

    /// The settings of pipeline.toml that can change its rows.
    pub fn settings(self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        self.op.settings(config, recipe)
    }

    /// What it reads in addition to its input: name and hash.
    ///
    /// # Errors
    /// [`StageError`] where that cannot be read.
    pub fn evidence(self, config: &Config, recipe: &str) -> Result<BTreeMap<String, String>, StageError> {
        self.op.evidence(config, recipe)
    }

    /// What it will need from outside of the workspace and is not there, with what helps; `None` if nothing is missing.
    pub fn lacks(self, config: &Config, recipe: &str) -> Option<String> {
        self.op.lacks(config, recipe)
    }

    /// Whether it compares every record with the others, merges those that are one, and writes a table of pairs.
    pub fn compares_pairs(self) -> bool {
        self.op.compares_pairs()
    }

    /// Whether its input are riddles and their answers, and not a forum's posts.
    pub fn is_of_riddles(self) -> bool {
        self.op.is_of_riddles()
    }

    /// Whether it writes texts by rules alone, before anybody votes on them.
    pub fn writes_texts(self) -> bool {
        self.op.writes_texts()
    }

    /// How it would write a text today; `None` where it writes none.
    ///
    /// # Errors
    /// [`StageError`] where its lists cannot be read.
    pub fn reread(self, config: &Config, recipe: &str) -> Result<Option<Reread>, StageError> {
        self.op.reread(self, config, recipe)
    }

    /// How many records it makes from one.
    pub fn children(self) -> u64 {
        self.op.children()
    }

    /// Makes the step's rows, which the caller commits.
    ///
    /// # Errors
    /// [`StageError`] where files or stages cannot be read or written, or the user stopped.
    pub fn make(self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        self.op.make(job)
    }

    /// The text of a record that is compared; empty if the step names none, or it cannot be computed.
    pub fn compared(self, record: &Row) -> String {
        fill::Taken::from_record(self, record).text(same_riddle::QUESTION).unwrap_or_default()
    }

    /// What pages show of a record next to others that it is compared with: its text, or what is compared.
    pub fn shown(self, record: &Row) -> String {
        record.text("text").map_or_else(|| self.compared(record), str::to_owned)
    }

    /// A setting of the step's table.
    fn setting(self, key: &str) -> Option<&'static Value> {
        let declared = self.declared.settings.iter().find(|setting| setting.key == key)?;
        Some(&declared.value)
    }
}

/// The fields that a step leaves in its group of a record that the folder declares; `None` of an operation that does not
/// exist.
pub fn leaves(declared: &Declared) -> Option<Vec<&'static str>> {
    let signature = OPERATIONS.iter().find(|op| op.signature().name == declared.op)?.signature();
    let basis = match (&signature.records, signature.gives) {
        (Records::AsTheyCome, [_, ..]) => Some("basis"),
        _ => None,
    };
    Some(signature.gives.iter().copied().chain(basis).collect())
}

/// The settings of puzzles, and the seed of what is drawn for them.
fn puzzles(config: &Config, recipe: &str) -> (sections::Puzzles, u64) {
    let seed = config.typed::<sections::Options>(Some(recipe), "options").seed;
    (config.typed(Some(recipe), "puzzles"), seed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::stages::stage::Stage;

    /// A step of a built-in benchmark.
    pub(super) fn step(benchmark: &str, name: &str) -> Native {
        let natives = &riddlemill_benchmarks::find(benchmark).unwrap().natives;
        Native::find(natives.iter().find(|native| native.name == name).unwrap()).unwrap()
    }

    #[test]
    fn operations_have_names_of_their_own_and_tell_their_input_apart() {
        let names: BTreeSet<&str> = OPERATIONS.iter().map(|op| op.signature().name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
        for op in OPERATIONS {
            let Signature { inputs, gives, settings, section, .. } = op.signature();
            let inputs: BTreeSet<&str> = inputs.iter().map(|input| input.name).collect();
            assert_eq!(inputs.len(), op.signature().inputs.len(), "{}", op.signature().name);
            let fields: BTreeSet<&str> = gives.iter().copied().collect();
            assert_eq!(fields.len(), gives.len(), "{}", op.signature().name);
            // A key that every step has is none of an operation's own.
            let common = riddlemill_benchmarks::native::KEYS;
            assert!(settings.iter().all(|(key, _)| !common.contains(key)), "{}", op.signature().name);
            assert!(sections::SECTIONS.iter().any(|known| known.name == *section));
        }
    }

    /// The built-in folders' declarations of operations are valid, and an operation's own declarations reach the stage.
    #[test]
    fn built_in_steps_are_operations() {
        for benchmark in riddlemill_benchmarks::all() {
            assert_eq!(problems(benchmark), []);
        }
        let same = Stage::Native(step("brainteaser", "dedup"));
        assert!(same.compares_pairs() && same.takes(Verdict::One) && !same.takes(Verdict::Drop));
        assert_eq!((same.section(), same.rows().name()), ("dedup", "puzzles"));
        let riddle = Stage::Native(step("brainteaser", "strip"));
        assert!(riddle.writes_texts() && riddle.takes(Verdict::Drop) && !riddle.takes(Verdict::Keep));
        let group = step("brainteaser", "group");
        assert_eq!((group.rows().name(), group.children()), ("reconstructions", 3));
        assert_eq!(step("ruozhibench-mc", "options").rows().name(), "multiple choices");
    }
}
