//! Arguments to parameters.

use std::collections::BTreeMap;

use agentic_diag::Span;
use agentic_model::{Map, Value};
use agentic_plan::{AgentParameter, Backend, BindError, BuiltinSpec, ParameterType};

use super::NameResolver;
use crate::ast::{BuiltinCall, Literal, NamedArgument, WrittenValue};
use crate::finding::{FindingKind, PipelineFinding, shown};

/// What a call passes, defaults included.
pub(super) struct BoundCall {
    pub params: Map,
    pub args: Vec<Value>,
}

impl NameResolver<'_> {
    /// Binds the arguments of a call; reports all that is wrong with them.
    pub(super) fn bind(
        &mut self,
        call: &BuiltinCall,
        spec: &BuiltinSpec,
        backend: Backend,
    ) -> Option<BoundCall> {
        let n_before = self.findings.len();
        let mut bound = BoundCall { params: Map::new(), args: Vec::new() };
        // Where each parameter was given, also if its value was wrong.
        let mut given = BTreeMap::new();
        for (index, argument) in call.positional.iter().enumerate() {
            if let Some(param) = spec.schema.params.get(index) {
                given.insert(param.name.as_str(), argument.site.0);
                self.bind_param(&mut bound, param, argument, backend);
            } else if let Some(kind) = &spec.schema.variadic {
                let value = self.fit(kind, argument, "…", backend);
                bound.args.extend(value);
            } else {
                self.findings.push(too_many(spec, argument.site.0));
                break;
            }
        }
        for named in call.named.iter().flatten() {
            self.bind_named(&mut bound, &mut given, named, spec, backend);
        }
        let is_given = |param: &AgentParameter| given.contains_key(param.name.as_str());
        if let Some(param) =
            spec.schema.params.iter().find(|param| param.is_required() && !is_given(param))
        {
            self.findings.push(missing(call, spec, param));
        }
        for param in spec.schema.params.iter().filter(|param| !is_given(param)) {
            if let Some(default) = &param.default {
                bound.params.insert(param.name.clone(), default.clone());
            }
        }
        (self.findings.len() == n_before).then_some(bound)
    }

    fn bind_named<'s>(
        &mut self,
        bound: &mut BoundCall,
        given: &mut BTreeMap<&'s str, Span>,
        named: &NamedArgument,
        spec: &'s BuiltinSpec,
        backend: Backend,
    ) {
        let span = named.name_site.0;
        let Some(param) = spec.schema.params.iter().find(|param| param.name == named.name) else {
            self.findings.push(unknown_argument(spec, &named.name, span));
            return;
        };
        if let Some(first) = given.get(param.name.as_str()) {
            let message = format!("`{}` is given twice", param.name);
            self.findings.push(
                PipelineFinding::new(FindingKind::DuplicateArg, span, message)
                    .because("given again here")
                    .see(*first, "first given here")
                    .about(&spec.name)
                    .of_param(&param.name),
            );
            return;
        }
        given.insert(param.name.as_str(), span);
        self.bind_param(bound, param, &named.argument, backend);
    }

    fn bind_param(
        &mut self,
        bound: &mut BoundCall,
        param: &AgentParameter,
        argument: &WrittenValue,
        backend: Backend,
    ) {
        let Some(value) = self.fit(&param.kind, argument, &param.name, backend) else { return };
        match param.check_range(&value) {
            Ok(()) => {
                bound.params.insert(param.name.clone(), value);
            }
            Err(error) => {
                let reason = match &error {
                    BindError::Range { expected, .. } => format!("must be {expected}"),
                    other @ (BindError::Unknown { .. }
                    | BindError::Missing { .. }
                    | BindError::Type { .. }) => other.to_string(),
                };
                self.findings.push(
                    PipelineFinding::new(FindingKind::ArgValue, argument.site.0, error.to_string())
                        .because(reason)
                        .of_param(&param.name),
                );
            }
        }
    }

    /// Turns a written value into one of a type; what is wrong is reported at the innermost value.
    fn fit(
        &mut self,
        kind: &ParameterType,
        argument: &WrittenValue,
        param: &str,
        backend: Backend,
    ) -> Option<Value> {
        match (kind, &argument.literal) {
            (ParameterType::String, Literal::Text(text)) => Some(Value::text(text)),
            (ParameterType::Int | ParameterType::Number, Literal::Int(number)) => {
                Some(Value::Int(*number))
            }
            (ParameterType::Number, Literal::Float(number)) => Some(Value::Float(*number)),
            (ParameterType::Bool, Literal::Bool(truth)) => Some(Value::Bool(*truth)),
            (ParameterType::Ref, Literal::Ref(name)) => {
                self.refer(name, argument.site.0, param, backend)
            }
            (ParameterType::List(kind), Literal::List(items)) => {
                let items: Vec<Option<Value>> =
                    items.iter().map(|item| self.fit(kind, item, param, backend)).collect();
                items.into_iter().collect::<Option<Vec<Value>>>().map(Value::List)
            }
            (kind, literal) => {
                let message = format!("`{param}` wants {kind}, not {}", literal_in_words(literal));
                let mut finding =
                    PipelineFinding::new(FindingKind::ArgType, argument.site.0, message)
                        .because(format!("expected {kind}"))
                        .of_param(param);
                if (kind, matches!(literal, Literal::Text(_))) == (&ParameterType::Ref, true) {
                    finding = finding.hint("a reference is a name without quotes");
                }
                self.findings.push(finding);
                None
            }
        }
    }

    fn refer(&mut self, name: &str, span: Span, param: &str, backend: Backend) -> Option<Value> {
        let n_before = self.findings.len();
        let value = match self.registry.get(name) {
            None => {
                self.unknown(FindingKind::UnknownRef, name, span);
                None
            }
            Some(spec) if !spec.runs_on(backend) => {
                self.unsupported(name, backend, span);
                None
            }
            Some(spec) => Some(Value::text(spec.agent.as_str())),
        };
        for finding in &mut self.findings[n_before..] {
            finding.param = Some(param.to_owned());
        }
        value
    }
}

fn too_many(spec: &BuiltinSpec, span: Span) -> PipelineFinding {
    let n = spec.schema.params.len();
    let values = if n == 1 { "value" } else { "values" };
    let message = match n {
        0 => format!("`{}` takes no values", spec.name),
        n => format!("`{}` takes {n} {values} at most", spec.name),
    };
    PipelineFinding::new(FindingKind::Arity, span, message)
        .because("one too many")
        .about(&spec.name)
}

fn unknown_argument(spec: &BuiltinSpec, name: &str, span: Span) -> PipelineFinding {
    let message = format!("`{}` has no argument `{}`", spec.name, shown(name));
    let names = spec.schema.params.iter().map(|param| param.name.as_str());
    let finding = PipelineFinding::new(FindingKind::UnknownArg, span, message)
        .because("not an argument")
        .about(&spec.name);
    match agentic_diag::nearest(name, names) {
        Some(suggestion) => finding.hint(format!("did you mean `{suggestion}`?")),
        None => finding,
    }
    .of_param(&shown(name))
}

fn missing(call: &BuiltinCall, spec: &BuiltinSpec, param: &AgentParameter) -> PipelineFinding {
    let kind = match &call.named {
        None => FindingKind::Arity,
        Some(_) => FindingKind::MissingArg,
    };
    let message = format!("`{}` needs `{}`", spec.name, param.name);
    PipelineFinding::new(kind, call.name_site.0, message)
        .because(format!("`{}` ({}) is missing", param.name, param.kind))
        .about(&spec.name)
        .of_param(&param.name)
}

fn literal_in_words(literal: &Literal) -> &'static str {
    match literal {
        Literal::Text(_) => "a string",
        Literal::Int(_) => "a whole number",
        Literal::Float(_) => "a number with a fraction",
        Literal::Bool(_) => "a truth value",
        Literal::Ref(_) => "a reference",
        Literal::List(_) => "a list",
    }
}
