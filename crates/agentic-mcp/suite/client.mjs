// The official client in JavaScript, which chooses the revision by itself.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { BIN, check, place, runCases, served } from "./place.mjs";

async function connected(where, flags, options, use) {
  const client = new Client(
    { name: "client", version: "1" },
    { versionNegotiation: { mode: "auto" }, ...options },
  );
  options.prepare?.(client);
  const server = { command: BIN, args: ["mcp", ...flags], cwd: where.repo, env: where.env };
  await client.connect(new StdioClientTransport(server));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

check("the newest revision is chosen, and tools answer by their schemas", async () => {
  await connected(place(), ["--agent", "alice"], {}, async (client) => {
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    const { tools } = await client.listTools();
    assert.equal(tools[0].name, "agents");
    const call = (name, args) => client.callTool({ name, arguments: args });
    const made = await call("commit", { message: "Add a", files: { a: "text" } });
    assert.equal(made.structuredContent.agent, "alice");
    const log = await call("log", {});
    assert.equal(log.structuredContent.items.length, 2);
    const refused = await call("agent", { agent: "nobody" });
    assert.equal(refused.isError, true);
    assert.equal(refused.structuredContent.error.kind, "refused");
    const brief = await client.readResource({ uri: "agent://alice/briefing" });
    assert.equal(brief.contents[0].text, "Do the work of alice");
    await assert.rejects(call("nothing", {}), { code: -32602 });
  });
});

check("a person at the client decides by the form that it shows", async () => {
  const where = place();
  const request = await connected(where, ["--agent", "alice"], {}, async (client) => {
    const held = await client.callTool({
      name: "session_start",
      arguments: { flow: 'hold("Deploy?").value' },
    });
    return held.structuredContent.pending[0];
  });
  const shown = [];
  const replies = [
    { action: "cancel" },
    { action: "accept", content: { action: "respond", value: "41", reason: "Because" } },
  ];
  const options = {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        shown.push(params.message);
        return replies.shift();
      }),
  };
  await connected(where, ["--allow-decide"], options, async (client) => {
    const decide = () => client.callTool({ name: "decide", arguments: { request } });
    assert.equal((await decide()).isError, true);
    const done = await decide();
    assert.equal(done.isError ?? false, false, JSON.stringify(done));
    assert.equal(done.structuredContent.action, "respond");
  });
  assert.equal(shown.length, 2);
  assert.match(shown[0], /alice asks: Deploy\?/);
  const session = where.run("session", "show", request.split(".")[0]);
  assert.equal(session.result, 41);
});

check("a person at the client is sent to the page of a hold", async () => {
  const where = place();
  const { server } = await served(where);
  const opened = [];
  const options = {
    capabilities: { elicitation: { url: {} } },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        opened.push(params);
        return { action: "accept" };
      }),
  };
  await connected(where, ["--agent", "alice"], options, async (client) => {
    const done = await client.callTool({ name: "ask_human", arguments: { question: "Ship it?" } });
    const { request, state, page } = done.structuredContent;
    assert.equal(state, "held", JSON.stringify(done));
    assert.deepEqual(opened.map(({ mode, url }) => [mode, url]), [["url", page]]);
    assert.ok(page.endsWith(`/holds/${request}`), page);
  });
  assert.equal(where.run("pending").length, 1);
  server.kill();
});

await runCases();
