import { expect, it } from 'vitest'
import { formatPrivateKey, formatPublicKey, readPrivateKey, readPublicKey } from '../../src/base/crypto/key-forms.js'
import { hex, toHex } from '../../src/base/primitives/bytes.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface KeyVectors {
  privateKey: string
  uncompressed: string
  private: Record<string, string>
  public: Record<string, string>
  refused: { file: string; text: string; fault: string }[]
}

const file = openVectors<KeyVectors>('keys.json', { descriptive: ['description'] })
const vectors = copied(file.data) as KeyVectors

it('keys in the files of OpenSSL are read, and written with the same bytes', () => {
  const compressed = readPublicKey(vectors.uncompressed)
  const read = Object.entries(vectors.private).map(([how, text]) => [how, toHex(readPrivateKey(text))])
  expect(read).toEqual(Object.keys(vectors.private).map((how) => [how, vectors.privateKey]))
  for (const text of Object.values(vectors.public)) expect(readPublicKey(text)).toEqual(compressed)
  const privateKey = hex(vectors.privateKey)
  expect(formatPrivateKey(privateKey, 'pem')).toBe(vectors.private['openssl pkcs8 -topk8 -nocrypt'])
  expect(formatPrivateKey(privateKey, 'der')).toBe(vectors.private['openssl pkcs8 -topk8 -nocrypt -outform DER'])
  expect(formatPublicKey(compressed, 'pem')).toBe(vectors.public['openssl ec -pubout'])
  expect(formatPublicKey(compressed, 'der')).toBe(vectors.public['openssl ec -pubout -outform DER'])
})

it('files of other kinds are refused with what to do', () => {
  for (const { file: kind, text, fault } of vectors.refused) {
    const read = () => readPrivateKey(text, kind)
    expect(read).toThrow(`${kind} cannot be read: ${fault}`)
  }
  file.finish()
})
