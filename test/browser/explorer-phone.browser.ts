import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../src/index.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'
import { playScene, type Scene } from '../support/web/explorer-scene.js'
import { expectStill, observeShifts } from '../support/web/layout-shifts.js'

/** What moves while a page of a DID loads, and what a reader of a phone sees of it. */

let node: LedgerNode
let scene: Scene
let browser: ExplorerBrowser
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  scene = await playScene(node)
  browser = await ExplorerBrowser.start()
})
afterAll(async () => {
  await browser?.close()
  await node?.close()
})

/** Milliseconds that each answer takes here: what waits for one is seen to wait. */
const answerTime = 60

const views = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]

describe('the pages of DIDs and of the devnet', () => {
  it.each(views)('do not move while they load: %j', async (view) => {
    const tab = await browser.open(node.api?.rest ?? '', view)
    await tab.page.addInitScript(observeShifts)
    await tab.page.route(/\/(rpc|light|api)/, async (route) => {
      await setTimeout(answerTime)
      await route.continue()
    })
    const dids = [scene.ada, scene.bob, scene.mallory, node.wallet.account(9).did]
    const cases = dids.map((did) => [`/#/did/${did}`, /✓ proved/] as const)
    for (const [path, text] of [...cases, ['/#/devnet', 'Issue a credential'] as const]) {
      await tab.load(path)
      await tab.shows(text)
      await expectStill(tab)
    }
    await tab.close()
  })

  it('that of a DID has the document above proof and keys', async () => {
    const tab = await browser.open(node.api?.rest ?? '', views[1])
    await tab.load(`/#/did/${scene.ada}`)
    await tab.shows(/✓ proved/)
    const names = await tab.page.locator('main .panel > header > h2').allInnerTexts()
    expect(names.slice(0, 4)).toEqual(['State', 'Document', 'Proof', 'Keys'])
    await tab.close()
  })
})

describe('what is wider than a phone', () => {
  const more = (tab: Explorer, selector: string) => tab.page.locator(selector).first().getAttribute('data-more')
  const shadow = (tab: Explorer, selector: string) =>
    tab.page.evaluate(`getComputedStyle(document.querySelector('${selector}')).boxShadow`)

  it.each(['.menu', '.scroll'])('shows that it scrolls, and where the end is: %s', async (selector) => {
    const tab = await browser.open(node.api?.rest ?? '', views[1])
    await tab.load('/#/operations')
    await tab.page.locator('.scroll').waitFor()
    await expect.poll(() => more(tab, selector)).toBe('right')
    expect(await shadow(tab, selector)).toContain('inset')
    const scroll = (by: string) => tab.page.evaluate(`document.querySelector('${selector}').scrollLeft = ${by}`)
    await scroll('5')
    await expect.poll(() => more(tab, selector)).toBe('both')
    await scroll('10000')
    await expect.poll(() => more(tab, selector)).toBe('left')
    // On a screen where all of it has room there is no shadow.
    await tab.page.setViewportSize({ width: 1280, height: 900 })
    await expect.poll(() => more(tab, selector)).toBe('none')
    expect(await shadow(tab, selector)).toBe('none')
    await tab.close()
  })
})

it('the page describes itself to those who list it', async () => {
  const html = await (await fetch(new URL('/', node.api?.rest))).text()
  expect(/<meta\s+name="description"\s+content="([^"]*)"/.exec(html)?.[1]).toMatch(
    /^Blocks, transactions, DIDs .{50,120}$/,
  )
})
