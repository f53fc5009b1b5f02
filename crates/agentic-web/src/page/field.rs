//! The fields in which a person writes the value of an answer: made from its schema where that is
//! simple, else one for JSON. Nothing is filled in but what is offered to be edited.

use std::collections::{BTreeMap, BTreeSet};

use agentic_api::Refusal;
use agentic_api::view::question::{pretty, subject};
use agentic_api::view::{PendingView, visible_line};
use maud::{Markup, html};
use serde_json::{Map as JsonMap, Number, Value as Json};

/// What every field of a value is called, or begins with.
const VALUE: &str = "value";
/// More fields than this are not shown one by one.
const FIELDS_MAX: usize = 32;
/// More choices than this are not listed.
const CHOICES_MAX: usize = 200;
/// What is offered is not filled in where it is longer, in bytes.
const OFFER_BYTES_MAX: usize = 64 << 10;

/// What was typed into the fields of a value, by their names, as browsers send both.
pub type TypedValue = BTreeMap<String, String>;

/// Returns what a browser makes of a text in a field that nobody touches, and of the name of a field: every
/// break of a line is one, and no page holds NUL. Then browsers send line breaks in two characters.
pub fn as_sent(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{FFFD}")
}

/// The fields of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueForm {
    /// One for any JSON.
    Json,
    /// One of its sort.
    One(ValueField),
    /// One for each part of a map.
    Parts(Vec<ValueField>),
}

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueField {
    /// What the part is called; nothing where the field is the whole value.
    part: String,
    /// What it is for.
    about: String,
    kind: FieldSort,
    is_required: bool,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq)]
enum FieldSort {
    Text,
    Number,
    Whole,
    Truth,
    Choice(Vec<Json>),
}

impl ValueForm {
    /// Makes the fields for the answers to a hold; none where no answer has a value.
    pub fn of(hold: &PendingView) -> Option<ValueForm> {
        let takes_value =
            |action: &String| ["edit", "respond"].contains(&action.as_str()) || needs_value(hold);
        if !hold.actions.iter().any(takes_value) {
            return None;
        }
        let form = match &hold.schema {
            None if hold.choices.is_empty() => ValueForm::Json,
            None if hold.choices.len() > CHOICES_MAX => {
                ValueForm::One(ValueField::whole(FieldSort::Text))
            }
            None => {
                let choices = hold.choices.iter().map(|choice| Json::from(choice.as_str()));
                let kind = FieldSort::Choice(choices.collect());
                ValueForm::One(ValueField::whole(kind))
            }
            Some(schema) => ValueForm::of_schema(schema),
        };
        // What is offered and has no field would be lost by an edit.
        let is_lost = is_edited(hold) && form.typed(subject(hold)).is_none();
        Some(if is_lost { ValueForm::Json } else { form })
    }

    fn of_schema(schema: &Json) -> ValueForm {
        if let Some(kind) = FieldSort::of(schema) {
            return ValueForm::One(ValueField::whole(kind));
        }
        let parts = schema["properties"]
            .as_object()
            .filter(|parts| schema["type"] == "object" && (1..=FIELDS_MAX).contains(&parts.len()));
        let required = schema["required"].as_array();
        let field = |(name, part): (&String, &Json)| {
            let about = part["title"].as_str().or(part["description"].as_str());
            // A name of several lines is no attribute that comes back as it was.
            let kind = FieldSort::of(part).filter(|_| !name.contains(['\r', '\n']))?;
            Some(ValueField {
                part: name.clone(),
                about: about.unwrap_or_default().to_owned(),
                kind,
                is_required: required.is_some_and(|names| names.iter().any(|one| one == name)),
            })
        };
        let fields: Option<Vec<ValueField>> =
            parts.and_then(|parts| parts.iter().map(field).collect());
        let is_told_apart = |fields: &Vec<ValueField>| {
            let names: BTreeSet<String> = fields.iter().map(ValueField::name).collect();
            names.len() == fields.len()
        };
        fields.filter(is_told_apart).map_or(ValueForm::Json, ValueForm::Parts)
    }

    /// Fills in what is offered to be edited.
    pub fn offered(&self, hold: &PendingView) -> TypedValue {
        match is_edited(hold) {
            true => self.typed(subject(hold)).unwrap_or_default(),
            false => TypedValue::new(),
        }
    }

    /// Returns what would be typed to give a value, if the fields can give it.
    fn typed(&self, value: &Json) -> Option<TypedValue> {
        let whole = |text: String| TypedValue::from([(VALUE.to_owned(), text)]);
        match (self, value) {
            (_, Json::Null) => Some(TypedValue::new()),
            (ValueForm::Json, value) => {
                let text = serde_json::to_string_pretty(value).expect("a value has text keys");
                Some(if text.len() > OFFER_BYTES_MAX { TypedValue::new() } else { whole(text) })
            }
            (ValueForm::One(field), value) => field.typed(value).map(whole),
            (ValueForm::Parts(fields), Json::Object(map)) => map
                .iter()
                .map(|(name, value)| {
                    let field = fields.iter().find(|field| field.part == *name)?;
                    Some((field.name(), field.typed(value)?))
                })
                .collect(),
            (ValueForm::Parts(_), _) => None,
        }
    }

    /// Reads the value that was typed for a hold, if one was. A field that nobody touched gives what was
    /// offered in it.
    ///
    /// # Errors
    /// Fails with the field in which no value of its sort stands.
    pub fn read(&self, typed: &TypedValue, hold: &PendingView) -> Result<Option<Json>, Refusal> {
        self.read_over(typed, if is_edited(hold) { subject(hold) } else { &Json::Null })
    }

    fn read_over(&self, typed: &TypedValue, offered: &Json) -> Result<Option<Json>, Refusal> {
        match self {
            ValueForm::Json => match text_of(typed, VALUE).trim() {
                "" => Ok(None),
                text => serde_json::from_str(text).map(Some).map_err(|error| {
                    misfit("", &format!("this is no JSON: {error}"), "write texts in quotes")
                }),
            },
            ValueForm::One(field) => field.read(typed, offered),
            ValueForm::Parts(fields) => {
                let mut map = JsonMap::new();
                for field in fields {
                    let offered = offered.get(&field.part).unwrap_or(&Json::Null);
                    if let Some(value) = field.read(typed, offered)? {
                        map.insert(field.part.clone(), value);
                    }
                }
                let missing =
                    fields.iter().find(|field| field.is_required && !map.contains_key(&field.part));
                match missing {
                    _ if map.is_empty() && offered.is_null() => Ok(None),
                    Some(field) => Err(misfit(&field.part, "it is missing", "fill it in")),
                    None => Ok(Some(Json::Object(map))),
                }
            }
        }
    }

    /// Shows the fields, with what was typed, and what is wrong with it. Their ids begin with a text of
    /// their own.
    pub fn show(
        &self,
        hold: &PendingView,
        typed: &TypedValue,
        fault: Option<&Refusal>,
        prefix: &str,
    ) -> Markup {
        html! {
            fieldset id={ (prefix) "fields" } {
                legend { "Value" }
                @if let Some(fault) = fault {
                    p.refusal role="alert" { (visible_line(&fault.sentence())) }
                }
                @match self {
                    ValueForm::Json => {
                        label for={ (prefix) "value" } { "Value, as JSON" }
                        textarea id={ (prefix) "value" } name="value" rows="4" spellcheck="false" {
                            // The first line break of a text area does not count.
                            "\n" (text_of(typed, VALUE))
                        }
                    }
                    ValueForm::One(field) => (field.show(typed, prefix)),
                    ValueForm::Parts(fields) => @for field in fields { (field.show(typed, prefix)) }
                }
                @if let Some(schema) = &hold.schema {
                    details { summary { "Schema" } pre { (visible_line_of(schema)) } }
                }
            }
        }
    }
}

fn visible_line_of(schema: &Json) -> String {
    agentic_api::view::visible(&pretty(schema))
}

/// Tells whether what is offered may be edited.
fn is_edited(hold: &PendingView) -> bool {
    hold.actions.iter().any(|action| action == "edit")
}

/// Tells whether even an approval has a value: there is a schema, and nothing is offered.
fn needs_value(hold: &PendingView) -> bool {
    hold.schema.is_some() && hold.reason == "asked" && subject(hold).is_null()
}

fn text_of<'t>(typed: &'t TypedValue, name: &str) -> &'t str {
    typed.get(name).map_or("", String::as_str)
}

/// Writes a choice as browsers send it: a text as it is, but for one that would look like another choice, or
/// like none.
fn option(choice: &Json, choices: &[Json]) -> String {
    let text = as_sent(&pretty(choice));
    let is_alike = |other: &&Json| as_sent(&pretty(other)) == text;
    match text.is_empty() || choices.iter().filter(is_alike).count() > 1 {
        true => choice.to_string(),
        false => text,
    }
}

fn misfit(part: &str, what: &str, hint: &str) -> Refusal {
    let pointer = if part.is_empty() { "the value".to_owned() } else { format!("`/{part}`") };
    Refusal::schema(&format!("{pointer}: {what}"), hint)
}

impl FieldSort {
    fn of(schema: &Json) -> Option<FieldSort> {
        if let Some(choices) = schema["enum"].as_array() {
            let is_plain = |choice: &Json| !choice.is_array() && !choice.is_object();
            let is_shown =
                (1..=CHOICES_MAX).contains(&choices.len()) && choices.iter().all(is_plain);
            return is_shown.then(|| FieldSort::Choice(choices.clone()));
        }
        match schema["type"].as_str()? {
            "string" => Some(FieldSort::Text),
            "number" => Some(FieldSort::Number),
            "integer" => Some(FieldSort::Whole),
            "boolean" => Some(FieldSort::Truth),
            _ => None,
        }
    }
}

impl ValueField {
    fn whole(kind: FieldSort) -> ValueField {
        ValueField { part: String::new(), about: String::new(), kind, is_required: false }
    }

    fn name(&self) -> String {
        match self.part.is_empty() {
            true => VALUE.to_owned(),
            false => format!("{VALUE}.{}", as_sent(&self.part)),
        }
    }

    fn typed(&self, value: &Json) -> Option<String> {
        match (&self.kind, value) {
            (FieldSort::Text, Json::String(text)) => Some(as_sent(text)),
            (FieldSort::Number | FieldSort::Whole, Json::Number(number)) => {
                Some(number.to_string())
            }
            (FieldSort::Truth, Json::Bool(truth)) => Some(truth.to_string()),
            (FieldSort::Choice(choices), value) => {
                choices.contains(value).then(|| option(value, choices))
            }
            (FieldSort::Text | FieldSort::Number | FieldSort::Whole | FieldSort::Truth, _) => None,
        }
    }

    fn read(&self, typed: &TypedValue, offered: &Json) -> Result<Option<Json>, Refusal> {
        let text = text_of(typed, &self.name());
        if self.typed(offered).is_some_and(|untouched| untouched == text) {
            return Ok(Some(offered.clone()));
        }
        let number = || text.trim().parse::<Number>().ok().map(Json::Number);
        let is_whole = |number: &Json| number.as_f64().is_some_and(|number| number.fract() == 0.0);
        let read = match &self.kind {
            // A text that was offered and taken out is an empty one.
            FieldSort::Text if !text.is_empty() || offered.is_string() => Some(Json::from(text)),
            _ if text.trim().is_empty() => return Ok(None),
            FieldSort::Text => Some(Json::from(text)),
            FieldSort::Number => number(),
            FieldSort::Whole => number().filter(is_whole),
            FieldSort::Truth => match text {
                "true" => Some(Json::Bool(true)),
                "false" => Some(Json::Bool(false)),
                _ => None,
            },
            FieldSort::Choice(choices) => {
                choices.iter().find(|choice| option(choice, choices) == text).cloned()
            }
        };
        let sort = match self.kind {
            FieldSort::Text => "a text",
            FieldSort::Number => "a number",
            FieldSort::Whole => "a whole number",
            FieldSort::Truth => "true or false",
            FieldSort::Choice(_) => "one of the choices",
        };
        let wrong = || misfit(&self.part, &format!("this is not {sort}"), "correct the field");
        read.map(Some).ok_or_else(wrong)
    }

    fn show(&self, typed: &TypedValue, prefix: &str) -> Markup {
        let name = self.name();
        let id = format!("{prefix}{name}");
        let text = text_of(typed, &name);
        let options: Vec<String> = match &self.kind {
            FieldSort::Truth => vec!["true".to_owned(), "false".to_owned()],
            FieldSort::Choice(choices) => {
                choices.iter().map(|choice| option(choice, choices)).collect()
            }
            FieldSort::Text | FieldSort::Number | FieldSort::Whole => Vec::new(),
        };
        html! {
            label for=(id) {
                @if self.part.is_empty() { "Value" } @else { (visible_line(&self.part)) }
                @if self.is_required { " (needed)" }
                @if !self.about.is_empty() { span.meaning { " — " (visible_line(&self.about)) } }
            }
            @match &self.kind {
                FieldSort::Text => textarea id=(id) name=(name) rows="2" { "\n" (text) },
                FieldSort::Number => input id=(id) name=(name) inputmode="decimal" value=(text);,
                FieldSort::Whole => input id=(id) name=(name) inputmode="numeric" value=(text);,
                FieldSort::Truth | FieldSort::Choice(_) => {
                    select id=(id) name=(name) {
                        option value="" { "—" }
                        @for option in &options {
                            option value=(option) selected[option == text] { (visible_line(option)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{TypedValue, ValueForm};

    fn typed(pairs: &[(&str, &str)]) -> TypedValue {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn read(schema: &Json, pairs: &[(&str, &str)]) -> Result<Option<Json>, String> {
        read_over(schema, pairs, &Json::Null)
    }

    fn read_over(
        schema: &Json,
        pairs: &[(&str, &str)],
        offered: &Json,
    ) -> Result<Option<Json>, String> {
        let form = ValueForm::of_schema(schema);
        form.read_over(&typed(pairs), offered).map_err(|refusal| refusal.message)
    }

    #[test]
    fn fields_are_made_from_schemas_that_are_simple() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "replicas": { "type": "integer" },
                "share": { "type": "number" },
                "now": { "type": "boolean" },
                "where": { "enum": ["a", 2] },
            },
            "required": ["name"],
        });
        let given = [
            ("value.name", "web\n"),
            ("value.replicas", "5"),
            ("value.share", "0.5"),
            ("value.now", "false"),
            ("value.where", "2"),
        ];
        let whole =
            json!({ "name": "web\n", "replicas": 5, "share": 0.5, "now": false, "where": 2 });
        assert_eq!(read(&schema, &given), Ok(Some(whole.clone())));
        let form = ValueForm::of_schema(&schema);
        assert_eq!(form.typed(&whole), Some(typed(&given)), "and back");
        assert_eq!(form.typed(&json!({ "more": 1 })), None, "that has no field");
        assert_eq!(read(&schema, &[]), Ok(None));
        for (name, text, part) in [
            ("value.replicas", "5.5", "replicas"),
            ("value.replicas", "many", "replicas"),
            ("value.now", "yes", "now"),
            ("value.where", "c", "where"),
            ("value.share", "1", "name"),
        ] {
            let fault = read(&schema, &[(name, text)]).expect_err("it does not fit");
            assert!(fault.contains(&format!("/{part}")), "{name} {text}: {fault}");
        }
    }

    #[test]
    fn a_field_that_nobody_touched_gives_what_was_offered() {
        let text = json!({ "type": "string" });
        let whole = json!({ "type": "integer" });
        let schema = json!({
            "type": "object",
            "properties": { "name": text, "note": text, "n": whole },
            "required": ["note"],
        });
        let offered = json!({ "name": "nm", "note": "", "n": 5.0 });
        let given = [("value.name", "other"), ("value.note", ""), ("value.n", "5.0")];
        let edited = json!({ "name": "other", "note": "", "n": 5.0 });
        assert_eq!(read_over(&schema, &given, &offered), Ok(Some(edited)));
        let given = [("value.name", ""), ("value.note", "  "), ("value.n", "")];
        let emptied = json!({ "name": "", "note": "  " });
        assert_eq!(read_over(&schema, &given, &offered), Ok(Some(emptied)));
        let lines = json!("a\r\nb");
        assert_eq!(read_over(&text, &[("value", "a\nb")], &lines), Ok(Some(lines.clone())));
        assert_eq!(read_over(&text, &[("value", "a\nc")], &lines), Ok(Some(json!("a\nc"))));
        assert_eq!(read_over(&text, &[("value", "")], &lines), Ok(Some(json!(""))));
        assert_eq!(read(&text, &[("value", "")]), Ok(None));
        assert_eq!(read(&whole, &[("value", "5.0")]), Ok(Some(json!(5.0))));
        assert!(read(&whole, &[("value", "5.5")]).is_err());
    }

    #[test]
    fn what_browsers_change_in_a_field_that_nobody_touched_changes_nothing() {
        let text = json!({ "type": "string" });
        let schema = json!({ "type": "object", "properties": { "a\0b": text, "c": text } });
        let offered = json!({ "a\0b": "1\r2\r\n3\0", "c": "x" });
        let sent = [("value.a\u{FFFD}b", "1\n2\n3\u{FFFD}"), ("value.c", "x")];
        assert_eq!(ValueForm::of_schema(&schema).typed(&offered), Some(typed(&sent)));
        assert_eq!(read_over(&schema, &sent, &offered), Ok(Some(offered.clone())));
        let edited = json!({ "a\0b": "1\r2\r\n3\0", "c": "y" });
        let sent = [sent[0], ("value.c", "y")];
        assert_eq!(read_over(&schema, &sent, &offered), Ok(Some(edited)));
        let choices = json!({ "enum": ["a\rb", "c\0", "d\n", "d\r\n"] });
        for (sent, chosen) in
            [("a\nb", "a\rb"), ("c\u{FFFD}", "c\0"), (r#""d\n""#, "d\n"), (r#""d\r\n""#, "d\r\n")]
        {
            assert_eq!(read(&choices, &[("value", sent)]), Ok(Some(json!(chosen))), "{sent:?}");
        }
        for names in [["a\nb", "c"], ["a\rb", "c"], ["a\0", "a\u{FFFD}"]] {
            let parts: serde_json::Map<String, Json> =
                names.iter().map(|name| ((*name).to_owned(), text.clone())).collect();
            let schema = json!({ "type": "object", "properties": parts });
            assert_eq!(ValueForm::of_schema(&schema), ValueForm::Json, "{names:?}");
        }
    }

    #[test]
    fn choices_that_look_alike_are_told_apart() {
        let schema = json!({ "enum": ["1", 1, "null", null, "a", ""] });
        for (typed, expected) in
            [("\"1\"", json!("1")), ("1", json!(1)), ("\"null\"", json!("null")), ("a", json!("a"))]
        {
            assert_eq!(read(&schema, &[("value", typed)]), Ok(Some(expected)), "{typed}");
        }
        assert_eq!(read(&schema, &[("value", "\"\"")]), Ok(Some(json!(""))));
        assert_eq!(read(&schema, &[("value", "")]), Ok(None));
        let many: Vec<usize> = (0..1_000).collect();
        assert_eq!(ValueForm::of_schema(&json!({ "enum": many })), ValueForm::Json);
    }

    #[test]
    fn everything_else_is_one_field_of_json() {
        for schema in [
            json!({ "type": "array" }),
            json!({ "type": "object", "properties": { "a": { "type": "array" } } }),
            json!({ "type": "object" }),
            json!({ "enum": [[1]] }),
            json!(true),
        ] {
            assert_eq!(ValueForm::of_schema(&schema), ValueForm::Json, "{schema}");
        }
        assert_eq!(read(&json!(true), &[("value", " [1] ")]), Ok(Some(json!([1]))));
        assert!(read(&json!(true), &[("value", "[1")]).is_err());
        assert_eq!(read(&json!({ "type": "string" }), &[("value", "1")]), Ok(Some(json!("1"))));
    }
}
