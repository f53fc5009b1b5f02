// Written by `agentic init`; `agentic capture off` takes it away.
// It tells `agentic hook opencode` what happens here. It never stands in the way, unless it gates.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const GATES: boolean = false
const CAPTURE_MS = 10_000
const GATE_MS = 600_000

type Ended = { code: number | null; out: string; err: string }

function hook(payload: Record<string, unknown>, args: string[], ms: number): Promise<Ended> {
  return new Promise((resolve) => {
    const ended: Ended = { code: null, out: "", err: "" }
    try {
      const child = spawn(PROGRAM, ["hook", "opencode", ...args], { timeout: ms })
      child.stdout.on("data", (part) => (ended.out += part))
      child.stderr.on("data", (part) => (ended.err += part))
      child.on("error", () => resolve(ended))
      child.on("close", (code) => resolve({ ...ended, code }))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve(ended)
    }
  })
}

export const AgenticPlugin = async ({ directory, worktree }: { directory: string; worktree: string }) => {
  const told = (event: string, session: unknown, rest: Record<string, unknown>) => ({
    v: 1,
    event,
    session,
    directory,
    worktree,
    ...rest,
  })
  const tell = (event: string, session: unknown, rest: Record<string, unknown> = {}) =>
    hook(told(event, session, rest), [], CAPTURE_MS)
  // What cannot be checked is stopped.
  const ask = async (event: string, session: unknown, rest: Record<string, unknown>) => {
    const ended = await hook(told(event, session, rest), ["--gate"], GATE_MS)
    if (ended.code !== 0) return { block: ended.err.trim() || "agentic could not check this call", status: "deny" }
    if (ended.out.trim() === "") return {}
    try {
      return JSON.parse(ended.out)
    } catch {
      return { block: "agentic gave no answer", status: "deny" }
    }
  }
  return {
    event: async ({ event }: any) => {
      const known = ["session.created", "session.idle", "session.error", "session.compacted", "session.deleted"]
      if (!known.includes(event?.type)) return
      const properties = event.properties ?? {}
      await tell(event.type, properties.sessionID ?? properties.info?.id, { properties })
    },
    "chat.message": async (input: any, output: any) => {
      await tell("chat.message", input?.sessionID, { message: output?.message, parts: output?.parts })
    },
    "tool.execute.before": async (input: any, output: any) => {
      const call = { tool: input?.tool, call: input?.callID, args: output?.args }
      await tell("tool.execute.before", input?.sessionID, call)
      if (!GATES) return
      const answer = await ask("tool.execute.before", input?.sessionID, call)
      if (answer.block) throw new Error(answer.block)
    },
    "tool.execute.after": async (input: any, output: any) => {
      await tell("tool.execute.after", input?.sessionID, { tool: input?.tool, call: input?.callID, output })
    },
    "permission.ask": async (input: any, output: any) => {
      if (!GATES) {
        await tell("permission.ask", input?.sessionID, { permission: input })
        return
      }
      const answer = await ask("permission.ask", input?.sessionID, { permission: input })
      if (answer.status) output.status = answer.status
    },
  }
}
