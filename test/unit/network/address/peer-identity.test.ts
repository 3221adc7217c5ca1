import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ed25519 } from '@noble/curves/ed25519.js'
import { expect, it, onTestFinished } from 'vitest'
import { keyOfPeerName, loadIdentity, peerName } from '../../../../src/network/address/peer-identity.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { SeededRandom } from '../../../support/builders/seeded-random.js'

it('the identity of a key file has the Ed25519 public key of its secret, and the name of it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'didledger-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const random = new SeededRandom(3)
  const secrets = ['9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', '00'.repeat(32), 'ff'.repeat(32)]
  const some = [...secrets, ...Array.from({ length: 20 }, () => toHex(random.bytes(32)))]
  for (const [n, secret] of some.entries()) {
    const file = join(directory, `${n}.key`)
    writeFileSync(file, `${secret}\n`, { mode: 0o600 })
    const { secretKey, publicKey } = await loadIdentity(file, random)
    expect(toHex(secretKey)).toBe(secret)
    expect(toHex(publicKey)).toBe(toHex(ed25519.getPublicKey(secretKey)))
    expect(keyOfPeerName(peerName(publicKey))).toEqual(publicKey)
  }
})
