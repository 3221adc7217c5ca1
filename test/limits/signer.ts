import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toHex } from '../../src/base/primitives/bytes.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { systemTimers } from '../../src/base/runtime/process-env.js'
import { OwnKey } from '../../src/voting/key-holder.js'
import { RemoteKey } from '../../src/voting/remote/remote-key.js'
import { SignerServer } from '../../src/voting/remote/signer-server.js'
import { quietLog } from '../support/builders/chain.js'
import { testKey, testPublicKey } from '../support/builders/spec.js'
import { MemorySigns } from '../support/network/voting-net.js'
import { limit } from './limit.js'

const log = quietLog()
const open = { id: 1, method: 'open', params: { version: 1, genesis: toHex(zeroHash) } }

/** Runs with the path of a socket in a folder of its own. */
async function atSocket<T>(run: (socket: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'didledger-signer-'))
  try {
    return await run(join(folder, 's'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs with a signer whose state is written when `written` resolves. */
function withSigner<T>(run: (socket: string) => Promise<T>, written = Promise.resolve()): Promise<T> {
  return atSocket(async (socket) => {
    const store = Object.assign(new MemorySigns(), { save: () => written })
    const holder = new OwnKey({ key: testKey(0), store, genesis: zeroHash })
    const server = await SignerServer.open({ socket, holder, genesis: zeroHash, begin: true, log })
    try {
      return await run(socket)
    } finally {
      await server.close()
    }
  })
}

/** Whether a connection is still there after the signer had time to close it; undefined if so. */
async function closed(client: Socket, act: () => void): Promise<string | undefined> {
  client.on('error', () => {})
  const end = new Promise<string>((resolve) => client.once('close', () => resolve('closed')))
  act()
  const alive = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 300))
  const outcome = await Promise.race([end, alive])
  client.destroy()
  return outcome
}

/** A connection that is open. */
async function connected(socket: string): Promise<Socket> {
  const client = connect(socket)
  await new Promise<void>((resolve, reject) => client.once('connect', resolve).once('error', reject))
  return client
}

export const signerLimits = [
  limit({
    name: 'voting/remote/signer-protocol.maxRequest',
    unit: 'bytes',
    value: 256 * 1024,
    feed: (n) =>
      withSigner(async (socket) => {
        const client = await connected(socket)
        return closed(client, () => client.write('x'.repeat(n)))
      }),
    refusal: 'closed',
  }),
  limit({
    name: 'voting/remote/signer-protocol.maxAnswer',
    unit: 'bytes',
    value: 32 * 1024 * 1024,
    feed: (n) =>
      atSocket(async (socket) => {
        const liar = createServer((client) => {
          client.on('error', () => {})
          client.once('data', () => {
            const answer = JSON.stringify({ id: 1, result: { publicKey: toHex(testPublicKey(0)), state: null } })
            client.write(' '.repeat(n - answer.length) + answer)
            // The end of the line comes in a piece of its own, so that all that goes before has to be kept.
            setTimeout(() => client.write('\n'), 500)
          })
        })
        await new Promise<void>((resolve) => liar.listen(socket, resolve))
        try {
          const key = await RemoteKey.open({ socket, genesis: zeroHash, timers: systemTimers, log })
          key.close()
          return undefined
        } finally {
          liar.close()
        }
      }),
    refusal: 'a line has more than 33554432 bytes',
  }),
  limit({
    name: 'voting/remote/signer-server.maxWaiting',
    unit: 'count',
    value: 16,
    feed: (n) => {
      let write = () => {}
      const written = new Promise<void>((resolve) => (write = resolve))
      const run = async (socket: string) => {
        const client = await connected(socket)
        client.write(`${JSON.stringify(open)}\n`)
        await new Promise((resolve) => client.once('data', resolve))
        const begin = { id: 2, method: 'begin', params: { height: 1 } }
        const outcome = await closed(client, () => client.write(`${JSON.stringify(begin)}\n`.repeat(n)))
        write()
        return outcome
      }
      return withSigner(run, written)
    },
    refusal: 'closed',
  }),
  limit({
    name: 'voting/remote/signer-server.maxConnections',
    unit: 'count',
    value: 8,
    feed: (n) =>
      withSigner(async (socket) => {
        const others = await Promise.all(Array.from({ length: n - 1 }, () => connected(socket)))
        const client = await connected(socket)
        const outcome = await closed(client, () => {})
        for (const other of others) other.destroy()
        return outcome
      }),
    refusal: 'closed',
  }),
]
