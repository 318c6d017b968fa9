//! What is asked of an endpoint, and what comes back for each item.

use std::sync::Arc;

use riddlemill_text::record::Reason;
use serde_json::Value;

use super::money::Usd;
use super::prompt::{Output, Rendered};
use super::request::{Key, Message};
use super::store::Usage;

/// One item to be asked. The endpoint's settings make a [`Request`](super::Request) of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The record it is about; with the template and the sample number, what a sample pack answers by.
    pub record: String,
    /// The template, or the name under which embeddings are counted.
    pub template: String,
    /// What is asked.
    pub what: What,
    /// Which of several answers to the same question, from 0.
    pub sample: u32,
    /// How often the same was asked before, quoting what was wrong with the answer.
    pub reask: u32,
    /// The bare Chinese text to be put into English, where that is all the prompt asks for: what a server that
    /// translates and takes no prompts is given in its place.
    pub text: Option<String>,
    /// The schema of the reply, which endpoints that are set so are asked to enforce.
    pub schema: Option<Arc<Value>>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A chat completion.
    Chat {
        /// The conversation so far.
        messages: Vec<Message>,
        /// Whether the reply shall be JSON.
        output: Output,
    },
    /// The embedding vector of a text.
    Embedding {
        /// The text.
        text: String,
        /// The vector's length, where the model lets one choose.
        dimensions: Option<u32>,
    },
}

impl Ask {
    /// Asks a rendered prompt about a record.
    pub fn new(record: impl Into<String>, prompt: Rendered, sample: u32) -> Ask {
        let what = What::Chat { messages: prompt.messages, output: prompt.output };
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

    /// Asks for the embedding of a text.
    pub fn embedding(record: impl Into<String>, text: impl Into<String>) -> Ask {
        let what = What::Embedding { text: text.into(), dimensions: None };
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

/// What became of one [`Ask`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It was answered, now or earlier.
    Reply(Reply),
    /// It waits for something; nothing was lost and nothing is wrong.
    Held(Held),
    /// It was tried and given up.
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

/// An answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Names the stored reply, or the sample pack's line: the evidence of what is made from it.
    pub key: Key,
    /// The words without any reasoning, empty for an embedding.
    pub text: String,
    /// The words as they came, with the reasoning that is among them.
    pub whole: String,
    /// The vector of an embedding.
    pub vector: Option<Vec<f32>>,
    /// Tokens as the server counted them.
    pub usage: Option<Usage>,
    /// What it was charged when it was bought.
    pub charged: Usd,
    /// What must be known of its origin.
    pub marks: Marks,
}

impl Reply {
    /// Whether it was cut before the answer began.
    pub(super) fn is_cut(&self) -> bool {
        self.marks.truncated && self.vector.is_none() && self.text.trim().is_empty()
    }
}

impl Marks {
    /// What a basis begins with: `reply` of the reply store, `made` or `sample` of a pack.
    pub fn origin(self) -> &'static str {
        match self {
            Marks { sample: true, .. } => "sample",
            Marks { made: true, .. } => "made",
            _ => "reply",
        }
    }
}

/// What must be known of a reply's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// From a sample pack: no model wrote it.
    pub sample: bool,
    /// From a pack of replies made elsewhere: it is asked for nowhere else.
    pub made: bool,
    /// Ends because it reached `max_tokens`.
    pub truncated: bool,
}

/// Why an item waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The reason as it is in a ledger.
    pub reason: Reason,
    /// For whom or what it waits.
    pub what: String,
}

/// Why an item was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The reason as it is in a ledger.
    pub reason: Reason,
    /// What was wrong.
    pub error: String,
    /// What the model or the server said.
    pub raw: String,
    /// The request.
    pub key: Key,
}

/// Whether a request was refused for the schema that it holds, in the words of whichever server.
pub(super) fn refuses_schema(failed: &Failed) -> bool {
    const WORDS: [&str; 7] = ["schema", "response_format", "structured", "guided", "tool", "mime", "format"];
    let said = failed.raw.to_ascii_lowercase();
    let refused = ["400 ", "422 "].iter().any(|status| failed.error.starts_with(status));
    refused && WORDS.iter().any(|word| said.contains(word))
}
