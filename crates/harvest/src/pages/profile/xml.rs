//! Reads XML as JSON: an attribute is `@name`, the text of an element with attributes or children `#text`,
//! elements of one name are a list. Items are read one by one, so files may be of any length.

use std::io::BufRead;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::{Map, Value};

use super::error::XmlError;
use super::pointer::Pointer;

/// Deepest nesting of a list of posts.
const MAX_DEPTH: usize = 64;

/// An open element.
struct Open {
    name: String,
    fields: Map<String, Value>,
    text: String,
}

/// Passes each item that `path` points at to `take`, with its number from 1, until `take` stops. An item
/// longer than `limit` bytes is passed as an error, and so is invalid XML, after which nothing can be read.
pub fn for_each_item(
    reader: impl BufRead,
    path: &Pointer,
    limit: u64,
    mut take: impl FnMut(u64, Result<Value, XmlError>) -> bool,
) {
    let mut reader = Reader::from_reader(reader);
    reader.config_mut().check_end_names = true;
    let mut buffer = Vec::new();
    // The names of open elements above an item, and the open elements inside one.
    let (mut outer, mut open): (Vec<String>, Vec<Open>) = (Vec::new(), Vec::new());
    let (mut number, mut began) = (0, 0);
    loop {
        buffer.clear();
        let before = reader.buffer_position();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(error) => {
                let (byte, why) = (reader.error_position(), error.to_string());
                take(number + 1, Err(XmlError::NoXml { byte, why }));
                return;
            }
        };
        // Checked first, because the match consumes the event.
        let closes = matches!(event, Event::Empty(_) | Event::End(_));
        match event {
            Event::Eof if outer.is_empty() && open.is_empty() => return,
            Event::Eof => {
                take(number + 1, Err(XmlError::Cut));
                return;
            }
            Event::Start(start) | Event::Empty(start) => {
                if open.is_empty() {
                    outer.push(start.name().as_ref().to_owned());
                    if outer.len() > MAX_DEPTH {
                        take(number + 1, Err(XmlError::Deep));
                        return;
                    }
                    if !leads_to(path, &outer) {
                        if closes {
                            outer.pop();
                        }
                        continue;
                    }
                    (number, began) = (number + 1, before);
                }
                if open.len() > MAX_DEPTH {
                    take(number, Err(XmlError::Deep));
                    return;
                }
                open.push(open_element(&start));
            }
            Event::End(_) if open.is_empty() => {
                outer.pop();
                continue;
            }
            Event::End(_) => {}
            Event::Text(text) => {
                if let Some(last) = open.last_mut() {
                    last.text.push_str(&text);
                }
            }
            Event::CData(text) => {
                if let Some(last) = open.last_mut() {
                    last.text.push_str(&text);
                }
            }
            Event::GeneralRef(entity) => {
                if let Some(last) = open.last_mut() {
                    match entity.resolve_char_ref() {
                        Ok(Some(c)) => last.text.push(c),
                        _ => {
                            // Entities that a DTD declares are unknown here and are left out.
                            last.text.push_str(resolve_predefined_entity(&entity).unwrap_or_default());
                        }
                    }
                }
            }
            _ => {}
        }
        if !closes {
            continue;
        }
        let Some(done) = open.pop() else { continue };
        let (name, value) = close_element(done);
        if let Some(parent) = open.last_mut() {
            add(&mut parent.fields, name, value);
            continue;
        }
        outer.pop();
        let kept = path.0.last().is_none_or(|step| step.is_kept(&value));
        let length = reader.buffer_position() - began;
        let item = if length > limit { Err(XmlError::Oversize(length)) } else { Ok(value) };
        if kept && !take(number, item) {
            return;
        }
    }
}

/// Whether the open elements match the path. An empty path is the outermost element.
fn leads_to(path: &Pointer, names: &[String]) -> bool {
    if path.0.is_empty() {
        return names.len() == 1;
    }
    path.0.len() == names.len()
        && path.0.iter().zip(names).all(|(step, name)| step.name == "*" || step.name == *name)
}

fn open_element(start: &BytesStart<'_>) -> Open {
    let mut fields = Map::new();
    // Without the checks, an attribute that is given twice does not spoil the item.
    for attribute in start.attributes().with_checks(false).flatten() {
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_else(|_| attribute.value.to_string());
        fields.insert(format!("@{}", attribute.key.as_ref()), value.into());
    }
    Open { name: start.name().as_ref().to_owned(), fields, text: String::new() }
}

fn close_element(open: Open) -> (String, Value) {
    let Open { name, mut fields, text } = open;
    if fields.is_empty() {
        return (name, text.trim().into());
    }
    if !text.trim().is_empty() {
        fields.insert("#text".into(), text.trim().into());
    }
    (name, Value::Object(fields))
}

fn add(fields: &mut Map<String, Value>, name: String, value: Value) {
    match fields.get_mut(&name) {
        None => {
            fields.insert(name, value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(xml: &str, path: &str) -> Vec<(u64, Result<Value, XmlError>)> {
        let mut found = Vec::new();
        for_each_item(xml.as_bytes(), &Pointer::parse_pointer(path).unwrap(), 1000, |number, item| {
            found.push((number, item));
            true
        });
        found
    }

    #[test]
    fn rows_come_one_by_one_with_attributes_children_and_entities() {
        let xml = "<?xml version=\"1.0\"?><posts><row Id=\"1\" T=\"1\" Body=\"&lt;p&gt;a &amp;amp; b&#xA;c&lt;/p&gt;\"/>
            <row Id='2' T='2'/><row T='1'><t>x &amp; y</t><t><![CDATA[<z>]]></t></row></posts>";
        assert_eq!(
            items(xml, "/posts/row[@T=1]"),
            [
                (1, Ok(json!({ "@Id": "1", "@T": "1", "@Body": "<p>a &amp; b\nc</p>" }))),
                (3, Ok(json!({ "@T": "1", "t": ["x & y", "<z>"] }))),
            ]
        );
        assert!(items(xml, "/other/row").is_empty());
    }

    #[test]
    fn what_is_cut_or_no_xml_is_reported_behind_what_was_whole() {
        let cut = items("<posts><row Id='1'/><row Id='2", "/posts/row");
        assert_eq!(cut.len(), 2);
        assert!(cut[0].1.is_ok() && cut[1].1.is_err());
        assert_eq!(items("<posts><row Id='1'/>", "/posts/row")[1].1, Err(XmlError::Cut));
        let long = format!("<posts><row Id='{}'/><row Id='2'/></posts>", "x".repeat(2000));
        let found = items(&long, "/posts/row");
        assert_eq!(found[0].1.as_ref().unwrap_err().to_string(), "an element of 2012 bytes");
        assert!(found[1].1.is_ok());
        let deep = "<a>".repeat(1000);
        assert_eq!(items(&deep, "/posts/row")[0].1, Err(XmlError::Deep));
        assert!(items(&format!("<posts><row>{}", "<a>".repeat(1000)), "/posts/row")[0].1.is_err());
    }
}
