import { describe, expect, it } from 'vitest'
import { namedCredential, namedDid } from '../../../src/identity/did/named-did.js'
import { displayHash } from '../../../src/base/primitives/bytes.js'
import { MirrorServer } from '../../../src/clients/light/mirror-server.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import type { MirrorHead } from '../../../src/identity/proofs/mirror-head.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf, shorten } from '../../support/builders/chain-book.js'
import { keysOf, minedDepth } from '../../support/builders/light-scene.js'
import { mirrorOnce, type MirrorPlan } from '../../support/builders/mirrored.js'
import type { ProofBook } from '../../support/builders/proof-book.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import type { SpecOverrides } from '../../support/builders/spec.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'
import { rounds } from '../../support/process/thorough.js'

const kinds: Readonly<Record<string, SpecOverrides>> = {
  'without validators': { validators: [], producer: 'miners' },
  'with validators': { validators: keysOf(4) },
}

/** DIDs and credentials of which the transactions of a chain say something, and some of which none does. */
function namesIn(book: ProofBook) {
  const operations = [...book.transactions.values()].flatMap(({ payload }) =>
    payload.type === 10 ? [payload.operation] : [],
  )
  const dids = new Set([...operations.flatMap((one) => namedDid(one) ?? []), 'did:ledger:none'])
  const credentials = operations.flatMap((one) => namedCredential(one) ?? [])
  return { dids, credentials }
}

/** Mirrors a chain by processes of which some end between two files; what they leave has to answer as of its head. */
async function mirrorWithCrashes(
  test: TestChain,
  store: MemoryMirror,
  roll: (sides: number) => number,
  plan: MirrorPlan,
): Promise<MirrorHead | undefined> {
  for (let most = 12; ; most += 6) {
    let left = roll(most)
    store.before = () => {
      if (left-- === 0) throw new Error('crash')
    }
    try {
      return await mirrorOnce(test, store, plan)
    } catch (error) {
      if (!String(error).includes('crash')) throw error
    } finally {
      store.before = () => {}
    }
    const bytes = store.files.get('head')
    const head = bytes && (JSON.parse(Buffer.from(bytes).toString()) as MirrorHead)
    // The block of the head may have been taken back meanwhile.
    if (head === undefined || test.chain.headers.active(head.height)?.header.id !== head.hash) continue
    await compare(store, await bookOf(test), head, false)
  }
}

/** The names of pages and leaves that a mirror has. */
function namesOf({ files }: MemoryMirror): readonly string[] {
  return [...files.keys()].filter((name) => /^(map|leaf)\//.test(name)).sort()
}

/** Holds every answer that the files give against the one that follows from the blocks of the chain. */
async function compare(
  store: MemoryMirror,
  book: ProofBook,
  { height }: MirrorHead,
  allVersions: boolean,
): Promise<void> {
  const server = new MirrorServer('http://mirror', store.fetch(), () => book.tip.time * 1000)
  const call = (method: string, params: object) => server.call(method, { ...params, proof: true })
  const { dids, credentials } = namesIn(book)
  for (const did of dids) {
    expect(await call('resolvedid', { did })).toEqual(book.answer(did, { height }))
    expect(await server.call('resolvedid', { did, proof: 'history' })).toEqual(
      book.answer(did, { height, proof: 'history' }),
    )
    for (const { txid, time } of book.history(didMapKey(did), height).slice(allVersions ? 0 : -1)) {
      for (const version of [{ versionId: displayHash(txid) }, { versionTime: formatDate(time) }]) {
        const { status: _, ...said } = book.answer(did, { height, ...version })
        expect(await call('resolvedid', { did, ...version })).toMatchObject(said)
      }
    }
    if (allVersions)
      expect(await call('resolvedid', { did, all: true })).toEqual(book.answer(did, { height, all: true }))
  }
  for (const { id, signer } of credentials) {
    expect(await call('did_resolveCredential', { id, issuer: signer })).toEqual(
      book.credential(id, { height, issuer: signer }),
    )
  }
}

describe.each(Object.entries(kinds))('a mirror of a chain %s', (_, overrides) => {
  it.each(Array.from({ length: rounds(1, 20) }, (_, i) => i + 1))(
    'answers as the blocks say, through reorganisations and crashes, and leaves nothing behind: seed %i',
    async (seed) => {
      const roll = random(seed)
      const test = await TestChain.open(overrides)
      const isMined = !test.spec.hasValidators
      const crowd = new Crowd(roll)
      const store = new MemoryMirror()
      const allVersions = seed % 2 === 0
      const plan = { keepBlocks: 4, allVersions }
      for (let i = 0; i < 30; i++) {
        for (let n = roll(6); n > 0; n--) await crowd.act(test)
        if (isMined && roll(8) === 0 && test.chain.tip.header.height > 3) await shorten(test, 1 + roll(3))
        else await test.mine()
        if (isMined && roll(12) === 0 && test.chain.tip.header.height > 9) await shorten(test, 8)
        crowd.look(test)
        if (roll(3) > 0) continue
        const head = await mirrorWithCrashes(test, store, roll, plan)
        if (head !== undefined) await compare(store, await bookOf(test), head, allVersions)
      }
      for (let i = 0; i < minedDepth + 6; i++) {
        await test.mine()
        await mirrorOnce(test, store, plan)
      }
      const head = (await mirrorOnce(test, store, plan)) as MirrorHead
      await compare(store, await bookOf(test), head, allVersions)
      const fresh = new MemoryMirror()
      expect(await mirrorOnce(test, fresh, plan)).toEqual(head)
      expect(namesOf(store)).toEqual(namesOf(fresh))
      for (const name of namesOf(fresh)) expect(store.files.get(name)).toEqual(fresh.files.get(name))
      await test.close()
    },
  )
})
