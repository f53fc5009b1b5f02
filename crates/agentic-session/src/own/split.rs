//! What other clones did with a session that is not what happened to it here.

use std::fmt;

use agentic_replay::{Record, RecordHash, SessionId};

use super::read_known;
use crate::segment::{self, SealedSpan, Segments};
use crate::{Result, SessionSpace};

/// Returns how many of a session's own records are sealed as they are here. Another clone may have
/// sealed other ones, and more of them.
///
/// # Errors
/// Fails as [`read_journal`](super::read_journal) does.
pub fn n_sealed(segments: &Segments<'_>, id: &SessionId) -> Result<usize> {
    let space = segments.space();
    let known = read_known(space, id, &|id| segment::frames(space, id))?;
    let mut spans: Vec<SealedSpan> = segments.spans(id).collect();
    spans.sort_unstable_by_key(|span| span.end);
    let newest = spans.iter().rev().find(|span| span.is_among(&known.frames));
    let n_sealed = newest.map_or(0, |span| span.end);
    space.recent().keep(known);
    Ok(n_sealed)
}

/// Where another clone went on with a session in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherLine {
    /// The position of its first record that is another one.
    pub from: u64,
    /// How many records it has from there on.
    pub n_records: u64,
    /// The hash of its last record.
    pub head: RecordHash,
    /// The decision that its first other record tells of, if it does.
    pub decision: Option<String>,
}

impl fmt::Display for OtherLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OtherLine { from, n_records, head, decision } = self;
        write!(
            out,
            "another clone went on otherwise from record {from}: {n_records} records to {head}"
        )?;
        match decision {
            Some(commit) => write!(out, ", by the decision {commit}"),
            None => Ok(()),
        }
    }
}

/// Lists what other clones sealed of a session that is not what happened to it here.
///
/// # Errors
/// Fails as [`read_journal`](super::read_journal) does.
pub fn other_lines(space: &SessionSpace, id: &SessionId) -> Result<Vec<OtherLine>> {
    let known = read_known(space, id, &|id| segment::frames(space, id))?;
    let agent = &known.journal.start().agent;
    let segments = Segments::of(space, agent)?;
    let mut others = Vec::new();
    if segments.spans(id).any(|span| !span.is_among(&known.frames)) {
        let n_shared = (known.journal.records().len() - known.frames.len()) as u64;
        let lines = segments.lines(id)?;
        for (n_common, line) in lines.beside(&known.frames) {
            let first = Record::from_bytes(&line[n_common]).ok();
            others.extend(line.last().map(|last| OtherLine {
                from: n_shared + n_common as u64,
                n_records: (line.len() - n_common) as u64,
                head: RecordHash::of_record(last),
                decision: first.and_then(|record| record.body.decision().map(str::to_owned)),
            }));
        }
    }
    space.recent().keep(known);
    Ok(others)
}
