//! Frames of journals.
//!
//! - Of any bytes: what [`frame::scan`] says is what a walk from frame to frame finds; a frame that is
//!   read is written again byte for byte, and is found from its end too.
//! - Of frames that were written: all are read back; a segment that is cut short loses the last frame
//!   alone; one changed byte in a frame that the disk once had is damage, exactly there.

use agentic_store::journal::frame::{self, FRAME_OVERHEAD, Scan};

use crate::{take_byte, take_number};

/// Checks one input: how to read it, then what is read.
pub fn check(mut data: &[u8]) {
    match take_byte(&mut data) % 2 {
        0 => check_any(data),
        _ => check_written(data),
    }
}

fn check_any(bytes: &[u8]) {
    let mut end = 0;
    while let Some((payload, next)) = frame::at(bytes, end) {
        assert_eq!(frame::encode(payload), &bytes[end..next], "a frame has one form");
        assert_eq!(frame::before(bytes, next), Some((payload, end)));
        end = next;
    }
    for synced in [None, Some(0), Some(u64::MAX)] {
        match frame::scan(bytes, |_| synced) {
            Scan::Whole => assert_eq!(end, bytes.len()),
            Scan::Torn { end: torn } => assert!(torn == end && end < bytes.len()),
            Scan::Damaged { start } => {
                assert!(start == end && end < bytes.len());
                assert!(synced.is_some(), "nothing says that the disk had it");
            }
        }
    }
    for at in 0..=bytes.len() {
        if let Some((payload, start)) = frame::before(bytes, at) {
            assert_eq!(frame::at(bytes, start), Some((payload, at)));
        }
        if let Some(past) = frame::past_bad(bytes, at) {
            assert!(past >= at + FRAME_OVERHEAD && past <= bytes.len());
        }
    }
}

fn check_written(mut data: &[u8]) {
    let (cut, flip, mask) =
        (take_number(&mut data), take_number(&mut data), take_byte(&mut data).max(1));
    let mut payloads = Vec::new();
    while !data.is_empty() {
        let length = 1 + usize::from(take_byte(&mut data));
        let (payload, rest) = data.split_at(length.min(data.len()));
        payloads.extend((!payload.is_empty()).then_some(payload));
        data = rest;
    }
    let frames: Vec<Vec<u8>> = payloads.iter().map(|payload| frame::encode(payload)).collect();
    let bytes = frames.concat();
    let (mut starts, mut at) = (Vec::new(), 0);
    for payload in &payloads {
        let (read, next) = frame::at(&bytes, at).expect("what was written is read");
        assert_eq!(read, *payload);
        starts.push(at);
        at = next;
    }
    assert_eq!(at, bytes.len());
    assert_eq!(frame::scan(&bytes, |_| Some(u64::MAX)), Scan::Whole);
    let Some(last) = starts.last().copied() else { return };

    // A frame inside a payload is proof of damage as well, since nobody can tell it from a later one.
    if holds_other_frame(&bytes, &starts) {
        return;
    }
    let cut = last + cut % (bytes.len() - last);
    let expected = if cut == last { Scan::Whole } else { Scan::Torn { end: last } };
    assert_eq!(frame::scan(&bytes[..cut], |_| Some(0)), expected, "cut at {cut}");

    let flip = flip % bytes.len();
    let start = starts.iter().rev().find(|start| **start <= flip).copied().unwrap_or(0);
    let mut changed = bytes.clone();
    changed[flip] ^= mask;
    if holds_other_frame(&changed, &starts) {
        return;
    }
    // Behind the last frame there is none that could tell whether the disk had it.
    let expected = if start == last { Scan::Torn { end: start } } else { Scan::Damaged { start } };
    assert_eq!(frame::scan(&changed, |_| Some(u64::MAX)), expected, "changed at {flip}");
}

/// Tells whether a frame begins somewhere else than where one was written.
fn holds_other_frame(bytes: &[u8], starts: &[usize]) -> bool {
    let others = (0..bytes.len()).filter(|at| starts.binary_search(at).is_err());
    others.into_iter().any(|at| frame::at(bytes, at).is_some())
}
