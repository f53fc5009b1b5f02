//! Where things in flight are kept: everything under `agentic/` in the common git directory.

use std::fmt;
use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Oid};

use crate::{Error, Result};

/// The ref that keeps archived agents.
pub const ARCHIVE_REF: &str = "refs/agentic/archive";
/// The ref that names private agents and keeps those of them that are archived. It is never pushed.
pub const PRIVATE_REF: &str = "refs/agentic/private";
/// The ref that keeps rule files of queries by name.
pub const RULES_REF: &str = "refs/agentic/rules";
/// The ref that keeps behaviours by name.
pub const BEHAVIOURS_REF: &str = "refs/agentic/behaviours";
/// The ref that says which behaviours are in force here by names that a fetch moved, until somebody
/// takes those over. It is never pushed.
pub const HELD_BEHAVIOURS_REF: &str = "refs/agentic/held/behaviours";

/// The folder of one repository's journals, locks and caches.
#[derive(Debug, Clone)]
pub struct Layout {
    root: PathBuf,
}

/// What a journal and its lock belong to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// An agent: its branch, its notes and its trace.
    Agent(AgentName),
    /// A branch that no agent owns, such as `main`; named by the hash of its full ref name.
    Branch(String),
    /// The registry of kinds.
    Space,
}

impl Stream {
    /// Names the ref that keeps a commit which the branch of this stream does not have.
    pub(crate) fn rescue_ref(&self, commit: Oid) -> String {
        format!("refs/agentic/rescued/{self}/{commit}")
    }

    /// Returns the stream of a branch that no agent owns.
    pub fn of_branch(full_name: &str) -> Stream {
        let hash = crate::hash_hex(full_name.as_bytes());
        Stream::Branch(hash[..16].to_owned())
    }

    /// Returns the agent that the stream belongs to.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Stream::Agent(agent) => Some(agent),
            Stream::Branch(_) | Stream::Space => None,
        }
    }

    /// Says for people whose writes the stream has. A branch is told by its hash alone, so that only
    /// those are named which most repositories have.
    pub fn subject(&self) -> String {
        match self {
            Stream::Agent(agent) => format!("`{agent}`"),
            Stream::Space => "the repository (`_space`)".to_owned(),
            archive if *archive == Stream::of_branch(ARCHIVE_REF) => "the archive".to_owned(),
            private if *private == Stream::of_branch(PRIVATE_REF) => "private agents".to_owned(),
            rules if *rules == Stream::of_branch(RULES_REF) => "the library of rules".to_owned(),
            found if *found == Stream::of_branch(BEHAVIOURS_REF) => {
                "the library of behaviours".to_owned()
            }
            held if *held == Stream::of_branch(HELD_BEHAVIOURS_REF) => {
                "behaviours in force".to_owned()
            }
            Stream::Branch(hash) => {
                let is_it = |name: &&str| *self == Stream::of_branch(&format!("refs/heads/{name}"));
                match ["main", "master"].iter().find(|name| is_it(name)) {
                    Some(name) => format!("branch `{name}`"),
                    None => format!("a branch of no agent (`_branch-{hash}`)"),
                }
            }
        }
    }

    /// Parses the name of a journal folder.
    pub fn parse(name: &str) -> Option<Stream> {
        if name == "_space" {
            return Some(Stream::Space);
        }
        if let Some(hash) = name.strip_prefix("_branch-") {
            return Some(Stream::Branch(hash.to_owned()));
        }
        AgentName::parse(name).ok().map(Stream::Agent)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stream::Agent(agent) => write!(f, "{agent}"),
            Stream::Branch(hash) => write!(f, "_branch-{hash}"),
            Stream::Space => f.write_str("_space"),
        }
    }
}

impl Layout {
    /// Takes the common git directory of a repository.
    pub fn new(common_dir: &Path) -> Layout {
        Layout { root: common_dir.join("agentic") }
    }

    /// Returns the folder that holds everything else.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of a stream's journal segments.
    pub fn journal(&self, stream: &Stream) -> PathBuf {
        self.root.join("journal").join(stream.to_string())
    }

    /// Returns the folder that holds one folder of segments a stream.
    pub fn journals(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// Returns where a journal is moved that belongs to an earlier branch of the same name.
    pub fn aside(&self, stream: &Stream, tag: &str) -> PathBuf {
        self.asides().join(format!("{stream}-{tag}"))
    }

    /// Returns the folder of the packs that belong to a stream's journal.
    pub fn packs(&self, stream: &Stream) -> PathBuf {
        self.root.join("pack").join(stream.to_string())
    }

    /// Returns where packs grow until they are placed; what a crash leaves there is garbage.
    pub fn begun_packs(&self) -> PathBuf {
        self.root.join("pack").join("_begun")
    }

    /// Returns the file that names the packs which the last merge has replaced.
    pub fn replaced_packs(&self) -> PathBuf {
        self.root.join("pack").join("_replaced")
    }

    /// Returns the folder of journals that were set aside, and of what else was.
    pub fn asides(&self) -> PathBuf {
        self.root.join("aside")
    }

    /// Returns where a journal is written that is to take the place of the stream's own.
    pub fn begun_journal(&self, stream: &Stream) -> PathBuf {
        self.root.join("begun").join(stream.to_string())
    }

    /// Returns where objects are moved that a power cut damaged.
    pub fn damaged_objects(&self) -> PathBuf {
        self.root.join("aside").join("_objects")
    }

    /// Returns the lock file of a stream.
    pub fn lock(&self, stream: &Stream) -> PathBuf {
        self.root.join("lock").join(stream.to_string())
    }

    /// Returns the lock file of work that concerns all streams, such as recovery after a reboot.
    pub fn space_lock(&self, work: &str) -> PathBuf {
        self.root.join("lock").join(format!("_{work}.all"))
    }

    /// Returns the lock file of a worktree, by its key.
    pub fn worktree_lock(&self, worktree: &str) -> PathBuf {
        self.root.join("lock").join(format!("_worktree-{worktree}"))
    }

    /// Returns where it is noted that a worktree has still to follow its branch, by its key.
    pub fn trail(&self, worktree: &str) -> PathBuf {
        self.trails().join(worktree)
    }

    /// Returns the folder of these notes.
    pub fn trails(&self) -> PathBuf {
        self.root.join("trail")
    }

    /// Returns the mark that a stream's journal holds records which only a replay makes safe.
    pub fn dirty(&self, stream: &Stream) -> PathBuf {
        self.root.join("dirty").join(stream.to_string())
    }

    /// Returns the folder of these marks.
    pub fn dirty_marks(&self) -> PathBuf {
        self.root.join("dirty")
    }

    /// Returns the note that the branch of a stream was found missing.
    pub fn missing(&self, stream: &Stream) -> PathBuf {
        self.dirty_marks().join(format!("_missing-{stream}"))
    }

    /// Returns the note that a stream was left out when journals were replayed, because its own is
    /// damaged.
    pub fn left_out(&self, stream: &Stream) -> PathBuf {
        self.dirty_marks().join(format!("_left-out-{stream}"))
    }

    /// Returns the file that counts the syncs which checkpoints have made.
    pub fn syncs(&self) -> PathBuf {
        self.root.join("syncs")
    }

    /// Returns the list of commits that others made and that are known to be on the disk.
    pub fn synced_commits(&self) -> PathBuf {
        self.root.join("synced")
    }

    /// Returns the mark that a writer of the stream is at work, or died at it.
    pub fn open_mark(&self, stream: &Stream) -> PathBuf {
        self.root.join("open").join(stream.to_string())
    }

    /// Returns the folder of these marks.
    pub fn open_marks(&self) -> PathBuf {
        self.root.join("open")
    }

    /// Returns the file that tells when journals were last looked at for what can be cut.
    pub fn last_round(&self) -> PathBuf {
        self.root.join("rest")
    }

    /// Returns the file that names the boot in which the journals were last known to be clean.
    pub fn boot(&self) -> PathBuf {
        self.root.join("boot")
    }

    /// Returns the folder of sessions that are not over, one folder a session, by its first digits.
    pub fn open_sessions(&self) -> PathBuf {
        self.root.join("session").join("open")
    }

    /// Returns the folder of sessions that are over.
    pub fn ended_sessions(&self) -> PathBuf {
        self.root.join("session").join("over")
    }

    /// Returns the file that names this space, and the place where it got its name.
    pub fn space(&self) -> PathBuf {
        self.root.join("space")
    }

    /// Returns the lock file of a session.
    pub fn session_lock(&self, session: &str) -> PathBuf {
        self.root.join("lock").join(format!("_session-{session}"))
    }

    /// Returns the folder of what is known of captured conversations. But for what waits in `spool/`
    /// all of it may go: it is found again.
    pub fn capture(&self) -> PathBuf {
        self.root.join("capture")
    }

    /// Returns the log of what hooks could not do.
    pub fn capture_errors(&self) -> PathBuf {
        self.capture().join("errors.log")
    }

    /// Returns the folder of files that are made for other programs to read, and removed at once.
    pub fn handouts(&self) -> PathBuf {
        self.root.join("handout")
    }

    /// Returns the folder of what a resident process needs; nothing in it outlives the process.
    pub fn resident(&self) -> PathBuf {
        self.root.join("serve")
    }

    /// Returns the pipe in which it hears of writes.
    pub fn bell(&self) -> PathBuf {
        self.resident().join("bell")
    }

    /// Returns the folder of derived files; it may be deleted at any time.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Returns the folder of what the process that stays keeps: it may go at any time.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }
}

/// Lists the streams that a folder has something of.
///
/// # Errors
/// Fails when the folder cannot be read.
pub(crate) fn streams_in(dir: &Path) -> Result<Vec<Stream>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", dir)(error)),
    };
    let mut streams = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("read", dir))?.file_name();
        streams.extend(name.to_str().and_then(Stream::parse));
    }
    streams.sort();
    Ok(streams)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_called_by_whose_writes_it_has() {
        for (stream, expected) in [
            (Stream::parse("alice"), "`alice`"),
            (Stream::parse("_space"), "the repository (`_space`)"),
            (Some(Stream::of_branch("refs/heads/main")), "branch `main`"),
            (Some(Stream::of_branch(ARCHIVE_REF)), "the archive"),
            (Some(Stream::of_branch(RULES_REF)), "the library of rules"),
            (Some(Stream::of_branch(BEHAVIOURS_REF)), "the library of behaviours"),
            (Some(Stream::of_branch(HELD_BEHAVIOURS_REF)), "behaviours in force"),
            (Stream::parse("_branch-01"), "a branch of no agent (`_branch-01`)"),
        ] {
            assert_eq!(stream.expect("a stream").subject(), expected);
        }
    }
}
