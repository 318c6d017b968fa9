//! `explain`: why a post was kept or left out.

use anstyle::Style;

use super::args::{Explain, Global};
use super::exit::{Exit, Failure};
use super::output;
use super::show::both_sides;
use super::terminal::{HANG, tint_text, tone_of_state, visible_line};
use crate::audit::{Ending, Explained, Reading, RecordEnding, StageEntry};
use crate::recipe::Recipe;
use crate::report::{Explanation, OtherRecord, WithdrawnRecord, explain_name};
use crate::stages::define_code;
use crate::text::sameness::Predicate;

/// Most lines of a list.
const LISTED: usize = 20;
/// Columns of a stage's name, at least.
const NAME: usize = 10;
/// Digits of a hash, unless it is shown in full.
const DIGITS: usize = 12;
/// Characters of a text, unless it is shown in full.
const SHORT: usize = 200;

pub(super) fn explain_record(args: &Explain, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let recipes = output::select_recipes(&config, &args.only)?;
    let found = explain_name(&config, &recipes, &args.target)?;
    if !global.quiet {
        found.changed.iter().for_each(|changed| eprintln!("note: {changed}"));
    }
    match global.json {
        true => output::print_json(&found)?,
        false => output::print_text(&explanation_text(&found, &recipes, args))?,
    }
    if found.read_as.is_none() {
        return Err(Failure {
            exit: Exit::Gap,
            message: format!(
                "no post matches {:?}\n  hint: an id such as tieba:8370518555 or, of a released row, RB-12; SOURCE:LINE as in `recommended:17`, or a piece of its text",
                args.target
            ),
        });
    }
    Ok(Exit::Done)
}

fn explanation_text(found: &Explanation, recipes: &[&Recipe], args: &Explain) -> String {
    let mut text: String = found.withdrawn.iter().map(print_withdrawn).collect();
    text.extend(found.explained.iter().map(|explained| explained_text(explained, args.full)));
    for (record, words) in found.loosely.iter().take(LISTED) {
        let words = shorten_text(words, SHORT);
        text.push_str(&format!(
            "{record}: “{words}” matches {:?}: blanks, case and punctuation do not count\n",
            args.target
        ));
    }
    let of_recipes: Vec<String> = found
        .also
        .iter()
        .filter_map(|also| match also {
            OtherRecord::OfRecipe { recipe, id } => Some(format!("  {recipe}  {id}\n")),
            OtherRecord::OfDump { .. } => None,
        })
        .collect();
    if !of_recipes.is_empty() {
        text.push_str("several posts contain this; name one of them:\n");
        text.extend(first_entries(&of_recipes));
    }
    let of_dumps: Vec<String> = {
        let names: Vec<&str> = recipes.iter().map(|recipe| recipe.name).collect();
        // Another recipe may have it.
        let unread = match args.only.recipes.is_empty() {
            true => "in the dump; no recipe has imported it: `riddlemill run`".to_owned(),
            false => format!(
                "in the dump, not in {}; every recipe is looked at without --recipe",
                names.join(", ")
            ),
        };
        found.also.iter().filter_map(|also| print_hit(also, &unread)).collect()
    };
    if !of_dumps.is_empty() && !found.few {
        let more = if found.more { "more than " } else { "" };
        let what = if found.read_as == Some(Reading::Text) { "contain this" } else { "are there" };
        let posts = output::count(of_dumps.len() as u64, "post");
        text.push_str(&format!("{more}{posts} {what}; name one of them:\n"));
    }
    text.extend(first_entries(&of_dumps));
    found.other_readings.iter().for_each(|other| text.push_str(&format!("{other}\n")));
    text
}

/// The first entries of a list, and how many there are further.
fn first_entries(entries: &[String]) -> impl Iterator<Item = String> {
    let further = entries.len().saturating_sub(LISTED);
    let more = (further > 0).then(|| format!("  … and {further} more\n"));
    entries.iter().take(LISTED).cloned().chain(more)
}

fn print_withdrawn(withdrawn: &WithdrawnRecord) -> String {
    let WithdrawnRecord { id, at, reason } = withdrawn;
    format!("{id}: withdrawn on {}: {reason}\n", at.get(..10).unwrap_or_default())
}

/// A record found in the dumps, and where it ended; `unread` where no recipe that was looked at has it.
fn print_hit(also: &OtherRecord, unread: &str) -> Option<String> {
    let OtherRecord::OfDump { place, id, text, recipes } = also else { return None };
    let place = place.to_string();
    let name = id.as_ref().unwrap_or(&place);
    let at = if *name == place { String::new() } else { format!("  {place}") };
    let mut hit = format!("  {name}{at}\n    {}\n", shorten_text(text, SHORT));
    if recipes.is_empty() {
        hit.push_str(&format!("    {unread}\n"));
    }
    for ended in recipes {
        hit.push_str(&format!("    {:<15} {}\n", ended.recipe, describe_ending(ended)));
    }
    Some(hit)
}

/// An ending, for people.
fn in_words(ending: Ending) -> &'static str {
    match ending {
        Ending::In => "kept to the end",
        Ending::Out => "left out",
        Ending::Waiting => "waiting",
    }
}

/// What a record waits for whose next stage has not been run.
fn not_run(stage: &str, outdated: bool) -> String {
    match outdated {
        false => format!("{stage} has not been run"),
        true => format!("{stage} has not been run since: `riddlemill run`"),
    }
}

/// `left out: import dropped (chatter)`.
fn describe_ending(ended: &RecordEnding) -> String {
    let word = colour_ending(ended.ending, in_words(ended.ending));
    let Some(outcome) = &ended.outcome else {
        return match ended.ending {
            Ending::In => word,
            _ => format!("{word}: {}", not_run(&ended.stage, ended.outdated)),
        };
    };
    let reason = ended.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let into = ended.into.as_ref().filter(|_| outcome == "merged");
    let into = into.map(|id| format!(" into {id}")).unwrap_or_default();
    format!("{word}: {} {outcome}{reason}{into}", ended.stage)
}

fn explained_text(explained: &Explained, full: bool) -> String {
    let bold = Style::new().bold();
    let ending = explained.ending();
    let state = match (ending, &explained.next) {
        (Ending::In, _) => match &explained.left_out {
            None => in_words(ending).to_string(),
            Some(why) => format!("no row ({why})"),
        },
        (_, Some(next)) => format!("waiting ({})", not_run(next, explained.outdated)),
        _ => format!("{} ({})", in_words(ending), explained.ends),
    };
    let mut text = format!(
        "{bold}{}{bold:#} in {}: {}\n",
        explained.id,
        explained.recipe,
        colour_ending(ending, &state)
    );
    let stages = explained.way.iter().chain(&explained.absorbed).map(|passage| passage.stage.len());
    let wide = stages.max().unwrap_or(0).max(NAME);
    let mut head = |name: &str, content: &str, most: usize| {
        let content = shorten_text(content, if full { usize::MAX } else { most });
        text.push_str(&format!("  {name:<wide$} {HANG}{content}\n"));
    };
    if let Some(content) = &explained.text {
        head("text", content, 2 * SHORT);
    }
    if let Some(note) = &explained.note {
        head("note", note, SHORT);
    }
    if let Some(of) = &explained.of {
        head("made of", of, SHORT);
    }
    for passage in &explained.way {
        if explained.earlier.as_ref() == Some(&passage.stage) {
            text.push_str("  of an earlier run, before the stage above was made: `riddlemill run`\n");
        }
        text.push_str(&print_passage(passage, &explained.id, full, wide));
    }
    if !explained.absorbed.is_empty() {
        text.push_str("  merged into it:\n");
        let most = if full { usize::MAX } else { LISTED / 2 };
        for passage in explained.absorbed.iter().take(most) {
            text.push_str(&print_passage(passage, &explained.id, full, wide));
        }
        if explained.absorbed.len() > most {
            text.push_str(&format!("  … and {} more; --full lists them\n", explained.absorbed.len() - most));
        }
    }
    let hidden =
        explained.way.iter().flat_map(|passage| &passage.details).filter(|d| !is_brief(d.what)).count();
    if hidden > 0 && !full {
        let hidden = output::count(hidden as u64, "prompt or reply");
        text.push_str(&format!("  --full shows {hidden} more\n"));
    }
    text.push('\n');
    text
}

/// Whether it is shown by default: people's decisions are, requests and replies only in full.
fn is_brief(what: &str) -> bool {
    what == "vote"
}

fn print_passage(passage: &StageEntry, of: &str, full: bool, wide: usize) -> String {
    let most = if full { usize::MAX } else { SHORT };
    let state = &passage.outcome;
    let ending = match state.as_str() {
        "kept" => Some(Ending::In),
        "held" => Some(Ending::Waiting),
        "dropped" | "failed" => Some(Ending::Out),
        _ => None,
    };
    let shown = ending.map_or_else(|| state.clone(), |ending| colour_ending(ending, state));
    let below = wide + 3;
    let mut text = format!("  {:<wide$} {shown}", passage.stage);
    if let Some(reason) = &passage.reason {
        text.push_str(&format!(" ({reason})"));
    }
    // Import's id is a place in a dump, and a merged record, or one that was made of it, may not be the one in the heading.
    if passage.stage == "import" || passage.outcome == "merged" || passage.id != of {
        text.push_str(&format!(" {}", passage.id));
    }
    if let Some(into) = &passage.into {
        text.push_str(&format!(" -> {into}"));
    }
    if let Some(score) = passage.score {
        text.push_str(&format!(" at {score:.3}"));
    }
    text.push('\n');
    let mut detail = |name: &str, value: &Option<String>| {
        if let Some(value) = value.as_deref().filter(|v| !v.is_empty()) {
            let value = if full { value.to_owned() } else { without_hashes(value) };
            text.push_str(&format!("{:below$}{name:<8} {HANG}{}\n", "", shorten_text(&value, most)));
        }
    };
    let sameness = passage.evidence.as_deref().and_then(Predicate::of_evidence);
    let means = sameness.map(|predicate| predicate.definition().to_owned());
    detail("means", &means.or_else(|| passage.definition.clone()));
    match passage.evidence.as_deref().and_then(|codes| rule_sentences(codes, passage.reason.as_deref())) {
        // The codes of rules, of which the first is the reason above.
        Some(rules) => rules.into_iter().for_each(|rule| detail("and", &Some(rule.to_owned()))),
        None => detail("because", &passage.evidence),
    }
    detail("before", &passage.before);
    detail("after", &passage.after);
    if let (Some(own), Some(into)) = (&passage.own_text, &passage.into_text) {
        let sides = both_sides(&passage.id, own, passage.into.as_deref().unwrap_or_default(), into);
        sides.lines().for_each(|line| text.push_str(&format!("{:1$}{line}\n", "", wide - 1)));
    }
    for piece in passage.details.iter().filter(|piece| full || is_brief(piece.what)) {
        if full {
            text.push_str(&format!("{:below$}{:<8} {}\n", "", piece.what, piece.id));
            let lines = piece.text.lines();
            lines.for_each(|line| text.push_str(&format!("{:below$}  | {HANG}{}\n", "", visible_line(line))));
        } else {
            text.push_str(&format!(
                "{:below$}{:<8} {HANG}{}\n",
                "",
                piece.what,
                shorten_text(&piece.text, most)
            ));
        }
    }
    text
}

/// What rules do whose codes are the evidence, except the one that is the reason; `None` if the evidence is
/// something else.
fn rule_sentences(evidence: &str, reason: Option<&str>) -> Option<Vec<&'static str>> {
    let codes: Vec<&str> = evidence.split(',').map(str::trim).collect();
    let all: Option<Vec<_>> = codes.iter().map(|code| Some((*code, define_code(code)?))).collect();
    Some(all?.into_iter().filter(|(code, _)| Some(*code) != reason).map(|(_, sentence)| sentence).collect())
}

/// A text whose hashes are shortened: nobody compares 64 digits by eye.
fn without_hashes(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !c.is_ascii_hexdigit()) {
        let digits = piece.bytes().take_while(u8::is_ascii_hexdigit).count();
        match digits >= 2 * DIGITS + 8 {
            true => short.extend([&piece[..DIGITS], "…", &piece[digits..]]),
            false => short.push_str(piece),
        }
    }
    short
}

/// A text on one line, truncated to `most` characters.
fn shorten_text(text: &str, most: usize) -> String {
    let text = visible_line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn colour_ending(ending: Ending, text: &str) -> String {
    let state = match ending {
        Ending::In => "in",
        Ending::Waiting => "held",
        Ending::Out => "dropped",
    };
    tint_text(tone_of_state(state), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_short_and_other_words_whole() {
        let hash = "e4caccfc1d00fa8e712160b2b357dcdb4d275892266cadc9fa381098b6ccda71";
        let text = format!("sample:{hash} to ruozhibench/screen 388befea，{}", &hash[..32]);
        assert_eq!(
            without_hashes(&text),
            "sample:e4caccfc1d00… to ruozhibench/screen 388befea，e4caccfc1d00…"
        );
        assert_eq!(without_hashes("vote: 云会恐高吗？ 1234567890"), "vote: 云会恐高吗？ 1234567890");
    }

    #[test]
    fn codes_of_rules_are_told_as_sentences() {
        let sentence = define_code("cut_title").unwrap();
        assert_eq!(rule_sentences("cut_title", Some("cut_title")), Some(Vec::new()));
        assert_eq!(rule_sentences("number, cut_title", Some("number")), Some(vec![sentence]));
        assert_eq!(rule_sentences("2 first-round votes", Some("votes_missing")), None);
    }
}
