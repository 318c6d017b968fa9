//! What every kind of source does with a text that it read: entities are decoded once, and one that was read in another encoding
//! than it was written in is set aside.

use std::borrow::Cow;

use encoding_rs::Encoding;

use super::{Parsed, RawPost};
use crate::config::SourceKind;
use riddlemill_harvest::pages::mojibake::{READ_AS, garbled};
use riddlemill_harvest::pages::{decode_entities, text_of_html};
use riddlemill_record::Reason;

/// A parsed item with the entities of its texts decoded once. Pages are HTML, whose entities their parsers decode; puzzles are
/// decoded by their own step, and rows of published sets stay as they were published.
pub(super) fn decode_parsed(kind: SourceKind, parsed: Parsed) -> Parsed {
    let Parsed::Post(mut post) = parsed else { return parsed };
    match kind {
        SourceKind::Puzzles | SourceKind::Published => return Parsed::Post(post),
        // A table's note is JSON, whose columns belong to its owner; its texts may come from a site's database.
        SourceKind::Table => {
            decode_html(&mut post);
            return Parsed::Post(post);
        }
        _ => decode_text(&mut post.note),
    }
    decode_text(&mut post.title);
    decode_text(&mut post.content);
    Parsed::Post(post)
}

/// Texts of a table as a page would show them, where they are HTML; the others with their entities decoded.
fn decode_html(post: &mut RawPost) {
    let mut read = Vec::new();
    for (name, text) in [("title", &mut post.title), ("content", &mut post.content)] {
        let Some(written) = text.as_mut() else { continue };
        match text_of_html(written) {
            Some(shown) => {
                *text = Some(shown);
                read.push(name);
            }
            // The blank that it stands for is one that no rule takes for a blank.
            None => *written = written.replace("&nbsp;", " "),
        }
        if !read.contains(&name) {
            decode_text(text);
        }
    }
    if !read.is_empty() {
        let what = format!("{} in HTML, read as the text that it shows", read.join(" and "));
        post.noted = if post.noted.is_empty() { what } else { format!("{}; {what}", post.noted) };
    }
}

fn decode_text(text: &mut Option<String>) {
    if let Some(written) = text
        && let Cow::Owned(read) = decode_entities(written)
    {
        *text = Some(read);
    }
}

/// A parsed item without posts whose texts were read in another encoding than they were written in: no rule can be trusted with
/// them.
pub(super) fn refuse_misread(kind: SourceKind, parsed: Parsed) -> Parsed {
    match parsed {
        // A published row is what others compare with, whatever it says.
        parsed if kind == SourceKind::Published => parsed,
        Parsed::Post(post) => match find_garbled(&post) {
            Some((piece, text)) => Parsed::Out(Reason::Encoding, describe_misread(&piece, text)),
            None => Parsed::Post(post),
        },
        Parsed::Page { posts, unknown_encoding } => {
            let posts = posts.into_iter().map(|parsed| refuse_misread(kind, parsed)).collect();
            Parsed::Page { posts, unknown_encoding }
        }
        other => other,
    }
}

/// What a text is called that was read as Latin-1, and what `iconv` calls that.
const LATIN_1: (&str, &str) = ("ISO 8859-1", "ISO-8859-1");

/// Whether a text in UTF-8 was read as Latin-1, in which each byte is a character: it has controls that no other encoding gives.
fn is_read_as_latin_1(piece: &str, text: &str) -> bool {
    let bytes: Option<Vec<u8>> = piece.chars().map(|c| u8::try_from(c).ok()).collect();
    text.contains(|c: char| matches!(c, '\u{80}'..='\u{9f}'))
        // The piece may end within a character.
        && bytes.is_some_and(|bytes| {
            std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
        })
}

/// How a piece of a text was misread, and what undoes it.
fn describe_misread(piece: &str, text: &str) -> String {
    let is_utf8 = |encoding: &'static Encoding| {
        let (bytes, _, lost) = encoding.encode(piece);
        // Beside letters of Latin, a letter of another alphabet is chance: `don抰` has a combining sign in those of Big5.
        let is_latin = piece.contains(|c: char| c.is_ascii_alphabetic());
        let is_other = |c: char| matches!(c, '\u{250}'..='\u{7ff}');
        !lost && std::str::from_utf8(&bytes).is_ok_and(|text| !is_latin || !text.contains(is_other))
    };
    let (what, hint) = if piece.contains('\u{fffd}') || piece.contains("锟斤拷") {
        (
            "has characters that were lost when it was read in another encoding".to_owned(),
            "get the source again, and save it as UTF-8".to_owned(),
        )
    } else if let Some((read, name)) = is_read_as_latin_1(piece, text).then_some(LATIN_1).or_else(|| {
        READ_AS.iter().find(|(encoding, ..)| is_utf8(encoding)).map(|(_, read, name)| (*read, *name))
    }) {
        (
            format!("is UTF-8 that was read as {read} and stored so"),
            format!(
                "`iconv -f UTF-8 -t {name} FILE > NEW` undoes it where the whole file is so, and Python's `ftfy` where some texts \
                 are; then name the new file as `path`"
            ),
        )
    } else {
        (
            "was read in another encoding than it was written in".to_owned(),
            "save the source as UTF-8, from a copy from before it was read so".to_owned(),
        )
    };
    format!("`{piece}` {what}\n  hint: {hint}")
}

/// The first piece that was misread, and its text.
fn find_garbled(post: &RawPost) -> Option<(String, &str)> {
    [&post.title, &post.content].into_iter().flatten().find_map(|text| Some((garbled(text)?, text.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use riddlemill_text::hint::split_hint;

    fn post(title: &str, content: Option<&str>) -> Parsed {
        let content = content.map(str::to_owned);
        Parsed::Post(Box::new(RawPost { title: Some(title.into()), content, ..RawPost::default() }))
    }

    #[test]
    fn entities_are_decoded_once_whatever_the_kind() {
        let kinds = [
            SourceKind::LeymoreTitles,
            SourceKind::LeymoreAnnual,
            SourceKind::ThreadDump,
            SourceKind::Aiotieba,
            SourceKind::Reddit,
            SourceKind::Cqia,
            SourceKind::Table,
        ];
        for kind in kinds {
            let read = decode_parsed(kind, post("2 &lt; 3 &amp;amp; 云", Some("&gt; 云&quot;")));
            assert_eq!(read, post("2 < 3 &amp; 云", Some("> 云\"")), "{kind:?}");
        }
        for kind in [SourceKind::Puzzles, SourceKind::Published] {
            assert_eq!(decode_parsed(kind, post("a &amp; b", None)), post("a &amp; b", None), "{kind:?}");
        }
    }

    #[test]
    fn html_in_a_table_is_read_as_its_text_and_that_is_noted() {
        let Parsed::Post(read) =
            decode_parsed(SourceKind::Table, post("<p>云会&nbsp;恐高吗</p>", Some("一<br>二")))
        else {
            panic!("no post")
        };
        assert_eq!((read.title.as_deref(), read.content.as_deref()), (Some("云会 恐高吗"), Some("一\n二")));
        assert_eq!(read.noted, "title and content in HTML, read as the text that it shows");
        let plain = decode_parsed(SourceKind::Table, post("<爸爸去哪了>&nbsp;云", None));
        assert_eq!(plain, post("<爸爸去哪了> 云", None));
    }

    #[test]
    fn mojibake_is_set_aside_with_the_piece() {
        for (title, content, mends) in [
            ("Why don抰 fish drown?", None, "save the source as UTF-8"),
            ("Why don’t fish drown?", Some("donâ€™t"), "iconv -f UTF-8 -t WINDOWS-1252"),
            ("ä¸º\u{e4}\u{bb}\u{80}ä¹\u{88}äº\u{91}", None, "iconv -f UTF-8 -t ISO-8859-1"),
            ("caf\u{c3}\u{a9} \u{c3}\u{89}t\u{c3}\u{a9}", None, "iconv -f UTF-8 -t ISO-8859-1"),
            ("涓轰粈涔堢尗涓嶄細椋烇紵", None, "iconv -f UTF-8 -t GB18030"),
            ("РџСЂРёРІРµС‚", None, "iconv -f UTF-8 -t WINDOWS-1251"),
            ("为什么��不会笑？", None, "get the source again"),
        ] {
            let out = refuse_misread(SourceKind::Puzzles, post(title, content));
            let Parsed::Out(Reason::Encoding, what) = out else { panic!("{out:?}") };
            let (what, hint) = split_hint(&what);
            assert!(
                what.starts_with('`') && hint.is_some_and(|hint| hint.contains(mends)),
                "{what} {hint:?}"
            );
            let page = refuse_misread(
                SourceKind::Warc,
                Parsed::Page {
                    posts: vec![post(title, content), post("云？", None)],
                    unknown_encoding: None,
                },
            );
            let Parsed::Page { posts, .. } = page else { panic!("{page:?}") };
            assert!(matches!(posts[..], [Parsed::Out(Reason::Encoding, _), Parsed::Post(_)]));
            assert_eq!(refuse_misread(SourceKind::Published, post(title, content)), post(title, content));
        }
        let sound = || post("Why don’t cafés drown?", Some("为什么锟斤拷会笑"));
        assert_eq!(refuse_misread(SourceKind::Reddit, sound()), sound());
    }
}
