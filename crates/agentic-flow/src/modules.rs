//! Modules: other flows, imported by their id and nothing else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::Cid;
use rhai::{AST, Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};

use crate::engine::note_bound;
use crate::flow::parse_with;
use crate::limits::MODULE_DEPTH_MAX;
use crate::world::FlowWorld;

/// Where the sources of modules come from.
pub trait Modules {
    /// Returns the source of the module with this id, which the implementation vouches for.
    fn source(&self, cid: &Cid) -> Option<String>;
}

/// No modules at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModules;

impl Modules for NoModules {
    fn source(&self, _cid: &Cid) -> Option<String> {
        None
    }
}

impl Modules for BTreeMap<Cid, String> {
    fn source(&self, cid: &Cid) -> Option<String> {
        self.get(cid).cloned()
    }
}

pub(crate) struct FlowResolver {
    world: Rc<FlowWorld>,
    modules: Rc<dyn Modules>,
    parsed: RefCell<BTreeMap<Cid, AST>>,
}

impl FlowResolver {
    pub(crate) fn new(world: Rc<FlowWorld>, modules: Rc<dyn Modules>) -> FlowResolver {
        FlowResolver { world, modules, parsed: RefCell::default() }
    }

    fn parse(&self, engine: &Engine, path: &str) -> Result<AST, String> {
        let cid = Cid::parse(path).map_err(|_| "modules are imported by their id".to_owned())?;
        if let Some(ast) = self.parsed.borrow().get(&cid) {
            return Ok(ast.clone());
        }
        let source = self.modules.source(&cid).ok_or("there is no such module here")?;
        let ast = parse_with(engine, &Scope::new(), &source).map_err(|error| error.to_string())?;
        self.world.note_closures(&ast);
        self.parsed.borrow_mut().insert(cid, ast.clone());
        Ok(ast)
    }
}

impl ModuleResolver for FlowResolver {
    fn resolve(
        &self,
        engine: &Engine,
        _source: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let not_found = |reason: String| {
            let name = format!("{path} ({reason})");
            Box::new(EvalAltResult::ErrorModuleNotFound(name, position))
        };
        let depth = self.world.context.borrow().module_depth;
        if depth >= MODULE_DEPTH_MAX {
            self.world.fail(format!("modules import each other deeper than {MODULE_DEPTH_MAX}"));
            return Err(crate::failure::terminated());
        }
        let ast = self.parse(engine, path).map_err(not_found)?;
        self.world.context.borrow_mut().module_depth = depth + 1;
        let module = Module::eval_ast_as_new(Scope::new(), &ast, engine);
        self.world.context.borrow_mut().module_depth = depth;
        module.map(Shared::new).map_err(|error| {
            note_bound(&self.world, &error);
            Box::new(EvalAltResult::ErrorInModule(path.to_owned(), error, position))
        })
    }
}
