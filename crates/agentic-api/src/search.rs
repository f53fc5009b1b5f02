//! Finding what was said: by reading everything, or from candidates that an index names. Either way
//! every hit is read from the repository, so both give the same.

mod agent;
mod hits;
mod scan;
mod text;

pub use self::agent::TextAgent;
pub use self::hits::{CANDIDATES_MAX, CandidateFinder, HitList, verify};
pub use self::scan::{ScanProgress, scan};
pub use self::text::{GroundTexts, ReadTexts, TextVisitor, visit_session};
