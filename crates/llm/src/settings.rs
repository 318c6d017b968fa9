//! Settings of an endpoint, their errors, and what of them needs somebody's yes. Plain values: nothing here opens a socket or
//! reads a variable.

use std::collections::BTreeMap;
use std::path::PathBuf;

use riddlemill_files::Wish;
use riddlemill_schema::{choice, default_table, table};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::money::{Price, Usd};

table! {
    /// One `[llm.<name>]` table.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Endpoint in "llm": "[llm.<name>]: a model endpoint. base_url, model, key_env and the two prices suffice." {
        provider: Provider = "openai", "The API: openai is any OpenAI-compatible server, libretranslate only translates, made is a file of replies made elsewhere, sample a file of synthetic replies.";
        base_url: String = "", "openai, vllm: the address without /chat/completions (https://api.example.org/v1); others: the address without the API's path.";
        // This, max_reply_mib, stream and batch are no part of any key.
        api: Api = "chat", "The API for chats of openai, azure and vllm: chat/completions, or responses, which some models need; a model that refuses the first is asked by the second.";
        api_version: Option<String>, "azure: the api-version of a dated interface, else /openai/v1 is used; anthropic: the anthropic-version; gemini: v1beta or v1.";
        model: String = "", "The model's name as the server knows it.";
        identity: Option<String>, "The model's name in the keys of stored replies, if it differs from `model`; keep it when a proxy moves.";
        key_env: Option<String>, "The name of the environment variable with the API key; never the key itself.";
        key_command: Vec<String> = [], "A command that prints the key, for tokens that expire: [\"gcloud\", \"auth\", \"print-access-token\"]; instead of key_env.";
        headers: BTreeMap<String, String> = {}, "Further headers, each with the environment variable of its value: { x-team = \"MY_TEAM\" }.";
        usd_per_million_in: Option<f64>, "Dollars per million prompt tokens.";
        usd_per_million_out: Option<f64>, "Dollars per million completion tokens.";
        usd_per_million_cached: Option<f64>, "Dollars per million cached prompt tokens, if their price differs.";
        usd_per_million_reasoning: Option<f64>, "Dollars per million reasoning tokens, if their price differs.";
        free: bool = false, "The endpoint costs nothing; without this and without prices nothing is sent.";
        price_of: Option<String>, "The model's name in prices.json (`riddlemill prices import`), which has the prices that are not set here; default: model.";
        max_usd: Option<f64>, "The most that may ever be spent at this endpoint from this workspace.";
        max_reply_mib: Option<u32> [Whole(1, 1024)], "The longest response that is read, in MiB; default: what max_tokens_ceiling tokens can need, at least 16 for embeddings.";
        concurrency: usize [Whole(1, i64::MAX)] = 8, "Requests in flight at once.";
        rpm: Option<u32> [Whole(1, i64::MAX)], "The most requests per minute.";
        tpm: Option<u32> [Whole(1, i64::MAX)], "The most tokens per minute, prompt and max_tokens together.";
        sampling: Sampling, "How answers are sampled.";
        // No part of the first request's key.
        max_tokens_ceiling: Option<u32> [Whole(1, i64::MAX)], "The limit with which a request is repeated once if its answer was cut; default: four times sampling.max_tokens.";
        format: Format [form "one of text, json_object, or { json_schema = { name = \"…\", schema = { … } } }"] = "text", "The format that the server enforces for JSON replies; or { json_schema = { name = \"…\", schema = { … } } }.";
        structured: bool = false, "The server enforces the fields that a reply must have: response_format, vllm's guided decoding, output_config of anthropic; if it refuses, requests are sent without.";
        limit_field: LimitField = "max_tokens", "The parameter for the longest reply; newer reasoning models need the second.";
        // Part of the key.
        system: System = "system", "Where instructions are sent: \"user\" puts them before the user's message, for models without a system's message (Gemma). Set by itself, for a run, where the server refuses that message.";
        marks: ReplyMarks, "Further marks in this model's replies, beyond those that are known.";
        stream: bool = false, "Receive replies in pieces: long reasoning is waited for, and a dead server is noticed early.";
        batch: bool = false, "Send requests in batches, which the server answers within a day; set the prices of batches. For openai, azure, anthropic and gemini.";
        timeouts: Timeouts, "Time limits, in seconds.";
        retries: Retries, "How often, and at what intervals, a request is retried.";
        embedding_batch: usize [Whole(1, i64::MAX)] = 64, "Texts in one request for embeddings.";
        pack: Option<PathBuf>, "provider = \"made\" or \"sample\": the file with its replies.";
        size_b: Option<f64>, "Billions of parameters, for `evaluate`.";
    }
    beside {
        /// The table's name: used by recipes and `--model`, and as the name of its budget.
        name: String;
    }
}

/// A mebibyte.
const MIB: usize = 1 << 20;

/// All vectors of one request.
const LONGEST_VECTORS: usize = 16 * MIB;

/// No limit of tokens makes a body longer, unless `max_reply_mib` says so.
const LONGEST_BODY: usize = 64 * MIB;

/// Factor from the first limit to that of the repetition.
const CEILING: u32 = 4;

impl Endpoint {
    /// An endpoint with every default, as a starting point.
    pub fn new(name: &str, base_url: &str, model: &str) -> Endpoint {
        Endpoint {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            ..default_table()
        }
    }

    /// The logical name in every key.
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or(&self.model)
    }

    /// The price per token; `None` if neither both prices nor `free` are given.
    pub fn token_price(&self) -> Option<Price> {
        match (self.free, self.usd_per_million_in, self.usd_per_million_out) {
            (true, ..) => Some(Price::FREE),
            (false, Some(dollars_in), Some(dollars_out)) => Some(
                Price::per_million(dollars_in, dollars_out)
                    .with_rates(self.usd_per_million_cached, self.usd_per_million_reasoning),
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

    /// The settings without which no request can be made, and that are missing.
    pub fn needed_settings(&self) -> Vec<&'static str> {
        let needed = match self.provider {
            provider if provider.is_pack() => [("pack", self.pack.is_some()), ("", true)],
            Provider::Libretranslate => [("base_url", !self.base_url.is_empty()), ("", true)],
            _ => [("base_url", !self.base_url.is_empty()), ("model", !self.model.is_empty())],
        };
        needed.into_iter().filter(|(_, set)| !set).map(|(name, _)| name).collect()
    }

    /// The limit of the repetition, if it is higher than the first.
    pub fn larger_token_limit(&self) -> Option<u32> {
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
        let tokens = self.sampling.max_tokens.max(self.larger_token_limit().unwrap_or(0)) as usize;
        let longest = tokens.saturating_mul(1 << 10).saturating_add(MIB);
        longest.max(if embeds { LONGEST_VECTORS } else { 0 }).min(LONGEST_BODY)
    }

    /// The environment variables of its key and its headers.
    pub fn environment_variables(&self) -> impl Iterator<Item = &str> {
        self.key_env.iter().chain(self.headers.values()).map(String::as_str)
    }

    /// What needs somebody's yes before it is asked: its host, with the variables whose values go along. `None` for a
    /// pack, and where `base_url` is no address.
    pub fn needed_wish(&self) -> Option<Wish> {
        let url = reqwest::Url::parse(&self.base_url).ok().filter(|_| !self.provider.is_pack())?;
        // What a command prints is no less of a secret than a variable's value.
        let printed = self.command_wish().map(|_| "key_command".to_owned());
        let variables = self.environment_variables().map(str::to_owned).chain(printed).collect();
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
        self.environment_variables().all(|name| super::secret::ApiKey::from_env(name).is_some())
    }

    /// The endpoint's own cap.
    pub fn budget_cap(&self) -> Option<Usd> {
        self.max_usd.map(Usd::from_dollars)
    }
}

choice! {
    /// Where instructions are sent.
    #[derive(Default)]
    pub enum System {
        /// As the system's message.
        #[default]
        System = "system",
        /// Before the user's first message.
        User = "user",
    }
}

table! {
    /// Marks in the texts of a model's replies that are no part of its answers. They are looked for in any case of
    /// letters.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct ReplyMarks in "marks": "Marks in a model's replies that are no part of its answers." {
        reasoning: BTreeMap<String, String> = {}, "Further marks before reasoning in this model's replies, with those behind it: { \"<plan>\" = \"</plan>\" }.";
        end: Vec<String> = [], "Further marks of the end of this model's turn: [\"<eot>\"].";
    }
}

choice! {
    /// The kind of server that answers an endpoint's requests.
    #[derive(Default)]
    pub enum Provider {
        /// Any server of the OpenAI-compatible interface.
        #[default]
        Openai = "openai",
        /// OpenAI's models at Azure: `model` is the deployment, `base_url` the resource's address.
        Azure = "azure",
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// Google's Gemini.
        Gemini = "gemini",
        /// A vLLM server: OpenAI's interface, with guided decoding if a schema is sent.
        Vllm = "vllm",
        /// An Ollama server's own interface, which sets the length of a context and of reasoning.
        Ollama = "ollama",
        /// A server with LibreTranslate's interface: `base_url` is the address before `/translate`. It takes
        /// texts instead of prompts, and is only used for translations.
        Libretranslate = "libretranslate",
        /// A pack of replies that were made elsewhere, by a model or by people: used like a model, without
        /// network and cost.
        Made = "made",
        /// A pack of replies written for a sample; needs no network and no money, and its answers are marked as
        /// synthetic.
        Sample = "sample",
    }
}

choice! {
    /// The API for chats at OpenAI and servers compatible with it. Not part of any key.
    #[derive(Default)]
    pub enum Api {
        /// `chat/completions`: understood by nearly every server.
        #[default]
        Chat = "chat",
        /// `responses`: some models have no other.
        Responses = "responses",
    }
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

table! {
    /// How an answer is sampled. All of it is part of the key.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Sampling in "sampling": "How answers are sampled." {
        #[serde(skip_serializing_if = "Option::is_none")]
        temperature: Option<f64>, "Default: the server's.";
        #[serde(skip_serializing_if = "Option::is_none")]
        top_p: Option<f64> [SHARE], "Default: the server's.";
        // Always sent: without it no budget could be kept.
        max_tokens: u32 [Whole(1, i64::MAX)] = 1024, "The longest reply, in tokens.";
        #[serde(skip_serializing_if = "Option::is_none")]
        seed: Option<i64> [Whole(0, i64::MAX)], "The first sample's seed; sample n has seed + n.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stop: Vec<String> = [], "Strings that end a reply.";
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        extra: BTreeMap<String, Value> [form "a table, { top_k = 5 }"] = {}, "Further parameters of the model, sent unchanged: reasoning_effort = \"low\"; anthropic: thinking, output_config; gemini: thinkingConfig; ollama: think, num_ctx.";
    }
}

impl Default for Sampling {
    fn default() -> Sampling {
        default_table()
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

choice! {
    /// The request field that bounds an answer's length.
    #[derive(Default)]
    pub enum LimitField {
        /// Understood by nearly every server.
        #[default]
        MaxTokens = "max_tokens",
        /// Required by newer reasoning models.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

table! {
    /// Timeouts, in seconds.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Timeouts in "timeouts": "Time limits, in seconds." {
        connect_secs: f64 = 10.0, "Time limit for connecting.";
        first_byte_secs: f64 = 300.0, "Time limit from the request to the first byte; without `stream` this includes all reasoning.";
        idle_secs: f64 = 60.0, "Time limit between two pieces of a reply.";
        // Ends servers that send slowly for ever.
        total_secs: f64 = 600.0, "Time limit from the first byte sent to the last received.";
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        default_table()
    }
}

table! {
    /// How often, and at what intervals, a request is retried.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
    pub struct Retries in "retries": "How often, and at what intervals, a request is retried." {
        max_attempts: u32 [Whole(1, i64::MAX)] = 6, "The number of attempts, including the first.";
        first_wait_secs: f64 = 0.5, "The upper limit of the first wait; it doubles.";
        max_wait_secs: f64 = 30.0, "The upper limit of every wait.";
        // An item that would have to wait longer fails with that message.
        max_asked_wait_secs: f64 = 600.0, "The longest wait that a server may ask for.";
        // Refusals of one text (a content filter, a text that is too long) do not count.
        leave_after: u32 = 5, "After this many failures in a row that a retry cannot fix (401, 403, 404, no connection) the endpoint is not used again in the run; 0: never.";
    }
}

impl Default for Retries {
    fn default() -> Retries {
        default_table()
    }
}

/// What is wrong with an endpoint's settings. [`EngineError`](crate::EngineError) names the endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Replies are to come from a file, but none is named.
    #[error("replies from a file need a pack")]
    NoPack,
    /// Nothing can be asked without these settings.
    #[error("{} not set", .0.join(" and "))]
    Lacking(Vec<&'static str>),
    /// The provider has no batches.
    #[error("batch = true is for provider = \"openai\", \"azure\", \"anthropic\" or \"gemini\"")]
    NoBatches,
    /// `base_url` is not an address.
    #[error("base_url is not an address: {0}")]
    NoAddress(String),
    /// `base_url` has another scheme than http or https.
    #[error("base_url must start with http:// or https://, not {0}:")]
    Scheme(String),
    /// `base_url` contains a secret, which would appear in errors and logs.
    #[error("base_url holds a user name or password; name an environment variable in key_env")]
    Credentials,
    /// The provider has one API only.
    #[error("api = \"responses\" is for provider = \"openai\", \"azure\" or \"vllm\"")]
    NoResponses,
    /// Both ways to a key are set.
    #[error("key_env and key_command are both set; remove one")]
    TwoKeys,
    /// A name under `headers` is not a valid header name.
    #[error("headers: {0:?} is not a header name")]
    HeaderName(String),
    /// The value of this variable or setting cannot be sent in a header.
    #[error("the value of {0} contains characters that are not allowed in a header")]
    HeaderValue(String),
    /// The HTTP client cannot be built.
    #[error("{0}")]
    Client(String),
    /// An https address, and nothing on this machine to trust it by.
    #[error(transparent)]
    NoCertificates(#[from] riddlemill_http::NoCertificates),
}

/// Whether values of the environment go along.
pub(super) fn has_variables(wish: &Wish) -> bool {
    matches!(wish, Wish::Host { variables, .. } if !variables.is_empty())
}
