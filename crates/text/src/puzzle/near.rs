//! Words beside an answer in WordNet: its synonyms, and the words that share its hypernym (section 3.3).
//!
//! The paper takes the latter from Wikipedia's categories; hypernyms stand in for them here. Which sense of the
//! answer is meant is told by its puzzle (Lesk): the sense whose words, hypernyms and gloss share most with the
//! question goes first, then the more frequent one. All three are of that sense, of its part of speech and in its number;
//! at most one is a synonym, and no two are spellings of one word.

use std::collections::BTreeSet;

use super::distractors::{alike, core};
use super::letters::plays_along;
use super::spelling::capital;
use super::wordnet::{Pos, Synset, WordNet, WordNetError};
use super::words::{content, key, tokens};
use crate::options::Draw;

/// A hypernym with more words under it than this says nothing of them.
const WIDEST: usize = 120;

/// Words that questions ask with; a gloss that has one says nothing of the puzzle.
const ASKING: [&str; 8] = ["kind", "type", "sort", "word", "name", "call", "part", "use"];

/// A hypernym with fewer synsets over it than this says nothing either: `object`, `whole`, `artifact`.
const DEEP: usize = 5;

/// A word that stands in so many glosses is known to readers: `carrot`, `heron`, and not `pinfold`.
const EXPLAINS: u32 = 3;

/// The lexicographers' file of persons, in the key of a sense.
const PERSON: &str = "%1:18:";

/// The lexicographers' files of what one can point at, and of times: animals, things, bodies, food, places, objects, people,
/// plants, substances. Members of a class of anything else, as of payments or numbers, have little in common for a reader.
const CONCRETE: [&str; 10] =
    ["%1:05:", "%1:06:", "%1:08:", "%1:13:", "%1:15:", "%1:17:", "%1:18:", "%1:20:", "%1:27:", "%1:28:"];

/// Hypernyms over a sense that say what it is.
const LEVELS: usize = 3;

/// A word beside an answer, in the answer's form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// As an option: `A duck.`
    pub text: String,
    /// How it is near: `synonym`, `beside it under bird`, or `beside it in` a category.
    pub relation: String,
}

/// Three distractors of a word puzzle; none where WordNet does not know the answer, or has fewer beside the sense that
/// the puzzle means. Among words equally near `seed` and `id` decide.
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
    let plural = own.ends_with('s') && wordnet.lists(&own[..own.len() - 1], Pos::Noun);
    for sense in meant(wordnet, own, plural, question)? {
        let found = of_sense(wordnet, &sense, question, answer, plural, &mut draw)?;
        if found.len() == 3 {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The words beside one sense of the answer: its synonym, at most one, and one word of each synset beside it. All of
/// one sense, so that three options are of one kind.
fn of_sense(
    wordnet: &WordNet,
    sense: &Synset,
    question: &str,
    answer: &str,
    answers_many: bool,
    draw: &mut Draw,
) -> Result<Vec<Near>, WordNetError> {
    let own = core(answer);
    let asked = content(question);
    let named = proper(sense, own);
    let mut found: Vec<Near> = Vec::new();
    let mut layers: Vec<(usize, Layer)> = Vec::new();
    for place in sense.to(&["@", "@i"]) {
        let above = wordnet.synset(place)?;
        let name = above.words.first().map(String::as_str).unwrap_or_default();
        // `object`, `whole`: everything is one.
        if depth(wordnet, &above)? < DEEP {
            continue;
        }
        let children: Vec<_> = above.to(&["~", "~i"]).filter(|place| *place != sense.place).collect();
        // What everything and its opposite belongs to says nothing: no reader takes two of its members for a kind.
        if !named && children.len() > WIDEST {
            continue;
        }
        let mut beside = Vec::new();
        for place in children {
            let sibling = wordnet.synset(place)?;
            // One word a sibling, the best known: its others are synonyms or spellings of it.
            let best = words_of(&sibling, own).max_by_key(|word| wordnet.count(&sibling, word));
            if let Some(word) = best.filter(|word| decent(&sibling) && known(wordnet, &sibling, word)) {
                let met = wordnet.count(&sibling, &word) > 0;
                beside.push((word, format!("beside it under {name}"), met));
            }
        }
        layers.push((3, beside));
    }
    // Another name of a thing is that thing: `the Eternal City` would be as right as `Rome`.
    if !named {
        let synonym = words_of(sense, own)
            .filter(|word| known(wordnet, sense, word))
            .map(|word| (word, "synonym".to_owned(), true));
        layers.push((1, synonym.collect()));
    }
    for (most, mut layer) in layers {
        shuffle(&mut layer, draw);
        // As many words as the answer has first, so that length gives nothing away; then those that were met in texts.
        // Beside an answer of one word a phrase is a definition: `potato peelings`.
        let apart = if tokens(own) > 1 { 1 } else { 0 };
        layer.retain(|(word, ..)| tokens(word).abs_diff(tokens(own)) <= apart);
        layer.sort_by_key(|(word, _, met)| (tokens(word).abs_diff(tokens(own)), !met));
        let mut taken = 0;
        for (word, relation, _) in layer {
            let many = if answers_many { plural(&word) } else { word.clone() };
            let text = shaped(answer, &many);
            let usable = content(&word).is_disjoint(&asked)
                && fits(question, own, &many, &text, &found)
                && word.starts_with(char::is_uppercase) == named
                && (answers_many || in_plural(&word) == in_plural(own));
            if usable {
                found.push(Near { text, relation });
                taken += 1;
            }
            if found.len() == 3 {
                return Ok(found);
            }
            if taken == most {
                break;
            }
        }
    }
    Ok(found)
}

/// Three distractors of a word puzzle from the members of a category; fewer where no more of them fit. `seed` and `id`
/// decide which.
pub fn members(
    question: &str,
    answer: &str,
    members: &[String],
    category: &str,
    seed: u64,
    id: &str,
) -> Vec<Near> {
    let (own, asked) = (core(answer), content(question));
    let mut words: Vec<&str> =
        members.iter().map(|member| core(member)).filter(|word| !word.is_empty()).collect();
    shuffle(&mut words, &mut Draw::new(seed, "brainteaser members", id));
    words.sort_by_key(|word| tokens(word).abs_diff(tokens(own)));
    let mut found: Vec<Near> = Vec::new();
    for word in words {
        let text = shaped(answer, word);
        let told = !content(word).is_disjoint(&asked);
        if found.len() < 3 && !told && fits(question, own, word, &text, &found) {
            found.push(Near { text, relation: format!("beside it in {category}") });
        }
    }
    found
}

/// Whether a word may stand beside an answer and the words that were taken: it is neither of them in another form, and
/// does not solve the puzzle by its letters.
fn fits(question: &str, own: &str, word: &str, text: &str, found: &[Near]) -> bool {
    !plays_along(question, own, word)
        && !shares_word(word, own)
        && !inflected(word, own)
        && !alike(text, own)
        && found.iter().all(|other| {
            let other = core(&other.text);
            !alike(other, text) && !shares_word(other, word) && !inflected(other, word)
        })
}

/// Words that are equally near: each with how it is near, and whether it was met in texts.
type Layer = Vec<(String, String, bool)>;

/// How many synsets stand over one, by its first hypernyms.
fn depth(wordnet: &WordNet, synset: &Synset) -> Result<usize, WordNetError> {
    let mut above = synset.to(&["@", "@i"]).next();
    let mut depth = 0;
    while let Some(place) = above.filter(|_| wordnet.counts() && depth < DEEP) {
        depth += 1;
        above = wordnet.synset(place)?.to(&["@", "@i"]).next();
    }
    Ok(if wordnet.counts() { depth } else { DEEP })
}

/// Whether readers know a word and take it in this sense: the makers of WordNet met it in their texts, in no other sense
/// more often; or they never met it, it has no other noun's sense, and they explain other words by it.
fn known(wordnet: &WordNet, sense: &Synset, word: &str) -> bool {
    if !wordnet.counts() {
        return true;
    }
    let Ok(senses) = wordnet.senses(word) else { return false };
    let here = wordnet.count(sense, word);
    let mut others = senses.iter().filter(|other| other.place != sense.place);
    if here > 0 {
        return others.all(|other| wordnet.count(other, word) <= here);
    }
    others.all(|other| other.place.pos != Pos::Noun) && word.split([' ', '-']).all(|w| explains(wordnet, w))
}

/// Whether glosses use a word often enough for a reader to know it.
fn explains(wordnet: &WordNet, word: &str) -> bool {
    let word = word.to_lowercase();
    wordnet.in_glosses(&word) + wordnet.in_glosses(&plural(&word)) >= EXPLAINS
}

/// What a text says, without the ending of a plural.
fn said_by(text: &str) -> BTreeSet<String> {
    let one = |word: String| match word.strip_suffix('s') {
        Some(stem) if in_plural(&word) && stem.chars().count() > 2 => stem.to_owned(),
        _ => word,
    };
    content(text).into_iter().map(one).collect()
}

/// The sense of a noun that its puzzle means, or several that it speaks of equally; none where that cannot be told. The
/// senses are compared by the words that they and what stands over them share with the question, and those that share
/// most are meant; where none shares any, the only one is, or the one that the word is met in more often than in all
/// others together, other parts of speech included.
fn meant(wordnet: &WordNet, word: &str, plural: bool, question: &str) -> Result<Vec<Synset>, WordNetError> {
    let mut all = wordnet.senses(word)?;
    if plural {
        all.extend(wordnet.senses(&word[..word.len() - 1])?);
        all.dedup_by_key(|sense| sense.place);
    }
    let entry = |sense: &Synset| {
        let one = if plural { &word[..word.len() - 1] } else { word };
        wordnet.count(sense, word).max(wordnet.count(sense, one))
    };
    // A person answers who it is, not what.
    let who = key(question).split(' ').any(|word| ["who", "whose", "whom"].contains(&word));
    let asked = said_by(question);
    let total: u64 = all.iter().map(entry).sum();
    let alone = all.len() == 1;
    let mut ranked = Vec::new();
    for sense in all.into_iter().filter(|sense| sense.place.pos == Pos::Noun) {
        let gloss = said_by(&sense.gloss);
        let mut said = BTreeSet::new();
        let mut level = vec![sense.clone()];
        for _ in 0..LEVELS {
            let mut above = Vec::new();
            for synset in &level {
                said.extend(synset.words.iter().flat_map(|word| said_by(word)));
                for place in synset.to(&["@", "@i"]) {
                    above.push(wordnet.synset(place)?);
                }
            }
            level = above;
        }
        said.extend(level.iter().flat_map(|synset| &synset.words).flat_map(|word| said_by(word)));
        said.remove(&word.to_lowercase());
        let shared = |said: &BTreeSet<String>| {
            said.intersection(&asked).filter(|word| !ASKING.contains(&word.as_str())).count()
        };
        // `What kind of fish` names what it is; a word of the gloss may be there by chance, and breaks ties alone.
        ranked.push(((shared(&said), shared(&gloss)), sense));
    }
    let most = ranked.iter().map(|(shared, _)| *shared).max().unwrap_or_default();
    let named = most.0 > 0;
    let best = ranked.into_iter().filter(|(shared, _)| *shared == most).map(|(_, sense)| sense);
    let person = |sense: &Synset| sense.keys.iter().any(|key| key.contains(PERSON));
    let concrete = |sense: &Synset| {
        !wordnet.counts() || sense.keys.iter().any(|key| CONCRETE.iter().any(|file| key.contains(file)))
    };
    let told = |sense: &Synset| {
        decent(sense)
            && concrete(sense)
            && (named || ((alone || entry(sense) * 2 > total) && (who || !person(sense))))
    };
    Ok(best.filter(told).collect())
}

/// A noun in the plural, by the rules of spelling.
fn plural(word: &str) -> String {
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
        assert_eq!(birds, ["A duck.", "A martlet.", "A sparrow."]);
        // One synonym and one word beside it are no three.
        assert_eq!(texts("How much liquid goes down at once?", "A swallow."), Vec::<String>::new());
        assert_eq!(texts("Which city is the capital?", "Rome").len(), 0);
        let mut many = texts("Which birds go down with every bite?", "Swallows.");
        many.sort();
        assert_eq!(many, ["Ducks.", "Martlets.", "Sparrows."]);
    }

    #[test]
    fn plurals_are_spelt() {
        for (one, many) in [
            ("berry", "berries"),
            ("fox", "foxes"),
            ("snowman", "snowmen"),
            ("boy", "boys"),
            ("trousers", "trousers"),
            ("glass", "glasses"),
        ] {
            assert_eq!(plural(one), many);
        }
    }

    #[test]
    fn a_word_that_plays_along_is_no_distractor() {
        assert_eq!(
            texts("Which bird goes down in a duck pond, and which in no viaduct?", "A swallow."),
            Vec::<String>::new()
        );
        assert_eq!(texts("Which letter ends the end?", "The letter D."), Vec::<String>::new());
    }

    #[test]
    fn members_of_a_category_fit_too() {
        let cheeses = ["Edam", "cheddar", "the Gouda", "made", "a brie", "edams"].map(String::from);
        let found = members("Which cheese is made backwards?", "Edam.", &cheeses, "cheeses", 1, "x");
        let mut texts: Vec<&str> = found.iter().map(|near| near.text.as_str()).collect();
        texts.sort_unstable();
        assert_eq!(texts, ["Brie.", "Cheddar.", "Gouda."]);
        assert_eq!(found[0].relation, "beside it in cheeses");
    }

    #[test]
    fn the_same_every_time() {
        let (_folder, wordnet) = small();
        let once = near(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap();
        assert_eq!(near(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap(), once);
        assert_eq!(once.len(), 0, "two birds are beside it, and it has no synonym");
    }

    /// Every set that WordNet serves on the published half at hand, for a reader: `-- --nocapture`.
    #[test]
    fn the_published_puzzles_are_served() {
        let Some(folder) = std::env::var_os("RIDDLEMILL_REFERENCE") else {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
            return;
        };
        let Ok(wordnet) = WordNet::open(std::path::Path::new("/usr/share/wordnet")) else {
            eprintln!("no WordNet in /usr/share/wordnet: nothing is measured");
            return;
        };
        let path = std::path::Path::new(&folder).join("data/reference/brainteaser-word-dev.jsonl");
        let mut served = 0;
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            let (id, question, answer) = (text("id"), text("question"), text("answer"));
            let found = near(&wordnet, &question, &answer, 0, &id).unwrap();
            let mut synonyms = 0;
            for (at, word) in found.iter().enumerate() {
                synonyms += usize::from(word.relation == "synonym");
                assert!(
                    found[..at].iter().all(|other| !inflected(core(&other.text), core(&word.text))),
                    "{found:?}"
                );
            }
            assert!(synonyms <= 1 && (found.is_empty() || found.len() == 3), "{found:?}");
            if !found.is_empty() {
                served += 1;
                let words: Vec<&str> = found.iter().map(|near| near.text.as_str()).collect();
                eprintln!("{id} | {question} | {answer} | {} | {}", words.join(" "), found[0].relation);
            }
        }
        assert!(served >= 10, "{served}");
    }
}
