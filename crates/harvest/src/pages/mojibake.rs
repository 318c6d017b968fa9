//! Texts that were decoded with another encoding than they were written in.
//!
//! What: U+FFFD; UTF-8 read as windows-1252 or Latin-1 (`donâ€™t`, `ä¸ºä»€ä¹ˆ`), as GBK (`don鈥檛`, `涓轰粈涔堢尗`), and as the
//! [other encodings](OTHERS) of Europe and East Asia (`РџСЂРёРІРµС‚`, `莠ｺ莉荵`); GBK read as UTF-8 (`Ϊʲô`); GBK and any other encoding
//! of letters that are not Latin read as Latin-1 (`ÎªÊ²Ã´`, `Ïðèâåò`); windows-1252 read as GBK (`don抰`); U+FFFD that was read as GBK in turn (`锟斤拷锟斤拷锟斤拷`).
//!
//! How: the text is encoded as it was read, and the bytes are decoded as they may have been written. Of a text that was read well
//! hardly any bytes are valid then.
//!
//! Why `锟斤拷` alone is no sign: it is a joke of its own.
//!
//! Known problems: a damaged piece of one or two characters within a long sound line is not seen, nor are other pairs of encodings, such as
//! GBK read as Big5, nor a text whose characters became `?`.

use std::sync::LazyLock;

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GB18030, ISO_8859_2, KOI8_R, MACINTOSH, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254,
};
use memchr::memmem::Finder;

/// Most characters of the piece that is shown.
const SHOWN: usize = 40;

/// U+FFFD.
static LOST: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\u{fffd}"));

/// U+FFFD that was read as GBK.
static LOST_TWICE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("锟斤拷锟斤拷锟斤拷"));

/// Encodings as which UTF-8 is read, each with its name and the one that `iconv` has for it, in the order in which they are tried.
pub const READ_AS: [(&Encoding, &str, &str); 12] = [
    (WINDOWS_1252, "windows-1252", "WINDOWS-1252"),
    (GB18030, "GBK", "GB18030"),
    (WINDOWS_1251, "windows-1251", "WINDOWS-1251"),
    (KOI8_R, "KOI8-R", "KOI8-R"),
    (WINDOWS_1250, "windows-1250", "WINDOWS-1250"),
    (ISO_8859_2, "ISO 8859-2", "ISO-8859-2"),
    (WINDOWS_1253, "windows-1253", "WINDOWS-1253"),
    (WINDOWS_1254, "windows-1254", "WINDOWS-1254"),
    (MACINTOSH, "Mac Roman", "MACINTOSH"),
    (BIG5, "Big5", "BIG5"),
    (SHIFT_JIS, "Shift JIS", "CP932"),
    (EUC_KR, "EUC-KR", "CP949"),
];

/// Those of one byte a character that have no rule of their own.
const OTHERS: std::ops::Range<usize> = 2..9;

/// Those of East Asia that have none.
const WIDE: std::ops::Range<usize> = 9..12;

/// The first piece of a text that shows a wrong encoding, at most 40 characters; `None` for a sound text.
///
/// ```
/// # use riddlemill_harvest::pages::mojibake::garbled;
/// assert_eq!(garbled("涓轰粈涔堢尗涓嶄細椋烇紵").as_deref(), Some("涓轰粈涔堢尗涓嶄細椋烇紵"));
/// assert_eq!(garbled("为什么锟斤拷烫烫烫会笑？"), None);
/// ```
pub fn garbled(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    if let Some(at) = LOST.find(text.as_bytes()).or_else(|| LOST_TWICE.find(text.as_bytes())) {
        return Some(word_around(text, at, at));
    }
    if let Some(at) = find_signs(text) {
        return Some(word_around(text, at, at));
    }
    // What windows-1252, Latin-1 and GBK as UTF-8 give has characters of two bytes, which begin with these.
    let western = text.bytes().any(|b| matches!(b, 0xc2..=0xdf));
    let lines = || text.lines().filter(|line| !line.is_ascii());
    if western {
        if let Some(found) = decode_twice_encoded(text) {
            return Some(found);
        }
        if let Some(line) = lines().find(|line| {
            is_utf8_as_western(line)
                || is_gbk_as_utf8(line)
                || is_gbk_as_western(line)
                || is_letters_as_western(line)
        }) {
            return Some(word_around(line, 0, 0));
        }
    }
    if let Some(line) = lines().find(|line| {
        is_utf8_as_gbk(line) || are_letters_as_gbk(line) || is_utf8_as_other(line) || is_utf8_in_latin(line)
    }) {
        return Some(word_around(line, 0, 0));
    }
    find_glued(text)
}

/// The word around a place, at most 40 characters.
fn word_around(text: &str, start: usize, end: usize) -> String {
    let from = text[..start]
        .rfind(char::is_whitespace)
        .map_or(0, |space| space + text[space..].chars().next().map_or(1, char::len_utf8));
    let to = end + text[end..].find(char::is_whitespace).unwrap_or(text.len() - end);
    let before = text[from..start].chars().count();
    text[from..to].chars().skip(before.saturating_sub(SHOWN / 2)).take(SHOWN).collect()
}

/// Runs of characters beyond ASCII with where they start.
fn non_ascii_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(|c: char| !c.is_ascii())?;
        at = start + text[start..].find(|c: char| c.is_ascii()).unwrap_or(text.len() - start);
        Some((start, &text[start..at]))
    })
}

/// A run that is valid UTF-8 as a whole if it is encoded as windows-1252: `donâ€™t`.
fn decode_twice_encoded(text: &str) -> Option<String> {
    let (start, run) = non_ascii_runs(text).find(|(_, run)| {
        // The first byte of a character in UTF-8, and what may be behind it.
        run.starts_with(|c: char| matches!(c, '\u{c2}'..='\u{f4}')) && {
            let (bytes, _, lost) = WINDOWS_1252.encode(run);
            !lost && std::str::from_utf8(&bytes).is_ok()
        }
    })?;
    Some(word_around(text, start, start + run.len()))
}

/// English text in windows-1252 that was read as GBK: a letter is next to a rare character, into which a sign and the letter behind
/// it were read (`don抰` was `don’t`).
pub(super) fn find_glued(text: &str) -> Option<String> {
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let common = count_beyond_ascii(text);
    // A Chinese text has few letters, and in traditional characters it has rare ones.
    if common * 4 > letters {
        return None;
    }
    let (start, run) = non_ascii_runs(text).find(|(start, run)| {
        let mut characters = run.chars();
        let first = characters.next();
        text[..*start].ends_with(|c: char| c.is_ascii_alphabetic())
            && characters.next().is_none_or(|next| !is_han(next))
            && first.is_some_and(|first| {
                let mut buffer = [0; 4];
                let (bytes, _, lost) = GB18030.encode(first.encode_utf8(&mut buffer));
                // 80 to 9F are punctuation in windows-1252; GBK takes the next letter for a second byte.
                !lost && matches!(*bytes, [0x80..=0x9f, second] if second.is_ascii_alphabetic())
            })
    })?;
    Some(word_around(text, start, start + run.len()))
}

/// Characters beyond ASCII, by their first bytes.
fn count_beyond_ascii(text: &str) -> usize {
    text.bytes().filter(|byte| *byte >= 0xc0).count()
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

/// What bytes are as UTF-8.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Characters of three bytes or more that texts consist of.
    long: usize,
    /// Signs such as `’`, of the long ones.
    signs: usize,
    /// Bytes of characters beyond ASCII.
    good: usize,
    /// Bytes that are none of a character, and those of characters that texts do not consist of.
    bad: usize,
}

impl Counts {
    fn count_signs(bytes: &[u8]) -> Counts {
        let mut counts = Counts::default();
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars().filter(|c| !c.is_ascii()) {
                let length = c.len_utf8();
                match c {
                    // Controls are in no text.
                    '\u{80}'..='\u{9f}' => counts.bad += length,
                    '\u{a0}'..='\u{7ff}' => counts.good += length,
                    '\u{900}'..='\u{eff}'
                    | '\u{1e00}'..='\u{2e7f}'
                    | '\u{3000}'..='\u{9fff}'
                    | '\u{ac00}'..='\u{d7a3}'
                    | '\u{f900}'..='\u{faff}'
                    | '\u{fe30}'..='\u{ffef}'
                    | '\u{1f000}'..='\u{1faff}' => {
                        counts.long += 1;
                        counts.signs += usize::from(matches!(c, '\u{2010}'..='\u{2044}'));
                        counts.good += length;
                    }
                    _ => counts.bad += length,
                }
            }
            // The rest of a character whose last byte was lost counts for neither.
            let cut = matches!(chunk.invalid(), [0xe0..=0xf4, _, ..]);
            if !cut {
                counts.bad += chunk.invalid().len();
            }
        }
        counts
    }

    fn add_counts(self, other: Counts) -> Counts {
        Counts {
            long: self.long + other.long,
            signs: self.signs + other.signs,
            good: self.good + other.good,
            bad: self.bad + other.bad,
        }
    }

    /// Whether the bytes were a text.
    fn is_text(self) -> bool {
        self.long >= 2 && self.bad * 4 <= self.good
    }
}

/// The bytes of a run in windows-1252, and in Latin-1 where that has no such character; characters of neither become a byte that
/// is invalid in UTF-8.
fn western_bytes(run: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.len());
    let mut buffer = [0; 4];
    for c in run.chars() {
        let (encoded, _, lost) = WINDOWS_1252.encode(c.encode_utf8(&mut buffer));
        match (lost, u8::try_from(c)) {
            (false, _) => bytes.extend_from_slice(&encoded),
            (true, Ok(byte)) => bytes.push(byte),
            (true, Err(_)) => bytes.extend([0xff; 3]),
        }
    }
    bytes
}

/// UTF-8 that was read as windows-1252 or Latin-1: `ä¸ºä»€ä¹ˆ`.
fn is_utf8_as_western(line: &str) -> bool {
    // Without the first bytes of long characters there are none.
    line.contains(|c: char| matches!(c, '\u{e0}'..='\u{f4}'))
        && non_ascii_runs(line)
            .fold(Counts::default(), |sum, (_, run)| sum.add_counts(Counts::count_signs(&western_bytes(run))))
            .is_text()
}

/// Characters that may come from UTF-8 read as GBK, of those that GBK has: their bytes continue or begin a long character.
static SUSPECT: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; 0x1_0000 / 64];
    let mut buffer = [0; 4];
    for code in ('\u{4e00}'..='\u{9fff}').chain('\u{e000}'..='\u{f8ff}').chain(['€']) {
        let (bytes, _, lost) = GB18030.encode(code.encode_utf8(&mut buffer));
        let continues = |byte: u8| byte & 0xc0 == 0x80;
        let suspect = match *bytes {
            [first, second] if !lost => {
                let begins = matches!(first, 0xe0..=0xef) && continues(second);
                begins
                    || continues(first)
                        && (continues(second) || matches!(second, 0xe0..=0xef) || second < 0x80)
            }
            _ => false,
        };
        if suspect || code == '€' {
            bits[code as usize / 64] |= 1 << (code as usize % 64);
        }
    }
    bits
});

/// UTF-8 that was read as GBK: `涓轰粈涔堢尗`, `don鈥檛`.
fn is_utf8_as_gbk(line: &str) -> bool {
    let all = count_beyond_ascii(line);
    // In an English text accents may be between the signs.
    let latin = line.bytes().filter(u8::is_ascii_alphabetic).count() > all * 4;
    let (mut suspect, mut sound) = (0, 0);
    for c in line.chars().filter(|c| !c.is_ascii()) {
        let code = c as usize;
        match SUSPECT.get(code / 64).is_some_and(|bits| bits >> (code % 64) & 1 == 1) {
            true => suspect += 1,
            false => sound += 1,
        }
        // Of a Chinese text one character in four is suspect: most are left after a few.
        if sound * 5 > all && !latin {
            return false;
        }
    }
    if suspect < 2 {
        return false;
    }
    let counts = non_ascii_runs(line)
        .fold(Counts::default(), |sum, (_, run)| sum.add_counts(Counts::count_signs(&GB18030.encode(run).0)));
    counts.is_text() || counts.signs > 0 && counts.bad == 0
}

/// Where a sign of windows-1252, GBK or Big5 was read as Latin-1: a control (`don\u{92}t`), `don¡¯t`, `don¡¦t`, `caf¨¦`.
fn find_signs(text: &str) -> Option<usize> {
    let is_control = |c: char| matches!(c, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}');
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let found = match c {
            '¡' => matches!(next, '\u{a4}'..='\u{b1}'),
            '¨' => {
                before.is_ascii_alphabetic()
                    && (matches!(next, '\u{a1}'..='\u{bf}') || next.is_ascii_alphabetic())
            }
            // Behind a character of another script it is a control as others are, which clean removes.
            c => is_control(c) && (before.is_ascii_alphabetic() || next.is_ascii_alphabetic()),
        };
        if found {
            return Some(at);
        }
        before = c;
    }
    None
}

/// A text in Latin letters in UTF-8 that was read in any encoding of which its signs and accents became other letters: `Perch茅`,
/// `donвЂ™t`. All that is beyond ASCII is UTF-8 then, and stands within words.
fn is_utf8_in_latin(line: &str) -> bool {
    let latin = line.bytes().filter(u8::is_ascii_alphabetic).count();
    if latin < 8 || latin < 2 * count_beyond_ascii(line) {
        return false;
    }
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let (mut runs, mut glued, mut within) = (0, 0, 0);
    for (start, run) in non_ascii_runs(line) {
        let before = line[..start].ends_with(is_letter);
        let behind = line[start + run.len()..].starts_with(is_letter);
        runs += 1;
        glued += usize::from(before || behind);
        within += usize::from(before && behind);
    }
    (within > 0 || glued > 0 && runs > 1)
        && READ_AS.iter().any(|(encoding, ..)| {
            non_ascii_runs(line).all(|(_, run)| {
                let (bytes, _, lost) = encoding.encode(run);
                !lost && std::str::from_utf8(&bytes).is_ok()
            })
        })
}

/// Letters of two bytes in UTF-8, Greek to Arabic, that were read as GBK: `袩芯褔械屑褍`. Each is one character, of an alphabet's few rows, and
/// in a Chinese text one in ten has such bytes.
fn are_letters_as_gbk(line: &str) -> bool {
    let (mut letters, mut rare, mut rows) = (0, 0, 0_u32);
    let mut buffer = [0; 4];
    for c in line.chars().filter(|c| is_han(*c)) {
        match *GB18030.encode(c.encode_utf8(&mut buffer)).0 {
            [row @ 0xce..=0xdf, place @ 0x80..=0xbf] => {
                letters += 1;
                rare += usize::from(place < 0xa1);
                rows |= 1 << (row - 0xc0);
            }
            _ => return false,
        }
    }
    letters >= 4 && rare >= 1 && rows.count_ones() <= 4
}

/// UTF-8 that was read as one of the other encodings.
fn is_utf8_as_other(line: &str) -> bool {
    let counts = |encoding: &'static Encoding| {
        non_ascii_runs(line).fold(Counts::default(), |sum, (_, run)| {
            sum.add_counts(Counts::count_signs(&encoding.encode(run).0))
        })
    };
    // What is none of the encoding's characters is written as a reference, in ASCII.
    let is_whole = |encoding: &'static Encoding| {
        let lost = non_ascii_runs(line).filter(|(_, run)| encoding.encode(run).2).count();
        lost * 4 <= non_ascii_runs(line).count()
    };
    let is_wide = |c: char| matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff61}'..='\u{ff9f}');
    let wide = line.chars().filter(|c| is_wide(*c)).count();
    if wide > 1 {
        return READ_AS[WIDE].iter().any(|(encoding, ..)| {
            (*encoding != SHIFT_JIS || line.contains(|c| matches!(c, '\u{ff61}'..='\u{ff9f}')))
                && may_be_utf8(line, encoding)
                && is_whole(encoding)
                && counts(encoding).is_text()
        });
    }
    // Three letters of two bytes each at least, or two longer ones.
    let is_text = |counts: Counts| counts.good >= 6 && counts.bad * 4 <= counts.good;
    line.bytes().filter(|byte| matches!(byte, 0xc2..=0xdf)).nth(2).is_some()
        && READ_AS[OTHERS].iter().any(|(encoding, ..)| is_text(counts(encoding)) && is_whole(encoding))
}

/// Whether the first characters of a line may come from UTF-8 read in an encoding of two bytes: of a sound text many cannot.
fn may_be_utf8(line: &str, encoding: &'static Encoding) -> bool {
    let first: String = line.chars().filter(|c| !c.is_ascii()).take(12).collect();
    let (bytes, _, lost) = encoding.encode(&first);
    let counts = Counts::count_signs(&bytes);
    !lost && counts.bad * 2 <= counts.good
}

/// Letters that are not Latin, of an encoding of their own, that were read as Latin-1 or windows-1252: `Ïðèâåò`. No language writes words
/// of nothing but letters with accents and signs.
fn is_letters_as_western(line: &str) -> bool {
    let latin = line.bytes().filter(u8::is_ascii_alphabetic).count();
    let (mut accented, mut kinds) = (0, [false; 96]);
    for (_, run) in non_ascii_runs(line) {
        let is_sign = |c: &char| matches!(c, '¯' | '´' | '·' | '°' | '×' | '÷');
        let letters = || run.chars().filter(|c| matches!(c, '\u{a1}'..='\u{ff}') && !is_sign(c));
        if letters().count() < 3 {
            continue;
        }
        accented += letters().count();
        letters().for_each(|c| kinds[c as usize - 0xa0] = true);
    }
    let kinds = kinds.iter().filter(|kind| **kind).count();
    accented >= 6
        && kinds >= 4
        && accented >= 4 * latin
        && line.chars().all(|c| c.is_ascii() || !WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2)
}

/// A GBK text whose bytes were valid UTF-8: `Ϊʲô`. Neighbours of several alphabets, and on the whole line nothing beyond ASCII but
/// what is a Chinese character or sign then: people who write in other alphabets for fun have other letters and signs, too.
fn is_gbk_as_utf8(line: &str) -> bool {
    let (mut run, mut seen, mut found) = (0, [false; 7], false);
    let mut buffer = [0; 4];
    for c in line.chars() {
        if c.is_ascii() {
            (run, seen) = (0, [false; 7]);
            continue;
        }
        let [_, 0xa1..=0xff] = c.encode_utf8(&mut buffer).as_bytes() else { return false };
        let alphabet = match c {
            '\u{c0}'..='\u{24f}' => 0,
            '\u{250}'..='\u{2ff}' => 1,
            '\u{370}'..='\u{3ff}' => 2,
            '\u{400}'..='\u{52f}' => 3,
            '\u{530}'..='\u{58f}' => 4,
            '\u{591}'..='\u{5ff}' => 5,
            '\u{600}'..='\u{6ff}' => 6,
            _ => 7,
        };
        run += 1;
        if let Some(seen) = seen.get_mut(alphabet) {
            *seen = true;
        }
        found |= run >= 3 && seen.iter().filter(|seen| **seen).count() >= 2;
    }
    found
}

/// GBK that was read as Latin-1 or windows-1252: `ÎªÊ²Ã´`. Three different characters of the commoner half; Latin letters among them.
fn is_gbk_as_western(line: &str) -> bool {
    non_ascii_runs(line).any(|(_, run)| {
        let bytes = western_bytes(run);
        let (pairs, rest) = bytes.as_chunks::<2>();
        let letters = run.chars().filter(|c| matches!(c, '\u{c0}'..='\u{ff}')).count();
        // Rarer characters, such as traditional ones, have other first bytes than those of everyday texts.
        let valid = |pair: &&[u8; 2]| matches!(pair, [0xa1..=0xf7, 0xa1..=0xfe]);
        let rare = pairs.len() - pairs.iter().filter(valid).count();
        if pairs.len() < 3 || !rest.is_empty() || rare * 4 > pairs.len() || letters * 2 < pairs.len() {
            return false;
        }
        let mut common: Vec<_> = pairs.iter().filter(|[first, _]| matches!(first, 0xb0..=0xd7)).collect();
        common.sort_unstable();
        common.dedup();
        common.len() >= 3
    })
}

#[cfg(test)]
mod tests;
