//! The settings that all HTTP clients of the program share, and how they read a server's wish to wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A larger number of seconds is a time since 1970, as some servers write it: no wait is longer than a year.
const YEAR: f64 = 366.0 * 86_400.0;
/// A larger one is such a time in milliseconds.
const MILLIS: f64 = 1e11;

use reqwest::{Client, ClientBuilder};

/// Why nothing can be sent to an https address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no certificates of authorities are on this machine, so no https server can be trusted: install ca-certificates, or name a file of certificates in SSL_CERT_FILE"
)]
pub struct NoCertificates;

/// A client, and what it cannot do.
#[derive(Clone, Debug)]
pub struct Built {
    /// Sends with the program's TLS core; without certificates only to http addresses.
    pub client: Client,
    /// Set where the machine has no store of certificates: the client then reaches http addresses only.
    pub no_certificates: Option<NoCertificates>,
}

impl Built {
    /// Fails if a request to this address could only fail.
    ///
    /// # Errors
    /// [`NoCertificates`] for an https address, if the machine has none.
    pub fn reaches(&self, url: &str) -> Result<(), NoCertificates> {
        let https = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        self.no_certificates.filter(|_| https).map_or(Ok(()), Err)
    }
}

/// Builds a client with the program's TLS core.
///
/// # Errors
/// Whatever else than missing certificates is wrong with the settings.
pub fn build(configure: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Built, reqwest::Error> {
    // An error means that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let error = match configure(Client::builder()).build() {
        Ok(client) => return Ok(Built { client, no_certificates: None }),
        Err(error) => error,
    };
    // A machine without certificates can reach http addresses all the same, such as a model of its own.
    match configure(Client::builder()).tls_certs_only([]).build() {
        Ok(client) => Ok(Built { client, no_certificates: Some(NoCertificates) }),
        Err(_) => Err(error),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_needs_certificates() {
        let whole = build(|client| client).unwrap();
        let without = Built { no_certificates: Some(NoCertificates), ..whole.clone() };
        let with = Built { no_certificates: None, ..whole };
        assert_eq!(without.reaches("https://h/v1"), Err(NoCertificates));
        assert_eq!(without.reaches("HTTPS://h/v1"), Err(NoCertificates));
        assert_eq!(without.reaches("http://h/v1"), Ok(()));
        assert_eq!(with.reaches("https://h/v1"), Ok(()));
    }
}
