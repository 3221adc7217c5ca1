import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { Overlay } from '../../../src/ledger/storage/write/overlay.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { askJson, contextOf, serve } from '../../support/client/api.js'
import { craft, craftBlock, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { spyFrozen } from '../../support/fakes/frozen-spy.js'
import { testAddress } from '../../support/builders/spec.js'
import { owner, RpcClient } from '../../support/client/rpc.js'

interface Position {
  readonly height: number
  readonly index: number
}
interface History {
  readonly address: string
  readonly transactions: readonly (Position & { readonly txid: string; readonly kind: string })[]
  readonly next?: Position
}
interface Operations {
  readonly operations: readonly (Position & { readonly did: string; readonly operation: string })[]
  readonly next?: Position
}

const rich = 100_000_000_000n
const chains: TestChain[] = []
const open = async (...options: Parameters<typeof TestChain.open>) => {
  const node = await TestChain.open(...options)
  chains.push(node)
  return node
}
afterEach(async () => {
  vi.restoreAllMocks()
  for (const node of chains.splice(0)) await node.close()
})

/** Blocks with so many transfers of person 10 to person 12, each of which spends the change of the one before. */
async function payAgain(node: TestChain, counts: readonly number[]): Promise<void> {
  let coin = genesisCoin(node.chain)
  let left = rich
  for (const count of counts) {
    const transactions: Transaction[] = []
    for (let i = 0; i < count; i++) {
      left -= 1100n
      const paid = craft(
        node.spec,
        [coin],
        [
          { to: 12, value: 100n },
          { to: 10, value: left },
        ],
        [10],
      )
      transactions.push(paid)
      coin = outputOf(paid, 1)
    }
    await node.accept(craftBlock(node.chain, { transactions, fees: 1000n * BigInt(count) }))
  }
}

const useOf = ({ height, index, time }: { height: number; index: number; time: number }) => ({ height, index, time })

describe('getaddresshistory', () => {
  it('tells what each transaction brought and took, and its fee', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    const paid = craft(
      node.spec,
      [genesisCoin(node.chain)],
      [
        { to: 12, value: 500n },
        { to: 12, value: 70n },
        { to: 10, value: rich - 1570n },
      ],
      [10],
    )
    await node.accept(craftBlock(node.chain, { transactions: [paid], fees: 1000n }))
    const { id: blockhash, time } = node.activeHeader(1).header
    const row = { txid: paid.txid, height: 1, index: 1, blockhash, time, kind: 'transfer', fee: '0.00001000' }
    const first = { height: 0, index: 0, blockhash: node.chain.genesis.hash, time: node.spec.time, kind: 'coinbase' }
    expect(await rpc.call('getaddresshistory', [testAddress(12)])).toEqual({
      address: testAddress(12),
      transactions: [{ ...row, received: '0.00000570', spent: '0.00000000' }],
      first: useOf(row),
      last: useOf(row),
    })
    expect(await rpc.call('getaddresshistory', { address: testAddress(10) })).toEqual({
      address: testAddress(10),
      transactions: [
        { ...row, received: '999.99998430', spent: '1000.00000000' },
        { ...first, txid: node.chain.genesis.transactions[0]?.txid, received: '1000.00000000', spent: '0.00000000' },
      ],
      first: useOf(first),
      last: useOf(row),
    })
    // Nothing is spent by a coinbase, so that it has no fee.
    const mined = await rpc.call<History>('getaddresshistory', { address: testAddress(20) })
    expect(mined.transactions).toEqual([expect.objectContaining({ kind: 'coinbase', spent: '0.00000000' })])
    expect(mined.transactions[0]).not.toHaveProperty('fee')
  })

  it('is empty for an address without transactions, those in the pool included', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    await node.send(await node.transfer(testAddress(12), 500n))
    const address = testAddress(12)
    expect(await rpc.call('getaddresshistory', { address })).toEqual({ address, transactions: [] })
    await node.mine()
    expect(await rpc.call<History>('getaddresshistory', { address })).toMatchObject({ transactions: [{ height: 1 }] })
  })

  it('is read in pages that stay as they are while the chain grows', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    const address = testAddress(12)
    await payAgain(node, [2, 0, 5, 1])
    const places = ({ transactions }: History) => transactions.map(({ height, index }) => `${height}/${index}`)
    const page = (before?: Position) =>
      rpc.call<History>('getaddresshistory', { address, limit: 3, ...(before && { before }) })
    const first = await page()
    expect(places(first)).toEqual(['4/1', '3/5', '3/4'])
    expect(first.next).toEqual({ height: 3, index: 4 })
    await node.send(await node.transfer(address, 5n))
    await node.mine(2)
    const second = await page(first.next)
    expect(places(second)).toEqual(['3/3', '3/2', '3/1'])
    // On every page the whole history.
    expect(second).toMatchObject({ first: { height: 1, index: 1 }, last: { height: 5, index: 1 } })
    const third = await page(second.next)
    expect(places(third)).toEqual(['1/2', '1/1'])
    expect(third).not.toHaveProperty('next')
    expect(places(await page())).toEqual(['5/1', '4/1', '3/5'])
    // As many as are left: nothing follows.
    const all = await rpc.call<History>('getaddresshistory', { address, limit: 9 })
    expect(places(all)).toHaveLength(9)
    expect(all).not.toHaveProperty('next')
    expect(places(await page({ height: 0, index: 0 }))).toEqual([])
    expect(places(await page({ height: 0xffffffff, index: 0xffff }))).toEqual(['5/1', '4/1', '3/5'])
  })

  it('costs a page, though the address has a hundred thousand transactions', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'didledger-test-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const node = await TestChain.open(undefined, { store: new Level<Buffer, Buffer>(directory, encodings) })
    onTestFinished(() => node.close())
    const rpc = new RpcClient(contextOf(node))
    const address = testAddress(12)
    await payAgain(node, [0, 0, 1, 3])
    const overlay = new Overlay(node.database)
    for (let i = 0; i < 100_000; i++) {
      const place = tables.history.key(parseAddress(address) as ProgramHash, i % 2, Math.floor(i / 2))
      overlay.put(place, new Uint8Array(0))
    }
    await overlay.commit({ kind: 'block', height: 4, hash: node.chain.tip.header.hash }, { sync: false })
    const reads = spyFrozen(node)
    const page = await rpc.call<History>('getaddresshistory', { address, limit: 4 })
    expect(page.transactions).toHaveLength(4)
    expect(page.next).toEqual({ height: 3, index: 1 })
    expect(Object.fromEntries(reads.rows)).toEqual({ [tables.history.number]: 5 + 2 })
    expect(Object.fromEntries(reads.keys)).toEqual({
      // The tip, and the heights up to which blocks have given up their transactions, and superseded documents.
      [tables.meta.number]: 3,
      // Those of the page, and those of the first and the last use.
      [tables.active.number]: 2 + 2,
      [tables.header.number]: 2 + 2,
      [tables.undo.number]: 2,
      [tables.transaction.number]: 4,
    })
    expect(reads.open).toBe(0)
  })

  it('ends a page early where its transactions are large, and goes on from there', async () => {
    const node = await open()
    const limits = { pageBytes: 1 }
    const rpc = new RpcClient(contextOf(node, { limits }))
    const address = testAddress(12)
    await payAgain(node, [1, 3, 1])
    const first = await rpc.call<History>('getaddresshistory', { address })
    expect([first.transactions.length, first.next]).toEqual([1, { height: 3, index: 1 }])
    // One block at a time at the least.
    const second = await rpc.call<History>('getaddresshistory', { address, before: first.next })
    expect([second.transactions.length, second.next]).toEqual([3, { height: 2, index: 1 }])
    const third = await rpc.call<History>('getaddresshistory', { address, before: second.next })
    expect([third.transactions.length, third.next]).toEqual([1, undefined])
  })

  it('refuses what is no address, no page, and no position', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    const address = testAddress(12)
    const wrong = address.slice(0, -1) + (address.endsWith('x') ? 'y' : 'x')
    const refusals: [object, RegExp][] = [
      [{ address: wrong }, /^address: .*checksum/],
      [{ address, limit: 101 }, /^limit: /],
      [{ address, before: { height: 1 } }, /^before\.index: missing/],
      [{ address, before: { height: 1, index: 65536 } }, /^before\.index: /],
      [{ address, before: { height: -1, index: 0 } }, /^before\.height: /],
      [{ address, before: { height: '-1', index: 0 } }, /^before\.height: /],
      [{ address, before: 5 }, /^before: /],
    ]
    for (const [params, data] of refusals) {
      const refused = await rpc.refusal('getaddresshistory', params)
      expect(refused).toMatchObject({ code: -32602, data: expect.stringMatching(data) })
    }
  })
})

describe('listblocks', () => {
  it('gives the newest blocks, and those below a height', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    const [one, two] = [holder(), holder()]
    await node.send(await node.carry(one.create(), one.did, 10))
    await node.send(await node.carry(two.create(), two.did, 11))
    const blocks = [node.chain.genesis, ...(await node.mine(30))]
    const row = ({ header, transactions, bytes }: Block) => ({
      height: header.height,
      hash: header.id,
      time: header.time,
      size: bytes.length,
      transactions: transactions.length,
      dids: header.height === 1 ? 2 : 0,
    })
    const expected = (from: number, to: number) => ({ height: 30, blocks: blocks.slice(from, to).map(row).reverse() })
    expect(await rpc.call('listblocks')).toEqual(expected(11, 31))
    expect(await rpc.call('listblocks', [11, 100])).toEqual(expected(0, 11))
    expect(await rpc.call('listblocks', { before: '2', limit: 1 })).toEqual(expected(1, 2))
    expect(await rpc.call('listblocks', { before: 0xffffffff, limit: 2 })).toEqual(expected(29, 31))
    expect(await rpc.call('listblocks', { before: 0 })).toEqual({ height: 30, blocks: [] })
    expect(await rpc.refusal('listblocks', { limit: 101 })).toMatchObject({ code: -32602 })
  })

  it('ends early where blocks are large, with one at the least', async () => {
    const node = await open()
    await node.mine(3)
    const rpc = new RpcClient(contextOf(node, { limits: { pageBytes: 1 } }))
    expect(await rpc.call('listblocks')).toMatchObject({ height: 3, blocks: [{ height: 3 }] })
    expect(await rpc.call('listblocks', { before: 3 })).toMatchObject({ blocks: [{ height: 2 }] })
  })
})

describe('listdidoperations', () => {
  /** A DID that is created, updated, and deactivated by its recovery key; a credential of another that its issuer revokes. */
  async function story() {
    const node = await open()
    const [issuer, subject] = [holder(), holder()]
    const created = await node.publish(issuer.create(), issuer.did)
    await node.publish(subject.create(), subject.did)
    await node.mine(2)
    const credential = issuer.issue(subject.did)
    const { id } = JSON.parse(credential) as { id: string }
    await node.publish(subject.declare(credential), subject.did)
    await node.publish(issuer.revoke(id), issuer.did)
    await node.publish(issuer.update(created), issuer.did)
    await node.publish(issuer.deactivate(), issuer.did)
    return { node, issuer: issuer.did, subject: subject.did, id }
  }

  it('gives the newest operations, with who signed and which credential', async () => {
    const { node, issuer, subject, id } = await story()
    const rpc = new RpcClient(contextOf(node))
    const { operations, next } = await rpc.call<Operations>('listdidoperations')
    const facts = operations.map(({ did, operation, ...rest }) => {
      const { signer, credential } = rest as { signer?: string; credential?: string }
      return [operation, did, signer, credential]
    })
    expect(facts).toEqual([
      ['deactivate', issuer, issuer, undefined],
      ['update', issuer, issuer, undefined],
      ['revoke', subject, issuer, id],
      ['declare', subject, subject, id],
      ['create', subject, subject, undefined],
      ['create', issuer, issuer, undefined],
    ])
    expect(next).toBe(undefined)
    const [newest] = operations
    const { header, transactions } = await node.reader.block(node.chain.tip)
    const { txid } = transactions[1] as Transaction
    expect(newest).toMatchObject({ txid, height: 8, index: 1, blockhash: header.id, time: header.time })
    const two = await rpc.call<Operations>('listdidoperations', { limit: 2 })
    expect(two).toEqual({ operations: operations.slice(0, 2), next: { height: 7, index: 0 } })
    const rest = await rpc.call<Operations>('listdidoperations', { before: two.next })
    expect(rest).toEqual({ operations: operations.slice(2) })
  })

  it('goes on within a block, below any position', async () => {
    const node = await open()
    const people = [holder(), holder(), holder()]
    for (const { create, did } of people) await node.send(await node.carry(create(), did, 10))
    await node.send(await node.transfer(testAddress(12), 5n, 11))
    await node.mine(2)
    const rpc = new RpcClient(contextOf(node))
    const all = await rpc.call<Operations>('listdidoperations')
    expect(all.operations).toHaveLength(3)
    let before: Position | undefined
    for (const expected of all.operations) {
      const page: Operations = await rpc.call('listdidoperations', { limit: 1, ...(before && { before }) })
      expect(page.operations).toEqual([expected])
      before = page.next
    }
    for (const { height, index } of all.operations) {
      const below = all.operations.filter((operation) => operation.index < index)
      const page = await rpc.call<Operations>('listdidoperations', { before: { height, index } })
      expect(page).toEqual({ operations: below })
      const last = below.at(-1)
      if (last !== undefined) expect(page.operations.at(-1)).toEqual(last)
    }
    const beyond = { height: 9, index: 7 }
    expect(await rpc.call('listdidoperations', { before: beyond })).toEqual(all)
    expect(await rpc.call('listdidoperations', { before: { height: 0, index: 0 } })).toEqual({ operations: [] })
    expect(await rpc.refusal('listdidoperations', { limit: 0 })).toMatchObject({ code: -32602 })
  })

  it('examines no more blocks than a page may, and reads none without operations', async () => {
    const node = await open()
    const ada = holder()
    await node.publish(ada.create(), ada.did)
    await node.mine(24)
    const reads = spyFrozen(node)
    const rpc = new RpcClient(contextOf(node, { limits: { pageBlocks: 10 } }))
    const first = await rpc.call<Operations>('listdidoperations')
    expect(first).toEqual({ operations: [], next: { height: 16, index: 0 } })
    expect(Object.fromEntries(reads.rows)).toEqual({ [tables.undo.number]: 10 })
    const second = await rpc.call<Operations>('listdidoperations', { before: first.next })
    expect(second).toEqual({ operations: [], next: { height: 6, index: 0 } })
    expect(reads.rows.get(tables.transaction.number)).toBe(undefined)
    const third = await rpc.call<Operations>('listdidoperations', { before: second.next })
    expect(third).toMatchObject({ operations: [{ did: ada.did, height: 1 }] })
    expect(third).not.toHaveProperty('next')
    expect(reads.rows.get(tables.transaction.number)).toBe(2)
    expect([reads.opened, reads.open]).toEqual([3, 0])
  })
})

describe('countdids', () => {
  it('counts DIDs at the tip: those deactivated apart, those expired among the valid ones', async () => {
    const node = await open()
    const rpc = new RpcClient(contextOf(node))
    const at = () => ({ height: node.reader.height, blockhash: node.chain.tip.header.id })
    expect(await rpc.call('countdids')).toEqual({ total: 0, valid: 0, deactivated: 0, ...at() })
    const people = [holder(), holder(), holder()] as const
    for (const { create, did } of people) await node.send(await node.carry(create(), did))
    expect(await rpc.call('countdids')).toMatchObject({ total: 0 })
    await node.mine()
    expect(await rpc.call('countdids', [])).toEqual({ total: 3, valid: 3, deactivated: 0, ...at() })
    await node.publish(people[1].deactivate(), people[1].did)
    expect(await rpc.call('countdids')).toEqual({ total: 3, valid: 2, deactivated: 1, ...at() })
    node.clock.time = Date.parse('2040-01-01T00:00:00Z')
    await node.mine()
    const { status } = await rpc.call<{ status: number }>('resolvedid', { did: people[0].did, all: false })
    expect(status).toBe(1)
    expect(await rpc.call('countdids')).toEqual({ total: 3, valid: 2, deactivated: 1, ...at() })
  })

  it('takes no parameters', async () => {
    const rpc = new RpcClient(contextOf(await open()))
    expect(await rpc.refusal('countdids', [1])).toMatchObject({ code: -32602 })
  })
})

const methods = ['getaddresshistory', 'listblocks', 'listdidoperations', 'listvoters', 'listdays', 'countdids']
const paramsOf = (method: string) => (method === 'getaddresshistory' ? { address: testAddress(10) } : {})

test('they are answered over HTTP as without a carrier', async () => {
  const node = await open()
  await payAgain(node, [1, 1])
  const context = contextOf(node)
  const rpc = new RpcClient(context)
  const server = await serve(context)
  for (const method of methods) {
    const params = paramsOf(method)
    const { status, body } = await askJson(server.port, '/rpc', { jsonrpc: '2.0', id: 1, method, params })
    expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: await rpc.call(method, params) }])
  }
  await server.close()
})

test.each(['getaddresshistory', 'listdidoperations'])('%s goes on for no client that has left', async (method) => {
  const node = await open()
  await payAgain(node, [1, 1, 1])
  const ada = holder()
  await node.publish(ada.create(), ada.did)
  const reads = spyFrozen(node)
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  reads.hold = () => held
  const left = new AbortController()
  const caller = { ...owner, client: { share: 'test', signal: left.signal } }
  const asked = new RpcClient(contextOf(node)).refusal(method, paramsOf(method), caller)
  await expect.poll(() => reads.open).toBe(1)
  left.abort()
  expect((await asked).data).toMatch(/no client waits/)
  goOn()
  await expect.poll(() => reads.open).toBe(0)
  expect(reads.keys.get(tables.transaction.number)).toBe(undefined)
  // What one step of the scan had read when it noticed.
  expect(reads.rows.get(tables.transaction.number) ?? 0).toBeLessThanOrEqual(2)
})
