//! The table of a recipe's stages that `run` and `status` print.
//!
//! Consecutive stages that say the same take one row: those that leave nothing out, those that another recipe
//! has made already, and those that wait for another stage. `--verbose` shows every stage.

use std::time::Duration;

use super::output::{count, format_count};
use super::terminal::{HANG, Tone, tint_text, tone_of_state};
use crate::pipeline::same_work;
use crate::recipe::Recipe;
use crate::record::State;
use crate::store::Manifest;

/// Columns of a stage's name, at least: those of the summary of several stages.
const NAME: usize = 28;
/// Columns of a count: millions of records fit.
const COUNT: usize = 9;
/// A stage that takes longer has a row of its own.
const SLOW: Duration = Duration::from_secs(10);
/// Shorter times are not shown.
const SHOWN: Duration = Duration::from_secs(1);

/// The table of a recipe, row by row.
pub(super) struct StageTable {
    /// Until the first row is printed.
    heading: Option<String>,
    wide: usize,
    every: bool,
    /// Rows that the next may be put together with.
    open: Vec<StageTableRow>,
}

/// What is said about a stage.
pub(super) struct StageTableRow {
    stage: String,
    says: StageRemark,
}

#[derive(Clone, PartialEq)]
enum StageRemark {
    /// It is made.
    Made { taken: u64, given: u64, what: String, leaves_none_out: bool, took: Duration },
    /// It is the one that this recipe has made.
    Shared { taken: u64, given: u64, with: String },
    /// It is not made, or not fresh.
    Due { state: &'static str, why: String },
}

impl StageTableRow {
    /// A stage that is made; one of `earlier`, which other recipes made, is named after them.
    pub(super) fn made_stage(manifest: &Manifest, took: Duration, earlier: &[Manifest]) -> StageTableRow {
        let counts = &manifest.counts;
        let (taken, given) = (counts.records_in, counts.records_out);
        let twin = earlier.iter().find(|twin| twin.recipe != manifest.recipe && same_work(twin, manifest));
        let says = match twin {
            Some(twin) => StageRemark::Shared { taken, given, with: twin.recipe.clone() },
            None => {
                let states: Vec<State> = State::ALL
                    .into_iter()
                    .filter(|state| *state != State::Kept && counts.records_in_state(*state) > 0)
                    .collect();
                let shown = |state: &State| {
                    let code = state.code();
                    tint_text(
                        tone_of_state(code),
                        &format!("{code} {}", format_count(counts.records_in_state(*state))),
                    )
                };
                let what = match states.iter().map(shown).collect::<Vec<_>>().join(", ") {
                    what if what.is_empty() && taken + given == 0 => "no records".to_owned(),
                    what => what,
                };
                let leaves_none_out = taken == given && states.iter().all(|state| *state == State::Changed);
                StageRemark::Made { taken, given, what, leaves_none_out, took }
            }
        };
        StageTableRow { stage: manifest.stage.clone(), says }
    }

    /// A stage that is not made, or not fresh, and why.
    pub(super) fn due_stage(stage: &str, state: &'static str, why: String) -> StageTableRow {
        StageTableRow { stage: stage.to_owned(), says: StageRemark::Due { state, why } }
    }

    /// Whether the next stage says the same.
    fn says_same(&self, next: &StageTableRow) -> bool {
        match (&self.says, &next.says) {
            (
                StageRemark::Made { given, leaves_none_out: true, took, .. },
                StageRemark::Made { taken, leaves_none_out: true, took: also, .. },
            ) => given == taken && *took < SLOW && *also < SLOW,
            (StageRemark::Shared { with, .. }, StageRemark::Shared { with: also, .. }) => with == also,
            (StageRemark::Due { state, why }, StageRemark::Due { state: also, why: because }) => {
                state == also && why == because && matches!(*state, "depends" | "missing")
            }
            _ => false,
        }
    }
}

impl StageTable {
    /// The table of a recipe; `every` stage has a row of its own.
    pub(super) fn new(recipe: &Recipe, every: bool) -> StageTable {
        let longest = recipe.steps().iter().map(|step| step.name.len()).max().unwrap_or(0);
        StageTable::of_recipe(recipe.name, longest, every)
    }

    fn of_recipe(name: &str, longest: usize, every: bool) -> StageTable {
        let wide = longest.max(NAME);
        let heading = format!("{name:<wide$}    {:>COUNT$}  {:>COUNT$}  changed or left out", "in", "out");
        StageTable { heading: Some(heading), wide, every, open: Vec::new() }
    }

    /// The lines that can be printed once this row is known.
    pub(super) fn add_row(&mut self, row: StageTableRow) -> Vec<String> {
        let says_same = !self.every && self.open.last().is_some_and(|last| last.says_same(&row));
        let mut lines = if says_same { Vec::new() } else { self.remaining_lines() };
        self.open.push(row);
        if self.every {
            lines.extend(self.remaining_lines());
        }
        lines
    }

    /// The lines that are left.
    pub(super) fn remaining_lines(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open);
        let Some(line) = self.row_line(&open) else { return Vec::new() };
        self.heading.take().map(|heading| tint_text(Tone::Head, &heading)).into_iter().chain([line]).collect()
    }

    /// One line for rows that say the same.
    fn row_line(&self, rows: &[StageTableRow]) -> Option<String> {
        let (first, last) = (rows.first()?, rows.last()?);
        let wide = self.wide;
        let name = match rows {
            [row] => row.stage.clone(),
            _ => format!("{} to {}", count(rows.len() as u64, "stage"), last.stage),
        };
        let line = |taken: u64, given: u64, what: &str| {
            let (taken, given) = (format_count(taken), format_count(given));
            format!("  {name:<wide$}  {taken:>COUNT$}  {given:>COUNT$}  {HANG}{what}")
        };
        let line = match (&first.says, &last.says) {
            (StageRemark::Made { taken, what, .. }, StageRemark::Made { given, .. }) => {
                let what = match rows {
                    [_] => what.as_str(),
                    _ if *taken == 0 => "no records",
                    _ => "none left out",
                };
                let took: Duration = rows
                    .iter()
                    .map(|row| match &row.says {
                        StageRemark::Made { took, .. } => *took,
                        _ => Duration::ZERO,
                    })
                    .sum();
                let time = (took > SHOWN).then(|| format!("{:.1} s", took.as_secs_f64()));
                let words: Vec<&str> =
                    [what].into_iter().filter(|what| !what.is_empty()).chain(time.as_deref()).collect();
                line(*taken, *given, &words.join(", "))
            }
            (StageRemark::Shared { taken, with, .. }, StageRemark::Shared { given, .. }) => {
                line(*taken, *given, &format!("as in {with}"))
            }
            (StageRemark::Due { state, why }, _) => {
                let state = tint_text(tone_of_state(state), &format!("{state:>COUNT$}"));
                format!("  {name:<wide$}  {state}  {HANG}{why}")
            }
            // Rows that say different things are never put together.
            _ => return None,
        };
        Some(line.trim_end_matches([' ', HANG]).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::terminal::{StreamStyle, count_columns, fit_text};
    use super::*;

    fn made(stage: &str, taken: u64, given: u64, what: &str) -> StageTableRow {
        let what = what.to_owned();
        let leaves_none_out = taken == given;
        StageTableRow {
            stage: stage.to_owned(),
            says: StageRemark::Made { taken, given, what, leaves_none_out, took: Duration::ZERO },
        }
    }

    fn table(every: bool, rows: Vec<StageTableRow>) -> String {
        let mut table = StageTable::of_recipe("flub", 16, every);
        let mut lines: Vec<String> = rows.into_iter().flat_map(|row| table.add_row(row)).collect();
        lines.extend(table.remaining_lines());
        fit_text(&lines.join("\n"), StreamStyle { colours: false, width: None })
    }

    #[test]
    fn stages_that_say_the_same_take_one_row() {
        let rows = || {
            let shared = |stage: &str, taken, given| StageTableRow {
                stage: stage.to_owned(),
                says: StageRemark::Shared { taken, given, with: "chumor".into() },
            };
            vec![
                shared("import", 227, 199),
                shared("clean", 199, 196),
                made("filter", 196, 28, "dropped 168"),
                made("type", 28, 28, "changed 28"),
                made("options", 28, 28, ""),
                made("late", 0, 0, "no records"),
                StageTableRow::due_stage("final", "stale", "votes changed".into()),
                StageTableRow::due_stage("pair", "depends", "fresh if".into()),
                StageTableRow::due_stage("review:pair", "depends", "fresh if".into()),
            ]
        };
        insta::assert_snapshot!(table(false, rows()), @r"
        flub                                   in        out  changed or left out
          2 stages to clean                   227        196  as in chumor
          filter                              196         28  dropped 168
          2 stages to options                  28         28  none left out
          late                                  0          0  no records
          final                             stale  votes changed
          2 stages to review:pair         depends  fresh if
        ");
        assert_eq!(table(true, rows()).lines().count(), 10);
        assert_eq!(table(false, Vec::new()), "", "no stage, no heading");
    }

    #[test]
    fn a_slow_stage_has_its_time_and_a_row() {
        let slow = |stage: &str, secs| {
            let mut row = made(stage, 5, 5, "");
            if let StageRemark::Made { took, .. } = &mut row.says {
                *took = Duration::from_secs(secs);
            }
            row
        };
        let table = table(false, vec![slow("clean", 0), slow("dedup", 12), slow("type", 2)]);
        let ends: Vec<&str> = table.lines().skip(1).map(|line| line[54.min(line.len())..].trim()).collect();
        assert_eq!(ends, ["", "12.0 s", "2.0 s"], "{table}");
    }

    proptest! {
        /// No stage is lost, in whatever rows it is.
        #[test]
        fn every_stage_is_counted_once(numbers in prop::collection::vec((0u64..3, 0u64..3), 0..20)) {
            let rows = numbers.iter().map(|(taken, given)| made("s", *taken, *given, "")).collect();
            let shown = table(false, rows);
            let stages = |line: &str| match line.trim_start().split_once(" stages to ") {
                Some((n, _)) => n.parse().unwrap(),
                None => 1,
            };
            prop_assert_eq!(shown.lines().skip(1).map(stages).sum::<usize>(), numbers.len());
            prop_assert!(shown.lines().all(|line| count_columns(line) <= 80));
        }
    }
}
