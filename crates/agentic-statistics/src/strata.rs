//! Differences where cases are not alike: compared stratum by stratum.

use crate::rate::Proportion;

/// Cases that are alike in what may matter besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stratum {
    /// Those of the one side.
    pub first: Proportion,
    /// Those of the other.
    pub second: Proportion,
}

/// What strata say together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratifiedDifference {
    /// The difference with no look at strata, the second less the first.
    pub crude: f64,
    /// The difference that strata agree on (Mantel and Haenszel); nothing where none has both sides.
    pub pooled: Option<f64>,
    /// Which share of the cases lies in strata that have one side alone.
    pub one_sided_share: f64,
}

impl StratifiedDifference {
    /// Says whether no winner may be named: the two differences point different ways, or most cases
    /// have nothing to be compared with.
    pub fn warns(&self) -> bool {
        let differs = self.pooled.is_none_or(|pooled| pooled * self.crude < 0.0);
        differs || self.one_sided_share > 0.5
    }
}

/// Compares two sides over strata; nothing if one side has no cases at all.
pub fn stratified_difference(strata: &[Stratum]) -> Option<StratifiedDifference> {
    let sum = |side: fn(&Stratum) -> Proportion| {
        strata.iter().map(side).fold(Proportion { n_true: 0, n: 0 }, |sum, one| Proportion {
            n_true: sum.n_true + one.n_true,
            n: sum.n + one.n,
        })
    };
    let (first, second) = (sum(|one| one.first), sum(|one| one.second));
    let crude = second.rate()? - first.rate()?;
    let (mut weighted, mut weights, mut n_one_sided) = (0.0, 0.0, 0);
    for one in strata {
        let n = one.first.n + one.second.n;
        match (one.first.rate(), one.second.rate()) {
            (Some(p1), Some(p2)) => {
                let weight = one.first.n as f64 * one.second.n as f64 / n as f64;
                weighted += weight * (p2 - p1);
                weights += weight;
            }
            (Some(_), None) | (None, Some(_) | None) => n_one_sided += n,
        }
    }
    Some(StratifiedDifference {
        crude,
        pooled: (weights > 0.0).then(|| weighted / weights),
        one_sided_share: n_one_sided as f64 / (first.n + second.n) as f64,
    })
}
