//! Ids that went through a spreadsheet or a floating-point number.
//!
//! What: a whole number written as a decimal one (`9100000001.0`, `9.100000001E9`, `9,100,000,001`, `="9100000001"`) is that
//! number. What has lost digits (`1.47346E+11`), and what a program writes where there is nothing (`#REF!`, `nan`), or a date that
//! was made of an id, names no post.
//!
//! Why `12e5` stays: it is an id of Reddit. A spreadsheet writes a sign or a point with it.
//!
//! Known problems: an id of 16 to 18 digits whose last ones a spreadsheet made zeros looks like any other; if two become one, their
//! texts tell them apart.

use std::borrow::Cow;

/// A spreadsheet keeps this many digits, and a float all whole numbers of so many.
const EXACT: usize = 15;

/// Longer ids that end in this many zeros were rounded: of others it is one in ten thousand.
const ZEROS: usize = 4;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What a source says instead of an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id `{0}` names no post")]
pub(super) struct Damaged(pub(super) String);

/// An id, or a part of one, as its source meant it.
///
/// # Errors
/// [`Damaged`] where what is written names no post.
pub(super) fn as_meant(written: &str) -> Result<Cow<'_, str>, Damaged> {
    let text = written.trim();
    // Spreadsheets write these around a text that must not become a number.
    let bare = text.strip_prefix("=\"").and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let bare = bare.strip_prefix('\'').filter(|rest| is_digits(rest)).unwrap_or(bare);
    if is_digits(bare) {
        let rounded = bare.len() >= EXACT + ZEROS && bare[EXACT..].bytes().all(|digit| digit == b'0');
        return if rounded { Err(Damaged(text.to_owned())) } else { Ok(Cow::Borrowed(bare)) };
    }
    let error = bare.starts_with('#')
        && bare[1..]
            .trim_end_matches(['#', '!', '?', '/'])
            .bytes()
            .all(|b| matches!(b, b'A'..=b'Z' | b'0' | b'/'));
    if error || bare == "NA" || is_no_value(bare) || is_date(bare) {
        return Err(Damaged(text.to_owned()));
    }
    match parse_number(bare) {
        Number::Whole(digits) => Ok(digits.into()),
        Number::Rounded => Err(Damaged(text.to_owned())),
        Number::None => Ok(Cow::Borrowed(bare)),
    }
}

/// How a source says that an id names no post.
pub(super) fn describe_damage(written: &str) -> String {
    format!(
        "the id `{}` names no post: a spreadsheet or a program made it; save the column as text, and import the file again",
        written.chars().take(40).collect::<String>()
    )
}

/// What programs write where there is no value: databases, spreadsheets, R, pandas, HTML.
pub(super) fn is_no_value(value: &str) -> bool {
    const NONE: [&str; 18] = [
        "null",
        "none",
        "nan",
        "n/a",
        "\\n",
        "nil",
        "undefined",
        "&nbsp;",
        "(null)",
        "<na>",
        "nat",
        "#n/a",
        "#null!",
        "#ref!",
        "#value!",
        "#name?",
        "#div/0!",
        "#num!",
    ];
    let value = value.trim();
    // A text of one blank or another says nothing, either, but is not a mark of its own.
    value.len() <= 12 && NONE.iter().any(|none| value.eq_ignore_ascii_case(none))
}

enum Number {
    Whole(String),
    Rounded,
    None,
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// A number with a point, an exponent, or commas between its thousands.
fn parse_number(text: &str) -> Number {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let signed = exponent.is_some_and(|exponent| exponent.starts_with(['+', '-']));
    let exponent = exponent.map(|exponent| exponent.trim_start_matches(['+', '-']));
    if exponent.is_some_and(|exponent| !is_digits(exponent) || exponent.len() > 3) {
        return Number::None;
    }
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    match exponent {
        Some(exponent) => {
            // Some languages write a comma for the point.
            let (whole, fraction) = mantissa.split_once(['.', ',']).unwrap_or((mantissa, ""));
            let pointed = mantissa.len() > whole.len();
            if !is_digits(whole) || pointed && !is_digits(fraction) || !pointed && !signed {
                return Number::None;
            }
            // As many digits behind the point as the point moves: none was lost.
            let all = exponent.parse() == Ok(fraction.len()) && whole.len() + fraction.len() <= EXACT;
            if all && !text.starts_with('-') && !text.contains('-') {
                Number::Whole(format!("{whole}{fraction}"))
            } else {
                Number::Rounded
            }
        }
        None => {
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let mut groups = whole.split(',');
            let grouped = groups.next().is_some_and(|first| is_digits(first) && first.len() <= 3)
                && groups.all(|group| is_digits(group) && group.len() == 3);
            let digits = whole.replace(',', "");
            let zero = fraction.bytes().all(|digit| digit == b'0');
            if !is_digits(whole) && !grouped || !zero || text.starts_with('-') {
                return Number::None;
            }
            // More digits than a float has were rounded before the point was written.
            if digits.len() > EXACT && mantissa.contains('.') {
                Number::Rounded
            } else {
                Number::Whole(digits)
            }
        }
    }
}

/// `3-Sep`, `Sep-12`: what spreadsheets make of `9-3` and `sep12`.
fn is_date(text: &str) -> bool {
    let Some((first, second)) = text.split_once('-') else { return false };
    let day = |text: &str| is_digits(text) && text.len() <= 2;
    day(first) && MONTHS.contains(&second) || MONTHS.contains(&first) && day(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_is_that_number_however_it_is_written() {
        for written in [
            "9100000001",
            "9100000001.0",
            "9100000001.00",
            "9100000001.",
            " 9100000001 ",
            "9,100,000,001",
            "9,100,000,001.00",
            "9.100000001E9",
            "9.100000001e+09",
            "=\"9100000001\"",
            "'9100000001",
        ] {
            assert_eq!(as_meant(written).as_deref(), Ok("9100000001"), "{written}");
        }
    }

    #[test]
    fn what_lost_digits_names_nothing() {
        for written in [
            "1.47346E+11",
            "1,47346E+11",
            "1.47346e11",
            "1E+11",
            "1.4734600000000000e+17",
            "1.2345678901234568e17",
            "123456789012345680.0",
            "8354539603147340000",
            "#REF!",
            "#NAME?",
            "#N/A",
            "#DIV/0!",
            "########",
            "nan",
            "None",
            "NONE",
            "Null",
            "NaN",
            "N/A",
            "(null)",
            "\\N",
            "3-Sep",
            "Sep-12",
        ] {
            assert_eq!(as_meant(written), Err(Damaged(written.to_owned())), "{written}");
        }
    }

    #[test]
    fn other_ids_stay() {
        for written in [
            "12e5",
            "1e10",
            "aa1",
            "t3_aa1",
            "18446744073709551615",
            "147346000000",
            "riddle:42",
            "e5",
            "1.2.3",
            "2024-05-01",
            "3.5",
            "v1.0",
            "a,b",
            "1,2",
            "-5",
            "云",
            "#1",
            "",
        ] {
            assert_eq!(as_meant(written).as_deref(), Ok(written), "{written}");
        }
    }
}
