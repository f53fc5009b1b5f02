//! What a trial may say: how sure it has to be, whether one arm is better, and by how much.
//!
//! One difference a task is what counts: runs of one task resemble each other.

mod power;

use crate::compare::spending;
use crate::rate::FigureInterval;
use crate::sign::{SIGN_FLIP_EXACT_MAX, sign_flip};

pub use self::power::{POWER_WANTED, PlannedTrial};

/// How many ways are drawn where there are too many to look at all.
pub const SIGN_FLIP_DRAWS: u64 = 100_000;
/// How often all trials of one name may mislead together.
const ALPHA_OF_ALL: f64 = 0.05;
/// In how many steps an end of an interval is found.
const STEPS: usize = 40;

/// What a trial came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The new one is better.
    Better,
    /// It is worse.
    Worse,
    /// Neither is shown.
    NoDifference,
    /// What was seen does not say.
    Inconclusive,
}

impl TrialVerdict {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            TrialVerdict::Better => "better",
            TrialVerdict::Worse => "worse",
            TrialVerdict::NoDifference => "no-difference",
            TrialVerdict::Inconclusive => "inconclusive",
        }
    }
}

/// Returns how often the k-th trial of a name may mislead, so that all of them together do in one case
/// of twenty at most.
pub fn attempt_alpha(k: u32) -> f64 {
    let k = f64::from(k.max(1));
    ALPHA_OF_ALL / (k * (k + 1.0))
}

/// How often a trial is looked at, and how much it may mislead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialLooks {
    /// How often all looks together may mislead.
    pub alpha: f64,
    /// How many looks there are, the last one included.
    pub n_looks: usize,
}

impl TrialLooks {
    /// Returns how often one look may mislead, from 1: what is spent by then and was not before.
    /// Whatever the test is, all looks together mislead no more often than they may.
    pub fn alpha_at(self, look: usize) -> f64 {
        if self.n_looks <= 1 {
            return self.alpha;
        }
        let share = |look: usize| look as f64 / self.n_looks.max(1) as f64;
        spending(self.alpha, share(look)) - spending(self.alpha, share(look.saturating_sub(1)))
    }

    /// Returns after how many of all blocks a look is.
    pub fn n_blocks_at(self, look: usize, n_blocks: usize) -> usize {
        (n_blocks * look).div_ceil(self.n_looks.max(1))
    }
}

/// Says whether so many tasks can show anything at all.
pub fn can_show(n_tasks: usize, alpha: f64) -> bool {
    0.5_f64.powi(i32::try_from(n_tasks).unwrap_or(i32::MAX)) <= alpha
}

/// Returns how likely it is that chance alone makes the differences as great: of all ways in which signs
/// can fall, or of many that are drawn. Nothing without differences.
pub fn better_p(differences: &[f64], seed: u64) -> Option<f64> {
    if differences.is_empty() {
        return None;
    }
    if differences.len() <= SIGN_FLIP_EXACT_MAX {
        let found = sign_flip(differences)?;
        return Some(found.n_as_great as f64 / found.n_ways as f64);
    }
    let observed: f64 = differences.iter().sum();
    let size: f64 = differences.iter().map(|one| one.abs()).sum();
    let mut draws = SignDraws(seed);
    let as_great = |_: &u64| {
        let sum: f64 = differences.iter().map(|one| draws.signed(*one)).sum();
        sum >= observed - size * 1e-9
    };
    let n_as_great = (0..SIGN_FLIP_DRAWS).filter(as_great).count();
    Some((n_as_great as f64 + 1.0) / (SIGN_FLIP_DRAWS as f64 + 1.0))
}

/// Returns where the mean difference lies: what the test would not call better or worse than.
pub fn flip_interval(differences: &[f64], alpha: f64, seed: u64) -> Option<FigureInterval> {
    if differences.is_empty() {
        return None;
    }
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let spread = differences.iter().map(|one| (one - mean).abs()).sum::<f64>() + mean.abs();
    // How likely chance alone makes them as far beyond a shift, on one side.
    let beyond = |shift: f64, side: f64| {
        let moved: Vec<f64> = differences.iter().map(|one| side * (one - shift)).collect();
        better_p(&moved, seed).unwrap_or(1.0)
    };
    let end = |side: f64| {
        let (mut inside, mut outside) = (mean, mean - side * (spread + 1.0));
        if beyond(outside, side) > alpha / 2.0 {
            return side * f64::NEG_INFINITY;
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(inside, outside);
            if beyond(middle, side) > alpha / 2.0 { inside = middle } else { outside = middle }
        }
        inside
    };
    Some(FigureInterval { low: end(1.0), high: end(-1.0) })
}

/// Draws the next number from a state (splitmix64).
fn mixed(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Signs that follow from a seed.
struct SignDraws(u64);

impl SignDraws {
    fn signed(&mut self, one: f64) -> f64 {
        if mixed(&mut self.0) & 1 == 1 { -one } else { one }
    }
}
