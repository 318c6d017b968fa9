//! What keeps records back and what mends it, put into words: each sentence is a key and its values until it is shown, and
//! `words.toml` has its text in each language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toml_edit::{Document, Item, Table};

/// The sentences in each language, as translators edit them.
const FILE: &str = include_str!("words.toml");

macro_rules! words {
    ($($word:ident = $key:literal,)*) => {
        /// A sentence of `words.toml`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Word {
            $(#[doc = concat!("`", $key, "`")] $word,)*
        }

        impl Word {
            /// All of them.
            pub const ALL: &'static [Word] = &[$(Word::$word,)*];

            /// Its key in `words.toml`.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Word::$word => $key,)*
                }
            }
        }
    };
}

words! {
    NotSet = "not_set",
    NotAgreed = "not_agreed",
    NoPrices = "no_prices",
    CapOf = "cap_of",
    CapOfRun = "cap_of_run",
    HalfReply = "half_reply",
    Cut = "cut",
    CutOffline = "cut_offline",
    Interrupted = "interrupted",
    Offline = "offline",
    NotAsked = "not_asked",
    SampleLacks = "sample_lacks",
    PackLacks = "pack_lacks",
    NoEndpoint = "no_endpoint",
    NoEndpoints = "no_endpoints",
    UnreadableReply = "unreadable_reply",
    ListedTerm = "listed_term",
    Decided = "decided",
    Export = "export",
    SetPrices = "set_prices",
    Raise = "raise",
    RaiseKey = "raise_key",
    RaiseReply = "raise_reply",
    LowerTokens = "lower_tokens",
    Set = "set",
    TakeOut = "take_out",
    AskAnother = "ask_another",
    NameEndpoint = "name_endpoint",
    NameModels = "name_models",
    NameJudges = "name_judges",
    CheckKey = "check_key",
    CheckPrintedKey = "check_printed_key",
    NameKey = "name_key",
    CheckUrl = "check_url",
    CheckUrlModel = "check_url_model",
    CheckUrlVersionModel = "check_url_version_model",
    CheckAnswers = "check_answers",
    RunKeyCommand = "run_key_command",
    Pay = "pay",
    ChangeNamed = "change_named",
    GetAgain = "get_again",
    GiveOptions = "give_options",
    CheckPublished = "check_published",
    AddAnnotatorsOne = "add_annotators_one",
    AddAnnotators = "add_annotators",
    AddAdjudicator = "add_adjudicator",
    AddOthers = "add_others",
    AddReaders = "add_readers",
    LetVote = "let_vote",
    Votes = "votes",
    ReviewVotes = "review_votes",
    Decision = "decision",
}

/// Most characters of words of somebody else.
const CHARS: usize = 200;

/// The languages of the texts.
const LANGUAGES: [&str; 2] = ["en", "zh"];

static TEXTS: LazyLock<BTreeMap<String, [String; 2]>> = LazyLock::new(|| parse_texts(FILE));

/// The texts of a file by their keys; empty where a language is missing.
fn parse_texts(file: &str) -> BTreeMap<String, [String; 2]> {
    let Ok(document) = Document::parse(file) else { return BTreeMap::new() };
    let text = |item: &Item, language: &str| {
        item.get(language).and_then(Item::as_str).unwrap_or_default().to_owned()
    };
    let texts = document.as_table().iter();
    texts.map(|(key, item)| (key.to_owned(), LANGUAGES.map(|language| text(item, language)))).collect()
}

/// English and Chinese of a file of `[[sentence]]`s for translators; a language that is missing is empty.
pub fn sentence_pairs(file: &str) -> Vec<(String, String)> {
    let Ok(document) = Document::parse(file) else { return Vec::new() };
    let tables = document.as_table().get("sentence").and_then(Item::as_array_of_tables);
    let text = |table: &Table, language: &str| {
        table.get(language).and_then(Item::as_str).unwrap_or_default().to_owned()
    };
    tables.into_iter().flatten().map(|table| (text(table, "en"), text(table, "zh"))).collect()
}

/// A sentence: its key and its values, or words of somebody else that have no translation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyedSentence {
    word: Option<Word>,
    values: Vec<String>,
}

impl KeyedSentence {
    /// A sentence with its values, in the order of their numbers.
    pub fn from_word<const N: usize>(word: Word, values: [&str; N]) -> KeyedSentence {
        KeyedSentence { word: Some(word), values: values.map(str::to_owned).into() }
    }

    /// Words of a server, of a file or of a person, or a command.
    pub fn verbatim(text: impl Into<String>) -> KeyedSentence {
        KeyedSentence { word: None, values: vec![text.into()] }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.word.is_none() && self.values.iter().all(String::is_empty)
    }

    /// Words that are nobody's sentence here; `None` for a sentence with a key.
    pub fn as_verbatim(&self) -> Option<&str> {
        match self.word {
            Some(_) => None,
            None => Some(self.values.first().map_or("", String::as_str)),
        }
    }

    /// Which sentence it is; `None` for words of somebody else.
    pub fn word(&self) -> Option<Word> {
        self.word
    }

    /// In English.
    pub fn in_english(&self) -> String {
        self.text_in(0)
    }

    /// In Chinese.
    pub fn in_chinese(&self) -> String {
        self.text_in(1)
    }

    fn text_in(&self, language: usize) -> String {
        let Some(word) = self.word else { return self.values.concat() };
        let text = TEXTS.get(word.key()).map_or("", |texts| texts[language].as_str());
        fill_values(text, &self.values)
    }
}

/// A text with its values in place of their numbers. A value is never searched for numbers itself.
fn fill_values(text: &str, values: &[String]) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('{') {
        whole.push_str(before);
        let value = from
            .split_once('}')
            .and_then(|(number, behind)| Some((values.get(number.parse::<usize>().ok()?)?, behind)));
        match value {
            Some((value, behind)) => {
                whole.push_str(value);
                rest = behind;
            }
            None => {
                whole.push('{');
                rest = from;
            }
        }
    }
    whole + rest
}

/// A line of at most [`CHARS`] characters.
pub(super) fn shorten_line(text: &str) -> KeyedSentence {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= CHARS {
        return KeyedSentence::verbatim(line);
    }
    KeyedSentence::verbatim(line.chars().take(CHARS).chain(['…']).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The numbers of the values in a text.
    fn numbers(text: &str) -> BTreeSet<usize> {
        let pieces = text.split('{').skip(1);
        pieces.filter_map(|piece| piece.split_once('}')?.0.parse().ok()).collect()
    }

    #[test]
    fn every_sentence_is_there_in_every_language_with_the_same_values() {
        let lacking: Vec<&str> =
            Word::ALL.iter().map(|word| word.key()).filter(|key| !TEXTS.contains_key(*key)).collect();
        assert!(lacking.is_empty(), "words.toml lacks {lacking:?}");
        let known: BTreeSet<&str> = Word::ALL.iter().map(|word| word.key()).collect();
        let unused: Vec<&String> = TEXTS.keys().filter(|key| !known.contains(key.as_str())).collect();
        assert!(unused.is_empty(), "nothing says {unused:?} of words.toml");
        for (key, [en, zh]) in TEXTS.iter() {
            assert!(!en.is_empty() && !zh.is_empty(), "{key} lacks a language");
            assert_eq!(numbers(en), numbers(zh), "{key}");
            assert_eq!(numbers(en), (0..numbers(en).len()).collect(), "{key} leaves a number out");
        }
    }

    #[test]
    fn a_key_without_a_translation_is_found() {
        let texts = parse_texts("[a]\nen = \"one {0}\"\nzh = \"一 {0}\"\n[b]\nen = \"two\"\n");
        assert_eq!(texts["a"], ["one {0}", "一 {0}"].map(str::to_owned));
        assert_eq!(texts["b"], ["two", ""].map(str::to_owned));
    }

    #[test]
    fn values_stand_where_their_numbers_are_and_are_not_read_themselves() {
        let said = KeyedSentence::from_word(Word::CheckAnswers, ["http://h/{1}", "mine"]);
        assert_eq!(said.in_english(), "check that http://h/{1} answers, the base_url of [llm.mine]");
        assert_eq!(said.in_chinese(), "请检查 http://h/{1} 能否访问，它是 [llm.mine] 的 base_url");
        let export = KeyedSentence::from_word(Word::Export, ["MINE_KEY"]);
        assert_eq!(
            (export.in_english(), export.in_chinese()),
            ("export MINE_KEY=…".into(), "export MINE_KEY=…".into())
        );
        assert_eq!(KeyedSentence::verbatim("{0} of the server").in_chinese(), "{0} of the server");
        assert!(
            KeyedSentence::default().is_empty()
                && KeyedSentence::verbatim("").is_empty()
                && !export.is_empty()
        );
    }
}
