//! Street addresses.
//!
//! What: a street with a house number where a province, city or district is before it or a
//! building, unit or room behind it; a building of a named estate.
//!
//! Why two levels: `唐宁街10号` and `彩虹路7号` are places anybody may joke about; with a city or a room it is
//! somebody's home.
//!
//! Known problems: an address in the countryside without a number is not found; the mark may begin a word
//! early if a verb comes right before the place.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, Kind};

/// Endings of street names.
const STREETS: [&str; 10] = ["大街", "大道", "街道", "胡同", "路", "街", "巷", "弄", "村", "里"];
/// Endings of estate names.
const ESTATES: [&str; 7] = ["小区", "花园", "公寓", "新村", "家园", "宿舍", "苑"];

/// The last characters of both: a text without any of them contains no address.
static ENDS: LazyLock<Vec<char>> =
    LazyLock::new(|| STREETS.iter().chain(&ESTATES).filter_map(|name| name.chars().last()).collect());

static STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Characters that end the sentence's own words and do not begin a place.
    const PLACE: &str = r"[\p{Han}--[我你他她它们住在的是到去来从了把被给和与说叫于送往寄搬为有个]]";
    const COUNT: &str = r"[\d一二三四五六七八九十百]{1,5}";
    let admin = format!(r"(?:{PLACE}{{1,8}}?(?:特别行政区|自治区|自治州|省|市|区|县|镇|乡))");
    let unit = format!(r"(?:[-\s]?{COUNT}(?:号楼|号院|幢|栋|座|单元|号|楼|层|室))");
    let (streets, estates) = (STREETS.join("|"), ESTATES.join("|"));
    Regex::new(&format!(
        r"(?x)
        (?P<admin> {admin}{{1,4}} )? {PLACE}{{1,8}}? (?: {streets} )
        \s* {COUNT} \s* (?: 号院 | 号 | 弄 ) (?P<unit> {unit}{{1,4}} (?: \s?\d{{2,4}} (?:室|房)? )? | \s?\d{{3,4}} (?:室|房) )?
        | (?: {admin}{{1,4}} )? {PLACE}{{1,8}}? (?: {estates} )
          (?P<estate> {unit}{{1,4}} (?: \s?\d{{2,4}} (?:室|房)? )? )
        "
    ))
    .ok()
});

/// Finds street addresses.
pub fn addresses(text: &str, found: &mut Vec<Found>) {
    if !text.contains(ENDS.as_slice()) {
        return;
    }
    for captures in STREET.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(whole) = captures.get(0) else { continue };
        let levels = ["admin", "unit", "estate"].iter().any(|level| captures.name(level).is_some());
        // `1号线`, `3号选手`: the number counts something else.
        let counts = text[whole.end()..].starts_with(['线', '选', '种', '病', '电', '机', '桌', '门']);
        if levels && !counts {
            found.push(Found { kind: Kind::Address, start: whole.start(), end: whole.end() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_compiles() {
        assert!(STREET.is_some());
    }

    #[test]
    fn each_street_and_estate_is_found() {
        for place in STREETS.iter().chain(&ESTATES) {
            let mut found = Vec::new();
            addresses(&format!("云州市彩虹{place}7号楼3单元"), &mut found);
            assert_eq!(found.len(), 1, "{place}");
        }
    }
}
