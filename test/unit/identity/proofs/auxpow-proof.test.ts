import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAuxPow, checkProofOfWork } from '../../../../src/identity/proofs/auxpow-proof.js'
import { type AuxPow, soloAuxPow } from '../../../../src/base/primitives/auxpow.js'
import { concat, hex, reversed } from '../../../../src/base/primitives/bytes.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { sha256d, zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { foldBranch } from '../../../../src/base/primitives/merkle.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { hash as bytes32, runs, u32 } from '../../../support/builders/arbitraries.js'
import { solved } from '../../../support/builders/blocks.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { testSpec } from '../../../support/builders/spec.js'

const chainId = 7000

/** A parent coinbase with one input that carries `script`. */
function parentCoinbase(script: Uint8Array): AuxPow['coinbase'] {
  const writer = new Writer().u32(1).varuint(1).bytes(zeroHash).u32(0xffffffff).varbytes(script).u32(0)
  return { scripts: [script], bytes: writer.varuint(0).u32(0).finish() }
}

/** Where the family's generator puts a chain in a tree of `size` leaves, in big integers. */
function slowIndex(nonce: number, id: number, size: number): number {
  const mask = (1n << 32n) - 1n
  const step = (value: bigint) => (value * 1103515245n + 12345n) & mask
  return Number(step((step(BigInt(nonce)) + BigInt(id)) & mask) % BigInt(size))
}

const anyHash: fc.Arbitrary<Uint8Array> = bytes32

interface Mined {
  readonly before?: Uint8Array
  readonly after?: Uint8Array
  readonly auxBranch?: readonly Uint8Array[]
  readonly coinbaseBranch?: readonly Uint8Array[]
  readonly nonce?: number
  readonly id?: number
}

/** Merged mining of `blockHash` as a pool would do it. */
function mined(blockHash: Uint8Array, options: Mined = {}): AuxPow {
  const { auxBranch = [], coinbaseBranch = [], nonce = 5, id = chainId } = options
  const size = 2 ** auxBranch.length
  const auxIndex = slowIndex(nonce, id, size)
  const root = reversed(foldBranch(reversed(blockHash), auxBranch, auxIndex))
  const tail = new Writer(8).u32(size).u32(nonce).finish()
  const script = concat(options.before ?? hex('03'), hex('fabe6d6d'), root, tail, options.after ?? hex('99'))
  const coinbase = parentCoinbase(script)
  const solo = soloAuxPow(blockHash, 0)
  const merkleRoot = foldBranch(sha256d(coinbase.bytes), coinbaseBranch, 0)
  return { ...solo, coinbase, coinbaseBranch, auxBranch, auxIndex, parent: { ...solo.parent, merkleRoot } }
}

const blockHash = new Uint8Array(32).fill(7)
const nodes = (count: number) => Array.from({ length: count }, (_, i) => new Uint8Array(32).fill(i + 1))
const check = (auxPow: AuxPow, hash: Uint8Array = blockHash) => codeOf(() => checkAuxPow(auxPow, hash, chainId))

describe('the check of an AuxPow', () => {
  it('accepts merged mining in trees of every depth', () => {
    fc.assert(
      fc.property(
        anyHash,
        fc.array(anyHash, { maxLength: 16 }),
        fc.array(anyHash, { maxLength: 32 }),
        u32,
        (hash, auxBranch, coinbaseBranch, nonce) => {
          expect(check(mined(hash, { auxBranch, coinbaseBranch, nonce }), hash)).toBe(undefined)
        },
      ),
      runs,
    )
  })

  it('refuses every other hash, nonce, size and chain id', () => {
    const auxBranch = nodes(4)
    const auxPow = mined(blockHash, { auxBranch })
    expect(check(auxPow)).toBe(undefined)
    expect(check(auxPow, new Uint8Array(32).fill(8))).toBe('auxpow-commitment')
    expect(check({ ...auxPow, auxIndex: (auxPow.auxIndex + 1) % 16 })).toBe('auxpow-commitment')
    const foreign = Array.from({ length: 20 }, (_, id) => check(mined(blockHash, { auxBranch, id })))
    expect(foreign).toContain('auxpow-index')
  })

  it('refuses an index beyond the tree although its low bits are right', () => {
    const auxPow = mined(blockHash, { auxBranch: nodes(2) })
    expect(check({ ...auxPow, auxIndex: auxPow.auxIndex + 4 })).toBe('auxpow-index')
  })

  it('wants the parent coinbase in the parent block', () => {
    const auxPow = mined(blockHash, { coinbaseBranch: nodes(2) })
    expect(check(auxPow)).toBe(undefined)
    expect(check({ ...auxPow, coinbaseBranch: nodes(1) })).toBe('auxpow-parent')
    expect(check({ ...auxPow, parent: { ...auxPow.parent, merkleRoot: zeroHash } })).toBe('auxpow-parent')
  })

  it('wants the magic exactly once, byte-aligned, and a whole commitment after it', () => {
    expect(check(mined(blockHash, { before: hex('fabe6d') }))).toBe(undefined)
    expect(check(mined(blockHash, { before: hex('fabe6d6d') }))).toBe('auxpow-commitment')
    expect(check(mined(blockHash, { after: hex('fabe6d6d') }))).toBe('auxpow-commitment')
    // Shifted by four bits the magic stands there too, but at no byte.
    expect(check(mined(blockHash, { before: hex('0fabe6d6d0') }))).toBe(undefined)
    const bare = mined(blockHash)
    const short = parentCoinbase((bare.coinbase.scripts[0] as Uint8Array).subarray(0, -2))
    const { parent } = bare
    expect(check({ ...bare, coinbase: short, parent: { ...parent, merkleRoot: sha256d(short.bytes) } })).toBe(
      'auxpow-commitment',
    )
    const none = { scripts: [], bytes: new Writer().u32(1).varuint(0).varuint(0).u32(0).finish() }
    expect(check({ ...bare, coinbase: none, parent: { ...parent, merkleRoot: sha256d(none.bytes) } })).toBe(
      'auxpow-commitment',
    )
  })

  it('bounds both branches', () => {
    expect(check(mined(blockHash, { auxBranch: nodes(16), coinbaseBranch: nodes(32) }))).toBe(undefined)
    expect(check(mined(blockHash, { auxBranch: nodes(17) }))).toBe('auxpow-index')
    expect(check(mined(blockHash, { coinbaseBranch: nodes(33) }))).toBe('auxpow-index')
  })
})

describe('the proof of work of a block', () => {
  const spec = parseSpec(testSpec())
  const fields = { version: 0, previous: zeroHash, merkleRoot: zeroHash, time: 9, nonce: 0, height: 1 }
  const header = new Header({ ...fields, bits: 0x207fffff })
  const good = solved(header)
  const work = (auxPow: AuxPow, of = header) => codeOf(() => checkProofOfWork(spec, of, auxPow))

  it('accepts work at or below the target only', () => {
    expect(work(good)).toBe(undefined)
    expect(work(solved(header, false))).toBe('auxpow-work')
    const harder = new Header({ ...fields, bits: 0x1f7fffff })
    expect(work(solved(harder), harder)).toBe(undefined)
  })

  it('leaves nothing free that could prove two blocks with one parent', () => {
    expect(work({ ...good, coinbaseIndex: 1 })).toBe('auxpow-index')
    expect(work({ ...good, parentHash: new Uint8Array(32).fill(1) })).toBe('auxpow-index')
  })

  it('bounds the size', () => {
    const filled = (size: number) => {
      const empty = mined(header.hash, { after: new Uint8Array(0) })
      const script = (empty.coinbase.scripts[0] as Uint8Array).length
      // Beyond 252 bytes a script has two more bytes of length.
      const overhead = 80 + 32 + 1 + 4 + 1 + 4 + (empty.coinbase.bytes.length - script) + 2
      return mined(header.hash, { after: new Uint8Array(size - overhead - script) })
    }
    expect(work(filled(16 * 1024 + 1))).toBe('auxpow-size')
    expect([undefined, 'auxpow-work']).toContain(work(filled(16 * 1024)))
  })
})
