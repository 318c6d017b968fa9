//! Telephone numbers, identity numbers and street addresses as Chinese texts write them.

use std::sync::LazyLock;

use regex::Regex;

use super::super::segment::lead_of_place;
use super::{DataKind, FoundSpan};

static MOBILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?: [+＋]?\s?86[-\s]? )?
            (?: [(（][1１][3-9３-９]\d[)）] (?: [-－\s]?\d{4} ){2}
              | [1１][3-9３-９]\d (?: [-－\s]?\d{4} ){2} | [1１][3-9３-９]\d [.·]\d{4}[.·]\d{4}
              | [1１][3-9３-９]\d{2} [-－\s]\d{3}[-－\s]\d{4} | [1１][3-9３-９]\d{3} [-－\s]\d{6} )",
    )
    .ok()
});

/// What only a telephone number is written like, in numerals.
static SPELLED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[一幺][三四五六七八九][零〇一二三四五六七八九幺]{9}").ok());

/// A word for a number of a telephone right before one.
static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:电话|電話|手机|手機|号码|號碼|联系方式|拨打|致电|tel|phone|call|mobile)(?:号码?|號碼?)?(?:是|为|me|is)?[\s:：]{0,3}$").ok()
});

static LANDLINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:[(（]0\d{2,3}[)）]\s?|0\d{2,3}[-－\s])\d{3,4}[-－\s]?\d{4}(?:-\d{1,4})?|[48]00-\d{3}-?\d{4}|[48]00-?\d{4}-\d{3}").ok()
});

static LABELLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:电话|電話|座机|热线|手机号?|手機|tel|拨打|致电)(?:号码|号|號碼)?(?:是|为)?[\s:：]{0,3}([2-9]\d{2,3}[-－\s]?\d{4})",
    )
    .ok()
});

static IDENTITY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[1-8１-８]\d{5}[-\s]?\d{8}[-\s]?\d{3}[\dXxＸｘ]").ok());

/// Characters that cannot follow a telephone or account number: they make it a count.
const UNITS: &str = "元块年月人个次位字米岁天秒分万亿公克斤只条倍度页种份张本章楼名股吨厘毫平步%％";

/// Finds telephone numbers.
///
/// Telephone numbers and identity numbers.
///
/// What: mobile numbers (`138 0013 8000`, `+86-…`, full-width digits), landlines with their area code,
/// hotlines with hyphens, seven or eight digits after a word such as `电话`; identity numbers whose check
/// character is right.
///
/// Why not every long number: jokes are full of prices, years, powers of two and digits of pi. A number
/// followed by a unit, next to an operator or a decimal point, or within further digits is ignored.
///
/// Known problems: a mobile number in a sum (`13800138000+1`) is ignored.
pub fn find_phones(text: &str, found: &mut Vec<FoundSpan>) {
    let mut push = |start: usize, end: usize| found.push(FoundSpan { kind: DataKind::Phone, start, end });
    let mut mobiles: Vec<_> = MOBILE.iter().flat_map(|pattern| pattern.find_iter(text)).collect();
    mobiles.sort_by_key(regex::Match::start);
    // Of `138…/139…` each is alone, though not by itself: a stroke between two is no operator.
    let are_listed = |x: &regex::Match<'_>, y: &regex::Match<'_>| {
        // Two patterns may find one number.
        let between = text.get(x.end()..y.start()).map(str::trim);
        matches!(between, Some("/" | "-" | "－" | "~" | "、" | "|")) && !text[..x.start()].ends_with('=')
    };
    for list in mobiles.chunk_by(are_listed) {
        let (start, end) = (list[0].start(), list[list.len() - 1].end());
        if is_number_alone(text, start, end) || list.len() == 1 && is_called(text, start, end) {
            list.iter().for_each(|hit| push(hit.start(), hit.end()));
        }
    }
    for hit in LANDLINE.iter().flat_map(|pattern| pattern.find_iter(text)) {
        if is_number_alone(text, hit.start(), hit.end()) {
            push(hit.start(), hit.end());
        }
    }
    for captures in LABELLED.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(number) = captures.get(1) else { continue };
        if !followed_by_count(&text[number.end()..]) {
            push(number.start(), number.end());
        }
    }
}

/// Finds telephone numbers in numerals.
pub fn find_spelled_phones(text: &str, found: &mut Vec<FoundSpan>) {
    for hit in SPELLED.iter().flat_map(|pattern| pattern.find_iter(text)) {
        let numeral = |c: char| "零〇一二三四五六七八九十百千万亿幺".contains(c);
        if !is_adjacent_to(text, hit.start(), hit.end(), numeral) && !followed_by_count(&text[hit.end()..]) {
            found.push(FoundSpan { kind: DataKind::Phone, start: hit.start(), end: hit.end() });
        }
    }
}

/// Whether the text calls a number one of a telephone, so that letters may be right behind it.
fn is_called(text: &str, start: usize, end: usize) -> bool {
    let next = text[end..].chars().next();
    let from = text[..start].char_indices().rev().nth(15).map_or(0, |(at, _)| at);
    next.is_none_or(|c| digit_value(c).is_none() && !UNITS.contains(c))
        && CALLED.as_ref().is_some_and(|called| called.is_match(&text[from..start]))
}

/// What the text calls an identity number, of fifteen digits (until 1999) or eighteen.
static CALLED_IDENTITY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:身[份分][证證]|证件|id\s?card)(?:号码?|號碼?|\s?no\.?|\s?number)?(?:是|为|\s?is)?[\s:：]{0,3}([1-8]\d{5}[-\s]?\d{6}(?:\d{2})?[-\s]?\d{3}[\dXx]?)").ok()
});

/// Finds identity numbers.
pub fn find_identities(text: &str, found: &mut Vec<FoundSpan>) {
    for captures in CALLED_IDENTITY.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(number) = captures.get(1) else { continue };
        let length = number.as_str().chars().filter(char::is_ascii_alphanumeric).count();
        let goes_on = text[number.end()..].starts_with(|c: char| c.is_ascii_alphanumeric());
        if matches!(length, 15 | 18) && !goes_on {
            found.push(FoundSpan { kind: DataKind::IdCard, start: number.start(), end: number.end() });
        }
    }
    let Some(pattern) = IDENTITY.as_ref() else { return };
    for hit in pattern.find_iter(text) {
        let digits: Vec<u32> = hit.as_str().chars().filter_map(digit_value).collect();
        let alone = !is_adjacent_to(text, hit.start(), hit.end(), |c| {
            c.is_ascii_alphanumeric() || digit_value(c).is_some()
        });
        if alone && is_identity(&digits, hit.as_str().ends_with(['X', 'x', 'Ｘ', 'ｘ'])) {
            found.push(FoundSpan { kind: DataKind::IdCard, start: hit.start(), end: hit.end() });
        }
    }
}

/// GB 11643: a date of birth in the middle, ISO 7064 MOD 11-2 at the end.
fn is_identity(digits: &[u32], ends_in_x: bool) -> bool {
    if digits.len() != if ends_in_x { 17 } else { 18 } {
        return false;
    }
    let number = |range: std::ops::Range<usize>| digits[range].iter().fold(0, |n, d| n * 10 + d);
    let (year, month, day) = (number(6..10), number(10..12), number(12..14));
    let sum: u32 = digits[..17].iter().enumerate().map(|(i, d)| d * (1 << (17 - i)) % 11).sum();
    let check = (12 - sum % 11) % 11;
    let last = if ends_in_x { 10 } else { digits[17] };
    (1900..2036).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day) && check == last
}

fn digit_value(c: char) -> Option<u32> {
    match c {
        '０'..='９' => Some(c as u32 - 0xff10),
        c => c.to_digit(10),
    }
}

pub(super) fn is_adjacent_to(text: &str, start: usize, end: usize, is: impl Fn(char) -> bool) -> bool {
    text[..start].chars().next_back().is_some_and(&is) || text[end..].chars().next().is_some_and(&is)
}

/// Whether a number is not part of a longer one, of a sum, or of a count.
pub(super) fn is_number_alone(text: &str, start: usize, end: usize) -> bool {
    // A line behind a number is no part of it: `138…_`.
    let behind = text[end..].trim_start_matches('_');
    if is_adjacent_to(text, start, end, |c| c.is_ascii_alphanumeric() || digit_value(c).is_some())
        || text[..start].ends_with('_')
        || behind.starts_with(char::is_alphanumeric) && behind.len() < text.len() - end
    {
        return false;
    }
    let before = text[..start].trim_end();
    let after = text[end..].trim_start();
    let operator = |c: char| "+-*/×÷^.．％%￥¥$=<>".contains(c);
    // `号码=138…` is a label; `1+2=138…` is a sum.
    let sum_before = match before.chars().next_back() {
        Some('=') => {
            before.trim_end_matches('=').trim_end().ends_with(|c: char| digit_value(c).is_some() || c == ')')
        }
        Some(c) => operator(c),
        None => false,
    };
    let mut next = after.chars();
    let sum_after =
        next.next().is_some_and(operator) && next.next().is_some_and(|c| digit_value(c).is_some());
    // `第` makes a number an ordinal.
    !sum_before && !sum_after && !followed_by_count(&text[end..]) && !before.ends_with('第')
}

/// Whether the text after a number makes it a count, or continues the number.
pub fn followed_by_count(after: &str) -> bool {
    let goes_on = |c: char| c.is_ascii_alphanumeric();
    let decimal = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(goes_on));
    after.trim_start().starts_with(|c| UNITS.contains(c)) || after.starts_with(goes_on) || decimal
}

/// Endings of street names.
const STREETS: [&str; 11] = ["大街", "大道", "街道", "胡同", "路", "街", "巷", "弄", "村", "里", "道"];

/// Endings of estate names.
const ESTATES: [&str; 10] = ["小区", "花园", "公寓", "新村", "家园", "宿舍", "苑", "小區", "花園", "家園"];

/// The last characters of both: a text without any of them contains no address.
static ENDS: LazyLock<Vec<char>> =
    LazyLock::new(|| STREETS.iter().chain(&ESTATES).filter_map(|name| name.chars().last()).collect());

static STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Characters that end the sentence's own words and do not begin a place.
    const PLACE: &str = r"[\p{Han}--[我你他她它们住在的是到去来从了把被给和与说叫于送往寄搬为有个]]";
    const COUNT: &str = r"[\d一二三四五六七八九十百]{1,5}";
    let admin = format!(
        r"(?:香港|澳[门門]|九[龙龍]|新界|{PLACE}{{1,8}}?(?:特别行政区|自治区|自治州|省|市|区|县|镇|乡|區|縣|鎮|鄉))"
    );
    let unit =
        format!(r"(?:[-\s]?{COUNT}(?:号楼|號樓|号院|號院|幢|栋|棟|座|单元|單元|号|號|楼|樓|层|層|室))");
    let (streets, estates) = (STREETS.join("|"), ESTATES.join("|"));
    Regex::new(&format!(
        r"(?x)
        (?P<admin> {admin}{{1,4}} )? {PLACE}{{1,8}}? (?: {streets} )
        \s* {COUNT} \s* (?: 号院 | 號院 | 号 | 號 | 弄 ) (?P<unit> {unit}{{1,4}} (?: \s?\d{{2,4}} (?:室|房)? )? | \s?\d{{3,4}} (?:室|房) )?
        | (?: {admin}{{1,4}} )? {PLACE}{{1,8}}? (?: {estates} )
          (?P<estate> {unit}{{1,4}} (?: \s?\d{{2,4}} (?:室|房)? )? )
        "
    ))
    .ok()
});

/// Finds street addresses.
///
/// Street addresses.
///
/// What: a street with a house number where a province, city or district is before it or a
/// building, unit or room behind it; a building of a named estate.
///
/// Why two levels: `唐宁街10号` and `彩虹路7号` are places anybody may joke about; with a city or a room it is
/// somebody's home.
///
/// Known problems: an address in the countryside without a number is not found; the mark may begin a word
/// early if a noun comes right before the place.
pub fn find_addresses(text: &str, found: &mut Vec<FoundSpan>) {
    if !text.contains(ENDS.as_slice()) {
        return;
    }
    for captures in STREET.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(whole) = captures.get(0) else { continue };
        let levels = ["admin", "unit", "estate"].iter().any(|level| captures.name(level).is_some());
        // `1号线`, `3号选手`: the number counts something else.
        let counts = text[whole.end()..].starts_with(['线', '选', '种', '病', '电', '机', '桌', '门']);
        if levels && !counts {
            // Of what stands before a city or an estate the name begins with its own word.
            let head = whole.as_str().find(['省', '市', '区', '县', '镇', '乡', '區', '縣', '鎮', '鄉']);
            let head = head.or_else(|| ESTATES.iter().filter_map(|name| whole.as_str().find(name)).min());
            let lead = head.map_or(0, |head| lead_of_place(whole.as_str(), head));
            found.push(FoundSpan { kind: DataKind::Address, start: whole.start() + lead, end: whole.end() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_characters_decide() {
        let mut found = Vec::new();
        find_identities("11010119900307002X 110101199003070028 11010119901307002X", &mut found);
        assert_eq!(found.len(), 1);
        found.clear();
        find_identities("１１０１０１１９９００３０７００２Ｘ 110101 19900307 002X", &mut found);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn patterns_compile() {
        assert!(SPELLED.is_some() && CALLED.is_some() && CALLED_IDENTITY.is_some());
        assert!(MOBILE.is_some() && LANDLINE.is_some() && LABELLED.is_some() && IDENTITY.is_some());
    }

    #[test]
    fn pattern_compiles() {
        assert!(STREET.is_some());
    }

    #[test]
    fn an_address_begins_with_its_place() {
        for (text, address) in [
            ("谁知道广州市天河区天河路12号有鬼吗？", "广州市天河区天河路12号"),
            ("如果深圳市南山区科技路5号没有人，谁付电费？", "深圳市南山区科技路5号"),
            ("昨天晚上北京市海淀区中关村大街1号停电了", "北京市海淀区中关村大街1号"),
            ("为什么阳光小区5号楼没有6号楼？", "阳光小区5号楼"),
        ] {
            let mut found = Vec::new();
            find_addresses(text, &mut found);
            assert_eq!(found.iter().map(|one| &text[one.start..one.end]).collect::<Vec<_>>(), [address]);
        }
    }

    #[test]
    fn each_street_and_estate_is_found() {
        for place in STREETS.iter().chain(&ESTATES) {
            let mut found = Vec::new();
            find_addresses(&format!("云州市彩虹{place}7号楼3单元"), &mut found);
            assert_eq!(found.len(), 1, "{place}");
        }
    }
}
