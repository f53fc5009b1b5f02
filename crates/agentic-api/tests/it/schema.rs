//! The schemas that are checked in are those of what is printed today; `cargo xtask schemas` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What makes this test write instead of compare.
const WRITE: &str = "AGENTIC_WRITE_TABLES";

#[test]
fn schemas_of_all_answers_are_those_of_their_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let text = |schema| serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let made: BTreeMap<String, String> = agentic_api::view::schemas()
        .into_iter()
        .map(|(name, schema)| (name.to_string(), text(schema)))
        .collect();
    if std::env::var_os(WRITE).is_some() {
        for (name, text) in &made {
            fs::write(folder.join(name), text).expect("writable");
        }
        println!("{} schemas", made.len());
    }
    for (name, text) in &made {
        let stored = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(stored == *text, "schemas/{name} is stale; run `cargo xtask schemas`");
    }
    for entry in fs::read_dir(&folder).expect("it is there") {
        let name = entry.expect("readable").file_name().to_string_lossy().into_owned();
        assert!(made.contains_key(&name), "schemas/{name} is not made any more; remove it");
    }
}
