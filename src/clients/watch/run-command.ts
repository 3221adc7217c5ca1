import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../base/errors/rule-error.js'
import { oneLine } from '../../base/runtime/visible-text.js'
import type { Deliver } from './delivery.js'
import type { WatchMessage } from './watch-message.js'

/** @tuning ms: time of a command for one message, unless an option says otherwise */
export const commandPatience = 60_000
/** Milliseconds between asking a command to end and ending it. */
const grace = 2_000
/** Milliseconds between two looks whether it has ended. */
const groupLook = 50
/** @tuning bytes: what a command writes to its standard error, for the log */
const keptError = 2048

export interface CommandOptions {
  /** Milliseconds for one message. */
  readonly patience?: number
  /** Environment of the program, beside the members of the message. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Runs a program for each message: no shell, no arguments; the message on its standard input as JSON, and its main members in the
 * environment. Exit code 0 takes the message.
 */
export function runCommand(program: string, { patience = commandPatience, env }: CommandOptions): Deliver {
  return async (message, signal) => {
    // A group of its own: what the program starts ends with it.
    const child = spawn(program, [], {
      ...{ shell: false, detached: true, stdio: ['pipe', 'ignore', 'pipe'] },
      env: { ...env, ...variablesOf(message) },
    })
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, keptError)))
    // A program need not read what it is told.
    child.stdin?.on('error', () => {})
    child.stdin?.end(`${JSON.stringify(message)}\n`)
    let ended: Promise<void> | undefined
    const end = () => void (ended ??= endGroup(child))
    // Not AbortSignal.any: a combined signal can be collected before its time, and never aborts then.
    const timer = setTimeout(end, patience)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      const [code, killed] = (await once(child, 'exit')) as [number | null, string | null]
      // What it started may live on when it has gone.
      await ended
      if (ended !== undefined) throw new UserError(`${program} took longer than ${patience / 1000} s`)
      if (code !== 0) throw new UserError(`${program} ended with ${code ?? killed}: ${oneLine(said).slice(0, 300)}`)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      child.stderr?.destroy()
    }
  }
}

/** Asks the group of a program to end, and ends what is left of it after some time. */
async function endGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM')
  for (let waited = 0; waited < grace && signalGroup(child, 0); waited += groupLook) await sleep(groupLook)
  signalGroup(child, 'SIGKILL')
}

/** Returns false where the group has ended. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** No text of others becomes part of a command: a program reads its environment itself. */
function variablesOf(message: WatchMessage): Readonly<Record<string, string>> {
  const common = { DIDLEDGER_ID: message.id, DIDLEDGER_KIND: message.kind }
  if (message.kind === 'gap') return common
  const { action, did, operation, change, txid, height } = message
  return {
    ...common,
    ...{ DIDLEDGER_ACTION: action, DIDLEDGER_DID: did, DIDLEDGER_OPERATION: operation, DIDLEDGER_CHANGE: change },
    ...{ DIDLEDGER_TXID: txid, DIDLEDGER_HEIGHT: String(height) },
  }
}
