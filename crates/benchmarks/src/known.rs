//! The names that expressions over a record may use at each step.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use riddlemill_text::hint::unknown;

use crate::ballot_source::DRAFTED;
use crate::benchmark::{Benchmark, Step, StepKind};
use crate::draft::Draft;
use crate::expression::Expression;
use crate::native::NativeStep;
use crate::option_steps::{CHOSEN, ELEMENT, Elements};
use crate::reader::Problem;
use crate::requirement::BESIDE;
use crate::scope::group_name;
use crate::selecting::Select;

/// The names of every record.
const POST: [&str; 14] = [
    "kind", "text", "title", "content", "time", "score", "number", "note", "source", "file", "position",
    "licence", "author", "language",
];
/// Reserved names, which no step, ballot or field of a benchmark may have.
const TAKEN: [&str; 8] = ["id", "text", "post", "table", "settings", "number", "standing", "this"];
/// Names that a ballot adds to its fields.
const DECIDED: [&str; 8] = ["standing", "basis", "given", "tally", "draft", "draft_basis", "drafts", "flags"];

/// The names of an expression that are not among these.
fn find_unknown_names(known: &BTreeMap<String, Vec<String>>, expression: &Expression) -> Vec<String> {
    let mut found = Vec::new();
    for path in expression.used_paths() {
        let mut parts = path.split('.');
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        match (known.get(first), second) {
            (None, _) if expression.is_call_or_setting(first) => {}
            (None, _) => found.push(unknown("name", first, known.keys().map(String::as_str))),
            (Some(fields), Some(second)) if !fields.is_empty() && !fields.iter().any(|f| f == second) => {
                found.push(unknown(&format!("field of {first}"), second, fields.iter().map(String::as_str)));
            }
            _ => {}
        }
    }
    found
}

/// A value of a record that is a text, beside a number that it is compared with: texts come behind all numbers, so that the
/// comparison has one result for every record.
static TEXT_AND_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let text =
        r"(?:table\.\w+|post\.(?:kind|text|title|content|note|source|file|licence|author|language)|text|id)";
    let (compares, number) = (r"\s*(?:[<>]=?|[=!]=)\s*", r"-?\d+(?:\.\d+)?");
    Regex::new(&format!(
        r"(?:^|[^\w.|\s])\s*(?P<left>{text}){compares}{number}|{number}{compares}(?P<right>{text})\s*(?:$|[^\w.|(\s])"
    ))
    .expect("a constant pattern")
});

/// A text that is compared with a number as it is.
fn find_text_as_number(expression: &Expression) -> Option<String> {
    // Words that stand between values, and texts, say nothing of values.
    let outside = expression.source().split(['\'', '"']).step_by(2).collect::<Vec<_>>().join("''");
    let outside =
        outside.replace(" and ", " & ").replace(" or ", " & ").replace("not ", "& ").replace(" if ", " & ");
    let found = TEXT_AND_NUMBER.captures(&outside)?;
    let text = found.name("left").or_else(|| found.name("right"))?.as_str();
    Some(format!(
        "{text} is a text, and no text is less or more than a number\n  hint: `{text} | float`, or `{text} | length` for how long it is"
    ))
}

/// What a requirement uses through `[fields]` and is not there when it is looked at: a field that it names itself is reported
/// as every other name.
fn too_early(
    known: &BTreeMap<String, Vec<String>>,
    requirement: &Expression,
    fields: &[(&'static str, Expression)],
) -> Vec<Problem> {
    let of_field = |(name, field): (&'static str, &Expression)| {
        let told = find_unknown_names(known, field).into_iter().next()?;
        let what = told.lines().next().unwrap_or_default().to_owned();
        Some(Problem {
            place: requirement.place().to_owned(),
            what: format!(
                "the field {name:?} is over what is not there when this is required: {what}\n  hint: write out what it stands for"
            ),
        })
    };
    crate::fingerprint::find_used_fields(std::iter::once(requirement), fields)
        .into_iter()
        .filter_map(of_field)
        .collect()
}

/// These names, and more that are not looked into.
fn extend_names(known: &BTreeMap<String, Vec<String>>, more: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut known = known.clone();
    known.extend(more.iter().map(|name| ((*name).to_owned(), Vec::new())));
    known
}

impl Benchmark {
    /// Names in expressions over its records that no earlier step adds, each with its place. `leaves` returns
    /// the names added by a named operation; after an unknown operation every name is accepted.
    pub fn unknown_names(&self, leaves: impl Fn(&NativeStep) -> Option<Vec<&'static str>>) -> Vec<Problem> {
        unknown_names(self, &leaves)
    }
}

/// The groups that records of other benchmarks have where a step reads them: those of their steps up to there.
fn foreign_groups(step: &Step, seen: &mut Vec<&'static str>) -> Vec<String> {
    let mut found = Vec::new();
    for (other, last) in step.from.iter().filter_map(|input| input.split_once('/')) {
        let Some(other) = crate::find_benchmark(other).filter(|other| !seen.contains(&other.name)) else {
            continue;
        };
        seen.push(other.name);
        let read = other.steps.iter().position(|known| known.name == last).map_or(0, |place| place + 1);
        for step in other.steps[..read].iter().filter(|step| step.records.is_none()) {
            found.extend(foreign_groups(step, seen));
            let native = || other.natives.iter().find(|native| native.name == step.name);
            let group = match step.kind {
                StepKind::Draft(name) | StepKind::Ballot(name) => Some(name),
                StepKind::Options | StepKind::Elements => Some(step.name),
                StepKind::Native(_) => native().map(NativeStep::findings_group),
                _ => None,
            };
            found.extend(group.map(group_name));
        }
    }
    found
}

fn unknown_names(
    benchmark: &Benchmark,
    leaves: &dyn Fn(&NativeStep) -> Option<Vec<&'static str>>,
) -> Vec<Problem> {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let of = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    known.insert("post".into(), of(&POST));
    // Which further columns a table has depends on the workspace.
    for name in ["id", "text", "table"] {
        known.insert(name.into(), Vec::new());
    }
    for (name, _) in benchmark.fields() {
        known.insert((*name).into(), Vec::new());
    }
    let mut problems = Vec::new();
    let file = format!("{}/benchmark.toml", benchmark.name);
    let groups = benchmark.steps.iter().map(|step| step.name.strip_prefix("review:").unwrap_or(step.name));
    let names = groups.map(group_name).chain(benchmark.fields().iter().map(|(name, _)| (*name).to_owned()));
    for name in names.filter(|name| TAKEN.contains(&name.as_str())) {
        let what = format!("the name {name:?} is taken: every record has it");
        problems.push(Problem { place: file.clone(), what });
    }
    let rests = benchmark.data.iter().flat_map(|data| &data.rests_on).map(|rests| rests.ballot);
    for ballot in rests.filter(|ballot| benchmark.find_ballot(ballot).is_none()) {
        let known = benchmark.ballots.steps.iter().map(|ballot| ballot.name);
        let what = format!("rests_on: {}", unknown("ballot", ballot, known));
        problems.push(Problem { place: format!("{file} [data]"), what });
    }
    let settings: BTreeMap<&str, Vec<&str>> =
        benchmark.own.declared.iter().fold(BTreeMap::new(), |mut all, own| {
            all.entry(own.section).or_insert_with(Vec::new).push(own.key.name);
            all
        });
    let mut misplaced = Vec::new();
    let mut check = |known: &BTreeMap<String, Vec<String>>, expression: &Expression| {
        for name in expression.used_settings() {
            let (section, key) = name.split_once('.').unwrap_or((&name, ""));
            let what = match settings.get(section) {
                None => unknown("table of [setting]", section, settings.keys().copied()),
                Some(keys) if !key.is_empty() && !keys.contains(&key) => {
                    unknown(&format!("key of [setting.{section}]"), key, keys.iter().copied())
                }
                Some(_) => continue,
            };
            problems.push(Problem { place: expression.place().to_owned(), what });
        }
        for what in find_unknown_names(known, expression).into_iter().chain(find_text_as_number(expression)) {
            problems.push(Problem { place: expression.place().to_owned(), what });
        }
    };
    for step in &benchmark.steps {
        // Which fields they have is said by the folder that makes them.
        let brought = foreign_groups(step, &mut vec![benchmark.name]);
        known.extend(brought.into_iter().map(|group| (group, Vec::new())));
        if let Some(draft) = benchmark.drafts.iter().find(|draft| draft.name == step.name) {
            draft.asked_with().for_each(|(e, more)| check(&extend_names(&known, more), e));
            // What a native reader leaves is known to the program.
            let native = draft.cases.iter().any(|case| case.reading.filled_fields().is_none());
            for (e, more) in draft.reply_conditions() {
                let mut told = extend_names(&known, more);
                if !native && draft.responds.is_empty() {
                    let fields = draft.filled_fields().into_iter().map(str::to_owned);
                    told.insert(DRAFTED.into(), fields.collect());
                }
                check(&told, e);
                misplaced.extend(too_early(&extend_names(&known, more), e, benchmark.fields()));
            }
            let fields = draft.filled_fields().into_iter().map(str::to_owned);
            match draft.ballot {
                _ if !draft.responds.is_empty() => {
                    known
                        .insert(group_name(draft.name), draft.answered_fields().map(str::to_owned).collect());
                }
                Some(ballot) => known.entry(group_name(ballot)).or_default().extend(of(&[
                    "draft",
                    "draft_basis",
                    "drafts",
                    "flags",
                ])),
                None if draft.over.is_some() => {
                    known.insert(group_name(draft.name), of(&["each", "basis", "flags"]));
                }
                None => {
                    let all = fields.chain(of(&["basis", "flags", "drafts"]));
                    known.insert(group_name(draft.name), if native { Vec::new() } else { all.collect() });
                }
            }
            draft.said_with().for_each(|(e, more)| check(&extend_names(&known, more), e));
        }
        match step.kind {
            StepKind::Ballot(name) => {
                let Some(ballot) = benchmark.find_ballot(name) else { continue };
                let over = ballot.asked.is_some_and(|asked| asked.over.is_some());
                let drafts_each = |draft: &Draft| draft.ballot == Some(name) && draft.over.is_some();
                let drafted = benchmark.drafts.iter().find(|draft| drafts_each(draft));
                for (e, more) in ballot.asked.iter().flat_map(|asked| asked.asked_with()) {
                    let mut shown = extend_names(&known, more);
                    if let Some(draft) = drafted.filter(|_| !more.is_empty()) {
                        let own = of(&["it", "called", "basis", "flags", "drafts"]).into_iter();
                        let fields = draft.filled_fields().into_iter().map(str::to_owned);
                        let native = draft.cases.iter().any(|case| case.reading.filled_fields().is_none());
                        let all = if native { Vec::new() } else { own.chain(fields).collect() };
                        shown.insert(DRAFTED.into(), all);
                    }
                    check(&shown, e);
                }
                let unexpected = ballot.asked.iter().flat_map(|asked| asked.of_columns());
                unexpected.for_each(|(key, e)| {
                    let what = format!(
                        "`{key}` is for records with columns: what is decided is in the group {:?}",
                        group_name(name)
                    );
                    misplaced.push(Problem { place: e.place().to_owned(), what });
                });
                let second = || ballot.review.iter().flat_map(|second| &second.fields);
                let fields = ballot.fields.iter().chain(second()).map(|field| group_name(field.name));
                let left: Vec<String> = match over {
                    true => of(&["each", "standing", "basis", "draft", "draft_basis", "flags"]),
                    false => fields.chain(of(&DECIDED)).collect(),
                };
                if !over {
                    // What people decided has these beside the answers.
                    let answers = ballot.fields.iter().chain(second()).map(|field| field.name);
                    for field in answers.filter(|field| DECIDED.contains(field)) {
                        misplaced.push(Problem {
                            place: format!("{}/ballots.toml [ballot.{name}]", benchmark.name),
                            what: format!(
                                "the name {field:?} is taken: what is decided has it beside its answers"
                            ),
                        });
                    }
                }
                known.insert(group_name(name), left);
                let mut answered = extend_names(&known, if over { &["it"] } else { &[] });
                let answers = ballot.fields.iter().chain(second()).map(|field| group_name(field.name));
                answered.insert(group_name(name), answers.chain(of(&BESIDE)).collect());
                for e in ballot.asked.iter().flat_map(|asked| asked.answer_conditions()) {
                    check(&answered, e);
                    misplaced.extend(too_early(&answered, e, benchmark.fields()));
                }
            }
            StepKind::Options => {
                if let Some(options) = benchmark.options.iter().find(|options| options.name == step.name) {
                    [&options.right, &options.wrong].into_iter().for_each(|e| check(&known, e));
                }
                known.insert(group_name(step.name), of(&CHOSEN));
            }
            StepKind::Native(_) => {
                let Some(native) = benchmark.natives.iter().find(|native| native.name == step.name) else {
                    continue;
                };
                native.input_expressions().for_each(|e| check(&known, e));
                let fields = match (native.ballot, leaves(native)) {
                    (Some(_), _) => of(&["draft", "draft_basis"]),
                    (None, Some(fields)) if fields.is_empty() => continue,
                    (None, fields) => of(&fields.unwrap_or_default()),
                };
                known.entry(group_name(native.findings_group())).or_default().extend(fields);
            }
            StepKind::Select => {
                let select = benchmark.selects.iter().filter(|select| select.name == step.name);
                select.flat_map(Select::record_expressions).for_each(|e| check(&known, e));
            }
            StepKind::Elements => {
                let elements = benchmark.elements.iter().filter(|elements| elements.name == step.name);
                elements
                    .flat_map(Elements::record_expressions)
                    .for_each(|(e, more)| check(&extend_names(&known, more), e));
                known.insert(group_name(step.name), of(&ELEMENT));
            }
            _ => {}
        }
    }
    for (at, (_, field)) in benchmark.fields().iter().enumerate() {
        // Each uses those before it.
        let mut before = known.clone();
        benchmark.fields()[at..].iter().for_each(|(name, _)| drop(before.remove(*name)));
        check(&before, field);
    }
    let report = &benchmark.report;
    known.insert("source_kind".into(), Vec::new());
    let of_figures = report
        .figures
        .iter()
        .flat_map(|figure| figure.record_expressions().into_iter().chain(figure.of_last()));
    report.parts.iter().map(|part| &part.of).chain(of_figures).for_each(|e| check(&known, e));
    if let Some(data) = &benchmark.data {
        if let Some(crate::data::ItemNumber::Own(series)) = &data.number {
            [&series.series, &series.key, &series.text].into_iter().for_each(|e| check(&known, e));
        }
        if data.rests_on.is_empty()
            && data.columns.iter().chain(&data.sometimes).any(|column| column.is.names().contains("standing"))
        {
            let ballots: Vec<String> =
                benchmark.ballots.steps.iter().map(|ballot| format!("{:?}", ballot.name)).collect();
            let hint = match ballots.is_empty() {
                true => "no ballot decides about these rows: leave the column out".to_owned(),
                false => format!("`rests_on = [{}]` beside `about`", ballots.join(", ")),
            };
            let what = format!("nothing says on which ballots the standing of a row rests\n  hint: {hint}");
            misplaced.push(Problem { place: format!("{file} [data]"), what });
        }
        for name in ["number", "standing", "source_kind", "source_id"] {
            known.insert(name.into(), Vec::new());
        }
        let columns = data.columns.iter().chain(&data.sometimes).map(|column| &column.is);
        let released: Vec<&Expression> = columns.chain(&data.when).collect();
        released.iter().for_each(|e| check(&known, e));
        // A release must be restorable whatever the settings are by then.
        let fields = crate::fingerprint::find_used_fields(released.iter().copied(), benchmark.fields());
        for expression in released.into_iter().chain(fields.into_iter().map(|(_, field)| field)) {
            if expression.used_settings().next().is_some() {
                let what =
                    "what is released follows from the record alone: let a step leave what a setting decides";
                problems.push(Problem { place: expression.place().to_owned(), what: what.to_owned() });
            }
        }
    }
    problems.extend(misplaced);
    problems
}
