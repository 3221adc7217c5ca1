import { gzipSync } from 'node:zlib'
import { Pieces } from '../../src/ledger/chain/block-file.js'
import { readStateHead, type StateHead, statePieces } from '../../src/node/devnet/state-format.js'
import { readStateText } from '../../src/node/devnet/state.js'
import { Snapshots } from '../../src/node/devnet/snapshots.js'
import { createNode } from '../../src/node/library/create-node.js'
import { noSteps } from '../../src/base/primitives/steps.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { configOf } from '../support/builders/config.js'
import { type TestDevnet, testDevnet } from '../support/fakes/test-devnet.js'
import { each, everyDoor, limit, mib, onlyFor } from './limit.js'

const state = (text: string) => readStateText({} as never, text).then(() => undefined)
const snapshot = (bytes: number) => {
  const transaction = { bytes: { length: bytes } }
  return { tip: zeroHash, clock: { now: 0, nextBlockTime: undefined }, pool: [{ arrival: 0, transaction }] } as never
}

/** What unpacks to so many bytes, from members of a mebibyte. */
function gzipped(bytes: number): Buffer {
  const part = gzipSync(Buffer.alloc(mib))
  return Buffer.concat([...each(Math.floor(bytes / mib), () => part), gzipSync(Buffer.alloc(bytes % mib))])
}

/** Runs over a new devnet. */
async function onDevnet(run: (test: TestDevnet) => Promise<unknown>): Promise<void> {
  const test = await testDevnet()
  try {
    await run(test)
  } finally {
    await test.close()
  }
}

/** Reads the head of a state. */
async function stateWith(head: Partial<StateHead>): Promise<void> {
  async function* pieces() {
    const { value } = await statePieces({} as never, { offset: 0, nextBlockTime: undefined, pool: [], ...head }).next()
    if (value !== undefined) yield value
  }
  await readStateHead(new Pieces(pieces()), () => noSteps)
}

export const devnetLimits = [
  limit({
    name: 'node/devnet/clock.latestTime',
    unit: 'number',
    value: 4_102_444_800,
    feed: everyDoor(
      (n) => onDevnet(({ devnet }) => devnet.setTime(n)),
      (n) => onDevnet(({ devnet }) => devnet.setNextBlockTime(n)),
      (n) => onDevnet(({ devnet, clock }) => devnet.increaseTime(n - clock.seconds)),
      (n) => stateWith({ nextBlockTime: n }),
      (n) => stateWith({ offset: n * 1000 }),
    ),
    refusal: /time: 4102444801[^]*ends with the year 2099[^]*seconds: \d+[^]*its clock is out of bounds/,
  }),
  limit({
    name: 'node/devnet/devnet.maxBlocks',
    unit: 'count',
    value: 10_000,
    // A devnet that is closed makes none of them.
    feed: onlyFor(/^request-parameter/, async (n) => {
      await onDevnet(async ({ devnet }) => {
        await devnet.close()
        await devnet.mine(n)
      })
    }),
    refusal: 'request-parameter: blocks: 10001',
  }),
  limit({
    name: 'node/library/devnet-settings.longestInterval',
    unit: 's',
    value: 999_999,
    // An option that is looked at later is wrong.
    feed: onlyFor(/mining.seconds/, async (n) => {
      await createNode({ network: 'devnet', mining: { seconds: n }, mineTo: 'no address' })
    }),
    refusal: 'mining.seconds',
  }),
  limit({
    name: 'clients/wallet/devnet-accounts.maxDevnetAccounts',
    unit: 'count',
    value: 100,
    feed: (n) => void configOf(JSON.stringify({ devnet: { accounts: n } }), { command: 'devnet' }),
    refusal: 'devnet.accounts is not',
  }),
  limit({
    name: 'clients/wallet/devnet-accounts.maxSeededDids',
    unit: 'count',
    value: 100_000,
    feed: (n) => void configOf(JSON.stringify({ devnet: { seedDids: n } }), { command: 'devnet' }),
    refusal: 'devnet.seedDids is not',
  }),
  limit({
    name: 'answers/api/http/origin.maxAllowedOrigins',
    unit: 'count',
    value: 16,
    feed: (n) => {
      const allowOrigin = Array.from({ length: n }, (_, index) => `http://localhost:${5000 + index}`)
      configOf(JSON.stringify({ devnet: { allowOrigin } }), { command: 'devnet' })
    },
    refusal: 'devnet.allowOrigin is not',
  }),
  limit({
    name: 'node/devnet/snapshots.maxSnapshots',
    unit: 'count',
    value: 1000,
    feed: (n) => {
      const kept = new Snapshots()
      each(n, () => kept.add(snapshot(1)))
    },
    refusal: 'snapshot-limit',
  }),
  limit({
    name: 'node/devnet/snapshots.maxSnapshotBytes',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: (n) => {
      const kept = new Snapshots()
      for (const bytes of [30_000_000, n - 30_000_000]) kept.add(snapshot(bytes))
    },
    refusal: 'snapshot-limit',
  }),
  limit({
    name: 'node/devnet/state-format.maxHead',
    unit: 'bytes',
    value: 128 * 1024 * 1024,
    feed: onlyFor(/out of bounds/, async (n) => {
      const begin = Buffer.alloc(12)
      begin.write('didsta01')
      begin.writeUInt32LE(n, 8)
      async function* pieces() {
        yield begin
      }
      await readStateHead(new Pieces(pieces()), () => noSteps)
    }),
    refusal: 'a length is out of bounds',
  }),
  limit({
    name: 'node/devnet/state.maxStateText',
    unit: 'characters',
    value: 15_900_000,
    feed: onlyFor(/characters, at most/, (n) => state('A'.repeat(n))),
    refusal: '15900001 characters, at most 15900000',
  }),
  limit({
    name: 'node/devnet/state.maxStateBytes',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: onlyFor(/unpacks to more/, (n) => state(gzipped(n).toString('base64'))),
    refusal: 'unpacks to more than 67108864 bytes',
  }),
]
