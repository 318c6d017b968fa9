//! The settings that all HTTP clients of the program share, and how they read a server's wish to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A larger number of seconds is a time since 1970, as some servers write it: no wait is longer than a year.
const YEAR: f64 = 366.0 * 86_400.0;
/// A larger one is such a time in milliseconds.
const MILLIS: f64 = 1e11;

/// A client's settings with the program's TLS core.
pub fn client() -> reqwest::ClientBuilder {
    // An error means that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

/// How long a header such as `Retry-After` asks to wait: seconds, a date, or a time since 1970 in seconds or
/// milliseconds. A time that has passed asks for no wait.
pub fn asked_wait(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let until = |at: SystemTime| at.duration_since(now).unwrap_or_default();
    match value.parse::<f64>() {
        Ok(number) if !number.is_finite() => None,
        Ok(number) if number > YEAR => {
            let secs = if number > MILLIS { number / 1000.0 } else { number };
            Some(until(UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(secs).ok()?)?))
        }
        Ok(number) => Duration::try_from_secs_f64(number.max(0.0)).ok(),
        Err(_) => httpdate::parse_http_date(value).ok().map(until),
    }
}
