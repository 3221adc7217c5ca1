import { formatPrivateKey, readPrivateKey } from '../../src/base/crypto/key-forms.js'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocketServer } from 'ws'
import { openStaticServer } from '../../src/answers/api/servers/static-server.js'
import { driverSource } from '../../src/program/cli/driver-command.js'
import { newExpiry } from '../../src/program/cli/expiry.js'
import { fitsBundle, loadProof } from '../../src/program/cli/load-proofs.js'
import { askResolver } from '../../src/clients/client/ask-resolver.js'
import { EventPlace } from '../../src/clients/client/event-place.js'
import { followEvents } from '../../src/clients/client/follow-events.js'
import { exchange } from '../../src/clients/client/http.js'
import { HttpResolver } from '../../src/clients/client/http-resolver.js'
import { stallSentence } from '../../src/clients/client/unmined.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { addressOf } from '../../src/base/primitives/address.js'
import { sha256 } from '../../src/base/primitives/hash.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { readTextFile } from '../../src/clients/wallet/files.js'
import { type Labels, withLabel } from '../../src/clients/wallet/labels.js'
import {
  createKeystore,
  formatKeystore,
  parseKeystore,
  type ScryptCost,
  scryptCost,
} from '../../src/clients/wallet/keystore.js'
import { quietLog } from '../support/builders/chain.js'
import { testAddress, testKey, testPublicKey } from '../support/builders/spec.js'
import { Workbench } from '../support/process/workbench.js'
import { each, everyDoor, failureOf, limit, mib, onlyFor } from './limit.js'

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

/** The folder of a mirror whose one file has so many bytes, served. */
async function servedFile(bytes: number): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'served-'))
  writeFileSync(join(folder, 'head'), '')
  truncateSync(join(folder, 'head'), bytes)
  const server = await openStaticServer({ folder, hosts: ['127.0.0.1'], port: 0, log: quietLog() })
  try {
    const answer = await fetch(`http://127.0.0.1:${server.port}/head`)
    if (answer.status !== 200) return await answer.text()
    return (await answer.arrayBuffer()).byteLength === bytes ? undefined : 'the file is cut'
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

const begun = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { number: 0, height: 0, hash: '00'.repeat(32) } })

/** A node that tells a follower one message of so many bytes. */
async function telling(bytes: number): Promise<string | undefined> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  const end = new AbortController()
  server.on('connection', (socket) => socket.send(begun.padEnd(bytes)))
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const onBegin = () => end.abort()
    const following = followEvents({ url, topics: ['block'], signal: end.signal, onBegin })
    return await failureOf(following.next())
  } finally {
    server.close()
  }
}

/** Reads a file of so many bytes, which are no JSON. */
function file(bytes: number, read: (path: string) => unknown): void {
  const directory = mkdtempSync(join(tmpdir(), 'limits-'))
  try {
    const path = join(directory, 'file')
    // Nested so deeply that it is looked at no further.
    writeFileSync(path, '['.repeat(100))
    truncateSync(path, bytes)
    read(path)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Creates a chain with as many validators. */
async function validators(...options: readonly string[]): Promise<string | undefined> {
  const bench = new Workbench()
  try {
    const place = ['--pay', testAddress(1), '--directory', bench.path('new')]
    const { code, err } = await bench.run('genesis', 'create', 'new', ...place, ...options)
    return code === 0 ? undefined : err
  } finally {
    bench.close()
  }
}

/** A key that other text may stand before. */
const pem = formatPrivateKey(new Uint8Array(32).fill(1), 'pem').trim()

/** Reads a keystore whose key has another cost. */
function keystore(cost: Partial<ScryptCost>): void {
  const random = { bytes: (length: number) => new Uint8Array(length).fill(1) }
  const secret = { kind: 'keys', privateKeys: [testKey(1)] } as const
  const options = { cost: { ...scryptCost, ...cost }, deriveKey: () => new Uint8Array(32) }
  parseKeystore(formatKeystore(createKeystore(secret, 'pw', random, options)))
}

export const fileLimits = [
  limit({
    name: 'clients/wallet/files.maxFileSize',
    unit: 'bytes',
    value: 32 * 1024 * 1024,
    feed: (n) => file(n, (path) => readTextFile(path, 'file')),
    refusal: 'is larger than 33554432 bytes',
  }),
  limit({
    name: 'base/crypto/key-forms.longestKey',
    unit: 'characters',
    value: 16_384,
    feed: (n) => void readPrivateKey(`${'#'.repeat(n - pem.length)}${pem}`),
    refusal: 'it is longer than 16384 characters',
  }),
  limit({
    name: 'clients/wallet/keystore.costLimit.N',
    unit: 'number',
    value: 2 ** 20,
    // A power of two is needed.
    beyond: 2 ** 21,
    feed: (n) => keystore({ N: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'clients/wallet/keystore.costLimit.r',
    unit: 'number',
    value: 16,
    feed: (n) => keystore({ r: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'clients/wallet/keystore.costLimit.p',
    unit: 'number',
    value: 4,
    feed: (n) => keystore({ p: n }),
    refusal: 'the keystore is damaged: kdf',
  }),
  limit({
    name: 'clients/wallet/labels.labelLimits.length',
    unit: 'characters',
    value: 64,
    // Characters, not the halves of pairs or bytes that they take.
    feed: (n) => void withLabel(new Map(), devnetAccount(0).address, '🙂'.repeat(n)),
    refusal: 'a label has at most 64 characters, not 65',
  }),
  limit({
    name: 'clients/wallet/labels.labelLimits.count',
    unit: 'count',
    value: 1000,
    feed: (n) => {
      let labels: Labels = new Map()
      for (let i = 0; i < n; i++) {
        const hash = Buffer.concat([Buffer.of(0x21), sha256(`${i}`).subarray(0, 20)])
        labels = withLabel(labels, addressOf(hash), `label ${i}`)
      }
    },
    refusal: 'at most 1000 are kept',
  }),
  limit({
    name: 'clients/client/arguments.longestTimer',
    unit: 'ms',
    value: 2 ** 31 - 1,
    feed: (n) => void new HttpResolver('http://127.0.0.1:1', { timeout: n }),
    refusal: 'timeout: 2147483648 is not a whole number',
  }),
  limit({
    name: 'clients/client/ask-resolver.maxHistory',
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
    name: 'clients/client/event-socket.largestMessage',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: onlyFor(/payload/i, telling),
    refusal: /payload/i,
  }),
  limit({
    name: 'clients/client/event-place.largestBlock',
    unit: 'characters',
    value: 16 * 1024 * 1024,
    feed: (n) => {
      const place = new EventPlace(['did'], {})
      const did = {
        topic: 'did',
        action: 'apply',
        number: 1,
        did: '',
        operation: '',
        txid: '',
        height: 1,
        blockhash: '',
      }
      place.take(did, n - 1)
      place.take(did, 1)
    },
    refusal: 'events of one block with more than 16777216 characters',
  }),
  limit({
    name: 'clients/client/http-resolver.maxResolverAnswer',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: onlyFor(/answered more than/, (n) =>
      answering(n, (url) => new HttpResolver(url).resolve('did:ledger:a').then(() => undefined)),
    ),
    refusal: 'answered more than 16777216 bytes',
  }),
  limit({
    name: 'clients/client/http.maxAnswer',
    unit: 'bytes',
    value: 64 * 1024 * 1024,
    feed: (n) => answering(n, (url) => exchange(url, undefined, { timeout: 600_000 }).then(() => undefined)),
    refusal: 'answered more than 67108864 bytes',
  }),
  limit({
    name: 'clients/client/unmined.longestSentence',
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
    name: 'program/cli/expiry.maxYears',
    unit: 'years',
    value: 5,
    feed: (n) => void newExpiry({ years: n }, 1_800_000_000),
    refusal: 'is more than 5 years ahead',
  }),
  limit({
    name: 'program/cli/driver-command.maxNodeAnswer',
    unit: 'bytes',
    value: 4 * mib,
    feed: onlyFor(/answered more than/, (n) =>
      answering(n, (url) =>
        driverSource(url)
          .resolve('did:ledger:a')
          .then(() => undefined),
      ),
    ),
    refusal: 'answered more than 4194304 bytes',
  }),
  limit({
    name: 'answers/api/servers/static-server.maxStaticFile',
    unit: 'bytes',
    value: 32 * mib,
    feed: servedFile,
    refusal: 'a file of the mirror is too large',
  }),
  limit({
    name: 'program/cli/genesis-command.mostValidators',
    unit: 'count',
    value: 100,
    feed: everyDoor(
      (n) => validators('--validators', String(n)),
      (n) => validators(...each(n, (i) => ['--validator', toHex(testPublicKey(i))]).flat()),
    ),
    refusal: /Not a number from 1 to 100[^]*--validator is given 101 times/,
  }),
  limit({
    name: 'program/cli/load-proofs.maxBundleSize',
    unit: 'bytes',
    value: 256 * mib,
    feed: everyDoor(
      (n) => (fitsBundle(n) ? undefined : 'no bundle has so many bytes'),
      onlyFor(/is larger than/, (n) => file(n, loadProof)),
    ),
    refusal: /no bundle has so many bytes\n.* is larger than 268435456 bytes/,
  }),
]
