#![no_main]

use std::path::{Component, Path};

use libfuzzer_sys::fuzz_target;

// Whatever somebody's registry or manifest calls a file, what is joined lies below the folder.
fuzz_target!(|name: &str| {
    if let Ok(path) = riddlemill::store::path_inside(Path::new("/set"), name) {
        let below = path.strip_prefix("/set").expect("outside");
        assert!(below.components().all(|part| matches!(part, Component::Normal(_))), "{name:?}");
    }
});
