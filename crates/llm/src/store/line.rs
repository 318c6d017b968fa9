//! The lines of a segment. Their JSON is a file format: fields are added, never renamed.

use serde::{Deserialize, Serialize};

use crate::money::{Usage, Usd};
use crate::request::{Key, Request};

/// One line of a segment, `{"attempt": {…}}`, `{"failure": {…}}`, `{"reply": {…}}` or `{"forgotten": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// Written and synced before anything is sent.
    Attempt(Attempt),
    /// An attempt that brought no reply.
    Failure(Failure),
    /// An attempt that did, or a reply brought in from another store.
    Reply(StoredReply),
    /// A reply that answers nothing any more.
    Forgotten(Forgotten),
}

/// A tombstone: a reply is asked for again when it is needed. The reply itself, and what it cost, stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The request's key.
    pub key: Key,
    /// Which reply, wherever it lies ([`StoredReply::identity`]); absent in old tombstones, which hold for their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Key>,
    /// The segment of the reply's line.
    pub segment: u32,
    /// Where the line begins in the uncompressed segment.
    pub start: u64,
    /// Why, in the words of whoever forgot it.
    pub why: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
}

/// A request about to be sent, and what it may cost at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Segment and ordinal in it, e.g. `000003#17`.
    pub id: String,
    /// The request's key.
    pub key: Key,
    /// The budgets this counts against.
    pub scopes: Vec<String>,
    /// Charged for good unless an outcome says otherwise.
    pub reserved_picousd: Usd,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Whether it goes out in a batch, which is written down before it is sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batch: bool,
}

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The attempt.
    pub id: String,
    /// The request's key.
    pub key: Key,
    /// What went wrong, in words.
    pub error: String,
    /// The HTTP status, where one arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the server said, as far as it got, at most 64 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
    /// What the attempt is charged: nothing where the server refused before it worked, else the reservation.
    pub charged_picousd: Usd,
    /// Tokens, where the server counted any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// From sending to giving up.
    pub elapsed_ms: u64,
    /// Whether the same request would fail like this for ever: it is not sent again unless somebody wants it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
    /// The request, on the last attempt of an item that is given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
}

/// A reply as it is kept: the question, the raw response, what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredReply {
    /// SHA-256 of the canonical request.
    pub key: Key,
    /// The attempt that brought it; absent for an imported reply, which no budget is charged for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The template that the prompt came from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub template: String,
    /// The question.
    pub request: Request,
    /// The response body as it arrived; only an endpoint's key is struck out of it.
    pub raw: String,
    /// Tokens as the server counted them; absent where it did not, or not believably.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the attempt is charged.
    pub charged_picousd: Usd,
    /// Attempts it took, this one included.
    pub attempts: u32,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// From sending to the last byte.
    pub elapsed_ms: u64,
}

/// Who answered, as the reply says: a name may stand for another model tomorrow.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The model's name.
    pub model: Option<String>,
    /// The configuration that it ran in.
    pub fingerprint: Option<String>,
}

impl StoredReply {
    /// What tells this reply from any other, in whatever segment or store it lies: its question, what came, when, and
    /// for how much. The attempt's id is of one store alone.
    pub(super) fn identity(&self) -> Key {
        let mut parts = self.key.0.to_vec();
        for number in [self.at_ms, self.elapsed_ms, self.charged_picousd.pico() as u64] {
            parts.extend_from_slice(&number.to_le_bytes());
        }
        parts.extend_from_slice(self.raw.as_bytes());
        Key::hash(&parts)
    }
}

impl Origin {
    /// Reads it from a raw response; empty where that says nothing of it.
    pub fn parse(raw: &str) -> Origin {
        #[derive(Deserialize)]
        struct Said {
            #[serde(alias = "modelVersion")]
            model: Option<String>,
            system_fingerprint: Option<String>,
        }
        match serde_json::from_str(raw) {
            Ok(Said { model, system_fingerprint }) => Origin { model, fingerprint: system_fingerprint },
            Err(_) => Origin::default(),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.model.as_deref().unwrap_or("a model without a name"))?;
        self.fingerprint.iter().try_for_each(|fingerprint| write!(f, " {fingerprint}"))
    }
}

impl Line {
    /// The line with its newline, ready to append.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // Strings, numbers and maps with string keys always serialise.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
