//! Why an endpoint cannot be asked as it is set.

/// What is wrong with an endpoint's settings. Whose they are is told by [`EngineError`](crate::EngineError).
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Replies shall come from a file, and none is named.
    #[error("replies from a file need a pack")]
    NoPack,
    /// The provider takes no batches.
    #[error("batch = true is for provider = \"openai\", \"azure\", \"anthropic\" or \"gemini\"")]
    NoBatches,
    /// `base_url` cannot be read as an address.
    #[error("base_url is not an address: {0}")]
    NoAddress(String),
    /// `base_url` is an address of another scheme.
    #[error("base_url must start with http:// or https://, not {0}:")]
    Scheme(String),
    /// `base_url` holds a secret, which would be in errors and logs.
    #[error("base_url holds a user name or password; name an environment variable in key_env")]
    Credentials,
    /// Azure is asked by a version of its interface.
    #[error("provider = \"azure\" needs api_version, such as \"2024-10-21\"")]
    NoVersion,
    /// A name under `headers` can be none.
    #[error("headers: {0:?} is not a header name")]
    HeaderName(String),
    /// The value of this variable or setting cannot be sent.
    #[error("the value of {0} holds characters that no header may")]
    HeaderValue(String),
    /// The client for HTTP cannot be built.
    #[error("{0}")]
    Client(reqwest::Error),
}
