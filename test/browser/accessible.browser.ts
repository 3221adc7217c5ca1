import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkTo, pageNames, type PageName } from '../../src/explorer/route.js'
import { createNode, type LedgerNode } from '../../src/index.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'
import { playScene, type Scene } from '../support/web/explorer-scene.js'

/** Every page by the rules of axe: names, roles, contrast, order of headings; on two widths and in both colour schemes. */

const widths = [1280, 390]
const schemes = ['light', 'dark'] as const

let node: LedgerNode
let scene: Scene
let browser: ExplorerBrowser
let tab: Explorer
let axe: string
beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  scene = await playScene(node)
  browser = await ExplorerBrowser.start()
  tab = await browser.open(node.api?.rest ?? '')
})
afterAll(async () => {
  await browser?.close()
  await node?.close()
})

/** Subjects with which each page is opened; a page that is new does not compile without its own. */
function subjects(): Readonly<Record<PageName, readonly string[]>> {
  const unused = node.wallet.account(9).did
  return {
    '': [''],
    address: [scene.address, 'no address'],
    block: ['1', node.chain.tip.hash, '99999'],
    blocks: [''],
    charts: [''],
    credential: [scene.declared],
    devnet: [''],
    did: [scene.ada, scene.bob, scene.mallory, unused],
    find: [''],
    interfaces: ['', 'getblockhash'],
    node: [''],
    operations: [''],
    search: ['dentityhu', 'nothing of that name'],
    transaction: [scene.payment, scene.versions[1] ?? '', scene.versions[2] ?? ''],
    validators: [''],
  }
}

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Opens a page, waits for its answers, and opens all that is folded. */
async function open(path: string): Promise<void> {
  await tab.load(`/${path}`)
  await tab.page.locator('main h1').waitFor({ state: 'attached' })
  await tab.page.locator('main .panel, main .failure').first().waitFor()
  await tab.page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true })')
  await expect.poll(() => tab.page.locator('main .awaited').count()).toBe(0)
}

/** Violations of the page as it stands, each with its first elements. */
async function violations(): Promise<string[]> {
  const found = (await tab.page.evaluate('axe.run().then(({ violations }) => violations)')) as Violation[]
  return found.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id} (${impact}): ${html.slice(0, 200)} ${failureSummary}`),
  )
}

it.each([...pageNames, 'no such page'] as const)('axe finds nothing on the page "%s"', async (page) => {
  for (const subject of page === 'no such page' ? [''] : subjects()[page]) {
    await open(linkTo(page, subject))
    await tab.page.evaluate(axe)
    const found: Record<string, string[]> = {}
    for (const width of widths) {
      for (const colorScheme of schemes) {
        await tab.page.setViewportSize({ width, height: 900 })
        await tab.page.emulateMedia({ colorScheme })
        const here = await violations()
        if (here.length > 0) found[`${page} ${subject} ${colorScheme} ${width}`] = here
      }
    }
    expect(found).toEqual({})
  }
})
