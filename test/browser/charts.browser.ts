import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PageFiles } from '../../src/answers/api/http/page-files.js'
import type { ApiServer } from '../../src/answers/api/servers/node-server.js'
import { tables } from '../../src/ledger/storage/rows/tables.js'
import { Overlay } from '../../src/ledger/storage/write/overlay.js'
import { TestChain, withoutValidators } from '../support/builders/chain.js'
import { testAddress } from '../support/builders/spec.js'
import { contextOf, serve } from '../support/client/api.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'
import { expectStill, observeShifts } from '../support/web/layout-shifts.js'

/** The page of charts, for a chain of one day and for one of 27 years. */

const views = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]

let browser: ExplorerBrowser
let node: TestChain
let server: ApiServer
beforeAll(async () => {
  browser = await ExplorerBrowser.start()
  node = await TestChain.open({ ...withoutValidators, time: Date.parse('2026-03-02T00:00:00Z') / 1000 })
  server = await serve(contextOf(node, { pages: new PageFiles() }))
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  await node?.close()
})

/** Parameters of the questions for days. */
const asked: object[] = []
const open = async (path: string, view = views[0]) => {
  const tab = await browser.open(`http://127.0.0.1:${server.port}`, view)
  await tab.page.addInitScript(observeShifts)
  asked.length = 0
  await tab.page.route(/\/rpc/, async (route) => {
    const { method, params } = route.request().postDataJSON() as { method: string; params: object }
    if (method === 'listdays') asked.push(params)
    await setTimeout(60)
    await route.continue()
  })
  await tab.load(path)
  return tab
}
const chart = (tab: Explorer, title: string) => tab.page.getByRole('region', { name: title, exact: true })
const bars = (tab: Explorer, title: string) => chart(tab, title).locator('rect').count()
const titles = ['Transactions', 'DIDs created', 'Operations', 'Fees', 'Block time']

/** Gives every one of so many days before that of the tip its counters. */
async function fill(days: number): Promise<void> {
  const { hash, height, time } = node.chain.tip.header
  const last = Math.floor(time / 86_400)
  const overlay = new Overlay(node.database)
  const row = tables.day.get(node.database, last)
  if (row === undefined) throw new Error('no block yet')
  for (let i = 1; i <= days; i++) {
    const counters = { ...row, transactions: BigInt(i), creations: 2n, updates: 3n, fees: BigInt(200 * i) }
    overlay.put(tables.day.key(last - i), tables.day.encode(counters))
  }
  await overlay.commit({ kind: 'pool', hash, height }, { sync: false })
  // What was answered as of the tip before is given until there is another.
  await node.mine()
}

describe('the page of charts', () => {
  it('says so where there is no block yet, and follows the chain', async () => {
    const tab = await open('/#/charts')
    await tab.shows('no day yet')
    expect(await bars(tab, 'Transactions')).toBe(0)
    await node.send(await node.transfer(testAddress(12), 500n))
    node.clock.time += 40_000
    await node.mine(2)
    await chart(tab, 'Transactions').getByText('most 1, last 1').waitFor()
    await tab.shows('2026-03-02 to 2026-03-02 in UTC. Each bar is a day.')
    for (const title of titles) expect(await bars(tab, title)).toBe(1)
    await chart(tab, 'Fees')
      .getByText(/^most 0\.\d+ [A-Z]+, last/)
      .waitFor()
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
    await tab.close()
  })

  it.each(views)('shows 10,000 days in bars of several, without moving: %j', async (view) => {
    await fill(9_999)
    const tab = await open('/#/charts', view)
    await tab.shows('1998-10-16 to 2026-03-02 in UTC. Each bar is 112 days, with their mean.')
    for (const title of titles) expect(await bars(tab, title)).toBe(90)
    expect(asked.filter((params) => !('from' in params))).toHaveLength(1)
    await expectStill(tab)
    const picture = chart(tab, 'DIDs created').getByRole('img')
    expect(await picture.getAttribute('aria-label')).toMatch(
      /^DIDs created from 1998-10-16 to 2026-03-02: most 2, last 1\.9\d*$/,
    )
    await tab.page.getByText('The charts as a table').click()
    const table = tab.page.getByRole('region', { name: 'figures of the charts, oldest first' })
    expect(await table.locator('tbody tr').count()).toBe(90)
    expect(await table.locator('tbody tr').first().locator('td').first().innerText()).toBe('1998-10-16 to 1999-02-04')
    expect(await tab.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)

    await tab.page.getByRole('link', { name: '30 days', exact: true }).click()
    await tab.shows('2026-02-01 to 2026-03-02 in UTC. Each bar is a day.')
    expect(await bars(tab, 'Transactions')).toBe(30)
    await chart(tab, 'Transactions').getByText('most 29, last 1').waitFor()
    expect(await tab.page.getByRole('link', { name: '30 days', exact: true }).getAttribute('aria-current')).toBe('true')
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
    await tab.close()
  })
})
