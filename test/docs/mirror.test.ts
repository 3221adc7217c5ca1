import { spawnSync } from 'node:child_process'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileHeaders } from '../../src/ledger/mirror/file-headers.js'
import { FolderStore } from '../../src/ledger/mirror/folder-store.js'
import { repositoryFile, section, tableRows } from '../support/assert/markdown.js'
import { mirrorFile } from '../support/assert/mirror-store-tests.js'
import { isOpen, temporaryPaths } from '../support/network/balancer.js'
import { startChild } from '../support/process/children.js'
import { eventually } from '../support/process/patience.js'
import { portBase } from '../support/process/ports.js'
import { Directories } from '../support/process/spawn.js'

/** The sample of docs/operate/mirror, held against the program, and tried where nginx is installed. */

const sample = repositoryFile('docs/operate/mirror/nginx.conf')
const names = ['head', 'about', 'mirror.html', 'map/00/aa', 'leaf/ff/bb', 'change/0']

it('has the times of caches that the program gives', () => {
  const kept = (path: string) =>
    new RegExp(`^ {4}${path.replace(/[$^+[\]]/g, '\\$&')} +"(.*)";$`, 'm').exec(sample)?.[1]
  expect(kept('/head')).toBe(fileHeaders('head')['cache-control'])
  expect(kept('~^/[^/]+$')).toBe(fileHeaders('about')['cache-control'])
  expect(kept('default')).toBe(fileHeaders('map/00/aa')['cache-control'])
})

// Without nginx .ci/run says that this is left out.
describe.skipIf(spawnSync('nginx', ['-v']).error !== undefined)('nginx with the sample', () => {
  const directories = new Directories()
  const folder = directories.fresh('mirror')
  let url: string
  let stop = () => Promise.resolve()

  beforeAll(async () => {
    const store = await FolderStore.open(folder)
    for (const name of [...names, 'own/list']) await store.replace(mirrorFile(name))
    await store.close()
    const secret = directories.fresh('secret')
    writeFileSync(secret, 'a secret')
    symlinkSync(secret, join(folder, 'map/link'))
    // Its workers may be of another user.
    chmodSync(directories.root, 0o755)
    const port = Number(await portBase())
    const work = `${directories.root}/`
    const file = join(work, 'nginx.conf')
    const text = sample
      .replace(/^http \{$/m, `pid ${work}pid;\nhttp {\n  access_log off;\n${temporaryPaths(work)}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('/srv/mirror', folder)
    writeFileSync(file, text)
    const child = startChild('nginx', ['-p', work, '-c', file, '-e', 'stderr', '-g', 'daemon off; master_process off;'])
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    await eventually('the port of nginx', () => isOpen(port))
    url = `http://127.0.0.1:${port}/`
    stop = () => {
      child.kill('SIGTERM')
      return closed
    }
  })
  afterAll(async () => {
    await stop()
    directories.remove()
  })

  it.each(names)('serves %s with the headers of a mirror', async (name) => {
    const answer = await fetch(url + name)
    expect(answer.status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(mirrorFile(name).bytes))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...fileHeaders(name),
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
    const etag = answer.headers.get('etag')
    expect(etag !== null).toBe(!['head', 'about'].includes(name))
    if (etag !== null) expect((await fetch(url + name, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  it.each(['', 'map', 'map/', 'none', 'own/list', 'own', '.lock/LOCK', '.new/1', 'map/link', 'map/..%2f..%2fsecret-2'])(
    'has nothing at /%s',
    async (path) => {
      const answer = await fetch(url + path, { redirect: 'manual' })
      expect([301, 400, 403, 404]).toContain(answer.status)
      expect(await answer.text()).not.toContain('a secret')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('cache-control') ?? '').not.toContain('immutable')
    },
  )

  it('sends a head that was replaced within the same second', async () => {
    const store = await FolderStore.open(folder)
    for (let i = 0; i < 5; i++) {
      await store.replace({ name: 'head', bytes: Buffer.from(`head ${i}`) })
      expect(await (await fetch(`${url}head`)).text()).toBe(`head ${i}`)
    }
    await store.close()
  })

  it('takes no other methods', async () => {
    for (const method of ['PUT', 'DELETE', 'POST']) expect((await fetch(`${url}head`, { method })).status).toBe(403)
  })
})

it('docs/mirror.md has the headers that the program gives', () => {
  const rows = tableRows(section(repositoryFile('docs/mirror.md'), 'Where files go').split('### Headers\n')[1] ?? '')
  const shown = (row: readonly string[]) => row.slice(1).map((cell) => /`([^`]+)`/.exec(cell)?.[1])
  const expected = ['map/00/aa', 'head', 'about', undefined, 'own/list'].map((name) =>
    name === undefined ? undefined : Object.values(fileHeaders(name)),
  )
  expect(rows).toHaveLength(5)
  for (const [i, headers] of expected.entries())
    if (headers !== undefined) expect(shown(rows[i] ?? [])).toEqual(headers)
  expect(shown(rows[3] ?? [])[1]).toBe(fileHeaders('mirror.html')['cache-control'])
})
