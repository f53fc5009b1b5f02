//! Names to agents: binds arguments, writes defaults in, reports everything that is wrong.

use std::collections::BTreeMap;

use agentic_diag::Span;
use agentic_plan::{Backend, BuiltinKind, CallKind, Registry, ResolutionMode};

use crate::ast::{BuiltinCall, PipelineBlock, PipelineNode, PipelineSource};
use crate::finding::{FindingKind, PipelineFinding, PipelineFindings, shown};
use crate::printer::canonical_program;

mod bind;
mod shape;

/// A script whose names all mean something.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedScript {
    /// Its blocks, in order.
    pub blocks: Vec<ResolvedBlock>,
}

/// A block whose names all mean something.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedBlock {
    /// Where it runs.
    pub backend: Backend,
    /// When it is resolved.
    pub mode: ResolutionMode,
    /// What it does.
    pub body: ResolvedNode,
    /// The whole of it.
    pub span: Span,
}

/// A piece of a resolved block.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedNode {
    /// One after the other.
    Sequence(Vec<ResolvedNode>),
    /// Side by side.
    Fanout(Vec<ResolvedNode>),
    /// A call, with its arguments bound.
    Call(Box<agentic_plan::PlanCall>, Span),
    /// A block that is resolved when it is reached, as the program it carries.
    Dynamic {
        /// Where it runs.
        backend: Backend,
        /// When its inside is resolved.
        mode: ResolutionMode,
        /// Its canonical source.
        program: String,
        /// The whole of it.
        span: Span,
    },
}

/// Resolves a script against a registry.
///
/// # Errors
/// Returns everything that is wrong, in source order.
pub fn resolve(
    script: &PipelineSource,
    registry: &Registry,
) -> Result<ResolvedScript, PipelineFindings> {
    let mut resolver = NameResolver::new(registry);
    let blocks: Vec<Option<ResolvedBlock>> =
        script.blocks.iter().map(|block| resolver.top_block(block)).collect();
    let blocks = blocks.into_iter().collect();
    resolver.finish(blocks).map(|blocks| ResolvedScript { blocks })
}

/// Resolves the body of a block that runs on a backend.
///
/// # Errors
/// Returns everything that is wrong, in source order.
pub fn resolve_program(
    body: &PipelineNode,
    backend: Backend,
    registry: &Registry,
) -> Result<ResolvedNode, PipelineFindings> {
    let mut resolver = NameResolver::new(registry);
    shape::check(body, registry, &mut resolver.findings);
    let node = resolver.node(body, backend, ResolutionMode::Static);
    resolver.finish(node)
}

struct NameResolver<'a> {
    registry: &'a Registry,
    findings: PipelineFindings,
    suggestions: BTreeMap<String, Option<&'a str>>,
}

impl<'a> NameResolver<'a> {
    fn new(registry: &'a Registry) -> NameResolver<'a> {
        NameResolver { registry, findings: Vec::new(), suggestions: BTreeMap::new() }
    }

    /// Gives the result if there is nothing to report.
    fn finish<T>(mut self, result: Option<T>) -> Result<T, PipelineFindings> {
        match result {
            Some(result) if self.findings.is_empty() => Ok(result),
            _ => {
                self.findings.sort_by_key(|finding| finding.span().start);
                Err(self.findings)
            }
        }
    }

    fn top_block(&mut self, block: &PipelineBlock) -> Option<ResolvedBlock> {
        shape::check(&block.body, self.registry, &mut self.findings);
        let PipelineBlock { backend, mode, .. } = *block;
        let body = match mode {
            ResolutionMode::Static => self.node(&block.body, backend, mode),
            ResolutionMode::Dynamic => self.carried(block),
        };
        body.map(|body| ResolvedBlock { backend, mode, body, span: block.site.0 })
    }

    fn node(
        &mut self,
        node: &PipelineNode,
        backend: Backend,
        mode: ResolutionMode,
    ) -> Option<ResolvedNode> {
        match node {
            PipelineNode::Pipeline(stages, _) => {
                self.all(stages, backend, mode).map(ResolvedNode::Sequence)
            }
            PipelineNode::Parallel(branches, _) => {
                self.all(branches, backend, mode).map(ResolvedNode::Fanout)
            }
            PipelineNode::Call(call) => self.call(call, backend),
            PipelineNode::Nested(block) => self.nested(block, backend, mode),
        }
    }

    /// Resolves every part, also behind one that fails.
    fn all(
        &mut self,
        nodes: &[PipelineNode],
        backend: Backend,
        mode: ResolutionMode,
    ) -> Option<Vec<ResolvedNode>> {
        let resolved: Vec<Option<ResolvedNode>> =
            nodes.iter().map(|node| self.node(node, backend, mode)).collect();
        resolved.into_iter().collect()
    }

    fn nested(
        &mut self,
        block: &PipelineBlock,
        outer: Backend,
        mode: ResolutionMode,
    ) -> Option<ResolvedNode> {
        if outer == Backend::Memory && block.backend == Backend::Temporal {
            let message = "a durable block cannot stand inside a block in memory";
            self.findings.push(
                PipelineFinding::new(FindingKind::NestedBackend, block.head.0, message)
                    .because("the block around it does not survive its process")
                    .hint("make the outer block `temporal`, or this one `memory`")
                    .on(Backend::Temporal),
            );
        }
        if (block.backend, block.mode) == (outer, mode) && mode == ResolutionMode::Static {
            return self.node(&block.body, outer, mode);
        }
        self.carried(block)
    }

    /// Resolves a block that its node carries as a program, to find what is wrong with it now.
    fn carried(&mut self, block: &PipelineBlock) -> Option<ResolvedNode> {
        self.node(&block.body, block.backend, ResolutionMode::Static)?;
        Some(ResolvedNode::Dynamic {
            backend: block.backend,
            mode: block.mode,
            program: canonical_program(&block.body),
            span: block.site.0,
        })
    }

    fn call(&mut self, call: &BuiltinCall, backend: Backend) -> Option<ResolvedNode> {
        let span = call.name_site.0;
        let Some(spec) = self.registry.get(&call.name) else {
            self.unknown(FindingKind::UnknownBuiltin, &call.name, span);
            return None;
        };
        if !spec.runs_on(backend) {
            self.unsupported(&call.name, backend, span);
            return None;
        }
        let bound = self.bind(call, spec, backend)?;
        let kind = match spec.kind {
            BuiltinKind::Activity => CallKind::Activity,
            BuiltinKind::Workflow => CallKind::Workflow,
            BuiltinKind::Hold => CallKind::Hold,
        };
        let call = agentic_plan::PlanCall {
            params: bound.params,
            args: bound.args,
            retry: spec.retry.clone(),
            timeout_ms: spec.timeout_ms,
            ..agentic_plan::PlanCall::new(kind, spec.agent.clone())
        };
        Some(ResolvedNode::Call(Box::new(call), span))
    }

    fn unknown(&mut self, kind: FindingKind, name: &str, span: Span) {
        let registry = self.registry;
        let suggestion = *self
            .suggestions
            .entry(name.to_owned())
            .or_insert_with(|| agentic_diag::nearest(name, registry.names()));
        let message = format!("there is no builtin `{}`", shown(name));
        let finding =
            PipelineFinding::new(kind, span, message).because("not in the registry").about(name);
        self.findings.push(match suggestion {
            Some(suggestion) => finding.hint(format!("did you mean `{suggestion}`?")),
            None => finding.hint("`agentic flow explain` lists the builtins of the registry"),
        });
    }

    fn unsupported(&mut self, name: &str, backend: Backend, span: Span) {
        let message = format!("`{name}` does not run in a `{backend}` block");
        let other = match backend {
            Backend::Memory => Backend::Temporal,
            Backend::Temporal => Backend::Memory,
        };
        self.findings.push(
            PipelineFinding::new(FindingKind::BackendUnsupported, span, message)
                .because(format!("runs in `{other}` only"))
                .hint(format!("put it into a `{other}` block"))
                .about(name)
                .on(backend),
        );
    }
}
