//! The URLs of an endpoint's requests.

use crate::secret::percent_encoded;
use crate::settings::{Endpoint, EndpointError, Provider};

/// Prefix and suffix of every request's path.
#[derive(Debug)]
pub(crate) struct Address {
    base: String,
    query: Vec<String>,
}

/// Where Azure's interface without dated versions is.
const AZURE_V1: &str = "/openai/v1";
const VERSION: &str = "api-version=";

/// Whether an Azure endpoint has the interface without dated versions: its address says so, or names no date.
pub(crate) fn is_azure_v1(endpoint: &Endpoint) -> bool {
    let (base, query) = endpoint.base_url.split_once('?').unwrap_or((&endpoint.base_url, ""));
    let dated = endpoint.api_version.is_some() || query.split('&').any(|part| part.starts_with(VERSION));
    let base = base.trim_end_matches('/');
    let named = base.ends_with(AZURE_V1) || base.contains("/openai/v1/");
    endpoint.provider == Provider::Azure && (named || !dated)
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
            if is_azure_v1(endpoint) {
                address.base.push_str(AZURE_V1);
            }
            if let Some(version) = &endpoint.api_version {
                address.query.retain(|part| !part.starts_with(VERSION));
                let version: String = version.bytes().map(percent_encoded).collect();
                address.query.push(format!("{VERSION}{version}"));
            }
        }
        Ok(address)
    }

    /// Removes a path that every request adds itself: an address copied from a manual may contain it.
    fn without_path(&mut self, provider: Provider) {
        let own: &[&str] = match provider {
            Provider::Azure => &[AZURE_V1, "/openai"],
            Provider::Anthropic => &["/v1/messages", "/v1"],
            Provider::Gemini => &["/v1", "/v1beta", "/v1alpha"],
            Provider::Ollama => &["/api/chat", "/api", "/v1"],
            Provider::Libretranslate => &["/translate"],
            Provider::Openai | Provider::Vllm | Provider::Made | Provider::Sample => {
                &["/chat/completions", "/responses"]
            }
        };
        if provider == Provider::Azure {
            for path in ["/chat/completions", "/responses"] {
                self.base = self.base.strip_suffix(path).unwrap_or(&self.base).to_owned();
            }
            // The address that the portal shows names the deployment, too.
            if let Some(at) = self.base.find("/openai/deployments/") {
                self.base.truncate(at);
            }
        }
        if let Some(base) = own.iter().find_map(|own| self.base.strip_suffix(own)) {
            self.base = base.to_owned();
        }
    }

    /// The URL of a path.
    pub(crate) fn join_path(&self, path: &str) -> String {
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
        let new = |url: &str| Address::new(&endpoint(Provider::Openai, url)).map(|a| a.join_path("x"));
        assert_eq!(new("http://127.0.0.1:1/v1/").unwrap(), "http://127.0.0.1:1/v1/x");
        assert!(new("127.0.0.1").is_err());
        assert!(new("ftp://host").is_err());
        let refused = new("https://me:secret@host/v1").unwrap_err().to_string();
        assert!(refused.contains("key_env") && !refused.contains("secret"));
    }

    #[test]
    fn what_an_address_says_beyond_the_host_lands_where_it_belongs() {
        let of = |provider, url: &str| Address::new(&endpoint(provider, url)).unwrap().join_path("p/q");
        let query = "https://h/openai?api-version=2024-10-21";
        assert_eq!(of(Provider::Azure, query), "https://h/p/q?api-version=2024-10-21");
        assert_eq!(of(Provider::Openai, "https://h/v1?x=1&y=2"), "https://h/v1/p/q?x=1&y=2");
        assert_eq!(of(Provider::Anthropic, "https://h/v1/"), "https://h/p/q");
        assert_eq!(of(Provider::Gemini, "https://h/v1beta"), "https://h/p/q");
        assert_eq!(of(Provider::Ollama, "http://h:1/api"), "http://h:1/p/q");
        let two = Endpoint { api_version: Some("2".into()), ..endpoint(Provider::Azure, query) };
        assert_eq!(Address::new(&two).unwrap().join_path("p?alt=sse"), "https://h/p?alt=sse&api-version=2");
        assert_eq!(of(Provider::Ollama, "http://h:1/v1"), "http://h:1/p/q");
        assert_eq!(of(Provider::Openai, "https://h/v1/responses"), "https://h/v1/p/q");
    }

    #[test]
    fn an_azure_address_may_be_the_resources_or_any_that_the_portal_shows() {
        let of = |url: &str| Address::new(&endpoint(Provider::Azure, url)).unwrap().join_path("p");
        for v1 in
            ["https://h", "https://h/", "https://h/openai/v1", "https://h/openai/v1/", "https://h/openai"]
        {
            assert_eq!(of(v1), "https://h/openai/v1/p", "{v1}");
        }
        assert_eq!(of("https://h/openai/v1/responses"), "https://h/openai/v1/p");
        let preview = "https://h/openai/v1/chat/completions?api-version=preview";
        assert_eq!(of(preview), "https://h/openai/v1/p?api-version=preview");
        let dated = "https://h/openai/deployments/m-1/chat/completions?api-version=2024-10-21";
        assert_eq!(of(dated), "https://h/p?api-version=2024-10-21");
        let set =
            Endpoint { api_version: Some("2024-10-21".into()), ..endpoint(Provider::Azure, "https://h") };
        assert_eq!(Address::new(&set).unwrap().join_path("p"), "https://h/p?api-version=2024-10-21");
    }
}
