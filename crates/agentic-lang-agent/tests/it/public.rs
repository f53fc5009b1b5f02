//! The public cases: every one of them exactly.

use crate::corpus::{cases, check_all};
use crate::host::Kit;

#[test]
fn all_public_cases_are_right() {
    check_all("public", &cases("public"), Kit::None, 182);
}
