import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../src/base/crypto/quick-signer.js'
import type { LightError } from '../../../src/clients/light/light-error.js'
import type { LightResolver } from '../../../src/clients/light/light-resolver.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { ForkEvidence } from '../../../src/identity/proofs/fork.js'
import { runs } from '../../support/builders/arbitraries.js'
import { type Holder, holder } from '../../support/builders/did.js'
import { failureOf, lightOver, lightWorld, worldTime } from '../../support/builders/light-world.js'
import { type BlockPlan, paperGenesis, ProofBook } from '../../support/builders/proof-book.js'
import { type Json, type Lies, lightServers } from '../../support/fakes/light-server.js'

/** Who is accused of a fork, and who is not. */

const world = lightWorld({ changeAt: 9 })
const { book, alice, bob, dave, kept, revoked, versions } = world
const tip = book.tip.height
const servers = ['http://one', 'http://two']

/** Two servers over two books. */
function between(one: ProofBook, two: ProofBook, options: object = {}, lies: readonly [Lies, Lies] = [{}, {}]) {
  const fetch = lightServers({ one: { book: one, lies: lies[0] }, two: { book: two, lies: lies[1] } })
  const now = () => Math.max(one.tip.time, two.tip.time) * 1000
  return lightOver(one, {}, { servers, fetch, now, ...options })
}

/** A server that is so far behind. */
const asOf =
  (of: ProofBook, height: () => number): Lies['answer'] =>
  (_, asked) => {
    const at = Math.min(asked.height ?? Infinity, height())
    return asked.did === undefined
      ? of.credential(asked.id, { issuer: asked.issuer, height: at })
      : of.answer(asked.did, { ...asked, height: at })
  }

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as LightError,
  )

describe('honest servers at different heights', () => {
  it('are not accused where one has the declare of a credential already, whatever issuer is asked for', async () => {
    for (let lower = 1; lower <= tip; lower++) {
      const lies: readonly [Lies, Lies] = [{ answer: asOf(book, () => lower) }, { answer: asOf(book, () => tip) }]
      const light = between(book, book, { needed: 2, maxAge: 1e9 }, lies)
      for (const id of [kept, revoked, `${bob.did}#none`]) {
        for (const issuer of [undefined, alice.did, bob.did, dave.did]) {
          const found = await light.resolveCredential(id, issuer === undefined ? {} : { issuer })
          expect(found.proved).toMatchObject({ height: tip, servers })
        }
      }
    }
  })

  it('are not refused where the validators are followed by one answer while another one is checked by the old ones', async () => {
    const now = () => book.tip.time * 1000
    const { subtle } = globalThis.crypto
    /** WebCrypto whose verifications come late where `isLate`, by their number from 1 on. */
    const holding = (isLate: (place: number) => boolean) => {
      let calls = 0
      const verify: typeof subtle.verify = async (...args) => {
        const place = ++calls
        if (isLate(place)) await new Promise((resolve) => setTimeout(resolve, 200))
        return subtle.verify(...args)
      }
      const importKey = subtle.importKey.bind(subtle) as typeof subtle.importKey
      return { subtle: { verify, importKey } as never, calls: () => calls }
    }
    // Signatures of one answer, up to the question what followed.
    const counting = holding(() => false)
    let first = 0
    const one = lightServers({ one: { book } })
    const fetch: typeof one = (url, init) => {
      if (String(url).includes('changes/')) first ||= counting.calls()
      return one(url, init)
    }
    await lightOver(book, {}, { servers: ['http://one'], fetch, now, subtle: counting.subtle }).resolve(alice.did)
    expect(first).toBeGreaterThan(0)
    // The two answers wait for the same keys, so that their signatures come in turns.
    const late = holding((place) => place <= 2 * first && place % 2 === 0)
    const light = between(book, book, { needed: 2, subtle: late.subtle })
    expect((await light.resolve(alice.did)).proved).toMatchObject({ height: tip, servers })
  })

  /** A random chain: each step is an operation that the chain permits, on DIDs and credentials. */
  const steps = fc.array(fc.nat({ max: 1e6 }), { minLength: 4, maxLength: 18 })

  it('are never accused, for any pair of heights, any chain and any question', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), fc.nat(), async (choices, a, b) => {
        const { book: of, people, ids } = randomChain(choices)
        const heights = [1 + (a % of.tip.height), 1 + (b % of.tip.height)] as const
        const [one, two] = heights.map((height): Lies => ({ answer: asOf(of, () => height) })) as [Lies, Lies]
        const light = between(of, of, { needed: 2, maxAge: 1e9 }, [one, two])
        for (const ask of questionsOf(people, ids)) {
          const found = (await ask(light)) as Json
          expect(found.proved).toMatchObject({ height: Math.max(...heights), servers })
        }
      }),
      { ...runs, numRuns: Math.max(6, Math.ceil((runs.numRuns ?? 100) / 10)) },
    )
  })
})

function randomChain(choices: readonly number[]) {
  const of = new ProofBook(paperGenesis('random', worldTime), [{ height: 1, signers: [quickSigner()] }])
  const people = Array.from({ length: 3 }, () => holder())
  const last = new Map<Holder, string>()
  const ended = new Set<Holder>()
  const said = new Set<string>()
  const ids = new Set<string>()
  const publish = (operation: DidOperation) => of.make({ operations: [operation] }).transactions.at(-1)?.txid ?? ''
  for (const choice of choices) {
    const who = people[choice % 3] as Holder
    const other = people[(choice >> 2) % 3] as Holder
    const id = `${who.did}#c${(choice >> 4) % 3}`
    const by = choice % 2 === 0 ? who : other
    ids.add(id)
    const kind = (choice >> 6) % 5
    if (!last.has(who)) last.set(who, publish(who.create()))
    else if (ended.has(who) || kind === 0) of.make()
    else if (kind === 1) last.set(who, publish(who.update(last.get(who) as string)))
    else if (kind === 2 && !said.has(`${id} ${who.did}`) && !said.has(`${id} revoked ${other.did}`)) {
      said.add(`${id} ${who.did}`)
      publish(who.declare(other.issue(who.did, { id })))
    } else if (kind === 3 && !said.has(`${id} revoked ${by.did}`)) {
      said.add(`${id} revoked ${by.did}`)
      said.add(`${id} ${by.did}`)
      publish(by.revoke(id))
    } else if (kind === 4 && choice % 7 === 0) {
      ended.add(who)
      publish(who.deactivate())
    } else of.make()
  }
  return { book: of, people, ids: [...ids] }
}

function questionsOf(
  people: readonly Holder[],
  ids: readonly string[],
): ((light: LightResolver) => Promise<unknown>)[] {
  const dids = people.map(({ did }) => did)
  return [
    ...dids.flatMap((did) => [
      (light: LightResolver) => light.resolve(did),
      (light: LightResolver) => light.resolve(did, { all: true }),
      (light: LightResolver) => light.resolve(did, { history: true }),
      (light: LightResolver) => light.resolve(did, { versionTime: '2026-06-01T00:00:00Z' }),
    ]),
    ...ids.flatMap((id) => [
      (light: LightResolver) => light.resolveCredential(id),
      ...dids.map((issuer) => (light: LightResolver) => light.resolveCredential(id, { issuer })),
    ]),
  ]
}

describe('validators who confirmed two states', () => {
  /** The chain with another block at its end. */
  const branch = (plan: BlockPlan) => {
    const [{ block: genesis }] = book.pages as [ProofBook['pages'][number]]
    const other = new ProofBook(genesis, book.teams)
    for (const { block, confirm } of book.pages.slice(1, tip)) other.push(block, confirm)
    other.make(plan)
    return other
  }
  const doubled = branch({ time: book.tip.time + 1 })
  const updated = branch({ operations: [alice.update(versions[2] as string)] })
  const withdrawn = branch({ operations: [dave.revoke(kept)] })
  const longer = branch({})
  longer.make()

  const offline = (options: object = {}) =>
    lightOver(book, {}, { servers: [], fetch: () => Promise.reject(new Error('no network')), ...options })

  const told: readonly (readonly [string, ProofBook, ProofBook, (light: LightResolver) => Promise<unknown>, Json])[] = [
    ['two blocks of one height', book, doubled, (light) => light.resolve(alice.did), {}],
    [
      'two histories of a DID',
      longer,
      updated,
      (light) => light.resolve(alice.did),
      { leaf: { did: alice.did }, heights: [tip, tip + 1] },
    ],
    [
      'two histories of what an issuer said',
      longer,
      withdrawn,
      (light) => light.resolveCredential(kept),
      { leaf: { id: kept, signer: dave.did }, heights: [tip, tip + 1] },
    ],
  ]

  it.each(told)('are accused of %s, with evidence that holds by itself, for good', async (_, one, two, ask, shown) => {
    const light = between(one, two)
    const error = await errorOf(ask(light))
    expect(error).toMatchObject({ failure: 'fork', evidence: { format: 'didledger/evidence/1' } })
    const file = JSON.stringify(error?.evidence)
    const fork = await offline().verifyEvidence(file)
    expect(fork).toMatchObject({ heights: [tip, tip], ...shown })
    // Three of four, who were on duty both times.
    expect(fork.validators.length).toBeGreaterThanOrEqual(2)
    expect(await failureOf(light.resolve(bob.did))).toBe('fork')
    const checkpoint = book.checkpoint(11)
    expect(await errorOf(ask(between(one, two, { checkpoint })))).toMatchObject({ failure: 'fork' })
  })

  it.each(told)('are not accused by changed evidence of %s', async (_, one, two, ask) => {
    const { evidence } = (await errorOf(ask(between(one, two)))) as { evidence: ForkEvidence }
    const refused = async (change: (file: Json) => void) => {
      const file = JSON.parse(JSON.stringify(evidence)) as Json
      change(file)
      return failureOf(offline().verifyEvidence(file))
    }
    const same = (file: Json) => {
      for (const name of ['headers', 'confirms', 'coinbases', 'branches', 'maps']) {
        if (file[name] !== undefined) file[name] = [file[name][0], file[name][0]]
      }
    }
    expect(await refused(same)).toBe('no-contradiction')
    expect(await refused((file) => (file.format = 'didledger/bundle/1'))).toBe('form')
    expect(await refused((file) => (file.chain = '00'.repeat(32)))).toBe('chain')
    expect(await refused((file) => (file.changes = []))).toMatch(/^confirm-/)
    expect(await refused((file) => file.confirms.reverse())).toBe('confirm-form')
    expect(await refused((file) => (file.headers = [file.headers[0]]))).toBe('form')
    for (const name of ['headers', 'confirms'] as const) {
      for (let at = 0; at < (evidence[name][1] as string).length; at += 37) {
        const change = (file: Json) => {
          const text = file[name][1] as string
          file[name][1] = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
        }
        expect(await refused(change)).not.toBeInstanceOf(Object)
      }
    }
    if (evidence.leaf === undefined) return
    expect(await refused((file) => delete file.leaf)).toBe('no-contradiction')
    expect(await refused((file) => (file.leaf = { did: bob.did }))).toBe('path-root')
    expect(await refused((file) => file.maps.reverse())).toBe('path-root')
    expect(await refused((file) => file.coinbases.reverse())).toBe('anchor-coinbase')
  })

  it('are not accused where the evidence does not hold: the answer fails, and the others are used', async () => {
    // No server shows the change of validators from which on these confirm.
    const silent: Lies = { changes: (right: Json) => ({ ...right, changes: [], more: false }) }
    let state = ''
    await lightOver(book, {}, { save: (text) => void (state = text) }).resolve(alice.did)
    const light = between(book, doubled, { load: () => state }, [silent, silent])
    const found = await light.resolve(alice.did)
    expect(found).toMatchObject({ status: 0, proved: { servers: ['http://one'] } })
    const both = between(book, doubled, { load: () => state, needed: 2 }, [silent, silent])
    expect(await errorOf(both.resolve(alice.did))).toMatchObject({
      failure: 'quorum',
      failures: [{ server: 'http://two', failure: 'contradiction' }],
    })
    expect(await light.resolve(bob.did)).toMatchObject({ status: 2 })
  })

  it('are not accused by a kept state that was changed', async () => {
    let state = ''
    await lightOver(doubled, {}, { save: (text) => void (state = text) }).resolve(alice.did)
    const kept = JSON.parse(state) as Json
    const { confirm } = kept
    const spoiled = { ...kept, confirm: `${confirm.slice(0, -2)}${confirm.endsWith('00') ? '01' : '00'}` }
    expect(await failureOf(lightOver(book, {}, { load: () => JSON.stringify(spoiled) }).resolve(alice.did))).toBe(
      'form',
    )
    expect(await failureOf(lightOver(book, {}, { load: () => state }).resolve(alice.did))).toBe('fork')
  })

  it('are never accused on a chain of miners', async () => {
    const mined = lightWorld({ miners: true })
    const other = lightWorld({ miners: true, plan: (height) => (height > 9 ? { padding: 3 } : {}) })
    other.book.make()
    const deep = (of: ProofBook): Lies => ({ answer: asOf(of, () => of.tip.height - 6) })
    const light = between(mined.book, other.book, {}, [deep(mined.book), deep(other.book)])
    expect(await light.resolve(alice.did)).toMatchObject({ status: 0, proved: { servers: ['http://two'] } })
    expect(await light.resolve(bob.did)).toMatchObject({ status: 2 })
    expect(
      await failureOf(
        lightOver(mined.book).verifyEvidence({
          format: 'didledger/evidence/1',
          chain: mined.book.page(0).block.header.id,
        }),
      ),
    ).toBe('form')
  })
})
