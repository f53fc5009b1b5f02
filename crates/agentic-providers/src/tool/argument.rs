//! What tools are called with: one object, read field by field.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::{ToolCall, ToolFault};
use crate::ordered::Members;

/// The one argument of a call.
pub(super) struct ToolArgument<'a> {
    call: &'a ToolCall,
    fields: Members,
}

impl<'a> ToolArgument<'a> {
    /// Reads the argument.
    pub fn of(call: &'a ToolCall) -> Result<ToolArgument<'a>, ToolFault> {
        let fields = match call.args.as_slice() {
            [argument] => serde_json::from_str(argument.get()).ok(),
            _ => None,
        };
        let fields = fields.ok_or_else(|| {
            let (tool, method) = (&call.tool, &call.method);
            ToolFault::refused(format!("{tool}.{method} expects one json object argument"))
        })?;
        Ok(ToolArgument { call, fields })
    }

    /// Returns a text that must be there and may not be empty.
    pub fn text(&self, key: &str) -> Result<String, ToolFault> {
        let text = self.optional(key)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| self.fault(key, "is required"))
    }

    /// Returns a text that must be there.
    pub fn content(&self, key: &str) -> Result<String, ToolFault> {
        self.optional(key)?.ok_or_else(|| self.fault(key, "is required"))
    }

    /// Returns a text, if there is one.
    pub fn optional(&self, key: &str) -> Result<Option<String>, ToolFault> {
        self.read(key, "is a text")
    }

    /// Returns a whole number above 0.
    pub fn count(&self, key: &str, default: usize) -> Result<usize, ToolFault> {
        let what = "is a whole number above 0";
        let Some(number) = self.read::<f64>(key, what)? else { return Ok(default) };
        if number < 1.0 || number.fract() != 0.0 {
            return Err(self.fault(key, what));
        }
        Ok(number as usize)
    }

    /// Returns a list of texts; an empty one if there is none.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, ToolFault> {
        Ok(self.read(key, "is a list of texts")?.unwrap_or_default())
    }

    /// Returns the members of an object, in their order; none if there is no object.
    pub fn members(&self, key: &str) -> Result<Vec<(String, Json)>, ToolFault> {
        let what = "is an object";
        let Some(Members(members)) = self.read::<Members>(key, what)? else {
            return Ok(Vec::new());
        };
        let read = |(name, raw): (String, Box<RawValue>)| {
            let value = serde_json::from_str(raw.get()).map_err(|_| self.fault(key, what))?;
            Ok((name, value))
        };
        members.into_iter().map(read).collect()
    }

    /// Returns any value but `null` as JSON text, its keys in order.
    pub fn raw(&self, key: &str) -> Option<&str> {
        let found = self.fields.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, raw)| raw.get()).filter(|text| *text != "null")
    }

    /// Makes the failure of a field.
    pub fn fault(&self, key: &str, what: &str) -> ToolFault {
        let (tool, method) = (&self.call.tool, &self.call.method);
        ToolFault::refused(format!("{tool}.{method}.{key} {what}"))
    }

    fn read<T: DeserializeOwned>(&self, key: &str, what: &str) -> Result<Option<T>, ToolFault> {
        let read = self.raw(key).map(serde_json::from_str);
        read.transpose().map_err(|_| self.fault(key, what))
    }
}
