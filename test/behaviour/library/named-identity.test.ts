import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { checkCredential } from '../../../src/clients/verifier/check-credential.js'
import type { SigningAccount as Account } from '../../../src/clients/wallet/accounts.js'
import {
  changedDraft,
  type Controller,
  documentOf,
  draftOperation,
  draftText,
  missingProofs,
  namedDraft,
  operationJson,
  readDraft,
  readTicket,
  signDraft,
  signTicket,
  ticketFor,
  ticketText,
  type NamedDraft,
} from '../../../src/node/library/wallet-entry.js'

/** DIDs with a name by the library alone, as a program of several people would use it. */

const created = '2026-11-29T00:00:00Z'
const expires = '2030-01-01T00:00:00Z'
const specification = 'ledger/did/1.0'
const did = 'did:ledger:club'
let node: LedgerNode
beforeAll(async () => {
  node = await createNode({ network: 'devnet' })
  for (const index of [0, 1]) {
    const { txid } = await node.wallet.createDid({ account: node.wallet.account(index) })
    await node.chain.waitFor(txid)
  }
})
afterAll(() => node.close())

const controller = (index: number): Controller => {
  const account = node.wallet.account(index)
  return { pair: account, key: `${account.did}#primary` }
}
const publish = async (draft: NamedDraft, index: number) => {
  const operation = operationJson(draftOperation(draft, controller(index), specification))
  const txid = await node.wallet.publish(operation, { account: node.wallet.account(5) })
  await node.chain.waitFor(txid)
  return txid
}
const current = async () => {
  const { transaction = [] } = await node.resolver.resolve(did)
  const [last] = transaction
  return { document: documentOf(last?.operation.payload ?? ''), txid: last?.txid ?? '' }
}
/** As it goes by a file from one to the next. */
const sent = (draft: NamedDraft) => readDraft(draftText(draft))

it('a name of two goes from hand to hand as a draft, and to one of them by a ticket', async () => {
  const controllers = [0, 1].map((index) => node.wallet.account(index).did)
  const identity = { did, controllers, needed: 2, services: [], expires }
  const first = signDraft(namedDraft(identity, created), controller(0), created)
  expect(missingProofs(first)).toBe(1)
  expect(() => draftOperation(first, controller(0), specification)).toThrow('1 more of the controllers')
  expect(() => signDraft(first, controller(0), created)).toThrow('has signed it already')
  expect(() => signDraft(first, controller(2), created)).toThrow('is no controller')
  const whole = signDraft(sent(first), controller(1), created)
  await publish(sent(whole), 1)

  const change = changedDraft(await current(), { addAlsoKnownAs: ['https://club.example'] }, created)
  await publish(signDraft(sent(signDraft(change, controller(0), created)), controller(1), created), 0)
  const { document } = await current()
  expect(document.alsoKnownAs).toEqual(['https://club.example'])

  const half = signTicket(ticketFor(await current(), controllers[0] ?? ''), controller(0), document, created)
  const ticket = signTicket(readTicket(ticketText(half)), controller(1), document, created)
  expect(() => signTicket(ticket, controller(1), document, created)).toThrow('has signed it already')
  const alone = namedDraft({ did, controllers: controllers.slice(0, 1), services: [], expires }, created, ticket)
  await publish(sent(signDraft(alone, controller(0), created)), 0)
  expect((await current()).document.controllers).toEqual(controllers.slice(0, 1))
})

it('its controllers issue and declare in its name, and end it; a revoke takes a key of its own', async () => {
  const name = 'did:ledger:guild'
  const [account, own, stranger] = [0, 2, 3].map((index) => node.wallet.account(index)) as [Account, Account, Account]
  const identity = { did: name, controllers: [account.did], services: [], expires }
  await publish(signDraft(namedDraft(identity, created), controller(0), created), 0)
  const degree = { did: name, id: 'degree', types: ['DegreeCredential'], claims: { degree: 'BSc' } }
  const credential = node.wallet.issueCredential({ ...degree, account })
  expect(credential).toContain(`"verificationMethod":"${account.did}#primary"`)
  expect(await checkCredential(credential, node.resolver)).toMatchObject({ valid: true })
  expect(() => node.wallet.issueCredential({ ...degree, account: stranger })).toThrow(/and its controllers list none/)
  expect(() => node.wallet.issueCredential({ ...degree, account, format: 'jwt' })).toThrow(/takes a key of its own/)

  const id = `${name}#degree`
  const declared = await node.wallet.declareCredential({ account, did: name, credential })
  await node.chain.waitFor(declared.txid)
  await expect(node.wallet.revokeCredential({ account, did: name, id })).rejects.toThrow(/a key of its own.*--add-key/)
  // A key of a controller revokes in the name of the controller, who is neither holder nor issuer.
  await expect(node.wallet.revokeCredential({ account, id })).rejects.toMatchObject({ code: 'credential-revoker' })
  const before = (await node.resolver.resolve(name)).transaction?.[0]
  const current = { document: documentOf(before?.operation.payload ?? ''), txid: before?.txid ?? '' }
  const change = changedDraft(current, { addKeys: [{ name: 'own', publicKey: own.publicKey }] }, created)
  await publish(signDraft(change, controller(0), created), 0)
  const signWith = own.privateKey
  const revoked = await node.wallet.revokeCredential({ account: stranger, did: name, id, signWith })
  await node.chain.waitFor(revoked.txid)
  const after = await checkCredential(credential, node.resolver)
  expect(after.checks.filter(({ holds }) => !holds).map(({ name: failed }) => failed)).toEqual(['status'])

  await expect(node.wallet.deactivateDid({ account: stranger, did: name })).rejects.toThrow(
    /default key of a controller/,
  )
  await expect(node.wallet.deactivateDid({ account, did: name, signWith })).rejects.toThrow(/may not sign/)
  const ended = await node.wallet.deactivateDid({ account, did: name })
  await node.chain.waitFor(ended.txid)
  expect(await node.resolver.resolve(name)).toMatchObject({ status: 2 })
})

it('what is no draft is none', () => {
  for (const text of ['{}', '[]', '{"operation":"create"}', '{"operation":"none","document":{}}']) {
    expect(() => readDraft(text)).toThrow('it holds no draft')
  }
  expect(() => namedDraft({ did: 'did:ledger:Club', controllers: [], services: [], expires }, created)).toThrow(
    'is not a DID with a name',
  )
  expect(() => namedDraft({ did, controllers: ['a', 'b'], needed: 3, services: [], expires }, created)).toThrow(
    '3 of 2 controllers cannot sign',
  )
})
