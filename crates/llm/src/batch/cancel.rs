//! Cancels a batch: work on it stops, existing answers are kept and paid for, and the rest costs nothing.

use super::fetch::{BatchState, BatchStateError};
use super::log::{self, BatchLogEntry, OpenBatch};
use super::server::{FoundBatch, Server};
use super::{Turn, log::open_log};
use crate::engine::{Engine, ReplySource};
use crate::fault::Kind;
use crate::store::Store;

/// The result of cancelling a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It had not been sent: nothing is charged.
    NeverSent,
    /// Cancelled at the server; answers it has by then are fetched by a later run. With the server's words.
    Answered(String),
    /// It had ended: this many of its requests are answered and paid for.
    Over {
        /// Number of answered requests.
        answered: usize,
    },
}

/// Why a batch was not cancelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    /// There is no batch of this name.
    #[error("no open batch is named {name:?}\n  hint: `riddlemill replies batches` lists them")]
    Unknown { name: String },
    /// Several names begin like this.
    #[error("several open batches begin with {name:?}\n  hint: give more characters")]
    Ambiguous {
        /// The beginning of a name.
        name: String,
    },
    /// The endpoint cannot be asked, because of what its settings lack.
    #[error("{0}")]
    Unset(String),
    /// The endpoint is a sample.
    #[error("a sample answers in no batches")]
    Sample,
    /// The server does not tell whether it has the batch.
    #[error("llm.{endpoint} may have this batch among its open ones, but does not list it; try again later")]
    Unsure { endpoint: String },
    /// The server refused or did not answer.
    #[error("{0}")]
    Server(String),
    /// The server no longer has it, or its answers are not available.
    #[error("{0}\n  hint: --lost counts it as spent, without asking the endpoint")]
    Gone(String),
    /// The log of batches cannot be read or written.
    #[error("{0}")]
    Log(String),
}

impl Engine {
    /// Cancels a batch of this endpoint, by our name for it or the server's.
    ///
    /// # Errors
    /// [`CancelError`]; after [`CancelError::Gone`] use [`cancel_lost`].
    pub async fn cancel_batch(&self, name: &str) -> Result<Cancelled, CancelError> {
        let transport = match &self.source {
            ReplySource::Server(transport) => transport.as_ref(),
            ReplySource::Nothing(held) => return Err(CancelError::Unset(held.what.to_string())),
            ReplySource::Pack(_) => return Err(CancelError::Sample),
        };
        let taken = Turn::take(open_log(self.store.dir())).await;
        let (mut turn, open) = taken.map_err(|error| CancelError::Log(error.to_string()))?;
        let entry = find_batch(open, name)?;
        let server = Server { transport, endpoint: &self.endpoint };
        let id = match &entry.id {
            Some(id) => id.clone(),
            None => {
                let found = server.find(&entry, &turn.ids).await;
                match found
                    .map_err(|fault| CancelError::Server(fault.describe_for_ledger(&self.endpoint.name)))?
                {
                    FoundBatch::Batch(id) => id,
                    FoundBatch::Nowhere => {
                        let ended =
                            self.end_batch(&turn, &entry, Vec::new(), "it was given up before it was sent");
                        ended.await.map_err(|error| CancelError::Log(error.to_string()))?;
                        return Ok(Cancelled::NeverSent);
                    }
                    FoundBatch::Perhaps => {
                        return Err(CancelError::Unsure { endpoint: self.endpoint.name.clone() });
                    }
                }
            }
        };
        // Not an error yet: a batch that has ended cannot be cancelled, and its answers are fetched instead.
        let cancelled = server.cancel(&id).await;
        match self
            .advance_batch(&server, &mut turn, &BatchLogEntry { id: Some(id), ..entry.clone() }, false)
            .await
        {
            Ok(BatchState::Complete) => {
                let answered =
                    entry.items.iter().filter(|item| self.store.contains(&item.key).unwrap_or(false));
                Ok(Cancelled::Over { answered: answered.count() })
            }
            Ok(BatchState::InProgress(state)) => match cancelled {
                Ok(()) => Ok(Cancelled::Answered(state)),
                // It has just ended, or is about to.
                Err(fault) if matches!(fault.kind, Kind::Status(400 | 409)) => Ok(Cancelled::Answered(state)),
                Err(fault) => Err(CancelError::Server(fault.describe_for_ledger(&self.endpoint.name))),
            },
            Err(BatchStateError::Gone(why) | BatchStateError::Fails(why)) => Err(CancelError::Gone(why)),
        }
    }
}

/// Abandons a batch that cannot be reached any more, without asking its server: what was reserved for it
/// stays counted as spent, and its requests are asked again by the next run that needs them.
///
/// # Errors
/// [`CancelError`] if there is none of this name, or the log cannot be read or written.
pub async fn cancel_lost(store: &Store, name: &str) -> Result<OpenBatch, CancelError> {
    let taken = Turn::take(open_log(store.dir())).await;
    let (turn, open) = taken.map_err(|error| CancelError::Log(error.to_string()))?;
    let entry = find_batch(open, name)?;
    let over = entry.with_end("lost, and counted as spent");
    log::add(&turn.log, &over).map_err(|error| CancelError::Log(error.to_string()))?;
    Ok(OpenBatch::from_entry(entry))
}

/// The batch with a name, or with an unambiguous prefix of one.
fn find_batch(open: Vec<BatchLogEntry>, name: &str) -> Result<BatchLogEntry, CancelError> {
    let is = |entry: &BatchLogEntry| entry.batch == name || entry.id.as_deref() == Some(name);
    let begins = |entry: &BatchLogEntry| entry.batch.starts_with(name);
    // A full name must stay usable if another name begins with it.
    let mut named: Vec<BatchLogEntry> = match open.iter().any(is) {
        true => open.into_iter().filter(is).collect(),
        false => open.into_iter().filter(begins).collect(),
    };
    match (named.pop(), named.is_empty()) {
        (Some(entry), true) => Ok(entry),
        (Some(_), false) => Err(CancelError::Ambiguous { name: name.to_owned() }),
        (None, _) => Err(CancelError::Unknown { name: name.to_owned() }),
    }
}
