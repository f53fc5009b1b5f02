//! Whole numbers of any length.

use std::cmp::Ordering;
use std::fmt;

/// Each limb holds this many decimal digits, so that reading and printing cost no arithmetic.
const LIMB_DIGITS: usize = 9;
/// One more than the largest limb.
const LIMB: u32 = 1_000_000_000;

/// A whole number of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer {
    sign: Sign,
    /// Decimal limbs, least first, without zeros at the end; empty for zero.
    limbs: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

impl Integer {
    /// Reads decimal digits with an optional `-`.
    pub fn parse(text: &str) -> Option<Integer> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (Sign::Minus, digits),
            None => (Sign::Plus, text),
        };
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let limb = |chunk: &[u8]| {
            chunk.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
        };
        let limbs = digits.as_bytes().rchunks(LIMB_DIGITS).map(limb).collect();
        Some(Integer { sign, limbs }.trimmed())
    }

    /// Counts the decimal digits, or a few more.
    pub fn digits_max(&self) -> usize {
        self.limbs.len() * LIMB_DIGITS + 1
    }

    /// Returns the number as 64 bits if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.limbs.len() > 3 { None } else { self.to_string().parse().ok() }
    }

    /// Returns the nearest float, which may be infinite.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().expect("decimal digits are a float")
    }

    /// Adds two numbers.
    pub fn plus(&self, other: &Integer) -> Integer {
        if self.sign == other.sign {
            return Integer { sign: self.sign, limbs: sum(&self.limbs, &other.limbs) };
        }
        match compare(&self.limbs, &other.limbs) {
            Ordering::Less => {
                Integer { sign: other.sign, limbs: difference(&other.limbs, &self.limbs) }
            }
            Ordering::Equal | Ordering::Greater => {
                Integer { sign: self.sign, limbs: difference(&self.limbs, &other.limbs) }
            }
        }
        .trimmed()
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.sign == Sign::Minus
    }

    /// Whether the number is above zero.
    pub fn is_positive(&self) -> bool {
        self.sign == Sign::Plus && !self.limbs.is_empty()
    }

    fn trimmed(mut self) -> Integer {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        if self.limbs.is_empty() {
            self.sign = Sign::Plus;
        }
        self
    }
}

impl From<i64> for Integer {
    fn from(number: i64) -> Integer {
        Integer::parse(&number.to_string()).expect("a printed integer parses")
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative() {
            f.write_str("-")?;
        }
        let mut limbs = self.limbs.iter().rev();
        write!(f, "{}", limbs.next().unwrap_or(&0))?;
        limbs.try_for_each(|limb| write!(f, "{limb:09}"))
    }
}

fn compare(one: &[u32], other: &[u32]) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.iter().rev().cmp(other.iter().rev()))
}

fn sum(one: &[u32], other: &[u32]) -> Vec<u32> {
    let length = one.len().max(other.len());
    let mut limbs = Vec::with_capacity(length + 1);
    let mut carry = 0;
    for at in 0..length {
        let total = one.get(at).unwrap_or(&0) + other.get(at).unwrap_or(&0) + carry;
        limbs.push(total % LIMB);
        carry = total / LIMB;
    }
    if carry > 0 {
        limbs.push(carry);
    }
    limbs
}

/// Subtracts the smaller from the larger.
fn difference(larger: &[u32], smaller: &[u32]) -> Vec<u32> {
    let mut borrow = 0;
    let mut limbs = Vec::with_capacity(larger.len());
    for (at, limb) in larger.iter().enumerate() {
        let taken = smaller.get(at).unwrap_or(&0) + borrow;
        borrow = u32::from(*limb < taken);
        limbs.push(limb + borrow * LIMB - taken);
    }
    limbs
}
