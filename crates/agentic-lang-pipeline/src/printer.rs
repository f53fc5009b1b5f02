//! Syntax back to text: the one-line form that is hashed. One blank between tokens, strings
//! escaped anew, arguments as they were written.

use std::fmt::Write as _;

use crate::ast::{BuiltinCall, Literal, PipelineBlock, PipelineNode, PipelineSource, WrittenValue};

/// Prints a script, one block a line. Parsing the result gives an equal script.
pub fn canonical(script: &PipelineSource) -> String {
    let mut printer = PipelinePrinter::default();
    for (index, block) in script.blocks.iter().enumerate() {
        if index > 0 {
            printer.out.push('\n');
        }
        printer.block(block);
    }
    printer.out
}

/// Prints the body of a block on one line, as `dynamic` nodes carry it.
pub fn canonical_program(body: &PipelineNode) -> String {
    let mut printer = PipelinePrinter::default();
    printer.node(body);
    printer.out
}

#[derive(Default)]
struct PipelinePrinter {
    out: String,
}

impl PipelinePrinter {
    fn word(&mut self, word: &str) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push(' ');
        }
        self.out.push_str(word);
    }

    fn block(&mut self, block: &PipelineBlock) {
        self.word(block.backend.as_str());
        self.word(block.mode.as_str());
        match &block.body {
            // Branches bring their own parentheses.
            PipelineNode::Parallel(..) => self.node(&block.body),
            PipelineNode::Pipeline(..) | PipelineNode::Call(_) | PipelineNode::Nested(_) => {
                self.word("(");
                self.node(&block.body);
                self.word(")");
            }
        }
    }

    fn node(&mut self, node: &PipelineNode) {
        match node {
            PipelineNode::Pipeline(stages, _) => self.separated(stages, ">=>"),
            PipelineNode::Parallel(branches, _) => {
                self.word("(");
                self.separated(branches, "<*>");
                self.word(")");
            }
            PipelineNode::Call(call) => self.call(call),
            PipelineNode::Nested(block) => self.block(block),
        }
    }

    fn separated(&mut self, nodes: &[PipelineNode], mark: &str) {
        for (index, node) in nodes.iter().enumerate() {
            if index > 0 {
                self.word(mark);
            }
            self.node(node);
        }
    }

    fn call(&mut self, call: &BuiltinCall) {
        self.word(&call.name);
        for argument in &call.positional {
            self.argument(argument);
        }
        if let Some(named) = &call.named {
            self.word("(");
            for argument in named {
                self.word(&argument.name);
                self.word(":");
                self.argument(&argument.argument);
            }
            self.word(")");
        }
    }

    fn argument(&mut self, argument: &WrittenValue) {
        match &argument.literal {
            Literal::Text(text) => self.word(&quoted(text)),
            Literal::Int(number) => self.word(&number.to_string()),
            Literal::Float(number) => self.word(&format!("{number:?}")),
            Literal::Bool(truth) => self.word(if *truth { "true" } else { "false" }),
            Literal::Ref(name) => self.word(name),
            Literal::List(items) => {
                self.word("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.word(",");
                    }
                    self.argument(item);
                }
                self.word("]");
            }
        }
    }
}

/// Quotes a text on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
