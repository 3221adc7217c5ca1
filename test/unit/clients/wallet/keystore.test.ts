import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { generateMnemonic } from '../../../../src/base/crypto/hd.js'
import { isPrivateKey } from '../../../../src/base/crypto/keys.js'
import { UserError } from '../../../../src/base/errors/rule-error.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { accountSource, type WalletSecret } from '../../../../src/clients/wallet/accounts.js'
import { devnetMnemonic } from '../../../../src/clients/wallet/devnet-accounts.js'
import {
  createKeystore,
  type DeriveKey,
  formatKeystore,
  keystoreAccounts,
  openKeystore,
  parseKeystore,
  readKeystore,
  scryptCost,
  scryptKey,
  writeKeystore,
} from '../../../../src/clients/wallet/keystore.js'
import { seededRandom } from '../../../support/builders/seeded-bytes.js'

const cheap = { N: 2 ** 4, r: 8, p: 1 }
const mnemonicSecret: WalletSecret = { kind: 'mnemonic', mnemonic: devnetMnemonic }

/** Key derivation by the same scrypt, remembered, so that thousands of attempts do not take minutes. */
function remembered(): DeriveKey {
  const keys = new Map<string, Uint8Array>()
  return (password, salt, cost) => {
    const id = `${password}/${toHex(salt)}/${cost.N}/${cost.r}/${cost.p}`
    const key = keys.get(id) ?? scryptKey(password, salt, cost)
    keys.set(id, key)
    return key
  }
}

function failure(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}

describe('the keystore', () => {
  const directory = mkdtempSync(join(tmpdir(), 'didledger-keystore-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const password = fc.string({ minLength: 1, unit: 'grapheme' })

  it('gives back any private keys under their password', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(isPrivateKey)
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 3 }), password, fc.integer(), (privateKeys, word, seed) => {
        const keystore = createKeystore({ kind: 'keys', privateKeys }, word, seededRandom(seed), { cost: cheap })
        const opened = openKeystore(parseKeystore(formatKeystore(keystore)), word)
        expect(opened.kind === 'keys' && opened.privateKeys.map(toHex)).toEqual(privateKeys.map(toHex))
      }),
      { numRuns: 1000 },
    )
  })

  it('gives back any mnemonic, and lists the accounts asked for without a password', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(12 as const, 24 as const), password, (seed, words, word) => {
        const secret: WalletSecret = { kind: 'mnemonic', mnemonic: generateMnemonic(seededRandom(seed), words) }
        const keystore = createKeystore(secret, word, seededRandom(seed), { cost: cheap, count: 2 })
        const read = parseKeystore(formatKeystore(keystore))
        expect(openKeystore(read, word)).toEqual(secret)
        const account = accountSource(secret)
        expect(keystoreAccounts(read).map(({ did }) => did)).toEqual([account(0).did, account(1).did])
      }),
      { numRuns: 50 },
    )
  })

  it('refuses a wrong password and an empty one', () => {
    const keystore = createKeystore(mnemonicSecret, 'right', seededRandom(1), { cost: cheap })
    expect(failure(() => openKeystore(keystore, 'wrong'))).toMatchObject({
      name: 'UserError',
      exitCode: 1,
      message: expect.stringContaining('wrong password'),
    })
    expect(() => createKeystore(mnemonicSecret, '', seededRandom(1), { cost: cheap })).toThrow(/must not be empty/)
  })

  it('takes the same password in another Unicode form', () => {
    const keystore = createKeystore(mnemonicSecret, 'caf\u00e9', seededRandom(1), { cost: cheap })
    expect(openKeystore(keystore, 'cafe\u0301')).toEqual(mnemonicSecret)
  })

  it('notices a change of any single byte of the file', () => {
    const deriveKey = remembered()
    const keystore = createKeystore(mnemonicSecret, 'right', seededRandom(2), { cost: cheap, count: 2, deriveKey })
    const bytes = Buffer.from(formatKeystore(keystore))
    const open = (text: string) => openKeystore(parseKeystore(text), 'right', deriveKey)
    expect(open(bytes.toString())).toEqual(mnemonicSecret)
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [0x01, 0x20, 0x80, 0xff]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] as number) ^ flip
        expect(
          failure(() => open(changed.toString())),
          `byte ${at} ^ ${flip}`,
        ).toBeInstanceOf(UserError)
      }
    }
  })

  it('notices every truncation and anything added', () => {
    const text = formatKeystore(createKeystore(mnemonicSecret, 'right', seededRandom(3), { cost: cheap }))
    for (let length = 0; length < text.length - 1; length++) {
      expect(
        failure(() => parseKeystore(text.slice(0, length))),
        `length ${length}`,
      ).toBeInstanceOf(UserError)
    }
    const file = JSON.parse(text) as { kdf: object; cipher: object }
    for (const more of [{ note: '' }, { kdf: { ...file.kdf, note: '' } }, { cipher: { ...file.cipher, note: '' } }]) {
      expect(() => parseKeystore(JSON.stringify({ ...file, ...more }))).toThrow('it was edited')
    }
    expect(failure(() => parseKeystore(`${text}x`))).toBeInstanceOf(UserError)
  })

  it('may be laid out by another program', () => {
    const text = formatKeystore(createKeystore(mnemonicSecret, 'right', seededRandom(3), { cost: cheap }))
    const turned = Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse())
    for (const other of [
      text.replaceAll('\n', '\r\n'),
      text.trimEnd(),
      `${text}\n`,
      JSON.stringify(JSON.parse(text)),
      JSON.stringify(turned, null, '\t'),
    ]) {
      expect(openKeystore(parseKeystore(other), 'right')).toEqual(mnemonicSecret)
    }
  })

  it('says which other version it cannot read, and refuses costs that would take all memory', () => {
    const text = formatKeystore(createKeystore(mnemonicSecret, 'right', seededRandom(3), { cost: cheap }))
    expect(() => parseKeystore(text.replace('"version": 1', '"version": 2'))).toThrow(/version 2/)
    expect(() => parseKeystore(text.replace('"N": 16', '"N": 1073741824'))).toThrow(/kdf\.N/)
    expect(() => parseKeystore('{"a": 1}')).toThrow(/not a didledger keystore/)
  })

  it('is written for its owner alone, never over another file, and leaves no temporary file', () => {
    const path = join(directory, 'wallet.json')
    const first = createKeystore(mnemonicSecret, 'right', seededRandom(4), { cost: cheap })
    writeKeystore(path, first)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const second = createKeystore(mnemonicSecret, 'other', seededRandom(5), { cost: cheap })
    expect(failure(() => writeKeystore(path, second))).toMatchObject({
      message: expect.stringContaining('exists already'),
    })
    expect(readFileSync(path, 'utf8')).toBe(formatKeystore(first))
    writeKeystore(path, second, { replace: true })
    expect(openKeystore(readKeystore(path), 'other')).toEqual(mnemonicSecret)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['wallet.json'])
    expect(failure(() => readKeystore(join(directory, 'none.json')))).toBeInstanceOf(UserError)
  })

  it('uses the documented cost unless told otherwise', () => {
    const { head } = createKeystore(mnemonicSecret, 'right', seededRandom(6))
    expect(head.kdf).toMatchObject({ name: 'scrypt', ...scryptCost })
    expect(scryptCost).toEqual({ N: 131072, r: 8, p: 1 })
  })
})
