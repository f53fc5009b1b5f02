//! Keeping a behaviour. That adopts nothing.

use std::collections::BTreeSet;

use agentic_model::{AboutBehaviour, BehaviourForm, Cid, Object, StoredBehaviour, Value, json};
use agentic_session::{flow_object, language_of_file, languages};
use agentic_space::library::{BehaviourAddition, keep_behaviour};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{BehaviourShelf, FoundBehaviour, behaviour_name, check_effects};
use crate::person::acting_party;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb};
use crate::view::BehaviourAddView;
use crate::{Caller, Refusal};

/// Keep a behaviour under a name. It is checked first; nothing is adopted by that.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourAdd {
    /// The name.
    pub name: String,
    /// The text: a program, a prompt, or a JSON object of type `behaviour`.
    pub source: String,
    /// What the text is called; how that ends tells the language.
    pub file: Option<String>,
    /// `flow` or `prompt`; else what the text is.
    pub kind: Option<String>,
    /// The language of a flow.
    pub language: Option<String>,
    /// The behaviours that it was made from: names or ids.
    pub parents: Vec<String>,
    /// The kinds of effects that it may be granted at most; not limited without.
    pub allow: Vec<String>,
    /// What is to be known of it.
    pub note: String,
}

impl Verb for BehaviourAdd {
    type Answer = BehaviourAddView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<BehaviourAddView>, Refusal> {
        let name = behaviour_name(&self.name)?;
        let (by, author) = acting_party(caller, "keep behaviours")?;
        let object = self.object()?;
        let redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name", name.as_str())?;
        redactor.refuse("the behaviour", &Value::Map(object.map().clone()))?;
        redactor.refuse_text("the note", &self.note)?;
        let read = StoredBehaviour::from_object(&object).map_err(|error| Refusal::of(&error))?;
        let added = FoundBehaviour { object, read, peers: Vec::new() };
        let parts = added.check(caller.space, |_| None)?;
        if let Some(allow) = &added.read.allow {
            check_effects(allow, std::slice::from_ref(&added.object))?;
        }
        let FoundBehaviour { object, read, .. } = added;
        let shelf = BehaviourShelf::new(caller.space);
        let parents: Result<BTreeSet<Cid>, Refusal> =
            self.parents.iter().map(|parent| Ok(shelf.find(parent)?.cid())).collect();
        let about = AboutBehaviour {
            names: [name.clone()].into(),
            parents: parents?,
            note: self.note.trim().to_owned(),
            proposed_by: Some(by),
            evidence: BTreeSet::new(),
        };
        let cid = object.cid();
        let addition = BehaviourAddition { name: name.clone(), object, parts, about, author };
        let kept = keep_behaviour(caller.space, &addition)?;
        let view = BehaviourAddView {
            name: name.to_string(),
            cid: cid.to_string(),
            form: read.form.word().to_owned(),
            language: read.language,
            changed: kept.is_changed,
        };
        Ok(Reply::written(view, &kept.written))
    }
}

impl BehaviourAdd {
    fn object(&self) -> Result<Object, Refusal> {
        let refused = |error| Refusal::of(&error);
        let form = self.form()?;
        if let Some(object) = self.ready_object()? {
            let is_told = form.is_some() || self.language.is_some() || !self.allow.is_empty();
            if is_told {
                let message = "a JSON object says itself what kind it is and what it may do";
                return Err(Refusal::usage(message, "leave out --kind, --language and --allow"));
            }
            return Ok(object);
        }
        if form == Some(BehaviourForm::Prompt) {
            if !self.allow.is_empty() || self.language.is_some() {
                let message = "a prompt has no language and is granted no effects";
                return Err(Refusal::usage(message, "leave out --language and --allow"));
            }
            return StoredBehaviour::prompt(&self.source).map_err(refused);
        }
        let flow = self.flow()?;
        if self.allow.is_empty() {
            return Ok(flow);
        }
        let allow: BTreeSet<&String> = self.allow.iter().collect();
        let mut map = flow.map().clone();
        map.insert("allow".to_owned(), Value::List(allow.into_iter().map(Value::text).collect()));
        Object::new(map).map_err(refused)
    }

    fn form(&self) -> Result<Option<BehaviourForm>, Refusal> {
        let Some(word) = &self.kind else { return Ok(None) };
        let unknown =
            || Refusal::usage(&format!("`{word}` is no kind of behaviour"), "`flow` or `prompt`");
        BehaviourForm::parse(word).map(Some).ok_or_else(unknown)
    }

    /// Reads a text that is a behaviour's object itself.
    fn ready_object(&self) -> Result<Option<Object>, Refusal> {
        if !self.source.trim_start().starts_with('{') {
            return Ok(None);
        }
        match json::from_text(&self.source) {
            Ok(value) if value.get("type").and_then(Value::as_text) == Some("behaviour") => {
                Object::from_value(value).map(Some).map_err(|error| Refusal::of(&error))
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    fn flow(&self) -> Result<Object, Refusal> {
        let file = self.file.as_deref().unwrap_or_default();
        let language = match &self.language {
            Some(name) => languages().find(|language| language.name() == name),
            None => language_of_file(file, self.source.as_bytes()),
        };
        match language.map(agentic_replay::Language::name) {
            Some(agentic_flow::LANGUAGE) => Ok(flow_object(&self.source)?),
            Some(name) => {
                let message = format!("a behaviour in `{name}` needs to know more than its source");
                let hint = "give the object that `agentic object get CID --json` shows of a session's flow";
                Err(Refusal::usage(&message, hint))
            }
            None => {
                let message = match &self.language {
                    Some(name) => format!("there is no language `{name}`"),
                    None => format!("nobody knows what language `{file}` is in"),
                };
                let known: Vec<&str> = languages().map(agentic_replay::Language::name).collect();
                let hint =
                    format!("name it with --language ({}), or say --kind prompt", known.join(", "));
                Err(Refusal::usage(&message, &hint))
            }
        }
    }
}
