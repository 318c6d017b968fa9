//! Ratings: what judges give every response, from 0 to 4 (RuozhiBench 3.1, figures 12 and 13). A judge is an endpoint, or
//! gave its rating elsewhere. An answer of a published set is what it is, and no judge is asked about it.

use super::published::is_of_published;
use super::rated::{Elsewhere, Rated};
use crate::config::sections;
use crate::stages::StageError;
use crate::stages::draft::{Draft, DraftOutcome, LlmContext, Replied, draft_outcome, replies};
use riddlemill_review::Value;
use riddlemill_tables::StageWriter;
use riddlemill_text::record::{Outcome, Reason, Response};

/// Has every response rated. A response with fewer judges than the settings ask for is held where a reply
/// may still come, and failed where one cannot be read.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C; else where prompts, endpoints or store cannot be used.
pub fn judge(
    responses: Vec<Response>,
    rated: &Rated,
    asking: &LlmContext<'_>,
    writer: &mut StageWriter<Response>,
) -> Result<(), StageError> {
    let settings: sections::Judge = asking.config.typed(Some(asking.recipe), "judge");
    let (mut elsewhere, refused) = rated.of(&responses);
    let (published, responses): (Vec<Response>, Vec<Response>) =
        responses.into_iter().partition(|response| is_of_published(&response.basis));
    for response in published {
        let id = response.id.clone();
        let settings = sections::Judge { min_judges: 0, ..settings.clone() };
        let outcome = match elsewhere.remove(&id) {
            Some(elsewhere) => outcome(response, Vec::new(), elsewhere, &settings),
            None => Outcome::Kept(response),
        };
        writer.append(&id, &outcome);
    }
    let replies = replies(Draft::Judge, &responses, asking)?;
    for (response, replies) in responses.into_iter().zip(replies) {
        let id = response.id.clone();
        let elsewhere = elsewhere.remove(&id).unwrap_or_default();
        writer.append(&id, &outcome(response, replies, elsewhere, &settings));
    }
    let mut table = writer.table("refused")?;
    refused.iter().for_each(|line| table.append(line));
    Ok(writer.keep(table)?)
}

fn outcome(
    mut response: Response,
    replies: Vec<Replied>,
    elsewhere: Vec<Elsewhere>,
    settings: &sections::Judge,
) -> Outcome<Response> {
    let mut evidence = Vec::new();
    let mut missing: Vec<(Reason, String, bool)> = Vec::new();
    for Replied { slot, prompt, parsed } in replies {
        match draft_outcome(parsed, &prompt) {
            DraftOutcome::Drafted { values, basis, words } => {
                let rating = values.get("rating").and_then(Value::as_number).unwrap_or_default();
                response.judges.push(slot.model);
                response.ratings.push(format!("{rating}"));
                response.reasons.push(values.text("explanation").unwrap_or_default().to_owned());
                response.rating_basis.push(basis);
                evidence.push(words);
            }
            DraftOutcome::Missing { reason, words, held } => {
                missing.push((reason, format!("{}: {words}", slot.model), held));
            }
        }
    }
    // Where nobody is asked, the ratings that are there are all that there will be.
    if settings.endpoints.is_empty() && !elsewhere.is_empty() {
        missing.clear();
    }
    for Elsewhere { judge, rating, explanation, basis } in elsewhere {
        if response.judges.contains(&judge) {
            continue;
        }
        missing.retain(|(_, what, _)| !what.starts_with(&format!("{judge}: ")));
        evidence.push(basis.clone());
        response.judges.push(judge);
        response.ratings.push(rating.to_string());
        response.reasons.push(explanation);
        response.rating_basis.push(basis);
    }
    let mut judges: Vec<&String> = response.judges.iter().collect();
    judges.sort();
    judges.dedup();
    let enough = match settings.min_judges {
        0 => missing.is_empty() && !judges.is_empty(),
        least => judges.len() as u64 >= least,
    };
    if !enough {
        let held = missing.iter().find(|(_, _, held)| *held).or_else(|| missing.first());
        return match held {
            Some((reason, evidence, true)) => Outcome::Held { reason: *reason, evidence: evidence.clone() },
            Some((reason, evidence, false)) => {
                Outcome::Failed { reason: *reason, evidence: evidence.clone() }
            }
            None => Outcome::Held {
                reason: Reason::JudgesMissing,
                evidence: format!(
                    "{} of at least {} judges may rate it",
                    judges.len(),
                    settings.min_judges.max(1)
                ),
            },
        };
    }
    evidence
        .extend(missing.into_iter().map(|(reason, words, _)| format!("without {}: {words}", reason.code())));
    Outcome::Changed {
        rule: Reason::Rated.code(),
        evidence: evidence.join("; "),
        before: String::new(),
        after: response
            .judges
            .iter()
            .zip(&response.ratings)
            .map(|(judge, rating)| format!("{judge}: {rating}"))
            .collect::<Vec<_>>()
            .join("; "),
        row: response,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::draft::Slot;
    use riddlemill_llm::{Failed, Held, Key, Marks, Parsed, Reply, Usd};
    use riddlemill_review::Values;

    fn settings(min_judges: u64) -> sections::Judge {
        sections::Judge { min_judges, ..sections::Judge::default() }
    }

    fn replied(judge: &str, parsed: Parsed<Values>) -> Replied {
        Replied { slot: Slot { model: judge.into(), ..Slot::default() }, prompt: "p".into(), parsed }
    }

    fn rated(judge: &str, rating: f64) -> Replied {
        let marks = Marks::default();
        let key = Key::hash(judge.as_bytes());
        let reply = Reply {
            key,
            text: String::new(),
            whole: String::new(),
            vector: None,
            usage: None,
            charged: Usd::ZERO,
            marks,
        };
        let value = [("rating", Value::Number(rating))].into_iter().collect();
        replied(judge, Parsed::Value { value, reply, reasks: 0 })
    }

    fn unreadable(judge: &str) -> Replied {
        let failed = Failed {
            reason: Reason::ReplyUnparseable,
            error: "no rating".into(),
            raw: "good".into(),
            key: Key::hash(b"x"),
        };
        replied(judge, Parsed::Failed(failed))
    }

    fn waits(judge: &str) -> Replied {
        replied(judge, Parsed::Held(Held { reason: Reason::ReplyMissing, what: "offline".into() }))
    }

    #[test]
    fn a_rating_that_cannot_be_read_counts_as_none() {
        let outcome =
            |replies, least| super::outcome(Response::default(), replies, Vec::new(), &settings(least));
        let Outcome::Changed { row, .. } = outcome(vec![rated("a", 0.0), rated("b", 4.0)], 0) else {
            panic!()
        };
        assert_eq!(
            (row.judges, row.ratings),
            (vec!["a".to_string(), "b".into()], vec!["0".to_string(), "4".into()])
        );
        let failed = outcome(vec![rated("a", 3.0), unreadable("b")], 0);
        assert!(matches!(failed, Outcome::Failed { reason: Reason::ReplyUnparseable, .. }), "{failed:?}");
        let held = outcome(vec![unreadable("a"), waits("b"), rated("c", 1.0)], 2);
        assert!(matches!(held, Outcome::Held { reason: Reason::ReplyMissing, .. }), "{held:?}");
        let Outcome::Changed { row, evidence, .. } = outcome(vec![rated("a", 3.0), unreadable("b")], 1)
        else {
            panic!()
        };
        assert_eq!(row.ratings, ["3"]);
        assert!(evidence.contains("without reply_unparseable: b"), "{evidence}");
    }

    #[test]
    fn repeats_of_one_judge_are_one_judge() {
        let held = super::outcome(
            Response::default(),
            vec![rated("a", 1.0), rated("a", 2.0)],
            Vec::new(),
            &settings(2),
        );
        assert!(matches!(held, Outcome::Held { reason: Reason::JudgesMissing, .. }), "{held:?}");
    }

    #[test]
    fn ratings_made_elsewhere_stand_in_for_judges_that_did_not_answer() {
        let elsewhere = |judge: &str, rating| Elsewhere {
            judge: judge.into(),
            rating,
            explanation: "So.".into(),
            basis: format!("made:raw/ratings/x.jsonl:{rating}"),
        };
        let given = vec![elsewhere("a", 0), elsewhere("b", 2), elsewhere("d", 4)];
        let replies = vec![rated("a", 3.0), unreadable("b"), rated("c", 1.0)];
        let Outcome::Changed { row, .. } = super::outcome(Response::default(), replies, given, &settings(0))
        else {
            panic!("all four have rated it");
        };
        assert_eq!(row.judges, ["a", "c", "b", "d"]);
        assert_eq!(row.ratings, ["3", "1", "2", "4"]);
        assert_eq!(row.rating_basis[2..], ["made:raw/ratings/x.jsonl:2", "made:raw/ratings/x.jsonl:4"]);
    }
}
