//! Computes an item's result from its votes.

mod pending;

use std::collections::BTreeMap;

use crate::answers::shown_numbers;
use crate::ballot::{AnswerKind, Ballot, Combine, Drafts, Field, REASON, Round};
use crate::item::{Content, Item};
use crate::value::{Value, Values};
use crate::votes::{Vote, current_votes, find_contradictions};
pub use pending::{Pending, UndecidedReason};
use riddlemill_files::digest::Digest;
use riddlemill_record::is_published;

/// The state of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The votes decide this.
    Confirmed {
        /// The answers.
        values: Values,
        /// The voters it is based on, sorted.
        by: Vec<String>,
        /// Whether it needs votes of a sample. A release based on such an item is a draft.
        synthetic: bool,
    },
    /// The draft, for recipes that continue with drafts.
    Provisional {
        /// The drafted answers.
        values: Values,
        /// What is missing.
        pending: Pending,
    },
    /// Held.
    Pending(Pending),
}

/// The state of an item, and of its votes.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The state.
    pub outcome: Outcome,
    /// Ids of latest votes on an older text: shown to people, not counted. Sorted.
    pub stale: Vec<Digest>,
    /// Whether the reviewer changed what the voters had decided; `None` without a review. If all voters
    /// disagree there is nothing to change. Its mean is the share modified of all reviewed items (FLUB,
    /// section 2.2).
    pub modified: Option<bool>,
    /// Whether a confirmed text differs from its draft; `None` if there is no drafted or no confirmed text,
    /// or the ballot is blind to drafts. Its mean is the share rewritten (RuozhiBench, section 2.3).
    pub edited: Option<bool>,
    /// Whether a published set answers it and nobody here has voted: then nobody is asked.
    pub published: bool,
}

impl Resolution {
    /// The confirmed or provisional answers.
    pub fn values(&self) -> Option<&Values> {
        match &self.outcome {
            Outcome::Confirmed { values, .. } | Outcome::Provisional { values, .. } => Some(values),
            Outcome::Pending(_) => None,
        }
    }

    /// What is missing, if anything is.
    pub fn pending(&self) -> Option<&Pending> {
        match &self.outcome {
            _ if self.published => None,
            Outcome::Confirmed { .. } => None,
            Outcome::Provisional { pending, .. } | Outcome::Pending(pending) => Some(pending),
        }
    }
}

/// Resolves `item` from `votes`, in any order, which may include superseded ones and those of other items and
/// steps.
///
/// People's votes count first. Only if they confirm nothing are a sample's votes added, and a result that
/// needs them is marked synthetic.
pub fn resolve_item(ballot: &Ballot, item: &Item, votes: &[&Vote]) -> Resolution {
    let mine: Vec<&Vote> = votes
        .iter()
        .copied()
        .filter(|vote| vote.item == item.id && vote.step == ballot.name && vote.recipe == ballot.recipe)
        .collect();
    let heads = current_votes(&mine);
    let people: Vec<&Vote> = heads.iter().copied().filter(|vote| !vote.synthetic).collect();
    let twice = find_contradictions(&mine);
    let mut verdict = decide_item(ballot, item, &people, &twice);
    let mut synthetic = false;
    if verdict.decided.is_err() && people.len() < heads.len() {
        let all = decide_item(ballot, item, &heads, &twice);
        synthetic = all.decided.is_ok();
        // A dispute among people stays one, whatever a sample decides.
        if synthetic && !matches!(verdict.decided, Err(Pending::Adjudicate { .. })) {
            verdict = all;
        } else {
            synthetic = false;
            verdict.stale = all.stale;
        }
    }
    let edited = match &verdict.decided {
        Ok((values, _)) => is_edited(ballot, item, values),
        Err(_) => None,
    };
    let outcome = match verdict.decided {
        Ok((values, by)) => Outcome::Confirmed { values, by, synthetic },
        Err(pending) if ballot.draft_ahead && !item.draft.is_empty() => {
            Outcome::Provisional { values: item.draft.clone(), pending }
        }
        Err(pending) => Outcome::Pending(pending),
    };
    let published = people.is_empty() && is_published(&item.id);
    Resolution { outcome, stale: verdict.stale, modified: verdict.modified, edited, published }
}

struct ResolvedVotes {
    decided: Result<(Values, Vec<String>), Pending>,
    stale: Vec<Digest>,
    modified: Option<bool>,
}

fn decide_item(
    ballot: &Ballot,
    item: &Item,
    heads: &[&Vote],
    twice: &[(&Vote, Vec<&Vote>)],
) -> ResolvedVotes {
    let in_round = |round: Round| heads.iter().copied().filter(move |vote| vote.round == round);
    let seen = review_item(ballot, item, heads);
    let hash = |round: Round| match round {
        Round::Review => seen.content_hash,
        Round::Vote | Round::Adjudication => item.content_hash,
    };
    let counted = |round: Round| -> Vec<&Vote> {
        in_round(round).filter(|vote| vote.content_hash == hash(round)).collect()
    };
    let stale_in = |round: Round| in_round(round).filter(move |vote| vote.content_hash != hash(round));
    let mut stale: Vec<Digest> = Round::ALL.into_iter().flat_map(stale_in).map(|vote| vote.id).collect();
    stale.sort();

    let voters = counted(Round::Vote);
    let enough = voters.len() >= ballot.votes_needed;
    let first = enough.then(|| combine_all(&ballot.fields, &voters));
    let reviewers = counted(Round::Review);
    let modified = match (&first, &ballot.review, reviewers.first()) {
        // If the voters left nothing to modify, the reviewer decided, and the item was reviewed.
        (Some(Err(_)), Some(_), Some(_)) => Some(false),
        (Some(Ok(first)), Some(review), Some(reviewer)) => {
            let changes = |field: &&Field| {
                is_comparable(ballot, field) && first.get(field.name) != reviewer.values.get(field.name)
            };
            Some(review.fields.iter().find(changes).is_some())
        }
        _ => None,
    };
    let verdict = |decided| ResolvedVotes { decided, stale: stale.clone(), modified };

    let last_words = counted(Round::Adjudication);
    let is_settled = |id: &Digest| last_words.iter().any(|vote| vote.settles.contains(id));
    let against = |vote: &Vote| -> Vec<&Vote> {
        let of = |other: &&&Vote| vote.contradicts.contains(&other.id) && !is_settled(&other.id);
        last_words.iter().filter(of).copied().collect()
    };
    let mut contradicting = last_words.iter().filter(|vote| !is_settled(&vote.id));
    let contradicting =
        contradicting.find_map(|vote| Some((*vote, against(vote))).filter(|(_, a)| !a.is_empty()));
    let own = |round: Round| {
        let counted = counted(round);
        let of = move |(vote, _): &&(&Vote, Vec<&Vote>)| counted.iter().any(|other| other.id == vote.id);
        twice
            .iter()
            .filter(of)
            .map(move |(vote, others)| UndecidedReason::answered_twice(round, vote, others))
    };
    let mut twice: Vec<UndecidedReason> = contradicting
        .iter()
        .map(|(vote, others)| UndecidedReason::answered_twice(Round::Adjudication, vote, others))
        .collect();
    twice.extend(own(Round::Adjudication));
    // An adjudicator's decision is final, whatever votes come in later.
    if let Some(last) = last_words.iter().max_by_key(|vote| (&vote.at, vote.id)) {
        if !twice.is_empty() {
            return verdict(Err(Pending::Adjudicate { by: ballot.adjudication.by, why: twice }));
        }
        // The reason explains the decision and is not a part of the result.
        let values = last.values.iter().filter(|(field, _)| *field != REASON);
        return verdict(Ok((
            values.map(|(field, value)| (field, value.clone())).collect(),
            vec![last.annotator.clone()],
        )));
    }
    let Some(first) = first else {
        let votes = ballot.votes_needed - voters.len();
        return verdict(Err(Pending::Waiting { round: Round::Vote, on: ballot.voters.clone(), votes }));
    };
    let mut by: Vec<String> = voters.iter().map(|vote| vote.annotator.clone()).collect();
    let mut asked = asks_for_adjudicator(ballot, &voters);
    let decided = match &ballot.review {
        None => first,
        Some(review) if reviewers.is_empty() => {
            return verdict(Err(Pending::Waiting { round: Round::Review, on: vec![review.by], votes: 1 }));
        }
        Some(review) => {
            by.extend(reviewers.iter().map(|vote| vote.annotator.clone()));
            asked.extend(self::asks_for_adjudicator(ballot, &reviewers));
            // If several people have reviewed an item, they have to agree, otherwise it is adjudicated.
            let strict: Vec<Field> =
                review.fields.iter().map(|field| field.clone().set_combination(Combine::Unanimity)).collect();
            combine_all(&strict, &reviewers)
        }
    };
    by.sort();
    by.dedup();
    let mut why: Vec<UndecidedReason> = own(Round::Vote).chain(own(Round::Review)).collect();
    why.extend(asked);
    match decided {
        Ok(values) if why.is_empty() => verdict(Ok((values, by))),
        Ok(_) => verdict(Err(Pending::Adjudicate { by: ballot.adjudication.by, why })),
        Err(differ) => {
            why.extend(differ);
            verdict(Err(Pending::Adjudicate { by: ballot.adjudication.by, why }))
        }
    }
}

/// Whether the reviewer's answer to `field` replaces one that the voters decide, so that the two can be
/// compared. Added remarks (unions, collections) are not decisions.
fn is_comparable(ballot: &Ballot, field: &Field) -> bool {
    let decides = |other: &Field| !matches!(other.combine, Combine::Union | Combine::Collect);
    ballot.fields.iter().any(|other| other.name == field.name && decides(other))
}

/// Answers that send an item to the adjudicator.
fn asks_for_adjudicator(ballot: &Ballot, votes: &[&Vote]) -> Vec<UndecidedReason> {
    let given = |(field, answer): &&(&'static str, &'static str)| {
        votes.iter().any(|vote| vote.values.text_of(field) == Some(*answer))
    };
    ballot
        .adjudication
        .asked_by
        .iter()
        .filter(given)
        .map(|&(field, answer)| UndecidedReason::Asked { field, answer })
        .collect()
}

/// Combines the votes field by field. For a field that depends on an earlier one, only the voters who agree
/// with the earlier result count.
fn combine_all(fields: &[Field], votes: &[&Vote]) -> Result<Values, Vec<UndecidedReason>> {
    let mut values = Values::new();
    let mut differ = Vec::new();
    for field in fields {
        let agrees = |vote: &&&Vote| match field.when {
            Some(when) => vote.values.get(when.field) == values.get(when.field),
            None => true,
        };
        let answers: Vec<&Value> =
            votes.iter().filter(agrees).filter_map(|vote| vote.values.get(field.name)).collect();
        match combine_answers(field, &answers) {
            Ok(Some(value)) => values.set(field.name, value),
            Ok(None) => {}
            Err(why) => differ.push(why),
        }
    }
    if differ.is_empty() { Ok(values) } else { Err(differ) }
}

/// Combines one field's answers; `None` if nobody answered. `answers` are in the order of voters.
fn combine_answers(field: &Field, answers: &[&Value]) -> Result<Option<Value>, UndecidedReason> {
    if answers.is_empty() {
        return Ok(None);
    }
    match field.combine {
        Combine::Majority | Combine::MajorityOr(_) | Combine::Unanimity => {
            let tally = tally_answers(field, answers);
            let winner = match field.combine {
                Combine::Unanimity => tally.values().find(|voices| voices.len() == answers.len()),
                _ => majority_answer(tally.values().map(|voices| (voices, voices.len()))),
            };
            match (winner, field.combine) {
                (Some(voices), _) => Ok(Some(join_voices(field, voices))),
                (None, Combine::MajorityOr(code)) => Ok(Some(Value::from(code))),
                (None, _) => Err(UndecidedReason::Differ {
                    field: field.name,
                    answers: tally
                        .values()
                        .map(|voices| format!("{} ×{}", join_voices(field, voices), voices.len()))
                        .collect(),
                }),
            }
        }
        Combine::Union => Ok(Some(union_of(field, answers))),
        Combine::Mean => {
            let numbers: Vec<f64> = answers.iter().filter_map(|value| value.as_number()).collect();
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            Ok((!numbers.is_empty()).then_some(Value::Number(mean)))
        }
        Combine::Collect => Ok(Some(Value::List(answers.iter().map(|value| value.to_string()).collect()))),
    }
}

/// The answer given by more than half, from each answer and its count; `None` if no answer has more than
/// half. This defines a majority in votes and in figures: "the majority vote among all annotators" (Chumor,
/// section 3).
pub fn majority_answer<A>(counts: impl IntoIterator<Item = (A, usize)>) -> Option<A> {
    let counts: Vec<(A, usize)> = counts.into_iter().collect();
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    counts.into_iter().find(|(_, count)| 2 * count > all).map(|(answer, _)| answer)
}

/// Answers grouped by what they amount to: all rejections are one, whatever their reasons.
fn tally_answers<'v>(field: &Field, answers: &[&'v Value]) -> BTreeMap<String, Vec<&'v Value>> {
    let mut tally: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for &answer in answers {
        let key = match (&field.kind, answer) {
            (AnswerKind::Keep { .. }, Value::List(_)) => "reject".to_owned(),
            // A separator that is in no code, so that different lists stay different.
            (_, Value::List(codes)) => codes.join("\u{1f}"),
            (_, other) => other.to_string(),
        };
        tally.entry(key).or_default().push(answer);
    }
    tally
}

fn join_voices(field: &Field, voices: &[&Value]) -> Value {
    match field.kind {
        AnswerKind::Keep { .. } if matches!(voices[0], Value::List(_)) => union_of(field, voices),
        _ => voices[0].clone(),
    }
}

/// Everything marked, in ballot order.
fn union_of(field: &Field, answers: &[&Value]) -> Value {
    let marked =
        |code: &str| answers.iter().filter_map(|value| value.as_list()).flatten().any(|other| other == code);
    let options = field.options().iter().map(|option| option.code);
    Value::List(options.filter(|code| marked(code)).map(str::to_owned).collect())
}

fn is_edited(ballot: &Ballot, item: &Item, values: &Values) -> Option<bool> {
    // Without having seen a draft, nobody rewrites it.
    if ballot.drafts == Drafts::Hidden {
        return None;
    }
    let texts = ballot
        .fields
        .iter()
        .filter(|field| matches!(field.kind, AnswerKind::Text | AnswerKind::Edited { .. }));
    let pairs: Vec<(&str, &str)> = texts
        .filter_map(|field| Some((item.draft.text_of(field.name)?, values.text_of(field.name)?)))
        .collect();
    (!pairs.is_empty()).then(|| pairs.iter().any(|(draft, text)| draft != text))
}

/// What a reviewer sees: the item, the counted votes on it as `votes.<field>`, and the draft. Answers are in
/// the order of their votes' ids, so that the order does not reveal the voters. Its hash covers the votes
/// too: if a voter changes their vote, the review is requested again.
pub fn review_item(ballot: &Ballot, item: &Item, votes: &[&Vote]) -> Item {
    if ballot.review.is_none() {
        return item.clone();
    }
    // A sample's votes are not mixed with people's if there are enough of those.
    let people: Vec<&Vote> = votes.iter().copied().filter(|vote| !vote.synthetic).collect();
    let counts = |vote: &&&Vote| {
        vote.item == item.id
            && vote.step == ballot.name
            && vote.recipe == ballot.recipe
            && vote.round == Round::Vote
            && vote.content_hash == item.content_hash
    };
    let enough = current_votes(&people).iter().filter(counts).count() >= ballot.votes_needed;
    with_votes(ballot, item, if enough { &people } else { votes }, &[Round::Vote])
}

/// What an adjudicator sees: the item and every vote on it. The decision is on the item, so it keeps the
/// item's own hash and remains valid after later votes.
pub fn dispute_item(ballot: &Ballot, item: &Item, votes: &[&Vote]) -> Item {
    Item { content_hash: item.content_hash, ..with_votes(ballot, item, votes, &[Round::Vote, Round::Review]) }
}

fn with_votes(ballot: &Ballot, item: &Item, votes: &[&Vote], rounds: &[Round]) -> Item {
    let seen = |round: Round| (round == Round::Vote).then_some(item.content_hash);
    let mine = |vote: &&&Vote| {
        vote.item == item.id
            && vote.step == ballot.name
            && vote.recipe == ballot.recipe
            && rounds.contains(&vote.round)
    };
    let mine: Vec<&Vote> = votes.iter().filter(mine).copied().collect();
    let mut heads = current_votes(&mine);
    heads.retain(|vote| seen(vote.round).is_none_or(|hash| hash == vote.content_hash));
    heads.sort_by_key(|vote| (vote.round, vote.id));
    let mut more = Content::new();
    for &round in rounds {
        let prefix = if round == Round::Vote { "votes" } else { "review" };
        for field in ballot.questions_of_round(round) {
            let answers = heads.iter().filter(|vote| vote.round == round);
            let answers: Vec<String> =
                answers.filter_map(|vote| vote.values.get(field.name)).map(Value::to_string).collect();
            if !answers.is_empty() {
                more.insert(format!("{prefix}.{}", field.name), Value::List(answers));
            }
        }
    }
    let mut seen = item.with_more(more);
    // Picks are shown with the current numbers.
    for field in rounds.iter().flat_map(|round| ballot.questions_of_round(*round)) {
        let AnswerKind::Pick { from, .. } = field.kind else { continue };
        for prefix in ["votes", "review"] {
            let Some(Value::List(shown)) = seen.content.get(&format!("{prefix}.{}", field.name)).cloned()
            else {
                continue;
            };
            let as_shown = |numbers: &String| {
                let numbers: Vec<String> = numbers.split("; ").map(str::to_owned).collect();
                shown_numbers(&seen, from, &numbers).join("; ")
            };
            let shown = shown.iter().map(as_shown).collect();
            seen.content.insert(format!("{prefix}.{}", field.name), Value::List(shown));
        }
    }
    seen
}

#[cfg(test)]
mod margins;
#[cfg(test)]
mod tests;
