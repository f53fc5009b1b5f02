//! From the checked syntax tree to code.
//!
//! Every name of a pipeline gets a slot. The error name of a `catch` and the name of an `if let`
//! get slots of their own, so what they hide needs no restoring.

use std::sync::Arc;

use agentic_replay::ProgramPosition;

use crate::ast::{
    AgentExprId, AgentExprKind, Arg, Ast, BlockExpr, IfLet, OnFail, RunStatement, StatementKind,
    TaskMode, TaskParameter, TaskSignature, Try, While,
};
use crate::data::{Data, number_text, parse_literal};
use crate::program::{
    CallArg, CallCode, CalleeCode, ExpressionStep, FileCode, MachineStep, ParallelCode,
    RoutineCode, TaskCode, Timeout, ValueCode,
};
use crate::symbol::{Symbol, SymbolIndex};

/// Compiles a checked file.
pub(crate) fn compile(ast: &Ast, text: &str) -> FileCode {
    let mut compiler = FileCompiler {
        ast,
        code: FileCode::default(),
        slots: SymbolIndex::default(),
        places: SymbolIndex::default(),
        bound: Vec::new(),
        slot_count: 0,
        loops: Vec::new(),
        guards: 0,
        shared: vec![None; ast.symbols.count()],
        cursor: Cursor { text, at: 0, line: 1, column: 1 },
    };
    for task in &ast.tasks {
        let task = compiler.task(&task.signature, task.mode);
        compiler.code.tasks.push(task);
    }
    for pipeline in &ast.pipelines {
        let routine = compiler.routine(
            pipeline.signature.name.symbol,
            &pipeline.signature.params,
            &pipeline.body,
        );
        compiler.code.pipelines.push(routine);
    }
    for test in &ast.tests {
        let routine = compiler.routine(test.name, &[], &test.body);
        compiler.code.tests.push(routine);
    }
    compiler.code
}

struct FileCompiler<'a> {
    ast: &'a Ast,
    code: FileCode,
    slots: SymbolIndex,
    /// The places of the parameters of the call at hand.
    places: SymbolIndex,
    /// Names that have a slot in the routine at hand.
    bound: Vec<Symbol>,
    slot_count: u32,
    loops: Vec<Loop>,
    guards: usize,
    /// Each text once.
    shared: Vec<Option<Arc<str>>>,
    cursor: Cursor<'a>,
}

/// A loop around the statement at hand.
struct Loop {
    head: u32,
    /// Jumps to its end, still without target.
    exits: Vec<usize>,
    /// How many guards stand around it.
    guards: usize,
}

impl FileCompiler<'_> {
    fn text(&mut self, symbol: Symbol) -> Arc<str> {
        let ast = self.ast;
        self.shared[symbol.0 as usize].get_or_insert_with(|| ast.text(symbol).into()).clone()
    }

    fn params(&mut self, params: &[TaskParameter]) -> Vec<(Arc<str>, crate::types::TypeId)> {
        params.iter().map(|param| (self.text(param.name.symbol), param.declared)).collect()
    }

    fn task(&mut self, signature: &TaskSignature, mode: TaskMode) -> TaskCode {
        TaskCode {
            name: self.text(signature.name.symbol),
            is_agent_task: mode == TaskMode::Agent,
            params: self.params(&signature.params),
            result: signature.result,
            schema: std::sync::OnceLock::new(),
        }
    }

    fn routine(&mut self, name: Symbol, params: &[TaskParameter], body: &BlockExpr) -> RoutineCode {
        for name in std::mem::take(&mut self.bound) {
            self.slots.remove(name);
        }
        self.slot_count = 0;
        for param in params {
            self.slot(param.name.symbol);
        }
        let entry = self.code.steps.len();
        self.block(body);
        self.code.steps.push(MachineStep::End);
        let params = self.params(params);
        RoutineCode { name: self.text(name), entry, slots: self.slot_count as usize, params }
    }

    /// Returns the slot of a name, which it gets if it has none.
    fn slot(&mut self, name: Symbol) -> u32 {
        if let Some(slot) = self.slots.get(name) {
            return slot as u32;
        }
        self.bound.push(name);
        let slot = self.fresh_slot();
        self.slots.set(name, slot as usize);
        slot
    }

    fn fresh_slot(&mut self) -> u32 {
        self.slot_count += 1;
        self.slot_count - 1
    }

    /// Compiles a block in which a name means a slot of its own.
    fn block_with(&mut self, name: Symbol, slot: u32, block: &BlockExpr) {
        let outer = self.slots.get(name);
        self.slots.set(name, slot as usize);
        self.block(block);
        match outer {
            Some(outer) => self.slots.set(name, outer),
            None => self.slots.remove(name),
        }
    }

    fn here(&self) -> u32 {
        self.code.steps.len() as u32
    }

    fn push(&mut self, step: MachineStep) -> usize {
        self.code.steps.push(step);
        self.code.steps.len() - 1
    }

    /// Lets a step that jumps jump to the place that comes next.
    fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.code.steps[at] {
            MachineStep::Jump(target)
            | MachineStep::Unless { target, .. }
            | MachineStep::Unwrap { target, .. }
            | MachineStep::Guard { target, .. } => *target = here,
            other @ (MachineStep::Call(_)
            | MachineStep::Parallel(_)
            | MachineStep::Unguard
            | MachineStep::Assert { .. }
            | MachineStep::Approve { .. }
            | MachineStep::Return(_)
            | MachineStep::End) => unreachable!("{other:?} has no target"),
        }
    }

    fn block(&mut self, block: &BlockExpr) {
        for statement in &block.statements {
            self.statement(&statement.kind);
        }
    }

    fn statement(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Run(run) => {
                let call = self.call(run);
                self.push(MachineStep::Call(call));
            }
            StatementKind::Parallel(parallel) => {
                let limit = parallel
                    .limit
                    .map(|digits| self.ast.text(digits).parse().unwrap_or(usize::MAX));
                let calls = parallel.branches.iter().map(|run| self.call(run)).collect();
                self.code.parallels.push(ParallelCode { calls, limit });
                self.push(MachineStep::Parallel(self.code.parallels.len() as u32 - 1));
            }
            StatementKind::If(inner) => {
                let condition = self.value(inner.condition);
                let skip = self.push(MachineStep::Unless { condition, target: 0 });
                self.block(&inner.then);
                self.otherwise(skip, inner.otherwise.as_ref());
            }
            StatementKind::IfLet(inner) => self.if_let(inner),
            StatementKind::While(inner) => self.repeat(inner),
            StatementKind::Try(inner) => self.attempt(inner),
            StatementKind::Assert { condition, message } => {
                let condition = self.value(*condition);
                let text = message.map(|message| self.text(message));
                let text = text.filter(|text| !text.is_empty());
                let text = text.unwrap_or_else(|| "Assertion failed".into());
                let message = self.constant(Data::Text(text));
                self.push(MachineStep::Assert { condition, message });
            }
            StatementKind::Approve(inner) => {
                let question = self.value(inner.question);
                let slot = self.slot(inner.target.symbol);
                self.push(MachineStep::Approve { question, slot });
            }
            StatementKind::Return(value) => {
                let value = self.value(*value);
                self.push(MachineStep::Return(value));
            }
            StatementKind::Break => {
                let exit = self.leave();
                self.loops.last_mut().expect("checked to be in a loop").exits.push(exit);
            }
            StatementKind::Continue => {
                let exit = self.leave();
                let head = self.loops.last().expect("checked to be in a loop").head;
                self.code.steps[exit] = MachineStep::Jump(head);
            }
        }
    }

    /// Leaves the guards inside the innermost loop and jumps somewhere.
    fn leave(&mut self) -> usize {
        let outside = self.loops.last().expect("checked to be in a loop").guards;
        for _ in outside..self.guards {
            self.push(MachineStep::Unguard);
        }
        self.push(MachineStep::Jump(0))
    }

    fn otherwise(&mut self, skip: usize, otherwise: Option<&BlockExpr>) {
        let Some(otherwise) = otherwise else { return self.land(skip) };
        let end = self.push(MachineStep::Jump(0));
        self.land(skip);
        self.block(otherwise);
        self.land(end);
    }

    fn if_let(&mut self, inner: &IfLet) {
        let value = self.value(inner.value);
        let slot = self.fresh_slot();
        let skip = self.push(MachineStep::Unwrap { value, slot, target: 0 });
        self.block_with(inner.name.symbol, slot, &inner.then);
        self.otherwise(skip, inner.otherwise.as_ref());
    }

    fn repeat(&mut self, inner: &While) {
        let head = self.here();
        let condition = self.value(inner.condition);
        let exit = self.push(MachineStep::Unless { condition, target: 0 });
        self.loops.push(Loop { head, exits: vec![exit], guards: self.guards });
        self.block(&inner.body);
        self.push(MachineStep::Jump(head));
        let ended = self.loops.pop().expect("pushed above");
        for exit in ended.exits {
            self.land(exit);
        }
    }

    fn attempt(&mut self, inner: &Try) {
        let slot = self.fresh_slot();
        let guard = self.push(MachineStep::Guard { target: 0, slot });
        self.guards += 1;
        self.block(&inner.body);
        self.guards -= 1;
        self.push(MachineStep::Unguard);
        let end = self.push(MachineStep::Jump(0));
        self.land(guard);
        self.block_with(inner.name.symbol, slot, &inner.handler);
        self.land(end);
    }

    fn call(&mut self, run: &RunStatement) -> u32 {
        let name = run.callee.symbol;
        let (callee, params) = match self.ast.by_name.tasks.get(name) {
            Some(at) => (CalleeCode::Task(at as u32), &self.ast.tasks[at].signature.params),
            None => {
                let at = self.ast.by_name.pipelines.get(name).expect("checked to be there");
                (CalleeCode::Pipeline(at as u32), &self.ast.pipelines[at].signature.params)
            }
        };
        let args = self.call_args(&run.args, params);
        let fallback = match run.on_fail {
            Some(OnFail::Use(value)) => Some(self.value(value)),
            Some(OnFail::Abort) | None => None,
        };
        let retries =
            run.retries.map_or(0, |digits| self.ast.text(digits).parse().unwrap_or(u64::MAX));
        let agent = run.by.and_then(|agent| self.ast.by_name.agents.get(agent.symbol));
        let call = CallCode {
            callee,
            args,
            target: self.slot(run.target.symbol),
            agent: agent.map(|at| at as u32),
            retries,
            timeout: run.timeout.map(|digits| timeout(self.ast.text(digits))),
            fallback,
            position: self.cursor.position(run.start as usize),
        };
        self.code.calls.push(call);
        self.code.calls.len() as u32 - 1
    }

    fn call_args(&mut self, given: &[Arg], params: &[TaskParameter]) -> Vec<CallArg> {
        for (at, param) in params.iter().enumerate() {
            self.places.set(param.name.symbol, at);
        }
        let mut args = Vec::with_capacity(given.len());
        for arg in given {
            let symbol = arg.name.expect("calls are resolved");
            let param = self.places.get(symbol).expect("checked to be a parameter") as u32;
            let value = self.value(arg.value);
            args.push(CallArg { name: self.text(symbol), value, param });
        }
        params.iter().for_each(|param| self.places.remove(param.name.symbol));
        args
    }

    fn constant(&mut self, data: Data) -> u32 {
        self.code.constants.push(data);
        self.code.constants.len() as u32 - 1
    }

    fn names(&mut self, symbols: &[Symbol]) -> u32 {
        let start = self.code.names.len() as u32;
        for symbol in symbols {
            let name = self.text(*symbol);
            self.code.names.push(name);
        }
        start
    }

    fn value(&mut self, root: AgentExprId) -> ValueCode {
        let ast = self.ast;
        let start = self.code.pieces.len() as u32;
        for node in &ast.exprs[ast.expr(root).first as usize..=root.0 as usize] {
            let piece = match node.kind {
                AgentExprKind::Text(text) => {
                    let text = self.text(text);
                    ExpressionStep::Constant(self.constant(Data::Text(text)))
                }
                AgentExprKind::Number(digits) => {
                    let number = parse_literal(ast.text(digits));
                    ExpressionStep::Constant(
                        self.constant(number.expect("the lexer checks literals")),
                    )
                }
                AgentExprKind::Bool(truth) => {
                    ExpressionStep::Constant(self.constant(Data::Bool(truth)))
                }
                AgentExprKind::Null => ExpressionStep::Constant(self.constant(Data::Null)),
                AgentExprKind::Ref { head, fields } => {
                    let slot = self.slot(head);
                    match fields.count {
                        0 => ExpressionStep::Load(slot),
                        count => {
                            let names = self.names(ast.names(fields));
                            ExpressionStep::Field { slot, names, count }
                        }
                    }
                }
                AgentExprKind::Object(keys) => {
                    ExpressionStep::Object { names: self.names(ast.names(keys)), count: keys.count }
                }
                AgentExprKind::List(count) => ExpressionStep::List(count),
                AgentExprKind::Add => ExpressionStep::Add,
                AgentExprKind::Equal => ExpressionStep::Equal,
                AgentExprKind::NotEqual => ExpressionStep::NotEqual,
            };
            self.code.pieces.push(piece);
        }
        ValueCode { start, end: self.code.pieces.len() as u32 }
    }
}

fn timeout(digits: &str) -> Timeout {
    let seconds: f64 = digits.parse().expect("digits are a number");
    let mut shown = String::new();
    number_text(seconds, &mut shown);
    Timeout { millis: ((seconds * 1000.0).ceil() as u64).max(1), shown }
}

/// Finds lines and columns of places that mostly come in order.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl Cursor<'_> {
    fn position(&mut self, at: usize) -> ProgramPosition {
        if at < self.at {
            (self.at, self.line, self.column) = (0, 1, 1);
        }
        for character in self.text.get(self.at..at).unwrap_or("").chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.at = at;
        ProgramPosition { line: self.line, column: self.column }
    }
}
