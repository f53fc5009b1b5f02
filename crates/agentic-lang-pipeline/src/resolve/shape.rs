//! Whether stages give what the next one takes, where both say so.

use agentic_plan::{Registry, ValueShape};

use crate::ast::{BuiltinCall, PipelineNode};
use crate::finding::{FindingKind, PipelineFinding, PipelineFindings};

/// Reports every stage that declares to take something else than the stage before declares to
/// give.
pub(super) fn check(body: &PipelineNode, registry: &Registry, findings: &mut PipelineFindings) {
    outputs(body, None, registry, findings);
}

/// Walks a piece whose input has a shape; returns the shapes of its free outputs.
fn outputs(
    node: &PipelineNode,
    input: Option<ValueShape>,
    registry: &Registry,
    findings: &mut PipelineFindings,
) -> Vec<Option<ValueShape>> {
    match node {
        PipelineNode::Call(call) => vec![through_call(call, input, registry, findings)],
        PipelineNode::Parallel(branches, _) => {
            branches.iter().flat_map(|branch| outputs(branch, input, registry, findings)).collect()
        }
        PipelineNode::Pipeline(stages, _) => {
            let mut free = vec![input];
            for stage in stages {
                free = outputs(stage, joined(&free), registry, findings);
            }
            free
        }
        PipelineNode::Nested(block) => {
            vec![joined(&outputs(&block.body, input, registry, findings))]
        }
    }
}

/// Returns the one shape that follows from free outputs.
fn joined(free: &[Option<ValueShape>]) -> Option<ValueShape> {
    match free {
        [only] => *only,
        several => Some(ValueShape::Tuple(several.len())),
    }
}

fn through_call(
    call: &BuiltinCall,
    input: Option<ValueShape>,
    registry: &Registry,
    findings: &mut PipelineFindings,
) -> Option<ValueShape> {
    let spec = registry.get(&call.name)?;
    if let (Some(given), Some(accepted)) = (input, spec.accepts)
        && !fits(given, accepted)
    {
        let message = format!("`{}` takes {accepted}, but is given {given}", spec.name);
        findings.push(
            PipelineFinding::new(FindingKind::TypeMismatch, call.name_site.0, message)
                .because(format!("takes {accepted}"))
                .about(&spec.name),
        );
    }
    spec.returns
}

/// Any value may turn out to be the right one when it is there, so `json` fits everything.
fn fits(given: ValueShape, accepted: ValueShape) -> bool {
    given == ValueShape::Json || accepted == ValueShape::Json || given == accepted
}
