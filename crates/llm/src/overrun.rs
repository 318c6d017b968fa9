//! Leaves an endpoint whose requests cost more than was reserved for them.

use super::engine::Engine;
use super::money::Usd;
use super::store::Usage;
use super::wire::Stated;

impl Engine {
    /// Leaves the endpoint alone for the rest of the run if a request cost more than was reserved for it, or states a cost
    /// that cannot be: the estimate that was agreed to does not hold there. `most` is how many tokens its answer may
    /// have, and what was reserved.
    pub(super) fn leave_if_over(&self, most: (u64, Usd), cost: Usd, usage: Option<Usage>, stated: Stated) {
        let ((tokens, reserved), name) = (most, &self.endpoint.name);
        if cost <= reserved && !stated.unbelievable {
            return;
        }
        let by_statement = stated.cost == Some(cost);
        let how = match usage {
            _ if stated.unbelievable => format!(
                "{name} states a cost that no request has; it was charged {cost}, which was reserved for it"
            ),
            _ if by_statement && self.endpoint.free => format!(
                "a request to {name} cost {cost} by its own statement, though [llm.{name}] says free = true; set its \
                 prices instead"
            ),
            _ if by_statement => format!(
                "a request to {name} cost {cost} by its own statement, more than the {reserved} reserved for it; set the \
                 prices under [llm.{name}] to what it charges"
            ),
            Some(usage) => format!(
                "a request to {name} cost {cost}, more than the {reserved} reserved for it: it counts {} tokens of an \
                 answer where {tokens} were allowed; set sampling.max_tokens under [llm.{name}] to what it keeps to",
                usage.completion_tokens
            ),
            None => format!("a request to {name} cost {cost}, more than the {reserved} reserved for it"),
        };
        self.limits.run.leave(name, how.into());
    }
}
