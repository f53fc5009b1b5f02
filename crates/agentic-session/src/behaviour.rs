//! Behaviours that sessions run: whether their programs can run, and what they consist of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use agentic_model::{Cid, Object, StoredBehaviour};
use agentic_replay::{PinnedProgram, TraceDetail};

use super::language::{kinds_of, language_of, of_fault};
use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// Checks that the program of a behaviour can run here, and returns the objects that it consists of
/// besides its own: they have to be wherever it is.
///
/// # Errors
/// Fails when its language is not known, when it does not parse, and when a flow that it names by its
/// id is nowhere.
pub fn check_flow(space: &SessionSpace, flow: &Object) -> Result<Vec<Object>> {
    let read = StoredBehaviour::from_object(flow).map_err(agentic_space::Error::Object)?;
    let language = language_of(flow)?;
    kinds_of(flow)?;
    let (found, lost) = (RefCell::new(BTreeMap::new()), RefCell::new(None));
    let objects = |cid: &Cid| match space.object(*cid) {
        Ok(object) => {
            found.borrow_mut().insert(*cid, object.clone());
            Some(object)
        }
        Err(_) => {
            lost.borrow_mut().get_or_insert(*cid);
            None
        }
    };
    let (semantics, detail) = (language.semantics(), TraceDetail::Told);
    let pinned = PinnedProgram { flow, objects: &objects, semantics, detail };
    let program = language.program(&pinned);
    for cid in read.modules.values().chain(&language.parts(flow)) {
        objects(cid);
    }
    program.map_err(|fault| of_fault(flow, fault))?;
    if let Some(cid) = lost.into_inner() {
        let reason = format!("it names {cid}, which is nowhere here");
        return Err(Error::Program(ProgramError::BrokenFlow {
            id: flow.cid().to_string(),
            reason,
        }));
    }
    Ok(found.into_inner().into_values().collect())
}
