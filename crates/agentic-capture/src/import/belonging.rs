//! Whose a conversation is: one of this repository, or somebody else's.
//!
//! A folder that its lines name must lie in a worktree that is here or was here, or under a path that
//! the configuration adds. A repository within a worktree is another one.

use std::path::{Component, Path, PathBuf};

use agentic_git::Repository;
use agentic_model::{AgentName, Instant, Oid, Value};
use agentic_space::Space;
use agentic_store::file;
use regex::bytes::RegexSet;
use sha2::{Digest as _, Sha256};

use super::head::TranscriptHead;
use crate::cursor::open_at;
use crate::glance::git_folders;
use crate::mapping::ConversationMapping;
use crate::mapping::facts::ConversationFacts;
use crate::transcript::{TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::{CaptureError, Source, VendorFile};

/// The longest file that is read which says where a worktree is, in bytes.
const GITDIR_BYTES_MAX: u64 = 64 << 10;

/// A folder of this repository.
struct KnownPlace {
    path: PathBuf,
    /// The branch that is checked out there now.
    branch: Option<String>,
}

/// What is known of where this repository is.
pub(super) struct Belonging<'b> {
    space: &'b Space,
    places: Vec<KnownPlace>,
    /// Paths that the configuration adds, whatever repository is there now.
    added: Vec<PathBuf>,
    /// Addresses of remotes, without scheme, user and ending.
    remotes: Vec<String>,
    /// Finds lines that may name one of the places.
    named: RegexSet,
}

impl<'b> Belonging<'b> {
    /// Looks where this repository is and was.
    pub fn of(space: &'b Space) -> Result<Belonging<'b>, CaptureError> {
        let repository = space.repository();
        let mut places = Vec::new();
        for worktree in repository.worktrees()? {
            let branch = Repository::branches_kept(&worktree.git_dir).into_iter().next();
            places.push(KnownPlace { path: worktree.path, branch });
        }
        if places.is_empty() {
            places.push(KnownPlace { path: repository.common_dir().to_owned(), branch: None });
        }
        let added = repository.config("agentic.capturePaths").unwrap_or_default();
        let added = added.split(':').filter(|path| path.starts_with('/')).map(PathBuf::from);
        let added: Vec<PathBuf> = added.collect();
        for path in worktrees_that_were(repository.common_dir()) {
            if !places.iter().any(|place| place.path == path) {
                places.push(KnownPlace { path, branch: None });
            }
        }
        let real: Vec<PathBuf> =
            places.iter().filter_map(|place| place.path.canonicalize().ok()).collect();
        let paths = places.iter().map(|place| &place.path).chain(&real).chain(&added);
        let written = paths.map(|path| {
            let text = path.to_string_lossy();
            let text = serde_json::to_string(&*text).unwrap_or_default();
            regex::escape(text.trim_matches('"'))
        });
        let named = RegexSet::new(written).map_err(|_| CaptureError::Other { code: "paths" })?;
        let url = |name: String| repository.config(&format!("remote.{name}.url"));
        let remotes = repository.remotes().into_iter().filter_map(url).map(|url| plain_url(&url));
        let remotes = remotes.collect();
        Ok(Belonging { space, places, added, remotes, named })
    }

    /// Tells whether a conversation is one of this repository, by what its first lines say, else by
    /// all of its lines.
    pub fn has(&self, head: &TranscriptHead, file: &VendorFile) -> Result<bool, CaptureError> {
        if self.has_facts(head.found.id.source, &head.facts) {
            return Ok(true);
        }
        let io = |source| CaptureError::Io { source };
        let opened = open_at(file, None, &[0; 32]).map_err(io)?;
        let mut lines = TranscriptReader::new(opened.input, TranscriptPlace::default());
        while let Some(line) = lines.next_line().map_err(io)? {
            let TranscriptLine::Whole { bytes, .. } = line else { continue };
            if !self.named.is_match(bytes) {
                continue;
            }
            // A text may name it too: only what the vendor says of the line counts.
            let id = head.found.id.clone();
            let mut mapping = ConversationMapping::new(id, head.found.subagent.as_deref());
            mapping.line(0, bytes, &mut |_, _| None);
            if mapping.facts().folders().any(|folder| self.has_folder(folder)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tells whether a conversation is one of this repository, by what is known of it.
    pub fn has_facts(&self, source: Source, facts: &ConversationFacts) -> bool {
        if facts.folders().any(|folder| self.has_folder(folder)) {
            return true;
        }
        if source == Source::Gemini && self.place_of_project(facts).is_some() {
            return true;
        }
        let is_remote = facts.repository_url().is_some_and(|url| {
            let url = plain_url(url);
            self.remotes.contains(&url)
        });
        source == Source::Codex && is_remote && self.commit(facts).is_some()
    }

    /// Finds the commit that was checked out when a conversation began, if it is here.
    pub fn commit(&self, facts: &ConversationFacts) -> Option<Oid> {
        let oid = facts.commit().and_then(|text| Oid::parse(text).ok())?;
        self.space.read_commit(oid).is_ok().then_some(oid)
    }

    /// Finds the agent whose worktree a conversation began in, if it existed at that time.
    pub fn agent(
        &self,
        facts: &ConversationFacts,
        began: Instant,
    ) -> Result<Option<AgentName>, CaptureError> {
        let place = facts.folders().find_map(|folder| self.place_of(folder));
        let Some(place) = place.or_else(|| self.place_of_project(facts)) else { return Ok(None) };
        // What the lines say counts more than what is checked out there now.
        let branch = match facts.branch() {
            Some(branch) => Some(format!("refs/heads/{branch}")),
            None => place.branch.clone(),
        };
        let agent = branch.as_deref().and_then(AgentName::from_branch_ref);
        let Some(agent) = agent else { return Ok(None) };
        Ok(genesis_of(self.space, &agent)?.filter(|made| made.at <= began).map(|_| agent))
    }

    fn has_folder(&self, folder: &str) -> bool {
        let is_added = self.added.iter().any(|path| lies_below(folder, path));
        is_added || self.place_of(folder).is_some()
    }

    /// Finds the worktree that a conversation names by the hash of its path, as Gemini CLI does.
    fn place_of_project(&self, facts: &ConversationFacts) -> Option<&KnownPlace> {
        let project = facts.said().get("project").and_then(Value::as_text)?;
        let is_hashed = |path: &Path| project == project_hash(path);
        self.places.iter().find(|place| {
            is_hashed(&place.path) || place.path.canonicalize().is_ok_and(|real| is_hashed(&real))
        })
    }

    /// Finds the worktree that a folder lies in.
    fn place_of(&self, folder: &str) -> Option<&KnownPlace> {
        let folder = Path::new(folder);
        if !folder.is_absolute() {
            return None;
        }
        match folder.canonicalize() {
            Ok(real) => {
                if let Some(git) = git_folders(&real).ok()? {
                    let common = git.common.canonicalize().ok();
                    if common.as_deref() != Some(self.space.repository().common_dir()) {
                        return None;
                    }
                }
                self.nearest(&real)
            }
            // Where detours lead that is gone nobody knows.
            Err(_) if is_plain(folder) => self.nearest(folder),
            Err(_) => None,
        }
    }

    fn nearest(&self, folder: &Path) -> Option<&KnownPlace> {
        let is_above = |place: &&KnownPlace| {
            let real = place.path.canonicalize();
            folder.starts_with(&place.path) || real.is_ok_and(|real| folder.starts_with(real))
        };
        let above = self.places.iter().filter(is_above);
        above.max_by_key(|place| place.path.components().count())
    }
}

/// Tells whether a path goes down only.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// Tells whether a folder that a conversation names lies below one, as it is named or where it really is.
fn lies_below(folder: &str, top: &Path) -> bool {
    let folder = Path::new(folder);
    let is_named = is_plain(folder) && folder.starts_with(top);
    let is_there = || {
        let real = folder.canonicalize().ok().filter(|_| folder.is_absolute());
        real.is_some_and(|real| top.canonicalize().is_ok_and(|top| real.starts_with(top)))
    };
    is_named || is_there()
}

/// Hashes the path of a project as Gemini CLI does: SHA-256 of its bytes, in hex.
fn project_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the genesis of an agent, open or archived.
pub(super) fn genesis_of(
    space: &Space,
    agent: &AgentName,
) -> Result<Option<agentic_git::CommitInfo>, CaptureError> {
    let head = match space.repository().find_ref(&agent.branch_ref())? {
        Some(head) => Some(head),
        None => space.repository().archive_entry(agent)?.map(|entry| entry.archived.head),
    };
    let Some(head) = head else { return Ok(None) };
    Ok(space.genesis_below(agent, head)?)
}

/// Lists worktrees that git still knows, whether they are there or not.
fn worktrees_that_were(common_dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    let gitdirs = entries.map(|entry| entry.path().join("gitdir"));
    let paths = gitdirs.filter_map(|path| file::read_text(&path, GITDIR_BYTES_MAX).ok());
    paths.filter_map(|text| Some(Path::new(text.trim()).parent()?.to_owned())).collect()
}

/// Writes the address of a repository without scheme, user and `.git`.
fn plain_url(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let (rest, is_scp) = match url.split_once("://") {
        Some((_, rest)) => (rest, false),
        None => (url, true),
    };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let rest = match rest[..host_end].rfind('@') {
        Some(at) => &rest[at + 1..],
        None => rest,
    };
    // `host:path` is the same as `ssh://host/path`.
    match rest.split_once(':') {
        Some((host, path)) if is_scp && !host.contains('/') => format!("{host}/{path}"),
        Some(_) | None => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_leads_out_of_a_folder_and_into_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let top = folder.path().canonicalize().expect("just made").join("top");
        std::fs::create_dir_all(top.join("inner")).expect("writable");
        let named = |path: &str| lies_below(&format!("{}{path}", top.display()), &top);
        for (path, is_below) in [
            ("", true),
            ("/inner", true),
            ("/gone", true),
            ("/inner/..", true),
            ("/..", false),
            ("/gone/../..", false),
            ("-other", false),
        ] {
            assert_eq!(named(path), is_below, "{path}");
        }
        assert!(!lies_below("inner", &top));
    }

    #[test]
    fn addresses_of_one_repository_are_alike() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://github.com/acme/shop/",
            "https://user:word@github.com/acme/shop",
            "git@github.com:acme/shop.git",
            "ssh://git@github.com/acme/shop",
        ] {
            assert_eq!(plain_url(url), "github.com/acme/shop", "{url}");
        }
        assert_eq!(plain_url("/srv/shop.git"), "/srv/shop");
        assert_ne!(plain_url("https://github.com/acme/other"), "github.com/acme/shop");
    }
}
