//! Which columns of rows are the fields of a post: by their names, in the rows or in one object of each, else by their texts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::known_columns::{
    COLUMNS, KINDS, NAMES, READ, field_of, is_number_of_person, names_people, normalise_column,
    tells_of_people,
};
use super::loose::plain_text;
use super::native_id::as_meant;
use riddlemill_harvest::pages::text_of_html;
use riddlemill_text::text::anonymise::names_nobody;

/// Objects in objects that are looked into.
const DEEP: usize = 4;
/// Members of a row that are the post itself.
const POSTS: [&str; 5] = ["post", "submission", "thread", "topic", "status"];
/// Most columns that are listed as unused.
const LISTED: usize = 40;

/// The columns of a source.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The value of `kind`.
    pub(super) kind: &'static str,
    /// For a table: columns by the fields of a post.
    pub(super) fields: BTreeMap<&'static str, String>,
    /// Of these: columns that some rows lack.
    pub(super) optional: Vec<String>,
    /// Columns that are not read.
    pub(super) unused: Vec<String>,
    /// Of these: columns that look like people.
    pub(super) people: Vec<String>,
    /// The texts of the rows.
    pub(super) texts: Vec<String>,
    /// Of a table with a column of ids: each with its text.
    pub(super) posts: Vec<(String, String)>,
}

/// Chooses the columns of rows.
///
/// # Errors
/// The names of the columns if none has texts.
pub(super) fn choose_columns(rows: &[Map<String, Value>]) -> Result<Chosen, Vec<String>> {
    let table = RowColumns::of_rows(rows);
    let kind = kind_of(rows);
    let fields = if kind == "table" { table.propose_fields() } else { BTreeMap::new() };
    let texts_of: Vec<&str> = match kind {
        "table" => {
            ["title", "content"].iter().filter_map(|field| fields.get(*field)).map(String::as_str).collect()
        }
        _ => ["title", "text", "content", "contents", "body", "selftext", "instruction", "question"].to_vec(),
    };
    if texts_of.is_empty() {
        return Err(table.names.into_iter().map(|(name, _)| name).take(LISTED).collect());
    }
    let text_of = |row: &Map<String, Value>| -> String {
        let texts = texts_of.iter().filter_map(|column| value_at(row, column)?.as_str());
        // A language is that of what a text shows: its tags and addresses are in English.
        let shown = texts.map(|text| match kind {
            "table" => text_of_html(text).map_or(Cow::Borrowed(text), Cow::Owned),
            _ => Cow::Borrowed(text),
        });
        let shown = shown.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        shown.collect::<Vec<_>>().join(" ")
    };
    let id_of = |row: &Map<String, Value>| -> Option<String> {
        let id = plain_text(value_at(row, fields.get("id")?)?)?;
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    };
    let posts = rows.iter().filter_map(|row| Some((id_of(row)?, text_of(row)))).collect();
    let read = READ.iter().find(|(name, _)| *name == kind).map(|(_, columns)| *columns);
    let is_read = |name: &str| match (kind, read) {
        ("table", _) => fields.values().any(|column| column == name),
        (_, Some(columns)) => columns.contains(&name),
        (_, None) => true,
    };
    let unused: Vec<String> =
        table.names.iter().map(|(name, _)| name).filter(|name| !is_read(name)).cloned().collect();
    let is_person =
        |name: &&String| tells_of_people(name) && table.values_of_column(name).any(Value::is_string);
    // The column that would have the ids, if it were of posts.
    let with_cause = |name: String| {
        let is_repeated = kind == "table"
            && !fields.contains_key("id")
            && field_of(&name) == Some("id")
            && !table.may_be("id", &name);
        if is_repeated { format!("{name} (a value comes in several rows: no id of a post)") } else { name }
    };
    Ok(Chosen {
        kind,
        optional: fields
            .values()
            .filter(|column| rows.iter().any(|row| value_at(row, column).is_none()))
            .cloned()
            .collect(),
        people: unused.iter().filter(is_person).take(LISTED).cloned().collect(),
        unused: unused.into_iter().take(LISTED).map(with_cause).collect(),
        posts,
        texts: rows.iter().map(text_of).filter(|text| !text.is_empty()).collect(),
        fields,
    })
}

/// The kind whose columns the rows have, else a table.
fn kind_of(rows: &[Map<String, Value>]) -> &'static str {
    let has = |name: &&str| rows.iter().any(|row| row.contains_key(*name));
    let fits = |(kind, all, some): &&(&str, &[&str], &[&str])| {
        // The links of that list are of one forum: other lists have a title and a link, too.
        let is_its_own = *kind != "leymore-titles"
            || rows.iter().filter_map(|row| row.get("href")?.as_str()).any(|link| link.contains("/p/"));
        all.iter().all(has) && (some.is_empty() || some.iter().any(has)) && is_its_own
    };
    KINDS.iter().find(fits).map_or("table", |(kind, _, _)| *kind)
}

/// The value of a column, or the one at its path.
fn value_at<'r>(row: &'r Map<String, Value>, column: &str) -> Option<&'r Value> {
    if let Some(value) = row.get(column) {
        return Some(value);
    }
    let (member, rest) = column.split_once('.')?;
    row.get(member)?.pointer(&format!("/{}", rest.replace('.', "/")))
}

/// The columns of rows, those in objects with their path.
struct RowColumns<'r> {
    rows: &'r [Map<String, Value>],
    /// Each name, and how many objects are around it.
    names: Vec<(String, usize)>,
}

impl<'r> RowColumns<'r> {
    fn of_rows(rows: &'r [Map<String, Value>]) -> RowColumns<'r> {
        let mut columns = RowColumns { rows, names: Vec::new() };
        let mut known = BTreeSet::new();
        rows.iter().for_each(|row| columns.add(row, "", 0, &mut known));
        columns
    }

    fn add(&mut self, members: &Map<String, Value>, path: &str, depth: usize, known: &mut BTreeSet<String>) {
        for (name, value) in members {
            // Braces would make a template of it.
            if name.trim().is_empty() || name.contains(['{', '}']) {
                continue;
            }
            let column = format!("{path}{name}");
            match value {
                // What wraps a value that JSON has no type for (`$date`) is read as that value.
                Value::Object(inner) if depth < DEEP && !inner.keys().any(|key| key.starts_with('$')) => {
                    self.add(inner, &format!("{column}."), depth + 1, known);
                }
                _ => {
                    if known.insert(column.clone()) {
                        self.names.push((column, depth));
                    }
                }
            }
        }
    }

    fn values_of_column(&self, column: &str) -> impl Iterator<Item = &'r Value> {
        let column = column.to_owned();
        self.rows.iter().filter_map(move |row| value_at(row, &column)).filter(|value| !value.is_null())
    }

    /// The column of each field.
    fn propose_fields(&self) -> BTreeMap<&'static str, String> {
        let mut fields = self.fields_within("");
        // What only some rows have is of other things than posts: a chat tells its new title.
        let having = |column: &String| self.rows.iter().filter(|row| value_at(row, column).is_some()).count();
        if fields.contains_key("content")
            && fields.get("title").is_some_and(|title| {
                2 * having(title) < self.rows.len() && !self.stands_for(title, fields.get("content"))
            })
        {
            fields.remove("title");
        }
        let has_texts =
            |fields: &BTreeMap<&str, String>| fields.contains_key("title") || fields.contains_key("content");
        if !has_texts(&fields) {
            // The post itself may be in one object of the row.
            let parents: BTreeSet<&str> =
                self.names.iter().filter_map(|(name, _)| Some(&name[..=name.rfind('.')?])).collect();
            // What is the same in all rows is of what they are in: the title of a forum, the name of a channel.
            let is_of_rows = |fields: &BTreeMap<&str, String>| {
                let texts = ["title", "content"].iter().filter_map(|field| fields.get(*field));
                texts.into_iter().any(|column| self.rows.len() < 2 || self.count_distinct(column) > 1)
            };
            let inner = parents.into_iter().map(|parent| self.fields_within(parent));
            let inner = inner.filter(has_texts).filter(is_of_rows);
            let length = |fields: &BTreeMap<&str, String>| -> usize {
                ["title", "content"]
                    .iter()
                    .filter_map(|field| fields.get(*field))
                    .map(|column| self.text_length(column))
                    .sum()
            };
            if let Some(mut inner) = inner.max_by_key(length) {
                fields.retain(|field, _| !inner.contains_key(field));
                inner.append(&mut fields);
                fields = inner;
            }
        }
        if !has_texts(&fields) {
            let is_free = |column: &&String| !fields.values().any(|taken| taken == *column);
            let candidates =
                self.names.iter().map(|(name, _)| name).filter(is_free).filter(|name| self.has_words(name));
            let longest = candidates.max_by_key(|name| self.text_length(name)).cloned();
            fields.extend(longest.map(|column| ("content", column)));
        }
        // Somebody's name is found in texts, their number is not.
        if fields.get("author").is_none_or(|author| is_number_of_person(author)) {
            let is_free = |column: &&String| !fields.values().any(|taken| taken == *column);
            let people: Vec<&String> = self
                .names
                .iter()
                .map(|(name, _)| name)
                .filter(is_free)
                .filter(|name| self.names_somebody(name))
                .collect();
            if let [only] = people[..] {
                fields.insert("author", only.clone());
            }
        }
        fields
    }

    /// The columns of fields by their names, among those with this path before them.
    fn fields_within(&self, parent: &str) -> BTreeMap<&'static str, String> {
        let mut fields: BTreeMap<&'static str, String> = BTreeMap::new();
        let inner: Vec<(&String, &str)> =
            self.names.iter().filter_map(|(name, _)| Some((name, name.strip_prefix(parent)?))).collect();
        for (field, names) in COLUMNS {
            let is_free = |column: &&(&String, &str)| !fields.values().any(|taken| taken == column.0);
            let of_name = |name: &&str| {
                let mut direct = inner.iter().filter(|column| is_free(column) && !column.1.contains('.'));
                let direct = direct
                    .find(|(column, own)| normalise_column(own) == **name && self.may_be(field, column));
                direct
                    .or_else(|| self.person_within(&inner, name).filter(|_| *field == "author"))
                    .map(|(column, _)| (*column).clone())
            };
            let found = names.iter().find_map(of_name);
            fields.extend(found.map(|column| (*field, column)));
        }
        // Where the post is an object of its own, what it is called is its title.
        let is_post = POSTS.contains(&parent.trim_end_matches('.').rsplit('.').next().unwrap_or_default());
        let name = format!("{parent}name");
        if is_post && !fields.contains_key("title") && self.has_words(&name) {
            fields.insert("title", name);
        }
        fields
    }

    /// Whether rows without the column of content have a title that says something, as stories stand among comments.
    fn stands_for(&self, title: &str, content: Option<&String>) -> bool {
        let lacks =
            |row: &&Map<String, Value>| content.is_some_and(|content| value_at(row, content).is_none());
        let titles = self.rows.iter().filter(lacks).filter_map(|row| value_at(row, title)?.as_str());
        titles.into_iter().any(is_said)
    }

    /// How many values of a column differ.
    fn count_distinct(&self, column: &str) -> usize {
        self.values_of_column(column).map(Value::to_string).collect::<BTreeSet<String>>().len()
    }

    /// The name in an object that is a user.
    fn person_within<'n>(
        &self,
        inner: &'n [(&'n String, &'n str)],
        user: &str,
    ) -> Option<&'n (&'n String, &'n str)> {
        NAMES.iter().find_map(|name| {
            inner.iter().find(|(column, own)| {
                own.split_once('.')
                    .is_some_and(|(object, rest)| normalise_column(object) == user && rest == *name)
                    && self.values_of_column(column).any(Value::is_string)
            })
        })
    }

    /// Whether the values of a column may be those of a field, whatever its name says.
    fn may_be(&self, field: &str, column: &str) -> bool {
        let mut values = self.values_of_column(column).peekable();
        if values.peek().is_none() {
            return true;
        }
        match field {
            "title" | "content" => values.any(|value| match value {
                Value::String(text) => text.chars().any(char::is_alphabetic) && !is_address(text),
                // A text in segments, or one that a database wrapped.
                Value::Array(_) | Value::Object(_) => true,
                _ => false,
            }),
            // What is the same in many rows is the id of something else than a post.
            "id" => {
                // Ids that a spreadsheet rounded are still the column of ids, and import names them.
                let is_sound = |value: &String| as_meant(value.trim_matches('"')).is_ok();
                let all: Vec<String> = values.map(Value::to_string).filter(is_sound).collect();
                let distinct: BTreeSet<&String> = all.iter().collect();
                10 * distinct.len() >= 9 * all.len()
            }
            // What a site or a program writes where nobody has a name.
            "author" => values.any(|value| !value.as_str().is_some_and(names_nobody)),
            _ => true,
        }
    }

    /// The characters of a column's texts.
    fn text_length(&self, column: &str) -> usize {
        self.values_of_column(column).filter_map(Value::as_str).map(|text| text.chars().count()).sum()
    }

    /// Whether most values of a column are words that say something.
    fn has_words(&self, column: &str) -> bool {
        let texts: Vec<&str> = self
            .values_of_column(column)
            .filter_map(Value::as_str)
            .filter(|text| !text.trim().is_empty())
            .collect();
        let distinct: BTreeSet<&&str> = texts.iter().collect();
        let said = texts.iter().filter(|text| is_said(text)).count();
        !names_people(column) && said > 0 && 2 * said >= texts.len() && 2 * distinct.len() > texts.len()
    }

    /// Whether a column has names under a name that says so, and no numbers or addresses of people.
    fn names_somebody(&self, column: &str) -> bool {
        const REACHED: [&str; 10] =
            ["email", "phone", "avatar", "portrait", "id", "邮箱", "手机", "电话", "头像", "reply"];
        let name = normalise_column(column);
        names_people(column)
            && !REACHED.iter().any(|word| name.contains(word))
            && self.values_of_column(column).any(Value::is_string)
            && self.may_be("author", column)
    }
}

fn is_address(text: &str) -> bool {
    let text = text.trim();
    text.contains("://") && !text.contains(char::is_whitespace) || text.starts_with("www.")
}

/// Whether a text says something: three words, or four characters of a script without blanks.
fn is_said(text: &str) -> bool {
    let wide = text.chars().filter(|c| c.is_alphabetic() && *c >= '\u{2e80}').count();
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    !is_address(text) && (wide > 3 || words > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(lines: &str) -> Result<Chosen, Vec<String>> {
        let rows: Vec<Map<String, Value>> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        choose_columns(&rows)
    }

    fn fields(lines: &str) -> String {
        let fields = chosen(lines).unwrap().fields;
        fields.iter().map(|(field, column)| format!("{field}={column}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_post_in_an_object_of_its_row_has_a_path() {
        let export =
            r#"{"id": 7, "data": {"text": "Why is a cloud high?", "author": "kim"}, "annotations": []}"#;
        assert_eq!(fields(export), "author=data.author content=data.text id=id");
        let archive = r#"{"tweet": {"id_str": "9", "full_text": "Do fish drown?", "user": {"screen_name": "lee"}, "created_at": "x"}}"#;
        assert_eq!(
            fields(archive),
            "author=tweet.user.screen_name content=tweet.full_text id=tweet.id_str time=tweet.created_at"
        );
        let hit = r#"{"_index": "posts", "_id": "a", "_source": {"title": "Do fish drown?", "url": "http://x.example/1"}}"#;
        assert_eq!(fields(hit), "id=_id title=_source.title");
        let row = |id: u8, name: &str, body: &str| {
            format!(
                r#"{{"post": {{"id": {id}, "name": "{name}"{body}}}, "creator": {{"name": "kim"}}, "community": {{"title": "Jokes of the day"}}}}"#
            )
        };
        let posts = |body: &str| {
            [row(1, "Do fish drown in water?", body), row(2, "Is a cloud afraid?", "")].join("\n")
        };
        assert_eq!(fields(&posts("")), "author=creator.name id=post.id title=post.name");
        assert_eq!(
            fields(&posts(r#", "body": "They do not, as far as we know""#)),
            "author=creator.name content=post.body id=post.id title=post.name"
        );
        let rounded = r#"{"id": "1.2345678901234568E+18", "title": "云会恐高吗？"}"#;
        assert_eq!(fields(&format!("{rounded}\n{rounded}")), "id=id title=title");
    }

    #[test]
    fn what_has_no_words_is_no_text() {
        let lines = r#"{"_index": "posts", "take": "main", "url": "https://x.example/a-long-way-to-go"}"#;
        assert_eq!(chosen(lines).unwrap_err(), ["_index", "take", "url"]);
        assert!(chosen(r#"{"title": 7, "content": "http://x.example"}"#).is_err());
        assert_eq!(fields(r#"{"url": "http://x.example/1", "said": "云会恐高吗？"}"#), "content=said");
    }

    #[test]
    fn authors_have_many_names_and_what_is_not_read_is_listed() {
        for name in ["用户昵称", "发帖人", "昵称", "who", "poster", "lz", "楼主", "发帖用户"] {
            let found =
                chosen(&format!(r#"{{"title": "云会恐高吗？", "{name}": "甲", "views": 3, "ip": "x"}}"#))
                    .unwrap();
            assert_eq!(found.fields.get("author").map(String::as_str), Some(name));
            assert_eq!(
                (found.unused, found.people),
                (vec!["views".to_owned(), "ip".to_owned()], vec!["ip".to_owned()]),
                "{name}"
            );
        }
        let found = chosen(r#"{"title": "云会恐高吗？", "author": "甲", "reply_user": "乙"}"#).unwrap();
        assert_eq!(found.people, ["reply_user"]);
    }

    #[test]
    fn names_of_people_win_over_their_ids_and_roles_are_no_names() {
        let row = r#"{"id": 1, "text": "云会恐高吗？", "email": "a@x.example", "real_name": "王小云", "ip": "10.0.0.1", "user_id": "u7"}"#;
        let found = chosen(row).unwrap();
        assert_eq!(found.fields["author"], "real_name");
        assert_eq!(found.people, ["email", "ip", "user_id"]);
        let turns = r#"{"from": "human", "value": "Why does a cloud never fall down?"}
            {"from": "gpt", "value": "Because nobody has told it to fall."}"#;
        assert_eq!(fields(turns), "content=value");
        let mixed = turns.replace("gpt", "kim");
        assert_eq!(fields(&mixed), "author=from content=value");
    }

    #[test]
    fn the_language_is_that_of_what_a_text_shows() {
        let row = r#"{"mid": "7", "text": "云会恐高吗<span class=\"url-icon\"><img alt=\"[笑cry]\" src=\"https://face.example/2018/new_xiaoku_thumb.png\" style=\"width:1em; height:1em;\" /></span>"}"#;
        assert_eq!(chosen(row).unwrap().texts, ["云会恐高吗[笑cry]"]);
    }

    #[test]
    fn a_title_in_place_of_a_text_is_one_and_repeated_ids_are_said() {
        let stories = r#"{"by": "kim", "id": 1, "type": "story", "title": "A cloud that never falls down"}
            {"by": "lee", "id": 2, "type": "comment", "text": "It does, every time it rains."}
            {"by": "ann", "id": 3, "type": "comment", "text": "Does it really, though?"}"#;
        assert_eq!(fields(stories), "author=by content=text id=id title=title");
        let repeated = r#"{"id": 1, "text": "云会恐高吗？"}
            {"id": 1, "text": "鱼会口渴吗？"}"#;
        let found = chosen(repeated).unwrap();
        assert!(found.unused[0].starts_with("id (a value comes in several rows"), "{:?}", found.unused);
    }

    #[test]
    fn a_kind_is_told_by_more_than_a_few_common_names() {
        let kind = |line: &str| chosen(line).unwrap().kind;
        assert_eq!(
            kind(r#"{"author": "k", "content": "云会恐高吗？", "ctime": 1, "voteup_count": 3}"#),
            "table"
        );
        assert_eq!(
            kind(r#"{"author": "k", "content": "1、云会恐高吗？", "ctime": "x", "l_num": 3}"#),
            "leymore-annual"
        );
        assert_eq!(kind(r#"{"title": "云会恐高吗？", "href": "https://x.example/1", "abs": null}"#), "table");
    }
}
