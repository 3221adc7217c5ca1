import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { mirrorPage } from '../../../scripts/build-mirror-page.js'

/** The one file that lies beside the files of a mirror, as it is built. */

/** Bytes of the file with gzip: 84.5 kB when it was made. */
const most = 90_000

let html: string
beforeAll(async () => {
  html = (await mirrorPage()).html
}, 60_000)

const hashOf = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe('mirror.html', () => {
  it('is one file, which names no other', () => {
    const frame = html.replace(/<(script|style)\b[^>]*>[^]*?<\/\1>/g, '')
    expect(frame).not.toMatch(/\bsrc=|<script|<link rel="(?!icon")/)
    expect([...frame.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['data:,'])
    const [, code = ''] = /<script type="module">([^]*?)<\/script>/.exec(html) ?? []
    expect(code.length).toBeGreaterThan(10_000)
    expect(code).not.toMatch(/\bimport\s*\(|\bimport\s*["']|\bfrom\s*["'][./]/)
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(html) ?? []
    expect(style).not.toMatch(/@import|url\(/)
  })

  it('allows its own script and styles by their hashes, and requests to its own host', () => {
    const [, policy = ''] = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
    const [, code] = /<script type="module">([^]*?)<\/script>/.exec(html) ?? []
    const [, style] = /<style>([^]*?)<\/style>/.exec(html) ?? []
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hashOf(code)}`,
      `style-src ${hashOf(style)}`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ])
    // A policy binds what stands behind it alone.
    expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<style>'))
  })

  it('keeps to its bound', () => {
    expect(gzipSync(html, { level: 9 }).length).toBeLessThanOrEqual(most)
  })
})
