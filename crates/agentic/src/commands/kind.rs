//! `agentic kind …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{KindActivities, KindAdd, KindAdopt, KindList, KindShow};
use agentic_api::view::{KindActivityView, KindView};
use agentic_model::Kind;
use clap::Subcommand;

use super::VerbOutcome;
use crate::context::{Context, read_file_or_stdin};
use crate::output::warn_of;

/// List and register kinds of commits and objects
#[derive(Debug, Subcommand)]
pub enum KindVerb {
    /// List all kinds as a tree, or those that a peer announced
    ///
    /// Example: agentic kind list
    #[command(verbatim_doc_comment)]
    List {
        /// The kinds of this peer
        #[arg(long, value_name = "PEER")]
        peer: Option<String>,
        /// As the activities that defined them
        #[arg(long, value_name = "FORM")]
        format: Option<KindForm>,
    },
    /// Register a kind of a peer here; what the peer changes later does not reach it
    ///
    /// Example: agentic kind adopt bob/bug
    #[command(verbatim_doc_comment)]
    Adopt {
        /// The kind, as `agentic kind list --peer` names it
        #[arg(value_name = "PEER/KIND")]
        kind: String,
        /// The name that it gets here
        #[arg(long = "as", value_name = "NAME", value_parser = kind_name)]
        name: Option<Kind>,
    },
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

/// How kinds are listed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum KindForm {
    /// As the activities that defined them.
    Activities,
}

/// Runs the verb.
pub fn run(context: &Context, verb: KindVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    match verb {
        KindVerb::List { peer, format: None } => {
            let kinds = KindList { peer }.run(&caller)?.answer;
            context.format.answer(kinds.as_slice(), draw);
        }
        KindVerb::List { peer, format: Some(KindForm::Activities) } => {
            let activities = KindActivities { peer }.run(&caller)?.answer;
            context
                .format
                .answer(activities.as_slice(), |all| all.iter().map(activity_line).collect());
        }
        KindVerb::Adopt { kind, name } => {
            let adopt = KindAdopt { kind, name: name.map(|name| name.to_string()) };
            let reply = adopt.run(&caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, |view| view.entry.name.clone());
        }
        KindVerb::Add { name, parent, message, schema } => {
            let schema = schema.map(|file| read_file_or_stdin(&file)).transpose()?;
            let add = KindAdd {
                name: name.to_string(),
                parent: Some(parent.to_string()),
                description: message,
                schema: schema.map(|bytes| KindAdd::read_schema(&bytes)).transpose()?,
            };
            let reply = add.run(&caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, |view| view.name.clone());
        }
        KindVerb::Show { name } => {
            let shown = KindShow { name: name.to_string() }.run(&caller)?.answer;
            context.format.answer(&shown, |view| {
                format!("{}\n{}\n", view.ancestors.join(" < "), view.entry.description)
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn activity_line(activity: &KindActivityView) -> String {
    match activity {
        KindActivityView::DefineType { name, cid, description, .. } => {
            format!("DefineType {name} {cid} {description}").trim_end().to_owned() + "\n"
        }
        KindActivityView::SubtypeOf { child, parent } => format!("SubtypeOf {child} {parent}\n"),
    }
}

fn draw(kinds: &[KindView]) -> String {
    let parent = |name: &str| {
        kinds.iter().find(|kind| kind.name == name).and_then(|kind| kind.parent.as_deref())
    };
    let path = |kind| {
        let up = std::iter::successors(Some(kind), |name: &&str| parent(name));
        let mut path: Vec<&str> = up.collect();
        path.reverse();
        path
    };
    let mut lines: Vec<(Vec<&str>, &KindView)> =
        kinds.iter().map(|kind| (path(kind.name.as_str()), kind)).collect();
    lines.sort_by(|left, right| left.0.cmp(&right.0));
    let line = |(path, kind): &(Vec<&str>, &KindView)| {
        let name = format!("{}{}", "  ".repeat(path.len() - 1), kind.name);
        format!("{name:24} {}", kind.description).trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
}

fn kind_name(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|error| error.to_string())
}
