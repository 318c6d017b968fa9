//! What readers know: kinds of things by WordNet's hypernyms, and words by how often they are met.

use std::collections::BTreeSet;

use super::{Asks, Member, decent, plural, words_of};
use crate::puzzle::wordnet::{Place, Pos, Synset, WordNet, WordNetError};
use crate::puzzle::words::tokens;

/// Lexicographers' files: what WordNet's makers sorted nouns into.
const ANIMALS: u32 = 5;
const BODY: u32 = 8;
const FOOD: u32 = 13;
const PERSONS: u32 = 18;
const PLANTS: u32 = 20;

/// The files of what one can point at, and of times: animals, things, bodies, food, places, objects, people, plants,
/// substances. Members of a class of anything else have little in common for a reader, unless the question names it.
const THINGS: [u32; 10] = [ANIMALS, 6, BODY, FOOD, 15, 17, PERSONS, PLANTS, 27, 28];

/// The files of possessions and of amounts: `lump sum` beside `blood money`, `dozen` beside `eleven`.
const AMOUNTS: [u32; 2] = [21, 23];

/// A class with more synsets right under it than this says nothing of them, unless they live or grow.
const WIDEST: usize = 120;

/// A class with fewer synsets over it than this says nothing either: `object`, `whole`, `artifact`.
const DEEP: usize = 5;

/// How far over a sense its class may stand.
const CLIMBS: usize = 3;

/// A word over more synsets than this is the name of a class: `rodent`, `vegetable`.
const CLASS: usize = 40;

/// A word that stands so often in glosses is known to readers, though nobody used it in a text: `almond`.
const EXPLAINS: u32 = 20;

/// Below so many uses a word is known to few: `guan`.
const USES: u32 = 6;

/// Whether a sense is of things.
pub(super) fn things(sense: &Synset) -> bool {
    THINGS.contains(&sense.file)
}

/// Whether a sense is an amount or a possession.
pub(super) fn amounts(sense: &Synset) -> bool {
    AMOUNTS.contains(&sense.file)
}

/// Whether a sense is somebody.
pub(super) fn person(sense: &Synset) -> bool {
    sense.file == PERSONS
}

/// Whether both live, grow or are eaten: a word for one is often that for the other.
pub(super) fn grown(a: &Synset, b: &Synset) -> bool {
    let kind = |sense: &Synset| [ANIMALS, FOOD, PLANTS].contains(&sense.file);
    kind(a) && kind(b)
}

/// Of senses that a puzzle speaks of equally, those that readers think of: the animal before its meat, the fruit before
/// its tree.
pub(super) fn as_readers_take_it(wordnet: &WordNet, mut senses: Vec<Synset>) -> Vec<Synset> {
    let has = |file: u32| senses.iter().any(|sense| sense.file == file);
    let (animal, food) = (has(ANIMALS), has(FOOD));
    if wordnet.counts() && animal {
        senses.retain(|sense| sense.file != FOOD);
    } else if wordnet.counts() && food {
        senses.retain(|sense| sense.file != PLANTS);
    }
    senses
}

/// The classes over a sense whose members can be beside it, the nearest first, each with how far over it it stands.
pub(super) fn classes(
    wordnet: &WordNet,
    sense: &Synset,
    named: bool,
) -> Result<Vec<(usize, Synset)>, WordNetError> {
    let mut found = Vec::new();
    let mut level = vec![sense.clone()];
    // A small database has no depth; the class of a name, `city`, is the one that it is an instance of.
    let climbs = if wordnet.counts() && !named { CLIMBS } else { 1 };
    for climb in 1..=climbs {
        let mut above: Vec<Synset> = Vec::new();
        for place in level.iter().flat_map(|synset| synset.to(&["@", "@i"])) {
            if above.iter().all(|other| other.place != place) {
                above.push(wordnet.synset(place)?);
            }
        }
        for class in &above {
            if holds_together(wordnet, class, climb, named)? {
                found.push((climb, class.clone()));
            }
        }
        level = above;
    }
    Ok(found)
}

/// Whether a reader sees what the members of a class have in common. Living things and food do over several steps; of
/// what was made, what everything and its opposite belongs to does not (`device`, `area`, `equipment`).
fn holds_together(
    wordnet: &WordNet,
    class: &Synset,
    climb: usize,
    named: bool,
) -> Result<bool, WordNetError> {
    let deep = depth(wordnet, class)?;
    let living = [ANIMALS, PLANTS].contains(&class.file);
    let grows = living || class.file == FOOD;
    if deep < DEEP || (!named && !grows && class.to(&["~", "~i"]).count() > WIDEST) {
        return Ok(false);
    }
    if !wordnet.counts() || named {
        return Ok(true);
    }
    let at_most = |size: usize| Ok(under(wordnet, class.place, usize::MAX, size)?.len() <= size);
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

/// The words of a class that readers know, each of another synset, down to the level of the sense that it stands over.
/// Neither kinds of the answer are among them nor what it is a kind of.
pub(super) fn members(
    wordnet: &WordNet,
    class: &Synset,
    climb: usize,
    sense: &Synset,
    asks: &Asks<'_>,
) -> Result<Vec<Member>, WordNetError> {
    let named = super::proper(sense, asks.own);
    let mut kin: BTreeSet<Place> = under(wordnet, sense.place, usize::MAX, usize::MAX)?.into_iter().collect();
    kin.extend(over(wordnet, sense.place)?);
    kin.insert(sense.place);
    let mut found = Vec::new();
    for place in under(wordnet, class.place, climb, usize::MAX)? {
        if kin.contains(&place) {
            continue;
        }
        let synset = wordnet.synset(place)?;
        if !decent(&synset) {
            continue;
        }
        // One word a synset, the best known: its others are synonyms or spellings of it.
        let words = words_of(&synset, asks.own).filter(|word| word.starts_with(char::is_uppercase) == named);
        let known =
            words.filter_map(|word| Some((fame(wordnet, &synset, &word, asks.countable && !named)?, word)));
        if let Some((fame, word)) = known.max_by_key(|(fame, _)| *fame) {
            // Who knows a name knows it, however often it is met.
            found.push(Member { word, place, fame: if named { 0 } else { fame } });
        }
    }
    Ok(found)
}

/// How well readers know a word in a sense, by the texts and glosses that have it; none where they do not, take it in
/// another sense first, or know it as the name of a class. A small database has no texts: any word is known.
pub(super) fn fame(wordnet: &WordNet, sense: &Synset, word: &str, countable: bool) -> Option<u32> {
    if !wordnet.counts() {
        return Some(0);
    }
    let own = u32::try_from(wordnet.count(sense, word)).unwrap_or(u32::MAX);
    let named = word.starts_with(char::is_uppercase);
    // Names are in no example by themselves, and phrases cannot be counted there.
    if (named || tokens(word) > 1 || word.contains('-')) && own == 0 {
        return None;
    }
    let senses = wordnet.senses(word).ok()?;
    let (mut here, mut elsewhere) = (0, 0);
    for other in &senses {
        let met = wordnet.count(other, word);
        let same = other.place == sense.place || (other.place.pos == Pos::Noun && grown(other, sense));
        if same {
            here += met;
        } else {
            elsewhere = elsewhere.max(met);
        }
    }
    // What nobody met is known where it means nothing else: `rose` is hardly a wine, `queen` hardly an insect.
    let other = |other: &Synset| match other.place.pos {
        Pos::Noun => other.place != sense.place && !grown(other, sense),
        Pos::Adjective => true,
        Pos::Verb | Pos::Adverb => false,
    };
    let doubtful = here == 0 && senses.iter().any(other);
    if elsewhere > here || doubtful || (!named && !first(&senses, sense, word)) {
        return None;
    }
    if named || tokens(word) > 1 {
        return Some(own);
    }
    let (one, many) = (word.to_lowercase(), plural_of(wordnet, word).to_lowercase());
    let here = u32::try_from(here).unwrap_or(u32::MAX);
    let singles = wordnet.in_glosses(&one);
    let several = if many == one { 0 } else { wordnet.in_glosses(&many) };
    let used = here + wordnet.in_examples(&one) + if many == one { 0 } else { wordnet.in_examples(&many) };
    let fame = singles + several + 2 * here;
    let known = singles >= 2 && fame >= USES && (used > 0 || singles >= EXPLAINS);
    let class = || under(wordnet, sense.place, usize::MAX, CLASS).is_ok_and(|under| under.len() > CLASS);
    (known && !(countable && several == 0) && !class()).then_some(fame)
}

/// Whether a sense is the first that a noun is listed with, or its first as food where that is what grows or lives.
fn first(senses: &[Synset], sense: &Synset, word: &str) -> bool {
    let mut nouns = senses.iter().filter(|other| other.place.pos == Pos::Noun);
    let Some(first) = nouns.next() else { return false };
    let files = [first.file, sense.file];
    let mainly = sense.words.first().is_some_and(|first| first.eq_ignore_ascii_case(word));
    let pair = mainly && files.contains(&FOOD) && grown(first, sense) && files[0] != files[1];
    first.place == sense.place
        || (pair
            && nouns.find(|other| other.file == sense.file).is_some_and(|other| other.place == sense.place))
}

/// The plural that the glosses have: `potatoes`, where the rules of spelling leave two.
pub(super) fn plural_of(wordnet: &WordNet, word: &str) -> String {
    let by_rule = plural(word);
    match by_rule.strip_suffix("os") {
        Some(stem) if wordnet.in_glosses(&format!("{stem}oes")) > wordnet.in_glosses(&by_rule) => {
            format!("{stem}oes")
        }
        _ => by_rule,
    }
}

/// Everything over a synset.
pub(super) fn over(wordnet: &WordNet, place: Place) -> Result<BTreeSet<Place>, WordNetError> {
    let mut found = BTreeSet::new();
    let mut level = vec![place];
    while let Some(place) = level.pop() {
        for above in wordnet.synset(place)?.to(&["@", "@i"]) {
            if found.insert(above) {
                level.push(above);
            }
        }
    }
    Ok(found)
}

/// What is under a synset, so many levels down, the nearest first; no more than one above `most`.
fn under(wordnet: &WordNet, place: Place, levels: usize, most: usize) -> Result<Vec<Place>, WordNetError> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([place]);
    let mut level = vec![place];
    for _ in 0..levels {
        let mut below = Vec::new();
        for place in level {
            for place in wordnet.synset(place)?.to(&["~", "~i"]) {
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

/// How many synsets stand over one, by its first hypernyms.
fn depth(wordnet: &WordNet, synset: &Synset) -> Result<usize, WordNetError> {
    let mut above = synset.to(&["@", "@i"]).next();
    let mut depth = 0;
    while let Some(place) = above.filter(|_| wordnet.counts() && depth < 20) {
        depth += 1;
        above = wordnet.synset(place)?.to(&["@", "@i"]).next();
    }
    Ok(if wordnet.counts() { depth } else { DEEP })
}
