//! What a process that stays may keep of a repository, and how texts are searched with or without it.
//!
//! Nothing here is truth: whatever is kept may be deleted at any moment and made again.
//!
//! - [`SearchQuery`]: what is asked, with findings about what cannot be read;
//! - [`SearchDocument`]: a text that somebody said, and where it stands;
//! - [`SearchScope`]: what a query means in one repository, and which documents fit it;
//! - [`TextIndex`]: which texts have which words, kept in [`Tables`];
//! - [`MainIndex`]: what agents and sessions are, for lists of many, kept in tables too.

mod document;
mod error;
mod excerpt;
mod identity;
mod ledger;
mod name_table;
mod search;
mod tables;
mod text;
mod value;
mod word;

pub use crate::document::{
    DocumentOrder, DocumentPlace, DocumentSource, SearchDocument, TEXT_BYTES_MAX,
};
pub use crate::error::{IndexError, Result};
pub use crate::excerpt::{EXCERPT_CHARS_MAX, SearchExcerpt};
pub use crate::ledger::{
    AgentRow, AgentRows, EdgeRow, KeptMark, KeptObjects, KnownAgent, LedgerRows, MainIndex,
    ReadAgent, SessionRow, SharedLedger, SweptRefs,
};
pub use crate::name_table::{NameTable, NamedBytes};
pub use crate::search::{SearchFilters, SearchFindings, SearchQuery, SearchScope, SearchTerm};
pub use crate::tables::{IndexTable, KeyVisitor, MemoryTables, SledTables, TableBatch, Tables};
pub use crate::text::{FoundTexts, SeenAgent, TextChange, TextIndex, TextPlace, UnreadTexts};
pub use crate::word::terms;
