import { afterAll, beforeAll, expect, it } from 'vitest'
import { PageFiles } from '../../src/answers/api/http/page-files.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import { contextOf, serve } from '../support/client/api.js'
import { testPublicKey } from '../support/builders/spec.js'
import { TestNet } from '../support/network/voting-net.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'

/** The page of validators over four that vote, whose time passes when the test says so. */

const timing = { minInterval: 1000, maxDrift: 15_000, propose: 3000, delta: 500 }

/** The node whose page is looked at, and the page. */
interface Watched {
  readonly net: TestNet
  readonly tab: Explorer
  close(): Promise<void>
}

let browser: ExplorerBrowser
beforeAll(async () => {
  browser = await ExplorerBrowser.start()
})
afterAll(async () => {
  await browser?.close()
})

async function watched(emptyInterval: number): Promise<Watched> {
  const validatorNames = { [toHex(testPublicKey(3))]: 'Ada Corp.' }
  const net = await TestNet.four({ timing: { ...timing, emptyInterval }, validatorNames })
  const [node] = net.nodes
  if (node === undefined) throw new Error('no node')
  const server = await serve(contextOf(node.test, { pages: new PageFiles(), voting: node.voting }))
  const tab = await browser.open(`http://127.0.0.1:${server.port}`)
  const close = async () => {
    await tab.close()
    await server.close()
    await net.close()
  }
  return { net, tab, close }
}

it('an idle network says when the next block comes; votes are shown once there is something to vote on', async () => {
  const { net, tab, close } = await watched(60_000)
  await net.advance(17_000)
  await tab.load('/#/validators')
  await tab.shows('Next block in 43 s, sooner when a transaction comes.')
  expect(await tab.text('main .panel')).not.toMatch(/Present|Prevote/)
  await net.advance(30_000)
  await tab.shows('Next block in 13 s')

  // The block is due, and nobody hears the others.
  net.filter = () => false
  net.healing = false
  await net.advance(20_000)
  await tab.shows('1 of 4')
  const text = await tab.text('main .panel')
  expect(text).toContain('Prevote')
  expect(text).not.toContain('Next block in')
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await close()
})

it('a vote that came after the quorum is no fault, and one in no confirm of many blocks is marked', async () => {
  const { net, tab, close } = await watched(1000)
  const [, , , last] = net.nodes
  if (last === undefined) throw new Error('no fourth node')
  last.online = false
  const others = net.nodes.slice(0, 3)
  await net.allAt(3, 60_000, others)
  await tab.load('/#/validators')
  const row = tab.page.locator('.strip-row', { has: tab.page.locator(`[title="${toHex(testPublicKey(3))}"]`) })
  await row.getByText('Ada Corp.').waitFor()
  const absent = row.locator('.cell.absent').first()
  await absent.waitFor()
  expect(await absent.getAttribute('title')).toMatch(/its vote came after the quorum, or not at all/)
  const [edge, bad] = (await tab.page.evaluate(`[
    getComputedStyle(document.querySelector('.cell.absent')).boxShadow,
    getComputedStyle(document.body.appendChild(Object.assign(document.createElement('i'), { className: 'bad' }))).color,
  ]`)) as [string, string]
  expect(edge).toMatch(/^rgb/)
  expect(edge).not.toContain(bad)
  expect(await row.locator('.share.warn').count()).toBe(0)
  await net.allAt(20, 300_000, others)
  await tab.load('/#/validators')
  await row.locator('.share.warn').getByText('0/20').waitFor()
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await close()
})
