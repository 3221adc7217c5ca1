import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../src/index.js'
import {
  changedDraft,
  documentOf,
  draftOperation,
  draftText,
  namedDraft,
  operationJson,
  signDraft,
} from '../../src/node/library/wallet-entry.js'
import { whole } from '../../src/explorer/text/numbers.js'
import { ExplorerBrowser, type Explorer, type View } from '../support/web/explorer.js'
import { hostile, playScene, type Scene } from '../support/web/explorer-scene.js'

/** The pages of a devnet in a real Chromium: each with data of a real chain. */

let node: LedgerNode
let scene: Scene
let browser: ExplorerBrowser
let explorer: Explorer
const open = (view?: View) => browser.open(node.api?.rest ?? '', view)
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  scene = await playScene(node)
  await node.devnet?.mine(3)
  browser = await ExplorerBrowser.start()
  explorer = await open()
})
afterAll(async () => {
  await browser?.close()
  await node?.close()
})

async function rpc(method: string, params: object): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(node.api?.rpc ?? '', { method: 'POST', headers, body })
  return ((await response.json()) as { result: unknown }).result
}

/** Types into the search box and presses Enter. */
async function search(text: string): Promise<void> {
  await explorer.page.getByRole('searchbox').first().fill(text)
  await explorer.page.keyboard.press('Enter')
}

const heading = (name: string | RegExp) => explorer.page.getByRole('heading', { level: 1, name }).waitFor()
const panel = (name: string | RegExp) => explorer.page.getByRole('region', { name, exact: true })

describe('pages', () => {
  it('the first one shows the chain, and blocks and transactions as they come', async () => {
    await explorer.load('/')
    await explorer.shows(/^devnet$/)
    await explorer.shows('live', 'header')
    const before = node.chain.height
    const payment = await node.wallet.transfer({
      from: node.wallet.account(5),
      to: node.wallet.account(6).address,
      amount: '1',
    })
    await explorer.page.locator(`a[title="${payment}"]`).waitFor()
    await explorer.page.locator(`a[title="${node.chain.tip.hash}"]`).waitFor()
    expect(node.chain.height).toBe(before + 1)
  })

  it('a DID with a name shows controllers what a draft changes', async () => {
    const [created, expires, did] = ['2026-11-29T00:00:00Z', '2030-01-01T00:00:00Z', 'did:ledger:club']
    const account = node.wallet.account(0)
    const controller = { pair: account, key: `${account.did}#primary` }
    const identity = { did, controllers: [account.did], services: [], expires }
    const signed = signDraft(namedDraft(identity, created), controller, created)
    const operation = operationJson(draftOperation(signed, controller, 'ledger/did/1.0'))
    const txid = await node.wallet.publish(operation, { account })
    await node.chain.waitFor(txid)
    const current = { document: documentOf(operation.payload), txid }
    const evil = { id: '#site', type: 'LinkedDomains', serviceEndpoint: 'https://evil.example/', note: '<b>' }
    const draft = draftText(changedDraft(current, { addServices: [evil] }, created))

    // What was pasted before the proof came stands after it.
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await explorer.page.route(/\/(rpc|light)/, async (route) => {
      if (route.request().postData()?.includes('"proof"') === true) await held
      await route.continue()
    })
    await explorer.load(`/#/did/${did}`)
    await heading('DID')
    const form = panel('A draft to sign')
    const field = form.getByRole('textbox')
    await field.fill(draft)
    await form.getByText('for the update').waitFor()
    await panel('Proof').getByText('checking …').waitFor()
    release()
    await panel('Proof').getByText('✓ proved').waitFor()
    await explorer.page.unrouteAll({ behavior: 'wait' })
    await form.getByText('for the update').waitFor()
    const rows = await form.getByRole('listitem').allInnerTexts()
    expect(rows.filter((row) => /added/.test(row))).toHaveLength(1)
    expect(rows.join(' ')).toMatch(/service[^]*#site[^]*https:\/\/evil\.example[^]*<b>/)
    await field.fill(draft.replace(txid, '0'.repeat(64)))
    await form.getByText('follows another operation').waitFor()
    await field.fill('{}')
    await form.getByText('This is no draft').waitFor()

    // A name that is free may be in a draft; a DID of a key, and a name that has ended, are in none.
    await explorer.load('/#/did/did:ledger:free')
    await panel('A draft to sign').waitFor()
    await explorer.load(`/#/did/${scene.bob}`)
    await panel('Keys').waitFor()
    expect(await panel('A draft to sign').count()).toBe(0)
    const ended = await node.wallet.deactivateDid({ account, did })
    await node.chain.waitFor(ended.txid)
    await explorer.load(`/#/did/${did}`)
    await explorer.shows('deactivated')
    expect(await panel('A draft to sign').count()).toBe(0)
  })

  it('a block has its header, confirm and transactions, and leads on', async () => {
    await explorer.load('/#/block/1')
    await heading('Block 1')
    await explorer.shows('1 precommit')
    await explorer.shows('2 transactions')
    await explorer.page.locator(`a[title="${scene.payment}"]`).click()
    await heading('Transaction transfer')
    await explorer.shows('12.50')
    await explorer.shows('0.000001')
    const { size } = (await rpc('getrawtransaction', { txid: scene.payment, verbose: true })) as { size: number }
    const text = await panel('Summary').innerText()
    expect(text).toMatch(/0\.000001\s+ELA/)
    expect(text).toMatch(new RegExp(`Fee rate\\s+${Number((100 / size).toFixed(2))} × 10⁻⁸ ELA a byte`))
    await explorer.page.goBack()
    await heading('Block 1')
  })

  it('a transaction shows its operation, decoded', async () => {
    await explorer.load(`/#/transaction/${scene.versions[2]}`)
    await heading('Transaction DID operation')
    const text = await explorer.text('main')
    expect(text).toContain(scene.ada)
    expect(text).toContain('2032-06-01 00:00:00 UTC')
    await explorer.page.getByText('what this update changed').click()
    await heading('DID')
    await panel('Difference').waitFor()
  })

  it('an address has balance, history and coins', async () => {
    await explorer.load(`/#/address/${scene.address}`)
    await heading('Address')
    const balance = node.chain.balance(scene.address)
    await explorer.shows(
      Number(balance / 100_000_000n)
        .toString()
        .replace(/(\d)(\d{3})$/, '$1\u202f$2'),
    )
    await explorer.page.getByText('Unspent outputs').click()
    await explorer.shows(/^\d+ coins when the node was asked/)
    await explorer.page.locator(`a[title="${scene.payment}"]`).first().waitFor()
  })

  it('an address has its first and last use, its sums, and leads to the DID of its key and back', async () => {
    await explorer.load(`/#/address/${scene.address}`)
    const facts = panel('Balance')
    await facts.getByText(/^\d+ transactions?, received/).waitFor()
    const history = (await rpc('getaddresshistory', { address: scene.address, limit: 100 })) as {
      transactions: { received: string; spent: string }[]
    }
    const sum = (name: 'received' | 'spent') => {
      const units = history.transactions.reduce((total, row) => total + BigInt(row[name].replace('.', '')), 0n)
      return `${units / 100_000_000n}.${String(units % 100_000_000n).padStart(8, '0')}`.replace(/0{1,6}$/, '')
    }
    const text = (await facts.innerText()).replace(/[\s\u202f]+/g, ' ')
    expect(text).toMatch(/First use .* in block 0 Last use .* in block \d+/)
    expect(text).toContain(`${history.transactions.length} transactions, received`)
    const ungrouped = text.replace(/(?<=\d) (?=\d)/g, '')
    expect(ungrouped).toContain(`received ${sum('received')} ELA, spent ${sum('spent')} ELA`)
    await facts.locator(`a[title="${scene.ada}"]`).click()
    await heading('DID')
    await panel('State').locator(`a[title="${scene.address}"]`).click()
    await heading('Address')
    // Its coins were never spent: nothing tells its key.
    await explorer.load(`/#/address/${node.wallet.account(8).address}`)
    await panel('Balance').getByText('none that this page can tell').waitFor()
  })

  it('what is shown is there as JSON', async () => {
    const hash = node.chain.tip.hash
    const cases: [path: string, method: string, part: string][] = [
      [`block/${hash}`, 'getblock', hash],
      [`transaction/${scene.payment}`, 'getrawtransaction', scene.payment],
      [`address/${scene.address}`, 'getaddresshistory', scene.address],
      [`did/${scene.ada}`, 'resolvedid', scene.ada],
      [`credential/${encodeURIComponent(scene.declared)}`, 'did_resolveCredential', scene.ada],
      ['validators', 'getarbitersinfo', 'ondutyarbiter'],
      ['charts', 'listdays', 'days'],
    ]
    for (const [path, method, part] of cases) {
      await explorer.load(`/#/${path}`)
      await panel('JSON').getByText('The answer of the node as JSON').click()
      await panel('JSON').locator('.answer').getByText(part).first().waitFor()
      await panel('JSON')
        .getByRole('link', { name: `ask by ${method}` })
        .click()
      await explorer.page.getByRole('button', { name: 'Send' }).click()
      await panel('Answer').getByText(part).first().waitFor()
    }
  })

  it('a DID has keys, services, credentials, a timeline and differences', async () => {
    await explorer.load(`/#/did/${scene.ada}`)
    await panel('Difference').waitFor()
    await panel('Credentials').getByText('Ada Lovelace').waitFor()
    await explorer.shows('✓ proved')
    // The list is asked for again once there is a proof beside which it stands.
    await panel('Credentials on the chain').getByText('#diploma').waitFor()
    const text = await explorer.text('main')
    for (const part of [
      'default key: its bytes derive the DID sign updates deactivate issue credentials',
      'IdentityHub',
      'expires in 5 y',
      'signed by #primary',
      'added service › #hub',
      'removed service › #home',
      'changed expires',
      '#diploma declared',
    ]) {
      expect(text).toContain(part)
    }
    // Any two versions: the first one against the last one.
    await explorer.page.getByLabel('compare from').last().check()
    await panel('Difference').getByText('verifiableCredential').waitFor()
    expect(explorer.page.url()).toContain(`from=${scene.versions[0]}`)
    await explorer.page.reload()
    await panel('Difference').getByText('verifiableCredential').waitFor()
  })

  it('a credential has its state and content', async () => {
    await explorer.load(`/#/credential/${encodeURIComponent(scene.declared)}`)
    await explorer.shows('Master of Analysis')
    await explorer.shows('declared')
  })

  it('a DID that does not exist, and pages of nothing, say so', async () => {
    await explorer.load(`/#/did/${node.wallet.account(9).did}`)
    await explorer.shows(/up to the block below no operation has created it/)
    for (const height of ['99999', '4000000000', '99999999999']) {
      await explorer.load(`/#/block/${height}`)
      const text = `The node has no block ${height}: its tip is at height ${node.chain.height}.`
      await explorer.page.getByRole('alert').getByText(text, { exact: true }).waitFor()
    }
    await explorer.load(`/#/block/${'ab'.repeat(32)}`)
    await explorer.page.getByRole('alert').getByText('The node has no block abab').waitFor()
    await explorer.load('/#/block/first')
    await explorer.page.getByRole('alert').getByText('A block is named by its height').waitFor()
    await explorer.load('/#/nonsense')
    await heading('No such page')
  })

  it('the search box leads to each kind of thing', async () => {
    await explorer.load('/')
    const cases: [string, string | RegExp][] = [
      ['1', 'Block 1'],
      [node.chain.genesis, 'Block 0'],
      [scene.payment, 'Transaction transfer'],
      [scene.address, 'Address'],
      [scene.ada.slice('did:ledger:'.length), 'DID'],
      [scene.declared, 'Credential'],
    ]
    for (const [text, name] of cases) {
      await search(text)
      await heading(name)
    }
    await search('ada love')
    await panel('DIDs with such a name in a credential').locator(`a[title="${scene.ada}"]`).waitFor()
    await panel('DIDs with such a service').getByText('0 DIDs').waitFor()
    await search('dentityhu')
    await explorer.page.locator(`a[title="${scene.ada}"]`).waitFor()
    await search(`${scene.address.slice(0, -1)}x`)
    await explorer.shows(/checksum is wrong/)
  })

  it('an id in the address leads to its page, and what is none is named', async () => {
    const cases: [string, string | RegExp][] = [
      ['2', 'Block 2'],
      [node.chain.genesis, 'Block 0'],
      [scene.payment, 'Transaction transfer'],
      [`tx/0x${scene.payment.toUpperCase()}`, 'Transaction transfer'],
      [scene.address, 'Address'],
      [scene.ada, 'DID'],
    ]
    for (const [path, name] of cases) {
      await explorer.load(`/#/${path}`)
      await heading(name)
    }
    await explorer.load(`/#/${scene.payment.slice(1)}`)
    await explorer.page.getByRole('alert').getByText(scene.payment.slice(1)).waitFor()
    await explorer.load('/#/tx/12')
    await explorer.page
      .getByRole('alert')
      .getByText(/^Invalid params: txid/)
      .waitFor()
  })

  it.each([
    [10_000, true],
    [10_001, false],
  ])('a search on a chain of %i documents reads them unasked: %j', async (valid, unasked) => {
    const tab = await open()
    await tab.page.route(/\/rpc$/, async (route) => {
      if (!(route.request().postData() ?? '').includes('countdids')) return route.continue()
      return route.fulfill({ json: { jsonrpc: '2.0', id: 1, result: { valid } } })
    })
    await tab.load('/#/search/lovelace')
    const names = tab.page.getByRole('region', { name: 'DIDs with such a name in a credential' })
    await names.getByText(unasked ? '1 DID' : '0 DIDs').waitFor()
    const button = names.getByRole('button', { name: `Read up to ${whole(valid)} documents` })
    expect(await button.count()).toBe(unasked ? 0 : 1)
    if (!unasked) await button.click()
    await names.locator(`a[title="${scene.ada}"]`).waitFor()
    await tab.load('/#/search/Ada%20Lovelace')
    await names.locator(`a[title="${scene.ada}"]`).waitFor()
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
    await tab.close()
  })

  it('the builder finds DIDs, and shows condition and call', async () => {
    await explorer.load('/#/find')
    await explorer.page.getByLabel('value').fill('IdentityHub')
    expect(await explorer.page.getByRole('textbox', { name: /condition/ }).inputValue()).toBe(
      '{"service":{"type":"IdentityHub"}}',
    )
    await explorer.page.getByRole('button', { name: 'Find' }).click()
    await panel('Found').getByText('1 DID').waitFor()
    expect(await explorer.text('.call')).toContain('"method": "query"')
    await explorer.page.getByRole('textbox', { name: /condition/ }).fill('{"$where":"1"}')
    await explorer.page.getByRole('button', { name: 'Find' }).click()
    await explorer.page.getByRole('alert').waitFor()
  })

  it('validators and their votes', async () => {
    await explorer.load('/#/validators')
    await panel(/^Vote on block/).waitFor()
    await explorer.page.getByRole('group', { name: /voted for \d+ of \d+ blocks/ }).waitFor()
    await explorer.shows('This node has seen no validator contradict itself.')
  })

  it('the node, with curves', async () => {
    await explorer.load('/#/node')
    await explorer.shows('this node has no peers')
    await explorer.shows(/resident [\d.]+ MB/)
    await expect.poll(() => explorer.page.locator('canvas').count()).toBe(4)
  })

  it('a browser whose language Intl refuses shows all but the curves', async () => {
    const tab = await open()
    const language = "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })"
    await tab.page.addInitScript(language)
    await tab.load('/#/node')
    await tab.shows(/resident [\d.]+ MB/)
    expect(await tab.page.locator('canvas').count()).toBe(0)
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
    await tab.close()
  })

  it('the devnet makes blocks, moves its clock, pays and goes back', async () => {
    await explorer.load('/#/devnet')
    const { height } = node.chain
    await explorer.page.getByRole('button', { name: 'Take a snapshot' }).click()
    await explorer.shows(/snapshot \d+ at height/)
    await explorer.page.getByRole('button', { name: 'Mine' }).click()
    await explorer.shows('1 block made')
    expect(node.chain.height).toBe(height + 1)
    const other = node.wallet.account(7).address
    await explorer.page.getByRole('button', { name: `pay 100 coins to ${other}` }).click()
    await expect.poll(() => node.chain.balance(other)).toBe(10_100n * 100_000_000n)
    await explorer.page.getByRole('button', { name: '+ 1 year' }).click()
    await explorer.shows(/it is 20\d\d/)
    await explorer.page
      .getByRole('button', { name: /^Back to \d/ })
      .first()
      .click()
    await expect.poll(() => node.chain.height).toBe(height)
  })

  it('every method and row can be tried', async () => {
    await explorer.load('/#/interfaces/getblockhash')
    await explorer.page.locator('.fields input').fill('0')
    await explorer.page.getByRole('button', { name: 'Send' }).click()
    await panel('Answer').getByText(node.chain.genesis).waitFor()
    await explorer.page.getByRole('link', { name: 'GET …/block/hash/{height}' }).click()
    // The fields of the method stand there until the page has changed.
    await panel('GET /api/v1/block/hash/{height}').waitFor()
    await panel('GET /api/v1/block/hash/{height}')
      .getByRole('textbox', { name: /^height/ })
      .fill('0')
    await explorer.page.getByRole('button', { name: 'Send' }).click()
    await panel('Answer').getByText(node.chain.genesis).waitFor()
    const links = explorer.page.locator('.names a')
    expect(await links.count()).toBeGreaterThan(80)
  })
})

describe('a hostile document', () => {
  /** Opens the document and all that is folded, also within what was folded. */
  async function unfold(): Promise<void> {
    await explorer.page.getByText('The whole document').click()
    const folded = explorer.page.locator('main button[aria-expanded="false"]:visible')
    await folded.first().waitFor()
    while ((await folded.count()) > 0) await folded.first().click()
  }

  it('is text alone: nothing runs, nothing leads elsewhere, nothing is hidden', async () => {
    await explorer.load(`/#/did/${scene.mallory}`)
    await panel('Services').getByText(hostile.script).waitFor()
    await unfold()
    const text = await explorer.text('main')
    for (const shown of [hostile.script, hostile.handler, hostile.javascript, hostile.data, hostile.userInfo]) {
      expect(text).toContain(shown)
    }
    expect(text).toContain(`${hostile.host} (host: xn--pple-43d.example)`)
    expect(text).toContain(`${hostile.userInfo} (host: evil.example)`)
    expect(text).toContain('invoice‹U+202E›txt.exe')
    expect(text).toContain('pay‹U+200B›pal‹U+001B›‹U+2066›')
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/)
    expect(text.length).toBeLessThan(20_000)
    expect(await explorer.page.evaluate('window.pwned')).toBeUndefined()
    expect(await explorer.page.locator('main img, main script, main iframe, main object').count()).toBe(0)
    const links = await explorer.page
      .locator('main a')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('href') ?? '', one.getAttribute('rel') ?? '']))
    for (const [href, rel] of links) {
      if (href?.startsWith('#/') === true) continue
      expect(href).toMatch(/^https?:\/\/(example\.org|xn--pple-43d\.example|127\.0\.0\.1)/)
      expect(rel).toContain('noopener')
    }
  })

  it('a long text is opened in parts', async () => {
    await explorer.load(`/#/did/${scene.mallory}`)
    await unfold()
    await explorer.page
      .getByRole('button', { name: /characters more/ })
      .first()
      .click()
    await expect.poll(async () => (await explorer.text('main')).length).toBeGreaterThan(20_000)
  })

  it.each(['<img src=x onerror=window.pwned=9>', 'javascript:window.pwned=9', '\u202e', `${'y'.repeat(399)}`])(
    'nor does the search box run %j',
    async (text) => {
      await search(text)
      await heading('Search')
      await explorer.load(`/#/${encodeURIComponent(text)}/${encodeURIComponent(text)}?x=${encodeURIComponent(text)}`)
      await heading('No such page')
      expect(await explorer.page.evaluate('window.pwned')).toBeUndefined()
    },
  )
})

describe('readers', () => {
  it.each([
    { width: 390, height: 844, dark: true },
    { width: 1280, height: 900, dark: false },
  ])('no page is wider than the screen: %j', async (view) => {
    const tab = await open(view)
    const paths = [
      '',
      'blocks',
      'block/3',
      `transaction/${scene.versions[1]}`,
      `address/${scene.address}`,
      `did/${scene.ada}`,
    ]
    const others = [`did/${scene.mallory}`, 'find', 'validators', 'node', 'devnet', 'interfaces', 'operations']
    for (const path of [...paths, ...others]) {
      await tab.load(`/#/${path}`)
      await tab.page.locator('main .panel').first().waitFor()
      const excess = await tab.page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect(excess, path).toBe(0)
    }
    expect(tab.misdeeds).toEqual({ errors: [], foreign: [] })
    await tab.close()
  })

  it('the keyboard reaches content, menu and search, and all have names', async () => {
    await explorer.load('/')
    await explorer.page.keyboard.press('Tab')
    await explorer.page.keyboard.press('Enter')
    expect(await explorer.page.evaluate('document.activeElement.id')).toBe('main')
    for (const path of ['', 'find', 'devnet', 'interfaces', `did/${scene.ada}`]) {
      await explorer.load(`/#/${path}`)
      await explorer.page.locator('main .panel').first().waitFor()
      const controls = await explorer.page.locator('button, input, select, textarea, a').all()
      expect(controls.length).toBeGreaterThan(5)
      const nameless = await explorer.page
        .evaluate(`[...document.querySelectorAll('button, input, select, textarea, a')]
        .filter((one) => one.tabIndex >= 0 && !one.getAttribute('aria-label') && !one.textContent.trim() && !one.labels?.length)
        .map((one) => one.outerHTML)`)
      expect(nameless).toEqual([])
    }
  })
})

it('no page made an error, and no request left the node', () => {
  expect(explorer.misdeeds).toEqual({ errors: [], foreign: [] })
})
