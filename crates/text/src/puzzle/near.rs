//! Words near an answer in WordNet: its synonyms, and the words that share a hypernym with it (section 3.3).
//!
//! The paper takes the latter from Wikipedia's categories; hypernyms replace them here. The puzzle decides
//! which sense of the answer is meant (Lesk): first the sense whose words, hypernyms and gloss share most
//! with the question, then the more frequent one. If the nearest hypernym has too few words that readers
//! know, those above it are tried (`kinds`). All three words are of one hypernym, of the answer's part of
//! speech and in its number; at most one is a synonym, and no two are spellings of one word.

mod kinds;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::distractors::{plays_along, same_option, strip_article};
use super::spelling::capitalise_word;
use super::wordnet::{Place, Pos, Synset, WordNet, WordNetError};
use super::words::{find_content_words, word_count, word_key};
use crate::options::DrawStream;

/// The number of best known words from which three are drawn.
const BEST: usize = 8;

/// Words that questions ask with; finding one in a gloss says nothing about the puzzle.
const ASKING: [&str; 8] = ["kind", "type", "sort", "word", "name", "call", "part", "use"];

/// Number of hypernyms above a sense that describe it.
const LEVELS: usize = 3;

/// A word near an answer, in the answer's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearWord {
    /// As an option: `A duck.`
    pub text: String,
    /// How it is near: `synonym`, `beside it under bird`, or `beside it in` a category.
    pub relation: String,
}

/// Three distractors of a word puzzle; none if WordNet does not have the answer, or has fewer words near the
/// sense that the puzzle means. Among words equally near, `seed` and `id` decide.
///
/// # Errors
/// [`WordNetError`] if the database is damaged.
pub fn draw_distractors(
    wordnet: &WordNet,
    question: &str,
    answer: &str,
    seed: u64,
    id: &str,
) -> Result<Vec<NearWord>, WordNetError> {
    let own = strip_article(answer);
    // A letter, `F O E` or a sentence is not looked up, although `n` has entries.
    let spelt_out = own.split_whitespace().all(|word| word.chars().count() == 1);
    if own.chars().count() < 3 || word_count(own) > 3 || spelt_out {
        return Ok(Vec::new());
    }
    let mut draw = DrawStream::new(seed, "brainteaser near", id);
    // WordNet lists `A screw driver.` as one word.
    let joined: String = own.split([' ', '-']).collect();
    let forms = if wordnet.has_counts() && joined != own { vec![own, &joined] } else { vec![own] };
    for own in forms {
        let asks = Asks::new(wordnet, question, answer, own);
        let mut best: Option<Set> = None;
        for sense in meant_senses(wordnet, own, asks.many, question)? {
            let found = of_sense(wordnet, &sense, &asks, &mut draw)?;
            if let Some(set) = found.filter(|set| best.as_ref().is_none_or(|best| set.rank < best.rank)) {
                best = Some(set);
            }
        }
        if let Some(set) = best {
            return Ok(set.neighbours);
        }
    }
    Ok(Vec::new())
}

/// A puzzle whose answer needs related words.
struct Asks<'a> {
    question: &'a str,
    answer: &'a str,
    /// The answer as WordNet lists it.
    own: &'a str,
    /// Whether the answer is a plural.
    many: bool,
    /// Whether the words must have a plural: `A swallow.` is countable, `Tea.` need not be.
    countable: bool,
}

impl<'a> Asks<'a> {
    fn new(wordnet: &WordNet, question: &'a str, answer: &'a str, own: &'a str) -> Asks<'a> {
        let many = own.strip_suffix('s').is_some_and(|one| wordnet.is_listed(one, Pos::Noun));
        let article = answer.split_whitespace().next().map(str::to_lowercase).unwrap_or_default();
        Asks { question, answer, own, many, countable: many || ["a", "an"].contains(&article.as_str()) }
    }
}

/// Three words near one sense.
struct Set {
    neighbours: Vec<NearWord>,
    /// Lower is better: how far above the sense their hypernym is, and from how many words they were chosen.
    rank: (usize, Reverse<usize>),
}

/// The words near one sense of the answer: those that share the lowest hypernym that has three of them, or
/// two and a synonym.
fn of_sense(
    wordnet: &WordNet,
    sense: &Synset,
    asks: &Asks<'_>,
    draw: &mut DrawStream,
) -> Result<Option<Set>, WordNetError> {
    let named = is_proper_name(sense, asks.own);
    // Another name of the same thing would be right too: `the Eternal City` for `Rome`.
    let mut synonyms: Vec<ClassMember> = Vec::new();
    if !named {
        let all = words_of(sense, asks.own);
        let known =
            all.filter_map(|word| Some((kinds::fame_of_word(wordnet, sense, &word, asks.countable)?, word)));
        synonyms.extend(known.map(|(fame, word)| ClassMember { word, place: sense.place, fame }));
    }
    for (climb, class) in kinds::classes_above(wordnet, sense, named)? {
        let mut members = kinds::known_members(wordnet, &class, climb, sense, asks)?;
        let choice = members.len();
        let name = class.words.first().map(String::as_str).unwrap_or_default();
        let mut found = Vec::new();
        choose_words(wordnet, &mut members, 3, &format!("beside it under {name}"), asks, draw, &mut found)?;
        if climb == 1 && found.len() == 2 {
            // Cloned, because `choose` drops words, and a later class starts with all of them again.
            choose_words(wordnet, &mut synonyms.clone(), 1, "synonym", asks, draw, &mut found)?;
        }
        if found.len() == 3 {
            let neighbours = found.into_iter().map(|(near, _)| near).collect();
            // A small database has no frequencies to choose a sense by, so the first one is taken.
            let choice = if wordnet.has_counts() { choice } else { 0 };
            return Ok(Some(Set { neighbours, rank: (climb, Reverse(choice)) }));
        }
    }
    Ok(None)
}

/// A word of a class.
#[derive(Clone, Debug)]
struct ClassMember {
    word: String,
    place: Place,
    fame: u32,
}

/// Adds at most `most` words, drawn from the best known that fit.
fn choose_words(
    wordnet: &WordNet,
    members: &mut Vec<ClassMember>,
    most: usize,
    relation: &str,
    asks: &Asks<'_>,
    draw: &mut DrawStream,
    found: &mut Vec<(NearWord, Place)>,
) -> Result<(), WordNetError> {
    let &Asks { question, answer, own, many: answers_many, .. } = asks;
    let asked = content_words_of(question);
    shuffle_list(members, draw);
    // Words with as many parts as the answer come first, so that length gives nothing away. Next to a
    // one-word answer, a phrase reads like a definition: `potato peelings`.
    let apart = |word: &str| word_count(word).abs_diff(word_count(own));
    members.retain(|member| apart(&member.word) <= usize::from(word_count(own) > 1));
    members.sort_by_key(|member| apart(&member.word));
    let form = |word: &str| if answers_many { kinds::plural_of(wordnet, word) } else { word.to_owned() };
    let mut usable: Vec<(&ClassMember, String)> = Vec::new();
    for member in members.iter() {
        let many = form(&member.word);
        let fits = content_words_of(&member.word).is_disjoint(&asked)
            && fits_answer(question, own, &many, &shape_word(answer, &many), &[])
            && (answers_many || in_plural(&member.word) == in_plural(own));
        if fits && usable.iter().all(|(_, other)| *other != many) {
            usable.push((member, many));
        }
    }
    let mut fame: Vec<u32> = usable.iter().map(|(member, _)| member.fame).collect();
    fame.sort_unstable_by(|a, b| b.cmp(a));
    // Words as well known as the last of the best are kept too, so that their order decides nothing.
    let least = fame.get(BEST - 1).copied().unwrap_or_default();
    let before = found.len();
    for (member, many) in usable.into_iter().filter(|(member, _)| member.fame >= least) {
        let text = shape_word(answer, &many);
        let others: Vec<NearWord> = found.iter().map(|(near, _)| near.clone()).collect();
        let mut related = false;
        for (_, other) in found.iter() {
            related |= kinds::hypernyms_over(wordnet, *other)?.contains(&member.place)
                || kinds::hypernyms_over(wordnet, member.place)?.contains(other);
        }
        if !related && fits_answer(question, own, &many, &text, &others) {
            found.push((NearWord { text, relation: relation.to_owned() }, member.place));
        }
        if found.len() == 3 || found.len() - before == most {
            break;
        }
    }
    Ok(())
}

/// Three distractors of a word puzzle from the members of a category, drawn by `seed` and `id`; fewer if no
/// more fit.
pub fn draw_from_category(
    question: &str,
    answer: &str,
    members: &[String],
    category: &str,
    seed: u64,
    id: &str,
) -> Vec<NearWord> {
    let (own, asked) = (strip_article(answer), find_content_words(question));
    let mut member_words: Vec<&str> =
        members.iter().map(|member| strip_article(member)).filter(|word| !word.is_empty()).collect();
    shuffle_list(&mut member_words, &mut DrawStream::new(seed, "brainteaser members", id));
    member_words.sort_by_key(|word| word_count(word).abs_diff(word_count(own)));
    let mut found: Vec<NearWord> = Vec::new();
    for word in member_words {
        let text = shape_word(answer, word);
        let in_question = !find_content_words(word).is_disjoint(&asked);
        if found.len() < 3 && !in_question && fits_answer(question, own, word, &text, &found) {
            found.push(NearWord { text, relation: format!("beside it in {category}") });
        }
    }
    found
}

/// Whether a word may be an option with this answer and the words already taken: it is no other form of any
/// of them, and its letters do not solve the puzzle.
fn fits_answer(question: &str, own: &str, word: &str, text: &str, found: &[NearWord]) -> bool {
    !plays_along(question, own, word)
        && !shares_word(word, own)
        && !is_inflected(word, own)
        && !same_option(text, own)
        && found.iter().all(|other| {
            let other = strip_article(&other.text);
            !same_option(other, text) && !shares_word(other, word) && !is_inflected(other, word)
        })
}

/// The content words of a text, without plural endings.
fn content_words_of(text: &str) -> BTreeSet<String> {
    let one = |word: String| match word.strip_suffix('s') {
        Some(stem) if in_plural(&word) && stem.chars().count() > 2 => stem.to_owned(),
        _ => word,
    };
    find_content_words(text).into_iter().map(one).collect()
}

/// The senses of a noun that its puzzle means: one, several that fit equally, or none if that cannot be
/// decided. Senses are compared by the words that they and their hypernyms share with the question. If none
/// shares any, the sense as a thing is taken if the word is used in it more often than in all others
/// together, including other parts of speech.
fn meant_senses(
    wordnet: &WordNet,
    word: &str,
    plural: bool,
    question: &str,
) -> Result<Vec<Synset>, WordNetError> {
    let one = if plural { &word[..word.len() - 1] } else { word };
    let mut all = wordnet.find_senses(word)?;
    if plural {
        for sense in wordnet.find_senses(one)? {
            if all.iter().all(|other| other.place != sense.place) {
                all.push(sense);
            }
        }
    }
    let entry = |sense: &Synset| wordnet.count_uses(sense, word).max(wordnet.count_uses(sense, one));
    // A question for a person (`who`) is not answered by a thing.
    let who = word_key(question).split(' ').any(|word| ["who", "whose", "whom"].contains(&word));
    let asked = content_words_of(question);
    let total: u64 = all.iter().map(entry).sum();
    let mut ranked = Vec::new();
    for sense in all.iter().filter(|sense| sense.place.pos == Pos::Noun) {
        let gloss = content_words_of(&sense.gloss);
        let mut mentioned = BTreeSet::new();
        let mut level = vec![sense.clone()];
        for _ in 0..LEVELS {
            let mut above = Vec::new();
            for synset in &level {
                mentioned.extend(synset.words.iter().flat_map(|word| content_words_of(word)));
                for place in synset.follow_pointers(&["@", "@i"]) {
                    above.push(wordnet.read_synset(place)?);
                }
            }
            level = above;
        }
        mentioned
            .extend(level.iter().flat_map(|synset| &synset.words).flat_map(|word| content_words_of(word)));
        // The answer itself is in every sense and favours none.
        mentioned.remove(&word.to_lowercase());
        let shared = |reached: &BTreeSet<String>| {
            reached.intersection(&asked).filter(|word| !ASKING.contains(&word.as_str())).count()
        };
        // `What kind of fish` names the hypernym; words of the gloss may match by chance, so they only break
        // ties.
        ranked.push(((shared(&mentioned), shared(&gloss)), sense));
    }
    let most = ranked.iter().map(|(shared, _)| *shared).max().unwrap_or_default();
    let named = most.0 > 0;
    // To a reader, a fruit and its tree are one word.
    let of_one_kind = |a: &Synset, b: &Synset| a.place == b.place || kinds::are_both_living(a, b);
    let mostly = |sense: &Synset| {
        let own: u64 = all.iter().filter(|other| of_one_kind(other, sense)).map(entry).sum();
        all.len() == 1 || own * 2 > total || (total == 0 && wordnet.has_counts())
    };
    let score = |sense: &Synset| {
        let things = !wordnet.has_counts() || kinds::is_thing(sense);
        is_decent(sense)
            && if named {
                !kinds::is_amount(sense)
            } else {
                things && mostly(sense) && (who || !kinds::is_person(sense))
            }
    };
    let best = ranked.into_iter().filter(|(shared, _)| *shared == most).map(|(_, sense)| sense.clone());
    Ok(kinds::as_readers_take_it(wordnet, best.filter(score).collect()))
}

/// A noun in the plural, by the rules of spelling.
fn pluralise_noun(word: &str) -> String {
    let vowel = |c: char| "aeiou".contains(c);
    if in_plural(word) {
        word.to_owned()
    } else if let Some(stem) = word.strip_suffix('y').filter(|stem| !stem.ends_with(vowel)) {
        format!("{stem}ies")
    } else if let Some(stem) = word.strip_suffix("man") {
        format!("{stem}men")
    } else if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

/// Whether a noun looks like a plural: `trousers`, and not `glass`, `bus` or `tennis`.
fn in_plural(word: &str) -> bool {
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending))
}

/// The words of a synset other than the answer itself, abbreviations and numbers.
fn words_of<'a>(synset: &'a Synset, own: &'a str) -> impl Iterator<Item = String> + 'a {
    let plain = |word: &&String| {
        word.chars().all(|c| c.is_alphabetic() || " -'".contains(c))
            && word.chars().count() > 2
            && word.chars().filter(|c| c.is_uppercase()).count() <= word_count(word)
    };
    synset.words.iter().filter(plain).filter(move |word| !word.eq_ignore_ascii_case(own)).cloned()
}

/// Whether the answer is a proper name in this sense, as WordNet writes it.
fn is_proper_name(sense: &Synset, own: &str) -> bool {
    let entry = sense.words.iter().find(|word| word.eq_ignore_ascii_case(own)).or(sense.words.first());
    entry.is_some_and(|word| word.starts_with(char::is_uppercase))
}

/// Whether one is the other in another form or spelling: `pears` and `pear`, `vapour` and `vapor`.
fn is_inflected(a: &str, b: &str) -> bool {
    strsim::normalized_levenshtein(&a.to_lowercase(), &b.to_lowercase()) >= 0.7
}

/// Whether a synset is free of topics that puzzles for everybody avoid.
fn is_decent(synset: &Synset) -> bool {
    const INDECENT: [&str; 9] =
        ["sexual", "prostitut", "obscene", "offensive", "disparag", "vulgar", "genital", "slur", "nazi"];
    let gloss = synset.gloss.to_lowercase();
    !INDECENT.iter().any(|word| gloss.contains(word))
}

/// Whether one contains the other as a word: `house sparrow` is too close to `sparrow`.
fn shares_word(a: &str, b: &str) -> bool {
    let lower = |text: &str| -> Vec<String> { text.split([' ', '-']).map(str::to_lowercase).collect() };
    let other = lower(b);
    lower(a).iter().any(|word| other.contains(word))
}

/// A word in the form of the answer: with its article, capital and full stop.
fn shape_word(answer: &str, word: &str) -> String {
    let answer = answer.trim();
    let article = answer.split_whitespace().next().map(str::to_lowercase).unwrap_or_default();
    let vowel = word.starts_with(|c: char| "aeiouAEIOU".contains(c));
    let phrase = match article.as_str() {
        "a" | "an" => format!("{} {word}", if vowel { "an" } else { "a" }),
        "the" => format!("the {word}"),
        _ => word.to_owned(),
    };
    let begun = if answer.starts_with(char::is_uppercase) { capitalise_word(&phrase) } else { phrase };
    let stop = if answer.ends_with('.') { "." } else { "" };
    format!("{begun}{stop}")
}

fn shuffle_list<T>(list: &mut [T], draw: &mut DrawStream) {
    for place in (1..list.len()).rev() {
        list.swap(place, draw.draw_below(place + 1));
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
