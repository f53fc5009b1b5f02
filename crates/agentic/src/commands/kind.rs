//! `agentic kind …`

use std::process::ExitCode;

use agentic_api::view::{KindShowView, KindView};
use agentic_model::{Kind, KindEntry, KindTree, json};
use agentic_space::error::KindError;
use clap::Subcommand;

use super::Outcome;
use crate::context::{Context, read_file_or_stdin};
use crate::failure::Failure;
use crate::output::warn_deferred;

/// List and register kinds of commits and objects
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List all kinds as a tree
    ///
    /// Example: agentic kind list
    #[command(verbatim_doc_comment)]
    List,
    /// Register a kind; it never changes afterwards
    ///
    /// Example: agentic kind add bug --parent finding -m "Something that is broken"
    #[command(verbatim_doc_comment)]
    Add {
        /// The name: lower-case letters, digits and `-`
        #[arg(value_parser = kind_name)]
        name: Kind,
        /// The kind it specialises
        #[arg(long, value_name = "KIND", default_value = "agent-commit", value_parser = kind_name)]
        parent: Kind,
        /// One line that describes it
        #[arg(short, long, value_name = "TEXT", default_value = "")]
        message: String,
        /// A JSON Schema for its open fields
        #[arg(long, value_name = "FILE")]
        schema: Option<String>,
    },
    /// Show one kind
    ///
    /// Example: agentic kind show finding
    #[command(verbatim_doc_comment)]
    Show {
        /// The name
        #[arg(value_parser = kind_name)]
        name: Kind,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let space = context.space()?;
    match verb {
        Verb::List => {
            let tree = space.kinds()?;
            let views: Vec<KindView> = tree.entries().map(KindView::from).collect();
            context.format.answer(views.as_slice(), |_| draw(&tree));
        }
        Verb::Add { name, parent, message, schema } => {
            let schema = schema.map(|file| read_schema(&file)).transpose()?;
            let entry = KindEntry { name, parent: Some(parent), description: message, schema };
            warn_deferred(&space.register_kind(entry.clone())?);
            context.format.answer(&KindView::from(&entry), |view| view.name.clone());
        }
        Verb::Show { name } => {
            let tree = space.kinds()?;
            let root = agentic_model::kind::AGENT_COMMIT;
            let unknown =
                || agentic_space::Error::Kind(KindError::Unknown { kind: name.clone(), root });
            let entry = tree.get(&name).ok_or_else(unknown)?;
            context.format.answer(&KindShowView::new(entry, &tree), |view| {
                format!("{}\n{}\n", view.ancestors.join(" < "), view.entry.description)
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_schema(file: &str) -> Result<agentic_model::Value, Failure> {
    let bytes = read_file_or_stdin(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let value = json::from_text(&text).map_err(|error| {
        Failure::schema(&format!("the schema is {error}"), "give a JSON Schema")
    })?;
    if matches!(value, agentic_model::Value::Map(_)) {
        Ok(value)
    } else {
        Err(Failure::schema("the schema is not a JSON object", "give a JSON Schema"))
    }
}

fn draw(tree: &KindTree) -> String {
    let mut lines: Vec<(Vec<&str>, &KindEntry)> = tree
        .entries()
        .map(|entry| {
            let mut path: Vec<&str> = tree.ancestors(&entry.name).map(Kind::as_str).collect();
            path.reverse();
            (path, entry)
        })
        .collect();
    lines.sort_by(|left, right| left.0.cmp(&right.0));
    let line = |(path, entry): &(Vec<&str>, &KindEntry)| {
        let name = format!("{}{}", "  ".repeat(path.len() - 1), entry.name);
        format!("{name:24} {}", entry.description).trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

fn kind_name(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|error| error.to_string())
}
