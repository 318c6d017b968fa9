//! Reports mistakes of a folder in the operations that it names.

use riddlemill_benchmarks::native::{KEYS, NativeStep as Declared};
use riddlemill_benchmarks::{Benchmark, find_benchmark};

use super::{OPERATIONS, Operation, RecordShape, Records, SettingForm, rows_of};
use crate::config::{Problem, unknown};
use crate::stages;
use crate::stages::context::StageRows;

/// Every problem with the operations of a benchmark, each with its place.
pub fn find_problems(benchmark: &'static Benchmark) -> Vec<Problem> {
    let mut problems = Vec::new();
    for declared in &benchmark.natives {
        match Operation::find_operation(declared.op) {
            Some(op) => {
                check_records(benchmark, declared, op, &mut problems);
                check_fields(declared, op, &mut problems);
                check_settings(declared, op, &mut problems);
            }
            None => {
                let known = OPERATIONS.iter().map(|op| op.name);
                let what = unknown("operation", declared.op, known);
                problems.push(Problem { place: declared.place.clone(), what });
            }
        }
    }
    problems
}

fn problem_of_step(declared: &Declared, what: String) -> Problem {
    Problem { place: declared.place.clone(), what }
}

/// Records that the operation cannot work on.
fn check_records(
    benchmark: &'static Benchmark,
    declared: &Declared,
    op: &Operation,
    problems: &mut Vec<Problem>,
) {
    let (name, leaves) = (op.name, rows_of(declared));
    let step = benchmark.steps.iter().find(|step| step.name == declared.name);
    let input = |input: &&str| match input.split_once('/') {
        Some((other, step)) => rows_of_step(find_benchmark(other)?, step),
        None => rows_of_step(benchmark, input),
    };
    let come: Vec<StageRows> = step.iter().flat_map(|step| &step.from).filter_map(input).collect();
    let hint = match op.of_declared {
        "" => String::new(),
        what => format!("\n  hint: {what}"),
    };
    let of_declared = |rows: StageRows| if rows == StageRows::Groups { hint.as_str() } else { "" };
    let listed = |shapes: &[RecordShape]| {
        shapes.iter().map(|shape| shape.shape_name()).collect::<Vec<_>>().join(" or ")
    };
    match op.records {
        Records::Made { of, into } => {
            if !into.iter().any(|shape| shape.is_of(leaves)) {
                let what = format!(
                    "{name:?} makes {}, but the records of this step are {}{}{}",
                    listed(into),
                    leaves.name(),
                    lacking_columns(into, leaves),
                    of_declared(leaves)
                );
                problems.push(problem_of_step(declared, what));
            }
            for rows in come.iter().filter(|rows| !of.iter().any(|shape| shape.is_of(**rows))) {
                let what = format!(
                    "{name:?} reads {}, but its input is {}{}{}",
                    listed(of),
                    rows.name(),
                    lacking_columns(of, *rows),
                    of_declared(*rows)
                );
                problems.push(problem_of_step(declared, what));
            }
        }
        Records::AsTheyCome => {
            let posts_too = leaves == StageRows::Groups;
            let unexpected =
                |rows: &&StageRows| **rows != leaves && !(posts_too && **rows == StageRows::Posts);
            for rows in come.iter().filter(unexpected) {
                let what = format!("{name:?} returns {}, but its input is {}", leaves.name(), rows.name());
                problems.push(problem_of_step(declared, what));
            }
        }
    }
}

/// The columns that a kind has not, where it has others of a shape.
fn lacking_columns(shapes: &[RecordShape], rows: StageRows) -> String {
    let StageRows::Kind(_) = rows else { return String::new() };
    let missing = |shape: &RecordShape| -> Vec<&'static str> {
        let RecordShape::Columns(columns) = shape else { return Vec::new() };
        columns.iter().copied().filter(|column| !rows.has_column(column)).collect()
    };
    let least = shapes.iter().map(missing).filter(|missing| !missing.is_empty()).min_by_key(Vec::len);
    least.map_or_else(String::new, |missing| format!(", without {}", missing.join(", ")))
}

fn rows_of_step(benchmark: &'static Benchmark, step: &str) -> Option<StageRows> {
    let step = benchmark.steps.iter().find(|known| known.name == step)?;
    Some(stages::declared_stage(benchmark, step)?.rows())
}

/// Parts of a record that an operation reads or returns differently from the step's declaration.
fn check_fields(declared: &Declared, op: &Operation, problems: &mut Vec<Problem>) {
    let name = op.name;
    for (with, is) in &declared.with {
        if !op.inputs.iter().any(|input| input.name == *with) {
            let known = op.inputs.iter().map(|input| input.name);
            let what = unknown(&format!("value that {name:?} takes"), with, known);
            problems.push(Problem { place: is.place().to_owned(), what });
        }
    }
    for input in op.inputs.iter().filter(|input| input.needed && declared.find_input(input.name).is_none()) {
        let what = format!("`with` does not give {:?}, which {name:?} needs", input.name);
        problems.push(problem_of_step(declared, what));
    }
    if matches!(op.records, Records::Made { .. }) {
        let declared_keys = [
            ("when", declared.when.is_some()),
            ("for", declared.ballot.is_some()),
            ("keeps", !declared.keeps.is_empty()),
        ];
        for (key, _) in declared_keys.iter().filter(|(_, is_there)| *is_there) {
            problems
                .push(problem_of_step(declared, format!("{name:?} has no `{key}`: it makes whole records")));
        }
        return;
    }
    if !op.gives.is_empty() && declared.records.is_some() && declared.keeps.is_empty() {
        let gives = op.gives.join(", ");
        let what = format!("`keeps` is missing: the columns that get what {name:?} finds ({gives})");
        problems.push(problem_of_step(declared, what));
    }
    for (_, is) in &declared.keeps {
        let fields =
            is.used_paths().into_iter().filter_map(|path| path.strip_prefix("said.").map(str::to_owned));
        for field in fields.filter(|field| !op.gives.contains(&field.as_str())) {
            let what = unknown(&format!("field that {name:?} finds"), &field, op.gives.iter().copied());
            problems.push(Problem { place: is.place().to_owned(), what });
        }
    }
}

/// Settings in the step's table that it has not, or not so.
fn check_settings(declared: &Declared, op: &Operation, problems: &mut Vec<Problem>) {
    let name = op.name;
    for setting in &declared.settings {
        let form = op.settings.iter().find(|(key, _)| *key == setting.key).map(|(_, form)| *form);
        let what = match form {
            None => {
                let known = op.settings.iter().map(|(key, _)| *key).chain(KEYS);
                unknown(&format!("setting of {name:?}"), setting.key, known)
            }
            Some(SettingForm::Text) if setting.value.is_string() => continue,
            Some(SettingForm::Text) => format!("{}: expected a text", setting.key),
            Some(SettingForm::Count(least, most)) => {
                let fits = setting.value.as_u64().is_some_and(|count| (least..=most).contains(&count));
                if fits {
                    continue;
                }
                format!("{}: expected a whole number from {least} to {most}", setting.key)
            }
        };
        problems.push(Problem { place: setting.place.clone(), what });
    }
}
