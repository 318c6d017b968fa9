//! The rules, in the order in which they are tried. Each states what it looks for, why, its known problems,
//! and an example that is a test.

use std::ops::Range;

use super::post::Post;
mod questions;
mod request;
mod self_answer;
mod statements;

/// A post that shows a rule, and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The post.
    pub text: &'static str,
    /// Whether it asks.
    pub is_question: bool,
}

/// A rule, with its documentation.
struct Page {
    code: &'static str,
    definition: &'static str,
    example: &'static str,
    /// The fragment that shows the rule's case, if the post has it.
    find: fn(&Post<'_>) -> Option<Range<usize>>,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $file:ident::$page:ident asks $asks:literal,)+) => {
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
                match self { $(Rule::$name => &$file::$page,)+ }
            }
        }
    };
}

rules! {
    /// Nothing in the post suggests a question.
    NoCue = statements::NO_CUE asks false,
    /// The post sets a task or begs for an answer.
    Request = request::PAGE asks true,
    /// The post is all dialogue.
    Dialogue = statements::DIALOGUE asks false,
    /// The narration reports that somebody asks.
    Reported = statements::REPORTED asks false,
    /// The question only opens a statement.
    Opener = statements::OPENER asks false,
    /// The last sentence carries a question mark.
    FinalMark = questions::FINAL_MARK asks true,
    /// The post answers its own question.
    SelfAnswer = self_answer::PAGE asks false,
    /// The question is the heading of what follows.
    Heading = statements::HEADING asks false,
    /// A question mark after words that ask nothing, with more to come.
    EchoMark = questions::ECHO_MARK asks false,
    /// A question mark inside the post, and nothing answers.
    MarkWithin = questions::MARK_WITHIN asks true,
    /// The poster is at a loss.
    Help = questions::HELP asks true,
    /// The poster asks for a reason.
    Why = questions::WHY asks true,
    /// A particle makes the sentence a question.
    Polar = questions::POLAR asks true,
    /// A verb and its negation stand side by side.
    ANotA = questions::A_NOT_A asks true,
    /// Two alternatives are put to the reader.
    Alternative = questions::ALTERNATIVE asks true,
    /// The last thing said has a question word that asks.
    QuestionWord = questions::QUESTION_WORD asks true,
    /// A question word, and the post goes on past it.
    PassingRemark = statements::PASSING_REMARK asks false,
    /// A verb governs the question.
    Embedded = statements::EMBEDDED asks false,
    /// The question word means any, some or none, or exclaims.
    Indefinite = statements::INDEFINITE asks false,
    /// Only quoted speech asks.
    QuotedQuestion = statements::QUOTED_QUESTION asks false,
    /// Cues, but no question.
    NoOpenQuestion = statements::NO_OPEN_QUESTION asks false,
}

impl Rule {
    /// The stable name in ledgers, `apply` output and reports.
    pub fn code(self) -> &'static str {
        self.page().code
    }

    /// The rule of a post that was dropped as no question, and the fragment that it matched; empty if it is the whole post.
    /// Evidence in a ledger is the code, then the fragment. `None` if it is of something else.
    ///
    /// ```
    /// # use riddlemill_text::text::interrogative::Rule;
    /// assert_eq!(Rule::of_evidence("embedded: 他为什么来"), Some((Rule::Embedded, "他为什么来")));
    /// assert_eq!(Rule::of_evidence("no-cue"), Some((Rule::NoCue, "")));
    /// assert_eq!(Rule::of_evidence("2 of at least 4 characters"), None);
    /// ```
    pub fn of_evidence(evidence: &str) -> Option<(Rule, &str)> {
        let (code, fragment) = evidence.split_once(": ").unwrap_or((evidence, ""));
        Some((Rule::ALL.iter().copied().find(|rule| rule.code() == code)?, fragment))
    }

    /// One sentence that a reader of a report understands without the source.
    pub fn definition(self) -> &'static str {
        self.page().definition
    }

    /// A post that this rule decides.
    pub fn example(self) -> Example {
        Example { text: self.page().example, is_question: self.asks() }
    }

    pub(super) fn find_case(self, post: &Post<'_>) -> Option<Range<usize>> {
        (self.page().find)(post)
    }

    /// The first rule that matches the post, and the fragment that it matched.
    pub(super) fn first_match(post: &Post<'_>) -> (Rule, Range<usize>) {
        Rule::ALL
            .iter()
            .find_map(|rule| rule.find_case(post).map(|span| (*rule, span)))
            .unwrap_or((Rule::NoOpenQuestion, 0..0))
    }
}
