import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Faucet } from '../../../../src/node/devnet/faucet.js'
import { damaged } from '../../../../src/ledger/storage/failure.js'
import { personHash } from '../../../support/builders/blocks.js'
import { TestChain } from '../../../support/builders/chain.js'

const devnet = JSON.parse(readFileSync(new URL('../../../../genesis/devnet.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>

async function world() {
  const test = await TestChain.open(devnet)
  const faucet = new Faucet({ ...test, random: { bytes: (count) => randomBytes(count) } })
  return { test, faucet }
}

describe('the faucet', () => {
  it('pays, and names the amount where it has less', async () => {
    const { test, faucet } = await world()
    const txid = await faucet.send([{ programHash: personHash(3), value: 5n }])
    expect([...test.mempool.entries()].map(({ transaction }) => transaction.txid)).toEqual([txid])
    await expect(faucet.send([{ programHash: personHash(3), value: 10n ** 15n }])).rejects.toMatchObject({
      code: 'request-parameter',
      message: expect.stringContaining('amount: ') as string,
    })
  })

  it('does not blame the amount for a disk that fails', async () => {
    const { test, faucet } = await world()
    test.mempool.accept = () => Promise.reject(damaged('no space'))
    const sent = faucet.send([{ programHash: personHash(3), value: 5n }])
    await expect(sent).rejects.toThrow(/^the database is damaged: no space/)
    expect(test.log.errors).toHaveLength(1)
  })
})
