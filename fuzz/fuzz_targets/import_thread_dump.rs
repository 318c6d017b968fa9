#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| riddlemill_fuzz::target("thread-dump", bytes));
