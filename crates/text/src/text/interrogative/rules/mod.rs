//! The rules, in the order in which they are tried. Each has a file: what it looks for, why, known problems,
//! and an example that is a test.

use std::ops::Range;

use super::post::Post;

mod a_not_a;
mod alternative;
mod dialogue;
mod echo_mark;
mod embedded;
mod final_mark;
mod heading;
mod help;
mod indefinite;
mod mark_within;
mod no_cue;
mod no_open_question;
mod opener;
mod passing_remark;
mod polar;
mod question_word;
mod quoted_question;
mod reported;
mod request;
mod self_answer;
mod why;

/// A post that shows a rule, and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The post.
    pub text: &'static str,
    /// Whether it asks.
    pub is_question: bool,
}

/// The documentation of a rule.
struct Page {
    code: &'static str,
    definition: &'static str,
    example: &'static str,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $file:ident asks $asks:literal,)+) => {
        /// What decided whether a post asks. Tried in this order; the first that finds its case decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// Every rule, in the order they are tried.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// Whether the posts that this rule decides are questions.
            pub fn asks(self) -> bool {
                match self { $(Rule::$name => $asks,)+ }
            }

            fn page(self) -> &'static Page {
                match self { $(Rule::$name => &$file::PAGE,)+ }
            }

            pub(super) fn find(self, post: &Post<'_>) -> Option<Range<usize>> {
                match self { $(Rule::$name => $file::find(post),)+ }
            }
        }
    };
}

rules! {
    /// Nothing in the post suggests a question.
    NoCue = no_cue asks false,
    /// The post sets a task or begs for an answer.
    Request = request asks true,
    /// The post is all dialogue.
    Dialogue = dialogue asks false,
    /// The narration reports that somebody asks.
    Reported = reported asks false,
    /// The question only opens a statement.
    Opener = opener asks false,
    /// The last sentence carries a question mark.
    FinalMark = final_mark asks true,
    /// The post answers its own question.
    SelfAnswer = self_answer asks false,
    /// The question is the heading of what follows.
    Heading = heading asks false,
    /// A question mark after words that ask nothing, with more to come.
    EchoMark = echo_mark asks false,
    /// A question mark inside the post, and nothing answers.
    MarkWithin = mark_within asks true,
    /// The poster is at a loss.
    Help = help asks true,
    /// The poster asks for a reason.
    Why = why asks true,
    /// A particle makes the sentence a question.
    Polar = polar asks true,
    /// A verb and its negation stand side by side.
    ANotA = a_not_a asks true,
    /// Two alternatives are put to the reader.
    Alternative = alternative asks true,
    /// The last thing said has a question word that asks.
    QuestionWord = question_word asks true,
    /// A question word, and the post goes on past it.
    PassingRemark = passing_remark asks false,
    /// A verb governs the question.
    Embedded = embedded asks false,
    /// The question word means any, some or none, or exclaims.
    Indefinite = indefinite asks false,
    /// Only quoted speech asks.
    QuotedQuestion = quoted_question asks false,
    /// Cues, but no question.
    NoOpenQuestion = no_open_question asks false,
}

impl Rule {
    /// The stable name in ledgers, `apply` output and reports.
    pub fn code(self) -> &'static str {
        self.page().code
    }

    /// One sentence that a reader of a report understands without the source.
    pub fn definition(self) -> &'static str {
        self.page().definition
    }

    /// A post that this rule decides.
    pub fn example(self) -> Example {
        Example { text: self.page().example, is_question: self.asks() }
    }

    /// The first rule that matches the post, and the fragment that it matched.
    pub(super) fn first_match(post: &Post<'_>) -> (Rule, Range<usize>) {
        Rule::ALL
            .iter()
            .find_map(|rule| rule.find(post).map(|span| (*rule, span)))
            .unwrap_or((Rule::NoOpenQuestion, 0..0))
    }
}
