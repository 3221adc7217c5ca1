import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { transpiled } from '../../support/process/transpiled.js'

const source = fileURLToPath(new URL('../../../src/', import.meta.url))

/** What a module of `src` and all it imports at its start load: own files, and the packages among them. */
function loadedBy(entry: string): { files: Map<string, string>; packages: Set<string> } {
  const files = new Map<string, string>()
  const packages = new Set<string>()
  const pending = [entry]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (files.has(name)) continue
    const text = transpiled(name)
    files.set(name, text)
    for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\b(?:[^'"]*from)? ?"([^"]+)"/gm)) {
      if (specifier.startsWith('.')) pending.push(join(dirname(name), specifier).replace(/\.js$/, '.ts'))
      else packages.add(specifier)
    }
  }
  return { files, packages }
}

describe('the entries of the package', () => {
  it('didledger/resolver needs nothing that a web page lacks', () => {
    const { files, packages } = loadedBy('node/library/resolver-entry.ts')
    expect([...packages].sort()).toEqual(['@noble/hashes/legacy.js', '@noble/hashes/sha2.js', 'bs58'])
    // Some 20 kB of texts that a web page does not need.
    expect([...files.keys()].filter((name) => /error-codes|error-mapping|penalties/.test(name))).toEqual([])
    for (const [name, text] of files) {
      // It looks whether there is a `process` at all.
      if (name === 'base/runtime/node-crypto.ts') continue
      const node = /\b(?:Buffer|process|require|setImmediate|__dirname)\b/.exec(
        text.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "''"),
      )
      expect({ name, node: node?.[0] }).toEqual({ name, node: undefined })
    }
  })

  it('didledger loads no HTTP server until one is asked for', () => {
    const { files, packages } = loadedBy('index.ts')
    expect([...files.keys()]).toContain('node/start-node.ts')
    expect([...files.keys()].filter((name) => /^answers\/api\/(?!http\/(origin|error-mapping)\.)/.test(name))).toEqual(
      [],
    )
    expect([...packages].filter((name) => /^ws$|prom-client/.test(name))).toEqual([])
  })

  it('didledger/testing needs no more than didledger, and takes all that serves by one import', () => {
    expect(loadedBy('node/library/testing-entry.ts').packages).toEqual(loadedBy('index.ts').packages)
    const serving = readFileSync(join(source, 'node/serving/open-ports.ts'), 'utf8')
    // The loader of Jest loses modules where several are imported at the same time.
    expect(serving.match(/\bimport\(/g)).toHaveLength(1)
  })

  it('didledger/wallet runs no node', () => {
    const { files, packages } = loadedBy('node/library/wallet-entry.ts')
    // The tables of `codes`, which know nothing but the codes.
    const tables = ['answers/api/http/error-mapping.ts', 'network/penalties.ts']
    const others = [...files.keys()].filter((name) => !tables.includes(name))
    const folders = new Set(others.map((name) => name.split('/')[1]))
    expect([...folders].sort()).toEqual([
      'credentials',
      'crypto',
      'did',
      'errors',
      'library',
      'primitives',
      'runtime',
      'wallet',
    ])
    expect([...packages].filter((name) => /level|pino/.test(name))).toEqual([])
  })

  it('none needs did-resolver, whose types would tie a program to one version of it', () => {
    const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    const using = names.filter((name) => /from 'did-resolver'/.test(readFileSync(join(source, name), 'utf8')))
    expect(using).toEqual([])
    const text = readFileSync(join(source, '../package.json'), 'utf8')
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(text) as Record<string, object>
    expect(dependencies).not.toHaveProperty('did-resolver')
    expect([peerDependencies, peerDependenciesMeta]).toEqual([
      { 'did-resolver': '>=4', pg: '>=8.23' },
      { 'did-resolver': { optional: true }, pg: { optional: true } },
    ])
  })

  it('no file is imported for its effects alone: bundlers would drop it', () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url))
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).toMatchObject({ sideEffects: false })
    const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    expect(names.length).toBeGreaterThan(100)
    const bare = names.filter((name) => /^import '/m.test(readFileSync(join(source, name), 'utf8')))
    expect(bare).toEqual([])
  })
})
