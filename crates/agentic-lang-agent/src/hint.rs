//! What to do about a finding, where the place that made it had nothing better to say.

use agentic_diag::Diagnostic;

use crate::ast::Ast;
use crate::code::*;
use crate::types::{TypeId, TypeShape};

/// How many names a hint lists.
const LISTED_MAX: usize = 20;

impl Ast {
    /// Says what a name that nothing has may have meant.
    pub(crate) fn meant(&self, name: &str) -> String {
        let tasks = self.tasks.iter().map(|task| &task.signature);
        let pipelines = self.pipelines.iter().map(|pipeline| &pipeline.signature);
        let workflows = self.workflows.iter().map(|workflow| &workflow.signature);
        let names = tasks.chain(pipelines).chain(workflows);
        let names = names.map(|signature| self.text(signature.name.symbol));
        match agentic_diag::nearest(name, names) {
            Some(other) => format!("did you mean `{other}`?"),
            None => "declare it, or correct the name".to_owned(),
        }
    }

    /// Says which fields a type has; nothing where it has none.
    pub(crate) fn fields_of(&self, of: TypeId, wanted: &str) -> String {
        let TypeShape::Object(fields) = self.types.get(of) else { return String::new() };
        let names: Vec<&str> = fields.iter().map(|(name, _)| self.text(*name)).collect();
        match agentic_diag::nearest(wanted, names.iter().copied()) {
            _ if names.is_empty() => "it has no fields".to_owned(),
            Some(other) => format!("did you mean `{other}`? It has {}", listed(&names)),
            None => format!("it has {}", listed(&names)),
        }
    }

    /// Says which variants an enum has; nothing for other types.
    pub(crate) fn variants_of(&self, of: TypeId) -> String {
        let TypeShape::Enum(name) = self.types.get(of) else { return String::new() };
        let Some(at) = self.by_name.enums.get(*name) else { return String::new() };
        let variants = &self.enums[at].variants;
        let names: Vec<&str> = variants.iter().map(|variant| self.text(variant.symbol)).collect();
        format!("`{}` has the variants {}", self.text(*name), listed(&names))
    }
}

/// Lists names for people, the first of them where there are many.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> =
        names.iter().take(LISTED_MAX).map(|name| format!("`{name}`")).collect();
    let rest = if names.len() > LISTED_MAX { " and more" } else { "" };
    format!("{}{rest}", shown.join(", "))
}

/// Hints by code.
const HINTS: [(&str, &str); 75] = [
    (BAD_CHARACTER, "remove it, or put it into a text"),
    (BAD_ESCAPE, "escapes are \\n \\t \\r \\\\ \\\" \\' \\0 \\uXXXX and \\UXXXXXXXX"),
    (SHORT_ESCAPE, "write 4 hexadecimal digits after \\u, 8 after \\U"),
    (BAD_ESCAPE_DIGIT, "hexadecimal digits are 0-9, a-f and A-F"),
    (BAD_CODE_POINT, "write a character beyond FFFF as \\U and 8 digits, not as a pair"),
    (NUMBER_TOO_LARGE, "give the number as an input, or write fewer digits"),
    (SOURCE_TOO_LARGE, "split the file"),
    (
        EXPECTED_DECLARATION,
        "a file holds agents, tools, tasks, pipelines, workflows, types, enums and tests",
    ),
    (EXPECTED_TOKEN, "look for what is missing, or one too many, in front of it"),
    (
        EXPECTED_STATEMENT,
        "a statement begins with let, if, while, try, parallel, assert, return, break or continue",
    ),
    (
        EXPECTED_EXPRESSION,
        "a value is a text, a number, true, false, null, a name, an object or a list",
    ),
    (EXPECTED_AGENT_ENTRY, "an agent has a `model` and its `tools`, nothing else"),
    (
        EXPECTED_STEP,
        "a workflow is a row of `stage`, `review` and `return`; anything else needs a pipeline",
    ),
    (
        EXPECTED_TYPE,
        "types are String, Number, Bool, List[T], Option[T], Obj{name: T}, and what is declared above",
    ),
    (EXPECTED_FALLBACK, "write `on_fail abort`, or `on_fail use` and a value"),
    (RETRIES_NOT_WHOLE, "write a whole number, such as `retries 2`"),
    (TIMEOUT_NOT_POSITIVE, "write a number of seconds above zero, such as `timeout 0.5`"),
    (CONCURRENCY_NOT_WHOLE, "write a whole number, such as `max_concurrency 2`"),
    (CONCURRENCY_ZERO, "leave it out to take as many as `--workers` says"),
    (ROUNDS_NOT_WHOLE, "write a whole number, such as `max_rounds 3`"),
    (
        WRONG_ARGUMENT_COUNT,
        "arguments go by their place; `run NAME with { name: value }` names them",
    ),
    (NESTED_TOO_DEEP, "move what is inside into a pipeline of its own"),
    (TYPE_TOO_LARGE, "use fewer aliases inside of each other"),
    (WORKFLOW_NAME_TAKEN, "a workflow becomes a pipeline of its name; rename one of the two"),
    (UNKNOWN_STAGE_TASK, "declare the task; a stage runs no pipelines"),
    (UNKNOWN_STEP_AGENT, "declare the agent, or correct its name"),
    (WRONG_STAGE_ARGUMENTS, "give one argument for each parameter of the task"),
    (UNKNOWN_ARTIFACT, "name a parameter of the workflow or an earlier step"),
    (ARTIFACT_TAKEN, "use the name of the review instead"),
    (REVIEW_OF_NON_OBJECT, "let the step that is reviewed give an `Obj{…}`"),
    (UNKNOWN_REVIEW_TASK, "declare a task of that name that gives `approved` and `feedback`"),
    (UNKNOWN_REVISE_TASK, "declare the task, or correct its name"),
    (REVISE_TYPE, "let it give what it revises, in the same type"),
    (UNBOUND_PARAMETER, "name it as a field of what is reviewed or a parameter of the workflow"),
    (WORKFLOW_WITHOUT_RETURN, "end it with `return`"),
    (
        COUNTDOWN_SHAPE,
        "reviews count with `countdown(current: Number) -> Obj{next: Number, done: Bool}`",
    ),
    (UNKNOWN_TOOL, "declare it: `tool NAME(…) -> TYPE {}`"),
    (EMPTY_ENUM, "give it a variant, or use String"),
    (MISSING_RETURN, "end every way through it with `return`"),
    (RETURN_TYPE, "return a value of that type, or declare another one"),
    (IF_CONDITION, "compare with `==` or `!=`; `if let` takes an Option"),
    (WHILE_CONDITION, "compare with `==` or `!=`"),
    (ASSERT_CONDITION, "compare with `==` or `!=`"),
    (IF_LET_TYPE, "only an Option may have no value; use `if`"),
    (IF_LET_SHADOWS, "choose another name"),
    (BREAK_OUTSIDE, "only a `while` can be left; a pipeline ends with `return`"),
    (CONTINUE_OUTSIDE, "only a `while` can go on"),
    (UNBOUND_NAME, "bind it first with `let`, or make it a parameter"),
    (FIELD_OF_NON_OBJECT, "only an `Obj{…}` has fields"),
    (UNKNOWN_FIELD, "name one of the fields of its type"),
    (EMPTY_LIST, "give it an item; an empty list can be an input"),
    (MIXED_LIST, "make the items alike, or keep them in an object"),
    (BAD_PLUS, "`+` joins two texts or adds two numbers"),
    (BAD_COMPARISON, "compare values of one type; `if let` takes the value out of an Option"),
    (UNKNOWN_TASK, "declare it, or correct the name"),
    (UNKNOWN_AGENT, "declare the agent, or correct its name"),
    (AGENT_NEEDED, "add `by AGENT`"),
    (FALLBACK_TYPE, "give a value of the type of the task"),
    (MISSING_ARGUMENTS, "give them by name: `with { name: value }`"),
    (UNKNOWN_ARGUMENTS, "leave them out, or declare them as parameters"),
    (ARGUMENT_TYPE, "give a value of that type"),
    (PIPELINE_BY, "agents perform tasks; name one where the pipeline runs them"),
    (PIPELINE_RETRIES, "put it where the pipeline runs its tasks"),
    (PIPELINE_FALLBACK, "use `try` around the call"),
    (PIPELINE_TIMEOUT, "put it where the pipeline runs its tasks"),
    (MISSING_INPUTS, "give them by name: `with { name: value }`"),
    (UNKNOWN_INPUTS, "leave them out, or declare them as parameters"),
    (INPUT_TYPE, "give a value of that type"),
    (BRANCH_REPEATED, "give each branch a name of its own"),
    (BRANCH_SHADOWS, "branches need names of their own"),
    (LOOP_CHANGES_TYPE, "bind another name inside the loop"),
    (QUESTION_TYPE, "ask with a text"),
    (PIPELINE_UNKNOWN, "name a pipeline or workflow of the file"),
    (UNREADABLE_SOURCE, "save the file as UTF-8"),
    (UNKNOWN_CALLEE, "declare it, or correct the name"),
];

/// Adds what to do next, unless the finding says so itself.
pub(crate) fn hinted(finding: Diagnostic) -> Diagnostic {
    if !finding.hint.is_empty() {
        return finding;
    }
    let known = HINTS.iter().find(|(code, _)| *code == finding.code);
    match known {
        Some((_, hint)) => finding.hint(*hint),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_one_hint() {
        let codes: std::collections::BTreeSet<&str> = HINTS.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.len(), HINTS.len());
    }
}
