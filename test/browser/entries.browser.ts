import { afterAll, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../src/index.js'
import { bundleForBrowser } from '../support/web/bundle.js'
import { runInChromium } from '../support/web/chromium.js'
import type { PageInput, PageResult } from '../support/web/page.js'
import { runScenario } from '../support/web/scenario.js'
import { scenarioInput } from '../support/web/scenario-input.js'

const nodes: LedgerNode[] = []
afterAll(() => Promise.all(nodes.map((node) => node.close())))

it('a page in Chromium signs, verifies and resolves as Node does', async () => {
  const { text } = bundleForBrowser("import { runPage } from './test/support/web/page.ts'; void runPage()")
  const scenario = scenarioInput()
  const node = await createNode({ network: 'devnet', api: { portBase: 0 } })
  nodes.push(node)
  const services = [{ id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org/%C3%BC' }]
  const { did, txid } = await node.wallet.createDid({ account: node.wallet.account(0), services })
  await node.chain.waitFor(txid)
  const input: PageInput = { scenario, node: node.api?.rpc ?? '', did }
  const { scenario: results, resolution, ofNode } = JSON.parse(await runInChromium(text, input)) as PageResult
  expect(ofNode).toEqual([])
  expect(JSON.parse(results)).toEqual(JSON.parse(runScenario(scenario)))
  expect(resolution).toMatchObject({
    didDocument: { id: did, service: [{ id: `${did}#home`, serviceEndpoint: 'https://example.org/%C3%BC' }] },
  })
})

it('a page that fails says so', async () => {
  await expect(runInChromium("throw new Error('on purpose')", {})).rejects.toThrow(/the page failed:.*on purpose/)
  await expect(runInChromium('import "node:fs"', {})).rejects.toThrow(/the page failed/)
})
