//! What a human is asked about the output of an agent before it goes on.

use agentic_model::{Map, Value};

use crate::fields::{PlanFields, ShapeError};

/// The longest time that a verdict is waited for, in seconds: a hundred years.
const TIMEOUT_S_MAX: u64 = 100 * 366 * 24 * 3_600;
/// What may happen when nobody decides in time.
const ON_TIMEOUT: [&str; 3] = ["fail", "accept", "reject"];

/// A question about the output of an agent: it goes on only once a human has accepted it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerdictQuestion {
    /// What is asked.
    pub question: Option<String>,
    /// What may be chosen besides `accept` and `reject`.
    pub choices: Vec<String>,
    /// How long a decision is waited for, in seconds; for ever without.
    pub timeout_s: Option<u64>,
    /// What happens then: `fail`, `accept` or `reject`.
    pub on_timeout: Option<String>,
    /// Which outputs are asked about; all without.
    pub when: Option<Condition>,
}

/// A condition on one field of an output. An output that has no such field meets it: in doubt a
/// human is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field.
    pub field: String,
    /// What it is compared with.
    pub test: VerdictComparison,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum VerdictComparison {
    /// The number is smaller.
    Below(f64),
    /// The number is greater.
    Above(f64),
    /// The value is this one.
    Is(Value),
}

impl VerdictQuestion {
    /// Says whether a human is asked about an output.
    pub fn is_required(&self, output: &Value) -> bool {
        self.when.as_ref().is_none_or(|condition| condition.is_met(output))
    }

    /// Returns what the request asks, for an agent that gave something.
    pub fn params(&self, agent: &str) -> Map {
        let question = self.question.clone();
        let question = question.unwrap_or_else(|| format!("May what `{agent}` gave go on?"));
        let offered = ["accept", "reject"].into_iter().map(Value::text);
        let choices = offered.chain(self.choices.iter().map(Value::text)).collect();
        let mut params = Map::from([
            ("question".to_owned(), Value::Text(question)),
            ("choices".to_owned(), Value::List(choices)),
            ("on_timeout".to_owned(), Value::text(self.on_timeout.as_deref().unwrap_or("fail"))),
        ]);
        if let Some(seconds) = self.timeout_s.and_then(|seconds| i64::try_from(seconds).ok()) {
            params.insert("timeout_s".to_owned(), Value::Int(seconds));
        }
        params
    }

    pub(super) fn read(value: &Value, at: &str) -> Result<VerdictQuestion, ShapeError> {
        let fields = PlanFields::of(value, at)?;
        fields.only(&["question", "choices", "timeout_s", "on_timeout", "when"])?;
        let on_timeout = fields.optional_text("on_timeout")?;
        if on_timeout.is_some_and(|word| !ON_TIMEOUT.contains(&word)) {
            return Err(fields.wrong("on_timeout", "`fail`, `accept` or `reject`"));
        }
        let when = match fields.map().get("when") {
            None => None,
            Some(when) => Some(Condition::read(when, &fields.place("when"))?),
        };
        Ok(VerdictQuestion {
            question: fields.optional_text("question")?.map(str::to_owned),
            choices: fields.optional_texts("choices")?.unwrap_or_default(),
            timeout_s: fields.optional_count("timeout_s", TIMEOUT_S_MAX)?,
            on_timeout: on_timeout.map(str::to_owned),
            when,
        })
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            map.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("question", self.question.as_ref().map(Value::text));
        let choices = self.choices.iter().map(Value::text).collect();
        put("choices", Some(Value::List(choices)).filter(|_| !self.choices.is_empty()));
        let seconds = self.timeout_s.and_then(|seconds| i64::try_from(seconds).ok());
        put("timeout_s", seconds.map(Value::Int));
        put("on_timeout", self.on_timeout.as_ref().map(Value::text));
        put("when", self.when.as_ref().map(Condition::to_value));
        Value::Map(map)
    }
}

impl Condition {
    fn is_met(&self, output: &Value) -> bool {
        let Some(found) = output.get(&self.field) else { return true };
        let number = found.as_number();
        match &self.test {
            VerdictComparison::Below(bound) => number.is_none_or(|number| number < *bound),
            VerdictComparison::Above(bound) => number.is_none_or(|number| number > *bound),
            VerdictComparison::Is(value) => found == value,
        }
    }

    fn read(value: &Value, at: &str) -> Result<Condition, ShapeError> {
        let fields = PlanFields::of(value, at)?;
        fields.only(&["field", "below", "above", "is"])?;
        let (below, above) = (fields.optional_number("below")?, fields.optional_number("above")?);
        let test = match (below, above, fields.map().get("is")) {
            (Some(bound), None, None) => VerdictComparison::Below(bound),
            (None, Some(bound), None) => VerdictComparison::Above(bound),
            (None, None, Some(value)) => VerdictComparison::Is(value.clone()),
            _ => {
                return Err(
                    fields.wrong("below", "there, or `above` or `is`, and one of them only")
                );
            }
        };
        Ok(Condition { field: fields.text("field")?.to_owned(), test })
    }

    fn to_value(&self) -> Value {
        let (key, value) = match &self.test {
            VerdictComparison::Below(bound) => ("below", Value::Float(*bound)),
            VerdictComparison::Above(bound) => ("above", Value::Float(*bound)),
            VerdictComparison::Is(value) => ("is", value.clone()),
        };
        Value::map([("field", Value::text(&self.field)), (key, value)])
    }
}
