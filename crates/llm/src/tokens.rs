//! Counts tokens without a network, for the upper bound that budgets use.
//!
//! Only one vocabulary is embedded, and it is unknown beforehand how long a model reasons: so the statistics of a model's
//! stored replies correct the estimate.

use super::money::{Price, Usd};
use super::request::{Input, Request};
use super::settings::{Endpoint, Format};
use super::store::{Store, StoreError, Usage};

/// Generous bound on what chat templates add around a message.
const OVERHEAD_PER_MESSAGE: u64 = 16;

/// Tokens of `text` in the embedded `o200k_base` vocabulary. Other models' vocabularies differ by tens of percent,
/// so this is for estimates and rate limits; [`bound_prompt_tokens`] is for money. The first call loads the vocabulary.
pub fn count_tokens(text: &str) -> u64 {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64
}

/// What a server adds for a schema: Anthropic explains to the model how tools are used.
const AROUND_SCHEMA: u64 = 1024;

/// Prompt tokens of a request, by [`count_tokens`].
pub fn count_request(request: &Request) -> u64 {
    request.message_texts().map(|text| count_tokens(text) + 4).sum::<u64>() + 3
}

/// More prompt tokens than any tokenizer can make of the request: every token covers at least one byte of
/// UTF-8, whatever the vocabulary, so an honest server never exceeds a reservation made from it. A schema is
/// part of the prompt.
pub fn bound_prompt_tokens(request: &Request) -> u64 {
    let schema = match &request.input {
        Input::Chat { format: Format::JsonSchema { name, schema }, .. } => {
            (name.len() + schema.to_string().len()) as u64 + AROUND_SCHEMA
        }
        _ => 0,
    };
    let texts = request.message_texts().map(|text| text.len() as u64 + OVERHEAD_PER_MESSAGE).sum::<u64>();
    texts + OVERHEAD_PER_MESSAGE + schema
}

/// Number of latest replies used.
const LATEST: usize = 200;

/// Fewest replies that are significant.
const FEWEST: usize = 10;

/// Token counts of the latest replies, as stated by the server and as counted here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// How many replies the prompt statistics are from.
    pub prompts: u64,
    /// Their prompts' tokens, as the server counted them.
    pub stated: u64,
    /// The same counted in the embedded vocabulary.
    pub counted: u64,
    /// How many replies to the same prompt the answer statistics are from; 0 if there are too few.
    pub answers: u64,
    /// Their tokens, including reasoning.
    pub total: Usage,
}

impl Learned {
    /// Collects statistics of an endpoint's model from the store; `None` if there are too few replies.
    pub(super) fn from_replies(
        store: &Store,
        endpoint: &Endpoint,
        template: &str,
    ) -> Result<Option<Learned>, StoreError> {
        let latest = |template| store.latest(endpoint.identity(), &endpoint.model, template, LATEST);
        let mut learned = Learned::default();
        for reply in latest(None)? {
            let Some(usage) = reply.usage else { continue };
            learned.prompts += 1;
            learned.stated = learned.stated.saturating_add(usage.prompt_tokens);
            learned.counted += count_request(&reply.request);
        }
        for usage in latest(Some(template))?.into_iter().filter_map(|reply| reply.usage) {
            learned.answers += 1;
            let total = &mut learned.total;
            total.completion_tokens = total.completion_tokens.saturating_add(usage.completion_tokens);
            total.reasoning_tokens = total.reasoning_tokens.saturating_add(usage.reasoning_tokens);
        }
        if learned.answers < FEWEST as u64 {
            (learned.answers, learned.total) = (0, Usage::default());
        }
        Ok((learned.prompts >= FEWEST as u64 && learned.counted > 0).then_some(learned))
    }

    /// Ratio of stated to counted prompt tokens.
    pub fn token_ratio(&self) -> f64 {
        self.stated as f64 / self.counted as f64
    }

    /// The server's probable count for this many tokens counted here.
    pub fn likely_prompt_tokens(&self, counted: u64) -> u64 {
        (u128::from(counted) * u128::from(self.stated)).div_ceil(u128::from(self.counted.max(1))) as u64
    }

    /// Average tokens of an answer; `None` if too few are known.
    pub fn mean_answer_tokens(&self) -> Option<u64> {
        (self.answers > 0).then(|| self.total.completion_tokens.div_ceil(self.answers))
    }

    /// The cost of this many requests with this many tokens counted here, if they are like those before.
    pub(super) fn likely_cost(&self, price: Price, counted: u64, requests: u64) -> Option<Usd> {
        let all = |tokens: u64| {
            let tokens = u128::from(tokens) * u128::from(requests);
            u64::try_from(tokens.div_ceil(u128::from(self.answers))).unwrap_or(u64::MAX)
        };
        (self.answers > 0).then(|| {
            price.charge_for_usage(Usage {
                prompt_tokens: self.likely_prompt_tokens(counted),
                completion_tokens: all(self.total.completion_tokens),
                reasoning_tokens: all(self.total.reasoning_tokens),
                cached_tokens: 0,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::settings::Sampling;
    use crate::{
        Ask, Call, Engine, Fault, Limits, Message, Output, Received, RequestContent, Role, Transport,
        estimate_stage,
    };

    #[test]
    fn counts_are_of_the_real_vocabulary() {
        assert_eq!(count_tokens("hello world"), 2);
        assert_eq!(count_tokens(""), 0);
        assert!(count_tokens("为什么鱼不会淹死？") >= 4);
        // Names of a vocabulary's control tokens are plain text in a post.
        assert!(count_tokens("<|endoftext|>") > 1);
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
        assert_eq!(bound_prompt_tokens(&chat(Format::Text)), texts);
        let schema = serde_json::json!({ "type": "object" });
        let written = schema.to_string().len() as u64;
        let format = Format::JsonSchema { name: "answer".into(), schema };
        assert_eq!(bound_prompt_tokens(&chat(format)), texts + 6 + written + 1024);
        assert_eq!(count_request(&chat(Format::Text)), count_tokens("水") + 4 + count_tokens("ab") + 4 + 3);
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
            assert!(bound_prompt_tokens(&request) >= count_request(&request), "{text:?}");
        }
    }

    #[test]
    fn what_was_counted_is_carried_over_and_rounded_up() {
        let total = Usage { completion_tokens: 21, reasoning_tokens: 10, ..Usage::default() };
        let learned = Learned { prompts: 10, stated: 30, counted: 20, answers: 2, total };
        assert_eq!((learned.token_ratio(), learned.mean_answer_tokens()), (1.5, Some(11)));
        assert_eq!([0, 1, 2, 3].map(|counted| learned.likely_prompt_tokens(counted)), [0, 2, 3, 5]);
        let price = Price::per_million(1.0, 2.0).with_rates(None, Some(8.0));
        let (completion_tokens, reasoning_tokens) = (32, 15);
        let like = Usage { prompt_tokens: 45, completion_tokens, reasoning_tokens, ..Usage::default() };
        assert_eq!(learned.likely_cost(price, 30, 3), Some(price.charge_for_usage(like)));
        let unknown = Learned { answers: 0, ..learned };
        assert_eq!((unknown.mean_answer_tokens(), unknown.likely_cost(price, 30, 3)), (None, None));
    }

    /// Counts 300 tokens per prompt, and reasons.
    struct Thinks;

    impl Transport for Thinks {
        fn send_call<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
            let usage = json!({"prompt_tokens": 300, "completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 30}});
            let body = json!({"choices": [{"message": {"content": "a"}}], "usage": usage}).to_string();
            Box::pin(std::future::ready(Ok(Received { status: 200, body, ..Received::default() })))
        }
    }

    fn asks(template: &str, n: std::ops::Range<u32>) -> Vec<Ask> {
        let one = |n: u32| {
            let messages = vec![Message::new(Role::User, format!("number {n} {}", "word ".repeat(86)))];
            let what = RequestContent::Chat { messages, output: Output::Text };
            Ask { template: template.into(), what, ..Ask::for_embedding(n.to_string(), "") }
        };
        n.map(one).collect()
    }

    #[tokio::test]
    async fn estimates_learn_from_the_replies_there_are() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
        let store = Arc::new(store);
        let mut endpoint = Endpoint::new("e", "", "m");
        (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
        endpoint.usd_per_million_reasoning = Some(8.0);
        let slow = Endpoint { rpm: Some(2), ..endpoint.clone() };
        let ask = async |template: &str, n| {
            let limits = Limits::default();
            let engine = Engine::with_transport(store.clone(), endpoint.clone(), limits, Box::new(Thinks));
            engine.ask_all(asks(template, n), |_| {}).await;
        };
        let of =
            |template: &str| estimate_stage(&store, &slow, "s", &asks(template, 100..110), None).unwrap();
        ask("a", 0..9).await;
        let before = of("a");
        assert_eq!((before.learned, before.likely_usd, before.at_least_secs), (None, None, Some(300)));
        ask("b", 9..12).await;
        let after = of("a");
        let learned = after.learned.unwrap();
        assert_eq!((learned.prompts, learned.stated, learned.answers), (12, 3600, 0));
        assert!((2.5..4.0).contains(&learned.token_ratio()), "{}", learned.token_ratio());
        assert!(after.min_usd > before.min_usd && after.likely_usd.is_none());
        assert_eq!((after.max_usd, after.prompt_tokens), (before.max_usd, before.prompt_tokens));
        ask("a", 12..13).await;
        let likely = of("a");
        assert_eq!(likely.learned.unwrap().mean_answer_tokens(), Some(40));
        // Ten prompts of about 300 tokens, with 10 tokens of answer and 30 of reasoning each.
        let expected = 10.0 * (300.0 + 10.0 * 2.0 + 30.0 * 8.0) / 1e6;
        let off = likely.likely_usd.unwrap().in_dollars() / expected;
        assert!((0.97..1.03).contains(&off), "{off}");
    }
}
