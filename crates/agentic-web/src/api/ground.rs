//! What answers derive from, as one mark: as long as that is the same, so is the answer, and no verb has
//! to be asked for it.
//!
//! A mark is made before the verb is asked. What is written meanwhile makes another mark, so that an
//! answer is never taken for one of a state that came after it.

use agentic_api::Refusal;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Instant};
use agentic_resident::journal_mark;
use agentic_session::outlook::Permanence;
use agentic_session::{AgentBranch, SessionSpace};
use agentic_space::kind::REGISTRY_REF;

use super::call::ApiCall;

/// How many digits of its hash a mark has.
const MARK_DIGITS: usize = 32;
/// How many digits the whole id of a commit has.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Something that answers derive from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundPart {
    /// All refs.
    Refs,
    /// The branch of the agent that the address names, its notes and its journal.
    Agent,
    /// The commit that the address names, and what says whether it is a decision.
    Commit,
    /// The sessions that the address names.
    NamedSessions,
    /// The sessions that are not over.
    OpenSessions,
    /// All sessions.
    Sessions,
    /// The journals of all agents.
    Journals,
    /// The index of texts.
    Texts,
}

/// What an answer derives from, and when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroundTag {
    /// The mark.
    mark: String,
    /// When it was made, in milliseconds; nothing where that does not matter.
    from: Option<i64>,
    /// When the answer changes by itself.
    until: Option<i64>,
}

impl GroundTag {
    /// Marks what an answer derives from; nothing where it may change although nothing is written, and
    /// where it cannot be told.
    pub fn of(call: &ApiCall<'_>, salt: &str, parts: &[GroundPart]) -> Option<GroundTag> {
        let now = call.caller.space.now();
        let mut marking = GroundMarking::begin(call, salt);
        for part in parts {
            marking.take(*part).ok()??;
        }
        let mark = marking.hasher.finalize().to_hex()[..MARK_DIGITS].to_owned();
        Some(GroundTag { mark, from: Some(now.millis()), until: None })
    }

    /// Says for how long the answer is the same while nothing is written; nothing means not at all.
    pub fn lasting(mut self, permanence: Permanence) -> Option<GroundTag> {
        match permanence {
            Permanence::Moves => return None,
            Permanence::Until(end) => self.until = Some(end.millis()),
            // Whatever the clock says.
            Permanence::Still => self.from = None,
        }
        Some(self)
    }

    /// Tells whether an answer with another tag still is the one that would be given now.
    pub fn is_reached_by(&self, known: &GroundTag, now: Instant) -> bool {
        let now = now.millis();
        let is_within = known.from.is_none_or(|from| from <= now)
            && known.until.is_none_or(|until| now < until);
        is_within && self.mark == known.mark
    }

    /// Writes it as a part of a tag.
    pub fn text(&self) -> String {
        let instant = |at: Option<i64>| at.map(|at| at.to_string()).unwrap_or_default();
        format!("{}.{}.{}", self.mark, instant(self.from), instant(self.until))
    }

    /// Reads what was written so.
    pub fn read(text: &str) -> Option<GroundTag> {
        let mut parts = text.split('.');
        let instant = |text: &str| match text {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        let (mark, from, until) = (parts.next()?, instant(parts.next()?)?, instant(parts.next()?)?);
        let mark = mark.to_owned();
        parts.next().is_none().then_some(GroundTag { mark, from, until })
    }
}

/// A mark that is being made. Each part says nothing where it cannot be told.
struct GroundMarking<'m, 'c> {
    call: &'m ApiCall<'c>,
    space: &'m SessionSpace,
    hasher: blake3::Hasher,
}

/// Whether a part was taken.
type PartTaken = Result<Option<()>, Refusal>;

impl<'m, 'c> GroundMarking<'m, 'c> {
    fn begin(call: &'m ApiCall<'c>, salt: &str) -> GroundMarking<'m, 'c> {
        let space = call.caller.space;
        let mut marking = GroundMarking { call, space, hasher: blake3::Hasher::new() };
        marking.put(&[salt, call.asker, &space.repository().configuration_mark()]);
        for (name, value) in call.path.iter().chain(&call.query) {
            marking.put(&[name, value]);
        }
        marking
    }

    fn put(&mut self, words: &[&str]) {
        for word in words {
            self.hasher.update(&(word.len() as u64).to_le_bytes()).update(word.as_bytes());
        }
    }

    fn put_number(&mut self, number: u64) {
        self.hasher.update(&number.to_le_bytes());
    }

    fn take(&mut self, part: GroundPart) -> PartTaken {
        self.put(&[&format!("{part:?}")]);
        match part {
            GroundPart::Refs => self.take_refs(),
            GroundPart::Agent => self.take_agent(),
            GroundPart::Commit => self.take_commit(),
            GroundPart::NamedSessions => self.take_named_sessions(),
            GroundPart::OpenSessions => self.take_open_sessions(),
            GroundPart::Sessions => self.take_sessions(),
            GroundPart::Journals => self.take_journals(),
            GroundPart::Texts => {
                self.put_number(self.call.index.text_revision());
                Ok(Some(()))
            }
        }
    }

    fn take_refs(&mut self) -> PartTaken {
        self.hasher.update(self.space.repository().refs_mark()?.as_bytes());
        Ok(Some(()))
    }

    fn take_ref(&mut self, name: &str) -> PartTaken {
        let found = self.space.repository().find_ref(name)?;
        let found = found.map(|oid| oid.to_string()).unwrap_or_default();
        self.put(&[name, &found]);
        Ok(Some(()))
    }

    fn take_branch(&mut self, branch: &AgentBranch) -> PartTaken {
        self.take_ref(&branch.branch_ref())?;
        self.take_ref(&branch.notes_ref())?;
        // What a remote's branch is called here, one of ours may be called too.
        self.take_ref(&branch.agent.branch_ref())?;
        self.put_number(journal_mark(self.space, branch.agent.as_str()).unwrap_or_default());
        Ok(Some(()))
    }

    fn take_agent(&mut self) -> PartTaken {
        let branch = self.call.caller.branch(Some(&self.call.part("agent")))?;
        self.take_ref(REGISTRY_REF)?;
        self.take_branch(&branch)
    }

    fn take_commit(&mut self) -> PartTaken {
        let name = self.call.part("commit");
        let is_whole = COMMIT_DIGITS.contains(&name.len())
            && name.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_whole {
            // What a part of an id names may be something else tomorrow.
            return Ok(None);
        }
        let repository = self.space.repository();
        let commit = repository.resolve_commit(&name)?;
        let read = self.space.read_commit(commit)?;
        self.put(&[&commit.to_string()]);
        if let Some(agent) = Claims::read(&read.message).agent {
            self.put_number(journal_mark(self.space, agent.as_str()).unwrap_or_default());
        }
        Ok(Some(()))
    }

    fn take_named_sessions(&mut self) -> PartTaken {
        for name in ["session", "other"].map(|part| self.call.part(part)) {
            if name.is_empty() {
                continue;
            }
            let id = self.space.find_session(&name)?;
            let agent = self.space.agent_of_session(&id)?;
            self.put(&[&id.to_string()]);
            self.put_number(self.space.open_log_bytes(&id).unwrap_or(u64::MAX));
            self.take_branch(&AgentBranch::here(agent))?;
        }
        Ok(Some(()))
    }

    fn take_open_sessions(&mut self) -> PartTaken {
        let mut open = self.space.open_sessions_here()?;
        open.sort();
        for id in open {
            self.put(&[&id.to_string()]);
            self.put_number(self.space.open_log_bytes(&id).unwrap_or(u64::MAX));
        }
        Ok(Some(()))
    }

    fn take_sessions(&mut self) -> PartTaken {
        for id in self.space.sessions_here()? {
            self.put(&[&id.to_string()]);
        }
        self.take_open_sessions()
    }

    fn take_journals(&mut self) -> PartTaken {
        let folders = std::fs::read_dir(self.space.repository().layout().journals());
        let folders = folders.into_iter().flatten().flatten();
        let mut names: Vec<AgentName> = folders
            .filter_map(|folder| AgentName::parse(folder.file_name().to_str()?).ok())
            .collect();
        names.sort();
        for name in names {
            self.put(&[name.as_str()]);
            self.put_number(journal_mark(self.space, name.as_str()).unwrap_or_default());
        }
        Ok(Some(()))
    }
}

#[cfg(test)]
mod tests {
    use agentic_model::Instant;

    use super::GroundTag;

    fn tag(from: Option<i64>, until: Option<i64>) -> GroundTag {
        GroundTag { mark: "00ff".to_owned(), from, until }
    }

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        for one in [tag(None, None), tag(Some(-5), Some(9))] {
            assert_eq!(GroundTag::read(&one.text()), Some(one));
        }
        for wrong in ["", "00ff", "00ff.x.", "00ff.1", "00ff.1.2.3", "00ff.1.x"] {
            assert_eq!(GroundTag::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_answer_that_ages_is_known_for_its_time_alone() {
        let (now, known) = (tag(Some(7), None), tag(Some(5), Some(9)));
        for (millis, is_reached) in [(4, false), (5, true), (8, true), (9, false)] {
            let at = Instant::from_millis(millis);
            assert_eq!(now.is_reached_by(&known, at), is_reached, "{millis}");
        }
        let other = GroundTag { mark: "ff00".to_owned(), ..tag(Some(5), Some(9)) };
        assert!(!now.is_reached_by(&other, Instant::from_millis(6)));
    }
}
