import { describe, expect, it } from 'vitest'
import { readAgreementKey } from '../../../../src/clients/wallet/core-members.js'

describe('a key for encryption as text of a JWK', () => {
  const x = 'A'.repeat(43)

  it('is read, and refused with a member twice', () => {
    expect(readAgreementKey(`{"kty":"OKP","crv":"X25519","x":"${x}"}`)).toMatch(/^z/)
    expect(() => readAgreementKey(`{"kty":"OKP","crv":"X25519","x":"B","x":"${x}"}`)).toThrow(
      'the key cannot be read: as JWK it has a member twice',
    )
  })
})
