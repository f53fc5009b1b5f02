//! Questions of programs that speak MCP: a person answers on the page, and the task is completed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use agentic_testkit::Browser;
use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, is_silent};

/// A server for programs, spoken to as clients of the newest revision do that know tasks.
struct TaskServer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    n_sent: u64,
}

impl TaskServer {
    fn begin(served: &ServedRepository) -> TaskServer {
        let mut command = served.command(&["mcp", "--agent", "alice"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the program is built");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        TaskServer { process, input, output, n_sent: 0 }
    }

    /// Asks, and returns the result.
    fn ask(&mut self, method: &str, mut parameters: Json) -> Json {
        self.n_sent += 1;
        parameters["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities":
                { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        let id = self.n_sent;
        let sent = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        writeln!(self.input, "{sent}").expect("it reads");
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("it answers"), 0, "it ended");
            let mut answer: Json = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{answer}");
                return answer["result"].take();
            }
        }
    }

    /// Asks a person, and returns the task.
    fn ask_human(&mut self, question: &str) -> Json {
        let arguments = json!({ "question": question, "choices": ["yes", "no"] });
        let made = self.ask("tools/call", json!({ "name": "ask_human", "arguments": arguments }));
        assert_eq!(made["resultType"], "task", "{made}");
        json!({ "taskId": made["taskId"] })
    }

    /// Waits until a task is completed, and returns its answer.
    fn completed(&mut self, task: &Json) -> Json {
        for _ in 0..600 {
            let found = self.ask("tasks/get", task.clone());
            if found["status"] == "completed" {
                return found["result"]["structuredContent"]["answer"].clone();
            }
            assert_eq!(found["status"], "working", "{found}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{task} is never completed");
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.process.wait().expect("it is a child").success());
    }
}

/// Answers a question on the page, on which it came by itself.
fn answer(browser: &Browser, question: &str, choice: &str) {
    browser.wait_for(".holds", question).expect("it comes into the inbox");
    browser.click(".holds > li:not(.gone) h2 a").expect("the inbox leads to it");
    browser.wait_for("#shown", question).expect("it is shown");
    browser.click("input[value=respond]").expect("it can be chosen");
    browser.click("#decision select").expect("there are choices");
    browser.type_into("#decision select", choice).expect("one can be chosen");
    browser.type_into("#reason", "because").expect("a reason can be typed");
    browser.click("#decision button[type=submit]").expect("there is a button");
    browser.wait_for("#decided", "respond").expect("it is answered");
    browser.click("a[href='/']").expect("there is a way back");
    browser.wait_for("#live", "live").expect("the page listens");
}

#[test]
fn a_question_that_a_program_asked_is_answered_on_the_page_and_its_task_is_completed() {
    let served = ServedRepository::begin();
    served.agentic(&["spawn", "alice", "-m", "x"]);
    let browser = served.visit();
    browser.wait_for("#live", "live").expect("the page listens");
    let mut server = TaskServer::begin(&served);
    let task = server.ask_human("Ship it?");
    answer(&browser, "Ship it?", "yes");
    let told = server.completed(&task);
    assert_eq!((&told["value"], &told["principal"]), (&json!("yes"), &json!("user:ada")), "{told}");

    // Another process tells of a task as well as the one that began it.
    let task = server.ask_human("And now?");
    server.end();
    answer(&browser, "And now?", "no");
    let mut server = TaskServer::begin(&served);
    let told = server.completed(&task);
    assert_eq!((&told["value"], &told["action"]), (&json!("no"), &json!("respond")), "{told}");
    server.end();
    is_silent(&browser, "the inbox and the holds");
}
