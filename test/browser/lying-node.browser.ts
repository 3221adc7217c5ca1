import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PageFiles } from '../../src/answers/api/http/page-files.js'
import type { ApiServer } from '../../src/answers/api/servers/node-server.js'
import { changing, closeScene, type Scene, sceneOf } from '../support/builders/light-scene.js'
import { contextOf, serve } from '../support/client/api.js'
import type { Json } from '../support/fakes/light-server.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'

/** The pages of a node behind a proxy that changes what has no proof: nothing of it stands beside the mark. */

let browser: ExplorerBrowser
let scene: Scene
let server: ApiServer
let tab: Explorer
/** Of what was asked by JSON-RPC, the result; `asked` has the parameters. */
type Lie = (method: string, asked: Json, result: Json) => unknown
const honest: Lie = (_, __, result) => result
let lie = honest

beforeAll(async () => {
  browser = await ExplorerBrowser.start()
  const time = Math.floor(Date.now() / 1000) - 5
  const timing = { minInterval: 1_000, emptyInterval: 900_000, maxDrift: 5_000, propose: 3_000, delta: 500 }
  scene = await sceneOf({ ...changing, time, timing })
  server = await serve(contextOf(scene.test, { pages: new PageFiles() }))
  tab = await browser.open(`http://127.0.0.1:${server.port}`)
  await tab.page.route('**/rpc', async (route) => {
    const sent = JSON.parse(route.request().postData() ?? '') as Json
    const response = await route.fetch()
    const answers = (await response.json()) as Json
    const list = Array.isArray(sent) ? sent : [sent]
    const changed = await Promise.all(
      list.map(async (call: Json, i: number) => {
        const { result, ...answer } = Array.isArray(sent) ? answers.find((one: Json) => one.id === call.id) : answers
        return { ...answer, ...(result !== undefined && { result: await lie(call.method, call.params, result) }), i }
      }),
    )
    await route.fulfill({ response, json: Array.isArray(sent) ? changed : changed[0] })
  })
})
afterAll(async () => {
  // Questions of the last page may still be passed on.
  await tab?.page.unrouteAll({ behavior: 'wait' })
  await browser?.close()
  await server?.close()
  await closeScene(scene)
})

const proofPanel = () => tab.page.getByRole('region', { name: 'Proof', exact: true })

/** Loads a page, and waits until its proof has come to an end, and the list of credentials of a DID too. */
async function load(path: string, how: Lie): Promise<void> {
  lie = how
  await tab.load(path)
  await proofPanel()
    .getByText(/✓ proved|not proved|no proof/)
    .first()
    .waitFor()
  await tab.page.waitForLoadState('networkidle')
}

/** What stands in parts of a source, without ages, which go on. */
async function partsOf(source: 'proved' | 'said'): Promise<string> {
  return timeless((await tab.page.locator(`[data-source=${source}]`).allInnerTexts()).join('\n'))
}

function timeless(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\d+ (s|min|h) ago|\bnow\b/g, 'AGO')
}

/** Changes answers of a method that have no proof. */
const of =
  (name: string, change: (result: Json, asked: Json) => unknown): Lie =>
  (method, asked, result) =>
    method === name && asked?.proof === undefined ? change(result, asked) : result

/** The same with each operation of an answer. */
const ofOperations = (change: (transaction: Json) => void): Lie =>
  of('resolvedid', (result) => {
    result.transaction?.forEach(change)
    return result
  })

const forgedDocument = (change: (document: Json) => void): Lie =>
  ofOperations(({ operation }) => {
    const document = JSON.parse(Buffer.from(operation.payload, 'base64url').toString()) as Json
    change(document)
    operation.payload = Buffer.from(JSON.stringify(document)).toString('base64url')
  })

const decade = 10 * 365 * 86_400

describe('the page of a DID', () => {
  const lies: [string, Lie][] = [
    ['a key', forgedDocument((document) => (document.publicKey[0].publicKeyBase58 = 'stolen'))],
    [
      'a service',
      forgedDocument((document) => (document.service = [{ id: '#stolen', type: 'stolen', serviceEndpoint: 'x' }])),
    ],
    ['an expiry', forgedDocument((document) => (document.expires = '2020-01-01T00:00:00Z'))],
    ['the DID of the document', forgedDocument((document) => (document.id = 'did:ledger:stolen'))],
    ['signers', ofOperations(({ operation }) => (operation.proof.verificationMethod = '#stolen'))],
    ['operations', ofOperations(({ operation }) => (operation.header.operation = 'stolen'))],
    ['times', ofOperations((one) => (one.timestamp = '2020-01-01T00:00:00Z'))],
    ['transactions', ofOperations((one) => (one.txid = 'stolen'))],
    ['heights', of('resolvedid', (result) => ({ ...result, context: { height: 9999, at: [{ height: 9998 }] } }))],
    ['numbers', of('resolvedid', (result) => ({ ...result, total: 9999, start: 9000, count: 9999 }))],
    ['an emptied history', of('resolvedid', (result) => ({ ...result, transaction: [] }))],
    ['its existence', of('resolvedid', ({ did }) => ({ did, status: 3 }))],
    ['its end', of('resolvedid', (result) => ({ ...result, status: 2 }))],
    ['nothing', of('resolvedid', () => null)],
    ['the subject', of('resolvedid', (result) => ({ ...result, did: 'did:ledger:stolen' }))],
    ['emptied credentials', of('did_listCredentials', (result) => ({ ...result, credentials: [] }))],
    ['credentials', of('did_listCredentials', (result) => ({ ...result, credentials: ['did:ledger:stolen#x'] }))],
    ['states of credentials', of('did_resolveCredential', (result) => ({ ...result, status: 2 }))],
    ['the tip', of('getcurrentheight', () => 9999)],
    [
      'the clock',
      (method, _, result) => {
        if (method === 'help') return `${result}\ndev_increaseTime`
        return method === 'dev_increaseTime' ? Math.floor(Date.now() / 1000) + decade : result
      },
    ],
  ]

  it('shows the same beside the mark, whatever is said otherwise', async () => {
    await load(`/#/did/${scene.alice.did}`, honest)
    await proofPanel().getByText('✓ proved').waitFor()
    const right = await partsOf('proved')
    const panel = timeless(await proofPanel().innerText())
    for (const text of ['valid', '2 operations', '#primary', 'update', 'create', '2029-01-01'])
      expect(right).toContain(text)
    for (const [name, how] of lies) {
      await load(`/#/did/${scene.alice.did}`, how)
      await proofPanel().getByText('✓ proved').waitFor()
      expect(await partsOf('proved'), name).toBe(right)
      expect(timeless(await proofPanel().innerText()), name).toBe(panel)
    }
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  })

  it('says that something else is said', async () => {
    await load(
      `/#/did/${scene.alice.did}`,
      of('resolvedid', (result) => ({ ...result, status: 2 })),
    )
    await tab.shows(/Asked without a proof, the node says something else: it is deactivated/)
  })

  it('never shows the answer about another DID', async () => {
    const other = await tab.page.request.post(`http://127.0.0.1:${server.port}/rpc`, {
      data: {
        jsonrpc: '2.0',
        id: 1,
        method: 'resolvedid',
        params: { did: scene.dave.did, all: true, proof: 'history' },
      },
    })
    const { result: answer } = (await other.json()) as Json
    await load(`/#/did/${scene.alice.did}`, (method, _, result) => (method === 'resolvedid' ? answer : result))
    await proofPanel().getByText('not proved').waitFor()
    await proofPanel()
      .getByText(/answer-did/)
      .waitFor()
    await tab.shows(/answered about something else than was asked/)
    expect(await partsOf('said')).not.toContain(scene.dave.did)
    expect(await partsOf('proved')).toBe('')
  })

  /** Holds proofs back until the function that it gives is called. */
  const holdProofs = () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    lie = async (_, asked, result) => {
      if (asked?.proof !== undefined) await held
      return result
    }
    return release
  }

  it('keeps open what was opened before the proof came', async () => {
    for (const path of [`did/${scene.alice.did}`, `credential/${encodeURIComponent(`${scene.alice.did}#profile`)}`]) {
      const release = holdProofs()
      await tab.load(`/#/${path}`)
      await proofPanel().getByText('checking …').waitFor()
      await tab.page.getByText('The answer of the node as JSON').click()
      const json = tab.page.getByRole('region', { name: 'JSON', exact: true }).locator('.answer')
      await json.waitFor()
      release()
      await proofPanel().getByText('✓ proved').waitFor()
      expect(await json.isVisible()).toBe(true)
    }
  })

  it('shows what the node says without the mark, until the proof has come', async () => {
    const release = holdProofs()
    await tab.load(`/#/did/${scene.alice.did}`)
    await tab.shows('said by the node, without proof')
    await tab.shows('names as its signer')
    await proofPanel().getByText('checking …').waitFor()
    expect(await partsOf('proved')).toBe('')
    release()
    await proofPanel().getByText('✓ proved').waitFor()
    expect(await partsOf('proved')).not.toBe('')
  })

  it('says so where another chain was at the address before', async () => {
    const other = JSON.stringify({ root: { chain: 'ab'.repeat(32), devnet: false }, since: 1 })
    await tab.page.evaluate(`localStorage.setItem('didledger.root.${'ab'.repeat(32)}', '${other}')`)
    await load(`/#/did/${scene.alice.did}`, honest)
    await proofPanel().getByText('another chain was here').waitFor()
    await tab.page.evaluate(`localStorage.removeItem('didledger.root.${'ab'.repeat(32)}')`)
  })

  it('is found to be mistyped by its checksum, without asking', async () => {
    const asked: string[] = []
    lie = (method, _, result) => {
      asked.push(method)
      return result
    }
    await tab.load(`/#/did/${scene.alice.did.slice(0, -1)}${scene.alice.did.endsWith('x') ? 'y' : 'x'}`)
    await tab.shows('This is no DID: its checksum is wrong.')
    await tab.page.waitForLoadState('networkidle')
    expect(asked).not.toContain('resolvedid')
  })
})

describe('the page of a credential', () => {
  const ofCredential = (change: (result: Json) => unknown) => of('did_resolveCredential', change)
  const lies: [string, Lie][] = [
    ['its state', ofCredential((result) => ({ ...result, status: 2 }))],
    ['its absence', ofCredential(({ id }) => ({ id, status: 3 }))],
    ['its id', ofCredential((result) => ({ ...result, id: 'did:ledger:stolen#x' }))],
    [
      'its operations',
      ofCredential((result) => {
        for (const { operation } of result.transaction) {
          operation.proof.verificationMethod = '#stolen'
          operation.payload = Buffer.from('{"type":["stolen"]}').toString('base64url')
        }
        return result
      }),
    ],
    ['nothing', ofCredential(() => null)],
  ]

  it('shows the same beside the mark, whatever is said otherwise', async () => {
    const path = `/#/credential/${encodeURIComponent(scene.ids.kept)}`
    await load(path, honest)
    await proofPanel().getByText('✓ proved').waitFor()
    const right = await partsOf('proved')
    for (const text of ['declared', '#profile', 'signer']) expect(right).toContain(text)
    for (const [name, how] of lies) {
      await load(path, how)
      await proofPanel().getByText('✓ proved').waitFor()
      expect(await partsOf('proved'), name).toBe(right)
    }
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  })
})

describe('a text of the node', () => {
  it('is shown with what is unseen written out, wherever it stands', async () => {
    const dirty = (value: Json): Json => {
      if (typeof value === 'string') return `${value}\u202e\u009b\u2066\u200b`
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(dirty)
      return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, dirty(inner)]))
    }
    lie = (method, _, result) => (method === 'light_trust' ? result : dirty(result))
    const { alice, ids, test } = scene
    const { height } = test.chain.tip.header
    const paths = ['', 'blocks', `block/${height}`, 'operations', 'validators', 'node', 'interfaces', 'find?q=%7B%7D']
    for (const path of [
      ...paths,
      `did/${alice.did}`,
      `credential/${encodeURIComponent(ids.kept)}`,
      'search/%E2%80%AE',
    ]) {
      await tab.load(`/#/${path}`)
      await tab.page.locator('main :is(.panel, .failure, h1)').first().waitFor()
      await tab.page.waitForLoadState('networkidle')
      const drawn = await tab.page.evaluate(
        `document.documentElement.outerHTML.replace(/(?:href|value)="[^"]*"/g, '') + document.title`,
      )
      expect(drawn, path).not.toMatch(/[\u0000-\u0008\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/)
    }
    lie = honest
    await tab.load('/')
    lie = (method, _, result) => (method === 'listblocks' ? dirty(result) : result)
    await tab.load('/#/blocks')
    await tab.shows(/‹U\+202E›/)
  })
})
