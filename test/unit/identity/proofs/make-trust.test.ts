import { describe, expect, it } from 'vitest'
import { toHex } from '../../../../src/base/primitives/bytes.js'
import { genesisBlock } from '../../../../src/base/primitives/genesis.js'
import { sha256 } from '../../../../src/base/primitives/hash.js'
import { parseSpec } from '../../../../src/base/primitives/spec-file.js'
import { checkpointOf, trustOf } from '../../../../src/identity/proofs/make-trust.js'
import { readCheckpoint, readTrust } from '../../../../src/identity/proofs/trust-root.js'
import { type SpecOverrides, testPublicKey, testSpec } from '../../../support/builders/spec.js'

const spec = (changes: SpecOverrides = {}) => parseSpec(testSpec(changes))
const miners = { validators: [], producer: 'miners' }
const upgrade = (parameters: object, height = 10) => ({ height, name: 'later', parameters })

describe('the Trust of a chain spec', () => {
  it('is what a checker reads: genesis, and the validators of block 1', () => {
    const read = readTrust(trustOf(spec()))
    expect(read).toMatchObject({ devnet: false, maxDrift: 5, work: undefined })
    const { header } = genesisBlock(spec())
    expect([toHex(read.chain), toHex(read.header.bytes)]).toEqual([toHex(header.hash), toHex(header.bytes)])
    expect(read.validators?.map(toHex)).toEqual([0, 1, 2, 3].map((i) => toHex(testPublicKey(i))))
  })

  it('has the rules for work instead on a chain without validators', () => {
    const read = readTrust(trustOf(spec(miners)))
    expect(read).toMatchObject({
      validators: undefined,
      work: { powLimitBits: 0x207fffff, retarget: { interval: 720, spacing: 120 }, auxpowChainId: 7000 },
    })
  })

  it('names those who confirm block 1, whatever comes later', () => {
    const [first, second] = [0, 1].map((i) => toHex(testPublicKey(i)))
    const changed = (height: number) =>
      spec({ validators: [first], upgrades: [upgrade({ validators: [second] }, height)] })
    expect(trustOf(changed(1))?.validators).toEqual([second])
    expect(trustOf(changed(2))?.validators).toEqual([first])
  })

  it.each<[string, SpecOverrides, number]>([
    ['an empty block, a whole view and clocks that differ', {}, 10 + 60 + 5 + 30],
    ['parts of seconds rounded up', { maxViewTimeout: 60_001 }, 106],
    ['twelve blocks of miners', miners, 12 * 120],
    ['twelve blocks of miners, which validators confirm', { producer: 'miners' }, 12 * 120],
  ])('allows an age of %s', (_, changes, seconds) => {
    expect(trustOf(spec(changes))?.maxAge).toBe(seconds)
  })

  it('is there for a chain that commits later, and not for one that never does', () => {
    expect(trustOf(spec({ didRoot: undefined, upgrades: [upgrade({ didRoot: true })] }))).toBeDefined()
    expect(trustOf(spec({ didRoot: undefined }))).toBeUndefined()
  })
})

describe('the Checkpoint of a block', () => {
  const { header } = genesisBlock(spec())

  it('is what a checker reads', () => {
    const trust = readTrust(trustOf(spec()))
    const nextKeys = sha256('keys')
    const { height, hash, keysHash = hash } = readCheckpoint(checkpointOf(trust.chain, header, nextKeys), trust)
    expect([height, toHex(hash), toHex(keysHash)]).toEqual([0, toHex(header.hash), toHex(nextKeys)])
  })

  it('names no keys on a chain without validators', () => {
    expect(checkpointOf(header.hash, header, undefined)).not.toHaveProperty('keysHash')
  })
})
