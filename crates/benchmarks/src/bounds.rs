//! Bounds of the template language: prompts and expressions may be somebody else's, and must end before memory or patience
//! does.
//!
//! Fuel ends loops. What fuel does not see is how long a value becomes, so that nothing may grow by repetition: the filters
//! that lengthen a text have a limit, and few names that a template sets are used to set others.

use std::io;

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, Template};

/// Instructions of one rendering: a prompt takes some hundred, a list of a thousand records some ten thousand.
const FUEL: u64 = 500_000;
/// Bytes of one rendered message, or of a text that a filter makes.
const LONGEST: usize = 4 << 20;
/// Most characters that a value is padded to.
pub const WIDEST: usize = 10_000;
/// Most products of an expression.
pub const MOST_PRODUCTS: usize = 4;
/// Values that are made of others that were made, and their parts.
const MOST_CHAINED: usize = 3;
/// The statements of a template.
const STATEMENTS: [&str; 9] = ["if", "elif", "else", "endif", "for", "endfor", "set", "raw", "endraw"];

/// Sets the bounds of an environment.
pub fn set_bounds(language: &mut Environment<'_>) {
    language.set_fuel(Some(FUEL));
    // Values that change while a loop runs could double in each round.
    language.remove_global("namespace");
    // They make texts or lists of any length, and no prompt needs them.
    for filter in ["format", "batch", "slice", "indent"] {
        language.remove_filter(filter);
    }
    language.add_filter("replace", |text: String, from: String, to: String| {
        let found = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&from).count() };
        match found.saturating_mul(to.len()).saturating_add(text.len()) {
            0..=LONGEST => Ok(text.replace(&from, &to)),
            _ => Err(too_long()),
        }
    });
    language.add_filter("join", |list: Value, between: Option<String>| {
        if list.is_undefined() || list.is_none() {
            return Ok(String::new());
        }
        // The letters of a text are joined, too.
        let list = list
            .as_str()
            .map_or(list.clone(), |text| text.chars().map(String::from).collect::<Vec<String>>().into());
        let between = between.unwrap_or_default();
        let mut joined = String::new();
        for (at, one) in list.try_iter()?.enumerate() {
            if at > 0 {
                joined.push_str(&between);
            }
            match one.as_str() {
                Some(text) => joined.push_str(text),
                None => joined.push_str(&one.to_string()),
            }
            if joined.len() > LONGEST {
                return Err(too_long());
            }
        }
        Ok(joined)
    });
}

/// Renders a template to a text of bounded length.
///
/// # Errors
/// What is wrong with the template or the values; also that the text is too long, or that it takes too long to make.
pub fn render_template(template: &Template<'_, '_>, values: Value) -> Result<String, Error> {
    let mut out = Bounded(Vec::new());
    template.render_captured_to(values, &mut out).map_err(|error| match error.kind() {
        ErrorKind::WriteFailure => too_long(),
        ErrorKind::OutOfFuel => {
            Error::new(ErrorKind::OutOfFuel, "it takes too long: a loop in it has too many rounds")
        }
        _ => error,
    })?;
    String::from_utf8(out.0).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// Products in code, outside of its texts.
pub fn count_products(code: &str) -> usize {
    let mut quote = None;
    let mut found = 0;
    for c in code.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => found += usize::from(c == '*'),
        }
    }
    found
}

/// Refuses a template whose values could grow without bound; `most_products` is how many products one tag may hold.
///
/// # Errors
/// [`Error`] naming the line.
pub fn refuse_growth(source: &str, most_products: usize) -> Result<(), Error> {
    let (mut set, mut chained): (Vec<String>, usize) = (Vec::new(), 0);
    let statements = || {
        source.match_indices("{%").map(|(at, _)| {
            let line = source[..at].matches('\n').count() + 1;
            let inside = source[at + 2..].split("%}").next().unwrap_or_default();
            (line, inside.trim_matches(['-', '+']).trim())
        })
    };
    let refused = |line: usize, what: String| {
        Err(Error::new(ErrorKind::SyntaxError, format!("{what} (line {line} of the message)")))
    };
    for (at, _) in source.match_indices(['{']) {
        let code = ["{{", "{%"].iter().find_map(|open| source[at..].strip_prefix(open));
        let code = code.and_then(|code| code.split(['}']).next()).unwrap_or_default();
        if count_products(code) > most_products {
            let line = source[..at].matches('\n').count() + 1;
            return refused(line, "too many products: a text can be multiplied".to_owned());
        }
    }
    for (line, statement) in statements() {
        let (word, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        if !STATEMENTS.contains(&word) {
            return refused(
                line,
                format!("{{% {word} %}} is no statement of a prompt; there are if, for, set and raw"),
            );
        }
        if word == "set" {
            let Some((names, _)) = rest.split_once('=') else {
                return refused(line, "{% set %} needs a value after `=`".to_owned());
            };
            set.extend(names.split(',').map(|name| name.trim_matches(['(', ')', ' ']).to_owned()));
        }
    }
    for (line, statement) in statements() {
        let (word, rest) = statement.split_once(char::is_whitespace).unwrap_or((statement, ""));
        let value = match word {
            "set" => rest.split_once('=').map_or("", |(_, value)| value),
            "for" => rest.split_once(" in ").map_or("", |(_, value)| value),
            _ => continue,
        };
        let words = value.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mentions = words.filter(|word| set.iter().any(|name| name.as_str() == *word)).count();
        if word == "set" && mentions > 0 {
            chained += 1;
            if chained > MOST_CHAINED || mentions > MOST_CHAINED {
                return refused(line, "names that are set are used to set others too often".to_owned());
            }
        }
        if word == "for" && value.replace("[]", "").contains(['~', '*', '+', '[']) {
            return refused(
                line,
                "a loop over a value that is computed; loop over a value, or one that was set".to_owned(),
            );
        }
    }
    Ok(())
}

fn too_long() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("a text of more than {} MiB", LONGEST >> 20))
}

/// A writer that refuses more than a text may have.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;

    fn made(source: &str) -> Result<String, Error> {
        refuse_growth(source, 0)?;
        let mut language = Environment::new();
        set_bounds(&mut language);
        language.add_template_owned("t", source.to_owned())?;
        render_template(
            &language.get_template("t")?,
            context! { post => "水".repeat(100), posts => vec!["a", "b"] },
        )
    }

    #[test]
    fn what_grows_ends() {
        let doubling = "{% set a = post %}".to_owned() + &"{% set a = a ~ a %}".repeat(40) + "{{ a }}";
        for source in [
            "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
            "{% for a in range(100000) %}{{ post ~ post ~ post ~ post }}{{ a }}{{ post }}{% endfor %}",
            &doubling,
            "{% set ns = namespace(x=post) %}{% for a in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            "{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}{{ m(post) }}",
            "{% for x in [post ~ post] %}{% for y in [x ~ x] %}{{ y }}{% endfor %}{% endfor %}",
            "{% set x %}{{ post }}{% endset %}{{ x }}",
            "{% include \"0\" %}",
            "{{ post | indent(1000000000) }}",
            "{{ \"%1000000000d\" | format(1) }}",
            "{{ posts | batch(1000000000, \"x\") | list }}",
            "{{ post | replace(\"水\", post * 10) | replace(\"水\", post * 10) | replace(\"水\", post * 10) }}",
            "{{ (post * 10) | join(post * 10) | join(post * 10) }}",
        ] {
            let made = made(source);
            assert!(made.is_err(), "{source}: {} bytes", made.map_or(0, |text| text.len()));
        }
    }

    #[test]
    fn what_prompts_do_is_done() {
        let source = "{% for item in missing | default([]) %}{% endfor %}{% set names = [\"x\", \"y\"] %}{% for name in names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %} {{ posts | join(\"; \") }} {{ post | replace(\"水\", \"w\") | upper }} {{ 6 + 1 }}{{ \" *\" }}";
        let text = made(source).unwrap();
        assert!(text.starts_with("x, y a; b WW") && text.ends_with("W 7 *"), "{text}");
    }
}
