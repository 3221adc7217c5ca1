import { expect, it } from 'vitest'
import bs58 from 'bs58'
import { controllersOf, keysOf } from '../../../../src/explorer/did/key-uses.js'
import { addressOf, didProgramHash } from '../../../../src/base/primitives/address.js'
import { testPublicKey } from '../../../support/builders/spec.js'

const did = `did:ledger:${addressOf(didProgramHash(testPublicKey(0)))}`
const primary = bs58.encode(testPublicKey(0))

it('says what each key may do', () => {
  const key = (name: string, controller = did) => ({
    id: `${did}#${name}`,
    controller,
    publicKeyBase58: name === 'primary' ? primary : name,
  })
  const document = {
    id: did,
    publicKey: [key('primary'), key('spare'), key('friend', 'did:ledger:y')],
    authentication: [`${did}#primary`],
    authorization: [`${did}#friend`],
    keyAgreement: [{ id: `${did}#enc`, type: 'Multikey', publicKeyMultibase: 'z6LS' }],
    proof: { creator: `${did}#spare` },
  }
  expect(keysOf(document).map(({ publicKey, controller, uses }) => [publicKey, controller, uses])).toEqual([
    [primary, did, ['default key: its bytes derive the DID', 'sign updates', 'deactivate', 'issue credentials']],
    ['spare', did, []],
    ['friend', 'did:ledger:y', ['deactivate, on behalf of its controller']],
    ['z6LS', did, ['have others encrypt to the DID']],
  ])
})

it('a document without keys, or with other things in their place, has none', () => {
  expect(keysOf({})).toEqual([])
  expect(keysOf({ id: 7, publicKey: 'x', keyAgreement: 8, authentication: {}, authorization: [null] })).toEqual([])
})

it.each(['', '0OIl', bs58.encode(testPublicKey(1)), bs58.encode(testPublicKey(0).subarray(1)), primary.repeat(2000)])(
  'the default key is the one whose bytes derive the DID, whatever a document says: %.50s',
  (publicKeyBase58) => {
    const document = { id: did, publicKey: [{ id: `${did}#primary`, publicKeyBase58 }], proof: { creator: '#primary' } }
    expect(keysOf(document)).toMatchObject([{ uses: [] }])
  },
)

it('a DID with a name has controllers, and keys that prove no document', () => {
  const name = 'did:ledger:shop'
  const key = { id: `${name}#own`, publicKeyBase58: primary }
  const document = {
    id: name,
    controller: [did, 'did:ledger:y'],
    multisig: '2:2',
    publicKey: [key],
    authentication: [key.id],
  }
  expect(controllersOf(document)).toEqual({ dids: [did, 'did:ledger:y'], needed: 2 })
  expect(controllersOf({ ...document, controller: did, multisig: undefined })).toEqual({ dids: [did], needed: 1 })
  expect(controllersOf({ id: did })).toEqual({ dids: [], needed: 1 })
  expect(keysOf(document)).toMatchObject([
    { uses: ['sign what its controllers have proved', 'issue credentials', 'declare and revoke them'] },
  ])
})
