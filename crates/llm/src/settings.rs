//! Settings of an endpoint. Plain values: nothing here opens a socket or reads a variable.

use std::collections::BTreeMap;
use std::path::PathBuf;

use riddlemill_files::Wish;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::money::{Price, Usd};

/// One `[llm.<name>]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The table's name: used by recipes and `--model`, and as the name of its budget.
    #[serde(default)]
    pub name: String,
    /// The kind of server.
    #[serde(default)]
    pub provider: Provider,
    /// The API for chats, where a server has two.
    #[serde(default)]
    pub api: Api,
    /// The version of the interface: Azure's `api-version`, `anthropic-version`, Gemini's `v1`. Azure's interface
    /// without dated versions is used if there is none, here or in `base_url`.
    pub api_version: Option<String>,
    /// Up to and without `/chat/completions`, e.g. `https://api.example.org/v1`; for providers with an
    /// interface of their own the address before its paths.
    #[serde(default)]
    pub base_url: String,
    /// The model's name as the server knows it.
    #[serde(default)]
    pub model: String,
    /// The logical name that is part of every key; `model` if absent. Keep it when a proxy moves, change it
    /// when another model answers under the same URL and name.
    pub identity: Option<String>,
    /// The environment variable that holds the key (its name, never its value); absent for a server without keys.
    pub key_env: Option<String>,
    /// A command that prints the key, as a list of words, for tokens that expire; instead of `key_env`.
    #[serde(default)]
    pub key_command: Vec<String>,
    /// Additional headers of every request: each with the environment variable that holds its value.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How answers are sampled.
    #[serde(default)]
    pub sampling: Sampling,
    /// What the server is asked to enforce for prompts whose reply is JSON; other prompts are always free text.
    #[serde(default)]
    pub format: Format,
    /// Whether the server is asked to enforce the fields that are read from a prompt's reply, instead of
    /// `format`. If it refuses, requests are sent without.
    #[serde(default)]
    pub structured: bool,
    /// Where instructions are sent: as the system's message, or at the start of the user's for models that have
    /// no such message (Gemma). Part of the key.
    #[serde(default)]
    pub system: System,
    /// Further marks in this model's replies, beyond those that are known.
    #[serde(default)]
    pub marks: ReplyMarks,
    /// The limit for repeating a request whose answer was cut off; four times `sampling.max_tokens` if absent.
    /// It is not part of the first request's key.
    pub max_tokens_ceiling: Option<u32>,
    /// The name under which `sampling.max_tokens` is sent.
    #[serde(default)]
    pub limit_field: LimitField,
    /// Whether answers are streamed: a model that reasons for minutes shows activity, and a dead server is
    /// noticed after `timeouts.idle_secs`. Not part of any key.
    #[serde(default)]
    pub stream: bool,
    /// Whether chats are sent in batches, which the server answers within a day for less: prices are then
    /// those of batches. Not part of any key.
    #[serde(default)]
    pub batch: bool,
    /// The longest response that is read, in MiB; by default what `max_tokens_ceiling` tokens can need, and 16 for
    /// embeddings. Not part of any key.
    pub max_reply_mib: Option<u32>,
    /// Timeouts.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Retries.
    #[serde(default)]
    pub retries: Retries,
    /// Requests in flight at once.
    #[serde(default = "default_concurrency")]
    pub concurrency: usize,
    /// Texts in one request for embeddings.
    #[serde(default = "default_embedding_batch")]
    pub embedding_batch: usize,
    /// Requests per minute.
    pub rpm: Option<u32>,
    /// Tokens per minute, prompt and `max_tokens` together, as servers count them.
    pub tpm: Option<u32>,
    /// Dollars per million prompt tokens.
    pub usd_per_million_in: Option<f64>,
    /// Dollars per million completion tokens.
    pub usd_per_million_out: Option<f64>,
    /// Dollars per million cached prompt tokens; as other prompt tokens if absent.
    pub usd_per_million_cached: Option<f64>,
    /// Dollars per million reasoning tokens; as other completion tokens if absent.
    pub usd_per_million_reasoning: Option<f64>,
    /// Declares that the endpoint is free; without this and without prices nothing is sent.
    #[serde(default)]
    pub free: bool,
    /// The name of its model in the imported prices, if it differs.
    pub price_of: Option<String>,
    /// The cap on this endpoint's total spending from one reply store.
    pub max_usd: Option<f64>,
    /// The reply pack of a `sample` provider.
    pub pack: Option<PathBuf>,
    /// The model's size in billions of parameters, if known: `evaluate` relates scores to it.
    pub size_b: Option<f64>,
}

/// A mebibyte.
const MIB: usize = 1 << 20;
/// All vectors of one request.
const LONGEST_VECTORS: usize = 16 * MIB;
/// No limit of tokens makes a body longer, unless `max_reply_mib` says so.
const LONGEST_BODY: usize = 64 * MIB;

/// Factor from the first limit to that of the repetition.
const CEILING: u32 = 4;

fn default_concurrency() -> usize {
    8
}

fn default_embedding_batch() -> usize {
    64
}

impl Endpoint {
    /// An endpoint with every default, as a starting point.
    pub fn new(name: &str, base_url: &str, model: &str) -> Endpoint {
        Endpoint {
            name: name.to_owned(),
            provider: Provider::default(),
            api: Api::default(),
            api_version: None,
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            identity: None,
            key_env: None,
            key_command: Vec::new(),
            headers: BTreeMap::new(),
            sampling: Sampling::default(),
            format: Format::default(),
            structured: false,
            system: System::default(),
            marks: ReplyMarks::default(),
            max_tokens_ceiling: None,
            stream: false,
            batch: false,
            limit_field: LimitField::default(),
            max_reply_mib: None,
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            concurrency: default_concurrency(),
            embedding_batch: default_embedding_batch(),
            rpm: None,
            tpm: None,
            usd_per_million_in: None,
            usd_per_million_out: None,
            usd_per_million_cached: None,
            usd_per_million_reasoning: None,
            free: false,
            price_of: None,
            max_usd: None,
            pack: None,
            size_b: None,
        }
    }

    /// The logical name in every key.
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or(&self.model)
    }

    /// The price per token; `None` if neither both prices nor `free` are given.
    pub fn price(&self) -> Option<Price> {
        match (self.free, self.usd_per_million_in, self.usd_per_million_out) {
            (true, ..) => Some(Price::FREE),
            (false, Some(dollars_in), Some(dollars_out)) => Some(
                Price::per_million(dollars_in, dollars_out)
                    .with(self.usd_per_million_cached, self.usd_per_million_reasoning),
            ),
            _ => None,
        }
    }

    /// The settings that `estimate` needs and that are missing: prices, without which nothing is sent, then
    /// rates, without which the duration is unknown.
    pub fn missing_settings(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        let paid = !self.free && !self.provider.is_pack();
        let missing = |all: [(&'static str, bool); 2]| -> Vec<&'static str> {
            all.into_iter().filter(|(_, set)| paid && !set).map(|(name, _)| name).collect()
        };
        let prices = [
            ("usd_per_million_in", self.usd_per_million_in.is_some()),
            ("usd_per_million_out", self.usd_per_million_out.is_some()),
        ];
        (missing(prices), missing([("rpm", self.rpm.is_some()), ("tpm", self.tpm.is_some())]))
    }

    /// The limit of the repetition, if it is higher than the first.
    pub fn ceiling(&self) -> Option<u32> {
        let first = self.sampling.max_tokens;
        Some(self.max_tokens_ceiling.unwrap_or(first.saturating_mul(CEILING)))
            .filter(|ceiling| *ceiling > first)
    }

    /// The longest body that is read as the response to a request, in bytes.
    pub(super) fn longest_body(&self, embeds: bool) -> usize {
        if let Some(mib) = self.max_reply_mib {
            return (mib.max(1) as usize).saturating_mul(MIB);
        }
        // A piece of a stream, and an escaped token with its probability, take less than a kilobyte.
        let tokens = self.sampling.max_tokens.max(self.ceiling().unwrap_or(0)) as usize;
        let longest = tokens.saturating_mul(1 << 10).saturating_add(MIB);
        longest.max(if embeds { LONGEST_VECTORS } else { 0 }).min(LONGEST_BODY)
    }

    /// The environment variables of its key and its headers.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.key_env.iter().chain(self.headers.values()).map(String::as_str)
    }

    /// What needs somebody's yes before it is asked: its host, with the variables whose values go along. `None` for a
    /// pack, and where `base_url` is no address.
    pub fn wish(&self) -> Option<Wish> {
        let url = reqwest::Url::parse(&self.base_url).ok().filter(|_| !self.provider.is_pack())?;
        // What a command prints is no less of a secret than a variable's value.
        let printed = self.command_wish().map(|_| "key_command".to_owned());
        let variables = self.variables().map(str::to_owned).chain(printed).collect();
        Some(Wish::Host { origin: url.origin().ascii_serialization(), variables })
    }

    /// The command that prints its key, which could do anything on this machine: it needs somebody's yes, too.
    pub fn command_wish(&self) -> Option<Wish> {
        let quoted = |word: &String| match word.contains(char::is_whitespace) || word.is_empty() {
            true => format!("'{word}'"),
            false => word.clone(),
        };
        let command = self.key_command.iter().map(quoted).collect::<Vec<_>>().join(" ");
        (!command.is_empty() && !self.provider.is_pack()).then_some(Wish::Command { command })
    }

    /// Whether its key and the values of its headers are set, or it needs none.
    pub fn has_key(&self) -> bool {
        self.variables().all(|name| super::secret::ApiKey::from_env(name).is_some())
    }

    /// The endpoint's own cap.
    pub fn cap(&self) -> Option<Usd> {
        self.max_usd.map(Usd::from_dollars)
    }
}

/// Where instructions are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// As the system's message.
    #[default]
    System,
    /// Before the user's first message.
    User,
}

/// Marks in the texts of a model's replies that are no part of its answers. They are looked for in any case of
/// letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReplyMarks {
    /// Marks before reasoning, with those behind it: `{ "<plan>" = "</plan>" }`.
    pub reasoning: BTreeMap<String, String>,
    /// Marks of the end of the model's turn; what follows one is not read.
    pub end: Vec<String>,
}

/// The kind of server that answers an endpoint's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Any server of the OpenAI-compatible interface.
    #[default]
    Openai,
    /// OpenAI's models at Azure: `model` is the deployment, `base_url` the resource's address.
    Azure,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// A vLLM server: OpenAI's interface, with guided decoding if a schema is sent.
    Vllm,
    /// An Ollama server's own interface, which sets the length of a context and of reasoning.
    Ollama,
    /// A server with LibreTranslate's interface: `base_url` is the address before `/translate`. It takes
    /// texts instead of prompts, and is only used for translations.
    Libretranslate,
    /// A pack of replies that were made elsewhere, by a model or by people: used like a model, without
    /// network and cost.
    Made,
    /// A pack of replies written for a sample; needs no network and no money, and its answers are marked as
    /// synthetic.
    Sample,
}

/// The API for chats at OpenAI and servers compatible with it. Not part of any key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `chat/completions`: understood by nearly every server.
    #[default]
    Chat,
    /// `responses`: some models have no other.
    Responses,
}

impl Provider {
    /// Whether chats can be sent to `responses`.
    pub fn has_responses(self) -> bool {
        matches!(self, Provider::Openai | Provider::Azure | Provider::Vllm)
    }

    /// Whether replies come from a file.
    pub fn is_pack(self) -> bool {
        matches!(self, Provider::Made | Provider::Sample)
    }
}

/// How an answer is sampled. All of it is part of the key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// If absent, the server's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// If absent, the server's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The longest reply, in tokens. Always sent: without it no budget could be kept.
    pub max_tokens: u32,
    /// The first sample's seed; sample n is drawn with `seed + n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Stop sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Further parameters of this server (`top_k`, `reasoning_effort`), sent unchanged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Value>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            temperature: None,
            top_p: None,
            max_tokens: 1024,
            seed: None,
            stop: Vec::new(),
            extra: BTreeMap::new(),
        }
    }
}

/// The format that the server is asked to enforce.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Nothing.
    #[default]
    Text,
    /// `response_format: json_object`.
    JsonObject,
    /// `response_format: json_schema`, strict.
    JsonSchema {
        /// The schema's name.
        name: String,
        /// The schema itself.
        schema: Value,
    },
}

/// The request field that bounds an answer's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// Understood by nearly every server.
    #[default]
    MaxTokens,
    /// Required by newer reasoning models.
    MaxCompletionTokens,
}

/// Timeouts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// Until a connection is established.
    pub connect_secs: f64,
    /// From the request to the answer's first byte: without `stream` this includes all of the model's
    /// reasoning.
    pub first_byte_secs: f64,
    /// Time limit between two pieces of a reply.
    pub idle_secs: f64,
    /// From the first byte sent to the last received; ends servers that send slowly for ever.
    pub total_secs: f64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect_secs: 10.0, first_byte_secs: 300.0, idle_secs: 60.0, total_secs: 600.0 }
    }
}

/// How often, and at what intervals, a request is retried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retries {
    /// The number of attempts, including the first.
    pub max_attempts: u32,
    /// The bound of the first wait; it doubles with every attempt.
    pub first_wait_secs: f64,
    /// The upper limit of every wait.
    pub max_wait_secs: f64,
    /// The longest wait a server may ask for; an item that would have to wait longer fails with that message.
    pub max_asked_wait_secs: f64,
    /// After this many items in a row with the same failure, of a kind that no retry fixes, the endpoint is
    /// left alone for the rest of the run; 0 for never. Refusals of one text (a content filter, a text that is
    /// too long) do not count.
    pub leave_after: u32,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries {
            max_attempts: 6,
            first_wait_secs: 0.5,
            max_wait_secs: 30.0,
            max_asked_wait_secs: 600.0,
            leave_after: 5,
        }
    }
}
