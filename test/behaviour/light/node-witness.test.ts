import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Resolver } from '../../../src/answers/resolver/resolver.js'
import { NodeServer } from '../../../src/clients/light/ask-server.js'
import { LightResolver } from '../../../src/clients/light/light-resolver.js'
import { readWitnessHeads } from '../../../src/clients/light/witnessed-heads.js'
import { WitnessSigner } from '../../../src/clients/witness/witness-signer.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { ForkEvidence } from '../../../src/identity/proofs/fork.js'
import { verifierKeyText } from '../../../src/identity/proofs/witness-note.js'
import { chainProver } from '../../../src/node/chain-prover.js'
import { HeadComparison } from '../../../src/node/heads/compare-heads.js'
import { OwnWitness } from '../../../src/node/heads/own-witness.js'
import { WitnessCollector } from '../../../src/node/heads/witness-collector.js'
import { bookOf, shorten } from '../../support/builders/chain-book.js'
import { quietLog, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { failureOf } from '../../support/builders/light-world.js'
import { keysOf } from '../../support/builders/light-scene.js'
import type { ProofBook } from '../../support/builders/proof-book.js'
import { branchOf, freshSigns, noteOver, witnessSecret } from '../../support/builders/witness-world.js'
import { ask, contextOf, serve } from '../../support/client/api.js'
import { inStep } from '../../support/fakes/standing.js'
import { ManualTimers } from '../../support/fakes/manual-timers.js'

/** A full node as a witness, and nodes that collect cosignatures, over real chains and ports. */

const secret = witnessSecret('w.example/1')
const key = verifierKeyText(secret.key)

/** A chain whose node is a witness, and a node of the same chain that collects what it signs. */
async function opened(test: TestChain) {
  const { chain, database, clock } = test
  const signer = await WitnessSigner.open({
    ...{ secret, store: freshSigns(secret), genesis: chain.genesis.header.hash },
    ...{ hasValidators: chain.spec.hasValidators, now: () => clock.now() },
  })
  const timers = new ManualTimers()
  const collector = new WitnessCollector({ chain, timers, log: quietLog(), witnesses: [{ key: secret.key }] })
  const resolver = new Resolver({
    ...{ database, clock, tip: () => chain.tip.header, standing: () => inStep(test.reader.height) },
    prover: chainProver(chain, collector.cosignaturesOf),
    cosigned: () => collector.version,
  })
  const witness = new OwnWitness({ chain, proofs: resolver.proofs, signer, log: quietLog() })
  const found: ForkEvidence[] = []
  const compareHeads = new HeadComparison({
    ...{ reader: test.reader, proofs: resolver.proofs, log: quietLog() },
    onEvidence: (evidence) => found.push(evidence),
  })
  const context = { ...contextOf(test), resolver, witness: signer.heads, witnessed: collector, compareHeads }
  const server = await serve(context)
  const url = `http://127.0.0.1:${server.port}`
  const collect = () => collector.collect(secret.key, new NodeServer(url, (at, init) => fetch(at, init)))
  return { test, signer, witness, collector, collect, server, url, compareHeads, found }
}

type Opened = Awaited<ReturnType<typeof opened>>
const close = async ({ witness, collector, server, test }: Opened) => {
  await witness.close()
  collector.close()
  await server.close()
  await test.close()
}

describe('a node of a chain with validators', () => {
  const alice = holder()
  let node: Opened
  let book: ProofBook
  const light = (keys = [key]) =>
    new LightResolver({
      ...{ servers: [node.url], trust: book.trust(), allowOldRoot: true, witnesses: { keys } },
      now: () => node.test.chain.tip.header.time * 1000,
    })
  beforeAll(async () => {
    const test = await TestChain.open({ validators: keysOf(1) })
    await test.publish(alice.create(), alice.did)
    node = await opened(test)
    book = await bookOf(test)
  })
  afterAll(() => close(node))

  it('cosigns its tip after each block, and shows it over HTTP', async () => {
    const { test, witness, signer, server } = node
    await witness.look()
    await test.mine(2)
    await witness.look()
    expect([signer.last?.height, signer.alarm]).toEqual([test.chain.tip.header.height, undefined])
    const { status, body, headers } = await ask(server.port, '/witness/1/heads')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    const [newest] = readWitnessHeads(body, true)
    expect(newest?.header.id).toBe(test.chain.tip.header.id)
    expect(
      readWitnessHeads((await ask(server.port, `/witness/1/heads/${newest?.header.height}`)).body, true),
    ).toHaveLength(1)
    expect(readWitnessHeads((await ask(server.port, '/witness/1/heads/99')).body, true)).toEqual([])
    expect((await ask(server.port, '/witness/1/heads/x')).status).toBe(400)
  })

  it('puts cosignatures into anchors once it has them, also into answers that were kept before', async () => {
    expect(await failureOf(light().resolve(alice.did))).toBe('unwitnessed')
    expect((await ask(node.server.port, '/light/1/witnessed')).body).toMatchObject({ heads: [] })
    await node.collect()
    const found = await light().resolve(alice.did)
    expect(found.proved).toMatchObject({ height: node.test.chain.tip.header.height, witnesses: ['w.example/1'] })
    expect((await ask(node.server.port, '/light/1/witnessed')).body).toHaveProperty(
      'heads.0.height',
      found.proved.height,
    )
    expect(node.collector.cosignaturesOf(node.test.chain.tip.header.hash)).toHaveLength(1)
    const { body } = await ask(node.server.port, '/light/1/anchor')
    expect(body).toMatchObject({ anchor: { cosignatures: [expect.stringMatching(/^\u2014 w\.example\/1 /)] } })
    expect(await failureOf(light([verifierKeyText(witnessSecret('other').key)]).resolve(alice.did))).toBe('unwitnessed')
  })

  it('answers as of the last cosigned block while the witness is late', async () => {
    const before = node.test.chain.tip.header.height
    await node.witness.close()
    await node.test.mine()
    expect((await light().resolve(alice.did)).proved.height).toBe(before)
  })

  it('says once, and until it is mended, that a witness signs by another key', async () => {
    const warn = vi.fn()
    const { chain } = node.test
    const log = { ...quietLog(), warn }
    const collector = new WitnessCollector({ chain, timers: new ManualTimers(), log, witnesses: [] })
    const server = new NodeServer(node.url, (at, init) => fetch(at, init))
    const { key: former } = witnessSecret('w.example/former')
    for (let i = 0; i < 2; i++) await collector.collect(former, server)
    await collector.collect(secret.key, server)
    const reason = `what it shows is signed by another key than ${verifierKeyText(former)}; was it changed?`
    expect(warn.mock.calls).toEqual([[{ witness: 'w.example/former', reason }, 'a witness shows no cosignatures']])
  })

  it('keeps nothing of a witness that lies: another root, another block, another key', async () => {
    const { chain } = node.test
    const shown = node.signer.heads.shown() as { heads: { note: string }[] }
    const collector = new WitnessCollector({ chain, timers: new ManualTimers(), log: quietLog(), witnesses: [] })
    const collect = async (change: (note: string) => string) => {
      const heads = shown.heads.map((head) => ({ ...head, note: change(head.note) }))
      const server = new NodeServer('http://w', async () => new Response(JSON.stringify({ ...shown, heads })))
      await collector.collect(secret.key, server)
      return collector.version
    }
    expect(await collect((note) => note.replace(/\n[^\n]{44}\n/, `\n${Buffer.alloc(32).toString('base64')}\n`))).toBe(0)
    expect(await collect((note) => note.replace('w.example/1', 'w.example/2'))).toBe(0)
    expect(await collect((note) => note.replace('\u2014', '-'))).toBe(0)
    expect(await collect(() => 'x')).toBe(0)
    const big = new NodeServer('http://w', async () => new Response(`"${'x'.repeat(3_000_000)}"`))
    await collector.collect(secret.key, big)
    expect(collector.version).toBe(0)
    expect(await collect((note) => note)).toBeGreaterThan(0)
  })

  it('compares heads that are posted, refuses junk before any signature, and has evidence of a second history', async () => {
    const { compareHeads, found, server, test } = node
    const whole = await bookOf(test)
    const { height } = whole.tip
    const chain = test.chain.genesis.hash
    const post = (body: unknown) =>
      ask(server.port, '/light/1/heads', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    expect((await post({ chain, anchor: whole.anchor(height, true) })).body).toMatchObject({ height: height + 1 })
    // One that is ahead gets the newest block.
    const ahead = branchOf(whole, height, [{}])
    expect((await post({ chain, anchor: ahead.anchor(height + 1, true) })).body).toMatchObject({ height: height + 1 })
    for (const body of [
      '',
      '{',
      '7',
      {},
      { chain },
      { chain: '00'.repeat(32), anchor: whole.anchor(height, true) },
      { chain, anchor: { header: 'AA' } },
    ])
      expect((await post(body)).status).toBe(400)
    expect((await post(`"${'x'.repeat(128 * 1024 - 2)}"`)).status).toBe(400)
    expect((await post(`"${'x'.repeat(128 * 1024 - 1)}"`)).status).toBe(413)
    expect((await ask(server.port, '/light/1/heads')).status).toBe(405)
    // A block that the validator did not sign, or without its root, proves nothing.
    const rival = branchOf(whole, height - 1, [{ padding: 3 }])
    const anchor = rival.anchor(height, true)
    const { root: _, ...rootless } = anchor
    for (const wrong of [{ ...anchor, confirm: whole.anchor(height).confirm }, rootless])
      await compareHeads.exchange({ chain, anchor: wrong })
    expect(found).toEqual([])
    expect((await post({ chain, anchor })).body).toMatchObject({ anchor: { header: whole.anchor(height).header } })
    expect(found).toHaveLength(1)
    await post({ chain, anchor: branchOf(whole, height - 1, [{ padding: 4 }]).anchor(height, true) })
    expect(found).toHaveLength(1)
    const stranger = new LightResolver({ servers: [], trust: book.trust() })
    expect(await stranger.verifyEvidence(found[0])).toMatchObject({ heights: [height, height], leaf: undefined })
    // It keeps its own block, and answers on.
    expect((await light().resolve(alice.did)).proved.height).toBeGreaterThan(0)
  })

  it('checks at most nine heads at once, and says that it is busy to the tenth', async () => {
    const { compareHeads, test } = node
    const whole = await bookOf(test)
    const height = whole.tip.height - 1
    const chain = test.chain.genesis.hash
    const heads = Array.from({ length: 10 }, (_, i) =>
      branchOf(whole, height - 1, [{ padding: 5 + i }]).anchor(height, true),
    )
    const wrong = heads.map((anchor) => ({ chain, anchor: { ...anchor, confirm: whole.anchor(height).confirm } }))
    const outcomes = await Promise.all(
      wrong.map((head) =>
        compareHeads.exchange(head).then(
          () => 'answered',
          (error: unknown) => (error instanceof RuleError ? error.code : String(error)),
        ),
      ),
    )
    expect(outcomes.filter((one) => one === 'answered')).toHaveLength(9)
    expect(outcomes.filter((one) => one === 'busy')).toHaveLength(1)
  })

  it('cosigns nothing while it is out of step', async () => {
    const { test } = node
    const signer = await WitnessSigner.open({
      ...{ secret, store: freshSigns(secret), genesis: test.chain.genesis.header.hash, hasValidators: true },
      now: Date.now,
    })
    const proofs = { anchor: () => Promise.reject(new RuleError('resolver-behind', 'out of step')) }
    const witness = new OwnWitness({ chain: test.chain, proofs, signer, log: quietLog() })
    await witness.look()
    expect([signer.last, signer.alarm]).toEqual([undefined, undefined])
    await witness.close()
  })
})

describe('a node of a chain of miners', () => {
  it('cosigns six blocks below its tip, and raises an alarm at a reorganisation below that', async () => {
    const test = await TestChain.open(withoutValidators)
    const node = await opened(test)
    try {
      await test.mine(6)
      await node.witness.look()
      expect(node.signer.last).toBeUndefined()
      await test.mine()
      await node.witness.look()
      expect(node.signer.last?.height).toBe(1)
      await shorten(test, 3)
      await test.mine(5)
      await node.witness.look()
      expect([node.signer.last?.height, node.signer.alarm]).toEqual([7, undefined])
      await node.collect()
      expect(node.collector.version).toBeGreaterThan(0)
      await shorten(test, 8)
      await test.mine(9)
      await node.witness.look()
      expect(node.signer.alarm).toContain('does not follow')
      const { status, body } = await ask(node.server.port, '/witness/1/heads')
      expect([status, body]).toEqual([200, expect.objectContaining({ alarm: node.signer.alarm })])
      // What was cosigned of the branch that was left is not shown of the other.
      expect((await ask(node.server.port, '/light/1/witnessed')).body).toHaveProperty('heads.0.height', 5)
    } finally {
      await close(node)
    }
  })
})

describe('a node that collects', () => {
  it('keeps the newest cosigned blocks, whatever old ones a witness signs, and asks for no answer to be made again', async () => {
    const test = await TestChain.open({ validators: keysOf(1) })
    await test.mine(8)
    const book = await bookOf(test)
    const { height } = book.tip
    const [liar, kept] = [witnessSecret('liar'), 3]
    const collector = new WitnessCollector({
      ...{ chain: test.chain, timers: new ManualTimers(), log: quietLog(), witnesses: [], kept },
    })
    const collect = (one: typeof secret, heights: readonly number[]) => {
      const heads = heights.map((at) => ({ note: noteOver(book, at, one), anchor: book.anchor(at, true) }))
      const shown = JSON.stringify({ format: 'didledger/witness/1', heads })
      return collector.collect(one.key, new NodeServer('http://w', async () => new Response(shown)))
    }
    await collect(secret, [height - 2, height - 1, height])
    expect(collector.version).toBe(3)
    await collect(liar, [1, 2, 3, height - 3])
    expect(collector.version).toBe(3)
    const heights = () => (collector.shown() as { heads: { height: number }[] }).heads.map((one) => one.height)
    expect(heights()).toEqual([height, height - 1, height - 2])
    // A newer one takes the place of the lowest.
    await test.mine(1)
    const longer = await bookOf(test)
    book.pages.push(longer.page(height + 1))
    await collect(secret, [height + 1])
    expect(heights()).toEqual([height + 1, height, height - 1])
    collector.close()
    await test.close()
  })

  it('asks each witness on, one request at a time, whatever comes back, until it is closed', async () => {
    const test = await TestChain.open({ validators: keysOf(1) })
    const timers = new ManualTimers()
    let asked = 0
    let release = () => {}
    const slow = () =>
      new Promise<Response>((resolve) => {
        asked++
        release = () => resolve(new Response('junk'))
      })
    const collector = new WitnessCollector({
      ...{ chain: test.chain, timers, log: quietLog(), fetch: slow },
      witnesses: [{ key: secret.key, url: 'http://w' }],
    })
    timers.fire()
    expect(asked).toBe(1)
    await test.mine(3)
    timers.fire()
    expect(asked).toBe(1)
    release()
    await vi.waitFor(() => {
      timers.fire()
      expect(asked).toBe(2)
    })
    collector.close()
    release()
    await new Promise((resolve) => setImmediate(resolve))
    timers.fire()
    expect(asked).toBe(2)
    await test.close()
  })
})
