//! Replies that an earlier version took for answers though they were cut or refused. What was made of them may
//! have votes, so they are listed, and asked for again only when somebody wants it.

use serde::{Serialize, Serializer};

use super::answer::{Answer, ReplyOrigin};
use super::engine::from_store;
use super::parse;
use super::request::Key;
use super::settings::ReplyMarks;
use super::store::{Store, StoreError};

/// Replies read at a time.
const AT_ONCE: usize = 512;

/// Half a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HalfReply {
    pub key: Key,
    pub model: String,
    /// The template that the prompt came from.
    pub template: String,
    /// The limit at which it was cut, in tokens.
    pub max_tokens: u64,
    /// Whether it was refused rather than cut.
    #[serde(rename = "is", serialize_with = "how")]
    pub is_refusal: bool,
    /// Its text, without reasoning.
    pub text: String,
}

fn how<S: Serializer>(is_refusal: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *is_refusal { "refused" } else { "cut" })
}

/// The half replies of a store that are taken for answers, by key.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub fn half_replies(store: &Store) -> Result<Vec<HalfReply>, StoreError> {
    let mut halves = Vec::new();
    for keys in store.keys_with_prefix("")?.chunks(AT_ONCE) {
        for stored in store.get_many(keys)?.into_iter().flatten() {
            let (key, request, template) = (stored.key, stored.request.clone(), stored.template.clone());
            let Answer::Reply(reply) = from_store(stored, &ReplyMarks::default()) else { continue };
            let ReplyOrigin { before, withheld, .. } = reply.marks;
            let is_whole = !withheld && parse::ends_with_object(&reply.text);
            if before && !is_whole && !reply.text.trim().is_empty() {
                let (model, max_tokens) = (request.model.clone(), request.max_completion_tokens());
                halves.push(HalfReply {
                    key,
                    model,
                    template,
                    max_tokens,
                    is_refusal: withheld,
                    text: reply.text,
                });
            }
        }
    }
    Ok(halves)
}
