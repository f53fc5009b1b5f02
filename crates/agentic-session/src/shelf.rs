//! Pinned programs, and the objects that they consist of.

use std::cell::RefCell;

use agentic_host::{Observer, Performer, PerformerSetting, RunSetting};
use agentic_lang_agent::TraceCapture;
use agentic_model::{Cid, Object};
use agentic_replay::record::is_allowed;
use agentic_replay::{Engine, Language, PinnedProgram, Places, Program, ProgramFault, TraceDetail};

use super::children::run_id;
use super::folder::Folder;
use super::language::{language_of, of_fault, registered};
use crate::{Result, SessionSpace};

/// Where the parts of a program are found.
#[derive(Clone, Copy)]
pub(crate) struct Shelf<'a> {
    /// The space.
    pub space: &'a SessionSpace,
    /// The folder of the session that runs it.
    pub folder: &'a Folder,
    /// Parts that are kept nowhere yet.
    pub given: &'a [Object],
}

impl Shelf<'_> {
    fn object(&self, cid: &Cid) -> Result<Object> {
        match self.given.iter().find(|part| part.cid() == *cid) {
            Some(part) => Ok(part.clone()),
            None => flow_of(self.space, self.folder, cid),
        }
    }

    /// Reads the parts that the object of a program names.
    pub fn parts(&self, flow: &Object) -> Result<Vec<Object>> {
        language_of(flow)?.parts(flow).iter().map(|cid| self.object(cid)).collect()
    }

    /// Returns what is kept beside a program.
    pub fn beside(&self, flow: &Object) -> Result<Vec<Object>> {
        self.today(flow, |language, pinned| language.beside(pinned))
    }

    /// Returns what finds the places in the source of a program.
    pub fn places(&self, flow: &Object) -> Result<Places> {
        self.today(flow, |language, pinned| language.places(pinned))
    }

    /// Makes a run of a program, as a version of its language runs it.
    pub fn program(
        &self,
        flow: &Object,
        engine: &Engine,
        detail: TraceDetail,
    ) -> Result<Box<dyn Program>> {
        let language = language_of(flow)?;
        self.ask(flow, engine.semantics, detail, |pinned| language.program(pinned))
    }

    /// Makes who performs what a session with a start key asks, which may perform some kinds of
    /// effects unasked.
    pub fn performer(
        &self,
        flow: &Object,
        key: &str,
        allow: &[String],
    ) -> Result<Box<dyn Performer>> {
        let registered = registered(flow)?;
        let run_id = || run_id(self.space, key);
        let allows = |kind: &str| is_allowed(allow, kind);
        let run = RunSetting { run_id: &run_id, allows: &allows };
        self.ask(flow, registered.language.semantics(), TraceDetail::Told, |pinned| {
            (registered.performer)(&PerformerSetting { pinned: *pinned, run: Some(run) })
        })
    }

    fn today<T>(
        &self,
        flow: &Object,
        ask: impl FnOnce(&dyn Language, &PinnedProgram<'_>) -> std::result::Result<T, ProgramFault>,
    ) -> Result<T> {
        let language = language_of(flow)?;
        let semantics = language.semantics();
        self.ask(flow, semantics, TraceDetail::Told, |pinned| ask(language, pinned))
    }

    /// Has a program looked at. What kept a part of it from being read is told as it was.
    fn ask<T>(
        &self,
        flow: &Object,
        semantics: u32,
        detail: TraceDetail,
        ask: impl FnOnce(&PinnedProgram<'_>) -> std::result::Result<T, ProgramFault>,
    ) -> Result<T> {
        let unread = RefCell::new(None);
        let objects = |cid: &Cid| {
            let found = self.object(cid);
            found.map_err(|error| unread.replace(Some(error))).ok()
        };
        let asked = ask(&PinnedProgram { flow, objects: &objects, semantics, detail });
        asked.map_err(|fault| match (&fault, unread.take()) {
            (ProgramFault::MissingPart { .. }, Some(error)) => error,
            _ => of_fault(flow, fault),
        })
    }
}

/// Makes a run of the flow that an object holds, with the flows that it imports, as a version of its
/// language runs it.
pub(crate) fn program_of(
    space: &SessionSpace,
    folder: &Folder,
    flow: &Object,
    engine: &Engine,
) -> Result<Box<dyn Program>> {
    program_heard(Shelf { space, folder, given: &[] }, flow, engine)
}

/// Makes such a run, which traces what it does if somebody wants to hear that.
pub(crate) fn program_heard(
    shelf: Shelf<'_>,
    flow: &Object,
    engine: &Engine,
) -> Result<Box<dyn Program>> {
    let detail = match shelf.space.observer().map(Observer::trace) {
        Some(TraceCapture::On) => TraceDetail::Everything,
        Some(TraceCapture::Off) | None => TraceDetail::Told,
    };
    shelf.program(flow, engine, detail)
}

/// Reads the object of a flow: from the session's own folder, else from wherever the space has it.
pub(crate) fn flow_of(space: &SessionSpace, folder: &Folder, cid: &Cid) -> Result<Object> {
    match folder.read_object(cid)? {
        Some(bytes) => Ok(Object::decode(&bytes)?),
        None => Ok(space.object(*cid)?),
    }
}
