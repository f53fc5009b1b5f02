// The official clients in JavaScript, the inspector and the official scenarios, over HTTP.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer, request as ask } from "node:http";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { check, place, playScenarios, runCases, served } from "./place.mjs";

const withToken = (token) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } });

async function exercise(client) {
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "commit"));
  const call = (name, args) => client.callTool({ name, arguments: args });
  const made = await call("commit", { message: "Add a", files: { a: "text" } });
  assert.equal(made.structuredContent.agent, "alice");
  const done = await call("session_start", { flow: "6 * 7" });
  assert.equal(done.structuredContent.result, 42, JSON.stringify(done.structuredContent));
  assert.equal((await call("agent", { agent: "nobody" })).isError, true);
  const brief = await client.readResource({ uri: "agent://alice/briefing" });
  assert.equal(brief.contents[0].text, "Do the work of alice");
  const prompt = await client.getPrompt({ name: "brief", arguments: { agent: "alice" } });
  assert.match(prompt.messages[0].content.text, /Do the work of alice/);
}

check("the newest client speaks the newest revision over HTTP", async () => {
  const { url, token, server } = await served(place(), "--agent", "alice");
  const client = new Client({ name: "web", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), withToken(token)));
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  await exercise(client);
  await client.close();
  server.kill();
});

check("the earlier client speaks an earlier revision over HTTP", async () => {
  const { url, token, server } = await served(place(), "--agent", "alice");
  const client = new EarlierClient({ name: "web", version: "1" });
  await client.connect(new EarlierTransport(new URL(url), withToken(token)));
  await exercise(client);
  await client.close();
  server.kill();
});

check("the inspector lists tools and calls them over HTTP", async () => {
  const where = place();
  const { url, token, server } = await served(where, "--agent", "alice");
  const launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  const inspect = (...words) => {
    const header = ["--header", `Authorization: Bearer ${token}`];
    const given = [launcher, "--cli", url, "--transport", "http", ...header, ...words];
    const env = { ...where.env, PATH: process.env.PATH };
    return JSON.parse(execFileSync(process.execPath, given, { env, encoding: "utf8" }));
  };
  const { tools } = inspect("--method", "tools/list");
  assert.ok(tools.some((tool) => tool.name === "ask_human"));
  const done = inspect("--method", "tools/call", "--tool-name", "agent", "--tool-arg", "agent=alice");
  assert.equal(done.structuredContent.agent, "alice");
  server.kill();
});

/** Adds the token, and says whom a request is for; other hosts and origins stay as they are. */
function forwarder({ host, token }) {
  const server = createServer((incoming, outgoing) => {
    const own = incoming.socket.localPort;
    const ours = (text) => text?.replace(new RegExp(`(localhost|127\\.0\\.0\\.1):${own}$`), host);
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    headers.host = ours(headers.host);
    if (headers.origin) headers.origin = ours(headers.origin);
    const [name, port] = host.split(":");
    const options = { host: name, port, method: incoming.method, path: incoming.url, headers };
    const sent = ask(options, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on("error", () => outgoing.destroy());
    incoming.pipe(sent);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

check("scenarios of the official suite pass over HTTP", async () => {
  const found = await served(place(), "--agent", "alice");
  const forward = await forwarder(found);
  await playScenarios(`http://127.0.0.1:${forward.address().port}/mcp`);
  forward.close();
  found.server.kill();
});

await runCases();
