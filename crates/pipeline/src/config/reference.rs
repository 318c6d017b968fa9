//! The tables of pipeline.toml that other rooms read as their own types: what may be in them, for the reference and
//! for the commented file. A test holds them to those types.

use super::schema::{Key, Kind, Section};
use super::source::{PUBLISHED, SOURCE};

const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// Tables that come as often as one likes: `[[source]]`, `[llm.<name>]`, `[[annotator]]`, `[[crawl]]`. A key with a dot
/// is one of a table in the table; a key without a default may be left out, or must be written.
pub const TABLES: &[Section] = &[SOURCE, PUBLISHED, LLM, ANNOTATOR, CRAWL];

/// `[llm.<name>]`.
pub const LLM: Section = Section {
    name: "llm",
    doc: "[llm.<name>]: a model that is asked. base_url, model, key_env and the two prices suffice.",
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
            "Whose interface: openai is any server of the OpenAI-compatible one, libretranslate only translates, made is a file of replies from elsewhere, sample one of synthetic replies.",
        ),
        key(
            "base_url",
            Kind::Text,
            "\"\"",
            "openai, vllm: up to and without /chat/completions (https://api.example.org/v1); others: the address before their paths.",
        ),
        key(
            "api_version",
            Kind::Text,
            "",
            "azure: its api-version, needed; anthropic: its anthropic-version; gemini: v1 or v1beta.",
        ),
        key("model", Kind::Text, "\"\"", "The model's name as the server knows it."),
        key(
            "identity",
            Kind::Text,
            "",
            "The model's name in the keys of stored replies, where another than `model`: keep it when a proxy moves.",
        ),
        key(
            "key_env",
            Kind::Text,
            "",
            "The environment variable that holds the key: its name, never the key.",
        ),
        key(
            "headers",
            Kind::Map(&["x-team"]),
            "{}",
            "Further headers, each with the environment variable that holds its value: { x-team = \"MY_TEAM\" }.",
        ),
        key("usd_per_million_in", Kind::Amount, "", "Dollars for a million prompt tokens."),
        key("usd_per_million_out", Kind::Amount, "", "Dollars for a million completion tokens."),
        key(
            "usd_per_million_cached",
            Kind::Amount,
            "",
            "Dollars for a million prompt tokens that the server has at hand, where these have a price of their own.",
        ),
        key(
            "usd_per_million_reasoning",
            Kind::Amount,
            "",
            "Dollars for a million tokens of reasoning, where these have a price of their own.",
        ),
        key("free", Kind::Flag, "false", "Nothing is paid; without it and without prices nothing is sent."),
        key(
            "max_usd",
            Kind::Amount,
            "",
            "The most that may ever be spent at this endpoint from this workspace.",
        ),
        key("concurrency", Kind::Whole(1, i64::MAX), "8", "Requests in flight at once."),
        key("rpm", Kind::Whole(1, i64::MAX), "", "Requests a minute at most."),
        key("tpm", Kind::Whole(1, i64::MAX), "", "Tokens a minute at most, prompt and max_tokens together."),
        key("sampling.max_tokens", Kind::Whole(1, i64::MAX), "1024", "The longest answer, in tokens."),
        key(
            "max_tokens_ceiling",
            Kind::Whole(1, i64::MAX),
            "",
            "With how many a request is asked once more whose answer was cut before it began; left out: four times sampling.max_tokens.",
        ),
        key("sampling.temperature", Kind::Amount, "", "Left out: the server's default."),
        key("sampling.top_p", Kind::Share, "", "Left out: the server's default."),
        key("sampling.seed", Kind::Whole(0, i64::MAX), "", "The first sample's seed; sample n has seed + n."),
        key("sampling.stop", Kind::Texts, "[]", "Where an answer ends."),
        key(
            "sampling.extra",
            Kind::Map(&["top_k"]),
            "{}",
            "What this model knows beyond these, sent as it is: reasoning_effort = \"low\"; anthropic: thinking; gemini: thinkingConfig; ollama: think, num_ctx.",
        ),
        key(
            "format",
            Kind::Choice(&["text", "json_object"]),
            "\"text\"",
            "What the server enforces where a reply is JSON; or { json_schema = { name = \"…\", schema = { … } } }.",
        ),
        key(
            "structured",
            Kind::Flag,
            "false",
            "The server enforces the fields that a reply is read for: response_format, guided decoding of vllm, a tool of anthropic; where it refuses, it is asked without.",
        ),
        key(
            "limit_field",
            Kind::Choice(&["max_tokens", "max_completion_tokens"]),
            "\"max_tokens\"",
            "The name under which the longest answer is sent; newer reasoning models want the second.",
        ),
        key("timeouts.connect_secs", Kind::Amount, "10.0", "Until there is a connection."),
        key(
            "stream",
            Kind::Flag,
            "false",
            "Answers come piece by piece: long reasoning is waited for, and a dead server is noticed early.",
        ),
        key(
            "batch",
            Kind::Flag,
            "false",
            "Requests go out in batches, which the server answers within a day; the prices are then those of batches. For openai, azure, anthropic and gemini.",
        ),
        key(
            "timeouts.first_byte_secs",
            Kind::Amount,
            "300.0",
            "From the request to the first byte: without `stream` all the time a model thinks.",
        ),
        key("timeouts.idle_secs", Kind::Amount, "60.0", "Between two pieces of an answer."),
        key("timeouts.total_secs", Kind::Amount, "600.0", "From the first byte sent to the last received."),
        key("retries.max_attempts", Kind::Whole(1, i64::MAX), "6", "Attempts in all, the first included."),
        key("retries.first_wait_secs", Kind::Amount, "0.5", "The bound of the first wait; it doubles."),
        key("retries.max_wait_secs", Kind::Amount, "30.0", "The bound of every wait."),
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
            "After so many failures in a row that no retry mends (401, 403, 404, no connection) it is left alone for the run; 0: never.",
        ),
        key("embedding_batch", Kind::Whole(1, i64::MAX), "64", "Texts in one request for embeddings."),
        key("pack", Kind::Text, "", "provider = \"made\" or \"sample\": the file with its replies."),
        key("size_b", Kind::Amount, "", "Billions of parameters, for `evaluate`."),
    ],
};

/// `[[annotator]]`.
pub const ANNOTATOR: Section = Section {
    name: "annotator",
    doc: "[[annotator]]: somebody who votes. Votes hold the name, so take a code and not a person's name.",
    keys: &[
        key("name", Kind::Text, "", "A short code: it is in every vote."),
        key(
            "role",
            Kind::Choice(&["annotator", "junior", "senior", "meta"]),
            "",
            "annotator votes, junior votes where a senior looks over the votes, meta settles disputes.",
        ),
        key(
            "languages",
            Kind::Texts,
            "[]",
            "Languages they read: [\"zh\", \"en\"]. `assign --language` asks for it.",
        ),
        key(
            "qualified",
            Kind::Flag,
            "false",
            "Lets in whoever has no trial that was graded; FLUB's steps want one (`review qualify`), and its card counts those who were let in so.",
        ),
        key("accounts", Kind::Texts, "[]", "Their accounts in Label Studio: a user's number or address."),
    ],
};

/// `[[crawl]]`.
pub const CRAWL: Section = Section {
    name: "crawl",
    doc: "[[crawl]]: pages that `crawl` fetches into raw/warc. name, seeds and contact suffice.",
    keys: &[
        key("name", Kind::Text, "", "The folder of its archive, and what `crawl` takes."),
        key(
            "site",
            Kind::Choice(&["tieba", "riddles", "rd", "plain"]),
            "\"plain\"",
            "Whose pages they are: one of these, a name of `riddlemill profiles list`, or { profile = { … } }; plain pages are kept and not read.",
        ),
        key(
            "base",
            Kind::Text,
            "",
            "Scheme and host that `forum` and `thread` seeds are on; Tieba's, if left out.",
        ),
        key(
            "seeds",
            Kind::Texts,
            "[]",
            "Where to start: [{ forum = \"…\" }, { good_forum = \"…\" }, { thread = 1 }, { url = \"…\" }, { sitemap = \"…\" }, { url_file = \"…\" }].",
        ),
        key(
            "contact",
            Kind::Text,
            "",
            "An e-mail address or web page of yours; it is sent with every request.",
        ),
        key("scope.hosts", Kind::Texts, "[]", "Hosts besides those of the seeds."),
        key(
            "scope.include",
            Kind::Texts,
            "[]",
            "Of the pages that others lead to, only those that match one: \"/thread-*\", \"*.html$\", \"https://…\".",
        ),
        key("scope.exclude", Kind::Texts, "[]", "None of those that match one. Seeds are always asked for."),
        key("scope.max_pages", Kind::Whole(1, i64::MAX), "100000", "Pages that a pass fetches at most."),
        key("scope.max_list_pages", Kind::Whole(1, i64::MAX), "", "Pages of one list at most."),
        key("scope.comments", Kind::Flag, "true", "Whether nested replies are fetched."),
        key("politeness.delay_secs", Kind::Amount, "2.0", "From the end of an answer to the next request."),
        key(
            "politeness.retries",
            Kind::Whole(0, i64::MAX),
            "3",
            "Further attempts after 429, 503 or a timeout.",
        ),
        key("politeness.backoff_secs", Kind::Amount, "5.0", "The wait before the first of them; it doubles."),
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
            "Pages in a row that are refused with 403 before the host counts as blocked.",
        ),
        key("limits.wire_bytes", Kind::Whole(1, i64::MAX), "16777216", "Bytes of an answer as sent."),
        key("limits.decoded_bytes", Kind::Whole(1, i64::MAX), "33554432", "Bytes of an answer once decoded."),
        key("limits.redirects", Kind::Whole(0, i64::MAX), "5", "Redirects in a row."),
        key("limits.total_secs", Kind::Amount, "60.0", "From the request to the end of the answer."),
        key("limits.idle_secs", Kind::Amount, "20.0", "Without a byte."),
        key("limits.segment_bytes", Kind::Whole(1, i64::MAX), "1073741824", "Bytes of one archive file."),
        key(
            "refresh",
            Kind::Choice(&["changed", "all"]),
            "false",
            "A finished crawl begins another pass: \"changed\" asks for lists and for threads with new posts, the last page first, \"all\" for every page, and whether it changed; as does `crawl --refresh`.",
        ),
        key("private_hosts", Kind::Texts, "[]", "For tests: host:port pairs that may be private addresses."),
    ],
};

/// A table of settings, or of those that come as often as one likes, by its name.
pub fn table(name: &str) -> Option<&'static Section> {
    super::sections::SECTIONS.iter().chain(TABLES).find(|table| table.name == name)
}

/// The keys of a table itself: of `sampling.seed` that is `sampling`.
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

    /// The keys of a value, those of the tables in it with a dot, and what each holds.
    fn flat(value: &Value, prefix: &str) -> Vec<(String, Value)> {
        let fields = value.as_object().into_iter().flatten();
        fields
            .flat_map(|(key, value)| match (value.is_object() && prefix.is_empty(), key.as_str()) {
                (true, key) => flat(value, &format!("{key}.")),
                (false, key) => vec![(format!("{prefix}{key}"), value.clone())],
            })
            .collect()
    }

    /// Every field has its key; a key's default is what the type has.
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
                let default = super::super::layer::value_json(&default).unwrap_or_default();
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
