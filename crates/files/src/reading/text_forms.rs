//! What texts are that are no table and no JSON, by their first lines.

/// An assignment or a call, whose value is an object or a list.
pub(super) fn is_script(text: &str) -> bool {
    let head: String = text.chars().take(200).collect();
    let Some(at) = head.find(['[', '{']) else { return false };
    let before = head[..at].trim_end();
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
    };
    if let Some(assigned) = before.strip_suffix('=') {
        let name =
            ["var ", "let ", "const ", "export const "].iter().find_map(|word| assigned.strip_prefix(word));
        return is_name(name.unwrap_or(assigned));
    }
    before == "export default" || before.strip_suffix('(').is_some_and(is_name)
}

/// Lines that are looked at.
const LINES: usize = 20;

fn first_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).take(LINES).collect()
}

/// A list or an object with keys, each on a line of its own.
pub(super) fn is_yaml(text: &str) -> bool {
    let is_pair = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ");
        let key = line.split_once(": ").map(|(key, _)| key).or(line.strip_suffix(':'));
        key.is_some_and(|key| {
            !key.is_empty() && key.chars().count() < 40 && !key.contains([' ', ',', '"', '，', '：'])
        })
    };
    let lines = first_lines(text);
    let Some(first) = lines.first() else { return false };
    let lines: Vec<&&str> = lines.iter().filter(|line| !line.starts_with('#') && **line != "---").collect();
    if lines.is_empty() || !is_pair(lines[0]) {
        return false;
    }
    let is_inner = |line: &str| line.starts_with([' ', '\t']) || line.trim_start().starts_with('-');
    let all = lines.iter().all(|line| is_pair(line) || is_inner(line));
    // A talk has a name and a colon before each line, too.
    all && (*first == "---"
        || first.starts_with("%YAML")
        || lines.iter().any(|line| line.trim_start().starts_with("- ")))
}

/// Lines that begin with a day, a clock and whoever wrote them: `[1/2/23, 10:00] Ann: text`, `02.01.23, 10:00 - Ann: text`.
pub(super) fn is_chat(text: &str) -> bool {
    let is_message = |line: &str| {
        let line = line.trim_start_matches('\u{200e}').trim_start_matches('[');
        let Some((day, rest)) = line.split_once(", ") else { return false };
        let clock = rest.split([']', '-']).next().unwrap_or_default();
        day.split(['/', '.', '-']).filter(|part| part.bytes().all(|b| b.is_ascii_digit())).count() == 3
            && clock.contains(':')
            && clock.trim().starts_with(|c: char| c.is_ascii_digit())
            && rest.len() > clock.len()
    };
    let lines = first_lines(text);
    lines.first().is_some_and(|line| is_message(line))
        && lines.iter().filter(|line| is_message(line)).count() * 2 >= lines.len()
}

/// What parts columns where it is nothing that tables are usually parted by.
pub(super) fn odd_delimiter(text: &str) -> Option<&'static str> {
    const ODD: [&str; 7] = ["::", "\u{1}", "\u{1f}", "@@", "##", "^", "~"];
    const USUAL: [&str; 4] = ["\t", ";", "|", ","];
    let lines = first_lines(text);
    let parts_all = |by: &str| {
        let counts: Vec<usize> = lines.iter().map(|line| line.matches(by).count()).collect();
        lines.len() > 1
            && counts.first().is_some_and(|first| *first > 0 && counts.iter().all(|count| count == first))
    };
    let is_usual = USUAL.iter().any(|by| parts_all(by));
    ODD.into_iter().find(|by| !is_usual && parts_all(by))
}

pub(super) fn in_sed(parts: &str) -> String {
    match parts {
        "\u{1}" => "\\x01".to_owned(),
        "\u{1f}" => "\\x1f".to_owned(),
        "^" => "\\^".to_owned(),
        parts => parts.to_owned(),
    }
}

/// The head of a message whose body has several parts, of which one is a page.
pub(super) fn is_mhtml(text: &str) -> bool {
    let head: String = text.chars().take(4096).collect::<String>().to_ascii_lowercase();
    let field = head.split(':').next().unwrap_or_default();
    let is_field = !field.is_empty()
        && field.len() < 40
        && field.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let single = head.contains("mime-version:") && head.contains("content-type: text/html");
    is_field && (head.contains("multipart/related") || single) && head.contains("mime-version:")
}

pub(super) fn is_mailbox(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines
        .next()
        .is_some_and(|line| line.starts_with("From ") && line.contains('@') || line.starts_with("From - "));
    first && lines.take(40).any(|line| line.starts_with("Subject:") || line.starts_with("Message-ID:"))
}
