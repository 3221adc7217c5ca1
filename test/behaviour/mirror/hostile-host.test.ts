import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { keysOf } from '../../support/builders/light-scene.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { failureOf } from '../../support/builders/light-world.js'
import { lightOverMirror } from '../../support/builders/mirror-scene.js'
import { mirrorOnce } from '../../support/builders/mirrored.js'
import type { ProofBook } from '../../support/builders/proof-book.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'

/** Hosts of a mirror that answer over real sockets as web servers, proxies and attackers do; the reader uses the fetch of Node. */

const ada = holder()
const store = new MemoryMirror()
let test: TestChain
let book: ProofBook

beforeAll(async () => {
  test = await TestChain.open({ validators: keysOf(1) })
  await test.publish(ada.create(), ada.did)
  await mirrorOnce(test, store)
  book = await bookOf(test)
})
afterAll(() => test.close())

type Answer = (response: ServerResponse, bytes: Uint8Array) => void

/** 300 MB of white space, in 300 kB. */
const bomb = gzipSync(Buffer.alloc(300_000_000, ' '))
const page = '<!doctype html><html><title>Welcome to nginx!</title></html>'

const answers: readonly (readonly [string, string, Answer])[] = [
  [
    'a page instead of the file',
    'mirror-file',
    (response) => response.setHeader('content-type', 'text/html').end(page),
  ],
  ['nothing', 'mirror-file', (response) => response.end()],
  ['JSON of many levels', 'mirror-file', (response) => response.end('['.repeat(30_000))],
  ['a null', 'mirror-file', (response) => response.end('null')],
  ['a compressed bomb', 'mirror-file', (response) => response.setHeader('content-encoding', 'gzip').end(bomb)],
  [
    'bytes that say they are compressed',
    'unreachable',
    (response) => response.setHeader('content-encoding', 'gzip').end(page),
  ],
  ['a part of the file', 'unreachable', (response, bytes) => response.writeHead(206).end(bytes)],
  ['that it is elsewhere', 'unreachable', (response) => response.writeHead(301, { location: '/else' }).end()],
  ['that it may not be read', 'unreachable', (response) => response.writeHead(403).end(page)],
  [
    'fewer bytes than it says',
    'unreachable',
    (response, bytes) => {
      response.writeHead(200, { 'content-length': bytes.length + 1 }).write(bytes)
      setTimeout(() => response.destroy(), 20)
    },
  ],
  ['a connection that ends', 'unreachable', (response) => void response.destroy()],
]

/** Serves the files; those whose names begin so are answered otherwise. Returns the URL, and how many bytes were sent. */
async function hostOf(kind: string, answer: Answer): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const name = url.slice(1)
    const bytes = store.files.get(name)
    if (bytes === undefined) response.writeHead(404).end()
    else if (name.startsWith(kind)) answer(response, bytes)
    else response.end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const over = (...mirrors: string[]) =>
  lightOverMirror({ test, book }, store, { mirrors, fetch: (url, init) => fetch(url, init) })

describe.each(['head', 'map/', 'leaf/'])('a host that answers for %s', (kind) => {
  it.each(answers)('with %s is refused as %s', async (_, failure, answer) => {
    const before = process.memoryUsage().arrayBuffers
    const lying = await hostOf(kind, answer)
    expect(await failureOf(over(lying).resolve(ada.did))).toBe(failure)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
    // Another mirror is asked.
    const honest = await hostOf('none', () => {})
    expect(await over(lying, honest).resolve(ada.did)).toMatchObject({ did: ada.did })
  })
})
