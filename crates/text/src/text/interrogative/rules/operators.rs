//! Rules for posts in which a word asks, such as `吗`, `为什么` or `是不是`, although there may be no question mark.

use super::Page;
use crate::text::interrogative::kind::Kind;

/// Help.
///
/// What: `怎么办`, `咋整`, `怎么回事` that no verb governs.
/// Why: the poster is at a loss and says so; a mark is often left out.
/// Known problems: a plan told as `怎么办就怎么办` is excluded only by the repetition.
pub(super) const HELP: Page = Page {
    code: "help",
    definition: "The poster is at a loss: `…怎么办`.",
    example: "冰箱把我的外卖冻成了化石怎么办",
    find: |post| post.open_from(Kind::Help),
};

/// Why.
///
/// What: `为什么`, `凭什么`, `为何` that no verb governs, anywhere in a narration that does not end in a full stop, or after a
/// premise (`既然`, `明明`) whatever ends it.
/// Why: asking for a reason needs no mark, and the text after it is mostly the poster's puzzlement. A full
/// stop marks a statement, unless a premise contradicts the fact: then the reason is what is asked for.
/// Known problems: a lament (`为什么受伤的总是我！`) counts as a question; one with a full stop does not.
pub(super) const WHY: Page = Page {
    code: "why",
    definition: "The poster asks for a reason: `为什么…`.",
    example: "我都把闹钟调成静音了，为什么天还是亮了",
    find: |post| {
        post.open_from(Kind::Why)
            .filter(|asked| !post.is_narrated() || has_premise(&post.masked[asked.clone()]))
    },
};

/// Whether the premise of the question is stated before it.
fn has_premise(sentence: &str) -> bool {
    sentence.contains("既然") || sentence.contains("明明")
}

/// Particle.
///
/// What: `吗`, `么` at the end of a clause, or `难道`, outside reported speech.
/// Why: the particle does nothing but ask.
/// Known problems: a question that is only polite (`记得我吗，我来还钱`) counts.
pub(super) const POLAR: Page = Page {
    code: "polar",
    definition: "A particle makes the sentence a question: `…吗`.",
    example: "雪人退休以后有养老金吗",
    find: |post| post.open_from(Kind::Polar),
};

/// A-not-A.
///
/// What: a verb followed by its negation (`是不是`, `会不会`, `有没有`), `是否`, or a final `没`, that no verb governs.
/// Why: the pattern puts both answers to the reader.
/// Known problems: a softened claim (`是不是有点过分了`) counts as a question; so does
/// a noun that ends in the verb (`月亮没亮`).
pub(super) const A_NOT_A: Page = Page {
    code: "a-not-a",
    definition: "A verb is followed by its negation: `是不是`, `会不会`.",
    example: "把日历全撕了是不是就不用过年了",
    find: |post| post.open_from(Kind::ANotA),
};

/// Alternative.
///
/// What: `A还是B` with parallel sides, at the end of the text.
/// Why: it leaves the choice to the reader.
/// Known problems: `还是` also means "still"; sides that do not begin or end alike and have no `是` are missed.
pub(super) const ALTERNATIVE: Page = Page {
    code: "alternative",
    definition: "Two alternatives are put to the reader: `A还是B`.",
    example: "睡着的鱼算午睡还是算潜水",
    find: |post| post.open_last(|kind| kind == Kind::Alternative),
};

/// Question word.
///
/// What: an open `谁`, `什么`, `哪`, `怎么`, `多少` … in the last sentence, without a full stop after it.
/// Why: with nothing after it the question is left to the reader; a full stop marks a statement.
/// Known problems: a lament in the last clause (`怎么又下雨了`) counts, unless it ends in `！`.
pub(super) const QUESTION_WORD: Page = Page {
    code: "question-word",
    definition: "The last thing said has a question word that asks.",
    example: "剃了光头的蒲公英要怎么许愿",
    find: |post| {
        if post.is_narrated() {
            return None;
        }
        post.open_last(|kind| matches!(kind, Kind::How | Kind::What | Kind::Which))
    },
};
