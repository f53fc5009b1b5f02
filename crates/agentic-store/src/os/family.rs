//! A child of this process, and every process that it began: what they worked, and their end.
//!
//! They stay in the group of this process: a program of theirs may have to ask a person at the terminal, and what
//! ends our group has to end them, too. So they are found by who began whom, where the system tells that; where it does
//! not, the family is the child alone.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// How many processes a family has at most.
const FAMILY_MAX: usize = 1_000;
/// Where the parent stands among the fields behind the name of a process, and where its processor times begin: its own
/// ones and those of children that have ended.
const PARENT_FIELD: usize = 1;
const TIME_FIELDS: std::ops::Range<usize> = 11..15;
/// How many ticks of processor time a second has.
const TICKS_PER_SECOND: u64 = 100;

/// A child of this process that nobody has waited for yet, and what it began.
#[derive(Debug, Clone, Copy)]
pub struct ProcessFamily {
    root: i32,
}

/// What the system tells of a process.
struct SeenProcess {
    parent: i32,
    ticks: u64,
}

/// A process that is to end.
struct EndingProcess {
    pid: Pid,
    /// It alone, even once its number is another's.
    handle: Option<OwnedFd>,
}

impl ProcessFamily {
    /// Names the family of a child.
    ///
    /// # Panics
    /// Never: the system numbers processes by positive numbers.
    pub fn of(child: &Child) -> ProcessFamily {
        let root = i32::try_from(child.id()).expect("a child has a process id");
        ProcessFamily { root }
    }

    /// Returns how long its processes have worked; nothing where the system does not tell.
    pub fn worked(&self) -> Duration {
        let seen = seen_processes();
        let ticks: u64 = self.members(&seen).iter().map(|pid| seen[pid].ticks).sum();
        Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND)
    }

    /// Ends all of it: asks first, and stops by force what is left after a grace. Somebody has to wait for the child
    /// afterwards.
    pub fn end(&self, grace: Duration) {
        let ending = self.stopped();
        for what in [Signal::TERM, Signal::CONT] {
            ending.iter().for_each(|process| process.signal(what));
        }
        let deadline = Instant::now() + grace;
        for process in &ending {
            process.await_end(deadline);
        }
        ending.iter().for_each(|process| process.signal(Signal::KILL));
    }

    /// Makes its processes stand still, so that none begins another one, and that no number becomes another's: who
    /// stands still waits for no child.
    fn stopped(&self) -> Vec<EndingProcess> {
        let (mut known, mut ending) = (BTreeSet::new(), Vec::new());
        let mut fresh = BTreeSet::from([self.root]);
        while !fresh.is_empty() && known.len() < FAMILY_MAX {
            for pid in std::mem::take(&mut fresh) {
                known.insert(pid);
                let Some(pid) = Pid::from_raw(pid) else { continue };
                let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
                let process = EndingProcess { pid, handle };
                process.signal(Signal::STOP);
                ending.push(process);
            }
            fresh = self.members(&seen_processes()).difference(&known).copied().collect();
        }
        ending
    }

    /// Finds its processes among those that there are.
    fn members(&self, seen: &BTreeMap<i32, SeenProcess>) -> BTreeSet<i32> {
        let (mut members, mut fresh) = (BTreeSet::new(), vec![self.root]);
        while let Some(pid) = fresh.pop() {
            if !seen.contains_key(&pid) || !members.insert(pid) {
                continue;
            }
            fresh.extend(seen.iter().filter(|(_, one)| one.parent == pid).map(|(pid, _)| *pid));
        }
        members
    }
}

impl EndingProcess {
    fn signal(&self, what: Signal) {
        // One that is gone is what is wanted.
        let _ = match &self.handle {
            Some(handle) => pidfd_send_signal(handle, what),
            None => kill_process(self.pid, what),
        };
    }

    /// Waits until it has ended, at most until a moment.
    fn await_end(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        match &self.handle {
            Some(handle) => {
                let left = Timespec::try_from(left).ok();
                let _what_is_left_is_stopped_by_force =
                    poll(&mut [PollFd::new(handle, PollFlags::IN)], left.as_ref());
            }
            None => std::thread::sleep(left),
        }
    }
}

/// Looks at all processes that there are; at none where the system has no `/proc`.
fn seen_processes() -> BTreeMap<i32, SeenProcess> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, seen_process(&String::from_utf8_lossy(&text))?))
    })
    .collect()
}

fn seen_process(stat: &str) -> Option<SeenProcess> {
    // The name may hold anything, parentheses and blanks included.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let parent = fields.get(PARENT_FIELD)?.parse().ok()?;
    let times = fields.get(TIME_FIELDS)?.iter().map(|ticks| ticks.parse::<u64>());
    Some(SeenProcess { parent, ticks: times.sum::<Result<u64, _>>().ok()? })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_with_anything_in_it_hides_no_field() {
        let stat = "7 (a) 1 (b)) S 3 7 7 0 -1 4194560 115 0 0 0 11 5 20 1 20 0 1 0 66 8 9";
        let seen = seen_process(stat).expect("it is whole");
        assert_eq!((seen.parent, seen.ticks), (3, 37));
        assert!(seen_process("7 (a) S 3 7").is_none());
    }

    #[test]
    fn a_child_ends_with_what_it_began_even_if_that_does_not_listen() {
        let script = "trap '' TERM; (echo begun; sleep 600) & sleep 600 & wait; wait";
        let mut command = Command::new("sh");
        let mut child =
            command.args(["-c", script]).stdout(Stdio::piped()).spawn().expect("there is a shell");
        let mut stdout = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        std::io::BufRead::read_line(&mut stdout, &mut line).expect("it speaks");
        let family = ProcessFamily::of(&child);
        let members = || family.members(&seen_processes());
        // Some are begun a moment after that line.
        while members().len() < 3 {
            std::thread::yield_now();
        }
        family.end(Duration::from_millis(50));
        let status = child.wait().expect("it is ours");
        assert!(!status.success());
        // Whoever holds the pipe is gone.
        assert_eq!(std::io::Read::read_to_end(&mut stdout, &mut Vec::new()).expect("it ends"), 0);
    }
}
