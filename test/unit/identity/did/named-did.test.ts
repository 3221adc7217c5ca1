import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../../src/identity/did/base64url.js'
import { issuerInPayload, namedCredential } from '../../../../src/identity/did/named-did.js'
import { fromUtf8 } from '../../../../src/base/primitives/bytes.js'
import { holder } from '../../../support/builders/did.js'

const [ada, bob] = [holder(), holder()]
const id = `${ada.did}#profile`

const credentials: readonly (readonly [string, string, string | undefined])[] = [
  ['another DID issued', JSON.stringify({ id, issuer: bob.did }), bob.did],
  ['its holder issued, in compact form', JSON.stringify({ id }), ada.did],
  ['names its issuer in escapes', `{"id":"${id}","\\u0069ssuer":"${bob.did.replace('d', '\\u0064')}"}`, bob.did],
  ['claims another issuer', JSON.stringify({ credentialSubject: { id, issuer: bob.did }, id }), ada.did],
  ['has a long claim of quotes', JSON.stringify({ name: '"\\é'.repeat(20_000), id, issuer: bob.did }), bob.did],
  ['begins with spaces', JSON.stringify({ id, issuer: bob.did }).replace('{', ` {${' '.repeat(100_000)}`), bob.did],
  ['has no id', JSON.stringify({ issuer: bob.did }), undefined],
]

describe('the issuer of a declared credential', () => {
  it.each(credentials)('that %s is found in the payload', (_, json, issuer) => {
    const payload = encodeBase64url(fromUtf8(json))
    expect(issuerInPayload(fromUtf8(payload))).toBe(issuer)
    const operation = { ...ada.declare(ada.issue(ada.did)), payload }
    expect(namedCredential(operation)?.issuer).toBe(issuer)
  })
})
