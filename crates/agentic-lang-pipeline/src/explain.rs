//! What a source will do, in words, and what it will need.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agentic_model::{Value, json};
use agentic_plan::{
    AgentId, AuthSource, Backend, BuiltinSpec, CallKind, GraphNode, Implementation, NodeWork,
    ParameterType, Plan, PlanCall, PlanSourceMap, Registry, ResolutionMode,
};

use crate::ast;
use crate::compile::CompiledSource;
use crate::finding::shown;
use crate::parser::parse_program;
use crate::run::prompts;

/// What a source needs from the outside before it can run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// Credentials, one sentence each, sorted.
    pub credentials: BTreeSet<String>,
    /// Providers that act in the name of the person who starts the run.
    pub identities: BTreeSet<String>,
    /// The models that are asked, one sentence each, sorted.
    pub models: BTreeSet<String>,
    /// How many places wait for a human.
    pub n_holds: usize,
    /// The agents that are called, or named as those that loops call.
    pub agents: BTreeSet<AgentId>,
}

/// Says what a compiled source does, block by block.
pub fn explain(compiled: &CompiledSource) -> String {
    let mut out = String::new();
    for (index, block) in compiled.blocks.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let _ = write!(out, "Block {index} runs ");
        explain_plan(&mut out, &block.plan, &block.source_map, &compiled.registry);
    }
    let needs = Needs::of(compiled);
    if !needs.credentials.is_empty() || !needs.models.is_empty() {
        out.push_str("\nIt needs:\n");
        for sentence in needs.credentials.iter().chain(&needs.models) {
            let _ = writeln!(out, "- {sentence}");
        }
    }
    out
}

/// Says what a plan by itself does, and where its nodes come from.
pub fn explain_stored(plan: &Plan, places: &PlanSourceMap, registry: &Registry) -> String {
    let mut out = String::from("It runs ");
    explain_plan(&mut out, plan, places, registry);
    out
}

impl Needs {
    /// Collects what the blocks of a source need, programs in nodes included.
    pub fn of(compiled: &CompiledSource) -> Needs {
        let mut needs = Needs::default();
        for block in &compiled.blocks {
            for node in block.plan.nodes() {
                if let NodeWork::Call(call) = &node.work {
                    needs.add_call(call, &compiled.registry);
                }
            }
        }
        needs
    }

    fn add_call(&mut self, call: &PlanCall, registry: &Registry) {
        match call.kind {
            CallKind::Hold => self.n_holds += 1,
            CallKind::Dynamic => {
                let program = call.params.get("program").and_then(Value::as_text);
                if let Some(Ok(body)) = program.map(parse_program) {
                    self.add_program(&body, registry);
                }
            }
            CallKind::Activity | CallKind::Workflow => {
                let references = call.params.values().flat_map(texts);
                let agents = references.filter_map(|id| AgentId::parse(id).ok());
                for agent in agents.chain([call.agent.clone()]) {
                    self.add_agent(&agent, registry);
                }
            }
        }
    }

    fn add_program(&mut self, body: &ast::PipelineNode, registry: &Registry) {
        match body {
            ast::PipelineNode::Pipeline(parts, _) | ast::PipelineNode::Parallel(parts, _) => {
                parts.iter().for_each(|part| self.add_program(part, registry));
            }
            ast::PipelineNode::Nested(block) => self.add_program(&block.body, registry),
            ast::PipelineNode::Call(call) => {
                if let Some(spec) = registry.get(&call.name) {
                    self.add_agent(&spec.agent, registry);
                    self.add_references(call, registry);
                    self.add_defaults(call, spec, registry);
                    let is_hold = spec.kind == agentic_plan::BuiltinKind::Hold;
                    self.n_holds += usize::from(is_hold);
                }
            }
        }
    }

    /// Adds the agents that a call in a program names as its arguments.
    fn add_references(&mut self, call: &ast::BuiltinCall, registry: &Registry) {
        let named = call.named.iter().flatten().map(|named| &named.argument.literal);
        let mut todo: Vec<&ast::Literal> =
            call.positional.iter().map(|argument| &argument.literal).chain(named).collect();
        while let Some(literal) = todo.pop() {
            match literal {
                ast::Literal::Ref(name) => {
                    if let Some(spec) = registry.get(name) {
                        self.add_agent(&spec.agent, registry);
                    }
                }
                ast::Literal::List(items) => todo.extend(items.iter().map(|item| &item.literal)),
                ast::Literal::Text(_)
                | ast::Literal::Int(_)
                | ast::Literal::Float(_)
                | ast::Literal::Bool(_) => {}
            }
        }
    }

    /// Adds the agents that a call in a program names by leaving an argument out.
    fn add_defaults(&mut self, call: &ast::BuiltinCall, spec: &BuiltinSpec, registry: &Registry) {
        for param in spec.schema.params.iter().skip(call.positional.len()) {
            let is_given = call.named.iter().flatten().any(|named| named.name == param.name);
            let default =
                param.default.as_ref().filter(|_| !is_given && param.kind == ParameterType::Ref);
            let agent = default.and_then(Value::as_text).map(AgentId::parse);
            if let Some(Ok(agent)) = agent {
                self.add_agent(&agent, registry);
            }
        }
    }

    /// Adds what an agent needs, and those that it calls.
    fn add_agent(&mut self, agent: &AgentId, registry: &Registry) {
        match registry.by_agent(agent) {
            Some(spec) => {
                self.add_auth(&spec.name, &spec.auth);
                self.agents.insert(agent.clone());
                self.n_holds += usize::from(spec.verdict.is_some());
                if let Some(Implementation::Model { model, .. }) = &spec.run {
                    self.models.insert(format!("the model `{model}` (for `{}`)", spec.name));
                }
            }
            None if prompts::is_model(agent) => {
                self.models.insert(format!("a default model (for `{agent}`)"));
            }
            None => {}
        }
        for part in prompts::parts(agent) {
            self.add_agent(&prompts::id(part), registry);
        }
    }

    fn add_auth(&mut self, name: &str, auth: &AuthSource) {
        let sentence = match auth {
            AuthSource::None | AuthSource::Static => return,
            AuthSource::OAuth { provider, .. } => {
                self.identities.insert(provider.clone());
                format!("your authorization at `{provider}` (for `{name}`)")
            }
            AuthSource::Env { var } => format!("the environment variable `{var}` (for `{name}`)"),
            AuthSource::File { path } => format!("the file `{path}` (for `{name}`)"),
            AuthSource::Secret { name: secret } => format!("the secret `{secret}` (for `{name}`)"),
        };
        self.credentials.insert(sentence);
    }
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Text(text) => vec![text],
        Value::List(items) => items.iter().filter_map(Value::as_text).collect(),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Map(_)
        | Value::Link(_) => Vec::new(),
    }
}

fn explain_plan(out: &mut String, plan: &Plan, places: &PlanSourceMap, registry: &Registry) {
    let backend = place_of(plan.backend());
    let when = match plan.mode() {
        ResolutionMode::Static => "its plan is fixed now",
        ResolutionMode::Dynamic => "its plan is made when it runs",
    };
    let _ = writeln!(out, "{backend}; {when}.");
    for node in plan.nodes() {
        let place = places.place(&node.id).map(|place| format!(" ({place})"));
        let place = place.unwrap_or_default();
        let _ = writeln!(out, "  {}: {}{place}", node.id, explain_node(node, registry));
    }
    let _ = writeln!(out, "  The result is what {} gives. Plan {}", plan.exit(), plan.cid());
}

fn place_of(backend: Backend) -> &'static str {
    match backend {
        Backend::Memory => "in this process, without a record",
        Backend::Temporal => "durably: it survives crashes and may wait for humans",
    }
}

fn explain_node(node: &GraphNode, registry: &Registry) -> String {
    let call = match &node.work {
        NodeWork::Join => {
            let sources: Vec<&str> = node.requires.iter().map(|id| id.as_str()).collect();
            return format!("waits for {} and makes a list of what they give", sources.join(", "));
        }
        NodeWork::Call(call) => call,
    };
    let spec = registry.by_agent(&call.agent);
    let name = spec.map_or(call.agent.as_str(), |spec| &spec.name);
    let mut text = match (node.requires.first(), call.kind) {
        (Some(source), _) => format!("when {source} is done, "),
        (None, _) => String::from("at once, "),
    };
    match call.kind {
        CallKind::Activity => text.push_str(&format!("calls `{name}`")),
        CallKind::Workflow => text.push_str(&format!("works in a loop with `{name}`")),
        CallKind::Hold => text.push_str("waits for a human's decision"),
        CallKind::Dynamic => {
            let param = |key: &str| call.params.get(key).and_then(Value::as_text).unwrap_or("");
            let (backend, mode) = (param("backend"), param("mode"));
            let program = shown(param("program"));
            return format!("{text}runs the {backend} {mode} program `{program}`");
        }
    }
    let params = call.params.iter();
    let mut arguments: Vec<String> =
        params.map(|(key, value)| format!("{key} {}", shown(&json::to_text(value)))).collect();
    arguments.extend(call.args.iter().map(|value| shown(&json::to_text(value))));
    if !arguments.is_empty() {
        text.push_str(&format!(" with {}", arguments.join(", ")));
    }
    match spec.and_then(|spec| spec.verdict.as_ref()).map(|verdict| &verdict.when) {
        Some(None) => text.push_str(", and asks a human about what it gave"),
        Some(Some(condition)) => {
            text.push_str(&format!(", and asks a human depending on `{}`", condition.field));
        }
        None => {}
    }
    text
}
