//! Two groups of times compared by ranks: how far they are shifted, with an interval.

use crate::normal::{phi, phi_inverse};
use crate::rate::FigureInterval;
use crate::times::{quartiles, sorted};

/// From how many values a side on the normal distribution is used.
const EXACT_SIDE_MAX: usize = 50;

/// How far a group is shifted from another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSum {
    /// The shift: the median of all differences (Hodges and Lehmann).
    pub shift: f64,
    /// Where it lies; nothing where so few values bound it on no side with that certainty.
    pub interval: Option<FigureInterval>,
    /// How likely it is that chance alone shifts as far, on either side.
    pub p: f64,
}

/// Compares two groups, the second less the first; nothing if one is empty.
pub fn rank_sum(first: &[f64], second: &[f64], alpha: f64) -> Option<RankSum> {
    let differences: Vec<f64> =
        second.iter().flat_map(|b| first.iter().map(move |a| b - a)).collect();
    let shift = quartiles(&differences)?.median;
    let sorted = sorted(&differences);
    let greater = differences.iter().filter(|one| **one > 0.0).count() as f64;
    let equal = differences.iter().filter(|one| **one == 0.0).count() as f64;
    // How often a value of the second is greater; those that are alike count half.
    let u = greater + equal / 2.0;
    let is_exact = first.len() <= EXACT_SIDE_MAX && second.len() <= EXACT_SIDE_MAX;
    let has_ties = ties(first, second) > 0.0;
    let (p, below) = match is_exact && !has_ties {
        true => exact(first.len(), second.len(), u, alpha),
        false => normal(first, second, u, alpha),
    };
    let last = sorted.len() - 1;
    let rank = below.checked_sub(1).map(|rank| rank.min(last / 2));
    let interval = rank.map(|rank| FigureInterval { low: sorted[rank], high: sorted[last - rank] });
    Some(RankSum { shift, interval, p })
}

/// Returns the chance, and how many differences lie beyond the interval on each side.
fn exact(m: usize, n: usize, u: f64, alpha: f64) -> (f64, usize) {
    let ways = ways(m, n);
    let all: f64 = ways.iter().sum();
    let at_most = |u: usize| ways[..=u.min(ways.len() - 1)].iter().sum::<f64>() / all;
    let smaller = u.min((m * n) as f64 - u).round() as usize;
    let p = (2.0 * at_most(smaller)).min(1.0);
    let below = (0..ways.len()).take_while(|u| at_most(*u) <= alpha / 2.0).count();
    (p, below)
}

/// Counts, for each u, in how many orders of m and n values it comes out.
fn ways(m: usize, n: usize) -> Vec<f64> {
    // Rows by how many values of the one side are placed; each value of the other adds a row.
    let mut counts = vec![vec![0.0; m * n + 1]; m + 1];
    counts[0][0] = 1.0;
    for greatest in 1..=(m + n) {
        for placed in (1..=m.min(greatest)).rev() {
            let passed = greatest - placed;
            if passed > n {
                continue;
            }
            for u in (passed..=m * n).rev() {
                counts[placed][u] += counts[placed - 1][u - passed];
            }
        }
    }
    counts.swap_remove(m)
}

fn normal(first: &[f64], second: &[f64], u: f64, alpha: f64) -> (f64, usize) {
    let (m, n) = (first.len() as f64, second.len() as f64);
    let all = m + n;
    let spread = (m * n / 12.0 * (all + 1.0 - ties(first, second) / (all * (all - 1.0)))).sqrt();
    let middle = m * n / 2.0;
    if spread == 0.0 {
        return (1.0, 0);
    }
    let far = ((u - middle).abs() - 0.5).max(0.0) / spread;
    let p = (2.0 * phi(-far)).min(1.0);
    let below = middle + phi_inverse(alpha / 2.0) * spread - 0.5;
    (p, below.max(0.0).round() as usize)
}

/// Sums t³ − t over groups of t values that are alike.
fn ties(first: &[f64], second: &[f64]) -> f64 {
    let all: Vec<f64> = first.iter().chain(second).copied().collect();
    let sorted = sorted(&all);
    let groups = sorted.chunk_by(|a, b| a == b);
    groups.map(|group| (group.len() as f64).powi(3) - group.len() as f64).sum()
}
