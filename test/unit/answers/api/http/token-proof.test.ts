import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { placeOf, placeText, tokenProof } from '../../../../../src/answers/api/http/token-proof.js'

it('a proof depends on token, nonce and place alone', () => {
  const [token, nonce] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  const message = Buffer.concat([Buffer.from('didledger token proof'), nonce, Buffer.from('127.0.0.1 20334')])
  const proof = tokenProof(token, nonce, '127.0.0.1 20334')
  expect(proof).toEqual(createHmac('sha256', token).update(message).digest())
  for (const other of [
    tokenProof(new Uint8Array(32), nonce, '127.0.0.1 20334'),
    tokenProof(token, token, '127.0.0.1 20334'),
    tokenProof(token, nonce, '127.0.0.1 20335'),
    tokenProof(token, nonce, '127.0.0.2 20334'),
  ]) {
    expect(other.equals(proof)).toBe(false)
  }
})

it('a place is the address and port that a connection reached, however the system writes it', () => {
  expect(placeOf({ localAddress: '::ffff:127.0.0.1', localPort: 20334 })).toBe('127.0.0.1 20334')
  expect(placeOf({ localAddress: '::1', localPort: 1 })).toBe(placeText('::1', 1))
  expect(placeText('::FFFF:127.0.0.1', 1)).toBe('127.0.0.1 1')
})
