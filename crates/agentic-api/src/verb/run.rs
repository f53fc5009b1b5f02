//! Running programs, in memory or as sessions.

pub(crate) mod agents;
pub(crate) mod context;
mod durable;
pub(crate) mod pipeline;

use std::collections::BTreeMap;

use agentic_lang_agent::AgentLang;
use agentic_lang_context::ContextLanguage;
use agentic_lang_pipeline::PipelineLanguage;
use agentic_lang_pipeline::run::BlockOrder;
use agentic_model::guidance::ErrorClass;
use agentic_providers::model::Adapter;
use agentic_replay::Language;
use agentic_replay::engine::RunAttendance;
use agentic_session::{Begin, language_of_file};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use self::durable::DurableSetting;
use crate::program::{NamedText, ProgramFindings, ProgramSource, ProgramText, named_language};
use crate::verb::{Reply, Verb, VerbCompletion, value};
use crate::view::RunAnswer;
use crate::watcher::NoticeDesk;
use crate::{Caller, Refusal, Surroundings};

/// What a run gives.
pub(crate) type RunReply = Result<Reply<RunAnswer>, Refusal>;

/// Run a program. A run is in memory: nothing of it is kept, and it needs no repository. As a session,
/// and for a pipeline with a temporal block, it is durable.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The program.
    pub program: ProgramSource,
    /// The pipeline of a program of AgentLang.
    #[serde(default)]
    pub pipeline: Option<String>,
    /// The input, as JSON text here and as any JSON value in JSON.
    #[serde(default, deserialize_with = "value::read_json_text")]
    #[schemars(with = "serde_json::Value")]
    pub input: Option<String>,
    /// What to do with a program of AgentLang.
    #[serde(default)]
    pub act: RunAct,
    /// Where it runs.
    #[serde(default)]
    pub place: RunPlace,
    /// The agent of a session, else the current one, else a new one named `run-KEY`.
    #[serde(default)]
    pub agent: Option<String>,
    /// The start key of a session: the same agent, program, input and key give the same session.
    #[serde(default)]
    pub key: Option<String>,
    /// The file that what happened is written to, of a session all since it was started.
    #[serde(default)]
    pub output_trace: Option<String>,
    /// Whether the answer of a program of AgentLang that failed has what happened before.
    #[serde(default)]
    pub keep_trace: bool,
    /// Whether the watcher hears what happens in a program of AgentLang, as it happens.
    #[serde(default)]
    pub live: bool,
    /// How many branches of a parallel block, or iterations of a `parallel for`, run at once.
    #[serde(default)]
    pub workers: Option<i64>,
    /// Which programs perform which tasks of AgentLang; each reads and prints one line of JSON.
    #[serde(default)]
    pub handlers: BTreeMap<String, Vec<String>>,
    /// Which programs are which tools that agents of AgentLang may call.
    #[serde(default)]
    pub tools: BTreeMap<String, Vec<String>>,
    /// Who performs what agents of AgentLang do: `mock`, `live` or `anthropic`.
    #[serde(default, deserialize_with = "value::read_adapter")]
    #[schemars(with = "Option<String>")]
    pub adapter: Option<Adapter>,
    /// The builtins that a pipeline may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
    /// Whether models, tools and memories of a context program are made up, always alike.
    #[serde(default)]
    pub mock: bool,
    /// Whether it is only shown what a context program would send to models.
    #[serde(default)]
    pub dry_run: bool,
    /// What models of a context program answer: a list of `{"text"}`, `{"value"}`, `{"error"}`.
    #[serde(default)]
    pub script: Option<NamedText>,
    /// Whether the watcher is shown what a context program did.
    #[serde(default)]
    pub trace: bool,
    /// Whether the answer of a context program is the value alone.
    #[serde(default)]
    pub quiet: bool,
    /// Where a context program begins: `AGENT` or `AGENT.FUNC`.
    #[serde(default)]
    pub entry: Option<String>,
    /// Which candidate each choice of a context program takes; `*` for a run with each.
    #[serde(default)]
    pub variant: BTreeMap<String, String>,
    /// Whether each agent that a context program calls runs as a session of its own.
    #[serde(default)]
    pub branches: bool,
}

/// What to do with a program of AgentLang.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunAct {
    /// Run a pipeline.
    #[default]
    Run,
    /// Run the tests.
    Test,
    /// Tell a pipeline as it runs, its workflows lowered, and run nothing.
    Lower,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunPlace {
    /// In memory, unless a block of a pipeline says that it is durable.
    #[default]
    AsDeclared,
    /// In memory, whatever the blocks of a pipeline say.
    Memory,
    /// As a session.
    Session,
}

/// A program that was looked at, with what is asked of it.
#[must_use = "it has not run yet"]
pub struct PreparedRun(PreparedState);

enum PreparedState {
    /// There is nothing to run.
    Answered(Box<Reply<RunAnswer>>),
    /// It can run.
    Ready(Box<dyn RunnableProgram>),
}

/// A program that is ready to run.
pub(crate) trait RunnableProgram {
    /// Returns its language.
    fn language(&self) -> &'static dyn Language;

    /// Says whether it is recorded, for which it needs a space.
    fn is_durable(&self) -> bool;

    /// Runs it here and now, and keeps nothing.
    fn in_memory(self: Box<Self>, here: &Surroundings, desk: &NoticeDesk<'_>) -> RunReply;

    /// Says what its session begins with; makes its agent if it has to.
    fn begin(&self, caller: &Caller<'_>) -> Result<Begin, Refusal>;

    /// Runs it durably, as far as it goes without a human.
    fn in_space(self: Box<Self>, caller: &Caller<'_>, desk: &NoticeDesk<'_>) -> RunReply;
}

impl Verb for Run {
    type Answer = RunAnswer;

    fn run(self, caller: &Caller<'_>) -> RunReply {
        self.prepare(&caller.surroundings)?.run(caller)
    }
}

impl PreparedRun {
    pub(crate) fn answered(reply: Reply<RunAnswer>) -> PreparedRun {
        PreparedRun(PreparedState::Answered(Box::new(reply)))
    }

    pub(crate) fn ready(program: impl RunnableProgram + 'static) -> PreparedRun {
        PreparedRun(PreparedState::Ready(Box::new(program)))
    }

    /// Says whether the run is recorded, for which it needs a space.
    pub fn is_durable(&self) -> bool {
        match &self.0 {
            PreparedState::Answered(_) => false,
            PreparedState::Ready(program) => program.is_durable(),
        }
    }

    /// Says whether there is nothing to run: the answer is known.
    pub fn is_answered(&self) -> bool {
        match &self.0 {
            PreparedState::Answered(_) => true,
            PreparedState::Ready(_) => false,
        }
    }

    /// Returns the language of a program that can run.
    pub fn language(&self) -> Option<&'static dyn Language> {
        match &self.0 {
            PreparedState::Answered(_) => None,
            PreparedState::Ready(program) => Some(program.language()),
        }
    }

    /// Says what the session of the program begins with; nothing where there is nothing to run.
    ///
    /// # Errors
    /// Fails when the program cannot be recorded.
    pub(crate) fn begin(&self, caller: &Caller<'_>) -> Result<Option<Begin>, Refusal> {
        match &self.0 {
            PreparedState::Answered(_) => Ok(None),
            PreparedState::Ready(program) => program.begin(caller).map(Some),
        }
    }

    /// Runs the program in memory.
    ///
    /// # Errors
    /// Fails when the program fails, and when it needs more than memory.
    pub fn run_here(self, here: &Surroundings) -> RunReply {
        let desk = NoticeDesk::new(&here.watcher);
        match self.0 {
            PreparedState::Answered(reply) => Ok(*reply),
            PreparedState::Ready(program) => Ok(desk.before(program.in_memory(here, &desk)?)),
        }
    }

    /// Runs the program where it belongs.
    ///
    /// # Errors
    /// Fails when the program fails or cannot be recorded.
    pub fn run(self, caller: &Caller<'_>) -> RunReply {
        let desk = NoticeDesk::new(caller.watcher());
        match self.0 {
            PreparedState::Answered(reply) => Ok(*reply),
            PreparedState::Ready(program) => Ok(desk.before(match program.is_durable() {
                true => program.in_space(caller, &desk)?,
                false => program.in_memory(&caller.surroundings, &desk)?,
            })),
        }
    }
}

/// Answers that something is wrong with a program: nothing ran.
pub(crate) fn faulty(findings: ProgramFindings) -> PreparedRun {
    PreparedRun::answered(faulty_reply(RunAnswer::Faulty(findings)))
}

/// Answers what is wrong with a program, where nothing ran.
pub(crate) fn faulty_reply<A>(answer: A) -> Reply<A> {
    Reply { completion: VerbCompletion::Over(ErrorClass::Refused), ..Reply::plain(answer) }
}

/// Refuses a run in memory that asks the store: it is in none.
fn no_store(what: &str) -> Refusal {
    let message = format!("{what} asks the store of an agent, and a run in memory is in none");
    Refusal::refused(&message, "run it as a session with `--session`")
}

/// How programs of a language are made ready that need no agent.
struct Runner {
    language: &'static dyn Language,
    prepare: fn(&Surroundings, &ProgramText, Run) -> Result<PreparedRun, Refusal>,
}

/// The languages whose programs run by themselves.
static RUNNERS: [Runner; 3] = [
    Runner { language: &AgentLang, prepare: agents::prepare },
    Runner { language: &PipelineLanguage, prepare: prepare_pipeline },
    Runner { language: &ContextLanguage, prepare: context::prepare },
];

impl Run {
    /// Returns what runs a program of which no more is known, with nothing asked of it.
    pub fn of(program: ProgramSource) -> Run {
        Run {
            program,
            pipeline: None,
            input: None,
            act: RunAct::Run,
            place: RunPlace::AsDeclared,
            agent: None,
            key: None,
            output_trace: None,
            keep_trace: false,
            live: false,
            workers: None,
            handlers: BTreeMap::new(),
            tools: BTreeMap::new(),
            adapter: None,
            registry: None,
            mock: false,
            dry_run: false,
            script: None,
            trace: false,
            quiet: false,
            entry: None,
            variant: BTreeMap::new(),
            branches: false,
        }
    }

    /// Looks at the program and at what is asked of it. Nothing has run then.
    ///
    /// # Errors
    /// Fails when the program cannot be read, when what is asked means nothing to its language, and
    /// when the input is none.
    pub fn prepare(mut self, here: &Surroundings) -> Result<PreparedRun, Refusal> {
        self.check_input()?;
        let program = self.program.clone().read(here, None)?;
        self.refuse_foreign(program.language)?;
        let is_setting = self.agent.is_some() || self.key.is_some();
        if self.place != RunPlace::Session && is_setting && !program.language.is(&PipelineLanguage)
        {
            return Err(Refusal::usage(
                "a run in memory has neither agent nor key",
                "run it with `--session`",
            ));
        }
        let runner = RUNNERS.iter().find(|runner| program.language.is(runner.language));
        let runner = runner.ok_or_else(|| {
            Refusal::usage(
                "a script runs on behalf of an agent",
                "use `agentic session start AGENT --flow FILE`",
            )
        })?;
        // The text is not held twice.
        self.program.file.text = None;
        (runner.prepare)(here, &program, self)
    }

    /// Inputs are looked at before the program is.
    fn check_input(&self) -> Result<(), Refusal> {
        let Some(text) = &self.input else { return Ok(()) };
        agentic_lang_agent::json::from_text(text).map_err(|error| {
            Refusal::usage(&format!("the input is {error}"), "give one JSON value to `--input`")
        })?;
        let named = named_language(self.program.language.as_deref())?;
        let named = named.or_else(|| language_of_file(&self.program.file.name, b""));
        if named.is_some_and(|language| language.is(&AgentLang)) {
            agents::read_input(text)?;
        }
        Ok(())
    }

    /// Returns the setting of a session, if the program is to run as one.
    fn session(&self) -> Option<DurableSetting> {
        (self.place == RunPlace::Session).then(|| self.setting())
    }

    fn setting(&self) -> DurableSetting {
        DurableSetting { agent: self.agent.clone(), key: self.key.clone() }
    }

    /// Refuses what means nothing to a language, so that nobody believes that it did something.
    fn refuse_foreign(&self, language: &'static dyn Language) -> Result<(), Refusal> {
        let (agentlang, context): (&dyn Language, &dyn Language) = (&AgentLang, &ContextLanguage);
        let pipeline: &dyn Language = &PipelineLanguage;
        let given = [
            ("a name of a pipeline", self.pipeline.is_some(), agentlang),
            ("--lower", self.act == RunAct::Lower, agentlang),
            ("--test", self.act == RunAct::Test, agentlang),
            ("--trace-live", self.live, agentlang),
            ("--workers", self.workers.is_some() && !language.is(context), agentlang),
            ("--adapter", self.adapter.is_some(), agentlang),
            ("--handler", !self.handlers.is_empty(), agentlang),
            ("--tool", !self.tools.is_empty(), agentlang),
            ("--registry", self.registry.is_some(), pipeline),
            ("--backend", self.place == RunPlace::Memory, pipeline),
            ("--mock", self.mock, context),
            ("--dry-run", self.dry_run, context),
            ("--script", self.script.is_some(), context),
            ("--trace", self.trace, context),
            ("--quiet", self.quiet, context),
            ("--entry", self.entry.is_some(), context),
            ("--branches", self.branches, context),
            ("--dialect", self.program.dialect.is_some(), context),
            ("--variant", !self.variant.is_empty(), context),
        ];
        let foreign = given.iter().find(|(_, is_given, owner)| *is_given && !owner.is(language));
        match foreign {
            None => Ok(()),
            Some((what, _, owner)) => Err(Refusal::usage(
                &format!("{what} means nothing to a program of the language `{}`", language.name()),
                &format!("it is for programs of the language `{}`", owner.name()),
            )),
        }
    }
}

fn prepare_pipeline(
    here: &Surroundings,
    program: &ProgramText,
    run: Run,
) -> Result<PreparedRun, Refusal> {
    let setting = run.setting();
    let wish = pipeline::PipelineWish {
        input: run.input,
        registry: run.registry,
        place: run.place,
        setting,
        invoked_by: None,
        blocks: BlockOrder::Sequential,
        output_trace: run.output_trace,
        attendance: RunAttendance::Attended,
    };
    pipeline::prepare(here, program, wish)
}
