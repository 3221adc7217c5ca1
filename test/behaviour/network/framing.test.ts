import { afterEach, describe, expect, it } from 'vitest'
import { buildDeactivate } from '../../../src/identity/did/build.js'

import type { Code } from '../../../src/base/errors/error-codes.js'
import { codes } from '../../../src/node/library/codes.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { Transaction } from '../../../src/base/primitives/transaction.js'
import { craft, type CraftedInput, genesisCoin, outputOf } from '../../support/builders/blocks.js'
import { withoutValidators } from '../../support/builders/chain.js'
import { authenticationKey, holder, signer, specification } from '../../support/builders/did.js'
import { quickSigner } from '../../support/builders/signatures.js'
import { RelayNode, until } from '../../support/network/relay-node.js'

/** What third parties can do to have one honest node charge another. */

const rich = 100_000_000_000n
const fee = 20_000n
const nodes: RelayNode[] = []

async function pair(overrides = withoutValidators): Promise<readonly [RelayNode, RelayNode]> {
  const both = [await RelayNode.open('one', overrides), await RelayNode.open('two', overrides)] as const
  nodes.push(...both)
  return both
}

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

/** What both charge each other for, in the order of the charges. */
const charges = (...both: readonly RelayNode[]) =>
  both.flatMap(({ peers }) => peers.all().flatMap(({ penalties }) => penalties as Code[]))
const points = (list: readonly Code[]) => list.reduce((sum, code) => sum + codes[code].penalty, 0)

/** A transaction of person 30 with an operation. */
function carry({ test }: RelayNode, coin: CraftedInput, value: bigint, operation: DidOperation) {
  const payload = { type: 10, operation } as Transaction['payload']
  return craft(test.spec, [coin], [{ to: 30, value: value - fee }], [30], { payload })
}

describe('an honest node is charged nothing for relaying', () => {
  it('deactivates of DIDs that another node knows with other keys', async () => {
    const [one, two] = await pair()
    const count = 20
    const value = rich / BigInt(3 * count) - fee
    const coins = craft(
      one.test.spec,
      [genesisCoin(one.test.chain)],
      Array.from({ length: 3 * count }, () => ({ to: 30, value })),
      [10],
    )
    await one.test.send(coins)
    const [block] = await one.test.mine()
    if (block === undefined) throw new Error('no block')
    await two.test.accept(block)
    const deactivates: Transaction[] = []
    for (let i = 0; i < count; i++) {
      const ada = holder()
      const [here, there] = [quickSigner(), quickSigner()]
      const create = (recovery: typeof here) =>
        ada.create({ keys: [authenticationKey('primary', ada.primary), authenticationKey('recovery', recovery)] })
      const deactivate = buildDeactivate(ada.did, { specification, verificationMethod: '#recovery' }, signer(here))
      const coin = (k: number) => outputOf(coins, 3 * i + k)
      await one.test.send(carry(one, coin(0), value, create(here)))
      await two.test.send(carry(two, coin(1), value, create(there)))
      deactivates.push(carry(one, coin(2), value, deactivate))
    }
    // Not sooner: each has its own creates by now, whichever of two would have come first.
    one.peers.connect(two.peers)
    for (const deactivate of deactivates) await one.test.send(deactivate)
    await until(() => charges(one, two).filter((code) => code === 'did-signature').length >= count)
    expect(points(charges(one, two))).toBe(0)
    expect([one.peers.all()[0]?.closed, two.peers.all()[0]?.closed]).toEqual([false, false])
  })

  it('what spends coinbases of blocks that another node has not seen', async () => {
    const [one, two] = await pair({ ...withoutValidators, maturity: 0 })
    const blocks = await one.test.mine(12)
    for (const block of blocks) {
      const coinbase = block.transactions[0] as Transaction
      const value = 500_000_000n - fee
      await one.test.send(craft(one.test.spec, [outputOf(coinbase)], [{ to: 30, value }], [20]))
    }
    one.peers.connect(two.peers)
    await until(() => charges(two).filter((code) => code === 'pool-coinbase').length === 12)
    expect(points(charges(one, two))).toBe(0)
  })
})
