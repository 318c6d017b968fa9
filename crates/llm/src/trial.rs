//! One request that shows whether an endpoint's settings work, and what its answers cost and take.

use serde_json::Value;

use super::answer::{Answer, Ask};
use super::engine::{Engine, Question, ReplySource};
use super::money::Usd;
use super::progress::Tally;
use super::request::Input;
use super::settings::{Api, Endpoint, Format};
use super::store::{StoreError, StoredReply, Usage};
use super::tokens;
use super::wire;

/// What one request showed.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The answer, or why there is none.
    pub answer: Answer,
    /// The reasoning next to the answer; empty if there is none.
    pub reasoning: String,
    /// The model as the server names it.
    pub model: Option<String>,
    /// Whether a schema went along.
    pub schema: bool,
    /// Whether the model was asked by the Responses API.
    pub responses: bool,
    /// Tokens as the server counted them.
    pub usage: Option<Usage>,
    /// What it was charged, and the most that it could have cost.
    pub charged: Usd,
    /// The reservation.
    pub at_most: Usd,
    /// Milliseconds from the request to the last byte of the answer; `None` without one.
    pub elapsed_ms: Option<u64>,
}

impl Endpoint {
    /// The settings with which one request shows what they do: it is sent alone and once.
    pub fn for_a_trial(&self) -> Endpoint {
        let mut endpoint = Endpoint { batch: false, ..self.clone() };
        endpoint.retries.max_attempts = 1;
        endpoint
    }
}

impl Engine {
    /// The most that the request of a trial can cost.
    pub fn trial_at_most(&self, ask: &Ask) -> Usd {
        let request = Engine::request_of_ask(&self.endpoint, ask);
        self.price.highest_cost(tokens::bound_prompt_tokens(&request), request.max_completion_tokens())
    }

    /// Sends one request now, whether or not a reply to it is stored: it becomes another sample of the same
    /// question. It is journalled, charged and stored like any other.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn try_once(&self, mut ask: Ask) -> Result<Trial, StoreError> {
        while !matches!(self.source, ReplySource::Pack(_)) && self.has_reply(&ask) {
            ask.sample += 1;
        }
        let request = Engine::request_of_ask(&self.endpoint, &ask);
        let at_most = self.trial_at_most(&ask);
        let schema = matches!(&request.input, Input::Chat { format: Format::JsonSchema { .. }, .. });
        let question = Question {
            key: request.key(),
            request,
            output: ask.reply_form(),
            accept_before: false,
            template: ask.template.clone(),
        };
        let ignored = |_: &super::Progress| {};
        let tally = Tally::new(1, &ignored);
        let answer = match &self.source {
            ReplySource::Pack(pack) => pack.answer_from_pack(&ask, self.endpoint.identity()),
            ReplySource::Nothing(held) => Answer::Held(held.clone()),
            ReplySource::Server(transport) => {
                let mut given = self.send_questions(transport.as_ref(), &[&question], &tally).await;
                given.pop().unwrap_or_else(|| super::cause::store_failed(question.key, "no answer"))
            }
        };
        let stored: Option<StoredReply> = self.store.get(&question.key)?;
        let raw = stored.as_ref().map(|stored| stored.raw.as_str()).unwrap_or_default();
        let responses = self.endpoint_in_force().api == Api::Responses
            && self.endpoint_in_force().provider.has_responses();
        Ok(Trial {
            reasoning: wire::text_and_reasoning(&question.request, raw).1,
            model: stated_model(raw),
            schema,
            responses: responses && matches!(question.request.input, Input::Chat { .. }),
            usage: stored.as_ref().and_then(|stored| stored.usage),
            charged: stored.as_ref().map(|stored| stored.charged_picousd).unwrap_or(Usd::ZERO),
            at_most,
            elapsed_ms: stored.as_ref().map(|stored| stored.elapsed_ms),
            answer,
        })
    }
}

/// The name of a model in an answer.
fn stated_model(raw: &str) -> Option<String> {
    let body: Value = serde_json::from_str(raw).ok()?;
    let name = ["model", "modelVersion"].iter().find_map(|field| body.get(*field)?.as_str())?;
    Some(name.chars().filter(|c| !c.is_control()).take(200).collect())
}
