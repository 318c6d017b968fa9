//! Texts prepared for many comparisons, with the weight of each character: how rare it is in Chinese at large.
//!
//! The weight is `10·(ln(N / n) − 2)` rounded, with n the summed frequency of all words of jieba's dictionary
//! that contain the character (plus 50) and N the sum over all characters; the 2 removes most of the weight
//! from the characters of function words, which two posts share by chance. The table lists every character
//! below [`RARE`]; any other ideograph is rare. Letters and digits, of which the dictionary has few, all
//! weigh the same: one of 36 is not rare.
//!
//! Weights are integers, so that sums and thresholds are exact.

use std::sync::{LazyLock, OnceLock};

use super::words::{self, Words};
use super::{numbers, signs, symbols, view};
use crate::text::anonymise::consists_of_marks;
use crate::text::language::split_tag;
use riddlemill_record::Language;

/// One token of a bag: a character or a bigram, with how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BagToken {
    /// Identity: the scalar value, or two of them in the upper and lower half.
    pub symbol: u64,
    /// Occurrences, at least 1.
    pub count: u32,
    /// Weight of one occurrence, in tenths of a nat.
    pub weight: u32,
}

/// Everything that is compared of one text, each part computed once, on first use.
#[derive(Clone, Debug)]
pub struct PreparedText {
    /// All else follows from it.
    reading: Reading,
    /// [`Reading::folded`], as characters.
    pub(super) chars: Vec<char>,
    /// The total weight of the characters.
    pub(super) weight: u64,
    sounds: OnceLock<Vec<char>>,
    sound_bag: OnceLock<Bag>,
    bag: OnceLock<Bag>,
    grams: OnceLock<Bag>,
}

impl PartialEq for PreparedText {
    fn eq(&self, other: &Self) -> bool {
        self.reading == other.reading
    }
}

impl Eq for PreparedText {}

/// What two texts share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'p> {
    a: &'p PreparedText,
    b: &'p PreparedText,
    known: Option<SharedWeights>,
}

/// The weights that two folded texts share, of characters and of bigrams, repetitions counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedWeights {
    pub letters: u32,
    pub pairs: u32,
}

impl<'p> Shared<'p> {
    /// Counted on first use unless known.
    pub fn new(a: &'p PreparedText, b: &'p PreparedText, known: Option<SharedWeights>) -> Self {
        Self { a, b, known }
    }

    /// The weight of the shared characters.
    pub fn letter_weight(&self) -> u64 {
        self.known.map_or_else(|| self.a.bag().weight_shared(self.b.bag()), |known| known.letters.into())
    }

    /// The weight of the shared bigrams.
    pub fn pair_weight(&self) -> u64 {
        self.known.map_or_else(|| self.a.grams().weight_shared(self.b.grams()), |known| known.pairs.into())
    }

    /// The total weight of the characters of each text, the lighter first.
    pub fn total_weights(&self) -> (u64, u64) {
        in_order(self.a.weight, self.b.weight)
    }

    /// The total weight of the bigrams of each text, the lighter first.
    pub fn weights_of_pairs(&self) -> (u64, u64) {
        in_order(self.a.weight_of_pairs(), self.b.weight_of_pairs())
    }
}

fn in_order(a: u64, b: u64) -> (u64, u64) {
    (a.min(b), a.max(b))
}

/// Tokens in rising order of symbol, and their total weight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bag {
    pub tokens: Vec<BagToken>,
    pub total: u64,
}

/// Everything that a comparison depends on, in its smallest form: texts with equal readings compare alike
/// with every other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// [`view::copy_key`].
    key: String,
    /// Whether the key is the folded text; otherwise the folded text is empty.
    is_folded: bool,
    /// Issue numbers and years, in rising order.
    series: Vec<u32>,
    /// Lines that begin with a number and a mark, as in a list.
    items: u32,
    language: Language,
    /// Of an English text its words, which are compared instead of characters; of one in another language for vetoes.
    words: Words,
}

impl Reading {
    /// Reads a text, perhaps [tagged](crate::text::language::tag_language) with its language. Linear in its length.
    pub fn new(text: &str) -> Self {
        let (language, text) = split_tag(text);
        // What was marked is not known, so that marks alone say nothing, like a blank text.
        let text = if consists_of_marks(text) { "" } else { text };
        let plain = view::plain_spelling(text);
        let folded = view::fold_plain(&plain);
        let is_folded = !folded.is_empty();
        Self {
            key: if is_folded { folded } else { view::strip_spaces(text) },
            is_folded,
            series: numbers::series_numbers(&plain),
            items: count_items(&plain),
            language,
            words: match language {
                Language::En => Words::new(&plain),
                Language::Und => Words::of_any(&plain),
                Language::Zh => Words::default(),
            },
        }
    }

    /// The language whose rules compare it.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The words of a text that is not Chinese.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// [`view::copy_key`]: empty only for a blank text.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// [`view::fold`], or of an English text a symbol for each word.
    pub fn folded(&self) -> &str {
        match self.language {
            Language::En => self.words.symbols(),
            _ if self.is_folded => &self.key,
            _ => "",
        }
    }

    /// Appends an injective encoding of the reading.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let language = [Language::Zh, Language::En, Language::Und].iter().position(|l| *l == self.language);
        bytes.push(u8::from(self.is_folded) | (language.unwrap_or_default() as u8) << 1);
        let words = self.words.as_str();
        bytes.extend((words.len() as u32).to_le_bytes());
        bytes.extend(words.as_bytes());
        bytes.extend(self.items.to_le_bytes());
        bytes.extend((self.series.len() as u32).to_le_bytes());
        self.series.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(self.key.as_bytes());
    }

    /// The inverse of [`Reading::write`]; `None` for other bytes.
    pub(crate) fn parse_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[first], bytes) = bytes.split_first_chunk()?;
        let language = *[Language::Zh, Language::En, Language::Und].get(usize::from(first >> 1))?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let (words, bytes) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (items, bytes) = bytes.split_first_chunk()?;
        let (numbers, bytes) = bytes.split_first_chunk()?;
        let numbers = (u32::from_le_bytes(*numbers) as usize).checked_mul(4)?;
        let (series, key) = bytes.split_at_checked(numbers)?;
        Some(Self {
            key: std::str::from_utf8(key).ok()?.into(),
            is_folded: first & 1 != 0,
            series: series.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)).collect(),
            items: u32::from_le_bytes(*items),
            language,
            words: Words::from_joined(std::str::from_utf8(words).ok()?),
        })
    }

    /// Whether the text has nothing but spaces, or nothing but marks of personal data, and is similar to no other.
    pub fn is_blank(&self) -> bool {
        self.key.is_empty()
    }
}

impl From<&Reading> for PreparedText {
    /// Linear in the length of the text.
    fn from(reading: &Reading) -> Self {
        let chars: Vec<char> = reading.folded().chars().collect();
        let weight = chars.iter().map(|&c| u64::from(weight(c))).sum();
        let (sounds, sound_bag, bag, grams) =
            (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { reading: reading.clone(), chars, weight, sounds, sound_bag, bag, grams }
    }
}

impl PreparedText {
    /// Prepares a text, perhaps [tagged](crate::text::language::tag_language) with its language. Linear in its length.
    pub fn new(text: &str) -> Self {
        Self::from(&Reading::new(text))
    }

    /// The language whose rules compare it.
    pub fn language(&self) -> Language {
        self.reading.language()
    }

    /// The words of a text that is not Chinese.
    pub(super) fn words(&self) -> &Words {
        self.reading.words()
    }

    /// [`Reading::folded`].
    pub(crate) fn folded(&self) -> &str {
        self.reading.folded()
    }

    /// [`view::copy_key`]; empty only for a blank text.
    pub(super) fn key(&self) -> &str {
        self.reading.key()
    }

    /// Issue numbers and years, in rising order.
    pub(super) fn series(&self) -> &[u32] {
        &self.reading.series
    }

    /// Lines that begin with a number and a mark, as in a list.
    pub(super) fn count_list_lines(&self) -> u32 {
        self.reading.items
    }

    /// [`view::sound`], as characters.
    pub(super) fn sounds(&self) -> &[char] {
        self.sounds.get_or_init(|| self.chars.iter().map(|&c| view::char_of_syllable(c)).collect())
    }

    /// The sounds as a bag.
    pub(super) fn sound_bag(&self) -> &Bag {
        self.sound_bag.get_or_init(|| Bag::of_chars(self.sounds()))
    }

    /// The folded characters as a bag.
    pub(super) fn bag(&self) -> &Bag {
        self.bag.get_or_init(|| Bag::of_chars(&self.chars))
    }

    /// The total weight of the bigrams: a character that is neither the first nor the last is in
    /// two.
    fn weight_of_pairs(&self) -> u64 {
        match self.chars.as_slice() {
            [first, .., last] => 2 * self.weight - u64::from(weight(*first) + weight(*last)),
            _ => 0,
        }
    }

    /// The folded bigrams as a bag.
    pub(super) fn grams(&self) -> &Bag {
        self.grams.get_or_init(|| Bag::of_pairs(&self.chars))
    }

    /// Length of the folded text in characters.
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Whether the folded text is empty, for example of a post of emoji.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The folded characters with their counts and weights, in rising order of symbol.
    pub fn characters(&self) -> &[BagToken] {
        &self.bag().tokens
    }

    /// The bigrams with their counts and weights, in rising order of symbol.
    pub fn pairs(&self) -> &[BagToken] {
        &self.grams().tokens
    }
}

impl Bag {
    /// The bag of characters.
    pub fn of_chars(chars: &[char]) -> Self {
        let weigh = |symbol: u64| char::from_u32(symbol as u32).map_or(0, weight);
        Self::collect_tokens(chars.iter().map(|&c| u64::from(u32::from(c))).collect(), weigh)
    }

    /// The bag of neighbours. A pair weighs as much as its two characters.
    pub fn of_pairs(chars: &[char]) -> Self {
        let pair = |w: &[char]| u64::from(u32::from(w[0])) << 32 | u64::from(u32::from(w[1]));
        let letter = |half: u64| char::from_u32(half as u32).map_or(0, weight);
        Self::collect_tokens(chars.windows(2).map(pair).collect(), |symbol| {
            letter(symbol >> 32) + letter(symbol)
        })
    }

    fn collect_tokens(mut occurrences: Vec<u64>, weigh: impl Fn(u64) -> u32) -> Self {
        occurrences.sort_unstable();
        let mut bag = Bag { tokens: Vec::with_capacity(occurrences.len()), total: 0 };
        for of_symbol in occurrences.chunk_by(|x, y| x == y) {
            let (symbol, count) = (of_symbol[0], of_symbol.len() as u32);
            let weight = weigh(symbol);
            bag.total += u64::from(count) * u64::from(weight);
            bag.tokens.push(BagToken { symbol, count, weight });
        }
        bag
    }

    /// The weight of the tokens that two bags share.
    pub fn weight_shared(&self, other: &Bag) -> u64 {
        self.count_shared(other).1
    }

    /// How many tokens two bags share, with repetitions, and their weight.
    pub fn count_shared(&self, other: &Bag) -> (u64, u64) {
        let (mut a, mut b) = (self.tokens.iter().peekable(), other.tokens.iter().peekable());
        let (mut count, mut weight) = (0, 0);
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.symbol.cmp(&y.symbol) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal => {
                    let both = u64::from(x.count.min(y.count));
                    count += both;
                    weight += both * u64::from(x.weight);
                    a.next();
                    b.next();
                }
            }
        }
        (count, weight)
    }
}

/// Lines like `3、…` or `12. …`.
fn count_items(plain: &str) -> u32 {
    let is_item = |line: &&str| {
        let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.trim_start().len() && rest.starts_with(['.', '、', ',', ')', ':'])
    };
    plain.lines().filter(is_item).count() as u32
}

/// The weight of a character that the dictionary hardly knows.
const RARE: u32 = MOST_WEIGHT;

/// The greatest weight of any character.
pub(crate) const MOST_WEIGHT: u32 = 120;

/// The weight of a Latin letter or a digit; the smallest of any character.
pub(crate) const LEAST_WEIGHT: u32 = 20;

/// The weight of a folded character, or of a word's symbol, in tenths of a nat; at least 20.
///
/// ```
/// # use riddlemill_text::text::sameness::weight;
/// assert!(weight('的') < weight('鱼') && weight('鱼') < weight('鳄'));
/// ```
pub fn weight(c: char) -> u32 {
    match c {
        c if c.is_ascii() || symbols::is_symbol(c) => LEAST_WEIGHT,
        c => TABLE
            .get(c as usize)
            .map_or_else(|| words::weight_of_symbol(c).unwrap_or(RARE), |&weight| weight.into()),
    }
}

/// Weights by scalar value, up to the last character that is not rare.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let last = listed_weights().map(|(c, _)| c as usize).max().unwrap_or(0);
    let mut table = vec![RARE as u8; last + 1];
    listed_weights().for_each(|(c, weight)| table[c as usize] = weight);
    // As little as digits.
    for (at, weight) in table.iter_mut().enumerate() {
        if char::from_u32(at as u32).is_some_and(signs::is_sign_letter) {
            *weight = LEAST_WEIGHT as u8;
        }
    }
    table
});

/// `weights.txt`: a line for each weight, the weight and the characters that have it.
fn listed_weights() -> impl Iterator<Item = (char, u8)> {
    include_str!("weights.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(weight, chars)| Some((weight.parse().ok()?, chars)))
        .flat_map(|(weight, chars): (u8, &str)| chars.chars().map(move |c| (c, weight)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::segment::shared_jieba;

    #[test]
    fn bags_count() {
        let (a, b) = (Bag::of_chars(&['鱼', '鱼', '刺']), Bag::of_chars(&['鱼', '鳞', '鱼', '鱼']));
        assert_eq!(a.weight_shared(&b), u64::from(2 * weight('鱼')));
        assert_eq!(a.weight_shared(&a), a.total);
    }

    #[test]
    fn pairs_weigh_what_their_bag_weighs() {
        for text in ["", "鱼", "鱼鱼", "鱼刺和鱼鳞和鱼刺"] {
            let prepared = PreparedText::new(text);
            assert_eq!(prepared.weight_of_pairs(), prepared.grams().total, "{text}");
            assert_eq!(prepared.weight, prepared.bag().total, "{text}");
        }
    }

    #[test]
    fn items_of_a_list() {
        assert_eq!(count_items("1、鱼\n 2.虾\n三只\n2020年\n12) 蟹"), 3);
    }

    #[test]
    fn every_line_parses_and_no_character_has_two_weights() {
        let mut listed = 0;
        for line in include_str!("weights.txt").lines() {
            let (weight, chars) = line.split_once(' ').unwrap();
            assert!((LEAST_WEIGHT..RARE).contains(&weight.parse().unwrap()), "{line}");
            listed += chars.chars().count();
        }
        let distinct: std::collections::HashSet<char> = super::listed_weights().map(|(c, _)| c).collect();
        assert_eq!(listed, distinct.len());
        assert!(listed > 7000);
    }

    /// A character's frequency is at least that of the word it is by itself.
    #[test]
    fn the_table_agrees_with_the_dictionary() {
        const TOTAL: f64 = 99_950_878.0;
        for (c, weight) in listed_weights() {
            let alone = shared_jieba().suggest_freq(c.encode_utf8(&mut [0; 4])) as f64;
            let at_most = 10.0 * ((TOTAL / (alone + 49.0)).ln() - 2.0);
            assert!(f64::from(weight) <= at_most + 1.0, "{c}: {weight}, alone {alone}");
        }
    }
}
