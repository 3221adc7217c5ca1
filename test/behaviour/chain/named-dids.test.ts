import { bookOf } from '../../support/builders/chain-book.js'
import { lightIn } from '../../support/builders/light-scene.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'
import { afterEach, describe, expect, it } from 'vitest'
import { didKey } from '../../../src/ledger/storage/rows/did-reader.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { formatDate } from '../../../src/identity/did/date.js'
import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { neededFee } from '../../../src/clients/wallet/fee.js'
import type { Fees } from '../../../src/base/primitives/fees.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { longestName } from '../../../src/base/primitives/did-name.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { authenticationKey, type Holder, holder, signer, specification } from '../../support/builders/did.js'
import { buildUpdate } from '../../../src/identity/did/build.js'
import {
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../../support/builders/named-did.js'
import { quickSigner } from '../../support/builders/signatures.js'

/** DIDs with names on a chain: pool, blocks, reorganisations, prices. */

const prices = ['900000', '500000', '100000']
const spec = { ...withoutValidators, didNames: prices }
const [ada, bob, cyd] = [holder(), holder(), holder()]
const team = { by: [ada, bob], needed: 2 }

let test: TestChain
afterEach(() => test.close())

const codeFrom = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: { code?: string }) => error.code ?? error,
  )
const publish = (operation: DidOperation, did: string) => test.publish(operation, did)
const open = async (overrides: object = {}) => {
  test = await TestChain.open({ ...spec, ...overrides })
  for (const one of [ada, bob, cyd]) await publish(one.create(), one.did)
}
const blockAt = (chain: TestChain, height: number) => chain.reader.block(chain.activeHeader(height))
const waiting = () => [...test.mempool.entries()].map(({ transaction }) => transaction.txid)
const lastOf = (did: string) => test.chain.state.did(did)?.lastTxid
const stateOf = (name: string) => test.chain.state.did(named(name))
const create = (name = 'team', parts: Parameters<typeof namedDocument>[1] = team) =>
  createNamed(namedDocument(name, parts), parts.by[0] as Holder)

describe('a DID with a name', () => {
  it('is refused by pool and block below the height of its upgrade, and taken from it on', async () => {
    const from = 6
    await open({ didNames: undefined, upgrades: [{ height: from, name: 'names', parameters: { didNames: prices } }] })
    const carried = await test.carry(create(), named('team'), 10, 200_000n)
    await test.mine(from - 2 - test.chain.tip.header.height)
    expect(await codeFrom(test.send(carried))).toBe('did-names')
    expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [carried] })))).toBe('did-names')
    await test.mine()
    expect(await codeFrom(test.send(carried))).toBeUndefined()
    await test.mine()
    expect(stateOf('team')?.status).toBe('valid')
  })

  it('lives in blocks, and taking them back takes back what it did', async () => {
    await open({ ...oneValidator(), devnet: true })
    const digests = [await stateDigest(test.database)]
    const step = async (operation: DidOperation) => {
      const txid = await publish(operation, named('team'))
      digests.push(await stateDigest(test.database))
      return txid
    }
    const created = await step(create())
    const updated = await step(
      updateNamed(namedDocument('team', { ...team, plan: { expires: '2031-01-01T00:00:00Z' } }), created, bob),
    )
    const ticket = ticketOf('team', { to: cyd, txid: updated, signers: [ada, bob] })
    const transferred = await step(transferNamed(namedDocument('team', { by: [cyd] }), ticket, cyd))
    await step(deactivateNamed('team', cyd))
    expect(stateOf('team')?.status).toBe('deactivated')
    const head = tables.didHead.get(test.database, didKey(named('team')) as Uint8Array)
    expect(head).toMatchObject({ status: 'deactivated', operationCount: 4, documentSequence: 2 })
    for (const digest of digests.toReversed().slice(1)) {
      const below = test.chain.headers.activeHash(test.chain.tip.header.height - 1) as Uint8Array
      await test.chain.exclusive((writer) => writer.rewind(below, []))
      expect(await stateDigest(test.database)).toBe(digest)
    }
    expect(stateOf('team')).toBeUndefined()
    expect(transferred).toMatch(/^[0-9a-f]{64}$/)
  })

  it('costs what the rules ask for a name of its length, in pool and block', async () => {
    await open()
    const paying = async (name: string, less: bigint): Promise<Transaction> => {
      const operation = create(name, { by: [ada] })
      const { fees } = test.spec.sections[0]?.params ?? {}
      let fee = 0n
      // Its nonce makes it some bytes longer or shorter.
      for (;;) {
        const made = await test.carry(operation, named(name), 10, fee)
        const exact = neededFee(made, fees as Fees)
        expect(exact).toBeGreaterThan(BigInt(prices[Math.min(name.length, prices.length) - 1] as string))
        if (fee === exact - less) return made
        fee = exact - less
      }
    }
    for (const name of ['a', 'ab', 'abc', 'abcd']) {
      const short = await paying(name, 1n)
      expect(await codeFrom(test.send(short))).toBe('tx-fee')
      expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [short] })))).toBe('tx-fee')
      await test.send(await paying(name, 0n))
      await test.mine()
      expect(stateOf(name)?.status).toBe('valid')
    }
    const { fees } = test.spec.sections[0]?.params ?? {}
    expect(fees?.names).toEqual(prices.map(BigInt))
  })
})

describe('operations of several controllers in a pool', () => {
  it('of one name: the first create is taken, and no second', async () => {
    await open()
    await test.send(await test.carry(create('team', { by: [ada] }), named('team')))
    expect(
      await codeFrom(test.carry(create('team', { by: [bob] }), named('team'), 11).then((tx) => test.send(tx))),
    ).toBe('did-exists')
  })

  it('go when a key that a controller signed with goes, and stay when another one does', async () => {
    await open()
    const byRecovery = (one: Holder, previousTxid: string, document = namedDocument('team', team)) =>
      buildUpdate(
        document,
        { specification, verificationMethod: `${one.did}#recovery`, previousTxid },
        signer(one.recovery),
      )
    const created = await publish(create(), named('team'))
    await test.send(await test.carry(byRecovery(ada, created), named('team')))
    // Cyd is nothing to it.
    const adas = test.chain.state.did(ada.did)?.lastTxid as string
    const block = craftBlock(test.chain, {
      transactions: [await test.carry(ada.update(adas, { keys: ada.plan.keys.slice(0, 1) }), ada.did, 11)],
    })
    await test.accept(block)
    expect([...test.mempool.entries()]).toEqual([])
    expect(await codeFrom(test.carry(byRecovery(ada, created), named('team')).then((tx) => test.send(tx)))).toBe(
      'did-controller',
    )
    expect(
      await codeFrom(test.carry(byRecovery(bob, created), named('team')).then((tx) => test.send(tx))),
    ).toBeUndefined()
  })

  it('go when a controller swaps keys under one id, and the template connects all the while', async () => {
    await open()
    const key = quickSigner()
    const keys = (swapped = key) => [...ada.plan.keys, authenticationKey('work', swapped)]
    await publish(ada.update(test.chain.state.did(ada.did)?.lastTxid as string, { keys: keys() }), ada.did)
    const created = await publish(create(), named('team'))
    const plan = { specification, verificationMethod: `${ada.did}#work`, previousTxid: created }
    const update = buildUpdate(namedDocument('team', team), plan, signer(key))
    await test.send(await test.carry(update, named('team')))
    const swap = ada.update(test.chain.state.did(ada.did)?.lastTxid as string, { keys: keys(quickSigner()) })
    await test.send(await test.carry(swap, ada.did, 11))
    for (let i = 0; i < 3; i++) await test.mine()
    expect([...test.mempool.entries()]).toEqual([])
    // Whichever came first, the state is one that all see.
    expect(stateOf('team')?.operationCount).toBeGreaterThanOrEqual(1)
  })

  it.each<[string, (txid: string) => DidOperation]>([
    ['an update', (txid) => updateNamed(namedDocument('team', team), txid, ada)],
    ['a deactivation', () => deactivateNamed('team', bob)],
  ])(
    'go with the block whose time a controller has expired by, and come back with a branch before it: %s',
    async (_, make) => {
      await open()
      const until = test.chain.tip.header.time + 60
      const expires = formatDate(until)
      for (const one of [ada, bob]) {
        await publish(one.update(test.chain.state.did(one.did)?.lastTxid as string, { expires }), one.did)
      }
      const created = await publish(create(), named('team'))
      const sent = await test.carry(make(created), named('team'))
      await test.send(sent)
      const empty = (time: number) => test.accept(craftBlock(test.chain, { header: { time } }))
      await empty(until - 1)
      expect(waiting()).toEqual([sent.txid])
      const rival = await TestChain.open(spec)
      for (let height = 1; height <= test.chain.tip.header.height; height++) {
        await rival.accept(await blockAt(test, height))
      }
      await empty(until)
      expect(waiting()).toEqual([])
      expect(test.mempool.droppedReason(sent.hash)).toContain(`a controller, expired at ${expires}`)
      expect(await codeFrom(test.send(sent))).toBe('did-controller')
      const late = craftBlock(test.chain, { transactions: [sent], header: { time: until + 1 } })
      expect(await codeFrom(test.accept(late))).toBe('did-controller')
      // On a branch the time goes back: what was refused is right there.
      await rival.accept(craftBlock(rival.chain, { transactions: [sent] }))
      await rival.accept(craftBlock(rival.chain))
      for (const back of [1, 0]) await test.accept(await blockAt(rival, rival.chain.tip.header.height - back))
      expect(await stateDigest(test.database)).toBe(await stateDigest(rival.database))
      await rival.close()
      expect(stateOf('team')?.operationCount).toBe(2)
    },
  )

  it('are in templates as long as they hold at the time of the tip, whatever time the template has', async () => {
    await open()
    const until = test.chain.tip.header.time + 60
    const adas = test.chain.state.did(ada.did)?.lastTxid as string
    await publish(ada.update(adas, { expires: formatDate(until) }), ada.did)
    await test.send(await test.carry(create('solo', { by: [ada] }), named('solo')))
    await test.mine(1, { time: until + 1000 })
    expect(stateOf('solo')?.status).toBe('valid')
    expect(await codeFrom(test.carry(create('other', { by: [ada] }), named('other')).then((tx) => test.send(tx)))).toBe(
      'did-controller',
    )
  })

  it('are looked at again when the document of a controller is renewed for a shorter time', async () => {
    await open()
    const until = test.chain.tip.header.time + 60
    await test.send(await test.carry(create('solo', { by: [ada] }), named('solo')))
    const adas = test.chain.state.did(ada.did)?.lastTxid as string
    const update = await test.carry(ada.update(adas, { expires: formatDate(until) }), ada.did, 11)
    await test.accept(craftBlock(test.chain, { transactions: [update], header: { time: until - 1 } }))
    expect(waiting()).toHaveLength(1)
    await test.accept(craftBlock(test.chain, { header: { time: until } }))
    expect(waiting()).toEqual([])
  })

  it('go when a controller ends', async () => {
    await open()
    await test.send(await test.carry(create(), named('team')))
    await test.accept(craftBlock(test.chain, { transactions: [await test.carry(bob.deactivate(), bob.did, 11)] }))
    expect([...test.mempool.entries()]).toEqual([])
  })
})

describe('answers about a DID with a name', () => {
  const key = quickSigner()
  const keys = [authenticationKey('own', key)]
  const services = [{ id: '#site', type: 'LinkedDomains', serviceEndpoint: 'https://team.example' }]

  /** A team that was given to cyd. */
  async function scene() {
    test = await TestChain.open({ ...oneValidator(), didNames: prices })
    for (const one of [ada, bob, cyd]) await publish(one.create(), one.did)
    const created = await publish(create('team', { ...team, plan: { keys, services } }), named('team'))
    const ticket = ticketOf('team', { to: cyd, txid: created, signers: [ada, bob] })
    const moved = await publish(
      transferNamed(namedDocument('team', { by: [cyd], plan: { keys } }), ticket, cyd),
      named('team'),
    )
    await test.mine(2)
    const server = await serve(contextOf(test))
    return { created, moved, server, book: await bookOf(test) }
  }

  it('are those of its last document and of its history, with the ticket as it was sent', async () => {
    const { created, moved, server } = await scene()
    const call = async (method: string, params: object) =>
      ((await askJson(server.port, '/', { id: 1, method, params })).body as { result: unknown }).result
    const all = (await call('resolvedid', { did: named('team'), all: true })) as {
      status: number
      transaction: { txid: string; operation: { header: { operation: string; ticket?: string }; payload: string } }[]
    }
    expect(all.status).toBe(0)
    expect(all.transaction.map(({ txid, operation }) => [txid, operation.header.operation])).toEqual([
      [moved, 'transfer'],
      [created, 'create'],
    ])
    expect(all.transaction[0]?.operation.header.ticket).toMatch(/^[\w-]+$/)
    const last = (await call('resolvedid', { did: named('team'), all: false })) as typeof all
    expect(last.transaction.map(({ txid }) => txid)).toEqual([moved])
    const query = async (condition: object) =>
      ((await call('query', { query: JSON.stringify(condition) })) as { total: number }).total
    expect(await query({ controller: cyd.did })).toBe(1)
    expect(await query({ controller: ada.did })).toBe(0)
    const { body } = await ask(server.port, `/1.0/identifiers/${named('team')}`)
    expect(body).toMatchObject({
      didDocument: { id: named('team'), controller: cyd.did, authentication: [`${named('team')}#own`] },
      didDocumentMetadata: { versionId: moved },
    })
    const { body: old } = await ask(server.port, `/1.0/identifiers/${named('team')}?versionId=${created}`)
    expect(old).toMatchObject({ didDocument: { controller: [ada.did, bob.did].toSorted() } })
    const { body: none } = await ask(server.port, `/1.0/identifiers/${named('free')}`)
    expect(none).toMatchObject({ didResolutionMetadata: { error: expect.anything() as unknown } })
    await server.close()
  })

  it('have proofs at most 512 bytes longer than those of a DID of a key, where one controls them', async () => {
    await open(oneValidator())
    const services = [{ id: '#site', type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }]
    const keys = [authenticationKey('own', quickSigner())]
    const parts = { by: [bob], plan: { services, keys } }
    const longest = named('x'.repeat(longestName))
    const created = await publish(createNamed(namedDocument('x'.repeat(longestName), parts), bob), longest)
    await publish(updateNamed(namedDocument('x'.repeat(longestName), parts), created, bob), longest)
    await publish(cyd.update(lastOf(cyd.did) ?? '', { services }), cyd.did)
    const server = await serve(contextOf(test))
    for (const proof of [true, 'history']) {
      const size = async (did: string) => {
        const asked = { id: 1, method: 'resolvedid', params: { did, all: false, proof } }
        const { body } = await askJson(server.port, '/', asked)
        const { result } = body as { result: { transaction: unknown; proof: object } }
        return { proof: JSON.stringify(result.proof).length, answer: JSON.stringify(result).length }
      }
      const [name, key] = [await size(longest), await size(cyd.did)]
      expect(key.proof).toBeGreaterThan(1000)
      expect(name.proof - key.proof).toBeLessThanOrEqual(512)
      expect(name.answer - key.answer).toBeLessThanOrEqual(512)
    }
    await server.close()
  })

  it('prove themselves: whoever lies about its controllers is found out', async () => {
    const { server, book, moved, created } = await scene()
    const light = lightIn({ server, book })
    expect(await light.resolve(named('team'))).toMatchObject({ status: 0, transaction: [{ txid: moved }] })
    const whole = await light.resolve(named('team'), { all: true })
    expect(whole.transaction?.map(({ txid }) => txid)).toEqual([moved, created])
    expect(await light.resolve(named('free'))).toMatchObject({ status: 3 })
    await publish(deactivateNamed('team', cyd), named('team'))
    await test.mine(2)
    const ended = lightIn({ server, book: await bookOf(test) })
    expect(await ended.resolve(named('team'), { all: true })).toMatchObject({ status: 2 })
    await server.close()
  })
})
