import { mnemonicToSeedSync } from '@scure/bip39'
import { describe, expect, it } from 'vitest'
import {
  deriveKey,
  generateMnemonic,
  isMnemonic,
  keyFromSeed,
  keyPath,
  plainMnemonic,
  seedOf,
} from '../../../../src/base/crypto/hd.js'
import { isPrivateKey } from '../../../../src/base/crypto/keys.js'
import { toHex } from '../../../../src/base/primitives/bytes.js'

const words = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
const junk = 'test test test test test test test test test test test junk'

describe('mnemonics', () => {
  it('have the published BIP39 seed', () => {
    expect(toHex(seedOf(words, 'TREZOR') as Uint8Array)).toBe(
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04',
    )
  })

  it.each(['', 'TREZOR', 'caf\u00e9', 'cafe\u0301 \ud83d\udd11', 'x'.repeat(300)])(
    'and with the passphrase %j that of the library for pages',
    (passphrase) => {
      for (const text of [words, junk]) {
        expect(toHex(seedOf(text, passphrase) as Uint8Array)).toBe(toHex(mnemonicToSeedSync(text, passphrase)))
      }
    },
  )

  it.each([words, junk, `  ${words.toUpperCase().replaceAll(' ', ' \t\n')} `])('accepts %j', (text) => {
    expect(isMnemonic(text)).toBe(true)
    expect(seedOf(text)).toEqual(seedOf(text.toLowerCase().trim().split(/\s+/).join(' ')))
  })

  it.each([
    words.replaceAll(' ', ', '),
    words
      .split(' ')
      .map((word, i) => `${i + 1}. ${word}`)
      .join('\n'),
    JSON.stringify(junk.split(' ')),
  ])('accepts words with numbers and signs: %j', (text) => {
    expect(isMnemonic(text)).toBe(true)
    expect(seedOf(text)).toEqual(seedOf(text.includes('junk') ? junk : words))
  })

  it.each([
    'ill bus skin neglect evidence loan cupboard nuclear govern rapid ﬁnd giraffe',
    junk.replace('test', '\uff54est'),
  ])('have the seed of their NFKD form, as BIP39 has it: %j', (text) => {
    expect(isMnemonic(text)).toBe(true)
    expect(toHex(seedOf(text) as Uint8Array)).toBe(toHex(mnemonicToSeedSync(text.normalize('NFKD'))))
    expect(plainMnemonic(text)).toBe(text.normalize('NFKD'))
  })

  it.each([
    ['nothing', ''],
    ['a wrong checksum', words.replace('about', 'abandon')],
    ['a word that is not in the list', words.replace('about', 'abouts')],
    ['eleven words', words.split(' ').slice(1).join(' ')],
    ['thirteen words', `abandon ${words}`],
    ['a word that a sign breaks', words.replace('about', 'ab-out')],
    ['words that hang together', words.replace('abandon abandon', 'abandon1abandon')],
  ])('refuses %s', (_, text) => {
    expect(isMnemonic(text)).toBe(false)
    expect(seedOf(text)).toBeUndefined()
    expect(deriveKey(text, keyPath(0))).toBeUndefined()
  })

  it.each([
    [12, 16],
    [24, 32],
  ] as const)('of %i words are made of %i random bytes', (count, length) => {
    const asked: number[] = []
    const random = {
      bytes(size: number) {
        asked.push(size)
        return new Uint8Array(size)
      },
    }
    const text = generateMnemonic(random, count)
    expect(text.split(' ')).toHaveLength(count)
    expect(isMnemonic(text)).toBe(true)
    expect(asked).toEqual([length])
    if (count === 12) expect(text).toBe(words)
  })
})

describe('derived keys', () => {
  const seed = seedOf(junk) as Uint8Array
  const textOf = (path: string) => {
    const key = keyFromSeed(seed, path)
    return key && toHex(key)
  }

  it('are private keys, one for each path', () => {
    const paths = [
      'm',
      'm/0',
      "m/0'",
      'm/0/0',
      "m/0'/0",
      'm/1',
      'm/2147483647',
      "m/2147483647'",
      keyPath(0),
      keyPath(1),
    ]
    const keys = paths.map((path) => keyFromSeed(seed, path) as Uint8Array)
    expect(keys.every(isPrivateKey)).toBe(true)
    expect(new Set(keys.map(toHex)).size).toBe(paths.length)
  })

  it('come out the same from the mnemonic, and with every sign for a hardened step', () => {
    expect(toHex(deriveKey(junk, keyPath(3)) as Uint8Array)).toBe(textOf(keyPath(3)))
    expect(keyPath(3)).toBe("m/44'/0'/0'/0/3")
    expect(textOf('m/44h/0H/0h/0/3')).toBe(textOf(keyPath(3)))
  })

  it('depend on the passphrase', () => {
    expect(toHex(keyFromSeed(seedOf(junk, 'x') as Uint8Array, 'm') as Uint8Array)).not.toBe(textOf('m'))
  })

  it.each([
    '',
    '/',
    'm/',
    'M/0',
    '0/0',
    'm/00',
    'm/01',
    'm/-1',
    'm/1.5',
    'm/x',
    "m/0''",
    "m/'",
    'm//0',
    'm/0/',
    ' m/0',
  ])('refuse the path %j', (path) => expect(textOf(path)).toBeUndefined())

  it.each(['m/2147483648', "m/2147483648'", 'm/9999999999'])('refuse the index in %s, which is too large', (path) => {
    expect(textOf(path)).toBeUndefined()
  })
})
