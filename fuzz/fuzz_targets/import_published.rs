#![no_main]

use libfuzzer_sys::fuzz_target;
use riddlemill::config::SourceKind;

fuzz_target!(|bytes: &[u8]| riddlemill_fuzz::target(SourceKind::Published, bytes));
