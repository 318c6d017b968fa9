//! Texts that were decoded with another encoding than they were written in.
//!
//! What: U+FFFD; UTF-8 read as windows-1252 or Latin-1 (`donâ€™t`, `ä¸ºä»€ä¹ˆ`) and as GBK (`don鈥檛`, `涓轰粈涔堢尗`); GBK read as UTF-8
//! (`Ϊʲô`) and as Latin-1 (`ÎªÊ²Ã´`); windows-1252 read as GBK (`don抰`); U+FFFD that was read as GBK in turn (`锟斤拷锟斤拷锟斤拷`).
//!
//! How: the text is encoded as it was read, and the bytes are decoded as they may have been written. Of a text that was read well
//! hardly any bytes are valid then.
//!
//! Why `锟斤拷` alone is no sign: it is a joke of its own.
//!
//! Known problems: a damaged piece of one or two characters within a long sound line is not seen, nor are other pairs of encodings,
//! nor a text whose characters became `?`.

use std::sync::LazyLock;

use encoding_rs::{GB18030, WINDOWS_1252};
use memchr::memmem::Finder;

/// Most characters of the piece that is shown.
const SHOWN: usize = 40;

/// U+FFFD.
static LOST: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\u{fffd}"));

/// U+FFFD that was read as GBK.
static LOST_TWICE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("锟斤拷锟斤拷锟斤拷"));

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
    // What windows-1252, Latin-1 and GBK as UTF-8 give has characters of two bytes, which begin with these.
    let western = text.bytes().any(|b| matches!(b, 0xc2..=0xdf));
    let lines = || text.lines().filter(|line| !line.is_ascii());
    if western {
        if let Some(found) = decode_twice_encoded(text) {
            return Some(found);
        }
        if let Some(line) =
            lines().find(|line| is_utf8_as_western(line) || is_gbk_as_utf8(line) || is_gbk_as_western(line))
        {
            return Some(word_around(line, 0, 0));
        }
    }
    if let Some(line) = lines().find(|line| is_utf8_as_gbk(line)) {
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
                    '\u{1e00}'..='\u{2e7f}'
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
                let begins = matches!(first, 0xe2..=0xef) && continues(second);
                begins
                    || continues(first)
                        && (continues(second) || matches!(second, 0xe2..=0xef) || second < 0x80)
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
mod tests {
    use super::*;
    use encoding_rs::{Encoding, UTF_8};

    /// How a text looks if it is written in one encoding and read in another.
    fn misread(text: &str, written: &'static Encoding, read: &'static Encoding) -> String {
        read.decode_without_bom_handling(&written.encode(text).0).0.into_owned()
    }

    /// Short and long, with signs, digits and Latin letters.
    const CHINESE: [&str; 8] = [
        "为什么猫不会飞？",
        "我们",
        "盲人的梦要不要开灯？",
        "“影子”欠了光的钱，会不会被拉长？",
        "电梯里的镜子会不会晕\n我把时间存进银行，利息是几点",
        "3D电影里的人会不会觉得我们是2D的",
        "如果我喝了卸妆水，会不会吐出真心话……",
        "為什麼雨傘不怕淋雨？",
    ];

    const ENGLISH: [&str; 4] = [
        "Why don’t fish drown?",
        "A “guest” left – why?",
        "Isn’t it odd that “fat chance” and “slim chance” mean the same…",
        "What is the naïve café’s menu?",
    ];

    #[test]
    fn a_text_read_in_another_encoding_is_seen() {
        for text in CHINESE.iter().chain(&ENGLISH) {
            for (written, read) in [(UTF_8, WINDOWS_1252), (UTF_8, GB18030)] {
                let wrong = misread(text, written, read);
                assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
                // Read twice in the same wrong way.
                let again = misread(&wrong, UTF_8, WINDOWS_1252);
                assert!(garbled(&again).is_some(), "{text}: {again}");
            }
        }
        // Two characters are too few for what is no valid UTF-8.
        for text in CHINESE.iter().filter(|text| text.chars().count() > 2) {
            for read in [UTF_8, WINDOWS_1252] {
                let wrong = misread(text, GB18030, read);
                assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
            }
        }
        assert_eq!(garbled("Ϊʲô").as_deref(), Some("Ϊʲô"));
        for text in &ENGLISH[..3] {
            let wrong = misread(text, WINDOWS_1252, GB18030);
            assert!(garbled(&wrong).is_some(), "{text}: {wrong}");
        }
    }

    #[test]
    fn bytes_that_were_lost_do_not_hide_it() {
        for text in [
            "为什么����不会笑？",
            "涓轰粈涔?鐚笉浼氶",
            "涓轰粈涔",
            "ä¸ºä»€ä¹ˆçŒ«ä¸ä¼šé£žï¼Ÿ",
            "求助：涓轰粈涔堢尗涓嶄細椋烇紵",
            "盲人的梦\n涓轰粈涔堢尗涓嶄細椋烇紵",
            "锟斤拷锟斤拷锟斤拷",
            "cafÃ©",
        ] {
            assert!(garbled(text).is_some(), "{text}");
        }
    }

    #[test]
    fn the_piece_is_shown() {
        let wrong = misread("Why don’t fish drown?", WINDOWS_1252, GB18030);
        assert_eq!(garbled(&wrong).as_deref(), Some("don抰"));
        assert_eq!(garbled("A cafÃ©â€™s guest").as_deref(), Some("cafÃ©â€™s"));
        assert_eq!(garbled("It is\u{fffd} odd").as_deref(), Some("is\u{fffd}"));
        let long = format!("{}\u{fffd}{}", "云".repeat(100), "云".repeat(100));
        assert_eq!(garbled(&long).unwrap().chars().count(), SHOWN);
    }

    #[test]
    fn sound_texts_are() {
        for text in CHINESE.iter().chain(&ENGLISH).chain(&[
            "The word 弱智 is Chinese, and so is日本.",
            "£5 or 5€?",
            "为什么锟斤拷烫烫烫会笑？",
            "手持两把锟斤拷锟斤拷，口中疾呼烫烫烫",
            "把iPhone XS丟了怎麼辦",
            "我的MacBook Pro亂碼",
            "联通",
            "通",
            "À la carte: crème brûlée, garçon, naïveté, Übergröße, señor, ÄÖÜ",
            "Привет, как дела? Україна",
            "Γειά σου Κόσμε",
            "שלום עולם",
            "لماذا لا ينام الليل؟",
            "ทำไมแมวไม่พูด?",
            "なぜ猫は飛ばないのですか？",
            "고양이는 왜 날지 못하나요?",
            "(´･ω･`) ヽ(✿ﾟ▽ﾟ)ノ ʕ•ᴥ•ʔ (°Д°) Σ(っ°Д°;)っ ¯\\_(ツ)_/¯ ಠ_ಠ",
            "××××××是什么？······°°°°°°￥￥￥",
            "x²+y³=±αβ·γ°",
            "しδωΓ，Юúθμξνζλοππξι？",
            "👨‍👩‍👧 é e\u{301}",
            "㎏和kg谁更重？①②③",
        ]) {
            assert_eq!(garbled(text), None, "{text}");
        }
    }
}
