//! Tests of paired differences: every sign could have fallen the other way.

use crate::normal::fair_tail;

/// Up to how many differences all ways are looked at.
pub const SIGN_FLIP_EXACT_MAX: usize = 20;
/// By how much sums may differ that are one, for their size.
const SAME_SUM: f64 = 1e-9;

/// In how many ways the signs fall so that the sum is as great.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignFlip {
    /// In how many it is no smaller.
    pub n_as_great: u64,
    /// In how many it is as far from nothing, on either side.
    pub n_as_far: u64,
    /// In how many there are.
    pub n_ways: u64,
}

/// Counts all ways in which the signs of differences can fall; nothing without differences, and of
/// more than [`SIGN_FLIP_EXACT_MAX`].
pub fn sign_flip(differences: &[f64]) -> Option<SignFlip> {
    let n = differences.len();
    if n == 0 || n > SIGN_FLIP_EXACT_MAX {
        return None;
    }
    let observed: f64 = differences.iter().sum();
    let size: f64 = differences.iter().map(|one| one.abs()).sum();
    let near = size * SAME_SUM;
    let n_ways = 1_u64 << n;
    let mut found = SignFlip { n_as_great: 0, n_as_far: 0, n_ways };
    // From one way to the next a single sign falls (Gray's order), so that a sum is one step from the
    // one before.
    let mut sum = observed;
    let mut is_flipped = [false; SIGN_FLIP_EXACT_MAX];
    for way in 1..=n_ways {
        found.n_as_great += u64::from(sum >= observed - near);
        found.n_as_far += u64::from(sum.abs() >= observed.abs() - near);
        let at = way.trailing_zeros() as usize;
        if let (Some(one), Some(flipped)) = (differences.get(at), is_flipped.get_mut(at)) {
            sum += if *flipped { 2.0 * one } else { -2.0 * one };
            *flipped = !*flipped;
        }
    }
    Some(found)
}

/// Returns how likely it is that chance alone gives as uneven signs, on either side. Differences that
/// are none are left out.
pub fn sign_test(differences: &[f64]) -> Option<f64> {
    let n_above = differences.iter().filter(|one| **one > 0.0).count() as u64;
    let n_below = differences.iter().filter(|one| **one < 0.0).count() as u64;
    let n = n_above + n_below;
    (n > 0).then(|| (2.0 * fair_tail(n_above.min(n_below), n)).min(1.0))
}
