//! Scripts, as whoever runs them durably sees the language.

use std::collections::BTreeMap;

use agentic_model::{Cid, Object};
use agentic_replay::{Kinds, Language, PinnedProgram, Program, ProgramFault, source_of};

use crate::flow::Flow;
use crate::limits::{SEMANTICS, SEMANTICS_OLDEST};

/// How many characters the printed form of an id has.
const CID_CHARS: usize = 59;
/// How many flows one flow may import, directly or not.
const MODULES_MAX: usize = 1024;

/// The language of scripts.
#[derive(Debug, Clone, Copy)]
pub struct Rhai;

impl Language for Rhai {
    fn name(&self) -> &'static str {
        crate::LANGUAGE
    }

    fn summary(&self) -> &'static str {
        "Scripts: `.rhai`"
    }

    fn semantics(&self) -> u32 {
        SEMANTICS
    }

    fn semantics_oldest(&self) -> u32 {
        SEMANTICS_OLDEST
    }

    fn claims(&self, extension: &str, _text: &[u8]) -> bool {
        extension == "rhai"
    }

    /// Scripts make no kinds of their own.
    fn add_kinds(&self, _flow: &Object, _kinds: &mut Kinds) -> Result<(), ProgramFault> {
        Ok(())
    }

    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault> {
        let source = source_of(pinned.flow)?;
        let modules = modules_of(source, pinned.objects)?;
        let flow = Flow::parse_as(source, modules, pinned.semantics).map_err(|findings| {
            ProgramFault::found(findings.first().map(|finding| finding.message.as_str()))
        })?;
        Ok(Box::new(flow.program()))
    }
}

/// Finds the flows that a source names by their ids, and those that these name. An id that leads
/// nowhere is left to the run, which fails at the import.
fn modules_of(
    source: &str,
    objects: &dyn Fn(&Cid) -> Option<Object>,
) -> Result<BTreeMap<Cid, String>, ProgramFault> {
    let mut modules = BTreeMap::new();
    let mut todo = vec![source.to_owned()];
    while let Some(source) = todo.pop() {
        for (at, _) in source.match_indices(Cid::PREFIX) {
            let cid = source.get(at..at + CID_CHARS).and_then(|text| Cid::parse(text).ok());
            let Some(cid) = cid.filter(|cid| !modules.contains_key(cid)) else { continue };
            if modules.len() >= MODULES_MAX {
                let reason = "a flow imports too many others".to_owned();
                return Err(ProgramFault::TooLarge { reason });
            }
            if let Some(module) = objects(&cid)
                && let Ok(source) = source_of(&module)
            {
                modules.insert(cid, source.to_owned());
                todo.push(source.to_owned());
            }
        }
    }
    Ok(modules)
}
