//! The text of an element as a reader sees it.

use std::borrow::Cow;
use std::sync::LazyLock;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use regex::Regex;
use scraper::node::Element;
use scraper::{ElementRef, Node};

/// Elements that start on a line of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "blockquote",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];

/// Text with line breaks: `<br>` and block edges end a line, line ends of the source count as spaces, other
/// runs of spaces are the author's and are kept. Elements of the classes in `hidden` are excluded, as are
/// scripts and styles.
pub fn text_of(element: ElementRef<'_>, hidden: &[&str]) -> String {
    text_unless(element, |inner, _| inner.classes().any(|class| hidden.contains(&class)))
}

/// [`text_of`] without the elements for which `hide` is true.
pub fn text_unless(element: ElementRef<'_>, hide: impl Fn(&Element, NodeId) -> bool) -> String {
    let mut lines = LineCollector::default();
    for edge in element.traverse() {
        lines.push_unless(&edge, &hide);
    }
    lines.finish_text()
}

/// Text with its entities decoded once: `&amp;` becomes `&`, `&amp;amp;` becomes `&amp;`. Tags in it stay text, and so does what
/// has no semicolon behind it (`?a=1&copy=2`); borrowed if there is no entity.
pub fn decode_entities(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, from) = rest.split_at(at);
        let decoded = entity_length(from).and_then(|length| Some((decode_entity(&from[..length])?, length)));
        // The high half of a character beyond U+FFFF, which some forums write as two numbers.
        let decoded = decoded.or_else(|| join_surrogates(from));
        let (replaced, length) = decoded.unwrap_or_else(|| ("&".to_owned(), 1));
        out.push_str(before);
        out.push_str(&replaced);
        rest = &from[length..];
    }
    if out.len() == text.len() - rest.len() && text.starts_with(&out) {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The elements that sites write in texts.
const ELEMENTS: &str = "a|abbr|article|b|blockquote|br|center|code|dd|del|div|dl|dt|em|figcaption|figure|font|h[1-6]|hr|i|iframe|img|ins|li|ol|p|pre|s|section|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul|video|wbr";

/// What an HTML text shows; `None` of a text that is none. It is one if an element of sites stands in it that is closed, is empty by
/// itself, or has attributes: `<爸爸去哪了>` and `a<b` are words.
pub fn text_of_html(text: &str) -> Option<String> {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(&format!(
            r#"(?i)</(?:{ELEMENTS})\s*>|<(?:br|hr|wbr|p|li|img)\s*/?>|<(?:{ELEMENTS})(?:\s+[a-z-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s<>]+))+\s*/?>"#
        ))
        .ok()
    });
    memchr::memchr(b'<', text.as_bytes())?;
    if !TAG.as_ref()?.is_match(text) {
        return None;
    }
    let text = &show_emoji(text);
    let lower = text.to_ascii_lowercase();
    let has_blocks =
        lower.contains("<br") || lower.contains("<p") || lower.contains("<div") || lower.contains("<li");
    // Without elements that end lines, those of the text are meant.
    let lines = if has_blocks { Cow::Borrowed(&**text) } else { Cow::Owned(text.replace('\n', "<br>")) };
    let read = text_of(super::dom::parse_fragment(&lines).ok()?.root_element(), &[]);
    Some(read.replace('\u{a0}', " ").trim().to_owned())
}

/// An HTML text with the emoji that it shows as pictures as text: `<img alt="[笑cry]" src="…">`. What else a picture shows is no part of
/// the text.
fn show_emoji(text: &str) -> Cow<'_, str> {
    static PICTURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?i)<img\b[^<>]*?\salt\s*=\s*(?:"(\[[^"\[\]]{1,12}\]|[^"\w\s<>]{1,8})"|'(\[[^'\[\]]{1,12}\]|[^'\w\s<>]{1,8})')[^<>]*>"#)
            .ok()
    });
    match PICTURE.as_ref() {
        Some(picture) if text.contains("alt") => picture.replace_all(text, "$1$2"),
        _ => Cow::Borrowed(text),
    }
}

/// Longest entity, from `&` to `;`: the longest name has 33 bytes.
const LONGEST: usize = 34;

/// The length of what has the form of an entity at the start of a text.
fn entity_length(text: &str) -> Option<usize> {
    let end = memchr::memchr(b';', &text.as_bytes()[..text.len().min(LONGEST)])?;
    let name = text[1..end].strip_prefix('#').unwrap_or(&text[1..end]);
    (!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(end + 1)
}

/// The characters that an entity stands for; `None` if it stands for none.
fn decode_entity(entity: &str) -> Option<String> {
    let text: String = super::dom::parse_fragment(entity).ok()?.root_element().text().collect();
    // A number that no character has becomes U+FFFD, which would be taken for damage. `&notit;` begins like `&not`, but is no
    // entity.
    let whole = !text.ends_with(';') || text.len() == 1;
    (whole && text != "\u{fffd}").then_some(text)
}

/// `&#55357;&#56832;`: the two halves of one character in UTF-16, and their length.
fn join_surrogates(text: &str) -> Option<(String, usize)> {
    let number = |text: &str| {
        let length = entity_length(text)?;
        let digits = text[1..length - 1].strip_prefix('#')?;
        let hexadecimal = digits.strip_prefix(['x', 'X']).map(|digits| u16::from_str_radix(digits, 16));
        Some((hexadecimal.unwrap_or_else(|| digits.parse()).ok()?, length))
    };
    let (high, first) = number(text).filter(|(high, _)| matches!(high, 0xd800..=0xdbff))?;
    let (low, second) = number(text.get(first..).filter(|rest| rest.starts_with('&'))?)?;
    Some((String::from_utf16(&[high, low]).ok()?, first + second))
}

/// Collects the text of any stretch of a tree, edge by edge.
#[derive(Default)]
pub struct LineCollector {
    out: String,
    skip: Option<NodeId>,
}

impl LineCollector {
    /// Takes the next edge of a traversal, without the elements for which `hide` is true.
    pub fn push_unless(&mut self, edge: &Edge<'_, Node>, hide: &impl Fn(&Element, NodeId) -> bool) {
        match edge {
            Edge::Open(node) if self.skip.is_none() => match node.value() {
                Node::Text(text) => self.push_text(text),
                Node::Element(inner) => {
                    let name = inner.name();
                    if matches!(name, "script" | "style" | "template") || hide(inner, node.id()) {
                        self.skip = Some(node.id());
                    } else if name == "br" {
                        self.trim_line();
                        self.out.push('\n');
                    } else if BLOCKS.contains(&name) {
                        self.end_block();
                    }
                }
                _ => {}
            },
            Edge::Close(node) if self.skip == Some(node.id()) => self.skip = None,
            Edge::Close(node)
                if self.skip.is_none()
                    && node.value().as_element().is_some_and(|inner| BLOCKS.contains(&inner.name())) =>
            {
                self.end_block();
            }
            _ => {}
        }
    }

    /// The text without white space around it.
    pub fn finish_text(self) -> String {
        self.out.trim_matches(|c: char| c.is_ascii_whitespace()).to_string()
    }

    fn push_text(&mut self, text: &str) {
        for (at, line) in text.split(['\n', '\r']).enumerate() {
            if at == 0 {
                self.out.push_str(line);
                continue;
            }
            self.trim_line();
            let line = line.trim_start_matches([' ', '\t']);
            if !line.is_empty() && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
                self.out.push(' ');
            }
            self.out.push_str(line);
        }
    }

    /// Drops the source's indentation from the end of a line.
    fn trim_line(&mut self) {
        let kept = self.out.trim_end_matches([' ', '\t']).len();
        self.out.truncate(kept);
    }

    fn end_block(&mut self) {
        self.trim_line();
        // Nested blocks that end together make one line break.
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }
}

/// A number derived from a text: equal texts have equal numbers.
pub fn number_of(text: &str) -> u64 {
    u64::from_le_bytes(blake3::hash(text.as_bytes()).as_bytes()[..8].try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::dom;
    use super::*;

    fn text(html: &str) -> String {
        text_of(dom::parse_fragment(html).unwrap().root_element(), &["p_forbidden_tip"])
    }

    #[test]
    fn entities_are_decoded_and_tags_are_not() {
        assert_eq!(
            decode_entities("3 < 4 &amp;&#39;caf&eacute;&#x27; &lt;b> AT&T <i>x</i>"),
            "3 < 4 &'café' <b> AT&T <i>x</i>"
        );
        assert_eq!(decode_entities(" two  spaces\n"), " two  spaces\n");
        for (written, read) in [
            ("&amp;amp; &amp;#x200B;", "&amp; &#x200B;"),
            ("/?a=1&copy=2&para", "/?a=1&copy=2&para"),
            ("&#55357;&#56832; &#xD83D;&#xDE00;", "😀 😀"),
            ("&#0; &#55357; &nothing; &; &#; & a;", "&#0; &#55357; &nothing; &; &#; & a;"),
            ("&#65533;&#146;", "&#65533;’"),
            ("&notit;&semi;&云;为什么&quot;云&quot;&hellip;", "&notit;;&云;为什么\"云\"…"),
            ("&&amp;&lt", "&&&lt"),
        ] {
            assert_eq!(decode_entities(written), read, "{written}");
        }
    }

    #[test]
    fn a_text_in_html_is_read_as_it_is_shown_and_others_are_none() {
        for (written, read) in [
            ("<p>云会</p><p>恐高吗&nbsp;？</p>", Some("云会\n恐高吗 ？")),
            ("one<br/>two &amp; three", Some("one\ntwo & three")),
            ("<a href=\"http://x.example\">here</a>\nand there", Some("here\nand there")),
            (
                "云会恐高吗<span class=\"i\"><img alt=\"[笑cry]\" src=\"https://x.example/1.png\" /></span>",
                Some("云会恐高吗[笑cry]"),
            ),
            ("云<img src=\"1.png\" alt='😂'>朵<img src=\"2.png\" alt=\"a photo\">", Some("云😂朵")),
            ("<b>bold</b> &lt;p&gt;", Some("bold <p>")),
            ("<爸爸去哪了>的主角是谁", None),
            ("if a<b and c>d", None),
            ("<b> is a tag, <script> another", None),
        ] {
            assert_eq!(text_of_html(written).as_deref(), read, "{written}");
        }
    }

    #[test]
    fn lines_are_those_a_reader_sees() {
        assert_eq!(text("<div>            一<br>二  三<br><br>四</div>"), "一\n二  三\n\n四");
        assert_eq!(text("one\n   two"), "one two");
        assert_eq!(text("<p>a</p>\n  <p>b &lt;c&gt;</p>"), "a\nb <c>");
        assert_eq!(
            text("a<div class=\"x p_forbidden_tip\">该楼层疑似违规<b>!</b></div>b<script>1</script>"),
            "ab"
        );
        assert_eq!(text("<div>前<div class=replace_div><img src=x></div>后</div>"), "前\n后");
    }
}
