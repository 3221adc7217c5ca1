import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProgramHash } from '../../../../src/base/primitives/address.js'
import { maxProvedEntries, didMapProof } from '../../../../src/answers/prover/map-proofs.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { didMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { didKey, didOperation, operationsUpTo } from '../../../../src/ledger/storage/rows/did-reader.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { PageMemory } from '../../../../src/ledger/storage/rows/map/page-memory.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { bookOf } from '../../../support/builders/chain-book.js'
import { holder } from '../../../support/builders/did.js'

const ada = holder()
const keyOf = (did: string) => didKey(did) as ProgramHash
const key = keyOf(ada.did)
let test: TestChain

/** A DID with operations at heights 1, 2, 4 and 6. */
beforeEach(async () => {
  test = await TestChain.open(withoutValidators)
  let txid = await test.publish(ada.create(), ada.did)
  for (const empty of [0, 1, 1]) {
    await test.mine(empty)
    txid = await test.publish(ada.update(txid, {}), ada.did)
  }
})
afterEach(() => test.close())

const source = () => ({ database: test.database, pages: new PageMemory() })
const proofAt = (height: number, from = 0) => didMapProof(source(), { did: ada.did, key, height, from })

async function write(stage: (overlay: Overlay) => void): Promise<void> {
  const overlay = new Overlay(test.database)
  stage(overlay)
  const { height, hash } = test.chain.tip.header
  await overlay.commit({ kind: 'pool', height, hash }, { sync: false })
}

describe('the operations of a DID up to a block', () => {
  it('are counted by their heights', () => {
    const counts = Array.from({ length: 8 }, (_, height) => operationsUpTo(test.database, key, height))
    expect(counts).toEqual([0, 1, 2, 2, 3, 3, 4, 4])
    expect(operationsUpTo(test.database, keyOf(holder().did), 7)).toBe(0)
  })
})

describe('what the map says of a DID', () => {
  it('is proved at every height, from any operation on', async () => {
    const book = await bookOf(test)
    for (let height = 1; height <= 6; height++) {
      const count = operationsUpTo(test.database, key, height)
      for (let from = 0; from <= count; from++) {
        const given = Math.max(1, count - from)
        expect(await proofAt(height, from)).toEqual(book.map(didMapKey(ada.did), height, given))
      }
    }
    const absent = { did: 'did:ledger:none', key: undefined, height: 6, from: 0 }
    expect(await didMapProof(source(), absent)).toEqual(book.map(didMapKey(absent.did), 6))
  })

  it('is too long with more operations than a proof has', async () => {
    const head = tables.didHead.get(test.database, key)
    const last = didOperation(test.database, key, 3)
    const operationCount = maxProvedEntries + 1
    await write((overlay) => {
      overlay.put(
        tables.didHead.key(key),
        tables.didHead.encode({ ...(head as NonNullable<typeof head>), operationCount }),
      )
      overlay.put(tables.didOperation.key(key, operationCount - 1), tables.didOperation.encode(last))
    })
    await expect(proofAt(6)).rejects.toMatchObject({
      code: 'history-size',
      message: expect.stringContaining(`${operationCount} operations`) as string,
    })
    // The last ones alone are no matter of size: here they are damage, since they were made up.
    await expect(proofAt(6, operationCount - 1)).rejects.toThrow('damaged')
  })

  it('is damage where an operation is missing, or another than the map has', async () => {
    const row = didOperation(test.database, key, 3)
    await write((overlay) =>
      overlay.put(
        tables.didOperation.key(key, 3),
        tables.didOperation.encode({ ...row, payloadHash: sha256('other') }),
      ),
    )
    expect(await proofAt(6)).toBeDefined()
    await write((overlay) =>
      overlay.put(tables.didOperation.key(key, 3), tables.didOperation.encode({ ...row, digest: sha256('other') })),
    )
    await expect(proofAt(6)).rejects.toThrow('the map of DIDs does not have what the rows of a DID say')
    await write((overlay) => overlay.del(tables.didOperation.key(key, 1)))
    await expect(proofAt(6)).rejects.toThrow(`operations of ${ada.did} are missing`)
  })
})
