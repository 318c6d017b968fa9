//! Text in the encodings that programs for Chinese and spreadsheets write, as UTF-8.

use std::io::{self, Read};

use encoding_rs::{Encoding, GB18030, UTF_8, UTF_16BE, UTF_16LE};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use super::dialect::HEAD;

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
    (if is_gb18030(head) { GB18030 } else { UTF_8 }, 0)
}

/// Whether no line outside of ASCII is UTF-8 and all of them are GB18030, in the characters of which Chinese mostly
/// consists: in GB18030 most texts of Western encodings mean something, too.
fn is_gb18030(head: &[u8]) -> bool {
    // The head may end in the middle of a character.
    let whole = match head.len() < HEAD {
        true => head,
        false => &head[..memchr::memrchr(b'\n', head).unwrap_or(head.len() - 3)],
    };
    let mut lines =
        whole.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_ascii()).peekable();
    if lines.peek().is_none() {
        return false;
    }
    let (mut common, mut rare) = (0, 0);
    for line in lines {
        if std::str::from_utf8(line).is_ok() || GB18030.decode_without_bom_handling(line).1 {
            return false;
        }
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
    }
    common > rare
}

/// Reads text of any of these encodings.
///
/// # Errors
/// The error of its first bytes.
pub fn text_of(mut reader: Box<dyn Read + Send>) -> io::Result<Decoded> {
    let mut head = Vec::with_capacity(HEAD);
    // What was read before an error is text, too; the error comes again.
    let failed = reader.by_ref().take(HEAD as u64).read_to_end(&mut head).err();
    let (encoding, mark) = encoding_of(&head);
    let head = io::Cursor::new(head.split_off(mark));
    let rest: Box<dyn Read + Send> = match failed {
        Some(error) => Box::new(head.chain(Failing(Some(error)))),
        None => Box::new(head.chain(reader)),
    };
    if encoding == UTF_8 {
        return Ok(Decoded { reader: rest, encoding: None, mark: mark as u64 });
    }
    let decoder: DecodeReaderBytes<_, Vec<u8>> =
        DecodeReaderBytesBuilder::new().encoding(Some(encoding)).bom_sniffing(false).build(rest);
    Ok(Decoded { reader: Box::new(decoder), encoding: Some(encoding), mark: 0 })
}

/// An error where it occurred.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
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
        // One line in another encoding is that line's fault.
        let mixed = [&GB18030.encode("冰箱\n").0[..], "会感冒吗\n".as_bytes()].concat();
        assert_eq!(read(&mixed).1, "UTF-8");
        assert_eq!(read(b"they don\x92t say caf\xe9\n").1, "UTF-8");
    }
}
