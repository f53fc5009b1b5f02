//! Resolved blocks to fragments, closed fragments, and plans.

use agentic_diag::Span;
use agentic_model::Value;
use agentic_plan::{
    AgentId, Backend, CallKind, ClosedFragment, Fragment, Numbering, Plan, PlanCall, PlanError,
    ResolutionMode,
};

use crate::finding::{FindingKind, PipelineFinding, PipelineFindings};
use crate::resolve::{ResolvedBlock, ResolvedNode, ResolvedScript};

/// The agent of nodes that carry a program.
pub const DYNAMIC_AGENT: &str = "sibyl/dynamic";

/// A block as an open fragment.
#[derive(Debug, Clone)]
pub struct LoweredBlock {
    backend: Backend,
    mode: ResolutionMode,
    fragment: Fragment,
    numbering: Numbering,
    /// Where each call stands, in the order of their numbers.
    sites: Vec<Span>,
    span: Span,
}

/// A block as a closed fragment.
#[derive(Debug, Clone)]
pub struct FinalBlock {
    backend: Backend,
    mode: ResolutionMode,
    closed: ClosedFragment,
    sites: Vec<Span>,
    span: Span,
}

/// A block as a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedBlock {
    /// The plan.
    pub plan: Plan,
    /// Where each call stands, in the order of their numbers.
    pub sites: Vec<Span>,
    /// The whole of the block.
    pub span: Span,
}

/// Lowers every block to a fragment. Never fails: what is resolved has a fragment.
///
/// # Errors
/// None.
pub fn lower(resolved: ResolvedScript) -> Result<Vec<LoweredBlock>, PipelineFindings> {
    Ok(resolved.blocks.into_iter().map(lower_block).collect())
}

fn lower_block(block: ResolvedBlock) -> LoweredBlock {
    let mut lowering = PlanLowering::default();
    let fragment = lowering.node(block.body);
    let PlanLowering { numbering, sites } = lowering;
    let ResolvedBlock { backend, mode, span, .. } = block;
    LoweredBlock { backend, mode, fragment, numbering, sites, span }
}

/// Closes every fragment: joins what is still free.
///
/// # Errors
/// None.
pub fn finalize(blocks: Vec<LoweredBlock>) -> Result<Vec<FinalBlock>, PipelineFindings> {
    let close = |block: LoweredBlock| {
        let LoweredBlock { backend, mode, fragment, mut numbering, sites, span } = block;
        FinalBlock { backend, mode, closed: fragment.finish(&mut numbering), sites, span }
    };
    Ok(blocks.into_iter().map(close).collect())
}

/// Checks every plan.
///
/// # Errors
/// Reports the blocks whose plans are too large.
pub fn validate(blocks: Vec<FinalBlock>) -> Result<Vec<PlannedBlock>, PipelineFindings> {
    let mut findings = PipelineFindings::new();
    let mut planned = Vec::with_capacity(blocks.len());
    for FinalBlock { backend, mode, closed, sites, span } in blocks {
        match closed.validate(backend, mode) {
            Ok(plan) => planned.push(PlannedBlock { plan, sites, span }),
            Err(error) => findings.push(
                PipelineFinding::new(FindingKind::Plan(error.kind()), span, error.to_string())
                    .because("this block does not make a plan"),
            ),
        }
    }
    if findings.is_empty() { Ok(planned) } else { Err(findings) }
}

/// Makes the plan of a program that a node carries.
///
/// # Errors
/// Fails when the plan is too large.
pub(crate) fn plan_of_program(
    body: ResolvedNode,
    backend: Backend,
    mode: ResolutionMode,
) -> Result<Plan, PlanError> {
    let mut lowering = PlanLowering::default();
    let fragment = lowering.node(body);
    fragment.finish(&mut lowering.numbering).validate(backend, mode)
}

#[derive(Default)]
struct PlanLowering {
    numbering: Numbering,
    sites: Vec<Span>,
}

impl PlanLowering {
    fn node(&mut self, node: ResolvedNode) -> Fragment {
        match node {
            ResolvedNode::Call(call, span) => self.leaf(*call, span),
            ResolvedNode::Dynamic { backend, mode, program, span } => {
                let agent = AgentId::parse(DYNAMIC_AGENT).expect("the id is well-formed");
                let mut call = PlanCall::new(CallKind::Dynamic, agent);
                call.params.insert("backend".to_owned(), Value::text(backend.as_str()));
                call.params.insert("mode".to_owned(), Value::text(mode.as_str()));
                call.params.insert("program".to_owned(), Value::Text(program));
                self.leaf(call, span)
            }
            ResolvedNode::Fanout(branches) => {
                let branches: Vec<Fragment> =
                    branches.into_iter().map(|branch| self.node(branch)).collect();
                Fragment::fanout(branches).expect("a fan-out has two branches or more")
            }
            ResolvedNode::Sequence(stages) => {
                let mut stages = stages.into_iter();
                let first = stages.next().expect("a pipeline has two stages or more");
                let mut left = self.node(first);
                for stage in stages {
                    let right = self.node(stage);
                    left = left.sequence(&mut self.numbering, right);
                }
                left
            }
        }
    }

    fn leaf(&mut self, call: PlanCall, span: Span) -> Fragment {
        self.sites.push(span);
        Fragment::call(&mut self.numbering, call)
    }
}
