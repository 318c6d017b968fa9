//! Expressions over a record or a row: minijinja's, with filters for published sets. Missing values are null;
//! nothing in them depends on a clock, on chance or on the order of a hash map.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Expression as Compiled, UndefinedBehavior};
use riddlemill_text::options::LETTERS;
use riddlemill_text::puzzle::spelling::{Correction, apply_corrections};
use riddlemill_text::puzzle::words::word_key;
use riddlemill_text::text::{format_decimals, interrogative, normalise};
use sha1::{Digest, Sha1};

use crate::bounds::{self, MOST_PRODUCTS, WIDEST};
use crate::checks;
use crate::choice::{Choice, Lists};
use crate::reader::Keys;
use crate::setting::{self, SettingValues};
use crate::value::{split_list_lines, texts_of_value};

/// The environment of one benchmark's expressions.
pub(crate) type Language = &'static Environment<'static>;

/// An expression and its place.
pub struct Expression {
    place: String,
    source: &'static str,
    form: ExpressionForm,
    names: BTreeSet<String>,
}

enum ExpressionForm {
    /// A single name: the usual case, evaluated directly.
    Name,
    Expression(Compiled<'static, 'static>),
    /// Text with `{{ … }}` or `{% … %}`; a blank result is null.
    Template(Language),
}

impl ExpressionForm {
    /// The names used, as paths or only their first parts.
    fn find_names(&self, source: &'static str, below: bool) -> BTreeSet<String> {
        match self {
            ExpressionForm::Name => BTreeSet::from([source.to_owned()]),
            ExpressionForm::Expression(compiled) => {
                compiled.undeclared_variables(below).into_iter().collect()
            }
            ExpressionForm::Template(language) => match language.template_from_str(source) {
                Ok(template) => template.undeclared_variables(below).into_iter().collect(),
                Err(_) => BTreeSet::new(),
            },
        }
    }
}

/// Why a text is not an expression.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SyntaxError {
    /// It uses an unknown filter.
    #[error("unknown filter {0:?}")]
    Filter(&'static str),
    /// A text can be multiplied, too.
    #[error("more than four products in one expression")]
    Products,
    /// It is not valid syntax.
    #[error("{}", .0.detail().map_or_else(|| .0.to_string(), str::to_owned))]
    Written(#[from] Error),
}

/// An expression that could not be computed for a record or row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct ExpressionError {
    /// The file and the place in it.
    pub place: String,
    /// The error.
    pub what: String,
}

impl Expression {
    /// Parses the value of a key; `None` if there is none, or it is reported as a problem.
    pub(crate) fn parse_key(
        language: Language,
        file: &str,
        keys: &Keys<'_>,
        key: &str,
    ) -> Option<Expression> {
        let source = keys.read_text(key)?;
        let place = keys.place_of_key(key).unwrap_or_else(|| file.to_owned());
        Expression::parse(language, place, source).map_err(|what| keys.report_problem(key, what)).ok()
    }

    /// # Errors
    /// [`SyntaxError`] if it is not an expression.
    pub(crate) fn parse(
        language: Language,
        place: String,
        source: &'static str,
    ) -> Result<Expression, SyntaxError> {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for filter in find_filters(source) {
            // Otherwise an unknown filter would only be reported for the first record that reaches it.
            let alone =
                language.compile_expression(&format!("none|{filter}")).and_then(|alone| alone.eval(()));
            if alone.is_err_and(|e| e.kind() == ErrorKind::UnknownFilter) {
                return Err(SyntaxError::Filter(filter));
            }
        }
        let form = if !source.is_empty()
            && source.chars().all(name)
            && !KEYWORDS.contains(&source)
            && !source.starts_with(|c: char| c.is_ascii_digit())
        {
            ExpressionForm::Name
        } else if source.contains("{{") || source.contains("{%") {
            language.template_from_str(source)?;
            bounds::refuse_growth(source, MOST_PRODUCTS)?;
            ExpressionForm::Template(language)
        } else {
            if bounds::count_products(source) > MOST_PRODUCTS {
                return Err(SyntaxError::Products);
            }
            ExpressionForm::Expression(language.compile_expression(source)?)
        };
        let names = form.find_names(source, false);
        Ok(Expression { place, source, form, names })
    }

    /// The text that it was parsed from.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Its value for the variables in `over`.
    ///
    /// # Errors
    /// If it cannot be computed, such as the difference of two texts.
    pub fn compute_value(&self, variables: &Value) -> Result<Value, ExpressionError> {
        let value = match &self.form {
            ExpressionForm::Name => variables.get_attr(self.source),
            ExpressionForm::Expression(compiled) => compiled.eval(variables),
            ExpressionForm::Template(language) => {
                let text = language
                    .template_from_str(self.source)
                    .and_then(|template| bounds::render_template(&template, variables.clone()));
                text.map(|text| match text.trim() {
                    "" => Value::from(()),
                    text => Value::from(text),
                })
            }
        };
        let value =
            value.map_err(|e| self.make_trouble(format!("{} cannot be computed: {e}", self.source)))?;
        Ok(if value.is_undefined() { Value::from(()) } else { value })
    }

    /// An error in its result.
    pub fn make_trouble(&self, message: String) -> ExpressionError {
        ExpressionError { place: self.place.clone(), what: message }
    }

    /// Whether it is true.
    ///
    /// # Errors
    /// Those of [`Expression::compute_value`].
    pub fn is_true(&self, variables: &Value) -> Result<bool, ExpressionError> {
        self.compute_value(variables).map(|value| value.is_true())
    }

    /// The paths used: `best.draft.hint`.
    pub fn used_paths(&self) -> BTreeSet<String> {
        self.form.find_names(self.source, true)
    }

    /// Whether a name is a function or the settings.
    pub(crate) fn is_call_or_setting(&self, name: &str) -> bool {
        checks::NAMES.contains(&name) || name == setting::NAME
    }

    /// The settings used, each as `SECTION.KEY`.
    pub(crate) fn used_settings(&self) -> impl Iterator<Item = String> {
        let of = |path: String| path.strip_prefix(setting::NAME)?.strip_prefix('.').map(str::to_owned);
        self.used_paths().into_iter().filter_map(of)
    }

    /// File, line and column of that text.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The names used, sorted.
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// The first name that is not in `known`, with a suggestion.
    pub(crate) fn find_unknown_name<'k>(
        &self,
        what: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Option<String> {
        let names = self.names();
        let unexpected = names.iter().find(|name| {
            !self.is_call_or_setting(name) && !known.clone().any(|known| known == name.as_str())
        })?;
        Some(riddlemill_text::hint::unknown(what, unexpected, known))
    }
}

/// Words that are not names.
const KEYWORDS: [&str; 6] = ["true", "false", "none", "True", "False", "None"];

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source)
    }
}

/// An expression, and what it may name in addition to the record.
pub(crate) type ScopedExpression<'e> = (&'e Expression, &'static [&'static str]);

/// Variables with their values, for an expression.
pub fn bind_variables<'n>(names: impl Iterator<Item = (&'n str, Value)>) -> Value {
    Value::from(names.map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<String, Value>>())
}

/// The language of a benchmark with these lists of options. Leaked, because expressions live as long as the
/// program.
pub(crate) fn build_language(lists: Lists, settings: &Arc<SettingValues>) -> Language {
    let mut language = Environment::new();
    bounds::set_bounds(&mut language);
    // A record may lack a whole group, and `group.field` of it has to be nothing instead of an error.
    language.set_undefined_behavior(UndefinedBehavior::Chainable);
    // A template produces plain text, not HTML.
    language.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    language.add_global(setting::NAME, Value::from_dyn_object(Arc::clone(settings)));
    language.add_filter("sha1", |text: &str| hex::encode(Sha1::digest(text.as_bytes())));
    language.add_filter("letter", letter_of_place);
    language.add_filter("at", |place: usize, list: Value| list.get_item_by_index(place));
    language.add_filter("place", index_in_list);
    language.add_filter("of", |key: Value, map: Value| map.get_item(&key));
    language.add_filter("before", |text: &str, mark: &str| {
        text.split(mark).next().unwrap_or_default().to_owned()
    });
    language
        .add_filter("tally", |text: &str, code: &str| text.split(' ').filter(|word| *word == code).count());
    language.add_filter("padded", pad_list);
    let lists_of = lists.clone();
    language.add_filter("code", move |label: Value, list: &str| {
        let Some(options) = lists_of.get(list) else {
            let what = riddlemill_text::hint::unknown("list", list, lists_of.keys().copied());
            return Err(Error::new(ErrorKind::InvalidOperation, what));
        };
        let named = |option: &&Choice| {
            [option.label.zh, option.label.en, option.code].iter().any(|known| label.as_str() == Some(*known))
        };
        Ok(options.iter().find(named).map_or(Value::UNDEFINED, |option| Value::from(option.code)))
    });
    let labels_of = lists.clone();
    language.add_filter("labels", move |list: &str, language: &str, without: Rest<String>| {
        let Some(options) = labels_of.get(list) else {
            let what = riddlemill_text::hint::unknown("list", list, labels_of.keys().copied());
            return Err(Error::new(ErrorKind::InvalidOperation, what));
        };
        let offered = options.iter().filter(|option| !without.iter().any(|code| code == option.code));
        let label = |option: &Choice| if language == "zh" { option.label.zh } else { option.label.en };
        Ok(offered.map(label).collect::<Vec<_>>())
    });
    language.add_filter("label", move |code: &str, list: &str, language: &str| {
        let Some(options) = lists.get(list) else {
            let what = riddlemill_text::hint::unknown("list", list, lists.keys().copied());
            return Err(Error::new(ErrorKind::InvalidOperation, what));
        };
        let found = options.iter().find(|option| option.code == code);
        Ok(found.map_or(Value::UNDEFINED, |option| {
            Value::from(if language == "zh" { option.label.zh } else { option.label.en })
        }))
    });
    language.add_filter("fold", |text: &str| normalise::fold(text, normalise::Fold::KEY));
    language.add_filter("lettered", |texts: Vec<String>, mark: Option<String>| {
        let mark = mark.as_deref().unwrap_or("A. ");
        let line = |(letter, text): (&&str, &String)| format!("{}{text}", mark.replacen('A', letter, 1));
        LETTERS.iter().zip(&texts).map(line).collect::<Vec<_>>().join("\n")
    });
    language.add_filter("counts", |tally: Value| -> Result<Vec<u64>, Error> {
        Ok(parse_tally(&tally)?.into_iter().map(|(_, count)| count).collect())
    });
    language.add_filter("at_least", |tally: Value, least: u64| -> Result<Vec<String>, Error> {
        let codes = parse_tally(&tally)?.into_iter().filter(|(_, count)| *count >= least);
        Ok(codes.map(|(code, _)| code).collect())
    });
    language.add_filter("asks", |text: &str| interrogative::judge_text(text).is_question);
    language.add_filter("picked", pick_texts);
    language.add_filter("fields", collect_fields);
    language.add_filter("codes", join_codes);
    language.add_filter("listed", |text: Value| text.as_str().map(split_list_lines).unwrap_or_default());
    language
        .add_filter("including", |premises: Vec<String>, one: Value| append_missing(premises, one.as_str()));
    language.add_filter("corrected", |text: &str, proposed: Vec<String>, accepted: Value| {
        let taken: Vec<Correction> = at_numbers(&accepted, &proposed)?
            .into_iter()
            .filter_map(|line| Correction::parse_line(line))
            .collect();
        Ok::<_, Error>(apply_corrections(text, &taken))
    });
    language.add_filter("said_in", said_in);
    language.add_filter("texts_at", texts_at);
    language.add_filter("one_line", |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" "));
    language.add_filter("values_of", |answers: Value, names: Rest<String>| {
        collect_fields(Value::from(vec![answers]), names)
    });
    language.add_filter("numbered", |texts: Vec<String>| {
        texts.iter().enumerate().map(|(at, text)| format!("{at}. {text}")).collect::<Vec<_>>().join("\n")
    });
    language.add_filter("noted", |text: Value, note: Option<String>| {
        // A text without a note is returned unchanged, so that requests about it stay the same.
        let text = crate::value::text_of_value(&text).unwrap_or_default();
        note.map_or_else(|| text.clone(), |note| format!("{text}\n（楼主注：{note}）"))
    });
    language
        .add_filter("left", |of: Value, wide: usize| format!("{:<1$}", plain_text(&of), wide.min(WIDEST)));
    language
        .add_filter("right", |of: Value, wide: usize| format!("{:>1$}", plain_text(&of), wide.min(WIDEST)));
    language.add_filter("fixed", format_fixed);
    language.add_filter("interval", format_interval);
    language.add_function("means", mean_by_name);
    checks::add(&mut language);
    Box::leak(Box::new(language))
}

/// The names after bars, outside of quotes.
fn find_filters(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (i, part) in source.split(['\'', '"']).enumerate() {
        // Every second piece is inside quotation marks.
        if i % 2 == 0 {
            found.extend(part.split('|').skip(1).filter_map(|behind| {
                let name = behind.trim_start();
                let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
                Some(&name[..end]).filter(|name| !name.is_empty())
            }));
        }
    }
    found
}

/// A value as a line of text shows it: `-` where there is none.
fn plain_text(value: &Value) -> String {
    crate::value::text_of_value(value).unwrap_or_else(|| "-".to_owned())
}

/// A number with so many digits behind the point; `-` where there is none.
fn format_fixed(number: Value, digits: usize) -> String {
    match f64::try_from(number.clone()) {
        Ok(number) => format_decimals(number, digits.min(20)),
        Err(_) => plain_text(&number),
    }
}

/// A figure with the ends of its interval, a list of three: `0.767 [0.701, 0.820]`; `-` where there is none.
fn format_interval(estimate: Value) -> String {
    let numbers = estimate.try_iter().into_iter().flatten().filter_map(|number| f64::try_from(number).ok());
    match &numbers.map(|number| format_decimals(number, 3)).collect::<Vec<_>>()[..] {
        [figure, low, high] => format!("{figure} [{low}, {high}]"),
        _ => "-".to_owned(),
    }
}

/// The letter of a place from 0; nothing of no place.
fn letter_of_place(place: Value) -> Value {
    let letter = place.as_usize().and_then(|place| u8::try_from(place).ok()).filter(|place| *place < 26);
    letter.map_or(Value::UNDEFINED, |place| Value::from(char::from(b'A' + place).to_string()))
}

/// The first index of a value in a list, from 0; undefined if it is missing.
fn index_in_list(value: Value, list: Value) -> Result<Value, Error> {
    let found = list.try_iter()?.position(|other| other == value);
    Ok(found.map_or(Value::UNDEFINED, Value::from))
}

/// A list of texts padded with empty ones to the length of another.
fn pad_list(mut list: Vec<String>, like: Value) -> Result<Vec<String>, Error> {
    let length =
        like.len().ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "`padded` needs a list"))?;
    list.resize(length, String::new());
    Ok(list)
}

/// The texts of a list by numbers from 1.
fn pick_texts(numbers: Value, list: Vec<String>) -> Result<Vec<String>, Error> {
    Ok(at_numbers(&numbers, &list)?.into_iter().cloned().collect())
}

fn at_numbers<'l>(numbers: &Value, list: &'l [String]) -> Result<Vec<&'l String>, Error> {
    let mut found = Vec::new();
    for number in numbers.try_iter()? {
        let place = number.to_string().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        found.extend(place.and_then(|place| list.get(place)));
    }
    Ok(found)
}

/// These fields of each of several answers in one list, without missing ones.
fn collect_fields(answers: Value, names: Rest<String>) -> Result<Vec<Value>, Error> {
    let mut found = Vec::new();
    for answer in answers.try_iter()? {
        for name in names.iter() {
            let value = answer.get_attr(name)?;
            found.extend((!value.is_undefined() && !value.is_none()).then_some(value));
        }
    }
    Ok(found)
}

/// The codes of a field in one or several answers, separated by spaces.
fn join_codes(answers: Value, field: &str) -> Result<String, Error> {
    let several = matches!(answers.kind(), ValueKind::Seq | ValueKind::Iterable);
    let answers: Vec<Value> = if several { answers.try_iter()?.collect() } else { vec![answers] };
    let mut found = Vec::new();
    for answer in answers {
        found.extend(texts_of_value(&answer.get_attr(field)?));
    }
    Ok(found.join(" "))
}

/// Texts with one appended, unless they contain it.
fn append_missing(mut texts: Vec<String>, addition: Option<&str>) -> Vec<String> {
    if let Some(one) = addition.filter(|one| !texts.iter().any(|text| word_key(text) == word_key(one))) {
        texts.push(one.to_owned());
    }
    texts
}

/// The index in a list, from 0, of the text with the same words, ignoring case and punctuation; undefined if
/// it is missing.
fn said_in(text: Value, list: Vec<String>) -> Value {
    let place =
        text.as_str().and_then(|text| list.iter().position(|other| word_key(other) == word_key(text)));
    place.map_or(Value::from(()), Value::from)
}

/// The texts at these indices, from 0; empty ones for invalid indices.
fn texts_at(places: Value, list: Vec<String>) -> Vec<String> {
    let at = |place: String| list.get(place.parse::<usize>().ok()?).cloned();
    texts_of_value(&places).into_iter().map(|place| at(place).unwrap_or_default()).collect()
}

/// The number of votes for each code, in the order of the options.
fn parse_tally(tally: &Value) -> Result<Vec<(String, u64)>, Error> {
    let wrong = || Error::new(ErrorKind::InvalidOperation, "expected a tally, BALLOT.tally.FIELD");
    let mut counts = Vec::new();
    for code in tally.try_iter().map_err(|_| wrong())? {
        let count = tally.get_item(&code)?.as_usize().ok_or_else(wrong)?;
        counts.push((code.to_string(), count as u64));
    }
    Ok(counts)
}

/// The mean of each name's numbers, given as two parallel lists; sorted by name.
fn mean_by_name(names: Vec<String>, numbers: Vec<f64>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (name, number) in names.into_iter().zip(numbers) {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + number, sum.1 + 1.0);
    }
    sums.into_iter().map(|(name, (sum, n))| (name, sum / n)).collect()
}

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;
