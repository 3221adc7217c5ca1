import { createInlineVerifier } from '../../src/base/crypto/inline.js'
import { PeerProgresses } from '../../src/network/fetch/peer-progress.js'
import { Timeouts } from '../../src/network/fetch/timeouts.js'
import { isAssumable } from '../../src/network/sync/assumed-chain.js'
import { HeaderDownload } from '../../src/network/sync/header-download.js'
import { headersExchange, type HeaderUnit } from '../../src/network/wire/headers-message.js'
import { auxPowBytes } from '../../src/base/primitives/auxpow.js'
import { equalBytes } from '../../src/base/primitives/bytes.js'
import { type Hash, sha256, zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { craftBlock, solved } from '../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { FakePeers } from '../support/fakes/fake-peers.js'
import { ManualTime } from '../support/fakes/manual-time.js'
import { idleStatus } from '../support/fakes/stubs.js'
import { limit } from './limit.js'

/** As many headers on top of another one, each with a second and the least work. */
function headersOn(parent: Header, count: number): HeaderUnit[] {
  const units: HeaderUnit[] = []
  for (let below = parent; units.length < count; below = (units.at(-1) as HeaderUnit).header) {
    const { hash: previous, time, height } = below
    const fields = { version: 0, merkleRoot: zeroHash, bits: 0x207fffff, nonce: 0 }
    const header = new Header({ ...fields, previous, time: time + 1, height: height + 1 })
    units.push({ header, auxPow: auxPowBytes(solved(header)), confirm: new Uint8Array(0), size: 1 })
  }
  return units
}

/** Follows a peer that says to have far more work, and answers with headers after one of a locator. */
async function following(
  { chain, clock, log }: TestChain,
  answer: (locator: readonly Hash[]) => readonly HeaderUnit[],
): Promise<void> {
  const peers = new FakePeers('node')
  const peer = peers.stranger('peer', {
    headers: (question) => headersExchange.answer.encode(answer(headersExchange.question.decode(question).locator)),
  })
  const claim = { tipHeight: 1, tipHash: sha256('tip'), chainWork: 1n << 220n }
  Object.assign(peer, { status: { ...idleStatus, ...claim } })
  const timers = new ManualTime()
  const options = { chain, peers, verifier: createInlineVerifier(), clock, timers, log }
  const owner = { emit: () => {}, isAvoided: () => false }
  const download = new HeaderDownload(options, new Timeouts(timers), new PeerProgresses(), owner)
  download.wake()
  await download.idle()
}

/** Follows a branch of so many headers that never has as much work as the own chain. */
async function candidates(count: number): Promise<string | undefined> {
  const test = await TestChain.open({ ...withoutValidators, retarget: { interval: 10_000, spacing: 120 } })
  try {
    const units = headersOn(test.chain.genesis.header, count)
    await test.accept(craftBlock(test.chain))
    const { tip, headers } = test.chain
    for (const known of [tip, headers.get(tip.header.hash) ?? tip]) Object.assign(known, { chainWork: 1n << 200n })
    let given = 0
    await following(test, (locator) => {
      const known = units.findLastIndex(({ header }) => locator.some((hash) => equalBytes(hash, header.hash)))
      // As many as an answer may have, and the last ones one by one.
      given = [1000, 2000, count - 2, count - 1, count].find((end) => end > known + 1) ?? count
      return units.slice(known + 1, given)
    })
    return given === count ? undefined : `${given} headers are fetched`
  } finally {
    await test.close()
  }
}

/** Asks a peer that gives so many headers that are known, one in each answer, before one of another branch. */
async function knownAnswers(count: number): Promise<string | undefined> {
  const test = await TestChain.open(withoutValidators)
  try {
    for (let i = 0; i < 10; i++) await test.accept(craftBlock(test.chain))
    const known = (height: number): HeaderUnit => {
      const { header, auxPow, size } = test.activeHeader(height)
      return { header, auxPow, size, confirm: new Uint8Array(0) }
    }
    const [fork] = headersOn(test.activeHeader(count).header, 1) as [HeaderUnit]
    let [asked, followed] = [0, false]
    await following(test, (locator) => {
      followed ||= locator.some((hash) => equalBytes(hash, fork.header.hash))
      asked++
      if (followed) return []
      return [asked <= count ? known(asked) : fork]
    })
    return followed ? undefined : `it is asked ${asked} times`
  } finally {
    await test.close()
  }
}

export const syncLimits = [
  limit({
    name: 'network/sync/assumed-chain.assumedHeaders',
    unit: 'count',
    value: 4_000_000,
    feed: (n) => (isAssumable({ height: 7 + n }, 7) ? undefined : 'nothing is assumed'),
    refusal: 'nothing is assumed',
  }),
  limit({
    name: 'network/sync/header-download.candidateHeaders',
    unit: 'count',
    value: 2016,
    feed: candidates,
    refusal: '2016 headers are fetched',
  }),
  limit({
    name: 'network/sync/header-download.answersAcross',
    unit: 'count',
    value: 4,
    feed: knownAnswers,
    refusal: 'it is asked 5 times',
  }),
]
