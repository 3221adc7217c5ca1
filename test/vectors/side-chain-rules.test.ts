import { afterAll, describe, expect, it } from 'vitest'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { craft, craftBlock } from '../support/builders/blocks.js'
import { TestChain } from '../support/builders/chain.js'
import { anyOrder, provedRows, purse, rewind } from '../support/builders/side-proofs.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface Vectors {
  readonly validator: string
  readonly chains: readonly {
    readonly about: string
    readonly sideChainOrder: boolean
    readonly steps: readonly {
      /** Payloads of type 5, one a transaction. */
      readonly proofs?: readonly string[]
      readonly expected?: string
      /** Number of blocks to take back. */
      readonly back?: number
      readonly proved: readonly (readonly [string, number])[]
    }[]
  }[]
}

const file = openVectors<Vectors>('side-chain-rules.json', { descriptive: ['about'] })
const { validator, chains } = file.data
afterAll(() => file.finish())

/** The payload of a transaction that has nothing else. */
const payloadOf = (hex: string) => Transaction.fromHex(`0500${hex}${'00'.repeat(8)}`).payload

describe('proofs of side-chain work in blocks', () => {
  it.each(chains)('$about, in order: $sideChainOrder', async ({ sideChainOrder, steps }) => {
    const spec = { ...anyOrder, validators: [validator], sideChainOrder: sideChainOrder || undefined }
    const test = await TestChain.open(spec)
    const coin = await purse(test, 40)
    for (const [i, { proofs, expected, back, proved }] of steps.entries()) {
      if (back !== undefined) await rewind(test, test.chain.tip.header.height - back)
      else {
        const transactions = (proofs ?? []).map((hex) =>
          craft(test.spec, [coin()], [{ to: 30, value: 1_000_000n }], [11], { payload: payloadOf(hex) }),
        )
        const accepted = test.accept(craftBlock(test.chain, { transactions }))
        const code = await accepted.then(
          () => 'ok',
          (error: { readonly code: string }) => error.code,
        )
        expect(code, `step ${i}`).toBe(expected)
      }
      expect(Object.entries(await provedRows(test)), `step ${i}`).toEqual(copied(proved))
    }
    await test.close()
  })
})
