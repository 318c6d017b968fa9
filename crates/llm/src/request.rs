//! A request in the canonical form from which its key is made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::settings::{Format, Sampling};

/// The role of a message's author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Standing instructions.
    System,
    /// The question.
    User,
    /// An earlier answer of the model, quoted back to it.
    Assistant,
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author's role.
    pub role: Role,
    /// The text.
    pub content: String,
}

impl Message {
    /// A message of the given role.
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message { role, content: content.into() }
    }
}

/// The question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A chat completion.
    Chat {
        /// The conversation so far.
        messages: Vec<Message>,
        /// How the answer is sampled.
        sampling: Sampling,
        /// What the server is asked to enforce.
        format: Format,
    },
    /// An embedding vector of one text.
    Embedding {
        text: String,
        /// The vector's length, if the model lets one choose.
        #[serde(skip_serializing_if = "Option::is_none")]
        dimensions: Option<u32>,
    },
    /// A text in another language, from a server that takes no prompts.
    Translation {
        text: String,
        /// Its language, ISO 639-1.
        source: String,
        /// The language to translate into.
        target: String,
    },
}

/// Everything that can change an answer, and nothing else: no URL, no key, no timeout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The endpoint's logical name.
    pub identity: String,
    /// The model's name as sent.
    pub model: String,
    /// The question.
    pub input: Input,
    /// Which of several answers to the same question, from 0.
    pub sample: u32,
}

impl Request {
    /// The canonical JSON: fields in declaration order, free-form values with sorted keys, no white space.
    pub fn canonical_json(&self) -> String {
        let free_form = match &self.input {
            Input::Chat { sampling, format, .. } => {
                !sampling.extra.is_empty() || matches!(format, Format::JsonSchema { .. })
            }
            Input::Embedding { .. } | Input::Translation { .. } => false,
        };
        // Strings, numbers and maps with string keys always serialise.
        if !free_form {
            return serde_json::to_string(self).unwrap_or_default();
        }
        let mut request = self.clone();
        if let Input::Chat { sampling, format, .. } = &mut request.input {
            sampling.extra.values_mut().for_each(serde_json::Value::sort_all_objects);
            if let Format::JsonSchema { schema, .. } = format {
                schema.sort_all_objects();
            }
        }
        serde_json::to_string(&request).unwrap_or_default()
    }

    /// SHA-256 of the canonical JSON.
    pub fn key(&self) -> Key {
        Key(Sha256::digest(self.canonical_json().as_bytes()).into())
    }

    /// Texts of all messages, or the one text to embed or translate.
    pub fn message_texts(&self) -> impl Iterator<Item = &str> {
        let (messages, text) = match &self.input {
            Input::Chat { messages, .. } => (messages.as_slice(), None),
            Input::Embedding { text, .. } | Input::Translation { text, .. } => (&[][..], Some(text.as_str())),
        };
        messages.iter().map(|message| message.content.as_str()).chain(text)
    }

    /// The longest answer the request allows, in tokens.
    pub fn max_completion_tokens(&self) -> u64 {
        match &self.input {
            Input::Chat { sampling, .. } => sampling.max_tokens.into(),
            Input::Embedding { .. } | Input::Translation { .. } => 0,
        }
    }
}

/// The key of a request and of its reply: SHA-256 of the canonical request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The key of evidence that is not a request, such as a sample pack's line.
    pub fn hash(bytes: &[u8]) -> Key {
        Key(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not 64 hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("a key is 64 hexadecimal digits")]
pub struct NotAKey;

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Key, NotAKey> {
        hex::decode(text).ok().and_then(|bytes| bytes.try_into().ok()).map(Key).ok_or(NotAKey)
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn request(text: &str) -> Request {
        Request {
            identity: "judge".into(),
            model: "m-1".into(),
            input: Input::Chat {
                messages: vec![Message::new(Role::User, text)],
                sampling: Sampling { temperature: Some(0.7), ..Sampling::default() },
                format: Format::Text,
            },
            sample: 0,
        }
    }

    #[test]
    fn the_canonical_form_is_stable() {
        assert_eq!(
            request("水").canonical_json(),
            r#"{"identity":"judge","model":"m-1","input":{"chat":{"messages":[{"role":"user","content":"水"}],"sampling":{"temperature":0.7,"max_tokens":1024},"format":"text"}},"sample":0}"#
        );
    }

    /// Paid replies are found by their keys: these never change.
    #[test]
    fn the_same_request_has_the_same_key_in_every_version() {
        let key = request("水").key();
        assert_eq!(key.to_string(), "f964d0525f84d1468294c52355f3d3d232480212bfb5102bcc951585aacf0379");
        assert_eq!(format!("{key:?}"), key.to_string());
        assert_eq!(Key::hash(request("水").canonical_json().as_bytes()), key);
        assert_eq!(serde_json::from_str::<Key>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
        for other in ["", "f9", &key.to_string()[1..], &format!("{key}00"), &"x".repeat(64)] {
            assert!(other.parse::<Key>().is_err(), "{other}");
        }
    }

    #[test]
    fn everything_that_can_change_the_answer_changes_the_key() {
        let base = request("a");
        let mut others = vec![request("b")];
        others.push(Request { identity: "x".into(), ..base.clone() });
        others.push(Request { model: "x".into(), ..base.clone() });
        others.push(Request { sample: 1, ..base.clone() });
        for change in [
            (|s: &mut Sampling| s.temperature = None) as fn(&mut Sampling),
            |s| s.top_p = Some(0.5),
            |s| s.max_tokens = 9,
            |s| s.seed = Some(1),
            |s| s.stop = vec!["\n".into()],
            |s| _ = s.extra.insert("top_k".into(), json!(5)),
        ] {
            let mut other = base.clone();
            if let Input::Chat { sampling, .. } = &mut other.input {
                change(sampling);
            }
            others.push(other);
        }
        let mut other = base.clone();
        if let Input::Chat { format, .. } = &mut other.input {
            *format = Format::JsonObject;
        }
        others.push(other);
        let mut keys: Vec<Key> = others.iter().map(Request::key).collect();
        keys.push(base.key());
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), others.len() + 1);
    }

    #[test]
    fn the_order_of_free_form_keys_does_not_matter() {
        let with = |value| {
            let mut request = request("a");
            if let Input::Chat { sampling, .. } = &mut request.input {
                sampling.extra.insert("x".into(), value);
            }
            request.key()
        };
        assert_eq!(
            with(json!({"b": 1, "a": {"d": 1, "c": 2}})),
            with(json!({"a": {"c": 2, "d": 1}, "b": 1}))
        );
    }

    #[test]
    fn the_order_of_a_schemas_keys_does_not_matter() {
        let with = |schema| {
            let mut request = request("a");
            if let Input::Chat { format, .. } = &mut request.input {
                *format = Format::JsonSchema { name: "answer".into(), schema };
            }
            request.key()
        };
        let [one, other] = [json!({"b": 1, "a": {"d": 1, "c": 2}}), json!({"a": {"c": 2, "d": 1}, "b": 1})];
        assert_eq!(with(one.clone()), with(other));
        assert_ne!(with(one), with(json!({"b": 1})));
    }

    #[test]
    fn texts_and_the_longest_answer_are_those_of_the_input() {
        let of = |input: Input| {
            let request = Request { input, ..request("a") };
            (request.message_texts().collect::<Vec<_>>().join("|"), request.max_completion_tokens())
        };
        let mut chat = request("a").input;
        if let Input::Chat { messages, sampling, .. } = &mut chat {
            messages.push(Message::new(Role::Assistant, "b"));
            sampling.max_tokens = 9;
        }
        assert_eq!(of(chat), ("a|b".into(), 9));
        assert_eq!(of(Input::Embedding { text: "c".into(), dimensions: None }), ("c".into(), 0));
        let [text, source, target] = ["d", "zh", "en"].map(str::to_owned);
        assert_eq!(of(Input::Translation { text, source, target }), ("d".into(), 0));
    }

    proptest! {
        #[test]
        fn a_stored_request_hashes_to_its_key_again(text in ".*", temperature in 0.0..2.0f64, sample: u32) {
            let mut request = Request { sample, ..request(&text) };
            if let Input::Chat { sampling, .. } = &mut request.input {
                sampling.temperature = Some(temperature);
            }
            let back: Request = serde_json::from_str(&request.canonical_json()).unwrap();
            prop_assert_eq!(back.key(), request.key());
        }

        #[test]
        fn keys_print_and_parse(bytes: [u8; 32]) {
            prop_assert_eq!(Key(bytes).to_string().parse::<Key>().unwrap(), Key(bytes));
        }

        #[test]
        fn parsing_a_key_never_panics(text in ".{0,80}") {
            let _ = text.parse::<Key>();
        }
    }
}
