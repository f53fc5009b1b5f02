//! How values stand in tables: a version, a checksum of the rest, and DAG-CBOR.
//!
//! A database may give back other bytes than it was given; whoever reads a value finds that out here.

use agentic_model::{Value, canonical};

use crate::error::{IndexError, Result};

/// The version of all values.
const VERSION: u8 = 1;
/// What stands before the content: the version and a checksum.
const HEAD_BYTES: usize = 5;

/// Encodes a value.
pub fn seal(value: &Value) -> Vec<u8> {
    let bytes = canonical::encode(value).expect("an index makes finite and flat values");
    seal_bytes(&bytes)
}

/// Reads a value.
///
/// # Errors
/// Fails when it is not what was written.
pub fn unseal(sealed: &[u8]) -> Result<Value> {
    let bytes = unseal_bytes(sealed)?;
    canonical::decode(bytes).map_err(|error| IndexError::damaged(error.to_string()))
}

/// Puts version and checksum before bytes of a form of their own.
pub fn seal_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(HEAD_BYTES + bytes.len());
    sealed.push(VERSION);
    sealed.extend(crc32c::crc32c(bytes).to_be_bytes());
    sealed.extend(bytes);
    sealed
}

/// Reads bytes of a form of their own.
///
/// # Errors
/// Fails when they are not what was written.
pub fn unseal_bytes(sealed: &[u8]) -> Result<&[u8]> {
    let [version, a, b, c, d, bytes @ ..] = sealed else {
        return Err(IndexError::damaged("a value is too short"));
    };
    if *version != VERSION {
        return Err(IndexError::damaged(format!("a value has version {version}")));
    }
    if u32::from_be_bytes([*a, *b, *c, *d]) != crc32c::crc32c(bytes) {
        return Err(IndexError::damaged("a value has another checksum"));
    }
    Ok(bytes)
}

/// Appends a number, seven bits to a byte.
pub fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number as u8) | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front of bytes.
pub fn take_number(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((first, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(IndexError::damaged("a number has no end"))
}

#[cfg(test)]
mod tests {
    use agentic_model::Value;

    use super::{push_number, seal, take_number, unseal};

    #[test]
    fn every_flipped_bit_is_found() {
        let sealed = seal(&Value::map([("head", Value::text("0af1")), ("n", Value::Int(7))]));
        assert!(unseal(&sealed).is_ok());
        for at in 0..sealed.len() * 8 {
            let mut other = sealed.clone();
            other[at / 8] ^= 1 << (at % 8);
            assert!(unseal(&other).is_err(), "bit {at}");
        }
        for length in 0..sealed.len() {
            assert!(unseal(&sealed[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, 65_535, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!(take_number(&mut rest).expect("whole"), number);
            assert!(rest.is_empty());
            assert!(take_number(&mut &bytes[..bytes.len() - 1]).is_err());
        }
        assert!(take_number(&mut [0x80; 20].as_slice()).is_err());
    }
}
