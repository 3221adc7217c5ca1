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

/** Violations and sideways scrolling on both widths and in both schemes. */
async function faults(what: string): Promise<Record<string, string[]>> {
  await tab.page.evaluate(axe)
  const found: Record<string, string[]> = {}
  for (const width of widths) {
    for (const colorScheme of schemes) {
      await tab.page.setViewportSize({ width, height: 900 })
      await tab.page.emulateMedia({ colorScheme })
      const here = await violations()
      const excess = await tab.page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      )
      if (excess === true) here.push('wider than the screen')
      if (here.length > 0) found[`${what} ${colorScheme} ${width}`] = here
    }
  }
  return found
}

it.each([...pageNames, 'no such page'] as const)('axe finds nothing on the page "%s"', async (page) => {
  for (const subject of page === 'no such page' ? [''] : subjects()[page]) {
    await open(linkTo(page, subject))
    expect(await faults(`${page} ${subject}`)).toEqual({})
  }
})

it('axe finds nothing on the forms of a devnet that were sent, with what they and its secrets show', async () => {
  await open(linkTo('devnet'))
  const panel = (name: string) => tab.page.getByRole('region', { name, exact: true })
  for (const name of ['show the mnemonic', 'show the private key of account 3']) {
    await panel('Accounts').getByRole('button', { name }).click()
  }
  await panel('Send coins').getByLabel('to', { exact: true }).fill('Ada')
  await panel('Send coins').getByRole('button', { name: 'Send' }).click()
  await panel('Send coins').getByRole('alert').waitFor()
  await panel('Create a DID').getByRole('combobox').selectOption('3')
  await panel('Create a DID').getByRole('button', { name: 'Create' }).click()
  await panel('Create a DID')
    .getByText(/in block/)
    .waitFor()
  const issue = panel('Issue a credential')
  await issue.getByRole('textbox', { name: /Claims/ }).fill('name=Ada')
  await issue.getByRole('button', { name: 'Sign' }).click()
  await issue.getByRole('button', { name: 'Declare on the chain' }).click()
  await issue.getByText(/in block/).waitFor()
  expect(await faults('devnet')).toEqual({})
})
