//! COIG-CQIA: instruction, input and output. The post is what was asked, the output an answer to it.

use serde::Deserialize;

use super::{Parsed, RawPost, loose};
use riddlemill_record::PostKind;

#[derive(Deserialize)]
struct CqiaObject {
    #[serde(default, deserialize_with = "loose::text")]
    instruction: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    input: Option<String>,
}

/// The instruction, and the input under it where there is one. There are no ids: equal texts are one
/// record.
pub(super) fn parse_post(line: &str) -> Parsed {
    let object: CqiaObject = match super::object(line) {
        Ok(object) => object,
        Err(bad) => return bad,
    };
    let Some(instruction) = object.instruction else {
        return Parsed::Bad("`instruction` must be a string".into());
    };
    let content = match object.input.filter(|input| !input.trim().is_empty()) {
        Some(input) => format!("{instruction}\n{input}"),
        None => instruction,
    };
    Parsed::Post(Box::new(RawPost { kind: PostKind::Plain, content: Some(content), ..RawPost::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_no_part_of_the_post() {
        let post = |line: &str| match parse_post(line) {
            Parsed::Post(draft) => draft.content,
            _ => None,
        };
        let line = r#"{"instruction": "为什么雨伞怕淋雨", "input": "", "output": "雨伞不怕"}"#;
        assert_eq!(post(line).as_deref(), Some("为什么雨伞怕淋雨"));
        assert_eq!(post(r#"{"instruction": "接下句", "input": "床前"}"#).as_deref(), Some("接下句\n床前"));
        assert_eq!(post(r#"{"input": "床前"}"#), None);
    }
}
