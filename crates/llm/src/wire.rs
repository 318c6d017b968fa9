//! Parses answers: those of the OpenAI-compatible interface, LibreTranslate's, and others converted to these.
//! The types are our own and lenient: many servers leave out fields that the official types require (`id`,
//! `created`, `index`), and none of those matters here.

use std::borrow::Cow;

use riddlemill_text::text::clean::debris;
use serde::Deserialize;
use serde_json::Value;

use super::fault::{Fault, Kind};
use super::http::Received;
use super::money::Usd;
use super::reasoning::{Parted, separate_reasoning};
use super::request::{Input, Request};
use super::settings::ReplyMarks;
use super::store::Usage;
use super::{parse, provider, retry};

/// On average no vocabulary's token covers this many bytes of ordinary text.
const MAX_BYTES_A_TOKEN: u64 = 16;
/// A larger number of tokens is not plausible.
const MOST_TOKENS: u64 = 100_000_000;
/// Error bodies are stored up to this length.
const MAX_RAW: usize = 64 * 1024;

/// Why a body is not an answer of the interface.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    /// It is not JSON, or has another form.
    #[error(transparent)]
    Form(#[from] serde_json::Error),
    /// A list that should contain what was asked for is empty or missing.
    #[error("no {0}")]
    Nothing(&'static str),
    /// An embedding has no numbers.
    #[error("an empty vector")]
    EmptyVector,
    /// The number of vectors differs from the number of texts.
    #[error("{vectors} vectors for {texts} texts")]
    Vectors {
        /// How many vectors were received.
        vectors: usize,
        /// How many texts were sent.
        texts: usize,
    },
    /// The indices of the vectors are not those of the texts.
    #[error("two vectors, or none, for text {0}")]
    VectorNumber(usize),
}

/// The content of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    /// The text; empty for an embedding, and if there is nothing but reasoning.
    pub text: String,
    /// The reasoning; empty if there is none.
    pub reasoning: String,
    /// The text as received, including reasoning within it.
    pub whole: String,
    /// The vector of an embedding.
    pub vector: Option<Vec<f32>>,
    /// Whether the answer ends because it reached `max_tokens`.
    pub truncated: bool,
    /// Whether the server withheld the answer because of its content.
    pub blocked: bool,
    /// What the model said instead of an answer, if it says in a field of its own that it refuses.
    pub refusal: Option<String>,
    /// Why the answer broke off, if the server says that it failed.
    pub broken: Option<String>,
    /// Tokens, if the server's count is plausible.
    pub usage: Option<Usage>,
}

/// Parses a whole answer with any status.
pub(super) fn parse_received(
    request: &Request,
    received: &Received,
    marks: &ReplyMarks,
) -> Result<Content, Fault> {
    let fault = |kind, usage| Fault {
        kind,
        raw: shorten_body(&received.body),
        asked_wait: received.asked_wait,
        usage,
        location: received.location.clone(),
    };
    if !(200..300).contains(&received.status) {
        let refusal = retry::parse_refusal(received.status, &received.body);
        let asked_wait = received.asked_wait.or(refusal.asked_wait);
        return Err(Fault { asked_wait, ..fault(refusal.kind, None) });
    }
    let content = parse_content(request, &received.body, marks).map_err(|why| {
        let otherwise = not_json(received).unwrap_or_else(|| Kind::Garbage(why.to_string()));
        fault(retry::kind_of_wrapped_error(&received.body, otherwise), None)
    })?;
    if let Some(words) = content.refusal {
        return Err(fault(Kind::Refused(words), content.usage));
    }
    if content.blocked {
        return Err(fault(Kind::Blocked, content.usage));
    }
    if let Some(why) = content.broken {
        return Err(fault(Kind::Garbage(why), content.usage));
    }
    // An answer that was cut off is stored: the same request would buy the same again.
    if content.text.trim().is_empty() && content.vector.is_none() && !content.truncated {
        let kind = match content {
            Content { ref reasoning, .. } if reasoning.is_empty() => Kind::Empty,
            _ => Kind::OnlyReasoning,
        };
        return Err(fault(kind, content.usage));
    }
    Ok(content)
}

/// The text of a stored reply, and its reasoning; the whole body if it is not of this interface.
pub fn text_and_reasoning(request: &Request, raw: &str) -> (String, String) {
    parse_content(request, raw, &ReplyMarks::default())
        .map_or_else(|_| (raw.to_owned(), String::new()), |content| (content.text, content.reasoning))
}

/// A body that is not JSON, with its type.
fn not_json(received: &Received) -> Option<Kind> {
    let kind = received.content_type.as_deref().map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let kind = kind.filter(|kind| !kind.is_empty() && !kind.contains("json"));
    let is_page = received.body.trim_start().starts_with('<');
    kind.or(is_page.then_some("a page")).map(|kind| Kind::NotJson(kind.to_owned()))
}

/// Parses the body of a successful answer, including ones stored long ago.
pub(super) fn parse_content(request: &Request, raw: &str, marks: &ReplyMarks) -> Result<Content, WireError> {
    content_of(request, raw, marks).or_else(|error| match parse::make_strict_json(raw) {
        Some(raw) => content_of(request, &raw, marks),
        None => Err(error),
    })
}

fn content_of(request: &Request, raw: &str, marks: &ReplyMarks) -> Result<Content, WireError> {
    match &request.input {
        Input::Chat { .. } => {
            let body: Chat = of_any(raw)?;
            let choice = body.choices.into_iter().next().ok_or(WireError::Nothing("choices"))?;
            let WireReply { content, refusal, reasoning, reasoning_content } = choice.message;
            let refused_part = content.as_ref().and_then(Text::refusal_text);
            let refusal = refusal.or(refused_part).filter(|text| !text.trim().is_empty());
            let (spoken_text, thought) = content.map(Text::join_parts).unwrap_or_default();
            // Replies from before refusals were told apart hold the refusal as their text.
            let spoken_text = match &refusal {
                Some(words) if spoken_text.trim().is_empty() => words.clone(),
                _ => spoken_text,
            };
            let Parted { answer, reasoning: within } = separate_reasoning(&spoken_text, marks);
            let answer = match debris::without_noise(&answer) {
                Cow::Owned(clean) => clean,
                Cow::Borrowed(_) => answer,
            };
            let fields = [reasoning_content, reasoning].into_iter().flatten().map(|text| text.join_parts().0);
            let thoughts: Vec<String> =
                fields.take(1).chain([thought, within]).filter(|text| !text.trim().is_empty()).collect();
            let ended = choice.finish_reason.as_ref().and_then(parse_finish).unwrap_or(Finish::Whole);
            let truncated = matches!(ended, Finish::Cut);
            let blocked = matches!(ended, Finish::Withheld);
            let broken = match ended {
                Finish::Broken(why) => Some(format!("the server ended it with {why:?}")),
                _ => None,
            };
            let usage = believable_usage(request, spoken_text.len(), body.usage);
            Ok(Content {
                text: answer,
                reasoning: thoughts.join("\n\n"),
                whole: spoken_text,
                vector: None,
                truncated,
                blocked,
                refusal,
                broken,
                usage,
            })
        }
        Input::Embedding { .. } => {
            let body: Embeddings = of_any(raw)?;
            let vector = body.data.into_iter().next().ok_or(WireError::Nothing("data"))?.embedding;
            if vector.is_empty() {
                return Err(WireError::EmptyVector);
            }
            let usage = believable_usage(request, 0, body.usage);
            Ok(Content { vector: Some(vector), usage, ..Content::default() })
        }
        Input::Translation { .. } => {
            let body: Translated = serde_json::from_str(raw)?;
            let text = body.translated_text;
            Ok(Content { whole: text.clone(), text, ..Content::default() })
        }
    }
}

/// How an answer ended, in the words of any server.
enum Finish {
    Whole,
    Cut,
    Withheld,
    /// The server failed while it answered; with its word for that.
    Broken(String),
}

fn parse_finish(reason: &Value) -> Option<Finish> {
    const CUT: [&str; 7] = [
        "length",
        "max_tokens",
        "max_output_tokens",
        "max_completion",
        "token_limit",
        "context_window",
        "incomplete",
    ];
    const WITHHELD: [&str; 11] = [
        "content_filter",
        "content-filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited",
        "spii",
        "refusal",
        "sensitive",
        "guardrail",
        "toxic",
    ];
    const BROKEN: [&str; 6] =
        ["error", "abort", "cancel", "insufficient_system_resource", "timeout", "network"];
    // SGLang may say `{"type": "length"}`.
    let word = reason.as_str().or_else(|| reason.get("type")?.as_str())?.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|known| word.contains(known));
    Some(match () {
        () if is(&CUT) => Finish::Cut,
        () if is(&WITHHELD) => Finish::Withheld,
        () if is(&BROKEN) => Finish::Broken(word),
        () => Finish::Whole,
    })
}

/// An answer in OpenAI's form, converted if necessary.
fn of_any<T: serde::de::DeserializeOwned>(raw: &str) -> Result<T, WireError> {
    riddlemill_text::notation::from_str(raw).or_else(|error| {
        let other = provider::as_openai(raw).and_then(|body| serde_json::from_value(body).ok());
        other.ok_or(WireError::Form(error))
    })
}

/// The server's count, if it is plausible: whole numbers, at least what the text needs. A count above the
/// request's limits is accepted, because the server bills it. Anything else counts as no count, and the
/// attempt is charged its reservation.
fn believable_usage(request: &Request, text_bytes: usize, usage: Option<Value>) -> Option<Usage> {
    let usage = usage?;
    let number = |name: &str| usage.get(name).and_then(Value::as_u64).filter(|n| *n <= MOST_TOKENS);
    let within = |details: &str, name: &str| {
        usage.get(details).and_then(|details| details.get(name)).and_then(Value::as_u64).unwrap_or(0)
    };
    let prompt_tokens = number("prompt_tokens")?;
    let total = number("total_tokens");
    let stated = match (number("completion_tokens"), &request.input) {
        (Some(tokens), _) => tokens,
        (None, Input::Embedding { .. }) if usage.get("completion_tokens").is_none_or(Value::is_null) => 0,
        (None, _) => return None,
    };
    let prompt_bytes: usize = request.message_texts().map(str::len).sum();
    // Some servers include reasoning only in the total.
    let completion_tokens = total.map_or(stated, |total| total.saturating_sub(prompt_tokens).max(stated));
    let reasoning = within("completion_tokens_details", "reasoning_tokens").max(completion_tokens - stated);
    let cached =
        within("prompt_tokens_details", "cached_tokens").max(number("prompt_cache_hit_tokens").unwrap_or(0));
    let low = prompt_tokens.saturating_mul(MAX_BYTES_A_TOKEN) < prompt_bytes as u64
        || completion_tokens.saturating_mul(MAX_BYTES_A_TOKEN) < text_bytes as u64;
    (!low).then_some(Usage {
        prompt_tokens,
        completion_tokens,
        cached_tokens: cached.min(prompt_tokens),
        reasoning_tokens: reasoning.min(completion_tokens),
    })
}

/// What a server says that a request cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// The cost; the largest, if there are several.
    pub cost: Option<Usd>,
    /// Whether it also states one that no request can have: a request is charged its reservation at least then.
    pub unbelievable: bool,
    /// Whether it counts tokens as no request can have them, which is charged likewise.
    pub miscounted: bool,
}

impl Stated {
    /// The least that a request is charged for which this much was reserved.
    pub(super) fn least_charge(self, reserved: Usd) -> Usd {
        let cost = self.cost.unwrap_or(Usd::ZERO);
        // What cannot be true says nothing of the cost, so that the request is charged the most that it may have.
        if self.unbelievable || self.miscounted { cost.max(reserved) } else { cost }
    }
}

/// The cost in dollars as stated by the server: OpenRouter includes it with the tokens, LiteLLM's proxy in a
/// header.
pub(super) fn stated_cost(received: &Received, reserved: Usd) -> Stated {
    // Most bodies state no cost, and need not be parsed once more.
    let body: Option<Value> =
        received.body.contains("\"cost\"").then(|| serde_json::from_str(&received.body).ok()).flatten();
    let within = body.and_then(|body| body.get("usage")?.get("cost")?.as_f64());
    let mut stated = Stated { miscounted: is_miscounted(&received.body), ..Stated::default() };
    for dollars in received.cost_usd.into_iter().chain(within) {
        match Usd::from_stated_cost(dollars, reserved) {
            // If both state a cost, the larger one counts, because caps must not be exceeded.
            Some(cost) => stated.cost = stated.cost.max(Some(cost)),
            None => stated.unbelievable = true,
        }
    }
    stated
}

/// Ends of the keys under which servers count tokens.
const COUNTS: [&str; 3] = ["tokens\"", "TokenCount\"", "eval_count\""];

/// Whether a response counts tokens that no request can have. In the text of an answer the quote after such a key is
/// escaped, so that nothing needs to be parsed once more.
pub(super) fn is_miscounted(body: &str) -> bool {
    let number = |rest: &str| -> Option<f64> {
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        let end = rest.find([',', '}', ']', '\n', '\r', ' ']).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    let counts =
        COUNTS.iter().flat_map(|key| body.match_indices(key).map(|(at, key)| &body[at + key.len()..]));
    counts.filter_map(number).any(|count| !(0.0..=MOST_TOKENS as f64).contains(&count))
}

/// LibreTranslate's answer; it has no token counts.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Translated {
    translated_text: String,
}

pub(super) fn shorten_body(body: &str) -> String {
    let end = body.floor_char_boundary(MAX_RAW);
    body[..end].to_owned()
}

#[derive(Deserialize)]
struct Chat {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: WireReply,
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct WireReply {
    content: Option<Text>,
    refusal: Option<String>,
    /// The name used by vLLM, OpenRouter and Ollama.
    reasoning: Option<Text>,
    /// The name used by DeepSeek, SGLang and LiteLLM.
    reasoning_content: Option<Text>,
}

/// Text, or parts with text in them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Whole(String),
    Parts(Vec<Part>),
    /// Other values next to an answer that can be parsed.
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
    thinking: Option<Box<Text>>,
    refusal: Option<String>,
}

impl Text {
    /// The refusal among its parts.
    fn refusal_text(&self) -> Option<String> {
        match self {
            Text::Parts(parts) => parts.iter().find_map(|part| part.refusal.clone()),
            Text::Whole(_) | Text::Other(_) => None,
        }
    }

    /// The answer, and the reasoning among its parts.
    fn join_parts(self) -> (String, String) {
        match self {
            Text::Whole(text) => (text, String::new()),
            Text::Parts(parts) => {
                let (mut answer, mut reasoning) = (String::new(), String::new());
                for part in parts {
                    let thinks = ["think", "reason", "summary"].iter().any(|word| part.kind.contains(word));
                    if thinks { &mut reasoning } else { &mut answer }.push_str(&part.text);
                    part.thinking.into_iter().for_each(|text| reasoning.push_str(&text.join_parts().0));
                }
                (answer, reasoning)
            }
            Text::Other(_) => Default::default(),
        }
    }
}

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Embedding {
    embedding: Vec<f32>,
}

#[cfg(test)]
mod tests;
