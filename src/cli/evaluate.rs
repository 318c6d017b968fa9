//! `evaluate`: asks models about a set, and writes the papers' tables.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::{Evaluate, Global};
use super::estimate::{estimate_line, missing_settings};
use super::exit::{Exit, Failure};
use super::output::{self, count, format_count};
use super::progress::RunConsole;
use super::terminal::count_columns;
use crate::config::Config;
use crate::evaluate::outputs::{File, NO_OUTPUT};
use crate::evaluate::{
    self as evaluating, Answer, EvaluateError, Evaluated, Missing, ModelAccess, NoAnswer, Settings, ballots,
    figure_files, format_errors, names, without_answer,
};
use crate::figures;
use crate::llm::{Estimate, Run, Usd};
use crate::pipeline::read_blinding;
use crate::record::Reason;
use crate::report::RequestCost;
use crate::stages::{Pulse, Stop};
use crate::store::{Workspace, durable};

/// Most lines shown about skipped or missing answers; the folder has all.
const SHOWN: usize = 10;

/// A progress bar that estimates the remaining work.
struct EvaluationBar<'a> {
    console: &'a RunConsole<'a>,
    /// The sets and settings; `None` if only the cost is estimated.
    ahead: Option<(&'a Config, &'a [String], &'a Settings)>,
}

impl Pulse for EvaluationBar<'_> {
    fn report_done(&self, records: u64) {
        self.console.report_done(records);
    }

    fn begin_part(&self, name: &str, records: u64) {
        // An estimate reads stored replies and asks nobody.
        if self.ahead.is_some() {
            self.console.start_task(name, records);
        }
    }

    fn show_status(&self, message: &str) {
        self.console.show_status(message);
    }

    fn notify_user(&self, message: &str) {
        self.console.notify_user(message);
    }

    fn ask_consent(&self, question: &str) -> Option<bool> {
        self.console.ask_consent(question)
    }

    fn ask_trust(&self, question: &str) -> Option<bool> {
        self.console.ask_trust(question)
    }

    /// The number of answers over all sets and models, and of their ratings.
    fn estimate_cost(&self, requests: usize) -> Option<String> {
        let (config, sets, settings) = self.ahead?;
        let (run, stop, pulse) =
            // Without `ahead`, so that the estimate does not ask for an outlook itself.
            (Run::default(), Stop::default(), EvaluationBar { console: self.console, ahead: None });
        let means = ModelAccess { config, run: &run, offline: true, stop: &stop, pulse: &pulse };
        // The question can be asked without this figure.
        let estimates = evaluating::estimate_sets(sets, settings, &means).ok()?;
        let all: usize = estimates.iter().map(|(_, estimate)| estimate.requests).sum();
        // One request without a price makes the whole sum unknown.
        let max: Option<Usd> = estimates.iter().map(|(_, estimate)| estimate.max_usd).sum();
        let more = format!("up to {} until this evaluation ends", count(all as u64, "request"));
        // Otherwise the question already names all requests.
        (all > requests).then(|| match max {
            Some(max) => format!("at most {} for {more}", max.in_cents()),
            None => format!("and {more}, some without a price"),
        })
    }
}

/// Whether a set's rows already contain models' answers, by the benchmark in its name.
fn has_answers(set: &str) -> bool {
    let named =
        riddlemill_benchmarks::all_benchmarks().iter().filter(|benchmark| set.starts_with(benchmark.name));
    named.flat_map(|benchmark| &benchmark.tasks).any(|task| task.released.is_some())
}

pub(super) fn evaluate_models(args: &Evaluate, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    let config = output::load_or_default(global)?;
    if args.models.is_empty()
        && args.outputs.is_empty()
        && args.join.is_empty()
        && args.ballots.is_empty()
        && args.write_ballots.is_none()
        && !args.sets.iter().any(|set| has_answers(set))
    {
        let what = "no model was given\n  hint: --model random needs no endpoint; --outputs reads answers \
                    made elsewhere, --join results of other evaluations";
        return Err(Failure::usage(what));
    }
    let files = |names: &[String]| names.iter().map(|name| File::named(name)).collect();
    let settings = Settings {
        models: names::expand_endpoints(&config, "--model", &args.models)?,
        judges: names::expand_endpoints(&config, "--judge", &args.judges)?,
        tasks: names::expand_tasks(&args.tasks)?,
        shots: args.shots.clone(),
        cot: args.cot,
        limit: args.limit,
        split: args.split.clone(),
        strata: args.strata.clone(),
        joined: files(&args.join),
        outputs: files(&args.outputs),
        ballots: files(&args.ballots),
        seed: args.seed,
        resamples: args.resamples,
    };
    let whole: crate::config::sections::Run = config.typed_settings(None, "run");
    let max = args.max_usd.or((whole.max_usd > 0.0).then_some(whole.max_usd));
    let run = Run::new(max.map(Usd::from_dollars));
    // Who gives a cap to this call agrees to that much.
    if args.yes || args.max_usd.is_some() {
        run.agree_to_cost();
    }
    let console = RunConsole::new(global.quiet, global.verbose, None);
    let ahead = (!args.dry_run).then_some((&config, &args.sets[..], &settings));
    let bar = EvaluationBar { console: &console, ahead };
    let means = ModelAccess { config: &config, run: &run, offline: args.offline, stop, pulse: &bar };
    if args.dry_run {
        return print_estimates(args, &settings, &means, global);
    }
    if !args.offline {
        output::warn_of_short_keys(&config, global);
        output::warn_of_unsent(&config, global);
    }
    let evaluated = evaluating::evaluate_sets(&args.sets, &settings, &means);
    console.finish();
    let evaluated = evaluated?;
    output::print_remarks(&run, global);
    let mut machine = Vec::new();
    let mut exit = Exit::Done;
    let mut drawn = 0;
    for one in &evaluated {
        // First, because a ballot that may be filled in stops the verb before anything is written.
        if let Some(folder) = &args.write_ballots {
            write_ballots(&config, folder, one, evaluated.len() > 1, global)?;
        }
        let place = evaluation_folder(args, &config, one, evaluated.len() > 1);
        evaluating::write_results(&place, &one.results())?;
        if let Some(folder) = &args.figures {
            let files = figure_files(&one.report, &one.set.name());
            figures::write(folder, &files)?;
            drawn += files.len();
            if files.is_empty() && !global.quiet {
                eprintln!("{} has no figures: none of its tasks was answered", one.set.name());
            }
        }
        match global.json {
            true => machine.push(json!({ "folder": place, "report": one.report,
                "answers": one.answers.len(), "format_errors": format_errors(&one.answers),
                "cut": without_answer(&one.answers, NoAnswer::Cut),
                "refused": without_answer(&one.answers, NoAnswer::Refused),
                "missing": one.missing, "set_aside": one.skipped })),
            false => output::print_text(&evaluation_text(one, &place))?,
        }
        print_evaluated(one, global);
        if !one.skipped.is_empty() || one.missing.iter().any(has_failed) {
            exit = Exit::Partial;
        }
    }
    if let Some(folder) = &args.figures {
        super::report::print_figures(folder, drawn, global);
    }
    if global.json {
        output::print_json(&machine)?;
    }
    Ok(exit)
}

/// Whether a reply is missing because its endpoint failed, or a file of outputs lacks it, and not because nobody was to be asked.
fn has_failed(missing: &Missing) -> bool {
    let failures = [Reason::RequestFailed, Reason::EndpointLeft, Reason::RequestRefused];
    missing.reason == NO_OUTPUT || failures.iter().any(|reason| reason.code() == missing.reason)
}

/// `output/<recipe>/evaluation/<version>`, or the folder given.
fn evaluation_folder(args: &Evaluate, config: &Config, one: &Evaluated, several: bool) -> PathBuf {
    match &args.out {
        // Several sets would overwrite each other's files.
        Some(folder) if several => folder.join(one.set.name()),
        Some(folder) => folder.clone(),
        None => {
            let candidate = Workspace::new(&config.root).candidate_folder(one.recipe);
            candidate.with_file_name("evaluation").join(&one.set.version)
        }
    }
}

fn write_ballots(
    config: &Config,
    folder: &Path,
    one: &Evaluated,
    several: bool,
    global: &Global,
) -> Result<(), Failure> {
    let folder = if several { folder.join(one.set.name()) } else { folder.to_path_buf() };
    durable::create_folder(&folder)?;
    let blinding = read_blinding(&Workspace::new(&config.root))?;
    let sheets = ballots::create_blank_sheets(&one.set, &one.answers, one.results().seed, &blinding);
    for sheet in sheets.map_err(|e| Failure { exit: Exit::Io, message: e.to_string() })? {
        let path = folder.join(&sheet.name);
        // A file that a person may have filled in is not overwritten.
        if path.exists() {
            return Err(Failure::usage(format!(
                "{} already exists, and may be filled in; it was not changed\n  hint: give another folder to --write-ballots",
                path.display()
            )));
        }
        durable::replace_file(&path, &sheet.bytes)?;
    }
    if !global.quiet {
        eprintln!("{}: blank ballots in {}", one.set.name(), folder.display());
        for (task, why) in ballots::tasks_without_sheet(&one.set) {
            eprintln!("note: no sheet for {task}: {why}");
        }
    }
    Ok(())
}

/// The tables for the terminal.
fn evaluation_text(one: &Evaluated, place: &Path) -> String {
    let mut text = format!("{}\n", one.set.name());
    for table in &one.report.tables {
        text.push_str(&format!("\n{}", table.render_text(count_columns)));
    }
    text.push_str(&format!("\n{} in {}\n", count(one.answers.len() as u64, "answer"), place.display()));
    text
}

/// Prints what is missing, with hints.
fn print_evaluated(one: &Evaluated, global: &Global) {
    if global.quiet {
        return;
    }
    if let Some(withdrawn) = one.report.describe_withdrawn() {
        eprintln!("{}: {withdrawn}; the figures are for the other {}", one.set.name(), one.report.items);
    }
    if let Some(sample) = &one.report.sample {
        eprintln!("{}: {}", one.set.name(), sample.describe_sample());
    }
    for drawn in &one.report.drawn {
        eprintln!("{}: {drawn}", one.set.name());
    }
    for line in one.skipped.iter().take(SHOWN) {
        eprintln!("warning: {}: {}", line.place, line.what);
    }
    if one.skipped.len() > SHOWN {
        eprintln!("warning: and {} more, in set_aside.jsonl", one.skipped.len() - SHOWN);
    }
    let is_reply = |answer: &&Answer| answer.is_reply() || answer.is_output();
    let replies = one.answers.iter().filter(is_reply).count();
    for (why, said) in [(NoAnswer::Cut, "cut"), (NoAnswer::Refused, "refused")] {
        let all = || one.answers.iter().filter(|answer| answer.no_answer == Some(why));
        if let Some(first) = all().next() {
            eprintln!(
                "{}: {} of {} {said}, and counted as wrong; the first: {} {} of {}: {}",
                one.set.name(),
                count(all().count() as u64, "reply"),
                format_count(replies as u64),
                first.model,
                first.task,
                first.item,
                first.format_error.as_deref().unwrap_or_default()
            );
        }
    }
    print_missing_outputs(one);
    let mut replies = one.missing.iter().filter(|missing| missing.reason != NO_OUTPUT);
    if let Some(first) = replies.next() {
        eprintln!(
            "{}: {} missing, in missing.jsonl, and the same call asks for them alone; the first: {} {} of {}: {}",
            one.set.name(),
            count(replies.count() as u64 + 1, "reply"),
            first.model,
            first.task,
            first.item,
            first.what
        );
    }
    if one.unjudged > 0 {
        eprintln!(
            "{}: {} not judged; --judge NAME has them judged, --write-ballots lets people do it",
            one.set.name(),
            count(one.unjudged as u64, "answer")
        );
    }
}

/// Prints how many rows each model of files of outputs leaves without an answer.
fn print_missing_outputs(one: &Evaluated) {
    let mut rest: Vec<&Missing> = one.missing.iter().filter(|missing| missing.reason == NO_OUTPUT).collect();
    while let Some(first) = rest.first().copied() {
        let is_same = |other: &&Missing| {
            (&other.model, other.task, other.setting) == (&first.model, first.task, first.setting)
        };
        let (group, others): (Vec<&Missing>, Vec<&Missing>) = rest.into_iter().partition(is_same);
        rest = others;
        let asked = one.set.items.iter().filter(|item| item.has_task(first.task)).count();
        eprintln!(
            "{}: {} of {} of {}, {}, have no answer of {}: they are in no figure of it, and in missing.jsonl; the first: {}",
            one.set.name(),
            format_count(group.len() as u64),
            count(asked as u64, "row"),
            first.task,
            first.setting,
            first.model,
            first.item
        );
    }
}

fn print_estimates(
    args: &Evaluate,
    settings: &Settings,
    means: &ModelAccess<'_>,
    global: &Global,
) -> Result<Exit, Failure> {
    let estimates = evaluating::estimate_sets(&args.sets, settings, means)?;
    if global.json {
        let rows: Vec<_> =
            estimates.iter().map(|(set, one)| RequestCost::new(set, &one.stage, one)).collect();
        output::print_json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    let mut before = "";
    for (set, estimate) in &estimates {
        if set != before {
            text.push_str(&format!("{set}\n"));
            before = set;
        }
        text.push_str(&estimate_line(&estimate.stage, &estimate.endpoint, estimate));
    }
    text.push_str(&total_line(&estimates));
    text.push_str(&missing_settings(means.config, estimates.iter().map(|(_, estimate)| estimate)));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

/// All sets, models and judges together; the lines above are its parts.
fn total_line(estimates: &[(String, Estimate)]) -> String {
    if estimates.len() < 2 {
        return String::new();
    }
    let all: usize = estimates.iter().map(|(_, estimate)| estimate.requests).sum();
    // One request without a price makes the whole sum unknown.
    let max: Option<Usd> = estimates.iter().map(|(_, estimate)| estimate.max_usd).sum();
    let usd =
        max.map_or_else(|| "some without a price".to_owned(), |max| format!("at most {}", max.in_cents()));
    format!("all together: {}, {usd}\n", count(all as u64, "request"))
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Failure {
        match error {
            EvaluateError::Store(error) => error.into(),
            EvaluateError::Stage(error) => error.into(),
            other => Failure::usage(other.to_string()),
        }
    }
}
