//! `endpoint try`: one request that shows whether an endpoint's settings work.

use std::sync::Arc;

use serde_json::{Value, json};

use super::args::{EndpointVerb, Global, TryEndpoint};
use super::exit::{Exit, Failure};
use super::output::{self, count, format_count};
use super::progress::RunConsole;
use crate::config::{sections, unknown};
use crate::llm::{Answer, Ask, Endpoint, Message, Output, RequestContent, Role, Run, Trial, Usd};
use crate::pipeline::{KeyedSentence, Remedy, Word, remedy_of_request};
use crate::record::{Cause, Reason};
use crate::stages::Stop;
use crate::stages::draft::{self, LlmContext};

/// The name of its prompt in the store, and of its budget.
const NAME: &str = "endpoint/try";
const SYSTEM: &str = "You answer in JSON.";
const QUESTION: &str = "一斤铁和一斤棉花，哪个重？ (A pound of iron and a pound of cotton: which is heavier?) Reply with a JSON object and nothing else: {\"answer\": \"…\", \"why\": \"…\"}, in English, with at most ten words in each.";
const FIELDS: [&str; 2] = ["answer", "why"];
/// The text for a server that only translates, and for embeddings.
const TEXT: &str = "一斤铁和一斤棉花，哪个重？";
/// Characters of a reply that are shown.
const SHOWN: usize = 300;

pub(super) fn run_endpoint_verb(verb: &EndpointVerb, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    match verb {
        EndpointVerb::Try(args) => try_one(args, global, stop),
    }
}

fn try_one(args: &TryEndpoint, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let endpoint = config.endpoints.iter().find(|endpoint| endpoint.name == args.name).ok_or_else(|| {
        let names = config.endpoints.iter().map(|endpoint| endpoint.name.as_str());
        Failure::usage(unknown("endpoint", &args.name, names))
    })?;
    let endpoint = &draft::with_pack_of(&config, endpoint);
    let settings: sections::Run = config.typed_settings(None, "run");
    let max = args.max_usd.or((settings.max_usd > 0.0).then_some(settings.max_usd));
    let run = Run::new(max.map(Usd::from_dollars));
    if args.yes || args.max_usd.is_some() {
        run.agree_to_cost();
    }
    output::warn_of_short_keys(&config, global);
    output::warn_of_unsent(&config, global);
    let console = RunConsole::new(global.quiet, global.verbose, None);
    let asking = LlmContext {
        config: &config,
        recipe: NAME,
        run: &run,
        offline: false,
        retry_failed: false,
        accept_before: false,
        stop,
        pulse: &console,
    };
    let trial = draft::try_endpoint(endpoint, trial_ask(args.embedding), &asking)?;
    output::print_remarks(&run, global);
    if global.json {
        output::print_json(&trial_json(endpoint, &trial))?;
    } else {
        output::print_text(&trial_text(endpoint, &trial))?;
    }
    Ok(match &trial.answer {
        Answer::Reply(_) => Exit::Done,
        // Nothing was sent, because the settings do not suffice.
        Answer::Held(held) if held.reason != Reason::AnswerCut => Exit::Usage,
        _ => Exit::Partial,
    })
}

fn trial_ask(embedding: bool) -> Ask {
    if embedding {
        return Ask::for_embedding("try", TEXT);
    }
    let messages = vec![Message::new(Role::System, SYSTEM), Message::new(Role::User, QUESTION)];
    let fields = FIELDS.map(|field| (field.to_owned(), json!({"type": "string"})));
    let schema = json!({"type": "object", "properties": fields.into_iter().collect::<serde_json::Map<_, _>>(),
        "required": FIELDS, "additionalProperties": false});
    Ask {
        record: "try".into(),
        template: NAME.into(),
        what: RequestContent::Chat { messages, output: Output::Json },
        sample: 0,
        reask: 0,
        text: Some(TEXT.into()),
        schema: Some(Arc::new(schema)),
    }
}

/// What is wrong, and what mends it.
fn find_problem(endpoint: &Endpoint, answer: &Answer) -> Option<(String, String)> {
    let (what, hint) = match answer {
        Answer::Reply(_) => return None,
        Answer::Held(held) => {
            let hint = match held.what.cause() {
                Some(Cause::NoKey { variable, .. }) => {
                    Some(KeyedSentence::from_word(Word::Export, [variable]).in_english())
                }
                Some(Cause::NoPrice { endpoint }) => {
                    Some(KeyedSentence::from_word(Word::SetPrices, [endpoint]).in_english())
                }
                Some(Cause::NoConsent { command, .. }) => Some(command.clone()),
                Some(Cause::Budget { .. }) => {
                    Some("give a higher --max-usd, or raise the cap that is named".into())
                }
                _ => None,
            };
            (held.what.to_string(), hint)
        }
        Answer::Failed(failed) => {
            let hint = match failed.error.cause() {
                Some(Cause::Request(request)) => match remedy_of_request(endpoint, request) {
                    Remedy::First(what) => Some(what.in_english()),
                    _ => None,
                },
                _ => None,
            };
            (failed.error.to_string(), hint)
        }
    };
    Some((what, hint.unwrap_or_default()))
}

/// Whether the schema was kept to, in words.
fn describe_structured(endpoint: &Endpoint, trial: &Trial) -> Option<String> {
    let reply = trial.answer.reply().filter(|reply| reply.vector.is_none())?;
    let parsed = serde_json::from_str::<Value>(reply.text.trim()).ok();
    let fits = parsed.is_some_and(|value| FIELDS.iter().all(|field| value[*field].is_string()));
    Some(match (trial.schema, fits) {
        (true, true) => "the schema was sent, and the reply has its fields".into(),
        (true, false) => format!(
            "the schema was sent, but the reply does not keep to it; set structured = false under [llm.{}]",
            endpoint.name
        ),
        (false, _) => {
            format!("not asked for; --set llm.{}.structured=true tries it", endpoint.name)
        }
    })
}

fn trial_text(endpoint: &Endpoint, trial: &Trial) -> String {
    let provider = serde_json::to_value(endpoint.provider).unwrap_or_default();
    let provider = provider.as_str().unwrap_or_default().to_owned();
    let mut lines = vec![(
        "endpoint",
        format!("llm.{}: {provider} at {}", endpoint.name, without_query(&endpoint.base_url)),
    )];
    if let Some((what, hint)) = find_problem(endpoint, &trial.answer) {
        lines.push(("no reply", what));
        if !hint.is_empty() {
            lines.push(("next", hint));
        }
    }
    if let Some(reply) = trial.answer.reply() {
        let shown = match &reply.vector {
            Some(vector) => format!("a vector of {} numbers", format_count(vector.len() as u64)),
            None => shorten_text(&reply.text),
        };
        lines.push(("reply", shown));
        if !trial.reasoning.trim().is_empty() {
            let chars = count(trial.reasoning.chars().count() as u64, "character");
            lines.push(("reasoning", format!("{chars}, kept apart from the reply")));
        }
        if reply.marks.truncated {
            lines.push((
                "cut",
                format!(
                    "at sampling.max_tokens = {}; raise it under [llm.{}]",
                    endpoint.sampling.max_tokens, endpoint.name
                ),
            ));
        }
        let asked = &endpoint.model;
        lines.push((
            "model",
            match &trial.model {
                Some(named) if named == asked => named.clone(),
                Some(named) => format!("{named}, as the server names it; {asked} was asked for"),
                None => format!("{asked}; the server does not name it"),
            },
        ));
        if trial.responses {
            lines.push(("API", "responses".into()));
        }
        lines.extend(describe_structured(endpoint, trial).map(|structured| ("structured", structured)));
        lines.push((
            "tokens",
            match trial.usage {
                Some(usage) => format!(
                    "{} in ({} cached), {} out ({} reasoning)",
                    format_count(usage.prompt_tokens),
                    format_count(usage.cached_tokens),
                    format_count(usage.completion_tokens),
                    format_count(usage.reasoning_tokens)
                ),
                None => "the server does not count them: each request is charged its reservation".into(),
            },
        ));
        lines.push((
            "cost",
            match endpoint.free {
                true => "free".into(),
                false => format!("{}, of at most {}", trial.charged, trial.at_most),
            },
        ));
    }
    if let Some(millis) = trial.elapsed_ms {
        lines.push(("time", format!("{:.2} s", millis as f64 / 1000.0)));
    }
    lines.into_iter().map(|(name, value)| format!("{name:<11}{value}\n")).collect()
}

fn trial_json(endpoint: &Endpoint, trial: &Trial) -> Value {
    let problem = find_problem(endpoint, &trial.answer);
    let reply = trial.answer.reply();
    json!({
        "endpoint": endpoint.name, "asked_model": endpoint.model, "model": trial.model,
        "reply": reply.map(|reply| &reply.text), "dimensions": reply.and_then(|reply| Some(reply.vector.as_ref()?.len())),
        "api": if trial.responses { "responses" } else { "chat" }, "schema": trial.schema,
        "usage": trial.usage, "usd": trial.charged.in_dollars(), "at_most_usd": trial.at_most.in_dollars(),
        "elapsed_ms": trial.elapsed_ms, "problem": problem.as_ref().map(|(what, _)| what),
        "next": problem.as_ref().map(|(_, hint)| hint).filter(|hint| !hint.is_empty()),
    })
}

/// An address without its query, which may hold a key.
fn without_query(address: &str) -> &str {
    address.split('?').next().unwrap_or_default()
}

fn shorten_text(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
