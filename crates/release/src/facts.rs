//! All facts on the card and in the files next to it, collected once.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value as Json;

use super::changes::Changes;
use super::data::{Written, WrittenSplit};
use super::division::Divided;
use super::eval_files::ExportedTask;
use super::layout::{AnswerForm, ColumnKind, Compat, Layout};
use super::licence::Licence;
use super::manifest::{AlikePair, LeftOut, Link, REQUIRES, Raw, WHEN, licences_by_source};
use super::shortcuts::Guessed;
use super::work::{self, Work};
use crate::config::{Config, sections};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::State;
use riddlemill_benchmarks::compat::CompatFormat;
use riddlemill_benchmarks::{Difference, Expression, Paper};
use riddlemill_files::fence;

/// The data of the templates.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub recipe: &'static str,
    /// What the recipe builds.
    pub about: &'static str,
    /// The paper whose set is rebuilt, or of the set itself.
    pub paper: &'static Paper,
    /// Whether a published set is rebuilt.
    pub rebuilds: bool,
    /// The set's title.
    pub title: String,
    /// The authors to cite, as the curator named them.
    pub authors: Vec<String>,
    /// The version, or `0.0.0-candidate`.
    pub version: String,
    /// The day, `YYYY-MM-DD`; a candidate may lack one.
    pub date: Option<String>,
    /// Whether this is a candidate.
    pub candidate: bool,
    /// The canary's GUID; `None` for a candidate.
    pub canary: Option<String>,
    /// Why it is a draft.
    pub draft: Vec<String>,
    /// Items that the rows lack because they wait or failed.
    pub left_out: Vec<LeftOut>,
    /// How many of them could have been rows of their own.
    pub waiting: u64,
    /// Rows of two splits that became near after their release.
    pub crossing: Vec<(String, String)>,
    /// Why a release of these rows would be refused; empty for a release.
    pub refused: Vec<String>,
    /// Rows that are alike since people rewrote their texts; empty for a release.
    pub alike: Vec<AlikePair>,
    /// How well the answers of multiple-choice configs can be guessed.
    pub guessed: Vec<Guessed>,
    /// The set's tags on the Hub.
    pub tags: Vec<&'static str>,
    /// Who annotated the rows, in the Hub's terms.
    pub annotations_creators: Vec<&'static str>,
    pub configs: Vec<Shape>,
    /// The tasks in the files of eval/.
    pub exported: Vec<ExportedTask>,
    /// The stages, from dump to rows.
    pub funnel: Vec<FunnelStep>,
    /// The meanings of these stages' codes, each once.
    pub meanings: Vec<(String, String)>,
    /// The day of the newest dated post of the dumps.
    pub newest: Option<String>,
    /// Differences from the paper, with the current settings.
    pub differs: Vec<&'static Difference>,
    /// The work of models and people.
    pub work: Work,
    /// The dumps, of every recipe that rows come from.
    pub raw: Vec<Raw>,
    /// Their sources, in order, each with the licences it states.
    pub sources: Vec<(String, String)>,
    /// The licence of the whole set.
    pub licence: Licence,
    /// The argument of `load_dataset`: its name on the Hub, or a folder.
    pub place: String,
    /// The set's address; a URN if the settings have none.
    pub url: String,
    /// The curator's texts, by subject; null for missing ones.
    pub curator: BTreeMap<&'static str, Option<String>>,
    /// Files that the curator has not written.
    pub missing: Vec<String>,
    /// This release and those before it, newest first.
    pub changes: Vec<Changes>,
    /// What was done about personal data in texts, and what was not.
    pub personal: String,
    /// Settings by stage.
    pub settings: BTreeMap<String, BTreeMap<String, Json>>,
    /// The program's version.
    pub riddlemill: &'static str,
}

/// A config for the templates.
#[derive(Clone, Debug, Serialize)]
pub struct Shape {
    pub name: &'static str,
    /// A description of a row.
    pub about: &'static str,
    /// The figures of what was written.
    pub written: Written,
    /// How its rows are divided; null if they are in one file.
    pub divided: Option<Divided>,
    pub columns: Vec<ColumnShape>,
    /// Files of the published form.
    pub compat: Vec<&'static str>,
    /// Those of them that are separate configs.
    pub tables: Vec<TableShape>,
    /// The task, if there is one.
    pub task: Option<TaskShape>,
}

/// A file of compat/ that is a separate config, for the templates.
#[derive(Clone, Debug, Serialize)]
pub struct TableShape {
    /// The config's name.
    pub name: &'static str,
    /// The file under compat/.
    pub file: &'static str,
    pub rows: u64,
    /// Its columns; empty if one of its keys is not a column, so that readers have to infer the types.
    pub columns: Vec<ColumnShape>,
}

/// A column for the templates.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnShape {
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Its type in `dataset_info`.
    pub hub: &'static str,
    /// Whether it is a list.
    pub list: bool,
    /// Whether it may be null.
    pub nullable: bool,
    /// How many rows lack it.
    pub nulls: u64,
}

/// A task for the templates.
#[derive(Clone, Debug, Serialize)]
pub struct TaskShape {
    /// The column with the options; null if the answer is a text.
    pub options: Option<&'static str>,
    /// The column with the answer.
    pub gold: &'static str,
}

/// A stage for the templates.
#[derive(Clone, Debug, Serialize)]
pub struct FunnelStep {
    /// Its name.
    pub stage: String,
    /// Records in.
    pub records_in: u64,
    /// Records out.
    pub records_out: u64,
    /// Outcomes other than kept: state, reason, count, meaning.
    pub reasons: Vec<(String, String, u64, String)>,
}

/// The subjects of a curator's texts: the file's name without `.md`, and a description.
pub const SUBJECTS: &[(&str, &str)] = &[
    ("rationale", "why the set was made, and why so"),
    ("uses", "what it is good for, and what it must not be used for"),
    ("limits", "biases, risks and limitations"),
    ("contact", "who answers questions and takes back rows"),
    ("authors", "the authors to cite, one name per line"),
    ("funding", "who paid"),
];

/// The curator's texts: `<folder>/<recipe>/<subject>.md`, else `<folder>/<subject>.md`.
pub fn read_curator_texts(
    root: &Path,
    settings: &sections::Release,
    recipe: &str,
) -> BTreeMap<&'static str, Option<String>> {
    let folder = root.join(&settings.curator);
    let read = |path: &Path| {
        let text = fence::read_to_string(path).ok()?;
        // The bytes of a release must not depend on the system on which the text was written.
        let text = text.replace("\r\n", "\n").trim().to_string();
        (!text.is_empty()).then_some(text)
    };
    let text_of = |subject: &str| {
        let file = format!("{subject}.md");
        read(&folder.join(recipe).join(&file)).or_else(|| read(&folder.join(&file)))
    };
    SUBJECTS.iter().map(|(subject, _)| (*subject, text_of(subject))).collect()
}

/// Why a set can only be a draft.
pub fn draft_reasons(
    raw: &[Raw],
    layouts: &[Layout],
    written: &[Written],
    work: &Work,
    recipe: &str,
) -> Vec<String> {
    let mut why = Vec::new();
    if raw.iter().any(|r| r.sample) {
        let files: Vec<&str> = raw.iter().filter(|r| r.sample).map(|r| r.file.as_str()).collect();
        why.push(format!("built from the synthetic sample ({})", files.join(", ")));
    }
    for (layout, written) in layouts.iter().zip(written) {
        let Some(column) = layout.standing else { continue };
        for standing in ["provisional", "synthetic"] {
            let rows = written.labels.get(column).and_then(|l| l.get(standing)).copied().unwrap_or(0);
            if rows > 0 {
                // Written out, because the Chinese follow the sentences.
                why.push(match rows {
                    1 => format!("1 row of {} is {standing}: people still have to confirm it", layout.config),
                    _ => format!(
                        "{rows} rows of {} are {standing}: people still have to confirm them",
                        layout.config
                    ),
                });
            }
        }
    }
    if layouts.iter().all(|l| l.standing.is_none()) && !raw.iter().any(|r| r.sample) {
        // Rows that do not say how sure they are: the steps of people do.
        if work.decided.iter().all(|step| step.confirmed + step.rewritten == 0) {
            why.push(format!("{recipe} ends at candidates: no person has looked at them"));
        }
        for step in work.decided.iter().filter(|step| step.provisional + step.synthetic > 0) {
            let unsure = step.provisional + step.synthetic;
            why.push(match unsure {
                1 => format!("1 item of {} is provisional or decided by synthetic votes", step.stage),
                _ => {
                    format!("{unsure} items of {} are provisional or decided by synthetic votes", step.stage)
                }
            });
        }
    }
    why
}

impl Facts {
    /// The files of rows of each config.
    pub(super) fn files_of_configs(&self) -> Vec<&[WrittenSplit]> {
        self.configs.iter().map(|config| config.written.splits.as_slice()).collect()
    }

    /// Collects the facts about a recipe's rows. Version, date, canary and changes are those of a candidate.
    ///
    /// # Errors
    /// [`RunError`] if replies or votes cannot be read.
    pub(super) fn gather(
        config: &Config,
        recipe: &'static Recipe,
        layouts: &[Layout],
        written: Vec<Written>,
        guessed: Vec<Guessed>,
        origin: Origin,
        stages: &[Link],
    ) -> Result<Facts, RunError> {
        let settings: sections::Release = config.typed_settings(Some(recipe.name), "release");
        let curator = read_curator_texts(&config.root, &settings, recipe.name);
        let missing = SUBJECTS.iter().filter(|(subject, _)| curator.get(subject).is_none_or(Option::is_none));
        let missing =
            missing.map(|(subject, what)| format!("{}/{subject}.md: {what}", settings.curator)).collect();
        let Origin { raw, newest, left_out, crossing } = origin;
        let work = work::gather(config, recipe, stages)?;
        let paper = recipe.paper;
        let sample = raw.iter().any(|file| file.sample).then_some("synthetic");
        let tags = paper.tags.iter().copied().chain(["benchmark", "evaluation"]).chain(sample).collect();
        let mut funnel: Vec<FunnelStep> = stages.iter().map(funnel_step).collect();
        add_conditions(&left_out, &mut funnel);
        let settings_of = stages.iter().map(|s| (s.stage.clone(), s.settings.clone())).collect();
        Ok(Facts {
            recipe: recipe.name,
            about: recipe.about,
            paper,
            rebuilds: paper.is_rebuild(),
            title: title_of_set(paper, recipe.name),
            authors: parse_authors(&curator),
            tags,
            annotations_creators: annotator_kinds(&work),
            version: "0.0.0-candidate".into(),
            date: newest.clone().max(work.newest.clone()),
            candidate: true,
            canary: None,
            draft: draft_reasons(&raw, layouts, &written, &work, recipe.name)
                .into_iter()
                .chain(guessed.iter().flat_map(Guessed::draft_reasons))
                .collect(),
            left_out,
            crossing,
            waiting: 0,
            refused: Vec::new(),
            alike: Vec::new(),
            guessed,
            exported: Vec::new(),
            configs: layouts
                .iter()
                .zip(written)
                .map(|(layout, written)| shape_of_config(layout, written))
                .collect(),
            meanings: reason_meanings(&funnel),
            funnel,
            newest,
            differs: differences_from_paper(config, recipe),
            work,
            licence: Licence::combine_licences(&settings, &raw),
            sources: licences_by_source(&raw),
            raw,
            place: match settings.url.strip_prefix("https://huggingface.co/datasets/") {
                Some(name) => name.trim_end_matches('/').into(),
                None => "path/to/this/folder".into(),
            },
            url: match settings.url.as_str() {
                "" => format!("urn:riddlemill:{}", recipe.name),
                url => url.into(),
            },
            curator,
            missing,
            changes: Vec::new(),
            personal: super::personal::describe_personal_data(&settings_of),
            settings: settings_of,
            riddlemill: crate::VERSION,
        })
    }
}

/// A rebuilt set carries the published one's name beside its own, so that nobody takes one for the other.
fn title_of_set(paper: &Paper, recipe: &str) -> String {
    match (paper.is_rebuild(), paper.set) {
        (true, set) => format!("{set}, rebuilt: {recipe}"),
        (false, "") => recipe.into(),
        (false, set) => set.into(),
    }
}

/// The authors that the curator named, one a line.
fn parse_authors(curator: &BTreeMap<&'static str, Option<String>>) -> Vec<String> {
    let names = curator.get("authors").and_then(Option::as_deref).unwrap_or_default();
    names.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The differences from the paper with the current settings.
fn differences_from_paper(config: &Config, recipe: &'static Recipe) -> Vec<&'static Difference> {
    let undone = |(key, wanted): &(&str, &str)| {
        let Some((section, name)) = key.split_once('.') else { return false };
        let set = |of: &Recipe| match config.stage_settings(Some(of.name), section).get(name) {
            Some(Json::Array(list)) => list.iter().any(|value| value == wanted),
            Some(value) => value == wanted,
            None => false,
        };
        // A recipe that continues another one's rows shares that one's differences.
        set(recipe) || set(recipe.origin_recipe())
    };
    let holds =
        |difference: &&Difference| difference.unless.is_empty() || !difference.unless.iter().all(undone);
    recipe.paper.differs.iter().filter(holds).collect()
}

/// Who annotated the rows, in the Hub's terms. Synthetic votes do not count.
fn annotator_kinds(work: &Work) -> Vec<&'static str> {
    let sum = |count: fn(&work::ReviewCounts) -> u64| work.decided.iter().map(count).sum::<u64>();
    let people = (sum(|step| step.confirmed + step.rewritten) > 0).then_some("expert-generated");
    let models = work.asked.iter().any(|step| !step.models.is_empty()).then_some("machine-generated");
    let synthetic = (sum(|step| step.synthetic) > 0).then_some("other");
    let found: Vec<&str> = people.into_iter().chain(models).chain(synthetic).collect();
    if found.is_empty() { vec!["no-annotation"] } else { found }
}

fn shape_of_config(layout: &Layout, written: Written) -> Shape {
    let column =
        |c: &super::layout::Column| shape_of_column(c, written.nulls.get(c.name).copied().unwrap_or(0));
    let task = layout.task.map(|task| {
        let (options, gold) = match task.answer {
            AnswerForm::Choice { options, gold } => (Some(options), gold),
            AnswerForm::Words(gold) => (None, gold),
        };
        TaskShape { options, gold }
    });
    let table = |compat: &Compat| {
        let rows = written.compat.get(compat.file).copied().filter(|rows| *rows > 0)?;
        let own = |(key, value): &(&'static str, Expression)| {
            let column = layout.columns.iter().find(|column| column.name == value.source())?;
            // A cell of such a table holds a list as text.
            let as_text = matches!(compat.form, CompatFormat::Csv | CompatFormat::Tsv)
                && column.kind.split_list_kind().0;
            if as_text {
                return None;
            }
            Some(ColumnShape { name: key, ..self::shape_of_column(column, 0) })
        };
        let columns: Option<Vec<ColumnShape>> = compat.keys.iter().map(own).collect();
        Some(TableShape {
            name: compat.config?,
            file: compat.file,
            rows,
            columns: columns.unwrap_or_default(),
        })
    };
    Shape {
        name: layout.config,
        about: layout.about,
        tables: layout.compat.iter().filter_map(table).collect(),
        columns: layout.columns.iter().map(column).collect(),
        compat: layout.compat.iter().map(|c| c.file).collect(),
        task,
        divided: layout.declared_splits().map(Divided::describe_splits),
        written,
    }
}

fn shape_of_column(column: &super::layout::Column, nulls: u64) -> ColumnShape {
    let (list, item) = column.kind.split_list_kind();
    let hub = match item {
        ColumnKind::Count => "int64",
        ColumnKind::Real => "float64",
        ColumnKind::Flag => "bool",
        _ => "string",
    };
    ColumnShape { name: column.name, about: column.about, hub, list, nullable: column.nullable, nulls }
}

/// Reasons in the order of the funnel, each once with its meaning.
fn reason_meanings(funnel: &[FunnelStep]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (_, code, _, meaning) in funnel.iter().flat_map(|step| &step.reasons) {
        if found.iter().all(|(known, _)| known != code) {
            found.push((code.clone(), meaning.clone()));
        }
    }
    found
}

/// The conditions of `[data]`, which are told as steps behind the last stage.
fn add_conditions(left_out: &[LeftOut], funnel: &mut Vec<FunnelStep>) {
    for stage in [WHEN, REQUIRES] {
        let stopped: Vec<&LeftOut> = left_out.iter().filter(|left| left.stage == stage).collect();
        let Some(records_in) = funnel.last().map(|last| last.records_out).filter(|_| !stopped.is_empty())
        else {
            continue;
        };
        let reason = |left: &&LeftOut| {
            let meaning =
                left.says.as_deref().or(crate::stages::define_code(&left.reason)).unwrap_or_default();
            (left.state.clone(), left.reason.clone(), left.items.count, meaning.to_owned())
        };
        let reasons: Vec<_> = stopped.iter().map(reason).collect();
        let records_out = records_in - reasons.iter().map(|(.., n, _)| n).sum::<u64>().min(records_in);
        funnel.push(FunnelStep { stage: stage.to_owned(), records_in, records_out, reasons });
    }
}

fn funnel_step(link: &Link) -> FunnelStep {
    let mut reasons = Vec::new();
    for state in State::ALL {
        let prefix = format!("{}/", state.code());
        for (key, n) in &link.counts.reasons {
            if let Some(code) = key.strip_prefix(&prefix) {
                let meaning = crate::stages::define_code(code).unwrap_or_default();
                reasons.push((state.code().to_string(), code.to_string(), *n, meaning.to_string()));
            }
        }
    }
    FunnelStep {
        stage: link.stage.clone(),
        records_in: link.counts.records_in,
        records_out: link.counts.records_out,
        reasons,
    }
}

/// The origin of the rows, and the items that did not become rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// The dumps.
    pub raw: Vec<Raw>,
    /// The day of the newest dated record in them.
    pub newest: Option<String>,
    /// Items that wait, failed, or lack required values.
    pub left_out: Vec<LeftOut>,
    /// Rows of two splits that became near after their release.
    pub crossing: Vec<(String, String)>,
}
