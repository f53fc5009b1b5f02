//! Programs of the pipeline language: what is pinned of them, and how it is read back.
//!
//! The object of a run holds the source, what its builtins mean and in whose name it runs. A source
//! or a registry that is too long to stand there stands beside it, in pieces that the object names,
//! so that a program may be as long as the language allows. The plans and their source maps are kept
//! for whoever wants to look at what ran; a run makes them anew from its source.

use std::sync::Arc;

use agentic_lang_pipeline::PlannedRun;
use agentic_lang_pipeline::run::{BlockOrder, Children, FlowProgram, Options, inner_plans};
use agentic_lang_pipeline::{Compiled, LANGUAGE};
use agentic_model::{Cid, Map, Object, Value, canonical};
use agentic_plan::Registry;

use super::flow_of;
use super::folder::Folder;
use super::language::{Language, broken};
use crate::error::ProgramError;
use crate::{Result, SessionSpace};

/// How many bytes of a source or a registry stand in the object of a run itself.
const INLINE_BYTES_MAX: usize = 256 << 10;
/// How many bytes one piece has at most.
const PART_BYTES_MAX: usize = 512 << 10;
/// The type of these pieces.
const PART_KIND: &str = "behaviour-part";
/// How many plans of one program are kept, each with its source map.
const PLANS_KEPT_MAX: usize = 64;

/// A program as it is pinned: its object, and the pieces that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// The object.
    pub flow: Object,
    /// The pieces.
    pub parts: Vec<Object>,
}

/// Pins a run.
///
/// # Errors
/// Fails when what it answers from, or in whose name it runs, is too long for an object.
pub fn pin(run: &PlannedRun) -> Result<Pinned> {
    let mut parts = Vec::new();
    let registry = run.compiled.registry.to_value();
    let registry_bytes =
        canonical::encode(&registry).map_err(agentic_model::object::ObjectError::from)?;
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
    Ok(Pinned { flow: Object::new(map)?, parts })
}

/// Returns a value that is short as it is, and of any other the links to its pieces.
fn placed(value: Value, bytes: &[u8], parts: &mut Vec<Object>) -> Result<Value> {
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
pub(super) fn part_of(flow: &Object, source: &str) -> Result<Object> {
    let mut map = flow.map().clone();
    map.insert("source".to_owned(), Value::text(source));
    Ok(Object::new(map)?)
}

/// Where the pieces of a program are found.
#[derive(Clone, Copy)]
pub(crate) struct Shelf<'a> {
    /// The space.
    pub space: &'a SessionSpace,
    /// The folder of the session that runs it.
    pub folder: &'a Folder,
    /// Pieces that are kept nowhere yet.
    pub given: &'a [Object],
}

impl Shelf<'_> {
    /// Reads the pieces that the object of a program names. None for other languages.
    pub fn parts(&self, flow: &Object) -> Result<Vec<Object>> {
        if Language::of(flow)? != Language::Pipeline {
            return Ok(Vec::new());
        }
        let named = ["source", "registry"].into_iter().filter_map(|key| flow.map().get(key));
        let links = named.filter_map(Value::as_list).flatten().filter_map(Value::as_link);
        links.map(|cid| self.part(&cid)).collect()
    }

    fn part(&self, cid: &Cid) -> Result<Object> {
        match self.given.iter().find(|part| part.cid() == *cid) {
            Some(part) => Ok(part.clone()),
            None => flow_of(self.space, self.folder, cid),
        }
    }

    /// Puts the pieces of a value together.
    fn joined(&self, flow: &Object, links: &[Value]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for link in links {
            let cid = link.as_link().ok_or_else(|| broken(flow, Some("a piece has no id")))?;
            let part = self.part(&cid)?;
            let piece = part.map().get("bytes").and_then(Value::as_bytes);
            bytes.extend(piece.ok_or_else(|| broken(flow, Some("a piece has no bytes")))?);
        }
        Ok(bytes)
    }

    /// Reads what the builtins of a program mean.
    pub fn registry(&self, flow: &Object) -> Result<Registry> {
        let unreadable = |error: String| broken(flow, Some(&error));
        let joined = match flow.map().get("registry") {
            Some(Value::List(links)) => {
                let decoded = canonical::decode(&self.joined(flow, links)?);
                Some(decoded.map_err(|error| unreadable(error.to_string()))?)
            }
            Some(_) | None => None,
        };
        let value = joined.as_ref().or(flow.map().get("registry")).unwrap_or(&Value::Null);
        Registry::from_value(value).map_err(|error| unreadable(error.to_string()))
    }

    fn source(&self, flow: &Object) -> Result<String> {
        match flow.map().get("source") {
            Some(Value::Text(text)) => Ok(text.clone()),
            Some(Value::List(links)) => String::from_utf8(self.joined(flow, links)?)
                .map_err(|_| broken(flow, Some("its source is no text"))),
            Some(_) | None => Err(ProgramError::NotAFlow { id: flow.cid().to_string() }.into()),
        }
    }

    /// Compiles a program with the registry that is pinned with it.
    pub fn compiled(&self, flow: &Object) -> Result<Compiled> {
        let registry = Arc::new(self.registry(flow)?);
        let compiled = agentic_lang_pipeline::compile(&self.source(flow)?, registry);
        compiled.map_err(|findings| {
            broken(flow, findings.first().map(|finding| finding.diagnostic.message.as_str()))
        })
    }

    /// Makes a run of a program.
    pub fn program(&self, flow: &Object) -> Result<FlowProgram> {
        let compiled = self.compiled(flow)?;
        let text = |key: &str| flow.map().get(key).and_then(Value::as_text);
        let options = Options {
            invoked_by: text("invoked_by").map(str::to_owned),
            blocks: text("blocks").and_then(BlockOrder::parse).unwrap_or(BlockOrder::Sequential),
            children: Children::Sessions,
            ..Options::default()
        };
        Ok(FlowProgram::new(&compiled, options))
    }

    /// Returns what is kept beside a program: its pieces, and of very many the first plans, each
    /// with its source map and the plans of the programs in its nodes. Nothing for other languages.
    pub fn beside(&self, flow: &Object) -> Result<Vec<Object>> {
        if Language::of(flow)? != Language::Pipeline {
            return Ok(Vec::new());
        }
        let mut beside = self.parts(flow)?;
        let compiled = self.compiled(flow)?;
        for block in compiled.blocks.iter().take(PLANS_KEPT_MAX) {
            beside.push(block.plan.object().clone());
            // One that does not fit would be that of no plan that is.
            beside.extend(block.source_map.to_object(block.plan.cid()).ok());
            let inner = inner_plans(&block.plan, &compiled.registry).into_iter();
            beside.extend(inner.take(PLANS_KEPT_MAX).map(|plan| plan.object().clone()));
        }
        Ok(beside)
    }
}
