// The scenarios of the official suite that ask for nothing but the protocol. The suite speaks HTTP:
// a forwarder carries its messages to the server's standard streams.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

import { BIN, check, place, playScenarios, runCases } from "./place.mjs";

/** Carries messages between HTTP and a server of its own for each session. */
function forwarder(where) {
  const sessions = new Map();
  const begin = () => {
    const child = spawn(BIN, ["mcp", "--agent", "alice"], { cwd: where.repo, env: where.env });
    const waiting = new Map();
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(line);
      waiting.delete(message.id);
    });
    return { child, waiting };
  };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    let body = "";
    for await (const part of request) body += part;
    const message = JSON.parse(body);
    let id = request.headers["mcp-session-id"];
    if (message.method === "initialize") {
      id = String(sessions.size + 1);
      sessions.set(id, begin());
    }
    const session = sessions.get(id);
    if (!session) return response.writeHead(404).end();
    const head = { "content-type": "application/json", "mcp-session-id": id };
    if (message.id === undefined) {
      session.child.stdin.write(`${JSON.stringify(message)}\n`);
      return response.writeHead(202).end();
    }
    const answer = new Promise((resolve) => session.waiting.set(message.id, resolve));
    session.child.stdin.write(`${JSON.stringify(message)}\n`);
    response.writeHead(200, head).end(await answer);
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve([server, sessions])),
  );
}

check("scenarios of the official suite pass", async () => {
  const [server, sessions] = await forwarder(place());
  await playScenarios(`http://127.0.0.1:${server.address().port}/mcp`);
  for (const { child } of sessions.values()) child.stdin.end();
  server.close();
});

await runCases();
