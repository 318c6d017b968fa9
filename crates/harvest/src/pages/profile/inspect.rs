//! What a profile finds on one page, field by field, and what it does not find.

use std::collections::BTreeSet;

use scraper::Html;
use serde::Serialize;

use super::super::dom;
use super::keys::{Field, Format};
use super::pick::{Hit, LABELS, Node, OWN_ID, Pick, PickRule, SEPARATOR, SearchedPage, ValueSource};
use super::read::{FoundPost, Raw};
use super::{Jokes, Profile};

/// A value that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundValue {
    pub key: &'static str,
    /// The rule that found it, as written.
    pub by: String,
    /// The value before it is parsed as a time or a number.
    pub raw: String,
}

/// A post with the rule of each of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// The post.
    pub entry: FoundPost,
    /// The values found.
    pub seen: Vec<FoundValue>,
    /// Whether it counts as a joke; unknown for numbered ones, which depend on the whole thread.
    pub joke: Option<bool>,
}

/// A key that found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub key: &'static str,
    /// As written.
    pub description: String,
    /// For keys of posts: how many posts lack it, and how many have it.
    pub posts: Option<(usize, usize)>,
    /// The longest part of the selector or pointer that finds something, and how often.
    pub part: Option<(String, usize)>,
    /// Parts of a selector that do not occur on the page: classes, ids, names of elements.
    pub strangers: Vec<String>,
}

/// A page as a profile sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inspection {
    /// Whether it counts as a list.
    pub list: bool,
    /// Whether it counts as a page of posts.
    pub thread: bool,
    /// Links to pages of posts, each with the mark that shows new posts.
    pub links: Vec<(String, Option<String>)>,
    /// The next page.
    pub next: Option<String>,
    /// Its posts.
    pub items: Vec<Inspected>,
    /// Keys that found nothing.
    pub missing: Vec<Missing>,
    /// Classes, ids and names of elements on the page.
    pub element_names: BTreeSet<String>,
}

impl Profile {
    /// Inspects a page; `None` if it cannot be parsed in the profile's format.
    pub fn inspect_page(&self, text: &str, url: &str, captured: Option<&str>) -> Option<Inspection> {
        if self.rules.format == Format::Html {
            let page = dom::parse_document(text).ok()?;
            let raw = self.raw_html(&page, url, captured);
            let view = SearchedPage::new(Node::Html(page.root_element()), url, captured, &[]);
            return Some(self.inspect_values(raw, &view, element_names(&page)));
        }
        let raw = self.raw_text(text, url, captured)?;
        let value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let view = SearchedPage::new(Node::Json(&value), url, captured, &[]);
        Some(self.inspect_values(raw, &view, BTreeSet::new()))
    }

    fn inspect_values(
        &self,
        raw: Raw,
        page: &SearchedPage<'_>,
        element_names: BTreeSet<String>,
    ) -> Inspection {
        let rules = &*self.rules;
        let seen = |field: &Field, hit: &Hit| FoundValue {
            key: field.name(),
            by: match hit.way {
                LABELS => "labels".into(),
                OWN_ID => "own_id".into(),
                way => rules
                    .fields
                    .get(field)
                    .and_then(|pick| pick.0.get(way))
                    .map_or_else(|| "each".into(), |way| way.as_written.clone()),
            },
            raw: hit.value.replace(SEPARATOR, "; "),
        };
        let posts = raw.hits.len();
        let mut missing = Vec::new();
        for (key, pick) in rules.picks_by_key() {
            let field = Field::ALL.into_iter().find(|field| field.name() == key);
            // A title on the page is that of the first post, and most posts have no pictures.
            let asked = |at: &usize, field| match field {
                Field::Title => raw.reading.entries[*at].first,
                Field::Images | Field::Links => false,
                _ => true,
            };
            let (lacking, having) = match field {
                Some(field) if raw.reading.thread => {
                    let lacks = |at: &usize| raw.hits[*at].get(&field).is_none_or(|hit| hit.value.is_empty());
                    let (lack, have): (Vec<usize>, Vec<usize>) =
                        (0..posts).filter(|at| asked(at, field)).partition(lacks);
                    (lack.len(), have.len())
                }
                _ => (0, 0),
            };
            let of_page = match key {
                "list" => raw.reading.links.is_empty() && (raw.reading.list || !raw.reading.thread),
                "changed" => raw.reading.list && raw.reading.marks.is_empty(),
                "next" => raw.next.is_none(),
                _ => false,
            };
            if lacking > 0 || of_page {
                let posts = field.map(|_| (lacking, having));
                missing.push(self.describe_missing(key, pick, posts, page, &element_names));
            }
        }
        let item = rules.item.as_ref().filter(|_| posts == 0 && (raw.reading.thread || !raw.reading.list));
        if let Some(from) = item {
            let description = description_of(from, self, "item");
            missing.insert(0, found_part("item", description, None, from, page, &element_names));
        }
        if let (Some(labels), 0) = (&rules.labels, posts) {
            let description = labels.all_words().join(", ");
            let (part, strangers) = (None, Vec::new());
            missing.push(Missing { key: "labels", description, posts: None, part, strangers });
        }
        let items = raw.reading.entries.into_iter().zip(&raw.hits).map(|(entry, hits)| Inspected {
            joke: match rules.jokes {
                Jokes::All => Some(true),
                Jokes::First => Some(entry.first),
                Jokes::Numbered => None,
            },
            seen: hits.iter().map(|(field, hit)| seen(field, hit)).collect(),
            entry,
        });
        Inspection {
            list: raw.reading.list,
            thread: raw.reading.thread,
            links: raw.links.into_iter().map(|(hit, mark)| (hit.value, mark.map(|hit| hit.value))).collect(),
            next: raw.reading.next,
            items: items.collect(),
            missing,
            element_names,
        }
    }

    fn describe_missing(
        &self,
        key: &'static str,
        pick: &Pick,
        posts: Option<(usize, usize)>,
        page: &SearchedPage<'_>,
        element_names: &BTreeSet<String>,
    ) -> Missing {
        let description = pick.0.iter().map(|way| way.as_written.as_str()).collect::<Vec<_>>().join(", ");
        match pick.0.first() {
            Some(PickRule { from, as_written: one, .. }) if pick.0.len() == 1 => {
                found_part(key, one.clone(), posts, from, page, element_names)
            }
            _ => Missing { key, description, posts, part: None, strangers: Vec::new() },
        }
    }
}

fn description_of(_: &ValueSource, profile: &Profile, key: &str) -> String {
    profile.declared.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// The part of a selector or pointer that is found: prefixes, from the longest.
fn found_part(
    key: &'static str,
    description: String,
    posts: Option<(usize, usize)>,
    from: &ValueSource,
    page: &SearchedPage<'_>,
    element_names: &BTreeSet<String>,
) -> Missing {
    let mut missing =
        Missing { key, description: description.clone(), posts, part: None, strangers: Vec::new() };
    match (from, page.root) {
        (ValueSource::Html { attribute, .. }, Node::Html(root)) => {
            let css = match attribute {
                Some(name) => {
                    description.split_once(&format!("@{name}")).map_or(description.as_str(), |(css, _)| css)
                }
                None => description.as_str(),
            };
            let known = |word: &&str| element_names.contains(*word);
            missing.strangers = names_in(css).into_iter().filter(|word| !known(&word.as_str())).collect();
            missing.strangers.sort();
            missing.strangers.dedup();
            let mut part = css.trim();
            while !part.is_empty() {
                let count =
                    scraper::Selector::parse(part).map_or(0, |selector| root.select(&selector).count());
                if count > 0 {
                    missing.part = Some((part.to_owned(), count));
                    break;
                }
                part = part
                    .rsplit_once([' ', '>'])
                    .map_or("", |(before, _)| before.trim_end_matches([' ', '>']));
            }
        }
        (ValueSource::Json(_), Node::Json(root)) => {
            let mut part = description.as_str();
            while let Some((before, _)) = part.rsplit_once('/') {
                part = before;
                let count = super::pointer::Pointer::parse_pointer(part)
                    .map_or(0, |pointer| pointer.find_all(root).len());
                if count > 0 && !part.is_empty() {
                    missing.part = Some((part.to_owned(), count));
                    break;
                }
            }
        }
        _ => {}
    }
    missing
}

/// The names of elements, and classes and ids with their prefix, in a selector. Text in brackets is skipped.
fn names_in(css: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = css;
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || matches!(c, '.' | '#' | '[' | ':' | '('))
    {
        rest = &rest[at..];
        let close = match rest.as_bytes()[0] {
            b'[' => Some(']'),
            b'(' => Some(')'),
            _ => None,
        };
        if let Some(close) = close {
            rest = rest.find(close).map_or("", |end| &rest[end + close.len_utf8()..]);
            continue;
        }
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
            .map_or(rest.len(), |(at, _)| at);
        let word = &rest[..length];
        if !word.starts_with(':') && word.len() > 1 || word.chars().all(char::is_alphanumeric) {
            names.push(word.to_owned());
        }
        rest = &rest[length..];
    }
    names
}

fn element_names(page: &Html) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for element in page.tree.nodes().filter_map(|node| node.value().as_element()) {
        names.insert(element.name().to_owned());
        names.extend(element.classes().map(|class| format!(".{class}")));
        names.extend(element.id().map(|id| format!("#{id}")));
    }
    names
}
