//! A small language for tests: trees of requests, joined in sequence, together or in a race.

use agentic_model::{Instant, Value};
use agentic_replay::{
    Delivery, End, HOLD, Path, Program, Request, RequestAnswer, RequestScope, Seed, Start, Turn,
};
use proptest::prelude::*;

/// A program of the language.
#[derive(Debug, Clone)]
pub enum Node {
    /// A request of a kind with a payload.
    Ask(&'static str, i64),
    /// A request whose payload is random.
    Random,
    /// A request whose payload is the time.
    Now,
    /// A pause.
    Sleep(i64),
    /// One after the other.
    Seq(Vec<Node>),
    /// All at once.
    All(Vec<Node>),
    /// A race.
    Any(Vec<Node>),
}

/// Any program; every `Ask` in it has another payload.
pub fn any_tree() -> impl Strategy<Value = Node> {
    let kinds = prop_oneof![
        Just("exec"),
        Just("model"),
        Just("commit"),
        Just("mock"),
        Just("forbidden"),
        Just("spawn"),
        Just(HOLD)
    ];
    let leaf = prop_oneof![
        6 => kinds.prop_map(|kind| Node::Ask(kind, 0)),
        1 => Just(Node::Random),
        1 => Just(Node::Now),
        1 => (0_i64..5_000).prop_map(Node::Sleep),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        let items = prop::collection::vec(inner, 1..4);
        prop_oneof![
            items.clone().prop_map(Node::Seq),
            items.clone().prop_map(Node::All),
            items.prop_map(Node::Any),
        ]
    });
    tree.prop_map(|mut tree| {
        number(&mut tree, &mut 0);
        tree
    })
}

/// Gives every `Ask` its own payload, and returns how many there are.
fn number(node: &mut Node, next: &mut i64) {
    match node {
        Node::Ask(_, payload) => {
            *payload = *next;
            *next += 1;
        }
        Node::Seq(items) | Node::All(items) | Node::Any(items) => {
            items.iter_mut().for_each(|item| number(item, next));
        }
        Node::Random | Node::Now | Node::Sleep(_) => {}
    }
}

/// Changes the payload of one `Ask`.
pub fn mutate(node: &mut Node, from: i64, to: i64) {
    match node {
        Node::Ask(_, payload) if *payload == from => *payload = to,
        Node::Ask(..) | Node::Random | Node::Now | Node::Sleep(_) => {}
        Node::Seq(items) | Node::All(items) | Node::Any(items) => {
            items.iter_mut().for_each(|item| mutate(item, from, to));
        }
    }
}

/// A tree as a program.
pub struct Tree {
    node: Node,
    state: Option<State>,
    world: World,
}

struct World {
    seed: Seed,
    now: Instant,
    turn: Turn,
}

enum State {
    Waiting(Path),
    Seq { rest: Vec<Node>, current: Box<State>, context: Context, done: Vec<Value> },
    All(Vec<State>),
    Any(Vec<State>),
    Done(Value),
}

/// A context, and how many branches it has begun.
#[derive(Clone)]
struct Context {
    scope: RequestScope,
    n_branches: u64,
}

impl Tree {
    pub fn new(node: &Node) -> Tree {
        let (seed, now) = (Seed([0; 32]), Instant::from_millis(0));
        let world = World { seed, now, turn: Turn::default() };
        Tree { node: node.clone(), state: None, world }
    }

    fn turn(&mut self) -> Turn {
        let mut turn = std::mem::take(&mut self.world.turn);
        if let Some(State::Done(value)) = &self.state {
            turn.end = Some(End::Done(value.clone()));
        }
        turn
    }
}

impl Program for Tree {
    fn start(&mut self, start: &Start) -> Turn {
        (self.world.seed, self.world.now) = (start.seed, start.at);
        let mut context = Context { scope: RequestScope::root(), n_branches: 0 };
        self.state = Some(self.world.begin(&self.node, &mut context));
        self.turn()
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        self.world.now = delivery.at;
        if let Some(state) = &mut self.state {
            self.world.wake(state, &delivery.path, &delivery.answer);
        }
        self.turn()
    }

    fn cancel(&mut self, _reason: &str, _at: Instant) -> Turn {
        Turn { end: Some(End::Cancelled), ..Turn::default() }
    }

    fn reseed(&mut self, seed: Seed) {
        self.world.seed = seed;
    }
}

impl World {
    fn begin(&mut self, node: &Node, context: &mut Context) -> State {
        match node {
            Node::Ask(kind, payload) => self.ask(context, kind, Value::Int(*payload)),
            Node::Now => self.ask(context, "model", Value::text(self.now.to_string())),
            Node::Random => {
                let number = self.seed.unit(context.scope.path(), 0);
                self.ask(context, "model", Value::Float(number))
            }
            Node::Sleep(millis) => {
                let path = context.scope.next_path();
                let until = self.now.plus_millis(*millis);
                self.turn.opened.push(Request::sleep(path.clone(), until));
                State::Waiting(path)
            }
            Node::Seq(items) => self.next(items.clone(), context.clone(), Vec::new(), context),
            Node::All(items) => {
                let mut state = State::All(self.branches(items, context));
                settle(&mut state, &mut self.turn);
                state
            }
            Node::Any(items) => {
                let mut state = State::Any(self.branches(items, context));
                settle(&mut state, &mut self.turn);
                state
            }
        }
    }

    fn ask(&mut self, context: &mut Context, kind: &str, payload: Value) -> State {
        let path = context.scope.next_path();
        self.turn.opened.push(Request::new(path.clone(), kind, payload));
        State::Waiting(path)
    }

    fn branches(&mut self, items: &[Node], context: &mut Context) -> Vec<State> {
        let mut states = Vec::new();
        for item in items {
            let scope = context.scope.child(&format!("b{}", context.n_branches));
            context.n_branches += 1;
            states.push(self.begin(item, &mut Context { scope, n_branches: 0 }));
        }
        states
    }

    /// Goes on with a sequence; what is left of it begins in the context of the sequence itself.
    fn next(
        &mut self,
        mut rest: Vec<Node>,
        mut context: Context,
        mut done: Vec<Value>,
        outer: &mut Context,
    ) -> State {
        while !rest.is_empty() {
            let node = rest.remove(0);
            match self.begin(&node, &mut context) {
                State::Done(value) => done.push(value),
                current @ (State::Waiting(_)
                | State::Seq { .. }
                | State::All(_)
                | State::Any(_)) => {
                    outer.clone_from(&context);
                    return State::Seq { rest, current: Box::new(current), context, done };
                }
            }
        }
        outer.clone_from(&context);
        State::Done(Value::List(done))
    }

    fn wake(&mut self, state: &mut State, path: &Path, answer: &RequestAnswer) {
        match state {
            State::Waiting(waiting) if waiting == path => {
                *state = State::Done(if let RequestAnswer::Ok(value) = answer {
                    value.clone()
                } else {
                    Value::text("failed")
                });
            }
            State::Waiting(_) | State::Done(_) => {}
            State::All(states) | State::Any(states) => {
                states.iter_mut().for_each(|state| self.wake(state, path, answer));
                settle(state, &mut self.turn);
            }
            State::Seq { rest, current, context, done } => {
                self.wake(current, path, answer);
                if let State::Done(value) = &**current {
                    done.push(value.clone());
                    let (rest, context) = (std::mem::take(rest), context.clone());
                    let done = std::mem::take(done);
                    *state = self.next(rest, context.clone(), done, &mut context.clone());
                }
            }
        }
    }
}

/// Ends a join whose branches have come far enough, and withdraws what is left of it.
fn settle(state: &mut State, turn: &mut Turn) {
    let values = |states: &[State]| -> Vec<Value> {
        let done = states.iter().filter_map(|state| {
            if let State::Done(value) = state { Some(value.clone()) } else { None }
        });
        done.collect()
    };
    match state {
        State::All(states) if values(states).len() == states.len() => {
            *state = State::Done(Value::List(values(states)));
        }
        State::Any(states) if !values(states).is_empty() => {
            states.iter().for_each(|state| open(state, &mut turn.withdrawn));
            *state = State::Done(values(states).remove(0));
        }
        State::Waiting(_) | State::Seq { .. } | State::All(_) | State::Any(_) | State::Done(_) => {}
    }
}

fn open(state: &State, paths: &mut Vec<Path>) {
    match state {
        State::Waiting(path) => paths.push(path.clone()),
        State::Seq { current, .. } => open(current, paths),
        State::All(states) | State::Any(states) => {
            states.iter().for_each(|state| open(state, paths));
        }
        State::Done(_) => {}
    }
}
