import { expect, it } from 'vitest'
import type { RuleError } from '../../../src/base/errors/rule-error.js'
import { craftBlock } from '../../support/builders/blocks.js'
import { memoryStore, TestChain, withoutValidators } from '../../support/builders/chain.js'
import { credentialSpecification, holder, specification } from '../../support/builders/did.js'
import { testAddress } from '../../support/builders/spec.js'

const allocations = [10, 11, 12].map((person) => ({ address: testAddress(person), amount: '100000000000' }))
const spec = { ...withoutValidators, allocations }

/** The recipe of docs/genesis.md, for a chain whose tip is below height 3. */
const accepting = (credential: readonly string[]) => ({ specifications: { did: [specification], credential } })
const upgrades = [
  { height: 3, name: 'credentials-later', parameters: accepting([]) },
  { height: 6, name: 'credentials', parameters: accepting([credentialSpecification]) },
]

const codeOf = (tried: Promise<unknown>) =>
  tried.then(
    () => 'accepted',
    (error: RuleError) => error.code,
  )

it('two upgrades of a running chain put off operations on credentials to a height', async () => {
  const store = memoryStore()
  const before = await TestChain.open(spec, { store })
  const ada = holder()
  await before.publish(ada.create(), ada.did)
  await before.close()

  const test = await TestChain.open({ ...spec, upgrades }, { store })
  const { chain, mempool } = test
  const operations = [
    await test.carry(ada.revoke(`${ada.did}#other`), ada.did, 11),
    await test.carry(ada.declare(ada.issue(ada.did)), ada.did, 12),
  ]
  const mineEmpty = () => test.accept(craftBlock(chain))
  for (const operation of operations) await test.send(operation)
  expect(chain.tip.header.height).toBe(1)
  await mineEmpty()
  expect(mempool.size).toBe(0)
  while (chain.tip.header.height < 5) {
    for (const operation of operations) {
      if (chain.tip.header.height === 2) {
        expect(mempool.droppedReason(operation.hash)).toContain('did-credential-operation')
      }
      expect(await codeOf(test.send(operation))).toBe('did-credential-operation')
      const block = craftBlock(chain, { transactions: [operation] })
      expect(await codeOf(test.accept(block))).toBe('did-credential-operation')
    }
    await mineEmpty()
  }
  for (const operation of operations) await test.send(operation)
  await test.mine()
  expect(chain.tip.header.height).toBe(6)
  expect(mempool.size).toBe(0)
  expect(chain.state.credential(`${ada.did}#profile`, ada.did)).toMatchObject({ revoked: false })
  expect(chain.state.credential(`${ada.did}#other`, ada.did)).toEqual({ revoked: true })
  await test.close()
})
