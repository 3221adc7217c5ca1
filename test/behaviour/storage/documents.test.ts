import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildDocument } from '../../../src/identity/did/build.js'
import { payloadText } from '../../support/builders/payload-text.js'
import type { DidState } from '../../../src/identity/did/state.js'
import { Database } from '../../../src/ledger/storage/database.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { StoredState } from '../../../src/ledger/storage/stored-state.js'
import { memoryStore } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { DidRows, unsigned } from '../../support/builders/did-rows.js'
import { rounds } from '../../support/process/thorough.js'

const holders = [holder(), holder(), holder()]
/** Some documents of each holder, built once. */
const documents = holders.map(({ plan }) =>
  ['A', 'B', 'Ü'].map((name) =>
    buildDocument(
      { ...plan, services: [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://x.example', name }] },
      unsigned,
    ),
  ),
)
const cast = { holders, documents }

/** The documents of all DIDs by create operation, from the blocks alone. */
function expected({ blocks }: DidRows): string[][] {
  const rows = new Map<number, { key: string; text: string }>()
  blocks.forEach(({ done }, height) =>
    done.forEach(({ who, kind, document }, i) => {
      const key = rows.get(who)?.key ?? tables.didDocument.key({ height, index: i + 1 }).toString('hex')
      if (kind === 'deactivate') rows.delete(who)
      else rows.set(who, { key, text: payloadText(document) })
    }),
  )
  return [...rows.values()].map(({ key, text }) => [key, text]).sort()
}

const time = () => 0

/** Every DID as a state tells it that remembers what it read, and as one that does not. */
function told({ overlay, known }: DidRows): [unknown, unknown][] {
  const states = [new StoredState(overlay, { time, documents: known }), new StoredState(overlay, { time })]
  return holders.map(({ did }) => states.map((state) => spelled(state.did(did))) as [unknown, unknown])
}

async function held({ database }: DidRows): Promise<string[][]> {
  const rows = await database.rows(tables.didDocument.range())
  return rows.map(([key, value]) => [key.toString('hex'), value.toString('utf8')])
}

/** All of a state. */
function spelled(state: DidState | undefined): unknown {
  if (state === undefined) return undefined
  const { status, operationCount, lastTxid, documentTxid, documentPayloadSize, document } = state
  const { id, authentication, authorization, credentials } = document
  const head = { status, operationCount, lastTxid, documentTxid, documentPayloadSize }
  return { ...head, id, authentication, authorization, credentials }
}

const deed = fc.record({ who: fc.nat(2), which: fc.nat(2), end: fc.integer({ min: 0, max: 3 }).map((n) => n === 0) })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.array(deed, { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.constant('disconnect' as const) },
  { weight: 2, arbitrary: fc.constant('commit' as const) },
)

describe('the table of documents', () => {
  it('holds what the blocks say, whatever was connected and taken back, in one batch or many', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const rows = new DidRows(await Database.over(memoryStore()), cast)
        for (const next of steps) {
          if (next === 'disconnect') await rows.disconnect()
          else if (next === 'commit') await rows.commit()
          else await rows.connect(next)
          for (const [cached, fresh] of told(rows)) expect(cached).toEqual(fresh)
        }
        await rows.commit()
        expect(await held(rows)).toEqual(expected(rows))
        while (rows.blocks.length > 0) await rows.disconnect()
        await rows.commit()
        expect(await held(rows)).toEqual([])
      }),
      { numRuns: rounds(100, 400) },
    )
  })

  it('holds them in the order of the create operations, normalised', async () => {
    const rows = new DidRows(await Database.over(memoryStore()), cast)
    await rows.connect([2, 0].map((who) => ({ who, which: 0, end: false })))
    await rows.connect([1, 2].map((who) => ({ who, which: 1, end: false })))
    await rows.commit()
    const documentRows = await held(rows)
    expect(documentRows.map(([key]) => key)).toEqual(['0f000000000001', '0f000000000002', '0f000000010001'])
    expect(documentRows.map(([, text]) => JSON.parse(text as string) as unknown)).toMatchObject([
      { id: holders[2]?.did, service: [{ id: `${holders[2]?.did}#hub`, name: 'B' }] },
      { id: holders[0]?.did, service: [{ name: 'A' }] },
      { id: holders[1]?.did, service: [{ name: 'B' }] },
    ])
  })
})
