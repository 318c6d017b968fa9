//! Where requests go: to the API that has the model, and what is said of a path that a server does not have.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use riddlemill_text::hint::near_miss;

use super::cause::Hint;
use super::engine::Engine;
use super::fault::Fault;
use super::http::Transport;
use super::provider::{self, Call};
use super::request::{Input, Request};
use super::settings::{Api, Endpoint};

/// How many models' names an error lists if none is close.
const MAX_MODELS_LISTED: usize = 5;

impl Engine {
    /// The endpoint's settings as requests are sent now: the API may be another than the one that is set.
    pub(super) fn endpoint_in_force(&self) -> Cow<'_, Endpoint> {
        match self.only_in_responses.load(Ordering::Relaxed) {
            true => Cow::Owned(Endpoint { api: Api::Responses, ..self.endpoint.clone() }),
            false => Cow::Borrowed(&self.endpoint),
        }
    }

    /// Whether the refusal says that the model is served by another API than the one that was asked; all
    /// requests go there from now on.
    pub(super) fn goes_elsewhere(&self, sent: &Endpoint, requests: &[&Request], fault: &Fault) -> bool {
        let asked_chats = sent.api == Api::Chat
            && sent.provider.has_responses()
            && matches!(requests, [Request { input: Input::Chat { .. }, .. }]);
        let elsewhere = asked_chats && provider::is_only_in_responses(&fault.kind, &fault.raw);
        if elsewhere {
            self.only_in_responses.store(true, Ordering::Relaxed);
            let responses = Endpoint { api: Api::Responses, ..sent.clone() };
            let unsent: Vec<String> =
                provider::unsent_settings(&responses).into_iter().map(|one| one.setting).collect();
            let lost = if unsent.is_empty() {
                String::new()
            } else {
                format!("; {} is not sent there", unsent.join(", "))
            };
            self.limits.run.record_remark(format!(
                "llm.{}: {} is served by the Responses API alone and was asked there{lost}; set api = \"responses\"",
                sent.name, sent.model
            ));
        }
        elsewhere
    }

    /// A hint from the list of models if the refusal is about the model: the closest name, or a few of them.
    pub(super) async fn near_miss(&self, transport: &dyn Transport, fault: &Fault, call: &Call) -> Hint {
        if !fault.is_about_model() {
            return Hint::default();
        }
        let place = self.asked_place(fault, call);
        // One list for the endpoint, even if thousands of items are refused for the same reason.
        let models = self.models.get_or_init(|| transport.list_models()).await;
        let model = &self.endpoint.model;
        if models.is_empty() || models.contains(model) {
            return place;
        }
        match near_miss(model, models.iter().map(String::as_str)) {
            Some(near) => Hint {
                said: format!("; the server has no model {model:?}, did you mean {near:?}?"),
                near: Some(near.to_owned()),
                ..Hint::default()
            },
            None => {
                let few: Vec<&str> = models.iter().take(MAX_MODELS_LISTED).map(String::as_str).collect();
                let more = if models.len() > few.len() { ", …" } else { "" };
                let said = format!("; the server has no model {model:?}, but {}{more}", few.join(", "));
                Hint { said, ..Hint::default() }
            }
        }
    }

    /// The path that a server does not have, and the version in it.
    fn asked_place(&self, fault: &Fault, call: &Call) -> Hint {
        if !matches!(fault.http_status(), Some(404 | 405)) {
            return Hint::default();
        }
        let path = call.path.split('?').next().unwrap_or_default();
        match provider::version_in_path(&self.endpoint) {
            Some(version) => Hint {
                said: format!("; asked at /{path}, api_version = {version:?}"),
                versioned: true,
                ..Hint::default()
            },
            None => Hint { said: format!("; asked at …/{path}"), ..Hint::default() },
        }
    }
}
