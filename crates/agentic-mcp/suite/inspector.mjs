// The inspector, as a command.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { BIN, check, place, runCases } from "./place.mjs";

function inspect(where, ...words) {
  const launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  const given = [launcher, "--cli", "--cwd", where.repo, BIN, "-C", where.repo, "mcp", "--agent", "alice", ...words];
  const env = { ...where.env, PATH: process.env.PATH };
  return JSON.parse(execFileSync(process.execPath, given, { env, encoding: "utf8" }));
}

check("the inspector lists tools and calls them", async () => {
  const where = place();
  const { tools } = inspect(where, "--method", "tools/list");
  assert.ok(tools.some((tool) => tool.name === "ask_human"));
  const done = inspect(where, "--method", "tools/call", "--tool-name", "agent", "--tool-arg", "agent=alice");
  assert.equal(done.structuredContent.agent, "alice");
});

check("the inspector lists resources", async () => {
  const { resources } = inspect(place(), "--method", "resources/list");
  assert.ok(resources.some((one) => one.uri === "agent://alice"));
});

await runCases();
