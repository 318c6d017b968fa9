//! Questions to an endpoint, and the result for each.

use std::sync::Arc;

use riddlemill_record::{Cause, Evidence, Reason, RequestFault};
use serde_json::Value;

use super::fault::{self, NoAnswer};
use super::money::Usd;
use super::parse;
use super::prompt::{Output, Rendered};
use super::request::{Key, Message};
use super::store::Usage;

/// One question. The endpoint's settings turn it into a [`Request`](super::Request).
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The record it is about; together with the template and the sample number, the key of a sample pack.
    pub record: String,
    /// The template, or the name under which embeddings are counted.
    pub template: String,
    /// The question itself.
    pub what: RequestContent,
    /// Which of several answers to the same question, from 0.
    pub sample: u32,
    /// How often the question was asked before; re-asks quote what was wrong with the answer.
    pub reask: u32,
    /// The Chinese source text, if the prompt only asks for an English translation: sent instead of the
    /// prompt to translation servers, which take no prompts.
    pub text: Option<String>,
    /// The schema of the reply, enforced by endpoints whose settings say so.
    pub schema: Option<Arc<Value>>,
}

/// The question itself.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestContent {
    /// A chat completion.
    Chat {
        /// The conversation so far.
        messages: Vec<Message>,
        /// Whether the reply has to be JSON.
        output: Output,
    },
    /// The embedding vector of a text.
    Embedding {
        text: String,
        /// The vector's length, if the model lets one choose.
        dimensions: Option<u32>,
    },
}

impl Ask {
    /// Asks a rendered prompt about a record.
    pub fn new(record: impl Into<String>, prompt: Rendered, sample: u32) -> Ask {
        let what = RequestContent::Chat { messages: prompt.messages, output: prompt.output };
        Ask {
            record: record.into(),
            template: prompt.template,
            what,
            sample,
            reask: 0,
            text: None,
            schema: None,
        }
    }

    /// The form of its reply.
    pub(super) fn reply_form(&self) -> Output {
        match &self.what {
            RequestContent::Chat { output, .. } => *output,
            RequestContent::Embedding { .. } => Output::Text,
        }
    }

    /// Asks for the embedding of a text.
    pub fn for_embedding(record: impl Into<String>, text: impl Into<String>) -> Ask {
        let what = RequestContent::Embedding { text: text.into(), dimensions: None };
        Ask {
            record: record.into(),
            template: "embedding".into(),
            what,
            sample: 0,
            reask: 0,
            text: None,
            schema: None,
        }
    }
}

/// The result of one [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was answered, in this run or an earlier one.
    Reply(Reply),
    /// It waits for something; this is not an error.
    Held(Held),
    /// It failed.
    Failed(Failed),
}

impl Answer {
    /// The reply, if there is one.
    pub fn reply(&self) -> Option<&Reply> {
        match self {
            Answer::Reply(reply) => Some(reply),
            _ => None,
        }
    }
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The key of the stored reply or of the sample pack's line, as evidence of what is made from it.
    pub key: Key,
    /// The text without reasoning; empty for an embedding.
    pub text: String,
    /// The text as received, including its reasoning.
    pub whole: String,
    /// The vector of an embedding.
    pub vector: Option<Vec<f32>>,
    /// Tokens as the server counted them.
    pub usage: Option<Usage>,
    /// What it was charged when it was bought.
    pub charged: Usd,
    /// Facts about its origin.
    pub marks: ReplyOrigin,
}

impl Reply {
    /// Whether it is no answer because it was cut off: all that reached its limit, unless the prompt asked for
    /// JSON and its object is closed at the very end. With `accept_before`, half an answer that an earlier
    /// version stored and used is one.
    pub(super) fn is_cut(&self, output: Output, accept_before: bool) -> bool {
        let ReplyOrigin { truncated, before, .. } = self.marks;
        let blank = self.text.trim().is_empty();
        let whole = output == Output::Json && parse::ends_with_object(&self.text);
        truncated && self.vector.is_none() && !whole && (blank || !(before && accept_before))
    }
}

impl ReplyOrigin {
    /// The prefix of a basis: `reply` for the reply store, `made` or `sample` for a pack.
    pub fn basis_prefix(self) -> &'static str {
        match self {
            ReplyOrigin { sample: true, .. } => "sample",
            ReplyOrigin { made: true, .. } => "made",
            _ => "reply",
        }
    }
}

/// Facts about a reply's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyOrigin {
    /// From a sample pack: no model wrote it.
    pub sample: bool,
    /// From a pack of replies made elsewhere: only that pack is asked.
    pub made: bool,
    /// Ends because it reached `max_tokens`.
    pub truncated: bool,
    /// The server or the model withheld the answer; only in replies that an earlier version stored.
    pub withheld: bool,
    /// Stored by a version that took what was cut off or withheld for an answer.
    pub before: bool,
}

/// Why an item waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The reason in the ledger.
    pub reason: Reason,
    /// What it waits for.
    pub what: Evidence,
}

/// Why an item failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The reason in the ledger.
    pub reason: Reason,
    pub error: Evidence,
    /// The response of the model or the server.
    pub raw: String,
    /// The key of the request.
    pub key: Key,
}

impl Failed {
    /// Why a reply that came holds no answer; `None` if none came, or if it can be asked for again.
    pub fn no_answer(&self) -> Option<NoAnswer> {
        let Some(Cause::Request(request)) = self.error.cause() else { return None };
        match (request.fault, request.status) {
            (RequestFault::Text, _) => Some(NoAnswer::Refused),
            (RequestFault::Empty, _) => Some(NoAnswer::Unread),
            (_, Some(status)) => fault::is_content_refusal(status, &self.raw).then_some(NoAnswer::Refused),
            (_, None) => None,
        }
    }

    /// The HTTP status of a refusal.
    pub(super) fn http_status(&self) -> Option<u16> {
        match self.error.cause() {
            Some(Cause::Request(request)) => request.status,
            _ => None,
        }
    }
}
