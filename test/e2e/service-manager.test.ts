import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { eventually } from '../support/process/patience.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'

/** A node as a service of systemd; a program of the name systemd-notify writes down what it is told. */

const directories = new Directories()
afterAll(() => directories.remove())

it(
  'says when it serves, gives signs of life while its event loop turns, and says that it stops',
  { timeout: 600_000 },
  async () => {
    const programs = directories.fresh('bin')
    const told = join(programs, 'told')
    mkdirSync(programs)
    writeFileSync(join(programs, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${told}'\n`)
    chmodSync(join(programs, 'systemd-notify'), 0o755)
    const env = {
      PATH: `${programs}:${process.env['PATH']}`,
      NOTIFY_SOCKET: '/run/test/notify',
      WATCHDOG_USEC: '200000',
      WATCHDOG_PID: '1',
    }
    const lines = () => (existsSync(told) ? readFileSync(told, 'utf8').trimEnd().split('\n') : [])
    const signs = () => lines().filter((line) => line.includes('WATCHDOG=1')).length

    const node = await NodeProcess.startWith({ env }, 'devnet', '--data-dir', directories.fresh())
    await eventually('signs of life', () => signs() > 3)
    const first = '/run/test/notify READY=1 WATCHDOG=1 STATUS=height 0, 0 transactions waiting'
    expect(lines()[0]).toBe(first)
    await node.client.rpc('dev_mine', { blocks: 2 })
    await eventually('the height in the status', () => lines().at(-1)?.includes('STATUS=height 2') === true)

    expect((await node.stop()).code).toBe(0)
    expect(lines().at(-1)).toBe('/run/test/notify STOPPING=1 STATUS=stopping')
  },
)
