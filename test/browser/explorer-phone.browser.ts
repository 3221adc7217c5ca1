import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { longestName } from '../../src/base/primitives/did-name.js'
import { operationJson } from '../../src/base/primitives/did-operation.js'
import { draftOperation, namedDraft, signDraft } from '../../src/clients/wallet/named-identity.js'
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
  const now = '2026-11-29T00:00:00Z'

  it('is no page, also of a DID whose name is as long as it may be', async () => {
    const did = `did:ledger:${'n'.repeat(longestName)}`
    const account = node.wallet.account(0)
    const controller = { pair: account, key: `${account.did}#primary` }
    const made = namedDraft({ did, controllers: [account.did], services: [], expires: '2030-01-01T00:00:00Z' }, now)
    const operation = draftOperation(signDraft(made, controller, now), controller, 'ledger/did/1.0')
    await node.chain.waitFor(await node.wallet.publish(operationJson(operation), { account }))
    const tab = await browser.open(node.api?.rest ?? '', views[1])
    for (const [path, text] of [
      [`/#/did/${did}`, /✓ proved/],
      ['/#/', 'Operations'],
      ['/#/operations', 'create'],
    ] as const) {
      await tab.load(path)
      await tab.shows(text)
      expect([path, await tab.page.evaluate('document.scrollingElement.scrollWidth - innerWidth')]).toEqual([path, 0])
    }
    await tab.close()
  })

  it.each([320, 360])('is no page on a screen of %i pixels', async (width) => {
    const tab = await browser.open(node.api?.rest ?? '', { width, height: 640 })
    const paths = [
      '',
      'blocks',
      `block/${node.chain.tip.hash}`,
      `transaction/${scene.payment}`,
      `transaction/${scene.versions[2]}`,
      `address/${scene.address}`,
      `did/${scene.ada}`,
      `did/${scene.mallory}`,
      `credential/${encodeURIComponent(scene.declared)}`,
      'charts',
      'find?q={}',
      'validators',
      'node',
      'devnet',
      'interfaces',
      'search/lovelace',
    ]
    const wide: unknown[] = []
    for (const path of paths) {
      await tab.load(`/#/${path}`)
      await tab.page.locator('main .panel').first().waitFor()
      await expect.poll(() => tab.page.locator('main .awaited').count()).toBe(0)
      const over = await tab.page.evaluate('document.scrollingElement.scrollWidth - innerWidth')
      if (over !== 0) wide.push([path, over])
    }
    expect(wide).toEqual([])
    await tab.close()
  })

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
