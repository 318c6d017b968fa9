//! The tables of pipeline.toml that are parsed as types of other modules: their keys, for the reference and
//! for the commented file. A test compares them with these types.

use super::schema::{Key, Kind, Section};
use super::source::{PUBLISHED, SOURCE};

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// Tables that may occur several times: `[[source]]`, `[llm.<name>]`, `[[annotator]]`, `[[crawl]]`. A key
/// with a dot is in a subtable; a key without a default is optional or required.
pub const TABLES: &[Section] = &[SOURCE, PUBLISHED, LLM, ANNOTATOR, CRAWL];

/// `[llm.<name>]`.
pub const LLM: Section = Section {
    name: "llm",
    doc: "[llm.<name>]: a model endpoint. base_url, model, key_env and the two prices suffice.",
    keys: &[
        key(
            "provider",
            Kind::Choice(&[
                "openai",
                "azure",
                "anthropic",
                "gemini",
                "vllm",
                "ollama",
                "libretranslate",
                "made",
                "sample",
            ]),
            "\"openai\"",
            "The API: openai is any OpenAI-compatible server, libretranslate only translates, made is a file of replies made elsewhere, sample a file of synthetic replies.",
        ),
        key(
            "base_url",
            Kind::Text,
            "\"\"",
            "openai, vllm: the address without /chat/completions (https://api.example.org/v1); others: the address without the API's path.",
        ),
        key(
            "api",
            Kind::Choice(&["chat", "responses"]),
            "\"chat\"",
            "The API for chats of openai, azure and vllm: chat/completions, or responses, which some models need; a model that refuses the first is asked by the second.",
        ),
        key(
            "api_version",
            Kind::Text,
            "",
            "azure: the api-version of a dated interface, else /openai/v1 is used; anthropic: the anthropic-version; gemini: v1beta or v1.",
        ),
        key("model", Kind::Text, "\"\"", "The model's name as the server knows it."),
        key(
            "identity",
            Kind::Text,
            "",
            "The model's name in the keys of stored replies, if it differs from `model`; keep it when a proxy moves.",
        ),
        key(
            "key_env",
            Kind::Text,
            "",
            "The name of the environment variable with the API key; never the key itself.",
        ),
        key(
            "key_command",
            Kind::Texts,
            "[]",
            "A command that prints the key, for tokens that expire: [\"gcloud\", \"auth\", \"print-access-token\"]; instead of key_env.",
        ),
        key(
            "headers",
            Kind::Map(&["x-team"]),
            "{}",
            "Further headers, each with the environment variable of its value: { x-team = \"MY_TEAM\" }.",
        ),
        key("usd_per_million_in", Kind::Amount, "", "Dollars per million prompt tokens."),
        key("usd_per_million_out", Kind::Amount, "", "Dollars per million completion tokens."),
        key(
            "usd_per_million_cached",
            Kind::Amount,
            "",
            "Dollars per million cached prompt tokens, if their price differs.",
        ),
        key(
            "usd_per_million_reasoning",
            Kind::Amount,
            "",
            "Dollars per million reasoning tokens, if their price differs.",
        ),
        key(
            "free",
            Kind::Flag,
            "false",
            "The endpoint costs nothing; without this and without prices nothing is sent.",
        ),
        key(
            "price_of",
            Kind::Text,
            "",
            "The model's name in prices.json (`riddlemill prices import`), which has the prices that are not set here; default: model.",
        ),
        key(
            "max_usd",
            Kind::Amount,
            "",
            "The most that may ever be spent at this endpoint from this workspace.",
        ),
        key(
            "max_reply_mib",
            Kind::Whole(1, 1024),
            "",
            "The longest response that is read, in MiB; default: what max_tokens_ceiling tokens can need, at least 16 for embeddings.",
        ),
        key("concurrency", Kind::Whole(1, i64::MAX), "8", "Requests in flight at once."),
        key("rpm", Kind::Whole(1, i64::MAX), "", "The most requests per minute."),
        key(
            "tpm",
            Kind::Whole(1, i64::MAX),
            "",
            "The most tokens per minute, prompt and max_tokens together.",
        ),
        key("sampling.max_tokens", Kind::Whole(1, i64::MAX), "1024", "The longest reply, in tokens."),
        key(
            "max_tokens_ceiling",
            Kind::Whole(1, i64::MAX),
            "",
            "The limit with which a request is repeated once if its answer was cut; default: four times sampling.max_tokens.",
        ),
        key("sampling.temperature", Kind::Amount, "", "Default: the server's."),
        key("sampling.top_p", Kind::Share, "", "Default: the server's."),
        key("sampling.seed", Kind::Whole(0, i64::MAX), "", "The first sample's seed; sample n has seed + n."),
        key("sampling.stop", Kind::Texts, "[]", "Strings that end a reply."),
        key(
            "sampling.extra",
            Kind::Map(&["top_k"]),
            "{}",
            "Further parameters of the model, sent unchanged: reasoning_effort = \"low\"; anthropic: thinking, output_config; gemini: thinkingConfig; ollama: think, num_ctx.",
        ),
        key(
            "format",
            Kind::Choice(&["text", "json_object"]),
            "\"text\"",
            "The format that the server enforces for JSON replies; or { json_schema = { name = \"…\", schema = { … } } }.",
        ),
        key(
            "structured",
            Kind::Flag,
            "false",
            "The server enforces the fields that a reply must have: response_format, vllm's guided decoding, output_config of anthropic; if it refuses, requests are sent without.",
        ),
        key(
            "limit_field",
            Kind::Choice(&["max_tokens", "max_completion_tokens"]),
            "\"max_tokens\"",
            "The parameter for the longest reply; newer reasoning models need the second.",
        ),
        key(
            "system",
            Kind::Choice(&["system", "user"]),
            "\"system\"",
            "Where instructions are sent: \"user\" puts them before the user's message, for models without a system's message (Gemma). Set by itself, for a run, where the server refuses that message.",
        ),
        key(
            "marks.reasoning",
            Kind::Map(&["<plan>"]),
            "{}",
            "Further marks before reasoning in this model's replies, with those behind it: { \"<plan>\" = \"</plan>\" }.",
        ),
        key("marks.end", Kind::Texts, "[]", "Further marks of the end of this model's turn: [\"<eot>\"]."),
        key("timeouts.connect_secs", Kind::Amount, "10.0", "Time limit for connecting."),
        key(
            "stream",
            Kind::Flag,
            "false",
            "Receive replies in pieces: long reasoning is waited for, and a dead server is noticed early.",
        ),
        key(
            "batch",
            Kind::Flag,
            "false",
            "Send requests in batches, which the server answers within a day; set the prices of batches. For openai, azure, anthropic and gemini.",
        ),
        key(
            "timeouts.first_byte_secs",
            Kind::Amount,
            "300.0",
            "Time limit from the request to the first byte; without `stream` this includes all reasoning.",
        ),
        key("timeouts.idle_secs", Kind::Amount, "60.0", "Time limit between two pieces of a reply."),
        key(
            "timeouts.total_secs",
            Kind::Amount,
            "600.0",
            "Time limit from the first byte sent to the last received.",
        ),
        key(
            "retries.max_attempts",
            Kind::Whole(1, i64::MAX),
            "6",
            "The number of attempts, including the first.",
        ),
        key("retries.first_wait_secs", Kind::Amount, "0.5", "The upper limit of the first wait; it doubles."),
        key("retries.max_wait_secs", Kind::Amount, "30.0", "The upper limit of every wait."),
        key(
            "retries.max_asked_wait_secs",
            Kind::Amount,
            "600.0",
            "The longest wait that a server may ask for.",
        ),
        key(
            "retries.leave_after",
            Kind::Whole(0, i64::MAX),
            "5",
            "After this many failures in a row that a retry cannot fix (401, 403, 404, no connection) the endpoint is not used again in the run; 0: never.",
        ),
        key("embedding_batch", Kind::Whole(1, i64::MAX), "64", "Texts in one request for embeddings."),
        key("pack", Kind::Text, "", "provider = \"made\" or \"sample\": the file with its replies."),
        key("size_b", Kind::Amount, "", "Billions of parameters, for `evaluate`."),
    ],
};

/// `[[annotator]]`.
pub const ANNOTATOR: Section = Section {
    name: "annotator",
    doc: "[[annotator]]: a person who votes. The name is stored in votes, so use a code instead of the person's name.",
    keys: &[
        key("name", Kind::Text, "", "A short code; it is stored in every vote."),
        key(
            "role",
            Kind::Choice(&["annotator", "junior", "senior", "meta"]),
            "",
            "annotator votes; junior votes where a senior reviews the votes; meta settles disputes.",
        ),
        key(
            "languages",
            Kind::Texts,
            "[]",
            "The languages they read: [\"zh\", \"en\"]; used by `assign --language`.",
        ),
        key(
            "qualified",
            Kind::Flag,
            "false",
            "Let this annotator vote without a graded trial; FLUB's steps require one (`review qualify`), and its card counts the exceptions.",
        ),
        key(
            "accounts",
            Kind::Texts,
            "[]",
            "Their Label Studio accounts: the user's number or e-mail address.",
        ),
    ],
};

/// `[[crawl]]`.
pub const CRAWL: Section = Section {
    name: "crawl",
    doc: "[[crawl]]: pages that `crawl` fetches into raw/warc. name, seeds and contact suffice.",
    keys: &[
        key("name", Kind::Text, "", "The name of its archive folder, and the argument of `crawl`."),
        key(
            "site",
            Kind::Choice(&["tieba", "riddles", "rd", "plain"]),
            "\"plain\"",
            "The kind of site: one of these, a name from `riddlemill profiles list`, or { profile = { … } }; plain pages are stored but not parsed.",
        ),
        key("base", Kind::Text, "", "Scheme and host of `forum` and `thread` seeds; default: Tieba's."),
        key(
            "seeds",
            Kind::Texts,
            "[]",
            "Where to start: [{ forum = \"…\" }, { good_forum = \"…\" }, { thread = 1 }, { url = \"…\" }, { sitemap = \"…\" }, { url_file = \"…\" }].",
        ),
        key("contact", Kind::Text, "", "Your e-mail address or web page; it is sent with every request."),
        key("scope.hosts", Kind::Texts, "[]", "Hosts besides those of the seeds."),
        key(
            "scope.include",
            Kind::Texts,
            "[]",
            "Patterns; only linked pages that match one are fetched: \"/thread-*\", \"*.html$\", \"https://…\".",
        ),
        key(
            "scope.exclude",
            Kind::Texts,
            "[]",
            "Patterns; linked pages that match one are not fetched. Seeds always are.",
        ),
        key("scope.max_pages", Kind::Whole(1, i64::MAX), "100000", "The most pages of a pass."),
        key("scope.max_list_pages", Kind::Whole(1, i64::MAX), "", "The most pages of one list."),
        key("scope.comments", Kind::Flag, "true", "Whether nested replies are fetched."),
        key(
            "politeness.delay_secs",
            Kind::Amount,
            "2.0",
            "The pause from the end of an answer to the next request.",
        ),
        key(
            "politeness.retries",
            Kind::Whole(0, i64::MAX),
            "3",
            "Further attempts after 429, 503 or a timeout.",
        ),
        key("politeness.backoff_secs", Kind::Amount, "5.0", "The wait before the first retry; it doubles."),
        key(
            "politeness.retry_after_cap_secs",
            Kind::Whole(0, i64::MAX),
            "900",
            "The longest wait of a Retry-After.",
        ),
        key(
            "politeness.refusals",
            Kind::Whole(1, i64::MAX),
            "5",
            "How many pages in a row refused with 403 count as a block.",
        ),
        key(
            "limits.wire_bytes",
            Kind::Whole(1, i64::MAX),
            "16777216",
            "The most bytes of an answer as sent.",
        ),
        key(
            "limits.decoded_bytes",
            Kind::Whole(1, i64::MAX),
            "33554432",
            "The most bytes of an answer once decoded.",
        ),
        key("limits.redirects", Kind::Whole(0, i64::MAX), "5", "The most redirects in a row."),
        key(
            "limits.total_secs",
            Kind::Amount,
            "60.0",
            "Time limit from the request to the end of the answer.",
        ),
        key("limits.idle_secs", Kind::Amount, "20.0", "Time limit without a byte."),
        key(
            "limits.segment_bytes",
            Kind::Whole(1, i64::MAX),
            "1073741824",
            "The most bytes of one archive file.",
        ),
        key(
            "refresh",
            Kind::Choice(&["changed", "all"]),
            "false",
            "Start another pass over a finished crawl: \"changed\" fetches lists and threads with new posts, the last page first, \"all\" requests every page again; like `crawl --refresh`.",
        ),
        key("private_hosts", Kind::Texts, "[]", "For tests: host:port pairs that may be private addresses."),
    ],
};

/// A table of settings, or of those that may occur several times, by its name.
pub fn table(name: &str) -> Option<&'static Section> {
    super::sections::SECTIONS.iter().chain(TABLES).find(|table| table.name == name)
}

/// The keys of a table itself: `sampling` for `sampling.seed`.
pub fn keys(table: &Section) -> Vec<&'static str> {
    let mut keys: Vec<&str> =
        table.keys.iter().map(|key| key.name.split('.').next().unwrap_or(key.name)).collect();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use riddlemill_harvest::crawl;
    use riddlemill_llm::Endpoint;
    use riddlemill_review::Annotator;
    use riddlemill_review::ballot::Role;

    /// The keys of a value with their values; keys of subtables with a dot.
    fn flat(value: &Value, prefix: &str) -> Vec<(String, Value)> {
        let fields = value.as_object().into_iter().flatten();
        fields
            .flat_map(|(key, value)| match (value.is_object() && prefix.is_empty(), key.as_str()) {
                (true, key) => flat(value, &format!("{key}.")),
                (false, key) => vec![(format!("{prefix}{key}"), value.clone())],
            })
            .collect()
    }

    /// Checks that every field has its key, with the type's default.
    fn check(table: &Section, value: Value, not_said: &[&str]) {
        let fields = flat(&value, "");
        let keys: BTreeSet<&str> = table.keys.iter().map(|key| key.name).collect();
        for (field, value) in &fields {
            if not_said.contains(&field.as_str()) {
                continue;
            }
            assert!(keys.contains(field.as_str()), "[{}] {field} is not in the reference", table.name);
            let key = table.keys.iter().find(|key| key.name == field).unwrap();
            if !key.default.is_empty() {
                let default: toml_edit::Value = key.default.parse().unwrap();
                let default = match default.as_inline_table() {
                    Some(table) if table.is_empty() => serde_json::json!({}),
                    _ => super::super::layer::value_json(&default).unwrap_or_default(),
                };
                assert_eq!(&default, value, "[{}] {field}", table.name);
            }
        }
    }

    #[test]
    fn the_reference_is_that_of_the_types() {
        let endpoint = serde_json::to_value(Endpoint::new("", "", "")).unwrap();
        check(&LLM, endpoint, &["name"]);
        let person = Annotator {
            name: "a".into(),
            role: Role::Annotator,
            languages: Vec::new(),
            qualified: false,
            accounts: Vec::new(),
            trials: Vec::new(),
        };
        check(&ANNOTATOR, serde_json::to_value(person).unwrap(), &[]);
        check(&CRAWL, serde_json::to_value(crawl::settings::Source::default()).unwrap(), &[]);
    }
}
