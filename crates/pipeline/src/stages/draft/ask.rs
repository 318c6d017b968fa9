//! Asks models for drafts: one request for each record and slot, one outcome for each record.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;

use super::consent::require_consent;
use super::flight::{EndpointLoad, describe_progress, stop_message};
use super::outcome::{ReplyOutcome, outcome_of_record};
use super::{
    Demands, DraftStep, LlmContext, Slot, endpoints_of_draft, is_optional, is_skipped, is_unseen,
    may_answer_later, open_store, schema, slots_of_draft, whom_to_ask,
};
use crate::config::{Config, sections};
use crate::stages::subject;
use crate::stages::written::WrittenRules;
use crate::stages::{StageError, Unusable};
use riddlemill_llm::parse::Unreadable;
use riddlemill_llm::{Ask, Endpoint, Engine, Parsed, Progress, Prompts, ask_parsed, forget_unreadable};
use riddlemill_record::{Cause, Evidence, Reason, Record, Row, derive_id, is_published};
use riddlemill_review::Values;
use riddlemill_tables::{StageWriter, Workspace};

/// Why a stage sends no requests.
pub fn no_endpoint(draft: DraftStep, config: &Config, recipe: &str) -> String {
    let asks = whom_to_ask(draft, config, recipe);
    match asks.several {
        true => format!("no endpoint to ask: {} names none", asks.key),
        false => "no endpoint to ask: draft.endpoint names none that pipeline.toml has".into(),
    }
}

/// The prompts, the workspace's own in `prompts/` among them.
///
/// # Errors
/// [`StageError::Settings`] naming the file that is not a prompt.
pub fn load_prompts(config: &Config) -> Result<Prompts, StageError> {
    let prompts = Prompts::load_prompts(Some(&config.root.join("prompts")))?;
    let wording = config.typed_settings::<sections::Draft>(None, "draft").prompts;
    Ok(match wording {
        sections::Wording::Zh => prompts.in_chinese(),
        sections::Wording::Own | sections::Wording::Paper => prompts.as_printed(papers_own(config)),
    })
}

/// Whether models are sent the papers' own wording, and their replies read as the papers read them.
pub fn papers_own(config: &Config) -> bool {
    config.typed_settings::<sections::Draft>(None, "draft").prompts == sections::Wording::Paper
}

/// One reply that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The record's place among the step's.
    pub record: usize,
    /// The place of the element that it is about, where the step asks about those of a list; else 0.
    pub element: usize,
    /// Which of its replies.
    pub slot: Slot,
    /// What is asked.
    pub ask: Ask,
}

/// A step's requests, in the order of its records and slots.
///
/// # Errors
/// [`StageError::Settings`] where a prompt asks for what the step does not give.
pub fn requests_of_step(
    draft: DraftStep,
    prompts: &Prompts,
    slots: &[Slot],
    records: &[Row],
) -> Result<Vec<Request>, StageError> {
    let mut requests = Vec::new();
    // What is published has its annotations already.
    for (at, record) in records.iter().enumerate().filter(|(_, record)| !is_published(record.id())) {
        // If the list cannot be computed, nothing is asked and the record fails.
        let items = subject::draft_items(record, draft).unwrap_or_default();
        let all = items.iter().enumerate().flat_map(|item| slots.iter().map(move |slot| (item, slot)));
        for ((element, item), slot) in all {
            let Some(prompt) = item.prompt_for_slot(draft, slot) else { continue };
            // What a server that only translates is given.
            let translated = draft.draft_declaration().translates;
            let text = translated.and_then(|value| prompt.values.get(value).cloned());
            let rendered = prompts.render_prompt(prompt.template, prompt.values)?;
            // In a pack, the reply to any case but the first has a record name of its own.
            let other =
                slot.ask.filter(|ask| *ask > 0).and_then(|ask| draft.draft_declaration().responds.get(ask));
            let about = match other {
                Some(asked) => derive_id(asked.name, &[record.id()]),
                None => item.about.clone(),
            };
            let schema = schema::reply_schema(draft, prompt.template).map(Arc::new);
            let ask = Ask { text, schema, ..Ask::new(about, rendered, slot.sample) };
            requests.push(Request { record: at, element, slot: slot.clone(), ask });
        }
    }
    Ok(requests)
}

/// What a draft stage depends on besides its input: its prompts and the stored replies, as
/// `<how many> <hash>`. `records` is called only where requests have to be rendered.
///
/// # Errors
/// [`StageError`] where prompts, pack or store cannot be read.
pub fn collect_evidence(
    draft: DraftStep,
    config: &Config,
    recipe: &str,
    records: impl FnOnce() -> Result<Vec<Row>, StageError>,
) -> Result<BTreeMap<String, String>, StageError> {
    let prompts = load_prompts(config)?;
    let mut evidence = BTreeMap::new();
    for template in draft.templates() {
        let hash = prompts.hash(template)?;
        evidence.insert(format!("prompt {template}"), hash[..16].to_string());
    }
    let endpoints = endpoints_of_draft(draft, config, recipe)?;
    let (mut there, mut refused) = (Vec::new(), Vec::new());
    for pack in
        endpoints.iter().filter(|endpoint| !may_answer_later(endpoint)).filter_map(|e| e.pack.as_deref())
    {
        there.extend(pack_lines(pack, draft.templates()));
    }
    // A store that is not there is not made by looking.
    if endpoints.iter().any(may_answer_later)
        && Workspace::new(&config.root).raw_folder().join("replies").exists()
    {
        let store = open_store(config)?;
        for Request { slot, ask, .. } in requests_of_step(
            draft,
            &prompts,
            &slots_of_draft(draft, config, recipe, &endpoints)?,
            &records()?,
        )? {
            let endpoint = &endpoints[slot.endpoint];
            if !may_answer_later(endpoint) {
                continue;
            }
            let asked = Engine::request_of_ask(endpoint, &ask);
            let stored = there.len();
            for asked in Engine::request_variants(endpoint, &asked) {
                if store.contains(&asked.key())? {
                    there.push(asked.key().to_string());
                }
            }
            let key = asked.key();
            if stored == there.len() && store.failed_for_good(&key)? {
                refused.push(key.to_string());
            }
        }
    }
    evidence.insert("replies".into(), count_and_hash(there));
    // Said only where there are any: stages from before there were some stay fresh.
    if !refused.is_empty() {
        evidence.insert("refusals".into(), count_and_hash(refused));
    }
    Ok(evidence)
}

/// The lines of a pack that answer some templates. Problems of a pack are reported when it is used.
fn pack_lines(pack: &Path, templates: &[&str]) -> Vec<String> {
    let text = fs::read_to_string(pack).unwrap_or_default();
    let of_template = |line: &&str| {
        let line: Option<serde_json::Value> = serde_json::from_str(line).ok();
        line.is_some_and(|line| templates.iter().any(|template| line["template"] == *template))
    };
    text.lines().filter(of_template).map(str::to_string).collect()
}

fn count_and_hash(mut names: Vec<String>) -> String {
    names.sort();
    names.dedup();
    let mut hasher = blake3::Hasher::new();
    for name in &names {
        // The length keeps apart lists that are equal when concatenated.
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
    }
    format!("{} {}", names.len(), &hasher.finalize().to_hex()[..16])
}

/// Drafts one step for all records. A record that lacks a reply is held, one with a reply that cannot be
/// read failed; if the step is optional, both continue without a draft.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C, when what was in flight is stored; else where prompts, endpoints
/// or store cannot be used.
pub fn draft_records(
    draft: DraftStep,
    records: Vec<Row>,
    asking: &LlmContext<'_>,
    writer: &mut StageWriter<Row>,
) -> Result<(), StageError> {
    let optional = is_optional(draft, asking.config, asking.recipe);
    let replies = ask_for_replies(draft, &records, asking)?;
    for (record, replies) in records.into_iter().zip(replies) {
        let id = record.id().to_owned();
        writer.append(&id, &outcome_of_record(draft, record, replies, optional));
    }
    Ok(())
}

/// Asks for every slot of every record: a list a record, in the order of the slots. Without an endpoint
/// that is one reply which is waited for.
///
/// # Errors
/// As of [`draft_records`].
pub fn ask_for_replies(
    draft: DraftStep,
    records: &[Row],
    asking: &LlmContext<'_>,
) -> Result<Vec<Vec<ReplyOutcome>>, StageError> {
    let settings: sections::Draft = asking.config.typed_settings(Some(asking.recipe), "draft");
    let prompts = load_prompts(asking.config)?;
    let endpoints = endpoints_of_draft(draft, asking.config, asking.recipe)?;
    let mut replies: Vec<Vec<ReplyOutcome>> = records.iter().map(|_| Vec::new()).collect();
    if is_skipped(draft, asking.config, asking.recipe) {
        return Ok(replies);
    }
    if endpoints.is_empty() {
        let held = riddlemill_llm::Held {
            reason: Reason::ReplyMissing,
            what: Evidence::with_cause(no_endpoint(draft, asking.config, asking.recipe), Cause::NoEndpoint),
        };
        let slot = Slot::default();
        for (of_record, record) in replies.iter_mut().zip(records).filter(|(_, r)| !is_published(r.id())) {
            let items = subject::draft_items(record, draft).unwrap_or_default().into_iter().enumerate();
            for (element, _) in items.filter(|(_, item)| item.prompt_for_slot(draft, &slot).is_some()) {
                let parsed = Parsed::Held(held.clone());
                of_record.push(ReplyOutcome { element, slot: slot.clone(), prompt: String::new(), parsed });
            }
        }
        return Ok(replies);
    }
    if records.is_empty() {
        return Ok(replies);
    }
    let slots = slots_of_draft(draft, asking.config, asking.recipe, &endpoints)?;
    find_repeating_endpoints(draft, &endpoints, &slots)
        .iter()
        .for_each(|what| asking.pulse.notify_user(what));
    let requests = requests_of_step(draft, &prompts, &slots, records)?;
    let mut places: Vec<Vec<usize>> = endpoints.iter().map(|_| Vec::new()).collect();
    for (at, request) in requests.iter().enumerate() {
        places[request.slot.endpoint].push(at);
    }
    let asks = |places: &Vec<usize>| places.iter().map(|&at| requests[at].ask.clone()).collect();
    let demands = Demands::of_records(draft, records);
    let read = |ask: &Ask, reply: &str| demands.read_reply(ask, reply);
    let asks = places.iter().map(asks).collect();
    // Packs cost nothing, and a sample shows how its answers came about.
    let unseen = endpoints.iter().any(may_answer_later) && is_unseen(draft, asking.config, asking.recipe);
    let asked = match unseen {
        true => {
            let stored = LlmContext { offline: true, ..*asking };
            ask_endpoints(endpoints, asks, read, settings.max_reasks, &stored)?
        }
        false => ask_endpoints(endpoints, asks, read, settings.max_reasks, asking)?,
    };
    asking.stop.fail_if_stopped()?;
    let mut parsed: Vec<Option<Parsed<Values>>> = requests.iter().map(|_| None).collect();
    // Answers come endpoint by endpoint, and records need them in the order of the requests.
    let written = WrittenRules::by_settings(asking.config, asking.recipe)?;
    for (place, mut answer) in places.concat().into_iter().zip(asked.into_iter().flatten()) {
        if let Parsed::Value { value, .. } = &mut answer {
            written.mark_answers(value);
        }
        parsed[place] = Some(answer);
    }
    for (request, parsed) in requests.into_iter().zip(parsed) {
        let hash = prompts.hash(&request.ask.template)?;
        let prompt = format!("{} {}", request.ask.template, &hash[..8]);
        let Some(parsed) = parsed else { continue };
        let Request { record, element, slot, .. } = request;
        replies[record].push(ReplyOutcome { element, slot, prompt, parsed });
    }
    if unseen {
        // What is not stored is not waited for.
        let waits = |replied: &ReplyOutcome| matches!(replied.parsed, Parsed::Held(_));
        replies.iter_mut().filter(|of_record| of_record.iter().any(waits)).for_each(Vec::clear);
    }
    Ok(replies)
}

/// Endpoints that give several replies to a draft at a temperature of 0: the majority is that of one reply.
fn find_repeating_endpoints(draft: DraftStep, endpoints: &[Endpoint], slots: &[Slot]) -> Vec<String> {
    let several = |at: usize| slots.iter().filter(|slot| slot.endpoint == at).count() > 1;
    let is_cold = |endpoint: &Endpoint| endpoint.sampling.temperature.is_some_and(|at| at <= 0.0);
    let asked = endpoints.iter().enumerate().filter(|_| draft.draft_declaration().majority.is_some());
    let cold = asked.filter(|(at, endpoint)| several(*at) && may_answer_later(endpoint) && is_cold(endpoint));
    let told = cold.map(|(_, Endpoint { name, .. })| {
        format!(
            "{}: {name} gives several replies at temperature 0, where further ones repeat the first: `sampling.temperature` of \
             [llm.{name}] makes them differ",
            draft.name()
        )
    });
    told.collect()
}

/// Asks every endpoint for its own, all of them at once: a list of what came for each endpoint's `asks`.
///
/// # Errors
/// [`StageError`] where an endpoint or the store cannot be used. After a Ctrl-C unanswered records are held.
pub fn ask_endpoints<T>(
    endpoints: Vec<Endpoint>,
    asks: Vec<Vec<Ask>>,
    read: impl Fn(&Ask, &str) -> Result<T, Unreadable>,
    max_reasks: u32,
    asking: &LlmContext<'_>,
) -> Result<Vec<Vec<Parsed<T>>>, StageError> {
    let (limits, cancel) = asking.engine_limits();
    let store = Arc::new(open_store(asking.config)?);
    // Before the estimate, because forgotten replies are asked for again and may cost something.
    if asking.retry_failed && !asking.offline {
        for (endpoint, asks) in endpoints.iter().zip(&asks).filter(|(endpoint, _)| may_answer_later(endpoint))
        {
            forget_unreadable(&store, endpoint, asks, &read, max_reasks).map_err(Unusable::of_request)?;
        }
    }
    require_consent(&store, &endpoints, &asks, asking)?;
    // A record may need several requests, or none: their number is the one that progress is of.
    asking.pulse.begin_part("requests", asks.iter().map(Vec::len).sum::<usize>() as u64);
    let names: Vec<String> = endpoints.iter().map(|endpoint| endpoint.name.clone()).collect();
    let engine = |endpoint| Engine::new(store.clone(), endpoint, limits.clone()).map_err(StageError::from);
    let engines: Vec<Engine> = endpoints.into_iter().map(engine).collect::<Result<_, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|e| Unusable::of_request(format!("cannot start the network runtime: {e}")))?;
    let flights: Vec<EndpointLoad> = engines
        .iter()
        .map(|engine| EndpointLoad { longest: engine.longest_request(), ..EndpointLoad::default() })
        .collect();
    // They are paid for: a stop waits for the replies.
    let _awaited = asking.stop.begin_paid_work();
    let parsed = runtime.block_on(async {
        let works = engines.iter().zip(asks).zip(&flights).map(async |((engine, asks), flight)| {
            let on_event = |progress: &Progress| {
                let finished = progress.count_finished();
                // Events of parallel requests may arrive out of order, and the bar must not go back.
                let before = flight.finished.fetch_max(finished, Ordering::Relaxed);
                flight.now.store(progress.in_flight, Ordering::Relaxed);
                asking.pulse.report_done(finished.saturating_sub(before) as u64);
                asking.pulse.show_status(&describe_progress(progress));
            };
            ask_parsed(engine, asks, &read, max_reasks, on_event).await
        });
        let work = join_all(works);
        tokio::pin!(work);
        let mut asked: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut tell_left = || {
            asked.retain(|name| {
                let left = asking.run.failure_of_endpoint(name);
                left.iter().for_each(|how| {
                    asking.pulse.notify_user(&format!("{name} is disabled for this run: {how}"));
                });
                left.is_none()
            });
        };
        loop {
            tokio::select! {
                parsed = &mut work => {
                    tell_left();
                    break parsed;
                }
                // Requests in flight are finished and their replies kept; no new ones are sent.
                () = tokio::time::sleep(Duration::from_millis(100)) => {
                    tell_left();
                    if asking.stop.is_requested() && !cancel.is_cancelled() {
                        cancel.cancel();
                        asking.pulse.notify_user(&stop_message(&flights));
                    }
                }
            }
        }
    });
    store.refuse_stopped()?;
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_counts_and_does_not_hang_on_order() {
        let names = |names: &[&str]| count_and_hash(names.iter().map(ToString::to_string).collect());
        assert_eq!(names(&["b", "a"]), names(&["a", "b"]));
        assert!(names(&["a", "b"]).starts_with("2 "));
        assert_ne!(names(&["ab"]), names(&["a", "b"]));
    }
}
