//! What demotes a pair.

/// Why a pair was judged less similar than its predicate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Veto {
    /// Two parts of a series.
    Series,
    /// One states what the other denies.
    Negation,
    /// The same frame about something else.
    Template,
    /// A compilation and one of its parts.
    Compilation,
    /// Little is shared apart from the names of the forum.
    Place,
    /// The same words in exchanged places.
    Order,
    /// Another number.
    Number,
    /// Another subject in its place.
    Subject,
}

impl Veto {
    /// The name in ledgers and reports.
    pub fn name(self) -> &'static str {
        match self {
            Veto::Series => "series",
            Veto::Negation => "negation",
            Veto::Template => "template",
            Veto::Compilation => "compilation",
            Veto::Place => "place",
            Veto::Order => "order",
            Veto::Number => "number",
            Veto::Subject => "subject",
        }
    }
}
