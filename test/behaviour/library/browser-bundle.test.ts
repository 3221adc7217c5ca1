import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as bytesOfNode from '../../../src/base/primitives/bytes.js'
import * as hashesOfNode from '../../../src/base/primitives/hash.js'
import { finish } from '../../../src/base/primitives/steps.js'
import { repositoryFile } from '../../support/assert/markdown.js'
import { bytes, runs, text } from '../../support/builders/arbitraries.js'
import { type Bundle, bundleForBrowser, importAsPage, lightLater } from '../../support/web/bundle.js'
import type * as Scenario from '../../support/web/scenario.js'
import { runScenario } from '../../support/web/scenario.js'
import { scenarioInput } from '../../support/web/scenario-input.js'

/**
 * Most kilobytes of an entry with everything in it; 70 of the wallet are the words of mnemonics and the texts of codes, 15 what reads and
 * signs credentials as JSON and JWT, and 1.5 what shows a controller the changes of a draft. All read DIDs, and say what keeps a text from
 * being one.
 */
const entries = { wallet: 249, verify: 103, resolver: 44, events: 12 } as const

/**
 * Most kilobytes of what proves an answer about a DID, compressed by gzip. Two of them are hashes for pages without node:crypto. A tenth of one tells a node that is busy from one without a proof. One reads keys for encryption, endpoints and other names. Two read controllers and tickets. Two hold an
 * answer against each parameter of its question, verify the signatures of operations, and count what an answer holds while it comes in.
 */
const lightKilobytes = 29.1

/** Most kilobytes, compressed, of what is loaded when it is needed, besides that. */
const lightMore: readonly (readonly [string, number, readonly string[]])[] = [
  ['headers of miners, which a Trust names', 3.9, ['follow-work.js']],
  ['changes of validators', 1.9, ['follow-changes.js']],
  ['a checkpoint', 2.2, ['from-checkpoint.js', 'follow-changes.js']],
  ['a credential', 2.1, ['credential-question.js']],
  ['a bundle', 3.8, ['check-bundle.js', 'credential-question.js', 'follow-changes.js']],
  ['evidence of a fork', 5.3, ['fork-evidence.js', 'follow-changes.js']],
  ['witnesses', 3.5, ['witnesses.js']],
  ['cosignatures', 12.7, ['ed25519.js']],
  ['mirrors', 9, ['mirror-server.js']],
  ['gossip of heads', 1.5, ['gossip.js']],
  ['a kept state', 2.2, ['light-memory.js']],
  ['signatures without WebCrypto', 16, ['noble.js']],
  ['proofs of controllers', 16, ['key-of-did.js']],
]

/** What a page loads to resolve a DID, with some of what is loaded later. */
function lightBundle(loaded: readonly string[] = []): Bundle {
  const later = lightLater.filter((name) => !loaded.includes(name))
  return bundleForBrowser("export { LightResolver } from './src/node/library/light-entry.ts'", {
    external: later.map((name) => `*/${name}`),
  })
}

function compressed({ text }: Bundle): number {
  return gzipSync(text, { level: 9 }).length
}

describe('an entry for browsers', () => {
  it.each(Object.entries(entries))('%s needs nothing of Node, and is at most %d kB', (name, kilobytes) => {
    const code = `export * from './src/node/library/${name}-entry.ts'`
    // Neutral: a bundler that knows neither Node nor browsers.
    for (const platform of ['browser', 'neutral'] as const) {
      const { size, files, imports } = bundleForBrowser(code, { platform, mainFields: ['module', 'main'] })
      expect(imports).toEqual([])
      expect(size).toBeLessThan(kilobytes * 1000)
      // These choose between Node and the standard; others would fail in a page at the line that has Buffer.
      const chooses = ['src/base/crypto/native.ts', 'src/base/primitives/bytes.ts', 'src/base/primitives/hash.ts']
      const own = files.filter((file) => file.startsWith('src/') && !chooses.includes(file))
      expect(own.filter((file) => /\bBuffer\.|\bprocess\./.test(repositoryFile(file)))).toEqual([])
    }
  })

  it.each([
    ['nothing', '', 0],
    ['an address', "import { parseAddress } from './src/node/library/wallet-entry.ts'; console.log(parseAddress)", 8.5],
    ['an amount', "import { parseAmount } from './src/node/library/wallet-entry.ts'; console.log(parseAmount)", 1],
    [
      'a resolver',
      "import { getResolver, HttpResolver } from './src/node/library/resolver-entry.ts'; console.log(getResolver, HttpResolver)",
      35,
    ],
    ['events', "import { followEvents } from './src/node/library/resolver-entry.ts'; console.log(followEvents)", 12],
    [
      'the terms of a payment by the answer of a node',
      "import { chainTerms, parseChain } from './src/node/library/wallet-entry.ts'; console.log(chainTerms, parseChain)",
      36,
    ],
    ['a signature', "import { sign } from './src/node/library/wallet-entry.ts'; console.log(sign)", 46],
    [
      'a DID operation',
      "import { createIdentity } from './src/node/library/wallet-entry.ts'; console.log(createIdentity)",
      85,
    ],
    [
      'a credential',
      "import { verifyCredential } from './src/node/library/verify-entry.ts'; console.log(verifyCredential)",
      77,
    ],
  ])('is loaded in parts: %s', (_, code, kilobytes) => {
    const imports = Object.keys(entries).map((name) => `import './src/node/library/${name}-entry.ts'`)
    const { size, files } = bundleForBrowser([...imports, code].join('\n'))
    expect(size).toBeLessThanOrEqual(kilobytes * 1000)
    expect(files.filter((file) => /bip39|typebox|error-mapping|penalties/.test(file))).toEqual([])
  })

  it(`proves answers with ${lightKilobytes} kB compressed, and loads what few need only then`, () => {
    const bundle = lightBundle()
    expect(compressed(bundle)).toBeLessThanOrEqual(lightKilobytes * 1000)
    const imports = new Set(bundle.imports.map((path) => path.slice(path.lastIndexOf('/') + 1)))
    expect(imports).toEqual(new Set(lightLater))
    expect(
      bundle.files.filter((file) => /error-codes|consensus|noble\/curves|crypto\/noble|spec(-file)?\.ts/.test(file)),
    ).toEqual([])
    expect(new Set(lightMore.flatMap(([, , names]) => names))).toEqual(imports)
  })

  it.each(lightMore)('loads %s with %d kB more', (_, kilobytes, names) => {
    expect(compressed(lightBundle(names)) - compressed(lightBundle())).toBeLessThanOrEqual(kilobytes * 1000)
  })

  it('resolves without what follows events', () => {
    const { files } = bundleForBrowser("export { HttpResolver } from './src/node/library/resolver-entry.ts'")
    expect(files.filter((file) => /event/.test(file))).toEqual([])
  })

  it('resolves without the table of codes', () => {
    const { files } = bundleForBrowser("export * from './src/node/library/resolver-entry.ts'")
    expect(files.filter((file) => /error-codes|error-mapping|penalties/.test(file))).toEqual([])
  })

  it('a module that only Node has does not bundle', () => {
    expect(() => bundleForBrowser("export * from './src/clients/wallet/files.ts'")).toThrow(/node:fs/)
  })
})

describe('without Buffer and OpenSSL', () => {
  it('signs and verifies the same', async () => {
    const page = await importAsPage<typeof Scenario>('test/support/web/scenario.ts')
    const input = scenarioInput()
    const results = runScenario(input)
    expect(results.length).toBeGreaterThan(10_000)
    expect(JSON.parse(page.runScenario(input))).toEqual(JSON.parse(results))
  })

  it('has the same bytes, texts and orders', async () => {
    const page = await importAsPage<typeof bytesOfNode>('src/base/primitives/bytes.ts')
    const same = (of: (functions: typeof bytesOfNode) => unknown) => expect(of(page)).toEqual(of(bytesOfNode))
    fc.assert(
      fc.property(bytes(0, 40), bytes(0, 40), text, (a, b, words) => {
        const plain = (value: Uint8Array | undefined) => value && [...value]
        same((f) => [f.toHex(a), f.toBase64url(a), f.mapKey(a), f.anyUtf8(a), f.utf8(a), f.littleEndianInteger(a)])
        same((f) => [f.fromHex(f.toHex(a).toUpperCase()), f.fromBase64url(f.toBase64url(a))].map(plain))
        same((f) => [plain(f.fromUtf8(words)), f.anyUtf8(f.fromUtf8(words)), f.ownText(f.toHex(a))])
        same((f) => [f.ownCopy(a), f.copyOf(a), f.asBytes(a), f.concat(a, b, a), f.joined(a, 0xfedcba98, b)].map(plain))
        same((f) => [f.compareBytes(a, b), f.compareBytes(b, a), f.equalBytes(a, b), f.equalBytes(a, a.slice())])
        same((f) => f.compareBytes(a, f.concat(a, b)))
      }),
      runs,
    )
    for (const odd of ['\ud800', 'a\udc00b', '\ufeff', '\0']) same((f) => [...f.fromUtf8(odd)])
    for (const wrong of ['0', '0g', '００', '00\n']) same((f) => f.fromHex(wrong))
  })

  it('hashes the same, also in steps', async () => {
    const page = await importAsPage<typeof hashesOfNode>('src/base/primitives/hash.ts')
    const long = new Uint8Array(2_500_000).map((_, i) => i * 7)
    for (const data of [new Uint8Array(0), long.subarray(0, 64), long]) {
      const [one, other] = [page, hashesOfNode].map((functions) => {
        const { prefix, whole } = finish(functions.prefixHashSteps(data, data.length >> 1))
        const single = [functions.sha256(data), functions.sha256('ü€😀'), functions.hash160(data)]
        return [...single, prefix, whole].map(bytesOfNode.toHex)
      })
      expect(one).toEqual(other)
    }
  })
})
