//! Anonymise: personal data is replaced by marks; posts with listed terms are held for a person.

use std::collections::BTreeMap;

use super::settings::{self, Language};
use crate::record::{Outcome, Post, Puzzle, Reason};
use crate::text::anonymise::{Action, Anonymiser, Settings};
use crate::text::policy::{ListError, Policy, SHIPPED};

/// The word lists named in the settings, as name and content.
#[derive(Clone, Debug, Default)]
pub struct Lists(Vec<(String, String)>);

impl Lists {
    /// Reads lists by name: `builtin` from the program, others through `read`.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<E>(names: &[String], read: impl Fn(&str) -> Result<String, E>) -> Result<Lists, E> {
        let mut lists = Vec::new();
        for name in names {
            match name.as_str() {
                "builtin" => lists.extend(SHIPPED.map(|(name, text)| (name.to_string(), text.to_string()))),
                name => lists.push((name.to_string(), read(name)?)),
            }
        }
        Ok(Lists(lists))
    }

    /// What the manifest records: each list's name and hash.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
        self.0.iter().map(|(name, text)| (format!("list {name}"), hash(text))).collect()
    }
}

/// The stage, built once from its settings.
#[derive(Debug)]
pub struct Anonymise {
    anonymiser: Anonymiser,
    /// Marks instead of refusing, for posts that a person lets through.
    marker: Anonymiser,
    policy: Policy,
}

impl Anonymise {
    /// Compiles settings and lists.
    ///
    /// # Errors
    /// [`ListError`] naming the list and line that cannot be used.
    pub fn new(settings: &settings::Anonymise, lists: &Lists) -> Result<Anonymise, ListError> {
        let action = |word: &str| match word {
            "drop" => Action::Refuse,
            "keep" => Action::Keep,
            _ => Action::Mark,
        };
        let marking = |word: &str| match action(word) {
            Action::Refuse => Action::Mark,
            other => other,
        };
        let by = |action: &dyn Fn(&str) -> Action| {
            let contacts = action(&settings.contacts);
            Anonymiser::new(Settings {
                links: action(&settings.links),
                names: action(&settings.names),
                emails: contacts,
                phones: contacts,
                qq: contacts,
                wechat: contacts,
                id_cards: action(&settings.identity),
                addresses: action(&settings.addresses),
                english: settings.language == Language::En,
                ..Settings::default()
            })
        };
        let (anonymiser, marker) = (by(&action), by(&marking));
        let policy = Policy::new(lists.0.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        Ok(Anonymise { anonymiser, marker, policy })
    }

    /// Anonymises a post. The ledger records kinds and counts, never the words; the text before is only in
    /// the previous stage, which is private.
    pub fn post(&self, mut post: Post) -> Outcome<Post> {
        let mentions = std::mem::take(&mut post.mentions);
        let names: Vec<&str> = mentions.iter().map(String::as_str).collect();
        // A note is shown but not published: personal data in it is marked, and a note that the settings
        // refuse is removed.
        post.note = post.note.and_then(|note| {
            let done = self.anonymiser.apply(&note, &names);
            (!done.refused).then(|| done.text.into_owned())
        });
        match self.text(&post.text, &names) {
            Verdict::Refused(evidence) => Outcome::Dropped { reason: Reason::PersonalData, evidence },
            Verdict::Listed(evidence) => Outcome::Held { reason: Reason::ListedTerm, evidence },
            Verdict::Clean => Outcome::Kept(post),
            Verdict::Marked(text, evidence) => {
                post.text = text;
                let after = post.text.clone();
                Outcome::Changed { rule: MARKED, evidence, before: String::new(), after, row: post }
            }
        }
    }

    /// Anonymises the question and answer of a puzzle like [`Anonymise::post`].
    pub fn puzzle(&self, mut puzzle: Puzzle) -> Outcome<Puzzle> {
        let mut told = Vec::new();
        for (field, text) in [("question", &mut puzzle.question), ("answer", &mut puzzle.answer)] {
            let named = |evidence: String| format!("{field}: {evidence}");
            match self.text(text, &[]) {
                Verdict::Refused(evidence) => {
                    return Outcome::Dropped { reason: Reason::PersonalData, evidence: named(evidence) };
                }
                Verdict::Listed(evidence) => {
                    return Outcome::Held { reason: Reason::ListedTerm, evidence: named(evidence) };
                }
                Verdict::Clean => {}
                Verdict::Marked(marked, evidence) => {
                    *text = marked;
                    told.push(named(evidence));
                }
            }
        }
        if told.is_empty() {
            return Outcome::Kept(puzzle);
        }
        let after = format!("{}\n{}", puzzle.question, puzzle.answer);
        Outcome::Changed {
            rule: MARKED,
            evidence: told.join("; "),
            before: String::new(),
            after,
            row: puzzle,
        }
    }

    /// A post that a person lets through: its personal data is marked, even where the settings would refuse
    /// it or a list hold it.
    pub fn marked(&self, mut post: Post) -> Post {
        let mentions = std::mem::take(&mut post.mentions);
        let names: Vec<&str> = mentions.iter().map(String::as_str).collect();
        post.text = self.marker.apply(&post.text, &names).text.into_owned();
        post
    }

    /// The same for a puzzle.
    pub fn marked_puzzle(&self, mut puzzle: Puzzle) -> Puzzle {
        for text in [&mut puzzle.question, &mut puzzle.answer] {
            *text = self.marker.apply(text, &[]).text.into_owned();
        }
        puzzle
    }

    /// Anonymises one text: `None` if it is unchanged, else the text with marks and what was marked.
    ///
    /// # Errors
    /// The reason to drop or hold the text, and the evidence.
    pub fn one(&self, text: &str) -> Result<Option<(String, String)>, (Reason, String)> {
        match self.text(text, &[]) {
            Verdict::Refused(evidence) => Err((Reason::PersonalData, evidence)),
            Verdict::Listed(evidence) => Err((Reason::ListedTerm, evidence)),
            Verdict::Clean => Ok(None),
            Verdict::Marked(marked, evidence) => Ok(Some((marked, evidence))),
        }
    }

    fn text(&self, text: &str, names: &[&str]) -> Verdict {
        let done = self.anonymiser.apply(text, names);
        let evidence = done.evidence();
        if done.refused {
            return Verdict::Refused(evidence);
        }
        let marked = (!done.marks.is_empty()).then(|| done.text.into_owned());
        let hits = self.policy.check(marked.as_deref().unwrap_or(text));
        if !hits.is_empty() {
            let hits: Vec<String> = hits.iter().map(|hit| format!("{}: {}", hit.list, hit.term)).collect();
            return Verdict::Listed(hits.join(", "));
        }
        marked.map_or(Verdict::Clean, |marked| Verdict::Marked(marked, evidence))
    }
}

/// The rule's name in the ledger.
pub const MARKED: &str = "personal_data_marked";

/// The decision on a text, with evidence.
enum Verdict {
    Clean,
    Marked(String, String),
    Listed(String),
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_puzzle_is_marked_in_english_in_both_its_texts() {
        let settings = settings::Anonymise { language: Language::En, ..settings::Anonymise::default() };
        let anonymise = Anonymise::new(&settings, &Lists::default()).unwrap();
        let puzzle = |question: &str, answer: &str| Puzzle {
            question: question.into(),
            answer: answer.into(),
            ..Puzzle::default()
        };
        let plain = puzzle("Anna has 7 sons, at 3 o'clock. Why?", "They are twins.");
        assert_eq!(anonymise.puzzle(plain.clone()), Outcome::Kept(plain));
        let outcome = anonymise.puzzle(puzzle("Write to owner@example.org. Why?", "See www.example.org/a."));
        let Outcome::Changed { row, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!((row.question.as_str(), row.answer.as_str()), ("Write to [e-mail]. Why?", "See [link]."));
        assert_eq!(evidence, "question: email 1; answer: link 1");
    }
}
