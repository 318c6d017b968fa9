//! The settings that all HTTP clients of the program share.

/// A client's settings with the program's TLS core.
pub fn client() -> reqwest::ClientBuilder {
    // An error means that it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}
