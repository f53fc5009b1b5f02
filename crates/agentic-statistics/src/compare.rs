//! How sure one wants to be, how many cases that takes, and how it is spent.

use crate::normal::{phi, phi_inverse};

/// How many figures are looked at at once: each of them has to be surer then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultipleViews(pub u32);

impl MultipleViews {
    /// Returns how often each figure may mislead for one of them to mislead in one case of twenty.
    pub fn alpha(self) -> f64 {
        0.05 / f64::from(self.0.max(1))
    }

    /// Returns the bound of the normal distribution for that.
    pub fn z(self) -> f64 {
        z_of(self.alpha())
    }
}

/// Returns how far from the middle a normal value lies in a share of cases, on either side.
pub fn z_of(alpha: f64) -> f64 {
    phi_inverse(1.0 - alpha / 2.0)
}

/// Returns how many cases a side it takes to find that two rates differ, in a share of trials (the
/// power), on either side; nothing where they are the same.
pub fn cases_a_side(first: f64, second: f64, alpha: f64, power: f64) -> Option<u64> {
    let difference = second - first;
    if difference == 0.0 {
        return None;
    }
    let middle = f64::midpoint(first, second);
    let alike = (2.0 * middle * (1.0 - middle)).sqrt();
    let apart = (first * (1.0 - first) + second * (1.0 - second)).sqrt();
    let n = (z_of(alpha) * alike + phi_inverse(power) * apart) / difference;
    Some((n * n).ceil() as u64)
}

/// Returns how much of α is spent once a share of the cases is seen (O'Brien and Fleming's form).
pub fn spending(alpha: f64, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    2.0 * (1.0 - phi(phi_inverse(1.0 - alpha / 2.0) / share.min(1.0).sqrt()))
}
