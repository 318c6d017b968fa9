//! A site described by a user: where the posts are on its pages and what they contain, without Rust code. The
//! same description serves the crawl, for links, and the import, for posts.
//!
//! Reading order: [`keys`] declares the language, [`rules`] parses it and reports errors, [`file`] reads it from TOML, [`pick`] finds one
//! value in a page, [`pointer`] finds it in JSON, [`xml`] converts XML to JSON, [`times`] parses times,
//! [`labels`] finds posts by words in the text, [`read`] reads whole pages, [`inspect`] reports what was found and what was not, [`error`] lists the
//! errors.

mod error;
mod file;
mod inspect;
mod keys;
mod labels;
mod pick;
mod pointer;
mod read;
mod rules;
mod times;
mod xml;

#[cfg(test)]
mod mutated;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::sync::Arc;

use encoding_rs::Encoding;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use url::Url;

use super::pattern;
use rules::Rules;

pub use self::read::{FoundPost, Reading};
pub use error::XmlError;
pub use file::{Mistake, of_table, read_profile};
pub use inspect::{FoundValue, Inspected, Inspection, Missing};
pub use keys::{Fault, Field, Format, Jokes, KEYS, json_schema};

/// A description of a site's pages. Two are equal if their texts are.
#[derive(Clone, Debug)]
pub struct Profile {
    declared: Map<String, Value>,
    rules: Arc<Rules>,
}

impl Profile {
    /// Parses a profile.
    ///
    /// # Errors
    /// All errors, with the paths of their keys.
    pub fn from_json(declared: &Value) -> Result<Profile, Vec<Fault>> {
        let Value::Object(declared) = declared else {
            return Err(vec![Fault { path: Vec::new(), what: "expected a table".into(), known: Vec::new() }]);
        };
        let (rules, faults) = Rules::read_rules(declared);
        if faults.is_empty() {
            Ok(Profile { declared: declared.clone(), rules: Arc::new(rules) })
        } else {
            Err(faults)
        }
    }

    /// The same profile with another namespace.
    pub fn in_namespace(&self, namespace: &str) -> Profile {
        let mut declared = self.declared.clone();
        declared.insert("namespace".into(), namespace.into());
        let (rules, _) = Rules::read_rules(&declared);
        Profile { declared, rules: Arc::new(rules) }
    }

    /// Its purpose, in one line.
    pub fn about(&self) -> &str {
        self.declared.get("about").and_then(Value::as_str).unwrap_or_default()
    }

    /// The part that affects what is read: everything except its purpose.
    pub fn decides(&self) -> Value {
        let mut declared = self.declared.clone();
        declared.remove("about");
        Value::Object(declared)
    }

    /// The format of its pages.
    pub fn format(&self) -> Format {
        self.rules.format
    }

    /// Which posts are jokes.
    pub fn jokes(&self) -> Jokes {
        self.rules.jokes
    }

    /// Whether pages contain riddles and their answers instead of posts.
    pub fn holds_riddles(&self) -> bool {
        self.finds(Field::Answer)
            || self.rules.labels.as_ref().is_some_and(|labels| !labels.answer.is_empty())
    }

    /// Whether it says where the author of a post is.
    pub fn names_authors(&self) -> bool {
        self.finds(Field::Author)
    }

    fn finds(&self, field: Field) -> bool {
        let each = self.rules.each.as_ref();
        self.rules.fields.contains_key(&field)
            || each.is_some_and(|each| each.capture_names().flatten().any(|name| name == field.name()))
    }

    /// The encoding of pages that declare none.
    pub(super) fn encoding(&self) -> Option<&'static Encoding> {
        self.rules.encoding
    }

    /// Whether an address is one of those that the profile describes; always, if it names none.
    pub fn describes(&self, url: &Url) -> bool {
        let Rules { lists, threads, .. } = &*self.rules;
        !self.is_other(url)
            && (lists.is_empty()
                || threads.is_empty()
                || pattern::is_any_match(lists, url)
                || pattern::is_any_match(threads, url))
    }

    /// Whether an address is not one of the pages that must have posts, if the profile names those.
    pub fn is_other(&self, url: &Url) -> bool {
        !self.rules.pages.is_empty() && !pattern::is_any_match(&self.rules.pages, url)
    }

    /// Whether an address is that of a list, if the profile names those.
    pub fn is_list(&self, url: &Url) -> bool {
        pattern::is_any_match(&self.rules.lists, url)
    }

    /// What a page lacks that has neither posts nor links to them.
    pub(super) fn lacking(&self, body: &str) -> String {
        let written = match self.declared.get("item") {
            Some(Value::String(item)) => format!(" ({item})"),
            _ => String::new(),
        };
        let labels = self.rules.labels.as_ref().map(|labels| labels.all_words().join(", "));
        match self.rules.format {
            Format::Html if body.trim_start().starts_with(['{', '[']) => {
                "it is JSON, and the profile reads HTML".to_owned()
            }
            Format::Html => match labels {
                None => format!("the profile's `item`{written} finds nothing on it"),
                Some(words) if written.is_empty() => {
                    format!("the profile's `labels` ({words}) find nothing on it")
                }
                Some(words) => {
                    format!("the profile's `item`{written} and `labels` ({words}) find nothing on it")
                }
            },
            Format::Json => format!("it is not JSON, or the profile's `item`{written} finds nothing in it"),
            Format::Xml => format!("it is not XML, or the profile's `item`{written} finds nothing in it"),
        }
    }

    /// The items of an XML file one by one, with their numbers; see [`Profile::read_item`]. With `all` also
    /// those that are not posts, such as answers.
    pub fn each_item(
        &self,
        file: impl BufRead,
        limit: u64,
        all: bool,
        take: impl FnMut(u64, Result<Value, XmlError>) -> bool,
    ) {
        if let Some(pick::ValueSource::Json(path)) = &self.rules.item {
            xml::for_each_item(file, &if all { path.without_filter() } else { path.clone() }, limit, take);
        }
    }
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        self.declared == other.declared
    }
}

impl Eq for Profile {}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.declared.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Profile, D::Error> {
        let declared = Value::deserialize(from)?;
        Profile::from_json(&declared).map_err(|faults| {
            let messages =
                faults.iter().map(|fault| format!("profile: {}: {}", fault.path.join("."), fault.what));
            serde::de::Error::custom(messages.collect::<Vec<_>>().join("; "))
        })
    }
}
