//! rd.com: riddles in an article's paragraphs, an unlabelled question followed by `Answer: …`.

use scraper::{ElementRef, Html};

use super::dom::{self, TooDeep, selectors};
use super::row::Riddle;
use super::text::text_of;

selectors! {
    ARTICLE = "article, main, .entry-content, body";
    BLOCK = "h2, h3, h4, p";
    ANCHOR = "a";
}

/// Parses an article.
///
/// If there are headings between the riddles, a heading starts one, and the text between its answer and the
/// next heading belongs to the answer. Otherwise a paragraph that asks is a question, and the paragraphs
/// between an answer and the next question continue the answer. Sentences that promote other pages are left
/// in place; the texts of their links are in `anchors`.
///
/// # Errors
/// [`TooDeep`].
pub fn article(html: &str) -> Result<Vec<Riddle>, TooDeep> {
    Ok(read_tree(&dom::document(html)?))
}

pub(super) fn read_tree(page: &Html) -> Vec<Riddle> {
    let Some(article) =
        page.select(&ARTICLE).find(|found| found.select(&BLOCK).any(|b| has_answer(&text_of(b, &[]))))
    else {
        return Vec::new();
    };
    let blocks: Vec<Block> = article.select(&BLOCK).flat_map(blocks_of).collect();
    let first_answer = blocks.iter().position(|block| block.kind == Kind::Answer).unwrap_or(0);
    // Headings between the riddles, not the one above the whole article.
    let headed = blocks[first_answer..].iter().any(|block| block.kind == Kind::Heading);
    if headed { under_headings(&blocks) } else { in_sequence(&blocks) }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Heading,
    Text,
    Answer,
}

#[derive(Clone, Debug)]
struct Block {
    kind: Kind,
    text: String,
    anchors: Vec<String>,
}

fn blocks_of(element: ElementRef<'_>) -> Vec<Block> {
    let text = text_of(element, &[]);
    if text.is_empty() {
        return Vec::new();
    }
    let anchors: Vec<String> =
        element.select(&ANCHOR).map(|a| text_of(a, &[])).filter(|t| !t.is_empty()).collect();
    if element.value().name() != "p" {
        return vec![Block { kind: Kind::Heading, text, anchors }];
    }
    let Some((before, after)) = split_answer(&text) else {
        return vec![Block { kind: Kind::Text, text, anchors }];
    };
    let inside = |part: &str| anchors.iter().filter(|a| part.contains(a.as_str())).cloned().collect();
    let mut blocks = Vec::new();
    if !before.is_empty() {
        blocks.push(Block { kind: Kind::Text, text: before.into(), anchors: inside(before) });
    }
    blocks.push(Block { kind: Kind::Answer, text: after.into(), anchors: inside(after) });
    blocks
}

fn has_answer(text: &str) -> bool {
    split_answer(text).is_some()
}

/// Splits at an `Answer:` that starts a line.
fn split_answer(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        // `get`, because byte 6 may be inside a character.
        if line.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("answer")) {
            let rest = line[6..].trim_start();
            if let Some(rest) = rest.strip_prefix([':', '：']) {
                let after = at + line.len() - rest.len();
                return Some((text[..at].trim(), text[after..].trim()));
            }
        }
        at += line.len();
    }
    None
}

fn under_headings(blocks: &[Block]) -> Vec<Riddle> {
    let mut riddles = Vec::new();
    let mut sections: Vec<&[Block]> = Vec::new();
    let starts: Vec<usize> = (0..blocks.len()).filter(|&at| blocks[at].kind == Kind::Heading).collect();
    for (n, &start) in starts.iter().enumerate() {
        sections.push(&blocks[start..starts.get(n + 1).copied().unwrap_or(blocks.len())]);
    }
    for section in sections {
        let answer_at = section.iter().position(|block| block.kind == Kind::Answer);
        let asked = &section[1..answer_at.unwrap_or(section.len())];
        // A section that neither asks nor answers is the article's own text.
        if answer_at.is_none() && !section.iter().any(|block| asks(&block.text)) {
            continue;
        }
        let heading = &section[0];
        let (title, question) = match asked {
            [] => (None, heading.text.clone()),
            asked => (Some(heading.text.clone()), joined(asked)),
        };
        let answer = answer_at.map(|at| joined(&section[at..])).filter(|text| !text.is_empty());
        let anchors = section.iter().flat_map(|block| block.anchors.clone()).collect();
        riddles.push(Riddle { id: None, title, question, answer, anchors, related: false });
    }
    riddles
}

fn in_sequence(blocks: &[Block]) -> Vec<Riddle> {
    let mut riddles: Vec<Riddle> = Vec::new();
    let mut waiting: Vec<&Block> = Vec::new();
    for block in blocks.iter().filter(|block| block.kind != Kind::Heading) {
        if block.kind == Kind::Text {
            waiting.push(block);
            continue;
        }
        // Without a question mark, the paragraph right before the answer is the question.
        let start = waiting.iter().position(|b| asks(&b.text)).unwrap_or(waiting.len().saturating_sub(1));
        let questions = waiting.split_off(start);
        continue_answer(&mut riddles, &waiting);
        waiting.clear();
        for question in questions {
            riddles.push(Riddle {
                id: None,
                title: None,
                question: question.text.clone(),
                answer: None,
                anchors: question.anchors.clone(),
                related: false,
            });
        }
        if let Some(last) = riddles.last_mut().filter(|riddle| riddle.answer.is_none()) {
            last.answer = Some(block.text.clone()).filter(|text| !text.is_empty());
            last.anchors.extend(block.anchors.iter().cloned());
        }
    }
    let start = waiting.iter().position(|b| asks(&b.text)).unwrap_or(waiting.len());
    let questions = waiting.split_off(start);
    continue_answer(&mut riddles, &waiting);
    riddles.extend(questions.into_iter().filter(|b| asks(&b.text)).map(|block| Riddle {
        id: None,
        title: None,
        question: block.text.clone(),
        answer: None,
        anchors: block.anchors.clone(),
        related: false,
    }));
    riddles
}

fn continue_answer(riddles: &mut [Riddle], more: &[&Block]) {
    let Some(last) = riddles.last_mut() else { return };
    let Some(answer) = last.answer.as_mut() else { return };
    for block in more {
        answer.push('\n');
        answer.push_str(&block.text);
        last.anchors.extend(block.anchors.iter().cloned());
    }
}

/// A question mark anywhere counts, because glued-on text may follow the question.
fn asks(text: &str) -> bool {
    text.contains('?')
}

fn joined(blocks: &[Block]) -> String {
    blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}
