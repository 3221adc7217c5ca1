import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../../../src/clients/watch/run-command.js'
import type { WatchMessage } from '../../../../src/clients/watch/watch-message.js'
import { whileCollecting } from '../../../support/assert/heap-probe.js'
import { Directories } from '../../../support/process/spawn.js'

const directories = new Directories()
const folder = directories.fresh('commands')
mkdirSync(folder, { recursive: true })
afterAll(() => directories.remove())

const message: WatchMessage = {
  ...{ format: 'didledger/watch/1', id: 'ab'.repeat(32), kind: 'gap', reason: 'pruned', text: '$(touch owned); `x`' },
}
const never = new AbortController().signal
let count = 0

/** A program of one script. */
function program(script: string): string {
  const path = join(folder, `program-${count++}`)
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}

const env = { PATH: process.env['PATH'], FOLDER: folder }
const run = (script: string, patience = 20_000, signal = never) =>
  runCommand(program(script), { patience, env })(message, signal)

/** Processes with a text in their environment, but this one and those that have ended. */
function runningIn(variable: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable)
    } catch {
      return false
    }
  })
}

describe('a program for messages', () => {
  it('has the message on its standard input, and its members in the environment', async () => {
    await run('cat > "$FOLDER/got"; echo "$DIDLEDGER_KIND $DIDLEDGER_ID" > "$FOLDER/named"')
    expect(JSON.parse(readFileSync(join(folder, 'got'), 'utf8'))).toEqual(message)
    expect(readFileSync(join(folder, 'named'), 'utf8')).toBe(`gap ${message.id}\n`)
  })

  it('takes a message by exit code 0 alone, and its words are one line', async () => {
    await run('exit 0')
    await expect(run('echo "first\nsecond" >&2; exit 3')).rejects.toThrow(/ended with 3: first.*second.*$/)
    await expect(run('kill -9 $$')).rejects.toThrow('ended with SIGKILL')
    await expect(runCommand(join(folder, 'none'), { env })(message, never)).rejects.toThrow('ENOENT')
  })

  it('may write without end, of which little is kept', async () => {
    const failed = run('head -c 20000000 /dev/zero | tr "\\0" x >&2; exit 1')
    await expect(failed).rejects.toSatisfy((error: Error) => error.message.length < 600)
  })

  it('ends at its patience with all that it started, and at a stop', async () => {
    // A signal that only the command holds would be collected, and never abort.
    const hanging = whileCollecting(() => run('sleep 600 & sleep 600', 300))
    await expect(hanging).rejects.toThrow('took longer than 0.3 s')
    const stop = new AbortController()
    const running = run('sleep 30', 60_000, stop.signal)
    setTimeout(() => stop.abort(), 50)
    await expect(running).rejects.toThrow()
    await expect.poll(() => runningIn(`FOLDER=${folder}`)).toEqual([])
  })

  it('has ended with all that it started when its end is told, though it refuses to end', async () => {
    const pids = join(folder, 'pids')
    const deaf = 'trap "" TERM; echo $$ >> ${FOLDER}/pids; while :; do sleep 1; done'
    const script = `(${deaf}) & (${deaf.replace('trap "" TERM; ', '')}) & sleep 60`
    for (const stopped of [false, true]) {
      writeFileSync(pids, '')
      const stop = new AbortController()
      const running = run(script, stopped ? 60_000 : 500, stop.signal)
      const refused = expect(running).rejects.toThrow('took longer')
      await expect.poll(() => readFileSync(pids, 'utf8').split('\n').length).toBeGreaterThan(2)
      if (stopped) stop.abort()
      await refused
      // A process that was killed takes a moment to go.
      await expect.poll(() => runningIn(`FOLDER=${folder}`), { timeout: 500 }).toEqual([])
    }
  })
})
