import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNode } from '../../src/index.js'
import { PageFiles } from '../../src/answers/api/http/page-files.js'
import { displayHash } from '../../src/base/primitives/bytes.js'
import { TestChain } from '../support/builders/chain.js'
import { contextOf, serve } from '../support/client/api.js'
import { portBase } from '../support/process/ports.js'
import { Directories, NodeProcess } from '../support/process/spawn.js'
import { rounds } from '../support/process/thorough.js'
import { whole } from '../../src/explorer/text/numbers.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'

/** Pages whose chain changes below them. */

let browser: ExplorerBrowser
const directories = new Directories()
beforeAll(async () => {
  browser = await ExplorerBrowser.start()
})
afterAll(async () => {
  await browser?.close()
  directories.remove()
})

it('a reorganisation while pages are open: blocks leave and come, without WebSocket too', async () => {
  const [one, two] = [await TestChain.open(), await TestChain.open()]
  for (const block of await one.mine(3)) await two.accept(block)
  const left = await one.mine(2)
  const right = await two.mine(4)
  const server = await serve(contextOf(one, { pages: new PageFiles() }))
  const base = `http://127.0.0.1:${server.port}`
  const [list, block] = [await browser.open(base), await browser.open(base)]
  const [old, fresh] = [left[1], right[3]].map((each) => displayHash(each?.header.hash ?? new Uint8Array(32)))
  await list.load('/')
  await block.load(`/#/block/${old}`)
  await list.page.locator(`a[title="${old}"]`).waitFor()
  await block.shows('Confirmations')
  expect(await block.text('main')).not.toContain('not on the active chain')
  // This node has no WebSocket: the pages ask for the tip.
  await list.shows('polling', 'header')

  for (const each of right) await one.accept(each)
  await list.page.locator(`a[title="${fresh}"]`).waitFor()
  await list.page.locator(`a[title="${old}"]`).waitFor({ state: 'detached' })
  await block.shows(/This block is not on the active chain/)
  // Its transactions are in no index any more; the block has them.
  await block.page.getByRole('region', { name: '1 transaction', exact: true }).getByText('coinbase').waitFor()
  await block.page.getByText('Show that one').click()
  await block.page
    .getByText(displayHash(right[1]?.header.hash ?? new Uint8Array(32)))
    .first()
    .waitFor()
  expect([list.misdeeds.foreign, block.misdeeds.foreign]).toEqual([[], []])
  await Promise.all([list.close(), block.close()])
  await server.close()
  await Promise.all([one.close(), two.close()])
})

it('a node that goes and comes back: the page says so, keeps what it has, and goes on', async () => {
  const dataDir = directories.fresh()
  const start = ['devnet', '--data-dir', dataDir, '--port-base', await portBase()]
  const node = await NodeProcess.start(...start)
  const tab = await browser.open(node.line.rest)
  await tab.load('/')
  await tab.shows('live', 'header')
  await node.stop('SIGKILL')
  await tab.page.getByRole('alert').getByText('The node does not answer').waitFor()
  expect(await tab.text('main')).toContain('devnet')

  const again = await NodeProcess.start(...start)
  await tab.shows('live', 'header')
  await tab.page.getByRole('alert').waitFor({ state: 'detached' })
  const [hash = ''] = (await again.client.rpc('dev_mine', { blocks: 1 })) as string[]
  await tab.page.locator(`a[title="${hash}"]`).waitFor()
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await tab.close()
  await again.stop()
})

it('the devnet shows the accounts that it was started with, and pays them', async () => {
  const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  const node = await NodeProcess.start('devnet', '--mnemonic', words, '--accounts', '12', '--balance', '50')
  const { accounts } = node.line as typeof node.line & { readonly accounts: readonly Record<string, string>[] }
  const tab = await browser.open(node.line.rest)
  await tab.load('/#/devnet')
  const rows = tab.page.getByRole('region', { name: 'accounts of the devnet' }).locator('tbody tr')
  await expect.poll(() => rows.count()).toBe(12)
  const shown = await rows.locator('a[href^="#/address/"]').evaluateAll((links) => links.map(({ title }) => title))
  expect(shown).toEqual(accounts.map(({ address }) => address))
  const field = tab.page.getByLabel(/^Pay/)
  await field.fill('0.5')
  await tab.page.getByRole('button', { name: `pay 0.5 coins to ${accounts[11]?.['address']}` }).click()
  await rows.nth(11).getByText('50.5').waitFor()
  await field.fill('nothing')
  await tab.page.getByPlaceholder('an address', { exact: true }).fill(accounts[1]?.['address'] ?? '')
  await tab.page.getByRole('button', { name: 'Pay', exact: true }).click()
  await tab.page
    .getByRole('alert')
    .getByText(/amount/)
    .waitFor()
  await keysAreShown(tab, words, accounts)
  await formsAreSent(tab, accounts)
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await tab.close()
  await node.stop()
})

type Accounts = readonly Record<string, string>[]

async function keysAreShown({ page }: Explorer, words: string, accounts: Accounts): Promise<void> {
  const panel = page.getByRole('region', { name: 'Accounts', exact: true })
  await panel.getByText('Keys and mnemonic').click()
  await panel.getByText('never use them for anything of value').waitFor()
  const secrets = [
    ['show the mnemonic', words],
    ['show the private key of account 11', accounts[11]?.['key'] ?? ''],
  ] as const
  for (const [button, text] of secrets) {
    expect(await panel.getByText(text).count()).toBe(0)
    await panel.getByRole('button', { name: button }).click()
    await panel.getByText(text).waitFor()
  }
}

/** Registers the DID of account 11, issues a credential about it and declares it, and pays the DID; a refusal stands in its form. */
async function formsAreSent({ page }: Explorer, accounts: Accounts): Promise<void> {
  const [payer, did] = [accounts[1]?.['address'] ?? '', accounts[11]?.['did'] ?? '']
  const panel = (name: string) => page.getByRole('region', { name, exact: true })
  const inBlock = (name: string) => panel(name).getByText(/sent by .* in block/)

  const issue = panel('Issue a credential')
  await issue.getByRole('combobox').selectOption('11')
  await issue.getByRole('textbox', { name: /Claims/ }).fill('name=Ada')
  await issue.getByRole('button', { name: 'Sign' }).click()
  await issue.getByRole('alert').getByText(`${did} is not registered`).waitFor()

  const create = panel('Create a DID')
  await create.getByRole('combobox').selectOption('11')
  await create.getByRole('button', { name: 'Create' }).click()
  await inBlock('Create a DID').waitFor()
  await create.getByRole('button', { name: 'Create' }).click()
  await create
    .getByRole('alert')
    .getByText(/is created already/)
    .waitFor()

  await issue.getByRole('button', { name: 'Sign' }).click()
  await issue.getByText('Ada', { exact: true }).waitFor()
  const saved = page.waitForEvent('download')
  await issue.getByRole('button', { name: 'Save' }).click()
  expect(JSON.parse(await readFile((await (await saved).path()) ?? '', 'utf8'))).toMatchObject({ issuer: did })
  await issue.getByRole('button', { name: 'Declare on the chain' }).click()
  await inBlock('Issue a credential').waitFor()

  const send = panel('Send coins')
  await send.getByRole('combobox').selectOption('1')
  await send.getByLabel('to', { exact: true }).fill(did)
  await send.getByRole('button', { name: 'Send' }).click()
  await inBlock('Send coins').waitFor()
  await send.locator('a[href^="#/transaction/"]').click()
  await page.locator(`main a[title="${payer}"]`).first().waitFor()
}

it('what a form sent waits for its block where blocks are made by hand, and then has it', async () => {
  const node = await createNode({ network: 'devnet', api: { portBase: 0 }, mining: 'manual' })
  const tab = await browser.open(node.api?.rest ?? '')
  await tab.load('/#/devnet')
  const send = tab.page.getByRole('region', { name: 'Send coins', exact: true })
  await send.getByLabel('to', { exact: true }).fill(node.wallet.account(1).address)
  for (let sent = 1; sent <= 2; sent++) {
    await send.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => node.mempool.size).toBe(sent)
  }
  await send.getByText(/which waits for a block/).waitFor()
  await tab.page.getByRole('button', { name: 'Mine' }).click()
  await send.getByText(/in block/).waitFor()
  expect(node.chain.balance(node.wallet.account(1).address)).toBe(10_002n * 100_000_000n)
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await tab.close()
  await node.close()
})

it('an address with very many transactions is read page by page', async () => {
  const blocks = rounds(2_000, 100_000)
  const node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  for (let made = 0; made < blocks; made += 2000) await node.devnet?.mine(2000)
  const coinbase = (await node.chain.block(1))?.transactions[0]
  const tab = await browser.open(node.api?.rest ?? '')
  await tab.load(`/#/transaction/${coinbase?.txid}`)
  await tab.page.locator('main a[href^="#/address/"]').first().click()
  const rows = tab.page.getByRole('region', { name: 'transactions of the address, newest first' }).locator('tbody tr')
  await expect.poll(() => rows.count()).toBe(50)
  await tab.page.getByText('Add up more than 50 transactions').click()
  await tab.page.getByText(new RegExp(`^${whole(blocks)} transactions, received [^…]*$`)).waitFor()
  await tab.page.getByText('older ›').click()
  await expect.poll(() => tab.page.url()).toContain('before=')
  await expect.poll(() => rows.count()).toBe(50)
  // The oldest part, by its address alone.
  await tab.load(`${new URL(tab.page.url()).hash.replace(/before=.*/, 'before=20.0')}`.replace(/^/, '/'))
  await expect.poll(() => rows.count()).toBe(19)
  await tab.page.getByText('« newest').click()
  await expect.poll(() => rows.count()).toBe(50)
  await tab.page.getByText('Unspent outputs').click()
  await tab.shows(/coins when the node was asked/)
  expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
  await tab.close()
  await node.close()
})
