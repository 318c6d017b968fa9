//! One request to an endpoint, with the consent that a run needs.

use std::sync::Arc;

use riddlemill_llm::{Ask, Endpoint, Engine, Trial, estimate_stage};

use super::LlmContext;
use super::consent::require_consent;
use super::opened::open_store;
use crate::stages::{StageError, Unusable};

/// A store holds fewer trials of one endpoint.
const MOST_TRIALS: u32 = 100_000;

/// Sends one request, whether or not a reply to it is stored: it is another sample of the same question.
///
/// # Errors
/// [`StageError`] if the endpoint or the store cannot be used, or somebody does not agree.
pub fn try_endpoint(endpoint: &Endpoint, mut ask: Ask, asking: &LlmContext<'_>) -> Result<Trial, StageError> {
    let store = Arc::new(open_store(asking.config)?);
    let endpoint = endpoint.for_a_trial();
    // Before the consent, which is not asked for what is stored.
    while super::may_answer_later(&endpoint)
        && ask.sample < MOST_TRIALS
        && estimate_stage(&store, &endpoint, asking.recipe, std::slice::from_ref(&ask), None)?.requests == 0
    {
        ask.sample += 1;
    }
    require_consent(&store, std::slice::from_ref(&endpoint), &[vec![ask.clone()]], asking)?;
    let (limits, cancel) = asking.engine_limits();
    let engine = Engine::new(store, endpoint, limits)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|e| Unusable::of_request(format!("cannot start the network runtime: {e}")))?;
    let trial = runtime.block_on(async {
        let work = engine.try_once(ask);
        tokio::pin!(work);
        loop {
            tokio::select! {
                trial = &mut work => break trial,
                () = tokio::time::sleep(std::time::Duration::from_millis(100)) => {
                    if asking.stop.is_requested() {
                        cancel.cancel();
                    }
                }
            }
        }
    });
    asking.stop.fail_if_stopped()?;
    Ok(trial?)
}
