//! Words beside an answer in WordNet: its synonyms, and the words that share its hypernym (section 3.3).
//!
//! The paper takes the latter from Wikipedia's categories; hypernyms stand in for them here. Which sense of the
//! answer is meant is told by its puzzle (Lesk): the sense whose words, hypernyms and gloss share most with the
//! question goes first, then the more frequent one.

use std::collections::BTreeSet;

use super::distractors::{alike, core};
use super::letters::plays_along;
use super::spelling::capital;
use super::wordnet::{Synset, WordNet, WordNetError};
use super::words::{content, tokens};
use crate::options::Draw;

/// Hypernyms over a sense that say what it is.
const LEVELS: usize = 3;

/// A word beside an answer, in the answer's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// As an option: `A duck.`
    pub text: String,
    /// How it is near: `synonym`, or `beside it under bird`.
    pub relation: String,
}

/// Three distractors of a word puzzle; fewer where WordNet does not know the answer or has no more beside it. Among
/// words equally near `seed` and `id` decide.
///
/// # Errors
/// [`WordNetError`] where the database is damaged.
pub fn near(
    wordnet: &WordNet,
    question: &str,
    answer: &str,
    seed: u64,
    id: &str,
) -> Result<Vec<Near>, WordNetError> {
    let own = core(answer);
    // A letter or a sentence is no entry, whatever stands under `n`.
    if own.chars().count() < 3 || tokens(own) > 3 {
        return Ok(Vec::new());
    }
    let mut draw = Draw::new(seed, "brainteaser near", id);
    let asked = content(question);
    let mut found: Vec<Near> = Vec::new();
    for sense in ranked(wordnet, own, &asked)?.into_iter().filter(decent) {
        let named = proper(&sense, own);
        // Another name of a thing is that thing: `the Eternal City` would be as right as `Rome`.
        let synonyms = words_of(&sense, own).filter(|_| !named).map(|word| (word, "synonym".to_owned()));
        let mut layers: Vec<Vec<(String, String)>> = vec![synonyms.collect()];
        for place in sense.to(&["@", "@i"]) {
            let above = wordnet.synset(place)?;
            let mut beside = Vec::new();
            for place in above.to(&["~", "~i"]).filter(|place| *place != sense.place) {
                let sibling = wordnet.synset(place)?;
                if !decent(&sibling) {
                    continue;
                }
                let name = above.words.first().map(String::as_str).unwrap_or_default();
                // One word a sibling: its others are synonyms of each other.
                beside.extend(
                    words_of(&sibling, own).next().map(|word| (word, format!("beside it under {name}"))),
                );
            }
            layers.push(beside);
        }
        for mut layer in layers {
            shuffle(&mut layer, &mut draw);
            // As many words as the answer has first, so that length gives nothing away.
            layer.sort_by_key(|(word, _)| tokens(word).abs_diff(tokens(own)));
            for (word, relation) in layer {
                let text = shaped(answer, &word);
                let usable = content(&word).is_disjoint(&asked)
                    && !plays_along(question, own, &word)
                    && !shares_word(&word, own)
                    && !inflected(&word, own)
                    && word.starts_with(char::is_uppercase) == named
                    && found
                        .iter()
                        .all(|other| !alike(&other.text, &text) && !shares_word(core(&other.text), &word));
                if usable && !alike(&text, answer) {
                    found.push(Near { text, relation });
                }
                if found.len() == 3 {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// The senses of a word, those first that its puzzle speaks of.
fn ranked(wordnet: &WordNet, word: &str, asked: &BTreeSet<String>) -> Result<Vec<Synset>, WordNetError> {
    let mut ranked = Vec::new();
    for sense in wordnet.senses(word)? {
        let mut said = content(&sense.gloss);
        let mut level = vec![sense.clone()];
        for _ in 0..LEVELS {
            let mut above = Vec::new();
            for synset in &level {
                said.extend(synset.words.iter().flat_map(|word| content(word)));
                for place in synset.to(&["@", "@i"]) {
                    above.push(wordnet.synset(place)?);
                }
            }
            level = above;
        }
        said.extend(level.iter().flat_map(|synset| &synset.words).flat_map(|word| content(word)));
        said.remove(&word.to_lowercase());
        ranked.push((said.intersection(asked).count(), sense));
    }
    ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    Ok(ranked.into_iter().map(|(_, sense)| sense).collect())
}

/// The words of a synset but the answer itself; no abbreviations, no numbers.
fn words_of<'a>(synset: &'a Synset, own: &'a str) -> impl Iterator<Item = String> + 'a {
    let plain = |word: &&String| {
        word.chars().all(|c| c.is_alphabetic() || " -'".contains(c))
            && word.chars().count() > 2
            && word.chars().filter(|c| c.is_uppercase()).count() <= tokens(word)
    };
    synset.words.iter().filter(plain).filter(move |word| !word.eq_ignore_ascii_case(own)).cloned()
}

/// Whether the answer is a name in this sense, as WordNet writes it.
fn proper(sense: &Synset, own: &str) -> bool {
    let entry = sense.words.iter().find(|word| word.eq_ignore_ascii_case(own)).or(sense.words.first());
    entry.is_some_and(|word| word.starts_with(char::is_uppercase))
}

/// `pears` beside `pear`, `vapour` beside `vapor`: the answer once more.
fn inflected(a: &str, b: &str) -> bool {
    strsim::normalized_levenshtein(&a.to_lowercase(), &b.to_lowercase()) >= 0.7
}

/// Whether a synset speaks of nothing that a puzzle for everybody leaves out.
fn decent(synset: &Synset) -> bool {
    const INDECENT: [&str; 9] =
        ["sexual", "prostitut", "obscene", "offensive", "disparag", "vulgar", "genital", "slur", "nazi"];
    let gloss = synset.gloss.to_lowercase();
    !INDECENT.iter().any(|word| gloss.contains(word))
}

/// `house sparrow` beside `sparrow` is hardly another word.
fn shares_word(a: &str, b: &str) -> bool {
    let lower = |text: &str| -> Vec<String> { text.split([' ', '-']).map(str::to_lowercase).collect() };
    let other = lower(b);
    lower(a).iter().any(|word| other.contains(word))
}

/// A word in the form of the answer: its article, its capital, its full stop.
fn shaped(answer: &str, word: &str) -> String {
    let answer = answer.trim();
    let article = answer.split_whitespace().next().map(str::to_lowercase).unwrap_or_default();
    let vowel = word.starts_with(|c: char| "aeiouAEIOU".contains(c));
    let phrase = match article.as_str() {
        "a" | "an" => format!("{} {word}", if vowel { "an" } else { "a" }),
        "the" => format!("the {word}"),
        _ => word.to_owned(),
    };
    let begun = if answer.starts_with(char::is_uppercase) { capital(&phrase) } else { phrase };
    let stop = if answer.ends_with('.') { "." } else { "" };
    format!("{begun}{stop}")
}

fn shuffle<T>(list: &mut [T], draw: &mut Draw) {
    for place in (1..list.len()).rev() {
        list.swap(place, draw.below(place + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::super::wordnet::tests::small;
    use super::*;

    fn texts(question: &str, answer: &str) -> Vec<String> {
        let (_folder, wordnet) = small();
        near(&wordnet, question, answer, 0, "id").unwrap().into_iter().map(|near| near.text).collect()
    }

    #[test]
    fn the_puzzle_tells_the_sense_and_the_answer_the_form() {
        let mut birds = texts("Which bird goes down with every bite?", "A swallow.");
        birds.sort();
        assert_eq!(birds, ["A duck.", "A house sparrow.", "A martlet."]);
        assert_eq!(
            texts("How much liquid goes down at once?", "A swallow."),
            ["A sup.", "A swig.", "A martlet."]
        );
        assert_eq!(texts("Which city is the capital?", "Rome").len(), 2);
    }

    #[test]
    fn a_word_that_plays_along_is_no_distractor() {
        let found =
            texts("Which seat of a government hides in every chrome, and which in no comparison?", "Rome.");
        assert_eq!(found, ["Oslo."]);
        assert_eq!(texts("Which letter ends the end?", "The letter D."), Vec::<String>::new());
    }

    #[test]
    fn the_same_every_time() {
        let (_folder, wordnet) = small();
        let once = near(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap();
        assert_eq!(near(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap(), once);
        assert!(once.iter().all(|near| near.relation == "beside it under bird"), "{once:?}");
    }
}
