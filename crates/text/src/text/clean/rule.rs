//! The rules of cleaning, with the texts that documentation and reports print.

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
    /// The score at the end of a post of an annual thread leaves the text and becomes a number.
    Score = "score", "12.云会恐高吗\n评分：3.5" => "云会恐高吗";
    /// The rank and the star before a post of an annual thread leave the text.
    Number = "number", "12*.云会恐高吗" => "云会恐高吗";
    /// Control characters, zero-width characters and whitespace at the edges go.
    Debris = "debris", "\u{200b}云会恐高吗 \r\n" => "云会恐高吗";
    /// A bar set between characters to dodge a word filter goes.
    Bar = "bar", "云会丨恐丨高丨吗" => "云会恐高吗";
    /// The trace of an image goes.
    Image = "image", "[图片]云会恐高吗" => "云会恐高吗";
    /// A link that is separate from the sentence is removed.
    Link = "link", "云会恐高吗 http://example.com/1" => "云会恐高吗";
    /// The line that a client adds under a post goes.
    Signature = "signature", "云会恐高吗\n——来自 某某 客户端" => "云会恐高吗";
    /// Content that is there because the forum demanded some goes.
    Placeholder = "placeholder", "云会恐高吗 / 如题" => "云会恐高吗";
    /// The words `如题，` before the content proper go.
    SeeTitle = "see_title", "云会恐高吗 / 如题，我家的云会" => "云会恐高吗\n我家的云会";
    /// A title without a letter goes.
    EmptyTitle = "empty_title", "…… / 云会恐高吗" => "云会恐高吗";
    /// Content that repeats the title, or is in it already, is not said twice.
    Repeated = "repeated", "云会恐高吗 / 云会恐高吗。" => "云会恐高吗。";
    /// A title that the forum cut, or that has a slip, is replaced by the content that holds it whole.
    CutTitle = "cut_title", "云对风说：我其 / 云对风说：我其实恐高" => "云对风说：我其实恐高";
    /// Title and content that say different things are joined by a line break.
    Joined = "joined", "云恐高 / 所以下雨" => "云恐高\n所以下雨";
}
