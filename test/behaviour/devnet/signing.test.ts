import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { craftBlock } from '../../support/builders/blocks.js'
import { testDevnet, type TestDevnet } from '../../support/fakes/test-devnet.js'

let net: TestDevnet
beforeEach(async () => (net = await testDevnet()))
afterEach(() => net.close())

describe('the validator of a devnet', () => {
  it('signs one block of a height, whoever hands in another in the same moment', async () => {
    const { chain } = net.chain
    const { validator } = net.devnet
    const [first, second] = [craftBlock(chain), craftBlock(chain)]
    const answers = await Promise.allSettled([validator.offer(first), validator.offer(second)])
    expect(answers).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'block-stale' } }])
    await expect(validator.offer(second)).rejects.toThrow(/has signed/)
    await validator.offer(first)
    expect(chain.tip.header.id).toBe(first.hash)
  })

  it('signs another where the first came to nothing', async () => {
    const { chain } = net.chain
    const greedy = craftBlock(chain, { fees: 1n })
    await expect(net.devnet.validator.offer(greedy)).rejects.toMatchObject({ code: 'coinbase-value' })
    await net.devnet.validator.offer(craftBlock(chain))
    expect(chain.tip.header.height).toBe(1)
  })

  it('forgets with the chain what it signed on blocks that are taken back', async () => {
    const { chain } = net.chain
    const id = await net.devnet.snapshot()
    const [first, second] = [craftBlock(chain), craftBlock(chain)]
    await net.devnet.validator.offer(first)
    await net.devnet.revert(id)
    await net.devnet.validator.offer(second)
    expect(chain.tip.header.id).toBe(second.hash)
  })
})
