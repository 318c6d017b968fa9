//! Posts whose parts are named by words in the text: **Riddle:** …, **Answer:** ….
//!
//! With a word for both parts the page is read from label to label. With one for the answer alone, what it answers is a
//! paragraph that asks, or what a heading is above.

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use regex::Regex;
use scraper::{ElementRef, Node};

use super::super::dom::selectors;
use super::super::text::LineCollector;
use super::keys::Field;
use super::pick::SearchedPage;

selectors! {
    BLOCK = "h2, h3, h4, p";
    ANCHOR = "a";
}

/// The words before the parts of a post.
#[derive(Debug)]
pub(super) struct Labels {
    /// Before a text.
    pub body: Vec<String>,
    /// Before an answer.
    pub answer: Vec<String>,
    /// What a text has that no word is before.
    pub asks: Regex,
}

/// A post and its heading.
pub(super) struct Labelled<'a> {
    pub heading: Option<ElementRef<'a>>,
    pub body: String,
    pub answer: Option<String>,
    /// Texts of the links in it.
    pub links: Vec<String>,
}

impl Labels {
    /// The posts of a page, in its order.
    pub fn find_posts<'a>(&self, page: &SearchedPage<'a>, root: ElementRef<'a>) -> Vec<Labelled<'a>> {
        if self.body.is_empty() {
            return self.in_paragraphs(page, root);
        }
        let mut walk = LabelWalk::new(self, page);
        for edge in root.traverse() {
            walk.visit_edge(&edge);
        }
        walk.end_post();
        walk.found
    }

    /// All of them.
    pub fn all_words(&self) -> Vec<&str> {
        self.body.iter().chain(&self.answer).map(String::as_str).collect()
    }

    /// The part that an element is the label of, if it is nothing else.
    fn field_of_label(&self, text: &str) -> Option<Field> {
        let label = text.trim().trim_end_matches([':', '：']).trim_end();
        let is_one_of = |words: &[String]| words.iter().any(|word| word.eq_ignore_ascii_case(label));
        if is_one_of(&self.body) {
            Some(Field::Body)
        } else {
            is_one_of(&self.answer).then_some(Field::Answer)
        }
    }

    /// Splits a text at an answer's label that starts a line.
    fn split_at_label<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let behind = |word: &String| {
                // `get`, because that byte may be inside a character.
                let label = line.get(..word.len())?;
                let rest = line[word.len()..].trim_start();
                label.eq_ignore_ascii_case(word).then(|| rest.strip_prefix([':', '：'])).flatten()
            };
            if let Some(rest) = self.answer.iter().find_map(behind) {
                let after = at + line.len() - rest.len();
                return Some((text[..at].trim(), text[after..].trim()));
            }
            at += line.len();
        }
        None
    }

    fn is_question(&self, text: &str) -> bool {
        self.asks.is_match(text)
    }

    /// If there are headings between the posts, a heading starts one, and the text between its answer and the next
    /// heading belongs to the answer. Otherwise a paragraph that asks is a text, and the paragraphs between an
    /// answer and the next text continue the answer.
    fn in_paragraphs<'a>(&self, page: &SearchedPage<'a>, root: ElementRef<'a>) -> Vec<Labelled<'a>> {
        let blocks: Vec<TextBlock<'a>> =
            root.select(&BLOCK).flat_map(|element| self.blocks_of(page, element)).collect();
        if !blocks
            .iter()
            .any(|block| block.kind == Kind::Answer || self.split_at_label(&block.text).is_some())
        {
            return Vec::new();
        }
        let first_answer = blocks.iter().position(|block| block.kind == Kind::Answer).unwrap_or(0);
        // Headings between the posts, not the one above the whole article.
        let headed = blocks[first_answer..].iter().any(|block| block.kind == Kind::Heading);
        if headed { self.under_headings(&blocks) } else { self.in_sequence(&blocks) }
    }

    fn blocks_of<'a>(&self, page: &SearchedPage<'a>, element: ElementRef<'a>) -> Vec<TextBlock<'a>> {
        let text = page.visible_text(element);
        if text.is_empty() {
            return Vec::new();
        }
        let links: Vec<String> = element
            .select(&ANCHOR)
            .map(|link| page.visible_text(link))
            .filter(|text| !text.is_empty())
            .collect();
        if element.value().name() != "p" {
            return vec![TextBlock { kind: Kind::Heading, text, links, element }];
        }
        let Some((before, after)) = self.split_at_label(&text) else {
            return vec![TextBlock { kind: Kind::Text, text, links, element }];
        };
        let part = |kind, part: &str| {
            let inside = links.iter().filter(|link| part.contains(link.as_str())).cloned().collect();
            TextBlock { kind, text: part.to_owned(), links: inside, element }
        };
        let mut blocks = Vec::new();
        if !before.is_empty() {
            blocks.push(part(Kind::Text, before));
        }
        blocks.push(part(Kind::Answer, after));
        blocks
    }

    fn under_headings<'a>(&self, blocks: &[TextBlock<'a>]) -> Vec<Labelled<'a>> {
        let starts: Vec<usize> = (0..blocks.len()).filter(|&at| blocks[at].kind == Kind::Heading).collect();
        let mut posts = Vec::new();
        for (n, &start) in starts.iter().enumerate() {
            let section = &blocks[start..starts.get(n + 1).copied().unwrap_or(blocks.len())];
            let answer_at = section.iter().position(|block| block.kind == Kind::Answer);
            // A section that neither asks nor answers is the article's own text.
            if answer_at.is_none() && !section.iter().any(|block| self.is_question(&block.text)) {
                continue;
            }
            let asked = &section[1..answer_at.unwrap_or(section.len())];
            let (heading, body) = match asked {
                [] => (None, section[0].text.clone()),
                asked => (Some(section[0].element), join_blocks(asked)),
            };
            let answer = answer_at.map(|at| join_blocks(&section[at..])).filter(|text| !text.is_empty());
            let links = section.iter().flat_map(|block| block.links.clone()).collect();
            posts.push(Labelled { heading, body, answer, links });
        }
        posts
    }

    fn in_sequence<'a>(&self, blocks: &[TextBlock<'a>]) -> Vec<Labelled<'a>> {
        let mut posts: Vec<Labelled<'a>> = Vec::new();
        let mut waiting: Vec<&TextBlock<'a>> = Vec::new();
        for block in blocks.iter().filter(|block| block.kind != Kind::Heading) {
            if block.kind == Kind::Text {
                waiting.push(block);
                continue;
            }
            // If none asks, the paragraph right before the answer is what it answers.
            let start = waiting.iter().position(|block| self.is_question(&block.text));
            let texts = waiting.split_off(start.unwrap_or(waiting.len().saturating_sub(1)));
            continue_answer(&mut posts, &waiting);
            waiting.clear();
            posts.extend(texts.into_iter().map(TextBlock::without_answer));
            if let Some(last) = posts.last_mut().filter(|post| post.answer.is_none()) {
                last.answer = Some(block.text.clone()).filter(|text| !text.is_empty());
                last.links.extend(block.links.iter().cloned());
            }
        }
        let start = waiting.iter().position(|block| self.is_question(&block.text)).unwrap_or(waiting.len());
        let texts = waiting.split_off(start);
        continue_answer(&mut posts, &waiting);
        posts.extend(
            texts.into_iter().filter(|block| self.is_question(&block.text)).map(TextBlock::without_answer),
        );
        posts
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Heading,
    Text,
    Answer,
}

/// A heading, or a paragraph or what is before or behind a label in it.
struct TextBlock<'a> {
    kind: Kind,
    text: String,
    links: Vec<String>,
    element: ElementRef<'a>,
}

impl<'a> TextBlock<'a> {
    fn without_answer(&self) -> Labelled<'a> {
        Labelled { heading: None, body: self.text.clone(), answer: None, links: self.links.clone() }
    }
}

fn continue_answer(posts: &mut [Labelled<'_>], more: &[&TextBlock<'_>]) {
    let Some(last) = posts.last_mut() else { return };
    let Some(answer) = last.answer.as_mut() else { return };
    for block in more {
        answer.push('\n');
        answer.push_str(&block.text);
        last.links.extend(block.links.iter().cloned());
    }
}

fn join_blocks(blocks: &[TextBlock<'_>]) -> String {
    blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Goes through a page from label to label: each is a bold word, and what follows it is its text.
struct LabelWalk<'w, 'a> {
    labels: &'w Labels,
    page: &'w SearchedPage<'a>,
    found: Vec<Labelled<'a>>,
    /// The last heading.
    heading: Option<ElementRef<'a>>,
    body: Option<LineCollector>,
    answer: Option<LineCollector>,
    links: Vec<String>,
    /// The label being traversed, whose own text belongs to neither side.
    label: Option<NodeId>,
    /// The part outside of the page's content that is being traversed.
    outside: Option<NodeId>,
    /// The element whose end ends the post.
    scope: Option<NodeId>,
}

impl<'w, 'a> LabelWalk<'w, 'a> {
    fn new(labels: &'w Labels, page: &'w SearchedPage<'a>) -> LabelWalk<'w, 'a> {
        LabelWalk {
            labels,
            page,
            found: Vec::new(),
            heading: None,
            body: None,
            answer: None,
            links: Vec::new(),
            label: None,
            outside: None,
            scope: None,
        }
    }

    fn visit_edge(&mut self, edge: &Edge<'a, Node>) {
        if let Some(outside) = self.outside {
            if matches!(edge, Edge::Close(node) if node.id() == outside) {
                self.outside = None;
            }
            return;
        }
        let page = self.page;
        match edge {
            Edge::Open(node) => {
                let element = ElementRef::wrap(*node);
                match element.map(|element| (element, element.value().name())) {
                    Some((element, "strong" | "b")) => {
                        match self.labels.field_of_label(&page.visible_text(element)) {
                            Some(Field::Body) => {
                                self.end_post();
                                self.body = Some(LineCollector::default());
                                (self.label, self.scope) = (Some(node.id()), scope_of_label(element));
                            }
                            Some(_) if self.body.is_some() && self.answer.is_none() => {
                                self.answer = Some(LineCollector::default());
                                (self.label, self.scope) = (Some(node.id()), scope_of_label(element));
                            }
                            _ => {}
                        }
                    }
                    Some((element, "h1" | "h2" | "h3" | "h4")) => {
                        self.end_post();
                        self.heading = Some(element);
                    }
                    Some((_, "hr")) => self.end_post(),
                    // The last answer has no end mark and would run into these.
                    Some((_, "footer" | "nav" | "aside" | "form")) => {
                        self.end_post();
                        self.outside = Some(node.id());
                        return;
                    }
                    Some((element, "a")) if self.body.is_some() => {
                        self.links.push(page.visible_text(element))
                    }
                    _ => {}
                }
            }
            Edge::Close(node) if self.label == Some(node.id()) => {
                self.label = None;
                return;
            }
            Edge::Close(node) if self.scope == Some(node.id()) => self.end_post(),
            Edge::Close(_) => {}
        }
        if self.label.is_none()
            && let Some(lines) = self.answer.as_mut().or(self.body.as_mut())
        {
            lines.push_unless(edge, &|_, id| page.hidden.contains(&id));
        }
    }

    fn end_post(&mut self) {
        let (body, answer) = (self.body.take(), self.answer.take());
        let links = std::mem::take(&mut self.links);
        (self.label, self.scope) = (None, None);
        let Some(body) = body.map(|lines| after_colon(lines.finish_text())).filter(|body| !body.is_empty())
        else {
            return;
        };
        // A heading belongs to one post: the next one without a heading has neither title nor id.
        let heading = self.heading.take();
        let answer = answer.map(|lines| after_colon(lines.finish_text())).filter(|answer| !answer.is_empty());
        self.found.push(Labelled { heading, body, answer, links });
    }
}

/// Text next to a label ends with the label's parent; a paragraph's text continues in the next.
fn scope_of_label(label: ElementRef<'_>) -> Option<NodeId> {
    let parent = label.parent()?;
    let paragraph = parent
        .value()
        .as_element()
        .is_some_and(|element| matches!(element.name(), "p" | "dt" | "dd" | "span"));
    Some(if paragraph { parent.parent()?.id() } else { parent.id() })
}

/// Removes the colon of `<strong>Answer</strong>: text`, which is outside the label.
fn after_colon(text: String) -> String {
    match text.strip_prefix([':', '：']) {
        Some(rest) => rest.trim_start().to_string(),
        None => text,
    }
}
