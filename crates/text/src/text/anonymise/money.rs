//! Numbers of payment cards and bank accounts, in every language.
//!
//! What: digits in one piece or in a card's groups, with the beginning, the length and the check digit of a network; IBANs with the
//! length and the check digits of their country.
//!
//! Why not every long number: powers of two and order numbers are content. One number in ten has the right check digit by chance,
//! so the beginning and the length have to be right, too. What the text calls a card is one whatever its check digit.

use std::sync::LazyLock;

use iban::Iban;
use regex::Regex;

use super::chinese::{followed_by_count, is_adjacent_to, is_number_alone};
use super::{DataKind, FoundSpan};

static CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        [2-6][0-9]{3} (?: [\x20\u{a0}\u{2010}-\u{2013}-] [0-9]{4} ){3} (?: [\x20\u{a0}\u{2010}-\u{2013}-] [0-9]{3} )?
        | 3[0-9]{3} [\x20\u{a0}\u{2010}-\u{2013}-] [0-9]{6} [\x20\u{a0}\u{2010}-\u{2013}-] [0-9]{4,5}
        | [2-6][0-9]{12,18}",
    )
    .ok()
});

static IBAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z]{2}[0-9]{2}(?:[\x20\u{a0}\u{2010}-\u{2013}-]?[A-Za-z0-9]){11,30}").ok()
});

/// What the text calls a number of a card, whatever its check digit.
static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        (?: [银銀]行(?:卡|账[号户]|帐[号户]) | 储蓄卡 | 信用卡 | 借记卡 | 卡号 | 卡號 | 银行账?号 | \b card \x20? (?: number | no\.? ) | \b (?: credit | debit | bank ) \x20 card )
        (?: 卡?号码? | 號碼? | \x20 number )? (?: 是 | 为 | \x20? is )? [\s:：]{0,3}
        ( [1-9][0-9]{3} (?: [\x20\u{a0}\u{2010}-\u{2013}-]? [0-9]{3,6} ){2,4} [0-9]? )",
    )
    .ok()
});

/// Finds numbers of payment cards.
pub fn find_cards(text: &str, found: &mut Vec<FoundSpan>) {
    for captures in CALLED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(number) = captures.get(1) else { continue };
        let digits = number.as_str().bytes().filter(u8::is_ascii_digit).count();
        let goes_on = text[number.end()..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if (13..=19).contains(&digits) && !goes_on && !followed_by_count(&text[number.end()..]) {
            found.push(FoundSpan { kind: DataKind::Card, start: number.start(), end: number.end() });
        }
    }
    for hit in CARD.iter().flat_map(|pattern| pattern.find_iter(text)) {
        let digits: Vec<u32> = hit.as_str().chars().filter_map(|c| c.to_digit(10)).collect();
        let grouped = digits.len() < hit.len();
        let alone = match grouped {
            true => !is_adjacent_to(text, hit.start(), hit.end(), |c| c.is_ascii_alphanumeric() || c == '-'),
            false => is_number_alone(text, hit.start(), hit.end()),
        };
        if alone && is_issued(&digits) && has_check_digit(&digits) {
            found.push(FoundSpan { kind: DataKind::Card, start: hit.start(), end: hit.end() });
        }
    }
}

/// Whether a network has cards with this beginning and length.
fn is_issued(digits: &[u32]) -> bool {
    let begin = |length: usize| digits[..length].iter().fold(0, |number, digit| number * 10 + digit);
    match digits.len() {
        13 => begin(1) == 4,
        14 => matches!(begin(2), 36 | 38 | 39) || matches!(begin(3), 300..=305),
        15 => matches!(begin(2), 34 | 37),
        16 => {
            matches!(begin(2), 35 | 40..=49 | 51..=55 | 62 | 65)
                || matches!(begin(3), 644..=649)
                || matches!(begin(4), 6011 | 2200..=2204 | 2221..=2720)
        }
        19 => matches!(begin(2), 40..=49 | 62),
        _ => false,
    }
}

/// Luhn's: every second digit from the right but one counts double, and all sum up to a multiple of ten.
fn has_check_digit(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ if *digit < 5 => digit * 2,
            _ => digit * 2 - 9,
        })
        .sum();
    // One digit over and over is a placeholder.
    sum.is_multiple_of(10) && digits.windows(2).any(|two| two[0] != two[1])
}

/// Finds international bank account numbers.
pub fn find_ibans(text: &str, found: &mut Vec<FoundSpan>) {
    for hit in IBAN.iter().flat_map(|pattern| pattern.find_iter(text)) {
        // Words of the sentence may be taken for groups.
        let mut whole = hit.as_str();
        loop {
            let bare: String =
                whole.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
            let end = hit.start() + whole.len();
            let alone = !is_adjacent_to(text, hit.start(), end, |c| c.is_ascii_alphanumeric());
            if alone && bare.parse::<Iban>().is_ok() {
                found.push(FoundSpan { kind: DataKind::Iban, start: hit.start(), end });
                break;
            }
            let Some((before, _)) = whole.rsplit_once(|c: char| !c.is_ascii_alphanumeric()) else { break };
            whole = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(CARD.is_some() && IBAN.is_some() && CALLED.is_some());
    }

    #[test]
    fn the_check_digit_decides() {
        let count = |text: &str| {
            let mut found = Vec::new();
            find_cards(text, &mut found);
            find_ibans(text, &mut found);
            found.len()
        };
        for number in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "5500-0000-0000-0004",
            "2223003122003222",
            "378282246310005",
            "3782 822463 10005",
            "30569309025904",
            "6011000990139424",
            "3530111333300000",
            "6212345678900000003",
            "DE89370400440532013000",
            "de89 3704 0044 0532 0130 00",
            "FR14 2004 1010 0505 0001 3M02 606",
        ] {
            assert_eq!(count(&format!("a {number}, b")), 1, "{number}");
            assert_eq!(count(&format!("云{number}云")), 1, "{number}");
            // Another last digit but one.
            let mut wrong = number.to_owned();
            let at = number.len() - 2;
            let digit = number.as_bytes()[at];
            if digit.is_ascii_digit() {
                wrong.replace_range(at..=at, if digit == b'7' { "8" } else { "7" });
                assert_eq!(count(&format!("a {wrong}, b")), 0, "{wrong}");
            }
        }
        for number in [
            "0000000000000000",
            "4444444444444444",
            "1234567812345670",
            "4503599627370496",
            "41111111111111111",
        ] {
            assert_eq!(count(number), 0, "{number}");
        }
    }
}
