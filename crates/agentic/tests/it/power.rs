//! What survives a power cut, and what the next command makes of it.
//!
//! The disk has what was synced; the store tells which files and folders that were. Of every other
//! file that was written since, the disk may have the old state, nothing, zeros, a part, or all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use agentic_testkit::{FinishedProgram, ProgramEnding};

use crate::stage::{Stage, copy_when_synced, text, watch_syncs};
use crate::state::State;
use crate::verb::Whole;
use crate::walk::for_each_verb;

/// How a verb ends for which it is too late.
const CONFLICT: i32 = 3;

/// How many power cuts every verb suffers, unless `AGENTIC_TEST_CUTS` asks for more.
const CUTS: u64 = 12;

/// The verb before which git deleted a young branch. Until the verb is acknowledged nobody can tell that
/// from a power cut, so that the branch is rightly made again, and reported.
const MADE_AGAIN: &str = "spawn under a name that was free again";

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let wanted: Option<u64> =
        std::env::var("AGENTIC_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let n_cuts = std::env::var("AGENTIC_TEST_CUTS").ok().and_then(|text| text.parse().ok());
    let n_cuts = n_cuts.unwrap_or(CUTS);
    let failures = for_each_verb(|verb| {
        let stage = Stage::new(verb);
        let made_again = (verb.name == MADE_AGAIN).then(|| made_again(&stage));
        let seeds = (0..n_cuts).filter(|seed| wanted.is_none_or(|wanted| wanted == *seed));
        seeds.flat_map(|seed| cut(&stage, made_again.as_ref(), seed)).collect()
    });
    println!("{n_cuts} power cuts for every verb");
    assert!(failures.is_empty(), "{} broken promises:\n{}", failures.len(), failures.join("\n"));
}

/// Tells what a restart that loses nothing makes of what stands before a verb.
fn made_again(stage: &Stage<'_>) -> State {
    stage.rewind();
    restart(stage);
    let next = stage.next_command();
    assert!(says_made_again(&next), "{}", text(&next));
    State::read(&stage.sandbox)
}

fn restart(stage: &Stage<'_>) {
    fs::write(stage.sandbox.start().join(".git/agentic/boot"), "another").ok();
}

fn says_made_again(finished: &FinishedProgram) -> bool {
    text(finished).contains("made the branch again")
}

/// Runs a verb, cuts the power, and says what is broken after the next command.
fn cut(stage: &Stage<'_>, made_again: Option<&State>, seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash(stage.verb.name));
    stage.rewind();
    let root = stage.sandbox.root();
    let (log, synced) = (root.join("synced.log"), root.join("synced"));
    let _absent_is_fine = fs::remove_file(&log);
    let _absent_is_fine = fs::remove_dir_all(&synced);
    let copy = copy_when_synced(&stage.sandbox, "synced");
    let log_name = log.to_string_lossy().into_owned();
    let mut variables = watch_syncs(&log_name, &copy);
    // Every other cut happens while the verb is at work.
    let at = format!("*:{}", 1 + random.below(24));
    if seed % 2 == 1 {
        variables.push(("AGENTIC_CRASH_AT", at.as_str()));
    }
    let finished = stage.run(&variables);
    // Now and then nothing at all has reached the disk by itself since the repository was made.
    let is_deep = seed % 4 == 2;
    let journalled = match is_deep {
        true => Synced::read(&[root.join("before.log"), log]),
        false => Synced::read(&[log]),
    };
    let candidates = match is_deep {
        true => [synced, root.join("before-synced"), root.join("base")],
        false => [synced, root.join("before"), root.join("before")],
    };
    let durable = candidates.into_iter().find(|folder| folder.exists()).expect("saved");
    lose(stage, &durable, journalled, &mut random);
    restart(stage);
    let broken = check(stage, made_again, finished.ending == ProgramEnding::Exit(0));
    let name = |line: String| format!("seed {seed} ({}): {line}", text(&finished));
    broken.into_iter().map(name).collect()
}

fn check(stage: &Stage<'_>, made_again: Option<&State>, is_acknowledged: bool) -> Vec<String> {
    let mut broken = Vec::new();
    let next = stage.next_command();
    if next.ending != ProgramEnding::Exit(0) {
        broken.push(format!("the next command fails: {}", text(&next)));
        return broken;
    }
    let found = State::read(&stage.sandbox);
    if !is_acknowledged && made_again == Some(&found) {
        if !says_made_again(&next) {
            broken.push(format!("nobody is told what was made again: {}", text(&next)));
        }
        broken.extend(stage.check_sound());
        let again = stage.run(&[]);
        if again.ending != ProgramEnding::Exit(CONFLICT) || State::read(&stage.sandbox) != found {
            broken.push(format!("the repetition says: {}", text(&again)));
        }
        return broken;
    }
    let is_before = found == stage.before && !is_acknowledged;
    if found != stage.after && !is_before && stage.verb.whole == Whole::Always {
        broken.extend(stage.after.difference("afterwards", &found));
        broken.push(format!("recovery said: {}", text(&next)));
    }
    if is_acknowledged && stage.verb.whole == Whole::EachPart {
        broken.extend(stage.after.difference("afterwards", &found));
    }
    broken.extend(stage.check_sound());
    // The doctor opens journals that nothing marked: their first record may have reached the disk
    // without the mark. What nobody was told of may come to light then, whole.
    let found = if found == stage.before { State::read(&stage.sandbox) } else { found };
    if found != stage.before && found != stage.after && stage.verb.whole == Whole::Always {
        broken.extend(stage.after.difference("after the doctor", &found));
    }
    broken.extend(stage.check_again(&found));
    broken.extend(stage.check_sound());
    broken
}

/// What the store synced: how much of which file, and the entries of which folders.
#[derive(Default)]
struct Synced {
    lengths: BTreeMap<PathBuf, u64>,
    /// What has another name now, oldest first.
    renames: Vec<Rename>,
}

/// A new name.
struct Rename {
    from: PathBuf,
    to: PathBuf,
    /// Whether the disk has it: the folder of the new name was synced since.
    is_durable: bool,
}

impl Synced {
    fn read(logs: &[PathBuf]) -> Synced {
        let mut synced = Synced::default();
        for log in logs {
            let text = fs::read_to_string(log).unwrap_or_default();
            text.lines().filter_map(|line| line.split_once(' ')).for_each(|it| synced.take_in(it));
        }
        synced
    }

    fn take_in(&mut self, (what, path): (&str, &str)) {
        if let Some((from, to)) = path.split_once('\t').filter(|_| what == "renamed") {
            let (from, to) = (PathBuf::from(from), PathBuf::from(to));
            self.move_lengths(&from, &to);
            self.renames.push(Rename { from, to, is_durable: false });
        } else if let Ok(length) = what.parse() {
            let path = PathBuf::from(path);
            for rename in &mut self.renames {
                rename.is_durable |= rename.to.parent() == Some(&path);
            }
            self.lengths.insert(path, length);
        }
    }

    fn move_lengths(&mut self, from: &Path, to: &Path) {
        let lengths = std::mem::take(&mut self.lengths).into_iter();
        let moved = |(path, length): (PathBuf, u64)| (moved(&path, from, to), length);
        self.lengths = lengths.map(moved).collect();
    }

    /// Takes the newest names back of which the disk may not know, as many as it happens.
    fn take_names_back(&mut self, random: &mut Random) {
        while self.renames.last().is_some_and(|last| !last.is_durable) && random.below(2) == 0 {
            let Rename { from, to, .. } = self.renames.pop().expect("there is one");
            fs::rename(&to, &from).expect("the old name is free");
            self.move_lengths(&to, &from);
        }
    }

    /// Tells what a file was called before everything.
    fn first_name(&self, path: &Path) -> PathBuf {
        let back = |path: PathBuf, rename: &Rename| moved(&path, &rename.to, &rename.from);
        self.renames.iter().rev().fold(path.to_owned(), back)
    }
}

/// Returns the path of something whose folder has another name now, or had it.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    path.strip_prefix(from).map_or_else(|_| path.to_owned(), |rest| to.join(rest))
}

/// Takes from the disk what was never synced.
fn lose(stage: &Stage<'_>, durable: &Path, mut synced: Synced, random: &mut Random) {
    synced.take_names_back(random);
    let work = &stage.sandbox.repositories();
    let mut files = BTreeSet::new();
    let git_dir = stage.sandbox.start().join(".git");
    list(work, git_dir.strip_prefix(work).expect("inside"), &mut files);
    for relative in &files {
        let now = work.join(relative);
        let first = synced.first_name(&now);
        let before = durable.join(first.strip_prefix(work).expect("inside"));
        let written = fs::read(&now).expect("readable");
        let old = fs::read(&before).ok();
        if old.as_ref() == Some(&written) || is_not_ours(relative) {
            continue;
        }
        let is_named = is_named(&now, &before, work, durable, &synced);
        let kept = synced.lengths.get(&now).map_or(0, |length| *length as usize);
        let mut fate = PendingOutcome::choose(random);
        let is_listed = now.parent().is_some_and(|above| synced.lengths.contains_key(above));
        if is_listed && old.is_none() && matches!(fate, PendingOutcome::Lost) {
            fate = PendingOutcome::Empty;
        }
        match fate.apply(&written, old.as_deref(), kept, is_named, random) {
            Some(bytes) => fs::write(&now, bytes).expect("writable"),
            None => fs::remove_file(&now).expect("removable"),
        }
    }
}

/// Tells whether the name of a file, and those of the folders above it, are on the disk.
fn is_named(now: &Path, before: &Path, work: &Path, durable: &Path, synced: &Synced) -> bool {
    if before.exists() || now == work || before == durable {
        return true;
    }
    let (Some(above), Some(above_before)) = (now.parent(), before.parent()) else { return true };
    synced.lengths.contains_key(above) && is_named(above, above_before, work, durable, synced)
}

/// How the names of packs begin that the store makes.
const OUR_PACKS: &str = "/objects/pack/pack-a6e77c5";

/// Files that no promise is about: those that git alone writes. It syncs its packs itself.
fn is_not_ours(relative: &Path) -> bool {
    let text = relative.to_string_lossy();
    let ours = ["/objects/", "/refs/", "/logs/refs/", "/agentic/", "/agentic-base", "/index"];
    let is_packed = text.contains("/objects/pack/") && !text.contains(OUR_PACKS);
    is_packed || !ours.iter().any(|part| text.contains(part))
}

/// What becomes of a file that was not synced.
#[derive(Debug, Clone, Copy)]
enum PendingOutcome {
    Kept,
    Lost,
    Empty,
    Half,
    Zeros,
}

impl PendingOutcome {
    fn choose(random: &mut Random) -> PendingOutcome {
        match random.below(8) {
            0..=2 => PendingOutcome::Kept,
            3..=4 => PendingOutcome::Lost,
            5 => PendingOutcome::Empty,
            6 => PendingOutcome::Half,
            _ => PendingOutcome::Zeros,
        }
    }

    /// Returns what the disk has of a file; nothing if it has no such file. What was synced stays,
    /// and what a longer file had before it grew.
    fn apply(
        self,
        written: &[u8],
        old: Option<&[u8]>,
        synced: usize,
        is_named: bool,
        random: &mut Random,
    ) -> Option<Vec<u8>> {
        let grew = old.is_some_and(|old| written.starts_with(old) && !old.is_empty());
        let kept = if grew { synced.max(old.map_or(0, <[u8]>::len)) } else { synced };
        let kept = kept.min(written.len());
        let rest = &written[kept..];
        let tail = match self {
            PendingOutcome::Kept => rest.to_vec(),
            PendingOutcome::Lost | PendingOutcome::Empty => Vec::new(),
            PendingOutcome::Half => rest[..random.below(rest.len() as u64 + 1) as usize].to_vec(),
            PendingOutcome::Zeros => vec![0; rest.len()],
        };
        if kept == 0 && matches!(self, PendingOutcome::Lost) {
            return old.map(<[u8]>::to_vec);
        }
        if !is_named && !matches!(self, PendingOutcome::Kept) {
            return None;
        }
        Some([&written[..kept], &tail].concat())
    }
}

fn list(root: &Path, below: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(root.join(below)).expect("readable").flatten() {
        let relative = below.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(root, &relative, files);
        } else {
            files.insert(relative);
        }
    }
}

/// A small generator; the same seed gives the same cut.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(7, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)))
}
