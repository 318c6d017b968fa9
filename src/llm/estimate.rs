//! What a stage would cost before anything is sent.

use rustc_hash::FxHashSet;

use super::answer::Ask;
use super::engine::Engine;
use super::money::{Price, Usd};
use super::settings::{Endpoint, Provider};
use super::store::{Store, StoreError};
use super::tokens;

/// What a stage would ask and pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The stage's name.
    pub stage: String,
    /// The endpoint's name.
    pub endpoint: String,
    /// Items.
    pub items: usize,
    /// Of them, answered by the store or a sample pack.
    pub stored: usize,
    /// Requests that would be sent.
    pub requests: usize,
    /// Their prompt tokens, counted in the embedded vocabulary.
    pub prompt_tokens: u64,
    /// The completion tokens they would allow at most.
    pub max_completion_tokens: u64,
    /// The prompts' price and every answer at its longest; `None` where the endpoint has no price.
    pub max_usd: Option<Usd>,
    /// The prompts' price alone: what it costs at least.
    pub min_usd: Option<Usd>,
}

/// Subtracts what is stored, counts the rest. A retry or a re-ask comes on top. Equal questions count once.
pub fn estimate(
    store: &Store,
    endpoint: &Endpoint,
    stage: &str,
    asks: &[Ask],
) -> Result<Estimate, StoreError> {
    let mut estimate = Estimate {
        stage: stage.to_owned(),
        endpoint: endpoint.name.clone(),
        items: asks.len(),
        stored: 0,
        requests: 0,
        prompt_tokens: 0,
        max_completion_tokens: 0,
        max_usd: endpoint.price().map(|_| Usd::ZERO),
        min_usd: endpoint.price().map(|_| Usd::ZERO),
    };
    if endpoint.provider == Provider::Sample {
        estimate.stored = asks.len();
        (estimate.max_usd, estimate.min_usd) = (Some(Usd::ZERO), Some(Usd::ZERO));
        return Ok(estimate);
    }
    let mut seen = FxHashSet::default();
    for ask in asks {
        let request = Engine::request(endpoint, ask);
        let key = request.key();
        if store.contains(&key)? {
            estimate.stored += 1;
        } else if seen.insert(key) {
            estimate.requests += 1;
            estimate.prompt_tokens += tokens::count_request(&request);
            estimate.max_completion_tokens += request.max_completion_tokens();
        }
    }
    let cost = |price: Price, completion| price.cost(estimate.prompt_tokens, completion);
    estimate.max_usd = endpoint.price().map(|price| cost(price, estimate.max_completion_tokens));
    estimate.min_usd = endpoint.price().map(|price| cost(price, 0));
    Ok(estimate)
}
