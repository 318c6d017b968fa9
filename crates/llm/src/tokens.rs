//! Counts tokens without a network, and the upper bound that budgets use.

use super::request::{Input, Request};
use super::settings::Format;

/// Generous bound on what chat templates add around a message.
const OVERHEAD_PER_MESSAGE: u64 = 16;

/// Tokens of `text` in the embedded `o200k_base` vocabulary. Other models' vocabularies differ by tens of percent,
/// so this is for estimates and rate limits; [`bound`] is for money. The first call loads the vocabulary.
pub fn count(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
}

/// What a server adds for a schema: Anthropic explains to the model how tools are used.
const AROUND_SCHEMA: u64 = 1024;

/// Prompt tokens of a request, by [`count`].
pub fn count_request(request: &Request) -> u64 {
    request.texts().map(|text| count(text) + 4).sum::<u64>() + 3
}

/// More prompt tokens than any tokenizer can make of the request: every token covers at least one byte of
/// UTF-8, whatever the vocabulary, so an honest server never exceeds a reservation made from it. A schema is
/// part of the prompt.
pub fn bound(request: &Request) -> u64 {
    let schema = match &request.input {
        Input::Chat { format: Format::JsonSchema { name, schema }, .. } => {
            (name.len() + schema.to_string().len()) as u64 + AROUND_SCHEMA
        }
        _ => 0,
    };
    let texts = request.texts().map(|text| text.len() as u64 + OVERHEAD_PER_MESSAGE).sum::<u64>();
    texts + OVERHEAD_PER_MESSAGE + schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Message, Role};
    use crate::settings::Sampling;

    #[test]
    fn counts_are_of_the_real_vocabulary() {
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
        assert!(count("为什么鱼不会淹死？") >= 4);
        // Names of a vocabulary's control tokens are plain text in a post.
        assert!(count("<|endoftext|>") > 1);
    }

    #[test]
    fn the_bound_is_of_every_byte_message_and_schema() {
        let chat = |format| Request {
            identity: String::new(),
            model: String::new(),
            input: Input::Chat {
                messages: vec![Message::new(Role::System, "水"), Message::new(Role::User, "ab")],
                sampling: Sampling::default(),
                format,
            },
            sample: 0,
        };
        let texts = (3 + 16) + (2 + 16) + 16;
        assert_eq!(bound(&chat(Format::Text)), texts);
        let schema = serde_json::json!({ "type": "object" });
        let written = schema.to_string().len() as u64;
        let format = Format::JsonSchema { name: "answer".into(), schema };
        assert_eq!(bound(&chat(format)), texts + 6 + written + 1024);
        assert_eq!(count_request(&chat(Format::Text)), count("水") + 4 + count("ab") + 4 + 3);
    }

    #[test]
    fn the_bound_is_above_the_count() {
        for text in ["", "a", "弱智吧", "🦀🦀🦀", "\u{0}\u{1}\u{2}", "   \n\n\t"] {
            let request = Request {
                identity: String::new(),
                model: String::new(),
                input: Input::Embedding { text: text.into(), dimensions: None },
                sample: 0,
            };
            assert!(bound(&request) >= count_request(&request), "{text:?}");
        }
    }
}
