//! What programs mean in the versions of the meaning that can still run.

use crate::value::Addresses;

/// What differs between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Prompts show the addresses of resources, and each value has a bound of its own.
    Open,
    /// Addresses stay out of prompts, and all values together have a bound as well.
    Bounded,
}

impl Meaning {
    /// Returns what programs mean in a version.
    pub fn of(semantics: u32) -> Meaning {
        if semantics < 2 { Meaning::Open } else { Meaning::Bounded }
    }

    /// Tells whether a model may be told addresses.
    pub fn addresses(self) -> Addresses {
        match self {
            Meaning::Open => Addresses::Shown,
            Meaning::Bounded => Addresses::LeftOut,
        }
    }
}
