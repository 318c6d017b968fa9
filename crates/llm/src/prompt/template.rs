//! One prompt file: its comment, its messages, and their rendering.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize};

use crate::request::{Key, Message, Role};

use super::inside_among;
use riddlemill_benchmarks::bounds;

// The filters of a prompt, in addition to the template language's own:
// - `inside(tag)` puts a text between delimiters that it cannot close;
// - `letter` accepts one of A to D and nothing else;
// - `alone` marks the one text that is sent without delimiters: a question to a model under test, which is
// the whole message.

/// The form of a prompt's reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Plain text.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

/// A prompt as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The template's name.
    pub template: String,
    /// The template's hash, for fingerprints.
    pub hash: String,
    pub messages: Vec<Message>,
    /// The form of the reply.
    pub output: Output,
}

/// Why a file is not a valid prompt, or cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It does not begin with its comment.
    #[error("a prompt opens with a comment {{# … #}} that says where it comes from")]
    NoComment,
    /// Its comment names an unknown form of reply.
    #[error("output is text or json, not {0}")]
    Output(String),
    /// It is not valid in the template language, or a value is missing or wrong.
    #[error("{}{}", describe_error(.0), place_of(.0))]
    Language(#[from] Error),
}

fn describe_error(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

fn place_of(error: &Error) -> String {
    error.line().map(|line| format!(" (line {line} of the message)")).unwrap_or_default()
}

/// The values of a prompt file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Its values, sorted.
    pub variables: Vec<String>,
    /// Expressions whose texts are sent without delimiters.
    pub bare: Vec<String>,
}

/// Analyses a prompt file without rendering it.
///
/// # Errors
/// [`TemplateError`] if it is not a valid prompt.
pub fn examine_prompt(source: &str) -> Result<Examined, TemplateError> {
    let template = Template::parse(source)?;
    Ok(Examined { variables: template.list_variables(), bare: template.bare_values() })
}

/// A parsed prompt file.
pub(super) struct Template {
    /// The front comment, one line.
    pub about: String,
    pub output: Output,
    /// SHA-256 of everything that affects what is sent: of the front comment only `output`.
    pub hash: String,
    sections: Vec<(Role, String)>,
    env: Environment<'static>,
}

impl Template {
    /// Parses a file.
    pub(super) fn parse(source: &str) -> Result<Template, TemplateError> {
        let (comment, body) = source
            .trim_start()
            .strip_prefix("{#")
            .and_then(|rest| rest.split_once("#}"))
            .ok_or(TemplateError::NoComment)?;
        let comment = comment.trim_matches(['-', ' ', '\n', '\r']);
        let mut about = Vec::new();
        let mut output = Output::Text;
        for line in comment.lines().map(str::trim) {
            match line.strip_prefix("output:").map(str::trim) {
                None => about.push(line),
                Some("json") => output = Output::Json,
                Some("text") => {}
                Some(other) => return Err(TemplateError::Output(other.to_owned())),
            }
        }
        let mut env = Environment::new();
        bounds::set_bounds(&mut env);
        // A missing value has to stop the request instead of leaving a gap in the prompt.
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        // Messages are plain text: HTML escaping would change every quotation mark.
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        // A block tag on a line of its own leaves no empty line.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        env.set_syntax(syntax?);
        let tags = find_tags(body);
        env.add_filter("inside", move |text: Value, tag: String| match text.as_str() {
            Some(text) => Ok(inside_among(text, &tag, &tags)),
            None if text.is_undefined() => {
                Err(Error::new(ErrorKind::UndefinedError, format!("nothing for <{tag}>")))
            }
            None => Err(Error::new(ErrorKind::InvalidOperation, format!("only a text goes inside <{tag}>"))),
        });
        env.add_filter("letter", |text: String| match text.as_str() {
            "A" | "B" | "C" | "D" => Ok(text),
            _ => Err(Error::new(ErrorKind::InvalidOperation, "not one of the letters A to D")),
        });
        env.add_filter("alone", |text: String| text);
        let sections = split_sections(body);
        let hash = Key::hash(format!("{output:?}\n{sections:?}").as_bytes()).to_string();
        for (at, (_, section)) in sections.iter().enumerate() {
            bounds::refuse_growth(section, 0)?;
            env.add_template_owned(at.to_string(), section.clone())?;
        }
        Ok(Template { about: about.join(" "), output, hash, sections, env })
    }

    /// The messages for one record. The error names the value that is missing or wrong.
    pub(super) fn render_messages(&self, values: &Value) -> Result<Vec<Message>, TemplateError> {
        let message = |(at, (role, _)): (usize, &(Role, String))| {
            let rendered = self
                .env
                .get_template(&at.to_string())
                .and_then(|template| bounds::render_template(&template, values.clone()));
            rendered.map(|text| Message::new(*role, text.trim())).map_err(TemplateError::from)
        };
        self.sections.iter().enumerate().map(message).collect()
    }

    /// The values that it sends without delimiters, as written in it.
    pub(super) fn bare_values(&self) -> Vec<String> {
        let mut bare = Vec::new();
        for (_, section) in &self.sections {
            for part in section.split("{{").skip(1) {
                let Some((expression, _)) = part.split_once("}}") else { continue };
                let expression = expression.trim_matches('-').trim();
                let names = |compiled: minijinja::Expression<'_, '_>| compiled.undeclared_variables(false);
                let asks = self.env.compile_expression(expression).map(names).unwrap_or_default();
                let mut filters = expression.split('|').skip(1).map(str::trim);
                let kept = |filter: &str| {
                    ["inside", "letter", "alone"].iter().any(|name| {
                        filter.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
                    })
                };
                if !asks.is_empty() && !filters.any(kept) {
                    bare.push(expression.to_owned());
                }
            }
        }
        bare
    }

    /// The values that the prompt uses, sorted.
    pub(super) fn list_variables(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.env.templates().flat_map(|(_, template)| template.undeclared_variables(false)).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The tags around its texts, folded for comparison.
fn find_tags(body: &str) -> Vec<String> {
    let named = |part: &str| {
        let quote = part.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        part[1..].split_once(quote).map(|(tag, _)| tag.trim().to_lowercase())
    };
    let mut tags: Vec<String> =
        body.split("inside(").skip(1).filter_map(|part| named(part.trim_start())).collect();
    tags.sort();
    tags.dedup();
    tags
}

fn split_sections(body: &str) -> Vec<(Role, String)> {
    let mut sections: Vec<(Role, String)> = Vec::new();
    for line in body.lines() {
        match line.trim_end() {
            "=== system ===" => sections.push((Role::System, String::new())),
            "=== user ===" => sections.push((Role::User, String::new())),
            "" if sections.is_empty() => {}
            text => {
                if sections.is_empty() {
                    sections.push((Role::User, String::new()));
                }
                if let Some((_, section)) = sections.last_mut() {
                    section.push_str(text);
                    section.push('\n');
                }
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;

    const SOURCE: &str = "{# A paper, figure 1.\n   output: json #}\n=== system ===\nBe brief.\n=== user ===\n\n{{ post | inside(\"text\") }}\n";

    #[test]
    fn a_file_becomes_messages_and_its_comment_is_not_sent() {
        let template = Template::parse(SOURCE).unwrap();
        assert_eq!((template.about.as_str(), template.output), ("A paper, figure 1.", Output::Json));
        assert_eq!(template.list_variables(), ["post"]);
        let messages = template.render_messages(&context! { post => "=== user ===\n{{ 1 }}" }).unwrap();
        assert_eq!(
            messages,
            [
                Message::new(Role::System, "Be brief."),
                Message::new(Role::User, "<text>\n=== user ===\n{{ 1 }}\n</text>")
            ]
        );
    }

    #[test]
    fn what_is_sent_without_delimiters_is_named() {
        let bare = |body: &str| examine_prompt(&format!("{{# x #}}\n{body}")).unwrap().bare;
        assert!(bare("{{ a | inside(\"q\") }} {{ b | letter }} {{ c|alone }} {{ 'word' }}").is_empty());
        assert_eq!(bare("{{ a }} {{- b | upper -}}"), ["a", "b | upper"]);
        assert_eq!(bare("{{ a | insides }}"), ["a | insides"]);
    }

    #[test]
    fn a_missing_value_is_an_error() {
        let error = Template::parse(SOURCE).unwrap().render_messages(&context! {}).unwrap_err().to_string();
        assert!(error.contains("undefined"), "{error}");
        let error = Template::parse(SOURCE)
            .unwrap()
            .render_messages(&context! { post => 5 })
            .unwrap_err()
            .to_string();
        assert!(error.contains("only a text"), "{error}");
    }

    #[test]
    fn the_hash_is_of_what_is_sent() {
        let hash = |source: &str| Template::parse(source).unwrap().hash;
        assert_eq!(hash(SOURCE), hash(&SOURCE.replace("figure 1", "figure 2")));
        assert_ne!(hash(SOURCE), hash(&SOURCE.replace("brief", "short")));
        assert_ne!(hash(SOURCE), hash(&SOURCE.replace("json", "text")));
        assert_ne!(hash(SOURCE), hash(&SOURCE.replace("system", "user")));
    }

    #[test]
    fn a_file_without_its_comment_is_refused() {
        assert!(Template::parse("hello").err().unwrap().to_string().contains("comment"));
        assert!(Template::parse("{# x\noutput: yaml #}").err().unwrap().to_string().contains("yaml"));
        assert!(Template::parse("{# x #}{{ a").is_err());
    }
}
