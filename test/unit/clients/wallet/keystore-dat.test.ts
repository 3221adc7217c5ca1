import { createCipheriv, createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { describe, expect, it } from 'vitest'
import { publicKeyOf } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { addressFromPublicKey } from '../../../../src/base/primitives/address.js'
import { hex, toHex } from '../../../../src/base/primitives/bytes.js'
import { isKeystoreDat, readKeystoreDat } from '../../../../src/clients/wallet/keystore-dat.js'

const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest()
const privateKeys = ['11', '00'.repeat(31) + '07', 'c3'.repeat(32)].map((text) => hex(text.padStart(64, '0')))
const iv = hex('000102030405060708090a0b0c0d0e0f')

function seal(plain: Uint8Array, key: Uint8Array): string {
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false)
  return Buffer.concat([cipher.update(plain), cipher.final()])
    .toString('hex')
    .toUpperCase()
}

/** A keystore.dat made step by step as the format describes it. */
function keystoreDat(password: string) {
  const passwordKey = sha256(sha256(Buffer.from(password)))
  const masterKey = sha256(Buffer.from('any 32 bytes'))
  const account = (privateKey: Uint8Array, type: string) => {
    const point = p256.getPublicKey(privateKey, false)
    const publicKey = publicKeyOf(privateKey)
    return {
      Address: addressFromPublicKey(publicKey),
      ProgramHash: '21',
      RedeemScript: `21${toHex(publicKey)}ac`,
      PrivateKeyEncrypted: seal(Buffer.concat([point.subarray(1), privateKey]), masterKey),
      Type: type,
    }
  }
  const [first, main, third] = privateKeys as [Uint8Array, Uint8Array, Uint8Array]
  return {
    Version: Buffer.from('1.0.0').toString('hex'),
    PasswordHash: sha256(passwordKey).toString('hex'),
    IV: toHex(iv),
    MasterKey: seal(masterKey, passwordKey),
    Account: [
      account(first, 'sub-account'),
      account(main, 'main-account'),
      {
        Address: '8VYXVxKKSAxkmRrfmGpQR2Kc66XhG6m3ta',
        ProgramHash: '12',
        RedeemScript: '',
        PrivateKeyEncrypted: '',
        Type: 'sub-account',
      },
      account(third, 'sub-account'),
    ],
  }
}

describe('reading a keystore.dat', () => {
  const text = JSON.stringify(keystoreDat('elastos'))

  it('gives the private keys, the main account first, and names accounts without one', () => {
    const { privateKeys: read, skipped } = readKeystoreDat(text, 'elastos')
    const [first, main, third] = privateKeys as [Uint8Array, Uint8Array, Uint8Array]
    expect(read.map(toHex)).toEqual([main, first, third].map(toHex))
    expect(skipped).toEqual(['8VYXVxKKSAxkmRrfmGpQR2Kc66XhG6m3ta'])
  })

  it('knows one when it sees one', () => {
    expect(isKeystoreDat(keystoreDat('x'))).toBe(true)
    expect(isKeystoreDat({ format: 'didledger-keystore' })).toBe(false)
    expect(isKeystoreDat(null)).toBe(false)
  })

  const damaged = (change: (file: ReturnType<typeof keystoreDat>) => void) => {
    const file = keystoreDat('elastos')
    change(file)
    return JSON.stringify(file)
  }
  const flipped = (value: string) => (value.startsWith('0') ? '1' : '0') + value.slice(1)
  it.each<[string, string, string, RegExp]>([
    ['a wrong password', text, 'wrong', /wrong password/],
    ['another version', damaged((file) => void (file.Version = '00')), 'elastos', /version 1\.0\.0/],
    ['a changed master key', damaged((file) => void (file.MasterKey = flipped(file.MasterKey))), 'elastos', /damaged/],
    [
      'a changed private key',
      damaged((file) => {
        const account = file.Account[0] as { PrivateKeyEncrypted: string }
        account.PrivateKeyEncrypted = flipped(account.PrivateKeyEncrypted)
      }),
      'elastos',
      /damaged: the private key/,
    ],
    [
      'a key that is not that of its address',
      damaged((file) => void ((file.Account[0] as { Address: string }).Address = 'EQJP3XT7rshteqE1D3u9nBqXL7xQrfzVh1')),
      'elastos',
      /damaged: the private key of EQJP3/,
    ],
    ['a short iv', damaged((file) => void (file.IV = '00')), 'elastos', /IV is not 16 bytes/],
    ['no accounts', damaged((file) => void (file.Account = [])), 'elastos', /no private key/],
    ['no list of accounts', JSON.stringify({ ...keystoreDat('elastos'), Account: 1 }), 'elastos', /not a list/],
    ['something else', '[]', 'elastos', /not a keystore\.dat/],
    ['no JSON', '{', 'elastos', /not JSON/],
  ])('refuses %s', (_, file, password, message) => {
    expect(() => readKeystoreDat(file, password)).toThrow(UserError)
    expect(() => readKeystoreDat(file, password)).toThrow(message)
  })
})
