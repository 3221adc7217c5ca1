import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { watchDids } from '../../../../src/clients/watch/watch-dids.js'
import type { WatchNotice } from '../../../../src/clients/watch/watch-options.js'
import { devnetAccount } from '../../../../src/clients/wallet/devnet-accounts.js'
import type { ProvingResolver } from '../../../../src/clients/watch/proved-changes.js'
import type { WatchMessage } from '../../../../src/clients/watch/watch-message.js'
import { emptyState, stateText } from '../../../../src/clients/watch/watch-state.js'
import { LightError } from '../../../../src/clients/light/light-error.js'
import { lightOver, lightWorld } from '../../../support/builders/light-world.js'

/** A watch over nodes that refuse, fail and lie about why; real sockets. */

const { did } = devnetAccount(0)
const { resolve } = {
  resolve: async () => ({ did, status: 3, proved: { height: 1, hash: 'ab', time: 1, age: 0, servers: [] } }),
}
const resolver = { resolve } as ProvingResolver

const refusal = (code: number) => ({ jsonrpc: '2.0', id: 1, error: { code, message: 'no', data: 'not for you' } })
const begin = { jsonrpc: '2.0', id: 1, result: { subscription: 1, number: 1, height: 0, hash: '00'.repeat(32) } }

/** A node that answers a subscription with these messages; how often it was asked. */
async function nodeSaying(...messages: readonly object[]) {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  const node = { url: '', asked: 0 }
  sockets.on('connection', (client) => {
    client.on('message', () => {
      node.asked++
      for (const message of messages) client.send(JSON.stringify(message))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate()
    server.close()
  })
  node.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  return node
}

/** Runs a watch until it ends, or `isDone`; what its operator was told, and the error that ended it. */
async function watched(urls: readonly string[], isDone: (notices: readonly WatchNotice[]) => boolean) {
  const notices: WatchNotice[] = []
  const ending = new AbortController()
  const onNotice = (notice: WatchNotice) => {
    notices.push(notice)
    if (isDone(notices)) ending.abort()
  }
  let ended: unknown
  try {
    for await (const _ of watchDids({ urls, resolver, dids: [did], signal: ending.signal, onNotice })) continue
  } catch (error) {
    ended = error
  }
  return { notices, ended }
}

const follows = (url: string) => (notices: readonly WatchNotice[]) =>
  notices.some(({ kind, text }) => kind === 'following' && text.includes(url))

it('goes on at another node where one refuses the question: it may be at fault, or lie', async () => {
  for (const code of [-32_000, -32_602, -32_601, -32_603]) {
    const liar = await nodeSaying(refusal(code))
    const honest = await nodeSaying(begin)
    const { notices, ended } = await watched([liar.url, honest.url], follows(honest.url))
    expect(ended, String(code)).toBeUndefined()
    expect(notices[0]).toEqual({ kind: 'lost', text: expect.stringContaining('not for you') as string })
  }
})

it('ends where every node refuses the question', async () => {
  const one = await nodeSaying(refusal(-32_602))
  const other = await nodeSaying(refusal(-32_602))
  const { ended } = await watched([one.url, other.url], () => false)
  expect(String(ended)).toContain('not for you')
  expect([one.asked, other.asked]).toEqual([1, 1])
})

it('asks a node with a fault again, after longer and longer waits, also where events begin each time', async () => {
  for (const messages of [[refusal(-32_000)], [begin, refusal(-32_000)]]) {
    const node = await nodeSaying(...messages)
    const began = performance.now()
    const lost = (notices: readonly WatchNotice[]) => notices.filter(({ kind }) => kind === 'lost').length
    const { ended, notices } = await watched([node.url], (all) => lost(all) === 4)
    expect(ended).toBeUndefined()
    expect(node.asked).toBe(4)
    expect(lost(notices)).toBe(4)
    // Three waits of 250, 500 and 1000 ms, each cut by half at most.
    expect(performance.now() - began).toBeGreaterThanOrEqual(875)
  }
})

it.each([0, -1, 0.5, NaN, Infinity, 2 ** 31])(
  'refuses to prove DIDs every %d ms: a timer of Node.js would spin',
  (ms) => {
    const options = { urls: ['ws://127.0.0.1:47'], resolver, dids: [did], checkEvery: ms }
    expect(() => watchDids(options)).toThrow(/^checkEvery: /)
  },
)

describe('the first state of a DID', () => {
  const { book, alice, versions } = lightWorld({ genesis: 'begun before a proof' })
  const proving = lightOver(book)

  /** What a watch without a state tells until there are `count` messages, or a second proof of all DIDs was asked for. */
  async function toldBy(by: ProvingResolver, height: number, count: number) {
    const node = await nodeSaying({ ...begin, result: { ...begin.result, height } })
    const ending = new AbortController()
    const told: WatchMessage[] = []
    let saved = 0
    const options = {
      ...{ urls: [node.url], resolver: by, dids: [alice.did], signal: ending.signal },
      // At the beginning, and of the first state: no more comes where all of it is only noted.
      save: () => void (++saved === 2 && count === 0 && ending.abort()),
    }
    for await (const message of watchDids(options)) if (told.push(message) === count) ending.abort()
    return told
  }

  it('is told above the height at which events began, where nothing could be proved until then', async () => {
    const { proved } = await proving.resolve(alice.did, { history: true })
    const heights = (proved.history?.entries ?? []).map(({ height }) => height)
    for (const first of [0, 1, 2]) {
      let asked = 0
      const resolve: ProvingResolver['resolve'] = async (...question) => {
        if (asked++ === 0) throw new LightError('unreachable', 'for the test')
        return proving.resolve(...question)
      }
      const told = await toldBy({ resolve }, (heights[first] as number) - 1, versions.length - first)
      expect(told).toMatchObject(versions.slice(first).map((txid) => ({ kind: 'did', txid })))
    }
  })

  it('is only noted where it was proved at once, whatever height a node names', async () => {
    expect(await toldBy(proving, 0, 0)).toEqual([])
  })
})

describe('what no answer proves', () => {
  const { book, alice, bob, versions } = lightWorld({ genesis: 'not proved' })
  const proving = lightOver(book)

  beforeEach(() => {
    const start = globalThis.setTimeout
    // Waits between attempts, which have a fraction by chance, are a thousandth.
    const short = (run: () => void, ms?: number) => start(run, Number.isInteger(ms) ? ms : (ms ?? 0) / 1000)
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(short as typeof setTimeout)
    onTestFinished(() => spy.mockRestore())
  })

  /** A resolver that lacks some answers for good, and counts the questions for them. */
  function lacking(isGone: (did: string, options: object) => boolean) {
    const counted = { asked: 0 }
    const resolve: ProvingResolver['resolve'] = async (one, options = {}) => {
      if (!isGone(one, options)) return proving.resolve(one, options)
      counted.asked++
      throw new LightError('proof-missing', 'for the test')
    }
    return { resolver: { resolve }, counted }
  }

  async function firstMessages(count: number, by: ProvingResolver, options: object, ...messages: readonly object[]) {
    const node = await nodeSaying(begin, ...messages)
    const ending = new AbortController()
    const told: WatchMessage[] = []
    const { signal } = ending
    for await (const message of watchDids({ urls: [node.url], resolver: by, signal, ...options })) {
      if (told.push(message) === count) ending.abort()
    }
    return told
  }

  /** A state in which only the first operation of each was told. */
  async function stateAtFirst() {
    const dids = new Map<string, { txid: string; height: number }[]>()
    for (const one of [alice.did, bob.did]) {
      const { proved } = await proving.resolve(one, { history: true })
      dids.set(
        one,
        (proved.history?.entries ?? []).slice(0, 1).map(({ txid, height }) => ({ txid, height })),
      )
    }
    return stateText({ ...emptyState(), dids })
  }

  const isOldVersion = (_: string, options: object) =>
    'all' in options || ('versionId' in options && options.versionId === versions[1])

  it('of an operation is told as a gap, once, and keeps neither later ones nor other DIDs waiting', async () => {
    const { resolver: by } = lacking((one, options) => one === alice.did && isOldVersion(one, options))
    const state = await stateAtFirst()
    let saved = ''
    const options = {
      ...{ dids: [alice.did, bob.did], load: () => state },
      save: (text: string) => void (saved = text),
    }
    const told = await firstMessages(3, by, options)
    expect(told).toMatchObject([
      { kind: 'gap', reason: 'proof-missing', text: expect.stringContaining(versions[1] as string) as string },
      { kind: 'did', did: alice.did, txid: versions[2] },
      { kind: 'did', did: bob.did, operation: 'deactivate' },
    ])
    expect(saved).toContain(versions[1])
  })

  it('does not include a devnet that began anew, and stands lower than what was told', async () => {
    const told = { txid: 'ab'.repeat(32), height: 5000, operation: 'update', change: 'changes' }
    const load = () => stateText({ ...emptyState(), dids: new Map([[alice.did, [told]]]) })
    const by: ProvingResolver = { resolve: (...asked) => proving.resolve(...asked), timesForgotten: 1 }
    const messages = await firstMessages(2, by, { dids: [alice.did], load })
    expect(messages).toMatchObject([
      { kind: 'did', action: 'revert', txid: told.txid },
      { kind: 'did', action: 'apply', operation: 'create', txid: versions[0] },
    ])
  })

  it('is asked for ten times before that: a node may be busy', async () => {
    const { resolver: by, counted } = lacking((one, options) => one === alice.did && 'history' in options)
    const state = await stateAtFirst()
    const [first] = await firstMessages(1, by, { dids: [alice.did, bob.did], load: () => state })
    expect(first).toMatchObject({ kind: 'did', did: bob.did })
    expect(counted.asked).toBe(10)
  })

  it('of a condition is told as a gap, and the next hint is taken', async () => {
    const { resolver: by } = lacking((one) => one === alice.did)
    const { proved } = await proving.resolve(bob.did, { history: true })
    const end = proved.history?.entries[0]
    const event = (result: object) => ({ jsonrpc: '2.0', method: 'event', params: { subscription: 1, ...result } })
    const common = { topic: 'documents', action: 'apply', number: null, change: 'begins', blockhash: 'ab'.repeat(32) }
    const hints = [
      { ...common, did: alice.did, operation: 'update', txid: versions[1], height: 2 },
      { ...common, did: bob.did, operation: 'create', txid: end?.txid, height: end?.height },
    ]
    const block = {
      ...{ topic: 'block', action: 'apply', number: 2, height: 3, hash: 'ab'.repeat(32) },
      ...{ previousblockhash: 'aa'.repeat(32), time: 1, transactions: 1 },
    }
    const told = await firstMessages(2, by, { query: '{}' }, ...[...hints, block].map(event))
    expect(told).toMatchObject([
      { kind: 'gap', reason: 'proof-missing' },
      { kind: 'did', did: bob.did },
    ])
  })
})
