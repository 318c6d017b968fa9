//! What the search of the pages shows: page by page, with the words marked, and where each post ended, in words.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::browser::{Browser, Server, coded};
use crate::harness::{Workspace, title};

/// 70 posts that all hold the same words, two of them twice, one in the other script, and one that asks nothing.
fn workspace() -> Workspace {
    let mut rows: Vec<String> =
        (1..=70).map(|n| title(n, &format!("第{n}把雨伞会不会羡慕晴天？它已经等了{n}年"))).collect();
    rows.push(title(71, "第1把雨伞会不会羡慕晴天？它已经等了1年"));
    rows.push(title(80, "門口那盞聲控燈，半夜會不會怕黑？"));
    rows.push(title(81, "好"));
    let workspace = Workspace::with_dump("leymore-titles", format!("[{}]", rows.join(",\n")));
    workspace.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    workspace
}

fn hits(body: &str) -> Vec<String> {
    body.match_indices("<span class=\"id soft\">tieba:")
        .map(|(at, _)| body[at + 22..].split('<').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_hit_is_on_one_page_and_the_words_are_marked() {
    let workspace = workspace();
    let server = Server::start(&workspace, &[]);
    let words = coded("雨伞，会不会羡慕");
    let mut seen = Vec::new();
    for (page, wanted) in [("", 30), ("&page=2", 30), ("&page=3", 11)] {
        let body = server.get(&format!("/find?q={words}{page}")).body;
        let here = hits(&body);
        assert_eq!(here.len(), wanted, "{page}: {body}");
        assert_eq!(body.matches("<mark>雨伞会不会羡慕</mark>").count(), wanted, "{page}: {body}");
        assert_eq!(body.contains("rel=\"prev\""), !page.is_empty(), "{page}");
        assert_eq!(body.contains("rel=\"next\""), page != "&page=3", "{page}");
        seen.extend(here);
    }
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((all, seen.len()), (71, 71), "each post once: {seen:?}");
    let second = server.get(&format!("/find?q={words}&page=2")).body;
    assert!(second.contains("records 31 to 60; there are more"), "{second}");
    // Behind the last page there is nothing, and the way back.
    let beyond = server.get(&format!("/find?q={words}&page=9")).body;
    assert!(hits(&beyond).is_empty() && beyond.contains("page=8"), "{beyond}");
    for odd in ["0", "-1", "x", "99999999999999999999"] {
        assert_eq!(server.get(&format!("/find?q={words}&page={odd}")).status, 200, "{odd}");
    }
    let other_script = server.get(&format!("/find?q={}", coded("那盏声控灯半夜"))).body;
    assert!(other_script.contains("<mark>那盞聲控燈，半夜</mark>"), "{other_script}");
}

#[test]
fn where_a_post_ended_is_said_in_words() {
    let workspace = workspace();
    let server = Server::start(&workspace, &[]);
    let short = server.get(&format!("/find?q={}", coded("好"))).body;
    assert!(short.contains("too short") && short.contains("shorter than the settings allow"), "{short}");
    let merged = server.get(&format!("/find?q={}", coded("第1把雨伞会不会羡慕晴天？它已经等了1年"))).body;
    assert!(
        merged.contains("exact duplicate")
            && merged.contains("into <a class=\"id\" href=\"/flub/record/tieba:1\">"),
        "{merged}"
    );
    // Read in Chinese by a screen reader, whatever the language of the page.
    assert!(short.contains("<span lang=\"zh\"><mark>好</mark></span>"), "{short}");
    let mut chinese = Browser { cookies: vec![("lang".into(), "zh".into())] };
    let short = chinese.get(&server, &format!("/find?q={}", coded("好"))).body;
    assert!(short.contains("文本短于设置允许的长度。") && !short.contains("lang=\"zh\"><mark>"), "{short}");
}

#[test]
fn the_index_is_made_before_anybody_searches() {
    let workspace = workspace();
    let _server = Server::start(&workspace, &[]);
    let began = Instant::now();
    let is_made = || {
        let folder = fs::read_dir(workspace.path(".index/dumps")).into_iter().flatten().flatten();
        folder.filter(|entry| entry.path().extension().is_some_and(|ext| ext == "index")).count() == 1
    };
    while !is_made() {
        assert!(began.elapsed() < Duration::from_secs(60), "no index is made");
        thread::sleep(Duration::from_millis(50));
    }
}
