//! The context language, as whoever runs its programs durably sees it: what is pinned of them, and
//! who answers what they ask.
//!
//! The object of a run holds every text that the program consists of, where the run begins, which
//! candidates its choices take, and its [`ProgramAnswerers`]. Mocks and scripts are a fold over the answered
//! requests, so a replay that folds them again has the same state.

use std::collections::BTreeMap;

use agentic_diag::SourceText;
use agentic_model::object::ObjectError;
use agentic_model::{Map, Object, Value};
use agentic_replay::{
    EffectClass, Kinds, Language, PinnedProgram, Program, ProgramFault, Request, behaviour,
    source_of,
};

use crate::dialect::{Dialect, Version};
use crate::error::Error;
use crate::json::{self, Json};
use crate::module::{
    Calls, CheckFindings, CheckOptions, ContextModule, ContextOptions, EntryPoint, StoreReach,
    TraceMode, compile,
};
use crate::provider;
use crate::run::{ContextRun, INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, TOOL_REQUEST};
use crate::{LANGUAGE, SEMANTICS_OLDEST, SEMANTICS_VERSION};

/// The language of agents that declare what a model may see.
#[derive(Debug, Clone, Copy)]
pub struct ContextLanguage;

impl Language for ContextLanguage {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn summary(&self) -> &'static str {
        "Agents that declare what a model may see: `.as`"
    }

    fn semantics(&self) -> u32 {
        SEMANTICS_VERSION
    }

    fn semantics_oldest(&self) -> u32 {
        SEMANTICS_OLDEST
    }

    fn claims(&self, extension: &str, _text: &[u8]) -> bool {
        extension == "as"
    }

    fn add_kinds(&self, flow: &Object, kinds: &mut Kinds) -> Result<(), ProgramFault> {
        ProgramAnswerers::of(flow)?.add_kinds(kinds);
        Ok(())
    }

    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault> {
        let run = ContextFlow::of(pinned.flow, source_of(pinned.flow)?)?;
        let module = run.compile().map_err(|checked| {
            let first = checked.findings.first().map(|finding| finding.diagnostic.message.as_str());
            ProgramFault::found(first)
        })?;
        let run = run.run(&module, TraceMode::Full);
        Ok(Box::new(run.map_err(|error| ProgramFault::broken(error.to_string()))?))
    }
}

/// A run of a program of the context language.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextFlow {
    /// The path of the program, from which the ids of its choices derive.
    pub name: String,
    /// The program.
    pub source: String,
    /// The texts that it imports, by their paths.
    pub files: BTreeMap<String, String>,
    /// The version that it is held to; the one that its text shows without.
    pub dialect: Option<Dialect>,
    /// Where it begins: `AGENT`, `AGENT.FUNC`, or its main function without.
    pub entry: Option<String>,
    /// Which candidate each choice takes, by the id of its site.
    pub variant: BTreeMap<String, String>,
    /// Who answers what it asks.
    pub answerers: ProgramAnswerers,
    /// Whether its calls of agents are sessions of their own.
    pub calls: Calls,
    /// How many iterations of a `parallel for` run at once; as many as the language says without.
    pub concurrency: Option<usize>,
}

/// Who answers what a program asks.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramAnswerers {
    /// Who answers models.
    pub models: ProgramModels,
    /// Who answers tools and memories.
    pub tools: ProgramTools,
}

/// Who answers the models of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum ProgramModels {
    /// A mock that fills contracts with empty values, as this version did.
    Mock(Version),
    /// These replies in turn.
    Script(Vec<Json>),
    /// Those that are configured, by their addresses.
    Configured,
}

/// Who answers the tools and memories of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramTools {
    /// Mocks.
    Mock,
    /// The real ones.
    Real,
    /// What only reads is performed, everything else described.
    Described(Version),
}

impl ContextFlow {
    /// Makes the object that names the run.
    ///
    /// # Errors
    /// Fails when the texts are too long for an object.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let texts = |map: &BTreeMap<String, String>| {
            Value::Map(map.iter().map(|(key, text)| (key.clone(), Value::text(text))).collect())
        };
        let optional = |text: Option<String>| text.map_or(Value::Null, Value::Text);
        let dialect = self.dialect.map(|dialect| dialect.version.to_string());
        // Left out unless it is chosen: so the programs of earlier sessions keep their ids.
        let concurrency = self.concurrency.and_then(|count| i64::try_from(count).ok());
        let concurrency = concurrency.map(|count| ("concurrency", Value::Int(count)));
        behaviour(
            LANGUAGE,
            &self.source,
            [
                ("name", Value::text(&self.name)),
                ("files", texts(&self.files)),
                ("dialect", optional(dialect)),
                ("entry", optional(self.entry.clone())),
                ("variant", texts(&self.variant)),
                ("cast", self.answerers.to_value()),
                ("children", Value::Bool(self.calls == Calls::Children)),
            ]
            .into_iter()
            .chain(concurrency),
        )
    }

    /// Reads the run that an object names.
    fn of(flow: &Object, source: &str) -> Result<ContextFlow, ProgramFault> {
        let map = flow.map();
        let text = |key: &str| map.get(key).and_then(Value::as_text);
        let texts = |key: &str| -> BTreeMap<String, String> {
            let pinned = map.get(key).and_then(Value::as_map).into_iter().flatten();
            pinned.filter_map(|(name, text)| Some((name.clone(), text.as_text()?.into()))).collect()
        };
        let dialect =
            match text("dialect") {
                None => None,
                Some(text) => Some(Version::parse(text).map(Dialect::strict).ok_or_else(|| {
                    ProgramFault::broken(format!("there is no version `{text}`"))
                })?),
            };
        Ok(ContextFlow {
            name: text("name").unwrap_or_default().to_owned(),
            source: source.to_owned(),
            files: texts("files"),
            dialect,
            entry: text("entry").map(str::to_owned),
            variant: texts("variant"),
            answerers: ProgramAnswerers::of(flow)?,
            calls: match map.get("children") {
                Some(Value::Bool(true)) => Calls::Children,
                Some(_) | None => Calls::Contexts,
            },
            concurrency: map
                .get("concurrency")
                .and_then(Value::as_int)
                .and_then(|count| usize::try_from(count).ok()),
        })
    }

    /// Compiles the program with the texts that it imports, or finds what is wrong with it.
    ///
    /// # Errors
    /// Fails with everything that the check found.
    pub fn compile(&self) -> Result<ContextModule, CheckFindings> {
        let options =
            CheckOptions { dialect: self.dialect, calls: self.calls, ..CheckOptions::default() };
        let mut resolver =
            |path: &str| self.files.get(path).cloned().ok_or_else(|| "it is not pinned".to_owned());
        let source = SourceText::new(self.name.as_str(), self.source.as_str());
        compile(source, &options, &mut resolver)
    }

    /// Prepares a run of the compiled program, which tells what it does if it is to.
    ///
    /// # Errors
    /// Fails when the entry point is not there.
    pub fn run(&self, module: &ContextModule, tracing: TraceMode) -> Result<ContextRun, Error> {
        let entry = self.entry.as_deref().map(EntryPoint::parse).unwrap_or_default();
        let variant = self.variant.clone();
        let mut options = ContextOptions { variant, tracing, ..ContextOptions::default() };
        options.concurrency = self.concurrency.unwrap_or(options.concurrency);
        options.store = self.answerers.store();
        module.run(&entry, options)
    }
}

impl ProgramAnswerers {
    /// Says who is asked by calls of a tool at `agentic://`: made-up tools make that up, too.
    pub fn store(&self) -> StoreReach {
        match self.tools {
            ProgramTools::Mock | ProgramTools::Described(_) => StoreReach::Tools,
            ProgramTools::Real => StoreReach::Session,
        }
    }

    /// Reads who answers a pinned program.
    ///
    /// # Errors
    /// Fails when nobody knows who is meant.
    pub fn of(flow: &Object) -> Result<ProgramAnswerers, ProgramFault> {
        let answerers = flow.map().get("cast").unwrap_or(&Value::Null);
        let text = |key: &str| answerers.get(key).and_then(Value::as_text);
        let unknown = || ProgramFault::broken("nobody knows who answers its requests");
        let models = match text("models") {
            Some("mock") => {
                let version = text("version").and_then(Version::parse);
                ProgramModels::Mock(version.ok_or_else(unknown)?)
            }
            Some("script") => {
                let script = text("script").map(json::parse);
                let Some(Ok(Json::List(replies))) = script else { return Err(unknown()) };
                ProgramModels::Script(replies)
            }
            Some("configured") => ProgramModels::Configured,
            Some(_) | None => return Err(unknown()),
        };
        let tools = match text("tools") {
            Some("mock") => ProgramTools::Mock,
            Some("real") => ProgramTools::Real,
            Some("described") => {
                let version = text("version").and_then(Version::parse);
                ProgramTools::Described(version.ok_or_else(unknown)?)
            }
            Some(_) | None => return Err(unknown()),
        };
        Ok(ProgramAnswerers { models, tools })
    }

    fn to_value(&self) -> Value {
        let tools = match self.tools {
            ProgramTools::Mock => "mock",
            ProgramTools::Real => "real",
            ProgramTools::Described(_) => "described",
        };
        let mut map = Map::from([("tools".to_owned(), Value::text(tools))]);
        let mut set = |key: &str, text: String| map.insert(key.to_owned(), Value::Text(text));
        match &self.models {
            ProgramModels::Mock(version) => {
                set("models", "mock".to_owned());
                set("version", version.to_string());
            }
            ProgramModels::Script(replies) => {
                set("models", "script".to_owned());
                set("script", json::compact(&Json::List(replies.clone())));
            }
            ProgramModels::Configured => {
                set("models", "configured".to_owned());
            }
        }
        Value::Map(map)
    }

    /// Tells a host about the kinds of requests that programs with these answerers make. What is made up
    /// may be made up again.
    pub fn add_kinds(&self, kinds: &mut Kinds) {
        kinds.set_classes(INPUT_REQUEST, class_of);
        kinds.set_classes(
            MODEL_REQUEST,
            match self.models {
                ProgramModels::Mock(_) | ProgramModels::Script(_) => made_up,
                ProgramModels::Configured => class_of,
            },
        );
        for kind in [TOOL_REQUEST, MEMORY_REQUEST] {
            kinds.set_classes(
                kind,
                match self.tools {
                    ProgramTools::Mock => made_up,
                    ProgramTools::Real | ProgramTools::Described(_) => class_of,
                },
            );
        }
    }
}

fn made_up(_request: &Request) -> EffectClass {
    EffectClass::Pure
}

fn class_of(request: &Request) -> EffectClass {
    provider::effect_class(request).unwrap_or(EffectClass::Once)
}
