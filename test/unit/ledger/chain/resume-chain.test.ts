import { describe, expect, it } from 'vitest'
import { Chain } from '../../../../src/ledger/chain/chain.js'
import { checkRecentBlocks } from '../../../../src/ledger/chain/check-recent-blocks.js'
import { createInlineVerifier } from '../../../../src/base/crypto/inline.js'
import { SignatureCache } from '../../../../src/base/crypto/signature-cache.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { StorageError } from '../../../../src/ledger/storage/failure.js'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { memoryStore, oneValidator, TestChain, withoutValidators } from '../../../support/builders/chain.js'
import { testPublicKey } from '../../../support/builders/spec.js'

describe('the chain of a database', () => {
  it('is refused where it is of another spec, or of other upgrades below the tip', async () => {
    const store = memoryStore()
    const upgrade = (height: number, minimum: string) => {
      return { height, name: 'dearer', parameters: { fees: { minimum, perByte: '1' } } }
    }
    const test = await TestChain.open({ ...withoutValidators, upgrades: [upgrade(5, '200')] }, { store })
    await test.mine(4)
    await test.close()
    const reopen = async (overrides: object) => {
      const parts = { ...withoutValidators, ...overrides }
      const opened = await TestChain.open(parts, { store })
      await opened.close()
      return opened
    }
    await expect(reopen({ maturity: 5 })).rejects.toThrow('another spec')
    // An upgrade above the tip may still change.
    const later = await reopen({ upgrades: [upgrade(5, '300')] })
    expect(later.reader.height).toBe(4)
    const past = await TestChain.open({ ...withoutValidators, upgrades: [upgrade(5, '300')] }, { store })
    await past.mine(1)
    await past.close()
    await expect(reopen({ upgrades: [upgrade(5, '200')] })).rejects.toThrow(StorageError)
  })

  it('is refused where the spec has other validators right above the tip than its block names', async () => {
    const store = memoryStore()
    const upgrade = (height: number) => ({
      upgrades: [{ height, name: 'other', parameters: { validators: [toHex(testPublicKey(1))] } }],
    })
    const test = await TestChain.open(oneValidator(), { store })
    await test.mine(3)
    await test.close()
    const open = (overrides: object) => TestChain.open({ ...oneValidator(), ...overrides }, { store })
    await expect(open(upgrade(4))).rejects.toThrow('height 3 names other validators for height 4')
    await (await open(upgrade(5))).close()
    // Nor can one that was announced be put off any more.
    const announced = await open(upgrade(5))
    await announced.mine()
    await announced.close()
    await expect(open(upgrade(6))).rejects.toThrow('names other validators')
    await (await open(upgrade(5))).close()
  })

  it('is taken up without the transactions of its tip, which the look at recent blocks finds', async () => {
    const store = memoryStore()
    const test = await TestChain.open(oneValidator(), { store })
    await test.mine(2)
    const overlay = new Overlay(test.database)
    overlay.del(tables.transaction.key(2, 0))
    await overlay.commit({ kind: 'header', height: 2, hash: test.chain.tip.header.hash }, { sync: false })
    await test.close()
    const again = await TestChain.open(oneValidator(), { store })
    expect(again.reader.height).toBe(2)
    await expect(checkRecentBlocks(again.chain, { fromHeight: 0 })).rejects.toThrow('0 of 1 transactions')
    await again.close()
  })

  it.each([
    ['genesis block', () => tables.active.key(0)],
    ['header of the tip', (test: TestChain) => tables.header.key(test.chain.tip.header.hash)],
  ])('is refused without the %s', async (what, keyOf) => {
    const test = await TestChain.open()
    await test.mine()
    const { spec, database, clock, log } = test
    const overlay = new Overlay(database)
    overlay.del(keyOf(test))
    await overlay.commit({ kind: 'header', height: 1, hash: test.chain.tip.header.hash }, { sync: false })
    const parts = { verifier: createInlineVerifier(), signatures: new SignatureCache() }
    const opened = Chain.open({ spec, database, clock, log, ...parts })
    await expect(opened).rejects.toThrow(new RegExp(`the ${what} is gone.*didledger chain reindex`))
  })
})
