import { expect, it } from 'vitest'
import { publicKeyOf } from '../../src/base/crypto/keys.js'
import { addressOf, programHash, singleKeyCode, prefix } from '../../src/base/primitives/address.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { readKeystoreDat } from '../../src/clients/wallet/keystore-dat.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface KeystoreVectors {
  password: string
  keystore: { Account: { Address: string; ProgramHash: string; RedeemScript: string }[] }
}

it('a keystore.dat of ela-cli opens with its password, and with no other', () => {
  const file = openVectors<KeystoreVectors>('keystore.json', { descriptive: ['description'] })
  const { password, keystore } = copied(file.data) as KeystoreVectors
  const text = JSON.stringify(keystore)
  const { privateKeys, skipped } = readKeystoreDat(text, password)
  const accounts = privateKeys.map((key) => {
    const code = singleKeyCode(publicKeyOf(key))
    const hash = programHash(prefix.standard, code)
    return { Address: addressOf(hash), ProgramHash: toHex(hash), RedeemScript: toHex(code) }
  })
  expect(keystore.Account).toMatchObject(accounts)
  expect([accounts.length, skipped]).toEqual([1, []])
  expect(() => readKeystoreDat(text, `${password}x`)).toThrow('wrong password')
  file.finish()
})
