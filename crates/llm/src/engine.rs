//! Asks an endpoint many questions: what is stored is not asked again, requests keep the endpoint's pace, and
//! no item's failure affects another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use rustc_hash::FxHashMap;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use riddlemill_files::{Trust, Wish};
use riddlemill_text::record::Reason;

use super::answer::{Answer, Ask, Failed, Held, Marks, Reply, refuses_schema};
use super::batch::takes_batches;
use super::endpoint_error::EndpointError;
use super::http::{Http, Transport};
use super::money::{Price, Usd};
use super::pace::Pace;
use super::progress::{Progress, Tally};
use super::request::{Input, Key, Request};
use super::retry::seconds;
use super::run::Run;
use super::sample::{Pack, PackError};
use super::secret::ApiKey;
use super::settings::{Endpoint, Provider};
use super::store::{Failure, Shared, Store, StoredReply};
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
    pub(super) source: Source,
}

pub(super) enum Source {
    Pack(Pack),
    Server(Box<dyn Transport>),
    /// Only stored replies are used; other questions are held for this reason.
    Nothing(Held),
}

impl Engine {
    /// Prepares an endpoint. A missing key or price is not an error here: stored replies need neither.
    pub fn new(store: Arc<Store>, endpoint: Endpoint, limits: Limits) -> Result<Engine, EngineError> {
        let setting = |source| EngineError::Setting { endpoint: endpoint.name.clone(), source };
        let hold = |reason, what: String| Source::Nothing(Held { reason, what });
        let unset = endpoint.variables().find(|name| ApiKey::from_env(name).is_none());
        let source = if endpoint.provider.is_pack() {
            let path = endpoint.pack.as_deref().ok_or_else(|| setting(EndpointError::NoPack))?;
            let pack = Pack::load(path)
                .map_err(|source| EngineError::Pack { endpoint: endpoint.name.clone(), source })?;
            Source::Pack(if endpoint.provider == Provider::Made { pack.made_elsewhere() } else { pack })
        } else if endpoint.batch && !takes_batches(endpoint.provider) {
            return Err(setting(EndpointError::NoBatches));
        } else if limits.offline {
            hold(Reason::ReplyMissing, "the run is offline".into())
        } else if endpoint.price().is_none() {
            let what = format!("llm.{} has no prices; set both, or free = true", endpoint.name);
            hold(Reason::NoPrice, what)
        } else if let Some(name) = unset {
            let what = if endpoint.key_env.as_deref() == Some(name) { "the key" } else { "a header" };
            hold(Reason::KeyMissing, format!("{name} is not set ({what} of llm.{})", endpoint.name))
        } else if let Some(wish) =
            endpoint.wish().filter(|wish| has_variables(wish) && !limits.trust.allows(wish))
        {
            let what = format!(
                "nobody on this machine agreed to {wish} for this workspace; `riddlemill trust add {}`",
                wish.word()
            );
            hold(Reason::KeyMissing, what)
        } else {
            Source::Server(Box::new(Http::new(&endpoint).map_err(setting)?))
        };
        Ok(Engine::assemble(store, endpoint, limits, source))
    }

    /// An engine with another transport than HTTP.
    pub fn with_transport(
        store: Arc<Store>,
        endpoint: Endpoint,
        limits: Limits,
        transport: Box<dyn Transport>,
    ) -> Engine {
        let source = match limits.offline {
            true => Source::Nothing(Held { reason: Reason::ReplyMissing, what: "the run is offline".into() }),
            false => Source::Server(transport),
        };
        Engine::assemble(store, endpoint, limits, source)
    }

    fn assemble(store: Arc<Store>, endpoint: Endpoint, limits: Limits, source: Source) -> Engine {
        let mut caps = vec![(format!("endpoint:{}", endpoint.name), endpoint.cap()), limits.run.cap()];
        caps.extend(limits.recipe.iter().map(|(name, cap)| (format!("recipe:{name}"), *cap)));
        Engine {
            price: endpoint.price().unwrap_or(Price::FREE),
            pace: Pace::new(endpoint.rpm, endpoint.tpm),
            // Without a slot nothing would ever be sent; tokio panics above its maximum.
            slots: Semaphore::new(endpoint.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            endpoint,
            store,
            limits,
            caps,
            models: tokio::sync::OnceCell::new(),
            refuses_schemas: AtomicBool::new(false),
            source,
        }
    }

    /// The longest time that a request may take.
    pub fn longest(&self) -> Duration {
        seconds(self.endpoint.timeouts.total_secs)
    }

    /// Answers every item, in order: from the store if possible, else by asking. Equal questions are asked
    /// once. `on_event` is called at every change and must return quickly.
    pub async fn ask_all(&self, asks: Vec<Ask>, on_event: impl Fn(&Progress) + Send + Sync) -> Vec<Answer> {
        let tally = Tally::new(asks.len(), &on_event);
        if let Source::Pack(pack) = &self.source {
            let answers: Vec<Answer> =
                asks.iter().map(|ask| pack.answer(ask, self.endpoint.identity())).collect();
            answers.iter().for_each(|answer| tally.finished(answer, false));
            return answers;
        }
        let mut questions: Vec<Question> = asks
            .into_iter()
            .map(|ask| {
                let request = Engine::request(&self.endpoint, &ask);
                Question { key: request.key(), request, template: ask.template }
            })
            .collect();
        let mut answers = self.stored(&questions).await;
        // An answer that was cut is open, too: a batch may have its repetition with a larger limit.
        let is_open =
            |answer: &Option<Answer>| answer.as_ref().and_then(Answer::reply).is_none_or(Reply::is_cut);
        let mut turn = None;
        if let Source::Server(transport) = &self.source
            && answers.iter().any(is_open)
        {
            match self.turn(transport.as_ref()).await {
                Ok(taken) => turn = taken,
                // A question may be in a batch that cannot be read now; asking it again would pay twice.
                Err(error) => {
                    let open = questions.iter().zip(&mut answers).filter(|(_, answer)| is_open(answer));
                    let error = error.to_string();
                    open.for_each(|(question, answer)| *answer = Some(store_failed(question.key, &error)));
                }
            }
            // A batch that has ended has stored replies since the first look.
            if turn.as_ref().is_some_and(|turn| turn.brought) {
                answers = self.stored(&questions).await;
            }
        }
        self.without_schema(&mut questions, &mut answers).await;
        // What was cut off may have been answered with a larger limit, or is asked so now.
        answers.iter_mut().for_each(|answer| {
            answer.take_if(|answer| answer.reply().is_some_and(Reply::is_cut));
        });
        if turn.is_some() {
            self.instead_of_cut(&mut questions, &mut answers);
        }
        answers.iter().flatten().for_each(|answer| tally.finished(answer, false));

        let mut first_with: FxHashMap<Key, usize> = FxHashMap::default();
        let missing: Vec<usize> = (0..questions.len()).filter(|&at| answers[at].is_none()).collect();
        let to_ask: Vec<usize> = missing
            .iter()
            .copied()
            .filter(|&at| *first_with.entry(questions[at].key).or_insert(at) == at)
            .collect();
        let to_ask = match (&self.source, &mut turn) {
            (Source::Server(transport), Some(turn)) => {
                let all = to_ask.clone();
                let alone = self.submitted(transport.as_ref(), turn, &questions, to_ask, &mut answers).await;
                let apart = all.iter().filter_map(|&at| answers[at].as_ref());
                apart.for_each(|answer| tally.finished(answer, false));
                alone
            }
            _ => to_ask,
        };
        // Asking one by one may take hours, and other processes may use the batches meanwhile.
        drop(turn);
        let slots = self.endpoint.concurrency.max(1);
        let ahead = slots + (slots as f64 * AHEAD).ceil() as usize;
        let mut flights = stream::iter(self.groups(&questions, to_ask))
            .map(|group| {
                let together: Vec<&Question> = group.iter().map(|&at| &questions[at]).collect();
                let tally = &tally;
                async move { (group, self.answer(&together, tally).await) }
            })
            .buffer_unordered(ahead);
        while let Some((group, given)) = flights.next().await {
            for (at, answer) in group.into_iter().zip(given) {
                tally.finished(&answer, true);
                answers[at] = Some(answer);
            }
        }
        for at in missing {
            if answers[at].is_none() {
                let answer = first_with.get(&questions[at].key).and_then(|&first| answers[first].clone());
                answer.iter().for_each(|answer| tally.finished(answer, false));
                answers[at] = answer;
            }
        }
        // Every index is stored, asked, or equal to one that was asked.
        answers.into_iter().flatten().collect()
    }

    /// Groups questions into requests: a chat alone, texts to embed in order, as many as the endpoint takes
    /// and with the same length of vector.
    fn groups(&self, questions: &[Question], to_ask: Vec<usize>) -> Vec<Vec<usize>> {
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

    async fn answer(&self, questions: &[&Question], tally: &Tally<'_>) -> Vec<Answer> {
        if let [question] = questions
            && self.refuses_schemas.load(Ordering::Relaxed)
            && let Some(plain) = self.without(question)
        {
            return Box::pin(self.answer(&[&plain], tally)).await;
        }
        let answers = self.given(questions, tally).await;
        match (&answers[..], questions) {
            ([Answer::Failed(failed)], [question]) if refuses_schema(failed) => {
                match self.without(question) {
                    Some(plain) => {
                        self.refuses_schemas.store(true, Ordering::Relaxed);
                        Box::pin(self.answer(&[&plain], tally)).await
                    }
                    None => answers,
                }
            }
            ([Answer::Reply(reply)], [question]) if reply.is_cut() => vec![self.again(question, tally).await],
            _ => answers,
        }
    }

    async fn given(&self, questions: &[&Question], tally: &Tally<'_>) -> Vec<Answer> {
        match &self.source {
            Source::Server(transport) => self.send(transport.as_ref(), questions, tally).await,
            Source::Nothing(held) => {
                let stored = |question: &&Question| match self.store.get(&question.key) {
                    Ok(Some(reply)) => from_store(reply),
                    Ok(None) => Answer::Held(held.clone()),
                    Err(error) => store_failed(question.key, &error.to_string()),
                };
                questions.iter().map(stored).collect()
            }
            Source::Pack(_) => unreachable!("a pack answers before anything is asked"),
        }
    }

    /// Asks again with a larger limit what was cut off before the answer began. A second cut is held: asking
    /// again would buy nothing.
    async fn again(&self, question: &Question, tally: &Tally<'_>) -> Answer {
        let Some(request) = Engine::larger(&self.endpoint, &question.request) else {
            return self.cut(&question.request);
        };
        let larger = Question { key: request.key(), request, template: question.template.clone() };
        let given = Box::pin(self.given(&[&larger], tally)).await.pop();
        match given {
            Some(Answer::Reply(reply)) if reply.is_cut() => self.cut(&larger.request),
            Some(given) => given,
            None => self.cut(&question.request),
        }
    }

    /// The answer for a request that was cut off and is not asked again.
    pub(super) fn cut(&self, request: &Request) -> Answer {
        let what = format!(
            "the answer was cut at {} tokens before it began; raise max_tokens_ceiling or sampling.max_tokens of llm.{}",
            request.max_completion_tokens(),
            self.endpoint.name
        );
        Answer::Held(Held { reason: Reason::AnswerCut, what })
    }

    /// Whether the store holds a reply to this.
    pub(super) fn holds(&self, ask: &Ask) -> bool {
        self.store.contains(&Engine::request(&self.endpoint, ask).key()).unwrap_or(false)
    }

    /// Stored replies, read outside of the runtime's threads.
    pub(super) async fn stored(&self, questions: &[Question]) -> Vec<Option<Answer>> {
        let keys: Vec<Key> = questions.iter().map(|question| question.key).collect();
        let store = Arc::clone(&self.store);
        let again = self.limits.retry_failed;
        let read = tokio::task::spawn_blocking(move || {
            let replies = store.get_many(&keys)?;
            let known = |(key, reply): (&Key, Option<StoredReply>)| match reply {
                Some(reply) => Ok(Some(from_store(reply))),
                None if again => Ok(None),
                None => Ok(store.lasting_failure(key)?.map(refused)),
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

/// Whether values of the environment go along.
fn has_variables(wish: &Wish) -> bool {
    matches!(wish, Wish::Host { variables, .. } if !variables.is_empty())
}

/// An item with its request and key.
pub(super) struct Question {
    pub key: Key,
    pub request: Request,
    pub template: String,
}

/// A stored reply as an answer.
pub(super) fn from_store(reply: StoredReply) -> Answer {
    match wire::content(&reply.request, &reply.raw) {
        Ok(content) => Answer::Reply(Reply {
            key: reply.key,
            text: content.text,
            whole: content.whole,
            vector: content.vector,
            usage: reply.usage,
            charged: reply.charged_picousd,
            marks: Marks { truncated: content.truncated, ..Marks::default() },
        }),
        // Only an imported line can be like this.
        Err(error) => Answer::Failed(Failed {
            reason: Reason::ReplyUnparseable,
            error: error.to_string(),
            raw: reply.raw,
            key: reply.key,
        }),
    }
}

/// The answer for a remembered failure.
pub(super) fn refused(failure: Failure) -> Answer {
    let Failure { key, error, raw, .. } = failure;
    Answer::Failed(Failed { reason: Reason::RequestRefused, error, raw, key })
}

/// The answer where the next request could exceed a cap.
pub(super) fn budget_reached(scope: &str, spent: Usd, cap: Usd, reserved: Usd) -> Answer {
    let what = format!("{scope}: {spent} of {cap} spent, the next request could cost {reserved}");
    Answer::Held(Held { reason: Reason::BudgetReached, what })
}

pub(super) fn store_failed(key: Key, error: &str) -> Answer {
    let error = format!("the reply store failed: {error}");
    Answer::Failed(Failed { reason: Reason::RequestFailed, error, raw: String::new(), key })
}
