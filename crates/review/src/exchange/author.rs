//! Whose a vote is.

use crate::assign::Annotator;

use super::problem::Trouble;

/// The annotator who signed a vote: by their name, or by an account of theirs. Several signatures are of one
/// person, such as an account's address and its number.
pub(super) fn author<'p>(people: &'p [Annotator], signed: &[&str]) -> Result<&'p Annotator, Trouble> {
    let first = || signed.first().copied().unwrap_or_default().to_owned();
    if let Some(named) = people.iter().find(|person| signed.contains(&person.name.as_str())) {
        return Ok(named);
    }
    // Addresses are the same in capitals and in small letters.
    let has = |person: &&Annotator| {
        person
            .accounts
            .iter()
            .any(|account| signed.iter().any(|signed| account.trim().eq_ignore_ascii_case(signed.trim())))
    };
    let found: Vec<&Annotator> = people.iter().filter(has).collect();
    match found[..] {
        [] => Err(Trouble::UnknownAnnotator(first())),
        [one] => Ok(one),
        _ => Err(Trouble::SharedAccount {
            account: first(),
            people: found.iter().map(|person| person.name.clone()).collect(),
        }),
    }
}
