//! Texts of programs: where they come from, what is wrong with them, how they look laid out anew.

mod dialect;
mod findings;
mod front_end;
mod import;
mod named_text;
mod registry;
mod source;

pub use self::dialect::parse_dialect;
pub use self::findings::ProgramFindings;
pub(crate) use self::front_end::{ContextProgram, compile_context, of_context, unreadable};
pub use self::front_end::{
    LayoutOutcome, check, compile_pipeline, format, pipeline_findings, pipeline_source_findings,
};
pub(crate) use self::import::ImportRoots;
pub use self::named_text::{NamedText, TEXT_BYTES_MAX};
pub use self::registry::read_registry;
pub(crate) use self::source::named_language;
pub use self::source::{ProgramSource, ProgramText};
