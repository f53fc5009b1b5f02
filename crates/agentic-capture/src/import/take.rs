//! Taking one conversation: whose it is, what is new of it, and where that is bound.

use std::cell::RefCell;
use std::time::Duration;

use agentic_model::{AgentName, Entry, Map, Oid, Value};
use agentic_redact::SecretRedactor;
use agentic_session::SessionSpace;
use agentic_space::capture::{AttachedEntries, PendingWriter, note_captured};

use super::belonging::Belonging;
use super::head::{KnownHead, TranscriptHead, began};
use super::order::ConversationTask;
use super::own_agent::hide;
use super::repeated::RepeatedEntries;
use super::whose::TakenBinding;
use super::{
    ConversationImport, ImportMeans, ImportRun, ImportSkip, ImportedConversation, head_of,
};
use crate::bind::adopted_names;
use crate::catch_up::{CatchUpJob, CatchUpLimits, CaughtUp, CopiedConversations};
use crate::conversation::{BindReason, ConversationRecord, QUIET_MS};
use crate::cursor::{CursorOwner, CursorReach, TranscriptCursor};
use crate::hook::end;
use crate::mapping::ConversationMapping;
use crate::mapping::facts::ConversationFacts;
use crate::picture::PictureUse;
use crate::tally::RedactionTally;
use crate::{
    CaptureError, ConversationId, VendorFile, VendorFileRefusal, VendorRoots, live, spool,
};

/// How long the texts of one write are, in bytes; what is longer takes several.
const WRITE_BYTES_MAX: usize = 3 << 19;
/// How long the lock of an agent is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How often a conversation is begun anew since a hook was faster.
const RACES_MAX: usize = 8;

/// Takes conversations.
pub(super) struct Importer<'i> {
    pub(super) space: &'i SessionSpace,
    pub(super) request: &'i ConversationImport<'i>,
    pub(super) belonging: &'i Belonging<'i>,
    roots: &'i VendorRoots,
    redactor: &'i SecretRedactor,
    tasks: &'i [ConversationTask],
    pictures: PictureUse,
    /// Agents of conversations that are over.
    over: Vec<AgentName>,
    /// What a run that writes nothing has seen of conversations that others repeat.
    repeated: RefCell<RepeatedEntries>,
}

/// Whether a conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConversationCourse {
    /// It does, as far as anybody knows.
    GoesOn,
    /// It is over: what is read is bound to this commit, or to the genesis.
    Over(Option<Oid>),
}

/// What one attempt to take a file came to.
enum TakeAttempt {
    /// It is taken: how many entries its lines gave, how many are new, and what they say.
    Done(TakenFile),
    /// A hook has moved the cursor meanwhile.
    Overtaken { n_new: u64 },
}

/// What was read of one file.
struct TakenFile {
    n_entries: u64,
    n_new: u64,
    facts: ConversationFacts,
}

/// A conversation's own transcript, or that of a subagent, with whose it is.
pub(super) type AgentFacts = (AgentName, ConversationFacts);

impl<'i> Importer<'i> {
    pub fn new(
        space: &'i SessionSpace,
        request: &'i ConversationImport<'i>,
        (roots, redactor, belonging): ImportMeans<'i>,
        tasks: &'i [ConversationTask],
    ) -> Importer<'i> {
        let (over, repeated) = (Vec::new(), RefCell::new(RepeatedEntries::of(tasks)));
        let pictures = PictureUse::of(space);
        Importer { space, request, roots, redactor, belonging, tasks, pictures, over, repeated }
    }

    /// Makes the agents private that a batch of conversations will get for its own, in one write.
    pub fn hide_new(&self, tasks: &[ConversationTask]) -> Result<(), CaptureError> {
        if self.request.run == ImportRun::Dry || self.request.agent.is_some() {
            return Ok(());
        }
        let layout = self.space.repository().layout();
        let mut names = Vec::new();
        for task in tasks.iter().filter(|task| task.is_wanted) {
            let own = task.files.first().filter(|head| head.found.subagent.is_none());
            let Some(head) = own.filter(|head| head.parent().is_none()) else { continue };
            if ConversationRecord::load(layout, &task.id).is_some() {
                continue;
            }
            let Ok(file) = self.open(head) else { continue };
            let Ok(head) = head.whole(&file) else { continue };
            let is_adopted = self.belonging.has(&head, &file).unwrap_or(false)
                && self.belonging.agent(&head.facts, began(&head, &file))?.is_none();
            if is_adopted {
                let [first, ..] = adopted_names(&task.id);
                names.push(first);
            }
        }
        hide(self.space, &names)
    }

    /// Archives the agents of the conversations that were taken and are over.
    pub fn close(&mut self) -> Result<(), CaptureError> {
        end::archive_closed(self.space, std::mem::take(&mut self.over))
    }

    /// Takes a conversation with its subagents: each after the one that began it.
    pub fn take(&mut self, task: &ConversationTask, done: &mut Vec<ImportedConversation>) {
        if let Some(code) = task.failed {
            done.push(skipped(task.id.clone(), ImportSkip::Failed(code)));
        }
        let (mut above, mut ahead): (Vec<AgentFacts>, Vec<&KnownHead>) =
            (Vec::new(), task.files.iter().collect());
        while !ahead.is_empty() {
            let is_named = |head: &&KnownHead| match &head.found.subagent {
                Some(id) => above.iter().any(|(_, facts)| facts.children().any(|it| it.0 == id)),
                None => true,
            };
            let next = ahead.iter().position(is_named).unwrap_or(0);
            let head = ahead.remove(next);
            match self.take_file(task, head, &above) {
                Ok((taken, facts)) => {
                    above.extend(taken.agent.clone().zip(facts));
                    done.push(taken);
                }
                Err(error) => {
                    done.push(skipped(told_id(task, head), ImportSkip::Failed(error.code())));
                }
            }
        }
    }

    fn take_file(
        &mut self,
        task: &ConversationTask,
        head: &KnownHead,
        above: &[AgentFacts],
    ) -> Result<(ImportedConversation, Option<ConversationFacts>), CaptureError> {
        let gone = |why: VendorFileRefusal| why.code().unwrap_or("gone");
        let file = self.open(head).map_err(|why| CaptureError::Other { code: gone(why) })?;
        let (told, head) = (told_id(task, head), head.whole(&file)?);
        let bound = match &head.found.subagent {
            Some(subagent) => self.whose_child(task, (&head, &file), (above, subagent))?,
            None => self.whose(task, &head, &file)?,
        };
        let Some(bound) = bound else { return Ok((skipped(told, ImportSkip::Elsewhere), None)) };
        let mut n_new = 0;
        for _ in 0..RACES_MAX {
            match self.attempt(task, (&head, &file), &bound)? {
                TakeAttempt::Done(taken) => {
                    n_new += taken.n_new;
                    if taken.n_entries == 0 && !self.is_there(&bound.agent)? {
                        return Ok((skipped(told, ImportSkip::Empty), Some(taken.facts)));
                    }
                    self.note_over(&bound, &file)?;
                    let (agent, n_entries) = (Some(bound.agent), taken.n_entries);
                    let done =
                        ImportedConversation { id: told, agent, n_entries, n_new, skipped: None };
                    return Ok((done, Some(taken.facts)));
                }
                TakeAttempt::Overtaken { n_new: written } => n_new += written,
            }
        }
        Err(CaptureError::Other { code: "busy" })
    }

    /// Reads what is new of a file, and binds it.
    fn attempt(
        &self,
        task: &ConversationTask,
        (head, file): (&TranscriptHead, &VendorFile),
        bound: &TakenBinding,
    ) -> Result<TakeAttempt, CaptureError> {
        let subagent = head.found.subagent.as_deref();
        let owner = CursorOwner { conversation: &task.id, subagent };
        let mut seen = TranscriptCursor::load(&self.space.repository().layout().capture(), owner);
        if let Some(facts) = self.facts_at_rest(bound, file, seen.as_ref())? {
            return Ok(TakeAttempt::Done(TakenFile { n_entries: 0, n_new: 0, facts }));
        }
        let is_there = self.is_there(&bound.agent)?;
        let job = CatchUpJob {
            space: self.space,
            agent: is_there.then_some(&bound.agent),
            conversation: &task.id,
            subagent,
            speaker: bound.speaker,
            pictures: self.pictures,
            redactor: self.redactor,
            copied: CopiedConversations::These(&task.copied),
            transcript_of: &|other| self.open(head_of(self.tasks, other)?).ok(),
        };
        let pending = || match self.space.head(&bound.agent) {
            Ok(_) => Ok(self.space.pending_trace(&bound.agent)?),
            Err(_) => Ok(Vec::new()),
        };
        let mut open = job.open(file, pending)?;
        let mut course = self.course(bound, file)?;
        if course != ConversationCourse::GoesOn && self.writes() {
            course = ConversationCourse::Over(self.bind_pending(bound, owner)?);
        }
        let mut n_new = 0;
        loop {
            let limits = CatchUpLimits { has_time: &mut || true, bytes_max: WRITE_BYTES_MAX };
            let mut caught = open.next(limits)?;
            let is_last = caught.reach == CursorReach::End;
            if is_last && course != ConversationCourse::GoesOn {
                open.end(&mut caught)?;
            }
            match self.write(bound, (&mut caught, owner, course), &mut seen)? {
                Some(written) => n_new += written,
                None => return Ok(TakeAttempt::Overtaken { n_new }),
            }
            if is_last {
                break;
            }
        }
        if let Some(from) = open.facts().forked_from().filter(|_| n_new > 0 && self.writes()) {
            end::relate_fork(self.space, (&bound.agent, &bound.id), from)?;
        }
        let (n_entries, facts) = (open.n_entries(), open.facts().clone());
        Ok(TakeAttempt::Done(TakenFile { n_entries, n_new, facts }))
    }

    /// Returns what is known of a file that was read to its end and has not changed since.
    fn facts_at_rest(
        &self,
        bound: &TakenBinding,
        file: &VendorFile,
        seen: Option<&TranscriptCursor>,
    ) -> Result<Option<ConversationFacts>, CaptureError> {
        let Some(cursor) = seen else { return Ok(None) };
        let found = file.stamp().map_err(|source| CaptureError::Io { source })?;
        // Whose conversation it was may be gone, and then it begins anew.
        if !cursor.is_at_rest(found) || !self.is_there(&bound.agent)? {
            return Ok(None);
        }
        let mapping = ConversationMapping::restore(bound.id.clone(), &cursor.state);
        Ok(mapping.map(|mapping| mapping.facts().clone()))
    }

    /// Binds what was read to the genesis, under the agent's lock; nothing if a hook was faster. Of a
    /// conversation that goes on it is pending, as if a hook had read it.
    fn write(
        &self,
        bound: &TakenBinding,
        (caught, owner, course): (&mut CaughtUp, CursorOwner<'_>, ConversationCourse),
        seen: &mut Option<TranscriptCursor>,
    ) -> Result<Option<u64>, CaptureError> {
        let n_new = caught.entries.iter().filter(|entry| !entry.continues).count() as u64;
        if !self.writes() {
            return Ok(Some(self.repeated.borrow_mut().count(owner.conversation, &caught.entries)));
        }
        let layout = self.space.repository().layout();
        if caught.entries.is_empty() {
            if self.is_there(&bound.agent)? {
                caught.finish(layout)?;
                *seen = TranscriptCursor::load(&layout.capture(), owner);
            }
            return Ok(Some(0));
        }
        let genesis = self.have(bound)?;
        let goes_on = course == ConversationCourse::GoesOn;
        if goes_on && !caught.pictures.is_empty() {
            self.writer(bound)?.keep_objects(&bound.agent, &caught.pictures)?;
        }
        let mut writer = self.writer(bound)?;
        if TranscriptCursor::load(&layout.capture(), owner) != *seen {
            return Ok(None);
        }
        caught.begin()?;
        agentic_store::fault::point("before-import")?;
        let (said, entries) = (self.captured(bound, caught), std::mem::take(&mut caught.entries));
        let tally = RedactionTally::of(&entries);
        match course {
            ConversationCourse::GoesOn => {
                note_captured(layout, &bound.agent, said)?;
                writer.append(entries)?;
            }
            ConversationCourse::Over(place) => {
                let objects = std::mem::take(&mut caught.pictures);
                let attached = AttachedEntries { entries, captured: vec![said], objects };
                let _written =
                    writer.attach(&bound.agent, place.unwrap_or(genesis), attached)?.written;
            }
        }
        tally.keep(layout, bound.id.source);
        agentic_store::fault::point("imported")?;
        caught.finish(layout)?;
        *seen = TranscriptCursor::load(&layout.capture(), owner);
        Ok(Some(n_new))
    }

    /// Binds what hooks left pending of a conversation: it was said before what is read now. Returns
    /// the commit to which it is bound; nothing where nothing was pending.
    fn bind_pending(
        &self,
        bound: &TakenBinding,
        owner: CursorOwner<'_>,
    ) -> Result<Option<Oid>, CaptureError> {
        let Ok(head) = self.space.head(&bound.agent) else { return Ok(None) };
        let named = owner.conversation.to_string();
        let is_own = |entry: &Entry| {
            let said_by = entry.meta.get("conversation").and_then(Value::as_text);
            said_by == Some(&named)
        };
        // What others left pending waits for a commit of theirs.
        if !self.space.pending_trace(&bound.agent)?.iter().any(is_own) {
            return Ok(None);
        }
        end::attach(self.space, &bound.agent)?;
        Ok(Some(head))
    }

    /// Takes the lock of an agent, and appends what hooks put aside.
    fn writer(&self, bound: &TakenBinding) -> Result<PendingWriter<'_>, CaptureError> {
        let writer = self.space.pending_writer_within(&bound.agent, LOCK_WAIT)?;
        let mut writer = writer.ok_or(CaptureError::Other { code: "busy" })?;
        let layout = self.space.repository().layout();
        spool::drain(layout, &bound.agent, &bound.id, &mut writer)?;
        Ok(writer)
    }

    fn captured(&self, bound: &TakenBinding, caught: &CaughtUp) -> Map {
        let mut said = caught.captured(bound.reason);
        if let Some(parent) = bound.parent.as_ref().filter(|_| !said.contains_key("subagent")) {
            said.insert("parent".to_owned(), Value::text(&parent.native));
        }
        said
    }

    /// Notes an agent that goes to the archive, since its conversation is over.
    fn note_over(&mut self, bound: &TakenBinding, file: &VendorFile) -> Result<(), CaptureError> {
        if !self.writes() {
            return Ok(());
        }
        self.remember(bound)?;
        let is_own =
            bound.reason == BindReason::Parent || end::is_own_agent(&bound.agent, &bound.id);
        if is_own && self.course(bound, file)? != ConversationCourse::GoesOn {
            self.over.push(bound.agent.clone());
        }
        Ok(())
    }

    fn course(
        &self,
        bound: &TakenBinding,
        file: &VendorFile,
    ) -> Result<ConversationCourse, CaptureError> {
        let layout = self.space.repository().layout();
        let parent = bound.parent.as_ref();
        let parent = parent.and_then(|parent| ConversationRecord::load(layout, parent));
        let record = parent.as_ref().or(bound.known.as_ref());
        let Some(record) = record.filter(|record| record.ended.is_none()) else {
            return Ok(ConversationCourse::Over(None));
        };
        let goes_on = match &record.program {
            Some(program) => live::is_alive(program),
            None => {
                let at = file.modified().map_err(|source| CaptureError::Io { source })?;
                self.space.now().millis() - at.millis() < QUIET_MS
            }
        };
        Ok(if goes_on { ConversationCourse::GoesOn } else { ConversationCourse::Over(None) })
    }

    fn open(&self, head: &KnownHead) -> Result<VendorFile, VendorFileRefusal> {
        self.roots.open_found(&head.found, self.space.now())
    }

    fn writes(&self) -> bool {
        self.request.run == ImportRun::Apply
    }
}

fn told_id(task: &ConversationTask, head: &KnownHead) -> ConversationId {
    let native = head.found.subagent.clone().unwrap_or_else(|| task.id.native.clone());
    ConversationId { source: task.id.source, native }
}

fn skipped(id: ConversationId, why: ImportSkip) -> ImportedConversation {
    ImportedConversation { id, agent: None, n_entries: 0, n_new: 0, skipped: Some(why) }
}
