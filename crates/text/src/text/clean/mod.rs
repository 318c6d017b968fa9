//! Removes the forum's debris from a post, a file for each kind of debris; [`clean`] runs them in the order of
//! [`Rule::ALL`], once over each part and once more over the whole, until nothing changes: cleaning a cleaned
//! text changes nothing.
//!
//! HTML is not stripped: `<爸爸去哪了>` is content.

pub mod annual;
pub mod client;
pub mod debris;
pub mod placeholder;
pub mod title;

use std::borrow::Cow;

use title::Relation;

use riddlemill_record::Reason;

/// What kind of text a draft is, which decides the rules that can apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftKind {
    /// Title and content of a thread.
    Thread,
    /// A post of an annual thread: its whole text is in `content`, `title` is empty.
    NumberedPost,
    /// Only text, in `content` or in `title`.
    Plain,
}

/// A post as it was written.
#[derive(Clone, Copy, Debug)]
pub struct PostText<'a> {
    /// What kind of text it is.
    pub kind: DraftKind,
    /// The thread's title, or empty.
    pub title: &'a str,
    /// The content, if the source has one.
    pub content: Option<&'a str>,
}

/// A rule that changed something, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleHit {
    pub rule: Rule,
    /// What it removed or decided on, at most 40 characters.
    pub evidence: String,
}

/// Whether anything is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CleanVerdict {
    /// There is a text.
    Keep,
    /// Nothing is left: the reason, and what was there.
    Drop(Reason, String),
}

/// A cleaned post.
#[derive(Clone, Debug, PartialEq)]
pub struct Cleaned {
    /// The text of the post: title and content joined, or whichever contains the other.
    pub text: String,
    /// The title without debris.
    pub title: String,
    /// The content without debris; `None` if it repeats the title.
    pub content: Option<String>,
    /// The judges' mean, from a score line.
    pub score: Option<f64>,
    /// The rank in an annual thread.
    pub number: Option<u32>,
    /// Whether the post was marked as being about the year's news.
    pub starred: bool,
    /// The rules that changed something, in order.
    pub hits: Vec<RuleHit>,
    /// Whether anything is left.
    pub verdict: CleanVerdict,
}

/// Cleans a post. Total and idempotent: cleaning `text` again as [`DraftKind::Plain`] changes nothing.
///
/// ```
/// # use riddlemill_text::text::clean::{DraftKind, PostText, clean};
/// let draft = PostText { kind: DraftKind::Thread, title: "云对风说：我其", content: Some("云对风说：我其实恐高 ") };
/// assert_eq!(clean(&draft).text, "云对风说：我其实恐高");
/// ```
pub fn clean(draft: &PostText<'_>) -> Cleaned {
    let mut hits = Vec::new();
    let (mut score, mut number, mut starred) = (None, None, false);
    let mut content = draft.content;
    if draft.kind == DraftKind::NumberedPost
        && let Some(post) = content.and_then(annual::numbered)
    {
        (score, number, starred) = (post.score, post.number, post.starred);
        if let Some(score) = score {
            hits.push(RuleHit { rule: Rule::Score, evidence: score.to_string() });
        }
        if number.is_some() || starred {
            let star = if starred { "*" } else { "" };
            hits.push(RuleHit {
                rule: Rule::Number,
                evidence: format!("{}{star}", number.map_or(String::new(), |n| n.to_string())),
            });
        }
        content = Some(post.text);
    }

    let title = scrub_text(draft.title, "", &mut hits);
    let content = content.map(|content| scrub_text(content, draft.title, &mut hits));
    let (text, content) = match (draft.kind, content) {
        (DraftKind::Thread, Some(content)) => join_parts(&title, content, draft.content, &mut hits),
        (_, Some(content)) if title.is_empty() => (content.clone(), None),
        (_, Some(content)) if content.is_empty() => (title.clone(), None),
        (_, Some(content)) => (Cow::Owned(format!("{title}\n{content}")), Some(content)),
        (_, None) => (title.clone(), None),
    };
    // Joining can move a piece from the middle to an edge, or the other way round.
    let text = match text {
        Cow::Owned(text) => scrub_text(&text, "", &mut hits).into_owned(),
        Cow::Borrowed(text) => text.to_owned(),
    };
    let has_text = || [Some(draft.title), draft.content].into_iter().flatten().any(|t| !t.trim().is_empty());
    let verdict = match text.is_empty() {
        true if has_text() => {
            CleanVerdict::Drop(Reason::Placeholder, evidence_of(draft.content.unwrap_or(draft.title)))
        }
        true => CleanVerdict::Drop(Reason::Empty, String::new()),
        false if placeholder::is_placeholder("", &text) && !is_single_han(&text) => {
            CleanVerdict::Drop(Reason::Placeholder, evidence_of(&text))
        }
        false => CleanVerdict::Keep,
    };
    Cleaned {
        text,
        title: title.into_owned(),
        content: content.map(Cow::into_owned),
        score,
        number,
        starred,
        hits,
        verdict,
    }
}

/// Whether a text is one Chinese character, which is for the filter to judge.
fn is_single_han(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphanumeric()).all(|c| ('\u{3400}'..='\u{9fff}').contains(&c))
        && text.chars().any(char::is_alphanumeric)
        && text.chars().count() < 3
}

/// The text of a thread, and its content if that says more than the title.
fn join_parts<'a>(
    title: &Cow<'a, str>,
    content: Cow<'a, str>,
    raw: Option<&str>,
    hits: &mut Vec<RuleHit>,
) -> (Cow<'a, str>, Option<Cow<'a, str>>) {
    let mut hit = |rule, ground: &str| hits.push(RuleHit { rule, evidence: evidence_of(ground) });
    if content.is_empty() || placeholder::is_placeholder(title, &content) {
        if raw.is_some_and(|raw| !raw.trim().is_empty()) {
            hit(Rule::Placeholder, raw.unwrap_or_default());
        }
        return (title.clone(), None);
    }
    let content = match after_see_title(&content) {
        Some(rest) => {
            hit(Rule::SeeTitle, &content);
            Cow::Owned(rest.to_owned())
        }
        None => content,
    };
    if placeholder::is_empty_title(title) {
        if !title.is_empty() {
            hit(Rule::EmptyTitle, title);
        }
        return (content.clone(), Some(content));
    }
    let relation = title::relation(title, &content);
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    match relation {
        Relation::Repeats => {
            hit(Rule::Repeated, &content);
            let fuller = letters(&content) > letters(title);
            (if fuller { content } else { title.clone() }, None)
        }
        Relation::Within => {
            hit(Rule::Repeated, &content);
            (title.clone(), None)
        }
        Relation::Extends | Relation::Mends => {
            hit(Rule::CutTitle, title);
            (content.clone(), Some(content))
        }
        Relation::Differs => {
            hit(Rule::Joined, &content);
            (Cow::Owned(format!("{title}\n{content}")), Some(content))
        }
    }
}

/// What follows `如题，` at the head of a content.
fn after_see_title(content: &str) -> Option<&str> {
    let rest = content.strip_prefix("如题").or_else(|| content.strip_prefix("RT"))?;
    let tail = rest.trim_start_matches(|c: char| c.is_whitespace() || "，,。.!！：:；;~～…、".contains(c));
    (tail.len() < rest.len() && tail.contains(char::is_alphanumeric)).then_some(tail)
}

/// Applies the rules for one text, and for the `title` above it, until none changes anything. Each only
/// removes, so this ends.
fn scrub_text<'a>(text: &'a str, title: &str, hits: &mut Vec<RuleHit>) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    loop {
        let before = text.len();
        text = apply_rule(text, Rule::Debris, debris::tidy, hits);
        text = apply_rule(text, Rule::Bar, |text| debris::join_bars_under(title, text), hits);
        text = apply_rule(text, Rule::Image, client::drop_images, hits);
        text = apply_rule(text, Rule::Link, client::drop_apart, hits);
        text = apply_rule(text, Rule::Signature, client::drop_notices, hits);
        text = apply_rule(text, Rule::Signature, |text| Cow::Borrowed(client::strip_signature(text)), hits);
        if text.len() == before {
            return text;
        }
    }
}

fn apply_rule<'a>(
    text: Cow<'a, str>,
    rule: Rule,
    work: impl for<'t> Fn(&'t str) -> Cow<'t, str>,
    hits: &mut Vec<RuleHit>,
) -> Cow<'a, str> {
    let (done, removed) = match work(&text) {
        Cow::Borrowed(same) if same.len() == text.len() => return text,
        done => (done.into_owned(), evidence_of(&text)),
    };
    hits.push(RuleHit { rule, evidence: removed });
    Cow::Owned(done)
}

/// At most 40 characters of a text.
fn evidence_of(text: &str) -> String {
    let end = text.char_indices().nth(40).map_or(text.len(), |(at, _)| at);
    text[..end].to_owned()
}

macro_rules! rules {
    ($($(#[doc = $definition:literal])+ $name:ident = $code:literal, $before:literal => $after:literal;)+) => {
        /// A rule of cleaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $definition])+ $name,)+
        }

        impl Rule {
            /// Every rule, in the order in which they run.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// The stable name in ledgers and reports.
            pub fn code(self) -> &'static str {
                match self { $(Rule::$name => $code,)+ }
            }

            /// What the rule does, in one sentence.
            pub fn definition(self) -> &'static str {
                match self { $(Rule::$name => concat!($($definition),+).trim_ascii(),)+ }
            }

            /// A text before and after the rule; ` / ` separates the title and content of a thread.
            pub fn example(self) -> (&'static str, &'static str) {
                match self { $(Rule::$name => ($before, $after),)+ }
            }
        }
    };
}

rules! {
    /// The score at the end of a post of an annual thread is removed from the text and stored as a number.
    Score = "score", "12.云会恐高吗\n评分：3.5" => "云会恐高吗";
    /// The rank and the star before a post of an annual thread are removed.
    Number = "number", "12*.云会恐高吗" => "云会恐高吗";
    /// Control characters, zero-width characters and whitespace at the edges are removed.
    Debris = "debris", "\u{200b}云会恐高吗 \r\n" => "云会恐高吗";
    /// Bars between characters, which dodge a word filter, are removed.
    Bar = "bar", "云会丨恐丨高丨吗" => "云会恐高吗";
    /// The mark that an image left in the text is removed.
    Image = "image", "[图片]云会恐高吗" => "云会恐高吗";
    /// A link that is separate from the sentence is removed.
    Link = "link", "云会恐高吗 http://example.com/1" => "云会恐高吗";
    /// The line that an app adds under a post is removed.
    Signature = "signature", "云会恐高吗\n——来自 某某 客户端" => "云会恐高吗";
    /// Content that was only typed because the forum requires some is removed.
    Placeholder = "placeholder", "云会恐高吗 / 如题" => "云会恐高吗";
    /// `如题，` (as in the title) before the actual content is removed.
    SeeTitle = "see_title", "云会恐高吗 / 如题，我家的云会" => "云会恐高吗\n我家的云会";
    /// A title that says nothing (without a letter, `无标题`) is removed.
    EmptyTitle = "empty_title", "…… / 云会恐高吗" => "云会恐高吗";
    /// Of a title and content that repeat each other, the longer one is kept.
    Repeated = "repeated", "云会恐高吗 / 云会恐高吗。" => "云会恐高吗。";
    /// A title that the forum cut, or that has a typing error, is replaced by the content, which has it in full.
    CutTitle = "cut_title", "云对风说：我其 / 云对风说：我其实恐高" => "云对风说：我其实恐高";
    /// A title and content with different texts are joined by a line break.
    Joined = "joined", "云恐高 / 所以下雨" => "云恐高\n所以下雨";
}

#[cfg(test)]
mod tests;
