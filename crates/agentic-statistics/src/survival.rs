//! Times of cases of which some are still open: what is known of those is that they take longer.

use crate::normal::phi;

/// The time of one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurvivalTime {
    /// How long it took, or has taken so far.
    pub time: f64,
    /// Whether it has come to its end.
    pub is_over: bool,
}

/// One step down of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurvivalStep {
    /// When.
    pub time: f64,
    /// Which share takes longer.
    pub share: f64,
}

/// Which share of cases takes longer than any time (Kaplan and Meier).
#[derive(Debug, Clone, PartialEq)]
pub struct SurvivalCurve {
    /// The steps, by time.
    pub steps: Vec<SurvivalStep>,
}

impl SurvivalCurve {
    /// Estimates the curve.
    pub fn of(cases: &[SurvivalTime]) -> SurvivalCurve {
        let mut share = 1.0;
        let mut steps = Vec::new();
        for time in ends(cases) {
            let (n_over, n_at_risk) = at(cases, time);
            share *= 1.0 - n_over / n_at_risk;
            steps.push(SurvivalStep { time, share });
        }
        SurvivalCurve { steps }
    }

    /// Returns which share takes longer than so long.
    pub fn share_after(&self, time: f64) -> f64 {
        let before = self.steps.iter().take_while(|step| step.time <= time);
        before.last().map_or(1.0, |step| step.share)
    }

    /// Returns after how long no more than a share is left; nothing where that was not reached.
    pub fn time_at(&self, share: f64) -> Option<f64> {
        // Thirds and the like add up to a hair more than they are.
        const HAIR: f64 = 1e-12;
        self.steps.iter().find(|step| step.share <= share + HAIR).map(|step| step.time)
    }

    /// Returns after how long half of the cases are over; nothing where that was not reached.
    pub fn median(&self) -> Option<f64> {
        self.time_at(0.5)
    }
}

/// Returns how likely it is that chance alone makes two curves differ as much; nothing where no case is
/// over, or one side has none.
pub fn log_rank(first: &[SurvivalTime], second: &[SurvivalTime]) -> Option<f64> {
    let both: Vec<SurvivalTime> = first.iter().chain(second).copied().collect();
    let (mut excess, mut spread) = (0.0, 0.0);
    for time in ends(&both) {
        let (n_over, n_at_risk) = at(&both, time);
        let (over_first, at_risk_first) = at(first, time);
        excess += over_first - n_over * at_risk_first / n_at_risk;
        if n_at_risk > 1.0 {
            let share = at_risk_first / n_at_risk;
            spread += n_over * share * (1.0 - share) * (n_at_risk - n_over) / (n_at_risk - 1.0);
        }
    }
    (spread > 0.0).then(|| 2.0 * phi(-(excess * excess / spread).sqrt()))
}

/// Lists the times at which cases came to their end.
fn ends(cases: &[SurvivalTime]) -> Vec<f64> {
    let mut times: Vec<f64> =
        cases.iter().filter(|case| case.is_over).map(|case| case.time).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// Counts the cases that came to their end at a time, and those that had not before.
fn at(cases: &[SurvivalTime], time: f64) -> (f64, f64) {
    let n_over = cases.iter().filter(|case| case.is_over && case.time == time).count();
    let n_at_risk = cases.iter().filter(|case| case.time >= time).count();
    (n_over as f64, n_at_risk as f64)
}
