import { describe, expect, it, vi } from 'vitest'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { Reader } from '../../../src/base/primitives/codec.js'
import { Header } from '../../../src/base/primitives/header.js'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { failureOf, lightOver, lightWorld } from '../../support/builders/light-world.js'
import { type Json, type Lies, lightServers } from '../../support/fakes/light-server.js'
import {
  atTip,
  foreignLeaf,
  furtherLies,
  honestMiners,
  lies,
  mined,
  minedHeight,
  minedLies,
  other,
  world,
} from '../../support/builders/lies.js'

/** Lies that a server could tell, each by the name of the failure that it meets. */

const { book, alice, versions } = world
const tip = book.tip.height

describe('a lie', () => {
  it.each([...lies, ...furtherLies])(
    '%s: %s',
    async (_, failure, { lies: told, ask = (light) => light.resolve(alice.did), book: of = book, options }) => {
      const light = lightOver(of, told, options ?? {})
      expect(await failureOf(ask(light))).toBe(failure)
    },
  )

  it('3 by the leaf of the other: path-foreign', async () => {
    const maps = [book.map(didMapKey(foreignLeaf), tip)]
    const light = lightOver(book, { answer: ({ did, proof }) => ({ did, status: 3, proof: { ...proof, maps } }) })
    expect(['path-foreign', 'path-root']).toContain(await failureOf(light.resolve(alice.did)))
  })

  it('65 an older block, told to one who has seen more: rollback', async () => {
    let height = tip
    const light = lightOver(book, { answer: () => book.answer(alice.did, { height }) })
    await light.resolve(alice.did)
    height = tip - 1
    expect(await failureOf(light.resolve(alice.did))).toBe('rollback')
    expect(await light.resolve(alice.did, { height })).toMatchObject({ proved: { height } })
  })

  it('67, 68 two confirmed blocks of one height: fork, with both, and for good', async () => {
    const double = lightWorld({ plan: atTip({ time: book.tip.time + 1 }) }).book
    const servers = { one: { book }, two: { book: double } }
    const together = lightOver(book, {}, { servers: ['http://one', 'http://two'], fetch: lightServers(servers) })
    const error = (await together.resolve(alice.did).catch((thrown: unknown) => thrown)) as Json
    expect(error.failure).toBe('fork')
    const headers = error.evidence.headers.map((text: string) => Header.read(new Reader(Buffer.from(text, 'hex'))).id)
    expect(headers.sort()).toEqual([book.tip.id, double.tip.id].sort())
    expect(error.evidence.confirms).toHaveLength(2)
    let told = book
    let state = ''
    const later = (options: object) =>
      lightOver(book, { answer: () => told.answer(alice.did) }, { save: (text) => void (state = text), ...options })
    const light = later({})
    await light.resolve(alice.did)
    told = double
    expect(await failureOf(light.resolve(alice.did))).toBe('fork')
    told = book
    expect(await failureOf(light.resolve(alice.did))).toBe('fork')
    told = double
    expect(await failureOf(later({ load: () => state }).resolve(alice.did))).toBe('fork')
  })

  it('67 two histories that contradict each other: fork', async () => {
    const short = lightWorld({
      plan: (height) => (height === tip ? { operations: [alice.update(versions[2] as string)] } : {}),
    }).book
    const long = lightWorld().book
    long.make()
    const servers = { one: { book: short }, two: { book: long } }
    const options = { servers: ['http://one', 'http://two'], fetch: lightServers(servers) }
    const light = lightOver(long, {}, options)
    expect(await failureOf(light.resolve(alice.did))).toBe('fork')
  })

  it('70 a kept state of another chain, or a damaged one', async () => {
    let state = ''
    await lightOver(book, {}, { save: (text) => void (state = text) }).resolve(alice.did)
    const load = (text: string) => lightOver(book, {}, { load: () => text }).resolve(alice.did)
    expect(await load(state)).toMatchObject({ status: 0 })
    expect(await failureOf(load(state.replace(displayHash(book.genesis), displayHash(other.book.genesis))))).toBe(
      'chain',
    )
    for (const text of [
      '',
      '{}',
      state.slice(1),
      state.replace('"height":15', '"height":14'),
      state.replace('"lists"', '"list"'),
    ]) {
      expect(await failureOf(load(text))).toBe('form')
    }
  })

  it('is late when it goes on where the answer of another holds', async () => {
    const { setTimeout: wait } = globalThis
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked: string[] = []
    const slowly: Lies = {
      // Every answer comes in time, and the first asks for another question.
      response: async (url) => {
        asked.push(new URL(url).pathname)
        await new Promise((resolve) => setTimeout(resolve, 9000))
        return undefined
      },
      answer: (right) => {
        right.proof.anchor.header = encodeBase64url(book.tip.bytes.map((byte, i) => (i === 70 ? byte ^ 1 : byte)))
        return right
      },
    }
    const fetch = lightServers({ one: { book }, two: { book, lies: slowly } })
    const light = lightOver(book, {}, { servers: ['http://one', 'http://two'], fetch })
    let servers: readonly string[] | undefined
    void light.resolve(alice.did).then(({ proved }) => (servers = proved.servers))
    // The second answer of the slow one comes after 18 s.
    for (let waited = 0; waited < 17_500 && servers === undefined; waited += 500) {
      await vi.advanceTimersByTimeAsync(500)
      // Signatures are verified by threads, which know no other clock, and may wait for a processor.
      await new Promise((resolve) => wait(resolve, 100))
    }
    vi.useRealTimers()
    expect(asked.length).toBeGreaterThan(0)
    expect(servers).toEqual(['http://one'])
  })

  it('73 silence: timeout', async () => {
    vi.useFakeTimers()
    const light = lightOver(book, { response: () => new Promise<Response>(() => {}) })
    const failure = failureOf(light.resolve(alice.did))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await failure).toBe('timeout')
    vi.useRealTimers()
  })
})

describe('a lie of miners', () => {
  it('holds a question up for so long: headers one by one, each of which comes in time', async () => {
    const { setTimeout: wait } = globalThis
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    let asked = 0
    const slowly: Lies = {
      response: async (url) => {
        if (!url.includes('/headers/')) return undefined
        asked++
        await new Promise((resolve) => setTimeout(resolve, 9000))
        return undefined
      },
      headers: (right) => right.slice(0, 1),
      answer: () => mined.book.answer(alice.did, { height: mined.book.tip.height - 6 }),
    }
    const light = lightOver(mined.book, slowly)
    const ask = async () => {
      let found: unknown
      void failureOf(light.resolve(alice.did)).then((outcome) => (found = outcome))
      for (let waited = 0; waited < 300_000 && found === undefined; waited += 1000) {
        await vi.advanceTimersByTimeAsync(1000)
        await new Promise((resolve) => wait(resolve, 5))
      }
      return found
    }
    try {
      expect(await ask()).toBe('timeout')
      expect(asked).toBeLessThanOrEqual(14)
      // What it did show need not be shown again.
      expect(await ask()).toMatchObject({ status: 0 })
      expect(asked).toBeLessThan(20)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each(minedLies)('%s: %s', async (_, failure, { lies: told, book: of = mined.book, options }) => {
    expect(await failureOf(lightOver(of, told, options ?? {}).resolve(alice.did))).toBe(failure)
  })

  it('is worth as much as its work: of two branches that with more counts', async () => {
    const longer = lightWorld({ miners: true, plan: (one) => (one >= tip - 2 ? { padding: 3 } : {}) }).book
    longer.make()
    const servers = {
      one: { book: mined.book, lies: honestMiners },
      two: { book: longer, lies: { answer: ({ did }: Json) => longer.answer(did, { height: minedHeight + 1 }) } },
    }
    const light = lightOver(mined.book, {}, { servers: ['http://one', 'http://two'], fetch: lightServers(servers) })
    expect(await light.resolve(alice.did)).toMatchObject({
      proved: { height: minedHeight + 1, servers: ['http://two'] },
    })
  })
})
