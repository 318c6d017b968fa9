//! The request that a question becomes at an endpoint, and its alternatives, whose replies also answer it.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::answer::{Answer, Ask, RequestContent};
use super::engine::{Engine, Question, from_store};
use super::fault;
use super::prompt::Output;
use super::request::{Input, Key, Message, Request, Role};
use super::settings::{Endpoint, Format, Provider, System};
use super::store::{Store, StoreError, StoredReply};

impl Engine {
    /// The request that a question becomes at an endpoint; its key is made from it.
    pub fn request_of_ask(endpoint: &Endpoint, ask: &Ask) -> Request {
        let input = match &ask.what {
            RequestContent::Chat { .. }
                if endpoint.provider == Provider::Libretranslate && ask.text.is_some() =>
            {
                Input::Translation {
                    text: ask.text.clone().unwrap_or_default(),
                    source: "zh".into(),
                    target: "en".into(),
                }
            }
            RequestContent::Chat { messages, output } => Input::Chat {
                messages: sent_messages(messages, endpoint.system),
                sampling: endpoint.sampling.clone(),
                format: match (output, &ask.schema) {
                    (Output::Text, _) => Format::Text,
                    (Output::Json, Some(schema)) if endpoint.structured => Format::JsonSchema {
                        name: ask.template.rsplit('/').next().unwrap_or_default().to_owned(),
                        schema: Value::clone(schema),
                    },
                    (Output::Json, _) => endpoint.format.clone(),
                },
            },
            RequestContent::Embedding { text, dimensions } => {
                Input::Embedding { text: text.clone(), dimensions: *dimensions }
            }
        };
        Request {
            identity: endpoint.identity().to_owned(),
            model: endpoint.model.clone(),
            input,
            sample: ask.sample,
        }
    }

    /// The request that repeats one that was cut off, if the endpoint's settings have a larger limit.
    pub fn with_larger_limit(endpoint: &Endpoint, request: &Request) -> Option<Request> {
        let ceiling = endpoint.larger_token_limit()?;
        let mut request = request.clone();
        match &mut request.input {
            Input::Chat { sampling, .. } => sampling.max_tokens = ceiling,
            Input::Embedding { .. } | Input::Translation { .. } => return None,
        }
        Some(request)
    }

    /// The request without its schema, if the endpoint is asked to enforce one.
    pub fn without_schema(endpoint: &Endpoint, request: &Request) -> Option<Request> {
        let mut request = request.clone();
        match &mut request.input {
            Input::Chat { format: format @ Format::JsonSchema { .. }, .. } if endpoint.structured => {
                *format = endpoint.format.clone();
            }
            _ => return None,
        }
        Some(request)
    }

    /// The request with its instructions before the user's first message, if it has any of its own.
    pub fn with_folded_instructions(request: &Request) -> Option<Request> {
        let mut request = request.clone();
        match &mut request.input {
            Input::Chat { messages, .. } => fold_system(messages).then_some(request),
            Input::Embedding { .. } | Input::Translation { .. } => None,
        }
    }

    /// The other requests that a question becomes where a server refuses its schema, its system's message, or
    /// both.
    fn refusal_alternatives(endpoint: &Endpoint, request: &Request) -> impl Iterator<Item = Request> + use<> {
        let plain = Engine::without_schema(endpoint, request);
        let folded = Engine::with_folded_instructions(request);
        let both = plain.as_ref().and_then(Engine::with_folded_instructions);
        [plain, folded, both].into_iter().flatten()
    }

    /// All the requests whose replies answer a question: its own, those without a schema or a system's
    /// message, and all of them with a larger limit. Replies from before schemas were used are parsed in the
    /// same way.
    pub fn request_variants(endpoint: &Endpoint, request: &Request) -> impl Iterator<Item = Request> {
        let all: Vec<Request> =
            [request.clone()].into_iter().chain(Engine::refusal_alternatives(endpoint, request)).collect();
        all.into_iter().flat_map(|request| {
            let larger = Engine::with_larger_limit(endpoint, &request);
            [request].into_iter().chain(larger)
        })
    }

    /// The stored reply to a request, or else to one without its schema or its system's message.
    pub(super) fn find_stored_reply(
        store: &Store,
        endpoint: &Endpoint,
        request: &Request,
    ) -> Result<Option<StoredReply>, StoreError> {
        if let Some(reply) = store.get(&request.key())? {
            return Ok(Some(reply));
        }
        for other in Engine::refusal_alternatives(endpoint, request) {
            if let Some(reply) = store.get(&other.key())? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    /// The stored reply that answers a question, looked for behind one that was cut off; with whether none of
    /// them is an answer.
    pub(super) fn last_found(
        store: &Store,
        endpoint: &Endpoint,
        ask: &Ask,
        accept_before: bool,
    ) -> Result<Option<FoundReply>, StoreError> {
        let request = Engine::request_of_ask(endpoint, ask);
        let Some(stored) = Engine::find_stored_reply(store, endpoint, &request)? else { return Ok(None) };
        let found = |stored: StoredReply| FoundReply::new(stored, endpoint, ask.reply_form(), accept_before);
        let first = found(stored);
        if !first.is_cut {
            return Ok(Some(first));
        }
        let larger = Engine::with_larger_limit(endpoint, &first.request);
        let larger = larger.map(|larger| store.get(&larger.key())).transpose()?.flatten();
        Ok(Some(larger.map_or(first, found)))
    }

    /// A question without its schema, if it has one.
    pub(super) fn question_without_schema(&self, question: &Question) -> Option<Question> {
        Some(question.with_request(Engine::without_schema(&self.endpoint, &question.request)?))
    }

    /// The question to ask instead of one that was refused for its system's message or its schema; with
    /// whether it was the message.
    pub(super) fn question_after_refusal(
        &self,
        question: &Question,
        status: Option<u16>,
        raw: &str,
    ) -> Option<(Question, bool)> {
        let status = status?;
        if fault::refuses_system(status, raw)
            && let Some(folded) = Engine::with_folded_instructions(&question.request)
        {
            return Some((question.with_request(folded), true));
        }
        let plain =
            fault::refuses_schema(status, raw).then(|| self.question_without_schema(question)).flatten();
        plain.map(|plain| (plain, false))
    }

    /// Looks for stored replies without a schema or a system's message, and asks without it where it was
    /// refused.
    pub(super) async fn with_alternatives(&self, questions: &mut [Question], answers: &mut [Option<Answer>]) {
        let is_open = |answer: &Option<Answer>| answer.as_ref().and_then(Answer::reply).is_none();
        let open: Vec<usize> = (0..questions.len()).filter(|&at| is_open(&answers[at])).collect();
        let (mut places, mut others) = (Vec::new(), Vec::new());
        for &at in &open {
            for request in Engine::refusal_alternatives(&self.endpoint, &questions[at].request) {
                places.push(at);
                others.push(questions[at].with_request(request));
            }
        }
        if places.is_empty() {
            return;
        }
        let stored = self.stored_answers(&others).await;
        let mut known: FxHashMap<Key, Option<Answer>> = FxHashMap::default();
        for ((at, other), stored) in places.into_iter().zip(others).zip(stored) {
            known.insert(other.key, stored.clone());
            if is_open(&answers[at]) && !is_open(&stored) {
                (questions[at], answers[at]) = (other, stored);
            }
        }
        for at in open {
            // What was refused may have been refused again without its schema.
            while let Some(Answer::Failed(failed)) = &answers[at]
                && let Some((other, _)) =
                    self.question_after_refusal(&questions[at], failed.http_status(), &failed.raw)
            {
                answers[at] = known.get(&other.key).cloned().flatten();
                questions[at] = other;
            }
        }
    }
}

/// The messages as an endpoint takes them.
fn sent_messages(messages: &[Message], system: System) -> Vec<Message> {
    let mut messages = messages.to_vec();
    if system == System::User {
        fold_system(&mut messages);
    }
    messages
}

/// A stored reply, and what it says.
pub(super) struct FoundReply {
    pub key: Key,
    /// The request that it answers.
    pub request: Request,
    /// Its text; `None` if it is not of the interface.
    pub text: Option<String>,
    /// Whether it was cut off, and is no answer.
    pub is_cut: bool,
}

impl FoundReply {
    fn new(stored: StoredReply, endpoint: &Endpoint, output: Output, accept_before: bool) -> FoundReply {
        let (key, request) = (stored.key, stored.request.clone());
        match from_store(stored, &endpoint.marks) {
            Answer::Reply(reply) => {
                let is_cut = reply.is_cut(output, accept_before);
                FoundReply { key, request, text: Some(reply.text), is_cut }
            }
            _ => FoundReply { key, request, text: None, is_cut: false },
        }
    }
}

/// Moves the system's messages before the user's first one; whether there were any.
fn fold_system(messages: &mut Vec<Message>) -> bool {
    let system: Vec<String> = messages
        .extract_if(.., |message| message.role == Role::System)
        .map(|message| message.content)
        .collect();
    if system.is_empty() {
        return false;
    }
    let instructions = system.join("\n\n");
    match messages.iter_mut().find(|message| message.role == Role::User) {
        Some(first) => first.content = format!("{instructions}\n\n{}", first.content),
        None => messages.insert(0, Message::new(Role::User, instructions)),
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::{Call, Fault, Limits, Message, Received, Role, Transport, estimate_stage};

    /// Answers everything except requests with schemas.
    #[derive(Clone, Default)]
    struct Refuses {
        schemas: bool,
        sent: Arc<Mutex<Vec<String>>>,
    }

    impl Transport for Refuses {
        fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
            self.sent.lock().unwrap().push(call.body.clone());
            let refused = self.schemas && call.body.contains("json_schema");
            let (status, body) = match refused {
                true => (400, json!({"error": {"message": "response_format of this type is unavailable"}})),
                false => (200, json!({"choices": [{"message": {"content": "{}"}}]})),
            };
            let received = Received { status, body: body.to_string(), ..Received::default() };
            Box::pin(std::future::ready(Ok(received)))
        }
    }

    struct Bench {
        _dir: tempfile::TempDir,
        store: Arc<Store>,
        endpoint: Endpoint,
    }

    fn bench() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
        let endpoint =
            Endpoint { free: true, structured: true, concurrency: 1, ..Endpoint::new("e", "", "m") };
        Bench { _dir: dir, store: Arc::new(store), endpoint }
    }

    fn ask(text: &str) -> Ask {
        let what =
            RequestContent::Chat { messages: vec![Message::new(Role::User, text)], output: Output::Json };
        let schema =
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        let schema = Some(Arc::new(schema));
        Ask { record: text.into(), template: "b/kind".into(), what, sample: 0, reask: 0, text: None, schema }
    }

    async fn replies(bench: &Bench, endpoint: &Endpoint, server: &Refuses, offline: bool) -> usize {
        let limits = Limits { offline, ..Limits::default() };
        let transport = Box::new(server.clone());
        let engine = Engine::with_transport(bench.store.clone(), endpoint.clone(), limits, transport);
        let answers = engine.ask_all(["a", "b", "c"].map(ask).into(), |_| {}).await;
        answers.iter().filter(|answer| answer.reply().is_some()).count()
    }

    #[tokio::test]
    async fn a_schema_is_sent_where_set_and_belongs_to_the_key() {
        let bench = bench();
        let server = Refuses::default();
        assert_eq!(replies(&bench, &bench.endpoint, &server, false).await, 3);
        let sent = server.sent.lock().unwrap().clone();
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|body| body.contains(r#""name":"kind""#) && body.contains("json_schema")));
        let plain = Endpoint { structured: false, ..bench.endpoint.clone() };
        assert_ne!(
            Engine::request_of_ask(&plain, &ask("a")).key(),
            Engine::request_of_ask(&bench.endpoint, &ask("a")).key()
        );
        assert_eq!(replies(&bench, &bench.endpoint, &server, true).await, 3);
        // Without it the requests differ, and have no replies.
        assert_eq!(replies(&bench, &plain, &server, true).await, 0);
    }

    #[tokio::test]
    async fn what_was_answered_before_a_schema_was_asked_for_is_not_bought_again() {
        let bench = bench();
        let server = Refuses::default();
        let plain = Endpoint { structured: false, ..bench.endpoint.clone() };
        assert_eq!(replies(&bench, &plain, &server, false).await, 3);
        assert_eq!(replies(&bench, &bench.endpoint, &server, false).await, 3);
        assert_eq!(server.sent.lock().unwrap().len(), 3);
        let estimate =
            estimate_stage(&bench.store, &bench.endpoint, "s", &["a", "d"].map(ask), None).unwrap();
        assert_eq!((estimate.stored, estimate.requests), (1, 1));
    }

    #[tokio::test]
    async fn where_schemas_are_refused_words_are_asked_for_and_found_again() {
        let bench = bench();
        let server = Refuses { schemas: true, ..Refuses::default() };
        assert_eq!(replies(&bench, &bench.endpoint, &server, false).await, 3);
        let refused = |server: &Refuses| {
            let sent = server.sent.lock().unwrap();
            (sent.iter().filter(|body| body.contains("json_schema")).count(), sent.len())
        };
        // Requests in flight ahead of a slot may be refused too, but none after them.
        let (schemas, all) = refused(&server);
        assert!((1..=2).contains(&schemas) && all == schemas + 3, "{schemas} of {all}");
        assert_eq!(replies(&bench, &bench.endpoint, &server, false).await, 3);
        assert_eq!(replies(&bench, &bench.endpoint, &server, true).await, 3);
        assert_eq!(refused(&server), (schemas, all));
    }
}
