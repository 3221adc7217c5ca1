import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operationJson } from '../../src/base/primitives/did-operation.js'
import { draftOperation, namedDraft, signDraft } from '../../src/clients/wallet/named-identity.js'
import { createNode, type LedgerNode } from '../../src/index.js'
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
  const { txid } = await node.wallet.createDid({ account, alsoKnownAs: [named, otherMethod] })
  await node.chain.waitFor(txid)
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

it('a DID of this chain is a link where it stands in a document, one of another method is none', async () => {
  await explorer.load(`/#/did/${ada}`)
  await panel('Services').getByText(otherMethod).waitFor()
  expect(await panel('Services').getByRole('link').allInnerTexts()).toEqual([named])
  await panel('Services').getByRole('link').click()
  await panel('State').getByText(named).first().waitFor()
})
