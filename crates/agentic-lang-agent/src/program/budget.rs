//! How much a run may do. What is beyond ends the run; no program can catch it.

use crate::code;
use crate::data::Data;
use crate::program::fault::MachineFault;
use crate::program::options::{CLEANUP_REQUESTS_MAX, RunOptions};

/// To touch so many bytes of a value is as much work as a statement.
const BYTES_A_STATEMENT: u64 = 256;
/// To begin a branch is as much work as so many statements.
pub(super) const STATEMENTS_A_BRANCH: u64 = 16;
/// To catch an error, whose text is made for that, is as much work as so many statements.
pub(super) const STATEMENTS_AN_ERROR: u64 = 16;
/// To prepare so many slots for a pipeline is as much work as a statement.
const SLOTS_A_STATEMENT: u64 = 16;
/// To search so many fields is as much work as a statement.
const FIELDS_A_STATEMENT: u64 = 64;
/// To evaluate so many parts of an expression is as much work as a statement.
const PIECES_A_STATEMENT: u64 = 16;
/// To ask with so many bytes of arguments is as much as another request.
const BYTES_A_REQUEST: u64 = 16 << 10;

/// What a run may still do.
#[derive(Debug)]
pub(super) struct RunBudget {
    statements_max: u64,
    statements_left: u64,
    requests_max: u64,
    requests_left: u64,
}

impl RunBudget {
    pub fn new(options: &RunOptions) -> RunBudget {
        RunBudget {
            statements_max: options.statements_max,
            statements_left: options.statements_max,
            requests_max: options.requests_max,
            requests_left: options.requests_max,
        }
    }

    /// Takes note of an answer: the program may work anew.
    pub fn refill(&mut self) {
        self.statements_left = self.statements_max;
    }

    /// Takes a statement and what it touched.
    pub fn take_statement(&mut self, touched: u64) -> Result<(), MachineFault> {
        match self.statements_left.checked_sub(1 + touched) {
            Some(left) => {
                self.statements_left = left;
                Ok(())
            }
            None => {
                let limit = self.statements_max;
                let text =
                    format!("the work of {limit} statements was done without asking for anything");
                Err(MachineFault::new(code::TOO_MANY_STATEMENTS, text))
            }
        }
    }

    /// Takes a request with so many bytes of arguments.
    pub fn take_request(&mut self, n_bytes: usize) -> Result<(), MachineFault> {
        match self.requests_left.checked_sub(1 + n_bytes as u64 / BYTES_A_REQUEST) {
            Some(left) => {
                self.requests_left = left;
                Ok(())
            }
            None => {
                let limit = self.requests_max;
                let text = format!("the run has asked for as much as {limit} requests");
                Err(MachineFault::new(code::TOO_MANY_REQUESTS, text))
            }
        }
    }

    /// Lets a run that was asked to stop open a few more requests.
    pub fn wind_up(&mut self) {
        self.requests_left = self.requests_left.min(CLEANUP_REQUESTS_MAX);
    }
}

/// The work of looking at values, in statements.
pub(super) fn work_of_values(one: &Data, other: &Data) -> u64 {
    one.bytes().min(other.bytes()) / BYTES_A_STATEMENT
}

/// The work of making a value out of others, in statements.
pub(super) fn work_of_bytes(n_bytes: u64) -> u64 {
    n_bytes / BYTES_A_STATEMENT
}

/// The work of evaluating an expression, in statements, its values aside.
pub(super) fn work_of_pieces(n_pieces: usize) -> u64 {
    n_pieces as u64 / PIECES_A_STATEMENT
}

/// The work of preparing a pipeline, in statements.
pub(super) fn work_of_slots(n_slots: usize) -> u64 {
    n_slots as u64 / SLOTS_A_STATEMENT
}

/// The work of finding a field, in statements.
pub(super) fn work_of_fields(n_fields: usize) -> u64 {
    n_fields as u64 / FIELDS_A_STATEMENT
}
