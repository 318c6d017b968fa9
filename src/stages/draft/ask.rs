//! Asking a model for drafts: one request a question, one outcome a question.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Draft;
use crate::config::{Config, sections};
use crate::llm::settings::Provider;
use crate::llm::{
    Ask, CancellationToken, Endpoint, Engine, Limits, Parsed, Progress, Prompts, Run, Store, Usd, ask_parsed,
};
use crate::record::{Outcome, Question, Reason};
use crate::review::Values;
use crate::stages::{Pulse, StageError, Stop};
use crate::store::{StageWriter, Workspace};

/// The reply of a stage that has no endpoint to ask.
const NO_ENDPOINT: &str = "no endpoint to ask: pipeline.toml has no [llm.sample] and [draft] names no other";

/// What the asking is done with.
pub struct Asking<'a> {
    /// The workspace's settings.
    pub config: &'a Config,
    /// The recipe: its settings and its budget.
    pub recipe: &'static str,
    /// The run that is charged.
    pub run: &'a Run,
    /// Sends nothing.
    pub offline: bool,
    /// Looked at while requests are in flight.
    pub stop: &'a Stop,
    /// Told what is done.
    pub pulse: &'a dyn Pulse,
}

/// The endpoint that the settings name for a draft, its pack's path resolved. `None` where the default one is
/// not set: then drafts wait.
///
/// # Errors
/// [`StageError::Settings`] where another name is not set, or its server only translates.
pub fn endpoint(draft: Draft, config: &Config, recipe: &str) -> Result<Option<Endpoint>, StageError> {
    let settings: sections::Draft = config.typed(Some(recipe), "draft");
    let (key, name) = match draft {
        Draft::Translation if !settings.translator.is_empty() => ("draft.translator", settings.translator),
        _ => ("draft.endpoint", settings.endpoint),
    };
    let Some(mut endpoint) = config.endpoints.iter().find(|e| e.name == name).cloned() else {
        if name == "sample" {
            return Ok(None);
        }
        let known: Vec<&str> = config.endpoints.iter().map(|e| e.name.as_str()).collect();
        return Err(StageError::Settings(format!(
            "{key}: there is no [llm.{name}]\n  hint: there are {}",
            if known.is_empty() { "none".into() } else { known.join(", ") }
        )));
    };
    if endpoint.provider == Provider::Libretranslate && draft != Draft::Translation {
        return Err(StageError::Settings(format!(
            "{key}: [llm.{name}] only translates\n  hint: draft.translator = {name:?}, and another draft.endpoint"
        )));
    }
    endpoint.pack = endpoint.pack.map(|pack| config.root.join(pack));
    Ok(Some(endpoint))
}

/// Whether an endpoint may answer tomorrow what it did not answer today.
pub fn sends(endpoint: &Endpoint) -> bool {
    endpoint.provider != Provider::Sample
}

/// The prompts, the workspace's own in `prompts/` among them.
///
/// # Errors
/// [`StageError::Settings`] naming the file that is no prompt.
pub fn prompts(config: &Config) -> Result<Prompts, StageError> {
    Prompts::load(Some(&config.root.join("prompts"))).map_err(settings_error)
}

/// The workspace's reply store; its index lies outside raw/ and may be deleted.
///
/// # Errors
/// [`StageError::Replies`] where it cannot be opened.
pub fn open_store(config: &Config) -> Result<Store, StageError> {
    let replies = Workspace::new(&config.root).raw().join("replies");
    Ok(Store::open(&replies, &config.root.join(".index").join("replies.sqlite"))?)
}

fn settings_error(error: impl std::fmt::Display) -> StageError {
    StageError::Settings(error.to_string())
}

/// A step's requests, one a question, in their order.
///
/// # Errors
/// [`StageError::Settings`] where the prompt asks for what the step does not give.
pub fn requests(draft: Draft, prompts: &Prompts, questions: &[Question]) -> Result<Vec<Ask>, StageError> {
    let request = |question: &Question| {
        let prompt = prompts.render(draft.template(), draft.values(question)).map_err(settings_error)?;
        Ok(Ask { text: draft.text(question), ..Ask::new(&question.id, prompt, 0) })
    };
    questions.iter().map(request).collect()
}

/// What a draft stage rests on besides its input: the prompt and the replies that are there, as
/// `<how many> <hash>`. `questions` is called only where requests have to be rendered.
///
/// # Errors
/// [`StageError`] where prompts, pack or store cannot be read.
pub fn evidence(
    draft: Draft,
    config: &Config,
    recipe: &str,
    questions: impl FnOnce() -> Result<Vec<Question>, StageError>,
) -> Result<BTreeMap<String, String>, StageError> {
    let prompts = prompts(config)?;
    let prompt = prompts.hash(draft.template()).map_err(settings_error)?;
    let mut evidence = BTreeMap::from([(format!("prompt {}", draft.template()), prompt[..16].to_string())]);
    let replies = match endpoint(draft, config, recipe)? {
        None => counted(Vec::new()),
        Some(endpoint) if !sends(&endpoint) => counted(
            endpoint.pack.as_deref().map(|pack| pack_lines(pack, draft.template())).unwrap_or_default(),
        ),
        // A store that is not there is not made by looking.
        Some(_) if !Workspace::new(&config.root).raw().join("replies").exists() => counted(Vec::new()),
        Some(endpoint) => {
            let store = open_store(config)?;
            let mut stored = Vec::new();
            for ask in requests(draft, &prompts, &questions()?)? {
                let key = Engine::request(&endpoint, &ask).key();
                if store.contains(&key)? {
                    stored.push(key.to_string());
                }
            }
            counted(stored)
        }
    };
    evidence.insert("replies".into(), replies);
    Ok(evidence)
}

/// The lines of a pack that answer one template. What is wrong with a pack is told when it is used.
fn pack_lines(pack: &Path, template: &str) -> Vec<String> {
    let text = fs::read_to_string(pack).unwrap_or_default();
    let of_template = |line: &&str| {
        let line: Option<serde_json::Value> = serde_json::from_str(line).ok();
        line.is_some_and(|line| line["template"] == template)
    };
    text.lines().filter(of_template).map(str::to_string).collect()
}

fn counted(mut names: Vec<String>) -> String {
    names.sort();
    names.dedup();
    let mut hasher = blake3::Hasher::new();
    for name in &names {
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    format!("{} {}", names.len(), &hasher.finalize().to_hex()[..16])
}

/// Drafts one step for all questions. A question whose reply is missing is held, one whose reply cannot
/// be read failed; where the step is optional both go on without a draft.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C, when what was in flight is stored; else where prompts, endpoint
/// or store cannot be used.
pub fn draft(
    draft: Draft,
    questions: Vec<Question>,
    asking: &Asking<'_>,
    writer: &mut StageWriter<Question>,
) -> Result<(), StageError> {
    let settings: sections::Draft = asking.config.typed(Some(asking.recipe), "draft");
    let review: sections::Review = asking.config.typed(Some(asking.recipe), "review");
    let optional = review.optional.iter().any(|step| step == draft.name());
    let prompts = prompts(asking.config)?;
    let parsed = match endpoint(draft, asking.config, asking.recipe)? {
        None => questions.iter().map(|_| waits(NO_ENDPOINT)).collect(),
        Some(_) if questions.is_empty() => Vec::new(),
        Some(endpoint) => ask(draft, requests(draft, &prompts, &questions)?, endpoint, &settings, asking)?,
    };
    asking.stop.check()?;
    let prompt = prompts.hash(draft.template()).map_err(settings_error)?;
    let named = format!("{} {}", draft.template(), &prompt[..8]);
    for (question, parsed) in questions.into_iter().zip(parsed) {
        writer.put(question.id.clone(), outcome(draft, question, parsed, &named, optional));
    }
    Ok(())
}

fn waits(what: &str) -> Parsed<Values> {
    Parsed::Held(crate::llm::Held { reason: Reason::ReplyMissing, what: what.into() })
}

fn ask(
    draft: Draft,
    asks: Vec<Ask>,
    endpoint: Endpoint,
    settings: &sections::Draft,
    asking: &Asking<'_>,
) -> Result<Vec<Parsed<Values>>, StageError> {
    let cancel = CancellationToken::new();
    let cap = (settings.max_usd > 0.0).then(|| Usd::from_dollars(settings.max_usd));
    let limits = Limits {
        offline: asking.offline,
        cancel: cancel.clone(),
        run: asking.run.clone(),
        recipe: Some((asking.recipe.to_string(), cap)),
    };
    let store = Arc::new(open_store(asking.config)?);
    let engine = Engine::new(store, endpoint, limits).map_err(settings_error)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|e| StageError::Settings(format!("cannot start the network runtime: {e}")))?;
    let told = AtomicUsize::new(0);
    let started = std::time::Instant::now();
    let on_event = |progress: &Progress| {
        let finished = progress.finished();
        let before = told.fetch_max(finished, Ordering::Relaxed);
        asking.pulse.advance(finished.saturating_sub(before) as u64);
        asking.pulse.say(&words(progress, started.elapsed()));
    };
    Ok(runtime.block_on(async {
        let work = ask_parsed(&engine, asks, |_, reply| draft.read(reply), settings.max_reasks, on_event);
        tokio::pin!(work);
        loop {
            tokio::select! {
                parsed = &mut work => break parsed,
                // What is in flight is finished and kept; nothing new goes out.
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    if asking.stop.asked() {
                        cancel.cancel();
                    }
                }
            }
        }
    }))
}

/// `412 asked, 80 stored, 3 failed, 64 in flight, 120,400 tokens, $0.0312`.
fn words(progress: &Progress, elapsed: Duration) -> String {
    let tokens = progress.prompt_tokens + progress.completion_tokens;
    let left = progress.eta(elapsed).map(|left| format!(", {} s left", left.as_secs())).unwrap_or_default();
    format!(
        "{} asked, {} stored, {} failed, {} in flight, {tokens} tokens, {}{left}",
        progress.done, progress.stored, progress.failed, progress.in_flight, progress.charged
    )
}

fn outcome(
    draft: Draft,
    mut question: Question,
    parsed: Parsed<Values>,
    prompt: &str,
    optional: bool,
) -> Outcome<Question> {
    let (reason, evidence, held) = match parsed {
        Parsed::Value { value, reply, reasks } => {
            let origin = if reply.marks.sample { "sample" } else { "reply" };
            let basis = format!("{origin}:{}", reply.key);
            let again = if reasks > 0 { format!(", asked again {reasks}×") } else { String::new() };
            let cut = if reply.marks.truncated { ", cut at max_tokens" } else { "" };
            let evidence = format!("{basis} to {prompt}{again}{cut}");
            draft.apply(&mut question, &value, basis);
            return changed(question, Reason::Drafted, evidence, shown(draft, &value));
        }
        Parsed::Held(held) => (held.reason, held.what, true),
        Parsed::Failed(failed) => {
            let raw =
                if failed.raw.is_empty() { String::new() } else { format!("; it said: {}", failed.raw) };
            (failed.reason, format!("{} (reply:{}){raw}", failed.error, failed.key), false)
        }
    };
    match (optional, held) {
        (true, _) => {
            question.set_flags(draft.name(), [format!("not drafted: {}", reason.code())]);
            changed(question, Reason::NotDrafted, evidence, String::new())
        }
        (false, true) => Outcome::Held { reason, evidence },
        (false, false) => Outcome::Failed { reason, evidence },
    }
}

fn changed(row: Question, reason: Reason, evidence: String, after: String) -> Outcome<Question> {
    Outcome::Changed { row, rule: reason.code(), evidence, before: String::new(), after }
}

/// The draft as a ledger shows it: the answers in ballot form.
fn shown(draft: Draft, values: &Values) -> String {
    let field = match draft {
        Draft::Screen => "screen",
        Draft::Translation => "question_en",
        Draft::Irrationality => "irrationality",
        Draft::Category => "categories",
        Draft::Pair => "pair",
    };
    values.get(field).map(ToString::to_string).unwrap_or_else(|| "none".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_counts_and_does_not_hang_on_order() {
        let names = |names: &[&str]| counted(names.iter().map(ToString::to_string).collect());
        assert_eq!(names(&["b", "a"]), names(&["a", "b"]));
        assert!(names(&["a", "b"]).starts_with("2 "));
        assert_ne!(names(&["ab"]), names(&["a", "b"]));
    }

    #[test]
    fn what_is_missing_is_held_and_what_is_optional_goes_on() {
        let question = Question { id: "q".into(), ..Question::default() };
        let held = outcome(Draft::Pair, question.clone(), waits("w"), "p", false);
        assert!(matches!(held, Outcome::Held { reason: Reason::ReplyMissing, .. }));
        let Outcome::Changed { row, rule, .. } = outcome(Draft::Pair, question, waits("w"), "p", true) else {
            panic!("an optional draft held its question");
        };
        assert_eq!(
            (rule, row.flags_of("pair")),
            ("not_drafted", vec!["not drafted: reply_missing".to_string()])
        );
    }
}
