//! Asks an endpoint many questions: what is stored is not asked again, requests keep the endpoint's pace, and
//! no item's failure affects another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use rustc_hash::FxHashMap;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use riddlemill_files::{Trust, shell_word};
use riddlemill_record::{Cause, Evidence, Reason};

use super::answer::{Answer, Ask, Failed, Held, Reply, ReplyOrigin};
use super::batch::takes_batches;
use super::cause::{held_offline, refused_answer, store_failed, unreadable_reply};
use super::http::{Http, Transport};
use super::money::{Price, Usd};
use super::pace::Pace;
use super::progress::{Progress, Tally};
use super::prompt::Output;
use super::request::{Input, Key, Request};
use super::retry::clamp_seconds;
use super::run::Run;
use super::sample::{Pack, PackError};
use super::secret::ApiKey;
use super::settings::{Api, Endpoint, EndpointError, Provider, ReplyMarks, has_variables};
use super::store::{Shared, Store, StoredReply};
use super::wire;

/// How far attempts are journalled ahead of a free slot, as a share of the slots, so that no slot waits for
/// the disk.
const AHEAD: f64 = 0.5;

/// Limits of a run beyond the endpoint's own settings.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Sends nothing; what is not stored is held.
    pub offline: bool,
    /// Also sends what failed permanently before.
    pub retry_failed: bool,
    /// Uses half answers that an earlier version stored and used, as for drafts that people have voted on.
    pub accept_before: bool,
    /// Ends the run when cancelled: requests in flight are finished and kept, no new ones are sent.
    pub cancel: CancellationToken,
    /// The run that is charged, with its cap.
    pub run: Run,
    /// The recipe's name, and its cap over all runs.
    pub recipe: Option<(String, Option<Usd>)>,
    /// What this machine's user agreed to: without it no value of the environment leaves the machine.
    pub trust: Trust,
}

/// An endpoint cannot be used with its settings.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A setting is invalid.
    #[error("llm.{endpoint}: {source}")]
    Setting {
        /// The endpoint's name.
        endpoint: String,
        /// What is wrong with it.
        source: EndpointError,
    },
    /// The sample pack cannot be read.
    #[error("llm.{endpoint}: {source}")]
    Pack {
        /// The endpoint's name.
        endpoint: String,
        /// Why.
        source: PackError,
    },
}

/// One endpoint, ready for questions. Share it among the stages that use it: pace and slots belong to the
/// endpoint.
pub struct Engine {
    pub(super) endpoint: Endpoint,
    pub(super) store: Arc<Store>,
    pub(super) limits: Limits,
    pub(super) price: Price,
    pub(super) caps: Vec<(String, Option<Usd>)>,
    pub(super) pace: Pace,
    pub(super) slots: Semaphore,
    pub(super) models: tokio::sync::OnceCell<Vec<String>>,
    /// Whether a schema was refused: later requests omit it.
    refuses_schemas: AtomicBool,
    /// Whether a system's message was refused: later requests begin the user's with it.
    refuses_system: AtomicBool,
    /// Whether the model turned out to be served by the Responses API alone: later requests go there.
    pub(super) only_in_responses: AtomicBool,
    pub(super) source: ReplySource,
}

pub(super) enum ReplySource {
    Pack(Pack),
    Server(Box<dyn Transport>),
    /// Only stored replies are used; other questions are held for this reason.
    Nothing(Held),
}

impl Engine {
    /// Prepares an endpoint. A missing key or price is not an error here: stored replies need neither.
    pub fn new(store: Arc<Store>, endpoint: Endpoint, limits: Limits) -> Result<Engine, EngineError> {
        let setting = |source| EngineError::Setting { endpoint: endpoint.name.clone(), source };
        let name = || endpoint.name.clone();
        let hold = |reason, what: String, cause| {
            ReplySource::Nothing(Held { reason, what: Evidence::with_cause(what, cause) })
        };
        let unset = endpoint.environment_variables().find(|name| ApiKey::from_env(name).is_none());
        let source = if endpoint.provider.is_pack() {
            let path = endpoint.pack.as_deref().ok_or_else(|| setting(EndpointError::NoPack))?;
            let pack = Pack::load_pack(path)
                .map_err(|source| EngineError::Pack { endpoint: endpoint.name.clone(), source })?;
            ReplySource::Pack(if endpoint.provider == Provider::Made { pack.made_elsewhere() } else { pack })
        } else if endpoint.batch && !takes_batches(endpoint.provider) {
            return Err(setting(EndpointError::NoBatches));
        } else if endpoint.api == Api::Responses && !endpoint.provider.has_responses() {
            return Err(setting(EndpointError::NoResponses));
        } else if endpoint.key_env.is_some() && !endpoint.key_command.is_empty() {
            return Err(setting(EndpointError::TwoKeys));
        } else if limits.offline {
            ReplySource::Nothing(held_offline(name()))
        } else if !endpoint.needed_settings().is_empty() {
            return Err(setting(EndpointError::Lacking(endpoint.needed_settings())));
        } else if endpoint.token_price().is_none() {
            let what = format!("llm.{} has no prices; set both, or free = true", endpoint.name);
            hold(Reason::NoPrice, what, Cause::NoPrice { endpoint: name() })
        } else if let Some(variable) = unset {
            let what = if endpoint.key_env.as_deref() == Some(variable) { "the key" } else { "a header" };
            let what = format!("{variable} is not set ({what} of llm.{})", endpoint.name);
            let cause = Cause::NoKey { endpoint: name(), variable: variable.to_owned() };
            hold(Reason::KeyMissing, what, cause)
        } else if let Some(wish) = [endpoint.command_wish(), endpoint.needed_wish().filter(has_variables)]
            .into_iter()
            .flatten()
            .find(|wish| !limits.trust.is_agreed(wish))
        {
            let command = format!("riddlemill trust add {}", shell_word(&wish.trust_word()));
            let what = format!("nobody on this machine agreed to {wish} for this workspace; `{command}`");
            let cause = Cause::NoConsent { endpoint: name(), wish: wish.to_string(), command };
            hold(Reason::KeyMissing, what, cause)
        } else {
            ReplySource::Server(Box::new(Http::new(&endpoint).map_err(setting)?))
        };
        Ok(Engine::from_parts(store, endpoint, limits, source))
    }

    /// An engine with another transport than HTTP.
    pub fn with_transport(
        store: Arc<Store>,
        endpoint: Endpoint,
        limits: Limits,
        transport: Box<dyn Transport>,
    ) -> Engine {
        let source = match limits.offline {
            true => ReplySource::Nothing(held_offline(endpoint.name.clone())),
            false => ReplySource::Server(transport),
        };
        Engine::from_parts(store, endpoint, limits, source)
    }

    fn from_parts(store: Arc<Store>, endpoint: Endpoint, limits: Limits, source: ReplySource) -> Engine {
        let mut caps =
            vec![(format!("endpoint:{}", endpoint.name), endpoint.budget_cap()), limits.run.budget_cap()];
        caps.extend(limits.recipe.iter().map(|(name, cap)| (format!("recipe:{name}"), *cap)));
        Engine {
            price: endpoint.token_price().unwrap_or(Price::FREE),
            pace: Pace::new(endpoint.rpm, endpoint.tpm),
            // Without a slot nothing would ever be sent; tokio panics above its maximum.
            slots: Semaphore::new(endpoint.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            endpoint,
            store,
            limits,
            caps,
            models: tokio::sync::OnceCell::new(),
            refuses_schemas: AtomicBool::new(false),
            refuses_system: AtomicBool::new(false),
            only_in_responses: AtomicBool::new(false),
            source,
        }
    }

    /// The longest time that a request may take.
    pub fn longest_request(&self) -> Duration {
        clamp_seconds(self.endpoint.timeouts.total_secs)
    }

    /// Answers every item, in order: from the store if possible, else by asking. Equal questions are asked
    /// once. `on_event` is called at every change and must return quickly.
    pub async fn ask_all(&self, asks: Vec<Ask>, on_event: impl Fn(&Progress) + Send + Sync) -> Vec<Answer> {
        let accept_before = self.limits.accept_before;
        self.ask_each(asks.into_iter().map(|ask| (ask, accept_before)).collect(), on_event).await
    }

    /// The same, with whether half an answer that an earlier version stored is taken for one.
    pub(super) async fn ask_each(
        &self,
        asks: Vec<(Ask, bool)>,
        on_event: impl Fn(&Progress) + Send + Sync,
    ) -> Vec<Answer> {
        let tally = Tally::new(asks.len(), &on_event);
        if let ReplySource::Pack(pack) = &self.source {
            let answers: Vec<Answer> =
                asks.iter().map(|(ask, _)| pack.answer_from_pack(ask, self.endpoint.identity())).collect();
            answers.iter().for_each(|answer| tally.note_finished(answer, false));
            return answers;
        }
        let mut questions: Vec<Question> = asks
            .into_iter()
            .map(|(ask, accept_before)| {
                let (request, output) = (Engine::request_of_ask(&self.endpoint, &ask), ask.reply_form());
                Question { key: request.key(), request, output, accept_before, template: ask.template }
            })
            .collect();
        let mut answers = self.stored_answers(&questions).await;
        // An answer that was cut is open, too: a batch may have its repetition with a larger limit.
        let is_open = |(question, answer): (&Question, &Option<Answer>)| {
            answer.as_ref().and_then(Answer::reply).is_none_or(|reply| question.is_cut(reply))
        };
        let mut turn = None;
        if let ReplySource::Server(transport) = &self.source
            && questions.iter().zip(&answers).any(is_open)
        {
            match self.turn(transport.as_ref()).await {
                Ok(taken) => turn = taken,
                // A question may be in a batch that cannot be read now; asking it again would pay twice.
                Err(error) => {
                    let error = error.to_string();
                    for (question, answer) in questions.iter().zip(&mut answers) {
                        if is_open((question, answer)) {
                            *answer = Some(store_failed(question.key, &error));
                        }
                    }
                }
            }
            // A batch that has ended has stored replies since the first look.
            if turn.as_ref().is_some_and(|turn| turn.completed) {
                answers = self.stored_answers(&questions).await;
            }
        }
        self.with_alternatives(&mut questions, &mut answers).await;
        // What was cut off may have been answered with a larger limit, or is asked so now.
        for (question, answer) in questions.iter().zip(&mut answers) {
            answer.take_if(|answer| answer.reply().is_some_and(|reply| question.is_cut(reply)));
        }
        if turn.is_some() {
            self.reuse_larger(&mut questions, &mut answers);
        }
        answers.iter().flatten().for_each(|answer| tally.note_finished(answer, false));

        let mut first_with: FxHashMap<Key, usize> = FxHashMap::default();
        let missing: Vec<usize> = (0..questions.len()).filter(|&at| answers[at].is_none()).collect();
        let to_ask: Vec<usize> = missing
            .iter()
            .copied()
            .filter(|&at| *first_with.entry(questions[at].key).or_insert(at) == at)
            .collect();
        let to_ask = match (&self.source, &mut turn) {
            (ReplySource::Server(transport), Some(turn)) => {
                let all = to_ask.clone();
                let alone = self.submitted(transport.as_ref(), turn, &questions, to_ask, &mut answers).await;
                let apart = all.iter().filter_map(|&at| answers[at].as_ref());
                apart.for_each(|answer| tally.note_finished(answer, false));
                alone
            }
            _ => to_ask,
        };
        // Asking one by one may take hours, and other processes may use the batches meanwhile.
        drop(turn);
        let slots = self.endpoint.concurrency.max(1);
        let ahead = slots + (slots as f64 * AHEAD).ceil() as usize;
        let mut flights = stream::iter(self.group_questions(&questions, to_ask))
            .map(|group| {
                let together: Vec<&Question> = group.iter().map(|&at| &questions[at]).collect();
                let tally = &tally;
                async move { (group, self.answer_questions(&together, tally).await) }
            })
            .buffer_unordered(ahead);
        while let Some((group, given)) = flights.next().await {
            for (at, answer) in group.into_iter().zip(given) {
                tally.note_finished(&answer, true);
                answers[at] = Some(answer);
            }
        }
        for at in missing {
            if answers[at].is_none() {
                let answer = first_with.get(&questions[at].key).and_then(|&first| answers[first].clone());
                answer.iter().for_each(|answer| tally.note_finished(answer, false));
                answers[at] = answer;
            }
        }
        // Every index is stored, asked, or equal to one that was asked.
        answers.into_iter().flatten().collect()
    }

    /// Groups questions into requests: a chat alone, texts to embed in order, as many as the endpoint takes
    /// and with the same length of vector.
    fn group_questions(&self, questions: &[Question], to_ask: Vec<usize>) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let vector = |at: usize| match &questions[at].request.input {
            Input::Embedding { dimensions, .. } => Some(*dimensions),
            Input::Chat { .. } | Input::Translation { .. } => None,
        };
        for at in to_ask {
            match groups.last_mut() {
                Some(group)
                    if group.len() < self.endpoint.embedding_batch
                        && vector(at).is_some()
                        && vector(group[0]) == vector(at) =>
                {
                    group.push(at);
                }
                _ => groups.push(vec![at]),
            }
        }
        groups
    }

    async fn answer_questions(&self, questions: &[&Question], tally: &Tally<'_>) -> Vec<Answer> {
        if let [question] = questions {
            let set = |refused: &AtomicBool| refused.load(Ordering::Relaxed);
            let folded = set(&self.refuses_system)
                .then(|| Engine::with_folded_instructions(&question.request))
                .flatten();
            let folded = folded.map(|request| question.with_request(request));
            let plain =
                || set(&self.refuses_schemas).then(|| self.question_without_schema(question)).flatten();
            if let Some(other) = folded.or_else(plain) {
                return Box::pin(self.answer_questions(&[&other], tally)).await;
            }
        }
        let answers = self.answer_from_source(questions, tally).await;
        match (&answers[..], questions) {
            ([Answer::Failed(failed)], [question]) => {
                match self.question_after_refusal(question, failed.http_status(), &failed.raw) {
                    Some((other, is_system)) => {
                        let refused = if is_system { &self.refuses_system } else { &self.refuses_schemas };
                        refused.store(true, Ordering::Relaxed);
                        Box::pin(self.answer_questions(&[&other], tally)).await
                    }
                    None => answers,
                }
            }
            ([Answer::Reply(reply)], [question]) if question.is_cut(reply) => {
                vec![self.ask_again(question, tally).await]
            }
            _ => answers,
        }
    }

    async fn answer_from_source(&self, questions: &[&Question], tally: &Tally<'_>) -> Vec<Answer> {
        match &self.source {
            ReplySource::Server(transport) => self.send_questions(transport.as_ref(), questions, tally).await,
            ReplySource::Nothing(held) => {
                let stored = |question: &&Question| match self.store.get(&question.key) {
                    Ok(Some(reply)) => from_store(reply, &self.endpoint.marks),
                    Ok(None) => Answer::Held(held.clone()),
                    Err(error) => store_failed(question.key, &error.to_string()),
                };
                questions.iter().map(stored).collect()
            }
            ReplySource::Pack(_) => unreachable!("a pack answers before anything is asked"),
        }
    }

    /// Asks again with a larger limit what was cut off. A second cut is held: asking again would buy nothing.
    async fn ask_again(&self, question: &Question, tally: &Tally<'_>) -> Answer {
        let Some(request) = Engine::with_larger_limit(&self.endpoint, &question.request) else {
            return self.cut_answer(&question.request);
        };
        let larger = question.with_request(request);
        let given = Box::pin(self.answer_from_source(&[&larger], tally)).await.pop();
        match given {
            Some(Answer::Reply(reply)) if larger.is_cut(&reply) => self.cut_answer(&larger.request),
            // That it was cut is known without asking.
            Some(Answer::Held(held)) if self.limits.offline && held.reason == Reason::ReplyMissing => {
                let limits = [&question.request, &larger.request].map(Request::max_completion_tokens);
                let what = format!(
                    "the answer of {} was cut at {} tokens; without --offline it is asked for once more with {}",
                    self.endpoint.name, limits[0], limits[1]
                );
                let what = Evidence::with_cause(what, self.cut_at(limits[0], true));
                Answer::Held(Held { reason: Reason::AnswerCut, what })
            }
            Some(given) => given,
            None => self.cut_answer(&question.request),
        }
    }

    /// The answer for a request that was cut off and is not asked again.
    pub(super) fn cut_answer(&self, request: &Request) -> Answer {
        let limit = request.max_completion_tokens();
        let what = format!(
            "the answer was cut at {limit} tokens; raise max_tokens_ceiling or sampling.max_tokens of llm.{}",
            self.endpoint.name
        );
        let what = Evidence::with_cause(what, self.cut_at(limit, false));
        Answer::Held(Held { reason: Reason::AnswerCut, what })
    }

    fn cut_at(&self, tokens: u64, offline: bool) -> Cause {
        Cause::Cut { endpoint: self.endpoint.name.clone(), tokens, offline }
    }

    /// Whether half answers that an earlier version stored are taken for answers.
    pub(super) fn accepts_before(&self) -> bool {
        self.limits.accept_before
    }

    /// Whether the store holds a reply to this.
    pub(super) fn has_reply(&self, ask: &Ask) -> bool {
        let request = Engine::request_of_ask(&self.endpoint, ask);
        Engine::find_stored_reply(&self.store, &self.endpoint, &request).is_ok_and(|found| found.is_some())
    }

    /// Stored replies, read outside of the runtime's threads.
    pub(super) async fn stored_answers(&self, questions: &[Question]) -> Vec<Option<Answer>> {
        let keys: Vec<Key> = questions.iter().map(|question| question.key).collect();
        let store = Arc::clone(&self.store);
        let again = self.limits.retry_failed;
        let marks = self.endpoint.marks.clone();
        let name = self.endpoint.name.clone();
        let read = tokio::task::spawn_blocking(move || {
            let replies = store.get_many(&keys)?;
            let known = |(key, reply): (&Key, Option<StoredReply>)| match reply {
                Some(reply) => Ok(Some(from_store(reply, &marks))),
                None if again => Ok(None),
                None => Ok(store.lasting_failure(key)?.map(|failure| refused_answer(&name, failure))),
            };
            keys.iter().zip(replies).map(known).collect::<Result<Vec<_>, Shared>>()
        });
        let error = match read.await {
            Ok(Ok(answers)) => return answers,
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        // Asking again what may be stored would pay twice.
        let failed = |question: &Question| Some(store_failed(question.key, &error));
        questions.iter().map(failed).collect()
    }
}

/// An item with its request and key.
pub(super) struct Question {
    pub key: Key,
    pub request: Request,
    /// The form of its reply.
    pub output: Output,
    /// Whether half an answer that an earlier version stored is taken for one.
    pub accept_before: bool,
    pub template: String,
}

impl Question {
    /// The same question as another request.
    pub(super) fn with_request(&self, request: Request) -> Question {
        let Question { output, accept_before, ref template, .. } = *self;
        Question { key: request.key(), request, output, accept_before, template: template.clone() }
    }

    /// Whether a reply was cut off, and is no answer to it.
    pub(super) fn is_cut(&self, reply: &Reply) -> bool {
        reply.is_cut(self.output, self.accept_before)
    }
}

/// A stored reply as an answer.
pub(super) fn from_store(reply: StoredReply, marks: &ReplyMarks) -> Answer {
    match wire::parse_content(&reply.request, &reply.raw, marks) {
        Ok(content) => Answer::Reply(Reply {
            key: reply.key,
            text: content.text,
            whole: content.whole,
            vector: content.vector,
            usage: reply.usage,
            charged: reply.charged_picousd,
            marks: ReplyOrigin {
                truncated: content.truncated,
                // What is withheld is stored as a failure by now.
                withheld: content.blocked || content.refusal.is_some(),
                before: !reply.cut && (content.truncated || content.blocked || content.refusal.is_some()),
                ..ReplyOrigin::default()
            },
        }),
        // Only an imported line can be like this.
        Err(error) => Answer::Failed(Failed {
            reason: Reason::ReplyUnparseable,
            error: unreadable_reply(error.to_string()),
            raw: reply.raw,
            key: reply.key,
        }),
    }
}
