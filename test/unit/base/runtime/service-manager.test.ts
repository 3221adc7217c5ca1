import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, describe, it } from 'vitest'
import type { Log } from '../../../../src/base/runtime/env.js'
import { type RunProgram, ServiceManager } from '../../../../src/base/runtime/service-manager.js'
import { ManualTimers } from '../../../support/fakes/manual-timers.js'

const socket = '/run/systemd/notify'

function managerOf(
  env: Record<string, string> = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '60000000' },
  run?: RunProgram,
) {
  const sent: string[][] = []
  const warnings: string[] = []
  const nothing = () => {}
  const log: Log = { debug: nothing, info: nothing, warn: (_, message) => warnings.push(message), error: nothing }
  const timers = new ManualTimers()
  const record: RunProgram = async (program, args) => {
    expect(program).toBe('systemd-notify')
    sent.push([...args])
    await run?.(program, args)
  }
  const manager = ServiceManager.of({ env, timers, log, run: record })
  const state = { isHealthy: true, text: 'height 3' }
  const service = { healthy: () => state.isHealthy, status: () => state.text }
  return { manager, sent, warnings, timers, state, service }
}

describe('the manager of a service', () => {
  it('is there where systemd names its socket', () => {
    expect(managerOf({}).manager).toBeUndefined()
    expect(managerOf({ NOTIFY_SOCKET: '' }).manager).toBeUndefined()
    expect(managerOf({ NOTIFY_SOCKET: socket }).manager).toBeDefined()
  })

  it('is told when the service serves and when it ends', async () => {
    const { manager, sent, service, timers } = managerOf()
    manager?.ready(service)
    await nextTurn()
    await manager?.stopping()
    expect(sent).toEqual([
      ['READY=1', 'WATCHDOG=1', 'STATUS=height 3'],
      ['STOPPING=1', 'STATUS=stopping'],
    ])
    expect(timers.pending).toEqual([])
  })

  it('gets a sign of life at half of the time of the watchdog', async () => {
    const { manager, sent, service, timers, state } = managerOf()
    manager?.ready(service)
    await nextTurn()
    for (const text of ['height 4', 'height 5']) {
      expect(timers.pending).toEqual([30_000])
      state.text = text
      timers.fire()
      await nextTurn()
    }
    expect(sent.slice(1)).toEqual([
      ['WATCHDOG=1', 'STATUS=height 4'],
      ['WATCHDOG=1', 'STATUS=height 5'],
    ])
  })

  it('gets none of a service that has failed', async () => {
    const { manager, sent, service, timers, state } = managerOf()
    manager?.ready(service)
    await nextTurn()
    state.isHealthy = false
    timers.fire()
    await nextTurn()
    expect(sent.at(-1)).toEqual(['STATUS=failed'])
    expect(timers.pending).toEqual([30_000])
  })

  it.each(['', '0', '-1', '1e9', '30s', '99999999999999999'])('has no watchdog of %j microseconds', async (text) => {
    const { manager, sent, service, timers } = managerOf({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: text })
    manager?.ready(service)
    await nextTurn()
    expect(sent).toEqual([['READY=1', 'STATUS=height 3']])
    expect(timers.pending).toEqual([30_000])
  })

  it('gets one line, whatever is in it', async () => {
    const { manager, sent, service, state } = managerOf()
    state.text = `a\nMAINPID=1\0\u001b[2J${'x'.repeat(500)}`
    manager?.ready(service)
    await nextTurn()
    const status = sent[0]?.at(-1) as string
    expect(status).toMatch(/^STATUS=a MAINPID=1 \[2Jx+$/)
    expect(status.length).toBe('STATUS='.length + 200)
  })

  it('is sent one message at a time, and what waited as one', async () => {
    let go = () => {}
    const { manager, sent, service, timers } = managerOf(undefined, () => new Promise((resolve) => (go = resolve)))
    manager?.ready(service)
    for (let i = 0; i < 5; i++) timers.fire()
    await nextTurn()
    expect(sent).toHaveLength(1)
    go()
    await nextTurn()
    expect(sent.slice(1)).toEqual([['WATCHDOG=1', 'STATUS=height 3']])
    go()
    await nextTurn()
    expect(sent).toHaveLength(2)
  })

  it('is not told again without the program, and a failure is said in words', async () => {
    const missing = Object.assign(new Error('spawn systemd-notify ENOENT'), { code: 'ENOENT' })
    const without = managerOf(undefined, () => Promise.reject(missing))
    without.manager?.ready(without.service)
    await nextTurn()
    without.timers.fire()
    await without.manager?.stopping()
    expect(without.sent).toHaveLength(1)
    expect(without.warnings).toEqual([expect.stringContaining('install it, or use Type=exec')])

    const refused = managerOf(undefined, () => Promise.reject(new Error('exit code 1')))
    refused.manager?.ready(refused.service)
    await nextTurn()
    refused.timers.fire()
    await nextTurn()
    expect(refused.sent).toHaveLength(2)
    expect(refused.warnings[0]).toContain('NotifyAccess=all')
  })
})
