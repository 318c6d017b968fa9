//! Moves a batch forward: sends it if necessary, polls it, fetches its answers, and stores and charges them once it has
//! ended.

use riddlemill_files::log::LogError;
use riddlemill_record::Reason;
use rustc_hash::FxHashMap;

use super::Turn;
use super::log::{self, BatchItem, BatchLogEntry};
use super::server::{BatchResult as Answered, FoundBatch, Server, State, Unanswered};
use crate::answer::Failed;
use crate::cause::{self, Hint};
use crate::engine::Engine;
use crate::fault::{Fault, Kind};
use crate::http::Received;
use crate::money::Usd;
use crate::request::Key;
use crate::store::{Failure, SegmentLine, Shared, StoreError, StoredReply, now_ms};
use crate::{tokens, wire};

/// The state of a batch after an attempt to move it forward.
pub(super) enum BatchState {
    /// It has ended, and all of its replies are stored and charged.
    Complete,
    /// It is in progress; with its progress.
    InProgress(String),
}

/// Why the state of a batch is unknown.
#[derive(Debug)]
pub(super) enum BatchStateError {
    /// A temporary failure.
    Fails(String),
    /// The server no longer knows it.
    Gone(String),
}

/// The results of a batch could not be stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRecorded {
    #[error(transparent)]
    Store(#[from] Shared),
    #[error(transparent)]
    Log(#[from] LogError),
}

impl From<StoreError> for NotRecorded {
    fn from(error: StoreError) -> NotRecorded {
        NotRecorded::Store(error.into())
    }
}

impl From<NotRecorded> for BatchStateError {
    fn from(error: NotRecorded) -> BatchStateError {
        BatchStateError::Fails(error.to_string())
    }
}

impl Engine {
    /// Moves a batch forward as far as possible now. One that is `new` cannot already be at the server under
    /// an unknown name.
    pub(super) async fn advance_batch(
        &self,
        server: &Server<'_>,
        turn: &mut Turn,
        entry: &BatchLogEntry,
        new: bool,
    ) -> Result<BatchState, BatchStateError> {
        let describe = |fault: &Fault| fault.describe_for_ledger(&self.endpoint.name);
        let id = match &entry.id {
            Some(id) => id.clone(),
            None => {
                let found = match new {
                    true => FoundBatch::Nowhere,
                    false => server
                        .find(entry, &turn.ids)
                        .await
                        .map_err(|fault| BatchStateError::Fails(describe(&fault)))?,
                };
                let id = match found {
                    FoundBatch::Batch(id) => id,
                    FoundBatch::Perhaps => {
                        let why = "it may be among those that are not answered yet, and is looked for there";
                        return Err(BatchStateError::Fails(why.to_owned()));
                    }
                    // Batches were switched off before it was sent.
                    FoundBatch::Nowhere if !self.endpoint.batch => {
                        self.end_batch(turn, entry, Vec::new(), "it was never sent").await?;
                        return Ok(BatchState::Complete);
                    }
                    FoundBatch::Nowhere => match server.send(entry).await {
                        Ok(id) => id,
                        // Refused as a whole: nothing is paid, and nothing is in progress.
                        Err(fault)
                            if fault.is_unbilled()
                                && fault.http_status().is_some()
                                && !fault.is_retriable() =>
                        {
                            let how = describe(&fault);
                            let name = &self.endpoint.name;
                            let left =
                                cause::of_fault(name, &fault, &Hint::default(), how.clone(), how.clone());
                            // One refusal of a whole batch is enough to leave the endpoint: the next batch
                            // would be refused as well.
                            self.limits.run.record_result(name, Some(&left), 1);
                            self.end_batch(turn, entry, Vec::new(), &how).await?;
                            return Ok(BatchState::Complete);
                        }
                        Err(fault) => return Err(BatchStateError::Fails(describe(&fault))),
                    },
                };
                // At once: without the name, the next process has to search the batches of the server.
                log::add(&turn.log, &entry.with_server_name(&id)).map_err(NotRecorded::from)?;
                turn.ids.push(id.clone());
                id
            }
        };
        match server.state(&id).await {
            Ok(State::OnItsWay(state)) => Ok(BatchState::InProgress(state)),
            Ok(State::Ended { how, lines }) => {
                let how = format!("the batch {id} of {}: {how}", self.endpoint.name);
                let refused = self.end_batch(turn, entry, lines, &how).await?;
                turn.refused.extend(refused);
                Ok(BatchState::Complete)
            }
            Ok(State::Refused { why }) => {
                let how = format!("the batch was refused by {}: {why}", self.endpoint.name);
                // The next one would be refused as well.
                let left = cause::remembered_failure(&self.endpoint.name, how.clone(), None, "");
                self.limits.run.record_result(&self.endpoint.name, Some(&left), 1);
                self.refuse_batch(turn, entry, &how).await?;
                Ok(BatchState::Complete)
            }
            Err(fault) if matches!(fault.kind, Kind::Status(404 | 410)) => {
                Err(BatchStateError::Gone(describe(&fault)))
            }
            Err(fault) => Err(BatchStateError::Fails(describe(&fault))),
        }
    }

    /// Books the answers of a batch and logs that it is over. The requests that were refused, as of
    /// [`Engine::record_answers`].
    pub(super) async fn end_batch(
        &self,
        turn: &Turn,
        entry: &BatchLogEntry,
        lines: Vec<Answered>,
        how: &str,
    ) -> Result<Vec<(Key, Failed)>, NotRecorded> {
        let refused = self.record_answers(entry, lines, how).await?;
        log::add(&turn.log, &entry.with_end(how))?;
        Ok(refused)
    }

    /// Books a batch that was refused as a whole: a lasting failure of each of its requests, for nothing.
    async fn refuse_batch(&self, turn: &Turn, entry: &BatchLogEntry, how: &str) -> Result<(), NotRecorded> {
        let mut settling = Vec::new();
        for item in &entry.items {
            if self.store.contains(&item.key)? {
                continue;
            }
            let failure = unanswered_failure(item, entry.at_ms, how.to_owned());
            settling.push(self.store.settle(SegmentLine::Failure(Failure { lasting: true, ..failure }))?);
        }
        for one in settling {
            one.synced().await?;
        }
        Ok(log::add(&turn.log, &entry.with_end(how))?)
    }

    /// Stores the answers, one outcome per attempt. A request without an answer is not charged. The requests
    /// that were refused for what a setting may mend: not for good, and not to be sent again by this run.
    pub(super) async fn record_answers(
        &self,
        entry: &BatchLogEntry,
        lines: Vec<Answered>,
        how: &str,
    ) -> Result<Vec<(Key, Failed)>, NotRecorded> {
        let in_order = lines.len() == entry.items.len() && lines.iter().all(|line| line.key.is_none());
        let key = |at: usize, line: &Answered| match in_order {
            true => Some(entry.items[at].key.to_string()),
            false => line.key.clone(),
        };
        let lines = lines.into_iter().enumerate();
        let mut came: FxHashMap<String, Result<Received, Unanswered>> =
            lines.filter_map(|(at, line)| Some((key(at, &line)?, line.came))).collect();
        let (mut settling, mut refused) = (Vec::new(), Vec::new());
        for item in &entry.items {
            // Already stored by a process that ended before it could log that.
            if self.store.contains(&item.key)? {
                continue;
            }
            let line = self.outcome_line(item, entry.at_ms, came.remove(&item.key.to_string()), how);
            if let SegmentLine::Failure(Failure {
                key, error, raw, status: Some(status), lasting: false, ..
            }) = &line
                && !Fault::new(Kind::Status(*status)).is_retriable()
            {
                let error = cause::remembered_failure(&self.endpoint.name, error.clone(), Some(*status), raw);
                let (reason, raw) = (Reason::RequestFailed, raw.clone());
                refused.push((*key, Failed { reason, error, raw, key: *key }));
            }
            settling.push(self.store.settle(line)?);
        }
        // Waited for only after all are submitted, so that they share a sync.
        for one in settling {
            one.synced().await?;
        }
        Ok(refused)
    }

    fn outcome_line(
        &self,
        item: &BatchItem,
        since_ms: u64,
        came: Option<Result<Received, Unanswered>>,
        how: &str,
    ) -> SegmentLine {
        let failure = unanswered_failure(item, since_ms, format!("not answered: {how}"));
        let (at_ms, elapsed_ms) = (failure.at_ms, failure.elapsed_ms);
        let received = match came {
            Some(Ok(received)) => received,
            Some(Err(why)) => {
                return SegmentLine::Failure(Failure {
                    error: format!("not answered: {how}, {why}"),
                    ..failure
                });
            }
            None => return SegmentLine::Failure(failure),
        };
        let most = || {
            self.price.highest_cost(
                tokens::bound_prompt_tokens(&item.request),
                item.request.max_completion_tokens(),
            )
        };
        let stated = wire::stated_cost(&received, most());
        self.remark_if_miscounted(stated);
        let stated = stated.least_charge(most());
        match wire::parse_received(&item.request, &received, &self.endpoint.marks) {
            Ok(content) => SegmentLine::Reply(StoredReply {
                key: item.key,
                id: Some(item.attempt.clone()),
                template: item.template.clone(),
                request: item.request.clone(),
                raw: received.body,
                usage: content.usage,
                cut: content.truncated,
                charged_picousd: content
                    .usage
                    .map_or_else(most, |usage| self.price.charge_for_usage(usage))
                    .max(stated),
                attempts: 1,
                at_ms,
                elapsed_ms,
            }),
            Err(fault) => {
                let charged = match fault.usage {
                    Some(usage) => self.price.charge_for_usage(usage),
                    None if fault.http_status().is_some() => Usd::ZERO,
                    None => most(),
                };
                SegmentLine::Failure(Failure {
                    error: fault.describe_for_ledger(&self.endpoint.name),
                    status: fault.http_status(),
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

/// An attempt in a batch that brought no answer and costs nothing.
fn unanswered_failure(item: &BatchItem, since_ms: u64, error: String) -> Failure {
    Failure {
        id: item.attempt.clone(),
        key: item.key,
        error,
        status: None,
        raw: String::new(),
        charged_picousd: Usd::ZERO,
        usage: None,
        at_ms: now_ms(),
        elapsed_ms: now_ms().saturating_sub(since_ms),
        lasting: false,
        request: Some(item.request.clone()),
    }
}
