//! FieldReader of what a `generate` returned, held against its contract.
//!
//! A reply may have more fields than its contract names, and an object may get some later. So this
//! is a warning, and only of a name that is assigned once in its function, that nothing else could
//! have changed, and whose contract is therefore known wherever it stands.

use std::collections::BTreeMap;

use agentic_diag::{Diagnostic, Span, nearest};

use crate::ast::{
    AssignOperator, ContextExprId, ContextExprKind, ContextFile, ContextStatement, Contract, For,
    FunctionDeclaration, OptionValue, StatementBlock,
};
use crate::load::{FileFinding, LoadedProgram};

/// The code of a field that a contract does not name.
const UNKNOWN_FIELD: &str = "UNKNOWN_FIELD";

/// Warns of fields that no contract promises.
pub(super) fn check(loaded: &LoadedProgram, findings: &mut Vec<FileFinding>) {
    for (number, file) in loaded.files.iter().enumerate() {
        let agents = file.program.agents.iter();
        for function in agents.flat_map(|agent| &agent.functions) {
            let warnings = warnings_of(file, function).into_iter();
            findings.extend(warnings.map(|diagnostic| FileFinding { file: number, diagnostic }));
        }
    }
}

/// What a function does with one name.
#[derive(Default)]
struct NameTreatment<'a> {
    n_assignments: usize,
    contract: Option<&'a Contract>,
    /// Whether something else may have changed what it stands for.
    is_loose: bool,
    /// The fields that are read of it.
    reads: Vec<Span>,
}

/// How a whole value is treated at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueTreatment {
    /// It is looked at.
    Seen,
    /// It gets a further name, or goes where it may be changed.
    Shared,
}

fn warnings_of<'a>(file: &'a ContextFile, function: &'a FunctionDeclaration) -> Vec<Diagnostic> {
    let mut fields = FieldReader { file, names: BTreeMap::new() };
    for param in &function.params {
        fields.loosen(file.text(param.name));
    }
    fields.block(&function.body);
    let mut warnings = Vec::new();
    for (name, treatment) in fields.names {
        let Some(contract) = treatment.contract else { continue };
        if treatment.n_assignments != 1 || treatment.is_loose {
            continue;
        }
        let promised: Vec<&str> =
            contract.fields.iter().map(|field| file.text(field.name)).collect();
        let reads = treatment.reads.into_iter();
        let unknown = reads.filter(|read| !promised.contains(&file.text(*read)));
        warnings.extend(unknown.map(|read| warning(name, file.text(read), read, &promised)));
    }
    warnings.sort_by_key(|warning| warning.span.start);
    warnings
}

fn warning(name: &str, field: &str, span: Span, promised: &[&str]) -> Diagnostic {
    let message = format!("the contract of `{name}` has no field `{field}`");
    let reason = match promised {
        [] => "it has none".to_owned(),
        fields => format!("it has `{}`", fields.join("`, `")),
    };
    let hint = match nearest(field, promised.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add the field to the contract of its `generate`".to_owned(),
    };
    Diagnostic::warning(UNKNOWN_FIELD, span, message).because(reason).hint(hint)
}

struct FieldReader<'a> {
    file: &'a ContextFile,
    names: BTreeMap<&'a str, NameTreatment<'a>>,
}

impl<'a> FieldReader<'a> {
    fn of(&mut self, name: &'a str) -> &mut NameTreatment<'a> {
        self.names.entry(name).or_default()
    }

    fn loosen(&mut self, name: &'a str) {
        self.of(name).is_loose = true;
    }

    fn block(&mut self, block: &'a StatementBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a ContextStatement) {
        match statement {
            ContextStatement::Config(config) => self.expr(config.value, ValueTreatment::Seen),
            ContextStatement::Use(declared) => self.expr(declared.value, ValueTreatment::Seen),
            ContextStatement::Choice(choice) => {
                for value in choice.candidates.iter().filter_map(|candidate| candidate.value) {
                    self.expr(value, ValueTreatment::Seen);
                }
            }
            ContextStatement::Return { value } | ContextStatement::Expr(value) => {
                self.expr(*value, ValueTreatment::Seen)
            }
            ContextStatement::Repeat { body, .. } => self.block(body),
            ContextStatement::For(clause) => self.each(clause),
            ContextStatement::Loop { until, body, .. } => {
                self.expr(*until, ValueTreatment::Seen);
                self.block(body);
            }
            ContextStatement::If { condition, then, otherwise } => {
                self.expr(*condition, ValueTreatment::Seen);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.block(otherwise);
                }
            }
            ContextStatement::Assign { target, operator, value } => {
                self.assign(*target, *operator, *value)
            }
        }
    }

    fn each(&mut self, clause: &'a For) {
        self.loosen(self.file.text(clause.item));
        self.expr(clause.list, ValueTreatment::Seen);
        self.block(&clause.body);
    }

    fn assign(&mut self, target: ContextExprId, operator: AssignOperator, value: ContextExprId) {
        self.expr(value, ValueTreatment::Shared);
        let target = self.file.expr(target);
        if matches!(target.kind, ContextExprKind::Name) {
            let set = Some(value).filter(|_| operator == AssignOperator::Set);
            let contract = set.and_then(|value| self.contract_of(value));
            let treatment = self.of(self.file.text(target.span));
            treatment.n_assignments += 1;
            treatment.contract = contract;
        } else if let ContextExprKind::Member { object, .. } = &target.kind {
            self.expr(*object, ValueTreatment::Shared);
        }
    }

    fn contract_of(&self, value: ContextExprId) -> Option<&'a Contract> {
        let file = self.file;
        let ContextExprKind::Generate(generate) = &file.expr(value).kind else { return None };
        generate.contract.as_ref()
    }

    fn expr(&mut self, id: ContextExprId, whole: ValueTreatment) {
        match &self.file.expr(id).kind {
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None => {}
            ContextExprKind::Name => {
                if whole == ValueTreatment::Shared {
                    self.loosen(self.file.text(self.file.expr(id).span));
                }
            }
            ContextExprKind::Object(entries) => {
                for (_, value) in entries {
                    self.expr(*value, ValueTreatment::Shared);
                }
            }
            ContextExprKind::List(items) => self.shared(items),
            ContextExprKind::Generate(generate) => {
                for option in &generate.options {
                    if let OptionValue::Expr(value) = &option.value {
                        self.expr(*value, ValueTreatment::Seen);
                    }
                }
            }
            ContextExprKind::Parallel(clause) => self.each(clause),
            ContextExprKind::Member { object, name } => self.member(*object, *name),
            ContextExprKind::Index { list, index } => {
                self.expr(*list, ValueTreatment::Seen);
                self.expr(*index, ValueTreatment::Seen);
            }
            ContextExprKind::Call { callee, args } => {
                // A method is no field, and may change what it belongs to.
                if let ContextExprKind::Member { object, .. } = &self.file.expr(*callee).kind {
                    self.expr(*object, ValueTreatment::Shared);
                } else {
                    self.expr(*callee, ValueTreatment::Seen);
                }
                self.shared(args);
            }
            ContextExprKind::Not(inner) => self.expr(*inner, ValueTreatment::Seen),
            ContextExprKind::Binary { left, right, .. } => {
                self.expr(*left, ValueTreatment::Seen);
                self.expr(*right, ValueTreatment::Seen);
            }
        }
    }

    fn shared(&mut self, items: &'a [ContextExprId]) {
        for item in items {
            self.expr(*item, ValueTreatment::Shared);
        }
    }

    fn member(&mut self, object: ContextExprId, name: Span) {
        let expr = self.file.expr(object);
        if matches!(expr.kind, ContextExprKind::Name) {
            self.of(self.file.text(expr.span)).reads.push(name);
        } else {
            self.expr(object, ValueTreatment::Seen);
        }
    }
}
