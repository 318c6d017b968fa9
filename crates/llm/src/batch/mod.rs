//! Batches: many requests at once, answered within a day for less.
//!
//! Batches in progress are in `replies/batches.jsonl`, a log: a batch is logged, with its journalled
//! attempts, before anything is sent, with the server's name for it once that is known, and with its end once
//! every reply is stored. A process can end anywhere in between: the next one looks for a batch of unknown
//! name among those of the server before it is sent again, and does not store a stored reply twice.

mod cancel;
mod fetch;
mod log;
mod server;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::time::Duration;

use futures_util::future::join_all;
use riddlemill_files::log::{Log, open_locked};
use riddlemill_record::{BatchStands, Cause, Evidence, Reason};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::time::Instant;

use self::fetch::{BatchState, BatchStateError};
use self::log::{BatchItem, BatchLogEntry, LogContents};
use self::server::Server;
use super::answer::{Answer, Failed, Held};
use super::cause::{budget_reached, interrupted_answer, left_alone_answer, refused_answer, store_failed};
use super::engine::{Engine, Question, from_store};
use super::http::Transport;
use super::request::{Input, Key};
use super::send::BUDGET_POLL;
use super::store::{Begin, BeginReply, Store, StoreError, now_ms};
use super::tokens;

pub use self::cancel::{CancelError, Cancelled, cancel_lost};
pub use self::log::{OpenBatch, open_batches};
pub(super) use self::server::takes_batches;

/// Most requests in one batch, and most bytes: Gemini takes twenty million of them.
const ITEMS: usize = 10_000;
const BYTES: usize = 16 << 20;
/// Most bytes of the answers of one batch, which come in one file, and most bytes per token.
const ANSWERS: u64 = 256 << 20;
const TOKEN: u64 = 8;
/// Generous bound on the bytes that a batch adds to each request.
const AROUND: usize = 512;
/// How long requests in a batch are leased; after that the log still lists them.
const LEASE: Duration = Duration::from_secs(26 * 3600);

/// The keys of requests in open batches: asked and reserved for, and not to be asked again.
pub(super) fn on_their_way(store: &Store) -> Result<FxHashSet<Key>, StoreError> {
    let open = log::read_log(&log::open_log(store.dir()))?.open;
    Ok(open.into_iter().flat_map(|entry| entry.items).map(|item| item.key).collect())
}

/// Exclusive access to the batches: until it is dropped no other process sends or fetches one.
pub(super) struct Turn {
    log: Log,
    /// The servers' names of all batches, including past ones.
    ids: Vec<String>,
    waiting: FxHashMap<Key, Held>,
    /// Requests that were refused in a batch that ended in this run.
    refused: FxHashMap<Key, Failed>,
    /// Whether a batch has ended since, so that the store has new replies.
    pub(super) completed: bool,
    _lock: File,
}

impl Engine {
    /// Moves the open batches forward; `None` if there is nothing to do.
    pub(super) async fn turn(&self, transport: &dyn Transport) -> Result<Option<Turn>, StoreError> {
        let log = log::open_log(self.store.dir());
        // Open batches are fetched even if batches are switched off by now.
        if !self.endpoint.batch && !log.path().exists() {
            return Ok(None);
        }
        let (mut turn, open) = Turn::take(log).await?;
        let server = Server { transport, endpoint: &self.endpoint };
        for entry in open {
            let asks = entry.endpoint == self.endpoint.name && !self.limits.cancel.is_cancelled();
            // The batch of another endpoint cannot be asked for here, but its requests must not be sent
            // twice.
            let completed = if asks {
                self.advance_batch(&server, &mut turn, &entry, false).await
            } else {
                Ok(BatchState::InProgress(String::new()))
            };
            match completed {
                Ok(BatchState::Complete) => turn.completed = true,
                Ok(BatchState::InProgress(state)) => turn.waiting.extend(waiting_requests(&entry, &state)),
                Err(stuck) => turn.waiting.extend(is_stuck(&entry, &stuck)),
            }
        }
        Ok(Some(turn))
    }

    /// Replaces a question whose answer was cut off by its repetition with a larger limit, so that it is
    /// looked up in batches and sent in one.
    pub(super) fn reuse_larger(&self, questions: &mut [Question], answers: &mut [Option<Answer>]) {
        for (question, answer) in questions.iter_mut().zip(answers) {
            if answer.is_some() {
                continue;
            }
            match self.known(&question.key) {
                Some(known) if known.reply().is_some_and(|reply| question.is_cut(reply)) => {}
                // Another process has stored it meanwhile.
                known => {
                    *answer = known;
                    continue;
                }
            }
            let Some(request) = Engine::with_larger_limit(&self.endpoint, &question.request) else {
                *answer = Some(self.cut_answer(&question.request));
                continue;
            };
            *question = question.with_request(request);
            *answer = self.known(&question.key).map(|known| match known.reply() {
                Some(reply) if question.is_cut(reply) => self.cut_answer(&question.request),
                _ => known,
            });
        }
    }

    /// Answers what is in a batch, and sends new batches. The rest is asked one by one.
    pub(super) async fn submitted(
        &self,
        transport: &dyn Transport,
        turn: &mut Turn,
        questions: &[Question],
        to_ask: Vec<usize>,
        answers: &mut [Option<Answer>],
    ) -> Vec<usize> {
        let (mut chats, mut others) = (Vec::new(), Vec::new());
        for at in to_ask {
            let question = &questions[at];
            if let Some(failed) = turn.refused.get(&question.key) {
                answers[at] = Some(Answer::Failed(failed.clone()));
                continue;
            }
            match turn.waiting.get(&question.key) {
                Some(held) => answers[at] = Some(Answer::Held(held.clone())),
                None if self.endpoint.batch && matches!(question.request.input, Input::Chat { .. }) => {
                    chats.push(at);
                }
                None => others.push(at),
            }
        }
        let server = Server { transport, endpoint: &self.endpoint };
        for chunk in chunks(questions, &chats) {
            self.submit(&server, turn, questions, chunk, answers).await;
        }
        others
    }

    /// A reply stored since the last look at the store.
    fn known(&self, key: &Key) -> Option<Answer> {
        match (self.store.get(key), self.store.lasting_failure(key)) {
            (Ok(Some(reply)), _) => Some(from_store(reply, &self.endpoint.marks)),
            (Ok(None), Ok(Some(failure))) if !self.limits.retry_failed => {
                Some(refused_answer(&self.endpoint.name, failure))
            }
            (Ok(_), Ok(_)) => None,
            (Err(error), _) | (_, Err(error)) => Some(store_failed(*key, &error.to_string())),
        }
    }

    /// What a batch that has just ended brought for a request. An answer that was cut off in it is asked for
    /// again by the next run, in another batch.
    fn known_now(&self, question: &Question, key: &Key) -> Option<Answer> {
        // Also one that failed for good before, and again now.
        let failed = || {
            self.store
                .lasting_failure(key)
                .ok()
                .flatten()
                .map(|failure| refused_answer(&self.endpoint.name, failure))
        };
        let known = self.known(key).or_else(failed)?;
        match known.reply() {
            Some(reply) if question.is_cut(reply) => {
                let larger = Engine::with_larger_limit(&self.endpoint, &question.request);
                Some(match larger.filter(|larger| *larger != question.request) {
                    Some(_) => {
                        let name = &self.endpoint.name;
                        let what = in_batch(
                            name,
                            BatchStands::Cut,
                            format!("in a batch of llm.{name} that cut it"),
                            "run again to ask for all of it",
                        );
                        Answer::Held(Held { reason: Reason::ReplyMissing, what })
                    }
                    None => self.cut_answer(&question.request),
                })
            }
            _ => Some(known),
        }
    }

    /// Reserves, logs and sends a new batch.
    async fn submit(
        &self,
        server: &Server<'_>,
        turn: &mut Turn,
        questions: &[Question],
        chunk: &[usize],
        answers: &mut [Option<Answer>],
    ) {
        if self.limits.cancel.is_cancelled() {
            chunk.iter().for_each(|&at| answers[at] = Some(interrupted_answer()));
            return;
        }
        if let Some(how) = self.limits.run.failure_of_endpoint(&self.endpoint.name) {
            chunk.iter().for_each(|&at| answers[at] = Some(left_alone_answer(&how)));
            return;
        }
        // Concurrently, so that thousands of reservations share a sync.
        let begun = join_all(chunk.iter().map(async |&at| (at, self.reserve(&questions[at]).await)));
        let mut entry = BatchLogEntry::new(&self.endpoint.name, now_ms());
        let mut places = Vec::new();
        for (at, begun) in begun.await {
            match begun {
                Ok(attempt) => {
                    let Question { key, request, template, .. } = &questions[at];
                    let (request, template) = (request.clone(), template.clone());
                    entry.items.push(BatchItem { key: *key, attempt, request, template });
                    places.push(at);
                }
                Err(answer) => answers[at] = Some(*answer),
            }
        }
        if entry.items.is_empty() {
            return;
        }
        if let Err(error) = log::add(&turn.log, &entry) {
            let error = error.to_string();
            // Nothing of it is sent. If that cannot be logged either, the next start detects it.
            let _ = self.record_answers(&entry, Vec::new(), &error).await;
            places.iter().for_each(|&at| answers[at] = Some(store_failed(questions[at].key, &error)));
            return;
        }
        let state = self.advance_batch(server, turn, &entry, true).await;
        let waiting: Vec<(Key, Held)> = match &state {
            Ok(BatchState::Complete) => unanswered_requests(&entry).collect(),
            Ok(BatchState::InProgress(state)) => waiting_requests(&entry, state).collect(),
            Err(stuck) => is_stuck(&entry, stuck).collect(),
        };
        let is_over = matches!(state, Ok(BatchState::Complete));
        for (at, (key, hold)) in places.into_iter().zip(waiting) {
            let refused = turn.refused.get(&key).cloned().map(Answer::Failed);
            let known = refused.or_else(|| is_over.then(|| self.known_now(&questions[at], &key)).flatten());
            answers[at] =
                Some(known.unwrap_or_else(
                    || match self.limits.run.failure_of_endpoint(&self.endpoint.name) {
                        Some(how) => left_alone_answer(&how),
                        None => Answer::Held(hold),
                    },
                ));
        }
    }

    /// Journals an attempt that outlives this process. Waits while attempts in flight may still release what
    /// they reserved.
    async fn reserve(&self, question: &Question) -> Result<String, Box<Answer>> {
        let request = &question.request;
        let reserved =
            self.price.highest_cost(tokens::bound_prompt_tokens(request), request.max_completion_tokens());
        let asked = Instant::now();
        loop {
            let begin = Begin {
                key: question.key,
                reserved,
                caps: self.caps.clone(),
                lease_ms: LEASE.as_millis() as u64,
                // Another process may fetch the answers and write them elsewhere, so space here would be no
                // help.
                room: 0,
                outlives: true,
            };
            return match self.store.begin(begin).await {
                Ok(BeginReply::Go { id }) => Ok(id),
                Ok(BeginReply::Stored) => Err(Box::new(
                    self.known(&question.key)
                        .unwrap_or_else(|| store_failed(question.key, "a reply vanished")),
                )),
                Ok(BeginReply::Busy) => {
                    let what =
                        Evidence::with_cause("another process is asking for it", Cause::AskedElsewhere);
                    Err(Box::new(Answer::Held(Held { reason: Reason::ReplyMissing, what })))
                }
                Ok(BeginReply::Refused { unsettled: 1.., .. })
                    if asked.elapsed() < self.longest_request() && !self.limits.cancel.is_cancelled() =>
                {
                    tokio::time::sleep(BUDGET_POLL).await;
                    continue;
                }
                Ok(BeginReply::Refused { scope, spent, cap, .. }) => {
                    Err(Box::new(budget_reached(&scope, spent, cap, reserved)))
                }
                Err(error) => Err(Box::new(store_failed(question.key, &error.to_string()))),
            };
        }
    }
}

impl Turn {
    /// Waits until no other process uses the batches; returns the open ones.
    async fn take(log: Log) -> Result<(Turn, Vec<BatchLogEntry>), StoreError> {
        let path = log.path().with_extension("lock");
        // The lock may be taken for long, and waiting for it must not block the runtime.
        let locked = tokio::task::spawn_blocking({
            let path = path.clone();
            move || open_locked(&path, &mut File::options())
        });
        let locked = locked.await.map_err(io::Error::from).flatten();
        let lock = locked.map_err(|source| StoreError::Io { path, source })?;
        let LogContents { open, ids } = log::read_log(&log)?;
        let (waiting, refused) = Default::default();
        Ok((Turn { log, ids, waiting, refused, completed: false, _lock: lock }, open))
    }
}

/// Splits questions into batches of the largest possible size, in order.
fn chunks<'c>(questions: &[Question], chats: &'c [usize]) -> Vec<&'c [usize]> {
    let (mut chunks, mut begin, mut bytes, mut answers) = (Vec::new(), 0, 0, 0);
    for (at, &place) in chats.iter().enumerate() {
        let request = &questions[place].request;
        let size = serde_json::to_vec(request).map_or(0, |bytes| bytes.len()) + AROUND;
        let answer = request.max_completion_tokens().saturating_mul(TOKEN) + AROUND as u64;
        // A request that exceeds the limits by itself forms a batch of its own.
        if at > begin && (at - begin == ITEMS || bytes + size > BYTES || answers + answer > ANSWERS) {
            chunks.push(&chats[begin..at]);
            (begin, bytes, answers) = (at, 0, 0);
        }
        (bytes, answers) = (bytes + size, answers + answer);
    }
    if begin < chats.len() {
        chunks.push(&chats[begin..]);
    }
    chunks
}

/// `in a batch of llm.mine since Tue, 24 Nov 2026 06:40:00 GMT`.
fn since_text(entry: &BatchLogEntry) -> String {
    format!("in a batch of llm.{} since {}", entry.endpoint, log::format_date(entry.at_ms))
}

/// The requests of a batch in progress, held with its state.
fn waiting_requests(entry: &BatchLogEntry, state: &str) -> impl Iterator<Item = (Key, Held)> {
    let state = if state.is_empty() { String::new() } else { format!(" ({state})") };
    let said = format!("{}{state}", since_text(entry));
    all_held(entry, in_batch(&entry.endpoint, BatchStands::Open, said, "run again to fetch it"))
}

/// The requests of a batch that ended without an answer to them: expired, or cancelled.
fn unanswered_requests(entry: &BatchLogEntry) -> impl Iterator<Item = (Key, Held)> {
    let endpoint = &entry.endpoint;
    let said = format!("in a batch of llm.{endpoint} that ended without an answer to it");
    all_held(entry, in_batch(endpoint, BatchStands::Ended, said, "run again to ask again"))
}

/// The requests of a batch whose state is unknown.
fn is_stuck(entry: &BatchLogEntry, stuck: &BatchStateError) -> impl Iterator<Item = (Key, Held)> {
    let since = since_text(entry);
    all_held(
        entry,
        match stuck {
            BatchStateError::Fails(why) => {
                let said = format!("{since} ({why})");
                in_batch(&entry.endpoint, BatchStands::Open, said, "run again to fetch it")
            }
            BatchStateError::Gone(why) => {
                let command = format!("riddlemill replies cancel {} --lost", entry.batch);
                let said = format!("{since}, which it no longer has ({why})");
                in_batch(&entry.endpoint, BatchStands::Lost { command: command.clone() }, said, &command)
            }
        },
    )
}

/// What a request in a batch waits for, and what to do.
fn in_batch(endpoint: &str, stands: BatchStands, said: String, to_do: &str) -> Evidence {
    let text = format!("{said}; {to_do}");
    Evidence::with_cause(text, Cause::InBatch { endpoint: endpoint.to_owned(), stands, said })
}

fn all_held(entry: &BatchLogEntry, what: Evidence) -> impl Iterator<Item = (Key, Held)> {
    let held = Held { reason: Reason::ReplyMissing, what };
    entry.items.iter().map(move |item| (item.key, held.clone()))
}
