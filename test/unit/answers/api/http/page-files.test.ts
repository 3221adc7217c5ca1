import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { PageFiles } from '../../../../../src/answers/api/http/page-files.js'

const folder = mkdtempSync(join(tmpdir(), 'page-files-'))
mkdirSync(join(folder, 'assets'))
writeFileSync(join(folder, 'index.html'), '<!doctype html>')
const long = `a()${' '.repeat(1021)}`
writeFileSync(join(folder, 'assets', 'a-1.js'), long)
writeFileSync(join(folder, 'assets', 'b-1.js'), long.slice(1))
writeFileSync(join(folder, 'secret.txt'), 'not a page')
afterAll(() => rmSync(folder, { recursive: true }))

it('has the files of its folder, ready to be sent, and no others', () => {
  const files = new PageFiles(pathToFileURL(`${folder}/`))
  const [page, script] = [files.get('/'), files.get('/assets/a-1.js')]
  expect(page).toMatchObject({ contentType: 'text/html; charset=utf-8', hashed: false })
  expect(script).toMatchObject({ contentType: 'text/javascript; charset=utf-8', hashed: true })
  expect(gunzipSync(script?.coded.get('gzip') ?? '').toString()).toBe(long)
  expect(files.get('/assets/b-1.js')?.coded.size).toBe(0)
  expect(page?.etag).not.toBe(script?.etag)
  for (const path of [
    '/index.html',
    '/secret.txt',
    '/assets',
    '/assets/',
    '/../page-files',
    '/assets/../secret.txt',
    '',
  ]) {
    expect(files.get(path)).toBeUndefined()
  }
})

it('reads them once', () => {
  const files = new PageFiles(pathToFileURL(`${folder}/`))
  const before = files.get('/')
  writeFileSync(join(folder, 'index.html'), 'changed')
  expect(files.get('/')).toBe(before)
})

it('a folder that is not there has none', () => {
  expect(new PageFiles(pathToFileURL(`${folder}/nothing/`)).get('/')).toBeUndefined()
})
