//! Parses a profile into rules and reports all errors at once, each with its key.

use std::collections::BTreeMap;

use encoding_rs::Encoding;
use jiff::tz::Offset;
use regex::Regex;
use riddlemill_schema::{FaultKind, Kind};
use scraper::Selector;
use serde_json::{Map, Value};

use super::error::RuleError;
use super::keys::{Fault, Field, Format, Jokes, KEYS, Within};
use super::labels::Labels;
use super::pick::{Pick, PickRule, Place, ReadAs, ValueSource};
use super::pointer::Pointer;
use super::times;

/// A parsed profile, ready to read pages.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub format: Format,
    pub encoding: Option<&'static Encoding>,
    pub zone: Option<Offset>,
    pub time_formats: Vec<String>,
    pub namespace: Option<String>,
    pub lists: Vec<String>,
    pub threads: Vec<String>,
    pub pages: Vec<String>,
    pub list_has: Option<ValueSource>,
    pub thread_has: Option<ValueSource>,
    pub unwrap: Option<Selector>,
    pub row: Option<ValueSource>,
    pub list: Option<Pick>,
    pub changed: Option<Pick>,
    pub next: Option<Pick>,
    pub item: Option<ValueSource>,
    pub each: Option<Regex>,
    pub labels: Option<Labels>,
    pub own_id: Option<Pick>,
    pub first_floor: u64,
    pub fields: BTreeMap<Field, Pick>,
    pub strip: Vec<Selector>,
    pub strip_text: Vec<Regex>,
    pub removed: Vec<Regex>,
    pub jokes: Jokes,
}

impl Rules {
    /// Parses a profile.
    pub fn read_rules(declared: &Map<String, Value>) -> (Rules, Vec<Fault>) {
        let mut valid = Value::Object(declared.clone());
        let mut faults = Vec::new();
        for fault in Kind::Table(KEYS).find_faults(&valid) {
            let (what, known) = match fault.what {
                FaultKind::Unknown(keys) => {
                    let name = fault.path.last().map(String::as_str).unwrap_or_default();
                    (format!("unknown key {name:?}"), keys.iter().map(|key| key.name).collect())
                }
                FaultKind::Misfit(mismatch) => (mismatch.to_string(), Vec::new()),
                FaultKind::Lacks(key) => (format!("`{key}` is missing"), Vec::new()),
            };
            faults.push(Fault { path: fault.path, what, known });
        }
        // What does not fit is told, and the rest is read without it.
        for fault in &faults {
            leave_out(&mut valid, &fault.path);
        }
        let Value::Object(valid) = valid else { return (Rules::default(), faults) };
        let mut reader = RuleReader { declared: &valid, json: false, faults };
        let rules = reader.parse_rules();
        (rules, reader.faults)
    }

    /// The picks by their keys, for reports.
    pub fn picks_by_key(&self) -> impl Iterator<Item = (&'static str, &Pick)> {
        let more = [("list", &self.list), ("changed", &self.changed), ("next", &self.next)];
        let more = more.into_iter().filter_map(|(name, pick)| Some((name, pick.as_ref()?)));
        self.fields.iter().map(|(field, pick)| (field.name(), pick)).chain(more)
    }
}

struct RuleReader<'v> {
    declared: &'v Map<String, Value>,
    json: bool,
    faults: Vec<Fault>,
}

impl RuleReader<'_> {
    fn add_fault(&mut self, path: &[&str], what: impl Into<String>) {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        self.faults.push(Fault { path, what: what.into(), known: Vec::new() });
    }

    fn parse_rules(&mut self) -> Rules {
        let format = self.text_of_key("format").and_then(|name| Format::from_name(&name)).unwrap_or_default();
        self.json = format != Format::Html;
        let mut fields = BTreeMap::new();
        for field in Field::ALL {
            if let Some(pick) = self.parse_pick(field.name(), false) {
                fields.insert(field, pick);
            }
        }
        let rules = Rules {
            format,
            encoding: self.parse_key("encoding", |label| {
                Encoding::for_label(label.as_bytes())
                    .ok_or_else(|| RuleError::UnknownEncoding(label.to_owned()))
            }),
            zone: self.parse_key("zone", |zone| {
                times::parse_zone(zone).ok_or(RuleError::Expected("\"UTC\" or hours from it, as \"+08:00\""))
            }),
            time_formats: self
                .each_of("time_formats", |form| times::check_format(form).map(|()| form.to_owned())),
            namespace: self.parse_key("namespace", |name| match name.trim() {
                "" => Err(RuleError::Expected("a name")),
                name => Ok(name.to_owned()),
            }),
            lists: self.each_of("lists", check_pattern),
            threads: self.each_of("threads", check_pattern),
            pages: self.each_of("pages", check_pattern),
            list_has: self.parse_place("list_has"),
            thread_has: self.parse_place("thread_has"),
            unwrap: self.parse_key("unwrap", parse_selector),
            row: self.parse_place("row"),
            list: self.parse_pick("list", false),
            changed: self.parse_pick("changed", false),
            next: self.parse_pick("next", true),
            item: self.parse_place("item"),
            each: self.parse_key("each", parse_regex),
            labels: self.parse_labels(),
            own_id: self.parse_pick("own_id", false),
            first_floor: self.declared.get("first_floor").and_then(Value::as_u64).unwrap_or(1),
            strip: self.each_of("strip", parse_selector),
            strip_text: self.each_of("strip_text", parse_regex),
            removed: self.each_of("gone", parse_regex),
            jokes: self.text_of_key("jokes").and_then(|name| Jokes::from_name(&name)).unwrap_or_default(),
            fields,
        };
        self.check_consistency(&rules);
        rules
    }

    /// Checks requirements between keys.
    fn check_consistency(&mut self, rules: &Rules) {
        let has = |field| rules.fields.contains_key(&field);
        let finds = rules.item.is_some() || rules.list.is_some() || rules.labels.is_some();
        if !finds && !["item", "list", "labels"].into_iter().any(|key| self.is_faulty(key)) {
            self.add_fault(
                &[],
                "a profile needs `item`, one post, `labels`, the words before its parts, or `list`, the links to pages of posts",
            );
        }
        let unlabelled = rules.labels.as_ref().is_some_and(|labels| labels.body.is_empty());
        if self.declared.contains_key("asks") && !unlabelled && !self.is_faulty("labels") {
            self.add_fault(&["asks"], "`asks` needs `labels` with an `answer` and no `body`");
        }
        if rules.changed.is_some() && rules.row.is_none() && !self.is_faulty("row") {
            self.add_fault(&["changed"], "`changed` is looked for in a row: `row` is missing");
        }
        if let Some(each) = &rules.each {
            let known: Vec<&'static str> = Field::ALL.iter().map(|field| field.name()).collect();
            let names: Vec<&str> = each.capture_names().flatten().collect();
            if names.is_empty() {
                self.add_fault(&["each"], "the pattern has no named group, as (?<body>…)");
            }
            for name in names.into_iter().filter(|name| !known.contains(name)) {
                let what = format!("the group {name:?} is not a field of a post");
                self.faults.push(Fault {
                    path: vec!["each".into(), name.into()],
                    what,
                    known: known.clone(),
                });
            }
        }
        match rules.jokes {
            Jokes::First
                if rules.next.is_some()
                    && rules.item.is_some()
                    && !has(Field::Floor)
                    && !has(Field::Page) =>
            {
                self.add_fault(
                    &["jokes"],
                    "with `next` and without `floor` or `page` the first post of every page would count as that of its thread",
                );
            }
            Jokes::Numbered => {
                let missing: Vec<&str> = [Field::Thread, Field::Id, Field::Floor, Field::Author]
                    .into_iter()
                    .filter(|field| !has(*field) && !self.is_faulty(field.name()))
                    .map(Field::name)
                    .collect();
                if !missing.is_empty() {
                    let what = format!(
                        "\"numbered\" needs to know whose thread it is: `{}` is missing",
                        missing.join("`, `")
                    );
                    self.add_fault(&["jokes"], what);
                }
            }
            _ => {}
        }
        if rules.format == Format::Xml && self.declared.contains_key("next") {
            self.add_fault(&["next"], "XML is read item by item; a page of it has no next one");
        }
    }

    /// The words before the parts of a post: a word, or a list of words.
    fn parse_labels(&mut self) -> Option<Labels> {
        let asks = self.parse_key("asks", parse_regex).or_else(|| Regex::new("[?？]").ok())?;
        let table = self.declared.get("labels")?.as_object()?.clone();
        let [body, answer] = ["body", "answer"].map(|key| {
            let written: Vec<&Value> = match table.get(key) {
                None => Vec::new(),
                Some(Value::Array(list)) => list.iter().collect(),
                Some(one) => vec![one],
            };
            let words = written.iter().filter_map(|word| word.as_str()).map(str::trim);
            let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
            if words.len() < written.len() {
                self.add_fault(&["labels", key], "expected a word, or a list of words");
            }
            words
        });
        if body.is_empty() && answer.is_empty() && !self.is_faulty("labels") {
            self.add_fault(&["labels"], "expected a word for `body`, for `answer` or for both");
        }
        if self.json {
            self.add_fault(&["labels"], "only pages in HTML have `labels`");
        }
        (!self.is_faulty("labels")).then_some(Labels { body, answer, asks })
    }

    fn is_faulty(&self, key: &str) -> bool {
        self.faults.iter().any(|fault| fault.path.first().is_some_and(|first| first == key))
    }

    fn text_of_key(&self, key: &str) -> Option<String> {
        self.declared.get(key)?.as_str().map(str::to_owned)
    }

    fn parse_key<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, RuleError>) -> Option<T> {
        let text = self.text_of_key(key)?;
        read(&text).map_err(|error| self.add_fault(&[key], error.to_string())).ok()
    }

    /// A text or a list of texts, each parsed.
    fn each_of<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, RuleError>) -> Vec<T> {
        let list = match self.declared.get(key) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list.clone(),
            Some(one) => vec![one.clone()],
        };
        let mut found = Vec::new();
        for (at, value) in list.iter().enumerate() {
            match value.as_str().map(&read) {
                Some(Ok(read)) => found.push(read),
                Some(Err(error)) => self.add_fault(&[key, &at.to_string()], error.to_string()),
                None => {}
            }
        }
        found
    }

    /// A place: a selector or a pointer.
    fn parse_place(&mut self, key: &str) -> Option<ValueSource> {
        let text = self.text_of_key(key)?;
        self.from(&text, &[key])
    }

    fn from(&mut self, text: &str, path: &[&str]) -> Option<ValueSource> {
        let from = if self.json {
            Pointer::parse_pointer(text).map(ValueSource::Json)
        } else {
            parse_html_place(text)
        };
        from.map_err(|error| self.add_fault(path, error.to_string())).ok()
    }

    fn parse_pick(&mut self, key: &str, next: bool) -> Option<Pick> {
        let declared = self.declared.get(key)?.clone();
        let ways = match declared {
            Value::Array(list) => {
                if list.is_empty() {
                    self.add_fault(&[key], "expected at least one way to find it");
                }
                let ways = list
                    .iter()
                    .enumerate()
                    .map(|(at, way)| self.parse_way(way, &[key, &at.to_string()], next));
                ways.collect::<Vec<_>>()
            }
            one => vec![self.parse_way(&one, &[key], next)],
        };
        let mut ways: Vec<PickRule> = ways.into_iter().flatten().collect();
        // A link's value is its target.
        for way in ways.iter_mut().filter(|way| matches!(key, "list" | "next") && way.param.is_none()) {
            if let ValueSource::Html { attribute: attribute @ None, .. } = &mut way.from {
                *attribute = Some("href".into());
            }
        }
        (!ways.is_empty()).then_some(Pick(ways))
    }

    fn parse_way(&mut self, declared: &Value, path: &[&str], next: bool) -> Option<PickRule> {
        let plain = |from, as_written| PickRule {
            as_written,
            from,
            place: None,
            read_as: ReadAs::Text,
            matches: None,
            template: None,
            param: None,
            goes_on: None,
            of: None,
        };
        let table = match declared {
            Value::String(text) => return Some(plain(self.from(text, path)?, text.clone())),
            Value::Object(table) => table,
            _ => return None,
        };
        let faults = self.faults.len();
        let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
        let place = text("in").and_then(|name| Within::from_name(&name));
        let read_as = text("as").and_then(|name| ReadAs::from_name(&name)).unwrap_or_default();
        let (matches, template, param) = (text("match"), text("template"), text("param"));
        let (from, goes_on, of) = (text("from"), text("while"), text("of"));
        let address = place == Some(Within::Address);
        let below =
            |key: &str| path.iter().copied().map(str::to_owned).chain([key.to_owned()]).collect::<Vec<_>>();
        let way_path = |key: &'static str| path.iter().copied().chain([key]).collect::<Vec<_>>();
        let from_said = from.clone();
        let from = match (from, address) {
            (Some(from), false) => self.from(&from, &way_path("from")),
            (None, true) => Some(ValueSource::Address),
            (None, false) if param.is_some() && goes_on.is_some() => Some(ValueSource::Address),
            (Some(_), true) => {
                self.add_fault(&way_path("from"), "in = \"address\" reads the page's address, and there is nothing to look for in it but `match`");
                None
            }
            (None, false) => {
                // Told of, where what is there does not fit.
                let told = |key: &str| self.faults.iter().any(|fault| fault.path == below(key));
                if !told("from") && !told("in") {
                    self.add_fault(path, "`from` is missing: where to look");
                }
                None
            }
        };
        let place = match place {
            Some(Within::Item) => Some(Place::Item),
            Some(Within::Page) => Some(Place::Page),
            Some(Within::Address) | None => None,
        };
        let matches = matches.and_then(|text| {
            parse_regex(&text).map_err(|error| self.add_fault(&way_path("match"), error.to_string())).ok()
        });
        let goes_on = goes_on.and_then(|text| self.from(&text, &way_path("while")));
        let of = of.and_then(|text| self.from(&text, &way_path("of")));
        for (key, there) in [("param", param.is_some()), ("while", goes_on.is_some())] {
            if there && !next {
                self.add_fault(&way_path(key), format!("`{key}` can only be used in `next`"));
            }
        }
        if goes_on.is_some() && param.is_none() {
            self.add_fault(path, "`while` needs `param`: the parameter of the address that counts the pages");
        }
        let from = from?;
        let as_written =
            from_said.unwrap_or_else(|| if address { "the address".into() } else { "while".into() });
        let way =
            PickRule { place, read_as, matches, template, param, goes_on, of, ..plain(from, as_written) };
        (self.faults.len() == faults).then_some(way)
    }
}

/// Takes the value at a path away, with the list that it is an item of.
fn leave_out(from: &mut Value, path: &[String]) {
    let Some((key, below)) = path.split_first() else { return };
    let is_item = below.len() == 1 && from.get(key).is_some_and(Value::is_array);
    match from {
        Value::Object(table) if below.is_empty() || is_item => drop(table.remove(key)),
        Value::Object(table) => {
            if let Some(inner) = table.get_mut(key) {
                leave_out(inner, below);
            }
        }
        Value::Array(list) => {
            if let Some(inner) = key.parse::<usize>().ok().and_then(|at| list.get_mut(at)) {
                leave_out(inner, below);
            }
        }
        _ => {}
    }
}

/// `selector@attribute#/pointer`, with all parts except one optional.
fn parse_html_place(text: &str) -> Result<ValueSource, RuleError> {
    let (head, pointer) = match text.split_once("#/") {
        Some((head, pointer)) => (head, Some(Pointer::parse_pointer(&format!("/{pointer}"))?)),
        None => (text, None),
    };
    let name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    let (selector, attribute) = match head.rsplit_once('@') {
        Some((selector, attribute)) if name(attribute) => (selector.trim(), Some(attribute.to_owned())),
        _ => (head.trim(), None),
    };
    if pointer.is_some() && attribute.is_none() {
        return Err(RuleError::NoAttribute(text.to_owned()));
    }
    if selector.is_empty() && attribute.is_none() {
        return Err(RuleError::Expected("a CSS selector"));
    }
    let selector = if selector.is_empty() { None } else { Some(parse_selector(selector)?) };
    Ok(ValueSource::Html { selector, attribute, pointer })
}

fn parse_selector(text: &str) -> Result<Selector, RuleError> {
    Selector::parse(text).map_err(|e| RuleError::NoSelector { text: text.to_owned(), why: e.to_string() })
}

fn parse_regex(text: &str) -> Result<Regex, RuleError> {
    Regex::new(text).map_err(|error| RuleError::NoRegex { text: text.to_owned(), error })
}

fn check_pattern(text: &str) -> Result<String, RuleError> {
    match ["/", "*", "http://", "https://"].iter().any(|start| text.starts_with(start)) {
        true => Ok(text.to_owned()),
        false => Err(RuleError::MatchesNothing(text.to_owned())),
    }
}
