//! Telephone numbers, social security numbers and street addresses as English texts write them. The rules are safe in texts of any
//! language, because each wants a form that no other number has.
//!
//! What: numbers with `+` or `00` and a country's calling code (`+44 20 7946 0958`), North American ones (`(415) 867-5309`), those with
//! `0` of Britain, Ireland, Australia and New Zealand (`020 7946 0958`), and digits that the text calls a number (`call me at
//! 555-0123`); `219-09-9999`; streets with a house number and a second level.
//!
//! Why two levels: `10 Downing Street` and `221B Baker Street` are places anybody may joke about; with a city, a unit, a postal code or
//! the word that somebody lives there they are somebody's home.
//!
//! Known problems: a number without `+`, area code or word before it is not found (`867-5309`); nor is a street whose name is not
//! capitalised; a city of several words that ends no sentence stays behind the mark.

use std::sync::LazyLock;

use phonelib::PhoneNumber;
use regex::Regex;

use super::chinese::{is_adjacent_to, is_number_alone};
use super::{DataKind, FoundSpan};

/// What may be between the digits of a number.
const GAP: &str = r"[\x20\u{a0}.\u{2010}-\u{2013}()/-]";

static INTERNATIONAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?:[+＋]\x20?|\b00{GAP}?)\(?[1-9](?:{GAP}{{0,3}}[0-9]){{6,16}}")).ok()
});

static NATIONAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<american> (?: 1 [\x20.-] )? (?: \( [2-9][0-9]{2} \) [\x20-]? [2-9][0-9]{2} [\x20.\u{2010}-\u{2013}-]?
            | [2-9][0-9]{2} (?: [\x20.\u{2010}-\u{2013}-] | \x20[\u{2010}-\u{2013}-]\x20 ) [2-9][0-9]{2} (?: [\x20.\u{2010}-\u{2013}-] | \x20[\u{2010}-\u{2013}-]\x20 ) ) [0-9]{4} )
        | (?P<british> \(? 0[0-9]{1,4} \)? [\x20-] [0-9]{3,4} [\x20-] [0-9]{3,4} | \(? 0[0-9]{4} \)? [\x20-] [0-9]{5,6} )",
    )
    .ok()
});

static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?xi)
        \b (?: phone | tele? | telephone | cell | cellphone | mobile | fax | whatsapp | call | text | ring | dial | hotline | landline )
        (?: [\x20]+ (?: me | us | him | her | them | my | your | his | the | number | no\.? | line | phone | cell | mobile | is | was | at | on ) \b )*
        [\x20:.\#=]{{1,4}}
        (?P<number> \(?[0-9] (?: {GAP}{{0,2}}[0-9] ){{6,12}} )"
    ))
    .ok()
});

static SOCIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        \b (?: ssn | social \x20 security (?: \x20 (?: number | no\.? ) )? ) [^0-9\n]{0,12} (?P<called> [0-9]{3} [\x20.\u{2010}-\u{2013}-]? [0-9]{2} [\x20.\u{2010}-\u{2013}-]? [0-9]{4} )
        | (?P<plain> [0-9]{3} [\u{2010}-\u{2013}-] [0-9]{2} [\u{2010}-\u{2013}-] [0-9]{4} )",
    )
    .ok()
});

/// Finds telephone numbers.
pub fn find_phones(text: &str, found: &mut Vec<FoundSpan>) {
    let mut push = |start: usize, end: usize| found.push(FoundSpan { kind: DataKind::Phone, start, end });
    if text.contains(['+', '＋']) || text.contains("00") {
        for hit in INTERNATIONAL.iter().flat_map(|pattern| pattern.find_iter(text)) {
            // `2+12125550173` is a sum.
            let before = text[..hit.start()].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, ')' | '_')) {
                continue;
            }
            if let Some(end) = international_end(text, hit.start(), hit.end()) {
                push(hit.start(), end);
            }
        }
    }
    for captures in NATIONAL.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(whole) = captures.get(0) else { continue };
        let countries: &[&str] =
            if captures.name("american").is_some() { &["US"] } else { &["GB", "IE", "AU", "NZ"] };
        let valid = || {
            countries.iter().any(|country| PhoneNumber::parse_with_country(whole.as_str(), country).is_some())
        };
        if !is_piece_of_number(text, whole.start(), whole.end())
            && is_number_alone(text, whole.start(), whole.end())
            && valid()
        {
            push(whole.start(), whole.end());
        }
    }
    for captures in CALLED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(number) = captures.name("number") else { continue };
        let end = number.end()
            + usize::from(
                number.as_str().matches('(').count() > number.as_str().matches(')').count()
                    && text[number.end()..].starts_with(')'),
            );
        let pieces = number.as_str().split(|c: char| !c.is_ascii_digit()).filter(|piece| !piece.is_empty());
        let lengths: Vec<usize> = pieces.map(str::len).collect();
        let whole = !is_adjacent_to(text, number.start(), end, |c| c.is_ascii_alphanumeric());
        if whole
            && !is_piece_of_number(text, number.start(), end)
            && !is_date(&lengths)
            && (lengths.len() > 1 || is_ten_digits(number.as_str()) || !is_count(&text[end..]))
        {
            push(number.start(), end);
        }
    }
}

/// Whether digits go on before or behind a number: it is a piece of a longer one, or of a list.
pub(super) fn is_piece_of_number(text: &str, start: usize, end: usize) -> bool {
    let between = |c: char| matches!(c, ' ' | '-' | '/' | ',' | '.');
    let (before, after) = (&text[..start], &text[end..]);
    let before = before.strip_suffix(between).unwrap_or(before);
    let after = after.strip_prefix(between).unwrap_or(after);
    before.ends_with(|c: char| c.is_ascii_digit()) || after.starts_with(|c: char| c.is_ascii_digit())
}

/// Where a number with a calling code ends: what follows it may be other digits.
fn international_end(text: &str, start: usize, mut end: usize) -> Option<usize> {
    loop {
        let number = &text[start..end];
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        let digits = if number.starts_with('0') { &digits[2..] } else { &digits };
        let whole = !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
        // Where the trunk's zero is written in parentheses, the library knows that it is not dialled.
        let written = format!("+{}", number.trim_start_matches(['+', '＋', ' ']));
        let written = if number.starts_with('0') { format!("+{digits}") } else { written };
        if whole && digits.len() >= 8 && phonelib::is_valid_phone_number(&written) {
            return Some(end);
        }
        end = start + number.rfind(|c: char| !c.is_ascii_digit() && c != '+')?;
        end = start + text[start..end].trim_end_matches(|c: char| !c.is_ascii_digit()).len();
    }
}

/// Groups of digits of a date or a span of years.
fn is_date(lengths: &[usize]) -> bool {
    matches!(lengths, [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4] | [4, 4])
}

/// Whether digits are an area code and a number of North America, which no one counts up to: `call me 2125550187 tomorrow`.
fn is_ten_digits(number: &str) -> bool {
    let digits = number.as_bytes();
    digits.len() == 10
        && digits.iter().all(u8::is_ascii_digit)
        && digits[0] > b'1'
        && digits[3] > b'1'
        && !number.ends_with("0000")
}

/// Whether what is after a number without gaps makes it a count: a word that no sentence about a telephone goes on with.
fn is_count(after: &str) -> bool {
    const ON: [&str; 22] = [
        "for", "if", "or", "and", "now", "to", "after", "before", "when", "today", "anytime", "ext", "in",
        "at", "on", "from", "until", "is", "was", "but", "because", "then",
    ];
    let Some(rest) = after.strip_prefix(' ') else {
        return after.starts_with(['%', '.']) && after[1..].starts_with(|c: char| c.is_ascii_digit());
    };
    let word: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
    !word.is_empty() && !ON.contains(&word.as_str())
}

/// Finds social security numbers of the USA.
pub fn social_security(text: &str, found: &mut Vec<FoundSpan>) {
    for captures in SOCIAL.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let called = captures.name("called");
        let Some(number) = called.or_else(|| captures.name("plain")) else { continue };
        let digits: String = number.as_str().chars().filter(char::is_ascii_digit).collect();
        // None of these was ever given.
        let given = !matches!(&digits[..3], "000" | "666")
            && !digits.starts_with('9')
            && &digits[3..5] != "00"
            && &digits[5..] != "0000";
        let glued = is_adjacent_to(text, number.start(), number.end(), |c| {
            c.is_ascii_alphanumeric() || called.is_none() && matches!(c, '-' | '+' | '=' | '*' | '/')
        });
        if given && !glued {
            found.push(FoundSpan { kind: DataKind::IdCard, start: number.start(), end: number.end() });
        }
    }
}

static STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const STREETS: &str = "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Terrace|Ter|Way|Square|Sq|Highway|Hwy|Parkway|Pkwy|Crescent|Cres|Close|Circle|Cir|Trail|Trl|Gardens|Grove|Mews|Row|Walk|Quay|Alley|Plaza|Turnpike";
    const UNIT: &str = r"(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Fl|Room|Rm|Bldg|Building)\.?\x20?\#?[A-Z]?[0-9]{0,5}[A-Za-z]?|\#\x20?[0-9]{1,5}[A-Za-z]?";
    const POSTCODE: &str = r"[0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][A-Z0-9]?\x20?[0-9][A-Z]{2}|[A-Z][0-9][A-Z]\x20?[0-9][A-Z][0-9]";
    const DIRECTION: &str = r"(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?";
    const CITY: &str = r"[A-Z][A-Za-z'’.]+(?:[\x20-][A-Z][A-Za-z'’.]+){0,3}";
    Regex::new(&format!(
        r"(?x)
        (?: (?: {UNIT} ) ,? \x20 )?
        \b [0-9]{{1,5}} [A-Za-z]? \x20 (?: {DIRECTION} \x20 )?
        (?: (?: [A-Z][A-Za-z'’.-]* | [0-9]{{1,3}}(?:st|nd|rd|th) | of | the | de | la ) \x20 ){{1,4}}?
        (?: {STREETS} ) \b \.? (?: \x20 {DIRECTION} )?
        (?P<unit> ,? \x20 (?: {UNIT} ) \b )?
        (?: [,\n] \x20? (?P<city> {CITY} ) \b )?
        (?: (?: ,? \x20 (?P<state> [A-Z]{{2}} | [A-Z][a-z]+ ) \b )? (?P<code> ,? \x20 (?: {POSTCODE} ) \b ) | ,? \x20 (?P<only> [A-Z]{{2}} ) \b )?
        "
    ))
    .ok()
});

/// Words after which a house is somebody's.
static LIVES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        \b (?: liv(?:e|es|ed|ing) | resid(?:e|es|ed|ing|ent) | stay(?:s|ed|ing)? | mov(?:e|es|ed|ing) | address | home | house | apartment | flat
          | send | sent | ship | mail | post | deliver(?:ed|s)? | come | visit | located | meet )
        \b [^.!?\n]{0,25}? (?: \b (?: at | to | is | was | on | in ) | : ) [\x20]* $
        | \b address [\x20:]* $",
    )
    .ok()
});

static BOX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\bp\.?\x20?o\.?\x20?box\x20\#?[0-9]{1,6}\b").ok());

/// Finds street addresses.
pub fn find_addresses(text: &str, found: &mut Vec<FoundSpan>) {
    let mut push = |start: usize, end: usize| found.push(FoundSpan { kind: DataKind::Address, start, end });
    for captures in STREET.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(whole) = captures.get(0) else { continue };
        let mut end = whole.end();
        let (unit, code) = (captures.name("unit"), captures.name("code"));
        // What is capitalised after a comma is a city only where the sentence or the address goes on so: `…, Watson said`.
        let city = captures.name("city").filter(|city| {
            code.is_some()
                || captures.name("only").is_some()
                || text[city.end()..].chars().next().is_none_or(|next| ".,;:!?)\n\"”’。，？！".contains(next))
        });
        if city.is_none() && code.is_none() {
            let without = captures.name("city").map_or(end, |city| city.start());
            end = whole.start() + text[whole.start()..without].trim_end_matches([',', ' ', '\n']).len();
        }
        // The full stop of the sentence.
        end -= usize::from(text[..end].ends_with('.'));
        let first = whole.as_str().starts_with(|c: char| c.is_ascii_digit());
        let before = &text[..whole.start()];
        let from = before.char_indices().rev().nth(59).map_or(0, |(at, _)| at);
        let lived = || LIVES.as_ref().is_some_and(|lives| lives.is_match(&before[from..]));
        let glued =
            before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | '-' | '$' | '£' | '€'));
        if !glued && (unit.is_some() || city.is_some() || code.is_some() || !first || lived()) {
            push(whole.start(), end);
        }
    }
    for hit in BOX.iter().flat_map(|pattern| pattern.find_iter(text)) {
        push(hit.start(), hit.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(INTERNATIONAL.is_some() && NATIONAL.is_some() && CALLED.is_some() && SOCIAL.is_some());
        assert!(STREET.is_some() && LIVES.is_some() && BOX.is_some());
    }
}
