import { describe, expect, it } from 'vitest'
import { Scene } from '../../scripts/docs/scene.js'
import { plainRoutes } from '../../src/answers/api/paths/plain-routes.js'
import { defaultPortBase, portOffsets } from '../../src/node/ports.js'
import { repositoryFile, section } from '../support/assert/markdown.js'

/** The samples of docs/proxy.md, held against what docs/operate.md forbids from outside. */

const page = repositoryFile('docs/proxy.md')
const rules = section(repositoryFile('docs/operate.md'), 'Proxy and firewall')

/** Paths that the page lets no proxy forward. */
const forbidden = [...rules.matchAll(/Do not let `(\/[^`]+)` through/g)].map(([, path = '']) => path)

function sample(heading: string): string {
  return /```\w*\n([^]*?)```/.exec(section(page, heading))?.[1] ?? ''
}

/** Whether a configuration refuses a path by itself. */
const refusals: Readonly<Record<string, (text: string, path: string) => boolean>> = {
  // The exact location wins over all others, whatever their order.
  nginx: (text, path) => new RegExp(`^  location = ${path} \\{ return 404; \\}$`, 'm').test(text),
  // Caddy runs `respond` before `reverse_proxy`, whatever their order.
  Caddy: (text, path) => {
    const named = [...text.matchAll(/^ {2}(@\w+) path (.+)$/gm)].filter(([, , paths = '']) =>
      paths.split(' ').includes(path),
    )
    return named.some(([, name = '']) => new RegExp(`^ {2}respond ${name} 404$`, 'm').test(text))
  },
}

describe('what docs/operate.md forbids from outside', () => {
  it('is named, and is what pages of other sites may not read', () => {
    expect(forbidden).toEqual(plainRoutes.filter(({ ownSite }) => ownSite).map(({ path }) => path))
  })

  it.each(Object.keys(refusals))('is not forwarded by the sample for %s', (heading) => {
    const text = sample(heading)
    for (const path of forbidden) expect(refusals[heading]?.(text, path), path).toBe(true)
    const without = text.replaceAll('/metrics', '/other')
    for (const path of forbidden) expect(refusals[heading]?.(without, path), path).toBe(false)
  })

  it.each(Object.keys(refusals))(
    'the ports among it are none that the sample for %s forwards to, but REST',
    (heading) => {
      const ports = [...sample(heading).matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))
      expect(new Set(ports)).toEqual(new Set([defaultPortBase + portOffsets.rest]))
    },
  )

  it('is off the port of REST with the command of the page', async () => {
    expect(page).toMatch(/^ {4}didledger start .*--metrics-host 127\.0\.0\.1$/m)
    const scene = await Scene.open('devnet', '', { metricsHosts: ['127.0.0.1'] })
    const statusOf = async (url: string) => (await fetch(url)).status
    try {
      for (const path of forbidden) expect(await statusOf(`http://127.0.0.1:${scene.ports.rest}${path}`)).toBe(404)
      expect(await statusOf(`http://127.0.0.1:${scene.ports.rest}/readyz`)).toBe(200)
      expect(await statusOf(scene.metrics ?? '')).toBe(200)
    } finally {
      await scene.close()
    }
  })
})
