//! How a reply is parsed: `reply` in a draft's table.

use crate::ballot::reader::Ballots;
use crate::expression::Expression;
use crate::reader::Keys;

/// How replies to a prompt are parsed, and which values are used.
pub struct Reading {
    /// The required form of a reply.
    pub form: Reply,
    /// The value of each field, over the parsed reply; by default the key of the same name.
    pub gives: Option<Vec<(&'static str, Expression)>>,
    /// Over the parsed reply: a text rejects the reply with this message, and the model is asked again.
    pub refuses: Vec<Expression>,
}

/// The required form of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The whole text, without fence, quotes, or one of these labels before it: `text`.
    Text(Vec<&'static str>),
    /// The whole reply, unchanged: `text`.
    Whole,
    /// The one JSON object with these keys.
    Json(Vec<(&'static str, ReplyForm)>),
    /// One of these names: `label`.
    Label(Vec<&'static str>),
    /// A whole number in this range: `rating`.
    Rating(i64, i64),
    /// Different numbers, most fitting first: `numbers`.
    Numbers(Numbers),
    /// A named reader of the program, with the place of its name.
    Native(&'static str, String),
}

/// Different numbers by priority.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// How many.
    pub count: usize,
    /// The lowest.
    pub from: u8,
    /// The highest.
    pub to: u8,
    /// An example, as shown in the prompt.
    pub like: &'static str,
}

/// The form of a value in a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyForm {
    /// A text that is not empty.
    Text,
    /// A text, or null if none fits; the key may be missing.
    TextOrNone,
    /// A text, or null if none fits; the key is required.
    TextOrNull,
    /// Yes or no.
    Flag,
    /// A text that is not empty; the key may be left out.
    TextIfGiven,
    /// A whole number.
    Integer,
    /// A whole number between these, bare, in a list of one, or as a text such as `2/4`.
    Scale(u32, u32),
    /// A list of texts, with bounds on their number.
    Texts(usize, usize),
    /// One of these codes, or labels.
    OneOf(Vec<&'static str>),
}

impl Reply {
    /// The names that `gives` may use; those of a native reader are known to the program.
    pub fn names_for_gives(&self) -> Option<Vec<&'static str>> {
        Some(match self {
            Reply::Text(_) | Reply::Whole => vec!["text"],
            Reply::Json(keys) => keys.iter().map(|(key, _)| *key).collect(),
            Reply::Label(_) => vec!["label"],
            Reply::Rating(..) => vec!["rating"],
            Reply::Numbers(_) => vec!["numbers"],
            Reply::Native(..) => return None,
        })
    }
}

impl Reading {
    /// The fields that it fills in; those of a native reader without `gives` are known to the program.
    pub fn filled_fields(&self) -> Option<Vec<&'static str>> {
        match &self.gives {
            Some(gives) => Some(gives.iter().map(|(field, _)| *field).collect()),
            None => self.form.names_for_gives(),
        }
    }

    /// Every expression over the parsed reply.
    pub(crate) fn reply_expressions(&self) -> impl Iterator<Item = &Expression> {
        self.gives.iter().flatten().map(|(_, value)| value).chain(&self.refuses)
    }
}

/// The form of a reply; `None` if there is a problem, which is reported.
pub(crate) fn parse_reply_form(ballots: Option<&Ballots>, keys: &Keys<'_>) -> Option<Reply> {
    const FORMS: [&str; 7] = ["text", "whole", "json", "label", "rating", "numbers", "native"];
    let forms: Vec<&str> = FORMS.into_iter().filter(|form| keys.has_key(form)).collect();
    let [form] = forms[..] else {
        let all = FORMS.map(|form| format!("`{form}`")).join(", ");
        keys.report_problem("reply", format!("a reply is read as one of {all}"));
        return None;
    };
    match form {
        "text" => Some(Reply::Text(keys.read_texts("text")?)),
        "whole" => {
            if keys.read_flag("whole") == Some(false) {
                keys.report_problem("whole", "`whole = true`, or another form");
            }
            Some(Reply::Whole)
        }
        "label" => Some(Reply::Label(parse_codes(ballots, keys, "label")?)),
        "rating" => {
            let ends = keys.read_integers("rating")?;
            let [from, to] = ends[..] else {
                keys.report_problem("rating", "`rating` is the lowest and the highest: [1, 5]");
                return None;
            };
            Some(Reply::Rating(from, to))
        }
        "numbers" => keys.read_table("numbers", parse_numbers).flatten().map(Reply::Numbers),
        "native" => {
            let place = keys.place_of_key("native").unwrap_or_default();
            Some(Reply::Native(keys.read_text("native")?, place))
        }
        _ => {
            let each = |keys: &Keys<'_>| -> Vec<_> {
                let read = |key: &'static str| Some((key, form_of(ballots, keys, key)?));
                keys.key_names().into_iter().filter_map(read).collect()
            };
            Some(Reply::Json(keys.read_table("json", each)?))
        }
    }
}

fn parse_numbers(keys: &Keys<'_>) -> Option<Numbers> {
    for key in ["count", "from", "to"].into_iter().filter(|key| !keys.has_key(key)) {
        keys.report_problem(key, format!("`{key}` is missing"));
    }
    let small = |key: &str| keys.read_count(key).map(|number| u8::try_from(number).unwrap_or(u8::MAX));
    let (count, from, to) = (keys.read_count("count"), small("from"), small("to"));
    let like = keys.require_text("like");
    let numbers = Numbers { count: count?, from: from?, to: to?, like };
    let there = usize::from(numbers.to).saturating_sub(usize::from(numbers.from)) + 1;
    if !(1..=10).contains(&numbers.count) || numbers.count > there {
        keys.report_problem("count", "between 1 and 10 different numbers, and no more than there are");
    }
    Some(numbers)
}

/// Codes given directly, or those of a list of ballots.toml.
fn parse_codes(ballots: Option<&Ballots>, keys: &Keys<'_>, key: &str) -> Option<Vec<&'static str>> {
    if !keys.is_text(key) {
        return keys.read_texts(key);
    }
    Some(find_list(ballots, keys, key)?.iter().map(|option| option.code).collect())
}

/// A list of ballots.toml.
fn find_list<'b>(
    ballots: Option<&'b Ballots>,
    keys: &Keys<'_>,
    key: &str,
) -> Option<&'b [crate::choice::Choice]> {
    let name = keys.read_text(key)?;
    let lists = &ballots?.lists;
    if !lists.contains_key(name) {
        keys.report_problem(key, riddlemill_text::hint::unknown("list", name, lists.keys().copied()));
    }
    lists.get(name).map(Vec::as_slice)
}

fn form_of(ballots: Option<&Ballots>, keys: &Keys<'_>, key: &'static str) -> Option<ReplyForm> {
    if keys.is_text(key) {
        let forms = [
            ("text", ReplyForm::Text),
            ("text or none", ReplyForm::TextOrNone),
            ("text or null", ReplyForm::TextOrNull),
            ("text if given", ReplyForm::TextIfGiven),
            ("flag", ReplyForm::Flag),
            ("integer", ReplyForm::Integer),
        ];
        let name = keys.read_text(key)?;
        let found = forms.iter().find(|(known, _)| *known == name).map(|(_, form)| form.clone());
        if found.is_none() {
            keys.report_problem(
                key,
                riddlemill_text::hint::unknown("type", name, forms.iter().map(|(name, _)| *name)),
            );
        }
        return found;
    }
    let read = |keys: &Keys<'_>| match ["texts", "one_of", "label_of", "scale"].map(|form| keys.has_key(form))
    {
        [true, false, false, false] => match keys.is_list("texts") {
            true => {
                let ends = keys.read_integers("texts")?;
                let [from, to] = ends[..] else {
                    keys.report_problem("texts", "a number of texts, or the fewest and the most: [3, 8]");
                    return None;
                };
                Some(ReplyForm::Texts(usize::try_from(from).ok()?, usize::try_from(to).ok()?))
            }
            false => keys.read_count("texts").map(|count| ReplyForm::Texts(count, count)),
        },
        [false, true, false, false] => Some(ReplyForm::OneOf(parse_codes(ballots, keys, "one_of")?)),
        [false, false, true, false] => {
            let options = find_list(ballots, keys, "label_of")?;
            Some(ReplyForm::OneOf(options.iter().flat_map(|kind| [kind.label.zh, kind.label.en]).collect()))
        }
        [false, false, false, true] => {
            let ends = keys.read_integers("scale")?;
            let ends: Vec<u32> = ends.into_iter().filter_map(|end| u32::try_from(end).ok()).collect();
            let [from, to] = ends[..] else {
                keys.report_problem("scale", "`scale` is the lowest and the highest: [0, 4]");
                return None;
            };
            Some(ReplyForm::Scale(from, to))
        }
        _ => {
            keys.report_problem(
                key,
                "`{ texts = 3 }`, `{ texts = [3, 8] }`, `{ one_of = [codes] }`, `{ label_of = \"LIST\" }` or `{ scale = [0, 4] }`",
            );
            None
        }
    };
    keys.read_table(key, read).flatten()
}
