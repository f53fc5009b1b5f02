//! The numbers of the texts that have a term: those of one block, each as its distance from the one
//! before.

use super::BLOCK;
use crate::error::{IndexError, Result};
use crate::value::{push_number, seal_bytes, take_number, unseal_bytes};

/// Makes the key of a term in a block.
pub fn key(term: &str, block: u32) -> Vec<u8> {
    let mut key = term.as_bytes().to_vec();
    key.push(0);
    key.extend(block.to_be_bytes());
    key
}

/// Takes a key apart.
pub fn parts(key: &[u8]) -> Result<(&[u8], u32)> {
    let apart = key.split_last_chunk::<4>();
    match apart {
        Some(([term @ .., 0], block)) => Ok((term, u32::from_be_bytes(*block))),
        Some(_) | None => Err(IndexError::damaged("a key of a term")),
    }
}

/// Writes numbers of a block, ascending.
pub fn sealed(numbers: &[u32], block: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len());
    let mut before = block * BLOCK;
    for number in numbers {
        push_number(&mut bytes, u64::from(number - before));
        before = *number;
    }
    seal_bytes(&bytes)
}

/// Reads numbers of a block.
pub fn read(sealed: &[u8], block: u32) -> Result<Vec<u32>> {
    let mut rest = unseal_bytes(sealed)?;
    let (mut numbers, mut before) = (Vec::with_capacity(rest.len()), u64::from(block * BLOCK));
    let end = before + u64::from(BLOCK);
    while !rest.is_empty() {
        before = before.saturating_add(take_number(&mut rest)?);
        if before >= end {
            return Err(IndexError::damaged("a number outside of its block"));
        }
        numbers.push(before as u32);
    }
    Ok(numbers)
}
