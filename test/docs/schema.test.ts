import { describe, expect, it } from 'vitest'
import { mapKey } from '../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../src/base/primitives/genesis.js'
import { parseSpec } from '../../src/base/primitives/spec.js'
import { journalRow, journalRowSize } from '../../src/ledger/storage/write/journal.js'
import { keys, schemaVersion, table } from '../../src/ledger/storage/rows/schema.js'
import { values } from '../../src/ledger/storage/rows/row-values.js'
import { code, repositoryFile, section, tableRows } from '../support/assert/markdown.js'
import { testSpec } from '../support/builders/spec.js'

const page = repositoryFile('docs/schema.md')
const described = tableRows(section(page, 'Tables')).map(([number = '', name, , keyBytes, , valueBytes]) => ({
  number,
  name: code(name) as keyof typeof table,
  keyBytes,
  valueBytes,
}))

const hash = new Uint8Array(32)
const programHash = new Uint8Array(21)
const coin = { height: 1, coinbase: true, value: 1n, outputLock: 0, owner: mapKey(programHash) }

/** A key of each table whose keys have one length. */
const keyOf: Readonly<Partial<Record<keyof typeof table, Uint8Array>>> = {
  journal: keys.journal(1),
  header: keys.header(hash),
  active: keys.active(1),
  transaction: keys.transaction(1, 1),
  sideBody: keys.sideBody(hash),
  location: keys.location(hash),
  confirm: keys.confirm(hash),
  coin: keys.coin({ txid: hash, index: 1 }),
  addressCoin: keys.addressCoin(programHash, 1, { txid: hash, index: 1 }),
  balance: keys.balance(programHash),
  history: keys.history(programHash, 1, 1),
  undo: keys.undo(1),
  didHead: keys.didHead(programHash),
  didOperation: keys.didOperation(programHash, 1),
  didDocument: keys.didDocument({ height: 1, index: 1 }),
  leftBranch: keys.leftBranch(1),
  sideChain: keys.sideChain(hash),
  credential: keys.credential(hash),
  declared: keys.declared(programHash, 1),
  declaredCount: keys.declaredCount(programHash),
  ordinal: keys.ordinal(1),
  indexUndo: keys.indexUndo(1),
  mapRoot: keys.mapRoot(1),
  pool: keys.pool(hash),
  dropped: keys.dropped(hash),
  peer: keys.peer(hash),
  candidate: keys.candidate(hash),
  evidence: keys.evidence(1, 1, 1, new Uint8Array(33)),
}

/** A value of each table whose values have one length. */
const valueOf: Readonly<Partial<Record<keyof typeof table, Uint8Array>>> = {
  journal: journalRow.encode({ kind: 'block', height: 1, hash, bytes: 0, previous: hash, operations: hash }),
  active: genesisBlock(parseSpec(testSpec())).header.hash,
  location: values.location.encode({ height: 1, index: 1 }),
  coin: values.coin.encode(coin),
  addressCoin: values.addressCoin.encode(1n),
  balance: values.balance.encode({ sum: 1n, count: 1 }),
  history: new Uint8Array(0),
  didHead: values.didHead.encode({ status: 'valid', operationCount: 1, documentSequence: 0, ordinal: 0 }),
  didOperation: values.didOperation.encode({
    height: 1,
    index: 1,
    txid: hash,
    operation: 1,
    time: 1,
    payloadHash: hash,
    digest: hash,
  }),
  leftBranch: values.leftBranch.encode({ tip: { hash, height: 1 }, forkHeight: 0 }),
  sideChain: values.height.encode(1),
  declaredCount: values.declaredCount.encode(1),
  ordinal: values.location.encode({ height: 1, index: 1 }),
  tokenCount: values.tokenCount.encode(1),
}

describe('docs/schema.md', () => {
  it('describes every table of the database under its number, and no other', () => {
    const held = Object.entries(table).map(([name, number]) => [number.toString(16).padStart(2, '0'), name])
    expect(described.map(({ number, name }) => [number, name])).toEqual(held)
    expect(page).toContain(`layout version ${schemaVersion}.`)
  })

  it.each(described)('has the lengths of $name', ({ name, keyBytes, valueBytes }) => {
    expect(keyBytes).toBe(String(keyOf[name]?.length ?? 'n'))
    expect(valueBytes).toBe(String(valueOf[name]?.length ?? 'n'))
    if (keyOf[name] !== undefined) expect(keyOf[name][0]).toBe(table[name])
  })

  it('has the lengths of the meta rows and of the journal', () => {
    expect(values.tip.encode({ hash, height: 1 }).length).toBe(36)
    expect(page).toContain('`tip` is block hash and height u32, 36 bytes')
    const fields = tableRows(section(page, 'Batches and the journal')).map(([, bytes]) => Number(bytes))
    expect(fields.reduce((sum, bytes) => sum + bytes, 0) + (keyOf.journal?.length ?? 0)).toBe(journalRowSize)
  })
})
