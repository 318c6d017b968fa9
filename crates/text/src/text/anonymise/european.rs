//! Telephone numbers and street addresses as French, German and Russian texts write them.
//!
//! What: five pairs of digits (`01 42 68 53 00`), an area code before a stroke (`030/901820`), `8 (916) 123-45-67`; a street with a house
//! number, a postal code of five digits and a town.
//!
//! Known problems: a street without a postal code is not found.

use std::sync::LazyLock;

use phonelib::PhoneNumber;
use regex::Regex;

use super::chinese::is_number_alone;
use super::english::is_piece_of_number;
use super::{DataKind, FoundSpan};

static PHONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<french> 0[1-9] (?: [\x20.\u{a0}] [0-9]{2} ){4} )
        | (?P<russian> 8 [\x20-]? \(? 9[0-9]{2} \)? [\x20-]? [0-9]{3} [\x20-] [0-9]{2} [\x20-] [0-9]{2} )
        | (?P<german> \(? 0[1-9][0-9]{1,3} \)? \x20? / \x20? [0-9]{3,4} \x20? [0-9]{2,5} )",
    )
    .ok()
});

static STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?: (?: \p{Lu}[\p{L}.-]*\x20 ){0,2} (?: \p{Lu}[\p{L}-]*? (?: straße | strasse | str\. | weg | platz | allee | gasse | damm | ufer )
                | Straße | Strasse | Str\. | Weg | Platz | Allee ) \x20? [0-9]{1,4}\x20?[a-z]? \b
          | \b [0-9]{1,4} (?: \x20? (?: bis | ter ) )? ,? \x20 (?i: rue | avenue | boulevard | place | chemin | allée | impasse | quai | cours )
            \x20 [\p{L}'’\x20-]{2,40}? )
        ,? \x20 [0-9]{5} \x20 \p{Lu}[\p{L}-]+",
    )
    .ok()
});

/// Finds telephone numbers.
pub fn find_phones(text: &str, found: &mut Vec<FoundSpan>) {
    for captures in PHONE.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(hit) = captures.get(0) else { continue };
        // Five pairs are drawn in lotteries, too.
        let valid = captures.name("french").is_none()
            || PhoneNumber::parse_with_country(hit.as_str(), "FR").is_some();
        if valid
            && !is_piece_of_number(text, hit.start(), hit.end())
            && is_number_alone(text, hit.start(), hit.end())
        {
            found.push(FoundSpan { kind: DataKind::Phone, start: hit.start(), end: hit.end() });
        }
    }
}

/// Finds street addresses.
pub fn find_addresses(text: &str, found: &mut Vec<FoundSpan>) {
    let hits = STREET.iter().flat_map(|pattern| pattern.find_iter(text));
    found.extend(hits.map(|hit| FoundSpan { kind: DataKind::Address, start: hit.start(), end: hit.end() }));
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::PHONE.is_some() && super::STREET.is_some());
    }
}
