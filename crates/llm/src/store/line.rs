//! The lines of a segment. Their JSON is a file format: fields are added, never renamed.

use riddlemill_files::log::placed_lines;
use serde::{Deserialize, Serialize};

use crate::money::{Usage, Usd};
use crate::request::{Key, Request};

/// One line of a segment, `{"attempt": {…}}`, `{"failure": {…}}`, `{"reply": {…}}` or `{"forgotten": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentLine {
    /// Written and synced before anything is sent.
    Attempt(Attempt),
    /// A failed attempt.
    Failure(Failure),
    /// A successful attempt, or an imported reply.
    Reply(StoredReply),
    /// The removal of a reply.
    Forgotten(Forgotten),
}

/// A tombstone: the reply is not used any more and is asked for again when needed. The reply itself, and its
/// cost, stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The request's key.
    pub key: Key,
    /// Identifies the reply, wherever it is ([`StoredReply::reply_identity`]); absent in old tombstones, which
    /// identify it by place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Key>,
    /// The segment of the reply's line.
    pub segment: u32,
    /// Offset of the line in the uncompressed segment.
    pub start: u64,
    /// The reason given for forgetting it.
    pub why: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
}

/// A request about to be sent, and the most that it may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Segment and ordinal in it, e.g. `000003#17`.
    pub id: String,
    /// The request's key.
    pub key: Key,
    /// The budgets it is charged to.
    pub scopes: Vec<String>,
    /// Charged permanently unless an outcome states otherwise.
    pub reserved_picousd: Usd,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Whether it is sent in a batch, which is logged before it is sent.
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
    /// The error message.
    pub error: String,
    /// The HTTP status, if one arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The server's response as far as it was received, at most 64 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw: String,
    /// The charge of the attempt: zero if the server refused before it worked, else the reservation.
    pub charged_picousd: Usd,
    /// Tokens, if the server counted any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// From sending to failure.
    pub elapsed_ms: u64,
    /// Whether the same request would always fail like this: it is not sent again unless explicitly
    /// requested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
    /// The request, on the last attempt of an item that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
}

/// A stored reply: the question, the raw response, its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredReply {
    /// SHA-256 of the canonical request.
    pub key: Key,
    /// The attempt it came from; absent for an imported reply, which is not charged again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The template that the prompt came from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub template: String,
    /// The question.
    pub request: Request,
    /// The response body as received, except that an endpoint's key is removed.
    pub raw: String,
    /// Tokens as the server counted them; absent if it did not, or not plausibly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether it was cut at its limit of tokens, and was not taken for an answer because of that. Absent in
    /// replies from before this was looked at: what was made of those may have votes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The charge of the attempt.
    pub charged_picousd: Usd,
    /// Attempts it took, including this one.
    pub attempts: u32,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// From sending to the last byte.
    pub elapsed_ms: u64,
}

/// The origin of a reply, as it states itself: the same name may mean another model tomorrow.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    /// The model's name.
    pub model: Option<String>,
    /// The configuration of the model.
    pub fingerprint: Option<String>,
}

impl StoredReply {
    /// Identifies this reply in any segment or store: its question, response, time and charge. The attempt's
    /// id is only unique within a store.
    pub(super) fn reply_identity(&self) -> Key {
        let numbers = [self.at_ms, self.elapsed_ms, self.charged_picousd.in_picodollars() as u64];
        hash_identity(&self.key, &numbers, &[&self.raw])
    }
}

impl Origin {
    /// Parses it from a raw response; empty if that states nothing.
    pub fn parse(raw: &str) -> Origin {
        #[derive(Deserialize)]
        struct Identity {
            #[serde(alias = "modelVersion")]
            model: Option<String>,
            system_fingerprint: Option<String>,
        }
        match serde_json::from_str(raw) {
            Ok(Identity { model, system_fingerprint }) => Origin { model, fingerprint: system_fingerprint },
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

impl SegmentLine {
    /// The line with its newline, ready to append.
    pub(super) fn to_json_line(&self) -> Vec<u8> {
        // Strings, numbers and maps with string keys always serialise.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Identifies what was asked, sent or answered, in any segment or store.
pub(super) fn hash_identity(key: &Key, numbers: &[u64], texts: &[&str]) -> Key {
    let mut parts = key.0.to_vec();
    numbers.iter().for_each(|number| parts.extend(number.to_le_bytes()));
    texts.iter().for_each(|text| parts.extend(text.as_bytes()));
    Key::hash(&parts)
}

/// The lines of a segment: the offset of each, its bytes, and what it says. The last one may be incomplete.
pub(super) fn parse_lines(raw: &[u8]) -> impl Iterator<Item = (u64, &[u8], serde_json::Result<SegmentLine>)> {
    placed_lines(raw).map(|(at, bytes)| (at, bytes, serde_json::from_slice(bytes)))
}

/// The lines of a segment that can be read.
pub(super) fn readable_lines(raw: &[u8]) -> impl Iterator<Item = SegmentLine> {
    parse_lines(raw).filter_map(|(_, _, line)| line.ok())
}
