//! Which functions may change what they are given.
//!
//! Lists and objects are shared by reference, so a function can change an argument under the eyes
//! of its caller. A call that runs as a program of its own gets a copy and cannot; it is refused
//! where its callee may. The answer errs on the safe side: it follows names, not the flow.

use std::collections::BTreeMap;

use agentic_diag::Diagnostic;

use crate::ast::{
    ContextExprId, ContextExprKind, ContextFile, ContextStatement, ExprLink, For,
    FunctionDeclaration, OptionValue, StatementBlock,
};
use crate::load::{FileFinding, LoadedProgram};

use super::explain;

/// The code of a call whose callee may change its arguments.
const CHANGED_ARGUMENT: &str = "CHANGED_ARGUMENT";
/// The method that changes a list.
const ADD: &str = "add";

/// How a value is tied to what its function was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum SharingTie {
    /// Not at all.
    #[default]
    Free,
    /// A part of it may be what was given.
    Holds,
    /// It may itself be what was given, or a part of that.
    Is,
}

/// Adds a finding for every call of an agent whose callee may change an argument.
pub(super) fn check(loaded: &LoadedProgram, findings: &mut Vec<FileFinding>) {
    let changing = changing(loaded);
    for (at, &(file_number, agent)) in loaded.agents.iter().enumerate() {
        let file = &loaded.files[file_number];
        for function in &file.program.agents[agent].functions {
            let mut walk = SharingWalk::new(loaded, at, &changing);
            walk.function(function);
            for (call, callee) in walk.refused {
                let span = file.expr(call).span;
                let message = format!("`{callee}` may change what it is given");
                let mut diagnostic = Diagnostic::error(CHANGED_ARGUMENT, span, message);
                explain(
                    &mut diagnostic,
                    "as a child it works on a copy, and the change would be lost",
                    "return the changed value instead, or run it without `--branches`",
                );
                findings.push(FileFinding { file: file_number, diagnostic });
            }
        }
    }
}

/// A function: its agent and its name.
type FunctionName<'a> = (usize, &'a str);

/// Finds the functions that may change an argument, those included that hand it on to one.
fn changing(loaded: &LoadedProgram) -> BTreeMap<FunctionName<'_>, bool> {
    let mut changing = BTreeMap::new();
    loop {
        let mut grown = false;
        for (at, &(file, agent)) in loaded.agents.iter().enumerate() {
            let file = &loaded.files[file];
            for function in &file.program.agents[agent].functions {
                let name = (at, file.function_name(function));
                let mut walk = SharingWalk::new(loaded, at, &changing);
                walk.function(function);
                if walk.changes && changing.insert(name, true).is_none() {
                    grown = true;
                }
            }
        }
        if !grown {
            return changing;
        }
    }
}

struct SharingWalk<'a, 'c> {
    loaded: &'a LoadedProgram,
    file: &'a ContextFile,
    agent: usize,
    changing: &'c BTreeMap<FunctionName<'a>, bool>,
    /// The ties of names, all scopes together.
    names: BTreeMap<&'a str, SharingTie>,
    grown: bool,
    changes: bool,
    /// Calls of agents that change their arguments.
    refused: BTreeMap<ContextExprId, String>,
}

impl<'a, 'c> SharingWalk<'a, 'c> {
    fn new(
        loaded: &'a LoadedProgram,
        agent: usize,
        changing: &'c BTreeMap<FunctionName<'a>, bool>,
    ) -> SharingWalk<'a, 'c> {
        let file = &loaded.files[loaded.agents[agent].0];
        // The data of imported files is shared by all agents.
        let files = loaded.resources.iter().filter(|it| it.kind == crate::ast::ImportKind::File);
        let names = files.map(|resource| (&*resource.name, SharingTie::Is)).collect();
        let refused = BTreeMap::new();
        SharingWalk { loaded, file, agent, changing, names, grown: false, changes: false, refused }
    }

    fn function(&mut self, function: &'a FunctionDeclaration) {
        for param in &function.params {
            self.names.insert(self.file.text(param.name), SharingTie::Is);
        }
        loop {
            self.grown = false;
            self.block(&function.body);
            if !self.grown {
                return;
            }
        }
    }

    fn raise(&mut self, name: &'a str, tie: SharingTie) {
        let known = self.names.entry(name).or_default();
        if *known < tie {
            *known = tie;
            self.grown = true;
        }
    }

    fn block(&mut self, block: &'a StatementBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a ContextStatement) {
        match statement {
            // Neither is evaluated as a statement, and sources contain no calls.
            ContextStatement::Config(_)
            | ContextStatement::Use(_)
            | ContextStatement::Choice(_) => {}
            ContextStatement::Return { value } | ContextStatement::Expr(value) => {
                self.tie(*value);
            }
            ContextStatement::Repeat { body, .. } => self.block(body),
            ContextStatement::For(each) => self.each(each),
            ContextStatement::Loop { until, body, .. } => {
                self.tie(*until);
                self.block(body);
            }
            ContextStatement::If { condition, then, otherwise } => {
                self.tie(*condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            ContextStatement::Assign { target, value, .. } => {
                let tie = self.tie(*value);
                self.assign(*target, tie);
            }
        }
    }

    fn each(&mut self, each: &'a For) {
        if self.tie(each.list) > SharingTie::Free {
            self.raise(self.file.text(each.item), SharingTie::Is);
        }
        self.block(&each.body);
    }

    fn assign(&mut self, target: ContextExprId, tie: SharingTie) {
        let file = self.file;
        match file.expr(target).kind.link() {
            Some(ExprLink::Name) => self.raise(file.text(file.expr(target).span), tie),
            Some(ExprLink::Member { object, .. }) => self.put_into(object, tie),
            Some(ExprLink::Index { .. } | ExprLink::Call { .. }) | None => {}
        }
    }

    /// Notes that something is put into a list or object.
    fn put_into(&mut self, object: ContextExprId, tie: SharingTie) {
        self.changes |= self.tie(object) == SharingTie::Is;
        if tie > SharingTie::Free
            && let Some(root) = self.root(object)
        {
            self.raise(root, SharingTie::Holds);
        }
    }

    fn root(&self, mut expr: ContextExprId) -> Option<&'a str> {
        let file = self.file;
        loop {
            expr = match file.expr(expr).kind.link() {
                Some(ExprLink::Name) => return Some(file.text(file.expr(expr).span)),
                Some(ExprLink::Member { object, .. }) => object,
                Some(ExprLink::Index { list }) => list,
                Some(ExprLink::Call { callee }) => callee,
                None => return None,
            };
        }
    }

    fn tie(&mut self, id: ContextExprId) -> SharingTie {
        let file = self.file;
        let held = |tie| if tie > SharingTie::Free { SharingTie::Holds } else { SharingTie::Free };
        match &file.expr(id).kind {
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None => SharingTie::Free,
            ContextExprKind::Name => {
                self.names.get(file.text(file.expr(id).span)).copied().unwrap_or_default()
            }
            ContextExprKind::Object(entries) => {
                held(self.most(entries.iter().map(|(_, value)| *value).collect()))
            }
            ContextExprKind::List(items) => held(self.most(items.clone())),
            ContextExprKind::Generate(generate) => {
                for option in &generate.options {
                    if let OptionValue::Expr(value) = option.value {
                        self.tie(value);
                    }
                }
                SharingTie::Free
            }
            ContextExprKind::Parallel(each) => {
                self.each(each);
                held(self.names.values().copied().max().unwrap_or_default())
            }
            ContextExprKind::Member { object, .. } => self.part_of(*object),
            ContextExprKind::Index { list, index } => {
                self.tie(*index);
                self.part_of(*list)
            }
            ContextExprKind::Call { callee, args } => self.call(id, *callee, args),
            ContextExprKind::Not(inner) => {
                self.tie(*inner);
                SharingTie::Free
            }
            ContextExprKind::Binary { left, right, .. } => {
                self.most(vec![*left, *right]);
                SharingTie::Free
            }
        }
    }

    fn most(&mut self, ids: Vec<ContextExprId>) -> SharingTie {
        ids.into_iter().map(|id| self.tie(id)).max().unwrap_or_default()
    }

    fn part_of(&mut self, whole: ContextExprId) -> SharingTie {
        if self.tie(whole) > SharingTie::Free { SharingTie::Is } else { SharingTie::Free }
    }

    fn call(
        &mut self,
        id: ContextExprId,
        callee: ContextExprId,
        args: &'a [ContextExprId],
    ) -> SharingTie {
        let given = self.most(args.to_vec());
        let file = self.file;
        let name_of = |id: ContextExprId| file.text(file.expr(id).span);
        match file.expr(callee).kind.link() {
            Some(ExprLink::Name) if self.is_own(name_of(callee)) => {
                let is_changing = self.changing.contains_key(&(self.agent, name_of(callee)));
                self.changes |= is_changing && given > SharingTie::Free;
                if given > SharingTie::Free { SharingTie::Is } else { SharingTie::Free }
            }
            Some(ExprLink::Name) => {
                self.call_agent(id, name_of(callee), None);
                SharingTie::Free
            }
            Some(ExprLink::Member { object, name }) if file.text(name) == ADD => {
                self.put_into(object, given);
                self.tie(object)
            }
            Some(ExprLink::Member { object, name }) => {
                if matches!(file.expr(object).kind, ContextExprKind::Name) {
                    self.call_agent(id, name_of(object), Some(file.text(name)));
                }
                SharingTie::Free
            }
            Some(ExprLink::Index { .. } | ExprLink::Call { .. }) | None => SharingTie::Free,
        }
    }

    /// Tells whether the agent has such a function.
    fn is_own(&self, name: &str) -> bool {
        super::functions_by_name(self.loaded, self.agent).contains_key(name)
    }

    fn call_agent(&mut self, call: ContextExprId, agent: &'a str, function: Option<&'a str>) {
        let loaded = self.loaded;
        let mut agents = 0..loaded.agents.len();
        let Some(at) = agents.find(|at| super::agent_name(loaded, *at) == agent) else { return };
        let (file, number) = loaded.agents[at];
        let file = &loaded.files[file];
        let is_main = |it: &&FunctionDeclaration| it.entry == crate::ast::EntryStatement::Main;
        let mut functions = file.program.agents[number].functions.iter();
        let main = || functions.find(is_main).map(|main| file.function_name(main));
        let Some(function) = function.or_else(main) else { return };
        if self.changing.contains_key(&(at, function)) {
            self.refused.insert(call, format!("{agent}.{function}"));
        }
    }
}

#[cfg(test)]
mod tests;
