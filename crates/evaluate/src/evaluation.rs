//! One complete evaluation: ask, parse, judge, compute figures.

use std::collections::BTreeMap;

use super::answer::{Answer, NoAnswer, RawAnswer};
use super::ask::{Missing, Model, OwedAnswer, Plan};
use super::ballots;
use super::builtin::BuiltIn;
use super::converse::{hold_conversations, longest_requests as longest_game};
use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::join;
use super::judge;
use super::load::load_set;
use super::outputs::{self, File};
use super::released::add_released_answers;
use super::results::Results;
use super::set::{PARTS, Set};
use super::tables::{
    Report, ScoreBook, Scores, add_scores, calibration_tables, compute_report, conversation_tables,
    replies_table, sample_tables,
};
use super::task::Task;
use crate::config::{Config, sections};
use crate::llm::{Endpoint, Estimate, Prompts, Reading, Run, estimate_with};
use crate::pipeline::read_blinding;
use crate::recipe;
use crate::review::agreement::Bootstrap;
use crate::stages::draft::{LlmContext, endpoints_by_name, load_prompts, open_store, papers_own};
use crate::stages::{Pulse, Stop};
use crate::store::Workspace;
use riddlemill_text::hint::unknown;

/// What is evaluated, with which options.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `[llm.<name>]`s and built-in models.
    pub models: Vec<String>,
    /// Judges, as `[llm.<name>]`; the recipe's own if none is given.
    pub judges: Vec<String>,
    /// Only these tasks; all if none is given.
    pub tasks: Vec<Task>,
    /// Numbers of solved examples, one setting each.
    pub shots: Vec<u8>,
    /// Also with chain of thought.
    pub cot: bool,
    /// Only the rows of this split.
    pub split: Option<String>,
    /// Most items.
    pub limit: Option<usize>,
    /// The column whose values each have their share of the limit.
    pub strata: Option<String>,
    /// Folders of results whose answers are joined.
    pub joined: Vec<File>,
    /// Outputs made elsewhere.
    pub outputs: Vec<File>,
    /// Filled-in ballots.
    pub ballots: Vec<File>,
    /// Seed of draws and intervals.
    pub seed: u64,
    /// Resamples per interval.
    pub resamples: usize,
}

/// Access to models.
pub struct ModelAccess<'a> {
    /// The workspace's settings.
    pub config: &'a Config,
    /// The run that is charged.
    pub run: &'a Run,
    /// Sends nothing.
    pub offline: bool,
    /// Checked while requests are in flight.
    pub stop: &'a Stop,
    /// Receives the progress.
    pub pulse: &'a dyn Pulse,
}

/// A set with all answers and ratings.
pub struct Evaluated {
    pub set: Set,
    pub recipe: &'static str,
    /// The answers, rated.
    pub answers: Vec<Answer>,
    /// Missing replies.
    pub missing: Vec<Missing>,
    /// Lines and rows that were set aside.
    pub skipped: Vec<SetAside>,
    /// Answers that nobody has judged.
    pub unjudged: usize,
    pub report: Report,
    bootstrap: Bootstrap,
    seed: u64,
}

impl Evaluated {
    /// The contents of a results folder.
    pub fn results(&self) -> Results<'_> {
        Results {
            report: &self.report,
            answers: &self.answers,
            missing: &self.missing,
            skipped: &self.skipped,
            bootstrap: self.bootstrap,
            seed: self.seed,
            rows_hash: &self.set.rows_hash,
        }
    }
}

/// A set, the plan of questions, and the judges.
struct Work {
    set: Set,
    recipe: &'static str,
    skipped: Vec<SetAside>,
    plan: Plan,
    judges: Vec<Endpoint>,
    /// The identity of each model behind its endpoint, by which bars and packs name it.
    identities: BTreeMap<String, String>,
    /// What is to be known of the call and of the files of outputs.
    remarks: Vec<String>,
}

fn prepare_set(name: &str, settings: &Settings, config: &Config) -> Result<Work, EvaluateError> {
    let (mut set, skipped) = load_set(&Workspace::new(&config.root), name, settings.split.as_deref())?;
    let paper = papers_own(config);
    set.items.iter_mut().chain(&mut set.examples).for_each(|item| item.paper = paper);
    if let Some(limit) = settings.limit {
        // The limit applies to the items of the tasks: if answered in free text, only to new situations.
        let takes = |item: &Item| settings.tasks.iter().any(|task| item.has_task(*task));
        if !settings.tasks.is_empty() {
            set.items.retain(takes);
        }
        if let Some(column) = &settings.strata {
            known_column(&set, column)?;
        }
        set.limit_items(limit, settings.seed, settings.strata.as_deref());
    }
    let recipe = recipe::find_recipe(&set.config).map_or("", |recipe| recipe.name);
    let mut models = Vec::new();
    let mut identities = BTreeMap::new();
    for name in &settings.models {
        match BuiltIn::find_baseline(name) {
            Some(model) => models.push(Model::BuiltIn(model)),
            None => {
                for endpoint in named_or_unknown(config, "--model", name)? {
                    identities.insert(endpoint.name.clone(), endpoint.identity().to_owned());
                    models.push(Model::Endpoint(Box::new(endpoint)));
                }
            }
        }
    }
    let judges = match settings.judges.is_empty() {
        true => config.typed_settings::<sections::Judge>(Some(recipe), "judge").endpoints,
        false => settings.judges.clone(),
    };
    let judges = endpoints_by_name(config, "--judge", judges, false)?;
    let tasks = Plan::select_tasks(&set.config, &settings.tasks, &settings.shots, settings.cot);
    let talks = tasks.iter().map(|(task, _)| task).find(|task| task.conversation().is_some());
    if let Some(task) = talks.filter(|_| judges.is_empty() && models.iter().any(Model::is_asked)) {
        return Err(EvaluateError::Unknown(format!(
            "{task} is a conversation, and nobody replies to the model\n  hint: --judge NAME names the model that knows the \
             answers; --task leaves a task out"
        )));
    }
    let plan = Plan { models, tasks, host: judges.first().cloned(), seed: settings.seed };
    let remarks = plan.describe_unused(&settings.shots, settings.cot);
    Ok(Work { plan, set, recipe, skipped, judges, identities, remarks })
}

/// Refuses a column that no row has.
fn known_column(set: &Set, column: &str) -> Result<(), EvaluateError> {
    let has = |item: &Item| column == PARTS || item.row().contains_key(column);
    if set.items.is_empty() || set.items.iter().any(has) {
        return Ok(());
    }
    let columns = set.items.first().into_iter().flat_map(|item| item.row().keys()).map(String::as_str);
    let known = unknown("column", column, columns.chain([PARTS]));
    Err(EvaluateError::Unknown(format!("--strata: {}: {known}", set.name())))
}

/// Everything that can be refused is, before the first request: every set, model and folder.
fn prepare_all(names: &[String], settings: &Settings, config: &Config) -> Result<Vec<Work>, EvaluateError> {
    let mut works: Vec<Work> =
        names.iter().map(|name| prepare_set(name, settings, config)).collect::<Result<_, _>>()?;
    for task in &settings.tasks {
        if !works.iter().any(|work| Task::of_config(&work.set.config).contains(task)) {
            let sets: Vec<String> = works.iter().map(|work| work.set.name()).collect();
            let tasks = works.iter().flat_map(|work| Task::of_config(&work.set.config));
            let tasks: Vec<&str> = tasks.map(Task::name).collect();
            let what = format!(
                "--task: {task} is no task of {}\n  hint: there are {}",
                sets.join(", "),
                tasks.join(", ")
            );
            return Err(EvaluateError::Unknown(what));
        }
    }
    let is_judged = |work: &Work| {
        let judged = |task: Task| task.conversation().is_some() || task.task_declaration().judged.is_some();
        work.plan.tasks.iter().any(|(task, _)| judged(*task))
    };
    if !settings.judges.is_empty()
        && !works.iter().any(is_judged)
        && let Some(first) = works.first_mut()
    {
        first.remarks.push("No task here has a judge, so that --judge changes nothing".to_owned());
    }
    let sets: Vec<&Set> = works.iter().map(|work| &work.set).collect();
    join::check_folders(&sets, &settings.joined)?;
    Ok(works)
}

/// An endpoint; unlike for drafts, the default one must exist too.
fn named_or_unknown(config: &Config, key: &str, name: &str) -> Result<Vec<Endpoint>, EvaluateError> {
    let found = endpoints_by_name(config, key, vec![name.to_owned()], false)?;
    if found.is_empty() {
        let built_in = BuiltIn::ALL.map(BuiltIn::name).join(" and ");
        let what = format!("{key}: there is no [llm.{name}]\n  hint: {built_in} need none");
        return Err(EvaluateError::Unknown(what));
    }
    Ok(found)
}

impl<'a> ModelAccess<'a> {
    fn llm_context(&self, recipe: &'static str) -> LlmContext<'a> {
        let ModelAccess { config, run, offline, stop, pulse } = *self;
        // No votes depend on half an answer here, and no figure may.
        LlmContext { config, recipe, run, offline, retry_failed: false, accept_before: false, stop, pulse }
    }
}

/// Evaluates sets, one after the other; RuozhiBench-MC after Gen is compared with it (figure 8).
///
/// # Errors
/// [`EvaluateError`] if a set, a model, a file or the store cannot be used, and after a Ctrl-C.
pub fn evaluate_sets(
    names: &[String],
    settings: &Settings,
    access: &ModelAccess<'_>,
) -> Result<Vec<Evaluated>, EvaluateError> {
    let mut answered = Vec::new();
    for work in prepare_all(names, settings, access.config)? {
        answered.push(answer_set(work, settings, access)?);
    }
    let bootstrap = Bootstrap { resamples: settings.resamples, seed: settings.seed, level: 0.95 };
    let score_tables: Vec<ScoreBook<'_>> = answered
        .iter()
        .map(|of| {
            ScoreBook::new(
                &of.work.set,
                &of.answers,
                &settings.models,
                list_model_sizes(access.config),
                bootstrap,
            )
        })
        .collect();
    let mut other_scores = Scores::new();
    for scores in &score_tables {
        add_scores(scores, &mut other_scores);
    }
    let reports = score_tables.iter().zip(&answered).map(|(scores, of)| {
        let mut report = compute_report(scores, &other_scores);
        report.tables.extend(conversation_tables(scores));
        report.tables.extend(sample_tables(scores));
        report.tables.extend(calibration_tables(scores));
        report.tables.extend(replies_table(scores, &of.missing));
        report.drawn = of.work.plan.describe_requests(&of.work.set);
        report.drawn.extend(of.work.remarks.iter().cloned());
        report
    });
    let reports: Vec<Report> = reports.collect();
    drop(score_tables);
    let evaluated = answered.into_iter().zip(reports).map(|(of, report)| {
        let unjudged = of.answers.iter().filter(|answer| {
            !answer.task.is_choice() && answer.format_error.is_none() && answer.ratings.is_empty()
        });
        Evaluated {
            unjudged: unjudged.count(),
            set: of.work.set,
            recipe: of.work.recipe,
            answers: of.answers,
            missing: of.missing,
            skipped: of.work.skipped,
            report,
            bootstrap,
            seed: settings.seed,
        }
    });
    Ok(evaluated.collect())
}

/// What the models of a plan answer, in one turn or in several, and what is missing.
fn collect_answers(
    work: &Work,
    prompts: &Prompts,
    context: &LlmContext<'_>,
) -> Result<(Vec<Answer>, Vec<Missing>), EvaluateError> {
    let (mut answers, mut missing) = work.plan.ask_models(&work.set, prompts, context)?;
    let draft: sections::Draft = context.config.typed_settings(Some(context.recipe), "draft");
    let (more, lacking) = hold_conversations(&work.plan, &work.set, prompts, draft.max_reasks, context)?;
    answers.extend(more);
    missing.extend(lacking);
    Ok((answers, missing))
}

struct Answered {
    work: Work,
    answers: Vec<Answer>,
    missing: Vec<Missing>,
}

fn answer_set(
    mut work: Work,
    settings: &Settings,
    access: &ModelAccess<'_>,
) -> Result<Answered, EvaluateError> {
    let prompts = load_prompts(access.config)?;
    let asking = access.llm_context(work.recipe);
    let (mut answers, mut missing) = collect_answers(&work, &prompts, &asking)?;
    let made = outputs::read(&work.set, &settings.outputs, &mut answers)?;
    work.skipped.extend(made.skipped);
    work.remarks.extend(made.remarks);
    missing.extend(made.missing);
    work.skipped.extend(join::join_answers(&work.set, &settings.joined, &settings.tasks, &mut answers)?);
    add_released_answers(&work.set, &settings.tasks, &mut answers);
    let judges = std::mem::take(&mut work.judges);
    let judged = |answers: &mut [Answer], judges| {
        judge::judge_answers(&work.set, answers, judges, &work.identities, &prompts, settings.seed, &asking)
    };
    missing.extend(judged(&mut answers, judges.clone())?);
    let before = answers.len();
    let skipped = add_votes(&work.set, settings, access.config, &mut answers)?;
    // All at once, whatever stands between them: each call opens the store, and sends batches of its own.
    let places: Vec<usize> = (before..answers.len()).filter(|at| !is_rated(&answers[*at])).collect();
    let mut written: Vec<Answer> = places.iter().map(|at| answers[*at].clone()).collect();
    missing.extend(judged(&mut written, judges)?);
    for (at, answer) in places.into_iter().zip(written) {
        answers[at] = answer;
    }
    work.skipped.extend(skipped);
    Ok(Answered { work, answers, missing })
}

/// Whether what people write needs no judge: it is a choice, or people rate it and the judge of the task is not for them.
fn is_rated(answer: &Answer) -> bool {
    let task = answer.task.task_declaration();
    let by_judge = task.judged.as_ref().is_some_and(|judged| judged.people);
    task.people.as_ref().is_none_or(|people| people.is_rating() && !(by_judge && people.write))
}

/// Adds people's answers behind the others, and their ratings to those that they rated.
fn add_votes(
    set: &Set,
    settings: &Settings,
    config: &Config,
    answers: &mut Vec<Answer>,
) -> Result<Vec<SetAside>, EvaluateError> {
    if settings.ballots.is_empty() {
        return Ok(Vec::new());
    }
    let blinding = read_blinding(&Workspace::new(&config.root)).map_err(EvaluateError::Store)?;
    ballots::read_ballots(set, &settings.ballots, answers, settings.seed, &blinding)
}

/// The sizes stated for endpoints, by every name that their answers may have.
fn list_model_sizes(config: &Config) -> BTreeMap<String, f64> {
    let sized = config.endpoints.iter().filter_map(|endpoint| Some((endpoint, endpoint.size_b?)));
    sized
        .flat_map(|(endpoint, size)| {
            [endpoint.name.clone(), endpoint.identity().to_owned()].map(|name| (name, size))
        })
        .collect()
}

/// The requests and cost of an evaluation: for models all of them; for judges at least those on existing
/// answers, and at most also those on answers still to come, each of maximum length.
///
/// # Errors
/// Those of [`evaluate_sets`].
pub fn estimate_sets(
    names: &[String],
    settings: &Settings,
    access: &ModelAccess<'_>,
) -> Result<Vec<(String, Estimate)>, EvaluateError> {
    let mut estimates = Vec::new();
    let offline = ModelAccess { offline: true, ..*access };
    for work in prepare_all(names, settings, access.config)? {
        let prompts = load_prompts(access.config)?;
        let store = open_store(access.config)?;
        let draft: sections::Draft = access.config.typed_settings(Some(work.recipe), "draft");
        let reading = Reading { read: &|_, _| Ok(()), max_reasks: draft.max_reasks };
        let count = |endpoint: &Endpoint, what: &str, asks: &[crate::llm::Ask]| {
            // Answers are never re-asked, ratings are.
            let reading = (what == "ratings").then_some(&reading);
            estimate_with(&store, endpoint, what, asks, reading, false)
                .map_err(crate::stages::StageError::from)
        };
        for model in &work.plan.models {
            if let Model::Endpoint(endpoint) = model {
                let requests = work.plan.build_requests(&work.set, &prompts, &endpoint.model)?;
                let asks: Vec<_> = requests.into_iter().map(|(_, ask)| ask).collect();
                estimates.push((work.set.name(), count(endpoint, "answers", &asks)?));
            }
        }
        let asking = offline.llm_context(work.recipe);
        let (mut answers, missing) = collect_answers(&work, &prompts, &asking)?;
        outputs::read(&work.set, &settings.outputs, &mut answers)?;
        join::join_answers(&work.set, &settings.joined, &settings.tasks, &mut answers)?;
        add_released_answers(&work.set, &settings.tasks, &mut answers);
        let before = answers.len();
        add_votes(&work.set, settings, access.config, &mut answers)?;
        let written = answers.split_off(before);
        answers.extend(written.into_iter().filter(|answer| !is_rated(answer)));
        let asks = |answers: &[Answer]| {
            let Work { set, judges, identities, .. } = &work;
            judge::list_requests(set, answers, judges, identities, &prompts, settings.seed, &asking)
        };
        let judged = asks(&answers)?;
        for model in &work.plan.models {
            let (Model::Endpoint(player), Some(host)) = (model, &work.plan.host) else { continue };
            let [questions, replies] = longest_game(&work.plan, &work.set, player, &prompts, &answers)?;
            if !questions.is_empty() {
                estimates.push((work.set.name(), count(player, "questions", &questions)?));
                estimates.push((work.set.name(), count(host, "replies", &replies)?));
            }
        }
        // What was cut may be whole when it is asked for again.
        let again = answers.iter().filter(|answer| answer.no_answer == Some(NoAnswer::Cut));
        let again: Vec<Answer> =
            again.filter_map(|cut| longest_answer(&work, OwedAnswer::of_answer(cut))).collect();
        answers.extend(again);
        answers.extend(
            missing.iter().filter_map(|missing| longest_answer(&work, OwedAnswer::of_missing(missing))),
        );
        for ((judge, at_least), at_most) in work.judges.iter().zip(judged).zip(asks(&answers)?) {
            let min_usd = count(judge, "ratings", &at_least)?.min_usd;
            estimates.push((work.set.name(), Estimate { min_usd, ..count(judge, "ratings", &at_most)? }));
        }
    }
    Ok(estimates)
}

/// An answer of maximum length in place of one that is owed.
fn longest_answer(work: &Work, owed: OwedAnswer<'_>) -> Option<Answer> {
    let item = work.set.items.iter().find(|item| item.id == owed.item)?;
    let model = work.plan.models.iter().find(|model| model.name() == owed.model)?;
    let Model::Endpoint(endpoint) = model else { return None };
    // Distinct names, because requests about two answers are two, whatever their texts.
    let further = if owed.sample == 0 { String::new() } else { format!(" {}", owed.sample) };
    let name = format!("{} {:?}{further}", owed.model, owed.setting);
    let most = endpoint.larger_token_limit().unwrap_or(endpoint.sampling.max_tokens);
    let text = name + &" a".repeat(most as usize);
    let OwedAnswer { task, setting, sample, .. } = owed;
    let (model, basis) = (owed.model.to_owned(), String::new());
    let given = RawAnswer { task, setting, model, person: false, sample, basis, text };
    Some(Answer::parse_raw(item, given))
}
