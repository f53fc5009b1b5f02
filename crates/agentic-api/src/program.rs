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
pub(crate) use self::front_end::{
    ContextProgram, LayoutOutcome, check, compile_context, compile_pipeline, format, of_context,
    pipeline_findings, pipeline_source_findings, unreadable,
};
pub(crate) use self::import::ImportRoots;
pub use self::named_text::{NamedText, TEXT_BYTES_MAX};
pub(crate) use self::registry::read_registry;
pub use self::source::ProgramSource;
pub(crate) use self::source::ProgramText;
pub(crate) use self::source::named_language;
