//! The program that a person puts together.

use agentic_lang_context::{
    Declaration, DeclarationSort, Dialect, EntryPoint, Outline, Strictness, Version,
};

/// The agent whose main function the statements are.
pub const SCRATCH: &str = "__repl";
/// What a program is called that comes from no file.
const UNNAMED: &str = "repl.as";
/// The word that ends a function; what begins with it runs once only.
const RETURN: &str = "return";

/// The name of a file that there is not: declarations of an earlier version stand in it, so that it
/// rules them alone and not what is typed.
pub const DECLARED: &str = "__repl_declared.as";

/// A program with the statements that were typed.
pub struct ScratchProgram {
    /// Its text.
    pub program: String,
    /// What it imports from [`DECLARED`], if it does.
    pub declared: Option<String>,
}

/// Declarations and statements, in the order in which they came.
#[derive(Debug, Clone)]
pub struct Notebook {
    dialect: Option<Dialect>,
    path: Option<String>,
    declarations: Vec<Declaration>,
    statements: Vec<String>,
    main: Option<String>,
}

impl Notebook {
    /// Makes an empty one, held to a version or not.
    pub fn new(dialect: Option<Dialect>) -> Notebook {
        let (declarations, statements) = (Vec::new(), Vec::new());
        Notebook { dialect, path: None, declarations, statements, main: None }
    }

    /// Forgets everything but the version.
    pub fn reset(&mut self) {
        *self = Notebook::new(self.dialect);
    }

    /// Returns the version that was chosen.
    pub fn chosen_dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// Returns the version that was chosen, else the newest.
    pub fn dialect(&self) -> Dialect {
        let newest = Dialect { version: Version::V0_1_18, strictness: Strictness::Union };
        self.dialect.unwrap_or(newest)
    }

    /// Says what a piece of text is.
    pub fn outline(&self, text: &str) -> Outline {
        agentic_lang_context::outline(text, self.dialect())
    }

    /// Returns the path from which imports resolve.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(UNNAMED)
    }

    /// Lets imports resolve from a file.
    pub fn set_path(&mut self, path: &str) {
        self.path = Some(path.to_owned());
    }

    /// Adds declarations; one replaces the one before it that has its name.
    pub fn declare(&mut self, declarations: Vec<Declaration>) {
        for declaration in declarations {
            let is_same = |known: &&mut Declaration| known.name == declaration.name;
            match self.declarations.iter_mut().find(is_same) {
                Some(known) => *known = declaration,
                None => self.declarations.push(declaration),
            }
        }
    }

    /// Keeps a statement that ran.
    pub fn keep(&mut self, statement: &str) {
        if !statement.trim_start().starts_with(RETURN) {
            self.statements.push(statement.to_owned());
        }
    }

    /// Forgets the last statement.
    pub fn undo(&mut self) {
        self.statements.pop();
    }

    /// Chooses the agent that a run begins with; says whether there is one.
    pub fn choose_main(&mut self, name: &str) -> bool {
        let is_there = self.agent_names().any(|agent| agent.name.as_deref() == Some(name));
        if is_there {
            self.main = Some(name.to_owned());
        }
        is_there
    }

    /// Returns where a run begins.
    pub fn entry(&self) -> EntryPoint {
        self.main.as_deref().map(EntryPoint::parse).unwrap_or_default()
    }

    fn agent_names(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations.iter().filter(|declaration| declaration.sort != DeclarationSort::Import)
    }

    /// Lists the agents, a line each.
    pub fn agents(&self) -> String {
        let line = |agent: &Declaration| {
            let name = agent.name.as_deref().unwrap_or("(without a name)");
            let is_main = match &self.main {
                Some(main) => agent.name.as_ref() == Some(main),
                None => agent.sort == DeclarationSort::MainAgent,
            };
            if is_main { format!("{name} (main)\n") } else { format!("{name}\n") }
        };
        self.agent_names().map(line).collect()
    }

    /// Returns the declarations as one program.
    pub fn program(&self) -> String {
        let texts = self.declarations.iter();
        texts.map(|declaration| format!("{}\n", declaration.text)).collect()
    }

    /// Returns the declarations as a program without statements.
    pub fn as_declared(&self) -> ScratchProgram {
        ScratchProgram { program: self.program(), declared: None }
    }

    /// Returns the program whose scratch agent runs all statements and a further one.
    pub fn with_statement(&self, statement: &str) -> ScratchProgram {
        let statements = self.statements.concat();
        let statement = statement.trim_end();
        let agent =
            format!("agent {SCRATCH} {{\nmain func() {{\n{statements}{statement}\n}}\n}}\n");
        let declared = self.program();
        if self.dialect.is_none() && Dialect::detect(&declared) != self.dialect() {
            let imports: String = self.declarations.iter().filter_map(imported).collect();
            let program = format!("{imports}main {agent}");
            return ScratchProgram { program, declared: Some(declared) };
        }
        let has_main = self.agent_names().any(|agent| agent.sort == DeclarationSort::MainAgent);
        let main = if has_main { "" } else { "main " };
        ScratchProgram { program: format!("{declared}{main}{agent}"), declared: None }
    }
}

/// Returns the import by which a program has a declaration that stands in [`DECLARED`].
fn imported(declaration: &Declaration) -> Option<String> {
    match (declaration.sort, &declaration.name) {
        (DeclarationSort::Import, _) => Some(format!("{}\n", declaration.text)),
        (DeclarationSort::MainAgent | DeclarationSort::Agent, Some(name)) => {
            Some(format!("import agent {name} from \"./{DECLARED}\"\n"))
        }
        (DeclarationSort::MainAgent | DeclarationSort::Agent, None) => None,
    }
}
