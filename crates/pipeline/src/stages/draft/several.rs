//! Drafts of several models, of which some may be enough, together with those made elsewhere: what judges give an answer
//! (RuozhiBench 3.1). A judge is an endpoint, or gave its rating elsewhere.

use super::outcome::{no_list, not_computed, not_met, outcome_of_tie};
use super::ratings::{Elsewhere, Ratings};
use super::{
    DraftOutcome, DraftStep, LlmContext, ReplyOutcome, Slot, ask_for_replies, draft_outcome,
    number_of_setting, whom_to_ask,
};
use crate::stages::StageError;
use crate::stages::subject::{self, DraftItem, Drafted};
use riddlemill_record::{Evidence, Outcome, Reason, Record, Row};
use riddlemill_tables::StageWriter;

/// How many replies a record needs.
#[derive(Clone, Copy, Debug)]
struct ReplyNeeds {
    /// From this many models; 0: from all that are asked.
    models: u64,
    /// Whether anybody is asked.
    asks: bool,
}

/// Has every record drafted by several. One with fewer models than the settings ask for is held where a reply may still come,
/// and failed where one cannot be read. A record to which the step does not apply takes only drafts made elsewhere.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C; else where prompts, endpoints or store cannot be used.
pub(super) fn draft_by_several(
    draft: DraftStep,
    records: Vec<Row>,
    asking: &LlmContext<'_>,
    writer: &mut StageWriter<Row>,
) -> Result<(), StageError> {
    let declared = draft.draft_declaration();
    let needs = ReplyNeeds {
        models: declared.at_least.map_or(0, |key| number_of_setting(asking.config, asking.recipe, key)),
        asks: !whom_to_ask(draft, asking.config, asking.recipe).names.is_empty(),
    };
    let (mut elsewhere, refused) = Ratings::load(draft, asking.config)?.by_record(declared, &records);
    let replies = ask_for_replies(draft, &records, asking)?;
    for (record, replies) in records.into_iter().zip(replies) {
        let id = record.id().to_owned();
        let elsewhere = elsewhere.remove(&id).unwrap_or_default();
        let outcome = match subject::draft_items(&record, draft) {
            Err(trouble) => no_list(&trouble),
            Ok(items) => match (items.iter().any(|item| item.is_asked(draft)), elsewhere.is_empty()) {
                (true, _) => outcome_of_record(draft, record, &items, replies, elsewhere, needs),
                (false, true) => Outcome::Kept(record),
                (false, false) => {
                    let needs = ReplyNeeds { models: 0, asks: false };
                    outcome_of_record(draft, record, &items, Vec::new(), elsewhere, needs)
                }
            },
        };
        writer.append(&id, &outcome);
    }
    let mut table = writer.start_table("refused")?;
    refused.iter().for_each(|line| table.append(line));
    Ok(writer.add_table(table)?)
}

/// A reply that is not there.
struct MissingReply {
    judge: String,
    reason: Reason,
    words: Evidence,
    /// Whether it may still come.
    held: bool,
}

impl MissingReply {
    fn ledger_evidence(&self) -> Evidence {
        self.words.with_text(format!("{}: {}", self.judge, self.words))
    }
}

fn outcome_of_record(
    draft: DraftStep,
    mut record: Row,
    items: &[DraftItem],
    replies: Vec<ReplyOutcome>,
    elsewhere: Vec<Elsewhere>,
    needs: ReplyNeeds,
) -> Outcome<Row> {
    let mut of_item: Vec<Vec<ReplyOutcome>> = items.iter().map(|_| Vec::new()).collect();
    for replied in replies {
        of_item[replied.element].push(replied);
    }
    let (mut drafted, mut evidence): (Vec<Drafted>, Vec<String>) = (Vec::new(), Vec::new());
    // Ratings are of whole records, which are one item.
    let mut elsewhere = Some(elsewhere);
    for ((element, item), replies) in items.iter().enumerate().zip(of_item) {
        let elsewhere = elsewhere.take().unwrap_or_default();
        if !item.is_asked(draft) && elsewhere.is_empty() {
            continue;
        }
        match collect_drafts(item, element, replies, elsewhere, needs) {
            Ok((more, more_evidence)) => {
                let trouble = |drafted: &Drafted| not_computed(draft, item, &drafted.values);
                if let Some(outcome) = more.iter().find_map(trouble) {
                    return outcome;
                }
                if let Some(says) = more.iter().find_map(|drafted| not_met(draft, item, &drafted.values)) {
                    return Outcome::Failed { reason: Reason::ReplyUnparseable, evidence: says.into() };
                }
                drafted.extend(more);
                evidence.extend(more_evidence);
            }
            Err(lack) if lack.held => return Outcome::Held { reason: lack.reason, evidence: lack.evidence },
            Err(lack) => return Outcome::Failed { reason: lack.reason, evidence: lack.evidence },
        }
    }
    let shown = |drafted: &Drafted| {
        let shown = format!("{}: {}", drafted.slot.model, draft.answer_for_ledger(&drafted.values));
        items[drafted.element].name_finding(&shown)
    };
    let after = drafted.iter().map(shown).collect::<Vec<_>>().join("; ");
    if let Some(outcome) = outcome_of_tie(draft, &record, &drafted) {
        return outcome;
    }
    let findings = subject::write_drafts(&mut record, draft, &drafted);
    record.set_flags(draft.name(), findings);
    Outcome::Changed {
        row: record,
        rule: draft.draft_declaration().reason.code(),
        evidence: evidence.join("; ").into(),
        before: String::new(),
        after,
    }
}

/// Why the drafts of an item are too few.
struct DraftLack {
    reason: Reason,
    evidence: Evidence,
    /// Whether more may still come.
    held: bool,
}

/// The drafts of one item with their basis, or why they are too few.
fn collect_drafts(
    item: &DraftItem,
    element: usize,
    replies: Vec<ReplyOutcome>,
    elsewhere: Vec<Elsewhere>,
    needs: ReplyNeeds,
) -> Result<(Vec<Drafted>, Vec<String>), DraftLack> {
    let (mut drafted, mut evidence): (Vec<Drafted>, Vec<String>) = (Vec::new(), Vec::new());
    let mut missing: Vec<MissingReply> = Vec::new();
    for ReplyOutcome { slot, prompt, parsed, .. } in replies {
        match draft_outcome(parsed, &prompt) {
            DraftOutcome::Drafted { values, basis, words, .. } => {
                drafted.push(Drafted { element, slot, values, basis });
                evidence.push(words);
            }
            DraftOutcome::Missing { reason, words, held } => {
                missing.push(MissingReply { judge: slot.model, reason, words, held });
            }
        }
    }
    // If no endpoint is asked, there will be no further replies.
    if !needs.asks && !elsewhere.is_empty() {
        missing.clear();
    }
    for Elsewhere { judge, values, basis } in elsewhere {
        if drafted.iter().any(|drafted| drafted.slot.model == judge) {
            continue;
        }
        missing.retain(|missing| missing.judge != judge);
        evidence.push(basis.clone());
        drafted.push(Drafted { element, slot: Slot { model: judge, ..Slot::default() }, values, basis });
    }
    let mut models: Vec<&str> = drafted.iter().map(|drafted| drafted.slot.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let enough = match needs.models {
        0 => missing.is_empty() && !models.is_empty(),
        least => models.len() as u64 >= least,
    };
    if !enough {
        let lack = |reason, words: &Evidence, held| DraftLack {
            reason,
            evidence: words.with_text(item.name_finding(words)),
            held,
        };
        return Err(match missing.iter().find(|missing| missing.held).or_else(|| missing.first()) {
            Some(missing) => lack(missing.reason, &missing.ledger_evidence(), missing.held),
            None => {
                let words =
                    format!("{} of at least {} judges may rate it", models.len(), needs.models.max(1));
                lack(Reason::JudgesMissing, &Evidence::from(words), true)
            }
        });
    }
    let without =
        |missing: &MissingReply| format!("without {}: {}", missing.reason.code(), missing.ledger_evidence());
    evidence.extend(missing.iter().map(without));
    Ok((drafted, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::subject::rows::make_row;
    use riddlemill_llm::{Failed, Held, Key, Parsed, Reply, ReplyOrigin, Usd};
    use riddlemill_review::{Value, Values};
    use serde_json::json;

    fn rate(replies: Vec<ReplyOutcome>, elsewhere: Vec<Elsewhere>, models: u64) -> Outcome<Row> {
        let judge =
            DraftStep::find_draft(riddlemill_benchmarks::find_benchmark("ruozhibench-mc").unwrap(), "judge")
                .unwrap();
        let record = make_row("responses", json!({}));
        let items = subject::draft_items(&record, judge).unwrap();
        outcome_of_record(judge, record, &items, replies, elsewhere, ReplyNeeds { models, asks: false })
    }

    fn replied(judge: &str, parsed: Parsed<Values>) -> ReplyOutcome {
        ReplyOutcome {
            element: 0,
            slot: Slot { model: judge.into(), ..Slot::default() },
            prompt: "p".into(),
            parsed,
        }
    }

    fn rated(judge: &str, rating: f64) -> ReplyOutcome {
        let marks = ReplyOrigin::default();
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

    fn unreadable(judge: &str) -> ReplyOutcome {
        let failed = Failed {
            reason: Reason::ReplyUnparseable,
            error: "no rating".into(),
            raw: "good".into(),
            key: Key::hash(b"x"),
        };
        replied(judge, Parsed::Failed(failed))
    }

    fn waits(judge: &str) -> ReplyOutcome {
        replied(judge, Parsed::Held(Held { reason: Reason::ReplyMissing, what: "offline".into() }))
    }

    #[test]
    fn a_rating_that_cannot_be_read_counts_as_none() {
        let outcome = |replies, least| rate(replies, Vec::new(), least);
        let Outcome::Changed { row, .. } = outcome(vec![rated("a", 0.0), rated("b", 4.0)], 0) else {
            panic!()
        };
        assert_eq!(
            (row.list("judges").join(" "), row.list("ratings").join(" ")),
            ("a b".to_owned(), "0 4".to_owned())
        );
        let failed = outcome(vec![rated("a", 3.0), unreadable("b")], 0);
        assert!(matches!(failed, Outcome::Failed { reason: Reason::ReplyUnparseable, .. }), "{failed:?}");
        let held = outcome(vec![unreadable("a"), waits("b"), rated("c", 1.0)], 2);
        assert!(matches!(held, Outcome::Held { reason: Reason::ReplyMissing, .. }), "{held:?}");
        let Outcome::Changed { row, evidence, .. } = outcome(vec![rated("a", 3.0), unreadable("b")], 1)
        else {
            panic!()
        };
        assert_eq!(row.list("ratings"), ["3"]);
        assert!(evidence.contains("without reply_unparseable: b"), "{evidence}");
    }

    #[test]
    fn repeats_of_one_judge_are_one_judge() {
        let held = rate(vec![rated("a", 1.0), rated("a", 2.0)], Vec::new(), 2);
        assert!(matches!(held, Outcome::Held { reason: Reason::JudgesMissing, .. }), "{held:?}");
    }

    #[test]
    fn ratings_made_elsewhere_stand_in_for_judges_that_did_not_answer() {
        let elsewhere = |judge: &str, rating: u8| {
            let mut values = Values::new();
            values.set("rating", f64::from(rating));
            values.set("explanation", "So.");
            let basis = format!("made:raw/ratings/x.jsonl:{rating}");
            Elsewhere { judge: judge.into(), values, basis }
        };
        let given = vec![elsewhere("a", 0), elsewhere("b", 2), elsewhere("d", 4)];
        let replies = vec![rated("a", 3.0), unreadable("b"), rated("c", 1.0)];
        let Outcome::Changed { row, after, .. } = rate(replies, given, 0) else {
            panic!("all four have rated it");
        };
        assert_eq!(after, "a: 3; c: 1; b: 2; d: 4");
        assert_eq!(row.list("reasons"), ["", "", "So.", "So."]);
        assert_eq!(row.list("judges"), ["a", "c", "b", "d"]);
        assert_eq!(row.list("ratings"), ["3", "1", "2", "4"]);
        assert_eq!(
            row.list("rating_basis")[2..],
            ["made:raw/ratings/x.jsonl:2", "made:raw/ratings/x.jsonl:4"]
        );
    }
}
