//! Git's object ids.

use std::fmt;

/// The id that git gives an object: SHA-1 (20 bytes) or SHA-256 (32 bytes), printed in hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    bytes: [u8; 32],
    length: u8,
}

/// A text or byte string that is not a git object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a git object id")]
pub struct InvalidOid {
    /// What was given, as text.
    pub text: String,
}

impl Oid {
    /// Parses 40 or 64 hexadecimal digits.
    ///
    /// # Errors
    /// Fails on any other text.
    pub fn parse(text: &str) -> Result<Oid, InvalidOid> {
        let invalid = || InvalidOid { text: text.to_owned() };
        if !text.len().is_multiple_of(2) {
            return Err(invalid());
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let mut bytes = [0; 32];
        let bytes = bytes.get_mut(..text.len() / 2).ok_or_else(invalid)?;
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = (digit(pair[0]), digit(pair[1]));
            let (Some(high), Some(low)) = pair else { return Err(invalid()) };
            *byte = high << 4 | low;
        }
        Oid::from_bytes(bytes).map_err(|_| invalid())
    }

    /// Takes the binary form.
    ///
    /// # Errors
    /// Fails unless there are 20 or 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Oid, InvalidOid> {
        if !matches!(bytes.len(), 20 | 32) {
            return Err(InvalidOid { text: format!("{} bytes", bytes.len()) });
        }
        let mut padded = [0; 32];
        padded[..bytes.len()].copy_from_slice(bytes);
        Ok(Oid { bytes: padded, length: bytes.len() as u8 })
    }

    /// Returns the binary form, 20 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Tells whether this is the id of nothing: all zeros.
    pub fn is_null(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }

    /// Returns the first ten hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..10].to_owned()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.as_bytes()) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        let text = std::str::from_utf8(&digits[..2 * usize::from(self.length)]);
        f.write_str(text.expect("BUG: digits are text"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_make_an_id() {
        let digits = "0123456789abcdefABCDEF0123456789abcdef01";
        let id = Oid::parse(digits).expect("40 digits");
        assert_eq!(id.to_string(), digits.to_lowercase());
        let long = "0f".repeat(32);
        assert_eq!(Oid::parse(&long).map(|id| id.to_string()), Ok(long));
        for wrong in ["", &digits[1..], &digits[2..], &"+1".repeat(20), &"é".repeat(20)] {
            assert!(Oid::parse(wrong).is_err(), "{wrong}");
        }
    }
}
