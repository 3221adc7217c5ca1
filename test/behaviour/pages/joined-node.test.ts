import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiServer } from '../../../src/answers/api/servers/node-server.js'
import type { LightResult } from '../../../src/clients/light/proved-answer.js'
import { provedDid } from '../../../src/explorer/verify/proved-view.js'
import type { DidView } from '../../../src/explorer/verify/views.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { holder } from '../../support/builders/did.js'
import { joinedNode, passBlocks } from '../../support/builders/joined-chain.js'
import { contextOf, serve } from '../../support/client/api.js'
import { stubPage, textOf } from '../../support/web/small-dom.js'

/** What pages ask, and show, a node that took the state of a block, and has not what lies below it. */

/** As the modules of the pages have it, which only browsers can type. */
interface Pages {
  checkDid(did: string): Promise<Outcome<LightResult>>
  checkVersion(did: string, txid: string): Promise<Outcome<unknown>>
  askDid(did: string, part: { skip: number; rows: number }): Promise<DidView>
}
/** The part of preact that draws; its types are those of a browser. */
interface Drawing {
  h(page: unknown, properties: object): unknown
  render(page: unknown, into: object): void
}
type Outcome<T> =
  | { readonly state: 'proved'; readonly checked: { readonly result: T; readonly proof: unknown } }
  | { readonly state: 'unproved' | 'refused'; readonly failure: string; readonly isPruned?: boolean }

const [ada, bea, cid] = [holder(), holder(), holder()]
let node: TestChain
let server: ApiServer
let txids: { created: string; updated: string; last: string }

beforeAll(async () => {
  const time = Math.floor(Date.now() / 1000) - 1000
  const overrides = { ...oneValidator(), producer: 'sponsor' as const, coinInterval: 330, time }
  const source = await TestChain.open(overrides)
  const created = await source.publish(ada.create(), ada.did)
  const updated = await source.publish(ada.update(created), ada.did)
  const last = await source.publish(ada.update(updated), ada.did)
  txids = { created, updated, last }
  await source.publish(bea.create(), bea.did)
  await source.publish(bea.deactivate(), bea.did)
  await source.publish(cid.create(), cid.did)
  await source.mineEmpty(334 - source.reader.height)
  // A light resolver takes a block of now alone.
  source.clock.time = Date.now()
  await source.mine()
  node = await joinedNode(source, overrides)
  await passBlocks(source, node.chain, [43, 335])
  await source.close()
  server = await serve(contextOf(node))
})
afterAll(async () => {
  await server.close()
  await node.close()
})
const drawing = 'preact'
let main: ReturnType<typeof stubPage>
let preact: Drawing
beforeEach(async () => {
  preact = (await import(drawing)) as Drawing
  main = stubPage(`http://127.0.0.1:${server.port}/`)
  return () => {
    preact.render(null, main)
    vi.unstubAllGlobals()
  }
})

const file = (name: string) => fileURLToPath(new URL(`../../../src/explorer/${name}`, import.meta.url))

async function pages(): Promise<Pages> {
  vi.resetModules()
  return { ...(await import(file('verify/chain-check.ts'))), ...(await import(file('verify/ask-did.ts'))) } as Pages
}

/** Draws a page until it shows a text. */
async function shows(view: string, name: string, route: object, text: string | RegExp): Promise<string> {
  vi.resetModules()
  const { [name]: Page } = (await import(file(`views/${view}.tsx`))) as Record<string, unknown>
  preact.render(preact.h(Page, route), main)
  await expect.poll(() => textOf(main), { interval: 20 }).toMatch(text)
  return textOf(main)
}

describe('the page of a DID on a node that took a state', () => {
  it('offers to tell of changes, and asks the browser for nothing by itself', async () => {
    const requestPermission = vi.fn()
    vi.stubGlobal('Notification', Object.assign(vi.fn(), { permission: 'default', requestPermission }))
    const text = await shows('tell-me', 'TellMe', { did: ada.did }, 'Tell me here')
    expect(text).toContain('as long as this page is open')
    expect(requestPermission).not.toHaveBeenCalled()
  })

  it('proves its last document and all entries of its history', async () => {
    const outcome = await (await pages()).checkDid(ada.did)
    expect(outcome).toMatchObject({ state: 'proved', checked: { proof: expect.any(Object) as object } })
    const { result } = (outcome as { checked: { result: LightResult } }).checked
    expect(provedDid(ada.did, result, { skip: 0, rows: 20 })).toMatchObject({
      status: 0,
      count: 3,
      document: { id: ada.did },
      operations: [{ txid: txids.last }, { txid: txids.updated }, { txid: txids.created }],
    })
  })

  it('proves what a deactivated one had', async () => {
    const outcome = await (await pages()).checkDid(bea.did)
    expect(outcome).toMatchObject({ state: 'proved', checked: { result: { status: 2 } } })
    const { result } = (outcome as { checked: { result: LightResult } }).checked
    expect(provedDid(bea.did, result, { skip: 0, rows: 20 })).toMatchObject({ count: 2, document: { id: bea.did } })
  })

  it('has the word of the node, which has the hashes of the others alone', async () => {
    const { askDid } = await pages()
    expect(await askDid(ada.did, { skip: 0, rows: 20 })).toMatchObject({
      status: 0,
      count: 3,
      operations: [
        { number: 3, txid: txids.last },
        { number: 2, txid: txids.updated, name: 'update', isGivenUp: true },
        { number: 1, txid: txids.created, name: 'create', isGivenUp: true },
      ],
      document: { id: ada.did },
    })
    expect(await askDid(ada.did, { skip: 1, rows: 1 })).toMatchObject({
      count: 3,
      operations: [{ number: 2, txid: txids.updated, height: 2 }],
      document: { id: ada.did },
    })
    expect(await askDid(bea.did, { skip: 0, rows: 20 })).toMatchObject({ status: 2, document: { id: bea.did } })
    const whole = await askDid(cid.did, { skip: 0, rows: 20 })
    expect(whole).toMatchObject({ count: 1, operations: [{ number: 1 }] })
  })

  it('tells a version that is not there from one whose proof is wrong', async () => {
    const { checkVersion } = await pages()
    expect(await checkVersion(ada.did, txids.updated)).toMatchObject({ state: 'unproved', isPruned: true })
    expect(await checkVersion(ada.did, txids.last)).toMatchObject({ state: 'proved' })
  })
})

describe('pages of a node that took a state', () => {
  const far = 'state of height 42 taken and checked; 0 % of the blocks below verified'
  const options = new Map<string, string>()

  it('say first how far it is', async () => {
    await shows('home', 'Home', {}, `This node began with a state: ${far}.`)
  })

  it('say of a block and of a transaction below it that they are not there yet', async () => {
    const words = `This node does not have that yet, since it lies too far back: ${far}.`
    await shows('block-page', 'BlockPage', { subject: '20', options }, words)
    await shows('transaction-page', 'TransactionPage', { subject: txids.created, options }, words)
    await shows('block-page', 'BlockPage', { subject: '43', options }, 'Confirmations')
  })

  it('say that lists end', async () => {
    const end = 'The list ends here: this node took the state of block 42'
    const last = await shows('blocks', 'BlocksPage', { options: new Map([['before', '45']]) }, end)
    expect(last).not.toContain('older ›')
    await shows('blocks', 'BlocksPage', { options }, 'older ›')
    await shows('operations', 'OperationsPage', { options }, end)
  })

  it('show what is there of a DID', async () => {
    const shown = await shows('did-page', 'DidPage', { subject: ada.did, options }, /The node does not have both/)
    expect(shown).toContain('drawn from the proof alone')
    expect(shown).not.toMatch(/not proved|given up/)
  })
})
