import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  deliverMessage,
  type DeliveryFailure,
  NotTakenYet,
  ReceiverGone,
} from '../../../../src/clients/watch/delivery.js'
import type { WatchMessage } from '../../../../src/clients/watch/watch-message.js'
import { Directories } from '../../../support/process/spawn.js'

const directories = new Directories()
afterAll(() => directories.remove())
const message: WatchMessage = {
  ...{ format: 'didledger/watch/1', id: 'ab'.repeat(32), kind: 'gap', reason: 'pruned', text: 'ask' },
}
const never = new AbortController().signal
const refuse = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }))

function folder(): string {
  const path = directories.fresh('letters')
  mkdirSync(path, { recursive: true })
  return path
}

describe('a message', () => {
  it('is tried again until it is taken, and each failure has its cause', async () => {
    const failures: DeliveryFailure[] = []
    let tries = 0
    const deliver = () => (++tries < 2 ? refuse() : Promise.resolve())
    const onFailure = (failure: DeliveryFailure) => void failures.push(failure)
    expect(await deliverMessage(message, { deliver, signal: never, onFailure })).toBe(true)
    expect(tries).toBe(2)
    const first = { id: message.id, attempt: 1, reason: 'fetch failed: ECONNRESET', givenUp: false }
    expect(failures).toEqual([first])
  })

  it('is tried again no sooner than its receiver says', async () => {
    const began = performance.now()
    let tries = 0
    const deliver = () => (++tries < 2 ? Promise.reject(new NotTakenYet('answers 429', 1500)) : Promise.resolve())
    expect(await deliverMessage(message, { deliver, signal: never })).toBe(true)
    // Without that word it takes a second at most.
    expect(performance.now() - began).toBeGreaterThanOrEqual(1490)
  })

  it('stays for another receiver where this one takes none any more: it is tried once, and is no dead letter', async () => {
    const deadLetters = join(folder(), 'dead.jsonl')
    let tries = 0
    const deliver = () => (tries++, Promise.reject(new ReceiverGone('answers 410')))
    const given = deliverMessage(message, { deliver, signal: never, giveUpAfter: 0, deadLetters })
    await expect(given).rejects.toThrow('answers 410')
    expect([tries, existsSync(deadLetters)]).toEqual([1, false])
  })

  it('is given up where its receiver names a time beyond that in which it is tried', async () => {
    const failures: DeliveryFailure[] = []
    const deliver = () => Promise.reject(new NotTakenYet('answers 503', 3_600_000))
    const onFailure = (failure: DeliveryFailure) => void failures.push(failure)
    await deliverMessage(message, { deliver, signal: never, giveUpAfter: 60_000, onFailure })
    expect(failures).toMatchObject([{ attempt: 1, givenUp: true }])
  })

  it('that is given up is a line of the dead letters, which only their owner may read, before it counts as done', async () => {
    const deadLetters = join(folder(), 'dead.jsonl')
    for (let i = 0; i < 2; i++) {
      expect(await deliverMessage(message, { deliver: refuse, signal: never, giveUpAfter: 0, deadLetters })).toBe(true)
    }
    const lines = readFileSync(deadLetters, 'utf8').trimEnd().split('\n')
    const line = { reason: 'fetch failed: ECONNRESET', attempts: 1, message }
    expect(lines.map((one) => JSON.parse(one) as object)).toEqual([line, line])
    expect(statSync(deadLetters).mode & 0o777).toBe(0o600)
  })

  it('is not lost where the dead letters cannot be written: the watch ends, and tells it again', async () => {
    for (const deadLetters of [folder(), join(folder(), 'none', 'dead.jsonl'), '/dev/full']) {
      const given = deliverMessage(message, { deliver: refuse, signal: never, giveUpAfter: 0, deadLetters })
      await expect(given, deadLetters).rejects.toThrow('the dead letters cannot be written')
    }
  })

  it('is not taken where the delivery was stopped, at once or between two attempts', async () => {
    const stop = new AbortController()
    const onFailure = () => stop.abort()
    expect(await deliverMessage(message, { deliver: refuse, signal: stop.signal, onFailure })).toBe(false)
    expect(await deliverMessage(message, { deliver: () => Promise.resolve(), signal: stop.signal })).toBe(false)
  })
})
