import { describe, expect, it } from 'vitest'
import { namedDid } from '../../../src/identity/did/named-did.js'
import { displayHash, toHex } from '../../../src/base/primitives/bytes.js'
import { didMapKey } from '../../../src/identity/proofs/map-tree.js'
import { mapProofJson, mapRootOf } from '../../../src/identity/proofs/map-proof.js'
import { mapRootAfter } from '../../../src/ledger/storage/rows/map/map-rows.js'
import { pagesAfter, readWay } from '../../../src/ledger/storage/rows/map/read-way.js'
import { TestChain } from '../../support/builders/chain.js'
import { lightOver } from '../../support/builders/light-world.js'
import { bookOf, shorten } from '../../support/builders/chain-book.js'
import { Crowd, random } from '../../support/builders/random-chain.js'
import { rounds } from '../../support/process/thorough.js'

describe('the chain of a node', () => {
  it.each(Array.from({ length: rounds(1, 20) }, (_, i) => i + 1))(
    'is proved at every height, through reorganisations: seed %i',
    async (seed) => {
      const roll = random(seed)
      const test = await TestChain.open()
      const crowd = new Crowd(roll)
      for (let i = 0; i < 14; i++) {
        for (let n = roll(6); n > 0; n--) await crowd.act(test)
        if (roll(4) === 0 && test.chain.tip.header.height > 3) await shorten(test, 1 + roll(3))
        else await test.mine()
        crowd.look(test)
      }
      await test.mine(6)
      const book = await bookOf(test)
      const rows = test.database.freeze()
      const dids = new Set(
        [...book.transactions.values()].flatMap(({ payload }) =>
          payload.type === 10 ? (namedDid(payload.operation) ?? []) : [],
        ),
      )
      const tip = book.tip.height
      for (const did of [...dids, 'did:ledger:nobody']) {
        for (let height = 1; height <= tip - 6; height++) {
          const { siblings, end } = await readWay(pagesAfter(rows, height), didMapKey(did))
          const { history, ...way } = book.map(didMapKey(did), height)
          if (history === undefined) expect(mapProofJson({ siblings, ...(end && { leaf: end }) })).toEqual(way)
          const root = mapRootAfter(test.database, height)
          expect(toHex(mapRootOf({ siblings, ...(end && { leaf: end }) }, didMapKey(did)))).toBe(root && toHex(root))
          const light = lightOver(book, { answer: () => book.answer(did, { all: true, height }) }, { maxAge: 1e9 })
          const found = await light.resolve(did, { all: true, height })
          const told = book.history(didMapKey(did), height).map(({ txid }) => displayHash(txid))
          expect((found.transaction ?? []).map(({ txid }) => txid).reverse()).toEqual(told)
        }
      }
      rows.close()
      await test.close()
    },
  )
})
