import { describe, expect, it } from 'vitest'
import { checkConfirm } from '../../../src/ledger/consensus/check-confirm.js'
import { holds } from '../../../src/base/crypto/verify.js'
import { confirmBytes, parseConfirm } from '../../../src/base/primitives/confirm.js'
import { craftBlock, soloConfirm } from '../../support/builders/blocks.js'
import { oneValidator, TestChain } from '../../support/builders/chain.js'
import { testKey, testPublicKey } from '../../support/builders/spec.js'

describe('the confirm of a lone validator', () => {
  it('is a proposal and a vote that the rules accept, in its bytes too', async () => {
    const test = await TestChain.open(oneValidator())
    const block = craftBlock(test.chain)
    for (const view of [0, 7]) {
      const confirm = soloConfirm(block.header.hash, view, testKey(0))
      expect(confirm.votes).toHaveLength(1)
      expect(Buffer.from(confirm.proposal.sponsor)).toEqual(Buffer.from(testPublicKey(0)))
      const checks = checkConfirm(test.spec, block.header, parseConfirm(confirmBytes(confirm)))
      expect(checks).toHaveLength(2)
      expect(checks.every(holds)).toBe(true)
    }
  })

  it('confirms one block and one view', async () => {
    const test = await TestChain.open(oneValidator())
    const block = craftBlock(test.chain)
    const confirm = soloConfirm(block.header.hash, 0, testKey(0))
    const other = soloConfirm(block.header.hash, 1, testKey(0))
    const mixed = { proposal: confirm.proposal, votes: other.votes }
    expect(() => checkConfirm(test.spec, block.header, mixed)).toThrow(/not for this proposal/)
    const stranger = confirmBytes(soloConfirm(block.header.hash, 0, testKey(1)))
    await expect(test.chain.acceptBlock(block.bytes, stranger)).rejects.toMatchObject({ code: 'confirm-sponsor' })
    expect(await test.chain.acceptBlock(block.bytes, confirmBytes(confirm))).toBe('connected')
  })
})
