//! Errors in an endpoint's settings.

/// What is wrong with an endpoint's settings. [`EngineError`](crate::EngineError) names the endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// Replies are to come from a file, but none is named.
    #[error("replies from a file need a pack")]
    NoPack,
    /// The provider has no batches.
    #[error("batch = true is for provider = \"openai\", \"azure\", \"anthropic\" or \"gemini\"")]
    NoBatches,
    /// `base_url` is not an address.
    #[error("base_url is not an address: {0}")]
    NoAddress(String),
    /// `base_url` has another scheme than http or https.
    #[error("base_url must start with http:// or https://, not {0}:")]
    Scheme(String),
    /// `base_url` contains a secret, which would appear in errors and logs.
    #[error("base_url holds a user name or password; name an environment variable in key_env")]
    Credentials,
    /// The provider has one API only.
    #[error("api = \"responses\" is for provider = \"openai\", \"azure\" or \"vllm\"")]
    NoResponses,
    /// Both ways to a key are set.
    #[error("key_env and key_command are both set; remove one")]
    TwoKeys,
    /// A name under `headers` is not a valid header name.
    #[error("headers: {0:?} is not a header name")]
    HeaderName(String),
    /// The value of this variable or setting cannot be sent in a header.
    #[error("the value of {0} contains characters that are not allowed in a header")]
    HeaderValue(String),
    /// The HTTP client cannot be built.
    #[error("{0}")]
    Client(String),
    /// An https address, and nothing on this machine to trust it by.
    #[error(transparent)]
    NoCertificates(#[from] riddlemill_http::NoCertificates),
}
