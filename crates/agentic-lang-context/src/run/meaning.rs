//! What programs mean in the versions of the meaning that can still run.

use crate::value::Addresses;

/// What differs between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DialectMeaning {
    /// Prompts show the addresses of resources, and each value has a bound of its own.
    Open,
    /// Addresses stay out of prompts, and all values together have a bound as well.
    Bounded,
}

impl DialectMeaning {
    /// Returns what programs mean in a version.
    pub fn of(semantics: u32) -> DialectMeaning {
        if semantics < 2 { DialectMeaning::Open } else { DialectMeaning::Bounded }
    }

    /// Tells whether a model may be told addresses.
    pub fn addresses(self) -> Addresses {
        match self {
            DialectMeaning::Open => Addresses::Shown,
            DialectMeaning::Bounded => Addresses::LeftOut,
        }
    }
}
