//! Riddles as they are collected: the advertising of their site, and whether two of them are the same.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::words::{cut_at_stops, find_content_words, mentioned_letters, number_in_digits, word_key};

/// Phrases of invitation.
static INVITES: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\b(check out|don[’']?t miss|sign up|subscribe|follow (us|our|me)|share (it|this|them|with)|click|read on|(next|now|then),? try|try (these|this|our|out)|see (more|also|our|if|the)|looking for|for more|find out more|learn more|read more|get (a|our|more|your)|test your|challenge your|take (our|this)|browse|visit (us|our)|join (us|our)|download|here are|plus[,:]|up next|related:|more:|brush up|crack up|(enjoy|laugh at|love|share|explore|discover) (these|our|more))\b",
    )
});

/// What such sites offer.
static OFFERS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)\b(riddles?|jokes?|puns|puzzles|quiz(zes)?|brain ?teasers?|newsletter|channel|trivia|one-liners|word games|knock-knock|tongue twisters|optical illusions|friends|e-?mail|inbox|facebook|instagram|twitter|tiktok|youtube|pinterest|website|app|article|page|list|below)\b",
    )
});

/// Lead-ins to an invitation.
static LEADS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)^(want|need|craving|ready for|in the mood for|looking for|enjoy(ed|ing)?|like[ds]?|love[ds]?|did you (like|get|enjoy)|can[’']?t get enough|still (here|stumped)|stumped|got it|feeling)\b.{0,60}[?!]$",
    )
});

fn compile_pattern(text: &str) -> Regex {
    match Regex::new(text) {
        Ok(regex) => regex,
        Err(error) => unreachable!("{error}"),
    }
}

/// A text without its promotion, and the removed sentences in order.
///
/// A site's advertising, glued onto the text of a riddle: `Next, try these riddles for kids.`
///
/// Sentences are removed from the end of a text, never from its middle, and never all of them. A sentence is
/// removed if it contains the text of a link and invites, or invites to typical content of such sites. A
/// lead-in such as `Want more?` is removed with the sentence after it. What is removed is the evidence.
pub fn strip_promotion<'a>(text: &'a str, links: &[String]) -> (&'a str, Vec<&'a str>) {
    // Cutting at a stop inside a name is harmless: the rest of it promotes nothing.
    let all = cut_at_stops(text);
    let mut kept = all.len();
    while kept > 1 && is_promotion(all[kept - 1].1, links) {
        kept -= 1;
        // `Want more?` alone promotes nothing, so it needs a removed sentence after it.
        while kept > 1 && LEADS.is_match(all[kept - 1].1) {
            kept -= 1;
        }
    }
    let end = all.get(kept).map_or(text.len(), |(at, _)| *at);
    let (rest, tail) = after_dash(text[..end].trim(), links);
    let removed = tail.into_iter().chain(all[kept..].iter().map(|(_, sentence)| *sentence));
    (rest, removed.collect())
}

fn is_promotion(sentence: &str, links: &[String]) -> bool {
    // Text in quotation marks belongs to the riddle.
    if sentence.starts_with(['"', '“']) {
        return false;
    }
    let linked = links.iter().any(|link| !link.trim().is_empty() && sentence.contains(link.trim()));
    INVITES.is_match(sentence) && (linked || OFFERS.is_match(sentence))
}

/// `A mushroom — see the best riddles.`: an invitation after a dash.
fn after_dash<'a>(text: &'a str, links: &[String]) -> (&'a str, Option<&'a str>) {
    let dash = [" — ", " – ", " - "].into_iter().filter_map(|dash| text.rfind(dash)).max();
    let Some((head, tail)) = dash.map(|at| text.split_at(at)) else { return (text, None) };
    let after_dash_text = tail.trim_start_matches([' ', '—', '–', '-']);
    if head.trim().is_empty() || !is_promotion(after_dash_text, links) {
        (text, None)
    } else {
        (head.trim_end(), Some(after_dash_text))
    }
}

/// Two answers agree from this share of the shorter one's words on.
const AGREES: f64 = 0.6;

/// Whether two answers say the same, and the share of the shorter one's words that the other has, 0 to 1.
///
/// Whether two riddles are the same (section 3.2): similar questions with answers that agree.
///
/// Questions alone do not decide. `What part of London is in France?` and `What part of Korea is in China?`
/// are similar but two puzzles; `A man …` and `A woman …` with the same solution are one puzzle, but two if
/// the solution depends on the person. So similar questions are one riddle if their answers say the same.
pub fn answers_agree(a: &str, b: &str) -> (bool, f64) {
    if word_key(a) == word_key(b) {
        return (true, 1.0);
    }
    let (left, right) = (meaning_words(a), meaning_words(b));
    let shorter = left.len().min(right.len());
    if shorter == 0 {
        return (false, 0.0);
    }
    let share = left.intersection(&right).count() as f64 / shorter as f64;
    (
        share >= AGREES && exact_words(a) == exact_words(b) && mentioned_letters(a) == mentioned_letters(b),
        share,
    )
}

/// Letters and numbers, which must match exactly: `the letter N` is not `the letters N and S`, nor nine ten.
fn exact_words(text: &str) -> BTreeSet<String> {
    let exact = find_content_words(text)
        .into_iter()
        .map(|word| number_in_digits(&word))
        .filter(|word| word.chars().count() == 1 || word.chars().all(|c| c.is_ascii_digit()));
    exact.collect()
}

/// Content words without inflectional endings.
fn meaning_words(text: &str) -> BTreeSet<String> {
    let stem = |word: String| {
        let word = number_in_digits(&word);
        let ending = ["'s", "ing", "es", "ed", "s"]
            .into_iter()
            .find(|ending| word.strip_suffix(ending).is_some_and(|stem| stem.chars().count() > 2));
        ending.map_or(word.clone(), |ending| word[..word.len() - ending.len()].to_owned())
    };
    find_content_words(text).into_iter().map(stem).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, links: &[&str], rest: &str, removed: &[&str]) {
        let links: Vec<String> = links.iter().map(ToString::to_string).collect();
        assert_eq!(strip_promotion(text, &links), (rest, removed.to_vec()), "{text}");
    }

    #[test]
    fn promotion_goes_with_its_lead_in() {
        check(
            "It is a clock. Want more? Sign up for our newsletter and get a riddle every day.",
            &[],
            "It is a clock.",
            &["Want more?", "Sign up for our newsletter and get a riddle every day."],
        );
        check(
            "A hole. Next, try these riddles for kids.",
            &[],
            "A hole.",
            &["Next, try these riddles for kids."],
        );
        for answer in ["I C U.", "T.", "The answer is no.", "Mr. J. Smith."] {
            for talk in ["Next, try these jokes for kids.", "Check out our best riddles…"] {
                check(&format!("{answer} {talk}"), &[], answer, &[talk]);
            }
        }
        check(
            "What walks? Check out jokes that walk.",
            &["jokes that walk"],
            "What walks?",
            &["Check out jokes that walk."],
        );
        check(
            "A mushroom — see the best riddles.",
            &["the best riddles"],
            "A mushroom",
            &["see the best riddles."],
        );
    }

    #[test]
    fn what_a_riddle_says_stays() {
        for text in [
            "He said: \"Sign up for the quiz.\" Why?",
            "A man checks out of a hotel and shares a taxi with two friends. Why?",
            "Because he was ready for it!",
            "Sign up for our newsletter.",
            "I C U.",
            "Mr. T. Jones and his friends try our riddles in St. Ives. Why?",
            "The driver could see more than the others. How?",
            "What goes up and never comes down - your age.",
        ] {
            check(text, &[], text, &[]);
        }
    }

    #[test]
    fn answers_decide() {
        let agree = |a, b| answers_agree(a, b).0;
        assert!(agree(
            "He sells ovens, and none of those in his shop is switched on.",
            "He sells ovens; none in his shop is on."
        ));
        assert!(agree("A clock.", "The clock"));
        assert!(agree("She is a barber.", "The man is a barber!"));
        assert!(!agree("The letter N.", "The letter A."));
        assert!(!agree("She was his mother.", "He was her father."));
        assert!(!agree("The letter N.", "The letters N and S."));
        assert!(!agree("There are nine people.", "There are 10 people."));
        assert!(agree("There are 9 people.", "There are nine people."));
        assert!(!agree("", "A clock."));
        assert!(!agree("The letter 'i'.", "The letter 'a'."));
        assert!(!agree("The letter a", "The letter i"));
        assert!(!agree("G,T,F.", "F,T,G."));
        assert!(agree("The letter 'a'.", "the letter A"));
    }

    proptest! {
        #[test]
        fn agreement_is_symmetric_and_bounded(a in "[a-z .]{0,20}", b in "[a-z .]{0,20}") {
            prop_assert_eq!(answers_agree(&a, &b), answers_agree(&b, &a));
            prop_assert!((0.0..=1.0).contains(&answers_agree(&a, &b).1));
        }
    }
}
