//! A ballot on a page: the content of an item, and its questions.

use serde::Serialize;
use serde_json::{Value as Whatever, json};

use super::faults;
pub(super) use super::faults::label_in;
use crate::audit::{PieceSide, diff_texts};
use crate::i18n::{Language, text_of_key};
use crate::review::answers;
use crate::review::ballot::{AnswerKind, Choice, Field, KEEP, Round};
use crate::review::{Annotator, Item, Value, Vote};
use crate::voting::{BallotRound, Note, ShownItem, VoteIndex, latest_notes, own_vote, visible_votes};

/// An item with its questions.
#[derive(Serialize)]
pub(super) struct ItemQuestions {
    id: String,
    hash: String,
    base: String,
    content: Vec<(String, Vec<String>)>,
    fields: Vec<Asks>,
    /// Every key of an answer, once.
    keys: Vec<String>,
    why: Vec<String>,
    /// The votes under review, separately.
    votes: Vec<BallotVote>,
    voted: bool,
    /// Their remark on their vote.
    remark: String,
    flag: bool,
}

impl ItemQuestions {
    /// The item's id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

/// A vote under review, without its voter.
#[derive(Serialize)]
struct BallotVote {
    /// Its round, if not the first.
    round: Option<&'static str>,
    /// Each question with the answer, in the page's language.
    answers: Vec<(&'static str, String)>,
    /// The remark on it, for adjudicators.
    remark: String,
    flag: bool,
}

/// A field as a question on the page.
#[derive(Serialize)]
struct Asks {
    name: &'static str,
    label: &'static str,
    /// `one`, `several`, `text`.
    kind: &'static str,
    required: bool,
    min: usize,
    max: usize,
    options: Vec<Whatever>,
    /// The index of the group of answers shown together by key: fields of a group have no key twice.
    group: Option<usize>,
    /// Whether it is a rating, whose keys are its numbers.
    rating: bool,
    /// The style of the answers: `thumb` for few, `short` for those explained before.
    look: &'static str,
    /// The value of a text.
    text: String,
    /// The drafted text with which an edit is compared.
    draft: Option<String>,
    /// Whether the draft is shown above the questions, unless that would repeat something.
    draft_shown: bool,
    /// The text above that the draft edits; the two are shown as one, with differences.
    draft_of: Option<String>,
    /// Drafted answers in drafted order; their meanings are shown below.
    ranked: Vec<&'static str>,
    /// Whether a choice may give the right option away, of which the page warns before saving.
    anyway: bool,
    /// The field and answers that require this one.
    when: Option<(&'static str, Vec<&'static str>)>,
}

/// What somebody sees of an item in a round.
pub(super) fn on_screen(
    vote_index: &VoteIndex,
    place: BallotRound<'_>,
    person: &Annotator,
    seen: ShownItem,
    notes: &[Note],
    language: Language,
) -> ItemQuestions {
    let ShownItem { mut item, why } = seen;
    let step = &place.ballot.step;
    let own = own_vote(vote_index, place, &item.id, &person.name);
    let drafts = step.shows_drafts(place.round);
    let form = step.questions_of_round(place.round);
    let shown = |(key, value): (&String, &Value)| {
        let label =
            step.shows.iter().find(|(known, _)| known == key).map(|(_, label)| label_in(language, *label));
        // Findings of a draft's self-checks are part of the draft.
        let of_draft = matches!(key.as_str(), "flags" | "draft_reasons");
        if of_draft && !drafts {
            return None;
        }
        let name = label.map(str::to_string).unwrap_or_else(|| content_name(language, key));
        // A text that is the code of an answer is shown with the answer's name.
        let field = form.iter().find(|field| field.name == key && !field.options().is_empty());
        let texts = match value {
            Value::List(several) => several.clone(),
            one => vec![one.to_string()],
        };
        let field_name = |text: String| match field {
            Some(field) => faults::answer_label(language, field, &text),
            None if key == "draft_reasons" => reason_of_draft(language, &form, &text),
            None => text,
        };
        Some((name, texts.into_iter().map(field_name).collect()))
    };
    let mut fields: Vec<Asks> =
        form.iter().map(|field| field_question(field, &form, &item, own, drafts, language)).collect();
    let keys = lay_out(&mut fields);
    // Texts shown with an answer are not repeated above.
    let in_fields: Vec<String> = form.iter().flat_map(|field| shown_in_field(field, &item)).collect();
    let hash = item.sheet_hash();
    let base = own.map(|vote| item.sheet_vote(vote.id)).unwrap_or_default();
    let notes: Vec<&Note> = latest_notes(notes).into_iter().filter(|note| note.item == item.id).collect();
    let mine = |note: &&&Note| note.annotator == person.name && note.round == place.round;
    let own_note = notes.iter().find(mine);
    let settles = place.round == Round::Adjudication;
    let cast = |vote: &&Vote| {
        let of = |note: &&&Note| settles && note.annotator == vote.annotator && note.round == vote.round;
        let note = notes.iter().find(of);
        BallotVote {
            round: (vote.round != Round::Vote).then(|| vote.round.name()),
            answers: faults::list_answers(language, &step.questions_of_round(vote.round), &item, vote),
            remark: note.map(|note| note.text.clone()).unwrap_or_default(),
            flag: note.is_some_and(|note| note.flag),
        }
    };
    let original = place.ballot.find_item(&item.id);
    let votes = original.map(|item| visible_votes(vote_index, place, item)).unwrap_or_default();
    let votes = votes.iter().map(cast).collect();
    // Fields of the voters, and of the reviewers, by which a dispute is described.
    let asked: Vec<Field> = Round::ALL.into_iter().flat_map(|round| step.questions_of_round(round)).collect();
    let why = why.iter().map(|why| faults::explain_undecided(language, &asked, why)).collect();
    // Votes are shown one by one.
    let of_votes = |key: &str| key.starts_with("votes.") || key.starts_with("review.");
    item.content.retain(|key, _| !in_fields.contains(key) && !of_votes(key));
    ItemQuestions {
        hash,
        base,
        content: item.content.iter().filter_map(shown).collect(),
        fields,
        keys,
        voted: own.is_some(),
        remark: own_note.map(|note| note.text.clone()).unwrap_or_default(),
        flag: own_note.is_some_and(|note| note.flag),
        votes,
        why,
        id: item.id,
    }
}

/// Whether a text is an edit of another: at least half of both is the same. For other texts, marked
/// differences would be unreadable.
fn is_edit(before: &str, after: &str) -> bool {
    let pieces = diff_texts(before, after);
    let same =
        pieces.iter().filter(|piece| piece.side == PieceSide::Both).map(|piece| piece.text.chars().count());
    same.sum::<usize>() * 2 > before.chars().count().max(after.chars().count())
}

fn content_name(language: Language, key: &str) -> String {
    text_of_key(language, key).map_or_else(|| key.replace('_', " "), str::to_string)
}

/// A draft's reason with the name of its answer: `harmful: It demeans nobody.`
fn reason_of_draft(language: Language, form: &[Field], text: &str) -> String {
    let Some((code, why)) = text.split_once(": ") else { return text.to_string() };
    let option = form.iter().flat_map(|field| field.options()).find(|option| option.code == code);
    let name =
        option.map_or_else(|| code.replace('_', " "), |option| label_in(language, option.label).to_string());
    format!("{name}{}{why}", text_of_key(language, "colon").unwrap_or(": "))
}

/// The shown texts that are answers of a field themselves.
fn shown_in_field(field: &Field, item: &Item) -> Vec<String> {
    match &field.kind {
        AnswerKind::Pick { from, .. } => vec![(*from).to_string()],
        // The two sides are shown as `<what>_1` and `<what>_2`.
        AnswerKind::Preference { .. } => {
            let first = item.content.keys().find_map(|key| {
                let what = key.strip_suffix("_1")?;
                item.content.contains_key(&format!("{what}_2")).then_some(what)
            });
            first.map_or_else(Vec::new, |what| vec![format!("{what}_1"), format!("{what}_2")])
        }
        _ => Vec::new(),
    }
}

/// Keys of answers, in order; letters that the page uses are left out.
const KEYS: &str = "1234567890qwertyiopadhjklzxvbnm";
/// Those that are not numbers.
const LETTERS: &str = "qwertyiopadhjklzxvbnm";

/// Assigns keys to the answers and styles to the fields, and returns the keys in use. A question with one
/// answer ends a group, after which the keys start again; after a question with several answers they
/// continue, so that no key is needed to end it. The keys of a rating are its numbers: whoever presses 3 means
/// a 3, so other questions of its group have letters.
fn lay_out(fields: &mut [Asks]) -> Vec<String> {
    group_by_keys(fields);
    let mut defined: Vec<(String, String)> = Vec::new();
    let mut choices = 0;
    let with_rating: Vec<usize> =
        fields.iter().filter(|field| field.rating).filter_map(|field| field.group).collect();
    let (mut group, mut used) = (None, 0);
    let mut keys: Vec<char> = Vec::new();
    for field in fields.iter_mut().filter(|field| !field.options.is_empty()) {
        if group != field.group {
            (group, used) = (field.group, 0);
        }
        let text = |option: &Whatever, key: &str| option[key].as_str().unwrap_or_default().to_string();
        let meanings: Vec<(String, String)> =
            field.options.iter().map(|option| (text(option, "code"), text(option, "definition"))).collect();
        let again = meanings.iter().all(|meaning| defined.contains(meaning));
        let letters = group.is_some_and(|group| with_rating.contains(&group));
        let free = if letters { LETTERS } else { KEYS };
        for (at, option) in field.options.iter_mut().enumerate() {
            // A field with more answers than there are keys leaves the last ones without.
            let key = match field.rating {
                true => text(option, "code"),
                false => free.get(used + at..=used + at).unwrap_or_default().to_string(),
            };
            keys.extend(key.chars());
            option["key"] = json!(key);
            if again {
                option["definition"] = json!("");
            }
        }
        defined.extend(meanings.into_iter().filter(|(_, definition)| !definition.is_empty()));
        let long = field.options.iter().any(|option| option.get("text").is_some());
        choices += 1;
        field.look = match field.options.len() {
            _ if again => "short",
            ..=3 if choices == 1 && field.kind == "one" && !long => "thumb",
            _ => "",
        };
        if !field.rating {
            used += field.options.len();
        }
    }
    KEYS.chars().filter(|key| keys.contains(key)).map(|key| key.to_uppercase().to_string()).collect()
}

/// Divides the fields into groups within which every answer has a key of its own.
fn group_by_keys(fields: &mut [Asks]) {
    let (mut group, mut used) = (0, 0);
    for field in fields.iter_mut().filter(|field| !field.options.is_empty()) {
        // Beside a rating there are the letters alone.
        let too_many = match field.rating {
            true => used > LETTERS.len(),
            false => used + field.options.len() > KEYS.len(),
        };
        if too_many {
            (group, used) = (group + 1, 0);
        }
        field.group = Some(group);
        used += field.options.len();
        if field.kind == "one" {
            (group, used) = (group + 1, 0);
        }
    }
}

/// Whether an answer accepts a draft that is not shown.
fn takes_nothing(code: &str, field: &Field, form: &[Field], item: &Item, drafts: bool) -> bool {
    form.iter().filter(|other| other.required).any(|other| {
        let takes = other.when.is_some_and(|when| when.field == field.name && when.draft.contains(&code));
        takes && !(drafts && item.draft.get(other.name).is_some())
    })
}

/// The names of drafted codes, if their order matters.
fn ranked_drafts(field: &Field, item: &Item, drafts: bool, language: Language) -> Vec<&'static str> {
    let codes = item.ranked.get(field.name).filter(|_| drafts).map(Vec::as_slice).unwrap_or_default();
    let named = |code: &String| {
        let option = field.options().iter().find(|option| option.code == code)?;
        Some(label_in(language, option.label))
    };
    codes.iter().filter_map(named).collect()
}

fn field_question(
    field: &Field,
    form: &[Field],
    item: &Item,
    own: Option<&Vote>,
    drafts: bool,
    language: Language,
) -> Asks {
    let drafted = item.drafted_answer(field.name).filter(|_| drafts);
    let draft = drafted.as_ref();
    // A drafted text is offered for editing. A drafted choice is only marked as such, so that somebody has to
    // look before pressing a key.
    let text = matches!(field.kind, AnswerKind::Text | AnswerKind::Edited { .. });
    let standing = own.map_or(draft.filter(|_| text), |vote| vote.values.get(field.name));
    // A text to edit is in its field until somebody has written another.
    let edited = field.edits.and_then(|key| item.content.get(key)).filter(|_| text);
    let standing = standing.or(edited);
    let marked: Vec<String> = match (standing, &field.kind) {
        (Some(Value::List(numbers)), AnswerKind::Pick { from, .. }) => {
            answers::shown_numbers(item, from, numbers)
        }
        (Some(Value::List(codes)), _) => codes.clone(),
        (Some(value), _) => vec![answers::write_answer(field, item, value)],
        (None, _) => Vec::new(),
    };
    let option = |code: &str, label: &str, definition: &str| {
        let on = marked.iter().any(|marked| marked == code);
        let drafted = draft.is_some_and(|draft| match draft {
            Value::List(codes) => codes.iter().any(|drafted| drafted == code),
            value => answers::write_answer(field, item, value) == code,
        });
        json!({ "code": code, "label": label, "definition": definition, "on": on, "drafted": drafted })
    };
    let choice = |c: &Choice| option(c.code, label_in(language, c.label), label_in(language, c.definition));
    let plain = |code: String| option(&code, &code, "");
    let label = |key: &str| text_of_key(language, key).unwrap_or_default();
    let (kind, min, max, options) = match &field.kind {
        AnswerKind::Choice(options) => {
            let offered = |option: &&Choice| !takes_nothing(option.code, field, form, item, drafts);
            ("one", 1, 1, options.iter().filter(offered).map(choice).collect())
        }
        AnswerKind::Choices { options, min, max } => {
            ("several", *min, *max, options.iter().map(choice).collect())
        }
        AnswerKind::Keep { reasons } => {
            let mut options = vec![option(KEEP, label("keep_it"), label("keep_about"))];
            options.extend(reasons.iter().map(choice));
            ("several", 1, reasons.len(), options)
        }
        AnswerKind::Pick { k, any, from, .. } => {
            let candidates = item.content.get(*from).and_then(Value::as_list).unwrap_or_default();
            let number = |(at, text): (usize, &String)| option(&(at + 1).to_string(), text, "");
            let (min, max) = if *any { (1, candidates.len()) } else { (*k, *k) };
            (
                if max == 1 { "one" } else { "several" },
                min,
                max,
                candidates.iter().enumerate().map(number).collect(),
            )
        }
        AnswerKind::Score { min, max } => {
            ("one", 1, 1, (*min..=*max).map(|n| plain(n.to_string())).collect())
        }
        AnswerKind::Preference { tie, .. } => {
            let texts = shown_in_field(field, item);
            let side = |n: &str, key: &str| {
                let at = n.parse().map_or(0, |n: usize| n.saturating_sub(1));
                let text = texts.get(at).and_then(|key| item.content.get(key)).map(Value::to_string);
                let mut side = option(n, label(key), "");
                if let Some(text) = text {
                    side["text"] = json!(text);
                }
                side
            };
            ("one", 1, 1, vec![side("1", "side_1"), side("2", "side_2"), choice(tie)])
        }
        AnswerKind::Text | AnswerKind::Edited { .. } => ("text", 0, 0, Vec::new()),
    };
    let draft = draft.map(Value::to_string).filter(|_| kind == "text");
    let stands_above = |draft: &String| item.content.values().any(|shown| shown.to_string() == *draft);
    Asks {
        name: field.name,
        label: label_in(language, field.label),
        kind,
        required: field.required,
        min,
        max,
        options,
        group: None,
        rating: matches!(field.kind, AnswerKind::Score { min, max } if min >= 0 && max <= 9),
        look: "",
        text: standing.map(Value::to_string).filter(|_| kind == "text").unwrap_or_default(),
        draft_shown: draft.as_ref().is_some_and(|draft| !stands_above(draft)),
        draft_of: item
            .content
            .get(field.name)
            .map(Value::to_string)
            .filter(|text| draft.as_deref().is_some_and(|draft| is_edit(text, draft))),
        draft,
        ranked: ranked_drafts(field, item, drafts, language),
        anyway: matches!(field.kind, AnswerKind::Pick { right_answer: Some(_), .. }),
        when: field.when.map(|when| (when.field, when.write.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_is_an_edit_and_another_situation_is_none() {
        assert!(is_edit("It brings the best harvset of all.", "It brings the best harvest of all."));
        let (played, painted) =
            ("The pianist played in a tennis match.", "No brush ever touched this canvas.");
        assert!(!is_edit(played, painted) && !is_edit("", painted));
    }

    /// A question with answers of these codes.
    fn question(name: &'static str, kind: &'static str, codes: &[&str], rating: bool) -> Asks {
        let options = codes.iter().map(|code| json!({ "code": code, "definition": "" })).collect();
        Asks {
            name,
            label: name,
            kind,
            required: true,
            min: 1,
            max: 1,
            options,
            group: None,
            rating,
            look: "",
            text: String::new(),
            draft: None,
            draft_shown: false,
            draft_of: None,
            ranked: Vec::new(),
            anyway: false,
            when: None,
        }
    }

    #[test]
    fn the_keys_of_a_rating_are_its_numbers() {
        let keys = |field: &Asks| -> Vec<String> {
            field.options.iter().map(|option| option["key"].as_str().unwrap().to_string()).collect()
        };
        let mut fields = [
            question("kinds", "several", &["a", "b", "c", "d", "e"], false),
            question("rating", "one", &["1", "2", "3", "4"], true),
            question("sure", "one", &["yes", "no"], false),
            question("scale", "one", &["0", "1", "2"], true),
        ];
        let used = lay_out(&mut fields);
        assert_eq!(keys(&fields[0]), ["q", "w", "e", "r", "t"]);
        assert_eq!(keys(&fields[1]), ["1", "2", "3", "4"]);
        assert_eq!(keys(&fields[2]), ["1", "2"]);
        assert_eq!(keys(&fields[3]), ["0", "1", "2"]);
        assert_eq!(fields.each_ref().map(|field| field.group), [Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!(used, ["1", "2", "3", "4", "0", "Q", "W", "E", "R", "T"]);
        // Without a rating the keys go on after several answers, as ever.
        let mut fields = [
            question("kinds", "several", &["a", "b"], false),
            question("sure", "one", &["yes", "no"], false),
        ];
        lay_out(&mut fields);
        assert_eq!(
            (keys(&fields[0]), keys(&fields[1])),
            (vec!["1".into(), "2".into()], vec!["3".into(), "4".into()])
        );
    }
}
