//! The token in a form that shows that one of our pages made it.
//!
//! It is derived from the secret in the person's own cookie, so that it remains valid after a restart of the
//! server and no other site can know it.

use subtle::ConstantTimeEq;

/// The token of a session.
pub(super) fn mark(secret: &str) -> String {
    let key = blake3::derive_key("riddlemill web form v1", secret.as_bytes());
    blake3::Hash::from_bytes(key).to_hex()[..32].to_string()
}

/// Whether a form's token is right.
pub(super) fn fits(secret: &str, given: &str) -> bool {
    bool::from(mark(secret).as_bytes().ct_eq(given.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_fits_its_own_session_alone() {
        assert!(fits("a", &mark("a")));
        assert!(!fits("a", &mark("b")));
        assert!(!fits("a", ""));
        assert!(!mark("secret").contains("secret"));
    }
}
