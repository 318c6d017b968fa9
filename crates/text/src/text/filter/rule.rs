//! The rules of the filter, with the texts that documentation and reports print.

use riddlemill_record::Reason;

/// A rule of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Nothing to read.
    Empty,
    /// Only a link or an image.
    LinkOnly,
    /// Too short.
    TooShort,
    /// Too long.
    TooLong,
    /// The post manages the forum.
    Management,
    /// The text promises something that is elsewhere.
    PromisedElsewhere,
}

impl Rule {
    /// Every rule, in the order in which they run.
    pub const ALL: &[Rule] = &[
        Rule::Empty,
        Rule::LinkOnly,
        Rule::TooShort,
        Rule::TooLong,
        Rule::Management,
        Rule::PromisedElsewhere,
    ];

    /// The reason that a ledger names.
    pub fn reason(self) -> Reason {
        match self {
            Rule::Empty => Reason::Empty,
            Rule::LinkOnly => Reason::LinkOnly,
            Rule::TooShort => Reason::TooShort,
            Rule::TooLong => Reason::TooLong,
            Rule::Management => Reason::Management,
            Rule::PromisedElsewhere => Reason::PromisedElsewhere,
        }
    }

    /// The stable name in ledgers and reports.
    pub fn code(self) -> &'static str {
        self.reason().code()
    }

    /// What the rule drops, in one sentence.
    pub fn definition(self) -> &'static str {
        self.reason().definition()
    }

    /// A text that the rule drops, and a similar one that it keeps.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            Rule::Empty => ("……", "云会恐高吗"),
            Rule::LinkOnly => ("http://example.com/p/1", "云会恐高吗 http://example.com/p/1"),
            Rule::TooShort => ("云飞", "云会飞吗"),
            Rule::TooLong => (LONG, "云会恐高吗"),
            Rule::Management => ("【发帖必看】本吧吧规第三版", "如果给云加精，它会不会下雨"),
            Rule::PromisedElsewhere => ("我家的云长这样，如图", "画家说他的心情如图所示，房东说房租也是"),
        }
    }
}

/// Longer than the default settings allow.
const LONG: &str = include_str!("long.txt");
