//! The LLM engine: a store of paid replies, a budget, retries, prompts, tolerant parsing.
//!
//! A stage renders a prompt of [`Prompts`] for each record, makes an [`Ask`] from it and passes all of them to
//! [`Engine::ask_all`] (or to [`ask_parsed`], which parses the replies and asks again if one cannot be parsed). The result for
//! each item is a reply, a wait (`held`) or a failure.
//!
//! Invariants
//! - No paid reply is lost, paid for twice, or used for another question: its key is the SHA-256 of everything that can
//!   change it ([`Request`]).
//! - Nothing is sent that could exceed a cap, and nothing is sent before it is logged.
//! - A failure is never used as an answer, and an unreadable reply never as a value.
//! - An API key appears in a request header and nowhere else.

mod answer;
mod batch;
mod cause;
mod elsewhere;
mod embedding_batch;
mod engine;
mod estimate;
mod events;
mod fault;
mod half;
mod http;
mod key_command;
mod money;
mod overrun;
mod pace;
pub mod parse;
pub mod prices;
mod progress;
pub mod prompt;
mod provider;
mod reask;
mod reasoning;
mod request;
mod retry;
mod run;
mod sample;
mod secret;
mod send;
pub mod settings;
pub mod store;
pub mod tokens;
mod trial;
mod variants;
mod wire;

#[cfg(test)]
mod kept_tests;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Ask, Failed, Held, Reply, ReplyOrigin, RequestContent};
pub use batch::{CancelError, Cancelled, OpenBatch, cancel_lost, open_batches};
pub use engine::{Engine, EngineError, Limits};
pub use estimate::{Estimate, Reading, at_most, estimate_stage, estimate_with};
pub use fault::{Fault, Kind, NoAnswer};
pub use half::{HalfReply, half_replies};
pub use http::{FileRequest, Received, Transport};
pub use money::{Price, Usd};
pub use progress::Progress;
pub use prompt::{Output, Prompts, Rendered};
pub use provider::{Call, Unsent, unsent_settings};
pub use reask::{Parsed, ask_parsed, forget_unreadable};
pub use reasoning::{reasoning_marks, without_reasoning};
pub use request::{Input, Key, Message, NotAKey, Request, Role};
pub use run::Run;
pub use sample::{Pack, PackError};
pub use secret::{ApiKey, short_keys};
pub use settings::{Api, Endpoint, EndpointError, ReplyMarks};
pub use store::{LOGS, MergedReplies, SalvagedReplies, Store};
pub use tokens::Learned;
pub use tokio_util::sync::CancellationToken;
pub use trial::Trial;
pub use wire::text_and_reasoning;
