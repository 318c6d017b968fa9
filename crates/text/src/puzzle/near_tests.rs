//! Tests of `near`.

use super::super::wordnet::tests::small_database;
use super::*;

fn texts(question: &str, answer: &str) -> Vec<String> {
    let (_folder, wordnet) = small_database();
    draw_distractors(&wordnet, question, answer, 0, "id").unwrap().into_iter().map(|near| near.text).collect()
}

#[test]
fn the_puzzle_decides_the_sense_and_the_answer_the_form() {
    let mut birds = texts("Which bird goes down with every bite?", "A swallow.");
    birds.sort();
    assert_eq!(birds, ["A duck.", "A martlet.", "A sparrow."]);
    // One synonym and one related word are only two.
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
        assert_eq!(pluralise_noun(one), many);
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
    let found = draw_from_category("Which cheese is made backwards?", "Edam.", &cheeses, "cheeses", 1, "x");
    let mut texts: Vec<&str> = found.iter().map(|near| near.text.as_str()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["Brie.", "Cheddar.", "Gouda."]);
    assert_eq!(found[0].relation, "beside it in cheeses");
}

#[test]
fn the_same_every_time() {
    let (_folder, wordnet) = small_database();
    let once = draw_distractors(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap();
    assert_eq!(draw_distractors(&wordnet, "Which bird?", "A duck.", 3, "x").unwrap(), once);
    assert_eq!(once.len(), 0, "two birds are beside it, and it has no synonym");
}

/// Prints every set that WordNet gives for the published half at hand: `-- --nocapture`.
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
        let found = draw_distractors(&wordnet, &question, &answer, 0, &id).unwrap();
        let mut synonyms = 0;
        for (at, word) in found.iter().enumerate() {
            synonyms += usize::from(word.relation == "synonym");
            assert!(
                found[..at]
                    .iter()
                    .all(|other| !is_inflected(strip_article(&other.text), strip_article(&word.text))),
                "{found:?}"
            );
        }
        assert!(synonyms <= 1 && (found.is_empty() || found.len() == 3), "{found:?}");
        if !found.is_empty() {
            served += 1;
            let texts: Vec<&str> = found.iter().map(|near| near.text.as_str()).collect();
            eprintln!("{id} | {question} | {answer} | {} | {}", texts.join(" "), found[0].relation);
        }
    }
    assert!(served >= 28, "{served}");
}
