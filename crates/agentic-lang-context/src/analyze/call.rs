//! Calls: of functions, agents, tools, memories and lists.

use agentic_diag::Span;
use agentic_model::{STORE_ADDRESS, StoreVerb};

use crate::ast::{ContextExprId, ContextExprKind, EntryStatement, ExprLink, ImportKind};

use super::{Analyzer, NameBinding, explain};

/// Methods of any tool that change something outside.
const EFFECTFUL_METHODS: [&str; 5] = ["write", "patch", "delete", "post", "put"];

impl<'a> Analyzer<'a> {
    pub(super) fn call(&mut self, callee: ContextExprId, args: &'a [ContextExprId]) {
        let file = self.file;
        let expr = file.expr(callee);
        match expr.kind.link() {
            Some(ExprLink::Name) => self.call_name(expr.span, args.len()),
            Some(ExprLink::Member { object, name }) => {
                self.call_member(callee, object, file.text(name), args.len());
            }
            Some(ExprLink::Index { .. } | ExprLink::Call { .. }) | None => {
                let message = "only functions, agents and members can be called";
                let found = self.report("NOT_CALLABLE", expr.span, message);
                explain(found, "this is a value", "call a function of the agent instead");
                self.expr(callee);
            }
        }
        self.exprs(args);
    }

    fn call_name(&mut self, span: Span, count: usize) {
        let name = self.file.text(span);
        match self.scopes.find(name) {
            Some((_, NameBinding::Function(agent, function))) => {
                self.arity(span, agent, function, count);
            }
            Some((_, NameBinding::Agent(agent))) => self.call_agent(span, agent, count),
            Some((
                _,
                binding @ (NameBinding::Param | NameBinding::Local | NameBinding::Resource(..)),
            )) => {
                let message = format!("the {} `{name}` cannot be called", binding.word());
                let found = self.report("NOT_CALLABLE", span, message);
                explain(found, "neither a function nor an agent", "call one of its methods");
            }
            None => {
                let message = format!("there is no function `{name}`");
                let found = self.report("UNKNOWN_FUNCTION", span, message);
                explain(found, "unknown here", "functions of other agents are `Agent.name(…)`");
            }
        }
    }

    fn call_agent(&mut self, span: Span, agent: usize, count: usize) {
        let (file, place) = self.loaded.agents[agent];
        let file = &self.loaded.files[file];
        let declared = &file.program.agents[place];
        let main =
            declared.functions.iter().position(|function| function.entry == EntryStatement::Main);
        match main {
            Some(main) => self.arity(span, agent, main, count),
            None => {
                let message = format!("the agent `{}` has no main func", file.agent_name(declared));
                let found = self.report("UNKNOWN_FUNCTION", span, message);
                explain(found, "it cannot be called itself", "call `Agent.function(…)`");
            }
        }
    }

    fn call_member(
        &mut self,
        callee: ContextExprId,
        object: ContextExprId,
        method: &'a str,
        count: usize,
    ) {
        let span = self.file.expr(callee).span;
        let object_expr = self.file.expr(object);
        let bound = if matches!(object_expr.kind, ContextExprKind::Name) {
            self.scopes.find(self.file.text(object_expr.span))
        } else {
            None
        };
        match bound {
            Some((_, NameBinding::Agent(agent))) => {
                self.call_agent_function(span, agent, method, count)
            }
            Some((_, NameBinding::Resource(ImportKind::Memory, at))) => {
                self.call_memory(span, at, method, count);
            }
            Some((_, NameBinding::Resource(ImportKind::Tool, at))) => {
                self.refuse_effect(span, at, method);
            }
            Some(_) | None => {
                if method == "add" {
                    self.refuse_outer_mutation(callee);
                }
                self.expr(object);
            }
        }
    }

    fn call_agent_function(&mut self, span: Span, agent: usize, method: &str, count: usize) {
        match self.functions[agent].get(method) {
            Some(function) => self.arity(span, agent, *function, count),
            None => {
                let agent = super::agent_name(self.loaded, agent);
                let message = format!("the agent `{agent}` has no function `{method}`");
                let found = self.report("UNKNOWN_FUNCTION", span, message);
                explain(found, "unknown there", "check the spelling, or declare the function");
            }
        }
    }

    fn call_memory(&mut self, span: Span, at: usize, method: &str, count: usize) {
        let name = &self.loaded.resources[at].name;
        if !matches!(method, "add" | "query") {
            let message = format!("a memory has no method `{method}`");
            let found = self.report("UNKNOWN_MEMORY_METHOD", span, message);
            explain(found, "memories know `add` and `query`", "call one of these");
        }
        if count != 1 {
            let message = format!("`{name}.{method}` takes 1 argument, not {count}");
            let found = self.report("INVALID_ARGUMENT_COUNT", span, message);
            explain(found, "called here", "pass one object");
        }
        if method == "add" {
            self.refuse_effectful(span, &format!("{name}.{method}"));
        }
    }

    fn refuse_effect(&mut self, span: Span, at: usize, method: &str) {
        let tool = &self.loaded.resources[at];
        let scheme = tool.uri.split(':').next().unwrap_or("");
        if &*tool.uri == STORE_ADDRESS {
            return self.call_store(span, method);
        }
        let foreign = matches!(scheme, "mcp" | "npm" | "node");
        let optimizer = matches!(&*tool.uri, "host://optimizer" | "host://agentscript");
        if EFFECTFUL_METHODS.contains(&method) || foreign || (optimizer && method == "specialize") {
            self.refuse_effectful(span, &format!("{}.{method}", tool.name));
        }
    }

    /// Checks a call of the store: what it does, and that it changes nothing in a parallel loop.
    fn call_store(&mut self, span: Span, method: &str) {
        match StoreVerb::parse(method) {
            Some(StoreVerb::Hold | StoreVerb::Pending | StoreVerb::Query) => {}
            Some(StoreVerb::Commit | StoreVerb::Relate | StoreVerb::Spawn | StoreVerb::Trace) => {
                self.refuse_effectful(span, &format!("{STORE_ADDRESS}{method}"))
            }
            None => {
                let message = format!("the store has no function `{method}`");
                let found = self.report("UNKNOWN_FUNCTION", span, message);
                let known = StoreVerb::names().collect::<Vec<_>>().join(", ");
                explain(found, "unknown there", &format!("it has these: {known}"));
            }
        }
    }

    fn refuse_effectful(&mut self, span: Span, operation: &str) {
        if self.parallel.is_empty() {
            return;
        }
        let message = format!("`{operation}` may change something outside the program");
        let found = self.report("PARALLEL_FOR_EFFECTFUL_CALL", span, message);
        explain(
            found,
            "called inside a `parallel for`",
            "return what it needs from the body and call it after the loop",
        );
    }

    fn arity(&mut self, span: Span, agent: usize, function: usize, count: usize) {
        let (file, place) = self.loaded.agents[agent];
        let file = &self.loaded.files[file];
        let declared = &file.program.agents[place].functions[function];
        let expected = declared.params.len();
        if expected == count {
            return;
        }
        let (agent, name) = (super::agent_name(self.loaded, agent), file.function_name(declared));
        let message = format!("`{agent}.{name}` takes {expected} arguments, not {count}");
        let found = self.report("INVALID_ARGUMENT_COUNT", span, message);
        explain(found, "called here", "pass one value for every parameter");
    }
}
