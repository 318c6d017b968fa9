//! Leaves an endpoint whose requests cost more than was reserved for them.

use super::engine::Engine;
use super::money::Usd;
use super::store::Usage;
use super::wire::Stated;

impl Engine {
    /// Leaves the endpoint alone for the rest of the run if a request cost more than was reserved for it, or states a cost
    /// that cannot be: the estimate that was agreed to does not hold there. Counts that cannot be are charged as what was
    /// reserved, so that it does hold, and are told. `most` is how many tokens its answer may have, and what was reserved.
    pub(super) fn leave_if_over(&self, most: (u64, Usd), cost: Usd, usage: Option<Usage>, stated: Stated) {
        let ((tokens, reserved), name) = (most, &self.endpoint.name);
        self.remark_if_miscounted(stated);
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
        self.limits.run.leave_endpoint(name, how.into());
    }

    /// Tells once that the endpoint counts tokens as it cannot have them, of a request alone or in a batch.
    pub(super) fn remark_if_miscounted(&self, stated: Stated) {
        if stated.miscounted {
            self.limits.run.record_remark(format!(
                "llm.{}: it counts tokens as no request has them; such an answer is charged what was reserved for it; ask \
                 whoever runs it, or use another endpoint",
                self.endpoint.name
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::BoxFuture;

    use super::*;
    use crate::settings::Endpoint;
    use crate::store::Store;
    use crate::{Call, Fault, Limits, Received, Run, Transport};

    struct Silent;

    impl Transport for Silent {
        fn send_call<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
            Box::pin(std::future::pending())
        }
    }

    /// A run whose endpoint charged `cost` where 100 picodollars were reserved for an answer of 50 tokens.
    fn called(free: bool, cost: i64, usage: Option<Usage>, stated: Stated) -> Run {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
        let (endpoint, limits) = (Endpoint { free, ..Endpoint::new("e", "", "m") }, Limits::default());
        let run = limits.run.clone();
        let engine = Engine::with_transport(Arc::new(store), endpoint, limits, Box::new(Silent));
        engine.leave_if_over((50, Usd::from_pico(100)), Usd::from_pico(cost), usage, stated);
        run
    }

    /// Why the endpoint is left after that.
    fn left(free: bool, cost: i64, usage: Option<Usage>, stated: Stated) -> Option<String> {
        called(free, cost, usage, stated).failure_of_endpoint("e").map(|how| how.to_string())
    }

    #[test]
    fn what_costs_no_more_than_was_reserved_leaves_nothing() {
        let stated = Stated { cost: Some(Usd::from_pico(100)), ..Stated::default() };
        assert_eq!(left(false, 100, None, stated), None);
        assert_eq!(left(true, 0, Some(Usage::default()), Stated::default()), None);
    }

    #[test]
    fn why_an_endpoint_is_left_names_what_mends_it() {
        let why = |free, usage, stated| left(free, 101, usage, stated).unwrap();
        let usage = Some(Usage { completion_tokens: 70, ..Usage::default() });
        let counted = why(false, usage, Stated::default());
        assert!(counted.contains("70 tokens of an answer where 50 were allowed"), "{counted}");
        assert!(counted.contains("sampling.max_tokens under [llm.e]"), "{counted}");
        assert!(!why(false, None, Stated::default()).contains("tokens"));
        // By its own statement, which is what it was charged.
        let stated = Stated { cost: Some(Usd::from_pico(101)), ..Stated::default() };
        let own = why(false, usage, stated);
        assert!(own.contains("by its own statement, more than") && own.contains("set the prices"), "{own}");
        let free = why(true, usage, stated);
        assert!(free.contains("though [llm.e] says free = true"), "{free}");
        let other = Stated { cost: Some(Usd::from_pico(90)), ..Stated::default() };
        assert!(why(true, usage, other).contains("70 tokens of an answer"));
        // However little it was charged.
        let unbelievable = left(false, 1, usage, Stated { unbelievable: true, ..stated }).unwrap();
        assert!(unbelievable.contains("states a cost that no request has"), "{unbelievable}");
    }

    #[test]
    fn what_is_counted_as_it_cannot_be_is_told_and_goes_on() {
        let run = called(false, 100, None, Stated { miscounted: true, ..Stated::default() });
        assert_eq!(run.failure_of_endpoint("e"), None);
        assert!(run.list_remarks()[0].starts_with("llm.e: it counts tokens as no request has them"));
        let run = called(false, 100, None, Stated::default());
        assert!(run.list_remarks().is_empty());
    }
}
