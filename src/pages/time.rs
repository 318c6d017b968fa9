//! Times as forums show them. All are UTC+8.

/// ISO 8601 at the precision the text has: `2024-03-05T12:30+08:00`, `2024-03-05` or `2024-03`.
///
/// `captured` is the page's own date (`WARC-Date`, UTC); without it, `12:30` and `3-5` name no
/// day and give `None`.
pub fn parse(raw: &str, captured: Option<&str>) -> Option<String> {
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
    let today = captured.and_then(china_date);
    let numbers: Vec<&str> = date.split(['-', '/', '.']).filter(|part| !part.is_empty()).collect();
    let day = match numbers.as_slice() {
        [] => today?,
        [year, month] if year.len() == 4 => {
            let (year, month) = (number(year)?, number(month)?);
            return (clock.is_none() && (1..=12).contains(&month)).then(|| format!("{year:04}-{month:02}"));
        }
        [month, day] => {
            let (month, day) = (number(month)?, number(day)?);
            let today = today?;
            // The latest such day that is not in the page's future.
            let year = if (month, day) > (today.1, today.2) { today.0 - 1 } else { today.0 };
            (year, month, day)
        }
        [year, month, day] if year.len() == 4 => (number(year)?, number(month)?, number(day)?),
        _ => return None,
    };
    let (year, month, day) = day;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(match clock {
        Some(clock) => format!("{year:04}-{month:02}-{day:02}T{clock}+08:00"),
        None => format!("{year:04}-{month:02}-{day:02}"),
    })
}

/// Unix seconds as ISO 8601, UTC+8.
pub fn from_unix(seconds: i64) -> String {
    let local = seconds.saturating_add(8 * 3600);
    let (year, month, day) = civil(local.div_euclid(86_400));
    let rest = local.rem_euclid(86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+08:00")
}

/// Unix seconds as ISO 8601 in UTC, without the zone: `2024-03-05T12:30:01`.
pub fn utc(seconds: i64) -> String {
    from_unix(seconds.saturating_sub(8 * 3600)).trim_end_matches("+08:00").to_string()
}

fn parse_clock(clock: &str) -> Option<String> {
    let parts: Option<Vec<i64>> = clock.split(':').map(number).collect();
    match parts?.as_slice() {
        [h @ 0..=23, m @ 0..=59] => Some(format!("{h:02}:{m:02}")),
        [h @ 0..=23, m @ 0..=59, s @ 0..=60] => Some(format!("{h:02}:{m:02}:{s:02}")),
        _ => None,
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The day in UTC+8 of a `WARC-Date`.
fn china_date(utc: &str) -> Option<(i64, i64, i64)> {
    let (date, clock) = utc.split_once('T')?;
    let parts: Option<Vec<i64>> = date.split('-').map(number).collect();
    let &[year, month, day] = parts?.as_slice() else { return None };
    let hour = number(clock.get(..2)?)?;
    Some(if hour >= 16 { civil(days(year, month, day) + 1) } else { (year, month, day) })
}

/// Days since 1970-01-01 of a Gregorian date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
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
            assert_eq!(parse(raw, captured).as_deref(), want, "{raw}");
        }
        assert_eq!(parse("12:30", None), None);
    }

    #[test]
    fn unix_seconds_and_days_agree_with_the_calendar() {
        assert_eq!(from_unix(0), "1970-01-01T08:00:00+08:00");
        assert_eq!(from_unix(1_620_494_279), "2021-05-09T01:17:59+08:00");
        for day in (-800_000..800_000).step_by(97) {
            let (y, m, d) = civil(day);
            assert_eq!(days(y, m, d), day);
        }
    }
}
