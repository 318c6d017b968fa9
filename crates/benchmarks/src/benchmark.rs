//! `benchmark.toml`: a benchmark's steps, and everything else that its folder declares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ballot::Label;
use crate::ballots::{self, Ballots};
use crate::data::{self, Data, Fields, Number};
use crate::declares::{self, Tables};
use crate::draft::{Draft, Marked, Options, Place};
use crate::expression::{self, Expression};
use crate::figure::Report;
use crate::native::Native;
use crate::paper::{self, Cited, Paper};
use crate::published::{self, Published};
use crate::reader::{Keys, Problem, Problems, read};
use crate::record_kind::{self, RecordKind};
use crate::records;
use crate::setting::{self, Setting, Settings};
use crate::{figures, tables, tasks};

/// A benchmark as its folder declares it.
#[derive(Debug)]
pub struct Benchmark {
    /// The folder's name, used everywhere.
    pub name: &'static str,
    /// Earlier names: votes, tasks and decisions under these names belong to it.
    pub was: Vec<&'static str>,
    /// A description, in one sentence.
    pub about: Label,
    /// The kind of its records, whose columns its steps fill; without one each step adds a group.
    pub records: Option<&'static RecordKind>,
    /// The kinds of records that it declares.
    pub kinds: Vec<&'static RecordKind>,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Renamed steps: old and new name. Stages under the old name are remade.
    pub renamed: Vec<(&'static str, &'static str)>,
    /// Defaults that its paper changes: `section.key` and TOML.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Settings of its own.
    pub own: Settings,
    /// Further changes under `run.profile = "paper"`: `section.key` and TOML.
    pub profile: Vec<(&'static str, &'static str)>,
    /// Its prompts, in the order of the steps that ask them.
    pub prompts: Vec<Prompt>,
    /// The questions for people.
    pub ballots: Ballots,
    /// The published set that it rebuilds.
    pub paper: Paper,
    /// Names for expressions over its records.
    fields: Fields,
    /// What is released of its records.
    pub data: Option<Data>,
    /// How rows of its published files become records.
    pub published: Option<Published>,
    /// The steps with models, if its records are declared.
    pub drafts: Vec<Draft>,
    /// Its multiple choices.
    pub options: Vec<Options>,
    /// The questions for models about released rows.
    pub tasks: Vec<crate::task::Task>,
    /// The tables of their figures; if empty, one table of all tasks.
    pub evaluation: Vec<crate::table::Table>,
    /// What `report` shows of its records.
    pub report: Report,
    /// Which texts of its groups are marked.
    pub marked: Vec<Marked>,
    /// Its steps that are named operations of the program.
    pub natives: Vec<Native>,
    /// The declarations of each step and ballot.
    tables: Tables,
    /// The hash of its files, on which a released folder depends in addition to its rows.
    pub declared: String,
    /// Its files, by their paths in the folder.
    pub files: Vec<(&'static str, &'static str)>,
    /// The benchmarks from which it uses steps, lists, paper, published form or numbers.
    goes_by: Vec<&'static str>,
    /// Its position in lists.
    order: usize,
}

/// A step of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name: that of its folder of rows, and the argument of `--from`.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// The steps whose rows it reads; those of another benchmark as `benchmark/step`.
    pub from: Vec<&'static str>,
    /// The kind of its output records, if they have columns.
    pub records: Option<&'static RecordKind>,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dumps to posts.
    Import,
    /// Removes the forum's debris from posts.
    Clean,
    /// Marks or removes personal data in texts.
    Anonymise,
    /// Posts of the benchmark's kind.
    Filter,
    /// Merges duplicate jokes.
    Dedup,
    /// A model drafts what the ballot of this name decides, or something without a ballot.
    Draft(&'static str),
    /// People decide, by the ballot of this name.
    Ballot(&'static str),
    /// The options of a multiple choice.
    Options,
    /// A named operation in Rust, for what cannot be declared.
    Native(&'static str),
}

/// A prompt of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// `<benchmark>/<name>`, as used by replies and a workspace's own prompts.
    pub name: &'static str,
    /// The template.
    pub text: &'static str,
}

impl Benchmark {
    /// Names for expressions over a record.
    pub fn fields(&self) -> &[(&'static str, Expression)] {
        &self.fields
    }

    /// The benchmark that imports its records: itself, or the one that it continues.
    pub fn origin(&'static self) -> &'static Benchmark {
        let first = self.steps.first().and_then(|step| step.from.first());
        let other = first.and_then(|input| crate::find(input.split_once('/')?.0));
        other.unwrap_or(self)
    }

    /// The benchmarks needed to read it: itself, and those whose folders it uses.
    pub fn with_others(&'static self) -> Vec<&'static Benchmark> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(benchmark) = found.get(at) {
            for other in benchmark.goes_by.iter().filter_map(|name| crate::find(name)) {
                if !found.iter().any(|known| known.name == other.name) {
                    found.push(other);
                }
            }
            at += 1;
        }
        found
    }

    /// The declarations that determine a step's rows: place and hash. Empty for a step determined by the
    /// program alone.
    pub fn declares(&self, step: &Step) -> BTreeMap<String, String> {
        let mut declared = BTreeMap::new();
        let mut tell = |file: &str, table: String| {
            if let Some(text) = self.tables.get(&table) {
                declared.insert(format!("{file} [{table}]"), declares::hash(text));
            }
        };
        tell("benchmark.toml", format!("step.{}", step.name));
        if let Kind::Ballot(name) = step.kind {
            tell("ballots.toml", format!("ballot.{name}"));
        }
        if let Some((kind, form)) = step.records.and_then(|kind| Some((kind, kind.own_form()?))) {
            declared.insert(format!("benchmark.toml [columns.{}]", kind.name), declares::hash(&form));
        }
        let fields = declares::reached(self.expressions(step).into_iter(), self.fields());
        let line = |(name, field): &(&str, &Expression)| format!("{name} = {}", field.source());
        let fields = fields.iter().map(line).collect::<Vec<_>>().join("\n");
        if !fields.is_empty() {
            declared.insert("benchmark.toml [fields]".into(), declares::hash(&fields));
        }
        declared
    }

    /// The expressions of a step.
    fn expressions(&self, step: &Step) -> Vec<&Expression> {
        let mut asked: Vec<&Expression> = Vec::new();
        if let Kind::Ballot(name) = step.kind {
            let ballot = self.ballot(name);
            let of_ballot = ballot.and_then(|ballot| ballot.asked).into_iter();
            asked.extend(of_ballot.flat_map(|asked| asked.expressions().chain(asked.decided())));
        }
        asked.extend(self.drafts.iter().filter(|d| d.name == step.name).flat_map(Draft::expressions));
        let options = self.options.iter().filter(|options| options.name == step.name);
        asked.extend(options.flat_map(|options| [&options.right, &options.wrong]));
        let natives = self.natives.iter().filter(|native| native.name == step.name);
        asked.extend(natives.flat_map(|native| native.asked().chain(native.said())));
        asked
    }

    /// The additional columns of a table source that it uses, each with the place of the expression.
    pub fn asked_columns(&self) -> Vec<(String, String)> {
        let steps = self.steps.iter().flat_map(|step| self.expressions(step));
        let data = self.data.iter().flat_map(|data| {
            let columns = data.columns.iter().chain(&data.sometimes).map(|column| &column.is);
            columns.chain(&data.when)
        });
        let fields = self.fields.iter().map(|(_, field)| field);
        let column = |path: String| Some(path.strip_prefix("table.")?.split('.').next()?.to_owned());
        let of = |asked: &Expression| {
            let place = asked.place().to_owned();
            asked.paths().into_iter().filter_map(column).map(|name| (name, place.clone())).collect::<Vec<_>>()
        };
        let mut found: Vec<(String, String)> = steps.chain(data).chain(fields).flat_map(of).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Its own settings that determine a step's rows.
    pub fn own_settings(&self, step: &Step) -> Vec<&Setting> {
        let mut asked = self.expressions(step);
        let fields = declares::reached(asked.iter().copied(), self.fields());
        asked.extend(fields.into_iter().map(|(_, field)| field));
        if let Kind::Ballot(name) = step.kind
            && let Some(drop) = self.ballot(name).and_then(|ballot| ballot.drop)
        {
            asked.extend([&drop.when, &drop.because]);
        }
        asked.extend(self.drafts.iter().filter(|draft| draft.name == step.name).flat_map(Draft::read));
        let named: BTreeSet<String> = asked.into_iter().flat_map(Expression::settings).collect();
        let of_it = |setting: &&Setting| {
            named.iter().any(|name| {
                let (section, key) = name.split_once('.').unwrap_or((name, ""));
                section == setting.section
                    && [setting.name, ""].contains(&key.split('.').next().unwrap_or(""))
            })
        };
        self.own.declared.iter().filter(of_it).collect()
    }

    /// The hash of the declarations on published rows; `None` without any.
    pub fn declares_published(&self) -> Option<String> {
        self.published.as_ref()?;
        let of_it = self.tables.iter().filter(|(name, _)| name.starts_with("published."));
        Some(declares::hash(&of_it.map(|(name, text)| format!("{name} {text}\n")).collect::<String>()))
    }

    /// A ballot.
    pub fn ballot(&self, name: &str) -> Option<&crate::ballot::Ballot> {
        self.ballots.step(name)
    }

    /// The options of a shared list; empty for an unknown name.
    pub fn list(&self, name: &str) -> &[crate::ballot::Choice] {
        self.ballots.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Reads benchmark folders: each by its name and files, a file by its path in the folder. `whole`: these are
/// all folders, so that references between them must resolve.
///
/// # Errors
/// All problems of all files.
pub fn load(
    folders: &[(&'static str, Vec<(&'static str, &'static str)>)],
    whole: bool,
) -> Result<Vec<Benchmark>, Problems> {
    let mut problems = Vec::new();
    let mut asked: BTreeMap<&'static str, Ballots> = BTreeMap::new();
    let prompts = folders.iter().map(|(name, files)| (*name, prompt_files(name, files))).collect();
    for (name, files) in folders {
        let text = file(files, "ballots.toml").unwrap_or_default();
        match ballots::parse(name, &format!("{name}/ballots.toml"), text) {
            Ok(ballots) => drop(asked.insert(name, ballots)),
            Err(more) => problems.extend(more.0),
        }
    }
    let declared: Vec<(&str, Vec<&'static RecordKind>)> = folders
        .iter()
        .map(|(name, files)| (*name, record_kind::of_file(file(files, "benchmark.toml").unwrap_or_default())))
        .collect();
    // A folder's own kinds go before those of others.
    let known = |name: &str| -> Vec<&'static RecordKind> {
        let own = declared.iter().filter(|(folder, _)| *folder == name);
        let rest = declared.iter().filter(|(folder, _)| *folder != name);
        let all = own.chain(rest).flat_map(|(_, kinds)| kinds);
        let mut known: Vec<&'static RecordKind> = Vec::new();
        for kind in all.chain(record_kind::built_in()) {
            if !known.iter().any(|known| known.name == kind.name) {
                known.push(kind);
            }
        }
        known
    };
    let known: BTreeMap<&str, Vec<&'static RecordKind>> =
        folders.iter().map(|(name, _)| (*name, known(name))).collect();
    let kinds = folders.iter().map(|(name, files)| (*name, Kinds::of(files, &known[name]))).collect();
    let others = Others { asked, prompts, known, kinds, whole };
    let mut read: Vec<(Benchmark, Option<&'static str>)> = Vec::new();
    for (name, files) in folders {
        match folder(name, files, &others) {
            Ok(benchmark) => read.push(benchmark),
            Err(more) => problems.extend(more.0),
        }
    }
    let papers: Vec<(&str, Paper)> =
        read.iter().filter(|(_, like)| like.is_none()).map(|(b, _)| (b.name, b.paper.clone())).collect();
    for (benchmark, like) in &mut read {
        let Some(other) = *like else { continue };
        match papers.iter().find(|(name, _)| *name == other) {
            Some((_, paper)) => benchmark.paper = paper.clone(),
            None => {
                let what = riddlemill_text::hint::unknown("benchmark", other, papers.iter().map(|(n, _)| *n));
                problems.push(Problem { place: format!("{}/benchmark.toml", benchmark.name), what });
            }
        }
    }
    let mut benchmarks: Vec<Benchmark> = read.into_iter().map(|(benchmark, _)| benchmark).collect();
    benchmarks.sort_by_key(|benchmark| (benchmark.order, benchmark.name));
    problems.extend(foreign(&benchmarks));
    problems.extend(benchmarks.iter().filter_map(|b| Some((b, b.records?))).flat_map(|(benchmark, kind)| {
        let of_ballots = records::unknown_columns(kind, benchmark.fields(), &benchmark.ballots.steps);
        let of_drafts =
            benchmark.drafts.iter().flat_map(|draft| records::unknown_to_draft(benchmark.fields(), draft));
        let of_natives = benchmark
            .natives
            .iter()
            .flat_map(|native| records::unknown_to_native(benchmark.fields(), native));
        let of_report = records::unknown_to_report(&benchmark.report, benchmark.fields(), |step| {
            let last = || benchmark.steps.last();
            step.map_or_else(last, |name| benchmark.steps.iter().find(|step| step.name == name))?.records
        });
        of_ballots.into_iter().chain(of_drafts).chain(of_natives).chain(of_report)
    }));
    if problems.is_empty() { Ok(benchmarks) } else { Err(Problems(problems)) }
}

type Files = [(&'static str, &'static str)];

/// What a folder may reference in others.
struct Others {
    asked: BTreeMap<&'static str, Ballots>,
    prompts: tasks::Folders,
    /// The kinds of records that a folder may name.
    known: BTreeMap<&'static str, Vec<&'static RecordKind>>,
    kinds: BTreeMap<&'static str, Kinds>,
    /// Whether these are all folders.
    whole: bool,
}

/// The kinds of the records of a folder that is not read yet, behind each of its steps.
#[derive(Default)]
struct Kinds(BTreeMap<String, Option<&'static RecordKind>>);

impl Kinds {
    fn of(files: &Files, known: &[&'static RecordKind]) -> Kinds {
        let text = file(files, "benchmark.toml").unwrap_or_default();
        let Ok(document) = toml_edit::Document::parse(text) else { return Kinds::default() };
        let word = |item: Option<&toml_edit::Item>| {
            let name = item?.as_str()?;
            known.iter().copied().find(|kind| kind.name == name)
        };
        let mut kind = word(document.get("records"));
        let steps = document.get("steps").and_then(|steps| steps.as_array());
        let mut kinds = BTreeMap::new();
        for step in steps.into_iter().flat_map(|steps| steps.iter()).filter_map(|step| step.as_str()) {
            let own = document.get("step").and_then(|tables| tables.get(step)?.get("records"));
            kind = word(own).or(kind);
            kinds.insert(step.to_owned(), kind);
        }
        Kinds(kinds)
    }

    fn behind(&self, step: &str) -> Option<&'static RecordKind> {
        self.0.get(step).copied().flatten()
    }
}

/// The benchmark's name in replies, and the names of its prompts.
fn prompt_files(name: &str, files: &Files) -> (String, Vec<String>) {
    let text = file(files, "benchmark.toml").unwrap_or_default();
    let document: Option<toml_edit::Document<&str>> = toml_edit::Document::parse(text).ok();
    let of = document.as_ref().and_then(|document| document.get("prompts_of")?.as_str());
    let names = files.iter().filter_map(|(path, _)| path.strip_prefix("prompts/")?.strip_suffix(".jinja"));
    (of.unwrap_or(name).to_owned(), names.map(str::to_owned).collect())
}

fn file(files: &Files, path: &str) -> Option<&'static str> {
    files.iter().find(|(file, _)| *file == path).map(|(_, text)| *text)
}

fn folder(
    name: &'static str,
    files: &Files,
    others: &Others,
) -> Result<(Benchmark, Option<&'static str>), Problems> {
    let place = format!("{name}/benchmark.toml");
    let Some(text) = file(files, "benchmark.toml") else {
        let what = "the folder has no benchmark.toml".to_owned();
        return Err(Problems(vec![Problem { place, what }]));
    };
    let mut tables = declares::tables(text, &["step", "published"]);
    tables.extend(declares::tables(file(files, "ballots.toml").unwrap_or_default(), &["ballot", "every"]));
    let templates: Vec<(&str, &'static str)> = files
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("prompts/")?.strip_suffix(".jinja")?, *text)))
        .collect();
    let mut of_report = Vec::new();
    let at = (file(files, "report.toml"), &mut of_report);
    let read = read(&place, text, |keys| benchmark(name, &place, others, &templates, at, keys));
    let (benchmark, like) = match read {
        Ok(read) if of_report.is_empty() => read,
        Ok(_) => return Err(Problems(of_report)),
        Err(mut problems) => {
            problems.0.extend(of_report);
            return Err(problems);
        }
    };
    let all: Vec<&str> = files.iter().flat_map(|(path, text)| [*path, *text]).collect();
    let declared = declares::hash(&all.join("\0"));
    let mut goes_by: Vec<&'static str> = benchmark
        .steps
        .iter()
        .flat_map(|step| &step.from)
        .filter_map(|input| Some(input.split_once('/')?.0))
        .collect();
    goes_by.extend(like);
    goes_by.extend(benchmark.published.as_ref().and_then(|published| published.like));
    if let Some(Number::Of(other)) = benchmark.data.as_ref().and_then(|data| data.number.as_ref()) {
        goes_by.push(other);
    }
    Ok((Benchmark { tables, declared, files: files.to_vec(), goes_by, ..benchmark }, like))
}

fn benchmark(
    name: &'static str,
    place: &str,
    others: &Others,
    templates: &[(&str, &'static str)],
    (report, of_report): (Option<&str>, &mut Vec<Problem>),
    keys: &Keys<'_>,
) -> (Benchmark, Option<&'static str>) {
    let blank = Paper {
        set: "",
        title: "",
        authors: "",
        year: 0,
        url: "",
        languages: Vec::new(),
        key: "",
        tags: Vec::new(),
        biases: "",
        differs: Vec::new(),
    };
    let (paper, like) = match keys.table("paper", paper::read) {
        Some(Cited::Own(paper)) => (*paper, None),
        Some(Cited::Like(other)) => (blank, Some(other)),
        None => (blank, None),
    };
    let renamed = |keys: &Keys<'_>| -> Vec<_> {
        keys.names().into_iter().map(|then| (then, keys.needed(then))).collect()
    };
    let written = |section: &'static str, keys: &Keys<'_>| {
        let dotted = move |(key, toml)| (crate::reader::keep(&format!("{section}.{key}")), toml);
        keys.written().into_iter().map(dotted).collect::<Vec<_>>()
    };
    let settings = keys.each("settings", written);
    let profile = keys.each("profile", written);
    // Ballots missing because of problems in ballots.toml are not reported again here.
    let asked = &others.asked;
    let ballots = asked.get(name);
    // The lists of another benchmark come with its records.
    let mut lists = ballots.map(|ballots| ballots.lists.clone()).unwrap_or_default();
    for (other, _) in inputs(keys).iter().filter_map(|input| input.split_once('/')) {
        lists.extend(asked.get(other).into_iter().flat_map(|other| other.lists.clone()));
    }
    let given = ballots.map(|ballots| Arc::clone(&ballots.given)).unwrap_or_default();
    let language = expression::language(lists.clone(), &given);
    let own = setting::read(given, keys);
    let names = prompt_names(templates, keys);
    let kinds = record_kind::declared(keys);
    let known = others.known.get(name).map(Vec::as_slice).unwrap_or_default();
    let records = keys.text("records").and_then(|kind| record_kind::find(kind, known, keys));
    let at = Place {
        benchmark: name,
        name: "",
        records,
        file: place,
        language,
        prompts_of: keys.text("prompts_of").unwrap_or(name),
        prompts: &names,
    };
    let mut told = StepTables::default();
    let steps = steps(ballots, &at, others, keys, &mut told);
    let fields = data::fields(language, place, keys);
    let mut data = data::read(language, place, &fields, keys);
    let published = published::read(language, place, keys);
    if let (Some(data), Some(_)) = (&mut data, &published) {
        data.sometimes.extend(data::published_column(language, place));
    }
    let known = tasks::Known {
        benchmark: name,
        folders: &others.prompts,
        whole: others.whole,
        lists: &lists,
        data: data.as_ref(),
        language,
    };
    let tasks = tasks::read(&known, keys);
    let evaluation = tables::read(language, data.as_ref(), &lists, &tasks, keys);
    let known = figures::Known {
        kinds: others.known.get(name).map(Vec::as_slice).unwrap_or_default(),
        file: &format!("{name}/report.toml"),
        language,
        ballots,
        lists: &lists,
        steps: &steps.iter().map(|step| step.name).collect::<Vec<_>>(),
        released: keys.has("data"),
    };
    let report = figures::load(report, &known).unwrap_or_else(|problems| {
        of_report.extend(problems.0);
        Report::default()
    });
    let StepTables { drafts, options, marked, natives } = told;
    let benchmark = Benchmark {
        drafts,
        options,
        marked,
        natives,
        tasks,
        evaluation,
        report,
        tables: Tables::new(),
        declared: String::new(),
        files: Vec::new(),
        goes_by: Vec::new(),
        name,
        was: keys.texts("was").unwrap_or_default(),
        about: keys.words("about"),
        records,
        kinds,
        steps,
        renamed: keys.table("renamed", renamed).unwrap_or_default(),
        settings: settings.concat(),
        own,
        profile: profile.concat(),
        prompts: prompts(name, templates, keys),
        ballots: ballots.cloned().unwrap_or_default(),
        fields,
        data,
        published,
        paper,
        order: keys.count("order").unwrap_or(usize::MAX),
    };
    (benchmark, like)
}

/// The names in `prompts`, or of all files if it is missing.
fn prompt_names(templates: &[(&str, &'static str)], keys: &Keys<'_>) -> Vec<&'static str> {
    let files = || templates.iter().map(|(file, _)| crate::reader::keep(file)).collect();
    keys.texts("prompts").unwrap_or_else(files)
}

/// The prompts by the names in `prompts`: each must have a file, and each file a name.
fn prompts(name: &str, templates: &[(&str, &'static str)], keys: &Keys<'_>) -> Vec<Prompt> {
    let of = keys.text("prompts_of").unwrap_or(name);
    let names = prompt_names(templates, keys);
    for (file, _) in templates.iter().filter(|(file, _)| !names.contains(file)) {
        keys.problem("prompts", format!("prompts/{file}.jinja is not named in `prompts`"));
    }
    let prompt = |named: &'static str| {
        let Some((_, text)) = templates.iter().find(|(file, _)| *file == named) else {
            let known = templates.iter().map(|(file, _)| *file);
            keys.problem("prompts", riddlemill_text::hint::unknown("prompt", named, known));
            return None;
        };
        Some(Prompt { name: crate::reader::keep(&format!("{of}/{named}")), text })
    };
    names.into_iter().filter_map(prompt).collect()
}

/// Declarations in the steps' tables in addition to their kind.
#[derive(Default)]
struct StepTables {
    drafts: Vec<Draft>,
    options: Vec<Options>,
    marked: Vec<Marked>,
    natives: Vec<Native>,
}

/// Where the steps' records change to another kind: from which step on, and to which.
fn kinds(known: &[&'static RecordKind], keys: &Keys<'_>) -> Vec<(&'static str, &'static RecordKind)> {
    keys.peek("step", |name, keys| {
        let kind = keys.text("records").and_then(|kind| record_kind::find(kind, known, keys));
        kind.map(|kind| (name, kind)).into_iter().collect()
    })
}

/// Inputs that are not earlier steps.
fn inputs(keys: &Keys<'_>) -> Vec<&'static str> {
    keys.peek("step", |_, keys| keys.texts("from").unwrap_or_default())
}

/// The steps by the names in `steps`: text steps and `review:BALLOT` need no table, others declare their
/// kind.
fn steps(
    ballots: Option<&Ballots>,
    at: &Place<'_>,
    others: &Others,
    keys: &Keys<'_>,
    told: &mut StepTables,
) -> Vec<Step> {
    if !keys.has("steps") {
        keys.needed("steps");
    }
    let names = keys.texts("steps").unwrap_or_default();
    let known = others.known.get(at.benchmark).map(Vec::as_slice).unwrap_or_default();
    let kinds = kinds(known, keys);
    // The kind of the records after the first `count` steps.
    let records = |count: usize| {
        let of_step = |step: &&str| kinds.iter().find(|(name, _)| name == step).map(|(_, kind)| *kind);
        names.iter().take(count).rev().find_map(of_step).or(at.records)
    };
    let said = keys.each("step", |name, keys| {
        let place = names.iter().position(|step| *step == name);
        if place.is_none() {
            keys.problem("kind", riddlemill_text::hint::unknown("step", name, names.iter().copied()));
        }
        let leaves = keys.text("records").and_then(|kind| record_kind::find(kind, known, keys));
        let foreign = keys.texts("from").unwrap_or_default().first().and_then(|input| input.split_once('/'));
        let before = match foreign {
            Some((other, step)) => others.kinds.get(other).and_then(|kinds| kinds.behind(step)),
            None => records(place.unwrap_or_default()),
        };
        (name, said(&Place { name, records: before, ..*at }, ballots, leaves, keys, told))
    });
    let mut steps: Vec<Step> = Vec::new();
    for (at, name) in names.iter().copied().enumerate() {
        if steps.iter().any(|step| step.name == name) {
            keys.problem("steps", format!("two steps are named {name:?}"));
            continue;
        }
        let (kind, from) = match said.iter().find(|(step, _)| *step == name) {
            Some((_, (kind, from))) => (*kind, from.clone()),
            None => (None, None),
        };
        let Some(kind) = kind.or_else(|| plain(name)) else {
            keys.problem("steps", format!("[step.{name}] is missing: what the step {name:?} does"));
            continue;
        };
        if let (Kind::Ballot(ballot), Some(ballots)) = (kind, ballots)
            && !ballots.steps.iter().any(|step| step.name == ballot)
        {
            let known = ballots.steps.iter().map(|step| step.name);
            keys.problem("steps", riddlemill_text::hint::unknown("ballot", ballot, known));
        }
        let before = || steps.last().map(|step| step.name).into_iter().collect();
        let from = from.unwrap_or_else(before);
        for input in from.iter().filter(|input| !input.contains('/')) {
            if !steps.iter().any(|step| step.name == *input) {
                keys.problem("steps", format!("{name:?} reads {input:?}, which is not an earlier step"));
            }
        }
        steps.push(Step { name, kind, from, records: records(at + 1) });
    }
    if let Some(ballots) = ballots {
        for ballot in ballots
            .steps
            .iter()
            .filter(|ballot| !steps.iter().any(|step| step.kind == Kind::Ballot(ballot.name)))
        {
            keys.problem(
                "steps",
                format!("the ballot {:?} is of no step; name `review:{}`", ballot.name, ballot.name),
            );
        }
    }
    steps
}

/// The kind of a step without a table.
fn plain(name: &'static str) -> Option<Kind> {
    match name {
        "import" => Some(Kind::Import),
        "clean" => Some(Kind::Clean),
        "anonymise" => Some(Kind::Anonymise),
        "filter" => Some(Kind::Filter),
        "dedup" => Some(Kind::Dedup),
        "options" => Some(Kind::Options),
        _ => name.strip_prefix("review:").map(Kind::Ballot),
    }
}

/// A step's table: its kind, and its input if that is not the step before.
fn said(
    at: &Place<'_>,
    ballots: Option<&Ballots>,
    leaves: Option<&'static RecordKind>,
    keys: &Keys<'_>,
    told: &mut StepTables,
) -> (Option<Kind>, Option<Vec<&'static str>>) {
    #[derive(Clone, Copy)]
    enum Word {
        Draft,
        Respond,
        Options,
        Native,
    }
    if at.name == "anonymise" && keys.has("texts") {
        told.marked.push(at.marked(keys));
        return (None, keys.texts("from"));
    }
    let words = [
        ("draft", Word::Draft),
        ("respond", Word::Respond),
        ("options", Word::Options),
        ("native", Word::Native),
    ];
    let kind = match keys.one_of("kind", &words) {
        Some(Word::Draft) => {
            let ballot = ballot_of(ballots, keys);
            // Without a prompt it is a draft made by the program.
            if ["prompt", "case", "reply"].into_iter().any(|key| keys.has(key)) {
                told.drafts.extend(at.draft(ballots, at.records, false, keys));
            }
            Some(Kind::Draft(ballot.unwrap_or(at.name)))
        }
        Some(Word::Respond) => {
            told.drafts.extend(at.draft(ballots, leaves, true, keys));
            Some(Kind::Draft(at.name))
        }
        Some(Word::Options) => {
            if keys.has("right") || keys.has("wrong") {
                told.options.extend(at.options(keys));
            }
            Some(Kind::Options)
        }
        Some(Word::Native) => {
            ballot_of(ballots, keys);
            let leaves = leaves.or(at.records);
            let op = keys.needed("op");
            told.natives.push(at.native(op, leaves, keys));
            Some(Kind::Native(op))
        }
        None => None,
    };
    (kind, keys.texts("from"))
}

/// The ballot for which a step drafts; an unknown one is reported.
fn ballot_of(ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<&'static str> {
    let ballot = keys.text("for")?;
    if let Some(ballots) = ballots
        && !ballots.steps.iter().any(|step| step.name == ballot)
    {
        let known = ballots.steps.iter().map(|step| step.name);
        keys.problem("for", riddlemill_text::hint::unknown("ballot", ballot, known));
    }
    Some(ballot)
}

/// References to missing inputs and numbers of other benchmarks.
fn foreign(benchmarks: &[Benchmark]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for benchmark in benchmarks {
        for was in &benchmark.was {
            let other = benchmarks.iter().find(|other| {
                other.name == *was || (other.name != benchmark.name && other.was.contains(was))
            });
            if let Some(other) = other {
                let what = format!("was: {was:?} is the benchmark {:?}, or was it", other.name);
                problems.push(Problem { place: format!("{}/benchmark.toml", benchmark.name), what });
            }
        }
        let number = benchmark.data.as_ref().and_then(|data| data.number.as_ref());
        if let Some(Number::Of(other)) = number
            && !benchmarks.iter().any(|found| found.name == *other)
        {
            let names = benchmarks.iter().map(|found| found.name);
            let what = riddlemill_text::hint::unknown("benchmark", other, names);
            problems.push(Problem { place: format!("{}/benchmark.toml", benchmark.name), what });
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
                problems.push(Problem { place: format!("{}/benchmark.toml", benchmark.name), what });
            }
        }
    }
    problems
}
