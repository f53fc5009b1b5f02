//! What the workflows and activities of a worker stand on: the repository on its machine.

use std::path::PathBuf;

use agentic_model::{Instant, Object};
use agentic_replay::SessionProgress;
use agentic_session::hosted::{
    CarriedProgram, HostedProgram, HostedRun, HostedStart, SealedRun, load_hosted, n_sealed,
    program_of_hosted,
};
use agentic_session::{Clock, SessionOptions, SessionSpace};

/// The repository of a worker.
pub struct WorkerGround {
    folder: PathBuf,
    options: SessionOptions,
    /// What workflows read.
    space: SessionSpace,
}

impl WorkerGround {
    /// Opens the repository that a folder is in.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn open(folder: PathBuf, options: SessionOptions) -> agentic_session::Result<WorkerGround> {
        let space = SessionSpace::open(&folder, options.clone())?;
        space.repository().follow_configuration();
        Ok(WorkerGround { folder, options, space })
    }

    /// Returns the repository as it is read.
    pub fn space(&self) -> &SessionSpace {
        &self.space
    }

    /// Opens the repository at the time at which something was asked: so a repetition makes the same.
    ///
    /// # Errors
    /// Fails when it is not there any more.
    pub fn at(&self, at: Instant) -> agentic_session::Result<SessionSpace> {
        let mut options = self.options.clone();
        options.space.clock = Clock::Fixed(at);
        SessionSpace::open_as_is(&self.folder, options)
    }

    /// Returns how many records of a run are sealed.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn n_sealed(&self, start: &HostedStart) -> agentic_session::Result<usize> {
        n_sealed(&self.space, start)
    }

    /// Reads what is sealed of a run.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn sealed(&self, start: &HostedStart) -> agentic_session::Result<SealedRun> {
        SealedRun::of(&self.space, &start.session)
    }

    /// Makes the program of a run, whose object its input may bring along.
    ///
    /// # Errors
    /// Fails when it is not here.
    pub fn program(
        &self,
        start: &HostedStart,
        brought: Option<Object>,
    ) -> agentic_session::Result<HostedProgram> {
        program_of_hosted(&self.space, start, brought)
    }

    /// Takes up the program of a run for those who have no repository.
    ///
    /// # Errors
    /// Fails when it is not here.
    pub fn carried(&self, start: &HostedStart) -> agentic_session::Result<CarriedProgram> {
        CarriedProgram::of(&self.space, start)
    }

    /// Loads a run from what is sealed of it.
    ///
    /// # Errors
    /// Fails when that is not here, and when the program does something else.
    pub fn load(
        &self,
        start: &HostedStart,
        n_records: usize,
        head: &str,
    ) -> agentic_session::Result<(HostedRun, SessionProgress)> {
        load_hosted(&self.space, start, n_records, head)
    }
}
