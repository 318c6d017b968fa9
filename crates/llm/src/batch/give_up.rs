//! A batch that somebody wants no more: no more of it is worked on, what was answered is kept and paid for, and the rest
//! costs nothing.

use super::fetch::{Brought, Stuck};
use super::log::{self, Entry, OpenBatch};
use super::server::{Found, Server};
use super::{Turn, log::of};
use crate::engine::{Engine, Source};
use crate::fault::Kind;
use crate::store::Store;

/// What became of a batch that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// It had not been sent: nothing is paid.
    NeverSent,
    /// The server was told; what it has answered by then is fetched by a later run. So far, in its words.
    Answered(String),
    /// It is over: so many of its requests are answered, and paid for.
    Over {
        /// Answered ones.
        answered: usize,
    },
}

impl Engine {
    /// Gives up a batch of this endpoint, by our name for it or the server's.
    ///
    /// # Errors
    /// In words: where there is none, where the server cannot be asked, or where it does not know it.
    pub async fn give_up(&self, name: &str) -> Result<GivenUp, String> {
        let transport = match &self.source {
            Source::Server(transport) => transport.as_ref(),
            Source::Nothing(held) => return Err(held.what.clone()),
            Source::Pack(_) => return Err("a sample answers in no batches".to_owned()),
        };
        let (mut turn, open) = Turn::take(of(self.store.dir())).await?;
        let entry = found(open, name)?;
        let server = Server { transport, endpoint: &self.endpoint };
        let id = match &entry.id {
            Some(id) => id.clone(),
            None => {
                let found = server.find(&entry, &turn.ids).await;
                match found.map_err(|fault| fault.told_of(&self.endpoint.name))? {
                    Found::Batch(id) => id,
                    Found::Nowhere => {
                        self.end(&turn, &entry, Vec::new(), "it was given up before it was sent").await?;
                        return Ok(GivenUp::NeverSent);
                    }
                    Found::Perhaps => {
                        return Err(format!(
                            "llm.{} may have it among those that are not answered yet, and does not say which; try again later",
                            self.endpoint.name
                        ));
                    }
                }
            }
        };
        let told = server.cancel(&id).await;
        let gone =
            |why: String| format!("{why}\n  hint: --lost counts it as spent, without asking the endpoint");
        match self.brought(&server, &mut turn, &Entry { id: Some(id), ..entry.clone() }, false).await {
            Ok(Brought::All) => {
                let answered =
                    entry.items.iter().filter(|item| self.store.contains(&item.key).unwrap_or(false));
                Ok(GivenUp::Over { answered: answered.count() })
            }
            Ok(Brought::Not(state)) => match told {
                Ok(()) => Ok(GivenUp::Answered(state)),
                // It ended in between, or is about to.
                Err(fault) if matches!(fault.kind, Kind::Status(400 | 409)) => Ok(GivenUp::Answered(state)),
                Err(fault) => Err(fault.told_of(&self.endpoint.name)),
            },
            Err(Stuck::Gone(why)) => Err(gone(why)),
            Err(Stuck::Fails(why)) => Err(gone(why)),
        }
    }
}

/// Gives up a batch of which nothing will be heard any more, without asking its server: what was reserved for it stays
/// booked as spent, and its requests are asked again by the next run that needs them.
///
/// # Errors
/// In words: where there is none of this name, or the log cannot be read or written.
pub async fn give_up_lost(store: &Store, name: &str) -> Result<OpenBatch, String> {
    let (turn, open) = Turn::take(of(store.dir())).await?;
    let entry = found(open, name)?;
    log::add(&turn.log, &entry.over("lost, and booked as spent")).map_err(|error| error.to_string())?;
    Ok(OpenBatch::of(entry))
}

/// The batch of a name, or of the beginning of one that no other has.
fn found(open: Vec<Entry>, name: &str) -> Result<Entry, String> {
    let is = |entry: &Entry| entry.batch == name || entry.id.as_deref() == Some(name);
    let begins = |entry: &Entry| entry.batch.starts_with(name);
    let mut named: Vec<Entry> = match open.iter().any(is) {
        true => open.into_iter().filter(is).collect(),
        false => open.into_iter().filter(begins).collect(),
    };
    match (named.pop(), named.is_empty()) {
        (Some(entry), true) => Ok(entry),
        (Some(_), false) => {
            Err(format!("several batches on their way begin with {name:?}\n  hint: give more of it"))
        }
        (None, _) => Err(format!(
            "no batch on its way is called {name:?}\n  hint: `riddlemill replies batches` lists them"
        )),
    }
}
