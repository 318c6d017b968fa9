//! Why a record is in or out: a closed list, each with its definition.

macro_rules! reasons {
    ($($(#[doc = $definition:literal])+ $name:ident = $code:literal,)+) => {
        /// Why a record left a stage the way it did. The code stands in ledgers and is stable;
        /// the definition is what `explain` and `report` print.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[doc = $definition])+ $name,)+
        }

        impl Reason {
            /// Every reason, in the order of the stages that give it.
            pub const ALL: &[Reason] = &[$(Reason::$name,)+];

            /// The stable name in ledgers, `apply` output and reports.
            pub fn code(self) -> &'static str {
                match self { $(Reason::$name => $code,)+ }
            }

            /// One sentence a reader of a ledger understands without the source.
            pub fn definition(self) -> &'static str {
                match self { $(Reason::$name => concat!($($definition),+).trim_ascii(),)+ }
            }

            /// The reason of a code, or `None` where a ledger was written by another version.
            pub fn from_code(code: &str) -> Option<Reason> {
                match code { $($code => Some(Reason::$name),)+ _ => None }
            }
        }
    };
}

reasons! {
    // import
    /// The line or page could not be read as its source's format.
    Unreadable = "unreadable",

    // clean
    /// The content is a placeholder that the forum demanded (`.`, `RT`, a client signature).
    Placeholder = "placeholder",

    // anonymise

    // policy

    // filter

    // dedup

    // llm
    /// The reply is not stored and nothing may be sent, or the sample pack holds none.
    ReplyMissing = "reply_missing",
    /// Sending could pass the cap of the run, the recipe or the endpoint.
    BudgetReached = "budget_reached",
    /// The endpoint has neither prices nor `free = true`, so that no cap could be kept.
    NoPrice = "no_price",
    /// The environment variable with the endpoint's key is not set.
    KeyMissing = "key_missing",
    /// The run was interrupted before this was asked.
    Interrupted = "interrupted",
    /// The endpoint refused the request, or every attempt failed.
    RequestFailed = "request_failed",
    /// The reply does not say what was asked for, re-asks included.
    ReplyUnparseable = "reply_unparseable",
}
