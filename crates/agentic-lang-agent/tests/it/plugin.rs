//! The cases with handlers, in simulated time.

use crate::corpus::{cases, check_all};
use crate::host::Kit;

/// Judged a bug of the original; decided in `quirks.rs`.
const QUIRK: &str = "p_q_parallel_join_deadline_beats_fallback";

#[test]
fn all_handler_cases_are_right() {
    let mut cases = cases("plugin");
    cases.retain(|case| case.name != QUIRK);
    check_all("plugin", &cases, Kit::Test, 29);
}
