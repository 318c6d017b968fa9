//! The cost of a stage before anything is sent.

use rustc_hash::FxHashSet;

use super::answer::Ask;
use super::batch;
use super::engine::Engine;
use super::money::{Price, Usd};
use super::parse::Unreadable;
use super::reask::build_reask;
use super::request::Request;
use super::settings::Endpoint;
use super::store::{Store, StoreError};
use super::tokens;
use super::tokens::Learned;

/// Bytes that a re-ask adds to a prompt in addition to the quoted reply: what was wrong with it, and the chat
/// template's text around two messages.
const REASK: u64 = 1024;

/// What a stage would ask and cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The stage's name.
    pub stage: String,
    /// The endpoint's name.
    pub endpoint: String,
    /// Number of items.
    pub items: usize,
    /// Items answered by the store or a sample pack.
    pub stored: usize,
    /// Requests that would be sent.
    pub requests: usize,
    /// Their prompt tokens, counted in the embedded vocabulary.
    pub prompt_tokens: u64,
    /// The most completion tokens they would allow.
    pub max_completion_tokens: u64,
    /// Upper bound: every prompt as long as in any vocabulary, every answer at its longest and cut off, asked
    /// again at `max_tokens_ceiling`, and re-asked as often as allowed, all at the highest price; `None` if
    /// the endpoint has no price.
    pub max_usd: Option<Usd>,
    /// The same with every request answered the first time.
    pub once_usd: Option<Usd>,
    /// Lower bound: the price of the prompts alone.
    pub min_usd: Option<Usd>,
    /// How the token counts of this model's replies so far differ from those counted here.
    pub learned: Option<Learned>,
    /// The cost if answers are like the earlier ones.
    pub likely_usd: Option<Usd>,
    /// The shortest possible duration by the endpoint's rates.
    pub at_least_secs: Option<u64>,
}

/// How replies are parsed, and how often an unreadable one is asked for again.
pub struct Reading<'a> {
    /// Parses a reply.
    pub read: &'a dyn Fn(&Ask, &str) -> Result<(), Unreadable>,
    /// Most re-asks of an item.
    pub max_reasks: u32,
}

/// Subtracts what is stored and counts the rest. Equal questions count once. With a `reading`, a stored reply
/// that cannot be parsed does not count as stored, and its re-ask is counted. Requests that fail after they
/// were sent are not included.
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub fn estimate_stage(
    store: &Store,
    endpoint: &Endpoint,
    stage: &str,
    asks: &[Ask],
    reading: Option<&Reading<'_>>,
) -> Result<Estimate, StoreError> {
    estimate_with(store, endpoint, stage, asks, reading, true)
}

/// The same, with whether half answers that an earlier version stored count as stored
/// ([`Limits::accept_before`](super::Limits::accept_before)).
///
/// # Errors
/// [`StoreError`] if the store cannot be read.
pub fn estimate_with(
    store: &Store,
    endpoint: &Endpoint,
    stage: &str,
    asks: &[Ask],
    reading: Option<&Reading<'_>>,
    accept_before: bool,
) -> Result<Estimate, StoreError> {
    let price = endpoint.token_price();
    let mut estimate = Estimate {
        stage: stage.to_owned(),
        endpoint: endpoint.name.clone(),
        items: asks.len(),
        stored: 0,
        requests: 0,
        prompt_tokens: 0,
        max_completion_tokens: 0,
        max_usd: price.map(|_| Usd::ZERO),
        once_usd: price.map(|_| Usd::ZERO),
        min_usd: price.map(|_| Usd::ZERO),
        learned: None,
        likely_usd: None,
        at_least_secs: None,
    };
    if endpoint.provider.is_pack() {
        estimate.stored = asks.len();
        (estimate.max_usd, estimate.once_usd, estimate.min_usd) =
            (Some(Usd::ZERO), Some(Usd::ZERO), Some(Usd::ZERO));
        return Ok(estimate);
    }
    let mut seen = FxHashSet::default();
    let on_their_way = batch::on_their_way(store)?;
    for ask in asks {
        let Some((request, reasks)) = missing_request(store, endpoint, ask, reading, accept_before)? else {
            estimate.stored += 1;
            continue;
        };
        if on_their_way.contains(&request.key()) {
            continue;
        }
        if seen.insert(request.key()) {
            estimate.requests += 1;
            estimate.prompt_tokens += tokens::count_request(&request);
            estimate.max_completion_tokens += request.max_completion_tokens();
            if let (Some(price), Some(max), Some(once)) =
                (price, &mut estimate.max_usd, &mut estimate.once_usd)
            {
                let (prompt, longest) =
                    (tokens::bound_prompt_tokens(&request), request.max_completion_tokens());
                let ceiling = Engine::with_larger_limit(endpoint, &request)
                    .map(|larger| larger.max_completion_tokens());
                *max += at_most(price, prompt, longest, ceiling, reasks);
                *once += price.highest_cost(prompt, longest);
            }
        }
    }
    if let Some(ask) = asks.first().filter(|_| estimate.requests > 0) {
        estimate.learned = Learned::from_replies(store, endpoint, &ask.template)?;
    }
    let (counted, requests) = (estimate.prompt_tokens, estimate.requests as u64);
    let prompt = estimate.learned.map_or(counted, |learned| learned.likely_prompt_tokens(counted));
    estimate.min_usd = price.map(|price| price.lowest_cost(prompt));
    estimate.likely_usd = estimate
        .learned
        .zip(price)
        .and_then(|(learned, price)| learned.likely_cost(price, counted, requests));
    estimate.at_least_secs = at_least(endpoint, requests, counted + estimate.max_completion_tokens);
    Ok(estimate)
}

/// Seconds that this many requests and tokens take at an endpoint's rates.
fn at_least(endpoint: &Endpoint, requests: u64, tokens: u64) -> Option<u64> {
    let secs = |n: u64, a_minute: Option<u32>| Some((n * 60).div_ceil(a_minute.filter(|n| *n > 0)?.into()));
    secs(requests, endpoint.rpm).max(secs(tokens, endpoint.tpm))
}

/// The most that a prompt of this many tokens costs with its longest answers, if each is cut off and asked
/// again with a larger limit, and everything is re-asked `reasks` times.
pub fn at_most(price: Price, prompt: u64, completion: u64, ceiling: Option<u64>, reasks: u32) -> Usd {
    let longest = ceiling.unwrap_or(0).max(completion);
    let asked = |again: u32| {
        let prompt = prompt + u64::from(again) * (longest + REASK);
        price.highest_cost(prompt, completion)
            + ceiling.map_or(Usd::ZERO, |ceiling| price.highest_cost(prompt, ceiling))
    };
    (0..=reasks).map(asked).sum()
}

/// The next request of an item, and how often it may be re-asked after that; `None` if its reply is stored.
fn missing_request(
    store: &Store,
    endpoint: &Endpoint,
    ask: &Ask,
    reading: Option<&Reading<'_>>,
    accept_before: bool,
) -> Result<Option<(Request, u32)>, StoreError> {
    let mut ask = ask.clone();
    let most = reading.map_or(0, |reading| reading.max_reasks);
    for reasks in (0..=most).rev() {
        let Some(found) = Engine::last_found(store, endpoint, &ask, accept_before)? else {
            let request = Engine::request_of_ask(endpoint, &ask);
            let refused = store.failed_for_good(&request.key())?;
            return Ok((!refused).then_some((request, reasks)));
        };
        let Some(text) = found.text else { return Ok(None) };
        if found.is_cut {
            // It was asked again with a larger limit, or is now.
            let larger =
                Engine::with_larger_limit(endpoint, &found.request).filter(|larger| *larger != found.request);
            let Some(larger) = larger else { return Ok(None) };
            let refused = store.failed_for_good(&larger.key())?;
            return Ok((!refused).then_some((larger, reasks)));
        }
        let Some(reading) = reading else { return Ok(None) };
        match (reading.read)(&ask, &text) {
            Err(unreadable) if reasks > 0 => ask = build_reask(store, endpoint, ask, &text, &unreadable)?,
            // A permanent failure is not asked again.
            _ => return Ok(None),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
