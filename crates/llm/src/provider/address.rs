//! The URLs of an endpoint's requests.

use crate::endpoint_error::EndpointError;
use crate::secret::percent_encoded;
use crate::settings::{Endpoint, Provider};

/// Prefix and suffix of every request's path.
#[derive(Debug)]
pub(crate) struct Address {
    base: String,
    query: Vec<String>,
}

impl Address {
    /// Fails if the address is invalid, or contains a user name or password: these would appear in errors and
    /// logs.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Address, EndpointError> {
        let url = reqwest::Url::parse(&endpoint.base_url)
            .map_err(|error| EndpointError::NoAddress(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EndpointError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        let (base, query) = match endpoint.base_url.split_once('?') {
            Some((base, query)) => (base, query.split('&').map(str::to_owned).collect()),
            None => (endpoint.base_url.as_str(), Vec::new()),
        };
        let mut address = Address { base: base.trim_end_matches('/').to_owned(), query };
        address.without_path(endpoint.provider);
        if endpoint.provider == Provider::Azure {
            let has_version = address.query.iter().any(|part| part.starts_with("api-version="));
            match &endpoint.api_version {
                Some(version) => {
                    address.query.retain(|part| !part.starts_with("api-version="));
                    let version: String = version.bytes().map(percent_encoded).collect();
                    address.query.push(format!("api-version={version}"));
                }
                None if has_version => {}
                None => return Err(EndpointError::NoVersion),
            }
        }
        Ok(address)
    }

    /// Removes a path that every request adds itself: an address copied from a manual may contain it.
    fn without_path(&mut self, provider: Provider) {
        let own: &[&str] = match provider {
            Provider::Azure => &["/openai"],
            Provider::Anthropic => &["/v1"],
            Provider::Gemini => &["/v1", "/v1beta", "/v1alpha"],
            Provider::Ollama => &["/api"],
            Provider::Libretranslate => &["/translate"],
            Provider::Openai | Provider::Vllm | Provider::Made | Provider::Sample => &["/chat/completions"],
        };
        if let Some(base) = own.iter().find_map(|own| self.base.strip_suffix(own)) {
            self.base = base.to_owned();
        }
    }

    /// The URL of a path.
    pub(crate) fn join(&self, path: &str) -> String {
        let mut url = format!("{}/{path}", self.base);
        for part in &self.query {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(part);
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(provider: Provider, base_url: &str) -> Endpoint {
        Endpoint { provider, ..Endpoint::new("e", base_url, "m") }
    }

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        let new = |url: &str| Address::new(&endpoint(Provider::Openai, url)).map(|a| a.join("x"));
        assert_eq!(new("http://127.0.0.1:1/v1/").unwrap(), "http://127.0.0.1:1/v1/x");
        assert!(new("127.0.0.1").is_err());
        assert!(new("ftp://host").is_err());
        let refused = new("https://me:secret@host/v1").unwrap_err().to_string();
        assert!(refused.contains("key_env") && !refused.contains("secret"));
    }

    #[test]
    fn what_an_address_says_beyond_the_host_lands_where_it_belongs() {
        let of = |provider, url: &str| Address::new(&endpoint(provider, url)).unwrap().join("p/q");
        let query = "https://h/openai?api-version=2024-10-21";
        assert_eq!(of(Provider::Azure, query), "https://h/p/q?api-version=2024-10-21");
        assert_eq!(of(Provider::Openai, "https://h/v1?x=1&y=2"), "https://h/v1/p/q?x=1&y=2");
        assert_eq!(of(Provider::Anthropic, "https://h/v1/"), "https://h/p/q");
        assert_eq!(of(Provider::Gemini, "https://h/v1beta"), "https://h/p/q");
        assert_eq!(of(Provider::Ollama, "http://h:1/api"), "http://h:1/p/q");
        let two = Endpoint { api_version: Some("2".into()), ..endpoint(Provider::Azure, query) };
        assert_eq!(Address::new(&two).unwrap().join("p?alt=sse"), "https://h/p?alt=sse&api-version=2");
        let none = Address::new(&endpoint(Provider::Azure, "https://h")).unwrap_err();
        assert!(none.to_string().contains("api_version"));
    }
}
