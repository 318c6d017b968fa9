//! Consent to pay: if no cap limits what a run spends, the user is asked before its first paid request.

use super::LlmContext;
use crate::config::sections;
use crate::stages::StageError;
use riddlemill_llm::{Ask, Endpoint, Store, Usd, estimate};
use riddlemill_text::text::grouped;

use super::sends;

/// Asks the user once before paid requests without a cap are sent.
///
/// # Errors
/// [`StageError::NotAgreed`] if they do not agree or cannot be asked: then nothing was sent.
pub(in crate::stages) fn agreed(
    store: &Store,
    endpoints: &[Endpoint],
    asks: &[Vec<Ask>],
    asking: &LlmContext<'_>,
) -> Result<(), StageError> {
    let settings: sections::Draft = asking.config.typed(Some(asking.recipe), "draft");
    if asking.offline || asking.run.is_capped() || asking.run.is_agreed() || settings.max_usd > 0.0 {
        return Ok(());
    }
    let (mut usd, mut requests, mut names) = (Usd::ZERO, 0, Vec::new());
    for (endpoint, asks) in endpoints.iter().zip(asks) {
        let paid = endpoint.price().is_some_and(|price| price.cost(1, 1) > Usd::ZERO);
        // What is never sent needs no leave.
        if !paid || !sends(endpoint) || endpoint.cap().is_some() || !endpoint.has_key() {
            continue;
        }
        let estimate = estimate(store, endpoint, asking.recipe, asks, None)?;
        if estimate.requests > 0 {
            usd += estimate.likely_usd.or(estimate.once_usd).unwrap_or_default();
            requests += estimate.requests;
            names.push(endpoint.name.as_str());
        }
    }
    if requests == 0 {
        return Ok(());
    }
    let mut quote = quote(usd, requests, &names);
    if let Some(more) = asking.pulse.outlook(requests) {
        quote = format!("{quote}, {more}");
    }
    match asking.pulse.agrees(&format!("{quote}; continue?")) {
        Some(true) => {
            asking.run.agree();
            Ok(())
        }
        Some(false) => Err(StageError::NotAgreed(format!("{quote}: not agreed, and nothing was sent"))),
        None => Err(StageError::NotAgreed(format!(
            "{quote}, no cap is set, and there is no terminal to ask on\n  hint: give --yes, or set a cap: run.max_usd, draft.max_usd, max_usd under [llm.{}]",
            names[0]
        ))),
    }
}

/// `about $0.28 for 20 requests to mine`.
fn quote(usd: Usd, requests: usize, names: &[&str]) -> String {
    let noun = if requests == 1 { "request" } else { "requests" };
    format!("about {} for {} {noun} to {}", usd.in_cents(), grouped(requests as i64), names.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_says_how_much_for_what_and_to_whom() {
        let quote = |usd: f64, requests, names: &[&str]| quote(Usd::from_dollars(usd), requests, names);
        assert_eq!(quote(0.276, 20, &["mine"]), "about $0.28 for 20 requests to mine");
        assert_eq!(quote(0.0004, 1, &["a", "b"]), "about $0.0004 for 1 request to a and b");
        assert_eq!(quote(1234.5, 12345, &["mine"]), "about $1234.50 for 12,345 requests to mine");
    }
}
