//! The value that a key of a profile picks: where to look, what to take, how to parse it.

use std::borrow::Cow;
use std::collections::HashSet;

use ego_tree::NodeId;
use regex::Regex;
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

use super::super::dom;
use super::super::text::{decode_entities, text_unless};
use super::pointer::{Pointer, scalar_text};

riddlemill_schema::choice! {
    /// What a value is read as.
    #[derive(Default)]
    pub(super) enum ReadAs {
        /// A text.
        #[default]
        Text = "text",
        /// HTML in a text.
        Html = "html",
        /// A text with entities.
        Entities = "entities",
    }
}

/// Alternative rules for one value; the first that finds something counts.
#[derive(Debug)]
pub(super) struct Pick(pub Vec<PickRule>);

/// One rule.
#[derive(Debug)]
pub(super) struct PickRule {
    /// As written, for reports.
    pub as_written: String,
    pub from: ValueSource,
    pub place: Option<Place>,
    pub read_as: ReadAs,
    pub matches: Option<Regex>,
    pub template: Option<String>,
    /// For a next page: the parameter of the address that is set.
    pub param: Option<String>,
    /// For a next page: there is one as long as this finds something.
    pub goes_on: Option<ValueSource>,
    /// If given, `from` looks in the item with the id that this finds.
    pub of: Option<ValueSource>,
}

/// Where a value is.
#[derive(Debug)]
pub(super) enum ValueSource {
    /// Elements, an attribute of them, or what a pointer finds in an attribute with JSON. Without a selector
    /// the item's own element.
    Html { selector: Option<Selector>, attribute: Option<String>, pointer: Option<Pointer> },
    /// A pointer into JSON.
    Json(Pointer),
    /// The page's address.
    Address,
}

/// Where a rule searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Item,
    Page,
}

/// A node that is searched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node<'a> {
    Html(ElementRef<'a>),
    Json(&'a Value),
}

/// A page that is searched.
pub(super) struct SearchedPage<'a> {
    pub root: Node<'a>,
    pub url: &'a str,
    pub captured: Option<&'a str>,
    pub strip: &'a [Selector],
    /// Elements that are excluded from every text.
    pub hidden: HashSet<NodeId>,
}

/// In place of the number of a rule: the words of `labels`, and the rule of `own_id`.
pub(super) const LABELS: usize = usize::MAX;
pub(super) const OWN_ID: usize = usize::MAX - 1;

/// Between several values of one field.
pub(super) const SEPARATOR: char = '\u{1f}';

/// A value, and the rule that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub way: usize,
    pub value: String,
}

impl<'a> SearchedPage<'a> {
    pub fn new(
        root: Node<'a>,
        url: &'a str,
        captured: Option<&'a str>,
        strip: &'a [Selector],
    ) -> SearchedPage<'a> {
        let hidden = match root {
            Node::Html(root) => hidden_elements(root, strip),
            Node::Json(_) => HashSet::new(),
        };
        SearchedPage { root, url, captured, strip, hidden }
    }

    /// The first non-empty value that a pick finds, else an empty one.
    pub fn first_value(&self, pick: &Pick, item: Node<'a>, place: Place) -> Option<Hit> {
        let mut empty = None;
        for (way, rule) in pick.0.iter().enumerate() {
            let node = self.node_of_rule(rule, item, place);
            for value in self.values_in_node(rule, node) {
                if !value.is_empty() {
                    return Some(Hit { way, value });
                }
                empty.get_or_insert(Hit { way, value });
            }
        }
        empty
    }

    /// All values of the first rule that finds something.
    pub fn all_values(&self, pick: &Pick, item: Node<'a>, place: Place) -> Vec<Hit> {
        let found = pick.0.iter().enumerate().map(|(way, rule)| {
            let values = self.values_in_node(rule, self.node_of_rule(rule, item, place));
            values.into_iter().filter(|v| !v.is_empty()).map(|value| Hit { way, value }).collect::<Vec<_>>()
        });
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn node_of_rule(&self, way: &PickRule, item: Node<'a>, place: Place) -> Node<'a> {
        match way.place.unwrap_or(place) {
            Place::Item => item,
            Place::Page => self.root,
        }
    }

    /// All values that a rule finds in a node, parsed as it states.
    pub fn values_in_node(&self, way: &PickRule, node: Node<'a>) -> Vec<String> {
        let raw = self.raw_values(&way.from, node, way.read_as);
        raw.into_iter().filter_map(|raw| way.format_match(&raw)).collect()
    }

    /// The text before a pattern is applied.
    pub fn raw_values(&self, from: &ValueSource, node: Node<'a>, read_as: ReadAs) -> Vec<String> {
        match (from, node) {
            (ValueSource::Address, _) => vec![self.url.to_owned()],
            (ValueSource::Json(pointer), Node::Json(value)) => {
                let values = pointer.find_all(value).into_iter().filter_map(scalar_text);
                values.map(|text| self.read_as(&text, read_as).into_owned()).collect()
            }
            (ValueSource::Html { selector, attribute, pointer }, Node::Html(element)) => {
                let found: Vec<ElementRef<'a>> = match selector {
                    Some(selector) => element.select(selector).collect(),
                    None => vec![element],
                };
                let texts = found.into_iter().flat_map(|element| match attribute {
                    None => vec![self.visible_text(element)],
                    Some(name) => {
                        let value = element.value().attr(name);
                        match pointer {
                            None => value.map(|value| value.trim().to_owned()).into_iter().collect(),
                            Some(pointer) => value.map(|value| in_json(value, pointer)).unwrap_or_default(),
                        }
                    }
                });
                texts.map(|text| self.read_as(&text, read_as).into_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text of an element without hidden ones.
    pub fn visible_text(&self, element: ElementRef<'_>) -> String {
        if self.hidden.is_empty() {
            text_unless(element, |_, _| false)
        } else {
            // An element that a rule names is wanted, even where it is hidden within others.
            text_unless(element, |_, id| id != element.id() && self.hidden.contains(&id))
        }
    }

    fn read_as<'t>(&self, text: &'t str, read_as: ReadAs) -> Cow<'t, str> {
        match read_as {
            ReadAs::Text => text.into(),
            ReadAs::Entities => decode_entities(text),
            ReadAs::Html => match dom::parse_fragment(text) {
                Ok(tree) => {
                    let root = tree.root_element();
                    let hidden = hidden_elements(root, self.strip);
                    text_unless(root, |_, id| hidden.contains(&id)).into()
                }
                Err(_) => text.into(),
            },
        }
    }
}

/// Markup in comments of some pages, which a script would insert.
pub(super) fn comments_of(page: &Html, holders: &Selector) -> String {
    let children = page.select(holders).flat_map(|holder| holder.children());
    children.filter_map(|node| Some(node.value().as_comment()?.to_string())).collect()
}

fn hidden_elements(root: ElementRef<'_>, strip: &[Selector]) -> HashSet<NodeId> {
    strip.iter().flat_map(|selector| root.select(selector).map(|element| element.id())).collect()
}

fn in_json(text: &str, pointer: &Pointer) -> Vec<String> {
    // Some pages use single quotes.
    let value =
        serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\"")));
    value
        .map(|value| pointer.find_all(&value).into_iter().filter_map(scalar_text).collect())
        .unwrap_or_default()
}

impl PickRule {
    /// The pattern's match in a text, formatted with the template. Several groups are joined by `:`.
    pub fn format_match(&self, raw: &str) -> Option<String> {
        let Some(pattern) = &self.matches else {
            return Some(self.template.as_ref().map_or_else(|| raw.to_owned(), |t| t.replace("{}", raw)));
        };
        let found = pattern.captures(raw)?;
        let groups: Vec<&str> = found.iter().skip(1).flatten().map(|group| group.as_str()).collect();
        let value =
            if groups.is_empty() { found[0].trim().to_owned() } else { groups.join(":").trim().to_owned() };
        Some(match &self.template {
            None => value,
            Some(template) => {
                let text = template.replace("{}", &value);
                (1..)
                    .zip(&groups)
                    .fold(text, |text, (n, group): (usize, _)| text.replace(&format!("{{{n}}}"), group))
            }
        })
    }
}

/// The first whole number in a text.
pub(super) fn first_number(text: &str) -> Option<u64> {
    let from = text.find(|c: char| c.is_ascii_digit())?;
    let digits: String = text[from..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A floor number in the usual forms.
pub(super) fn parse_floor(text: &str) -> Option<u64> {
    first_number(text).or_else(|| {
        let names = [("楼主", 1), ("沙发", 2), ("板凳", 3), ("地板", 4)];
        names.into_iter().find(|(name, _)| text.contains(name)).map(|(_, floor)| floor)
    })
}

/// A number in the usual forms: `1,234`, `3.5`, `1.2万`, `-3`, `4.5K`.
pub(super) fn parse_amount(text: &str) -> Option<f64> {
    let text = text.trim().replace([',', ' '], "").replace('−', "-");
    let number: String = text
        .chars()
        .enumerate()
        .take_while(|(at, c)| c.is_ascii_digit() || *c == '.' || (*at == 0 && "+-".contains(*c)))
        .map(|(_, c)| c)
        .collect();
    let unit = match text[number.len()..].chars().next() {
        Some('万' | 'w' | 'W') => 10_000.0,
        Some('k' | 'K' | '千') => 1000.0,
        Some('m' | 'M') => 1_000_000.0,
        _ => 1.0,
    };
    number.parse::<f64>().ok().map(|n| n * unit).filter(|n| n.is_finite())
}
