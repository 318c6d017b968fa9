//! Batches: many requests in a file, answered within a day for less.
//!
//! What is on its way stands in `replies/batches.jsonl`, a log: a batch is written down, with its journalled attempts,
//! before anything of it is sent, with the server's name for it once that is known, and with its end once every reply of it
//! is stored. A process that ends anywhere in between leaves what the next one goes on with: a batch whose name is not
//! known is looked for among those of the server before it is sent again, and a reply that is stored is not stored twice.

mod log;
mod server;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::future::join_all;
use riddlemill_files::log::{Log, LogError};
use riddlemill_text::record::Reason;
use rustc_hash::{FxHashMap, FxHashSet};

use self::log::{Entry, Item};
use self::server::{Line as Answered, Server, State};
use super::answer::{Answer, Held};
use super::engine::{Engine, Question, from_store, refused, store_failed};
use super::fault::Fault;
use super::http::{Received, Transport};
use super::money::Usd;
use super::request::{Input, Key};
use super::store::{Begin, Begun, Failure, Line, Store, StoreError, StoredReply, now_ms};
use super::{tokens, wire};

/// Requests in one batch at most: its answers come in one file.
const ITEMS: usize = 2_000;
/// For so long nobody else asks what is in a batch; the log says so beyond that.
const LEASE: Duration = Duration::from_secs(26 * 3600);

/// What is in batches on their way: asked and reserved for, and not to be asked again.
pub(super) fn on_their_way(store: &Store) -> Result<FxHashSet<Key>, StoreError> {
    let open = log::open(&log::of(store.dir()))?;
    Ok(open.into_iter().flat_map(|entry| entry.items).map(|item| item.key).collect())
}

/// How many batches are on their way from the store in the folder `replies`, without opening it.
///
/// # Errors
/// [`LogError`] where their log is damaged.
pub fn batches_on_their_way(replies: &Path) -> Result<usize, LogError> {
    Ok(log::open(&log::of(replies))?.len())
}

impl Engine {
    /// Takes out of what is to be asked what is in a batch or goes into one, and looks after the batches on their way.
    /// What is left is asked one by one.
    pub(super) async fn batched(
        &self,
        transport: &dyn Transport,
        questions: &[Question],
        to_ask: Vec<usize>,
        answers: &mut [Option<Answer>],
    ) -> Vec<usize> {
        let log = log::of(self.store.dir());
        if !self.endpoint.batch && !log.path().exists() {
            return to_ask;
        }
        let path = log.path().with_extension("lock");
        let turn = tokio::task::spawn_blocking(move || {
            let file = File::options().create(true).truncate(false).write(true).open(path)?;
            file.lock().map(|()| file)
        });
        let read = match turn.await {
            Ok(Ok(turn)) => log::open(&log).map(|open| (turn, open)).map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        // Until its file is dropped no other process sends or fetches a batch.
        let (_turn, open) = match read {
            Ok(read) => read,
            Err(error) => {
                to_ask.iter().for_each(|&at| answers[at] = Some(store_failed(questions[at].key, &error)));
                return Vec::new();
            }
        };
        let server = Server { transport, endpoint: &self.endpoint };
        let mut waiting: FxHashMap<Key, Held> = FxHashMap::default();
        for entry in open {
            let ours = entry.endpoint == self.endpoint.name;
            match if ours { self.brought(&server, &log, &entry).await } else { Ok(false) } {
                Ok(true) => {}
                Ok(false) => waiting.extend(self.all_wait(&entry, "")),
                Err(why) => waiting.extend(self.all_wait(&entry, &why)),
            }
        }
        let mut rest = Vec::new();
        for at in to_ask {
            let key = questions[at].key;
            if let Some(held) = waiting.get(&key) {
                answers[at] = Some(Answer::Held(held.clone()));
                continue;
            }
            match self.known(&key).filter(|answer| answer.reply().is_none_or(|reply| !reply.is_cut())) {
                Some(answer) => answers[at] = Some(answer),
                None => rest.push(at),
            }
        }
        if !self.endpoint.batch {
            return rest;
        }
        // What was cut is stored, and is asked once more at once.
        let (chats, others): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(|&at| {
            let question = &questions[at];
            matches!(question.request.input, Input::Chat { .. })
                && !self.store.contains(&question.key).unwrap_or(true)
        });
        for chunk in chats.chunks(ITEMS) {
            self.submit(&server, &log, questions, chunk, answers).await;
        }
        others
    }

    /// What the store has of a request since it was last looked at.
    fn known(&self, key: &Key) -> Option<Answer> {
        match (self.store.get(key), self.store.lasting_failure(key)) {
            (Ok(Some(reply)), _) => Some(from_store(reply)),
            (Ok(None), Ok(Some(failure))) if !self.limits.retry_failed => Some(refused(failure)),
            (Ok(_), Ok(_)) => None,
            (Err(error), _) | (_, Err(error)) => Some(store_failed(*key, &error.to_string())),
        }
    }

    fn all_wait(&self, entry: &Entry, why: &str) -> impl Iterator<Item = (Key, Held)> {
        let since = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(entry.at_ms));
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        let what = format!("in a batch of llm.{} since {since}{why}; run again to fetch it", entry.endpoint);
        let held = Held { reason: Reason::ReplyMissing, what };
        entry.items.iter().map(move |item| (item.key, held.clone()))
    }

    /// Reserves, writes down and sends a new batch.
    async fn submit(
        &self,
        server: &Server<'_>,
        log: &Log,
        questions: &[Question],
        chunk: &[usize],
        answers: &mut [Option<Answer>],
    ) {
        let held = |reason, what: &str| Answer::Held(Held { reason, what: what.to_owned() });
        if self.limits.cancel.is_cancelled() {
            let interrupted = held(Reason::Interrupted, "run again to go on");
            chunk.iter().for_each(|&at| answers[at] = Some(interrupted.clone()));
            return;
        }
        if let Some(how) = self.limits.run.left(&self.endpoint.name) {
            chunk.iter().for_each(|&at| answers[at] = Some(held(Reason::EndpointLeft, &how)));
            return;
        }
        let begun = join_all(chunk.iter().map(async |&at| (at, self.reserve(&questions[at]).await)));
        let mut entry = Entry::new(&self.endpoint.name, now_ms());
        let mut places = Vec::new();
        for (at, begun) in begun.await {
            match begun {
                Ok(attempt) => {
                    let Question { key, request, template } = &questions[at];
                    let (request, template) = (request.clone(), template.clone());
                    entry.items.push(Item { key: *key, attempt, request, template });
                    places.push(at);
                }
                Err(answer) => answers[at] = Some(*answer),
            }
        }
        if entry.items.is_empty() {
            return;
        }
        let brought = match log::add(log, &entry) {
            Ok(()) => self.brought(server, log, &entry).await,
            Err(error) => {
                let error = error.to_string();
                places.iter().for_each(|&at| answers[at] = Some(store_failed(questions[at].key, &error)));
                return;
            }
        };
        let why = brought.as_ref().err().cloned().unwrap_or_default();
        for (at, (key, held)) in places.into_iter().zip(self.all_wait(&entry, &why)) {
            let known = if brought == Ok(true) { self.known(&key) } else { None };
            let left = || self.limits.run.left(&self.endpoint.name);
            answers[at] = Some(known.unwrap_or_else(|| match left() {
                Some(how) => Answer::Held(Held { reason: Reason::EndpointLeft, what: how }),
                None => Answer::Held(held),
            }));
        }
    }

    /// Journals an attempt that outlives this process.
    async fn reserve(&self, question: &Question) -> Result<String, Box<Answer>> {
        let held = |reason, what: String| Box::new(Answer::Held(Held { reason, what }));
        let request = &question.request;
        let reserved = self.price.most(tokens::bound(request), request.max_completion_tokens());
        let begin = Begin {
            key: question.key,
            reserved,
            caps: self.caps.clone(),
            lease_ms: LEASE.as_millis() as u64,
            room: 0,
            outlives: true,
        };
        match self.store.begin(begin).await {
            Ok(Begun::Go { id }) => Ok(id),
            Ok(Begun::Stored) => Err(Box::new(
                self.known(&question.key).unwrap_or_else(|| store_failed(question.key, "a reply vanished")),
            )),
            Ok(Begun::Busy) => Err(held(Reason::ReplyMissing, "another process is asking for it".into())),
            Ok(Begun::Refused { scope, spent, cap, .. }) => {
                let what = format!("{scope}: {spent} of {cap} spent, the next request could cost {reserved}");
                Err(held(Reason::BudgetReached, what))
            }
            Err(error) => Err(Box::new(store_failed(question.key, &error.to_string()))),
        }
    }

    /// Brings a batch as far as it gets: sends it where it was not sent, and books it where it has ended. Returns whether
    /// all of it is booked.
    async fn brought(&self, server: &Server<'_>, log: &Log, entry: &Entry) -> Result<bool, String> {
        let told = |fault: Fault| fault.told_of(&self.endpoint.name);
        let id = match &entry.id {
            Some(id) => id.clone(),
            None => {
                let sent = match server.find(&entry.batch).await.map_err(told)? {
                    Some(id) => Ok(id),
                    None => server.send(entry).await,
                };
                match sent {
                    Ok(id) => {
                        log::add(log, &entry.called(&id)).map_err(|error| error.to_string())?;
                        id
                    }
                    // Refused as a whole: nothing is paid, and nothing is on its way.
                    Err(fault) if fault.unbilled() && fault.status().is_some() && !fault.retriable() => {
                        let how = told(fault);
                        self.limits.run.note(&self.endpoint.name, Some(&how), 1);
                        self.book(entry, Vec::new(), &how).await?;
                        log::add(log, &entry.over(&how)).map_err(|error| error.to_string())?;
                        return Ok(true);
                    }
                    Err(fault) => return Err(told(fault)),
                }
            }
        };
        match server.state(&id).await.map_err(told)? {
            State::OnItsWay => Ok(false),
            State::Ended { how, files } => {
                let mut lines = Vec::new();
                for file in files {
                    lines.extend(server.answers(&file).await.map_err(told)?);
                }
                self.book(entry, lines, &format!("the batch {id} of {} {how}", self.endpoint.name)).await?;
                log::add(log, &entry.over(&how)).map_err(|error| error.to_string())?;
                Ok(true)
            }
        }
    }

    /// Stores what came, an outcome for each attempt. What has none was not answered, and is not charged.
    async fn book(&self, entry: &Entry, lines: Vec<Answered>, how: &str) -> Result<(), String> {
        let mut came: FxHashMap<String, Received> =
            lines.into_iter().map(|line| (line.key, line.received)).collect();
        let mut settling = Vec::new();
        for item in &entry.items {
            // Booked by a process that ended before it could say so.
            if self.store.contains(&item.key).map_err(|error| error.to_string())? {
                continue;
            }
            let line = self.outcome(item, entry.at_ms, came.remove(&item.key.to_string()), how);
            settling.push(self.store.settle(line).map_err(|error| error.to_string())?);
        }
        for one in settling {
            one.synced().await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn outcome(&self, item: &Item, since_ms: u64, came: Option<Received>, how: &str) -> Line {
        let (at_ms, elapsed_ms) = (now_ms(), now_ms().saturating_sub(since_ms));
        let failure = Failure {
            id: item.attempt.clone(),
            key: item.key,
            error: format!("not answered: {how}"),
            status: None,
            raw: String::new(),
            charged_picousd: Usd::ZERO,
            usage: None,
            at_ms,
            elapsed_ms,
            lasting: false,
            request: Some(item.request.clone()),
        };
        let Some(received) = came else { return Line::Failure(failure) };
        let most = || self.price.most(tokens::bound(&item.request), item.request.max_completion_tokens());
        let stated = wire::stated_cost(&received).unwrap_or(Usd::ZERO);
        match wire::read(&item.request, &received) {
            Ok(content) => Line::Reply(StoredReply {
                key: item.key,
                id: Some(item.attempt.clone()),
                template: item.template.clone(),
                request: item.request.clone(),
                raw: received.body,
                usage: content.usage,
                charged_picousd: content.usage.map_or_else(most, |usage| self.price.of(usage)).max(stated),
                attempts: 1,
                at_ms,
                elapsed_ms,
            }),
            Err(fault) => {
                let charged = match fault.usage {
                    Some(usage) => self.price.of(usage),
                    None if fault.status().is_some() => Usd::ZERO,
                    None => most(),
                };
                Line::Failure(Failure {
                    error: fault.told_of(&self.endpoint.name),
                    status: fault.status(),
                    raw: fault.raw.clone(),
                    charged_picousd: charged.max(stated),
                    usage: fault.usage,
                    lasting: fault.is_lasting(),
                    ..failure
                })
            }
        }
    }
}
