//! Times of cases that are all known: quartiles, and how sure the median is.

use crate::normal::fair_tail;
use crate::rate::FigureInterval;

/// From how many cases on a median has an interval.
pub const MEDIAN_INTERVAL_CASES_MIN: usize = 6;

/// The quarters of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// A quarter is below.
    pub lower: f64,
    /// Half is.
    pub median: f64,
    /// Three quarters are.
    pub upper: f64,
}

/// Finds the quarters (type 7: between the values next to it in proportion); nothing without values.
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let sorted = sorted(values);
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = last as f64 * share;
        let below = place.floor();
        let (left, right) = (sorted[below as usize], sorted[(below as usize + 1).min(last)]);
        left + (place - below) * (right - left)
    };
    Some(Quartiles { lower: at(0.25), median: at(0.5), upper: at(0.75) })
}

/// Returns where the median lies, by order statistics: the narrowest pair of values, as far from the
/// one end as from the other, that is sure enough. Nothing where too few values say too little.
pub fn median_interval(values: &[f64], alpha: f64) -> Option<FigureInterval> {
    if values.len() < MEDIAN_INTERVAL_CASES_MIN {
        return None;
    }
    let sorted = sorted(values);
    let n = sorted.len();
    let is_sure = |rank: &usize| 2.0 * fair_tail(*rank as u64, n as u64) <= alpha;
    let rank = (0..n / 2).take_while(is_sure).last()?;
    Some(FigureInterval { low: sorted[rank], high: sorted[n - 1 - rank] })
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}
