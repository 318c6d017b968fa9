//! `data-field`: JSON in an attribute, sometimes slightly invalid.

use serde_json::Value;

/// Parses an attribute's value. Rendered variants quote with `'` and leave keys bare; these are repaired.
pub fn parse_field(field: &str) -> Option<Value> {
    let field = field.trim();
    serde_json::from_str(field).ok().or_else(|| serde_json::from_str(&repair_json(field)).ok())
}

/// A non-negative whole number written as number or string.
pub fn parse_number(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(n) => n.as_u64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
}

/// A string that is not empty.
pub fn non_empty_string(value: Option<&Value>) -> Option<String> {
    value?.as_str().filter(|s| !s.is_empty()).map(str::to_string)
}

/// PHP and JavaScript flags: `true`, `1` and `"1"` are set.
pub fn is_flag_set(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(set)) => *set,
        other => parse_number(other).is_some_and(|n| n != 0),
    }
}

/// Turns single-quoted strings into JSON ones and quotes bare keys. A quote inside a name does
/// not end its string unless `,`, `:`, `]` or `}` follows.
fn repair_json(field: &str) -> String {
    let mut out = String::with_capacity(field.len() + 16);
    let chars: Vec<char> = field.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            quote @ ('\'' | '"') => {
                out.push('"');
                at += 1;
                while at < chars.len() && !(chars[at] == quote && ends_string(&chars[at + 1..])) {
                    match chars[at] {
                        // JavaScript escapes an apostrophe; JSON does not know that escape.
                        '\\' if chars.get(at + 1) == Some(&'\'') => {
                            out.push('\'');
                            at += 1;
                        }
                        '\\' => {
                            out.push('\\');
                            if let Some(&next) = chars.get(at + 1) {
                                out.push(next);
                                at += 1;
                            }
                        }
                        '"' => out.push_str("\\\""),
                        other => out.push(other),
                    }
                    at += 1;
                }
                out.push('"');
                at += 1;
            }
            first if first.is_ascii_alphabetic() || first == '_' => {
                let end = chars[at..].iter().position(|c| !(c.is_ascii_alphanumeric() || *c == '_'));
                let end = end.map_or(chars.len(), |n| at + n);
                let word: String = chars[at..end].iter().collect();
                match word.as_str() {
                    "true" | "false" | "null" => out.push_str(&word),
                    "undefined" => out.push_str("null"),
                    _ => out.extend(['"'].into_iter().chain(word.chars()).chain(['"'])),
                }
                at = end;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    out
}

fn ends_string(rest: &[char]) -> bool {
    rest.iter().find(|c| !c.is_whitespace()).is_none_or(|c| matches!(c, ',' | ':' | ']' | '}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_json_is_mended() {
        let field = r#"{'spid':'12','user_name':'it's "me"','n':3,total_page: 2,x:undefined}"#;
        let value = parse_field(field).unwrap();
        assert_eq!(parse_number(value.get("spid")), Some(12));
        assert_eq!(non_empty_string(value.get("user_name")).as_deref(), Some("it's \"me\""));
        assert_eq!(parse_number(value.get("total_page")), Some(2));
        assert!(value["x"].is_null());
        assert_eq!(parse_field("not a field"), None);
    }

    #[test]
    fn numbers_and_flags_come_in_many_forms() {
        let value =
            parse_field(r#"{"a":"18446744073709551615","b":1,"c":"","d":true,"e":null,"f":-1,"g":"0"}"#)
                .unwrap();
        assert_eq!(parse_number(value.get("a")), Some(u64::MAX));
        assert_eq!((parse_number(value.get("c")), parse_number(value.get("f"))), (None, None));
        let flags: Vec<bool> = ["b", "d", "e", "g", "z"].map(|k| is_flag_set(value.get(k))).into();
        assert_eq!(flags, [true, true, false, false, false]);
    }
}
