//! A benchmark: its steps, and everything else that its folder declares. `load` reads all folders: `others` what they
//! may name of each other, `steps` the steps of one.

mod cross_refs;
mod load;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

pub use load::load_benchmarks;

use crate::ballot::Label;
use crate::ballot::reader::Ballots;
use crate::data::{Data, Fields};
use crate::draft::Draft;
use crate::expression::Expression;
use crate::figure::{Figure, Report};
use crate::fingerprint::{self, Tables};
use crate::native::NativeStep;
use crate::option_steps::{Elements, Marked, Options};
use crate::paper::{Paper, Published};
use crate::record_kind::RecordKind;
use crate::selecting::Select;
use crate::setting::{Setting, Settings};
use riddlemill_record::OwnReason;

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
    pub evaluation: Vec<Figure>,
    /// What `report` shows of its records.
    pub report: Report,
    /// Which texts of its groups are marked.
    pub marked: Vec<Marked>,
    /// Its steps that are named operations of the program.
    pub natives: Vec<NativeStep>,
    /// Its steps that drop or hold records.
    pub selects: Vec<Select>,
    /// Its steps that make a record of every element of a list.
    pub elements: Vec<Elements>,
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
    pub kind: StepKind,
    /// The steps whose rows it reads; those of another benchmark as `benchmark/step`.
    pub from: Vec<&'static str>,
    /// The kind of its output records, if they have columns.
    pub records: Option<&'static RecordKind>,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
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
    /// Records are dropped or held.
    Select,
    /// Every element of a list becomes a record.
    Elements,
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
    pub fn find_origin(&'static self) -> &'static Benchmark {
        let first = self.steps.first().and_then(|step| step.from.first());
        let other = first.and_then(|input| crate::find_benchmark(input.split_once('/')?.0));
        other.unwrap_or(self)
    }

    /// The steps whose fields a released column is made of, in order: reviews that fill a column of the records which it uses,
    /// and steps of whose group it uses something.
    pub fn steps_of_column(&self, column: &str) -> Vec<&'static str> {
        let data = self.data.as_ref();
        let mut columns = data.into_iter().flat_map(|data| data.columns.iter().chain(&data.sometimes));
        let Some(column) = columns.find(|known| known.name == column) else { return Vec::new() };
        let mut used = column.is.names().clone();
        let fields = fingerprint::find_used_fields([&column.is].into_iter(), self.fields());
        used.extend(fields.into_iter().flat_map(|(_, field)| field.names().iter().cloned()));
        let filled = |step: &&Step| match step.kind {
            StepKind::Ballot(name) => {
                self.find_ballot(name).and_then(|ballot| ballot.asked).is_some_and(|asked| {
                    let standing = ["_status", "_basis"].map(|end| format!("{}{end}", asked.standing));
                    let keeps = asked.keeps.iter().any(|(kept, _)| used.contains(*kept));
                    keeps || used.contains(asked.group) || standing.iter().any(|kept| used.contains(kept))
                })
            }
            _ => used.contains(&step.name.replace('-', "_")),
        };
        self.steps.iter().filter(filled).map(|step| step.name).collect()
    }

    /// The benchmarks needed to read it: itself, and those whose folders it uses.
    pub fn with_others(&'static self) -> Vec<&'static Benchmark> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(benchmark) = found.get(at) {
            for other in benchmark.goes_by.iter().filter_map(|name| crate::find_benchmark(name)) {
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
    pub fn declarations_of_step(&self, step: &Step) -> BTreeMap<String, String> {
        let mut declared = BTreeMap::new();
        let mut tell = |file: &str, table: String| {
            if let Some(text) = self.tables.get(&table) {
                declared.insert(format!("{file} [{table}]"), fingerprint::hash(text));
            }
        };
        tell("benchmark.toml", format!("step.{}", step.name));
        if let StepKind::Ballot(name) = step.kind {
            tell("ballots.toml", format!("ballot.{name}"));
        }
        if let Some((kind, form)) = step.records.and_then(|kind| Some((kind, kind.own_form()?))) {
            declared.insert(format!("benchmark.toml [columns.{}]", kind.name), fingerprint::hash(&form));
        }
        let fields = fingerprint::find_used_fields(self.expressions_of_step(step).into_iter(), self.fields());
        let line = |(name, field): &(&str, &Expression)| format!("{name} = {}", field.source());
        let fields = fields.iter().map(line).collect::<Vec<_>>().join("\n");
        if !fields.is_empty() {
            declared.insert("benchmark.toml [fields]".into(), fingerprint::hash(&fields));
        }
        declared
    }

    /// The expressions of a step.
    fn expressions_of_step(&self, step: &Step) -> Vec<&Expression> {
        let mut asked: Vec<&Expression> = Vec::new();
        if let StepKind::Ballot(name) = step.kind {
            let ballot = self.find_ballot(name);
            let of_ballot = ballot.and_then(|ballot| ballot.asked).into_iter();
            let all = |asked: &'static crate::ballot::BallotSource| {
                asked.input_expressions().chain(asked.decision_expressions()).chain(asked.answer_conditions())
            };
            asked.extend(of_ballot.flat_map(all));
        }
        asked.extend(self.drafts.iter().filter(|d| d.name == step.name).flat_map(Draft::record_expressions));
        let options = self.options.iter().filter(|options| options.name == step.name);
        asked.extend(options.flat_map(|options| {
            let keeps = options.keeps.iter().map(|(_, e)| e);
            [&options.right, &options.wrong].into_iter().chain(keeps)
        }));
        let natives = self.natives.iter().filter(|native| native.name == step.name);
        asked.extend(natives.flat_map(|native| native.input_expressions().chain(native.over_findings())));
        let selects = self.selects.iter().filter(|select| select.name == step.name);
        asked.extend(selects.flat_map(Select::record_expressions));
        let elements = self.elements.iter().filter(|elements| elements.name == step.name);
        asked.extend(elements.flat_map(Elements::record_expressions).map(|(expression, _)| expression));
        asked
    }

    /// The expressions of its steps, fields and released columns.
    pub(crate) fn record_expressions(&self) -> impl Iterator<Item = &Expression> {
        let steps = self.steps.iter().flat_map(|step| self.expressions_of_step(step));
        let data = self.data.iter().flat_map(|data| {
            let columns = data.columns.iter().chain(&data.sometimes).map(|column| &column.is);
            columns.chain(&data.when)
        });
        steps.chain(data).chain(self.fields.iter().map(|(_, field)| field))
    }

    /// The additional columns of a table source that it uses, each with the place of the expression.
    pub fn asked_columns(&self) -> Vec<(String, String)> {
        let column = |path: String| Some(path.strip_prefix("table.")?.split('.').next()?.to_owned());
        let of = |asked: &Expression| {
            let place = asked.place().to_owned();
            asked
                .used_paths()
                .into_iter()
                .filter_map(column)
                .map(|name| (name, place.clone()))
                .collect::<Vec<_>>()
        };
        let mut found: Vec<(String, String)> = self.record_expressions().flat_map(of).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Its own settings that determine a step's rows.
    pub fn own_settings(&self, step: &Step) -> Vec<&Setting> {
        let mut asked = self.expressions_of_step(step);
        let fields = fingerprint::find_used_fields(asked.iter().copied(), self.fields());
        asked.extend(fields.into_iter().map(|(_, field)| field));
        if let StepKind::Ballot(name) = step.kind
            && let Some(drop) = self.find_ballot(name).and_then(|ballot| ballot.drop)
        {
            asked.extend([&drop.when, &drop.because]);
        }
        asked.extend(
            self.drafts.iter().filter(|draft| draft.name == step.name).flat_map(Draft::reply_expressions),
        );
        let named: BTreeSet<String> = asked.into_iter().flat_map(Expression::used_settings).collect();
        let of_it = |setting: &&Setting| {
            named.iter().any(|name| {
                let (section, key) = name.split_once('.').unwrap_or((name, ""));
                section == setting.section
                    && [setting.key.name, ""].contains(&key.split('.').next().unwrap_or(""))
            })
        };
        self.own.declared.iter().filter(of_it).collect()
    }

    /// The hash of the declarations on published rows; `None` without any.
    pub fn declares_published(&self) -> Option<String> {
        self.published.as_ref()?;
        let of_it = self.tables.iter().filter(|(name, _)| name.starts_with("published."));
        Some(fingerprint::hash(&of_it.map(|(name, text)| format!("{name} {text}\n")).collect::<String>()))
    }

    /// The reasons that its folder gives for what its steps and `[data]` leave out.
    pub fn own_reasons(&self) -> impl Iterator<Item = &'static OwnReason> {
        let of_data = self.data.iter().filter_map(|data| data.reason);
        self.selects.iter().map(|select| select.reason).chain(of_data)
    }

    /// The ballot of a review step; `None` if ballots.toml does not declare it.
    pub fn find_ballot(&self, name: &str) -> Option<&crate::ballot::Ballot> {
        self.ballots.find_ballot(name)
    }

    /// The options of a shared list; empty for an unknown name.
    pub fn options_of_list(&self, name: &str) -> &[crate::ballot::Choice] {
        self.ballots.lists.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}
