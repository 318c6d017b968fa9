//! Settings of an endpoint that its API has no parameter for. They are part of the requests' keys, so that
//! replies from before stay found, but are not sent.

use super::anthropic;
use crate::settings::{Api, Endpoint, Provider};

/// A setting that is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The setting, as in pipeline.toml below the endpoint's table: `sampling.temperature`.
    pub setting: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// The settings of an endpoint that are not sent, because its API has no such parameters.
pub fn unsent(endpoint: &Endpoint) -> Vec<Unsent> {
    let sampling = &endpoint.sampling;
    let set = |name: &str| match name {
        "temperature" => sampling.temperature.is_some(),
        "top_p" => sampling.top_p.is_some(),
        "seed" => sampling.seed.is_some(),
        "stop" => !sampling.stop.is_empty(),
        _ => false,
    };
    let of = |names: &[&str], why: &str| -> Vec<Unsent> {
        let own = names.iter().filter(|name| set(name)).map(|name| format!("sampling.{name}"));
        own.map(|setting| Unsent { setting, why: why.to_owned() }).collect()
    };
    match endpoint.provider {
        Provider::Anthropic => {
            let mut all = of(&["seed"], "Anthropic's API has no such parameter; remove it");
            if !anthropic::takes_sampling(endpoint) {
                let why = format!(
                    "Anthropic's API has no such parameter since version {}; remove it, or set api_version = \"{}\"",
                    anthropic::WITHOUT_SAMPLING,
                    anthropic::WITH_SAMPLING
                );
                all.extend(of(&anthropic::SAMPLING, &why));
                let extra = anthropic::SAMPLING.iter().filter(|name| sampling.extra.contains_key(**name));
                all.extend(
                    extra.map(|name| Unsent { setting: format!("sampling.extra.{name}"), why: why.clone() }),
                );
            }
            all
        }
        provider if provider.has_responses() && endpoint.api == Api::Responses => {
            of(&["seed", "stop"], "the Responses API has no such parameter; remove it, or set api = \"chat\"")
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::Sampling;

    #[test]
    fn what_an_api_has_no_parameter_for_is_named() {
        let sampling = Sampling {
            temperature: Some(0.7),
            seed: Some(1),
            stop: vec!["x".into()],
            extra: [("top_k".to_owned(), json!(5))].into(),
            ..Sampling::default()
        };
        let named = |provider, api, api_version: Option<&str>| -> Vec<String> {
            let endpoint = Endpoint {
                provider,
                api,
                api_version: api_version.map(str::to_owned),
                sampling: sampling.clone(),
                ..Endpoint::new("e", "https://h/v1", "m")
            };
            unsent(&endpoint).into_iter().map(|unsent| unsent.setting).collect()
        };
        let now = ["sampling.seed", "sampling.temperature", "sampling.extra.top_k"];
        assert_eq!(named(Provider::Anthropic, Api::Chat, None), now);
        assert_eq!(named(Provider::Anthropic, Api::Chat, Some("2023-06-01")), now[..1]);
        assert_eq!(named(Provider::Openai, Api::Responses, None), ["sampling.seed", "sampling.stop"]);
        assert!(named(Provider::Openai, Api::Chat, None).is_empty());
        assert!(named(Provider::Gemini, Api::Responses, None).is_empty());
    }
}
