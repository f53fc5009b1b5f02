//! What configures or starts programs: tools and memories neither read nor write it.
//!
//! A program that could write its own configuration could start whatever it likes, and one that
//! reads git's folder finds what people put into addresses there. A name counts in every spelling
//! that some file system takes for the same.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType};

/// The names, as [`folded`] gives them.
const NAMES: [&str; 4] = [".git", "agentic.toml", "agentscript.mcp.json", ".mcp.json"];
/// How other names begin that are ours.
const OWN: &str = ".agentic";
/// How the short names begin that Windows gives to these.
const SHORT: [&str; 4] = ["git~", "agenti~", "agents~", "mcp~"];
/// What a folder of git holds, whatever its name is.
const GIT_FOLDERS: [&str; 2] = ["objects", "refs"];

/// Tells whether a name, in any spelling, is one of a file or folder that configures or starts
/// programs.
pub fn is_guarded(name: &str) -> bool {
    let name = folded(name);
    let is_short = SHORT.iter().any(|start| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    });
    NAMES.contains(&name.as_str()) || name.starts_with(OWN) || is_short
}

/// Tells whether a path leads through or to something that configures or starts programs, by its
/// names alone.
pub fn is_guarded_path(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => is_guarded(&name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            false
        }
    })
}

/// Tells whether an open folder is one of git, such as that of a bare repository.
pub(super) fn is_git_folder(folder: &OwnedFd) -> bool {
    let kind = |name: &str| {
        let stat = rustix::fs::statat(folder.as_fd(), name, AtFlags::empty()).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    };
    kind("HEAD").is_some() && GIT_FOLDERS.iter().all(|name| kind(name) == Some(FileType::Directory))
}

/// Tells whether a folder lies in one of git, and not in a worktree that somebody keeps there.
pub fn lies_in_git(folder: &Path) -> bool {
    let holds = |folder: &Path, name: &str| folder.join(name).symlink_metadata().is_ok();
    let is_git = |folder: &Path| ["HEAD", "objects", "refs"].iter().all(|name| holds(folder, name));
    let found = folder.ancestors().find(|folder| holds(folder, ".git") || is_git(folder));
    found.is_some_and(|folder| !holds(folder, ".git"))
}

/// Writes a name as file systems compare it that know no case, leave out what does not show, and
/// drop what stands at the end: a guarded name keeps nothing of what it was dressed up with.
fn folded(name: &str) -> String {
    // A second stream of a file is the same file.
    let name = name.split(':').next().unwrap_or_default();
    let shown = name.chars().filter(|letter| !is_unseen(*letter)).map(plain);
    // Both ways: `ſ` is an `S`, and the sign of the kelvin is a `k`.
    let upper = shown.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let text: String = upper.filter(|letter| !is_unseen(*letter)).collect();
    text.trim_end_matches(['.', ' ']).trim_start_matches(' ').to_owned()
}

/// Letters that a file system may leave out of a comparison: marks on others, joiners, controls.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters that are others in disguise: wide ones, and one dot as a letter of its own.
fn plain(letter: char) -> char {
    const WIDE: u32 = 0xff00 - 0x20;
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - WIDE).unwrap_or(letter),
        '\u{2024}' | '\u{fe52}' | '\u{3002}' => '.',
        '\u{a0}' | '\u{3000}' => ' ',
        '\u{131}' => 'i',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_name_is_known_in_any_spelling() {
        let check = |name: &str, wanted: bool| assert_eq!(is_guarded(name), wanted, "{name:?}");
        for name in [
            ".git",
            ".GIT",
            ".Git.",
            ".git ",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "git~1",
            "agentic.toml",
            "AGENTIC.TOML",
            "agentic.toml. .",
            "agentıc.toml",
            "agentİc.toml",
            "agentſcript.mcp.json",
            "AGENTI~1.TOM",
            "agentic.toml::$DATA",
            "ａgentic．toml",
            "agenti\u{301}c.toml",
            ".agentic",
            ".agentic-x",
            ".Agentic.d",
            ".mcp.json",
            ".MCP.json",
        ] {
            check(name, true);
        }
        for name in [
            "git",
            ".gitignore",
            ".github",
            "agentic",
            "agentic.tom",
            "my-agentic.toml",
            "mcp.json",
            "agents",
            "x.git",
            "",
        ] {
            check(name, false);
        }
        assert!(is_guarded_path(Path::new("a/../.git/x")));
        assert!(!is_guarded_path(Path::new("/a/b/../c")));
    }
}
