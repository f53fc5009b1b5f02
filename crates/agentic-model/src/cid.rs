//! Content ids: the portable names of objects.

use std::fmt;
use std::str::FromStr;

/// The multicodec of DAG-CBOR.
const DAG_CBOR: u64 = 0x71;
/// The multihash code of BLAKE3 with 256 bits.
const BLAKE3_256: u64 = 0x1e;

/// The id of an object: a CIDv1 (`dag-cbor`, `blake3-256`) of its canonical bytes.
///
/// Printed in base32 it begins with `bafyr4i` and has 59 characters. See
/// <https://github.com/multiformats/cid>. A link inside an object may hold any CIDv1; an id that
/// names one of our objects passes [`Cid::parse`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cid(cid::Cid);

/// A text that is not the id of an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a content id")]
pub struct InvalidCid {
    /// The text as it was given.
    pub text: String,
}

impl Cid {
    /// What every printed id of ours begins with.
    pub const PREFIX: &'static str = "bafyr4i";

    /// Names the bytes of an object. The bytes are hashed as they are, never encoded again.
    pub fn of(bytes: &[u8]) -> Cid {
        Cid::of_digest(*blake3::hash(bytes).as_bytes())
    }

    /// Names the object whose bytes have a hash.
    pub fn of_digest(digest: [u8; 32]) -> Cid {
        let hash = cid::multihash::Multihash::wrap(BLAKE3_256, &digest)
            .expect("a 32-byte digest fits a 64-byte multihash");
        Cid(cid::Cid::new_v1(DAG_CBOR, hash))
    }

    /// Parses the printed form of an id of ours, whole.
    ///
    /// # Errors
    /// Fails on anything but a base32 CIDv1 with `dag-cbor` and `blake3-256`.
    pub fn parse(text: &str) -> Result<Cid, InvalidCid> {
        let invalid = || InvalidCid { text: text.to_owned() };
        let inner = cid::Cid::from_str(text).map_err(|_| invalid())?;
        let ours = inner.codec() == DAG_CBOR && inner.hash().code() == BLAKE3_256;
        let cid = Cid(inner);
        if !ours || inner.hash().size() != 32 || cid.to_string() != text {
            return Err(invalid());
        }
        Ok(cid)
    }

    /// Returns the hash of the object's bytes.
    pub fn digest(&self) -> &[u8] {
        self.0.hash().digest()
    }

    /// Returns the binary form, 36 bytes for an id of ours.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    pub(crate) fn from_inner(inner: cid::Cid) -> Cid {
        Cid(inner)
    }

    pub(crate) fn inner(&self) -> &cid::Cid {
        &self.0
    }
}

impl fmt::Display for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.version() {
            cid::Version::V0 => write!(f, "{}", self.0),
            cid::Version::V1 => f.write_str(&base32(&self.0.to_bytes())),
        }
    }
}

impl fmt::Debug for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints bytes in lower base32 without padding, with the letter before them that says so. Every id
/// that is read is printed once to see whether it was spelled like this; encoders for any base take
/// several times as long.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digit = |bits: u32| char::from(DIGITS[(bits & 31) as usize]);
    let mut text = String::with_capacity(1 + (8 * bytes.len()).div_ceil(5));
    text.push('b');
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        n_bits += 8;
        while n_bits >= 5 {
            n_bits -= 5;
            text.push(digit(bits >> n_bits));
        }
    }
    if n_bits > 0 {
        text.push(digit(bits << (5 - n_bits)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_ids_parse_back_and_begin_alike() {
        let cid = Cid::of(b"");
        assert!(cid.to_string().starts_with(Cid::PREFIX), "{cid}");
        assert_eq!(cid.to_string().len(), 59);
        assert_eq!(Cid::parse(&cid.to_string()), Ok(cid));
    }

    #[test]
    fn ids_are_printed_as_multibase_prints_them() {
        for n_bytes in 0..=64 {
            for seed in [0_u8, 1, 0x5a, 0xff] {
                let digest: Vec<u8> = (0..n_bytes).map(|n: u8| n.wrapping_mul(37) ^ seed).collect();
                let hash = cid::multihash::Multihash::wrap(u64::from(seed) << 9, &digest);
                let inner = cid::Cid::new_v1(DAG_CBOR << (seed % 5), hash.expect("short enough"));
                assert_eq!(Cid::from_inner(inner).to_string(), inner.to_string());
            }
        }
        let old = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
        let inner = cid::Cid::from_str(old).expect("one of version 0");
        assert_eq!(Cid::from_inner(inner).to_string(), old);
    }

    #[test]
    fn an_id_is_spelled_in_one_way() {
        let text = Cid::of(b"x").to_string();
        let last = text.len() - 1;
        for end in "abcdefghijklmnopqrstuvwxyz234567".chars() {
            let other = format!("{}{end}", &text[..last]);
            // Two of the last five bits belong to no byte.
            assert_eq!(Cid::parse(&other).is_ok(), "aeimquy4".contains(end), "{other}");
        }
        let upper = text.to_uppercase();
        for other in [upper.clone(), format!("b{}", &upper[1..]), format!("/ipfs/{text}")] {
            assert!(Cid::parse(&other).is_err(), "{other}");
        }
    }

    #[test]
    fn other_content_ids_are_not_ours() {
        for text in ["", "bafy", "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG"] {
            assert!(Cid::parse(text).is_err(), "{text}");
        }
    }
}
