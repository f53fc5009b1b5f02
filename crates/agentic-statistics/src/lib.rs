//! Figures about cases, and how sure they are: rates, differences, times, exact tests.
//!
//! Every function is pure and takes plain numbers. What is not finite has no place in them: callers
//! leave it out and count it. The tests hold all of them to figures that others have published.

mod compare;
mod normal;
mod rank;
mod rate;
mod sign;
mod strata;
mod survival;
mod times;
pub mod trial;

pub use crate::compare::{MultipleViews, cases_a_side, spending, z_of};
pub use crate::rank::{RankSum, rank_sum};
pub use crate::rate::{FigureInterval, Proportion, difference_interval};
pub use crate::sign::{SIGN_FLIP_EXACT_MAX, SignFlip, sign_flip, sign_test};
pub use crate::strata::{StratifiedDifference, Stratum, stratified_difference};
pub use crate::survival::{SurvivalCurve, SurvivalStep, SurvivalTime, log_rank};
pub use crate::times::{MEDIAN_INTERVAL_CASES_MIN, Quartiles, median_interval, quartiles};
