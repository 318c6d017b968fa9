//! Comments of a folder of the first edition, put beside the same values in the second.

/// A comment: the path of the key that it stands at, the lines above it, and what stands behind it.
struct Comment {
    path: Vec<String>,
    above: Vec<String>,
    behind: String,
}

/// Words that have another name now, in the first or the last part of a path.
const RENAMED: [(&str, &str); 14] = [
    ("every", "ballots"),
    ("poses", "harness"),
    ("labels", "counted"),
    ("asks", "endpoint"),
    ("known_as", "pack_id"),
    ("made", "also_from"),
    ("native", "reader"),
    ("over", "for_each"),
    ("called", "named_by"),
    ("apart", "distinct_from"),
    ("standing", "fills"),
    ("finds", "warns"),
    ("asked_by", "adjudicate"),
    ("usual", "exported_when"),
];

/// Tables of which a list holds several, each with a name.
const NAMED: [&str; 4] = ["task", "compat", "figure", "table"];

/// A text of the second edition with the comments of the one that it was made from.
pub(super) fn carry_comments(from: &str, to: &str) -> String {
    insert_comments(to, &collect_comments(from))
}

/// The code of a line, and its comment.
fn split_comment(line: &str) -> (&str, &str) {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' => return (line[..at].trim_end(), line[at..].trim()),
            None => {}
        }
    }
    (line.trim_end(), "")
}

/// The parts of a dotted key.
fn split_key(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in path.trim().chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '.' => parts.push(String::new()),
            None if c.is_whitespace() => {}
            _ => parts.last_mut().into_iter().for_each(|part| part.push(c)),
        }
    }
    parts
}

/// The text behind one of these keys in a line: `name = "x"`, `title = { en = "x"`.
fn find_named_text(code: &str, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| {
        let at = code.match_indices(key).map(|(at, _)| at).find(|at| {
            let before = code[..*at].trim_end();
            before.is_empty() || before.ends_with('{') || before.ends_with(',')
        })?;
        let rest = code[at + key.len()..].trim_start().strip_prefix('=')?.trim_start();
        let rest = rest.strip_prefix('{').map_or(rest, |rest| {
            rest.trim_start()
                .strip_prefix("en")
                .map_or(rest, |rest| rest.trim_start().trim_start_matches('=').trim_start())
        });
        Some(rest.strip_prefix('"')?.split('"').next()?.to_owned())
    })
}

fn rename_path(path: &[String]) -> Vec<String> {
    let last = path.len().saturating_sub(1);
    let fresh = |(i, part): (usize, &String)| {
        let now = RENAMED.iter().find(|(old, _)| old == part).filter(|_| i == 0 || i == last);
        now.map_or_else(|| part.clone(), |(_, now)| (*now).to_owned())
    };
    path.iter().enumerate().map(fresh).collect()
}

/// The name of the table that begins behind a line.
fn name_ahead(lines: &[&str]) -> Option<String> {
    let table = lines.iter().take_while(|line| !line.starts_with('['));
    let codes: Vec<&str> = table.map(|line| split_comment(line).0).collect();
    let own = codes
        .iter()
        .find_map(|code| find_named_text(code, &["name", "file"]).filter(|_| !code.starts_with(' ')));
    own.or_else(|| {
        let at = codes.iter().position(|code| code.starts_with("numbers"))?;
        codes[at..].iter().find_map(|code| {
            let inner = code.find('{').map_or("", |at| &code[at..]);
            find_named_text(inner, &["name"])
        })
    })
}

/// The comments of a text of the first edition.
fn collect_comments(text: &str) -> Vec<Comment> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<Comment> = Vec::new();
    let mut names: Vec<(String, String)> = Vec::new();
    let (mut section, mut above): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut inside: Option<Vec<String>> = None;
    let (mut in_text, mut top) = (false, true);
    for (i, line) in lines.iter().enumerate() {
        let fences = line.matches("\"\"\"").count();
        if in_text {
            in_text = fences == 0;
            continue;
        }
        let (code, behind) = split_comment(line);
        in_text = code.matches("\"\"\"").count() % 2 == 1;
        let bare = code.trim();
        if bare.is_empty() {
            match behind {
                "" if top && !above.is_empty() => {
                    let above = std::mem::take(&mut above);
                    out.push(Comment { path: Vec::new(), above, behind: String::new() });
                }
                "" => {}
                _ => above.push(behind.to_owned()),
            }
            continue;
        }
        top = false;
        let many = bare.starts_with("[[");
        let mut ends = false;
        let path = match &inside {
            None if bare.starts_with('[') => {
                section = split_key(bare.trim_matches(['[', ']']));
                let known = names
                    .iter()
                    .rev()
                    .find(|(of, _)| Some(of) == section.first())
                    .map(|(_, name)| name.clone());
                let own = many && (section.len() == 1 || section.last().is_some_and(|last| last == "fields"));
                match own.then(|| name_ahead(&lines[i + 1..])).flatten() {
                    Some(name) => {
                        if section.len() == 1 {
                            names.push((section[0].clone(), name.clone()));
                        }
                        section.push(name);
                    }
                    None => {
                        if let Some(name) =
                            known.filter(|_| NAMED.contains(&section[0].as_str()) && section.len() > 1)
                        {
                            section.insert(1, name);
                        }
                    }
                }
                section.clone()
            }
            None => {
                let (name, value) = bare.split_once('=').unwrap_or((bare, ""));
                let path: Vec<String> = section.iter().cloned().chain(split_key(name)).collect();
                let open = value.trim_start().starts_with('[');
                if open && bare.matches('[').count() > bare.matches(']').count() {
                    inside = Some(path.clone());
                }
                path
            }
            Some(list) => {
                ends = bare.starts_with(']');
                let name = find_named_text(bare, &["name", "file", "title"]);
                list.iter().cloned().chain(name).collect()
            }
        };
        if ends {
            inside = None;
        }
        if !above.is_empty() || !behind.is_empty() {
            let lines =
                std::mem::take(&mut above).into_iter().filter(|line| !line.starts_with("# ----------"));
            out.push(Comment { path: rename_path(&path), above: lines.collect(), behind: behind.to_owned() });
        }
    }
    out
}

/// A text with comments at the keys that they name, or at the nearest around them.
fn insert_comments(text: &str, comments: &[Comment]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut places: Vec<(Vec<String>, usize)> = Vec::new();
    let mut section: Vec<String> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with('[') {
            section = split_key(line.trim_matches(['[', ']']));
            places.push((section.clone(), i));
        } else if let Some((name, _)) = line.split_once(" =").filter(|_| !line.starts_with([' ', ']'])) {
            let path: Vec<String> = section.iter().cloned().chain(split_key(name)).collect();
            places.extend((section.len() + 1..=path.len()).map(|length| (path[..length].to_vec(), i)));
        }
    }
    let mut top: Vec<&str> = Vec::new();
    let mut above: Vec<Vec<&str>> = vec![Vec::new(); lines.len()];
    let mut behind: Vec<Option<&str>> = vec![None; lines.len()];
    let mut last = 0;
    for comment in comments {
        if comment.path.is_empty() {
            top.extend(comment.above.iter().map(String::as_str));
            continue;
        }
        let place = (1..=comment.path.len()).rev().find_map(|length| {
            let path = &comment.path[..length];
            let found = places.iter().find(|(known, _)| known == path)?;
            Some((found.1, length == comment.path.len()))
        });
        let (at, exact) = place.unwrap_or((last, false));
        last = at;
        let Some(line) = lines.get(at) else { continue };
        above[at].extend(comment.above.iter().map(String::as_str));
        if comment.behind.is_empty() {
            continue;
        }
        let room = line.chars().count() + comment.behind.chars().count() < 400 && !line.ends_with('[');
        if exact && room && behind[at].is_none() {
            behind[at] = Some(&comment.behind);
        } else {
            above[at].push(&comment.behind);
        }
    }
    let mut out: Vec<String> = top.into_iter().map(str::to_owned).collect();
    for (i, line) in lines.iter().enumerate() {
        let mut said: Vec<&str> = Vec::new();
        for comment in &above[i] {
            if !said.contains(comment) || *comment == "#" {
                said.push(comment);
            }
        }
        out.extend(said.into_iter().map(str::to_owned));
        out.push(behind[i].map_or_else(|| (*line).to_owned(), |behind| format!("{line} {behind}")));
    }
    out.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stand_at_the_same_values() {
        let from = "# The folder.\norder = 1 # first\n\n# What is asked.\n[step.a] # of models\nasks = \"x\" # who\n\n[[task]] # one\nname = \"t\"\nprompt = \"p\" # it\n[[task.outputs]] # files\nfile = \"f#g\"\n";
        let to = "order = 1\n\n[step.a]\nendpoint = \"x\"\n\n[task.t]\nprompt = \"p\"\noutputs = { file = \"f#g\" }\n";
        let expected = "# The folder.\norder = 1 # first\n\n# What is asked.\n[step.a] # of models\nendpoint = \"x\" # who\n\n[task.t] # one\nprompt = \"p\" # it\noutputs = { file = \"f#g\" } # files\n";
        assert_eq!(carry_comments(from, to), expected);
    }
}
