//! Times: as forums show them (in UTC+8), as dumps give them, and as we write them.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{self, Offset};

/// The zone of every forum read here.
pub const CHINA: Offset = tz::offset(8);

/// ISO 8601 at the precision the text has: `2024-03-05T12:30+08:00`, `2024-03-05` or `2024-03`.
///
/// `captured` is the page's own date (`WARC-Date`, UTC); without it, `12:30` and `3-5` determine no day and
/// give `None`.
pub fn parse_time(raw: &str, captured: Option<&str>) -> Option<String> {
    parse_in(raw, captured, CHINA)
}

/// [`parse_time`] of a time in another zone.
pub fn parse_in(raw: &str, captured: Option<&str>, zone: Offset) -> Option<String> {
    let raw = raw.trim();
    let (date, clock) = match raw.split_once([' ', 'T']) {
        Some((date, clock)) => (date, Some(clock.trim())),
        None if raw.contains(':') => ("", Some(raw)),
        None => (raw, None),
    };
    let clock = match clock {
        Some(clock) => Some(parse_clock(clock)?),
        None => None,
    };
    let today = captured.and_then(|utc| date_in(utc, zone));
    let numbers: Vec<&str> = date.split(['-', '/', '.']).filter(|part| !part.is_empty()).collect();
    let day = match numbers.as_slice() {
        [] => today?,
        [year, month] if year.len() == 4 => {
            let month = calendar_day(parse_number(year)?, parse_number(month)?, 1)?;
            return clock.is_none().then(|| month.strftime("%Y-%m").to_string());
        }
        [month, day] => {
            let today = today?;
            let this_year = calendar_day(today.year(), parse_number(month)?, parse_number(day)?)?;
            // The latest such day that is not in the page's future.
            let future = this_year > today;
            if future {
                calendar_day(today.year() - 1, parse_number(month)?, parse_number(day)?)?
            } else {
                this_year
            }
        }
        [year, month, day] if year.len() == 4 => {
            calendar_day(parse_number(year)?, parse_number(month)?, parse_number(day)?)?
        }
        _ => return None,
    };
    Some(match clock {
        Some(clock) => format!("{day}T{clock}{}", format_offset(zone)),
        None => day.to_string(),
    })
}

/// A zone in ISO 8601: `+08:00`.
pub fn format_offset(zone: Offset) -> String {
    let seconds = zone.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60)
}

/// Unix seconds as ISO 8601, UTC+8; `None` outside of the years -9999 to 9999.
pub fn from_unix(seconds: i64) -> Option<String> {
    Some(Timestamp::from_second(seconds).ok()?.display_with_offset(CHINA).to_string())
}

/// The Unix seconds of a time as dumps and [`parse_time`] give it: a number, or a date or date and time, in UTC+8
/// if no zone is given, also in words. `None` for a month.
pub fn unix_seconds(time: &str) -> Option<i64> {
    let time = time.trim();
    let whole = time.strip_suffix(".0").unwrap_or(time);
    if let Ok(number) = whole.parse() {
        return Some(seconds_of_number(number));
    }
    if let Some(seconds) = time.parse::<f64>().ok().filter(|seconds| seconds.is_finite()) {
        return Some(seconds_of_number(seconds as i64));
    }
    if let Ok(zoned) = time.parse::<Timestamp>() {
        return Some(zoned.as_second());
    }
    let Some(iso) = parse_time(time, None) else { return seconds_of_words(time) };
    let local: DateTime = iso.trim_end_matches("+08:00").parse().ok()?;
    Some(CHINA.to_timestamp(local).ok()?.as_second())
}

/// Beginnings of the names of months, and of those of the days of a week.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The Unix seconds of a time in words, or with the year last: `2024年1月2日 12:30`, `Jan 2, 2023`, `Mon, 02 Jan 2023 12:00:00 +0000`,
/// `15/12/2023`. `None` where the day could be the month: `3/4/2023`.
fn seconds_of_words(time: &str) -> Option<i64> {
    let spaced = time.replace(['年', '月'], "-").replace(['日', '号', '號', ','], " ");
    let (mut numbers, mut month, mut clock, mut zone) = (Vec::new(), None, None, CHINA);
    let mut is_afternoon = None;
    for word in spaced.split_whitespace() {
        let lower = word.trim_end_matches('.').to_lowercase();
        let named =
            |names: &[&str]| lower.get(..3).and_then(|first| names.iter().position(|name| *name == first));
        let is_word = lower.bytes().all(|byte| byte.is_ascii_alphabetic());
        match lower.as_str() {
            "am" | "pm" => is_afternoon = Some(lower == "pm"),
            "utc" | "gmt" | "z" => zone = tz::offset(0),
            "at" => {}
            _ if lower.contains(':') => clock = Some(parse_clock(&lower)?.parse::<Time>().ok()?),
            _ if is_word && named(&MONTHS).is_some() => month = named(&MONTHS).map(|at| at as i16 + 1),
            _ if is_word && named(&WEEKDAYS).is_some() => {}
            _ if clock.is_some() && lower.starts_with(['+', '-']) => zone = parse_offset(&lower)?,
            _ => {
                let day = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let parts = day.split(['-', '/', '.']).filter(|part| !part.is_empty());
                numbers.extend(parts.map(parse_number).collect::<Option<Vec<i16>>>()?);
            }
        }
    }
    let day = match (month, numbers.as_slice()) {
        (Some(month), [day @ ..=31, year @ (1000..)]) | (Some(month), [year @ (1000..), day @ ..=31]) => {
            calendar_day(*year, month, *day)?
        }
        (None, [year @ (1000..), month, day]) => calendar_day(*year, *month, *day)?,
        (None, [first, second, year @ (1000..)]) => match (first, second) {
            (13.., ..=12) => calendar_day(*year, *second, *first)?,
            (..=12, 13..) => calendar_day(*year, *first, *second)?,
            (first, second) if first == second => calendar_day(*year, *first, *second)?,
            _ => return None,
        },
        _ => return None,
    };
    let clock = clock.unwrap_or_default();
    let hour = match (is_afternoon, clock.hour()) {
        (Some(true), hour @ ..12) => hour + 12,
        (Some(false), 12) => 0,
        (_, hour) => hour,
    };
    let clock = Time::new(hour, clock.minute(), clock.second(), 0).ok()?;
    Some(zone.to_timestamp(day.to_datetime(clock)).ok()?.as_second())
}

/// A zone as mails have it: `+0800`, `-05:00`.
fn parse_offset(written: &str) -> Option<Offset> {
    let digits = written.get(1..)?.replace(':', "");
    let number: i32 = (digits.len() == 4).then(|| digits.parse().ok()).flatten()?;
    let seconds = number / 100 * 3600 + number % 100 * 60;
    Offset::from_seconds(if written.starts_with('-') { -seconds } else { seconds }).ok()
}

/// The Unix seconds of a number, which may be of milliseconds, microseconds or nanoseconds: as seconds it would be a time thousands of
/// years from now. A day may be a number, too (`20240305`).
fn seconds_of_number(number: i64) -> i64 {
    if (19_700_101..21_000_000).contains(&number)
        && let Some(day) = date_of_number(number)
    {
        return day;
    }
    let per_second = match number.unsigned_abs() {
        0..100_000_000_000 => 1,
        100_000_000_000..100_000_000_000_000 => 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000_000,
        _ => 1_000_000_000,
    };
    number.div_euclid(per_second)
}

/// The beginning of a day that is written as a number.
fn date_of_number(number: i64) -> Option<i64> {
    let [year, month, day] = [number / 10_000, number / 100 % 100, number % 100].map(i16::try_from);
    let day = calendar_day(year.ok()?, month.ok()?, day.ok()?)?;
    Some(CHINA.to_timestamp(day.at(0, 0, 0, 0)).ok()?.as_second())
}

/// A day of the calendar, YYYY-MM-DD; `None` for anything else.
pub fn parse_day(text: &str) -> Option<String> {
    text.trim().parse::<Date>().ok().map(|day| day.to_string())
}

/// A moment in UTC as ISO 8601, `2024-03-05T12:30:01Z`.
pub fn format_utc(at: SystemTime) -> String {
    let whole = Timestamp::from_second(timestamp_of(at).as_second());
    whole.unwrap_or_default().to_string()
}

/// [`format_utc`] with microseconds.
pub fn utc_micros(at: SystemTime) -> String {
    format!("{:.6}", timestamp_of(at))
}

/// A timestamp; the epoch for a clock outside of the calendar.
fn timestamp_of(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or_default()
}

fn parse_clock(clock: &str) -> Option<String> {
    let parts: Option<Vec<i16>> = clock.split(':').map(parse_number).collect();
    match parts?.as_slice() {
        [h @ 0..=23, m @ 0..=59] => Some(format!("{h:02}:{m:02}")),
        [h @ 0..=23, m @ 0..=59, s @ 0..=60] => Some(format!("{h:02}:{m:02}:{s:02}")),
        _ => None,
    }
}

fn calendar_day(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn parse_number(text: &str) -> Option<i16> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The day of a `WARC-Date` in a zone.
fn date_in(utc: &str, zone: Offset) -> Option<Date> {
    Some(zone.to_datetime(utc.parse().ok()?).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_keeps_its_precision() {
        let captured = Some("2024-03-05T17:00:00Z"); // already the 6th in China
        for (raw, want) in [
            ("2021-05-09 01:31", Some("2021-05-09T01:31+08:00")),
            ("2012-1-2 3:04", Some("2012-01-02T03:04+08:00")),
            ("2020-03", Some("2020-03")),
            ("12:30", Some("2024-03-06T12:30+08:00")),
            ("3-6", Some("2024-03-06")),
            ("3-7", Some("2023-03-07")),
            ("13-41", None),
            ("昨天", None),
            ("25:00", None),
        ] {
            assert_eq!(parse_time(raw, captured).as_deref(), want, "{raw}");
        }
        assert_eq!(parse_time("12:30", None), None);
    }

    #[test]
    fn a_day_that_the_calendar_lacks_is_no_day() {
        assert_eq!(parse_time("2023-02-29", None), None);
        assert_eq!(parse_time("2024-02-29", None).as_deref(), Some("2024-02-29"));
        // The last 29 February was the year before.
        assert_eq!(parse_time("2-29", Some("2025-01-01T00:00:00Z")), None);
    }

    #[test]
    fn unix_seconds_are_read_and_written() {
        assert_eq!(from_unix(0).as_deref(), Some("1970-01-01T08:00:00+08:00"));
        assert_eq!(from_unix(1_620_494_279).as_deref(), Some("2021-05-09T01:17:59+08:00"));
        assert_eq!(from_unix(i64::MAX), None);
        for (time, want) in [
            ("1545580920", Some(1_545_580_920)),
            ("2018-12-24 00:02", Some(1_545_580_920)),
            ("2018-12-24T00:02+08:00", Some(1_545_580_920)),
            ("2018-12-23T16:02:00Z", Some(1_545_580_920)),
            ("2018-12-24", Some(1_545_580_800)),
            ("20181224", Some(1_545_580_800)),
            ("1545580920123", Some(1_545_580_920)),
            ("1545580920123456", Some(1_545_580_920)),
            ("1545580920.0", Some(1_545_580_920)),
            ("1545580920.75", Some(1_545_580_920)),
            ("1.54558092e9", Some(1_545_580_920)),
            ("2018年12月24日", Some(1_545_580_800)),
            ("2018年12月24日 00:02", Some(1_545_580_920)),
            ("Dec 24, 2018", Some(1_545_580_800)),
            ("24 December 2018", Some(1_545_580_800)),
            ("December 24th, 2018 12:02 AM", Some(1_545_580_920)),
            ("24/12/2018", Some(1_545_580_800)),
            ("12/24/2018 0:02", Some(1_545_580_920)),
            ("Sun, 23 Dec 2018 16:02:00 GMT", Some(1_545_580_920)),
            ("Mon Dec 24 00:02:00 +0800 2018", Some(1_545_580_920)),
            // The one may be the month as well as the other.
            ("3/4/2023", None),
            ("24/13/2018", None),
            ("24/12/18", None),
            ("3天前", None),
            ("2018年12月", None),
            ("2018-12", None),
            ("99999999999-1-1", None),
            ("昨天", None),
        ] {
            assert_eq!(unix_seconds(time), want, "{time}");
        }
    }

    #[test]
    fn our_own_times_are_of_utc() {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_micros(1_620_494_279_900_001);
        assert_eq!(format_utc(at), "2021-05-08T17:17:59Z");
        assert_eq!(utc_micros(at), "2021-05-08T17:17:59.900001Z");
    }
}
