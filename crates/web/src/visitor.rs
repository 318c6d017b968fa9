//! The visitor of a page.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::access::{Grant, Rank};
use super::error::PageError;
use super::i18n::Language;

/// Who requests a page, and their preferences.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The grant behind the cookie; `None` without tokens, or before login.
    pub(super) grant: Option<Grant>,
    /// Whether no token is needed: on the loopback, if none was ever granted or access was opened again.
    pub(super) open: bool,
    /// The secret in the cookie, from which form tokens are derived.
    pub(super) secret: String,
    /// The address; behind a proxy, the one that the proxy saw.
    pub(super) client: IpAddr,
    pub(super) language: Language,
    /// `light`, `dark`, or empty for the system's choice.
    pub(super) theme: String,
    /// The path of the page's URL.
    pub(super) path: String,
    pub(super) query: String,
}

impl Visitor {
    /// The details of an error that they may see.
    pub(super) fn visible_detail(&self, error: &PageError) -> String {
        let is_reader = self.rank() >= Some(Rank::Reader);
        if is_reader || error.is_for_sender { error.detail.clone() } else { String::new() }
    }

    /// What the visitor may open.
    pub(super) fn rank(&self) -> Option<Rank> {
        match &self.grant {
            Some(grant) => Some(grant.rank),
            None => self.open.then_some(Rank::Curator),
        }
    }

    /// The name of the grant.
    pub(super) fn name(&self) -> Option<&str> {
        self.grant.as_ref().map(|grant| grant.name.as_str())
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, PageError> {
        parts.extensions.get::<Visitor>().cloned().ok_or_else(|| PageError::internal_error("no visitor"))
    }
}
