import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { NodeProcess } from '../support/process/spawn.js'

const folder = new URL('../../dist/pages/', import.meta.url)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8')

/** Bytes with gzip, all files together. */
const most = 250_000

describe('the pages as built', () => {
  it('are small', () => {
    expect(files.length).toBeGreaterThan(3)
    const sizes = files.map((name) => gzipSync(readFileSync(new URL(name, folder))).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(most)
  })

  it('load nothing from elsewhere, and have no script or style in their text', () => {
    const html = textOf('index.html')
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/)
    const sources = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source]) => source)
    expect(sources.length).toBeGreaterThan(2)
    for (const source of sources) expect(source).toMatch(/^\.\//)
    for (const name of files.filter((one) => one.endsWith('.css'))) expect(textOf(name)).not.toMatch(/url\(|@import/)
  })

  it('carry their licences along', () => {
    const licences = readFileSync(new URL('../THIRD-PARTY-LICENCES.txt', folder), 'utf8')
    for (const name of ['preact', 'uplot', 'jsondiffpatch']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  })
})

describe('a node', () => {
  it('serves its pages, and nothing of them with --no-pages', async () => {
    const node = await NodeProcess.start('devnet')
    const page = await fetch(`${node.line.rest}/`)
    const text = await page.text()
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const [script = ''] = /assets\/[^"]+\.js/.exec(text) ?? []
    expect((await fetch(`${node.line.rest}/${script}`)).status).toBe(200)
    await node.stop()

    const bare = await NodeProcess.start('devnet', '--no-pages')
    expect((await fetch(`${bare.line.rest}/`)).status).toBe(405)
    expect((await fetch(`${bare.line.rest}/${script}`)).status).toBe(404)
    await bare.stop()
  })
})
