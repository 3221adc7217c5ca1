import { describe, expect, it } from 'vitest'
import { genesisInto } from '../../../../src/ledger/chain/block-records.js'
import { Database } from '../../../../src/ledger/storage/database.js'
import { hasMap } from '../../../../src/ledger/storage/rows/map/map-rows.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { meta, schemaVersion, tables } from '../../../../src/ledger/storage/rows/tables.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { memoryStore } from '../../../support/builders/chain.js'
import { testSpec } from '../../../support/builders/spec.js'

describe('the rows of genesis', () => {
  it('name the layout and the rules, that days are counted, and a map of DIDs where the chain keeps one', async () => {
    const genesis = genesisBlock(parseSpec(testSpec()))
    for (const map of [true, false]) {
      const database = await Database.over(memoryStore())
      const overlay = new Overlay(database)
      await genesisInto(overlay, genesis, { map })
      await overlay.commit({ kind: 'genesis', height: 0, hash: genesis.header.hash }, { sync: false })
      expect(database.get(meta.version.key)).toEqual(Buffer.of(schemaVersion))
      expect(database.get(meta.rules.key)).toEqual(Buffer.of(1))
      expect(meta.days.get(database)).toBe(0)
      expect(database.get(tables.active.key(0))).toEqual(Buffer.from(genesis.header.hash))
      expect(hasMap(database)).toBe(map)
      await database.close()
    }
  })
})
