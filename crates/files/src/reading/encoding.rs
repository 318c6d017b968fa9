//! Text in the encodings that programs for Chinese and spreadsheets write, as UTF-8.

use std::io::{self, BufRead, Read};
use std::path::Path;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, KOI8_R, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1251,
};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use super::dialect::HEAD;
use super::open_unpacked;

/// Text as UTF-8, and what it was before.
pub struct Decoded {
    /// The text without a mark of byte order. Text that is in UTF-8 passes as it is, wrong bytes included.
    pub reader: Box<dyn Read + Send>,
    /// The encoding it was in; `None` for UTF-8.
    pub encoding: Option<&'static Encoding>,
    /// Bytes of the mark of byte order before text in UTF-8.
    pub mark: u64,
}

/// The encoding of bytes that begin so, and the length of their mark. UTF-8 unless a mark, zeros between letters, or every
/// line says otherwise: a file of which one line is in another encoding is in UTF-8.
pub fn encoding_of(head: &[u8]) -> (&'static Encoding, usize) {
    if let Some((encoding, mark)) = Encoding::for_bom(head) {
        return (encoding, mark);
    }
    match *head {
        [first, 0, second, 0, ..] if first != 0 && second != 0 => return (UTF_16LE, 0),
        [0, first, 0, second, ..] if first != 0 && second != 0 => return (UTF_16BE, 0),
        _ => {}
    }
    (of_lines(head), 0)
}

/// Characters that any Chinese text of some length has, in both scripts, and the marks of its sentences.
const COMMON: &str = "的一是不了在人有我他這这個个們们中來来上大為为和國国地到以說说時时要就出會会可也你對对生能而子那得於于著着下自之年過过發发後后作裡里用道行所然家事成方多經经麼么去法學学如都同現现當当沒没動动面起看定天分還还進进好小部其些主樣样理心她本前開开但因只從从想實实日者意無无與与把什問问吗嗎呢吧啊為谁誰哪怎，。？！、；：「」“”（）《》…";

/// Of so many lines one may be damaged.
const WRONG: usize = 10;

/// Whether bytes are UTF-8 but for damaged places: text in other encodings rarely has a character in it.
pub fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut sound, mut wrong) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        // Two bytes of other encodings look like a character of two sometimes, three rarely.
        sound += chunk.valid().chars().filter(|c| c.len_utf8() > 2).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    wrong == 0 || sound > wrong
}

/// UTF-8, unless no line outside of ASCII is in it and all of them are in one encoding for Chinese.
fn of_lines(head: &[u8]) -> &'static Encoding {
    // The head may end in the middle of a character.
    let whole = match head.len() < HEAD {
        true => head,
        false => &head[..memchr::memrchr(b'\n', head).unwrap_or(head.len() - 3)],
    };
    let lines = || whole.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_ascii());
    if lines().next().is_none() || lines().any(is_mostly_utf8) {
        return UTF_8;
    }
    let count = lines().count();
    // A damaged byte, or the end of a file that was cut, is the fault of its line.
    let text_in = |encoding: &'static Encoding| -> Option<String> {
        let decoded = lines().map(|line| encoding.decode_without_bom_handling(line));
        let sound: Vec<_> = decoded.filter_map(|(text, is_wrong)| (!is_wrong).then_some(text)).collect();
        let wrong = count - sound.len();
        (sound.len() > wrong && wrong * WRONG <= count.max(WRONG)).then(|| sound.concat())
    };
    let (mainland, taiwan) = (text_in(GB18030), text_in(BIG5));
    let common = |text: &Option<String>| -> usize {
        text.iter().flat_map(|text| text.chars()).filter(|c| COMMON.contains(*c)).count()
    };
    // Most bytes of one mean something in the other, but rarely what people write. Of a Western encoding a few do in both.
    let is_chinese = |text: &str| {
        let wide = text.chars().filter(|c| !c.is_ascii()).count();
        text.chars().filter(|c| COMMON.contains(*c)).count() * SPARSE >= wide
    };
    match (&mainland, &taiwan) {
        // Kana have the same bytes in Japanese and Chinese, the characters between them do not.
        (Some(text), _) if is_japanese(text) => UTF_8,
        (_, Some(text)) if common(&taiwan) > common(&mainland) && is_chinese(text) => BIG5,
        (Some(text), _) => {
            let pairs = lines().map(pairs_of_gb2312);
            let (common, rare) = pairs.fold((0, 0), |sum, line| (sum.0 + line.0, sum.1 + line.1));
            if is_chinese(text) || common > rare && !text_in(EUC_KR).is_some_and(|text| is_korean(&text)) {
                GB18030
            } else {
                UTF_8
            }
        }
        _ => UTF_8,
    }
}

/// Whether so many characters are kana as only Japanese has.
fn is_japanese(text: &str) -> bool {
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let kana = text.chars().filter(|c| ('ぁ'..='ヺ').contains(c)).count();
    wide >= 8 && kana * 4 >= wide
}

/// Whether nearly all characters beyond ASCII are Hangul: as Chinese such a text would be a row of seldom characters.
fn is_korean(text: &str) -> bool {
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    let hangul = text.chars().filter(|c| ('가'..='힣').contains(c)).count();
    wide >= 8 && hangul * 10 >= wide * 9
}

/// Among so many characters of a Chinese text one is common.
const SPARSE: usize = 16;

/// How many pairs of bytes are of the characters of which Chinese in GB18030 mostly consists, and how many are not: in it most
/// texts of Western encodings mean something, too.
fn pairs_of_gb2312(line: &[u8]) -> (usize, usize) {
    let (mut common, mut rare) = (0, 0);
    let mut at = 0;
    while at < line.len() {
        at += match line[at..] {
            [first, ..] if first.is_ascii() => 1,
            [first, second, ..] if first >= 0xa1 && second >= 0xa1 => {
                common += 1;
                2
            }
            _ => {
                rare += 1;
                2
            }
        };
    }
    (common, rare)
}

/// The first bytes of a stream, as many as show what it is, and what is behind them. What was read before an error is there, and the
/// error comes behind it: a stream that is cut within its head would otherwise be read as a whole one.
pub fn read_head(mut reader: Box<dyn Read + Send>) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut head = Vec::with_capacity(HEAD);
    match reader.by_ref().take(HEAD as u64).read_to_end(&mut head) {
        Ok(_) => (head, reader),
        Err(error) => (head, Box::new(Failing(error))),
    }
}

/// Reads text of any of these encodings.
///
/// # Errors
/// The error of its first bytes.
pub fn text_of(reader: Box<dyn Read + Send>) -> io::Result<Decoded> {
    let (mut head, rest) = read_head(reader);
    let (encoding, mark) = encoding_of(&head);
    let rest: Box<dyn Read + Send> = Box::new(io::Cursor::new(head.split_off(mark)).chain(rest));
    if encoding == UTF_8 {
        return Ok(Decoded { reader: rest, encoding: None, mark: mark as u64 });
    }
    let decoder: DecodeReaderBytes<_, Vec<u8>> =
        DecodeReaderBytesBuilder::new().encoding(Some(encoding)).bom_sniffing(false).build(rest);
    Ok(Decoded { reader: Box::new(decoder), encoding: Some(encoding), mark: 0 })
}

/// The text of a small file that people wrote: a list of words, known answers, a table of JSON.
///
/// # Errors
/// That it is in none of the encodings of [`text_of`].
pub fn decode_text(bytes: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    let read = text_of(Box::new(io::Cursor::new(bytes.to_vec())))?.reader.read_to_string(&mut text);
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let names = likely_encodings(bytes);
            let likely =
                if names.is_empty() { String::new() } else { format!(" (it may be {})", names.join(" or ")) };
            let said = format!("it is no text in UTF-8, UTF-16, GB18030 or Big5{likely}; save it as UTF-8");
            Err(io::Error::new(io::ErrorKind::InvalidData, said))
        }
        Err(error) => Err(error),
    }
}

/// Text most of whose lines are neither UTF-8 nor in another encoding that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherEncoding {
    /// Its lines, as far as it was looked at.
    pub lines: u64,
    /// Those that are not UTF-8.
    pub wrong: u64,
    /// The encodings that these may be in, as `iconv` calls them: one, where it is clear.
    pub names: Vec<&'static str>,
}

/// Fewer wrong lines say nothing of a file.
const FEW_WRONG: u64 = 4;

/// So many lines are wrong for one that is sound.
const MOSTLY: u64 = 9;

/// Bytes of a file whose lines are counted, at most.
const COUNTED: u64 = 256 << 20;

/// The encoding of a file whose lines beyond ASCII are mostly no UTF-8; `None` of any other, and of one that cannot be read.
pub fn other_encoding(path: &Path) -> Option<OtherEncoding> {
    let mut head = Vec::with_capacity(HEAD);
    let mut reader = open_unpacked(path).ok()?;
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head).ok()?;
    let is_cut = |bytes: &[u8]| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_some());
    // Nearly every file ends here.
    if encoding_of(&head) != (UTF_8, 0) || !is_cut(&head) {
        return None;
    }
    let is_whole = head.len() < HEAD;
    let mut reader = io::BufReader::new(io::Cursor::new(head).chain(reader).take(COUNTED));
    let (mut lines, mut sound, mut wrong, mut line) = (0, 0, 0, Vec::new());
    let mut others = Vec::new();
    while reader.read_until(b'\n', &mut line).ok()? > 0 {
        lines += 1;
        if std::str::from_utf8(&line).is_err() {
            wrong += 1;
            if others.len() < JUDGED {
                others.extend_from_slice(&line);
            }
        } else {
            sound += u64::from(!line.is_ascii());
        }
        line.clear();
    }
    // Some lines in another encoding are these lines' fault, as they are in a piece of a file, which cannot know the others. A few are all
    // that a small file has.
    let is_few = wrong < FEW_WRONG && !(is_whole && sound == 0 && wrong > 1 && wrong * 2 >= lines);
    if is_few || wrong <= MOSTLY * sound {
        return None;
    }
    Some(OtherEncoding { lines, wrong, names: likely_encodings(&others).to_vec() })
}

/// Bytes of lines that show an encoding.
const JUDGED: usize = 256 << 10;

/// The encodings of two bytes a character, and those of one, as `iconv` calls them.
const OF_TWO_BYTES: &[&str] = &["EUC-JP", "SHIFT_JIS", "CP949", "BIG5", "GB18030"];
const OF_ONE_BYTE: &[&str] = &["WINDOWS-1252", "WINDOWS-1251", "KOI8-R", "WINDOWS-1250"];

/// The encodings that a text may be in that is not UTF-8, the likeliest first: one, where in it alone the text is one as people write.
pub fn likely_encodings(bytes: &[u8]) -> &'static [&'static str] {
    let text_in = |encoding: &'static Encoding| -> Option<String> {
        // One damaged byte shows nothing.
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        let wrong = text.chars().filter(|c| *c == '\u{fffd}').count();
        (wrong * SPARSE <= text.chars().filter(|c| !c.is_ascii()).count()).then(|| text.into_owned())
    };
    // Whether at least so many hundredths of what is beyond ASCII are such characters.
    let has = |text: &Option<String>, hundredths: usize, is_one: &dyn Fn(char) -> bool| {
        text.as_ref().is_some_and(|text| {
            let wide = text.chars().filter(|c| !c.is_ascii());
            let (count, found) =
                wide.fold((0, 0), |(count, found), c| (count + 1, found + usize::from(is_one(c))));
            count >= 8 && found * 100 >= count * hundredths
        })
    };
    let is_small = |c: char| matches!(c, 'а'..='я' | 'ё');
    let is_cyrillic = |c: char| matches!(c, 'Ѐ'..='ӿ');
    let (japanese, shifted, korean) = (text_in(EUC_JP), text_in(SHIFT_JIS), text_in(EUC_KR));
    if japanese.as_deref().is_some_and(is_japanese) {
        return &OF_TWO_BYTES[..1];
    }
    if shifted.as_deref().is_some_and(is_japanese) {
        return &OF_TWO_BYTES[1..2];
    }
    if korean.as_deref().is_some_and(is_korean) {
        return &OF_TWO_BYTES[2..3];
    }
    // Accents stand between letters of ASCII; a character of an Asian language has two bytes, and a word in other letters several.
    let is_high = |at: usize| bytes.get(at).is_some_and(|byte| !byte.is_ascii());
    let high = (0..bytes.len()).filter(|at| is_high(*at));
    let (high, lone) = high.fold((0, 0), |(high, lone), at| {
        (high + 1, lone + usize::from(!is_high(at + 1) && (at == 0 || !is_high(at - 1))))
    });
    if lone * 10 >= high * 8 {
        return &OF_ONE_BYTE[..1];
    }
    // In the one the capitals are where the small letters are in the other.
    for (encoding, name) in [(WINDOWS_1251, &OF_ONE_BYTE[1..2]), (KOI8_R, &OF_ONE_BYTE[2..3])] {
        let text = text_in(encoding);
        if has(&text, 90, &is_cyrillic) && has(&text, 70, &is_small) {
            return name;
        }
    }
    let (taiwan, mainland) = (text_in(BIG5), text_in(GB18030));
    let common = |text: &Option<String>| -> usize {
        text.iter().flat_map(|text| text.chars()).filter(|c| COMMON.contains(*c)).count()
    };
    let wide =
        |text: &Option<String>| text.iter().flat_map(|text| text.chars()).filter(|c| !c.is_ascii()).count();
    let is_usual = |text: &Option<String>| common(text) > 0 && common(text) * SPARSE >= wide(text);
    match (is_usual(&taiwan), is_usual(&mainland)) {
        (true, false) => &OF_TWO_BYTES[3..4],
        (true, true) if common(&taiwan) > common(&mainland) => &OF_TWO_BYTES[3..4],
        (_, true) => &OF_TWO_BYTES[4..],
        _ if [&japanese, &shifted, &korean, &taiwan, &mainland].iter().any(|text| text.is_some()) => {
            OF_TWO_BYTES
        }
        _ => OF_ONE_BYTE,
    }
}

/// An error where it occurred, as often as somebody reads there.
struct Failing(io::Error);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(self.0.kind(), self.0.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, &'static str) {
        let decoded = text_of(Box::new(io::Cursor::new(bytes.to_vec()))).unwrap();
        let mut text = Vec::new();
        let mut reader = decoded.reader;
        reader.read_to_end(&mut text).unwrap();
        (String::from_utf8_lossy(&text).into_owned(), decoded.encoding.map_or("UTF-8", Encoding::name))
    }

    #[test]
    fn a_file_of_another_encoding_is_known_as_a_whole() {
        let of = |bytes: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            other_encoding(file.path())
        };
        let western = |n: usize| format!("{n},Pourquoi le caf\u{e9} d\u{92}hier est-il press\u{e9}\n");
        let bytes: Vec<u8> =
            (0..3000).flat_map(|n| western(n).chars().map(|c| c as u8).collect::<Vec<_>>()).collect();
        let found = of(&[b"id,text\n", &bytes[..]].concat()).unwrap();
        assert_eq!(found, OtherEncoding { lines: 3001, wrong: 3000, names: vec!["WINDOWS-1252"] });
        let korean = "id,text\n1,왜 물고기는 목이 마르지 않을까\n2,구름은 높은 곳이 무서울까\n3,냉장고는 감기에 걸릴까\n4,거울은 무엇을 볼까\n";
        let found = of(&EUC_KR.encode(korean).0).unwrap();
        assert_eq!((found.wrong, found.names), (4, vec!["CP949"]));
        let japanese = "id,text\n1,なぜ魚は喉が渇かないのか。\n2,雲は高い所が怖いのだろうか。\n3,冷蔵庫は風邪を引くのか。\n4,鏡は何を見ているのか。\n";
        let found = of(&EUC_JP.encode(japanese).0).unwrap();
        assert_eq!((found.wrong, found.names), (4, vec!["EUC-JP"]));
        assert_eq!(of(&SHIFT_JIS.encode(japanese).0).map(|found| found.names), Some(vec!["SHIFT_JIS"]));
        // A small file is known, too, of which all lines beyond ASCII are in another encoding.
        let two = |text: &str| text.lines().take(3).collect::<Vec<_>>().join("\n");
        assert_eq!(of(&EUC_JP.encode(&two(japanese)).0).map(|found| found.names), Some(vec!["EUC-JP"]));
        let russian = "id,text\n1,Почему рыбы никогда не хотят пить\n2,Боится ли облако высоты\n";
        assert_eq!(of(&WINDOWS_1251.encode(russian).0).map(|found| found.names), Some(vec!["WINDOWS-1251"]));
        assert_eq!(of(&KOI8_R.encode(russian).0).map(|found| found.names), Some(vec!["KOI8-R"]));
        assert!(likely_encodings(&[0xc5, 0xd2, 0xe7, 0xe8]).len() > 1);
        // Mostly sound, or in an encoding that is read.
        assert_eq!(of(&GB18030.encode("id,text\n1,日语的の是什么意思，云会恐高吗\n").0), None);
        assert_eq!(of("caf\u{e9}\ncaf\u{e9}\n".as_bytes()), None);
        assert_eq!(of(&["冰箱\n云\n".as_bytes(), b"caf\xe9\n"].concat()), None);
        assert_eq!(of(&GB18030.encode("冰箱\n云\n").0), None);
    }

    #[test]
    fn encodings_are_told_by_marks_zeros_and_lines() {
        let text = "id,标题\n1,冰箱会感冒吗\n";
        let utf16 = |swap: bool, mark: bool| -> Vec<u8> {
            let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
            units.flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        };
        assert_eq!(read(text.as_bytes()), (text.into(), "UTF-8"));
        assert_eq!(read(format!("\u{feff}{text}").as_bytes()), (text.into(), "UTF-8"));
        for mark in [true, false] {
            assert_eq!(read(&utf16(false, mark)), (text.into(), "UTF-16LE"), "{mark}");
            assert_eq!(read(&utf16(true, mark)), (text.into(), "UTF-16BE"), "{mark}");
        }
        assert_eq!(read(&GB18030.encode(text).0), (text.into(), "gb18030"));
        // Traditional Chinese is not read as other characters.
        for text in ["id,標題\n1,為什麼冰箱不會感冒？\n", "雨傘自己會不會淋濕\n", "魚在水裡會口渴嗎\n"]
        {
            assert_eq!(read(&BIG5.encode(text).0), (text.into(), "Big5"));
            assert_eq!(read(&GB18030.encode(text).0), (text.into(), "gb18030"));
        }
        // A wrong byte, or the end of a file that was cut, is the fault of its line.
        let mut damaged = GB18030
            .encode("id,题目\n1,为什么冰箱不会感冒？\n2,云会恐高吗？\n3,鱼会口渴吗？\n")
            .0
            .into_owned();
        damaged.pop();
        damaged.pop();
        assert_eq!(read(&damaged).1, "gb18030");
        damaged[10] = 0xff;
        assert_eq!(read(&damaged).1, "UTF-8", "two of four");
        for text in ["2,云会恐高吗，这是一个问题", "魚在水裡會口渴嗎？"] {
            for cut in 1..3 {
                assert_eq!(read(&text.as_bytes()[..text.len() - cut]).1, "UTF-8", "{text} {cut}");
            }
        }
        // One line in another encoding is that line's fault.
        let mixed = [&GB18030.encode("冰箱\n").0[..], "会感冒吗\n".as_bytes()].concat();
        assert_eq!(read(&mixed).1, "UTF-8");
        assert_eq!(read(b"they don\x92t say caf\xe9\n").1, "UTF-8");
    }
}
