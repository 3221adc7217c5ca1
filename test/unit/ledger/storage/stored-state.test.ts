import { describe, expect, it } from 'vitest'
import { Overlay } from '../../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../../src/ledger/storage/rows/tables.js'
import { didKey, storedDocument } from '../../../../src/ledger/storage/rows/did-reader.js'
import { putDisconnected, StoredState } from '../../../../src/ledger/storage/stored-state.js'
import { craft, craftBlock, genesisCoin, outputOf, personHash } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'
import { holder } from '../../../support/builders/did.js'
import { leftovers } from '../../../support/assert/row-invariants.js'

const rich = 100_000_000_000n

describe('the state in rows', () => {
  it('tells a DID as the state machine made it, through updates and a deactivate', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const created = await test.publish(ada.create(), ada.did)
    const first = test.chain.state.did(ada.did)
    expect(first).toMatchObject({ status: 'valid', operationCount: 1, lastTxid: created, documentTxid: created })
    const services = [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }]
    const updated = await test.publish(ada.update(created, { services }), ada.did)
    expect(storedDocument(test.database, didKey(ada.did) as Uint8Array).services).toHaveLength(1)
    const deactivated = await test.publish(ada.deactivate(), ada.did)
    expect(test.chain.state.did(ada.did)).toMatchObject({
      status: 'deactivated',
      operationCount: 3,
      lastTxid: deactivated,
      documentTxid: updated,
    })
    expect(test.chain.state.issuer(ada.did)?.status).toBe('deactivated')
    expect(test.chain.state.did(holder().did)).toBe(undefined)
    expect(test.chain.state.did('did:ledger:nobody')).toBe(undefined)
    expect(test.chain.state.did('did:other:x')).toBe(undefined)
  })

  it('takes operations of one DID back in reverse order', async () => {
    const test = await TestChain.open()
    const ada = holder()
    const create = await test.carry(ada.create(), ada.did, 10)
    const update = await test.carry(ada.update(create.txid), ada.did, 11)
    const both = craftBlock(test.chain, { transactions: [create, update] })
    expect(await leftovers(test, both)).toEqual([])
    await test.accept(both)
    const deactivate = await test.carry(ada.deactivate(), ada.did, 10)
    const last = craftBlock(test.chain, { transactions: [deactivate] })
    expect(await leftovers(test, last)).toEqual([])
    await test.accept(last)
    const overlay = new Overlay(test.database)
    await putDisconnected(overlay, last)
    expect(new StoredState(overlay, { time: () => 0 }).did(ada.did)).toMatchObject({
      status: 'valid',
      lastTxid: update.txid,
    })
    await putDisconnected(overlay, both)
    expect(new StoredState(overlay, { time: () => 0 }).did(ada.did)).toBe(undefined)
    expect(overlay.get(tables.didHead.key(didKey(ada.did) as Uint8Array))).toBe(undefined)
  })

  it('lists a transaction once with every address it touches, paying or paid', async () => {
    const test = await TestChain.open()
    const { spec, chain } = test
    const outputs = [
      { to: 30, value: 1000n },
      { to: 30, value: 2000n },
      { to: 10, value: 5000n },
      { to: 31, value: 0n },
    ]
    const first = craft(spec, [genesisCoin(chain)], outputs, [10])
    const second = craft(spec, [outputOf(first, 2)], [{ to: 32, value: 1000n }], [10])
    const block = craftBlock(chain, { transactions: [first, second] })
    expect(await leftovers(test, block)).toEqual([])
    await test.accept(block)
    const history = async (person: number) => {
      const rows = await test.database.keys(tables.history.range(personHash(person)))
      return rows.map((key) => [key.readUInt32BE(22), key.readUInt16BE(26)])
    }
    expect(await history(10)).toEqual([
      [0, 0],
      [1, 1],
      [1, 2],
    ])
    expect(await history(30)).toEqual([[1, 1]])
    expect(await history(31)).toEqual([[1, 1]])
    expect(await history(32)).toEqual([[1, 2]])
    // An output of nothing is no coin.
    expect(test.reader.balance(personHash(31))).toEqual({ sum: 0n, count: 0 })
    expect(test.reader.balance(personHash(30))).toEqual({ sum: 3000n, count: 2 })
    expect(test.reader.balance(personHash(10))).toEqual({ sum: 0n, count: 0 })
    expect(await test.reader.coins(personHash(30))).toHaveLength(2)
    expect(test.reader.balance(personHash(11)).sum).toBe(2n * rich)
  })

  it('stops where its rows contradict each other', async () => {
    const test = await TestChain.open()
    const [block] = await test.mine()
    if (block === undefined) throw new Error('no block')
    const overlay = new Overlay(test.database)
    overlay.del(tables.undo.key(1))
    await expect(putDisconnected(overlay, block)).rejects.toThrow(
      /damaged: the undo record of height 1 is missing; run:/,
    )
    const info = { kind: 'block', ...test.chain.tip.header } as const
    const poor = new Overlay(test.database)
    poor.del(tables.balance.key(personHash(20)))
    await poor.commit(info, { sync: false })
    // As after a start.
    test.database.newest.coins.clear()
    const back = new Overlay(test.database)
    await putDisconnected(back, block)
    await expect(back.commit(info, { sync: false })).rejects.toThrow(/below zero/)
  })
})
