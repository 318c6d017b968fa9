use super::*;
use crate::options::DrawStream;

fn proposed(question: &str, answer: &str) -> Vec<String> {
    Speller::bundled().find_corrections(question, answer).0.iter().map(ToString::to_string).collect()
}

/// Four puzzles of 250 such words took 9.4 s, and each word looked through all others.
#[test]
fn a_puzzle_of_nonsense_is_looked_at_in_time_proportional_to_its_length() {
    let mut draw = DrawStream::new(1, "nonsense", "words");
    let mut word = || (0..9).map(|_| char::from(b'a' + draw.draw_below(26) as u8)).collect::<String>();
    let words: Vec<String> = (0..20_000).map(|_| word()).collect();
    let start = std::time::Instant::now();
    let (found, left) = Speller::bundled().find_corrections(&words.join(" "), &"\"a \"".repeat(20_000));
    assert!(left > 19_000 && found.len() <= MOST, "{} {left}", found.len());
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let long = "a".repeat(100_000);
    assert_eq!(Speller::bundled().find_corrections(&long, &format!("mornign {long}")).0.len(), 1);
}

#[test]
fn the_words_of_a_quotation_are_counted_as_before() {
    let text = "one \"two three\" four “five” six “seven eight nine” ten \"eleven";
    let all = list_words(text);
    let counted = quotation_lengths(text, &all);
    let of = |word: &str| counted[all.iter().position(|w| w.text == word).unwrap()];
    for (word, want) in [
        ("one", None),
        ("two", Some(2)),
        ("three", Some(2)),
        ("four", None),
        ("five", Some(1)),
        ("six", None),
        ("nine", Some(3)),
        ("ten", None),
        ("eleven", Some(1)),
    ] {
        assert_eq!(of(word), want, "{word}");
    }
}

#[test]
fn slips_are_proposed() {
    assert_eq!(
        proposed("A man recieves a lettre every mornign. Untill noon he waits.", "He is a postmann."),
        [
            "recieves -> receives",
            "lettre -> letter",
            "mornign -> morning",
            "untill -> until",
            "postmann -> postman"
        ]
    );
}

#[test]
fn names_numbers_and_plays_survive() {
    for (question, answer) in [
        ("Which cheese is made backwards?", "Edam."),
        ("What cheese is made if you read it the wrong way?", "edam."),
        ("Mr. Smithers and Zbigniew drove 1st to Gloccamora in 20mins. How?", "They flew with Zbigniew."),
        ("What do you call a fish with no eyes?", "A fsh."),
        ("They went home after the takedowns. Why?", "The show was over."),
        ("He said \"helo wrld\" to the crowd. Why?", "It was a film."),
        ("How do you spell enemyy in three letters?", "Foe."),
        ("A snazzle sleeps in the yard. What is it?", "A snazzle is a toy."),
        (
            "The colour of the thirty-storey house and of the ten-year-old's dog isn't grey, y'all. Why?",
            "It's a cat.",
        ),
    ] {
        assert_eq!(proposed(question, answer), Vec::<String>::new(), "{question}");
    }
}

#[test]
fn contractions_get_their_apostrophe() {
    assert_eq!(
        proposed("He didnt know why they dont sing. Whats up?", "They ca'nt, and wouldve said so."),
        ["didnt -> didn't", "dont -> don't", "ca'nt -> can't", "wouldve -> would've"]
    );
    assert_eq!(proposed("Why don’t my nana and her nana can't won't cant?", "It's."), Vec::<String>::new());
}

#[test]
fn corrections_keep_capitals_and_everything_else() {
    let all = [Correction { wrong: "teh".into(), right: "the".into() }];
    assert_eq!(apply_corrections("Teh dog ate  teh—bone. Tehran!", &all), "The dog ate  the—bone. Tehran!");
    assert_eq!(apply_corrections("", &all), "");
}

/// The rows of the published halves at hand.
fn published() -> Option<Vec<(String, String)>> {
    let folder = std::env::var_os("RIDDLEMILL_REFERENCE")?;
    let mut rows = Vec::new();
    for name in ["sentence", "word"] {
        let name = format!("data/reference/brainteaser-{name}-dev.jsonl");
        let text = std::fs::read_to_string(std::path::Path::new(&folder).join(name)).unwrap();
        for line in text.lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().trim().to_owned();
            rows.push((text("question"), text("answer")));
        }
    }
    Some(rows)
}

/// A typing slip in a word: two letters swapped, one left out, one added, or one replaced.
fn mistyped(word: &str, draw: &mut DrawStream) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = draw.draw_below(letters.len());
    let letter = char::from(b'a' + draw.draw_below(26) as u8);
    match draw.draw_below(4) {
        0 if at + 1 < letters.len() => letters.swap(at, at + 1),
        1 => _ = letters.remove(at),
        2 => letters.insert(at, letter),
        _ => letters[at] = letter,
    }
    letters.into_iter().collect()
}

/// Of 200 typing errors put into the published puzzles by a seeded draw, 95 % are found, and at most 1 %
/// of the published words are flagged, on either half of the texts by their hash; the rules were chosen
/// on the first half only. `-- --nocapture` prints the figures.
#[test]
fn typing_errors_are_found_in_published_puzzles_and_little_else() {
    let Some(rows) = published() else {
        eprintln!("skipped: RIDDLEMILL_REFERENCE is not set");
        return;
    };
    let speller = Speller::bundled();
    let half = |question: &str| blake3::hash(question.as_bytes()).as_bytes()[0] % 2;
    for part in 0..2 {
        let rows: Vec<&(String, String)> = rows.iter().filter(|(q, _)| half(q) == part).collect();
        let (mut all, mut flagged) = (0, 0);
        for (question, answer) in &rows {
            all += list_words(question).len() + list_words(answer).len();
            let found = speller.find_corrections(question, answer).0;
            flagged += found.len();
            if part == 0 && !found.is_empty() {
                let found: Vec<String> = found.iter().map(ToString::to_string).collect();
                eprintln!("flagged: {}", found.join(", "));
            }
        }
        let mut draw = DrawStream::new(7, "typing errors", &part.to_string());
        let (mut found, mut right, mut made, mut others) = (0, 0, 0, 0);
        while made < 200 {
            let (question, answer) = rows[draw.draw_below(rows.len())];
            let all = list_words(question);
            let word = all[draw.draw_below(all.len())];
            let plain = word.text.chars().all(|c| c.is_ascii_lowercase()) && word.text.len() > 3;
            let wrong = if plain { mistyped(word.text, &mut draw) } else { continue };
            if wrong == word.text {
                continue;
            }
            if speller.is_known(&wrong) {
                others += 1;
                continue;
            }
            made += 1;
            let text = format!("{}{wrong}{}", &question[..word.at], &question[word.at + word.text.len()..]);
            let proposed = speller.find_corrections(&text, answer).0;
            match proposed.iter().find(|correction| correction.wrong == wrong) {
                Some(correction) => {
                    found += 1;
                    right += usize::from(correction.right == word.text);
                }
                None if part == 0 => eprintln!("missed: {} -> {wrong} in {question}", word.text),
                None => {}
            }
        }
        let share = flagged as f64 / f64::from(all as u32);
        eprintln!(
            "half {part}: {found} of 200 typing errors found ({right} put right at once; {others} more made \
             another word of the dictionary), {flagged} of {all} published words flagged ({:.2} %)",
            share * 100.0
        );
        assert!(found >= 190 && share <= 0.01, "{found} of 200, {share}");
    }
}
