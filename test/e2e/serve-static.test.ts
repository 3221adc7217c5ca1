import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandProcess, Directories, run } from '../support/process/spawn.js'

/** `didledger serve-static` as a process. */

const directories = new Directories()
const folder = directories.fresh()
const file = directories.fresh('file')
afterAll(() => directories.remove())
beforeAll(() => {
  mkdirSync(join(folder, 'map/00'), { recursive: true })
  writeFileSync(join(folder, 'head'), '{}')
  writeFileSync(file, '')
})

describe('didledger serve-static', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('prints its URL, serves, and ends with %s', async (signal) => {
    const command = new CommandProcess(['serve-static', folder, '--port', '0', '--json'])
    const { listens } = JSON.parse((await command.firstLine()) ?? 'null') as { listens: string[] }
    expect(listens).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/)])
    const answer = await fetch(`${listens[0]}head`)
    expect([answer.status, await answer.text(), answer.headers.get('content-type')]).toEqual([
      ...[200, '{}', 'application/json'],
    ])
    // A connection that stays open does not keep it from its end.
    command.kill(signal)
    expect(await command.finished).toMatchObject({ code: 0, signal: null, err: '' })
  })

  it('prints a line for people', async () => {
    const command = new CommandProcess(['serve-static', folder, '--port', '0'])
    expect(await command.firstLine()).toMatch(/^Mirror http:\/\/127\.0\.0\.1:\d+\/$/)
    command.kill('SIGTERM')
    expect((await command.finished).code).toBe(0)
  })

  it('is refused with what is wrong', async () => {
    const first = new CommandProcess(['serve-static', folder, '--port', '0', '--json'])
    const { listens } = JSON.parse((await first.firstLine()) ?? 'null') as { listens: string[] }
    const { port } = new URL(listens[0] as string)
    for (const [args, code, text] of [
      [[], 2, '<directory> is missing'],
      [[folder, 'more'], 2, 'serve-static takes 1 argument, not 2'],
      [[folder, '--port', port], 1, `port ${port} of 127.0.0.1 is in use; stop what listens there, or use --port N`],
      [[folder, '--port', '70000'], 2, 'Not a port'],
      [[folder, '--port', 'x'], 2, 'Not a port'],
      [[folder, '--host', '192.0.2.1'], 1, '192.0.2.1'],
      [[folder, '--host', 'no.such.host.invalid'], 1, 'cannot be resolved'],
      [[join(folder, 'none'), '--port', '0'], 1, 'there is no folder'],
      [[file, '--port', '0'], 1, 'is a file; name the folder of a mirror'],
      [[join(file, 'x'), '--port', '0'], 1, 'cannot be read'],
      [['', '--port', '0'], 2, 'directory : It is empty'],
      [['s3://bucket/x', '--port', '0'], 1, 'there is no folder s3://bucket/x'],
      [[folder, '--cors'], 2, 'unknown option'],
    ] as const) {
      const finished = await run('serve-static', ...args)
      expect([args, finished.code, finished.out]).toEqual([args, code, ''])
      expect(finished.err).toContain(text)
    }
    first.kill('SIGTERM')
    await first.finished
  })
})
