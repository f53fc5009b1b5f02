//! What a host calls: check, compile, lower, format, run.

use std::sync::Arc;

use agentic_diag::{Diagnostic, SourceText, Span};
use agentic_model::Value as Model;
use agentic_replay::ProgramFailure;

use crate::ast::{Ast, TaskParameter, TaskSignature};
use crate::code;
use crate::data::{Data, json};
use crate::hint::hinted;
use crate::program::conform::{conforms, find_stranger, quoted};
use crate::program::fault::MachineFault;
use crate::program::request::BoundAgent;
use crate::program::{
    AGENT_TASK, CalleeCode, FileCode, MachineStep, RoutineCode, TaskCode, compile as codegen,
};
use crate::{parser, printer, resolve};

/// A checked file, ready to run.
pub struct AgentModule {
    pub(crate) ast: Ast,
    pub(crate) code: FileCode,
    warnings: Vec<Diagnostic>,
}

/// What a pipeline or a task is called, takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureInfo {
    /// Its name.
    pub name: String,
    /// The names and types of what it takes.
    pub inputs: Vec<(String, String)>,
    /// The type of what it gives.
    pub result: String,
}

/// Reads a file: UTF-8 with any line ends. Positions refer to the text with plain line feeds.
///
/// # Errors
/// Fails when the bytes are not UTF-8.
pub fn read(name: &str, bytes: &[u8]) -> Result<SourceText, Box<Diagnostic>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("`{name}` is not UTF-8 from byte {} on", error.valid_up_to());
        Box::new(hinted(Diagnostic::error(code::UNREADABLE_SOURCE, Span::default(), message)))
    })?;
    if !text.contains('\r') {
        return Ok(SourceText::new(name, text));
    }
    Ok(SourceText::new(name, text.replace("\r\n", "\n").replace('\r', "\n")))
}

/// Looks for errors and warnings. At most one error is found, the first in the order of phases.
pub fn check(source: &SourceText) -> Vec<Diagnostic> {
    match front(source.text()) {
        Ok(ast) => crate::check::warnings(&ast),
        Err(found) => vec![hinted(*found)],
    }
}

/// Compiles a file.
///
/// # Errors
/// Fails with the first error.
pub fn compile(source: &SourceText) -> Result<Arc<AgentModule>, Vec<Diagnostic>> {
    let mut ast = front(source.text()).map_err(|found| vec![hinted(*found)])?;
    let code = codegen::compile(&ast, source.text());
    let warnings = crate::check::warnings(&ast);
    // What runs is the code; of the tree only signatures and types are still needed.
    ast.exprs = Vec::new();
    ast.pipelines.iter_mut().for_each(|pipeline| pipeline.body.statements = Vec::new());
    ast.tests.iter_mut().for_each(|test| test.body.statements = Vec::new());
    Ok(Arc::new(AgentModule { ast, code, warnings }))
}

/// Prints a pipeline as it runs, workflows lowered. Types are not checked.
///
/// # Errors
/// Fails with the first error of syntax or lowering, and when there is no such pipeline.
pub fn lower(source: &SourceText, name: &str) -> Result<String, Box<Diagnostic>> {
    let ast = lowered(source.text()).map_err(|found| Box::new(hinted(*found)))?;
    let found = ast.pipelines.iter().find(|each| ast.text(each.signature.name.symbol) == name);
    match found {
        Some(pipeline) => Ok(printer::lowered(&ast, pipeline)),
        None => {
            let message = format!("no pipeline or workflow is called `{name}`");
            let found = Diagnostic::error(code::PIPELINE_UNKNOWN, Span::default(), message);
            Err(Box::new(hinted(found)))
        }
    }
}

/// Lays a file out anew: same tokens and comments, one layout.
///
/// # Errors
/// Fails with the first error of syntax.
pub fn format(source: &SourceText) -> Result<String, Box<Diagnostic>> {
    let parsed = parser::parse(source.text()).map_err(|found| Box::new(hinted(*found)))?;
    Ok(printer::format::format(source.text(), &parsed.tokens))
}

fn lowered(text: &str) -> code::PhaseResult<Ast> {
    let mut ast = parser::parse(text)?.ast;
    resolve::resolve(&mut ast)?;
    crate::lower::lower(&mut ast)?;
    Ok(ast)
}

fn front(text: &str) -> code::PhaseResult<Ast> {
    let mut ast = lowered(text)?;
    crate::check::check(&mut ast)?;
    Ok(ast)
}

impl AgentModule {
    /// Lists the pipelines, those that workflows became last.
    pub fn pipelines(&self) -> Vec<SignatureInfo> {
        self.ast.pipelines.iter().map(|pipeline| self.described(&pipeline.signature)).collect()
    }

    /// Lists the tasks.
    pub fn tasks(&self) -> Vec<SignatureInfo> {
        self.ast.tasks.iter().map(|task| self.described(&task.signature)).collect()
    }

    /// Lists the names of the agents.
    pub fn agents(&self) -> Vec<&str> {
        self.ast.agents.iter().map(|agent| self.ast.text(agent.name.symbol)).collect()
    }

    fn described(&self, signature: &TaskSignature) -> SignatureInfo {
        let input = |param: &TaskParameter| {
            let name = self.ast.text(param.name.symbol).to_owned();
            (name, self.ast.shown(param.declared))
        };
        SignatureInfo {
            name: self.ast.text(signature.name.symbol).to_owned(),
            inputs: signature.params.iter().map(input).collect(),
            result: self.ast.shown(signature.result),
        }
    }

    /// Returns what is legal but probably not meant.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Whether the file declares tasks that a model may perform.
    pub fn has_model_tasks(&self) -> bool {
        self.code.tasks.iter().any(TaskCode::is_for_models)
    }

    /// Whether a pipeline, or one that it calls, may ask a human. Such a run must be durable.
    pub fn may_hold(&self, pipeline: &str) -> bool {
        let is_meant = |routine: &&RoutineCode| &*routine.name == pipeline;
        self.reaches_hold(self.code.pipelines.iter().filter(is_meant))
    }

    /// Whether a test, or a pipeline that it calls, may ask a human.
    pub fn tests_may_hold(&self) -> bool {
        self.reaches_hold(self.code.tests.iter())
    }

    fn reaches_hold<'a>(&'a self, from: impl Iterator<Item = &'a RoutineCode>) -> bool {
        let mut seen = vec![false; self.code.pipelines.len()];
        let mut queue: Vec<&RoutineCode> = from.collect();
        while let Some(routine) = queue.pop() {
            let mut called = Vec::new();
            for step in &self.code.steps[routine.entry..] {
                match step {
                    MachineStep::Approve { .. } => return true,
                    MachineStep::End => break,
                    MachineStep::Call(call) => called.extend(self.called(*call)),
                    MachineStep::Parallel(parallel) => {
                        let calls = &self.code.parallels[*parallel as usize].calls;
                        called.extend(calls.iter().filter_map(|call| self.called(*call)));
                    }
                    MachineStep::Jump(_)
                    | MachineStep::Unless { .. }
                    | MachineStep::Unwrap { .. }
                    | MachineStep::Guard { .. }
                    | MachineStep::Unguard
                    | MachineStep::Assert { .. }
                    | MachineStep::Return(_) => {}
                }
            }
            called.retain(|at| !std::mem::replace(&mut seen[*at], true));
            queue.extend(called.into_iter().map(|at| &self.code.pipelines[at]));
        }
        false
    }

    /// Returns the pipeline that a call means, if it means one.
    fn called(&self, call: u32) -> Option<usize> {
        match self.code.calls[call as usize].callee {
            CalleeCode::Pipeline(at) => Some(at as usize),
            CalleeCode::Task(_) => None,
        }
    }

    /// Counts agents, tasks and pipelines.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.ast.agents.len(), self.ast.tasks.len(), self.ast.pipelines.len())
    }

    /// Says whether there are tests.
    pub fn has_tests(&self) -> bool {
        !self.code.tests.is_empty()
    }

    /// Checks inputs as a run would, without running.
    ///
    /// # Errors
    /// Fails as the run would.
    pub fn check_input(&self, pipeline: &str, input: &Model) -> Result<(), Box<ProgramFailure>> {
        let bound = self.bind_input(pipeline, input);
        bound.map(|_| ()).map_err(|fault| Box::new(fault.into_failure()))
    }

    /// Finds a pipeline and puts its inputs in order.
    pub(crate) fn bind_input(
        &self,
        name: &str,
        input: &Model,
    ) -> Result<(usize, Vec<Data>), MachineFault> {
        let at = self.code.pipelines.iter().position(|routine| &*routine.name == name);
        let Some(at) = at else {
            let text = format!("Unknown pipeline '{name}'.");
            return Err(MachineFault::new(code::PIPELINE_UNKNOWN, text));
        };
        let input = input_data(input)?;
        let fields = input.fields().unwrap_or(&[]);
        let routine = &self.code.pipelines[at];
        let list = |mut names: Vec<&str>| {
            names.sort_unstable();
            names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
        };
        let known: std::collections::BTreeMap<&str, &Data> =
            fields.iter().map(|(name, value)| (&**name, value)).collect();
        let params = || routine.params.iter().map(|(name, _)| &**name);
        let missing: Vec<&str> = params().filter(|name| !known.contains_key(name)).collect();
        if !missing.is_empty() {
            let text = format!("Pipeline '{name}' missing inputs: [{}].", list(missing));
            return Err(MachineFault::new(code::INPUTS_MISSING, text));
        }
        if fields.len() > routine.params.len() {
            let declared: std::collections::BTreeSet<&str> = params().collect();
            let names = known.keys().copied();
            let unknown: Vec<&str> = names.filter(|name| !declared.contains(name)).collect();
            let text = format!("Pipeline '{name}' received unknown inputs: [{}].", list(unknown));
            return Err(MachineFault::new(code::INPUTS_UNKNOWN, text));
        }
        let mut slots = Vec::with_capacity(routine.params.len());
        for (param, declared) in &routine.params {
            let value = known[&**param];
            if !conforms(&self.ast, value, *declared) {
                let shown = self.ast.shown(*declared);
                let text = format!(
                    "Pipeline '{name}' input '{param}' has invalid value {} for type {shown}.",
                    json::to_text(value)
                );
                return Err(MachineFault::new(code::INPUT_INVALID, text));
            }
            if let Some(stranger) = find_stranger(&self.ast, value, *declared) {
                let place = format!("Pipeline '{name}' input '{param}'");
                return Err(MachineFault::new(code::INPUT_INVALID, stranger.shown(&place)));
            }
            slots.push(value.clone());
        }
        Ok((at, slots))
    }

    /// Describes an agent for a request of a kind.
    pub(crate) fn bound_agent(&self, at: usize, kind: &str) -> BoundAgent<'_> {
        let agent = &self.ast.agents[at];
        let tools = if kind == AGENT_TASK { self.tools(agent) } else { String::new() };
        let model = agent.model.map(|model| self.ast.text(model));
        BoundAgent { name: self.ast.text(agent.name.symbol), model, tools }
    }

    /// Lists an agent's tools with the schemas of what they take and give, as JSON.
    fn tools(&self, agent: &crate::ast::AgentItem) -> String {
        let mut out = String::from("[");
        for (at, tool) in agent.tools.iter().enumerate() {
            out.push_str(if at == 0 { "{\"name\":" } else { ",{\"name\":" });
            json::write_text(self.ast.text(tool.symbol), &mut out);
            let declared = self.ast.by_name.tools.get(tool.symbol);
            if let Some(at) = declared {
                let signature = &self.ast.tools[at].signature;
                out.push_str(",\"params\":{");
                for (at, param) in signature.params.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    json::write_text(self.ast.text(param.name.symbol), &mut out);
                    out.push(':');
                    out.push_str(&crate::program::conform::schema(&self.ast, param.declared));
                }
                out.push_str("},\"result\":");
                out.push_str(&crate::program::conform::schema(&self.ast, signature.result));
            }
            out.push('}');
        }
        out.push(']');
        out
    }
}

/// Reads the input of a run: JSON text, or a map of plain values.
fn input_data(input: &Model) -> Result<Data, MachineFault> {
    let text = if let Model::Text(text) = input {
        text.clone()
    } else {
        agentic_model::json::to_text(input)
    };
    let not_object = || {
        MachineFault::new(code::INPUT_NOT_OBJECT, "The input of a pipeline must be a JSON object.")
    };
    let data = json::from_text(&text).map_err(|error| {
        MachineFault::new(code::INPUT_NOT_OBJECT, format!("The input of a pipeline is {error}."))
    })?;
    if data.fields().is_some() { Ok(data) } else { Err(not_object()) }
}
