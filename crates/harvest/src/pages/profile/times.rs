//! Times as sites show them: in the site's zone, in its own formats, or relative.

use jiff::civil::{DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use super::super::time;
use super::error::RuleError;

/// A zone in a profile: `UTC`, `Z`, `+08:00`, `-5`.
pub(super) fn parse_zone(text: &str) -> Option<Offset> {
    let text = text.trim();
    if matches!(text, "UTC" | "Z" | "utc" | "GMT") {
        return Some(Offset::UTC);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    // No zone is further from UTC than 14 hours.
    let inside = (0..=14).contains(&hours) && (0..60).contains(&minutes);
    inside.then(|| Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()).flatten()
}

/// Checks a format by parsing a time that it wrote itself.
pub(super) fn check_format(format: &str) -> Result<(), RuleError> {
    if matches!(format, "unix" | "unix_ms") {
        return Ok(());
    }
    let moment = BrokenDownTime::from(&DateTime::constant(2024, 3, 5, 12, 30, 1, 0).in_tz_utc());
    let written = moment.to_string(format)?;
    BrokenDownTime::parse(format, &written)?;
    Ok(())
}

trait InUtc {
    fn in_tz_utc(self) -> jiff::Zoned;
}

impl InUtc for DateTime {
    fn in_tz_utc(self) -> jiff::Zoned {
        Offset::UTC.to_timestamp(self).unwrap_or_default().to_zoned(Offset::UTC.to_time_zone())
    }
}

/// ISO 8601 at the precision of the text, or `None` if it is not a time. `captured` is the page's own date.
pub(super) fn read_time(
    raw: &str,
    captured: Option<&str>,
    formats: &[String],
    zone: Offset,
) -> Option<String> {
    let raw = raw.trim();
    for format in formats {
        if let Some(found) = by_format(raw, format, zone) {
            return Some(found);
        }
    }
    if let Ok(at) = raw.parse::<Timestamp>() {
        return Some(format_time(at, zone));
    }
    // With seconds and fractions, without a zone.
    if raw.contains('T')
        && let Ok(moment) = raw.parse::<DateTime>()
    {
        return Some(format!("{}T{}{}", moment.date(), clock_of(moment.time()), format_offset(zone)));
    }
    time::parse_in(raw, captured, zone).or_else(|| read_relative_time(raw, captured, zone))
}

fn by_format(raw: &str, format: &str, zone: Offset) -> Option<String> {
    if let "unix" | "unix_ms" = format {
        let number: f64 = raw.parse().ok()?;
        let seconds = if format == "unix" { number } else { number / 1000.0 };
        // Seconds beyond the year 5138 are more likely milliseconds under the wrong format.
        return (seconds.abs() < 1e11)
            .then(|| Timestamp::from_second(seconds as i64).ok().map(|at| format_time(at, zone)))?;
    }
    let read = BrokenDownTime::parse(format, raw).ok()?;
    if let Ok(at) = read.to_timestamp() {
        return Some(format_time(at, zone));
    }
    let day = read.to_date().ok()?;
    Some(match (read.hour(), read.to_time()) {
        // Without an hour in the format, a time of day would be invented.
        (Some(_), Ok(clock)) => format!("{day}T{}{}", clock_of(clock), format_offset(zone)),
        _ => day.to_string(),
    })
}

/// Relative times (`昨天 12:30`, `3 小时前`, `2 days ago`, `yesterday`), counted back from the capture.
fn read_relative_time(raw: &str, captured: Option<&str>, zone: Offset) -> Option<String> {
    let now: Timestamp = captured?.parse().ok()?;
    let today = zone.to_datetime(now).date();
    let days_ago = [("今天", 0), ("昨天", 1), ("前天", 2), ("today", 0), ("yesterday", 1)];
    let lower = raw.to_lowercase();
    for (word, days) in days_ago {
        let Some(rest) = lower.strip_prefix(word) else { continue };
        let day = (0..days).try_fold(today, |day, _| day.yesterday().ok())?;
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        return match rest.is_empty() {
            true => Some(day.to_string()),
            false => time::parse_in(&format!("{day} {rest}"), None, zone),
        };
    }
    let half = lower.starts_with("半");
    let digits: String = lower.chars().take_while(char::is_ascii_digit).collect();
    let rest = lower.trim_start_matches(|c: char| c.is_ascii_digit() || c == '半' || c.is_whitespace());
    let (number, unit): (i64, &str) = if half { (1, rest) } else { (digits.parse().ok()?, rest) };
    let past = ["前", "ago"].iter().any(|word| rest.trim_end().ends_with(word));
    let units: [(&[&str], i64); 5] = [
        (&["秒", "second"], 1),
        (&["分", "minute"], 60),
        (&["小时", "hour"], 3600),
        (&["天", "day"], 86_400),
        (&["周", "week"], 604_800),
    ];
    let (_, seconds) = units.iter().find(|(names, _)| names.iter().any(|name| unit.starts_with(name)))?;
    let seconds = if half { seconds / 2 } else { number.checked_mul(*seconds)? };
    let at = past.then(|| now.checked_sub(SignedDuration::from_secs(seconds)).ok())??;
    let moment = zone.to_datetime(at);
    // Days and weeks only determine the day.
    Some(match seconds >= 86_400 {
        true => moment.date().to_string(),
        false => {
            format!("{}T{:02}:{:02}{}", moment.date(), moment.hour(), moment.minute(), format_offset(zone))
        }
    })
}

fn format_time(at: Timestamp, zone: Offset) -> String {
    let moment = zone.to_datetime(at);
    format!("{}T{}{}", moment.date(), clock_of(moment.time()), format_offset(zone))
}

fn clock_of(clock: Time) -> String {
    format!("{:02}:{:02}:{:02}", clock.hour(), clock.minute(), clock.second())
}

fn format_offset(zone: Offset) -> String {
    time::format_offset(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_forms_and_so_long_ago() {
        let captured = Some("2024-03-05T17:00:00Z");
        let china = parse_zone("+08:00").unwrap();
        let york = parse_zone("-5").unwrap();
        let forms: Vec<String> = ["%d.%m.%Y, %H:%M", "%B %d, %Y", "unix"].map(String::from).to_vec();
        for (raw, at, want) in [
            ("2024-03-05 12:30", china, Some("2024-03-05T12:30+08:00")),
            ("2024-03-05 12:30", york, Some("2024-03-05T12:30-05:00")),
            ("2024-03-05T12:30:01Z", china, Some("2024-03-05T20:30:01+08:00")),
            ("2024-03-05T12:30:01.5+01:00", Offset::UTC, Some("2024-03-05T11:30:01+00:00")),
            ("2023-11-14T22:13:20.007", Offset::UTC, Some("2023-11-14T22:13:20+00:00")),
            ("5.3.2024, 09:05", china, Some("2024-03-05T09:05:00+08:00")),
            ("March 05, 2024", china, Some("2024-03-05")),
            ("1709631001.0", china, Some("2024-03-05T17:30:01+08:00")),
            ("昨天 08:15", china, Some("2024-03-05T08:15+08:00")),
            ("3 小时前", china, Some("2024-03-05T22:00+08:00")),
            ("半小时前", china, Some("2024-03-06T00:30+08:00")),
            ("2 days ago", china, Some("2024-03-04")),
            ("yesterday", Offset::UTC, Some("2024-03-04")),
            ("soon", china, None),
            ("99999999999999999999 days ago", china, None),
        ] {
            assert_eq!(read_time(raw, captured, &forms, at).as_deref(), want, "{raw}");
        }
        assert_eq!(read_time("昨天 08:15", None, &forms, china), None);
        assert!(parse_zone("Berlin").is_none() && parse_zone("+25").is_none());
    }

    #[test]
    fn a_form_that_nothing_fits_is_reported() {
        assert!(
            check_format("%Y-%m-%d %H:%M").is_ok()
                && check_format("unix").is_ok()
                && check_format("%B %d, %Y").is_ok()
        );
        assert!(check_format("%Q%").is_err());
    }
}
