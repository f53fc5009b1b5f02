//! What a trial that is only planned would find: trials are simulated, and those counted that do.
//!
//! In a simulated trial each run passes or fails. One arm passes half of its runs less a half of the
//! difference, the other one half of them and as much more: there chance has the most to say.

use super::{TrialLooks, better_p};
use crate::normal::phi;

/// In which share of trials a difference has to be found for it to count as one that is found.
pub const POWER_WANTED: f64 = 0.8;
/// How many trials are simulated for each difference.
const N_SIMULATED: u32 = 2_000;
/// Between which differences is told: hundredths.
const STEPS: u32 = 100;
/// Up to how many tasks every way is looked at; beyond, the normal distribution stands for them.
const EXACT_TASKS_MAX: usize = 10;

/// A trial that is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedTrial {
    /// How many tasks it has.
    pub n_tasks: usize,
    /// How often each is run with each arm.
    pub n_runs: usize,
    /// How often it may mislead.
    pub alpha: f64,
}

impl PlannedTrial {
    /// Makes the plan of a trial that is looked at several times: as it stands at its last look, which
    /// is the least that it can find.
    pub fn looked_at(self, looks: TrialLooks) -> PlannedTrial {
        PlannedTrial { alpha: looks.alpha_at(looks.n_looks), ..self }
    }

    /// Returns the smallest difference of two shares that is found as often as is wanted, between 0 and
    /// 1; nothing where none is.
    pub fn smallest_found(self) -> Option<f64> {
        let is_found = |step: u32| self.power(difference_of(step)) >= POWER_WANTED;
        if self.n_tasks == 0 || self.n_runs == 0 || !is_found(STEPS) {
            return None;
        }
        let (mut missed, mut found) = (0, STEPS);
        while missed + 1 < found {
            let middle = u32::midpoint(missed, found);
            if is_found(middle) { found = middle } else { missed = middle }
        }
        Some(difference_of(found))
    }

    /// Returns in which share of simulated trials a difference is found.
    pub fn power(self, difference: f64) -> f64 {
        let mut draws = UnitDraws(0x5eed);
        let n_found = (0..N_SIMULATED).filter(|_| self.finds(difference, &mut draws)).count();
        n_found as f64 / f64::from(N_SIMULATED)
    }

    fn finds(self, difference: f64, draws: &mut UnitDraws) -> bool {
        let differences: Vec<f64> =
            (0..self.n_tasks).map(|_| self.of_a_task(difference, draws)).collect();
        chance(&differences).is_some_and(|p| p <= self.alpha)
    }

    /// Draws by how much one arm passes more of the runs of a task.
    fn of_a_task(self, difference: f64, draws: &mut UnitDraws) -> f64 {
        let worse = 0.5 - difference / 2.0;
        let better = worse + difference;
        let mut passed =
            |rate: f64| (0..self.n_runs).filter(|_| draws.next() < rate).count() as f64;
        (passed(better) - passed(worse)) / self.n_runs as f64
    }
}

fn difference_of(step: u32) -> f64 {
    f64::from(step) / f64::from(STEPS)
}

/// Returns how likely chance alone makes differences as great, near enough for a plan.
fn chance(differences: &[f64]) -> Option<f64> {
    if differences.len() <= EXACT_TASKS_MAX {
        return better_p(differences, 0);
    }
    let spread = differences.iter().map(|one| one * one).sum::<f64>().sqrt();
    let sum = differences.iter().sum::<f64>();
    let least = 0.5_f64.powi(i32::try_from(differences.len()).unwrap_or(i32::MAX));
    Some(if spread == 0.0 { 1.0 } else { (1.0 - phi(sum / spread)).max(least) })
}

/// Numbers between 0 and 1 that follow from a seed (splitmix64).
struct UnitDraws(u64);

impl UnitDraws {
    fn next(&mut self) -> f64 {
        (super::mixed(&mut self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
