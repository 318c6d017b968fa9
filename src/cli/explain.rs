//! `explain`: why a post was kept or left out.

use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use serde_json::json;

use super::args::{Explain, Global};
use super::exit::{Exit, Failure};
use super::output;
use super::show::both_sides;
use super::terminal::{HANG, tint, tone, visible};
use crate::audit::{
    Ending, Explained, Passage, Reading, Resolution, Resolver, Whereabouts, compare, details,
};
use crate::pipeline::Withheld;
use crate::release::stop_without_row;
use crate::search::{self, Recalled};
use crate::stages::definition;
use crate::stages::withdrawal::Tombstone;
use crate::store::{Error, Workspace};

/// More records than this are listed instead of explained.
const TELL: usize = 3;
/// Most records searched.
const MOST: usize = 200;
/// Most lines of a list.
const LISTED: usize = 20;
/// Columns of a stage's name, at least.
const NAME: usize = 10;
/// Digits of a hash, unless it is shown in full.
const DIGITS: usize = 12;
/// Characters of a text, unless it is shown in full.
const SHORT: usize = 200;

pub(super) fn explain(args: &Explain, global: &Global) -> Result<Exit, Failure> {
    let config = output::load(global)?;
    let workspace = Workspace::new(&config.root);
    let recipes = output::recipes(&config, &args.only)?;
    let resolver = Resolver::open(&config, &recipes)?;
    let found = resolver.resolve(&args.target, MOST)?;
    if !global.quiet {
        found.changed.iter().for_each(|changed| eprintln!("note: {changed}"));
    }
    let few = found.records.len() <= TELL && !found.more;
    let hits = Hits { found: &found, few };
    let mut endings = Vec::new();
    let mut many = Vec::new();
    for recipe in &recipes {
        let mut ids: Vec<&String> = Vec::new();
        let at = found
            .records
            .iter()
            .filter(|record| few || record.recalled.is_none())
            .flat_map(|record| &record.at);
        for at in at.filter(|at| at.recipe.name == recipe.name) {
            // A record that was read twice continues as one.
            if !ids.contains(&&at.id) {
                ids.push(&at.id);
            }
        }
        if ids.len() > TELL {
            many.extend(ids.into_iter().map(|id| (recipe.name, id.clone())));
            continue;
        }
        for id in ids {
            let mut explained = crate::audit::explain(&workspace, recipe, id)?;
            compare(&workspace, recipe, &mut explained)?;
            // After `compare`, which fills in the texts that may have to go.
            if let Some(withheld) = resolver.withheld(recipe) {
                hide(&mut explained, withheld)?;
            }
            // A record that import set aside has its text only in the dump.
            if explained.text.is_none() {
                explained.text = search::at_place(&config, id)?.map(|record| record.text);
            }
            for passage in &mut explained.way {
                passage.details = details(&config, recipe, &passage.stage, &passage.id)?;
            }
            stop_without_row(&workspace, recipe, &mut explained)?;
            endings.push(explained);
        }
    }
    if global.json {
        let mut also: Vec<_> =
            many.iter().map(|(recipe, id)| json!({ "recipe": recipe, "id": id })).collect();
        also.extend(hits.json());
        let withdrawn: Vec<_> = found
            .withdrawn
            .iter()
            .map(|(id, tombstone)| json!({ "id": id, "at": tombstone.at, "reason": tombstone.reason }))
            .collect();
        output::json(&json!({
            "explained": endings, "also": also, "changed": found.changed, "withdrawn": withdrawn,
            "read_as": found.reading, "other_readings": found.others,
        }))?;
    } else {
        let mut text: String =
            found.withdrawn.iter().map(|(id, tombstone)| print_withdrawn(id, tombstone)).collect();
        text.extend(endings.iter().map(|explained| print(explained, args.full)));
        if !many.is_empty() {
            text.push_str("several posts contain this; name one of them:\n");
            many.iter().take(LISTED).for_each(|(recipe, id)| text.push_str(&format!("  {recipe}  {id}\n")));
            if many.len() > LISTED {
                text.push_str(&format!("  … and {} more\n", many.len() - LISTED));
            }
        }
        text.push_str(&hits.print());
        found.others.iter().for_each(|other| text.push_str(&format!("{other}\n")));
        output::print(&text)?;
    }
    if found.reading.is_none() {
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

fn print_withdrawn(id: &str, tombstone: &Tombstone) -> String {
    let day = tombstone.at.get(..10).unwrap_or_default();
    format!("{id}: withdrawn on {day}: {}\n", tombstone.reason)
}

/// Removes the texts of withdrawn records merged with this one, if no run has done so yet.
fn hide(explained: &mut Explained, withheld: &Withheld) -> Result<(), Error> {
    let ids = explained.absorbed.iter().map(|passage| passage.id.as_str());
    let into = explained.way.iter().filter_map(|passage| passage.into.as_deref());
    let withdrawn: BTreeSet<String> =
        withheld.among(ids.chain(into))?.into_iter().map(str::to_owned).collect();
    explained.absorbed.retain(|passage| !withdrawn.contains(&passage.id));
    for passage in &mut explained.way {
        if passage.into.as_ref().is_some_and(|into| withdrawn.contains(into)) {
            passage.into_text = None;
        }
    }
    Ok(())
}

/// Records found in the dumps, and where each ended.
struct Hits<'f> {
    found: &'f Resolution,
    /// Whether they are few enough to be explained.
    few: bool,
}

impl Hits<'_> {
    /// Those to list: all if there are many, else those that no recipe has read.
    fn listed(&self) -> impl Iterator<Item = (&Recalled, &[Whereabouts])> {
        let rows = self.found.records.iter();
        let rows = rows.filter_map(|record| Some((record.recalled.as_ref()?, record.ended.as_slice())));
        rows.filter(move |(_, ended)| !self.few || ended.is_empty())
    }

    fn json(&self) -> Vec<serde_json::Value> {
        let row = |(record, ended): (&Recalled, &[Whereabouts])| {
            let ended: BTreeMap<&str, &Whereabouts> =
                ended.iter().map(|ended| (ended.recipe, ended)).collect();
            json!({ "place": record.locator, "id": record.ids.first(), "text": record.text, "recipes": ended })
        };
        self.listed().map(row).collect()
    }

    fn print(&self) -> String {
        let mut text = String::new();
        let all = self.listed().count();
        if all > 0 && !self.few {
            let more = if self.found.more { "more than " } else { "" };
            let what = if self.found.reading == Some(Reading::Text) { "contain this" } else { "are there" };
            text.push_str(&format!(
                "{more}{} {what}; name one of them:\n",
                output::count(all as u64, "post")
            ));
        }
        for (record, ended) in self.listed().take(LISTED) {
            let place = record.locator.to_string();
            let name = record.ids.first().unwrap_or(&place);
            let at = if *name == place { String::new() } else { format!("  {place}") };
            text.push_str(&format!("  {name}{at}\n    {}\n", short(&record.text, SHORT)));
            if ended.is_empty() {
                text.push_str("    in the dump; no recipe has imported it: `riddlemill run`\n");
            }
            for ended in ended {
                text.push_str(&format!("    {:<15} {}\n", ended.recipe, describe(ended)));
            }
        }
        if all > LISTED {
            text.push_str(&format!("  … and {} more\n", all - LISTED));
        }
        text
    }
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
fn describe(ended: &Whereabouts) -> String {
    let word = colour(ended.ending, in_words(ended.ending));
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

fn print(explained: &Explained, full: bool) -> String {
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
    let mut text =
        format!("{bold}{}{bold:#} in {}: {}\n", explained.id, explained.recipe, colour(ending, &state));
    let stages = explained.way.iter().chain(&explained.absorbed).map(|passage| passage.stage.len());
    let wide = stages.max().unwrap_or(0).max(NAME);
    let mut head = |name: &str, content: &str, most: usize| {
        let content = short(content, if full { usize::MAX } else { most });
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
    let hidden = explained.way.iter().flat_map(|passage| &passage.details).filter(|d| !brief(d.what)).count();
    if hidden > 0 && !full {
        let hidden = output::count(hidden as u64, "prompt or reply");
        text.push_str(&format!("  --full shows {hidden} more\n"));
    }
    text.push('\n');
    text
}

/// Whether it is shown by default: people's decisions are, requests and replies only in full.
fn brief(what: &str) -> bool {
    what == "vote"
}

fn print_passage(passage: &Passage, of: &str, full: bool, wide: usize) -> String {
    let most = if full { usize::MAX } else { SHORT };
    let state = &passage.outcome;
    let ending = match state.as_str() {
        "kept" => Some(Ending::In),
        "held" => Some(Ending::Waiting),
        "dropped" | "failed" => Some(Ending::Out),
        _ => None,
    };
    let shown = ending.map_or_else(|| state.clone(), |ending| colour(ending, state));
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
            text.push_str(&format!("{:below$}{name:<8} {HANG}{}\n", "", short(&value, most)));
        }
    };
    detail("means", &passage.definition);
    match passage.evidence.as_deref().and_then(|codes| sentences(codes, passage.reason.as_deref())) {
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
    for piece in passage.details.iter().filter(|piece| full || brief(piece.what)) {
        if full {
            text.push_str(&format!("{:below$}{:<8} {}\n", "", piece.what, piece.id));
            let lines = piece.text.lines();
            lines.for_each(|line| text.push_str(&format!("{:below$}  | {HANG}{}\n", "", visible(line))));
        } else {
            text.push_str(&format!("{:below$}{:<8} {HANG}{}\n", "", piece.what, short(&piece.text, most)));
        }
    }
    text
}

/// What rules do whose codes are the evidence, except the one that is the reason; `None` if the evidence is
/// something else.
fn sentences(evidence: &str, reason: Option<&str>) -> Option<Vec<&'static str>> {
    let codes: Vec<&str> = evidence.split(',').map(str::trim).collect();
    let all: Option<Vec<_>> = codes.iter().map(|code| Some((*code, definition(code)?))).collect();
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
fn short(text: &str, most: usize) -> String {
    let text = visible(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn colour(ending: Ending, text: &str) -> String {
    let state = match ending {
        Ending::In => "in",
        Ending::Waiting => "held",
        Ending::Out => "dropped",
    };
    tint(tone(state), text)
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
        let sentence = definition("cut_title").unwrap();
        assert_eq!(sentences("cut_title", Some("cut_title")), Some(Vec::new()));
        assert_eq!(sentences("number, cut_title", Some("number")), Some(vec![sentence]));
        assert_eq!(sentences("2 first-round votes", Some("votes_missing")), None);
    }
}
