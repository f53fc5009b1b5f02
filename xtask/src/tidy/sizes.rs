//! Files and functions stay small enough to be read in one go.

use syn::visit::{self, Visit};

use crate::workspace::TidyWorkspace;

/// The longest file, in lines.
pub const FILE_LINES_MAX: usize = 800;
/// The longest function, in lines, from `fn` to its last brace.
pub const FUNCTION_LINES_MAX: usize = 70;
/// What stands above a longer function that is one table, such as a match with an arm for each
/// variant, followed by why it stays whole.
const WHOLE: &str = "// size: ";

/// Finds files and functions that are too long, and Rust that cannot be parsed.
pub fn check(workspace: &TidyWorkspace) -> Vec<String> {
    let sources = workspace.files.iter().filter(|(path, _)| path.ends_with(".rs"));
    sources.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let n_lines = text.lines().count();
    if n_lines > FILE_LINES_MAX {
        findings.push(format!("sizes: {path} has {n_lines} lines, more than {FILE_LINES_MAX}"));
    }
    match syn::parse_file(text) {
        Ok(file) => {
            let lines = text.lines().collect();
            let mut functions = Functions { path, lines, findings };
            functions.visit_file(&file);
            functions.findings
        }
        Err(error) => {
            findings.push(format!("sizes: {path} cannot be parsed: {error}"));
            findings
        }
    }
}

struct Functions<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
    findings: Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let n_lines = body.brace_token.span.close().end().line + 1 - first;
        let above = self.lines[..first - 1].iter().rev();
        let mut notes = above.map(|line| line.trim()).take_while(|line| is_note(line));
        let stays_whole = notes.any(|line| line.len() > WHOLE.len() && line.starts_with(WHOLE));
        if n_lines > FUNCTION_LINES_MAX && !stays_whole {
            self.findings.push(format!(
                "sizes: {}:{first} function `{}` has {n_lines} lines, more than {FUNCTION_LINES_MAX}",
                self.path, signature.ident
            ));
        }
    }
}

/// Tells whether a line above a function belongs to it: a comment or an attribute.
fn is_note(line: &str) -> bool {
    line.starts_with("//") || line.starts_with("#[")
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
