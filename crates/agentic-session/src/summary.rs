//! How a session stands, read from its records without running anything. What they mean is decided in
//! `agentic-replay`; here they are found, and whether somebody drives the session.

use agentic_replay::record::MissingObject;
use agentic_replay::{Attendance, OpenHold, RecordChain, SessionId, Summary, SummaryReader};

use super::folder::{Folder, Values, damaged};
use super::own::read_journal;
use crate::{Result, SessionSpace};

/// Reads a session.
pub fn read(space: &SessionSpace, id: &SessionId) -> Result<Summary> {
    let journal = read_journal(space, id)?;
    of_journal(space, &journal)
}

/// Summarises the journal of a session as it stands now.
pub fn of_journal(space: &SessionSpace, journal: &RecordChain) -> Result<Summary> {
    let reader = reader_of(space, journal)?;
    let attendance = attendance(space, journal, &reader)?;
    whole(reader, journal, attendance)
}

/// Summarises a journal as it stood, when whoever appended to it was at work.
pub fn of_past(space: &SessionSpace, journal: &RecordChain) -> Result<Summary> {
    whole(reader_of(space, journal)?, journal, Attendance::Attended)
}

/// Reads what waits for a human in the journal of a session as it stands now, oldest first. What has
/// its answer is not looked at.
pub fn holds(space: &SessionSpace, journal: &RecordChain) -> Result<Vec<OpenHold>> {
    let Some(reader) = reader_of_open(space, journal)? else { return Ok(Vec::new()) };
    Ok(reader.holds(attendance(space, journal, &reader)?))
}

/// Does the same as if nobody were at work on it, so that what is under way counts as in doubt.
pub fn holds_at_rest(space: &SessionSpace, journal: &RecordChain) -> Result<Vec<OpenHold>> {
    let Some(reader) = reader_of_open(space, journal)? else { return Ok(Vec::new()) };
    Ok(reader.holds(Attendance::AtRest))
}

fn reader_of(space: &SessionSpace, journal: &RecordChain) -> Result<SummaryReader> {
    Ok(SummaryReader::of(journal, &Values::of(space, journal)).map_err(missing)?)
}

fn reader_of_open(space: &SessionSpace, journal: &RecordChain) -> Result<Option<SummaryReader>> {
    Ok(SummaryReader::of_open(journal, &Values::of(space, journal)).map_err(missing)?)
}

/// Looks whether somebody drives a session, where that matters: it takes a lock to tell.
fn attendance(
    space: &SessionSpace,
    journal: &RecordChain,
    reader: &SummaryReader,
) -> Result<Attendance> {
    if !reader.depends_on_attendance() {
        return Ok(Attendance::Attended);
    }
    match Folder::of(space, &journal.start().session).is_driven(space)? {
        true => Ok(Attendance::Attended),
        false => Ok(Attendance::AtRest),
    }
}

fn whole(reader: SummaryReader, journal: &RecordChain, attendance: Attendance) -> Result<Summary> {
    let summary = reader.into_summary(attendance);
    summary.ok_or_else(|| damaged(&journal.start().session, "it does not begin with a start"))
}

fn missing(error: MissingObject) -> agentic_store::Error {
    agentic_store::Error::corrupt("a session", error)
}
