//! The crawler: polite, resumable, WARC out.
