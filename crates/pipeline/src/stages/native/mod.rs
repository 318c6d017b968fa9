//! Named operations, for what cannot be declared. A step of a benchmark's folder names one (`kind = "native"`, `op = …`), the
//! fields that it reads (`with`), and where its findings go (`for`, `keeps`).
//!
//! [`OPERATIONS`] is the closed list. Everything about an operation is in its own file: an [`Operation`], which says what it
//! takes and leaves, and a [`Stage`]. [`fill`] is common to those that draft fields of a record, and [`check`] reports mistakes
//! of a folder.

pub mod check;
mod fill;
mod given_premises;
mod neighbours;
mod puzzle_group;
mod rated_pair;
mod rewrite;
mod riddle;
mod roles;
mod same_riddle;

use super::context::{About, NewRows, StageRows};
use super::job::{Job, StepContext};
use super::stage::Stage;
use crate::config::{Config, sections};
pub(super) use rewrite::continued_row;
pub use rewrite::{Rewrite, WrittenRecord, full_text, show_riddle};
use riddlemill_benchmarks::native::NativeStep as Declared;
pub use roles::ROLES;
pub(super) use roles::{bare_variant, of_role};

/// Every operation that a step may name.
static OPERATIONS: &[&Operation] = &[
    &riddle::OPERATION,
    &riddle::ANONYMISE,
    &fill::OPERATION,
    &same_riddle::OPERATION,
    &given_premises::OPERATION,
    &neighbours::OPERATION,
    &puzzle_group::OPERATION,
    &rated_pair::OPERATION,
];

/// What an operation is called, takes and leaves.
struct Operation {
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
    inputs: &'static [OperationInput],
    /// The fields that it finds.
    gives: &'static [&'static str],
    /// Its settings in the step's table.
    settings: &'static [(&'static str, SettingForm)],
    /// What helps whose records are declared, where it does not work on those; else "".
    of_declared: &'static str,
    /// The stage that a step is which names it.
    stage: fn(&'static Declared) -> Box<dyn Stage>,
}

impl Operation {
    /// The operation of this name.
    fn find_operation(name: &str) -> Option<&'static Operation> {
        OPERATIONS.iter().copied().find(|operation| operation.name == name)
    }

    /// What a step is called and leaves that names it.
    fn describe_stage(&self, step: &Declared) -> About {
        About {
            name: "native",
            version: self.version,
            section: self.section,
            rows: rows_of(step),
            detail: self.name,
        }
    }
}

/// The stage of a step that names an operation; `None` where there is none of that name.
pub(super) fn stage_of_step(step: &'static Declared) -> Option<Box<dyn Stage>> {
    Some((Operation::find_operation(step.op)?.stage)(step))
}

/// What a step leaves.
fn rows_of(step: &Declared) -> StageRows {
    StageRows::of_kind(step.leaves)
}

/// The records that a step works on, where those are what it leaves.
fn subjects_of(step: &Declared) -> StageRows {
    StageRows::of_kind(step.records)
}

/// Records that an operation works on.
enum Records {
    /// Any records, with columns or declared; the step names the values.
    AsTheyCome,
    /// It makes records of the second kind from records of the first.
    Made { of: &'static [RecordShape], into: &'static [RecordShape] },
}

/// What records have to be for an operation.
#[derive(Clone, Copy)]
enum RecordShape {
    /// Posts.
    Posts,
    /// Records of a kind with these columns.
    Columns(&'static [&'static str]),
    /// With a group for each step.
    Groups,
}

impl RecordShape {
    /// Whether rows are so.
    fn is_of(self, rows: StageRows) -> bool {
        match (self, rows) {
            (RecordShape::Posts, StageRows::Posts) | (RecordShape::Groups, StageRows::Groups) => true,
            (RecordShape::Columns(columns), StageRows::Kind(_)) => {
                columns.iter().all(|column| rows.has_column(column))
            }
            _ => false,
        }
    }

    fn shape_name(self) -> String {
        match self {
            RecordShape::Posts => StageRows::Posts.name().to_owned(),
            RecordShape::Groups => StageRows::Groups.name().to_owned(),
            RecordShape::Columns(columns) => {
                format!("a kind of records with the columns {}", columns.join(", "))
            }
        }
    }
}

/// A part of a record that an operation takes.
struct OperationInput {
    name: &'static str,
    /// Whether it is required.
    needed: bool,
}

/// What a setting in a step's table is.
#[derive(Clone, Copy)]
enum SettingForm {
    /// A whole number between these.
    Count(u64, u64),
    Text,
}

/// The fields that a step leaves in its group of a record that the folder declares; `None` of an operation that does not
/// exist.
pub fn fields_left_by_step(declared: &Declared) -> Option<Vec<&'static str>> {
    let operation = Operation::find_operation(declared.op)?;
    let basis = match (&operation.records, operation.gives) {
        (Records::AsTheyCome, [_, ..]) => Some("basis"),
        _ => None,
    };
    Some(operation.gives.iter().copied().chain(basis).collect())
}

/// The settings of puzzles, and the seed of what is drawn for them.
fn puzzle_settings(config: &Config, recipe: &str) -> (sections::Puzzles, u64) {
    let seed = config.typed_settings::<sections::Options>(Some(recipe), "options").seed;
    (config.typed_settings(Some(recipe), "puzzles"), seed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::check::find_problems;
    use super::*;
    use riddlemill_review::decisions::Verdict;

    /// A step of a built-in benchmark.
    pub(super) fn step(benchmark: &str, name: &str) -> &'static Declared {
        let natives = &riddlemill_benchmarks::find_benchmark(benchmark).unwrap().natives;
        natives.iter().find(|native| native.name == name).unwrap()
    }

    #[test]
    fn operations_have_names_of_their_own_and_tell_their_input_apart() {
        let names: BTreeSet<&str> = OPERATIONS.iter().map(|op| op.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
        for op in OPERATIONS {
            let Operation { inputs, gives, settings, section, .. } = op;
            let inputs: BTreeSet<&str> = inputs.iter().map(|input| input.name).collect();
            assert_eq!(inputs.len(), op.inputs.len(), "{}", op.name);
            let fields: BTreeSet<&str> = gives.iter().copied().collect();
            assert_eq!(fields.len(), gives.len(), "{}", op.name);
            // A key that every step has is none of an operation's own.
            let common = riddlemill_benchmarks::native::KEYS;
            assert!(settings.iter().all(|(key, _)| !common.contains(key)), "{}", op.name);
            assert!(sections::SECTIONS.iter().any(|known| known.name == *section));
        }
    }

    /// The built-in folders' declarations of operations are valid, and an operation's own declarations reach the stage.
    #[test]
    fn built_in_steps_are_operations() {
        for benchmark in riddlemill_benchmarks::all_benchmarks() {
            assert_eq!(find_problems(benchmark), []);
        }
        let stage = |benchmark: &str, name: &str| super::stage_of_step(step(benchmark, name)).unwrap();
        let same = stage("brainteaser", "dedup");
        assert!(
            same.compares_pairs()
                && same.may_be_overruled(Verdict::One)
                && !same.may_be_overruled(Verdict::Drop)
        );
        assert!(!same.merges_posts());
        assert_eq!((same.section(), same.rows().name()), ("dedup", "puzzles"));
        let riddle = stage("brainteaser", "strip");
        assert!(
            riddle.writes_texts()
                && riddle.may_be_overruled(Verdict::Drop)
                && !riddle.may_be_overruled(Verdict::Keep)
        );
        assert_eq!((riddle.name(), riddle.stage_detail().as_str()), ("native", "riddle"));
        assert_eq!(stage("brainteaser", "group").rows().name(), "reconstructions");
        assert_eq!(stage("ruozhibench-mc", "options").rows().name(), "multiple choices");
    }
}
