//! What to do next, in the words of tools: a client has no command line.

/// What a hint for the command line has in it, and what the same is here.
const IN_TOOL_WORDS: [(&str, &str); 9] = [
    ("give a message with `-m`", "send `message` as plain text"),
    ("use `--agent NAME`", "send `agent`"),
    ("those that are taken", "choose another name; `agents` lists those that are taken"),
    ("`--from`", "send `from`: the agent whose sub-agent it is"),
    ("a map with a text field", "send less at once, or commit what is long as a file"),
    ("`--allow-empty`", "change something in the worktree first, or send `files`"),
    ("`--stdin`", "send `files`: by path, what becomes of it"),
    ("`agentic trace add`", "add entries with `trace_add`, then `commit` with `trace`"),
    ("`agentic spawn NAME", "`agents` lists the agents; `spawn` makes one"),
];

/// Says what to do next as a client of tools can do it.
pub fn in_tool_words(hint: &str) -> String {
    let same = IN_TOOL_WORDS.iter().find(|(command, _)| hint.contains(command));
    same.map_or(hint, |(_, tools)| tools).to_owned()
}
