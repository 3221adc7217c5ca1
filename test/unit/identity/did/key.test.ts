import { p256 } from '@noble/curves/nist.js'
import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { parseKey } from '../../../../src/identity/did/key.js'
import { type JsonObject, parseStrictJson } from '../../../../src/base/primitives/strict-json.js'
import { heldBytes } from '../../../support/assert/heap-probe.js'
import { codeOf } from '../../../support/assert/code-of.js'

const did = 'did:ledger:somebody'
const documents = 200
const padding = 'x'.repeat(100_000)

function read(publicKey: Uint8Array): unknown {
  const key = { id: '#key', type: 'ECDSAsecp256r1', publicKeyBase58: bs58.encode(publicKey) }
  const document = parseStrictJson(JSON.stringify({ padding, key }), { depth: 4, tokens: 100 }) as JsonObject
  return parseKey(document.get('key') as JsonObject, 'key', { method: 'ledger', chain: false }, did, false)
}

it('remembers that keys are points without the documents that brought them', () => {
  let point = p256.Point.BASE.multiply(0x2a2a2a2an)
  const before = heldBytes()
  for (let i = 0; i < documents; i++) {
    point = point.add(p256.Point.BASE)
    read(point.toBytes(true))
  }
  expect(heldBytes() - before).toBeLessThan((documents * padding.length) / 4)
})

it('refuses 33 bytes that are no point however often they come', () => {
  const none = Uint8Array.of(2, ...new Uint8Array(32).fill(0xff))
  expect([codeOf(() => read(none)), codeOf(() => read(none))]).toEqual(['document-key', 'document-key'])
})
