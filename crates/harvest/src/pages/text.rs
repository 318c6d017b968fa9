//! The text of an element as a reader sees it.

use ego_tree::NodeId;
use ego_tree::iter::Edge;
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
    let mut lines = Lines::default();
    for edge in element.traverse() {
        lines.push_unless(&edge, &hide);
    }
    lines.finish()
}

/// Text with its entities decoded: `&amp;` becomes `&`. Tags in it stay text.
pub fn entities(text: &str) -> String {
    match super::dom::fragment(&text.replace('<', "&lt;")) {
        Ok(tree) => tree.root_element().text().collect(),
        Err(_) => text.to_owned(),
    }
}

/// Collects the text of any stretch of a tree, edge by edge.
#[derive(Default)]
pub struct Lines {
    out: String,
    skip: Option<NodeId>,
}

impl Lines {
    /// Takes the next edge of a traversal.
    pub fn push(&mut self, edge: &Edge<'_, Node>, hidden: &[&str]) {
        self.push_unless(edge, &|inner, _| inner.classes().any(|class| hidden.contains(&class)));
    }

    /// [`Lines::push`] without the elements for which `hide` is true.
    fn push_unless(&mut self, edge: &Edge<'_, Node>, hide: &impl Fn(&Element, NodeId) -> bool) {
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
    pub fn finish(self) -> String {
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
        text_of(dom::fragment(html).unwrap().root_element(), &["p_forbidden_tip"])
    }

    #[test]
    fn entities_are_decoded_and_tags_are_not() {
        assert_eq!(
            entities("3 < 4 &amp;&#39;caf&eacute;&#x27; &lt;b> AT&T <i>x</i>"),
            "3 < 4 &'café' <b> AT&T <i>x</i>"
        );
        assert_eq!(entities(" two  spaces\n"), " two  spaces\n");
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
