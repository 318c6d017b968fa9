use super::*;

fn trust(root: &Path, state: &Path, words: &[&str]) -> Trust {
    Trust::kept_in(root, Some(state.to_owned()), words.iter().map(ToString::to_string).collect())
}

fn host(origin: &str, variables: &[&str]) -> Wish {
    Wish::Host { origin: origin.into(), variables: variables.iter().map(ToString::to_string).collect() }
}

#[test]
fn a_yes_holds_for_one_workspace_one_host_and_its_variables() {
    let dir = tempfile::tempdir().unwrap();
    let [state, mine, other] = ["state", "mine", "other"].map(|name| dir.path().join(name));
    for root in [&mine, &other] {
        fs::create_dir_all(root).unwrap();
    }
    let wish = host("https://api.example.org", &["KEY", "TEAM"]);
    let here = trust(&mine, &state, &[]);
    assert!(!here.is_agreed(&wish));
    here.record_agreement(&wish).unwrap();
    assert!(trust(&mine, &state, &[]).is_agreed(&wish));
    assert!(here.is_agreed(&host("https://api.example.org", &["KEY"])), "fewer variables go along");
    assert!(here.is_agreed(&host("https://api.example.org", &[])));
    for other in [
        host("https://api.example.org", &["KEY", "TEAM", "AWS_SECRET_ACCESS_KEY"]),
        host("http://api.example.org", &["KEY"]),
        host("https://api.example.org:8443", &["KEY"]),
        host("https://api.example.org.evil.net", &["KEY"]),
    ] {
        assert!(!here.is_agreed(&other), "{other}");
    }
    assert!(!trust(&other, &state, &[]).is_agreed(&wish), "another workspace");
    assert_eq!(here.withdraw_answers(Some("api.example.org")).unwrap(), 1);
    assert!(!here.is_agreed(&wish));
    here.record_agreement(&wish).unwrap();
    assert_eq!((here.withdraw_answers(None).unwrap(), here.list_answers().len()), (1, 0));
}

#[test]
fn a_copy_is_another_workspace_even_at_the_same_path() {
    let dir = tempfile::tempdir().unwrap();
    let [state, root, aside] = ["state", "w", "aside"].map(|name| dir.path().join(name));
    fs::create_dir_all(&root).unwrap();
    trust(&root, &state, &[]).made_here().unwrap();
    assert!(trust(&root, &state, &[]).is_own());
    fs::rename(&root, &aside).unwrap();
    assert!(!trust(&aside, &state, &[]).is_own(), "moved: asked once more");
    fs::create_dir_all(&root).unwrap();
    assert!(!trust(&root, &state, &[]).is_own(), "another folder at its path");
    fs::remove_dir_all(&root).unwrap();
    fs::rename(&aside, &root).unwrap();
    assert!(trust(&root, &state, &[]).is_own(), "back at its place");
}

#[test]
fn who_made_a_workspace_is_asked_about_hosts_and_commands_only() {
    let dir = tempfile::tempdir().unwrap();
    let [state, root, data] = ["state", "w", "data"].map(|name| dir.path().join(name));
    for folder in [&root, &data] {
        fs::create_dir_all(folder).unwrap();
    }
    let trust = trust(&root, &state, &[]);
    assert_eq!(trust.may_read(Path::new("raw/x.json")), Ok(()));
    assert_eq!(trust.may_read(&root.join("raw/x.json")), Ok(()));
    for outside in [data.join("x.json"), PathBuf::from("../data/x.json"), PathBuf::from("raw/../../data/x")] {
        assert!(trust.may_read(&outside).is_err(), "{}", outside.display());
    }
    trust.record_agreement(&Wish::Read { place: fs::canonicalize(&data).unwrap() }).unwrap();
    assert_eq!(trust.may_read(&data.join("x.json")), Ok(()), "below what was agreed to");
    assert!(trust.may_read(dir.path()).is_err());
    trust.made_here().unwrap();
    assert_eq!(trust.may_read(dir.path()), Ok(()));
    assert!(!trust.is_agreed(&host("https://api.example.org", &["KEY"])));
    assert!(!trust.is_agreed(&Wish::Command { command: "cat key".into() }));
}

#[cfg(unix)]
#[test]
fn a_link_counts_as_what_it_leads_to() {
    let dir = tempfile::tempdir().unwrap();
    let [state, root] = ["state", "w"].map(|name| dir.path().join(name));
    fs::create_dir_all(&root).unwrap();
    fs::write(dir.path().join("secret"), "x").unwrap();
    std::os::unix::fs::symlink("../secret", root.join("dump")).unwrap();
    std::os::unix::fs::symlink("..", root.join("up")).unwrap();
    let trust = trust(&root, &state, &[]);
    assert!(trust.may_read(Path::new("dump")).is_err() && trust.may_read(Path::new("up/secret")).is_err());
}

#[test]
fn a_workspace_cannot_bring_its_own_answers() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("w");
    fs::create_dir_all(root.join("state")).unwrap();
    let inside = trust(&root, &root.join("state"), &[]);
    assert!(inside.answers_file().is_none() && inside.made_here().is_err() && !inside.is_own());
}

#[test]
fn words_of_a_call_name_hosts_places_and_commands() {
    let dir = tempfile::tempdir().unwrap();
    let [state, root] = ["state", "w"].map(|name| dir.path().join(name));
    fs::create_dir_all(&root).unwrap();
    let wishes = [
        host("https://api.example.org", &["KEY"]),
        host("http://127.0.0.1:8000", &["KEY"]),
        Wish::Command { command: "pass show key".into() },
        Wish::Read { place: "/data/dumps".into() },
    ];
    for wish in &wishes {
        let with = |word: &str| trust(&root, &state, &[word]).is_agreed(wish);
        assert!(with(&wish.trust_word()), "{wish}");
        assert!(!with("example.org") && !with("api.example.org.evil.net") && !with("api") && !with("data"));
    }
    let with =
        |words: &[&str]| wishes.iter().filter(|wish| trust(&root, &state, words).is_agreed(wish)).count();
    assert_eq!(with(&["API.example.org"]), 1);
    assert_eq!(with(&["127.0.0.1"]), 1);
    assert_eq!(with(&["127.0.0.1:8001"]), 0);
    assert_eq!(with(&["/data", "/dat"]), 1);
    assert_eq!(with(&["/dat", "/data/dumps/x"]), 0);
    // For one call: nothing is kept.
    assert!(trust(&root, &state, &["/data"]).list_answers().is_empty());
}

#[test]
fn a_line_that_cannot_be_read_agrees_to_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let [state, root] = ["state", "w"].map(|name| dir.path().join(name));
    for folder in [&state, &root] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(state.join(FILE), "{\"yes\": true}\nnonsense\n").unwrap();
    let trust = trust(&root, &state, &[]);
    trust.made_here().unwrap();
    assert_eq!(trust.list_answers().len(), 1);
}
