//! Reads whole pages by a profile's rules.

use std::collections::{BTreeMap, HashMap};

use scraper::Html;
use serde_json::Value;
use url::Url;

use super::super::{dom, number_of, pattern, time};
use super::keys::{Field, Format};
use super::labels::Labelled;
use super::pick::{Hit, LABELS, Node, OWN_ID, Pick, Place, SEPARATOR, SearchedPage, ValueSource};
use super::pick::{first_number, parse_amount, parse_floor};
use super::{Profile, times};

/// A post as its page has it. The author's name is in clear; it is hashed later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundPost {
    /// The site's own id.
    pub native: Option<String>,
    /// The id with its namespace: the post's id everywhere.
    pub id: Option<String>,
    /// The id of its thread.
    pub thread: Option<String>,
    /// Its position in its thread, by the site's count.
    pub floor: Option<u64>,
    /// Whether it is the first of its thread.
    pub first: bool,
    pub title: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// The answer of a riddle.
    pub answer: Option<String>,
    pub author: Option<String>,
    /// The time as shown on the page.
    pub time_raw: Option<String>,
    /// The time in ISO 8601.
    pub time: Option<String>,
    /// The readers' score.
    pub score: Option<f64>,
    /// Pictures in it.
    pub images: u64,
    /// Texts of the links in it.
    pub links: Vec<String>,
    /// The placeholder of a removed post.
    pub removed: Option<String>,
}

/// The contents of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Whether it is a list.
    pub list: bool,
    /// Whether it is a page of posts.
    pub thread: bool,
    /// Whether it has the frame of all such pages, even if it is empty.
    pub framed: bool,
    /// Its posts.
    pub entries: Vec<FoundPost>,
    /// Links to pages of posts, as written.
    pub links: Vec<String>,
    /// For each link a number that changes when the thread has new posts; empty if unknown.
    pub marks: Vec<u64>,
    /// The next page.
    pub next: Option<String>,
}

/// The values found for a post by field, each with its rule.
pub(super) type Hits = BTreeMap<Field, Hit>;

/// A page with the values found on it.
pub(super) struct Raw {
    pub reading: Reading,
    pub hits: Vec<Hits>,
    pub next: Option<Hit>,
    /// The values of links, and the raw marks.
    pub links: Vec<(Hit, Option<Hit>)>,
}

impl Profile {
    /// Reads an HTML page.
    pub fn read_html(&self, page: &Html, url: &str, captured: Option<&str>) -> Reading {
        self.raw_html(page, url, captured).reading
    }

    /// Reads a JSON or XML page; `None` if it is neither.
    pub fn read_text(&self, text: &str, url: &str, captured: Option<&str>) -> Option<Reading> {
        Some(self.raw_text(text, url, captured)?.reading)
    }

    pub(super) fn raw_html(&self, page: &Html, url: &str, captured: Option<&str>) -> Raw {
        let comments = self.rules.unwrap.as_ref().map(|holders| super::pick::comments_of(page, holders));
        if let Some(markup) = comments.filter(|markup| !markup.is_empty())
            && let Ok(inner) = dom::parse_document(&format!("{markup}{}", page.html()))
        {
            return self.read_raw(&SearchedPage::new(
                Node::Html(inner.root_element()),
                url,
                captured,
                &self.rules.strip,
            ));
        }
        self.read_raw(&SearchedPage::new(Node::Html(page.root_element()), url, captured, &self.rules.strip))
    }

    pub(super) fn raw_text(&self, text: &str, url: &str, captured: Option<&str>) -> Option<Raw> {
        let text = text.trim_start_matches('\u{feff}');
        if self.rules.format == Format::Json {
            let value: Value = serde_json::from_str(text).ok()?;
            return Some(self.read_raw(&SearchedPage::new(
                Node::Json(&value),
                url,
                captured,
                &self.rules.strip,
            )));
        }
        let (mut items, mut bad) = (Vec::new(), false);
        self.each_item(text.as_bytes(), u64::MAX, false, |_, item| {
            bad |= item.is_err();
            items.extend(item);
            true
        });
        // A file that was cut off still gives the items before the cut.
        if bad && items.is_empty() {
            return None;
        }
        let mut answers = HashMap::new();
        if self.joins_answers() {
            self.each_item(text.as_bytes(), u64::MAX, true, |_, item| {
                answers.extend(item.ok().and_then(|item| self.as_answer(&item)));
                true
            });
        }
        let root = Value::Null;
        let page = SearchedPage::new(Node::Json(&root), url, captured, &self.rules.strip);
        let nodes = items.iter().map(Node::Json).collect();
        Some(self.of_items(&page, nodes, &answers))
    }

    /// Reads one item of an XML file. `answers` are those of [`Profile::answers`].
    pub fn read_item(&self, item: &Value, answers: &HashMap<String, String>) -> Vec<FoundPost> {
        let root = Value::Null;
        let page = SearchedPage::new(Node::Json(&root), "", None, &self.rules.strip);
        self.of_items(&page, vec![Node::Json(item)], answers).reading.entries
    }

    /// The ids of the items that contain answers to these.
    pub fn answered_by(&self, item: &Value) -> Vec<String> {
        let root = Value::Null;
        let page = SearchedPage::new(Node::Json(&root), "", None, &self.rules.strip);
        let ways = self.rules.fields.get(&Field::Answer).into_iter().flat_map(|pick| &pick.0);
        ways.filter_map(|way| way.of.as_ref())
            .flat_map(|of| page.raw_values(of, Node::Json(item), super::pick::ReadAs::Text))
            .collect()
    }

    /// Whether answers are separate items, each referenced by the id of another.
    pub fn joins_answers(&self) -> bool {
        let ways = self.rules.fields.get(&Field::Answer).into_iter().flat_map(|pick| &pick.0);
        ways.into_iter().any(|way| way.of.is_some())
    }

    /// The id of an item, and its text as an answer.
    pub fn as_answer(&self, item: &Value) -> Option<(String, String)> {
        let root = Value::Null;
        let page = SearchedPage::new(Node::Json(&root), "", None, &self.rules.strip);
        let id = page.first_value(self.rules.fields.get(&Field::Id)?, Node::Json(item), Place::Item)?.value;
        let way = self.rules.fields.get(&Field::Answer)?.0.iter().find(|way| way.of.is_some())?;
        let text = page.values_in_node(way, Node::Json(item)).into_iter().next()?;
        Some((id, text))
    }

    fn read_raw<'a>(&self, page: &SearchedPage<'a>) -> Raw {
        let items = self.rules.item.as_ref().map(|item| select_nodes(page.root, item)).unwrap_or_default();
        let answers = match (&self.rules.item, page.root) {
            (Some(ValueSource::Json(item)), Node::Json(root)) if self.joins_answers() => {
                // Answers are items of another kind, which the filter of `item` would leave out.
                item.without_filter()
                    .find_all(root)
                    .into_iter()
                    .filter_map(|item| self.as_answer(item))
                    .collect()
            }
            _ => HashMap::new(),
        };
        self.of_items(page, items, &answers)
    }

    fn of_items<'a>(
        &self,
        page: &SearchedPage<'a>,
        items: Vec<Node<'a>>,
        answers: &HashMap<String, String>,
    ) -> Raw {
        let rules = &*self.rules;
        let links = self.listed_links(page);
        let labelled = if items.is_empty() { self.labelled_posts(page) } else { Vec::new() };
        let posts = !items.is_empty() || !labelled.is_empty();
        let (list, thread) = self.kind_of_page(page, posts, !links.is_empty());
        let links = if list { links } else { Vec::new() };
        let items = if thread { items } else { Vec::new() };
        let mut hits: Vec<Hits> = if thread { labelled } else { Vec::new() };
        for item in items {
            hits.extend(self.hits_in_item(page, item, answers));
        }
        self.name_own(page, &mut hits);
        let shared =
            |field| rules.fields.get(&field).and_then(|pick| page.first_value(pick, page.root, Place::Page));
        let number = shared(Field::Page).and_then(|hit| first_number(&hit.value)).unwrap_or(1);
        let title = shared(Field::Title).filter(|_| matches!(page.root, Node::Html(_)));
        let (thread_hit, page_hit) = (shared(Field::Thread), shared(Field::Page));
        let mut entries = Vec::with_capacity(hits.len());
        for (at, hits) in hits.iter_mut().enumerate() {
            for (field, hit) in [(Field::Thread, &thread_hit), (Field::Page, &page_hit)] {
                if let Some(hit) = hit {
                    hits.entry(field).or_insert_with(|| hit.clone());
                }
            }
            let floor = hits.get(&Field::Floor).and_then(|hit| parse_floor(&hit.value));
            let first = floor.map_or(at == 0 && number == 1, |floor| floor == rules.first_floor);
            if let Some(title) = title.as_ref().filter(|_| first) {
                hits.entry(Field::Title).or_insert_with(|| title.clone());
            }
            entries.push(self.build_entry(page, hits, floor, first));
        }
        let next = rules.next.as_ref().and_then(|next| self.next(page, next));
        let mut marks: Vec<u64> =
            links.iter().map(|(_, mark)| mark.as_ref().map_or(0, |hit| number_of(&hit.value))).collect();
        if marks.iter().all(|mark| *mark == 0) {
            marks.clear();
        }
        let reading = Reading {
            list,
            thread,
            framed: [&rules.list_has, &rules.thread_has]
                .into_iter()
                .flatten()
                .any(|has| !select_nodes(page.root, has).is_empty()),
            entries,
            links: links.iter().map(|(hit, _)| hit.value.clone()).collect(),
            marks,
            next: next.as_ref().map(|hit| hit.value.clone()),
        };
        Raw { reading, hits, next, links }
    }

    /// The values for the posts that words in the text show.
    fn labelled_posts<'a>(&self, page: &SearchedPage<'a>) -> Vec<Hits> {
        let (Some(labels), Node::Html(root)) = (&self.rules.labels, page.root) else { return Vec::new() };
        let hits = |post: Labelled<'a>| {
            let hit = |value: String| Hit { way: LABELS, value };
            let mut hits = Hits::from([(Field::Body, hit(post.body))]);
            hits.extend(post.answer.map(|answer| (Field::Answer, hit(answer))));
            if !post.links.is_empty() {
                hits.insert(Field::Links, hit(post.links.join(&SEPARATOR.to_string())));
            }
            if let Some(heading) = post.heading {
                hits.insert(Field::Title, hit(page.visible_text(heading)));
                let id = self.rules.fields.get(&Field::Id);
                let id = id.and_then(|pick| page.first_value(pick, Node::Html(heading), Place::Item));
                hits.extend(id.map(|id| (Field::Id, id)));
            }
            hits
        };
        labels.find_posts(page, root).into_iter().map(hits).collect()
    }

    /// Gives the first post the id of the one that the page is about, which need not link to itself.
    fn name_own(&self, page: &SearchedPage<'_>, posts: &mut [Hits]) {
        let own = self.rules.own_id.as_ref().and_then(|pick| page.first_value(pick, page.root, Place::Page));
        let Some(value) = own.map(|hit| hit.value).filter(|id| !id.is_empty()) else { return };
        let is_own = |hits: &Hits| hits.get(&Field::Id).is_some_and(|id| id.value == value);
        if !posts.iter().any(is_own)
            && let Some(first) = posts.first_mut()
        {
            first.insert(Field::Id, Hit { way: OWN_ID, value });
        }
    }

    /// Whether a page is a list and whether it is one of posts: by its address if the profile names those, by
    /// the frame of all such pages, or else by its contents.
    fn kind_of_page(&self, page: &SearchedPage<'_>, items: bool, links: bool) -> (bool, bool) {
        let url = Url::parse(page.url).ok();
        let matches = |patterns: &[String], has: &Option<ValueSource>, found: bool| match (&url, has) {
            (Some(url), _) if !patterns.is_empty() => pattern::is_any_match(patterns, url),
            (_, Some(has)) => !select_nodes(page.root, has).is_empty(),
            _ => found,
        };
        let rules = &*self.rules;
        (matches(&rules.lists, &rules.list_has, links), matches(&rules.threads, &rules.thread_has, items))
    }

    fn listed_links(&self, page: &SearchedPage<'_>) -> Vec<(Hit, Option<Hit>)> {
        let Some(pick) = &self.rules.list else { return Vec::new() };
        let Some(row) = &self.rules.row else {
            return page
                .all_values(pick, page.root, Place::Item)
                .into_iter()
                .map(|hit| (hit, None))
                .collect();
        };
        let rows = select_nodes(page.root, row).into_iter().filter_map(|row| {
            let mark = self.rules.changed.as_ref().and_then(|pick| page.first_value(pick, row, Place::Item));
            page.first_value(pick, row, Place::Item)
                .filter(|hit| !hit.value.is_empty())
                .map(|hit| (hit, mark))
        });
        rows.collect()
    }

    fn next(&self, page: &SearchedPage<'_>, pick: &Pick) -> Option<Hit> {
        pick.0.iter().enumerate().find_map(|(at, way)| {
            // Sites write these words where nothing follows.
            let is_set = |value: &String| !value.is_empty() && value != "false" && value != "null";
            if let Some(goes_on) = &way.goes_on {
                page.raw_values(goes_on, page.root, way.read_as).into_iter().find(is_set)?;
            }
            let Some(param) = &way.param else {
                let value = page.values_in_node(way, page.root).into_iter().find(|v| !v.is_empty())?;
                return Some(Hit { way: at, value });
            };
            let mut url = Url::parse(page.url).ok()?;
            let mut query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
            let known = query.iter().position(|(name, _)| name == param);
            let value = match way.goes_on {
                Some(_) => {
                    // The address of a first page often has no number.
                    known.and_then(|at| query[at].1.parse().ok()).unwrap_or(1u64).checked_add(1)?.to_string()
                }
                None => page.values_in_node(way, page.root).into_iter().find(is_set)?,
            };
            match known {
                Some(at) => query[at].1 = value,
                None => query.push((param.clone(), value)),
            }
            url.query_pairs_mut().clear().extend_pairs(query);
            Some(Hit { way: at, value: url.into() })
        })
    }

    /// The values for the posts in an item: one post, or one for each match of `each`.
    fn hits_in_item<'a>(
        &self,
        page: &SearchedPage<'a>,
        item: Node<'a>,
        answers: &HashMap<String, String>,
    ) -> Vec<Hits> {
        let rules = &*self.rules;
        let mut found = Hits::new();
        for (field, pick) in rules.fields.iter().filter(|(field, _)| field.default_place() == Place::Item) {
            let hit = match field {
                Field::Images => {
                    let counts = pick
                        .0
                        .iter()
                        .enumerate()
                        .map(|(way, rule)| (way, page.values_in_node(rule, item).len()));
                    let first = counts.into_iter().find(|(_, count)| *count > 0);
                    first.map(|(way, count)| Hit { way, value: count.to_string() })
                }
                Field::Answer => self.find_answer(page, item, pick, answers),
                Field::Links => {
                    let links = page.all_values(pick, item, Place::Item);
                    let texts: Vec<&str> = links.iter().map(|link| link.value.as_str()).collect();
                    let value = texts.join(&SEPARATOR.to_string());
                    links.first().map(|first| Hit { way: first.way, value })
                }
                _ => page.first_value(pick, item, Place::Item),
            };
            found.extend(hit.map(|hit| (*field, hit)));
        }
        let Some(each) = &rules.each else {
            if let (false, Node::Html(element)) = (rules.fields.contains_key(&Field::Body), item) {
                found.insert(Field::Body, Hit { way: 0, value: page.visible_text(element) });
            }
            return vec![found];
        };
        let text = match item {
            Node::Html(element) => page.visible_text(element),
            Node::Json(value) => super::pointer::scalar_text(value).unwrap_or_default(),
        };
        let matches = each.captures_iter(&text).map(|matched| {
            let mut hits = found.clone();
            for field in Field::ALL {
                if let Some(group) = matched.name(field.name()) {
                    hits.insert(field, Hit { way: 0, value: group.as_str().trim().to_owned() });
                }
            }
            hits
        });
        matches.collect()
    }

    fn find_answer<'a>(
        &self,
        page: &SearchedPage<'a>,
        item: Node<'a>,
        pick: &Pick,
        answers: &HashMap<String, String>,
    ) -> Option<Hit> {
        pick.0.iter().enumerate().find_map(|(way, rule)| match &rule.of {
            // `one` tries every rule, and only the value of this one counts here.
            None => page.first_value(pick, item, Place::Item).filter(|hit| hit.way == way),
            Some(of) => {
                let ids = page.raw_values(of, item, super::pick::ReadAs::Text);
                ids.iter().find_map(|id| Some(Hit { way, value: answers.get(id)?.clone() }))
            }
        })
    }

    fn build_entry(
        &self,
        page: &SearchedPage<'_>,
        hits: &Hits,
        floor: Option<u64>,
        first: bool,
    ) -> FoundPost {
        let rules = &*self.rules;
        let value_of = |field| hits.get(&field).map(|hit| hit.value.clone());
        let some = |field| value_of(field).filter(|value| !value.is_empty());
        let cut = |text: String| match rules.strip_text.is_empty() {
            true => text,
            false => {
                let text =
                    rules.strip_text.iter().fold(text, |text, cut| cut.replace_all(&text, "").into_owned());
                text.trim().to_owned()
            }
        };
        let native = some(Field::Id);
        let time_raw = some(Field::Time);
        let zone = rules.zone.unwrap_or(time::CHINA);
        let (title, body, answer) =
            (some(Field::Title).map(cut), value_of(Field::Body).map(cut), some(Field::Answer).map(cut));
        let mark = |text: &String| rules.removed.iter().any(|pattern| pattern.is_match(text));
        let removed = [&body, &title].into_iter().flatten().find(|text| mark(text)).cloned();
        FoundPost {
            id: native.as_ref().and_then(|id| self.id_with_namespace(id, page.url)),
            native,
            thread: some(Field::Thread),
            floor,
            first,
            removed,
            title,
            body,
            answer,
            // Sites put the same mark, such as `[deleted]`, in place of the author of a removed post.
            author: some(Field::Author).filter(|name| !mark(name)),
            time: time_raw
                .as_deref()
                .and_then(|raw| times::read_time(raw, page.captured, &rules.time_formats, zone)),
            time_raw,
            score: some(Field::Score).and_then(|score| parse_amount(&score)),
            images: value_of(Field::Images).and_then(|n| n.parse().ok()).unwrap_or(0),
            links: some(Field::Links)
                .map(|links| links.split(SEPARATOR).map(str::to_owned).collect())
                .unwrap_or_default(),
        }
    }

    /// An id with its namespace, unless it has one already.
    fn id_with_namespace(&self, id: &str, url: &str) -> Option<String> {
        if id.contains(':') {
            return Some(id.to_owned());
        }
        let host = || {
            let url = Url::parse(url).ok()?;
            Some(match (url.host_str()?, url.port()) {
                (host, None) => host.to_owned(),
                (host, Some(port)) => format!("{host}:{port}"),
            })
        };
        Some(format!("{}:{id}", self.rules.namespace.clone().or_else(host)?))
    }
}

fn select_nodes<'a>(root: Node<'a>, from: &ValueSource) -> Vec<Node<'a>> {
    match (from, root) {
        (ValueSource::Html { selector: Some(selector), .. }, Node::Html(root)) => {
            root.select(selector).map(Node::Html).collect()
        }
        (ValueSource::Json(pointer), Node::Json(root)) => {
            // A pointer to a list matches each of its elements.
            let found = pointer.find_all(root).into_iter().flat_map(|value| match value {
                Value::Array(list) => list.iter().collect(),
                one => vec![one],
            });
            found.map(Node::Json).collect()
        }
        _ => Vec::new(),
    }
}
