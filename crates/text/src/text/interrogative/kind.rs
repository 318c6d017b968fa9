//! How a sentence asks.

/// How a sentence asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `吗`, `么` at the end of a clause, `难道`.
    Polar,
    /// `是不是`, `有没有`, `能否`, `…了没`.
    ANotA,
    /// `A还是B`.
    Alternative,
    /// `为什么`, `凭什么`, `为何`.
    Why,
    /// `怎么办`, `怎么回事`, `如何是好`: the poster is at a loss.
    Help,
    /// `怎么`, `如何`, `咋`.
    How,
    /// `什么`, `啥`, `干嘛`.
    What,
    /// `谁`, `哪`, `何时`, `多少`, `第几`.
    Which,
}

impl Kind {
    /// Whether an operator of this kind has to be a separate word, not part of another.
    pub(super) fn is_word(self) -> bool {
        !matches!(self, Kind::ANotA | Kind::Alternative)
    }

    /// Whether the answer to an operator of this kind is a phrase: `谁？小明。` `怎么` asks for a reason as often as
    /// for a way and is excluded.
    pub(super) fn wants_phrase(self, word: &str) -> bool {
        match self {
            Kind::What | Kind::Which | Kind::Help => true,
            Kind::How => matches!(word, "如何" | "怎样" | "怎么样"),
            _ => false,
        }
    }
}
