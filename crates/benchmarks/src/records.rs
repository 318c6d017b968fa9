//! Checks of the columns that drafts, ballots, operations and reports name, against the kinds of records they work on.

use riddlemill_text::hint::unknown;

use crate::ballot::Ballot;
use crate::draft::Draft;
use crate::expression::{Expression, ScopedExpression};
use crate::figure::Report;
use crate::native::NativeStep;
use crate::option_steps::{CHOSEN, Options};
use crate::reader::Problem;
use crate::record_kind::RecordKind;
use crate::scope::REPLIED;
use crate::selecting::Select;

/// Where findings of drafts and ballots go.
const FLAGS: &str = "flags";

/// Names in a ballot's expressions in addition to columns; `it` in those over an element of its list.
const SHOWN: [&str; 2] = ["blind", "found"];
/// Names for the decision in a ballot's expressions.
const SAID: [&str; 6] = ["said", "given", "decisions", "standing", "basis", "it"];

/// Unknown columns used by a draft.
pub(crate) fn unknown_to_draft(fields: &[(&'static str, Expression)], draft: &Draft) -> Vec<Problem> {
    let keeps = (draft.leaves, draft.keeps.as_slice());
    let named = draft.asked_with().chain(draft.said_with()).chain(draft.reply_conditions());
    let mut problems = unknown_to_step(draft.records, fields, named, keeps);
    let checks = draft.check_expressions().next().is_some() || !draft.discards.is_empty();
    if let Some(kind) = draft.leaves.filter(|kind| checks && !has_column(kind, FLAGS)) {
        let what = format!("[columns.{}] has no list {FLAGS:?}, where findings go", kind.name);
        problems.push(Problem {
            place: format!("{}/benchmark.toml [step.{}]", draft.benchmark, draft.name),
            what,
        });
    }
    problems
}

fn has_column(kind: &RecordKind, column: &str) -> bool {
    kind.columns.iter().any(|known| known.name == column)
}

/// Unknown columns used by an operation's step.
pub(crate) fn unknown_to_native(fields: &[(&'static str, Expression)], native: &NativeStep) -> Vec<Problem> {
    let keeps = (native.records, native.keeps.as_slice());
    let asked = native.input_expressions().map(|asked| (asked, &[] as &[&str]));
    let over_findings = native.over_findings().map(|expression| (expression, &REPLIED as &[&str]));
    unknown_to_step(native.records, fields, asked.chain(over_findings), keeps)
}

/// Unknown columns used by a step that orders options.
pub(crate) fn unknown_to_options(fields: &[(&'static str, Expression)], options: &Options) -> Vec<Problem> {
    let asked = [&options.right, &options.wrong].map(|asked| (asked, &[] as &[&str]));
    let kept = options.keeps.iter().map(|(_, kept)| (kept, &["said"] as &[&str]));
    let keeps = (options.records, options.keeps.as_slice());
    let mut problems = unknown_to_step(options.records, fields, asked.into_iter().chain(kept), keeps);
    for (_, kept) in &options.keeps {
        let fields =
            kept.used_paths().into_iter().filter_map(|path| Some(path.strip_prefix("said.")?.to_owned()));
        let unknown = fields.filter(|field| !CHOSEN.contains(&field.as_str()));
        problems.extend(unknown.map(|field| Problem {
            place: kept.place().to_owned(),
            what: riddlemill_text::hint::unknown("field of options", &field, CHOSEN),
        }));
    }
    problems
}

/// Unknown columns used by a step that drops or holds records.
pub(crate) fn unknown_to_select(fields: &[(&'static str, Expression)], select: &Select) -> Vec<Problem> {
    let named = select.record_expressions().map(|expression| (expression, &[] as &[&str]));
    unknown_to_step(select.records, fields, named, (None, [].as_slice()))
}

/// Unknown columns used by a step, in its expressions, each with what else it may name, and as their targets.
fn unknown_to_step<'e>(
    records: Option<&'static RecordKind>,
    fields: &[(&'static str, Expression)],
    named: impl Iterator<Item = ScopedExpression<'e>>,
    (kind, keeps): (Option<&'static RecordKind>, &[(&'static str, Expression)]),
) -> Vec<Problem> {
    let Some(known) = records.map(|kind| kind.columns) else { return Vec::new() };
    let names = || known.iter().map(|column| column.name).chain(fields.iter().map(|(name, _)| *name));
    let problem =
        |e: &Expression, what: Option<String>| what.map(|what| Problem { place: e.place().to_owned(), what });
    let named = named.filter_map(|(e, more)| {
        problem(e, e.find_unknown_name("column", names().chain(more.iter().copied())))
    });
    let columns = kind.map(|kind| kind.columns).unwrap_or_default();
    let unexpected = keeps.iter().filter(|(column, _)| !columns.iter().any(|known| known.name == *column));
    let unexpected = unexpected.filter_map(|(column, e)| {
        problem(e, Some(unknown("column", column, columns.iter().map(|column| column.name))))
    });
    named.chain(unexpected).collect()
}

/// Columns that the records of a benchmark have not, where its report names them.
/// `at` gives the kind of records behind a step, or behind the last one.
pub(crate) fn unknown_to_report(
    report: &Report,
    fields: &[(&'static str, Expression)],
    at: impl Fn(Option<&str>) -> Option<&'static RecordKind>,
) -> Vec<Problem> {
    let fields = || fields.iter().map(|(name, _)| *name);
    let mut problems = Vec::new();
    let mut check = |kind: Option<&RecordKind>, asked: &Expression| {
        let Some(columns) = kind.map(|kind| kind.columns) else { return };
        let known = || columns.iter().map(|column| column.name).chain(fields()).chain(["source_kind"]);
        let unexpected = asked.find_unknown_name("column", known());
        problems.extend(unexpected.map(|what| Problem { place: asked.place().to_owned(), what }));
    };
    report.parts.iter().for_each(|part| check(at(None), &part.of));
    for figure in &report.figures {
        let kind = figure.records.or_else(|| at(figure.step));
        figure.record_expressions().into_iter().for_each(|asked| check(kind, asked));
        figure.of_last().into_iter().for_each(|asked| check(at(None), asked));
    }
    problems
}

/// Columns that the records of a benchmark have not, where its ballots name them.
pub(crate) fn unknown_columns(
    kind: &RecordKind,
    fields: &[(&'static str, Expression)],
    ballots: &[Ballot],
) -> Vec<Problem> {
    let columns = || kind.columns.iter().map(|column| column.name);
    let fields = || fields.iter().map(|(name, _)| *name);
    let mut problems = Vec::new();
    for ballot in ballots {
        let Some(asked) = ballot.asked else { continue };
        let problem = |e: &Expression, what: Option<String>| {
            what.map(|what| Problem { place: e.place().to_owned(), what })
        };
        for (e, more) in asked.asked_with() {
            let known = columns().chain(fields()).chain(SHOWN).chain(more.iter().copied());
            problems.extend(problem(e, e.find_unknown_name("column", known)));
        }
        for e in asked.decision_expressions() {
            problems.extend(problem(e, e.find_unknown_name("column", columns().chain(fields()).chain(SAID))));
        }
        for e in asked.answer_conditions() {
            let known = columns().chain(fields()).chain(["it", asked.group]);
            problems.extend(problem(e, e.find_unknown_name("column", known)));
        }
        for (column, e) in asked.keeps.iter().filter(|(column, _)| !columns().any(|known| known == *column)) {
            problems.extend(problem(e, Some(unknown("column", column, columns()))));
        }
        for column in ["status", "basis"].map(|end| format!("{}_{end}", asked.standing)) {
            if !columns().any(|known| known == column) {
                let place = format!("{}/ballots.toml [ballot.{}]", ballot.recipe, ballot.name);
                problems.push(Problem { place, what: unknown("column", &column, columns()) });
            }
        }
    }
    problems
}
