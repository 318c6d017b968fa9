//! Reads folders.

use std::cell::RefCell;
use std::sync::Arc;

use super::cross_refs::{FolderFiles, OtherFolder, Others, find_file};
use super::steps::{StepTables, parse_inputs, parse_steps};
use super::{Benchmark, Prompt};
use crate::data::{self, ItemNumber};
use crate::draft::TablePlace;
use crate::figure::reader::{Declared, FigureNames, load_figures};
use crate::fingerprint::{self, Tables};
use crate::paper::{self, Cited, Paper};
use crate::reader::{Keys, Problem, Problems, parse_file};
use crate::table::reader::Context;
use crate::task::reader::{TaskReferences, parse_tasks};
use crate::{edition2, expression, record_kind, records, setting};
use riddlemill_record::OwnReason;

/// Reads benchmark folders: each by its name and files, a file by its path in the folder. `whole`: these are
/// all folders, so that references between them must resolve.
///
/// # Errors
/// All problems of all files.
pub fn load_benchmarks(sources: &[OtherFolder], whole: bool) -> Result<Vec<Benchmark>, Problems> {
    let mut problems = Vec::new();
    let mut folders: Vec<OtherFolder> = Vec::new();
    for (name, files) in sources {
        let (read, more) = edition2::read_folder(name, files);
        // A file that is no TOML says nothing of the others.
        if more.is_empty() || !read.is_empty() {
            folders.push((*name, read));
        }
        problems.extend(more);
    }
    // A value that does not fit is told once, by what it should be.
    let told = problems.len();
    let folders = folders.as_slice();
    let others = Others::collect(folders, whole, &mut problems);
    let mut read: Vec<(Benchmark, Option<&'static str>)> = Vec::new();
    for (name, files) in folders {
        match load_folder(name, files, &others) {
            Ok((benchmark, like)) => {
                let source =
                    sources.iter().find(|(known, _)| known == name).map_or(files, |(_, files)| files);
                let declared = hash_files(source);
                read.push((Benchmark { declared, files: source.clone(), ..benchmark }, like));
            }
            Err(more) => problems.extend(more.0),
        }
    }
    // Only of folders with a paper of their own: a reference to a reference is not followed.
    let papers: Vec<(&str, Paper)> =
        read.iter().filter(|(_, like)| like.is_none()).map(|(b, _)| (b.name, b.paper.clone())).collect();
    for (benchmark, like) in &mut read {
        let Some(other) = *like else { continue };
        match papers.iter().find(|(name, _)| *name == other) {
            Some((_, paper)) => benchmark.paper = paper.clone(),
            None => {
                let what = riddlemill_text::hint::unknown("benchmark", other, papers.iter().map(|(n, _)| *n));
                problems.push(Problem { place: place_of(benchmark, other), what });
            }
        }
    }
    let mut benchmarks: Vec<Benchmark> = read.into_iter().map(|(benchmark, _)| benchmark).collect();
    benchmarks.sort_by_key(|benchmark| (benchmark.order, benchmark.name));
    problems.extend(find_broken_references(&benchmarks));
    problems.extend(find_ambiguous_codes(&benchmarks));
    problems.extend(benchmarks.iter().filter_map(|b| Some((b, b.records?))).flat_map(|(benchmark, kind)| {
        let of_ballots = records::unknown_columns(kind, benchmark.fields(), &benchmark.ballots.steps);
        let of_drafts =
            benchmark.drafts.iter().flat_map(|draft| records::unknown_to_draft(benchmark.fields(), draft));
        let of_natives = benchmark
            .natives
            .iter()
            .flat_map(|native| records::unknown_to_native(benchmark.fields(), native));
        let of_selects = benchmark
            .selects
            .iter()
            .flat_map(|select| records::unknown_to_select(benchmark.fields(), select));
        let of_options =
            benchmark.options.iter().flat_map(|step| records::unknown_to_options(benchmark.fields(), step));
        let of_report = records::unknown_to_report(&benchmark.report, benchmark.fields(), |step| {
            let last = || benchmark.steps.last();
            step.map_or_else(last, |name| benchmark.steps.iter().find(|step| step.name == name))?.records
        });
        let of_steps = of_drafts.chain(of_natives).chain(of_selects).chain(of_options);
        of_ballots.into_iter().chain(of_steps).chain(of_report)
    }));
    let later = problems.split_off(told);
    let later = later.into_iter().filter(|problem| problems.iter().all(|other| other.place != problem.place));
    let later: Vec<Problem> = later.collect();
    problems.extend(later);
    problems.iter_mut().for_each(|problem| name_key(problem, sources));
    if problems.is_empty() { Ok(benchmarks) } else { Err(Problems(problems)) }
}

fn load_folder(
    name: &'static str,
    files: &FolderFiles,
    others: &Others,
) -> Result<(Benchmark, Option<&'static str>), Problems> {
    let place = format!("{name}/benchmark.toml");
    let Some(text) = find_file(files, "benchmark.toml") else {
        let what = "the folder has no benchmark.toml".to_owned();
        return Err(Problems(vec![Problem { place, what }]));
    };
    let mut tables = fingerprint::collect_tables(text, &["step", "published"]);
    tables.extend(fingerprint::collect_tables(
        find_file(files, "ballots.toml").unwrap_or_default(),
        &["ballot", "every"],
    ));
    let templates: Vec<(&str, &'static str)> = files
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("prompts/")?.strip_suffix(".jinja")?, *text)))
        .collect();
    let mut of_report = Vec::new();
    let at = (find_file(files, "report.toml"), &mut of_report);
    let read = parse_file(&place, text, |keys| parse_benchmark(name, &place, others, &templates, at, keys));
    let (benchmark, like) = match read {
        Ok(read) if of_report.is_empty() => read,
        Ok(_) => return Err(Problems(of_report)),
        Err(mut problems) => {
            problems.0.extend(of_report);
            return Err(problems);
        }
    };
    let mut goes_by: Vec<&'static str> = benchmark
        .steps
        .iter()
        .flat_map(|step| &step.from)
        .filter_map(|input| Some(input.split_once('/')?.0))
        .collect();
    goes_by.extend(like);
    goes_by.extend(benchmark.published.as_ref().and_then(|published| published.like));
    if let Some(ItemNumber::Of(other)) = benchmark.data.as_ref().and_then(|data| data.number.as_ref()) {
        goes_by.push(other);
    }
    Ok((Benchmark { tables, goes_by, ..benchmark }, like))
}

/// The hash of a folder's files, as they are written.
fn hash_files(files: &FolderFiles) -> String {
    let all: Vec<&str> = files.iter().flat_map(|(path, text)| [*path, *text]).collect();
    fingerprint::hash(&all.join("\0"))
}

fn parse_benchmark(
    name: &'static str,
    place: &str,
    others: &Others,
    templates: &[(&str, &'static str)],
    (report, of_report): (Option<&str>, &mut Vec<Problem>),
    keys: &Keys<'_>,
) -> (Benchmark, Option<&'static str>) {
    let (paper, like) = match keys.read_table("paper", paper::parse_paper) {
        Some(Cited::Own(paper)) => (*paper, None),
        Some(Cited::Like(other)) => (Paper::default(), Some(other)),
        None => (Paper::default(), None),
    };
    let renamed = |keys: &Keys<'_>| -> Vec<_> {
        keys.key_names().into_iter().map(|then| (then, keys.require_text(then))).collect()
    };
    let written = |section: &'static str, keys: &Keys<'_>| {
        let dotted = move |(key, toml)| (crate::reader::leak_text(&format!("{section}.{key}")), toml);
        keys.read_sources().into_iter().map(dotted).collect::<Vec<_>>()
    };
    let settings = keys.read_named_tables("settings", written);
    let profile = keys.read_named_tables("profile", written);
    // Ballots missing because of problems in ballots.toml are not reported again here.
    let asked = &others.asked;
    let ballots = asked.get(name);
    // The lists of another benchmark come with its records.
    let mut lists = ballots.map(|ballots| ballots.lists.clone()).unwrap_or_default();
    for (other, _) in parse_inputs(keys).iter().filter_map(|input| input.split_once('/')) {
        lists.extend(asked.get(other).into_iter().flat_map(|other| other.lists.clone()));
    }
    let given = ballots.map(|ballots| Arc::clone(&ballots.given)).unwrap_or_default();
    let language = expression::build_language(lists.clone(), &given);
    let own = setting::parse_settings(given, keys);
    let names = prompt_names(templates, keys);
    let kinds = record_kind::parse_record_kinds(keys);
    let records = keys
        .read_text("records")
        .and_then(|kind| record_kind::find_kind(kind, others.known_kinds(name), keys));
    let at = TablePlace {
        benchmark: name,
        name: "",
        records,
        file: place,
        language,
        prompts_of: keys.read_text("prompts_of").unwrap_or(name),
        prompts: &names,
    };
    let mut tables = StepTables::default();
    let steps = parse_steps(ballots, &at, others, keys, &mut tables);
    let fields = data::parse_fields(language, place, keys);
    let mut data = data::parse_data(language, place, &fields, keys);
    let published = paper::read_published(language, place, keys);
    if let (Some(data), Some(_)) = (&mut data, &published) {
        data.sometimes.extend(data::published_column(language, place));
    }
    let known = TaskReferences {
        benchmark: name,
        folders: &others.prompts,
        whole: others.whole,
        lists: &lists,
        data: data.as_ref(),
        language,
    };
    let tasks = parse_tasks(&known, keys);
    let of_row = data.iter().flat_map(|data| &data.columns).map(|column| column.name).collect();
    let known = FigureNames {
        kinds: others.known_kinds(name),
        file: &format!("{name}/report.toml"),
        language,
        ballots,
        lists: &lists,
        steps: &steps.iter().map(|step| step.name).collect::<Vec<_>>(),
        released: keys.has_key("data"),
        answers: Context { language, of_row, lists: &lists, tasks: &tasks, names: RefCell::default() },
    };
    let (Declared { report, evaluation }, problems) = load_figures(report, &known, keys);
    of_report.extend(problems);
    let StepTables { drafts, options, marked, natives, selects, elements } = tables;
    let benchmark = Benchmark {
        drafts,
        options,
        marked,
        natives,
        selects,
        elements,
        tasks,
        evaluation,
        report,
        tables: Tables::new(),
        declared: String::new(),
        files: Vec::new(),
        goes_by: Vec::new(),
        name,
        was: keys.read_texts("was").unwrap_or_default(),
        about: keys.require_label("about"),
        records,
        kinds,
        steps,
        renamed: keys.read_table("renamed", renamed).unwrap_or_default(),
        settings: settings.concat(),
        own,
        profile: profile.concat(),
        prompts: parse_prompts(name, templates, keys),
        ballots: ballots.cloned().unwrap_or_default(),
        fields,
        data,
        published,
        paper,
        order: keys.read_count("order").unwrap_or(usize::MAX),
    };
    (benchmark, like)
}

/// The names in `prompts`, or of all files if it is missing.
fn prompt_names(templates: &[(&str, &'static str)], keys: &Keys<'_>) -> Vec<&'static str> {
    let files = || templates.iter().map(|(file, _)| crate::reader::leak_text(file)).collect();
    keys.read_texts("prompts").unwrap_or_else(files)
}

/// The prompts by the names in `prompts`: each must have a file, and each file a name.
fn parse_prompts(name: &str, templates: &[(&str, &'static str)], keys: &Keys<'_>) -> Vec<Prompt> {
    let of = keys.read_text("prompts_of").unwrap_or(name);
    let names = prompt_names(templates, keys);
    for (file, _) in templates.iter().filter(|(file, _)| !names.contains(file)) {
        keys.report_problem("prompts", format!("prompts/{file}.jinja is not named in `prompts`"));
    }
    let prompt = |named: &'static str| {
        let Some((_, text)) = templates.iter().find(|(file, _)| *file == named) else {
            let known = templates.iter().map(|(file, _)| *file);
            keys.report_problem("prompts", riddlemill_text::hint::unknown("prompt", named, known));
            return None;
        };
        Some(Prompt { name: crate::reader::leak_text(&format!("{of}/{named}")), text })
    };
    names.into_iter().filter_map(prompt).collect()
}

/// Says the key at whose place a problem is, unless the message does.
fn name_key(problem: &mut Problem, sources: &[OtherFolder]) {
    // These are about the table, whose first key is its place.
    if ["`", "[", "unknown key"].iter().any(|about| problem.what.starts_with(about)) {
        return;
    }
    let key = || {
        let (name, at) = problem.place.split_once('/')?;
        let mut parts = at.rsplitn(3, ':');
        let (column, line, path) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let (_, files) = sources.iter().find(|(known, _)| *known == name)?;
        riddlemill_schema::key_at(find_file(files, path)?, line, column)
    };
    let Some(key) = key() else { return };
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let is_named = problem.what.starts_with(&format!("{key}:"));
    if !is_named && !problem.what.split(|c| !is_word(c)).any(|word| word == key) {
        problem.what = format!("{key}: {}", problem.what);
    }
}

/// The place of a text in benchmark.toml: that where it is written first, else the file.
fn place_of(benchmark: &Benchmark, written: &str) -> String {
    let place = format!("{}/benchmark.toml", benchmark.name);
    let text = find_file(&benchmark.files, "benchmark.toml").unwrap_or_default();
    match text.find(&format!("\"{written}\"")).or_else(|| text.find(&format!("'{written}'"))) {
        Some(at) => {
            let (line, column) = riddlemill_schema::problem::line_and_column(text, at);
            format!("{place}:{line}:{column}")
        }
        None => place,
    }
}

/// References to missing inputs and numbers of other benchmarks.
fn find_broken_references(benchmarks: &[Benchmark]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for benchmark in benchmarks {
        for was in &benchmark.was {
            let other = benchmarks.iter().find(|other| {
                other.name == *was || (other.name != benchmark.name && other.was.contains(was))
            });
            if let Some(other) = other {
                let what = format!("was: {was:?} is the benchmark {:?}, or was it", other.name);
                problems.push(Problem { place: place_of(benchmark, was), what });
            }
        }
        let number = benchmark.data.as_ref().and_then(|data| data.number.as_ref());
        if let Some(ItemNumber::Of(other)) = number
            && !benchmarks.iter().any(|found| found.name == *other)
        {
            let names = benchmarks.iter().map(|found| found.name);
            let what = riddlemill_text::hint::unknown("benchmark", other, names);
            problems.push(Problem { place: place_of(benchmark, other), what });
        }
    }
    for benchmark in benchmarks {
        for input in benchmark.steps.iter().flat_map(|step| &step.from) {
            let Some((other, name)) = input.split_once('/') else { continue };
            let found = benchmarks
                .iter()
                .find(|b| b.name == other)
                .and_then(|b| b.steps.iter().find(|s| s.name == name));
            if found.is_none() {
                let what = format!("there is no step {input:?}");
                problems.push(Problem { place: place_of(benchmark, input), what });
            }
        }
    }
    problems
}

/// Codes that mean one thing in one folder, or step, and something else in another: a ledger has the code alone.
fn find_ambiguous_codes(benchmarks: &[Benchmark]) -> Vec<Problem> {
    let all: Vec<(&Benchmark, &OwnReason)> = benchmarks
        .iter()
        .flat_map(|benchmark| benchmark.own_reasons().map(move |own| (benchmark, own)))
        .collect();
    let mut problems = Vec::new();
    for (at, (benchmark, own)) in all.iter().enumerate() {
        let other = all[..at].iter().find(|(_, other)| other.code == own.code && other != own);
        if let Some((by, other)) = other {
            let what = format!(
                "reason: the code {:?} means something else in {}: {:?}\n  hint: choose another code, or the same sentence",
                own.code, by.name, other.definition
            );
            problems.push(Problem { place: place_of(benchmark, own.code), what });
        }
    }
    problems
}
