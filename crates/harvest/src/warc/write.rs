//! Writes records of version 1.1, each in its own gzip member.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::header::Header;

/// Appends one record. `Content-Length` is added here; everything else is in `header`.
///
/// The record is compressed in memory and written in one call, so a crash tears at most the last record of a
/// file.
///
/// # Errors
/// Those of the output.
pub fn write_record(out: &mut impl Write, header: &Header, block: &[u8]) -> io::Result<()> {
    let mut member = GzEncoder::new(Vec::new(), Compression::default());
    write!(member, "{}\r\n", header.version)?;
    for (name, value) in &header.fields {
        write!(member, "{name}: {value}\r\n")?;
    }
    write!(member, "Content-Length: {}\r\n\r\n", block.len())?;
    member.write_all(block)?;
    member.write_all(b"\r\n\r\n")?;
    out.write_all(&member.finish()?)
}

/// `sha256:` and the hex digest, for `WARC-Block-Digest` and `WARC-Payload-Digest`.
pub fn block_digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

/// A `WARC-Record-ID` derived from the record's identity (a version 8 UUID), so that no randomness is needed:
/// the parts are the kind, the URL, the date and the block's digest.
pub fn record_id(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // With the length, so that two lists of parts never give the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_and_ids_have_the_documented_forms() {
        assert_eq!(
            block_digest(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let id = record_id(&["response", "http://a/"]);
        assert_eq!(id.len(), "<urn:uuid:00000000-0000-8000-8000-000000000000>".len());
        assert_eq!(&id[24..25], "8");
        assert_ne!(id, record_id(&["response", "http://a", "/"]));
    }
}
