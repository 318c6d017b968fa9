//! The request that a question becomes at an endpoint, and its alternatives, whose replies also answer it.

use serde_json::Value;

use super::answer::{Answer, Ask, What, refuses_schema};
use super::engine::{Engine, Question};
use super::prompt::Output;
use super::request::{Input, Request};
use super::settings::{Endpoint, Format, Provider};
use super::store::{Store, StoreError, StoredReply};

impl Engine {
    /// The request that a question becomes at an endpoint; its key is made from it.
    pub fn request(endpoint: &Endpoint, ask: &Ask) -> Request {
        let input = match &ask.what {
            What::Chat { .. } if endpoint.provider == Provider::Libretranslate && ask.text.is_some() => {
                Input::Translation {
                    text: ask.text.clone().unwrap_or_default(),
                    source: "zh".into(),
                    target: "en".into(),
                }
            }
            What::Chat { messages, output } => Input::Chat {
                messages: messages.clone(),
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
            What::Embedding { text, dimensions } => {
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
    pub fn larger(endpoint: &Endpoint, request: &Request) -> Option<Request> {
        let ceiling = endpoint.ceiling()?;
        let mut request = request.clone();
        match &mut request.input {
            Input::Chat { sampling, .. } => sampling.max_tokens = ceiling,
            Input::Embedding { .. } | Input::Translation { .. } => return None,
        }
        Some(request)
    }

    /// The request without its schema, if the endpoint is asked to enforce one.
    pub fn plain(endpoint: &Endpoint, request: &Request) -> Option<Request> {
        let mut request = request.clone();
        match &mut request.input {
            Input::Chat { format: format @ Format::JsonSchema { .. }, .. } if endpoint.structured => {
                *format = endpoint.format.clone();
            }
            _ => return None,
        }
        Some(request)
    }

    /// All the requests whose replies answer a question: its own, the one with a larger limit, and both
    /// without a schema. Replies from before schemas were used are parsed in the same way.
    pub fn variants(endpoint: &Endpoint, request: &Request) -> impl Iterator<Item = Request> {
        let plain = Engine::plain(endpoint, request);
        let larger = |request: &Request| Engine::larger(endpoint, request);
        let larger_plain = plain.as_ref().and_then(larger);
        [Some(request.clone()), larger(request), plain, larger_plain].into_iter().flatten()
    }

    /// The stored reply to a request, or else to the one without its schema.
    pub(super) fn found(
        store: &Store,
        endpoint: &Endpoint,
        request: &Request,
    ) -> Result<Option<StoredReply>, StoreError> {
        match (store.get(&request.key())?, Engine::plain(endpoint, request)) {
            (None, Some(plain)) => store.get(&plain.key()),
            (found, _) => Ok(found),
        }
    }

    /// A question without its schema, if it has one.
    pub(super) fn without(&self, question: &Question) -> Option<Question> {
        let request = Engine::plain(&self.endpoint, &question.request)?;
        Some(Question { key: request.key(), request, template: question.template.clone() })
    }

    /// Looks for stored replies without a schema, and asks without it where it was refused.
    pub(super) async fn without_schema(&self, questions: &mut [Question], answers: &mut [Option<Answer>]) {
        let open: Vec<usize> = (0..questions.len())
            .filter(|&at| answers[at].as_ref().and_then(Answer::reply).is_none())
            .collect();
        let (places, plain): (Vec<usize>, Vec<Question>) =
            open.into_iter().filter_map(|at| Some((at, self.without(&questions[at])?))).unzip();
        if places.is_empty() {
            return;
        }
        let stored = self.stored(&plain).await;
        for ((at, plain), stored) in places.into_iter().zip(plain).zip(stored) {
            let refused = matches!(&answers[at], Some(Answer::Failed(failed)) if refuses_schema(failed));
            if refused || stored.as_ref().is_some_and(|answer| answer.reply().is_some()) {
                questions[at] = plain;
                answers[at] = stored;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::{Call, Fault, Limits, Message, Received, Role, Transport, estimate};

    /// Answers everything except requests with schemas.
    #[derive(Clone, Default)]
    struct Refuses {
        schemas: bool,
        sent: Arc<Mutex<Vec<String>>>,
    }

    impl Transport for Refuses {
        fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
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
        let what = What::Chat { messages: vec![Message::new(Role::User, text)], output: Output::Json };
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
            Engine::request(&plain, &ask("a")).key(),
            Engine::request(&bench.endpoint, &ask("a")).key()
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
        let estimate = estimate(&bench.store, &bench.endpoint, "s", &["a", "d"].map(ask), None).unwrap();
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
