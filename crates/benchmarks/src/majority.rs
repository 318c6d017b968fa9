//! `majority` of a draft: the field whose most frequent value decides which of several replies is kept.

use crate::reader::Keys;
use crate::reply::{Reading, Reply, ReplyForm};

/// The field that decides; `None` without the key, and if there is a problem, which is reported.
pub(crate) fn parse_majority(keys: &Keys<'_>, readings: &[&Reading]) -> Option<&'static str> {
    let field = keys.read_text("majority")?;
    let mut fields: Vec<&'static str> =
        readings.iter().filter_map(|one| choice_fields(one)).flatten().collect();
    fields.dedup();
    let declared: Vec<&'static str> =
        readings.iter().filter_map(|one| one.filled_fields()).flatten().collect();
    if !declared.contains(&field) {
        keys.report_problem(
            "majority",
            riddlemill_text::hint::unknown("field of the reply", field, declared),
        );
        return None;
    }
    if !fields.contains(&field) {
        let hint = match fields.is_empty() {
            true => "this reply has none".to_owned(),
            false => format!("here these are {}", fields.join(", ")),
        };
        let what = format!(
            "{field:?} is a text, and hardly two replies have the same\n  hint: `majority` is of a label, a code, a rating or \
             a flag; {hint}"
        );
        keys.report_problem("majority", what);
        return None;
    }
    Some(field)
}

/// The fields of a reply that are no free texts; of those that are computed nothing is known. `None` of a reader of the program.
fn choice_fields(reading: &Reading) -> Option<Vec<&'static str>> {
    if let Some(gives) = &reading.gives {
        return Some(gives.iter().map(|(field, _)| *field).collect());
    }
    let is_choice = |form: &ReplyForm| {
        matches!(form, ReplyForm::Flag | ReplyForm::Integer | ReplyForm::Scale(..) | ReplyForm::OneOf(_))
    };
    match &reading.form {
        Reply::Json(keys) => {
            Some(keys.iter().filter(|(_, form)| is_choice(form)).map(|(key, _)| *key).collect())
        }
        Reply::Label(_) | Reply::Rating(..) | Reply::Numbers(_) => reading.filled_fields(),
        Reply::Text(_) | Reply::Whole => Some(Vec::new()),
        Reply::Native(..) => None,
    }
}
