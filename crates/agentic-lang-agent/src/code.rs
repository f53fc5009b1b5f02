//! The stable codes of findings and failures.
//!
//! The digit after `A0` names the family and the last two the class of the language's error
//! catalogue: `A0101` is `L01`, `A0240` is `P40`, `A0602` is `R02`. A code never changes its
//! meaning.

use agentic_diag::{Diagnostic, Span};

/// Families of errors, in the order in which they are looked for.
const FAMILIES: [(&str, char); 7] = [
    ("A01", 'L'),
    ("A02", 'P'),
    ("A03", 'W'),
    ("A04", 'T'),
    ("A05", 'I'),
    ("A06", 'R'),
    ("A07", 'U'),
];

/// Returns the class of the error catalogue that a code stands for, such as `T13`.
pub fn class(code: &str) -> Option<String> {
    let (prefix, digits) = (code.get(..3)?, code.get(3..)?);
    let (_, letter) = FAMILIES.iter().find(|(family, _)| *family == prefix)?;
    Some(format!("{letter}{digits}"))
}

/// What a phase of the front end gives: its result, or the one finding that stopped it.
pub(crate) type PhaseResult<T> = Result<T, Box<Diagnostic>>;

/// Makes the finding that stops a phase.
pub(crate) fn stop<T>(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
) -> PhaseResult<T> {
    Err(Box::new(Diagnostic::error(code, span, message)))
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*
    };
}

codes! {
    /// A character that starts no token, or a text literal without an end.
    BAD_CHARACTER = "A0101";
    /// An escape letter that does not exist.
    BAD_ESCAPE = "A0102";
    /// An escape with too few digits.
    SHORT_ESCAPE = "A0103";
    /// An escape with a digit that is not hexadecimal.
    BAD_ESCAPE_DIGIT = "A0104";
    /// An escape for a surrogate, or beyond Unicode.
    BAD_CODE_POINT = "A0105";
    /// A number literal beyond every finite float.
    NUMBER_TOO_LARGE = "A0106";
    /// A source text beyond what is accepted.
    SOURCE_TOO_LARGE = "A0107";

    /// No declaration starts here.
    EXPECTED_DECLARATION = "A0201";
    /// Another token is expected here.
    EXPECTED_TOKEN = "A0202";
    /// No statement starts here.
    EXPECTED_STATEMENT = "A0203";
    /// No expression starts here.
    EXPECTED_EXPRESSION = "A0204";
    /// Not an entry of an agent.
    EXPECTED_AGENT_ENTRY = "A0205";
    /// Not a step of a workflow.
    EXPECTED_STEP = "A0206";
    /// Not a type, or a type that is not declared above.
    EXPECTED_TYPE = "A0207";
    /// `on_fail` without `abort` or `use`.
    EXPECTED_FALLBACK = "A0208";
    /// An agent's name is taken.
    DUPLICATE_AGENT = "A0210";
    /// A tool's name is taken.
    DUPLICATE_TOOL = "A0211";
    /// A task's name is taken.
    DUPLICATE_TASK = "A0212";
    /// A pipeline's name is taken.
    DUPLICATE_PIPELINE = "A0213";
    /// A workflow's name is taken.
    DUPLICATE_WORKFLOW = "A0214";
    /// An alias's name is taken.
    DUPLICATE_ALIAS = "A0215";
    /// An enum's name is taken.
    DUPLICATE_ENUM = "A0216";
    /// A variant is listed twice.
    DUPLICATE_VARIANT = "A0217";
    /// A parameter is listed twice.
    DUPLICATE_PARAMETER = "A0218";
    /// A tool is listed twice.
    DUPLICATE_AGENT_TOOL = "A0219";
    /// A field of an object type is listed twice.
    DUPLICATE_FIELD = "A0220";
    /// A key of an object is listed twice.
    DUPLICATE_KEY = "A0221";
    /// An argument is given twice.
    DUPLICATE_ARGUMENT = "A0222";
    /// An entry of an agent is given twice.
    DUPLICATE_AGENT_ENTRY = "A0223";
    /// A clause is given twice.
    DUPLICATE_CLAUSE = "A0224";
    /// An agent does not say which tools it has.
    AGENT_WITHOUT_TOOLS = "A0230";
    /// `retries` is not a whole number.
    RETRIES_NOT_WHOLE = "A0231";
    /// `timeout` is not positive.
    TIMEOUT_NOT_POSITIVE = "A0232";
    /// `max_concurrency` is not a whole number.
    CONCURRENCY_NOT_WHOLE = "A0233";
    /// `max_concurrency` is zero.
    CONCURRENCY_ZERO = "A0234";
    /// `max_rounds` is not a whole number.
    ROUNDS_NOT_WHOLE = "A0235";
    /// A positional call of something unknown.
    UNKNOWN_CALLEE = "A0240";
    /// A positional call with the wrong number of arguments.
    WRONG_ARGUMENT_COUNT = "A0241";
    /// Brackets and blocks nest too deep.
    NESTED_TOO_DEEP = "A0250";
    /// A type is too large once its aliases are replaced.
    TYPE_TOO_LARGE = "A0251";
    /// The language version of the file is not known.
    UNKNOWN_VERSION = "A0252";

    /// A workflow's name is that of a pipeline below it.
    WORKFLOW_NAME_TAKEN = "A0301";
    /// A stage names no task.
    UNKNOWN_STAGE_TASK = "A0302";
    /// A step names no agent.
    UNKNOWN_STEP_AGENT = "A0303";
    /// A stage passes the wrong number of arguments.
    WRONG_STAGE_ARGUMENTS = "A0304";
    /// A step reads an artifact that does not exist.
    UNKNOWN_ARTIFACT = "A0305";
    /// A step reads an artifact that a review has taken.
    ARTIFACT_TAKEN = "A0306";
    /// A review checks something that is not an object.
    REVIEW_OF_NON_OBJECT = "A0307";
    /// The task that reviews does not exist.
    UNKNOWN_REVIEW_TASK = "A0308";
    /// The task that revises does not exist.
    UNKNOWN_REVISE_TASK = "A0309";
    /// The task that revises gives another type.
    REVISE_TYPE = "A0310";
    /// A parameter that nothing can be bound to.
    UNBOUND_PARAMETER = "A0311";
    /// A workflow without a `return` step.
    WORKFLOW_WITHOUT_RETURN = "A0312";
    /// A task `countdown` that is not the one reviews need.
    COUNTDOWN_SHAPE = "A0313";

    /// An agent lists a tool that is not declared.
    UNKNOWN_TOOL = "A0401";
    /// An enum without variants.
    EMPTY_ENUM = "A0402";
    /// A variant of two enums.
    SHARED_VARIANT = "A0403";
    /// A way through a pipeline that does not return.
    MISSING_RETURN = "A0404";
    /// A returned value of the wrong type.
    RETURN_TYPE = "A0405";
    /// An `if` condition that is not a truth value.
    IF_CONDITION = "A0406";
    /// A `while` condition that is not a truth value.
    WHILE_CONDITION = "A0407";
    /// An `assert` condition that is not a truth value.
    ASSERT_CONDITION = "A0408";
    /// `if let` on something that is not an `Option`.
    IF_LET_TYPE = "A0409";
    /// `if let` with a name that is taken.
    IF_LET_SHADOWS = "A0410";
    /// `break` outside a loop.
    BREAK_OUTSIDE = "A0411";
    /// `continue` outside a loop.
    CONTINUE_OUTSIDE = "A0412";
    /// A name that is not bound here.
    UNBOUND_NAME = "A0413";
    /// A field of something that is not an object.
    FIELD_OF_NON_OBJECT = "A0414";
    /// A field that the object's type does not have.
    UNKNOWN_FIELD = "A0415";
    /// An empty list.
    EMPTY_LIST = "A0416";
    /// A list of items without a common type.
    MIXED_LIST = "A0417";
    /// Operands that cannot be added.
    BAD_PLUS = "A0418";
    /// Operands that cannot be compared.
    BAD_COMPARISON = "A0419";
    /// A call of something unknown.
    UNKNOWN_TASK = "A0420";
    /// A call by an unknown agent.
    UNKNOWN_AGENT = "A0421";
    /// A call of an agent's task without an agent.
    AGENT_NEEDED = "A0422";
    /// A fallback of the wrong type.
    FALLBACK_TYPE = "A0423";
    /// Missing arguments of a task.
    MISSING_ARGUMENTS = "A0424";
    /// Unknown arguments of a task.
    UNKNOWN_ARGUMENTS = "A0425";
    /// An argument of a task with the wrong type.
    ARGUMENT_TYPE = "A0426";
    /// A pipeline call with `by`.
    PIPELINE_BY = "A0427";
    /// A pipeline call with `retries`.
    PIPELINE_RETRIES = "A0428";
    /// A pipeline call with `on_fail use`.
    PIPELINE_FALLBACK = "A0429";
    /// A pipeline call with `timeout`.
    PIPELINE_TIMEOUT = "A0430";
    /// Missing arguments of a pipeline.
    MISSING_INPUTS = "A0431";
    /// Unknown arguments of a pipeline.
    UNKNOWN_INPUTS = "A0432";
    /// An argument of a pipeline with the wrong type.
    INPUT_TYPE = "A0433";
    /// Two branches with the same name.
    BRANCH_REPEATED = "A0434";
    /// A branch with a name that is taken.
    BRANCH_SHADOWS = "A0435";
    /// A loop that changes the type of a name from before it.
    LOOP_CHANGES_TYPE = "A0436";
    /// A question to a human that is not a text.
    QUESTION_TYPE = "A0437";
    /// A task and a pipeline of the same name.
    TASK_HIDES_PIPELINE = "A0480";
    /// An alias and an enum of the same name.
    ALIAS_HIDES_ENUM = "A0481";
    /// An alias or enum with the name of a built-in type.
    BUILT_IN_HIDES_TYPE = "A0482";
    /// Two tests of the same name.
    DUPLICATE_TEST = "A0483";

    /// Inputs are missing.
    INPUTS_MISSING = "A0501";
    /// Inputs that the pipeline does not have.
    INPUTS_UNKNOWN = "A0502";
    /// An input that does not conform to its type.
    INPUT_INVALID = "A0503";
    /// No pipeline has this name.
    PIPELINE_UNKNOWN = "A0504";
    /// The input is not an object of values.
    INPUT_NOT_OBJECT = "A0505";

    /// Nothing performs a task.
    NO_HANDLER = "A0601";
    /// A task failed as often as it was tried.
    TASK_FAILED = "A0602";
    /// A task gave a value of the wrong type.
    RESULT_INVALID = "A0603";
    /// An assertion does not hold.
    ASSERTION = "A0604";
    /// An argument is not a variant of its enum.
    ARGUMENT_VARIANT = "A0605";
    /// A result is not a variant of its enum.
    RESULT_VARIANT = "A0606";
    /// Fewer than one worker.
    NO_WORKERS = "A0610";
    /// Pipelines call each other too deep.
    RECURSION = "A0615";
    /// A number left the range of what can be written down.
    NUMBER_RANGE = "A0616";
    /// A value became too large or too deep.
    VALUE_TOO_LARGE = "A0618";
    /// The run was asked to stop.
    CANCELLED = "A0619";
    /// The decision of a human cannot be read.
    DECISION_INVALID = "A0620";
    /// Too much work without asking anything.
    TOO_MANY_STATEMENTS = "A0690";
    /// Too many requests.
    TOO_MANY_REQUESTS = "A0691";
    /// Too much in all values together.
    TOO_MANY_VALUES = "A0693";
    /// Too many branches at once.
    TOO_MANY_BRANCHES = "A0692";

    /// The input is not JSON.
    USAGE_INPUT_JSON = "A0701";
    /// The input is JSON, but not an object.
    USAGE_INPUT_OBJECT = "A0702";
    /// No pipeline is named.
    USAGE_NO_PIPELINE = "A0703";
    /// A flag that does not exist, or its value.
    USAGE_FLAG = "A0704";
    /// `--lower` without a name.
    USAGE_LOWER = "A0705";
    /// The source cannot be read.
    UNREADABLE_SOURCE = "A0706";
}
