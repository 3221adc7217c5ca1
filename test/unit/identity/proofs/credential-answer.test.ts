import { describe, expect, it } from 'vitest'
import { quickSigner } from '../../../../src/base/crypto/quick-signer.js'
import { mapKey } from '../../../../src/base/primitives/bytes.js'
import { checkCredentialAnswer } from '../../../../src/identity/proofs/credential-answer.js'
import { credentialMapKey } from '../../../../src/identity/proofs/map-tree.js'
import { settle } from '../../../support/assert/settle.js'
import { holder } from '../../../support/builders/did.js'
import { failureOf, lightWorld, worldTime } from '../../../support/builders/light-world.js'
import { naiveRoot } from '../../../support/builders/naive-map.js'
import { leavesOf, paperGenesis, ProofBook } from '../../../support/builders/proof-book.js'
import type { Json } from '../../../support/fakes/light-server.js'

const { book, alice, bob, kept, revoked } = lightWorld()
const carl = holder()
book.make({ operations: [carl.create()] })
const lapsed = `${alice.did}#lapsed`
book.make({
  operations: [alice.declare(carl.issue(alice.did, { id: lapsed, expirationDate: '2026-01-02T00:00:00Z' }))],
})
const unknown = `${alice.did}#none`
/** Declared and revoked in one block. */
const brief = `${alice.did}#brief`
book.make({ operations: [alice.declare(carl.issue(alice.did, { id: brief })), alice.revoke(brief)] })

/** What is proved of a credential by the answer about it, after a change of that. */
function proved(
  id: string,
  change: (right: Json) => unknown = () => undefined,
  { issuer, from = book }: { readonly issuer?: string; readonly from?: ProofBook } = {},
) {
  const right = JSON.parse(JSON.stringify(from.credential(id, { issuer }))) as Json
  change(right)
  const trust = { genesis: from.genesis, keysAt: () => from.keys(1), now: from.tip.time * 1000 }
  return failureOf(Promise.resolve().then(() => settle(checkCredentialAnswer(right, { id, issuer }, trust))))
}

describe('the status of a credential', () => {
  it.each([
    ['declared', kept, 0],
    ['declared, and expired', lapsed, 1],
    ['revoked', revoked, 2],
    ['never declared', unknown, 3],
  ])('follows from what was said of it: %s', async (_, id, status) => {
    expect(await proved(id)).toMatchObject({ status })
    for (const told of [0, 1, 2, 3].filter((other) => other !== status)) {
      expect(await proved(id, (right) => (right.status = told))).toBe('answer-status')
    }
  })
})

describe('the transactions of an answer about a credential', () => {
  it('are those of all that was said, each once', async () => {
    expect(await proved(revoked)).toMatchObject({ transactions: [{}, {}], said: [{}, {}] })
    expect(await proved(revoked, ({ transaction }) => transaction.shift())).toBe('answer-incomplete')
    expect(await proved(revoked, ({ transaction }) => transaction.push(transaction[1]))).toBe('answer-incomplete')
    expect(await proved(revoked, ({ transaction }) => (transaction[0] = transaction[1]))).toBe('answer-transaction')
    expect(await proved(revoked, ({ transaction }) => transaction.reverse())).toBe('answer-transaction')
    expect(await proved(unknown, (right) => (right.transaction = book.credential(kept).transaction))).toBe(
      'answer-incomplete',
    )
  })

  it('have the declare, from which the issuer follows: without any they are incomplete, by another txid wrong', async () => {
    expect(await proved(kept, (right) => (right.transaction = []))).toBe('answer-incomplete')
    expect(await proved(kept, (right) => delete right.transaction)).toBe('answer-incomplete')
    const [{ txid }] = (book.credential(revoked) as Json).transaction
    expect(await proved(kept, ({ transaction }) => (transaction[0].txid = txid))).toBe('answer-transaction')
  })

  it('are newest first, also those of one signer in one block', async () => {
    const [declare, revoke] = (book.credential(brief) as Json).transaction
    expect(await proved(brief, (right) => (right.transaction = [revoke, declare]))).toMatchObject({ status: 2 })
    expect(await proved(brief, (right) => (right.transaction = [declare, revoke]))).toBe('answer-transaction')
  })

  it('are of this credential, even where validators confirmed a revocation of another one in its place', async () => {
    const strange = new ProofBook(paperGenesis('strange', worldTime), [{ height: 1, signers: [quickSigner()] }])
    const operations = [alice.revoke(revoked)]
    strange.make({ operations })
    const [{ entries } = { entries: [] }] = strange.page(1).histories.values()
    const key = credentialMapKey(kept, alice.did)
    const histories = new Map([[mapKey(key), { key, entries }]])
    strange.pop()
    strange.make({ operations, mapRoot: naiveRoot(leavesOf(histories)) })
    strange.pages[1] = { ...strange.page(1), histories }
    expect(strange.credential(kept)).toMatchObject({ status: 2, transaction: [{ operation: { payload: revoked } }] })
    expect(await proved(kept, undefined, { from: strange })).toBe('answer-document')
  })

  it('are of this credential, and of no other one', async () => {
    const other = (book.credential(kept) as Json).transaction[0].operation.payload
    expect(await proved(revoked, ({ transaction }) => (transaction[1].operation.payload = other))).toBe(
      'answer-transaction',
    )
    expect(await proved(revoked, ({ transaction }) => (transaction[0].operation.payload = kept))).toBe(
      'answer-transaction',
    )
  })
})

describe('who said something of a credential', () => {
  it('is the owner, the issuer, and the one asked for, each by a leaf', async () => {
    expect(await proved(kept, undefined, { issuer: bob.did })).toMatchObject({ said: [{}, {}, {}] })
    expect(await proved(kept, ({ proof }) => proof.maps.pop(), { issuer: bob.did })).toBe('answer-incomplete')
    expect(await proved(kept, ({ proof }) => (proof.maps = []))).toBe('answer-incomplete')
    expect(await proved(kept, ({ proof }) => proof.maps.push(proof.maps[0]))).toBe('answer-incomplete')
  })
})
