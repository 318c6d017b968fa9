//! What readers know: kinds of things by WordNet's hypernyms, and words by how often they are used.

use std::collections::BTreeSet;

use super::{Asks, ClassMember, is_decent, pluralise_noun, words_of};
use crate::puzzle::wordnet::{Place, Pos, Synset, WordNet, WordNetError};
use crate::puzzle::words::word_count;

/// Lexicographers' files: the topics into which WordNet sorts nouns.
const ANIMALS: u32 = 5;
const BODY: u32 = 8;
const FOOD: u32 = 13;
const PERSONS: u32 = 18;
const PLANTS: u32 = 20;

/// The files of tangible things and of times: animals, things, bodies, food, places, objects, people, plants,
/// substances. Members of other classes have little in common for a reader, unless the question names the
/// class.
const THINGS: [u32; 10] = [ANIMALS, 6, BODY, FOOD, 15, 17, PERSONS, PLANTS, 27, 28];

/// The files of possessions and of amounts: `lump sum` for `blood money`, `dozen` for `eleven`.
const AMOUNTS: [u32; 2] = [21, 23];

/// A class with more direct hyponyms than this says little about them, unless they live or grow.
const WIDEST: usize = 120;

/// A class with fewer hypernyms than this says little either: `object`, `whole`, `artifact`.
const DEEP: usize = 5;

/// How many levels above a sense its class may be.
const CLIMBS: usize = 3;

/// A word with more hyponyms than this is the name of a class: `rodent`, `vegetable`.
const CLASS: usize = 40;

/// A word used this often in glosses is known to readers even if no tagged text uses it: `almond`.
const EXPLAINS: u32 = 20;

/// A word used less often is known to few: `guan`.
const USES: u32 = 6;

/// Whether a sense is of things.
pub(super) fn is_thing(sense: &Synset) -> bool {
    THINGS.contains(&sense.file)
}

/// Whether a sense is an amount or a possession.
pub(super) fn is_amount(sense: &Synset) -> bool {
    AMOUNTS.contains(&sense.file)
}

/// Whether a sense is a person.
pub(super) fn is_person(sense: &Synset) -> bool {
    sense.file == PERSONS
}

/// Whether both live, grow or are eaten: one word often names both.
pub(super) fn are_both_living(a: &Synset, b: &Synset) -> bool {
    let kind = |sense: &Synset| [ANIMALS, FOOD, PLANTS].contains(&sense.file);
    kind(a) && kind(b)
}

/// Of senses that fit a puzzle equally, those that readers think of first: the animal before its meat, the
/// fruit before its tree.
pub(super) fn as_readers_take_it(wordnet: &WordNet, mut senses: Vec<Synset>) -> Vec<Synset> {
    let has = |file: u32| senses.iter().any(|sense| sense.file == file);
    let (animal, food) = (has(ANIMALS), has(FOOD));
    if wordnet.has_counts() && animal {
        senses.retain(|sense| sense.file != FOOD);
    } else if wordnet.has_counts() && food {
        senses.retain(|sense| sense.file != PLANTS);
    }
    senses
}

/// The classes above a sense whose members can be options with it, nearest first, each with its distance.
pub(super) fn classes_above(
    wordnet: &WordNet,
    sense: &Synset,
    named: bool,
) -> Result<Vec<(usize, Synset)>, WordNetError> {
    let mut found = Vec::new();
    let mut level = vec![sense.clone()];
    // A small database has few levels; the class of a name (`city`) is the one that it is an instance of.
    let climbs = if wordnet.has_counts() && !named { CLIMBS } else { 1 };
    for climb in 1..=climbs {
        let mut above: Vec<Synset> = Vec::new();
        for place in level.iter().flat_map(|synset| synset.follow_pointers(&["@", "@i"])) {
            if above.iter().all(|other| other.place != place) {
                above.push(wordnet.read_synset(place)?);
            }
        }
        for class in &above {
            if is_coherent(wordnet, class, climb, named)? {
                found.push((climb, class.clone()));
            }
        }
        level = above;
    }
    Ok(found)
}

/// Whether a reader sees what the members of a class have in common. Living things and food do over several
/// levels; made things do not in classes that include almost everything (`device`, `area`, `equipment`).
fn is_coherent(wordnet: &WordNet, class: &Synset, climb: usize, named: bool) -> Result<bool, WordNetError> {
    let deep = depth_of(wordnet, class)?;
    let living = [ANIMALS, PLANTS].contains(&class.file);
    let grows = living || class.file == FOOD;
    if deep < DEEP || (!named && !grows && class.follow_pointers(&["~", "~i"]).count() > WIDEST) {
        return Ok(false);
    }
    if !wordnet.has_counts() || named {
        return Ok(true);
    }
    let at_most = |size: usize| Ok(hyponyms_under(wordnet, class.place, usize::MAX, size)?.len() <= size);
    match (climb, class.file) {
        (1, _) if grows => Ok(true),
        (1, _) => at_most(300),
        (_, ANIMALS | PLANTS) => Ok(deep >= 8 && at_most(1500)?),
        (_, FOOD) => Ok(deep >= 6 && at_most(350)?),
        (2, BODY) => Ok(deep >= 6 && at_most(100)?),
        (2, _) => Ok(deep >= 8 && at_most(100)?),
        _ => Ok(false),
    }
}

/// The words of a class that readers know, each of another synset, down to the level of the sense. Excludes
/// the answer's own hyponyms and hypernyms.
pub(super) fn known_members(
    wordnet: &WordNet,
    class: &Synset,
    climb: usize,
    sense: &Synset,
    asks: &Asks<'_>,
) -> Result<Vec<ClassMember>, WordNetError> {
    let named = super::is_proper_name(sense, asks.own);
    let mut kin: BTreeSet<Place> =
        hyponyms_under(wordnet, sense.place, usize::MAX, usize::MAX)?.into_iter().collect();
    kin.extend(hypernyms_over(wordnet, sense.place)?);
    kin.insert(sense.place);
    let mut found = Vec::new();
    for place in hyponyms_under(wordnet, class.place, climb, usize::MAX)? {
        if kin.contains(&place) {
            continue;
        }
        let synset = wordnet.read_synset(place)?;
        if !is_decent(&synset) {
            continue;
        }
        // One word per synset, the best known: the others are its synonyms or spellings.
        let words = words_of(&synset, asks.own).filter(|word| word.starts_with(char::is_uppercase) == named);
        let known = words.filter_map(|word| {
            Some((fame_of_word(wordnet, &synset, &word, asks.countable && !named)?, word))
        });
        if let Some((fame, word)) = known.max_by_key(|(fame, _)| *fame) {
            // Names are known regardless of how often they are used.
            found.push(ClassMember { word, place, fame: if named { 0 } else { fame } });
        }
    }
    Ok(found)
}

/// How well readers know a word in a sense, by its uses in texts and glosses; `None` if they do not know it,
/// think of another sense first, or know it as the name of a class. A small database has no texts, so any
/// word counts as known.
pub(super) fn fame_of_word(wordnet: &WordNet, sense: &Synset, word: &str, countable: bool) -> Option<u32> {
    if !wordnet.has_counts() {
        return Some(0);
    }
    let own = u32::try_from(wordnet.count_uses(sense, word)).unwrap_or(u32::MAX);
    let named = word.starts_with(char::is_uppercase);
    // Examples never use names by themselves, and phrases cannot be counted in them.
    if (named || word_count(word) > 1 || word.contains('-')) && own == 0 {
        return None;
    }
    let senses = wordnet.find_senses(word).ok()?;
    let (mut here, mut elsewhere) = (0, 0);
    for other in &senses {
        let met = wordnet.count_uses(other, word);
        let same =
            other.place == sense.place || (other.place.pos == Pos::Noun && are_both_living(other, sense));
        if same {
            here += met;
        } else {
            elsewhere = elsewhere.max(met);
        }
    }
    // A word without uses counts as known only if it has no other sense: readers hardly know `rose` as a wine
    // or `queen` as an insect.
    let other = |other: &Synset| match other.place.pos {
        Pos::Noun => other.place != sense.place && !are_both_living(other, sense),
        Pos::Adjective => true,
        Pos::Verb | Pos::Adverb => false,
    };
    let doubtful = here == 0 && senses.iter().any(other);
    if elsewhere > here || doubtful || (!named && !is_first_sense(&senses, sense, word)) {
        return None;
    }
    if named || word_count(word) > 1 {
        return Some(own);
    }
    let (one, many) = (word.to_lowercase(), plural_of(wordnet, word).to_lowercase());
    let here = u32::try_from(here).unwrap_or(u32::MAX);
    let singles = wordnet.in_glosses(&one);
    let several = if many == one { 0 } else { wordnet.in_glosses(&many) };
    let used = here + wordnet.in_examples(&one) + if many == one { 0 } else { wordnet.in_examples(&many) };
    let fame = singles + several + 2 * here;
    let known = singles >= 2 && fame >= USES && (used > 0 || singles >= EXPLAINS);
    let class =
        || hyponyms_under(wordnet, sense.place, usize::MAX, CLASS).is_ok_and(|under| under.len() > CLASS);
    (known && !(countable && several == 0) && !class()).then_some(fame)
}

/// Whether a sense is the first of a noun, or its first as food if the first is what grows or lives.
fn is_first_sense(senses: &[Synset], sense: &Synset, word: &str) -> bool {
    let mut nouns = senses.iter().filter(|other| other.place.pos == Pos::Noun);
    let Some(first) = nouns.next() else { return false };
    let files = [first.file, sense.file];
    let mainly = sense.words.first().is_some_and(|first| first.eq_ignore_ascii_case(word));
    let pair = mainly && files.contains(&FOOD) && are_both_living(first, sense) && files[0] != files[1];
    first.place == sense.place
        || (pair
            && nouns.find(|other| other.file == sense.file).is_some_and(|other| other.place == sense.place))
}

/// The plural that the glosses use if spelling allows two: `potatoes`.
pub(super) fn plural_of(wordnet: &WordNet, word: &str) -> String {
    let by_rule = pluralise_noun(word);
    match by_rule.strip_suffix("os") {
        Some(stem) if wordnet.in_glosses(&format!("{stem}oes")) > wordnet.in_glosses(&by_rule) => {
            format!("{stem}oes")
        }
        _ => by_rule,
    }
}

/// All hypernyms of a synset.
pub(super) fn hypernyms_over(wordnet: &WordNet, place: Place) -> Result<BTreeSet<Place>, WordNetError> {
    let mut found = BTreeSet::new();
    let mut level = vec![place];
    while let Some(place) = level.pop() {
        for above in wordnet.read_synset(place)?.follow_pointers(&["@", "@i"]) {
            // A synset may have several hypernyms whose paths join again further up.
            if found.insert(above) {
                level.push(above);
            }
        }
    }
    Ok(found)
}

/// The hyponyms of a synset down to `levels`, nearest first; stops at one more than `most`.
fn hyponyms_under(
    wordnet: &WordNet,
    place: Place,
    levels: usize,
    most: usize,
) -> Result<Vec<Place>, WordNetError> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([place]);
    let mut level = vec![place];
    for _ in 0..levels {
        let mut below = Vec::new();
        for place in level {
            for place in wordnet.read_synset(place)?.follow_pointers(&["~", "~i"]) {
                if seen.insert(place) {
                    below.push(place);
                }
            }
        }
        if below.is_empty() || found.len() > most {
            break;
        }
        found.extend(&below);
        level = below;
    }
    Ok(found)
}

/// How many hypernyms a synset has, following the first of each.
fn depth_of(wordnet: &WordNet, synset: &Synset) -> Result<usize, WordNetError> {
    let mut above = synset.follow_pointers(&["@", "@i"]).next();
    let mut depth = 0;
    // The bound ends the loop if a damaged database has a circle of hypernyms.
    while let Some(place) = above.filter(|_| wordnet.has_counts() && depth < 20) {
        depth += 1;
        above = wordnet.read_synset(place)?.follow_pointers(&["@", "@i"]).next();
    }
    Ok(if wordnet.has_counts() { depth } else { DEEP })
}
