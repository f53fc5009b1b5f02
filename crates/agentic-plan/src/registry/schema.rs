//! The arguments of builtins.

use std::collections::BTreeSet;
use std::fmt;

use agentic_model::Value;

use crate::agent::AgentId;
use crate::registry::{RESERVED_WORDS, is_identifier};

/// How deep `list<…>` may nest.
pub const TYPE_NESTING_MAX: usize = 8;
/// The most parameters of one builtin.
pub const PARAMS_MAX: usize = 100;

/// The arguments that a builtin takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArgSchema {
    /// Its parameters, in order; the optional ones come last.
    pub params: Vec<AgentParameter>,
    /// The type of further values, if it takes any.
    pub variadic: Option<ParameterType>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentParameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ParameterType,
    /// Whether a call may leave it out. One with a default always may.
    pub presence: Presence,
    /// What is written into the plan when a call leaves it out.
    pub default: Option<Value>,
    /// The least number it takes.
    pub min: Option<f64>,
    /// The greatest number it takes.
    pub max: Option<f64>,
    /// The texts it takes; nothing means any.
    pub one_of: Option<Vec<String>>,
}

/// Whether a parameter must be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Required,
    /// It may be left out.
    Optional,
}

/// The type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterType {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// Any number.
    Number,
    /// A truth value.
    Bool,
    /// The name of another builtin; in a plan, the id of its agent.
    Ref,
    /// A list of values of one type.
    List(Box<ParameterType>),
}

/// Why arguments do not fit a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// There is no such parameter.
    #[error("there is no parameter `{name}`")]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// A required parameter was left out.
    #[error("the parameter `{param}` is missing")]
    Missing {
        /// The parameter.
        param: String,
    },
    /// A value has another type.
    #[error("the parameter `{param}` wants {expected}")]
    Type {
        /// The parameter.
        param: String,
        /// Its type.
        expected: String,
    },
    /// A value is outside the range or not among the choices.
    #[error("the parameter `{param}` must be {expected}")]
    Range {
        /// The parameter.
        param: String,
        /// What it must be.
        expected: String,
    },
}

impl ParameterType {
    /// Parses `string`, `int`, `number`, `bool`, `ref` and `list<…>` of any of these.
    pub fn parse(text: &str) -> Option<ParameterType> {
        ParameterType::parse_below(text, 0)
    }

    fn parse_below(text: &str, depth: usize) -> Option<ParameterType> {
        match text {
            "string" => Some(ParameterType::String),
            "int" => Some(ParameterType::Int),
            "number" => Some(ParameterType::Number),
            "bool" => Some(ParameterType::Bool),
            "ref" => Some(ParameterType::Ref),
            _ if depth == TYPE_NESTING_MAX => None,
            _ => {
                let inner = text.strip_prefix("list<")?.strip_suffix('>')?;
                ParameterType::parse_below(inner, depth + 1)
                    .map(|inner| ParameterType::List(Box::new(inner)))
            }
        }
    }

    /// Says whether a value that is already in a plan has this type.
    pub fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (ParameterType::String, Value::Text(_))
            | (ParameterType::Int | ParameterType::Number, Value::Int(_))
            | (ParameterType::Number, Value::Float(_))
            | (ParameterType::Bool, Value::Bool(_)) => true,
            (ParameterType::Ref, Value::Text(id)) => AgentId::parse(id).is_ok(),
            (ParameterType::List(kind), Value::List(items)) => {
                items.iter().all(|item| kind.admits(item))
            }
            _ => false,
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterType::String => f.write_str("string"),
            ParameterType::Int => f.write_str("int"),
            ParameterType::Number => f.write_str("number"),
            ParameterType::Bool => f.write_str("bool"),
            ParameterType::Ref => f.write_str("ref"),
            ParameterType::List(kind) => write!(f, "list<{kind}>"),
        }
    }
}

impl AgentParameter {
    /// Makes a required parameter without bounds.
    pub fn new(name: impl Into<String>, kind: ParameterType) -> AgentParameter {
        AgentParameter {
            name: name.into(),
            kind,
            presence: Presence::Required,
            default: None,
            min: None,
            max: None,
            one_of: None,
        }
    }

    /// Lets calls leave it out.
    pub fn optional(self) -> AgentParameter {
        AgentParameter { presence: Presence::Optional, ..self }
    }

    /// Gives it a default.
    pub fn with_default(self, default: Value) -> AgentParameter {
        AgentParameter { default: Some(default), ..self }
    }

    /// Bounds its number.
    pub fn between(self, min: f64, max: f64) -> AgentParameter {
        AgentParameter { min: Some(min), max: Some(max), ..self }
    }

    /// Says whether a call must give it.
    pub fn is_required(&self) -> bool {
        self.presence == Presence::Required && self.default.is_none()
    }

    /// Checks range and choices of a value that has the right type.
    ///
    /// # Errors
    /// Says what the value must be.
    pub fn check_range(&self, value: &Value) -> Result<(), BindError> {
        let wrong = |expected: String| BindError::Range { param: self.name.clone(), expected };
        if let Some(number) = value.as_number()
            && (self.min.is_some_and(|min| number < min)
                || self.max.is_some_and(|max| number > max))
        {
            return Err(wrong(self.range_in_words()));
        }
        match (&self.one_of, value) {
            (Some(choices), Value::Text(text)) if !choices.contains(text) => {
                let choices: Vec<String> = choices.iter().map(|text| format!("`{text}`")).collect();
                Err(wrong(format!("one of {}", choices.join(", "))))
            }
            _ => Ok(()),
        }
    }

    fn range_in_words(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!("from {min} to {max}"),
            (Some(min), None) => format!("{min} or more"),
            (None, Some(max)) => format!("{max} or less"),
            (None, None) => "a number".to_owned(),
        }
    }

    /// Says what makes the parameter impossible, if anything does.
    fn check(&self) -> Result<(), String> {
        if !is_identifier(&self.name) || RESERVED_WORDS.contains(&self.name.as_str()) {
            return Err("has a malformed or reserved name".to_owned());
        }
        let is_number = matches!(self.kind, ParameterType::Int | ParameterType::Number);
        if (self.min.is_some() || self.max.is_some()) && !is_number {
            return Err("has a range, but is no number".to_owned());
        }
        let bounds = [self.min, self.max];
        if bounds.iter().flatten().any(|bound| !bound.is_finite()) {
            return Err("has a bound that is not finite".to_owned());
        }
        if let (Some(min), Some(max)) = (self.min, self.max)
            && min > max
        {
            return Err("has a range that nothing fits".to_owned());
        }
        if self.kind == ParameterType::Int && !self.admits_some_integer() {
            return Err("has a range that no whole number fits".to_owned());
        }
        match &self.one_of {
            Some(_) if self.kind != ParameterType::String => {
                return Err("has choices, but is no string".to_owned());
            }
            Some(choices) if choices.is_empty() => return Err("has no choices".to_owned()),
            _ => {}
        }
        let Some(default) = &self.default else { return Ok(()) };
        if !self.kind.admits(default) {
            return Err(format!("has a default that is not of type {}", self.kind));
        }
        self.check_range(default).map_err(|_| "has a default outside its own range".to_owned())
    }

    fn admits_some_integer(&self) -> bool {
        let low = self.min.unwrap_or(i64::MIN as f64).ceil();
        let high = self.max.unwrap_or(i64::MAX as f64).floor();
        low <= high
    }
}

impl ArgSchema {
    /// Names the first impossible parameter and says why.
    pub(crate) fn check(&self) -> Result<(), (String, String)> {
        let mut seen = BTreeSet::new();
        let mut optional: Option<&str> = None;
        for (index, param) in self.params.iter().enumerate() {
            let wrong = |reason: String| Err((param.name.clone(), reason));
            if index >= PARAMS_MAX {
                return wrong(format!("is one of more than {PARAMS_MAX}"));
            }
            if !seen.insert(&param.name) {
                return wrong("is there twice".to_owned());
            }
            if let Err(reason) = param.check() {
                return wrong(reason);
            }
            match optional {
                Some(before) if param.is_required() => {
                    return wrong(format!("is required, but `{before}` before it is not"));
                }
                _ if !param.is_required() => optional = Some(&param.name),
                _ => {}
            }
        }
        Ok(())
    }
}
