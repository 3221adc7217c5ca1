import { describe, expect, it } from 'vitest'
import { checkAuxPow } from '../../src/identity/proofs/auxpow-proof.js'
import { type AuxPow, auxPowBytes, parentHash, readAuxPow } from '../../src/base/primitives/auxpow.js'
import { displayHash, hex, toHex } from '../../src/base/primitives/bytes.js'
import { decodeAll } from '../../src/base/primitives/codec.js'
import { sha256d, zeroHash } from '../../src/base/primitives/hash.js'
import { parentHeaderBytes } from '../../src/base/primitives/header.js'
import { codeOf } from '../support/assert/code-of.js'
import { openVectors } from '../support/builders/vectors.js'

interface AuxPowVector {
  chainId: number
  hashInternalHex: string
  auxpow: string
  verified: boolean
  trailing?: number
  parentHeaderHash?: string
  auxBranch?: number
  auxIndex?: number
  coinbaseBranch?: number
}

const file = openVectors<{ vectors: AuxPowVector[] }>('auxpow.json', { descriptive: ['about', 'source'] })

function decode(text: string): AuxPow {
  return decodeAll(hex(text), readAuxPow, (reason) => new Error(reason))
}

describe('published AuxPows', () => {
  it('are three', () => {
    expect(file.data.vectors.map(({ chainId }) => chainId)).toEqual([6, 6, 1224])
  })

  for (const [i, vector] of file.data.vectors.entries()) {
    const auxPow = decode(vector.auxpow)
    const blockHash = hex(vector.hashInternalHex)

    it(`number ${i} keeps its bytes, and nothing follows them`, () => {
      expect(toHex(auxPowBytes(auxPow))).toBe(vector.auxpow)
      expect(vector.trailing ?? 0).toBe(0)
      expect(() => decode(`${vector.auxpow}00`)).toThrow('1 bytes follow the end')
    })

    it(`number ${i} has branches of their lengths`, () => {
      const branched = i < 2
      expect(auxPow.auxBranch).toHaveLength(branched ? (vector.auxBranch as number) : 0)
      expect(auxPow.auxIndex).toBe(branched ? vector.auxIndex : 0)
      expect(auxPow.coinbaseBranch).toHaveLength(branched ? (vector.coinbaseBranch as number) : 0)
      expect(auxPow.coinbaseIndex).toBe(0)
    })

    it(`number ${i} has its parent hash, which only the older samples repeat`, () => {
      expect(parentHeaderBytes(auxPow.parent)).toHaveLength(80)
      expect(toHex(auxPow.parent.merkleRoot)).toBe(toHex(sha256d(auxPow.coinbase.bytes)))
      if (i < 2) {
        expect(displayHash(parentHash(auxPow))).toBe(vector.parentHeaderHash)
        expect(toHex(auxPow.parentHash)).toBe(vector.parentHeaderHash)
      } else {
        expect(toHex(auxPow.parentHash)).toBe(toHex(zeroHash))
      }
    })

    it(`number ${i} proves its block and no other`, () => {
      expect(vector.verified).toBe(true)
      expect(() => checkAuxPow(auxPow, blockHash, vector.chainId)).not.toThrow()
      const other = Uint8Array.from(blockHash)
      other[31] = (other[31] as number) ^ 1
      expect(codeOf(() => checkAuxPow(auxPow, other, vector.chainId))).toBe('auxpow-commitment')
      const elsewhere = { ...auxPow, parent: { ...auxPow.parent, merkleRoot: zeroHash } }
      expect(codeOf(() => checkAuxPow(elsewhere, blockHash, vector.chainId))).toBe('auxpow-parent')
    })
  }

  it('number 0 stands at the place that its chain id asks for', () => {
    const { auxpow, hashInternalHex } = file.data.vectors[0] as AuxPowVector
    expect(codeOf(() => checkAuxPow(decode(auxpow), hex(hashInternalHex), 7))).toBe('auxpow-index')
  })

  it('leave no member unread', () => file.finish())
})
