//! The verbs, one file each: arguments, a library call, text for people or JSON for machines.
//!
//! Data goes to stdout, messages to stderr. Every error ends in one of the codes of [`Exit`].

// First, so that its `eprintln!` is used in all other modules.
#[macro_use]
mod terminal;

mod access;
mod apply;
mod args;
mod aside;
mod ask;
mod assemble;
mod audit;
mod batches;
mod benchmark;
mod carry;
mod commands;
mod compare;
mod complete;
mod config;
mod contamination;
mod convert;
mod crawl;
mod decide;
mod diff;
mod disk;
mod disputes;
mod endpoint;
mod estimate;
mod evaluate;
mod example_replies;
mod example_votes;
mod exit;
mod explain;
mod export;
mod fetch;
mod fsck;
mod init;
mod look;
mod manual;
mod next;
mod origins;
mod output;
mod prices;
mod profiles;
mod progress;
mod prompts;
mod proposals;
mod propose;
mod publish;
mod published;
mod raw;
mod reference;
mod rehearse;
mod release;
mod released;
mod replies;
mod report;
mod review;
mod review_session;
mod run;
mod serve;
mod sheets;
mod show;
mod site;
mod spinner;
mod stage_table;
mod status;
mod trials;
mod trust;
mod verbs;
mod verify;
mod withdraw;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

use crate::stages::Stop;
use args::{Cli, Verb};
pub use exit::Exit;
use exit::Failure;

/// Parses the arguments, runs the verb, reports errors.
pub fn main() -> ExitCode {
    // If a shell requests completions, the program prints them and ends here.
    CompleteEnv::with_factory(Cli::command).complete();
    let cli = Cli::parse_from(help_of_verb(std::env::args_os()));
    let verbs = Cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    commands::remember_call(&cli.global.workspace, recipes_given(&cli.verb), verbs);
    let stop = Arc::new(Stop::default());
    // Verbs without intermediate state can simply be killed.
    if matches!(cli.verb, Verb::Run(_) | Verb::Crawl(_) | Verb::Evaluate(_) | Verb::Serve(_)) {
        let computes = matches!(cli.verb, Verb::Run(_) | Verb::Evaluate(_));
        watch_interrupt(&stop, cli.global.quiet, computes);
    }
    // These have progress bars of their own, or print as they go.
    if !matches!(
        cli.verb,
        Verb::Run(_) | Verb::Crawl(_) | Verb::Evaluate(_) | Verb::Serve(_) | Verb::Fetch(_) | Verb::Apply(_)
    ) && !cli.global.quiet
    {
        spinner::start_spinner("working".into(), progress::spinner_style());
    }
    if cli.global.json {
        output::expect_json();
    }
    let ended = run_verb(&cli, &stop).and_then(|exit| output::finish_output().map(|()| exit));
    // A verb that printed nothing has left the spinner on the terminal.
    spinner::stop_spinner();
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print_failure(cli.global.json);
            failure.exit.into()
        }
    }
}

/// The arguments; those of `help` without flags: clap takes the `--help` of `help run --help` for a verb's name.
fn help_of_verb(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|verb| verb == "help") {
        args.retain(|arg| arg != "--help" && arg != "-h");
    }
    args
}

/// The recipes that a call selects, which the commands that it proposes select, too.
fn recipes_given(verb: &Verb) -> &[String] {
    match verb {
        Verb::Status(only) | Verb::Audit(only) => &only.recipes,
        Verb::Run(args) => &args.only.recipes,
        Verb::Explain(args) => &args.only.recipes,
        Verb::Show(args) => &args.only.recipes,
        Verb::Report(args) => &args.only.recipes,
        Verb::Estimate(args) => &args.only.recipes,
        _ => &[],
    }
}

fn run_verb(cli: &Cli, stop: &Stop) -> Result<Exit, Failure> {
    let global = &cli.global;
    if global.workspace.is_file() {
        return Err(Failure::usage(format!(
            "{} is a file\n  hint: -C takes the folder that holds pipeline.toml",
            global.workspace.display()
        )));
    }
    // Before every verb: benchmarks/ of the workspace adds or replaces recipes, which verbs find by name.
    crate::recipe::load_own_benchmarks(&global.workspace)?;
    // It lists them itself.
    if !matches!(cli.verb, Verb::Benchmark { .. }) {
        output::warn_of_folders_set_aside(global);
    }
    match &cli.verb {
        Verb::Init(args) => propose::init_workspace(args, global),
        Verb::Config(args) => config::print_config(args, global),
        Verb::Fetch(args) => fetch::fetch_sources(args, global),
        Verb::Run(args) => run::run_pipeline(args, global, stop),
        Verb::Status(args) => status::print_status(args, global),
        Verb::Explain(args) => explain::explain_record(args, global),
        Verb::Show(args) => show::show_records(args, global),
        Verb::Audit(args) => audit::audit_recipes(args, global),
        Verb::Published(args) => published::report_published(args, global),
        Verb::Fsck(args) => fsck::check_workspace(args, global),
        Verb::Raw(verb) => raw::run_raw_verb(verb, global),
        Verb::Report(args) => report::print_report(args, global),
        Verb::Crawl(args) => crawl::crawl_source(args, global, stop),
        Verb::Release(args) => release::run_release(args, global),
        Verb::Withdraw(args) => withdraw::withdraw_posts(args, global),
        Verb::Verify(args) => verify::verify_release(args, global),
        Verb::Publish(args) => publish::publish_release(args, global),
        Verb::Site(args) => site::make_site(args, global),
        Verb::Diff(args) => diff::diff_releases(args, global),
        Verb::Compare(args) => compare::compare_reference(args, global),
        Verb::Contamination(args) => contamination::find_contamination(args, global),
        Verb::Evaluate(args) => evaluate::evaluate_models(args, global, stop),
        Verb::Export(args) => export::export_release(args, global),
        Verb::Apply(args) => apply::apply_stage(args, global),
        Verb::Assemble(args) => assemble::assemble_partitions(args, global),
        Verb::Review { verb } => review::run_review_verb(verb, global),
        Verb::Decide { verb } => decide::run_decide_verb(verb, global),
        Verb::Serve(args) => serve::serve_workspace(args, global, stop),
        Verb::Access { verb } => access::run_access_verb(verb, global),
        Verb::Trust { verb } => trust::run_trust_verb(verb.as_ref(), global),
        Verb::Estimate(args) => estimate::print_estimate(args, global),
        Verb::Endpoint { verb } => endpoint::run_endpoint_verb(verb, global, stop),
        Verb::Prices { verb } => prices::run_prices_verb(verb, global),
        Verb::Replies { verb } => replies::run_replies_verb(verb, global),
        Verb::Benchmark { verb } => benchmark::run_benchmark_verb(verb, global),
        Verb::Profiles { verb } => profiles::run_profiles_verb(verb, global),
        Verb::Prompts { verb } => prompts::run_prompts_verb(verb, global),
        Verb::Completions(args) => manual::print_completions(args),
        Verb::Man(args) => manual::write_man_pages(args),
    }
}

/// How long a stage may take to stop by itself.
const PATIENCE: Duration = Duration::from_millis(1700);

/// The first Ctrl-C asks the current stage to stop after the part it is writing; the second ends the process,
/// which loses only that stage. A stage that `computes` and does not stop in time, because a rule works on one
/// long text, is ended too: nothing is lost but what the next run computes again. Replies that are paid for are
/// waited for.
fn watch_interrupt(stop: &Arc<Stop>, quiet: bool, computes: bool) {
    let stop = Arc::clone(stop);
    let watching = ctrlc::set_handler(move || {
        if stop.is_requested() {
            std::process::exit(Exit::Interrupted as i32);
        }
        stop.request_stop();
        if computes {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                while !stop.may_end() {
                    std::thread::sleep(Duration::from_millis(20));
                }
                if !quiet {
                    eprintln!(
                        "stopped in the middle of a stage; the same command continues, and makes that stage again"
                    );
                }
                std::process::exit(Exit::Interrupted as i32);
            });
        }
        if !quiet {
            eprintln!("stopping; finished work is kept. Press Ctrl-C again to stop at once");
        }
    });
    // Without the handler Ctrl-C still ends the process, and only complete stages are in the store.
    let _ = watching;
}
