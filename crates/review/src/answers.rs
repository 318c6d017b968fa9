//! Parses what an annotator typed, clicked or saved into checked answers, and back.
//!
//! Every form of input (tables, JSON lines, Label Studio, the page) is read by [`read_answers`], so that a code, a
//! label in either language, a full-width digit and `1 and 2` of a preference mean the same everywhere.

mod fault;

use unicode_normalization::UnicodeNormalization;

use super::ballot::{AnswerKind, Choice, Field, KEEP};
use super::item::Item;
use super::value::{Value, Values};
use riddlemill_benchmarks::requirement::Unmet;
use riddlemill_text::shortcuts::{Cue, find_cues};
use riddlemill_text::text::normalise::{Fold, fold};

pub use fault::Fault;

/// The parsed answers of a ballot.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// Nothing is filled in: not voted yet.
    Blank,
    /// Complete and within the ballot's choices.
    Given(Values),
    /// Invalid; each fault with its field.
    Faulty(Vec<(&'static str, Fault)>),
}

/// Reads the answers to the fields of `form`. `given` returns the value of a field, as text, list or number;
/// the caller trims spaces around typed texts, because they are slips.
pub fn read_answers(form: &[Field], item: &Item, value_of: impl Fn(&str) -> Option<Value>) -> Answers {
    let given: Vec<Option<Value>> =
        form.iter().map(|field| value_of(field.name).filter(|value| !value.is_blank())).collect();
    if given.iter().all(Option::is_none) {
        return Answers::Blank;
    }
    let mut values = Values::new();
    let mut faults = Vec::new();
    for (field, raw) in form.iter().zip(&given) {
        match read_one(form, &given, field, raw.as_ref(), item, &values) {
            Ok(Some(value)) => values.set(field.name, value),
            Ok(None) => {}
            Err(fault) => faults.push((field.name, fault)),
        }
    }
    faults.extend(repeated_texts(form, item, &values));
    if !faults.is_empty() {
        return Answers::Faulty(faults);
    }
    accept_unchanged(form, item, &mut values);
    if let Some(Unmet { field, says }) = item.unmet_requirement(form, &values) {
        let last = form.iter().rev().find(|field| values.get(field.name).is_some());
        let field = field.or(last.map(|field| field.name)).unwrap_or_default();
        return Answers::Faulty(vec![(field, Fault::Unmet { says })]);
    }
    Answers::Given(values)
}

/// Texts that should differ but are equal apart from width, case, script of signs and spaces.
fn repeated_texts(form: &[Field], item: &Item, values: &Values) -> Vec<(&'static str, Fault)> {
    let key = |text: &str| match fold(text, Fold::KEY) {
        folded if folded.is_empty() => text.trim().to_owned(),
        folded => folded,
    };
    let apart: Vec<String> = item.apart.iter().map(|text| key(text)).collect();
    let mut seen: Vec<(&'static str, String)> = Vec::new();
    let mut faults = Vec::new();
    for field in form.iter().filter(|field| field.distinct) {
        let Some(text) = values.text_of(field.name).map(key) else { continue };
        if apart.contains(&text) {
            faults.push((field.name, Fault::Right));
        } else if let Some((other, _)) = seen.iter().find(|(_, other)| *other == text) {
            faults.push((field.name, Fault::Repeats { other }));
        }
        seen.push((field.name, text));
    }
    faults
}

/// Turns a rewrite that repeats the draft into its acceptance.
fn accept_unchanged(form: &[Field], item: &Item, values: &mut Values) {
    let verdicts: Vec<&'static str> = form.iter().filter_map(|field| Some(field.when?.field)).collect();
    for verdict in verdicts {
        let Some(given) = values.text_of(verdict) else { continue };
        // Other questions about the draft do not show whether it was changed.
        let asked = |field: &&Field| {
            let of = |when: crate::ballot::FillCondition| {
                when.field == verdict && when.write.contains(&given) && !when.draft.is_empty()
            };
            field.when.is_some_and(of)
        };
        let written: Vec<&Field> = form.iter().filter(asked).collect();
        let takes = written.iter().find_map(|field| field.when?.draft.first().copied());
        let same = |field: &&Field| {
            let drafted = item.draft.get(field.name).map(|draft| draft.to_string().trim().to_owned());
            drafted == values.get(field.name).map(|value| value.to_string().trim().to_owned())
        };
        let Some(takes) = takes.filter(|_| written.iter().all(same)) else { continue };
        let drafts: Vec<(&'static str, Value)> = written
            .iter()
            .filter_map(|field| Some((field.name, item.draft.get(field.name)?.clone())))
            .collect();
        values.set(verdict, takes);
        drafts.into_iter().for_each(|(field, draft)| values.set(field, draft));
    }
}

fn read_one(
    form: &[Field],
    values: &[Option<Value>],
    field: &Field,
    raw: Option<&Value>,
    item: &Item,
    earlier: &Values,
) -> Result<Option<Value>, Fault> {
    let missing = || if field.required { Err(Fault::Missing) } else { Ok(None) };
    if let Some(when) = field.when {
        let not_asked = |verdict: String| {
            let allowed = when.write.to_vec();
            Fault::NotAsked { asked: when.field, allowed, verdict }
        };
        let written = raw.filter(|raw| !is_as_shown(field, raw, item));
        let Some(verdict) = earlier.text_of(when.field) else {
            let at = form.iter().position(|other| other.name == when.field);
            let other = at.map(|at| (form[at].required, values[at].is_some()));
            return match (written, earlier.get(when.field), other) {
                (Some(_), Some(verdict), _) => Err(not_asked(verdict.to_string())),
                (Some(_), None, Some((false, false))) => Err(not_asked(String::new())),
                // An earlier field that is faulty or missing has its own fault; no second one is reported.
                _ => Ok(None),
            };
        };
        if when.draft.contains(&verdict) {
            let verdict = verdict.to_owned();
            return match (item.draft.get(field.name), raw) {
                (None, _) if !field.required && written.is_some() => Err(Fault::Contradiction { verdict }),
                (None, _) if !field.required => Ok(None),
                (None, _) => Err(Fault::NoDraft { verdict }),
                (Some(draft), Some(raw)) if raw.to_string().trim() != draft.to_string().trim() => {
                    Err(Fault::Contradiction { verdict })
                }
                (Some(draft), _) => Ok(Some(draft.clone())),
            };
        }
        if !when.write.contains(&verdict) {
            return written.map_or(Ok(None), |_| Err(not_asked(verdict.to_owned())));
        }
        // Of several texts to rewrite, those left empty stay as drafted, as long as one is written.
        if raw.is_none() && matches!(field.kind, AnswerKind::Text) {
            let mut siblings = form.iter().zip(values).filter(|(other, _)| other.when == field.when);
            return match item.draft.get(field.name) {
                Some(draft) if siblings.any(|(_, raw)| raw.is_some()) => Ok(Some(draft.clone())),
                _ => missing(),
            };
        }
    }
    if let AnswerKind::Edited { pick } = field.kind
        && raw.is_none()
    {
        return match picked_text(form, pick, item, earlier) {
            Some(text) => Ok(Some(Value::Text(text))),
            None => Ok(None),
        };
    }
    // A text that was offered for editing and is unchanged is not an edit.
    let unchanged = |raw: &&Value| {
        let shown = field.edits.and_then(|key| item.content.get(key));
        shown.is_some_and(|shown| shown.to_string().trim() == raw.to_string().replace("\r\n", "\n").trim())
    };
    match raw.filter(|raw| !unchanged(raw)) {
        Some(raw) => parse_answer(field, raw, item).map(Some),
        None => missing(),
    }
}

/// Whether a text is still the draft or the text that it was offered to be written over, as a form sends it back.
fn is_as_shown(field: &Field, raw: &Value, item: &Item) -> bool {
    let edited = field.edits.and_then(|key| item.content.get(key));
    let raw = raw.to_string().replace("\r\n", "\n");
    [item.draft.get(field.name), edited]
        .into_iter()
        .flatten()
        .any(|shown| shown.to_string().trim() == raw.trim())
}

/// The candidate chosen in the field `pick`.
fn picked_text(form: &[Field], pick: &str, item: &Item, earlier: &Values) -> Option<String> {
    let from = form.iter().find(|field| field.name == pick).and_then(|field| match field.kind {
        AnswerKind::Pick { from, .. } => Some(from),
        _ => None,
    })?;
    let number: usize = earlier.get(pick)?.as_list()?.first()?.parse().ok()?;
    item.candidates_in(from).get(item.shown_number(from, number).checked_sub(1)?).cloned()
}

fn parse_answer(field: &Field, raw: &Value, item: &Item) -> Result<Value, Fault> {
    match &field.kind {
        AnswerKind::Choice(options) => {
            one_of(options, &raw.to_string()).map(|code| Value::Text(code.to_owned()))
        }
        AnswerKind::Choices { options, min, max } => {
            let codes = several_of(options, raw)?;
            if (*min..=*max).contains(&codes.len()) {
                Ok(Value::List(codes))
            } else {
                Err(Fault::Count { given: codes.len(), min: *min, max: *max })
            }
        }
        // Browsers send the line breaks of a form as two characters.
        AnswerKind::Text | AnswerKind::Edited { .. } => {
            Ok(Value::Text(raw.to_string().replace("\r\n", "\n")))
        }
        AnswerKind::Pick { k, any, from, .. } => {
            let count = item.candidates_in(from).len();
            let options: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
            let mut picks = Vec::new();
            for token in split_tokens(raw, |token| options.contains(&normal_form(token))) {
                let number = normal_form(&token);
                if !options.contains(&number) {
                    return Err(Fault::UnknownChoice {
                        given: token,
                        allowed: format!("1 to {count}"),
                        near_to: None,
                    });
                }
                if !picks.contains(&number) {
                    picks.push(number);
                }
            }
            let (min, max) = if *any { (1, count) } else { (*k, *k) };
            if !(min..=max).contains(&picks.len()) {
                return Err(Fault::Count { given: picks.len(), min, max });
            }
            let stored = |number: &String| item.stored_number(from, number.parse().unwrap_or_default());
            let mut picks: Vec<usize> = picks.iter().map(stored).collect();
            picks.sort_unstable();
            Ok(Value::List(picks.iter().map(ToString::to_string).collect()))
        }
        AnswerKind::Score { min, max } => {
            let given = raw.to_string();
            let number = normal_form(&given).parse::<f64>().ok().filter(|number| {
                number.fract() == 0.0 && (f64::from(*min)..=f64::from(*max)).contains(number)
            });
            number.map(Value::Number).ok_or(Fault::OffScale { given, min: *min, max: *max })
        }
        AnswerKind::Preference { sides, tie } => {
            let given = raw.to_string();
            let token = code_of_entry(&normal_form(&given)).to_owned();
            let shown = match token.as_str() {
                "1" => item.order.first().map(String::as_str),
                "2" => item.order.get(1).map(String::as_str),
                "3" => Some(tie.code),
                _ => sides.iter().copied().find(|side| *side == token),
            };
            match shown {
                Some(code) => Ok(Value::Text(code.to_owned())),
                None => one_of(std::slice::from_ref(tie), &given)
                    .map(|code| Value::Text(code.to_owned()))
                    .map_err(|_| Fault::UnknownChoice {
                        given,
                        allowed: format!("1, 2, {}", tie.code),
                        near_to: None,
                    }),
            }
        }
        AnswerKind::Keep { reasons } => {
            let keeps =
                |token: &str| matches!(code_of_entry(without_number(&normal_form(token))), KEEP | "保留");
            let mut against =
                split_tokens(raw, |token| keeps(token) || find_option(reasons, token).is_some());
            let marked = against.len();
            against.retain(|token| !keeps(token));
            if against.is_empty() && marked > 0 {
                return Ok(Value::Text(KEEP.to_owned()));
            }
            // A reason against is more specific: given together with `keep`, it wins.
            several_of(reasons, &Value::List(against)).map(Value::List).map_err(|fault| match fault {
                Fault::UnknownChoice { given, allowed, near_to } => {
                    Fault::UnknownChoice { given, allowed: format!("{KEEP}, {allowed}"), near_to }
                }
                other => other,
            })
        }
    }
}

/// Folds compatibility forms and case, trims the ends: `２` becomes `2`, `Keep ` becomes `keep`.
fn normal_form(text: &str) -> String {
    text.nfkc().collect::<String>().trim().to_lowercase()
}

/// The code of a dropdown's entry: the part before ` · `.
fn code_of_entry(token: &str) -> &str {
    token.split(SEPARATOR).next().unwrap_or(token).trim()
}

/// An entry of a list without its number: `1. culture_bound` becomes `culture_bound`, and `2` stays.
fn without_number(token: &str) -> &str {
    let rest = token.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']).map(str::trim) {
        Some(entry) if rest.len() < token.len() && !entry.is_empty() => entry,
        _ => token,
    }
}

/// Separates the code and the label of a dropdown's entry.
pub const SEPARATOR: &str = " · ";

fn find_option<'o>(options: &'o [Choice], token: &str) -> Option<&'o Choice> {
    let token = normal_form(token);
    let token = without_number(&token).to_owned();
    let code = code_of_entry(&token);
    options.iter().find(|option| option.code == code).or_else(|| {
        options
            .iter()
            .find(|option| normal_form(option.label.en) == token || normal_form(option.label.zh) == token)
    })
}

fn one_of<'o>(options: &'o [Choice], token: &str) -> Result<&'o str, Fault> {
    find_option(options, token).map(|option| option.code).ok_or_else(|| {
        let similarity = |option: &&Choice| strsim::jaro_winkler(&normal_form(token), option.code);
        let nearest = options.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        Fault::UnknownChoice {
            given: shorten_cell(token),
            allowed: options.iter().map(|option| option.code).collect::<Vec<_>>().join(", "),
            near_to: nearest.filter(|option| similarity(option) > 0.85).map(|option| option.code.to_owned()),
        }
    })
}

/// The marked options in ballot order, without repetitions.
fn several_of(options: &[Choice], raw: &Value) -> Result<Vec<String>, Fault> {
    let tokens = split_tokens(raw, |token| find_option(options, token).is_some());
    let marked = tokens.iter().map(|token| one_of(options, token)).collect::<Result<Vec<_>, _>>()?;
    Ok(options
        .iter()
        .filter(|option| marked.contains(&option.code))
        .map(|option| option.code.to_owned())
        .collect())
}

/// A list's elements, or a cell's text split at the usual separators. A space inside a label is not a
/// separator, one between codes is (`2 6 3`).
fn split_tokens(raw: &Value, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let pieces: Vec<String> = match raw {
        // A cell that was copied as shown has one entry per line, with separators possible in names and
        // meanings.
        Value::Text(text)
            if text.contains(SEPARATOR)
                && text.lines().all(|line| line.trim().is_empty() || is_known(line)) =>
        {
            text.lines().map(str::to_owned).collect()
        }
        Value::List(list) => list.clone(),
        Value::Number(number) => vec![number.to_string()],
        Value::Text(text) => text.split([';', '；', ',', '，', '、', '|', '\n']).map(str::to_owned).collect(),
    };
    let mut tokens = Vec::new();
    for piece in pieces.iter().map(|piece| piece.trim()).filter(|piece| !piece.is_empty()) {
        if is_known(piece) {
            tokens.push(piece.to_owned());
        } else {
            let pieces: Vec<&str> = piece.split_whitespace().collect();
            if pieces.iter().all(|word| is_known(word)) {
                tokens.extend(pieces.into_iter().map(str::to_owned));
            } else {
                tokens.push(piece.to_owned());
            }
        }
    }
    tokens
}

/// At most 60 characters of a cell, for a message.
pub(crate) fn shorten_cell(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// An answer as a table's cell; [`read_answers`] reads it back to the same value.
pub fn write_answer(field: &Field, item: &Item, value: &Value) -> String {
    match (&field.kind, value) {
        (AnswerKind::Preference { .. }, Value::Text(code)) => {
            match item.order.iter().position(|side| side == code) {
                Some(at) => (at + 1).to_string(),
                None => code.clone(),
            }
        }
        (AnswerKind::Pick { from, .. }, Value::List(numbers)) => {
            shown_numbers(item, from, numbers).join("; ")
        }
        (_, Value::List(codes)) => codes.join("; "),
        _ => value.to_string(),
    }
}

/// Features of the picked texts that give away the one they will be shown with, by field. They do not
/// invalidate a vote.
pub fn find_cautions(form: &[Field], item: &Item, values: &Values) -> Vec<(&'static str, Cue)> {
    let of = |field: &Field| {
        let AnswerKind::Pick { from, right_answer: Some(right_answer), .. } = field.kind else {
            return Vec::new();
        };
        let right = item.content.get(right_answer).map(Value::to_string);
        let numbers = values.get(field.name).and_then(Value::as_list).unwrap_or_default();
        let shown = shown_numbers(item, from, numbers);
        let picked: Vec<&str> = shown
            .iter()
            .filter_map(|number| item.candidates_in(from).get(number.parse::<usize>().ok()?.checked_sub(1)?))
            .map(String::as_str)
            .collect();
        let cautions_found = right.map(|right| find_cues(&right, &picked)).unwrap_or_default();
        cautions_found.into_iter().map(|tell| (field.name, tell)).collect()
    };
    form.iter().flat_map(of).collect()
}

/// Stored numbers of picked texts as shown, ascending.
pub fn shown_numbers(item: &Item, from: &str, numbers: &[String]) -> Vec<String> {
    let shown = |number: &String| number.parse().map_or(0, |number| item.shown_number(from, number));
    let mut shown: Vec<usize> = numbers.iter().map(shown).collect();
    shown.sort_unstable();
    shown.iter().map(ToString::to_string).collect()
}

/// An option with its names and meaning, as a draft is shown; [`read_answers`] reads it back to its code.
pub fn explain_option(option: &Choice) -> String {
    let Choice { code, label, definition, .. } = option;
    let means = format!("{} {}", definition.zh, definition.en);
    format!("{code}{SEPARATOR}{}{SEPARATOR}{}{SEPARATOR}{}", label.zh, label.en, means.trim())
}

#[cfg(test)]
mod tests;
