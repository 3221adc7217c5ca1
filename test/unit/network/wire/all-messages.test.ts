import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressesExchange } from '../../../../src/network/wire/addresses-message.js'
import { protocols, topics } from '../../../../src/network/wire/all-messages.js'
import { blocksAtOnce, blocksExchange, blocksFill } from '../../../../src/network/wire/blocks-message.js'
import type { Codec } from '../../../../src/network/wire/exchange.js'
import {
  blockTopic,
  confirmBytesAtMost,
  headersExchange,
  type HeaderUnit,
  headerUnitCodec,
  headerUnitSize,
} from '../../../../src/network/wire/headers-message.js'
import { poolExchange, poolNames } from '../../../../src/network/wire/pool-message.js'
import { type Refusal, statusExchange } from '../../../../src/network/wire/status-message.js'
import {
  announcedAtOnce,
  transactionsAtOnce,
  transactionsExchange,
  transactionTopic,
} from '../../../../src/network/wire/transactions-message.js'
import {
  candidateTopic,
  missingVoteBytes,
  proposalTopic,
  voteTopic,
  votesExchange,
} from '../../../../src/network/wire/votes-message.js'
import { concat, hex } from '../../../../src/base/primitives/bytes.js'
import { Writer } from '../../../../src/base/primitives/codec.js'
import { confirmBytes } from '../../../../src/base/primitives/confirm.js'
import { zeroHash } from '../../../../src/base/primitives/hash.js'
import { Header } from '../../../../src/base/primitives/header.js'
import { maxAuxPowSize } from '../../../../src/base/primitives/auxpow.js'
import { bytes, hash, u16, u32 } from '../../../support/builders/arbitraries.js'
import { codeOf } from '../../../support/assert/code-of.js'
import { codecTests, header } from '../../../support/assert/codec-tests.js'

const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 64 })
const status = fc.record({
  version: u32,
  genesis: hash,
  upgrades: hash,
  tipHeight: u32,
  tipHash: hash,
  chainWork: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
  services: u32,
  relay: fc.boolean(),
  listenPort: u16,
  agent: ascii,
})
const refusal = fc.constantFrom<(Refusal | undefined)[]>(
  undefined,
  'peer-version',
  'peer-genesis',
  'peer-upgrades',
  'peer-self',
  'peer-banned',
  'peer-crowded',
)
const unit: fc.Arbitrary<HeaderUnit> = fc.record({ header, auxPow: bytes(0, 300), confirm: bytes(0, 300), size: u32 })
const name = fc.record({ txid: hash, digest: hash })
const few = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 6 })

codecTests('a status', statusExchange.question, status)
codecTests('the answer to it', statusExchange.answer, fc.record({ status, refusal }))
codecTests('a question for headers', headersExchange.question, fc.record({ locator: few(hash), count: fc.nat(1000) }))
codecTests('headers', headersExchange.answer, few(unit))
codecTests('a new tip', blockTopic.message, unit)
codecTests('a question for blocks', blocksExchange.question, few(hash))
codecTests('blocks', blocksExchange.answer, few(bytes(0, 400)))
codecTests('a question for transactions', transactionsExchange.question, few(hash))
codecTests('transactions', transactionsExchange.answer, few(bytes(0, 400)))
codecTests('an announcement', transactionTopic.message, fc.record({ salt: u32, names: few(name) }))
codecTests('a question for the pool', poolExchange.question, fc.constant(undefined))
codecTests('the names in a pool', poolExchange.answer, few(name))
codecTests('missing votes', votesExchange.answer, few(bytes(0, 400)))
codecTests('a candidate', candidateTopic.message, fc.record({ header, auxPow: bytes(0, 300) }))
codecTests('a question for addresses', addressesExchange.question, fc.constant(undefined))
const address = fc.oneof(
  fc.ipV4().map((host) => `${host}:20338`),
  fc.ipV6().map((host) => `[${host}]:1`),
)
codecTests('addresses', addressesExchange.answer, few(fc.record({ address, publicKey: hash, lastSeen: u32 })))

const refuses = <T>(codec: Codec<T>, encoded: Uint8Array) => codeOf(() => codec.decode(encoded)) === 'peer-message'

describe('a count or length', () => {
  const list = (count: number, item: Uint8Array) =>
    concat(new Writer().varuint(count).finish(), ...Array<Uint8Array>(count).fill(item))
  const empty = Uint8Array.of(0)
  const locator = (count: number, ask: number) => concat(list(count, zeroHash), new Writer().varuint(ask).finish())
  const unitOf = (auxPow: number, confirm: number) =>
    headerUnitCodec.encode({
      header: new Header({
        version: 0,
        previous: zeroHash,
        merkleRoot: zeroHash,
        time: 0,
        bits: 0,
        nonce: 0,
        height: 0,
      }),
      auxPow: new Uint8Array(auxPow),
      confirm: new Uint8Array(confirm),
      size: 0,
    })

  it('may be as large as its limit and no larger', () => {
    const pairs: [Codec<unknown>, Uint8Array, Uint8Array][] = [
      [headersExchange.question, locator(64, 1000), locator(65, 1000)],
      [headersExchange.question, locator(0, 1000), locator(0, 1001)],
      [headerUnitCodec, unitOf(maxAuxPowSize, 0), unitOf(maxAuxPowSize + 1, 0)],
      [headerUnitCodec, unitOf(0, confirmBytesAtMost), unitOf(0, confirmBytesAtMost + 1)],
      [blocksExchange.question, list(blocksAtOnce, zeroHash), list(blocksAtOnce + 1, zeroHash)],
      [blocksExchange.answer, list(blocksAtOnce, empty), list(blocksAtOnce + 1, empty)],
      [transactionsExchange.question, list(transactionsAtOnce, zeroHash), list(transactionsAtOnce + 1, zeroHash)],
      [transactionsExchange.answer, list(transactionsAtOnce, empty), list(transactionsAtOnce + 1, empty)],
      [poolExchange.answer, list(poolNames, new Uint8Array(64)), list(poolNames + 1, new Uint8Array(64))],
      [votesExchange.answer, list(4096, empty), list(4097, empty)],
      [votesExchange.question, new Uint8Array(65_536), new Uint8Array(65_537)],
    ]
    for (const [codec, fits, beyond] of pairs) {
      expect(() => codec.decode(fits)).not.toThrow()
      expect(refuses(codec, beyond)).toBe(true)
    }
  })

  it('of the voting is bounded, and refused where it is no message', () => {
    for (const [{ message }, most] of [
      [proposalTopic, 65_536],
      [voteTopic, 512],
    ] as const) {
      expect(codeOf(() => message.decode(new Uint8Array(most)))).toBe('vote-malformed')
      expect(codeOf(() => message.decode(new Uint8Array(most + 1)))).toBe('peer-message')
    }
  })

  it('is refused before memory is taken for it', () => {
    const huge = [hex('fdffff'), hex('feffffffff'), hex('ffffffffffffffff7f'), hex('fd0500')]
    const lists = [headersExchange.answer, blocksExchange.question, blocksExchange.answer, poolExchange.answer]
    for (const codec of lists as Codec<unknown>[]) for (const count of huge) expect(refuses(codec, count)).toBe(true)
  })
})

describe('the frame of a message', () => {
  const auxPow = new Uint8Array(maxAuxPowSize)
  const zero = { version: 0, previous: zeroHash, merkleRoot: zeroHash, time: 0, bits: 0, nonce: 0, height: 0 }
  const vote = { proposalHash: zeroHash, signer: new Uint8Array(33), accept: true, signature: new Uint8Array(64) }
  const proposal = { sponsor: new Uint8Array(33), blockHash: zeroHash, viewOffset: 0, signature: new Uint8Array(64) }
  const confirm = confirmBytes({ proposal, votes: Array.from({ length: 100 }, () => vote) })
  const one = { header: new Header(zero), auxPow, confirm, size: 0 }

  it('holds the longest one', () => {
    const longest = { ...statusOf(), agent: 'x'.repeat(64) }
    expect(statusExchange.question.encode(longest).length).toBeLessThanOrEqual(statusExchange.protocol.request)
    const answer = statusExchange.answer.encode({ status: longest, refusal: undefined })
    expect(answer.length).toBeLessThanOrEqual(statusExchange.protocol.answer)
    const question = headersExchange.question.encode({ locator: Array<Uint8Array>(64).fill(zeroHash), count: 1000 })
    expect(question.length).toBeLessThanOrEqual(headersExchange.protocol.request)
    expect(confirm.length).toBeLessThanOrEqual(confirmBytesAtMost)
    const unitBytes = headerUnitCodec.encode({ ...one, confirm: new Uint8Array(confirmBytesAtMost) })
    expect(unitBytes.length).toBe(headerUnitSize({ auxPow, confirm: new Uint8Array(confirmBytesAtMost) }))
    expect(unitBytes.length).toBeLessThanOrEqual(blockTopic.topic.size)
    expect(candidateTopic.message.encode(one).length).toBeLessThanOrEqual(candidateTopic.topic.size)
    const hashes = Array<Uint8Array>(256).fill(zeroHash)
    expect(blocksExchange.question.encode(hashes.slice(0, 128)).length).toBeLessThanOrEqual(
      blocksExchange.protocol.request,
    )
    expect(transactionsExchange.question.encode(hashes).length).toBeLessThanOrEqual(
      transactionsExchange.protocol.request,
    )
    const names = (count: number) => Array.from({ length: count }, () => ({ txid: zeroHash, digest: zeroHash }))
    const announced = transactionTopic.message.encode({ salt: 0xffffffff, names: names(announcedAtOnce) })
    expect(announced.length).toBeLessThanOrEqual(transactionTopic.topic.size)
    expect(poolExchange.answer.encode(names(poolNames)).length).toBeLessThanOrEqual(poolExchange.protocol.answer)
    const far = { address: 'x'.repeat(64), publicKey: zeroHash, lastSeen: 0 }
    const addresses = addressesExchange.answer.encode(Array.from({ length: 256 }, () => far))
    expect(addresses.length).toBeLessThanOrEqual(addressesExchange.protocol.answer)
    // The largest block after as many bytes as may stand before it.
    const blocks = blocksExchange.answer.encode([new Uint8Array(blocksFill - 1), new Uint8Array(9_000_000)])
    expect(blocks.length).toBeLessThanOrEqual(blocksExchange.protocol.answer)
    expect(missingVoteBytes).toBeLessThan(votesExchange.protocol.answer - 3 * 4096)
  })

  it('has an id that no other has', () => {
    const ids = protocols.map(({ name: own, version }) => `${own}/${version}`)
    expect(new Set(ids).size).toBe(protocols.length)
    expect(new Set(topics.map(({ name: own }) => own)).size).toBe(topics.length)
    expect(protocols.filter(({ ofChain }) => !ofChain).map(({ name: own }) => own)).toEqual(['status'])
  })
})

describe('texts', () => {
  it('of a status or an address are printable ASCII', () => {
    const bad = { ...statusOf(), agent: 'a\u001b[2J' }
    expect(refuses(statusExchange.question, statusExchange.question.encode(bad))).toBe(true)
    const spaced = [{ address: '1.2.3.4 :5', publicKey: zeroHash, lastSeen: 0 }]
    expect(refuses(addressesExchange.answer, addressesExchange.answer.encode(spaced))).toBe(true)
  })
})

function statusOf() {
  return {
    version: 1,
    genesis: zeroHash,
    upgrades: zeroHash,
    tipHeight: 7,
    tipHash: zeroHash,
    chainWork: 5n,
    services: 1,
    relay: true,
    listenPort: 20338,
    agent: 'didledger/0.1.0',
  }
}
