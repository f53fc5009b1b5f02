//! Rates of cases, with Wilson's interval; differences of two, with Newcombe's hybrid score interval.

/// How many of some cases something is true of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proportion {
    /// Of how many it is.
    pub n_true: u64,
    /// How many cases there are.
    pub n: u64,
}

/// Where a figure lies, with the certainty that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureInterval {
    /// Not below.
    pub low: f64,
    /// Not above.
    pub high: f64,
}

impl Proportion {
    /// Returns the rate; nothing without cases.
    pub fn rate(self) -> Option<f64> {
        (self.n > 0).then(|| self.n_true as f64 / self.n as f64)
    }

    /// Returns Wilson's score interval for a bound of the normal distribution; nothing without cases.
    pub fn wilson(self, z: f64) -> Option<FigureInterval> {
        let rate = self.rate()?;
        let n = self.n as f64;
        let middle = self.n_true as f64 * 2.0 + z * z;
        let root = z * (z * z + 4.0 * self.n_true as f64 * (1.0 - rate)).sqrt();
        let below = 2.0 * (n + z * z);
        // At the ends rounding must not say what the figures do not.
        let low = if self.n_true == 0 { 0.0 } else { (middle - root) / below };
        let high = if self.n_true == self.n { 1.0 } else { (middle + root) / below };
        Some(FigureInterval { low, high })
    }
}

/// Returns the difference of two rates, the second less the first, with Newcombe's hybrid score
/// interval; nothing if one side has no cases.
pub fn difference_interval(
    first: Proportion,
    second: Proportion,
    z: f64,
) -> Option<(f64, FigureInterval)> {
    let (p1, p2) = (first.rate()?, second.rate()?);
    let (of_first, of_second) = (first.wilson(z)?, second.wilson(z)?);
    let far = |a: f64, b: f64| a.hypot(b);
    let difference = p2 - p1;
    let low = difference - far(p2 - of_second.low, of_first.high - p1);
    let high = difference + far(of_second.high - p2, p1 - of_first.low);
    Some((difference, FigureInterval { low: low.max(-1.0), high: high.min(1.0) }))
}
