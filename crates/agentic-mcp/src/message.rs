//! Messages as they are written.

use rmcp::model::ServerJsonRpcMessage;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value as Json;

/// The fields of a form, in the order in which a person fills them in.
pub const FORM_FIELDS: [&str; 3] = ["action", "value", "reason"];

/// Writes a message. A form has its fields in their order, which the library would sort.
pub fn bytes_of(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let bytes = serde_json::to_vec(message).expect("messages have text keys");
    let form = b"\"requestedSchema\":";
    if !bytes.windows(form.len()).any(|part| part == form) {
        return bytes;
    }
    let json: Option<Json> = serde_json::from_slice(&bytes).ok();
    json.map_or(bytes, |json| serde_json::to_vec(&FormOrder(&json)).expect("JSON is JSON"))
}

/// Data whose maps begin with the fields of a form, as far as they have them.
struct FormOrder<'j>(&'j Json);

impl Serialize for FormOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Object(map) => {
                let place = |name: &str| FORM_FIELDS.iter().position(|field| *field == name);
                let mut fields: Vec<_> = map.iter().collect();
                fields.sort_by_key(|(name, _)| place(name).unwrap_or(FORM_FIELDS.len()));
                let mut written = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    written.serialize_entry(name, &FormOrder(value))?;
                }
                written.end()
            }
            Json::Array(items) => serializer.collect_seq(items.iter().map(FormOrder)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                self.0.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerJsonRpcMessage;
    use serde_json::{Value as Json, json};

    use super::bytes_of;

    fn written(message: Json) -> String {
        let message: ServerJsonRpcMessage = serde_json::from_value(message).expect("a message");
        String::from_utf8(bytes_of(&message)).expect("text")
    }

    #[test]
    fn the_fields_of_a_form_stand_in_their_order() {
        let properties = json!({
            "action": { "type": "string", "enum": ["approve", "reject"] },
            "reason": { "type": "string" },
            "value": { "type": "string" },
        });
        let form = json!({ "type": "object", "properties": properties, "required": ["action"] });
        let ask = json!({
            "method": "elicitation/create",
            "params": { "message": "Deploy?", "requestedSchema": form },
        });
        let asked = written(json!({
            "jsonrpc": "2.0", "id": 1, "method": ask["method"], "params": ask["params"],
        }));
        let required = written(json!({ "jsonrpc": "2.0", "id": 1, "result": {
            "resultType": "input_required", "requestState": "s", "inputRequests": { "r1": ask },
        } }));
        for text in [asked, required] {
            let at = |name: &str| text.find(&format!("\"{name}\":")).expect("it is there");
            assert!(at("action") < at("value") && at("value") < at("reason"), "{text}");
        }
    }

    #[test]
    fn other_messages_are_as_they_were() {
        let result =
            json!({ "z": 1, "text": "\"requestedSchema\":", "a": { "reason": 1, "action": 2 } });
        let text = written(json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
        assert!(text.find("action") < text.find("reason"), "{text}");
        assert!(serde_json::from_str::<Json>(&text).is_ok_and(|read| read["result"] == result));
    }
}
