//! Whether values conform to types.

use crate::ast::Ast;
use crate::data::{Data, json};
use crate::types::{TypeId, TypeShape};

/// Whether a value conforms to a type. Whether a text is a variant of its enum is looked at by
/// [`find_stranger`].
pub(crate) fn conforms(ast: &Ast, value: &Data, wanted: TypeId) -> bool {
    match (ast.types.get(wanted), value) {
        (TypeShape::Null, Data::Null)
        | (TypeShape::Bool, Data::Bool(_))
        | (TypeShape::Text | TypeShape::Enum(_), Data::Text(_))
        | (TypeShape::Number, Data::Int(_) | Data::Big(_) | Data::Float(_))
        | (TypeShape::Option(_), Data::Null) => true,
        (TypeShape::Option(item), value) => conforms(ast, value, *item),
        (TypeShape::List(item), Data::List(_)) => {
            value.items().is_some_and(|items| items.iter().all(|each| conforms(ast, each, *item)))
        }
        (TypeShape::Object(fields), Data::Object(_)) => fields.iter().all(|(name, field)| {
            value.get(ast.text(*name)).is_some_and(|item| conforms(ast, item, *field))
        }),
        _ => false,
    }
}

/// A text that is no variant of the enum it should belong to.
pub(crate) struct UnknownVariant {
    /// Where in the value, such as `.many[0]`.
    pub path: String,
    pub text: String,
    pub enum_name: String,
    pub variants: Vec<String>,
}

/// Finds the first text in a conforming value that is not a variant of its enum.
pub(crate) fn find_stranger(ast: &Ast, value: &Data, wanted: TypeId) -> Option<UnknownVariant> {
    if !ast.types.has_enum(wanted) {
        return None;
    }
    match (ast.types.get(wanted), value) {
        (TypeShape::Enum(name), Data::Text(text)) => {
            let declared = &ast.enums[ast.by_name.enums.get(*name)?];
            let variants = declared.variants.iter().map(|variant| ast.text(variant.symbol));
            if variants.clone().any(|variant| variant == &**text) {
                return None;
            }
            Some(UnknownVariant {
                path: String::new(),
                text: text.to_string(),
                enum_name: ast.text(*name).to_owned(),
                variants: variants.map(str::to_owned).collect(),
            })
        }
        (TypeShape::Option(item), value) => find_stranger(ast, value, *item),
        (TypeShape::List(item), value) => {
            value.items()?.iter().enumerate().find_map(|(at, each)| {
                find_stranger(ast, each, *item).map(|found| found.inside(&format!("[{at}]")))
            })
        }
        (TypeShape::Object(fields), value) => fields.iter().find_map(|(name, field)| {
            let name = ast.text(*name);
            let found = find_stranger(ast, value.get(name)?, *field)?;
            Some(found.inside(&format!(".{name}")))
        }),
        _ => None,
    }
}

impl UnknownVariant {
    fn inside(mut self, part: &str) -> UnknownVariant {
        self.path.insert_str(0, part);
        self
    }

    /// Says what is wrong, after naming the place.
    pub fn shown(&self, place: &str) -> String {
        let variants: Vec<String> = self.variants.iter().map(|text| quoted(text)).collect();
        format!(
            "{place}{} has value {} which is not a valid variant of enum '{}'. \
             Valid variants: [{}]",
            self.path,
            quoted(&self.text),
            self.enum_name,
            variants.join(", ")
        )
    }
}

/// Writes a text in single quotes, or in double ones if it holds only single ones.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out.push(quote);
    out
}

/// Writes the JSON Schema of a type.
pub(crate) fn schema(ast: &Ast, id: TypeId) -> String {
    let mut out = String::new();
    write_schema(ast, id, &mut out);
    out
}

fn write_schema(ast: &Ast, id: TypeId, out: &mut String) {
    match ast.types.get(id) {
        TypeShape::Null => out.push_str(r#"{"type":"null"}"#),
        TypeShape::Text => out.push_str(r#"{"type":"string"}"#),
        TypeShape::Number => out.push_str(r#"{"type":"number"}"#),
        TypeShape::Bool => out.push_str(r#"{"type":"boolean"}"#),
        TypeShape::List(item) => {
            out.push_str(r#"{"type":"array","items":"#);
            write_schema(ast, *item, out);
            out.push('}');
        }
        TypeShape::Option(item) => {
            out.push_str(r#"{"anyOf":["#);
            write_schema(ast, *item, out);
            out.push_str(r#",{"type":"null"}]}"#);
        }
        TypeShape::Enum(name) => {
            out.push_str(r#"{"type":"string","enum":["#);
            let at = ast.by_name.enums.get(*name);
            let variants = at.map_or(&[][..], |at| &ast.enums[at].variants);
            for (at, variant) in variants.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                json::write_text(ast.text(variant.symbol), out);
            }
            out.push_str("]}");
        }
        TypeShape::Object(fields) => {
            out.push_str(r#"{"type":"object","properties":{"#);
            for (at, (name, field)) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                json::write_text(ast.text(*name), out);
                out.push(':');
                write_schema(ast, *field, out);
            }
            out.push_str(r#"},"required":["#);
            for (at, (name, _)) in fields.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                json::write_text(ast.text(*name), out);
            }
            out.push_str(r#"],"additionalProperties":false}"#);
        }
    }
}
