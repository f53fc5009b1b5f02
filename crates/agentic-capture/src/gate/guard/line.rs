//! Lines of shell that change what is guarded, as far as they say so plainly: they name it, and start a
//! program that is not known only to read what it names.

use std::path::{Component, Path, PathBuf};

use regex::Regex;

use super::GuardedFiles;
use crate::gate::rule::{HeldCall, of_glob};
use crate::gate::shell::{ShellCommand, commands_of};
use crate::gate::tool;

/// The programs that only read the files they name.
const READERS: [&str; 66] = [
    ".",
    "[",
    "[[",
    "ack",
    "ag",
    "agentic",
    "b2sum",
    "basename",
    "bat",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "dir",
    "dirname",
    "du",
    "echo",
    "egrep",
    "export",
    "fgrep",
    "file",
    "fold",
    "gc",
    "gci",
    "get-childitem",
    "get-content",
    "get-item",
    "grep",
    "head",
    "hexdump",
    "join",
    "jq",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "rg",
    "select-string",
    "sha1sum",
    "sha256sum",
    "source",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "test-path",
    "tree",
    "type",
    "wc",
    "which",
    "xxd",
];
/// What git does with files that it names and leaves as they are.
const GIT_READERS: [&str; 15] = [
    "add",
    "annotate",
    "blame",
    "cat-file",
    "check-ignore",
    "commit",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "show",
    "status",
];
/// What git does with all files below a folder, so that a folder of everything says nothing of one.
const GIT_RESTORERS: [&str; 4] = ["checkout", "reset", "restore", "stash"];
/// The programs that take away what lies in a folder that they name.
const REMOVERS: [&str; 13] = [
    "del",
    "git",
    "mi",
    "move-item",
    "mv",
    "rd",
    "remove-item",
    "ri",
    "rm",
    "rmdir",
    "shred",
    "trash",
    "unlink",
];
/// The programs that change the last file they name, and read the others.
const COPIERS: [&str; 5] = ["copy-item", "cp", "install", "rsync", "scp"];
/// How many folders a line may go into that are told apart.
const FOLDERS_MAX: usize = 16;

/// How a program changes what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeReach {
    /// The file itself.
    File,
    /// With a folder all that lies in it.
    Folder,
}

impl GuardedFiles {
    /// Tells whether a line of shell would change one of the files, or take the gate away.
    pub(super) fn are_changed_by_line(&self, line: &str, call: &HeldCall<'_>) -> bool {
        let line = match tool::common_name(call.source, call.tool) {
            "PowerShell" => line.replace('\\', "/"),
            _ => line.to_owned(),
        };
        let mut folders = vec![call.folder.to_owned()];
        commands_of(&line).iter().any(|command| {
            go_into(command, &mut folders, call.home);
            let program = command.program().to_ascii_lowercase();
            let reach = match REMOVERS.contains(&program.as_str()) {
                true => ChangeReach::Folder,
                false => ChangeReach::File,
            };
            let is_guarded = |word: &String, reach| {
                let here = folders.iter().flat_map(|folder| resolved(word, folder, call.home));
                here.flat_map(|path| tool::places(&path)).any(|path| self.is_hit(&path, reach))
            };
            unwires(command)
                || command.written.iter().any(|word| is_guarded(word, ChangeReach::Folder))
                || changed(command, &program).iter().any(|word| is_guarded(word, reach))
        })
    }

    /// Tells whether a path, in which a shell may find patterns, leads to something that is guarded.
    fn is_hit(&self, path: &Path, reach: ChangeReach) -> bool {
        let inside =
            self.checkouts.iter().flat_map(|top| self.inside.iter().map(|it| top.join(it)));
        let settings = self.git.iter().map(|git| git.join("config"));
        let parts: Vec<Component<'_>> = path.components().collect();
        self.files.iter().cloned().chain(inside).chain(settings).any(|guarded| {
            let wanted: Vec<Component<'_>> = guarded.components().collect();
            let fits = wanted.len() >= parts.len()
                && wanted.iter().zip(&parts).all(|(wanted, part)| is_part(wanted, part));
            let is_it = wanted.len() == parts.len();
            // A git directory is no file: to name it changes nothing in it.
            let is_named = is_it && !(reach == ChangeReach::File && guarded.ends_with(".git"));
            let is_literal = path == guarded;
            fits && (is_named || reach == ChangeReach::Folder) && (is_literal || guarded.exists())
        })
    }
}

/// Tells whether a part of a path is a part of another, or a pattern for it.
fn is_part(wanted: &Component<'_>, part: &Component<'_>) -> bool {
    let text = |part: &Component<'_>| part.as_os_str().to_string_lossy().into_owned();
    let (wanted, part) = (text(wanted), text(part));
    if wanted == part {
        return true;
    }
    // A pattern finds no name with a point before it, unless it begins with one itself.
    let is_pattern =
        part.contains(['*', '?', '[']) && part.starts_with('.') == wanted.starts_with('.');
    // What a bracket holds is not looked at.
    let plain = part.split('[').next().unwrap_or_default().to_owned();
    let plain = if part.contains('[') { plain + "*" } else { part };
    is_pattern && Regex::new(&of_glob(&plain)).is_ok_and(|pattern| pattern.is_match(&wanted))
}

/// Tells whether a command takes the wiring out, or writes it anew.
fn unwires(command: &ShellCommand) -> bool {
    let words: Vec<&str> = command.arguments().iter().map(String::as_str).collect();
    let has = |wanted: &str| words.iter().any(|word| word.split('=').next() == Some(wanted));
    command.program() == "agentic"
        && (words.windows(2).any(|pair| pair == ["capture", "off"])
            || (has("init") && has("--agents")))
}

/// Lists the words of a command that name files which it may change.
fn changed(command: &ShellCommand, program: &str) -> Vec<String> {
    let words = command.arguments();
    let has =
        |begins: &[&str]| words.iter().any(|word| begins.iter().any(|it| word.starts_with(it)));
    let has_letter = |letter| {
        let is_option = |word: &String| word.starts_with('-') && !word.starts_with("--");
        words.iter().any(|word| is_option(word) && word.contains(letter))
    };
    let only_reads = READERS.contains(&program)
        || command.is_shell()
        || match program {
            "sed" => !has_letter('i') && !has(&["--in-place"]),
            "sort" | "uniq" => !has_letter('o') && !has(&["--output"]),
            "awk" | "gawk" | "mawk" => !words.iter().any(|it| it.contains('>') || it == "inplace"),
            "find" => !has(&["-delete", "-exec", "-ok", "-fprint", "-fls"]),
            "git" => GIT_READERS.contains(&git_verb(words)),
            _ => false,
        };
    if only_reads {
        return Vec::new();
    }
    let mut named: Vec<String> =
        words.iter().filter(|word| !word.starts_with('-')).cloned().collect();
    if program == "git" && GIT_RESTORERS.contains(&git_verb(words)) {
        named.retain(|word| word != "." && word != ":/");
    }
    let values = words.iter().filter_map(|word| Some(word.split_once('=')?.1.to_owned()));
    let values: Vec<String> = values.collect();
    let last = named.last().cloned();
    // Into a folder goes what has the name of the file.
    let name = |word: &String| Some(word.trim_end_matches('/').rsplit('/').next()?.to_owned());
    let moved = last.iter().flat_map(|last| {
        named
            .iter()
            .filter_map(name)
            .map(move |name| format!("{}/{name}", last.trim_end_matches('/')))
    });
    let moved: Vec<String> = moved.collect();
    if COPIERS.contains(&program) {
        named = last.into_iter().collect();
    }
    [named, values, moved].concat()
}

/// Returns what git is asked to do.
fn git_verb(words: &[String]) -> &str {
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return word,
        }
    }
    ""
}

/// Goes where a command leads those behind it, and stays where it was too: nobody knows whether it works.
fn go_into(command: &ShellCommand, folders: &mut Vec<PathBuf>, home: Option<&Path>) {
    let words = command.arguments();
    let goes = matches!(command.program(), "cd" | "pushd" | "Set-Location");
    let told = words.windows(2).filter(|pair| pair[0] == "-C").map(|pair| &pair[1]);
    let targets = words.iter().filter(|word| goes && !word.starts_with('-')).chain(told);
    let targets: Vec<&String> = targets.collect();
    for target in targets {
        let there = folders.iter().flat_map(|folder| resolved(target, folder, home));
        let there: Vec<PathBuf> = there.filter(|it| !folders.contains(it)).collect();
        folders.extend(there);
        folders.truncate(FOLDERS_MAX);
    }
}

/// Returns the paths that a word may be. Of one that begins with a variable nobody knows the beginning.
fn resolved(word: &str, folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let known = [
        ("$PWD", Some(folder)),
        ("${PWD}", Some(folder)),
        ("$HOME", home),
        ("${HOME}", home),
        ("~", home),
    ];
    let behind = known.iter().find_map(|(name, path)| {
        let rest = word.strip_prefix(name)?;
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
        Some(path.as_ref()?.join(rest))
    });
    if let Some(path) = behind {
        return vec![path];
    }
    let rest =
        word.rsplit_once(['$', ')', '`']).and_then(|(_, rest)| Some(rest.split_once('/')?.1));
    [Some(word), rest].into_iter().flatten().map(|word| folder.join(word)).collect()
}

#[cfg(test)]
mod tests;
