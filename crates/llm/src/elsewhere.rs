//! Where requests go: to the API that has the model, and what is said of a path that a server does not have.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use super::engine::Engine;
use super::fault::Fault;
use super::provider::{self, Call};
use super::request::{Input, Request};
use super::settings::{Api, Endpoint};

impl Engine {
    /// The endpoint's settings as requests are sent now: the API may be another than the one that is set.
    pub(super) fn sending(&self) -> Cow<'_, Endpoint> {
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
                provider::unsent(&responses).into_iter().map(|one| one.setting).collect();
            let lost = if unsent.is_empty() {
                String::new()
            } else {
                format!("; {} is not sent there", unsent.join(", "))
            };
            self.limits.run.remark(format!(
                "llm.{}: {} is served by the Responses API alone and was asked there{lost}; set api = \"responses\"",
                sent.name, sent.model
            ));
        }
        elsewhere
    }

    /// The path that a server does not have, and the version in it.
    pub(super) fn asked_place(&self, fault: &Fault, call: &Call) -> String {
        if !matches!(fault.status(), Some(404 | 405)) {
            return String::new();
        }
        let path = call.path.split('?').next().unwrap_or_default();
        match provider::version_in_path(&self.endpoint) {
            Some(version) => format!("; asked at /{path}, api_version = {version:?}"),
            None => format!("; asked at …/{path}"),
        }
    }
}
