//! The pipeline language, as whoever runs its programs durably sees it: what is pinned of them, and
//! how it is read back.
//!
//! The object of a run holds the source, what its builtins mean and in whose name it runs. A source
//! or a registry that is too long to stand there stands beside it, in pieces that the object names,
//! so that a program may be as long as the language allows. The plans and their source maps are kept
//! for whoever wants to look at what ran; a run makes them anew from its source.

use std::sync::Arc;

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Map, Object, Place, Value, canonical};
use agentic_plan::{NodeId, PlanSourceMap, Registry};
use agentic_replay::{Kinds, Language, Path, PinnedProgram, Places, Program, ProgramFault};

use crate::compile::{CompiledSource, compile};
use crate::planned::PlannedRun;
use crate::run::{
    BlockOrder, PartsPlace, PipelineOptions, PipelineProgram, RunResult, add_kinds, inner_plans,
};
use crate::{LANGUAGE, SEMANTICS_OLDEST, SEMANTICS_VERSION};

/// How many bytes of a source or a registry stand in the object of a run itself.
const INLINE_BYTES_MAX: usize = 256 << 10;
/// How many bytes one piece has at most.
const PART_BYTES_MAX: usize = 512 << 10;
/// The type of these pieces.
const PART_KIND: &str = "behaviour-part";
/// How many plans of one program are kept, each with its source map.
const PLANS_KEPT_MAX: usize = 64;

/// The words that a file of the language begins with.
const FIRST_WORDS: [&[u8]; 2] = [b"memory", b"temporal"];
/// What begins a remark in front of the first word.
const REMARKS: [&[u8]; 2] = [b"//", b"--"];

/// The language of calls that are joined to plans.
#[derive(Debug, Clone, Copy)]
pub struct PipelineLanguage;

impl Language for PipelineLanguage {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn summary(&self) -> &'static str {
        "Calls joined by `>=>` and `<*>`: `.as` that begins with `memory` or `temporal`"
    }

    fn semantics(&self) -> u32 {
        SEMANTICS_VERSION
    }

    fn semantics_oldest(&self) -> u32 {
        SEMANTICS_OLDEST
    }

    fn claims(&self, extension: &str, text: &[u8]) -> bool {
        extension == "as" && FIRST_WORDS.contains(&first_word(text))
    }

    fn add_kinds(&self, _flow: &Object, kinds: &mut Kinds) -> Result<(), ProgramFault> {
        add_kinds(kinds);
        Ok(())
    }

    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault> {
        let flow = pinned.flow;
        let compiled = compiled(pinned)?;
        let text = |key: &str| flow.map().get(key).and_then(Value::as_text);
        let options = PipelineOptions {
            invoked_by: text("invoked_by").map(str::to_owned),
            blocks: text("blocks").and_then(BlockOrder::parse).unwrap_or(BlockOrder::Sequential),
            children: PartsPlace::Sessions,
            ..PipelineOptions::default()
        };
        Ok(Box::new(PipelineProgram::new(&compiled, options)))
    }

    fn parts(&self, flow: &Object) -> Vec<Cid> {
        let named = ["source", "registry"].into_iter().filter_map(|key| flow.map().get(key));
        named.filter_map(Value::as_list).flatten().filter_map(Value::as_link).collect()
    }

    /// Returns the parts, and of very many the first plans, each with its source map and the plans
    /// of the programs in its nodes.
    fn beside(&self, pinned: &PinnedProgram<'_>) -> Result<Vec<Object>, ProgramFault> {
        let parts = self.parts(pinned.flow).into_iter();
        let mut beside: Vec<Object> =
            parts.map(|cid| part(pinned, cid)).collect::<Result<_, ProgramFault>>()?;
        let compiled = compiled(pinned)?;
        for block in compiled.blocks.iter().take(PLANS_KEPT_MAX) {
            beside.push(block.plan.object().clone());
            // One that does not fit would be that of no plan that is.
            beside.extend(block.source_map.to_object(block.plan.cid()).ok());
            let inner = inner_plans(&block.plan, &compiled.registry).into_iter();
            beside.extend(inner.take(PLANS_KEPT_MAX).map(|plan| plan.object().clone()));
        }
        Ok(beside)
    }

    fn reports_progress(&self) -> bool {
        true
    }

    fn places(&self, pinned: &PinnedProgram<'_>) -> Result<Places, ProgramFault> {
        let blocks = compiled(pinned)?.blocks.into_iter();
        let maps: Vec<Arc<PlanSourceMap>> = blocks.map(|block| block.source_map).collect();
        Ok(Box::new(move |path| place_of(&maps, path)))
    }

    /// A pipeline is given what the blocks of a pipeline came to, without how.
    fn child_result(&self, result: Value) -> Value {
        RunResult::output_of(result)
    }
}

/// Finds the place of the outermost node that a path stands in, by the source maps of the blocks.
pub fn place_of(maps: &[Arc<PlanSourceMap>], path: &Path) -> Option<Place> {
    let mut parts = path.as_str().split('/');
    let block: usize = parts.next()?.strip_prefix('b')?.parse().ok()?;
    maps.get(block)?.place(&NodeId::parse(parts.next()?).ok()?)
}

/// A program as it is pinned: its object, and the pieces that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct PinnedSource {
    /// The object.
    pub flow: Object,
    /// The pieces.
    pub parts: Vec<Object>,
}

/// Pins a run.
///
/// # Errors
/// Fails when what it answers from, or in whose name it runs, is too long for an object.
pub fn pin(run: &PlannedRun) -> Result<PinnedSource, ObjectError> {
    let mut parts = Vec::new();
    let registry = run.compiled.registry.to_value();
    let registry_bytes = canonical::encode(&registry).map_err(ObjectError::from)?;
    let mut map = Map::from([
        ("type".to_owned(), Value::text("behaviour")),
        ("language".to_owned(), Value::text(LANGUAGE)),
        ("source".to_owned(), placed(Value::text(&run.source), run.source.as_bytes(), &mut parts)?),
        ("registry".to_owned(), placed(registry, &registry_bytes, &mut parts)?),
    ]);
    let order = (run.order != BlockOrder::Sequential).then(|| run.order.as_str());
    let further = [
        ("invoked_by", run.invoked_by.as_ref().map(Value::text)),
        ("blocks", order.map(Value::text)),
        ("script", run.script.clone()),
    ];
    map.extend(further.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    Ok(PinnedSource { flow: Object::new(map)?, parts })
}

/// Returns a value that is short as it is, and of any other the links to its pieces.
fn placed(value: Value, bytes: &[u8], parts: &mut Vec<Object>) -> Result<Value, ObjectError> {
    if bytes.len() <= INLINE_BYTES_MAX {
        return Ok(value);
    }
    let mut links = Vec::new();
    for piece in bytes.chunks(PART_BYTES_MAX) {
        let part = Object::new(Map::from([
            ("type".to_owned(), Value::text(PART_KIND)),
            ("bytes".to_owned(), Value::Bytes(piece.to_vec())),
        ]))?;
        links.push(Value::Link(part.cid()));
        parts.push(part);
    }
    Ok(Value::List(links))
}

/// Makes the object of another program that runs as part of one: with the same builtins, in the
/// same name.
///
/// # Errors
/// Fails when it is too long for an object.
pub fn part_of(flow: &Object, source: &str) -> Result<Object, ObjectError> {
    let mut map = flow.map().clone();
    map.insert("source".to_owned(), Value::text(source));
    Object::new(map)
}

fn part(pinned: &PinnedProgram<'_>, id: Cid) -> Result<Object, ProgramFault> {
    (pinned.objects)(&id).ok_or(ProgramFault::MissingPart { id })
}

/// Puts the pieces of a value together.
fn joined(pinned: &PinnedProgram<'_>, links: &[Value]) -> Result<Vec<u8>, ProgramFault> {
    let mut bytes = Vec::new();
    for link in links {
        let cid = link.as_link().ok_or_else(|| ProgramFault::broken("a piece has no id"))?;
        let part = part(pinned, cid)?;
        let piece = part.map().get("bytes").and_then(Value::as_bytes);
        bytes.extend(piece.ok_or_else(|| ProgramFault::broken("a piece has no bytes"))?);
    }
    Ok(bytes)
}

/// Reads what the builtins of a pinned program mean.
///
/// # Errors
/// Fails when a piece is missing, or they mean nothing.
pub fn pinned_registry(pinned: &PinnedProgram<'_>) -> Result<Registry, ProgramFault> {
    let held = pinned.flow.map().get("registry");
    let joined = match held {
        Some(Value::List(links)) => {
            let decoded = canonical::decode(&joined(pinned, links)?);
            Some(decoded.map_err(|error| ProgramFault::broken(error.to_string()))?)
        }
        Some(_) | None => None,
    };
    let value = joined.as_ref().or(held).unwrap_or(&Value::Null);
    Registry::from_value(value).map_err(|error| ProgramFault::broken(error.to_string()))
}

fn source(pinned: &PinnedProgram<'_>) -> Result<String, ProgramFault> {
    match pinned.flow.map().get("source") {
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(Value::List(links)) => String::from_utf8(joined(pinned, links)?)
            .map_err(|_| ProgramFault::broken("its source is no text")),
        Some(_) | None => Err(ProgramFault::NotAProgram),
    }
}

/// Compiles a program with the registry that is pinned with it.
fn compiled(pinned: &PinnedProgram<'_>) -> Result<CompiledSource, ProgramFault> {
    let registry = Arc::new(pinned_registry(pinned)?);
    compile(&source(pinned)?, registry).map_err(|findings| {
        ProgramFault::found(findings.first().map(|finding| finding.diagnostic.message.as_str()))
    })
}

/// Returns the first word behind a byte-order mark, blanks and remarks.
fn first_word(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        if !REMARKS.iter().any(|remark| rest.starts_with(remark)) {
            break;
        }
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        rest = &rest[end..];
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    &rest[..end]
}
