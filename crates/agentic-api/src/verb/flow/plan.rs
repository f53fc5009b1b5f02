//! Looking at flows: what is wrong with them, which plans they compile to, and what these do.

use agentic_flow::Rhai;
use agentic_lang_pipeline::{
    CompiledBlock, CompiledSource, PipelineLanguage, explain, explain_stored,
};
use agentic_model::json;
use agentic_replay::Language;
use agentic_session::engine::stored_plan;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::program::{
    NamedText, ProgramFindings, ProgramSource, check, compile_pipeline, pipeline_findings,
    read_registry,
};
use crate::verb::program::findings_reply;
use crate::verb::run::faulty_reply;
use crate::verb::{LocalVerb, Reply, Verb};
use crate::view::{ExplainAnswer, ExplanationView, PipelineFindingView, PlanAnswer, PlanView};
use crate::{Caller, Refusal, Surroundings};

/// How the names of pipelines end.
const PIPELINE_SUFFIX: &str = ".as";

/// Find what is wrong with a flow, without running it. A file that ends with `.as` is a pipeline, any
/// other a script.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowCheck {
    /// The flow.
    pub program: ProgramSource,
    /// The builtins that a pipeline may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
}

impl LocalVerb for FlowCheck {
    type Answer = ProgramFindings;

    fn run_here(self, here: &Surroundings) -> Result<Reply<ProgramFindings>, Refusal> {
        let registry = read_registry(self.registry.as_ref(), here)?;
        let is_pipeline = self.program.file.name.ends_with(PIPELINE_SUFFIX);
        let language: &'static dyn Language = if is_pipeline { &PipelineLanguage } else { &Rhai };
        let program = self.program.read(here, Some(language))?;
        Ok(findings_reply(check(&program, &registry)?))
    }
}

/// Find what is wrong with a pipeline, with all that other programs may want to know of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowDiagnostics {
    /// The pipeline.
    pub program: ProgramSource,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
}

impl LocalVerb for FlowDiagnostics {
    type Answer = Vec<PipelineFindingView>;

    fn run_here(self, here: &Surroundings) -> Result<Reply<Vec<PipelineFindingView>>, Refusal> {
        let registry = read_registry(self.registry.as_ref(), here)?;
        let program = self.program.read(here, Some(&PipelineLanguage))?;
        let findings = pipeline_findings(&program, &registry);
        let views: Vec<_> = findings.iter().map(PipelineFindingView::of).collect();
        Ok(if views.is_empty() { Reply::plain(views) } else { faulty_reply(views) })
    }
}

/// The forms of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlanForm {
    /// The canonical one, which is stored and runs.
    #[default]
    V1,
    /// For engines that know calls and joins only.
    Sibyl,
    /// A drawing, for Graphviz.
    Dot,
}

/// Show the plans that a pipeline compiles to, one for each block.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowPlan {
    /// The pipeline.
    pub program: ProgramSource,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
    /// The form.
    #[serde(default)]
    pub form: PlanForm,
}

impl LocalVerb for FlowPlan {
    type Answer = PlanAnswer;

    fn run_here(self, here: &Surroundings) -> Result<Reply<PlanAnswer>, Refusal> {
        let compiled = match compiled(here, self.program, self.registry.as_ref())? {
            Ok(compiled) => compiled,
            Err(findings) => return Ok(faulty_reply(PlanAnswer::Faulty(findings))),
        };
        let in_form = |block: &CompiledBlock| {
            Ok(match self.form {
                PlanForm::V1 => PlanView::Json(block.plan.to_json()),
                PlanForm::Sibyl => {
                    let plan = block.plan.to_sibyl(&compiled.registry).map_err(|error| {
                        let hint = "print the plan with `--format v1`";
                        Refusal::refused(&error.to_string(), hint)
                    })?;
                    PlanView::Json(json::to_text(&plan))
                }
                PlanForm::Dot => PlanView::Drawing(block.plan.to_dot()),
            })
        };
        let plans = compiled.blocks.iter().map(in_form).collect::<Result<_, Refusal>>()?;
        Ok(Reply::plain(PlanAnswer::Plans(plans)))
    }
}

/// Say in words what a pipeline does, and what it needs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowExplain {
    /// The pipeline.
    pub program: ProgramSource,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
}

impl LocalVerb for FlowExplain {
    type Answer = ExplainAnswer;

    fn run_here(self, here: &Surroundings) -> Result<Reply<ExplainAnswer>, Refusal> {
        Ok(match compiled(here, self.program, self.registry.as_ref())? {
            Ok(compiled) => {
                let text = explain(&compiled);
                Reply::plain(ExplainAnswer::Explained(ExplanationView { text }))
            }
            Err(findings) => faulty_reply(ExplainAnswer::Faulty(findings)),
        })
    }
}

/// Check a stored plan, and say in words what it does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowExplainStored {
    /// The id of the plan, or a prefix of it.
    pub plan: String,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
}

impl Verb for FlowExplainStored {
    type Answer = ExplanationView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ExplanationView>, Refusal> {
        let registry = read_registry(self.registry.as_ref(), &caller.surroundings)?;
        let (plan, places) = stored_plan(caller.space, &self.plan)?;
        Ok(Reply::plain(ExplanationView { text: explain_stored(&plan, &places, &registry) }))
    }
}

/// Compiles a pipeline, or finds what is wrong with it.
fn compiled(
    here: &Surroundings,
    program: ProgramSource,
    registry: Option<&NamedText>,
) -> Result<Result<CompiledSource, ProgramFindings>, Refusal> {
    let registry = read_registry(registry, here)?;
    let program = program.read(here, Some(&PipelineLanguage))?;
    Ok(compile_pipeline(&program, &registry))
}
