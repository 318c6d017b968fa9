//! A form that was refused stands on its page again as it was sent, with what is wrong beside the field.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use riddlemill_harvest::pages::decode_entities;

use super::form::Form;

/// An opening tag of one of our pages, in which attributes stand in double quotes and hold no `>`.
struct Tag<'h> {
    at: Range<usize>,
    name: &'h str,
    text: &'h str,
}

static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"<([a-z0-9]+)(?:\s[^>]*)?>").ok());

impl<'h> Tag<'h> {
    /// The first one of a page that begins in this part of it.
    fn find_next(html: &'h str, part: Range<usize>) -> Option<Tag<'h>> {
        let found = TAG.as_ref()?.captures_at(html, part.start)?;
        let (whole, name) = (found.get(0)?, found.get(1)?);
        let tag = Tag { at: whole.range(), name: name.as_str(), text: whole.as_str() };
        (tag.at.start < part.end).then_some(tag)
    }

    /// Where the value of an attribute stands in its text.
    fn place_of(&self, name: &str) -> Option<Range<usize>> {
        let start = self.text.find(&format!(" {name}=\""))? + name.len() + 3;
        Some(start..start + self.text[start..].find('"')?)
    }

    fn attribute(&self, name: &str) -> Option<Cow<'h, str>> {
        self.place_of(name).map(|place| decode_entities(&self.text[place]))
    }

    /// The tag with this text in the place of an attribute's value.
    fn with_value(&self, value: &str) -> String {
        match self.place_of("value") {
            Some(place) => {
                format!("{}{}{}", &self.text[..place.start], escape_value(value), &self.text[place.end..])
            }
            None => self.with_word(&format!("value=\"{}\"", escape_value(value))),
        }
    }

    fn with_word(&self, word: &str) -> String {
        format!("{} {word}>", self.text.trim_end_matches(['>', ' ']))
    }

    /// The tag with or without a word such as `checked`.
    fn with_mark(&self, word: &str, is_on: bool) -> String {
        let bare = Tag { text: &self.text.replace(&format!(" {word}"), ""), at: self.at.clone(), ..*self };
        if is_on { bare.with_word(word) } else { bare.text.to_owned() }
    }
}

fn escape_value(text: &str) -> String {
    let marks = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")];
    marks.iter().fold(text.to_owned(), |text, (plain, mark)| text.replace(*plain, mark))
}

/// Fields that every form has, with other values each time.
const OF_PAGE: [&str; 3] = ["csrf", "back", "looked"];

/// A page of ours with the form that was sent filled in as it was, and a message, which is HTML, behind the field, or at
/// the form's begin. `action` is where the form was sent, `path` the page's own. `None` if the page has no such form: what it
/// is about is no longer there, or has changed.
pub(super) fn refill_page(
    html: &str,
    [path, action]: [&str; 2],
    form: &Form,
    field: &str,
    message: &str,
) -> Option<String> {
    let mut from = 0;
    while let Some(tag) = Tag::find_next(html, from..html.len()) {
        from = tag.at.end;
        let is_sent_there = || tag.attribute("action").as_deref().unwrap_or(path) == action;
        if tag.name != "form" || tag.attribute("method").as_deref() != Some("post") || !is_sent_there() {
            continue;
        }
        let body = from..from + html[from..].find("</form>")?;
        if is_same_form(html, body.clone(), form) {
            let filled = fill_controls(html, body.clone(), form, field, message);
            return Some(format!("{}{filled}{}", &html[..body.start], &html[body.end..]));
        }
    }
    None
}

/// Whether a form on a page is about the same as one that was sent: what nobody can write in it is equal.
fn is_same_form(html: &str, body: Range<usize>, form: &Form) -> bool {
    let mut from = body.start;
    while let Some(tag) = Tag::find_next(html, from..body.end) {
        from = tag.at.end;
        if tag.name != "input" || tag.attribute("type").as_deref() != Some("hidden") {
            continue;
        }
        let (name, value) = (tag.attribute("name"), tag.attribute("value").unwrap_or_default());
        let name = name.unwrap_or_default();
        if !OF_PAGE.contains(&&*name) && !form.values_of(&name).any(|sent| sent == value) {
            return false;
        }
    }
    true
}

fn fill_controls(html: &str, body: Range<usize>, form: &Form, field: &str, message: &str) -> String {
    let (mut filled, mut done, mut from) = (String::new(), body.start, body.start);
    let (mut select, mut is_told) = (String::new(), false);
    while let Some(tag) = Tag::find_next(html, from..body.end) {
        from = tag.at.end;
        let name = tag.attribute("name").unwrap_or_default();
        let kind = tag.attribute("type").unwrap_or_default();
        let is_sent = |name: &str, value: &str| form.values_of(name).any(|sent| sent == value);
        let mut end = tag.at.end;
        let mut written = String::new();
        let new = match (tag.name, &*kind) {
            ("input", "hidden") => continue,
            ("input", "checkbox" | "radio") => {
                let value = tag.attribute("value").unwrap_or("on".into());
                tag.with_mark("checked", is_sent(&name, &value))
            }
            ("input", _) => tag.with_value(form.get(&name)),
            ("textarea", _) => {
                end += html[end..].find("</textarea>").unwrap_or_default();
                // A line break behind the tag is none of the text.
                written = format!("\n{}", escape_value(form.get(&name)));
                tag.text.to_owned()
            }
            ("select", _) => {
                select = name.to_string();
                tag.text.to_owned()
            }
            ("option", _) => {
                let text = &html[end..end + html[end..].find('<').unwrap_or_default()];
                let value = tag.attribute("value").unwrap_or_else(|| decode_entities(text.trim()));
                tag.with_mark("selected", is_sent(&select, &value))
            }
            _ => continue,
        };
        filled.push_str(&html[done..tag.at.start]);
        if !is_told && tag.name != "option" && (name == field || field.is_empty()) {
            // The browser scrolls to it, and a reader hears what is wrong.
            let meant = Tag { text: &new, at: tag.at, name: tag.name };
            filled.push_str(message);
            filled.push_str(&meant.with_word("autofocus aria-invalid=\"true\" aria-describedby=\"refused\""));
            is_told = true;
        } else {
            filled.push_str(&new);
        }
        filled.push_str(&written);
        (done, from) = (end, end);
    }
    filled.push_str(&html[done..body.end]);
    if is_told { filled } else { format!("{message}{filled}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(fields: &[(&str, &str)]) -> Form {
        Form::from_fields(
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        )
    }

    const PAGE: &str = concat!(
        r#"<p>a</p><form method="post" action="/x/decide"><input type="hidden" name="csrf" value="new">"#,
        r#"<input type="hidden" name="record" value="tieba:1"><input name="why" required></form>"#,
        r#"<form method="post" action="/x/decide"><input type="hidden" name="csrf" value="new">"#,
        r#"<input type="hidden" name="record" value="tieba:2"><select name="scope"><option value="all" selected>"#,
        r#"All</option><option value="one">x</option></select><select name="as"><option>a &amp; b</option>"#,
        r#"<option>c</option></select><label>Why <input name="why" value="" required></label>"#,
        r#"<textarea name="text">old</textarea><input type="checkbox" name="o" value="y" checked>"#,
        r#"<button>Go</button></form><p>b</p>"#
    );

    #[test]
    fn a_refused_form_stands_there_as_it_was_sent_with_the_message_beside_the_field() {
        let fields = [
            ("csrf", "old"),
            ("record", "tieba:2"),
            ("scope", "one"),
            ("as", "a & b"),
            ("why", "\"<b>\" & more"),
            ("text", "</textarea>灯"),
        ];
        let again =
            refill_page(PAGE, ["/x/record/2", "/x/decide"], &sent(&fields), "why", "<b>!</b>").unwrap();
        for part in [
            r#"name="csrf" value="new""#,
            r#"<option value="all">All</option><option value="one" selected>x</option>"#,
            r#"<option selected>a &amp; b</option><option>c</option>"#,
            r#"Why <b>!</b><input name="why" value="&quot;&lt;b&gt;&quot; &amp; more" required autofocus"#,
            "<textarea name=\"text\">\n&lt;/textarea&gt;灯</textarea>",
            r#"<input type="checkbox" name="o" value="y"><button>Go</button></form><p>b</p>"#,
        ] {
            assert!(again.contains(part), "{part} is not in {again}");
        }
        // The other form of the page is another record's.
        assert!(again.contains(r#"value="tieba:1"><input name="why" required></form>"#), "{again}");
        assert_eq!(again.matches("<b>!</b>").count(), 1);
    }

    #[test]
    fn a_form_about_something_else_is_not_filled_in() {
        let refill = |action: &str, record: &str| {
            refill_page(PAGE, ["/x", action], &sent(&[("record", record), ("why", "w")]), "", "!")
        };
        assert!(refill("/x/decide", "tieba:3").is_none() && refill("/y/decide", "tieba:1").is_none());
        let first = refill("/x/decide", "tieba:1").unwrap();
        assert!(first.contains(r#"!<input name="why" required value="w" autofocus"#), "{first}");
    }
}
