import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DocumentSearch, readQuery } from '../../../../src/answers/resolver/document-search.js'
import { documentCondition } from '../../../../src/answers/resolver/document-condition.js'
import { displayHash, hex, reversed } from '../../../../src/base/primitives/bytes.js'
import type { DocumentSelection, DocumentsChanged, EventData } from '../../../../src/base/primitives/chain-event.js'
import { type StartPoint, EventCursor } from '../../../../src/ledger/events/event-cursor.js'
import type { DocumentFollower } from '../../../../src/ledger/events/document-events.js'
import { EventLog, type EventLogOptions } from '../../../../src/ledger/events/event-log.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { DocumentChain } from '../../../support/builders/document-chain.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'
import { rounds } from '../../../support/process/thorough.js'

type LogOptions = Pick<EventLogOptions, 'documents' | 'kept'>

const logOf = ({ chain, mempool, clock }: TestChain, options: LogOptions = {}) =>
  EventLog.open({ chain, mempool, clock, ...options })

/** Conditions of every kind: with tokens, without, on DIDs, met by all and by none. */
const selections: readonly DocumentSelection[] = [
  { query: '{}' },
  { service: 'Hub' },
  { credential: 'ProfileCredential' },
  { query: '{credential: {subject: {email: {$exists: true}}}}' },
  { query: '{service: {type: "Mailbox", priority: 1}}' },
  { query: '{$or: [{service: {type: "Hub"}}, {credential: {type: ["ProfileCredential"]}}]}' },
  { query: '{$nor: [{service: {type: "Hub"}}]}' },
  { query: '{expires: {$gte: "2027"}}' },
  { query: '{"credential.subject.name": {$regex: "^a", $options: "i"}}' },
  { query: '{service: {$size: 2}}' },
  { query: '{"credential.issuer": "did:ledger:nobody"}' },
]

/** The documents that meet a selection now, as a search finds them. */
async function truth({ database, chain }: TestChain, selection: DocumentSelection): Promise<string[]> {
  const { dids, ...query } = selection
  const found = await new DocumentSearch(database).find(
    readQuery(dids === undefined ? { ...query, limit: 1000 } : { query: {}, limit: 1000 }),
  )
  expect(displayHash(found.tip.hash)).toBe(displayHash(chain.tip.header.hash))
  const all = found.texts.map((text) => (JSON.parse(text) as { id: string }).id)
  return all.filter((did) => dids === undefined || dids.includes(did)).sort()
}

/** A client that keeps the set of documents that meet a condition by events alone. */
class Follower {
  readonly set = new Set<string>()
  readonly told: string[] = []
  untold = 0
  position: StartPoint = { kind: 'height', height: 0 }
  #cursor: EventCursor | undefined
  #follower: DocumentFollower | undefined
  readonly #pending: DocumentsChanged[] = []

  constructor(
    readonly selection: DocumentSelection,
    readonly share = 'one',
  ) {}

  /** Takes events until there are none, or about so many. */
  async listen(log: EventLog, most = Infinity): Promise<void> {
    this.#follower ??= log.documents.follow(documentCondition(true, this.selection)!, this.share)
    this.#cursor ??= new EventCursor(log, ['block', 'documents'], this.position, this.#follower)
    for (let taken = 0; taken < most;) {
      const events = await this.#some(this.#cursor)
      if (events === undefined) return
      for (const { data } of events) this.#take(data)
      taken += events.length
    }
  }

  /** The connection is lost: what is known of an unfinished block is forgotten. */
  leave(): void {
    this.#follower?.leave()
    this.#follower = undefined
    this.#cursor = undefined
    this.#pending.length = 0
  }

  async #some(cursor: EventCursor) {
    if (cursor.replaying) return (await cursor.replay()) ?? []
    const event = cursor.take()
    if (event !== undefined) return [event]
    if (!cursor.lacking) return undefined
    await cursor.load()
    return []
  }

  #take(data: EventData): void {
    if (data.topic === 'documents') {
      if (data.change === 'untold') this.untold++
      else this.#pending.push(data)
    } else if (data.topic === 'block') {
      for (const change of this.#pending.splice(0)) {
        expect(change).toMatchObject({ height: data.height, blockhash: data.hash, action: data.action })
        this.#apply(change)
      }
      const hash = data.action === 'apply' ? data.hash : data.previousblockhash
      this.position = { kind: 'block', hash: reversed(hex(hash)) }
    }
  }

  #apply({ action, change, did, txid, height }: DocumentsChanged): void {
    this.told.push(`${action} ${change} ${did} ${txid} ${height}`)
    // The set is not known any more.
    if (this.untold > 0) return
    const had = this.set.has(did)
    const comes = action === 'apply' ? change === 'begins' : change === 'ceases'
    expect(had, `${action} ${change} ${did}`).toBe(!comes)
    if (change === 'changes') return
    if (comes) this.set.add(did)
    else this.set.delete(did)
  }
}

/** Two branches over one trunk with random documents, in growing parts: at each step the longer one is the chain. */
async function histories(seed: number) {
  const random = new SeededRandom(seed)
  const one = await DocumentChain.open(random, 4)
  await one.change(3)
  const fork = one.node.reader.height
  const other = await one.branch(random)
  const parts = []
  for (const branch of [one, other, one, other]) {
    const from = branch.node.reader.height
    await branch.create(1 + random.below(2))
    await branch.change(4)
    const { height } = (branch === one ? other : one).node.reader
    while (branch.node.reader.height <= height) await branch.change(2)
    parts.push(await branch.blocks(from))
  }
  const trunk = (await one.blocks()).slice(0, fork)
  const dids = [...new Set([...one.dids, ...other.dids])].slice(0, 5)
  await one.node.close()
  await other.node.close()
  return { trunk, parts, dids, random }
}

describe('events about documents', () => {
  it('replayed give at each tip the set that a search gives, across reorganisations, losses and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const { trunk, parts, dids, random } = await histories(seed)
        const node = await TestChain.open(withoutValidators)
        const all = [...selections, { dids }, { query: `{id: {$in: ${JSON.stringify(dids.slice(0, 2))}}}` }]
        const steady = all.map((selection) => new Follower(selection))
        const restless = all.map((selection) => new Follower(selection, 'two'))
        const bounds = { documents: { openOfShare: 64 } }
        let log = await logOf(node, bounds)
        const check = async () => {
          for (const [i, follower] of steady.entries()) {
            await follower.listen(log)
            const set = await truth(node, follower.selection)
            expect([...follower.set].sort(), JSON.stringify(follower.selection)).toEqual(set)
            const other = restless[i] as Follower
            await other.listen(log, random.below(6))
            if (random.below(3) === 0) other.leave()
          }
        }
        for (const block of trunk) await node.accept(block)
        await check()
        for (const part of parts) {
          for (const block of part) {
            await node.accept(block)
            if (random.below(2) === 0) await check()
          }
          await check()
          if (random.below(2) === 0) {
            // Started again: numbers and what was worked out are gone.
            for (const follower of [...steady, ...restless]) follower.leave()
            log = await logOf(node, bounds)
          }
        }
        for (const [i, follower] of restless.entries()) {
          await follower.listen(log)
          expect([...follower.set].sort()).toEqual([...(steady[i] as Follower).set].sort())
          expect(follower.untold).toBe(0)
        }
        await node.close()
      }),
      { numRuns: rounds(2, 40), endOnFailure: true },
    )
  })

  it('follow one block to everyone who comes late, with the same events', async () => {
    const { trunk, dids } = await histories(7)
    const node = await TestChain.open(withoutValidators)
    const log = await logOf(node, { documents: { openOfShare: 64 } })
    const early = selections.map((selection) => new Follower(selection))
    for (const follower of early) await follower.listen(log)
    for (const block of trunk) {
      await node.accept(block)
      // All conditions together, from rows; a late one alone, from payloads.
      await log.documents.settle()
    }
    for (const follower of [...early, new Follower({ dids })]) {
      await follower.listen(log)
      const late = new Follower(follower.selection, 'two')
      await late.listen(log)
      expect(late.told).toEqual(follower.told)
    }
    await node.close()
  })

  it('are untold where a condition is too much work, and go on after it', async () => {
    const { trunk } = await histories(11)
    const node = await TestChain.open(withoutValidators)
    // One document and no array: 64 elements are the least that a condition needs.
    const log = await logOf(node, { documents: { work: { condition: 63 } } })
    const dear = new Follower({ query: '{service: {$size: 2}}' })
    const list = new Follower({ dids: [] })
    for (const block of trunk) {
      await node.accept(block)
      await log.documents.settle()
    }
    for (const follower of [dear, list]) await follower.listen(log)
    expect([dear.untold > 0, list.untold]).toEqual([true, 0])
    for (const { position } of [dear, list]) {
      expect(position.kind === 'block' && displayHash(position.hash)).toBe(node.chain.tip.header.id)
    }
    const late = new Follower(dear.selection, 'two')
    await late.listen(log)
    expect(late.untold).toBe(dear.untold)
    await node.close()
  })

  it('take the conditions with the fewest documents first where a block is too much work for all', async () => {
    const { trunk, dids } = await histories(13)
    const node = await TestChain.open(withoutValidators)
    const log = await logOf(node, { documents: { openOfShare: 64, work: { block: 200 } } })
    const narrow = new Follower({ query: `{id: "${dids[0]}"}` })
    const wide = Array.from({ length: 8 }, (_, i) => new Follower({ query: `{service: {$size: ${i}}}` }, `of ${i}`))
    for (const follower of [narrow, ...wide]) await follower.listen(log)
    for (const block of trunk) {
      await node.accept(block)
      await log.documents.settle()
    }
    for (const follower of [narrow, ...wide]) await follower.listen(log)
    expect(narrow.untold).toBe(0)
    expect(wide.filter(({ untold }) => untold > 0).length).toBeGreaterThan(4)
    await node.close()
  })

  it('follow a condition no longer once its subscription ends, and keep nothing for it', async () => {
    const node = await TestChain.open(withoutValidators)
    const log = await logOf(node)
    const follower = log.documents.follow(documentCondition(true, { service: 'Hub' })!, 'one')
    expect(log.documents.conditions).toMatchObject({ size: 1, reads: true })
    follower.leave()
    follower.leave()
    expect(log.documents.conditions).toMatchObject({ size: 0, reads: false })
    expect(await follower.look({ hash: node.chain.tip.header.hash, action: 'apply' })).toEqual([])
    await node.close()
  })
})
