//! Where a line of a lowered folder was written: a comment behind it says so, and the reader tells problems with that place.

/// Begins such a comment.
pub(crate) const ORIGIN: &str = "#@second-edition ";

/// The place that a line of a text, from 1, says it comes from: `ballots.toml:3:1`.
pub(crate) fn origin(text: &str, line: usize) -> Option<&str> {
    let (_, place) = text.lines().nth(line.checked_sub(1)?)?.rsplit_once(ORIGIN)?;
    Some(place.trim_end())
}

/// The same of the line that an offset is in.
fn origin_at(text: &str, offset: usize) -> Option<&str> {
    let (before, behind) = (text.get(..offset)?, text.get(offset..)?);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = behind.find('\n').map_or(text.len(), |at| offset + at);
    let (_, place) = text.get(start..end)?.rsplit_once(ORIGIN)?;
    Some(place.trim_end())
}

/// A place of a file, `flub/ballots.toml:12:1`, or the one that its line comes from.
pub(crate) fn written(text: &str, place: String) -> String {
    if !text.contains(ORIGIN) {
        return place;
    }
    let behind = place.split_once(".toml:").map(|(_, behind)| behind);
    let line: Option<usize> = behind.and_then(|behind| behind.split(':').next()?.parse().ok());
    match line.and_then(|line| origin(text, line)) {
        Some(origin) => beside(&place, origin),
        None => place,
    }
}

/// The same of an offset, which every expression asks for.
pub(crate) fn written_at(text: &str, offset: usize, place: String) -> String {
    match origin_at(text, offset) {
        Some(origin) => beside(&place, origin),
        None => place,
    }
}

/// A file's place in the folder of another one.
fn beside(place: &str, origin: &str) -> String {
    let file = place.split(".toml:").next().unwrap_or(place);
    file.rsplit_once('/').map_or_else(|| origin.to_owned(), |(folder, _)| format!("{folder}/{origin}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_it_comes_from() {
        let text = "a = 1 #@second-edition ballots.zh.toml:7:3\nb = 2\n";
        assert_eq!(written(text, "flub/ballots.toml:1:5".into()), "flub/ballots.zh.toml:7:3");
        assert_eq!(written(text, "flub/ballots.toml:2:5".into()), "flub/ballots.toml:2:5");
        assert_eq!(written_at(text, 4, "flub/ballots.toml:1:5".into()), "flub/ballots.zh.toml:7:3");
        assert_eq!(written_at(text, text.len() - 1, "flub/ballots.toml:2:6".into()), "flub/ballots.toml:2:6");
        assert_eq!(written("a = 1\n", "flub/ballots.toml:1:5".into()), "flub/ballots.toml:1:5");
    }
}
