//! From a checked tree to instructions.

mod expression;
mod generate;
mod statement;

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_diag::Span;

use crate::ast::{
    ConfigKey, ContextFile, ContextStatement, Contract, EntryStatement, FunctionDeclaration,
    ImportKind,
};
use crate::code::{
    AgentCode, CodePlace, ContextCode, ContractCode, FieldCode, FunctionCode, Op, Resource,
};
use crate::context::schema;
use crate::json::{self, Json};
use crate::load::LoadedProgram;
use crate::scope::Scopes;

/// What a name is read from.
#[derive(Debug, Clone, Copy)]
enum ReadTarget {
    Slot(u32),
    Resource(u32),
    Agent(u32),
    Function(u32),
}

/// What is configured in the scopes around a place.
#[derive(Debug, Clone, Default)]
struct ScopeConfig {
    model: Option<u32>,
    role: Option<Arc<str>>,
    description: Option<Arc<str>>,
}

/// Compiles a program in which the analyzer found nothing.
pub(crate) fn compile(loaded: &LoadedProgram) -> ContextCode {
    let mut code = ContextCode::default();
    for resource in &loaded.resources {
        code.resources.push(Resource {
            kind: resource.kind,
            name: resource.name.clone(),
            uri: resource.uri.clone(),
            data: resource.data.clone(),
        });
    }
    declare_functions(loaded, &mut code);
    let Some(file) = loaded.files.first() else { return code };
    let mut compiler = ContextCompiler {
        loaded,
        code,
        file,
        file_number: 0,
        scopes: Scopes::new(),
        config: ScopeConfig::default(),
        last_use: None,
        agent: 0,
        function: 0,
        slots_used: 0,
        slots_max: 0,
        interned: BTreeMap::new(),
        labels: BTreeMap::new(),
    };
    compiler.globals();
    for agent in 0..loaded.agents.len() {
        compiler.agent(agent);
    }
    compiler.code
}

/// Gives every function its number, so that calls can name those that come later.
fn declare_functions(loaded: &LoadedProgram, code: &mut ContextCode) {
    for (number, (file_number, agent)) in loaded.agents.iter().enumerate() {
        let file = &loaded.files[*file_number];
        let agent = &file.program.agents[*agent];
        let mut functions = BTreeMap::new();
        let mut main = None;
        for function in &agent.functions {
            let at = code.functions.len() as u32;
            let name: Arc<str> = file.function_name(function).into();
            functions.insert(name.clone(), at);
            if function.entry == EntryStatement::Main {
                main = Some(at);
            }
            code.functions.push(FunctionCode {
                agent: number as u32,
                name,
                place: place(*file_number, function.span),
                params: function.params.len() as u32,
                slots: 0,
                address: 0,
                input: input_contract(file, *file_number, function),
            });
        }
        if *file_number == 0 && (agent.entry == EntryStatement::Main || loaded.agents.len() == 1) {
            code.main_agent = Some(number as u32);
        }
        code.agents.push(AgentCode { name: file.agent_name(agent).into(), main, functions });
    }
}

fn place(file: usize, span: Span) -> CodePlace {
    CodePlace { file: file as u32, start: span.start as u32, end: span.end as u32 }
}

fn input_contract(
    file: &ContextFile,
    number: usize,
    function: &FunctionDeclaration,
) -> Option<ContractCode> {
    let contract = function.params.first()?.contract.as_ref()?;
    Some(contract_code(file, number, contract))
}

fn contract_code(file: &ContextFile, number: usize, contract: &Contract) -> ContractCode {
    let fields: Vec<FieldCode> = contract
        .fields
        .iter()
        .map(|field| FieldCode {
            name: file.text(field.name).into(),
            kind: field.kind.clone(),
            place: place(number, field.name),
        })
        .collect();
    let schema = schema::of_fields(fields.iter().map(|field| (&field.name, &field.kind)));
    let schema_text = json::pretty(&schema).into();
    ContractCode { fields, schema, schema_text }
}

struct ContextCompiler<'a> {
    loaded: &'a LoadedProgram,
    code: ContextCode,
    file: &'a ContextFile,
    file_number: usize,
    scopes: Scopes<'a, ReadTarget>,
    config: ScopeConfig,
    last_use: Option<u32>,
    agent: u32,
    function: u32,
    slots_used: u32,
    slots_max: u32,
    interned: BTreeMap<Arc<str>, u32>,
    /// How often each label was used in the function, for the ids of choices.
    labels: BTreeMap<String, u32>,
}

impl<'a> ContextCompiler<'a> {
    fn emit(&mut self, op: Op, span: Span) -> usize {
        self.code.ops.push(op);
        self.code.places.push(place(self.file_number, span));
        self.code.ops.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    /// Lets a jump that was emitted before lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code.ops[jump] {
            Op::Jump(target) | Op::JumpIfFalse(target) | Op::JumpIfTrue(target) => *target = here,
            Op::CountDown { exit, .. } | Op::ForNext { exit, .. } => *exit = here,
            other @ (Op::Constant(_)
            | Op::Local(_)
            | Op::Store(_)
            | Op::Resource(_)
            | Op::Agent(_)
            | Op::Function(_)
            | Op::Member(_)
            | Op::SetMember(_)
            | Op::Index
            | Op::List(_)
            | Op::Object(_)
            | Op::Not
            | Op::Truth
            | Op::Binary(_)
            | Op::Swap
            | Op::Copy
            | Op::Pop
            | Op::Call(_)
            | Op::CallAgent(_)
            | Op::CallMethod { .. }
            | Op::Return
            | Op::ForStart(_)
            | Op::Parallel(_)
            | Op::DeclareUse(_)
            | Op::Generate(_)
            | Op::SourceEnd) => unreachable!("BUG: {other:?} does not jump"),
        }
    }

    fn constant(&mut self, json: Json, span: Span) {
        self.code.constants.push(json);
        let at = self.code.constants.len() as u32 - 1;
        self.emit(Op::Constant(at), span);
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(at) = self.interned.get(name) {
            return *at;
        }
        let at = self.code.names.len() as u32;
        let name: Arc<str> = name.into();
        self.code.names.push(name.clone());
        self.interned.insert(name, at);
        at
    }

    fn take_slots(&mut self, count: u32) -> u32 {
        let first = self.slots_used;
        self.slots_used += count;
        self.slots_max = self.slots_max.max(self.slots_used);
        first
    }

    fn globals(&mut self) {
        self.scopes.enter();
        for at in (0..self.loaded.agents.len()).rev() {
            let (file, agent) = self.loaded.agents[at];
            let file = &self.loaded.files[file];
            let name = file.agent_name(&file.program.agents[agent]);
            self.scopes.declare(name, ReadTarget::Agent(at as u32));
        }
        for (at, resource) in self.loaded.resources.iter().enumerate() {
            self.scopes.declare(&resource.name, ReadTarget::Resource(at as u32));
        }
    }

    fn agent(&mut self, number: usize) {
        let (file_number, agent) = self.loaded.agents[number];
        self.file_number = file_number;
        self.file = &self.loaded.files[file_number];
        let file = self.file;
        let agent = &file.program.agents[agent];
        self.agent = number as u32;
        self.scopes.enter();
        for function in &agent.functions {
            let name = file.function_name(function);
            let at = self.code.agents[number].functions[name];
            self.scopes.declare(name, ReadTarget::Function(at));
        }
        self.config = ScopeConfig::default();
        self.last_use = None;
        self.labels.clear();
        for config in &agent.config {
            self.config(config);
        }
        let uses_before = self.code.uses.len() as u32;
        for declared in &agent.uses {
            self.agent_use(declared);
        }
        let uses = uses_before..self.code.uses.len() as u32;
        let (config, last_use) = (self.config.clone(), self.last_use);
        for function in &agent.functions {
            self.function = self.code.agents[number].functions[file.function_name(function)];
            self.function(function, uses.clone());
            self.config = config.clone();
            self.last_use = last_use;
        }
        self.scopes.leave();
    }

    fn function(&mut self, function: &'a FunctionDeclaration, uses: std::ops::Range<u32>) {
        let address = self.here();
        self.scopes.enter();
        self.labels.clear();
        (self.slots_used, self.slots_max) = (0, 0);
        for param in &function.params {
            let slot = self.take_slots(1);
            self.scopes.declare(self.file.text(param.name), ReadTarget::Slot(slot));
        }
        for site in uses {
            self.emit(Op::DeclareUse(site), function.span);
        }
        self.body(&function.body.statements, function.span);
        self.scopes.leave();
        let code = &mut self.code.functions[self.function as usize];
        code.address = address;
        code.slots = self.slots_max;
    }

    /// Compiles statements of which the last may be the result, and the return after them.
    fn body(&mut self, statements: &'a [ContextStatement], span: Span) {
        let implicit = self.file.dialect.final_expression();
        for (at, statement) in statements.iter().enumerate() {
            if let ContextStatement::Expr(value) = statement
                && implicit
                && at + 1 == statements.len()
            {
                self.expr(*value);
                self.emit(Op::Return, self.file.expr(*value).span);
                return;
            } else {
                self.statement(statement)
            }
        }
        self.constant(Json::Null, span);
        self.emit(Op::Return, span);
    }

    fn config(&mut self, config: &'a crate::ast::ConfigBlock) {
        let span = self.file.expr(config.value).span;
        match config.key {
            ConfigKey::Model => {
                if let Some((_, ReadTarget::Resource(at))) = self.scopes.find(self.file.text(span))
                    && self.code.resources[at as usize].kind == ImportKind::Llm
                {
                    self.config.model = Some(at);
                }
            }
            ConfigKey::Role => self.config.role = Some(self.file.name(span).as_ref().into()),
            ConfigKey::Description => {
                self.config.description = Some(self.file.name(span).as_ref().into());
            }
        }
    }
}
