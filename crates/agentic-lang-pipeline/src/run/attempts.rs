//! One call with its attempts and pauses. Each attempt and each pause is a request.

use agentic_model::Value;
use agentic_plan::RetryLimits;
use agentic_replay::{Delivery, ProgramFailure, Request, RequestAnswer, RequestScope};

use crate::run::hold::HoldTask;
use crate::run::outgoing::{OutgoingAttempt, OutgoingCall, RequestKind};
use crate::run::reply;
use crate::run::task::{PipelineWorld, TaskTurn, VersionMeaning};

/// Failures that no further attempt can mend.
const FINAL_CODES: [&str; 14] = [
    "InvalidInput",
    "InvalidPlan",
    "ConfigurationError",
    "MissingCredential",
    "MissingIdentity",
    "InsecureCredentialFile",
    "InvalidLLMResponse",
    "ModelRefused",
    "AgentNotRegistered",
    "Cancelled",
    "OutputTooLarge",
    "panicked",
    "not-data",
    "unknown-kind",
];
/// The code of a failure by an attempt that took too long.
const TIMED_OUT: &str = "TimedOut";
/// The detail of a failure that says how long the other side asks to be left alone.
const RETRY_AFTER_MS: &str = "retry_after_ms";
/// How much of a pause is added at most, at random, so that retries of many runs drift apart.
const JITTER: f64 = 0.25;
/// The longest pause: a year.
const PAUSE_MS_MAX: f64 = 366.0 * 24.0 * 3_600_000.0;

/// The largest output of an agent, in bytes: 1 MiB. Larger things are stored and linked.
pub(super) const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// How deep an output may nest, so that results that hold it can still be recorded.
pub(super) const OUTPUT_NESTING_MAX: usize = 48;

/// How often a call is tried, and how long.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttemptPolicy {
    pub retry: RetryLimits,
    pub timeout_ms: Option<u64>,
}

impl AttemptPolicy {
    /// The policy of activities: three attempts of three minutes.
    pub fn activity() -> AttemptPolicy {
        AttemptPolicy::of(3, 180_000)
    }

    /// The policy of the calls of loops: five attempts of two minutes, pauses up to 30 seconds.
    pub fn converse() -> AttemptPolicy {
        let policy = AttemptPolicy::of(5, 120_000);
        AttemptPolicy {
            retry: RetryLimits { max_interval_ms: Some(30_000), ..policy.retry },
            ..policy
        }
    }

    /// Pauses begin with a second and double.
    pub fn of(max_attempts: u64, timeout_ms: u64) -> AttemptPolicy {
        AttemptPolicy {
            retry: RetryLimits {
                max_attempts,
                initial_ms: 1_000,
                backoff: 2.0,
                max_interval_ms: None,
                non_retryable: Vec::new(),
            },
            timeout_ms: Some(timeout_ms),
        }
    }

    /// Replaces what a node says itself.
    pub fn with(self, retry: Option<&RetryLimits>, timeout_ms: Option<u64>) -> AttemptPolicy {
        AttemptPolicy {
            retry: retry.cloned().unwrap_or(self.retry),
            timeout_ms: timeout_ms.or(self.timeout_ms),
        }
    }
}

/// A call under way.
pub(super) struct Attempts {
    outgoing: OutgoingCall,
    policy: AttemptPolicy,
    attempt: u64,
    phase: AttemptPhase,
    /// Who is called.
    kind: Option<RequestKind>,
}

enum AttemptPhase {
    Calling,
    Pausing,
    /// A human is asked about what the call gave.
    Asking(Box<HoldTask>),
}

impl Attempts {
    /// Opens the first attempt as the next request of a context.
    pub fn begin(
        outgoing: OutgoingCall,
        policy: AttemptPolicy,
        scope: &mut RequestScope,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> Attempts {
        let mut attempts =
            Attempts { outgoing, policy, attempt: 0, phase: AttemptPhase::Calling, kind: None };
        attempts.call(scope, world, turn);
        attempts
    }

    /// Takes an answer; gives the outcome once there is one.
    pub fn deliver(
        &mut self,
        delivery: Delivery,
        scope: &mut RequestScope,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> Option<Result<Value, ProgramFailure>> {
        match &self.phase {
            AttemptPhase::Calling => {}
            AttemptPhase::Pausing => {
                return match delivery.answer {
                    RequestAnswer::Cancelled(_) => Some(Err(cancelled())),
                    RequestAnswer::Ok(_) | RequestAnswer::Failed(_) | RequestAnswer::TimedOut => {
                        self.call(scope, world, turn);
                        None
                    }
                };
            }
            AttemptPhase::Asking(hold) => {
                let decided = hold.decided(delivery.answer, turn);
                return Some(decided.map(|value| value.get("input").cloned().unwrap_or(value)));
            }
        }
        if self.kind == Some(RequestKind::Model) && world.meaning >= VersionMeaning::Fenced {
            turn.usage.count(&delivery.path, &delivery.answer);
        }
        let failure = match delivery.answer {
            RequestAnswer::Ok(value) => {
                let value = match self.kind {
                    Some(RequestKind::Model) => reply::said(value),
                    Some(_) | None => value,
                };
                match check_output(&value) {
                    Ok(()) => return self.judged(value, scope, world, turn),
                    Err(failure) => failure,
                }
            }
            RequestAnswer::Failed(failure) => failure,
            RequestAnswer::TimedOut => ProgramFailure::new(TIMED_OUT, "the attempt took too long"),
            RequestAnswer::Cancelled(_) => cancelled(),
        };
        if self.attempt >= self.policy.retry.max_attempts || self.is_final(&failure.code) {
            return Some(Err(failure));
        }
        self.pause(&failure, scope, world, turn);
        None
    }

    /// Lets a human judge what the call gave, where the registry says so.
    fn judged(
        &mut self,
        output: Value,
        scope: &mut RequestScope,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> Option<Result<Value, ProgramFailure>> {
        let agent = self.outgoing.agent();
        let verdict = world.registry.by_agent(agent).and_then(|spec| spec.verdict.as_ref());
        let Some(verdict) = verdict.filter(|verdict| verdict.is_required(&output)) else {
            return Some(Ok(output));
        };
        let place = (self.outgoing.origin().clone(), scope.clone());
        let hold = HoldTask::about(verdict, agent, place, output);
        turn.opened.push(hold.request(scope.next_path(), turn.now));
        self.phase = AttemptPhase::Asking(Box::new(hold));
        None
    }

    fn is_final(&self, code: &str) -> bool {
        FINAL_CODES.contains(&code) || self.policy.retry.non_retryable.iter().any(|own| own == code)
    }

    fn call(&mut self, scope: &mut RequestScope, world: &PipelineWorld, turn: &mut TaskTurn) {
        self.attempt += 1;
        self.phase = AttemptPhase::Calling;
        let OutgoingAttempt { mut request, told } =
            self.outgoing.attempt(world, scope.next_path(), self.attempt);
        turn.events.extend(told);
        request.timeout_ms = self.policy.timeout_ms;
        self.kind = RequestKind::of(&request);
        turn.opened.push(request);
    }

    fn pause(
        &mut self,
        failure: &ProgramFailure,
        scope: &mut RequestScope,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) {
        self.phase = AttemptPhase::Pausing;
        let path = scope.next_path();
        let RetryLimits { initial_ms, backoff, max_interval_ms, .. } = &self.policy.retry;
        // One multiplication a step gives the same number on every machine; `powi` need not.
        let mut pause_ms = *initial_ms as f64;
        for _ in 1..self.attempt {
            pause_ms = (pause_ms * backoff).min(PAUSE_MS_MAX);
        }
        let longest = max_interval_ms.map_or(PAUSE_MS_MAX, |millis| millis as f64);
        let pause_ms = pause_ms.min(longest);
        let jitter = pause_ms * JITTER * world.seed.unit(&path, self.attempt);
        // Whoever asks for a longer pause is not asked again earlier.
        let asked = failure.details.get(RETRY_AFTER_MS).and_then(Value::as_int).unwrap_or(0);
        let asked = (asked as f64).clamp(0.0, longest);
        let until = turn.now.plus_millis((pause_ms + jitter).max(asked) as i64);
        turn.opened.push(Request::sleep(path, until));
    }
}

fn cancelled() -> ProgramFailure {
    ProgramFailure::new("Cancelled", "the call was cancelled")
}

/// Checks that an output is small and flat enough to be recorded and passed on.
pub(super) fn check_output(value: &Value) -> Result<(), ProgramFailure> {
    if value.nesting() > OUTPUT_NESTING_MAX {
        let message = format!("the output nests deeper than {OUTPUT_NESTING_MAX} levels");
        return Err(ProgramFailure::new("OutputTooLarge", message));
    }
    let mut left = OUTPUT_BYTES_MAX;
    if !fits(value, &mut left) {
        let message = format!("the output has more than {OUTPUT_BYTES_MAX} bytes");
        return Err(ProgramFailure::new("OutputTooLarge", message));
    }
    Ok(())
}

/// Takes the weight of a value off what is left, and says whether there was enough of it.
pub(super) fn fits(value: &Value, left: &mut usize) -> bool {
    weigh(value, left).is_some()
}

/// Takes the rough weight of a value off what is left; stops when nothing is.
fn weigh(value: &Value, left: &mut usize) -> Option<()> {
    let own = match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 9,
        Value::Text(text) => text.len() + 1,
        Value::Bytes(bytes) => bytes.len() + 1,
        Value::Link(_) => 40,
        Value::List(_) | Value::Map(_) => 1,
    };
    *left = left.checked_sub(own)?;
    match value {
        Value::List(items) => items.iter().try_for_each(|item| weigh(item, left)),
        Value::Map(map) => map.iter().try_for_each(|(key, item)| {
            *left = left.checked_sub(key.len() + 1)?;
            weigh(item, left)
        }),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Link(_) => Some(()),
    }
}
