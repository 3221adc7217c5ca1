import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpPort } from '../../../src/answers/api/http/http-port.js'
import { openStaticServer } from '../../../src/answers/api/servers/static-server.js'
import { FolderStore } from '../../../src/ledger/mirror/folder-store.js'
import { mirrorFile } from '../../support/assert/mirror-store-tests.js'
import { quietLog } from '../../support/builders/chain.js'
import { Directories } from '../../support/process/spawn.js'

const directories = new Directories()
const folder = directories.fresh()
const log = quietLog()
let server: HttpPort

const names = ['head', 'about', 'mirror.html', 'map/00/aa', 'leaf/ff/bb', 'change/0']

beforeAll(async () => {
  const store = await FolderStore.open(folder)
  for (const name of [...names, 'own/list']) await store.replace(mirrorFile(name))
  await store.close()
  const outside = directories.fresh()
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'a secret')
  symlinkSync(join(outside, 'secret'), join(folder, 'map/link'))
  symlinkSync(outside, join(folder, 'linked'))
  execFileSync('mkfifo', [join(folder, 'map/pipe')])
  server = await openStaticServer({ folder, hosts: ['127.0.0.1'], port: 0, log, limits: { headersTimeout: 300 } })
})
afterAll(async () => {
  await server.close()
  directories.remove()
})

/** One request, with all of its answer. */
async function ask(path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, options)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: Object.fromEntries(answer.headers), bytes, text: bytes.toString() }
}

/** Bytes as they are, answered until the connection ends. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  socket.write(bytes)
  return text(socket)
}

const target = (path: string) => raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)

describe('the server of a mirror folder', () => {
  it.each(names)('answers %s with its bytes, and 304 to its ETag', async (name) => {
    const first = await ask(`/${name}`)
    expect(first.status).toBe(200)
    expect(first.bytes).toEqual(Buffer.from(mirrorFile(name).bytes))
    const { etag = '' } = first.headers
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    expect(first.headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' })
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(`/${name}`, { headers: { 'if-none-match': known } })
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag])
    }
    expect((await ask(`/${name}`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const head = await ask(`/${name}`, { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      String(mirrorFile(name).bytes.length),
    ])
  })

  it('says how long a file may be kept', async () => {
    const kept = async (name: string) => (await ask(`/${name}`)).headers['cache-control']
    expect(await kept('head')).toBe('public, max-age=1, must-revalidate')
    expect(await kept('about')).toBe('public, max-age=300')
    for (const name of ['map/00/aa', 'change/0']) expect(await kept(name)).toBe('public, max-age=31536000, immutable')
  })

  it('sends a file that was replaced', async () => {
    const store = await FolderStore.open(folder)
    await store.replace({ name: 'other', bytes: Buffer.from('old') })
    const old = await ask('/other')
    await store.replace({ name: 'other', bytes: Buffer.from('new') })
    await store.close()
    const now = await ask('/other', { headers: { 'if-none-match': old.headers['etag'] ?? '' } })
    expect([old.text, now.status, now.text]).toEqual(['old', 200, 'new'])
  })

  it.each([
    ...['/', '/map', '/map/', '/map/00', '/none', '/map/00/none', '//head', '/head/', '/./head', '/map/../head'],
    ...['/../secret', '/map/../../secret', '/%2e%2e/secret', '/..%2fsecret', '/%2E%2E%2fsecret', '/map%2f00%2faa'],
    ...['/..\\secret', '/map\\00\\aa', '/head%00', '/%68ead', '/HEAD', '/.lock/LOCK', '/.new', '/%2elock'],
    ...['/own/list', '/own', '/own/', '/map/../own/list', '/map/link', '/linked/secret', '/map/pipe', '/é', '*'],
  ])('has nothing at %s', async (path) => {
    const answer = await target(path)
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(answer).not.toContain('a secret')
    expect(answer).not.toContain(folder)
    expect(await ask('/head')).toMatchObject({ status: 200 })
  })

  it('reads no query, and a target of a proxy', async () => {
    for (const path of ['/head?x=../y', 'http://elsewhere/head']) expect(await target(path)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'])('takes no %s', async (method) => {
    const { status, headers } = await ask('/head', { method })
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
  })

  it('lets pages of other sites ask', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
    const { status, headers: given } = await ask('/head', { method: 'OPTIONS', headers })
    expect([status, given['access-control-allow-origin']]).toEqual([204, '*'])
  })

  it('refuses headers that are too long, and ends slow ones', async () => {
    expect(await raw(`GET /head HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(1 << 17)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
    expect(await raw('GET /head HTTP/1.1\r\nHost:')).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('has had no fault of its own', () => {
    expect(log.errors).toEqual([])
  })
})
