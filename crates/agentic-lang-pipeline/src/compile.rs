//! The whole compiler, as its phases one behind the other.

use std::sync::Arc;

use agentic_diag::Span;
use agentic_plan::{NodeWork, Plan, PlanSourceMap, Registry};

use crate::ast::PipelineSource;
use crate::finding::{FindingKind, PipelineFinding, PipelineFindings};
use crate::locator::Locator;
use crate::lower::{PlannedBlock, finalize, lower, validate};
use crate::parser::parse;
use crate::phase::CompilerPhase;
use crate::resolve::{ResolvedScript, resolve};
use crate::store::{wider_registry, with_store};

/// A compiled source: a plan for every block, and the registry it was compiled against.
#[derive(Debug, Clone)]
pub struct CompiledSource {
    /// Its blocks, in source order.
    pub blocks: Vec<CompiledBlock>,
    /// What its names mean; programs in `dynamic` nodes are resolved against it too.
    pub registry: Arc<Registry>,
}

/// One compiled block.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledBlock {
    /// Its plan.
    pub plan: Arc<Plan>,
    /// Where the nodes of the plan come from.
    pub source_map: Arc<PlanSourceMap>,
}

/// Compiles a source.
///
/// # Errors
/// Returns the first error of the syntax, or all errors of the first phase that has any.
pub fn compile(text: &str, registry: Arc<Registry>) -> Result<CompiledSource, PipelineFindings> {
    let registry = with_store(text, registry);
    let names = |script: PipelineSource| -> Result<ResolvedScript, PipelineFindings> {
        resolve(&script, &registry)
    };
    let phases = parse.then(names).then(lower).then(finalize).then(validate);
    let planned: Vec<PlannedBlock> = phases.run(text)?;
    let locator = Locator::new(text);
    let blocks = planned.into_iter().map(|block| with_map(block, &locator)).collect();
    Ok(CompiledSource { blocks, registry: Arc::clone(&registry) })
}

/// Checks a source without keeping anything.
///
/// # Errors
/// Fails as [`compile`] does.
pub fn check(text: &str, registry: &Registry) -> Result<(), PipelineFindings> {
    let wider = wider_registry(text, registry);
    let registry = wider.as_ref().unwrap_or(registry);
    let names = |script: PipelineSource| -> Result<ResolvedScript, PipelineFindings> {
        resolve(&script, registry)
    };
    parse.then(names).then(lower).then(finalize).then(validate).run(text).map(drop)
}

/// Takes a source as bytes.
///
/// # Errors
/// Reports the first byte that is not UTF-8; its place is found in the valid text before it.
pub fn source_text(bytes: &[u8]) -> Result<&str, PipelineFindings> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("byte {at} is not part of a UTF-8 text");
        let kind = FindingKind::UnexpectedChar;
        vec![PipelineFinding::new(kind, Span::new(at, at), message).because("not UTF-8")]
    })
}

fn with_map(block: PlannedBlock, locator: &Locator<'_>) -> CompiledBlock {
    let PlannedBlock { plan, sites, .. } = block;
    let mut source_map = PlanSourceMap::default();
    let calls = plan.nodes().iter().filter(|node| node.work != NodeWork::Join);
    // Calls stand in a plan in the order in which they were numbered.
    for (node, span) in calls.zip(sites) {
        source_map.insert(node.id.clone(), locator.place(span));
    }
    CompiledBlock { plan: Arc::new(plan), source_map: Arc::new(source_map) }
}
