//! Types, each kept once: equal types have equal ids, so that comparing them is comparing numbers.

use std::collections::HashMap;
use std::sync::Arc;

use crate::symbol::{Symbol, Symbols};

/// A type of a [`Types`] table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TypeId(pub u32);

/// The shape of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeShape {
    Null,
    Text,
    Number,
    Bool,
    List(TypeId),
    Option(TypeId),
    /// Fields in the order they were written.
    Object(Arc<[(Symbol, TypeId)]>),
    /// The enum of this name.
    Enum(Symbol),
}

impl TypeId {
    pub const NULL: TypeId = TypeId(0);
    pub const TEXT: TypeId = TypeId(1);
    pub const NUMBER: TypeId = TypeId(2);
    pub const BOOL: TypeId = TypeId(3);
}

/// How deep a type may nest once its aliases are replaced.
pub(crate) const TYPE_DEPTH_MAX: u32 = 256;
/// How many parts a type may have once its aliases are replaced.
pub(crate) const TYPE_PARTS_MAX: u32 = 1 << 16;
/// Objects with fewer fields than this are searched from the front.
const SHORT_OBJECT: usize = 16;

/// Whether a value may stand where its absence is also allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OptionalWrapping {
    /// Only an `Option` fits an `Option`.
    Strict,
    /// A plain value fits an `Option` of its type.
    Allowed,
}

/// All types of one source.
#[derive(Debug, Clone)]
pub(crate) struct Types {
    entries: Vec<TypeEntry>,
    ids: HashMap<TypeShape, TypeId>,
    fits: HashMap<(TypeId, TypeId, OptionalWrapping), bool>,
}

#[derive(Debug, Clone)]
struct TypeEntry {
    shape: TypeShape,
    depth: u32,
    parts: u32,
    has_enum: bool,
    /// The fields of a long object by name; empty otherwise.
    by_name: Vec<(Symbol, TypeId)>,
}

impl Types {
    pub fn new() -> Types {
        let mut types = Types { entries: Vec::new(), ids: HashMap::new(), fits: HashMap::new() };
        for shape in [TypeShape::Null, TypeShape::Text, TypeShape::Number, TypeShape::Bool] {
            types.intern(shape);
        }
        types
    }

    /// Returns the id of a shape.
    pub fn intern(&mut self, shape: TypeShape) -> TypeId {
        if let Some(id) = self.ids.get(&shape) {
            return *id;
        }
        let id = TypeId(self.entries.len() as u32);
        self.entries.push(self.entry(&shape));
        self.ids.insert(shape, id);
        id
    }

    fn entry(&self, shape: &TypeShape) -> TypeEntry {
        let mut by_name = Vec::new();
        let inner: &[(Symbol, TypeId)] = match shape {
            TypeShape::Null
            | TypeShape::Text
            | TypeShape::Number
            | TypeShape::Bool
            | TypeShape::Enum(_) => &[],
            TypeShape::List(item) | TypeShape::Option(item) => &[(Symbol(0), *item)],
            TypeShape::Object(fields) => {
                if fields.len() >= SHORT_OBJECT {
                    by_name = fields.to_vec();
                    by_name.sort_unstable();
                }
                fields
            }
        };
        let entries = || inner.iter().map(|(_, id)| &self.entries[id.0 as usize]);
        TypeEntry {
            depth: 1 + entries().map(|entry| entry.depth).max().unwrap_or(0),
            parts: entries().fold(1, |sum, entry| sum.saturating_add(entry.parts)),
            has_enum: matches!(shape, TypeShape::Enum(_)) || entries().any(|entry| entry.has_enum),
            shape: shape.clone(),
            by_name,
        }
    }

    pub fn get(&self, id: TypeId) -> &TypeShape {
        &self.entries[id.0 as usize].shape
    }

    /// Whether a type is beyond what is accepted.
    pub fn is_too_large(&self, id: TypeId) -> bool {
        let entry = &self.entries[id.0 as usize];
        entry.depth > TYPE_DEPTH_MAX || entry.parts > TYPE_PARTS_MAX
    }

    /// Whether an enum occurs anywhere in a type.
    pub fn has_enum(&self, id: TypeId) -> bool {
        self.entries[id.0 as usize].has_enum
    }

    /// Returns the type of a field of an object type.
    pub fn field(&self, object: TypeId, name: Symbol) -> Option<TypeId> {
        let entry = &self.entries[object.0 as usize];
        let TypeShape::Object(fields) = &entry.shape else { return None };
        if entry.by_name.is_empty() {
            return fields.iter().find(|(field, _)| *field == name).map(|(_, id)| *id);
        }
        let at = entry.by_name.binary_search_by_key(&name, |(field, _)| *field).ok()?;
        Some(entry.by_name[at].1)
    }

    /// Whether a value of type `given` may be used where `wanted` is expected.
    pub fn fits(&mut self, given: TypeId, wanted: TypeId, wrapping: OptionalWrapping) -> bool {
        if given == wanted {
            return true;
        }
        let is_part = |id: TypeId| id.0 <= TypeId::BOOL.0;
        if is_part(given) && is_part(wanted) {
            return false;
        }
        if let Some(known) = self.fits.get(&(given, wanted, wrapping)) {
            return *known;
        }
        let fits = self.compare(given, wanted, wrapping);
        self.fits.insert((given, wanted, wrapping), fits);
        fits
    }

    fn compare(&mut self, given: TypeId, wanted: TypeId, wrapping: OptionalWrapping) -> bool {
        match (self.get(given).clone(), self.get(wanted).clone()) {
            (TypeShape::Null, TypeShape::Option(_)) | (TypeShape::Enum(_), TypeShape::Text) => true,
            (TypeShape::Option(given), TypeShape::Option(wanted))
            | (TypeShape::List(given), TypeShape::List(wanted)) => {
                self.fits(given, wanted, wrapping)
            }
            (_, TypeShape::Option(wanted)) if wrapping == OptionalWrapping::Allowed => {
                self.fits(given, wanted, wrapping)
            }
            (TypeShape::Object(_), TypeShape::Object(wanted)) => {
                wanted.iter().all(|(name, wanted)| {
                    self.field(given, *name)
                        .is_some_and(|field| self.fits(field, *wanted, wrapping))
                })
            }
            _ => false,
        }
    }

    /// Whether two types fit each other.
    pub fn are_alike(&mut self, one: TypeId, other: TypeId) -> bool {
        one == other
            || (self.fits(one, other, OptionalWrapping::Strict)
                && self.fits(other, one, OptionalWrapping::Strict))
    }

    /// Finds the type that both fit when they differ only in enums and text.
    pub fn join(&mut self, one: TypeId, other: TypeId) -> Option<TypeId> {
        if self.are_alike(one, other) {
            return Some(one);
        }
        match (self.get(one).clone(), self.get(other).clone()) {
            (TypeShape::Enum(_) | TypeShape::Text, TypeShape::Enum(_) | TypeShape::Text) => {
                Some(TypeId::TEXT)
            }
            (TypeShape::List(one), TypeShape::List(other)) => {
                let item = self.join(one, other)?;
                Some(self.intern(TypeShape::List(item)))
            }
            (TypeShape::Option(one), TypeShape::Option(other)) => {
                let item = self.join(one, other)?;
                Some(self.intern(TypeShape::Option(item)))
            }
            (TypeShape::Object(one), TypeShape::Object(others)) if one.len() == others.len() => {
                let mut fields = Vec::with_capacity(one.len());
                for (name, field) in one.iter() {
                    let other = self.field(other, *name)?;
                    fields.push((*name, self.join(*field, other)?));
                }
                Some(self.intern(TypeShape::Object(fields.into())))
            }
            _ => None,
        }
    }

    /// Whether values of the two types may be compared: alike but for enums against text, or
    /// `null` against an option.
    pub fn are_comparable(&mut self, one: TypeId, other: TypeId) -> bool {
        if self.are_alike(one, other) {
            return true;
        }
        match (self.get(one).clone(), self.get(other).clone()) {
            (TypeShape::Null, TypeShape::Option(_)) | (TypeShape::Option(_), TypeShape::Null) => {
                true
            }
            (TypeShape::Enum(_), TypeShape::Text) | (TypeShape::Text, TypeShape::Enum(_)) => true,
            (TypeShape::List(one), TypeShape::List(other))
            | (TypeShape::Option(one), TypeShape::Option(other)) => {
                self.are_comparable_inside(one, other)
            }
            (TypeShape::Object(fields), TypeShape::Object(others))
                if fields.len() == others.len() =>
            {
                fields.iter().all(|(name, field)| {
                    let other = self.field(other, *name);
                    other.is_some_and(|other| self.are_comparable_inside(*field, other))
                })
            }
            _ => false,
        }
    }

    /// As [`Types::are_comparable`], but `null` is no longer special.
    fn are_comparable_inside(&mut self, one: TypeId, other: TypeId) -> bool {
        let is_null = one == TypeId::NULL || other == TypeId::NULL;
        if is_null { one == other } else { self.are_comparable(one, other) }
    }

    /// Whether two types are equal, the order of fields aside.
    pub fn are_equal(&self, one: TypeId, other: TypeId) -> bool {
        if one == other {
            return true;
        }
        match (self.get(one), self.get(other)) {
            (TypeShape::List(one), TypeShape::List(other))
            | (TypeShape::Option(one), TypeShape::Option(other)) => self.are_equal(*one, *other),
            (TypeShape::Object(fields), TypeShape::Object(others))
                if fields.len() == others.len() =>
            {
                fields.iter().all(|(name, field)| {
                    self.field(other, *name).is_some_and(|other| self.are_equal(*field, other))
                })
            }
            _ => false,
        }
    }

    /// Writes a type in source notation, aliases replaced.
    pub fn shown(&self, id: TypeId, symbols: &Symbols) -> String {
        let mut text = String::new();
        self.write(id, symbols, &mut text);
        text
    }

    fn write(&self, id: TypeId, symbols: &Symbols, out: &mut String) {
        match self.get(id) {
            TypeShape::Null => out.push_str("Null"),
            TypeShape::Text => out.push_str("String"),
            TypeShape::Number => out.push_str("Number"),
            TypeShape::Bool => out.push_str("Bool"),
            TypeShape::Enum(name) => out.push_str(symbols.text(*name)),
            TypeShape::List(item) => self.write_wrapped("List", *item, symbols, out),
            TypeShape::Option(item) => self.write_wrapped("Option", *item, symbols, out),
            TypeShape::Object(fields) => {
                out.push_str("Obj{");
                for (at, (name, field)) in fields.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    out.push_str(symbols.text(*name));
                    out.push_str(": ");
                    self.write(*field, symbols, out);
                }
                out.push('}');
            }
        }
    }

    fn write_wrapped(&self, name: &str, item: TypeId, symbols: &Symbols, out: &mut String) {
        out.push_str(name);
        out.push('[');
        self.write(item, symbols, out);
        out.push(']');
    }
}
