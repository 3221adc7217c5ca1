import { describe, expect, it } from 'vitest'
import { payloadText } from '../../../support/builders/payload-text.js'
import { documentText } from '../../../../src/identity/did/canonical.js'
import { parseLibraryDocument } from '../../../../src/identity/did/library-document.js'
import { fromPlain } from '../../../../src/identity/did/plain-json.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { holder } from '../../../support/builders/did.js'

const [ada, bob, eve] = [holder(), holder(), holder()]
type Members = Record<string, unknown>
const compact = JSON.parse(payloadText(ada.document(), 'compact')) as Members
const proof = compact.proof as Members
const read = (changes: Members) =>
  parseLibraryDocument(fromPlain({ ...compact, ...changes }), { method: 'ledger', chain: false })

describe('a document of another tool', () => {
  it('may have controllers, sorted, and as many proofs as it likes', () => {
    const dids = [bob.did, eve.did].sort()
    const both = read({ controller: [...dids].reverse(), multisig: '2:2' })
    expect(both).toMatchObject({ controllers: dids, multisig: '2:2' })
    expect(both.signingText).toContain(`"controller":["${dids.join('","')}"],"multisig":"2:2",`)
    const one = read({ controller: bob.did })
    expect(one.controllers).toEqual([bob.did])
    expect(one.multisig).toBeUndefined()
    expect(one.signingText).toContain(`"controller":"${bob.did}",`)
    const plain = read({})
    expect(plain.controllers).toEqual([])
    expect(plain.signingText).not.toContain('"multisig"')
    expect(documentText(parseLibraryDocument(fromPlain(documentText(both)), { method: 'ledger', chain: false }))).toBe(
      documentText(both),
    )
    expect(read({ proof: undefined }).proofs).toEqual([])
    const later = { ...proof, created: '2030-01-01T00:00:00Z' }
    expect(read({ proof: [later, { ...proof, created: undefined }] }).proofs.map(({ created }) => created)).toEqual([
      undefined,
      '2030-01-01T00:00:00Z',
    ])
  })

  it.each([
    ['a member that does not exist', { colour: 'red' }, 'document-member'],
    ['a controller that is no DID', { controller: 'bob' }, 'document-did'],
    ['a controller twice', { controller: [bob.did, bob.did], multisig: '1:2' }, 'document-reference'],
    ['two controllers without multisig', { controller: [bob.did, eve.did] }, 'document-form'],
    ['multisig of another number', { controller: [bob.did, eve.did], multisig: '1:3' }, 'document-form'],
    ['multisig of more than there are', { controller: [bob.did, eve.did], multisig: '3:2' }, 'document-form'],
    ['multisig of none', { controller: [bob.did, eve.did], multisig: '0:2' }, 'document-form'],
    ['multisig in another form', { controller: [bob.did, eve.did], multisig: '1/2' }, 'document-form'],
    ['a proof of another form', { proof: [proof, 'none'] }, 'document-form'],
  ])('is refused for %s', (_, changes, code) => {
    expect(codeOf(() => read(changes))).toBe(code)
  })
})
