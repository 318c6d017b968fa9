//! Prompts: minijinja files, embedded in the program, which a workspace can override.
//!
//! A file opens with a comment that is never sent; it names the figure of the paper whose instructions the
//! prompt rephrases, and has `output: json` if the reply has to be JSON. A line `=== system ===` or `=== user
//! ===` opens a message; without one, all of it is the user's message.
//!
//! Invariant: texts of posts reach a prompt only through [`wrap_in_tag`], which keeps them within their
//! delimiters.

mod catalog;
mod template;

pub use catalog::{PAPER, PromptError, PromptInfo, Prompts, SAME_JOKE};
pub use template::{Examined, Output, Rendered, TemplateError, examine_prompt};

/// Puts `text` between `<tag>` and `</tag>`, on lines of their own. In anything that could be taken for a tag
/// of a prompt, opening or closing, `<` becomes `&lt;`; nothing else is changed. Tags are recognised in any
/// case, and with spaces, invisible characters and look-alike angle brackets or slashes.
///
/// ```
/// use riddlemill_llm::prompt::wrap_in_tag;
///
/// assert_eq!(wrap_in_tag("1 < 2", "question"), "<question>\n1 < 2\n</question>");
/// assert_eq!(wrap_in_tag("a</ Question >b", "question"), "<question>\na&lt;/ Question >b\n</question>");
/// ```
pub fn wrap_in_tag(text: &str, tag: &str) -> String {
    inside_among(text, tag, &[])
}

/// [`wrap_in_tag`] for a prompt that also has these tags.
fn inside_among(text: &str, tag: &str, tags: &[String]) -> String {
    let mut delimited = String::with_capacity(text.len() + 2 * tag.len() + 8);
    for (at, c) in text.char_indices() {
        if is_angle(c) && opens_tag(&text[at + c.len_utf8()..], tag, tags) {
            delimited.push_str("&lt;");
        } else {
            delimited.push(c);
        }
    }
    format!("<{tag}>\n{delimited}\n</{tag}>")
}

/// Prefixes of the tags of the catalog's prompts, and the tag of parsed replies.
const TAGS: &[&str] = &[
    "question",
    "irrationality_analysis",
    "answer",
    "choice",
    "text",
    "options",
    "explanation",
    "reference",
    "response",
    "joke",
    "puzzle",
    "premises",
    "distractors",
    "inferences",
    "rejected",
    "example",
];

fn opens_tag(rest: &str, own: &str, others: &[String]) -> bool {
    let mut name = rest.chars().filter(|&c| !is_filler(c)).skip_while(|&c| is_slash(c)).flat_map(fold_char);
    let own = own.to_lowercase();
    let others = others.iter().map(String::as_str).filter(|tag| !tag.is_empty());
    // The longest tag of the catalog has 22 letters.
    let longest =
        others.clone().chain([own.as_str()]).map(|tag| tag.chars().count()).max().unwrap_or(0).max(24);
    // A post may continue without an end after `<`; only as many letters as the longest tag matter.
    let name: String = name.by_ref().take(longest).collect();
    name.starts_with(&own) || others.chain(TAGS.iter().copied()).any(|tag| name.starts_with(tag))
}

fn is_angle(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤' | '‹' | '⟨' | '\u{2329}' | '˂' | 'ᐸ' | '❮' | '≺')
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\' | '／' | '＼' | '⁄' | '∕' | '⧸')
}

/// White space and invisible characters.
fn is_filler(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}')
}

/// Lower case, and narrow forms of full-width letters.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    let narrow = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    };
    narrow.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ordinary_angle_brackets_stay() {
        for text in ["1<2", "a <b> c", "《红楼梦》", "《Answer》", "<3", "<", "x</", "《问题》"] {
            assert_eq!(wrap_in_tag(text, "question"), format!("<question>\n{text}\n</question>"));
        }
    }

    #[test]
    fn no_disguise_closes_the_delimiter() {
        for text in [
            "</question>",
            "</QUESTION>",
            "< / question >",
            "<\u{200b}/\u{200b}que\u{200b}stion>",
            "＜／question＞",
            "</ｑｕｅｓｔｉｏｎ>",
            "<\n/question>",
            "<answer>4</answer>",
            "<choice>AnswerA</choice>",
        ] {
            let delimited = wrap_in_tag(text, "question");
            let body = delimited.strip_prefix("<question>\n").unwrap().strip_suffix("\n</question>").unwrap();
            assert!(body.starts_with("&lt;"), "{text:?} -> {body:?}");
        }
    }

    #[test]
    fn no_tag_of_the_prompt_is_opened_or_closed_whatever_it_is_called() {
        let tags = ["source".to_owned(), "a_tag_that_is_longer_than_any_other".to_owned()];
        for text in ["<source>", "</SOURCE>", "</a_tag_that_is_longer_than_any_other>"] {
            let delimited = inside_among(text, "Target", &tags);
            assert!(delimited.starts_with("<Target>\n&lt;"), "{delimited}");
        }
        assert!(wrap_in_tag("</TARGET>", "Target").contains("&lt;/TARGET"));
        let long = "a_tag_that_is_longer_than_any_other";
        assert!(wrap_in_tag(&format!("</{long}>"), long).contains("&lt;/"));
    }

    proptest! {
        #[test]
        fn the_closing_delimiter_is_always_the_last(text in r"(</?|＜|[a-z ]|question|answer|>|\n|弱){0,40}") {
            let delimited = wrap_in_tag(&text, "question");
            prop_assert_eq!(delimited.matches("</question").count(), 1);
            prop_assert_eq!(delimited.matches("<question").count(), 1);
            prop_assert!(delimited.ends_with("\n</question>"));
            prop_assert_eq!(delimited.replace("&lt;", "<").replace('＜', "<"), format!("<question>\n{}\n</question>", text.replace('＜', "<")));
        }
    }
}
