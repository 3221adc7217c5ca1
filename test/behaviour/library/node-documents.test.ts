import { afterAll, beforeAll, expect, it } from 'vitest'
import { createNode, type DocumentEvent, type LedgerNode, RuleError } from '../../../src/index.js'

let node: LedgerNode
beforeAll(async () => {
  node = await createNode({ network: 'devnet', api: false })
})
afterAll(() => node.close())

it('tells a program of documents that meet a condition, also of what a devnet takes back, until it wants no more', async () => {
  const told: DocumentEvent[] = []
  const others: DocumentEvent[] = []
  const account = node.wallet.account(0)
  const end = node.events.documents({ service: 'Hub' }, (event) => told.push(event))
  node.events.documents({ query: { service: { type: 'Hub' } } }, () => {
    throw new Error('a listener of mine')
  })
  const snapshot = await node.devnet!.snapshot()
  const { did } = account
  node.events.documents({ dids: [did] }, (event) => others.push(event))
  await node.wallet.createDid({ account })
  const addServices = [{ id: '#hub', type: 'Hub', serviceEndpoint: 'https://hub.example' }]
  await node.wallet.updateDid({ account, addServices })
  await expect.poll(() => told.length).toBe(1)
  expect(told[0]).toMatchObject({ topic: 'documents', action: 'apply', change: 'begins', did, number: null })
  await node.devnet!.revert(snapshot)
  await expect.poll(() => told.length).toBe(2)
  expect(told[1]).toMatchObject({ action: 'revert', change: 'begins', did })
  // The block with the create is taken back after the one with the update.
  await expect.poll(() => others.length).toBe(4)
  expect(others.map(({ action, change }) => `${action} ${change}`)).toEqual([
    'apply begins',
    'apply changes',
    'revert changes',
    'revert begins',
  ])
  end()
  end()
  await node.wallet.createDid({ account, services: addServices })
  await expect.poll(() => others.length).toBe(5)
  expect(told).toHaveLength(2)
})

it('refuses conditions that are none, and listeners that are no functions', () => {
  const ignore = () => {}
  expect(() => node.events.documents({}, ignore)).toThrow(RuleError)
  expect(() => node.events.documents({ service: 'A', dids: [] }, ignore)).toThrow('exactly one')
  expect(() => node.events.documents({ query: '{$where: 1}' }, ignore)).toThrow(/where/)
  expect(() => node.events.documents({ other: 1 } as object, ignore)).toThrow('other')
  expect(() => node.events.documents({ service: 'A' }, JSON.parse('5'))).toThrow('no function')
})
