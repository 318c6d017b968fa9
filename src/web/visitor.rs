//! Who comes to a page.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::access::{Grant, Rank};
use super::error::PageError;
use super::i18n::Language;

/// Who comes, and how they want their pages.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    /// The grant behind the cookie; `None` on an open loopback, or before somebody has shown a token.
    pub(super) grant: Option<Grant>,
    /// Whether no token is needed here: the loopback of a workspace that never granted one, or was opened again.
    pub(super) open: bool,
    /// What is in the cookie; forms are marked with it.
    pub(super) secret: String,
    /// From which address; behind a proxy, the one that the proxy saw.
    pub(super) client: IpAddr,
    pub(super) language: Language,
    /// `light`, `dark`, or nothing for what the system says.
    pub(super) theme: String,
    /// The page's address without its query.
    pub(super) path: String,
    /// The query.
    pub(super) query: String,
}

impl Visitor {
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
        parts.extensions.get::<Visitor>().cloned().ok_or_else(|| PageError::broken("no visitor"))
    }
}
