import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventData } from '../../../../src/base/primitives/chain-event.js'
import { type Notifier, ToldChanges } from '../../../../src/explorer/ask/told-changes.js'

const did = 'did:ledger:ada'
const changed: EventData = {
  ...{ topic: 'did', action: 'apply', did, operation: 'update', txid: 'aa', height: 7, blockhash: 'bb' },
}

/** A browser that shows what it is told, and answers as it is set. */
class Browser {
  readonly shown: { title: string; body: string; tag: string }[] = []
  readonly listeners = new Set<(event: EventData) => void>()
  asked = 0
  readonly notifier: Notifier

  constructor(answer: 'granted' | 'denied' | 'default', permission: 'default' | 'granted' | 'denied' = 'default') {
    const { shown } = this
    const ask = async () => {
      this.asked++
      return answer
    }
    this.notifier = class {
      static readonly permission = permission
      static readonly requestPermission = ask

      constructor(title: string, options: { body: string; tag: string }) {
        shown.push({ title, ...options })
      }
    }
  }

  tellings(proves: () => Promise<boolean>): ToldChanges {
    const listen = (listener: (event: EventData) => void) => {
      this.listeners.add(listener)
      return () => this.listeners.delete(listener)
    }
    return new ToldChanges({ did, notifier: this.notifier, listen, proves })
  }

  async say(event: EventData): Promise<void> {
    for (const listener of this.listeners) listener(event)
    await new Promise(setImmediate)
  }
}

describe('notifications of a page', () => {
  let proves: ReturnType<typeof vi.fn<() => Promise<boolean>>>
  beforeEach(() => {
    proves = vi.fn(() => Promise.resolve(true))
  })

  it('are off until they are asked for, and say whether a change is proved', async () => {
    const browser = new Browser('granted')
    const told = browser.tellings(proves)
    await browser.say(changed)
    expect([browser.asked, browser.shown]).toEqual([0, []])
    expect(await told.begin()).toBe('on')
    await browser.say(changed)
    expect(browser.shown[0]?.body).toContain('update in block 7. Proved by your browser.')
    proves.mockRejectedValue(new Error('no proof'))
    await browser.say({ ...changed, txid: 'cc' })
    expect(browser.shown[1]).toMatchObject({
      body: expect.stringContaining('without a proof') as string,
      tag: 'apply cc',
    })
    await browser.say({ ...changed, action: 'revert' })
    expect(browser.shown[2]?.body).toContain('left the chain with block 7. The node says so, without a proof.')
  })

  it('are of this DID alone, and end', async () => {
    const browser = new Browser('granted', 'granted')
    const told = browser.tellings(proves)
    await told.begin()
    expect(browser.asked).toBe(0)
    await browser.say({ ...changed, did: 'did:ledger:bob' })
    told.end()
    await browser.say(changed)
    expect(browser.shown).toEqual([])
    expect(browser.listeners.size).toBe(0)
  })

  it('do not begin where the browser refuses, or has none', async () => {
    for (const answer of ['denied', 'default'] as const) {
      const browser = new Browser(answer)
      expect(await browser.tellings(proves).begin()).toBe('denied')
      expect(browser.listeners.size).toBe(0)
    }
    const none = new ToldChanges({ did, notifier: undefined, listen: () => () => {}, proves })
    expect(await none.begin()).toBe('missing')
  })
})
