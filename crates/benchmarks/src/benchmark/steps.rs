//! The steps of a benchmark.

use super::cross_refs::Others;
use super::{Step, StepKind};
use crate::ballot::reader::Ballots;
use crate::draft::{Draft, TablePlace};
use crate::native::NativeStep;
use crate::option_steps::{Elements, Marked, Options};
use crate::reader::Keys;
use crate::record_kind::{self, RecordKind};
use crate::selecting::Select;

/// Declarations in the steps' tables in addition to their kind.
#[derive(Default)]
pub(super) struct StepTables {
    pub(super) drafts: Vec<Draft>,
    pub(super) options: Vec<Options>,
    pub(super) marked: Vec<Marked>,
    pub(super) natives: Vec<NativeStep>,
    pub(super) selects: Vec<Select>,
    pub(super) elements: Vec<Elements>,
}

/// Inputs that are not earlier steps.
pub(super) fn parse_inputs(keys: &Keys<'_>) -> Vec<&'static str> {
    keys.peek_named_tables("step", |_, keys| keys.read_texts("from").unwrap_or_default())
}

/// The steps by the names in `steps`: text steps and `review:BALLOT` need no table, others declare their
/// kind.
pub(super) fn parse_steps(
    ballots: Option<&Ballots>,
    at: &TablePlace<'_>,
    others: &Others,
    keys: &Keys<'_>,
    tables: &mut StepTables,
) -> Vec<Step> {
    if !keys.has_key("steps") {
        keys.require_text("steps");
    }
    let names = keys.read_texts("steps").unwrap_or_default();
    // The kind of the records before a step.
    let before = |place: usize| match place.checked_sub(1).and_then(|last| names.get(last)) {
        Some(step) => others.kind_behind_step(at.benchmark, step),
        None => at.records,
    };
    let declared = keys.read_named_tables("step", |name, keys| {
        let place = names.iter().position(|step| *step == name);
        if place.is_none() {
            keys.report_problem("kind", riddlemill_text::hint::unknown("step", name, names.iter().copied()));
        }
        let leaves = keys
            .read_text("records")
            .and_then(|kind| record_kind::find_kind(kind, others.known_kinds(at.benchmark), keys));
        let foreign =
            keys.read_texts("from").unwrap_or_default().first().and_then(|input| input.split_once('/'));
        let records = match foreign {
            Some((other, step)) => others.kind_behind_step(other, step),
            None => before(place.unwrap_or_default()),
        };
        (name, kind_and_input(&TablePlace { name, records, ..*at }, ballots, leaves, keys, tables))
    });
    let benchmark = at.benchmark;
    let mut steps: Vec<Step> = Vec::new();
    for name in names.iter().copied() {
        if steps.iter().any(|step| step.name == name) {
            keys.report_problem("steps", format!("two steps are named {name:?}"));
            continue;
        }
        let (kind, from) = match declared.iter().find(|(step, _)| *step == name) {
            Some((_, (kind, from))) => (*kind, from.clone()),
            None => (None, None),
        };
        let Some(kind) = kind.or_else(|| kind_without_table(name)) else {
            keys.report_problem("steps", format!("[step.{name}] is missing: what the step {name:?} does"));
            continue;
        };
        if let (StepKind::Ballot(ballot), Some(ballots)) = (kind, ballots)
            && !ballots.steps.iter().any(|step| step.name == ballot)
        {
            let known = ballots.steps.iter().map(|step| step.name);
            keys.report_problem("steps", riddlemill_text::hint::unknown("ballot", ballot, known));
        }
        if kind == StepKind::Options && !tables.options.iter().any(|options| options.name == name) {
            let records = others.kind_behind_step(benchmark, name);
            tables.options.extend(TablePlace { name, records, ..*at }.usual_options());
        }
        let last = || steps.last().map(|step| step.name).into_iter().collect();
        let from = from.unwrap_or_else(last);
        for input in from.iter().filter(|input| !input.contains('/')) {
            if !steps.iter().any(|step| step.name == *input) {
                keys.report_problem(
                    "steps",
                    format!("{name:?} reads {input:?}, which is not an earlier step"),
                );
            }
        }
        steps.push(Step { name, kind, from, records: others.kind_behind_step(benchmark, name) });
    }
    if let Some(ballots) = ballots {
        for ballot in ballots
            .steps
            .iter()
            .filter(|ballot| !steps.iter().any(|step| step.kind == StepKind::Ballot(ballot.name)))
        {
            keys.report_problem(
                "steps",
                format!("the ballot {:?} is of no step; name `review:{}`", ballot.name, ballot.name),
            );
        }
    }
    steps
}

/// The kind of a step without a table.
fn kind_without_table(name: &'static str) -> Option<StepKind> {
    match name {
        "import" => Some(StepKind::Import),
        "clean" => Some(StepKind::Clean),
        "anonymise" => Some(StepKind::Anonymise),
        "filter" => Some(StepKind::Filter),
        "dedup" => Some(StepKind::Dedup),
        "options" => Some(StepKind::Options),
        _ => name.strip_prefix("review:").map(StepKind::Ballot),
    }
}

/// A step's table: its kind, and its input if that is not the step before.
fn kind_and_input(
    at: &TablePlace<'_>,
    ballots: Option<&Ballots>,
    leaves: Option<&'static RecordKind>,
    keys: &Keys<'_>,
    tables: &mut StepTables,
) -> (Option<StepKind>, Option<Vec<&'static str>>) {
    #[derive(Clone, Copy)]
    enum StepKeyword {
        Draft,
        Respond,
        Options,
        Native,
        Select,
        Elements,
    }
    if at.name == "anonymise" && keys.has_key("texts") {
        tables.marked.push(at.parse_marked_texts(keys));
        return (None, keys.read_texts("from"));
    }
    let words = [
        ("draft", StepKeyword::Draft),
        ("respond", StepKeyword::Respond),
        ("options", StepKeyword::Options),
        ("native", StepKeyword::Native),
        ("select", StepKeyword::Select),
        ("elements", StepKeyword::Elements),
    ];
    let kind = match keys.one_of("kind", &words) {
        Some(StepKeyword::Draft) => {
            let ballot = ballot_of(ballots, keys);
            // Without a prompt it is a draft made by the program.
            if ["prompt", "case", "reply"].into_iter().any(|key| keys.has_key(key)) {
                tables.drafts.extend(at.parse_draft(ballots, at.records, false, keys));
            }
            Some(StepKind::Draft(ballot.unwrap_or(at.name)))
        }
        Some(StepKeyword::Respond) => {
            tables.drafts.extend(at.parse_draft(ballots, leaves, true, keys));
            Some(StepKind::Draft(at.name))
        }
        Some(StepKeyword::Options) => {
            if keys.has_key("right") || keys.has_key("wrong") {
                tables.options.extend(at.parse_options(keys));
            }
            Some(StepKind::Options)
        }
        Some(StepKeyword::Native) => {
            ballot_of(ballots, keys);
            let leaves = leaves.or(at.records);
            let op = keys.require_text("op");
            tables.natives.push(at.parse_native(op, leaves, keys));
            Some(StepKind::Native(op))
        }
        Some(StepKeyword::Select) => {
            tables.selects.extend(at.parse_select(keys));
            Some(StepKind::Select)
        }
        Some(StepKeyword::Elements) => {
            tables.elements.extend(at.parse_elements(keys));
            Some(StepKind::Elements)
        }
        None => None,
    };
    (kind, keys.read_texts("from"))
}

/// The ballot for which a step drafts; an unknown one is reported.
fn ballot_of(ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<&'static str> {
    let ballot = keys.read_text("for")?;
    if let Some(ballots) = ballots
        && !ballots.steps.iter().any(|step| step.name == ballot)
    {
        let known = ballots.steps.iter().map(|step| step.name);
        keys.report_problem("for", riddlemill_text::hint::unknown("ballot", ballot, known));
    }
    Some(ballot)
}
