// A repository of somebody with an agent, for clients in JavaScript.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  return { repo, env, run };
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
