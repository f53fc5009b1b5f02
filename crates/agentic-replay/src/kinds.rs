//! What is known about kinds of requests: who answers them, and what a crash may do to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    BEHAVIOUR_ADOPT, BEHAVIOUR_PROPOSE, EffectClass, PATCH, PENDING, ProgramFailure, QUERY, RELATE,
    Request, SLEEP, TRACED,
};

/// The kind of a request that only a human may answer.
pub const HOLD: &str = "hold";

/// The kind of a request that waits for a value from outside.
pub const SUSPEND: &str = "suspend";

/// The kind of requests over HTTP.
const HTTP: &str = "http";

/// The built-in kinds whose effects something has to carry, which may fail without any of them
/// having happened.
const CARRIED: [&str; 4] = ["exec", "model", "memory.query", "memory.add"];
/// How often the host tries these again.
const RETRIES_MAX: u32 = 3;

/// Who answers requests of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handling {
    /// An executor, whose effect has this class.
    Effect(EffectClass),
    /// Somebody outside, by a decision.
    Decision,
    /// The clock.
    Timer,
}

impl Handling {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Handling::Effect(EffectClass::Pure) => "pure",
            Handling::Effect(EffectClass::Read) => "read",
            Handling::Effect(EffectClass::Idempotent) => "idempotent",
            Handling::Effect(EffectClass::Once) => "once",
            Handling::Decision => "decision",
            Handling::Timer => "timer",
        }
    }
}

/// What is known about one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindRule {
    /// Who answers.
    pub handling: Handling,
    /// Where payloads stand.
    pub storage: Storage,
    /// How often the host may try again by itself after a fault of transport, the first time not
    /// counted. The program never sees these attempts.
    pub retries_max: u32,
}

/// Where the payloads of a kind stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In the record, if they are short.
    Record,
    /// Always as an object of their own, which can be removed later while the record and its hash
    /// stay.
    Object,
}

/// The kinds that a host knows. A kind that it does not know is an effect that may happen once at
/// most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    rules: BTreeMap<String, KindRule>,
    classes: BTreeMap<String, Classes>,
    checks: BTreeMap<String, Check>,
}

/// The class of the effect of each request of a kind.
#[derive(Debug, Clone, Copy)]
struct Classes(fn(&Request) -> EffectClass);

impl PartialEq for Classes {
    fn eq(&self, other: &Classes) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Classes {}

/// What is wrong with a request before anybody is asked.
#[derive(Debug, Clone, Copy)]
struct Check(fn(&Request) -> Result<(), ProgramFailure>);

impl PartialEq for Check {
    fn eq(&self, other: &Check) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

impl Eq for Check {}

impl KindRule {
    /// Makes a rule without retries whose payloads stand in the records.
    pub fn new(handling: Handling) -> KindRule {
        KindRule { handling, storage: Storage::Record, retries_max: 0 }
    }
}

impl Kinds {
    /// Returns the kinds of the specification.
    pub fn built_in() -> Kinds {
        use EffectClass::{Idempotent, Once, Pure, Read};
        let effect = |class| move |kind: &&'static str| (*kind, Handling::Effect(class));
        let pure = ["join", "mock", PATCH, TRACED];
        let read =
            ["model", "file.read", "file.find", "file.grep", "memory.query", "env", PENDING, QUERY];
        let in_files = ["memory.add", "file.write", "file.patch"];
        let in_store = ["commit", "spawn", RELATE, BEHAVIOUR_PROPOSE, BEHAVIOUR_ADOPT];
        let once = ["exec", "endpoint", "mcp", "npm"];
        let rules = (pure.iter().map(effect(Pure)))
            .chain(read.iter().map(effect(Read)))
            .chain(in_files.iter().chain(&in_store).map(effect(Idempotent)))
            .chain(once.iter().map(effect(Once)))
            .chain([
                (HOLD, Handling::Decision),
                (SUSPEND, Handling::Decision),
                (SLEEP, Handling::Timer),
            ]);
        let rule = |kind, handling| {
            let retries_max = if CARRIED.contains(&kind) { RETRIES_MAX } else { 0 };
            KindRule { retries_max, ..KindRule::new(handling) }
        };
        let rules = rules.map(|(kind, handling)| (kind.to_owned(), rule(kind, handling)));
        Kinds { rules: rules.collect(), classes: BTreeMap::new(), checks: BTreeMap::new() }
    }

    /// Lists the kinds of effects of which something is known, and `http`, whose rule is told by its method.
    pub fn effects(&self) -> BTreeSet<&str> {
        let is_effect = |rule: &KindRule| matches!(rule.handling, Handling::Effect(_));
        let known = self.rules.iter().filter(|(_, rule)| is_effect(rule)).map(|(kind, _)| kind);
        known.chain(self.classes.keys()).map(String::as_str).chain([HTTP]).collect()
    }

    /// Adds a kind, or replaces what was known about it.
    pub fn set(&mut self, kind: impl Into<String>, rule: KindRule) {
        self.rules.insert(kind.into(), rule);
    }

    /// Adds a kind of effects whose class is told by each request, or replaces what was known
    /// about it.
    pub fn set_classes(&mut self, kind: impl Into<String>, class: fn(&Request) -> EffectClass) {
        self.classes.insert(kind.into(), Classes(class));
    }

    /// Has requests of a kind looked at when they go live. One that is refused reaches nobody: it is
    /// computed, and its answer is the refusal.
    pub fn set_check(
        &mut self,
        kind: impl Into<String>,
        check: fn(&Request) -> Result<(), ProgramFailure>,
    ) {
        self.checks.insert(kind.into(), Check(check));
    }

    /// Returns why a request is refused, where the check of its kind does so.
    pub fn refusal(&self, request: &Request) -> Option<ProgramFailure> {
        let Check(check) = self.checks.get(&request.kind)?;
        check(request).err()
    }

    /// Returns the rule for a request. HTTP is read or once by its method.
    pub fn rule(&self, request: &Request) -> KindRule {
        // The record says that it is computed, so that a crash before the answer changes nothing:
        // what an earlier version put before people keeps its own rule.
        if self.refusal(request).is_some() {
            return KindRule::new(Handling::Effect(EffectClass::Pure));
        }
        if let Some(Classes(class)) = self.classes.get(&request.kind) {
            return KindRule::new(Handling::Effect(class(request)));
        }
        if let Some(rule) = self.rules.get(&request.kind) {
            return rule.clone();
        }
        let method = request.payload.get("method").and_then(|method| method.as_text());
        let is_read = request.kind == HTTP && matches!(method, Some("GET" | "HEAD"));
        let class = if is_read { EffectClass::Read } else { EffectClass::Once };
        KindRule::new(Handling::Effect(class))
    }
}
