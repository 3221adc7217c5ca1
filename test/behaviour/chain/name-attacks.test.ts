import { afterEach, describe, expect, it } from 'vitest'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import { fromUtf8, toBase64url } from '../../../src/base/primitives/bytes.js'
import { stateDigest } from '../../../src/ledger/chain/replay-chain.js'
import { readCredential } from '../../../src/clients/wallet/did-credential.js'
import { buildUpdate, declareOperation, signCredential } from '../../../src/identity/did/build.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import {
  authenticationKey,
  created,
  credentialSpecification,
  type Holder,
  holder,
  signer,
  specification,
} from '../../support/builders/did.js'
import { lightIn } from '../../support/builders/light-scene.js'
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
import type { SpecOverrides } from '../../support/builders/spec.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

/** Attacks on DIDs with names, and on their recovery by a transfer: by pool, by block, over a reorganisation. */

const prices = ['900000', '500000', '100000']
const work = { ...withoutValidators, didNames: prices }
const did = named('team')
const [ada, bob, cyd, dan] = [holder(), holder(), holder(), holder()]
const team = { by: [ada, bob], needed: 2 }

const open: TestChain[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const codeFrom = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: { code?: string }) => error.code ?? error,
  )
async function opened(overrides: SpecOverrides = work): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  open.push(test)
  return test
}
/** A chain with four people and a name of two of them; with the txid of its create. */
async function scene(overrides?: SpecOverrides): Promise<{ test: TestChain; created: string }> {
  const test = await opened(overrides)
  for (const one of [ada, bob, cyd, dan]) await test.publish(one.create(), one.did)
  return { test, created: await test.publish(createNamed(namedDocument('team', team), ada), did) }
}
const blockOf = (test: TestChain, height: number) => test.reader.block(test.activeHeader(height))
const stateOf = (test: TestChain) => test.chain.state.did(did)
const waiting = (test: TestChain) => [...test.mempool.entries()].length

/** Tries an operation by pool and by block, neither of which may take it. */
async function refusedBoth(test: TestChain, operation: DidOperation, code: string): Promise<void> {
  const carried = await test.carry(operation, did, 11)
  expect(await codeFrom(test.send(carried))).toBe(code)
  expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [carried] })))).toBe(code)
}

const taken = (txid: string, signers: readonly Holder[] = [ada, bob], by = cyd) =>
  transferNamed(namedDocument('team', { by: [by] }), ticketOf('team', { to: by, txid, signers }), by)
const changed = (txid: string, expires = '2031-01-01T00:00:00Z', by = bob) =>
  updateNamed(namedDocument('team', { ...team, plan: { expires } }), txid, by)

describe('a transfer by which a name is recovered', () => {
  it('is void once those who hold it object by an update, in the pool and in a block', async () => {
    const { test, created } = await scene()
    await test.send(await test.carry(taken(created), did, 10))
    const objection = await test.carry(changed(created), did, 11)
    await test.accept(craftBlock(test.chain, { transactions: [objection] }))
    expect(waiting(test)).toBe(0)
    await refusedBoth(test, taken(created), 'did-ticket')
    // A ticket for the operation since then is another one, which both sign again.
    await test.publish(taken(stateOf(test)?.lastTxid as string), did)
    expect(stateOf(test)?.document.control?.controllers).toEqual([cyd.did])
  })

  it('cannot be objected to afterwards, by an update, another ticket or an end', async () => {
    const { test, created } = await scene()
    const moved = await test.publish(taken(created), did)
    await refusedBoth(test, changed(created), 'did-previous-txid')
    await refusedBoth(test, changed(moved), 'did-controllers')
    await refusedBoth(test, taken(moved, [ada, bob], dan), 'did-ticket')
    await refusedBoth(test, deactivateNamed('team', ada), 'did-signer')
    expect(await test.publish(deactivateNamed('team', cyd), did)).toMatch(/^[0-9a-f]{64}$/)
  })

  it('happens once by one ticket, also where two of them wait', async () => {
    const { test, created } = await scene()
    await test.send(await test.carry(taken(created), did, 10))
    const second = await codeFrom(test.carry(taken(created, [ada, bob], dan), did, 11).then((tx) => test.send(tx)))
    expect(second).toBe('did-ticket')
    await test.mine()
    expect(stateOf(test)?.document.control?.controllers).toEqual([cyd.did])
    await refusedBoth(test, taken(created), 'did-ticket')
    await refusedBoth(test, taken(created, [ada, bob], dan), 'did-ticket')
  })

  it.each<[string, Holder]>([
    ['who takes it', cyd],
    ['who signed the ticket', bob],
  ])('is void where the one %s has ended before its block', async (_, gone) => {
    const { test, created } = await scene()
    await test.send(await test.carry(taken(created), did, 10))
    await test.accept(craftBlock(test.chain, { transactions: [await test.carry(gone.deactivate(), gone.did, 11)] }))
    expect(waiting(test)).toBe(0)
    await refusedBoth(test, taken(created), 'did-controller')
    // In one block, in either order.
    const other = await scene()
    const ending = await other.test.carry(gone.deactivate(), gone.did, 11)
    const taking = await other.test.carry(taken(other.created), did, 10)
    const both = (transactions: readonly Transaction[]) => craftBlock(other.test.chain, { transactions })
    expect(await codeFrom(other.test.accept(both([ending, taking])))).toBe('did-controller')
    expect(await codeFrom(other.test.accept(both([taking, ending])))).toBeUndefined()
    expect(stateOf(other.test)?.document.control?.controllers).toEqual([cyd.did])
  })

  it('is undone by a reorganisation in which those who hold it object, and made again', async () => {
    const { test, created } = await scene()
    const rival = await opened()
    for (let height = 1; height <= test.chain.tip.header.height; height++) {
      await rival.accept(await blockOf(test, height))
    }
    const moving = await test.carry(taken(created), did, 11)
    await test.send(moving)
    await test.mine()
    expect(stateOf(test)?.document.control?.controllers).toEqual([cyd.did])
    const from = rival.chain.tip.header.height + 1
    await rival.publish(changed(created), did)
    await rival.mine(2)
    for (let height = from; height <= rival.chain.tip.header.height; height++) {
      await test.accept(await blockOf(rival, height))
    }
    expect(test.chain.tip.header.hash).toEqual(rival.chain.tip.header.hash)
    expect(await stateDigest(test.database)).toBe(await stateDigest(rival.database))
    expect(stateOf(test)?.document.control).toMatchObject({ needed: 2 })
    // The transfer that was in a block is void now, and is not left in the pool.
    expect(waiting(test)).toBe(0)
    await test.mine()
    await test.publish(taken(stateOf(test)?.lastTxid as string), did)
    expect(stateOf(test)?.document.control?.controllers).toEqual([cyd.did])
  })

  it('is no operation "recover", which does not exist', async () => {
    const { test, created } = await scene()
    const unknown = { ...changed(created), operation: 'recover' }
    await refusedBoth(test, unknown, 'did-operation-unknown')
  })
})

describe('controllers', () => {
  it('are DIDs of keys: neither the name itself, nor another name, nor a circle of two', async () => {
    const { test } = await scene()
    const other = (controller: string) => {
      const document = namedDocument('club', { by: [ada] })
      const operation = createNamed(document, ada)
      const text = Buffer.from(operation.payload, 'base64url')
        .toString()
        .replace(`"controller":"${ada.did}"`, `"controller":"${controller}"`)
      expect(text).toContain(controller)
      return { ...operation, payload: toBase64url(fromUtf8(text)) }
    }
    for (const controller of [named('club'), did, named('nobody')]) {
      const carried = await test.carry(other(controller), named('club'), 11)
      expect(await codeFrom(test.send(carried))).toBe('document-did')
      expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [carried] })))).toBe('document-did')
    }
  })

  it('sign no more once they have expired or ended; 1 of 2 goes on by the other', async () => {
    const { test } = await scene()
    const pair = { by: [ada, bob], needed: 1 }
    const first = await test.publish(createNamed(namedDocument('pair', pair), ada), named('pair'))
    const adas = test.chain.state.did(ada.did)?.lastTxid as string
    const expired = await test.publish(ada.update(adas, { expires: '2021-01-01T00:00:00Z' }), ada.did)
    const next = (by: Holder, txid: string, expires: string) =>
      updateNamed(namedDocument('pair', { ...pair, signers: [by], plan: { expires } }), txid, by)
    const refused = async (operation: DidOperation) => {
      const carried = await test.carry(operation, named('pair'), 11)
      expect(await codeFrom(test.send(carried))).toBe('did-controller')
      expect(await codeFrom(test.accept(craftBlock(test.chain, { transactions: [carried] })))).toBe('did-controller')
    }
    await refused(next(ada, first, '2030-06-01T00:00:00Z'))
    // In one block with the renewal of the own document, which comes first.
    const renewal = await test.carry(ada.update(expired), ada.did, 10)
    const change = await test.carry(next(ada, first, '2030-06-01T00:00:00Z'), named('pair'), 11)
    await test.accept(craftBlock(test.chain, { transactions: [renewal, change] }))
    const second = change.txid
    await test.publish(ada.deactivate(), ada.did)
    await refused(next(ada, second, '2030-07-01T00:00:00Z'))
    const ended = await test.carry(deactivateNamed('pair', ada), named('pair'), 11)
    expect(await codeFrom(test.send(ended))).toBe('did-controller')
    const third = await test.publish(next(bob, second, '2030-08-01T00:00:00Z'), named('pair'))
    await test.publish(bob.deactivate(), bob.did)
    // None is left: the name stays as it is, for good.
    for (const operation of [next(bob, third, '2030-09-01T00:00:00Z'), deactivateNamed('pair', bob)])
      await refused(operation)
    expect(test.chain.state.did(named('pair'))).toMatchObject({ status: 'valid', operationCount: 3 })
  })

  it('are shown alike by the contract, the W3C and a light resolver while one has expired and one has ended', async () => {
    const { test, created } = await scene({ ...oneValidator(), didNames: prices })
    const adas = test.chain.state.did(ada.did)?.lastTxid as string
    await test.publish(ada.update(adas, { expires: '2021-01-01T00:00:00Z' }), ada.did)
    await test.publish(bob.deactivate(), bob.did)
    await test.mine(2)
    const server = await serve(contextOf(test))
    const { body } = await askJson(server.port, '/', { id: 1, method: 'resolvedid', params: { did, all: true } })
    const { result } = body as { result: { status: number; transaction: { txid: string }[] } }
    expect([result.status, result.transaction.map(({ txid }) => txid)]).toEqual([0, [created]])
    const w3c = await ask(server.port, `/1.0/identifiers/${did}`)
    expect(w3c).toMatchObject({ status: 200, body: { didDocument: { controller: [ada.did, bob.did].toSorted() } } })
    const light = lightIn({ server, book: await bookOf(test) })
    expect(await light.resolve(did, { all: true })).toMatchObject({ status: 0, transaction: [{ txid: created }] })
    await server.close()
  })

  it('of another name have no say, whoever signs what', async () => {
    const { test, created } = await scene()
    await test.publish(createNamed(namedDocument('club', { by: [cyd] }), cyd), named('club'))
    // The document of two, and an operation by a third; a document with a proof of a third in place of a second.
    await refusedBoth(test, changed(created, '2031-01-01T00:00:00Z', cyd), 'did-signer')
    const forged = namedDocument('team', { ...team, signers: [ada, { ...cyd, did: bob.did } as Holder] })
    await refusedBoth(test, updateNamed(forged, created, ada), 'document-proof')
    const byName = buildUpdate(
      namedDocument('team', team),
      { specification, verificationMethod: `${named('club')}#primary`, previousTxid: created },
      signer(cyd.primary),
    )
    await refusedBoth(test, byName, 'did-signer')
  })
})

describe('what a controller declares in the name of a DID', () => {
  const declared = (by: Holder, key = by.recovery, name = '#recovery') => {
    const members = {
      id: `${did}#badge`,
      type: ['BadgeCredential'],
      issuer: did,
      issuanceDate: created,
      credentialSubject: { id: did, level: 1 },
    }
    const verificationMethod = `${by.did}${name}`
    const credential = signCredential(members, { method: 'ledger', key: verificationMethod, created }, signer(key))
    const plan = { specification: credentialSpecification, verificationMethod }
    return declareOperation(readCredential(credential), plan, signer(key))
  }
  const swapped = (test: TestChain, one: Holder, keys: Holder['plan']['keys']) =>
    one.update(test.chain.state.did(one.did)?.lastTxid as string, { keys })

  it('is void once that controller swaps the key under its id', async () => {
    const { test } = await scene()
    await test.send(await test.carry(declared(ada), did, 10))
    const keys = [...ada.plan.keys.slice(0, 1), authenticationKey('recovery', quickSigner())]
    await test.accept(
      craftBlock(test.chain, { transactions: [await test.carry(swapped(test, ada, keys), ada.did, 11)] }),
    )
    expect(waiting(test)).toBe(0)
    const again = await test.carry(declared(ada), did, 11)
    expect(await codeFrom(test.send(again))).toBe('did-signature')
    await test.publish(declared(bob), did)
    expect(test.chain.state.credential(`${did}#badge`, did)?.declared).toBeDefined()
  })

  it('is void once the DID has other controllers, and stands where it came first', async () => {
    const { test, created: first } = await scene()
    await test.send(await test.carry(declared(ada), did, 10))
    const moving = await test.carry(taken(first), did, 11)
    await test.accept(craftBlock(test.chain, { transactions: [moving] }))
    expect(waiting(test)).toBe(0)
    await refusedBoth(test, declared(ada), 'did-signer')
    await test.publish(declared(cyd), did)
    const other = await scene()
    await other.test.publish(declared(ada), did)
    await other.test.publish(taken(other.created), did)
    expect(other.test.chain.state.credential(`${did}#badge`, did)?.declared?.issuer()).toBe(did)
  })

  it("is none of one whose revoke a controller signs: that one is the controller's own, and counts for nothing", async () => {
    const { test } = await scene({ ...oneValidator(), didNames: prices })
    await test.publish(ada.revoke(`${did}#badge`), ada.did)
    await test.publish(declared(ada), did)
    await test.mine(2)
    const server = await serve(contextOf(test))
    const asked = { id: `${did}#badge`, issuer: did }
    const { body } = await askJson(server.port, '/', { id: 1, method: 'did_resolveCredential', params: asked })
    expect(body).toMatchObject({
      result: { status: 0, transaction: [{ operation: { header: { operation: 'declare' } } }] },
    })
    const light = lightIn({ server, book: await bookOf(test) })
    expect(await light.resolveCredential(`${did}#badge`, { issuer: did })).toMatchObject({ status: 0 })
    await server.close()
    await refusedBoth(test, ada.revoke(`${did}#badge`), 'credential-revoked')
    await refusedBoth(test, bob.revoke(`${did}#badge`), 'credential-revoker')
  })
})
