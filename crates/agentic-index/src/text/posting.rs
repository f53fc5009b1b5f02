//! The terms of a full block, packed: sorted, and so many to a row that it has some thousand bytes.
//!
//! A database spends about a hundred bytes on each row, and most terms have a text or two in a block. The
//! key of a row is its block and its first term; a term is written as what it shares with the one before
//! it, and the rest.

use std::ops::ControlFlow;

use super::numbers::{BlockNumbers, WrittenNumbers, take_numbers, write_numbers};
use crate::error::{IndexError, Result};
use crate::tables::{IndexTable, Tables};
use crate::value::{push_number, seal_bytes, take_number, unseal_bytes};

/// How long a row becomes before another begins, in bytes.
const ROW_BYTES: usize = 4 << 10;
/// A beginning and a rest that are shorter take one byte together.
const SHORT: usize = 15;

/// Makes the key of the row of a block that begins with a term.
pub fn row_key(block: u32, term: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(4 + term.len());
    key.extend(block.to_be_bytes());
    key.extend(term);
    key
}

/// Takes a term and the texts that have it, and says whether more are wanted.
pub type PostingVisitor<'v> = dyn FnMut(&[u8], WrittenNumbers<'_>) -> Result<ControlFlow<()>> + 'v;

/// Packs terms, which come in order.
pub struct RowPacker {
    block: u32,
    first: Vec<u8>,
    last: Vec<u8>,
    body: Vec<u8>,
}

impl RowPacker {
    /// Begins the rows of a block.
    pub fn new(block: u32) -> RowPacker {
        RowPacker { block, first: Vec::new(), last: Vec::new(), body: Vec::new() }
    }

    /// Takes a term and the places of the texts that have it; returns a row that became full before it.
    pub fn take(&mut self, term: &[u8], places: &[u16]) -> Option<(Vec<u8>, Vec<u8>)> {
        let full = if self.body.len() >= ROW_BYTES { self.end() } else { None };
        if self.body.is_empty() {
            self.first = term.to_vec();
            self.last.clear();
        }
        let shared = self.last.iter().zip(term).take_while(|(one, other)| one == other).count();
        push_lengths(&mut self.body, shared, term.len() - shared);
        self.body.extend(&term[shared..]);
        write_numbers(places, &mut self.body);
        self.last.clear();
        self.last.extend(term);
        full
    }

    /// Ends a row, if one was begun.
    pub fn end(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let body = std::mem::take(&mut self.body);
        (!body.is_empty()).then(|| (row_key(self.block, &self.first), seal_bytes(&body)))
    }
}

/// Visits the terms of a row, until no more are wanted.
pub fn visit_row(sealed: &[u8], visit: &mut PostingVisitor<'_>) -> Result<ControlFlow<()>> {
    let (mut rest, mut term) = (unseal_bytes(sealed)?, Vec::new());
    while !rest.is_empty() {
        let (shared, length) = take_lengths(&mut rest)?;
        let apart = rest.split_at_checked(length).filter(|_| shared <= term.len());
        let (suffix, behind) = apart.ok_or_else(|| IndexError::damaged("a term"))?;
        rest = behind;
        term.truncate(shared);
        term.extend(suffix);
        if visit(&term, take_numbers(&mut rest)?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Visits the terms of a block from one on.
pub fn visit_terms(
    tables: &dyn Tables,
    block: u32,
    from: &[u8],
    visit: &mut PostingVisitor<'_>,
) -> Result<()> {
    let prefix = block.to_be_bytes();
    // The row before the key may have it.
    let first = tables.last_up_to(IndexTable::Post, &row_key(block, from))?;
    let first = first.map(|(key, _)| key).filter(|key| key.starts_with(&prefix));
    let start = first.unwrap_or_else(|| prefix.to_vec());
    let mut outcome = Ok(());
    tables.visit(IndexTable::Post, &start, &mut |key, value| {
        if !key.starts_with(&prefix) {
            return ControlFlow::Break(());
        }
        let visited = visit_row(value, &mut |term, numbers| match term < from {
            true => Ok(ControlFlow::Continue(())),
            false => visit(term, numbers),
        });
        visited.unwrap_or_else(|error| {
            outcome = Err(error);
            ControlFlow::Break(())
        })
    })?;
    outcome
}

/// Reads for each of some terms, which are sorted, the texts of a block that have it; those that none has
/// are left out.
pub fn read_terms(tables: &dyn Tables, block: u32, terms: &[&str]) -> Result<Vec<BlockNumbers>> {
    let mut found = Vec::new();
    let mut wanted = terms.iter().map(|term| term.as_bytes()).peekable();
    while let Some(next) = wanted.peek() {
        let row = tables.last_up_to(IndexTable::Post, &row_key(block, next))?;
        let Some((_, row)) = row.filter(|(key, _)| key.starts_with(&block.to_be_bytes())) else {
            wanted.next();
            continue;
        };
        let first = *next;
        let end = visit_row(&row, &mut |term, numbers| {
            while wanted.next_if(|wanted| *wanted < term).is_some() {}
            if wanted.next_if(|wanted| *wanted == term).is_some() {
                found.push(numbers.read()?);
            }
            Ok(match wanted.peek() {
                Some(_) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            })
        })?;
        // What the row of this term has not, no row has; one behind it may be in the next.
        if end.is_continue() {
            wanted.next_if(|wanted| *wanted == first);
        }
    }
    Ok(found)
}

/// Writes how much a term shares with the one before it, and how long the rest is.
fn push_lengths(bytes: &mut Vec<u8>, shared: usize, rest: usize) {
    let nibble = |length: usize| length.min(SHORT) as u8;
    bytes.push(nibble(shared) << 4 | nibble(rest));
    for length in [shared, rest] {
        if length >= SHORT {
            push_number(bytes, (length - SHORT) as u64);
        }
    }
}

fn take_lengths(rest: &mut &[u8]) -> Result<(usize, usize)> {
    let (both, behind) = rest.split_first().ok_or_else(|| IndexError::damaged("a term"))?;
    *rest = behind;
    let mut length = |nibble: u8| match usize::from(nibble) {
        SHORT => {
            Ok(usize::try_from(take_number(rest)?).unwrap_or(usize::MAX).saturating_add(SHORT))
        }
        short => Ok(short),
    };
    Ok((length(both >> 4)?, length(both & 15)?))
}
