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
    /// A title without a letter is removed.
    EmptyTitle = "empty_title", "…… / 云会恐高吗" => "云会恐高吗";
    /// Of a title and content that repeat each other, the longer one is kept.
    Repeated = "repeated", "云会恐高吗 / 云会恐高吗。" => "云会恐高吗。";
    /// A title that the forum cut, or that has a typing error, is replaced by the content, which has it in full.
    CutTitle = "cut_title", "云对风说：我其 / 云对风说：我其实恐高" => "云对风说：我其实恐高";
    /// A title and content with different texts are joined by a line break.
    Joined = "joined", "云恐高 / 所以下雨" => "云恐高\n所以下雨";
}
