import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { WebSocketServer } from 'ws'
import { Pieces } from '../../src/chain/block-file.js'
import { newExpiry } from '../../src/cli/expiry.js'
import { askResolver } from '../../src/client/ask-resolver.js'
import { followEvents } from '../../src/client/follow-events.js'
import { exchange } from '../../src/client/http.js'
import { HttpResolver } from '../../src/client/http-resolver.js'
import { stallSentence } from '../../src/client/unmined.js'
import { readStateHead } from '../../src/devnet/state-format.js'
import { readStateText } from '../../src/devnet/state.js'
import { Snapshots } from '../../src/devnet/snapshots.js'
import { noSteps } from '../../src/primitives/steps.js'
import { zeroHash } from '../../src/primitives/hash.js'
import { identifierOf, credentialIdOf } from '../../src/resolver/did-key.js'
import { queryLimits, readQuery } from '../../src/resolver/document-search.js'
import { readHistory } from '../../src/resolver/history.js'
import { historyLimits } from '../../src/resolver/history-limits.js'
import { readResolveRequest } from '../../src/resolver/resolve-request.js'
import { SearchQueue } from '../../src/resolver/search-queue.js'
import { Places } from '../../src/runtime/places.js'
import { readTextFile } from '../../src/wallet/files.js'
import {
  createKeystore,
  formatKeystore,
  parseKeystore,
  type ScryptCost,
  scryptCost,
} from '../../src/wallet/keystore.js'
import { configOf } from '../support/builders/config.js'
import { testKey } from '../support/builders/spec.js'
import { rest } from '../support/fakes/manual-time.js'
import { everyDoor, limit, onlyFor } from './limit.js'

const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

/** A server whose every answer has so many bytes. */
async function answering<T>(bytes: number, run: (url: string) => Promise<T>): Promise<T> {
  const body = Buffer.alloc(bytes, ' ')
  body.write('{}')
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** A node that tells a follower one message of so many bytes. */
async function telling(bytes: number): Promise<string | undefined> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  const end = new AbortController()
  server.on('connection', (socket) => socket.send('{"jsonrpc":"2.0","id":1,"result":{}}'.padEnd(bytes)))
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const onBegin = () => end.abort()
    const following = followEvents({ url, topics: ['block'], from: {}, signal: end.signal, onBegin, onEvent: () => {} })
    return await following.then(
      () => undefined,
      (error: Error) => error.message,
    )
  } finally {
    server.close()
  }
}

/** Reads a file of so many bytes. */
function file(bytes: number): void {
  const directory = mkdtempSync(join(tmpdir(), 'limits-'))
  try {
    const path = join(directory, 'file')
    writeFileSync(path, Buffer.alloc(bytes, ' '))
    readTextFile(path, 'file')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Reads a keystore whose key has another cost. */
function keystore(cost: Partial<ScryptCost>): void {
  const random = { bytes: (length: number) => new Uint8Array(length).fill(1) }
  const secret = { kind: 'keys', privateKeys: [testKey(1)] } as const
  const options = { cost: { ...scryptCost, ...cost }, deriveKey: () => new Uint8Array(32) }
  parseKeystore(formatKeystore(createKeystore(secret, 'pw', random, options)))
}

/** Reads a history of so many operations, of these bytes each. */
const history = (count: number, bytes: (i: number) => number, slice?: { skip: number; limit: number }) =>
  readHistory({
    did: 'did:ledger:a',
    count,
    slice,
    places: new Places(1, 1, 'histories'),
    read: (start: number, end: number) => Promise.resolve(each(end - start, (i) => ({ bytes: bytes(end - 1 - i) }))),
  } as never)

/** A place among those of a queue that is full but for so many. */
async function queued(enter: () => Promise<unknown>, count: number): Promise<string | undefined> {
  const outcomes = each(count, () =>
    enter().then(
      () => undefined,
      (error: Error) => error.message,
    ),
  )
  return Promise.race([...outcomes.slice(1), rest().then(() => undefined)])
}

const state = (text: string) => readStateText({} as never, text).then(() => undefined)
const snapshot = (bytes: number) => {
  const transaction = { bytes: { length: bytes } }
  return { tip: zeroHash, clock: { now: 0, nextBlockTime: undefined }, pool: [{ arrival: 0, transaction }] } as never
}

export const fileLimits = [
  limit({
    name: 'resolver/did-key.maxDidLength',
    unit: 'characters',
    value: 256,
    feed: everyDoor(
      (n) => void identifierOf('a'.repeat(n)),
      (n) => void credentialIdOf('did:ledger:a#'.padEnd(n, 'f')),
    ),
    refusal: /did: 1 to 256 characters[^]*id: 1 to 256 characters/,
  }),
  limit({
    name: 'resolver/document-search.queryLimits.documents',
    unit: 'count',
    value: 1000,
    feed: (n) => (readQuery({ query: {}, limit: n }).limit === n ? undefined : 'fewer are given'),
    refusal: 'fewer are given',
  }),
  limit({
    name: 'resolver/document-search.queryLimits.waiting',
    unit: 'count',
    value: 128,
    feed: (n) => {
      const queue = new SearchQueue(queryLimits.waiting)
      return queued(() => queue.enter('documents'), n + 1)
    },
    refusal: '128 searches are waiting already',
  }),
  limit({
    name: 'resolver/history-limits.historyLimits.slice',
    unit: 'count',
    value: 1000,
    feed: (n) => void readResolveRequest({ all: true, limit: n }),
    refusal: 'at most 1000 operations are given at once',
  }),
  limit({
    name: 'resolver/history-limits.historyLimits.operations',
    unit: 'count',
    value: 10_000,
    feed: async (n) => void (await history(n, () => 100)),
    refusal: 'history-size: did:ledger:a has 10001 operations',
  }),
  limit({
    name: 'resolver/history-limits.historyLimits.bytes',
    unit: 'bytes',
    value: 8 * 1024 * 1024,
    feed: async (n) => void (await history(9, (i) => (i > 0 ? 1_000_000 : n - 8_000_000))),
    refusal: 'history-size',
  }),
  limit({
    name: 'resolver/history-limits.historyLimits.waiting',
    unit: 'count',
    value: 128,
    feed: (n) => {
      const places = new Places(historyLimits.places, historyLimits.waiting, 'histories')
      const taken = each(historyLimits.places - 1, () => places.take())
      return Promise.all(taken).then(() => queued(() => places.take(), n + 1))
    },
    refusal: 'too many histories wait',
  }),
  limit({
    name: 'resolver/resolve-request.maxVersionHeight',
    unit: 'number',
    value: 0xffffffff,
    feed: everyDoor(
      (n) => void readResolveRequest({ versionHeight: n }),
      (n) => void readResolveRequest({ proof: true, height: n }),
    ),
    refusal: /versionHeight: a height is[^]*height: an integer from 0/,
  }),
  limit({
    name: 'wallet/devnet-accounts.maxDevnetAccounts',
    unit: 'count',
    value: 100,
    feed: (n) => void configOf(JSON.stringify({ devnet: { accounts: n } }), { command: 'devnet' }),
    refusal: 'devnet.accounts is not',
  }),
  limit({
    name: 'wallet/devnet-accounts.maxSeededDids',
    unit: 'count',
    value: 100_000,
    feed: (n) => void configOf(JSON.stringify({ devnet: { seedDids: n } }), { command: 'devnet' }),
    refusal: 'devnet.seedDids is not',
  }),
  limit({
    name: 'wallet/files.maxFileSize',
    unit: 'bytes',
    value: 32 * 1024 * 1024,
    feed: file,
    refusal: 'is larger than 33554432 bytes',
  }),
  limit({
    name: 'wallet/keystore.costLimit.N',
    unit: 'number',
    value: 2 ** 20,
    // A power of two is needed.
    beyond: 2 ** 21,
    feed: (n) => keystore({ N: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'wallet/keystore.costLimit.r',
    unit: 'number',
    value: 16,
    feed: (n) => keystore({ r: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'wallet/keystore.costLimit.p',
    unit: 'number',
    value: 4,
    feed: (n) => keystore({ p: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'devnet/snapshots.maxSnapshots',
    unit: 'count',
    value: 1000,
    feed: (n) => {
      const kept = new Snapshots()
      each(n, () => kept.add(snapshot(1)))
    },
    refusal: 'snapshot-limit',
  }),
  limit({
    name: 'devnet/snapshots.maxSnapshotBytes',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: (n) => {
      const kept = new Snapshots()
      for (const bytes of [30_000_000, n - 30_000_000]) kept.add(snapshot(bytes))
    },
    refusal: 'snapshot-limit',
  }),
  limit({
    name: 'devnet/state-format.maxHead',
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
    name: 'devnet/state.maxStateText',
    unit: 'characters',
    value: 15_900_000,
    feed: onlyFor(/characters, at most/, (n) => state('A'.repeat(n))),
    refusal: '15900001 characters, at most 15900000',
  }),
  limit({
    name: 'devnet/state.maxStateBytes',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: onlyFor(/unpacks to more/, (n) => state(gzipSync(Buffer.alloc(n)).toString('base64'))),
    refusal: 'unpacks to more than 67108864 bytes',
  }),
  limit({
    name: 'client/arguments.longestTimer',
    unit: 'ms',
    value: 2 ** 31 - 1,
    feed: (n) => void new HttpResolver('http://127.0.0.1:1', { timeout: n }),
    refusal: 'timeout: 2147483648 is not a whole number',
  }),
  limit({
    name: 'client/ask-resolver.maxHistory',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    // Counted with 400 bytes for each operation.
    feed: onlyFor(/has more than/, async (n) => {
      const operation = (bytes: number, i: number) => ({
        txid: i.toString(16).padStart(64, '0'),
        timestamp: '2026-01-01T00:00:00Z',
        operation: {
          header: {
            specification: 'ledger/did/1.0',
            operation: 'update',
            previousTxid: (i + 1).toString(16).padStart(64, '0'),
          },
          payload: 'x'.repeat(bytes - 400),
          proof: { verificationMethod: '#primary', signature: 'x' },
        },
      })
      const sizes = [30_000_000, n - 30_000_000, 1000]
      const ask = ({ skip }: { skip?: number }) => {
        const at = Number(skip)
        const transaction = [operation(sizes[at] ?? 1000, at)]
        return Promise.resolve({ did: 'did:ledger:a', status: 0, total: 2, start: at, count: 1, transaction })
      }
      await askResolver(ask as never, 'did:ledger:a', { all: true })
    }),
    refusal: 'has more than 67108864 bytes',
  }),
  limit({
    name: 'client/follow-events.largestMessage',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: onlyFor(/payload/i, telling),
    refusal: /payload/i,
  }),
  limit({
    name: 'client/http-resolver.maxResolverAnswer',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: onlyFor(/answered more than/, (n) =>
      answering(n, (url) => new HttpResolver(url).resolve('did:ledger:a').then(() => undefined)),
    ),
    refusal: 'answered more than 16777216 bytes',
  }),
  limit({
    name: 'client/http.maxAnswer',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: (n) => answering(n, (url) => exchange(url, undefined, { timeout: 600_000 }).then(() => undefined)),
    refusal: 'answered more than 67108864 bytes',
  }),
  limit({
    name: 'client/unmined.longestSentence',
    unit: 'characters',
    value: 2000,
    feed: async (n) => {
      const rpc = () => Promise.resolve({ stalled: { detail: 'x'.repeat(n) } })
      const sentence = await stallSentence({ rpc, devnetTime: () => Promise.resolve(undefined) })
      return sentence?.length === n ? undefined : 'the sentence is cut'
    },
    refusal: 'the sentence is cut',
  }),
  limit({
    name: 'cli/expiry.maxYears',
    unit: 'years',
    value: 5,
    feed: (n) => void newExpiry({ years: n }, 1_800_000_000),
    refusal: 'is more than 5 years ahead',
  }),
]
