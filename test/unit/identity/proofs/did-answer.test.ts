import { describe, expect, it } from 'vitest'
import { checkDidAnswer } from '../../../../src/identity/proofs/did-answer.js'
import type { DidQuestion } from '../../../../src/identity/proofs/did-question.js'
import { settle } from '../../../support/assert/settle.js'
import { failureOf, lightWorld } from '../../../support/builders/light-world.js'
import type { Json } from '../../../support/fakes/light-server.js'
import { authorizationKey, holder, signer, specification } from '../../../support/builders/did.js'
import { buildDeactivate } from '../../../../src/identity/did/build.js'

const { book, alice, bob, versions } = lightWorld()
const [first = '', second = '', third = ''] = versions

/** Created with a key of bob under authorization, by which it is deactivated. */
const erin = holder()
book.make({
  operations: [erin.create({ keys: [...erin.plan.keys, authorizationKey('helper', bob.primary, bob.did)] })],
})
const byHelper = { specification, verificationMethod: `${erin.did}#helper` }
book.make({ operations: [buildDeactivate(erin.did, byHelper, signer(bob.primary))] })
/** Its second document has another key than the first, which signed it. */
const frank = holder()
const other = holder()
const created = book.make({ operations: [frank.create()] }).transactions.at(-1)?.txid ?? ''
const keys = [...frank.plan.keys.filter(({ fragment }) => fragment === 'primary'), ...other.plan.keys.slice(1)]
book.make({ operations: [frank.update(created, { keys })] })

const trust = {
  genesis: book.genesis,
  keysAt: () => book.keys(1),
  now: book.tip.time * 1000,
}

/** What is proved by the answer to a question, or to another one, after a change of it. */
function proved(question: DidQuestion, change: (right: Json) => unknown = () => undefined, instead: object = question) {
  const { history, ...asked } = instead as DidQuestion
  const right = JSON.parse(
    JSON.stringify(book.answer(question.did, { ...asked, proof: history ? 'history' : true } as object)),
  ) as Json
  change(right)
  return failureOf(Promise.resolve().then(() => settle(checkDidAnswer(right, question, trust))))
}

describe('the versions that an answer shows', () => {
  const latest = { did: alice.did }
  const all = { did: alice.did, all: true }

  it('are the last one, or all of them, newest first, unless one is asked for', async () => {
    expect(await proved(latest)).toMatchObject({ status: 0, transactions: [{ txid: third }], knowsStatus: true })
    expect(await proved(all)).toMatchObject({ status: 0, places: [2, 1, 0], knowsStatus: true })
    expect(await proved({ ...latest, versionId: second })).toMatchObject({
      transactions: [{ txid: second }],
      knowsStatus: false,
    })
  })

  it('are not an older one as the last, by whatever entries', async () => {
    for (const versionId of [first, second]) {
      expect(await proved({ ...latest, history: true }, undefined, { versionId, history: true })).toBe(
        'answer-transaction',
      )
      expect(await proved(latest, undefined, { versionId })).toBe('answer-transaction')
    }
  })

  it('are not all of them in another order, or one of them twice', async () => {
    expect(await proved(all, ({ transaction }) => transaction.reverse())).toBe('answer-transaction')
    expect(await proved(all, ({ transaction }) => (transaction[1] = transaction[0]))).toBe('answer-transaction')
  })

  it('are none of a DID that does not exist', async () => {
    const did = holder().did
    expect(await proved({ did })).toMatchObject({ status: 3, transactions: [], history: undefined })
    const [one] = (book.answer(alice.did) as Json).transaction
    expect(await proved({ did }, (right) => (right.transaction = [one]))).toBe('answer-incomplete')
  })

  it('are none only where all entries show that there is none', async () => {
    const before = { ...latest, versionTime: '2020-01-01T00:00:00Z' }
    expect(await proved(before)).toMatchObject({ places: [], transactions: [] })
    for (const versionId of versions) {
      for (const instead of [{}, { versionId }, { versionId, history: true }]) {
        const none = (right: Json) => (right.transaction = [])
        expect(await proved({ ...latest, versionId }, none, instead)).toBe('answer-incomplete')
      }
    }
  })
})

describe('a transaction of an answer', () => {
  const question = { did: alice.did, all: true }
  it.each<[string, (transaction: Json) => void]>([
    ['another payload', ({ operation }) => (operation.payload = operation.payload.slice(4))],
    ['another operation', ({ operation }) => (operation.header.operation = 'create')],
    ['the txid of another one before it', ({ operation }) => (operation.header.previousTxid = third)],
    ['no txid of the one before it', ({ operation }) => delete operation.header.previousTxid],
    ['another txid', (transaction) => (transaction.txid = first)],
    ['another time', (transaction) => (transaction.timestamp = '2026-01-01T00:00:00Z')],
  ])('is refused with %s', async (_, change) => {
    expect(await proved(question, ({ transaction }) => change(transaction[0]))).toBe('answer-transaction')
  })

  it('has the form of a txid before it where the entry of that is not shown', async () => {
    const change = (previousTxid: string) => (right: Json) =>
      (right.transaction[0].operation.header.previousTxid = previousTxid)
    expect(await proved({ did: alice.did })).toMatchObject({ transactions: [{ txid: third }] })
    for (const text of ['', second.slice(1), `${second}0`, second.toUpperCase(), ` ${second.slice(1)}`]) {
      expect(await proved({ did: alice.did }, change(text))).toBe('answer-transaction')
    }
  })
})

describe('the signature of an operation', () => {
  it('is by a key of the document before it, or of another DID where that document permits it', async () => {
    expect(await proved({ did: frank.did, all: true })).toMatchObject({ signers: ['#primary', '#primary'] })
    expect(await proved({ did: bob.did, all: true })).toMatchObject({ signers: ['#recovery', '#primary'] })
    expect(await proved({ did: erin.did, all: true })).toMatchObject({ signers: ['#helper', '#primary'] })
  })

  it('is not by a key that only its own document has', async () => {
    const claim = ({ transaction }: Json) => (transaction[0].operation.proof.verificationMethod = '#recovery')
    expect(await proved({ did: frank.did, all: true }, claim)).toBe('answer-signature')
  })
})

describe('the status beside an earlier version', () => {
  const question = { did: alice.did, versionId: first }
  const told = (status: number) => proved(question, (right) => (right.status = status))

  it('is not proved where the DID has a document, and is that of one', async () => {
    expect(await told(0)).toMatchObject({ knowsStatus: false })
    expect(await told(1)).toMatchObject({ knowsStatus: false })
    expect([await told(2), await told(3)]).toEqual(['answer-status', 'answer-status'])
  })
})
