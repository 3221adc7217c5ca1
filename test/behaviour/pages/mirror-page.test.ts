import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { trustOf } from '../../../src/identity/proofs/make-trust.js'
import { mirrorAboutFormat } from '../../../src/identity/proofs/mirror-head.js'
import { oneValidator, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { mirrorOnce } from '../../support/builders/mirrored.js'
import { MemoryMirror } from '../../support/fakes/memory-mirror.js'
import { stubPage, textOf } from '../../support/web/small-dom.js'

/** The page beside the files of a mirror, drawn over the files of a chain. */

/** The part of preact that draws; its types are those of a browser. */
interface Drawing {
  readonly options: { vnode?: unknown }
  h(page: unknown, properties: object): unknown
  render(page: unknown, into: object): void
}

const base = 'http://mirror/'
const [ada, bea, mallory, nobody] = [holder(), holder(), holder(), holder()]
const mistyped = ada.did.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'))
const hostile = { script: '<script>window.pwned = 1</script>', bidi: 'invoice\u202etxt.exe' }
const drawing = 'preact'
let test: TestChain
let written: ReadonlyMap<string, Uint8Array>
let store: MemoryMirror
let main: ReturnType<typeof stubPage>
let preact: Drawing
let asked: string[]

beforeAll(async () => {
  test = await TestChain.open({ ...oneValidator(), time: Math.floor(Date.now() / 1000) - 1000 })
  await test.publish(ada.create(), ada.did)
  await test.publish(bea.create(), bea.did)
  await test.publish(bea.deactivate(), bea.did)
  const service = { id: '#home', type: hostile.script, serviceEndpoint: hostile.bidi }
  await test.publish(mallory.create({ services: [service] }), mallory.did)
  // A light resolver takes a block of now alone.
  test.clock.time = Date.now()
  await test.mine()
  const mirror = new MemoryMirror()
  await mirrorOnce(test, mirror)
  written = mirror.files
})
afterAll(() => test.close())
beforeEach(async () => {
  store = new MemoryMirror()
  for (const [name, bytes] of written) store.files.set(name, bytes)
  tell({ trust: trustOf(test.spec) })
  asked = []
  const files = store.fetch(base)
  preact = (await import(drawing)) as Drawing
  main = stubPage(`${base}mirror.html?did=x`)
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    asked.push(url)
    return files(url, init)
  })
  return async () => {
    preact.render(null, main)
    // Effects of the page that are still due need its globals.
    await new Promise((done) => setTimeout(done, 150))
    vi.unstubAllGlobals()
  }
})

const file = (name: string) => fileURLToPath(new URL(`../../../src/explorer/${name}`, import.meta.url))

/** Replaces what the mirror says of itself. */
function tell(about: object): void {
  store.files.set('about', Buffer.from(JSON.stringify({ format: mirrorAboutFormat, ...about })))
}

/** Hash of the block that the files are as of. */
function headId(): string {
  return (JSON.parse(Buffer.from(written.get('head') ?? []).toString()) as { hash: string }).hash
}

/** Opens the page at an address until it shows a text. */
async function shows(address: { hash?: string; search?: string }, text: string | RegExp): Promise<string> {
  vi.stubGlobal('location', { hash: '', search: '', ...address })
  const { guard } = (await import(file('text/one-door.ts'))) as { guard: unknown }
  preact.options.vnode = guard
  const { MirrorPage } = (await import(file('mirror/mirror-page.tsx'))) as Record<string, unknown>
  preact.render(preact.h(MirrorPage, {}), main)
  await expect.poll(() => textOf(main), { interval: 20 }).toMatch(text)
  return textOf(main)
}

describe('the page of a mirror', () => {
  it('reads no file before a DID is asked for, and says that the page is of the same host', async () => {
    await shows({}, 'a page is believed as far as its host')
    expect(asked).toEqual([])
  })

  it.each([
    ['behind #', { hash: `#/did/${ada.did}` }],
    ['alone behind #', { hash: `#${ada.did}` }],
    ['in the query', { search: `?did=${ada.did}` }],
    ['with a version', { search: `?did=${encodeURIComponent(`${ada.did}?versionTime=2027-01-01T00:00:00Z`)}` }],
  ])('resolves a DID %s of its address, from files beside it alone', async (_, address) => {
    const text = await shows(address, '✓ proved')
    expect(text).toContain('valid')
    expect(text).toContain(`"${ada.did}"`)
    expect(text).toContain(headId())
    expect(text).toContain('signatures of a quorum of its validators')
    expect(text).toContain('the one that this mirror gives')
    expect(text).toMatch(new RegExp(`read\n${asked.length} files, [1-9]`))
    expect(asked.length).toBeGreaterThan(2)
    for (const url of asked) expect(store.files.has(url.slice(base.length)), url).toBe(true)
  })

  it('proves that a DID is deactivated, and that one does not exist', async () => {
    expect(await shows({ hash: `#/did/${bea.did}` }, '✓ proved')).toContain('deactivated')
    preact.render(null, main)
    expect(await shows({ hash: `#/did/${nobody.did}` }, '✓ proved')).toContain('does not exist')
  })

  it('shows hostile texts of a document as texts, with what is unseen written out', async () => {
    const text = await shows({ hash: `#/did/${mallory.did}` }, '✓ proved')
    expect(text).toContain(hostile.script)
    expect(text).toContain('invoice‹U+202E›txt.exe')
    expect(text).not.toContain('\u202e')
  })

  it('refuses a damaged leaf by the name of the failure and in a sentence', async () => {
    for (const [name, bytes] of written) {
      if (!name.startsWith('leaf/')) continue
      const changed = Uint8Array.from(bytes)
      // In the first entry, behind state, count and key.
      changed.set([(changed[45] ?? 0) ^ 1], 45)
      store.files.set(name, changed)
    }
    const text = await shows({ hash: `#/did/${ada.did}` }, 'Not proved')
    expect(text).toContain('mirror-file')
    expect(text).toContain('a file of the mirror is not what its name says')
    expect(text).not.toContain('✓ proved')
  })

  it('takes its own Trust of a chain that comes with didledger, whatever the mirror says of it', async () => {
    const localnet = JSON.parse(readFileSync('genesis/localnet.trust.json', 'utf8')) as { readonly chain: string }
    tell({ trust: { ...localnet, validators: trustOf(test.spec)?.validators } })
    expect(await shows({ hash: `#/did/${ada.did}` }, 'Not proved')).toContain(
      'another chain than the one that is trusted',
    )
    const { shippedTrust } = (await import(file('mirror/shipped-trust.ts'))) as {
      shippedTrust(chain: unknown): object | undefined
    }
    expect(shippedTrust(localnet.chain)).toEqual(localnet)
    expect(shippedTrust('00'.repeat(32))).toBeUndefined()
  })

  it.each([
    ['no JSON', '{'],
    ['of another form', '{"format":"x"}'],
    ['without a Trust', JSON.stringify({ format: mirrorAboutFormat, trust: null })],
    ['too long', ' '.repeat(2 * 1024 * 1024 + 1)],
  ])('refuses an about that is %s', async (_, about) => {
    store.files.set('about', Buffer.from(about))
    const text = await shows({ hash: `#/did/${ada.did}` }, 'Not proved')
    expect(text).toMatch(/mirror-file|form/)
  })

  it.each([
    ['a hostile text', '?did=%3Cscript%3E', '<script>'],
    ['a mistyped DID', `?did=${mistyped}`, mistyped],
    ['a DID of another method', '?did=did:web:example.org', 'did:web:example.org'],
  ])('refuses %s in its address, shown as a text, and proves no absence', async (_, search, shown) => {
    const text = await shows({ search }, 'Not proved')
    expect(text).toContain(`no DID of a chain: ${shown}`)
    expect(text).not.toMatch(/does not exist|✓ proved/)
  })
})

/** Gives the page the files of another mirror. */
function showFiles(files: ReadonlyMap<string, Uint8Array>): void {
  store.files.clear()
  for (const [name, bytes] of files) store.files.set(name, bytes)
}

describe('the page of a mirror that is old', () => {
  it('refuses its block as stale, and says how old it is', async () => {
    const now = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 30 * 86_400_000)
    try {
      const text = await shows({ hash: `#/did/${ada.did}` }, 'Not proved')
      expect(text).toContain('stale')
      expect(text).toMatch(/the block is 2592\d{3} s old, at most \d+ s are allowed/)
    } finally {
      clock.mockRestore()
    }
  })
})

describe('the page of a mirror of a chain of work', () => {
  let mined: TestChain
  let files: ReadonlyMap<string, Uint8Array>
  beforeAll(async () => {
    mined = await TestChain.open({ ...withoutValidators, time: Math.floor(Date.now() / 1000) - 1000 })
    await mined.publish(ada.create(), ada.did)
    mined.clock.time = Date.now()
    await mined.mine(8)
    const mirror = new MemoryMirror()
    await mirrorOnce(mined, mirror)
    files = mirror.files
  })
  afterAll(() => mined.close())
  beforeEach(() => {
    showFiles(files)
    tell({ trust: trustOf(mined.spec) })
  })

  it('shows that work was checked, and not signatures', async () => {
    const text = await shows({ hash: `#/did/${ada.did}` }, '✓ proved')
    expect(text).toContain('the work of the blocks above it')
    expect(text).not.toContain('signatures of a quorum')
    expect(text).toContain('valid')
  })

  it('refuses headers without the work that they claim', async () => {
    for (const [name, bytes] of files) {
      if (!/^(headers|last)\//.test(name)) continue
      const changed = Uint8Array.from(bytes)
      // The last byte of the last header is of its nonce.
      changed.set([(changed.at(-1) ?? 0) ^ 1], changed.length - 1)
      store.files.set(name, changed)
    }
    const text = await shows({ hash: `#/did/${ada.did}` }, 'Not proved')
    expect(text).toMatch(/work-(link|proof|chain|depth)|mirror-file/)
  })
})

describe('the page of a mirror that lies', () => {
  const changedHead = (change: (head: Record<string, unknown>) => object) => {
    const head = JSON.parse(Buffer.from(written.get('head') ?? []).toString()) as Record<string, unknown>
    store.files.set('head', Buffer.from(JSON.stringify({ ...head, ...change(head) })))
  }
  const replaceAll = (folder: string, change: (bytes: Uint8Array) => Uint8Array | undefined) => {
    for (const [name, bytes] of written) {
      if (!name.startsWith(folder)) continue
      const changed = change(bytes)
      if (changed === undefined) store.files.delete(name)
      else store.files.set(name, changed)
    }
  }
  const other = () => [...written].find(([name]) => name.startsWith('leaf/'))?.[1] as Uint8Array

  it.each<[string, RegExp, () => void]>([
    ['a head that is no JSON', /form|mirror-file/, () => store.files.set('head', Buffer.from('{'))],
    ['a head of another form', /mirror-file/, () => changedHead(() => ({ format: 'x' }))],
    ['a head that is too long', /mirror-file/, () => store.files.set('head', Buffer.alloc(256 * 1024 + 1, 32))],
    ['no head', /proof-missing|unreachable|mirror-file/, () => store.files.delete('head')],
    ['a head of another chain', /chain/, () => changedHead(() => ({ chain: '00'.repeat(32) }))],
    [
      'a head with the root of another map',
      /mirror-file|proof-missing|unreachable/,
      () => changedHead(() => ({ mapRoot: '11'.repeat(32) })),
    ],
    ['a head that says that there are no DIDs', /path-root/, () => changedHead(() => ({ mapRoot: '00'.repeat(32) }))],
    [
      'a block that the validators did not sign',
      /confirm-(signature|form)/,
      () =>
        changedHead(({ anchor }) => {
          const { confirm, ...rest } = anchor as { confirm: string }
          return { anchor: { ...rest, confirm: confirm.replace(/^..../, 'AQAA') } }
        }),
    ],
    ['pages that are cut', /mirror-file/, () => replaceAll('map/', (bytes) => bytes.subarray(0, bytes.length - 1))],
    ['pages that are gone', /proof-missing|unreachable|mirror-file/, () => replaceAll('map/', () => undefined)],
    ['leaves that are gone', /proof-missing|unreachable|mirror-file/, () => replaceAll('leaf/', () => undefined)],
    ['leaves that are too long', /mirror-file|timeout/, () => replaceAll('leaf/', () => new Uint8Array(1024 * 1024))],
    ['pages under the names of leaves', /mirror-file/, () => replaceAll('leaf/', () => other().subarray(1))],
    ['leaves under the names of pages', /mirror-file/, () => replaceAll('map/', other)],
  ])('refuses %s by name, and shows no document', async (_, failure, lie) => {
    lie()
    const text = await shows({ hash: `#/did/${ada.did}` }, 'Not proved')
    expect(text).toMatch(failure)
    expect(text).not.toMatch(/✓ proved|does not exist|"verificationMethod"/)
  })
})
