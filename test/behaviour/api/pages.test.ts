import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import { PageFiles } from '../../../src/answers/api/http/page-files.js'
import { TestChain } from '../../support/builders/chain.js'
import { ask, askJson, contextOf, serve } from '../../support/client/api.js'

const folder = mkdtempSync(join(tmpdir(), 'pages-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>pages</title>')
writeFileSync(join(folder, 'assets', 'a-1.js'), 'a()')
const long = 'b()\n'.repeat(1000)
writeFileSync(join(folder, 'assets', 'b-1.js'), long)

const html = { 'accept-encoding': 'identity' }
let node: TestChain
/** With pages, without them, and with pages that are not built. */
let [withPages, without, unbuilt]: ApiServer[] = []
beforeAll(async () => {
  node = await TestChain.open()
  const filesOf = (path: string) => new PageFiles(pathToFileURL(path))
  withPages = await serve(contextOf(node, { pages: filesOf(`${folder}/`) }))
  without = await serve(contextOf(node))
  unbuilt = await serve(contextOf(node, { pages: filesOf(`${folder}/nothing/`) }))
})
afterAll(async () => {
  for (const server of [withPages, without, unbuilt]) await server?.close()
  await node.close()
  rmSync(folder, { recursive: true })
})
const portOf = (server: ApiServer | undefined) => server?.port ?? 0

describe('pages', () => {
  test.each(['GET', 'HEAD'])('%s / is the page, under a strict policy', async (method) => {
    const port = portOf(withPages)
    const { status, headers, text } = await ask(port, '/?x=1', {
      method,
      headers: { ...html, host: `127.0.0.1:${port}` },
    })
    expect([status, text]).toEqual([200, method === 'GET' ? '<!doctype html><title>pages</title>' : ''])
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
    })
    const policy = Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]),
    )
    expect(policy).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': `'self' ws://127.0.0.1:${port} wss://127.0.0.1:${port}`,
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    })
  })

  test.each(["a.example; script-src 'unsafe-inline'", 'a b', 'a.example/'])(
    'a Host that is none is answered without a policy: %s',
    async (host) => {
      const { status, headers } = await ask(portOf(withPages), '/', { headers: { ...html, host } })
      expect([status, headers['content-security-policy']]).toEqual([400, undefined])
    },
  )

  test.each(["a.example;script-src'unsafe-inline'", 'a.example,b.example', 'x'.repeat(300)])(
    'a Host adds nothing else to the policy: %s',
    async (host) => {
      const { headers } = await ask(portOf(withPages), '/', { headers: { ...html, host } })
      expect(headers['content-security-policy']).toContain("connect-src 'self';")
    },
  )

  test('files with a hash in their names are kept for good, the page is asked for again', async () => {
    const port = portOf(withPages)
    const script = await ask(port, '/assets/a-1.js', { headers: html })
    expect([script.status, script.text]).toEqual([200, 'a()'])
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const etag = String((await ask(port, '/', { headers: html })).headers['etag'])
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await ask(port, '/', { headers: { 'if-none-match': known } })
      expect([again.status, again.headers['etag']]).toEqual([304, etag])
    }
    expect((await ask(port, '/', { headers: { ...html, 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test('who takes gzip gets it', async () => {
    const port = portOf(withPages)
    const get = async (path: string, accepted: string) => {
      const { headers, text } = await fetch(`http://127.0.0.1:${port}/assets/${path}`, {
        headers: { 'accept-encoding': accepted },
      }).then(async (answer) => ({ headers: answer.headers, text: await answer.text() }))
      return [headers.get('content-encoding'), headers.get('vary'), text]
    }
    expect(await get('b-1.js', 'gzip')).toEqual(['gzip', 'accept-encoding', long])
    expect(await get('b-1.js', 'gzip;q=0')).toEqual([null, 'accept-encoding', long])
    // Shorter than what is worth it.
    expect(await get('a-1.js', 'gzip')).toEqual([null, 'accept-encoding', 'a()'])
  })

  test('a file of several encodings has a weak tag, which either is known by', async () => {
    const get = (headers: Record<string, string>) => ask(portOf(withPages), '/assets/b-1.js', { headers })
    const [coded, plain] = await Promise.all(['gzip', 'identity'].map((coding) => get({ 'accept-encoding': coding })))
    const etag = String(plain?.headers['etag'])
    expect([coded?.headers['etag'], etag.slice(0, 3)]).toEqual([etag, 'W/"'])
    for (const coding of ['gzip', 'identity']) {
      for (const known of [etag, etag.slice(2)]) {
        expect((await get({ 'accept-encoding': coding, 'if-none-match': known })).status).toBe(304)
      }
    }
  })

  test.each([
    '/assets/other.js',
    '/assets/',
    '/assets/../index.html',
    '/assets/%2e%2e%2findex.html',
    '/index.html',
    '/block/1',
  ])('nothing is at %s', async (path) => {
    const answer = await ask(portOf(withPages), path)
    expect([answer.status, answer.body]).toMatchObject([404, { Error: expect.any(Number) as number }])
  })

  test('/ still takes JSON-RPC, and names all methods to others', async () => {
    const port = portOf(withPages)
    const { body } = await askJson(port, '/', { id: 1, method: 'getcurrentheight' })
    expect(body).toMatchObject({ result: 0 })
    const answer = await ask(port, '/', { method: 'PUT' })
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, POST'])
    expect((await ask(port, '/assets/a-1.js', { method: 'POST' })).headers['allow']).toBe('GET, HEAD')
  })

  test('without them the paths are as before', async () => {
    const answer = await ask(portOf(without), '/')
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST'])
    expect((await ask(portOf(without), '/assets/a-1.js')).status).toBe(404)
  })

  test('pages that are not built say so', async () => {
    const answer = await ask(portOf(unbuilt), '/')
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('npm run build')
  })
})
