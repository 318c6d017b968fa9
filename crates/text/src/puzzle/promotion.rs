//! A site's advertising, glued onto the text of a riddle: `Next, try these riddles for kids.`
//!
//! Sentences are removed from the end of a text, never from its middle, and never all of them. A sentence is
//! removed if it contains the text of a link and invites, or invites to typical content of such sites. A
//! lead-in such as `Want more?` is removed with the sentence after it. What is removed is the evidence.

use std::sync::LazyLock;

use regex::Regex;

use super::words::stops;

/// Phrases of invitation.
static INVITES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(check out|don[’']?t miss|sign up|subscribe|follow (us|our|me)|share (it|this|them|with)|click|read on|(next|now|then),? try|try (these|this|our|out)|see (more|also|our|if|the)|looking for|for more|find out more|learn more|read more|get (a|our|more|your)|test your|challenge your|take (our|this)|browse|visit (us|our)|join (us|our)|download|here are|plus[,:]|up next|related:|more:|brush up|crack up|(enjoy|laugh at|love|share|explore|discover) (these|our|more))\b",
    )
});

/// What such sites offer.
static OFFERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(riddles?|jokes?|puns|puzzles|quiz(zes)?|brain ?teasers?|newsletter|channel|trivia|one-liners|word games|knock-knock|tongue twisters|optical illusions|friends|e-?mail|inbox|facebook|instagram|twitter|tiktok|youtube|pinterest|website|app|article|page|list|below)\b",
    )
});

/// Lead-ins to an invitation.
static LEADS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(want|need|craving|ready for|in the mood for|looking for|enjoy(ed|ing)?|like[ds]?|love[ds]?|did you (like|get|enjoy)|can[’']?t get enough|still (here|stumped)|stumped|got it|feeling)\b.{0,60}[?!]$",
    )
});

fn pattern(text: &str) -> Regex {
    match Regex::new(text) {
        Ok(regex) => regex,
        Err(error) => unreachable!("{error}"),
    }
}

/// A text without its promotion, and the removed sentences in order.
pub fn strip<'a>(text: &'a str, links: &[String]) -> (&'a str, Vec<&'a str>) {
    // Cutting at a stop inside a name is harmless: the rest of it promotes nothing.
    let all = stops(text);
    let mut kept = all.len();
    while kept > 1 && promotes(all[kept - 1].1, links) {
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

fn promotes(sentence: &str, links: &[String]) -> bool {
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
    if head.trim().is_empty() || !promotes(after_dash_text, links) {
        (text, None)
    } else {
        (head.trim_end(), Some(after_dash_text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, links: &[&str], rest: &str, removed: &[&str]) {
        let links: Vec<String> = links.iter().map(ToString::to_string).collect();
        assert_eq!(strip(text, &links), (rest, removed.to_vec()), "{text}");
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
}
