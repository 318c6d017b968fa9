//! What a stage would cost before anything is sent.

use rustc_hash::FxHashSet;

use super::answer::Ask;
use super::batch;
use super::engine::Engine;
use super::learned::Learned;
use super::money::{Price, Usd};
use super::parse::Unreadable;
use super::reask::quoting;
use super::request::Request;
use super::settings::Endpoint;
use super::store::{Store, StoreError};
use super::tokens;
use super::wire;

/// Bytes that a re-ask adds to a prompt beside the reply that it quotes: what was wrong with it, and what a chat
/// template puts around two messages.
const REASK: u64 = 1024;

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
    /// Every prompt as long as any vocabulary makes it, every answer at its longest, asked once more at
    /// `max_tokens_ceiling` as if it had been cut, and asked again as often as may be, all at the dearest price; `None`
    /// where the endpoint has no price.
    pub max_usd: Option<Usd>,
    /// The same with every request answered the first time.
    pub once_usd: Option<Usd>,
    /// The prompts' price alone: what it costs at least.
    pub min_usd: Option<Usd>,
    /// How the tokens of this model's replies so far differ from what is counted here.
    pub learned: Option<Learned>,
    /// What it costs if answers are as those before.
    pub likely_usd: Option<Usd>,
    /// How long it takes at least, by the endpoint's rates.
    pub at_least_secs: Option<u64>,
}

/// How replies are read, and how often one that cannot be read is asked for again.
pub struct Reading<'a> {
    /// Reads a reply.
    pub read: &'a dyn Fn(&Ask, &str) -> Result<(), Unreadable>,
    /// Re-asks an item at most.
    pub max_reasks: u32,
}

/// Subtracts what is stored, counts the rest. Equal questions count once. With a `reading`, a stored reply that cannot
/// be read is none, and what it would be asked again with is counted. A request that fails after it was sent comes on
/// top.
///
/// # Errors
/// [`StoreError`] where the store cannot be read.
pub fn estimate(
    store: &Store,
    endpoint: &Endpoint,
    stage: &str,
    asks: &[Ask],
    reading: Option<&Reading<'_>>,
) -> Result<Estimate, StoreError> {
    let price = endpoint.price();
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
        let Some((request, reasks)) = missing(store, endpoint, ask, reading)? else {
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
                let (prompt, longest) = (tokens::bound(&request), request.max_completion_tokens());
                let ceiling = Engine::larger(endpoint, &request).map(|larger| larger.max_completion_tokens());
                *max += at_most(price, prompt, longest, ceiling, reasks);
                *once += price.most(prompt, longest);
            }
        }
    }
    if let Some(ask) = asks.first().filter(|_| estimate.requests > 0) {
        estimate.learned = Learned::from_replies(store, endpoint, &ask.template)?;
    }
    let (counted, requests) = (estimate.prompt_tokens, estimate.requests as u64);
    let prompt = estimate.learned.map_or(counted, |learned| learned.prompt(counted));
    estimate.min_usd = price.map(|price| price.least(prompt));
    estimate.likely_usd =
        estimate.learned.zip(price).and_then(|(learned, price)| learned.likely(price, counted, requests));
    estimate.at_least_secs = at_least(endpoint, requests, counted + estimate.max_completion_tokens);
    Ok(estimate)
}

/// Seconds that the rates of an endpoint need for so many requests and tokens.
fn at_least(endpoint: &Endpoint, requests: u64, tokens: u64) -> Option<u64> {
    let secs = |n: u64, a_minute: Option<u32>| Some((n * 60).div_ceil(a_minute.filter(|n| *n > 0)?.into()));
    secs(requests, endpoint.rpm).max(secs(tokens, endpoint.tpm))
}

/// The most that a prompt of so many tokens costs with its longest answers, where each may be cut and asked once more with a
/// larger limit, and all of it may be asked again so often.
pub fn at_most(price: Price, prompt: u64, completion: u64, ceiling: Option<u64>, reasks: u32) -> Usd {
    let longest = ceiling.unwrap_or(0).max(completion);
    let asked = |again: u32| {
        let prompt = prompt + u64::from(again) * (longest + REASK);
        price.most(prompt, completion) + ceiling.map_or(Usd::ZERO, |ceiling| price.most(prompt, ceiling))
    };
    (0..=reasks).map(asked).sum()
}

/// The next request that an item would become, and how often it may be asked again after that; `None` where its reply
/// is stored.
fn missing(
    store: &Store,
    endpoint: &Endpoint,
    ask: &Ask,
    reading: Option<&Reading<'_>>,
) -> Result<Option<(Request, u32)>, StoreError> {
    let mut request = Engine::request(endpoint, ask);
    let mut ask = ask.clone();
    let most = reading.map_or(0, |reading| reading.max_reasks);
    for reasks in (0..=most).rev() {
        let Some(reply) = Engine::found(store, endpoint, &request)? else {
            let refused = store.failed_for_good(&request.key())?;
            return Ok((!refused).then_some((request, reasks)));
        };
        let Ok(mut content) = wire::content(&reply.request, &reply.raw) else { return Ok(None) };
        if content.is_cut() {
            // It was asked once more with a larger limit, or is now.
            let Some(larger) = Engine::larger(endpoint, &reply.request) else { return Ok(None) };
            let Some(reply) = store.get(&larger.key())? else {
                let refused = store.failed_for_good(&larger.key())?;
                return Ok((!refused).then_some((larger, reasks)));
            };
            match wire::content(&reply.request, &reply.raw) {
                Ok(larger) if !larger.is_cut() => content = larger,
                _ => return Ok(None),
            }
        }
        let Some(reading) = reading else { return Ok(None) };
        match (reading.read)(&ask, &content.text) {
            Err(unreadable) if reasks > 0 => {
                ask = quoting(ask, &content.text, &unreadable);
                request = Engine::request(endpoint, &ask);
            }
            // Nothing is asked for what was given up.
            _ => return Ok(None),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
