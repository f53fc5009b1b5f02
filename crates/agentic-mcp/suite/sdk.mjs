// The earlier official client in JavaScript, which speaks the earlier revisions.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

import { BIN, check, place, runCases, served } from "./place.mjs";

async function connected(where, flags, capabilities, use) {
  const client = new Client({ name: "sdk", version: "1" }, { capabilities });
  const server = { command: BIN, args: ["mcp", ...flags], cwd: where.repo, env: where.env };
  await client.connect(new StdioClientTransport(server));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

check("tools are listed and answer by their schemas", async () => {
  await connected(place(), ["--agent", "alice"], {}, async (client) => {
    const { tools } = await client.listTools();
    assert.ok(tools.every((tool) => tool.outputSchema.type === "object"));
    const call = (name, args) => client.callTool({ name, arguments: args });
    await call("trace_add", { text: "looked" });
    const made = await call("commit", { message: "Add a", files: { a: "text" }, trace: true });
    assert.ok(made.structuredContent.trace);
    for (const [name, args] of [
      ["agents", {}],
      ["agent", { agent: "alice" }],
      ["show", { id: "alice" }],
      ["trace", { id: "alice" }],
      ["session_start", { flow: "6 * 7" }],
      ["sessions", {}],
      ["pending", {}],
      ["relations", {}],
    ]) {
      const done = await call(name, args);
      assert.equal(done.isError ?? false, false, name);
    }
    assert.equal((await call("log", { agent: "nobody" })).isError, true);
  });
});

check("a subscriber hears of what another process writes", async () => {
  const where = place();
  await connected(where, [], {}, async (client) => {
    const heard = new Promise((resolve) =>
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
        resolve(params.uri),
      ),
    );
    await client.subscribeResource({ uri: "agent://alice" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    where.run("commit", "--agent", "alice", "-m", "x", "--allow-empty");
    assert.equal(await heard, "agent://alice");
    await client.unsubscribeResource({ uri: "agent://alice" });
  });
});

check("a person at the client decides by the form that it shows", async () => {
  const where = place();
  const request = await connected(where, ["--agent", "alice"], {}, async (client) => {
    const held = await client.callTool({ name: "ask_human", arguments: { question: "Ship it?" } });
    return held.structuredContent.request;
  });
  await connected(where, ["--allow-decide"], { elicitation: { form: {} } }, async (client) => {
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "decline" }));
    const done = await client.callTool({ name: "decide", arguments: { request } });
    assert.equal(done.structuredContent.action, "reject", JSON.stringify(done));
  });
});

check("a person at the client is sent to the page of a hold", async () => {
  const where = place();
  const { server } = await served(where);
  await connected(where, ["--agent", "alice"], { elicitation: { url: {} } }, async (client) => {
    const opened = [];
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      opened.push(params);
      return { action: "accept" };
    });
    const done = await client.callTool({ name: "ask_human", arguments: { question: "Ship it?" } });
    const { state, page } = done.structuredContent;
    assert.equal(state, "held", JSON.stringify(done));
    assert.deepEqual(opened.map(({ mode, url }) => [mode, url]), [["url", page]]);
  });
  server.kill();
});

await runCases();
