//! The normal distribution, and binomial tails.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// The standard normal distribution.
fn standard() -> Normal {
    Normal::standard()
}

/// Returns Φ: how likely a value is no greater.
pub(crate) fn phi(x: f64) -> f64 {
    standard().cdf(x)
}

/// Returns Φ⁻¹, of a probability strictly between 0 and 1.
pub(crate) fn phi_inverse(p: f64) -> f64 {
    standard().inverse_cdf(p)
}

/// Returns how likely at most `k` of `n` fair coins fall on one side.
pub(crate) fn fair_tail(k: u64, n: u64) -> f64 {
    // Of many coins the powers of two would leave the numbers that there are.
    let mut log_choose = 0.0_f64;
    let log_all = n as f64 * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for i in 0..=k.min(n) {
        if i > 0 {
            log_choose += ((n - i + 1) as f64).ln() - (i as f64).ln();
        }
        sum += (log_choose - log_all).exp();
    }
    sum.min(1.0)
}
