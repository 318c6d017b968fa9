//! A text made ready for many comparisons.

use super::{numbers, view, weight};

/// One token of a bag: a character or a pair of neighbours, with how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Identity: the scalar value, or two of them in the upper and lower half.
    pub symbol: u64,
    /// Occurrences, at least 1.
    pub count: u32,
    /// Weight of one occurrence, in tenths of a nat.
    pub weight: u32,
}

/// Everything that is compared of one text, computed once. A few hundred bytes for a short post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prepared {
    /// [`view::key`]; empty only for a blank text.
    pub(super) key: String,
    /// [`view::fold`], as characters.
    pub(super) chars: Vec<char>,
    /// [`view::sound`], as characters.
    pub(super) sounds: Vec<char>,
    /// The sounds as a bag.
    pub(super) sound_bag: Bag,
    /// The folded characters as a bag.
    pub(super) bag: Bag,
    /// The folded pairs of neighbours as a bag.
    pub(super) grams: Bag,
    /// Issue numbers and years, in rising order.
    pub(super) series: Vec<u32>,
    /// Lines that begin with a number and a mark, as in a list.
    pub(super) items: u32,
}

/// Tokens in rising order of symbol, and their weight together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bag {
    pub tokens: Vec<Token>,
    pub total: u64,
}

/// All that a comparison can see of a text, in its smallest form: texts of equal readings compare alike
/// with every other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// [`view::key`].
    key: String,
    /// Whether the key is the folded text, which is empty otherwise.
    is_folded: bool,
    /// As in [`Prepared`].
    series: Vec<u32>,
    /// As in [`Prepared`].
    items: u32,
}

impl Reading {
    /// Reads a text. Linear in its length.
    pub fn new(text: &str) -> Self {
        let plain = view::plain(text);
        let folded = view::fold_plain(&plain);
        let is_folded = !folded.is_empty();
        Self {
            key: if is_folded { folded } else { view::bare(text) },
            is_folded,
            series: numbers::numbers(&plain),
            items: count_items(&plain),
        }
    }

    /// [`view::key`]: empty only for a blank text.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// [`view::fold`].
    pub fn folded(&self) -> &str {
        if self.is_folded { &self.key } else { "" }
    }

    /// Appends the reading as bytes: the same for equal readings, and for no others.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.is_folded.into());
        bytes.extend(self.items.to_le_bytes());
        bytes.extend((self.series.len() as u32).to_le_bytes());
        self.series.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(self.key.as_bytes());
    }

    /// What [`Reading::write`] wrote; `None` of other bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (&[is_folded], bytes) = bytes.split_first_chunk()?;
        let (items, bytes) = bytes.split_first_chunk()?;
        let (numbers, bytes) = bytes.split_first_chunk()?;
        let numbers = (u32::from_le_bytes(*numbers) as usize).checked_mul(4)?;
        let (series, key) = bytes.split_at_checked(numbers)?;
        Some(Self {
            key: std::str::from_utf8(key).ok()?.into(),
            is_folded: is_folded != 0,
            series: series.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)).collect(),
            items: u32::from_le_bytes(*items),
        })
    }

    /// Whether the text has nothing but spaces, and is like no other.
    pub fn is_blank(&self) -> bool {
        self.key.is_empty()
    }
}

impl From<&Reading> for Prepared {
    /// Linear in the length of the text, but for the sorting of its characters.
    fn from(reading: &Reading) -> Self {
        let chars: Vec<char> = reading.folded().chars().collect();
        let sounds: Vec<char> = chars.iter().map(|&c| view::syllable(c)).collect();
        Self {
            key: reading.key.clone(),
            sound_bag: Bag::of_chars(&sounds),
            sounds,
            bag: Bag::of_chars(&chars),
            grams: Bag::of_pairs(&chars),
            series: reading.series.clone(),
            items: reading.items,
            chars,
        }
    }
}

impl Prepared {
    /// Prepares a text. Linear in its length, but for the sorting of its characters.
    pub fn new(text: &str) -> Self {
        Self::from(&Reading::new(text))
    }

    /// Length of the folded text in characters.
    pub fn len(&self) -> usize {
        self.chars.len()
    }

    /// Whether the folded text is empty, as of a post of emoji.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// The folded characters with their counts and weights, in rising order of symbol.
    pub fn characters(&self) -> &[Token] {
        &self.bag.tokens
    }

    /// The pairs of neighbours with their counts and weights, in rising order of symbol.
    pub fn pairs(&self) -> &[Token] {
        &self.grams.tokens
    }
}

impl Bag {
    /// The bag of characters.
    pub fn of_chars(chars: &[char]) -> Self {
        Self::collect(chars.iter().map(|&c| (u64::from(u32::from(c)), weight(c))).collect())
    }

    /// The bag of neighbours. A pair weighs as much as its two characters.
    pub fn of_pairs(chars: &[char]) -> Self {
        let pair = |w: &[char]| {
            (u64::from(u32::from(w[0])) << 32 | u64::from(u32::from(w[1])), weight(w[0]) + weight(w[1]))
        };
        Self::collect(chars.windows(2).map(pair).collect())
    }

    fn collect(mut occurrences: Vec<(u64, u32)>) -> Self {
        occurrences.sort_unstable();
        let mut bag = Bag::default();
        for (symbol, weight) in occurrences {
            bag.total += u64::from(weight);
            match bag.tokens.last_mut() {
                Some(last) if last.symbol == symbol => last.count += 1,
                _ => bag.tokens.push(Token { symbol, count: 1, weight }),
            }
        }
        bag
    }

    /// The weight of what two bags share.
    pub fn shared(&self, other: &Bag) -> u64 {
        self.common(other).1
    }

    /// How many tokens two bags share, with their repetitions, and the weight of these.
    pub fn common(&self, other: &Bag) -> (u64, u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bags_count() {
        let (a, b) = (Bag::of_chars(&['鱼', '鱼', '刺']), Bag::of_chars(&['鱼', '鳞', '鱼', '鱼']));
        assert_eq!(a.shared(&b), u64::from(2 * weight('鱼')));
        assert_eq!(a.shared(&a), a.total);
    }

    #[test]
    fn items_of_a_list() {
        assert_eq!(count_items("1、鱼\n 2.虾\n三只\n2020年\n12) 蟹"), 3);
    }
}
