import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { acceptRun, runsOf } from '../../../src/ledger/chain/accept-run.js'
import type { IncomingBlock } from '../../../src/ledger/chain/block-run.js'
import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { Block } from '../../../src/base/primitives/block.js'
import { toHex } from '../../../src/base/primitives/bytes.js'
import { type DidOperation, operationForms } from '../../../src/base/primitives/did-operation.js'
import { txType } from '../../../src/base/primitives/payload.js'
import type { Database } from '../../../src/ledger/storage/database.js'
import { digestOf } from '../../../src/ledger/storage/care/table-digest.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { TestChain } from '../../support/builders/chain.js'
import {
  type Arrival,
  arrive,
  historySpecs,
  type HistoryKind,
  incomingFrom,
  MixedHistory,
} from '../../support/builders/mixed-history.js'
import { thorough } from '../../support/process/thorough.js'

/**
 * 1,002 mixed blocks, of which 110 times a longer branch takes the place of the last ones: whole with DIDLEDGER_THOROUGH=1, the first
 * eleven rounds otherwise. Digests are kept beside, so that a change shows which changes a row, or a byte of a block.
 */
const count = thorough ? 110 : 11
const kept = JSON.parse(readFileSync(new URL('mixed-blocks.json', import.meta.url), 'utf8')) as Record<string, unknown>

/** Rows of arrivals, batches, branches and pools: other nodes have others. */
const ownRows: readonly string[] = ['meta', 'header', 'journal', 'sideBody', 'leftBranch', 'pool', 'dropped', 'outbox']
const equalTables = Object.entries(tables).filter(([name]) => !ownRows.includes(name))

/** Digest of each table that follows from the chain, by its name. */
async function digestsOf(database: Database): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const [name, { number }] of equalTables) digests[name] = toHex(await digestOf(database, [number]))
  return digests
}

function digestOfAll(texts: Iterable<string | Uint8Array>): string {
  const digest = createHash('sha256')
  for (const text of texts) digest.update(text)
  return digest.digest('hex')
}

/** A number of every kind of transaction and operation in blocks. */
function contentsOf(blocks: readonly IncomingBlock[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { block } of blocks) {
    for (const { payload } of Block.fromBytes(block).transactions.slice(1)) {
      const kind = payload.type === txType.did ? formOf(payload.operation) : 'payment'
      counts[kind] = (counts[kind] ?? 0) + 1
    }
  }
  return counts
}

/** Name of an operation; a DID with a name is signed for by keys of other DIDs. */
function formOf({ operation, verificationMethod }: DidOperation): string {
  const { subject } = operationForms[operation as keyof typeof operationForms]
  return subject === 'did' && verificationMethod.startsWith('did:') ? `${operation} of a name` : operation
}

/** A node without a pool that got the arrivals, with the least batches for a reorganisation. */
async function after(arrivals: readonly Arrival[], kind: HistoryKind, signatures: SignatureCache): Promise<TestChain> {
  const test = await TestChain.open(historySpecs[kind], { signatures, reorganisationBytes: 1 })
  test.clock.time = Number.MAX_SAFE_INTEGER
  for (const one of arrivals) await arrive(test, one)
  return test
}

/** A node that got nothing but the blocks of the last chain, in runs as a sync has them. */
async function synced(blocks: readonly IncomingBlock[], kind: HistoryKind): Promise<TestChain> {
  const test = await TestChain.open(historySpecs[kind])
  test.clock.time = Number.MAX_SAFE_INTEGER
  for await (const run of runsOf(Readable.from(blocks))) {
    expect(await acceptRun(test.chain, run)).toEqual({ taken: run.length, added: run.length })
  }
  return test
}

describe('mixed blocks and reorganisations', () => {
  it.each(['work', 'devnet'] as const)('leave the rows of the last chain alone (%s)', async (kind) => {
    const signatures = new SignatureCache()
    const history = await MixedHistory.open(kind, signatures)
    for (let i = 0; i < count; i++) await history.round()
    // Of 110 rounds with nine blocks each.
    if (count === 110) await history.extend(12)
    const { arrivals, chain } = history
    const blocks = await incomingFrom(chain, 1)
    const rows = await digestsOf(chain.database)

    const given = await after(arrivals, kind, signatures)
    expect(await digestsOf(given.database)).toEqual(rows)
    const fresh = await synced(blocks, kind)
    expect(fresh.chain.tip.header.id).toBe(chain.chain.tip.header.id)
    expect(await digestsOf(fresh.database)).toEqual(rows)

    const accepted = arrivals.filter(({ refused }) => refused === undefined)
    const taken = accepted.flatMap((one) => one.blocks)
    const summary = {
      blocks: taken.length,
      height: blocks.length,
      reorganisations: accepted.filter((one) => one.blocks.length > 1).length,
      refused: arrivals.length - accepted.length,
      contents: contentsOf(taken),
      bytes: digestOfAll(taken.flatMap(({ block, confirm = '' }) => [block, confirm])),
      rows: digestOfAll(Object.entries(rows).flat()),
    }
    expect(summary).toEqual(kept[`${kind}, ${count} rounds`])
    for (const one of [history, given, fresh]) await one.close()
  })
})
