import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import { deriveKey, keyPath } from '../../src/base/crypto/hd.js'
import { publicKeyOf } from '../../src/base/crypto/keys.js'
import {
  addressFromPublicKey,
  addressOf,
  didFromPublicKey,
  parseAddress,
  prefix,
  programHash,
  singleKeyCode,
  trailer,
} from '../../src/base/primitives/address.js'
import { concat, displayHash, hex, parseDisplayHash, toHex } from '../../src/base/primitives/bytes.js'
import { multisigCode, parseCode, programHashOf, type ProgramScript } from '../../src/base/primitives/program.js'
import { openVectors } from '../support/builders/vectors.js'

interface AddressVectors {
  pubkeys: {
    publicKey: string
    publicKeyBase58: string
    standardCode: string
    standard: string
    deposit: string
    dposv2Stake: string
    did: string
    cid: string
    expect: { standard?: string; did?: string; cid?: string }
  }[]
  programHashes: { programHash: string; address: string }[]
  multisig: { m: number; n: number; code: string; address: string; expect: string }
  crossChain: { genesisDisplay: string; genesisInternal: string; code: string; address: string }
  hd: { vectors: { mnemonic: string; standard: string[] }[] }
  testPrivateKeys: { keys: { priv: string; address: string }[] }[]
}

const file = openVectors<AddressVectors>('addresses.json', {
  descriptive: ['about', 'name', 'source', 'verified', 'scheme'],
})
const identifier = (did: string) => did.slice('did:ledger:'.length)

describe('address vectors', () => {
  for (const vector of file.data.pubkeys) {
    it(`every address of the key ${vector.publicKey}`, () => {
      const key = hex(vector.publicKey)
      const code = singleKeyCode(key)
      expect(bs58.encode(key)).toBe(vector.publicKeyBase58)
      expect(toHex(code)).toBe(vector.standardCode)
      expect(addressFromPublicKey(key)).toBe(vector.standard)
      expect(addressOf(programHash(prefix.deposit, code))).toBe(vector.deposit)
      expect(addressOf(programHash(prefix.stake, code))).toBe(vector.dposv2Stake)
      expect(identifier(didFromPublicKey(key, { method: 'ledger' }))).toBe(vector.did)
      expect(identifier(didFromPublicKey(key, { method: 'ledger', legacy: true }))).toBe(vector.cid)
      const { standard, did, cid } = vector.expect
      expect([standard ?? vector.standard, did ?? vector.did, cid ?? vector.cid]).toEqual([
        vector.standard,
        vector.did,
        vector.cid,
      ])
    })
  }

  for (const { programHash: hash, address } of file.data.programHashes) {
    it(`${address} and its program hash`, () => {
      expect(addressOf(hex(hash))).toBe(address)
      // The shorter address of the zero hash is printed but never read.
      const parsed = parseAddress(address)
      expect(parsed && toHex(parsed)).toBe(address.length === 34 ? hash : undefined)
    })
  }

  it('a multisig code and its address', () => {
    const { m, n, code, address, expect: expected } = file.data.multisig
    const script = parseCode(hex(code)) as ProgramScript
    expect(script.required).toBe(m)
    expect(script.keys).toHaveLength(n)
    expect(toHex(multisigCode(m, [...script.keys].reverse()))).toBe(code)
    expect(addressOf(programHashOf(hex(code), script))).toBe(address)
    expect(address).toBe(expected)
  })

  it('the cross-chain address of a genesis hash', () => {
    const { genesisDisplay, genesisInternal, code, address } = file.data.crossChain
    const hash = parseDisplayHash(genesisDisplay) as Uint8Array
    expect(toHex(hash)).toBe(genesisInternal)
    expect(displayHash(hex(genesisInternal))).toBe(genesisDisplay)
    expect(toHex(concat(Uint8Array.of(hash.length), hash, Uint8Array.of(trailer.crossChain)))).toBe(code)
    expect(addressOf(programHash(prefix.crossChain, hex(code)))).toBe(address)
  })

  for (const { mnemonic, standard } of file.data.hd.vectors) {
    it(`addresses of the mnemonic ${mnemonic}`, () => {
      const derived = Array.from(standard, (_, index) =>
        addressFromPublicKey(publicKeyOf(deriveKey(mnemonic, keyPath(index)) as Uint8Array)),
      )
      expect(derived).toEqual([...standard])
    })
  }

  for (const { keys } of file.data.testPrivateKeys) {
    for (const { priv, address } of keys) {
      it(`the address of the private key of ${address}`, () => {
        expect(addressFromPublicKey(publicKeyOf(hex(priv)))).toBe(address)
      })
    }
  }

  it('leave no member unread', () => file.finish())
})
