import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Request } from 'playwright-core'
import { operationJson } from '../../src/base/primitives/did-operation.js'
import { draftOperation, namedDraft, signDraft } from '../../src/clients/wallet/named-identity.js'
import { createNode, type LedgerNode } from '../../src/index.js'
import { issueCredential } from '../support/builders/did.js'
import { quickSigner } from '../support/builders/signatures.js'
import { type Explorer, ExplorerBrowser } from '../support/web/explorer.js'

/** Ways from a text to its page: the search box, links in documents, the address. */

const named = 'did:ledger:acme-corp.eu'
const otherMethod = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'

let node: LedgerNode
let browser: ExplorerBrowser
let explorer: Explorer
let ada: string
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  ada = await createAda()
  await createNamed()
  browser = await ExplorerBrowser.start()
  explorer = await browser.open(node.api?.rest ?? '')
})
afterAll(async () => {
  expect(explorer.misdeeds).toEqual({ errors: [], foreign: [] })
  await browser?.close()
  await node?.close()
})
beforeEach(() => explorer.load('/'))

async function createAda(): Promise<string> {
  const account = node.wallet.account(0)
  const services = [{ id: '#hub', type: 'IdentityHub', serviceEndpoint: 'https://hub.example.org/' }]
  const created = await node.wallet.createDid({ account, services, alsoKnownAs: [named, otherMethod] })
  await node.chain.waitFor(created.txid)
  const credential = issueCredential(account.did, quickSigner(account.privateKey), account.did, {
    id: `${account.did}#profile`,
    credentialSubject: { id: account.did, name: 'Dr. Ada Lovelace (CEO)', age: '36' },
  })
  const updated = await node.wallet.updateDid({ account, addCredentials: [credential] })
  await node.chain.waitFor(updated.txid)
  return account.did
}

async function createNamed(): Promise<void> {
  const [account, now] = [node.wallet.account(0), '2026-11-29T00:00:00Z']
  const controller = { pair: account, key: `${account.did}#primary` }
  const made = namedDraft(
    { did: named, controllers: [account.did], services: [], expires: '2030-01-01T00:00:00Z' },
    now,
  )
  const operation = draftOperation(signDraft(made, controller, now), controller, 'ledger/did/1.0')
  await node.chain.waitFor(await node.wallet.publish(operationJson(operation), { account }))
}

async function search(text: string): Promise<void> {
  await explorer.page.getByRole('searchbox').first().fill(text)
  await explorer.page.keyboard.press('Enter')
}

const heading = (name: string) => explorer.page.getByRole('heading', { level: 1, name }).waitFor()
const panel = (name: string) => explorer.page.getByRole('region', { name, exact: true })

describe('a name of a DID', () => {
  it.each(['acme-corp.eu', 'ACME-corp.eu'])('leads to it from the search box: %s', async (text) => {
    await search(text)
    await panel('The DID of this name').getByRole('link').click()
    await heading('DID')
    await panel('State').getByText(named).first().waitFor()
  })

  it('leads to it from the address', async () => {
    await explorer.load('/#/acme-corp.eu')
    await explorer.shows(/is the name of no page/)
    await panel('The DID of this name').getByRole('link').click()
    await heading('DID')
  })

  it('leads nowhere if no DID has it', async () => {
    await search('acme-corp.com')
    await panel('DIDs with such a service').getByText('0 DIDs').waitFor()
    expect(await panel('The DID of this name').count()).toBe(0)
  })
})

describe('an id of a part of a document', () => {
  it.each([
    ['primary', 'a key of'],
    ['hub', 'a service of'],
  ])('is told to be one, with a link to its DID: #%s', async (name, kind) => {
    await search(`${ada}#${name}`)
    const notice = explorer.page.getByRole('status').filter({ hasText: kind })
    await notice.getByRole('link').click()
    await heading('DID')
  })
})

it('words of a wallet are neither sent nor kept', async () => {
  const asked: string[] = []
  const note = (request: Request) => asked.push(request.url() + (request.postData() ?? ''))
  explorer.page.on('request', note)
  await search(Array(12).fill('abandon').join(' '))
  await explorer.shows(/look like the words of a wallet/, 'header')
  const kept = await explorer.page.evaluate<string>(
    'location.href + document.title + document.querySelector("input").value',
  )
  expect([kept, ...asked].join()).not.toContain('abandon')
  await explorer.load(`/#/search/${Array(12).fill('abandon').join('%20')}`)
  await explorer.shows(/look like the words of a wallet/)
  expect(asked.filter((text) => text.includes('/rpc')).join()).not.toContain('abandon')
  explorer.page.off('request', note)
})

it('a text with characters of regular expressions is found by any part of it', async () => {
  for (const part of ['dr. ada', 'lovelace (ceo)', 'Dr. Ada Lovelace (CEO)']) {
    await search(part)
    await panel('DIDs with such a name in a credential').locator(`a[title="${ada}"]`).waitFor()
  }
})

it('a claim that is a text of digits is found', async () => {
  await explorer.load('/#/find')
  await explorer.page.getByLabel('what is asked for').selectOption('claimIs')
  await explorer.page.getByLabel('name of the claim').fill('age')
  await explorer.page.getByLabel('value', { exact: true }).fill('36')
  await explorer.page.getByRole('button', { name: 'Find', exact: true }).click()
  await panel('Found').locator(`a[title="${ada}"]`).waitFor()
})

it('a page beyond the last one says so, and leads to the first', async () => {
  await explorer.load('/#/find?skip=1e9&q={}')
  await panel('Found').getByText('2 DIDs').waitFor()
  expect(await explorer.text('main')).not.toContain('No DID meets')
  await panel('Found').getByRole('link', { name: 'show the first' }).click()
  await panel('Found').locator(`a[title="${ada}"]`).waitFor()
})

it('a DID of this chain is a link where it stands in a document, one of another method is none', async () => {
  await explorer.load(`/#/did/${ada}`)
  await panel('Services').getByText(otherMethod).waitFor()
  expect(await panel('Services').getByRole('link').allInnerTexts()).toEqual(['https://hub.example.org/', named])
  await panel('Services').getByRole('link', { name: named }).click()
  await panel('State').getByText(named).first().waitFor()
})
