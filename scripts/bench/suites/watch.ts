import { EventEmitter } from 'node:events'
import { documentCondition } from '../../../src/answers/resolver/document-condition.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { EventLog } from '../../../src/ledger/events/event-log.js'
import { type Holder, holder } from '../../../test/support/builders/did.js'
import { ChangingCache } from '../changing-cache.js'
import { median, quantile, type Spent, spentOn, threadTime } from '../measure.js'
import { type Row, row, shown } from '../report.js'
import { create, mineBlock, update, withChain, withWorkshop, type Workshop } from '../workshop.js'

const operations = 500
const conditions = 10_000
const rounds = { warmUp: 4, measured: 8 }
const updateBlocks = rounds.warmUp + rounds.measured
const about = 'Where somebody works, what they like, and how they are reached. '.repeat(8)

/**
 * Blocks of 500 updates of documents of about 1.5 kB, held against 10,000 conditions of subscriptions, each of another text: types of
 * services, values of claims, issuers, ranges within a type. Against connecting the same block.
 */
export async function suite(): Promise<Row[]> {
  const signatures = new ChangingCache()
  const { spec, blocks, holders } = await withWorkshop((shop) => prepare(shop, signatures), signatures)
  const updates = blocks.splice(-updateBlocks)
  return withChain(spec, async (chain) => {
    const clock = { now: () => Date.now() }
    // No pool: the events of blocks are all that counts.
    const mempool = { events: new EventEmitter() } as never
    const log = await EventLog.open({ chain, mempool, clock, documents: { openOfShare: 64 } })
    for (const block of blocks) await chain.acceptBlock(block)
    const narrow = Array.from({ length: conditions }, (_, i) => conditionOf(i, holders))
    const followers = narrow.map((query) => log.documents.follow(documentCondition(true, { query })!, 'bench'))
    const told: Spent[] = []
    const connected: Spent[] = []
    const slices: number[] = []
    for (const [round, block] of updates.entries()) {
      const connecting = await spentOn(() => chain.acceptBlock(block))
      const endSlices = followSlices()
      const telling = await spentOn(() => log.documents.settle())
      const seen = endSlices()
      if (round < rounds.warmUp) continue
      connected.push(connecting)
      told.push(telling)
      slices.push(...seen)
    }
    const hash = chain.tip.header.hash
    const events = followers.reduce((sum, one) => sum + (one.found({ hash, action: 'apply' })?.length ?? 0), 0)
    if (events < operations) throw new Error(`${events} events of a block`)
    const [cost, beside] = [
      median(told.map(({ main }) => main)),
      median(connected.map(({ main, others }) => main + others)),
    ]
    const all = `${shown(conditions)} conditions, a block of ${operations} updates`
    return [
      row(`${all}: processor time`, cost, 'ms', { most: 100 }),
      row('the same, against connecting the block on all threads', cost, 'ms', {
        ratio: [cost / beside, 'connecting'],
        most: 0.5,
      }),
      row('of it garbage collection', median(told.map(({ collecting }) => collecting)), 'ms'),
      row('processor time of a slice, p99', quantile(slices, 0.99), 'ms', { most: 10 }),
      row('events of one block', events, ''),
    ]
  })
}

/** Notes the processor time from each turn of the event loop to the next; the returned function ends that. */
function followSlices(): () => readonly number[] {
  const slices: number[] = []
  let [last, running] = [threadTime(), true]
  const note = () => {
    const now = threadTime()
    slices.push(now - last)
    last = now
    if (running) setImmediate(note)
  }
  setImmediate(note)
  return () => {
    running = false
    return slices
  }
}

function conditionOf(i: number, holders: readonly Holder[]): string {
  const one = holders[i % holders.length] as Holder
  if (i % 4 === 0) return `{service: {type: "Type${i % 200}", text: {$regex: "${i}"}}}`
  if (i % 4 === 1) return `{credential: {type: ["T"], subject: {name: "Ada ${i}"}}}`
  if (i % 4 === 2) return `{id: "${one.did}", expires: {$gte: "${2000 + i}"}}`
  return `{service: {type: "Another${i}"}}`
}

/** Blocks as bytes, of which the last ones are updates. */
async function prepare(shop: Workshop, signatures: ChangingCache) {
  const { chain } = shop
  const blocks: Uint8Array[] = []
  chain.events.on('change', ({ connected }) => {
    for (const { block } of connected) blocks.push((block as Block).bytes)
  })
  shop.coins.unshift(...(await shop.fan(operations * (updateBlocks + 1))))
  const mine = async (made: readonly DidOperation[]) => {
    const transactions = made.map((operation) => shop.carry(operation))
    await chain.acceptBlock((await mineBlock(chain, transactions)).bytes)
    return transactions.map(({ txid }) => txid)
  }
  const holders = Array.from({ length: operations }, holder)
  let txids = await mine(holders.map((one) => create(one)))
  for (let round = 0; round < updateBlocks; round++) {
    signatures.current = new SignatureCache()
    txids = await mine(holders.map((one, i) => updateOf(one, txids[i] as string, { i, round })))
  }
  return { spec: chain.sanity.spec, blocks, holders }
}

function updateOf(one: Holder, previousTxid: string, { i, round }: { i: number; round: number }): DidOperation {
  const service = { id: '#about', type: `Type${i % 200}`, serviceEndpoint: `https://example.org/${round}`, text: about }
  const credentialSubject = { id: one.did, name: `Ada ${i}`, email: 'ada@example.org', round }
  const credential = one.issue(one.did, { type: ['T'], credentialSubject })
  return update(one, previousTxid, { services: [service], credentials: [credential] })
}
