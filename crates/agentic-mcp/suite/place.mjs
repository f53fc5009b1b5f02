// A repository of somebody with an agent, for clients in JavaScript.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const BIN = process.env.AGENTIC_BIN;

/** Makes a repository in a temporary folder. */
export function place() {
  const path = mkdtempSync(join(tmpdir(), "mcp-"));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  const env = { PATH: process.env.PATH, HOME: path, GIT_CONFIG_NOSYSTEM: "1" };
  const repo = join(path, "repo");
  const git = (...words) => execFileSync("git", words, { cwd: path, env });
  git("init", "-q", "repo");
  git("-C", "repo", "config", "user.name", "Ada");
  git("-C", "repo", "config", "user.email", "ada@example.com");
  git("-C", "repo", "commit", "-q", "--allow-empty", "-m", "Begin");
  const run = (...words) => {
    const told = execFileSync(BIN, ["--json", ...words], { cwd: repo, env, encoding: "utf8" });
    return told.trim() === "" ? null : JSON.parse(told);
  };
  run("spawn", "alice", "-m", "Do the work of alice");
  const command = (...words) => execFileSync(BIN, words, { cwd: repo, env, encoding: "utf8" }).trim();
  return { repo, env, run, command };
}

/** Serves a repository, and makes a token of an agent. */
export async function served(where, ...flags) {
  const server = spawn(BIN, ["serve", "--mcp"], { cwd: where.repo, env: where.env, stdio: "ignore" });
  process.on("exit", () => server.kill());
  for (let n = 0; n < 600; n += 1) {
    try {
      const { url } = JSON.parse(where.command("serve", "status", "--json"));
      const port = url.split(":").at(-1);
      const token = where.command("serve", "token", "suite", ...flags);
      return { url: `http://127.0.0.1:${port}/mcp`, host: `127.0.0.1:${port}`, token, server };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error("nothing is served");
}

const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list"];

/** Plays the scenarios of the official suite that ask for nothing but the protocol. */
export async function playScenarios(url) {
  for (const scenario of SCENARIOS) {
    const words = [SUITE, "server", "--url", url, "--scenario", scenario];
    const { stdout } = await promisify(execFile)(process.execPath, words).catch((error) => {
      throw new Error(`${scenario}: ${error.stdout}${error.stderr}`);
    });
    assert.match(stdout, /0 failed/, `${scenario}: ${stdout}`);
  }
}

const CASES = [];

/** Adds a case; its name says what holds. */
export function check(name, test) {
  CASES.push([name, test]);
}

/** Runs all cases and says how each ended. */
export async function runCases() {
  let failed = 0;
  for (const [name, test] of CASES) {
    try {
      await test();
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error?.stack ?? error}`);
    }
  }
  process.exit(failed === 0 ? 0 : 1);
}
