//! Where something was found, and never what.

/// What sort of place holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PurgePlace {
    /// The notes of an agent, the registry or a library, in some state.
    #[default]
    Notes,
    /// What an archive keeps.
    Archive,
    /// A journal.
    Journal,
    /// A journal that was set aside.
    Aside,
    /// A session's records or values.
    Session,
    /// What capture keeps for itself.
    Capture,
    /// What can be made again.
    Derived,
    /// The log of a ref.
    Reflog,
    /// A branch, a tag, or another ref of the repository's.
    Branch,
    /// An object that nothing reaches.
    Unreachable,
    /// Another file below the git directory.
    File,
    /// A transcript of a vendor's.
    Source,
}

impl PurgePlace {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            PurgePlace::Notes => "notes",
            PurgePlace::Archive => "archive",
            PurgePlace::Journal => "journal",
            PurgePlace::Aside => "aside",
            PurgePlace::Session => "session",
            PurgePlace::Capture => "capture",
            PurgePlace::Derived => "derived",
            PurgePlace::Reflog => "reflog",
            PurgePlace::Branch => "branch",
            PurgePlace::Unreachable => "unreachable",
            PurgePlace::File => "file",
            PurgePlace::Source => "source",
        }
    }
}

/// One place where something was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct PurgeHit {
    /// What sort of place it is.
    pub place: PurgePlace,
    /// The ref that leads there.
    pub reference: Option<String>,
    /// The commit that brought it.
    pub commit: Option<String>,
    /// The file, below the ref's tree or the git directory; of a vendor all of its path.
    pub path: Option<String>,
    /// The line, in a transcript of a vendor's.
    pub line: Option<u64>,
    /// The object.
    pub object: Option<String>,
    /// The entry of a trace.
    pub entry: Option<String>,
}
