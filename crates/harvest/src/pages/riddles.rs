//! riddles.com: lists (`/brain-teasers?page=N`) and single pages (`/riddle/N`), in both layouts.

use ego_tree::iter::Edge;
use scraper::{ElementRef, Html, Node};

use super::dom::{self, TooDeep, first, selectors};
use super::row::Riddle;
use super::text::{Lines, text_of};

selectors! {
    QUESTION = r#"[itemtype$="schema.org/Question"]"#;
    ASKED = "blockquote.orange_dk_blockquote";
    ANSWERED = "blockquote.dark_purple_blockquote";
    HEADING = "h1, h2, h3, h4, [itemprop=name]";
    LINK = r#"a[href*="/riddle/"]"#;
    ANCHOR = "a";
    NEXT = r#"a[rel~=next], link[rel~=next], li.next a, a.next"#;
}

/// The contents of a riddle page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RiddlePage {
    /// In the page's order.
    pub riddles: Vec<Riddle>,
    /// `href` of the next page of a list.
    pub next: Option<String>,
}

/// Parses a page. `url` shows which riddle a single page is about.
///
/// # Errors
/// [`TooDeep`].
pub fn riddles(html: &str, url: &str) -> Result<RiddlePage, TooDeep> {
    Ok(read_tree(&dom::document(html)?, url))
}

pub(super) fn read_tree(page: &Html, url: &str) -> RiddlePage {
    let mut riddles = in_blockquotes(page);
    if riddles.is_empty() {
        riddles = after_labels(page);
    }
    if let Some(own) = number_after(url, "/riddle/") {
        let known = riddles.iter().any(|riddle| riddle.id == Some(own));
        for (at, riddle) in riddles.iter_mut().enumerate() {
            // A single page need not link to itself; its own riddle comes first.
            if at == 0 && !known {
                riddle.id = Some(own);
            }
            riddle.related = riddle.id != Some(own);
        }
    }
    let next = page.select(&NEXT).next().and_then(|link| link.value().attr("href"));
    RiddlePage { riddles, next: next.map(str::to_string) }
}

/// The older layout: a schema.org question around two block quotes.
fn in_blockquotes(page: &Html) -> Vec<Riddle> {
    let riddle = |scope: ElementRef<'_>| {
        let asked = first(scope, &ASKED)?;
        let answered = first(scope, &ANSWERED);
        let answer = answered.map(|quote| text_of(quote, &[])).filter(|text| !text.is_empty());
        let quotes = [Some(asked), answered].into_iter().flatten();
        let link = first(scope, &LINK).and_then(|a| a.value().attr("href"));
        Some(Riddle {
            id: link.and_then(|href| number_after(href, "/riddle/")),
            title: first(scope, &HEADING).map(|h| text_of(h, &[])).filter(|t| !t.is_empty()),
            question: text_of(asked, &[]),
            answer,
            anchors: quotes.flat_map(|quote| quote.select(&ANCHOR)).map(|a| text_of(a, &[])).collect(),
            related: false,
        })
    };
    page.select(&QUESTION).filter_map(riddle).filter(|riddle| !riddle.question.is_empty()).collect()
}

/// The newer layout: `<strong>Riddle:</strong>` and `<strong>Answer</strong>`, each followed by text.
fn after_labels(page: &Html) -> Vec<Riddle> {
    let mut walk = Walk::default();
    for edge in page.tree.root().traverse() {
        walk.step(&edge);
    }
    walk.end_riddle();
    walk.riddles
}

#[derive(Default)]
struct Walk {
    riddles: Vec<Riddle>,
    /// The last heading and the riddle it links to.
    heading: (Option<String>, Option<u64>),
    question: Option<Lines>,
    answer: Option<Lines>,
    anchors: Vec<String>,
    /// The label being traversed, whose own text belongs to neither side.
    label: Option<ego_tree::NodeId>,
    /// The part outside of the page's content that is being traversed.
    outside: Option<ego_tree::NodeId>,
    /// The element whose end ends the riddle.
    scope: Option<ego_tree::NodeId>,
}

impl Walk {
    fn step(&mut self, edge: &Edge<'_, Node>) {
        if let Some(outside) = self.outside {
            if matches!(edge, Edge::Close(node) if node.id() == outside) {
                self.outside = None;
            }
            return;
        }
        match edge {
            Edge::Open(node) => {
                let element = ElementRef::wrap(*node);
                match element.map(|e| (e, e.value().name())) {
                    Some((e, "strong" | "b")) => match label(e) {
                        Some("riddle") => {
                            self.end_riddle();
                            self.question = Some(Lines::default());
                            (self.label, self.scope) = (Some(node.id()), scope(e));
                        }
                        Some("answer") if self.question.is_some() && self.answer.is_none() => {
                            self.answer = Some(Lines::default());
                            (self.label, self.scope) = (Some(node.id()), scope(e));
                        }
                        _ => {}
                    },
                    Some((e, "h1" | "h2" | "h3" | "h4")) => {
                        self.end_riddle();
                        let link = first(e, &LINK).and_then(|a| a.value().attr("href"));
                        let id = link.and_then(|href| number_after(href, "/riddle/"));
                        self.heading = (Some(text_of(e, &[])).filter(|t| !t.is_empty()), id);
                    }
                    Some((_, "hr")) => self.end_riddle(),
                    // The last answer has no end mark and would run into these.
                    Some((_, "footer" | "nav" | "aside" | "form")) => {
                        self.end_riddle();
                        self.outside = Some(node.id());
                        return;
                    }
                    Some((e, "a")) if self.question.is_some() => self.anchors.push(text_of(e, &[])),
                    _ => {}
                }
            }
            Edge::Close(node) if self.label == Some(node.id()) => {
                self.label = None;
                return;
            }
            Edge::Close(node) if self.scope == Some(node.id()) => self.end_riddle(),
            Edge::Close(_) => {}
        }
        if self.label.is_none()
            && let Some(lines) = self.answer.as_mut().or(self.question.as_mut())
        {
            lines.push(edge, &[]);
        }
    }

    fn end_riddle(&mut self) {
        let (question, answer) = (self.question.take(), self.answer.take());
        let anchors = std::mem::take(&mut self.anchors);
        (self.label, self.scope) = (None, None);
        let Some(question) = question.map(|lines| after_colon(lines.finish())).filter(|q| !q.is_empty())
        else {
            return;
        };
        // A heading belongs to one riddle: the next one without a heading has neither title nor id.
        let (title, id) = std::mem::take(&mut self.heading);
        let answer = answer.map(|lines| after_colon(lines.finish())).filter(|a| !a.is_empty());
        self.riddles.push(Riddle { id, title, question, answer, anchors, related: false });
    }
}

/// `riddle` or `answer` if the element is nothing but that label.
fn label(element: ElementRef<'_>) -> Option<&'static str> {
    let text = text_of(element, &[]);
    let word = text.trim().trim_end_matches([':', '：']).trim_end();
    ["riddle", "answer"].into_iter().find(|known| known.eq_ignore_ascii_case(word))
}

/// Text next to a label ends with the label's parent; a paragraph's text continues in the next.
fn scope(label: ElementRef<'_>) -> Option<ego_tree::NodeId> {
    let parent = label.parent()?;
    let paragraph =
        parent.value().as_element().is_some_and(|e| matches!(e.name(), "p" | "dt" | "dd" | "span"));
    Some(if paragraph { parent.parent()?.id() } else { parent.id() })
}

/// Removes the colon of `<strong>Answer</strong>: text`, which is outside the label.
fn after_colon(text: String) -> String {
    match text.strip_prefix([':', '：']) {
        Some(rest) => rest.trim_start().to_string(),
        None => text,
    }
}

fn number_after(text: &str, mark: &str) -> Option<u64> {
    text.split(mark).nth(1)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
