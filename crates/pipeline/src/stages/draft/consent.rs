//! Consent: a host is agreed to before its first request, and the cost where no cap limits what a run spends.

use super::LlmContext;
use crate::config::{Config, ValueOrigin, sections};
use crate::stages::StageError;
use riddlemill_files::{Wish, Workspace, shell_word, trust};
use riddlemill_llm::{Ask, Endpoint, Store, Usd, estimate_with, open_batches};
use riddlemill_text::text::group_digits;

use super::may_answer_later;

/// Asks the user before requests are sent to a host that nobody agreed to, and once before paid requests without a cap are.
///
/// # Errors
/// [`StageError::NotAgreed`] if they do not agree or cannot be asked: then nothing was sent.
pub(in crate::stages) fn require_consent(
    store: &Store,
    endpoints: &[Endpoint],
    asks: &[Vec<Ask>],
    asking: &LlmContext<'_>,
) -> Result<(), StageError> {
    if !asking.offline {
        for (endpoint, asks) in endpoints.iter().zip(asks) {
            for wish in [endpoint.command_wish(), endpoint.needed_wish()].into_iter().flatten() {
                agreed_to(&wish, store, endpoint, asks, asking)?;
            }
        }
    }
    let settings: sections::Draft = asking.config.typed_settings(Some(asking.recipe), "draft");
    if asking.offline || asking.run.is_capped() || asking.run.is_agreed() || settings.max_usd > 0.0 {
        return Ok(());
    }
    let (mut usd, mut requests, mut names) = (Usd::ZERO, 0, Vec::new());
    for (endpoint, asks) in endpoints.iter().zip(asks) {
        let paid = endpoint.token_price().is_some_and(|price| price.cost_of_tokens(1, 1) > Usd::ZERO);
        // What is never sent needs no leave.
        if !paid || !may_answer_later(endpoint) || endpoint.budget_cap().is_some() || !endpoint.has_key() {
            continue;
        }
        let estimate = estimate_with(store, endpoint, asking.recipe, asks, None, asking.accept_before)?;
        if estimate.requests > 0 {
            usd += estimate.likely_usd.or(estimate.once_usd).unwrap_or_default();
            requests += estimate.requests;
            names.push(endpoint.name.as_str());
        }
    }
    if requests == 0 {
        return Ok(());
    }
    let mut quote = quote_cost(usd, requests, &names);
    if let Some(more) = asking.pulse.estimate_cost(requests) {
        quote = format!("{quote}, {more}");
    }
    match asking.pulse.ask_consent(&format!("{quote}; continue?")) {
        Some(true) => {
            asking.run.agree_to_cost();
            Ok(())
        }
        Some(false) => Err(StageError::NotAgreed(format!("{quote}: not agreed, and nothing was sent"))),
        None => Err(StageError::NotAgreed(format!(
            "{quote}, no cap is set, and there is no terminal to ask on\n  hint: give --yes, or set a cap: run.max_usd, draft.max_usd, max_usd under [llm.{}]",
            names[0]
        ))),
    }
}

/// Asks before something is sent to a host, or a command is run for a key. Where values of the environment go along, the answer is kept on this machine
/// and nothing else stands in for it; where none does, `--yes` does, or a cap that this machine's user gave.
fn agreed_to(
    wish: &Wish,
    store: &Store,
    endpoint: &Endpoint,
    asks: &[Ask],
    asking: &LlmContext<'_>,
) -> Result<(), StageError> {
    let trust = &asking.config.trust;
    if !may_answer_later(endpoint) || trust.is_agreed(wish) {
        return Ok(());
    }
    // What is never sent needs no leave.
    let (Some(price), true) = (endpoint.token_price(), endpoint.has_key()) else { return Ok(()) };
    let bare = matches!(wish, Wish::Host { variables, .. } if variables.is_empty());
    let paid = price.cost_of_tokens(1, 1) > Usd::ZERO;
    if bare && (asking.run.is_agreed() || paid && is_capped_here(endpoint, asking)) {
        return Ok(());
    }
    let requests = estimate_with(store, endpoint, asking.recipe, asks, None, asking.accept_before)?.requests;
    if requests == 0 && (bare || !has_batch(endpoint, asking.config)?) {
        return Ok(());
    }
    let noun = if requests == 1 { "request" } else { "requests" };
    let what = format!(
        "llm.{} would {wish}{}, {} {noun} now, which nobody on this machine agreed to for this workspace",
        endpoint.name,
        warn_unencrypted(wish),
        group_digits(requests as i64)
    );
    let answer = match asking.pulse.ask_trust(&format!("{what}; allow it from now on?")) {
        Some(true) => {
            asking.config.trust.record_agreement(wish)?;
            return Ok(());
        }
        // Somebody who started the run on a page may agree for the run.
        None if bare => asking.pulse.ask_consent(&format!("{what}; continue?")),
        answer => answer,
    };
    let word = shell_word(&wish.trust_word());
    let known = if matches!(wish, Wish::Command { .. }) { "what this command does" } else { "this host" };
    match answer {
        Some(true) => {
            asking.run.agree_to_cost();
            Ok(())
        }
        Some(false) => Err(StageError::NotAgreed(format!("{what}: not agreed, and nothing was sent"))),
        None => Err(StageError::NotAgreed(format!(
            "{what}, and there is no terminal to ask on: nothing was sent\n  hint: if you know {known}, \
             `riddlemill trust add {word}` says so once, --trust {word} for one call (in CI {}={word}){}",
            trust::TRUST,
            if bare {
                "; --yes agrees, too, as nothing of the environment goes along"
            } else {
                "; --yes does not cover it"
            }
        ))),
    }
}

/// A warning about a connection that others can read.
fn warn_unencrypted(wish: &Wish) -> &'static str {
    match wish {
        Wish::Host { origin, .. } if is_plain(origin) => " in plain http, which others on the way can read",
        _ => "",
    }
}

/// Whether an address is plain http to another machine.
fn is_plain(origin: &str) -> bool {
    let Some(host) = origin.strip_prefix("http://") else { return false };
    let host =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    let local = host.parse::<std::net::IpAddr>().map_or(host == "localhost", |address| address.is_loopback());
    !local
}

/// Whether a cap bounds what is spent that this machine's user gave: by a flag, the environment, or in the settings of a
/// workspace that was made here.
fn is_capped_here(endpoint: &Endpoint, asking: &LlmContext<'_>) -> bool {
    let settings: sections::Draft = asking.config.typed_settings(Some(asking.recipe), "draft");
    let by_hand = |section| {
        let origin = asking.config.setting_origin(Some(asking.recipe), section, "max_usd");
        matches!(origin, Some(ValueOrigin::Flag | ValueOrigin::Env(_)))
    };
    let draft = settings.max_usd > 0.0;
    if asking.config.trust.is_own() {
        return asking.run.is_capped() || draft || endpoint.budget_cap().is_some();
    }
    asking.run.is_capped() && by_hand("run") || draft && by_hand("draft")
}

/// Whether a batch of this endpoint is open, which a run asks its server about.
fn has_batch(endpoint: &Endpoint, config: &Config) -> Result<bool, StageError> {
    let replies = Workspace::new(&config.root).raw_folder().join("replies");
    let open = open_batches(&replies).map_err(riddlemill_llm::store::StoreError::from)?;
    Ok(open.iter().any(|batch| batch.endpoint == endpoint.name))
}

/// `about $0.28 for 20 requests to mine`.
fn quote_cost(usd: Usd, requests: usize, names: &[&str]) -> String {
    let noun = if requests == 1 { "request" } else { "requests" };
    format!(
        "about {} for {} {noun} to {}",
        usd.in_cents(),
        group_digits(requests as i64),
        names.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_to_another_machine_is_told_from_the_rest() {
        for origin in [
            "http://api.example.org",
            "http://10.0.0.7:8000",
            "http://[2001:db8::1]:80",
            "http://localhost.evil.net",
        ] {
            assert!(is_plain(origin), "{origin}");
        }
        for origin in [
            "https://api.example.org",
            "http://127.0.0.1:8000",
            "http://localhost:11434",
            "http://[::1]:8000",
        ] {
            assert!(!is_plain(origin), "{origin}");
        }
    }

    #[test]
    fn a_quote_says_how_much_for_what_and_to_whom() {
        let quote = |usd: f64, requests, names: &[&str]| quote_cost(Usd::from_dollars(usd), requests, names);
        assert_eq!(quote(0.276, 20, &["mine"]), "about $0.28 for 20 requests to mine");
        assert_eq!(quote(0.0004, 1, &["a", "b"]), "about $0.0004 for 1 request to a and b");
        assert_eq!(quote(1234.5, 12345, &["mine"]), "about $1234.50 for 12,345 requests to mine");
    }
}
