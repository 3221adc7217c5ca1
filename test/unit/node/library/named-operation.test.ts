import { describe, expect, it } from 'vitest'
import { type DidOperation, operationJson } from '../../../../src/base/primitives/did-operation.js'
import {
  buildCreate,
  buildUpdate,
  declareOperation,
  revokeOperation,
  signCredential,
} from '../../../../src/identity/did/build.js'
import { payloadText } from '../../../support/builders/payload-text.js'
import { readCredential } from '../../../../src/clients/wallet/did-credential.js'
import { verifyOperation } from '../../../../src/node/library/verify-documents.js'
import {
  authenticationKey,
  created,
  credentialSpecification,
  type Holder,
  holder,
  signer,
  specification,
  txid,
} from '../../../support/builders/did.js'
import {
  createNamed,
  deactivateNamed,
  named,
  namedDocument,
  ticketOf,
  transferNamed,
  updateNamed,
} from '../../../support/builders/named-did.js'
import { quickSigner } from '../../../support/builders/signatures.js'

const method = 'ledger'
const [ada, bob, cyd, eve] = [holder(), holder(), holder(), holder()]
const crew = { by: [ada, bob, cyd], needed: 2 }
const before = namedDocument('club', crew)
const valid = { valid: true }
const check = (operation: DidOperation, document?: string, controllers?: readonly Holder[]) =>
  verifyOperation(operationJson(operation), document, {
    method,
    ...(controllers && { controllers: controllers.map((one) => payloadText(one.document())) }),
  })
const text = payloadText(before)
const no = (reason: RegExp) => ({ valid: false, reason: expect.stringMatching(reason) as string })
const byRecovery = (one: Holder) => ({ specification, verificationMethod: `${one.did}#recovery` })

describe('verifyOperation of a DID with a name', () => {
  it('holds m of n controllers against the document, by their DIDs alone', () => {
    expect(check(createNamed(before, ada))).toEqual(valid)
    // Who signs the operation need not have proved the document.
    expect(check(createNamed(before, cyd))).toEqual(valid)
    expect(check(createNamed(namedDocument('club', { ...crew, signers: [cyd, bob] }), ada))).toEqual(valid)
    const forged = namedDocument('club', { ...crew, signers: [ada, { ...eve, did: bob.did } as Holder] })
    expect(check(createNamed(forged, ada))).toEqual(no(/not by its default key/))
    expect(check(createNamed(before, eve))).toEqual(no(/may not sign/))
    const own = quickSigner()
    const withOwn = namedDocument('club', { ...crew, plan: { keys: [authenticationKey('own', own)] } })
    const sign = (fragment: string, key = own) =>
      buildCreate(withOwn, { specification, verificationMethod: `${named('club')}${fragment}` }, signer(key))
    expect(check(sign('#own'))).toEqual(valid)
    expect(check(sign('#own', quickSigner()))).toEqual(no(/does not verify/))
    expect(check(sign('#other'))).toEqual(no(/no authentication key/))
  })

  it('says what a document that was not given leaves open', () => {
    const byOther = buildCreate(before, byRecovery(ada), signer(ada.recovery))
    const open = { ...no(/not checked: the document of did:ledger:i/), unchecked: ['signature'] }
    expect(check(byOther)).toEqual(open)
    expect(check(byOther, undefined, [bob])).toEqual(open)
    expect(check(byOther, undefined, [bob, ada])).toEqual(valid)
    const forged = buildCreate(before, byRecovery(ada), signer(eve.recovery))
    expect(check(forged)).toEqual(open)
    expect(check(forged, undefined, [ada])).toEqual(no(/does not verify/))
    // The default key under the name of another one.
    const misnamed = buildCreate(before, byRecovery(ada), signer(ada.primary))
    expect(check(misnamed, undefined, [ada])).toEqual(no(/is not the default key/))
    const next = updateNamed(before, txid(1), ada)
    expect(check(next)).toEqual({ ...no(/document before the operation is needed/), unchecked: ['controllers'] })
    const both = buildUpdate(before, { ...byRecovery(ada), previousTxid: txid(1) }, signer(ada.recovery))
    expect(check(both).unchecked).toEqual(['controllers', 'signature'])
  })

  it('takes controllers of an update from the document before, and of a transfer from the ticket', () => {
    expect(check(updateNamed(before, txid(1), ada), text)).toEqual(valid)
    const stolen = namedDocument('club', { by: [eve] })
    expect(check(updateNamed(stolen, txid(1), eve), text)).toEqual(no(/changes the controllers/))
    const weaker = namedDocument('club', { by: crew.by, needed: 1 })
    expect(check(updateNamed(weaker, txid(1), ada), text)).toEqual(no(/changes the controllers/))

    const ticket = (signers: readonly Holder[], to = eve) => ticketOf('club', { to, txid: txid(1), signers })
    const taken = (signers: readonly Holder[], to = eve) => check(transferNamed(stolen, ticket(signers, to), eve), text)
    expect(taken([ada, bob])).toEqual(valid)
    expect(taken([ada])).toEqual(no(/1 proofs by 1 controllers, but 2/))
    expect(taken([ada, ada])).toEqual(no(/2 proofs by 1 controllers, but 2|twice/))
    expect(taken([ada, eve])).toEqual(no(/not a controller/))
    expect(taken([ada, bob], ada)).toEqual(no(/no controller that signed/))
    expect(taken([ada, { ...eve, did: bob.did } as Holder])).toEqual(no(/not by its default key/))
    expect(check(transferNamed(stolen, ticket([eve]), eve))).toMatchObject({ unchecked: ['controllers'] })
    const other = ticketOf('shop', { to: eve, txid: txid(1), signers: [ada, bob] })
    expect(check(transferNamed(stolen, other, eve), text)).toEqual(no(/ticket is for did:ledger:shop/))
  })

  it('is ended by the default key of one controller', () => {
    expect(check(deactivateNamed('club', cyd), text)).toEqual(valid)
    expect(check(deactivateNamed('club', eve), text)).toEqual(no(/may not sign/))
    expect(check(deactivateNamed('club', cyd))).toMatchObject({ valid: false, unchecked: ['controllers', 'signature'] })
    expect(check(deactivateNamed('shop', cyd), text)).toEqual(no(/is not about/))
  })

  it('has credentials declared by a controller, and revoked by a key of its own alone', () => {
    const own = quickSigner()
    const keys = [authenticationKey('own', own)]
    const document = namedDocument('club', { by: [ada], plan: { keys } })
    const members = {
      id: `${document.id}#a`,
      type: ['A'],
      issuer: document.id,
      issuanceDate: created,
      credentialSubject: { id: document.id, a: 1 },
    }
    const key = `${document.id}#own`
    const credential = readCredential(signCredential(members, { method, key, created }, signer(own)))
    const plan = (verificationMethod: string) => ({ specification: credentialSpecification, verificationMethod })
    const given = payloadText(document)
    const byController = declareOperation(credential, plan(`${ada.did}#recovery`), signer(ada.recovery))
    expect(check(byController, given, [ada])).toEqual(valid)
    expect(check(byController, given)).toMatchObject({ valid: false, unchecked: ['signature'] })
    expect(check(declareOperation(credential, plan(`${eve.did}#primary`), signer(eve.primary)), given)).toEqual(
      no(/may not sign/),
    )
    const revoke = (by: string, pair: typeof own) => revokeOperation(credential.id, plan(by), signer(pair))
    expect(check(revoke(`${named('club')}#own`, own), given)).toEqual(valid)
    expect(check(revoke('#own', own), given)).toEqual(valid)
    // It is one in the name of the controller.
    expect(check(revoke(`${ada.did}#primary`, ada.primary), given)).toEqual(no(/is one of did:ledger:i/))
    expect(check(revoke(`${ada.did}#primary`, ada.primary), payloadText(ada.document()))).toEqual(valid)
  })
})
