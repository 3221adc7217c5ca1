import { coinDepth } from '../../src/base/primitives/coin-depth.js'
import { holder } from '../../test/support/builders/did.js'
import { mineBlock, selfTransfer, withLedger, writtenSpec } from './workshop.js'

/** A chain with many DIDs, made of real blocks. */

const about = `https://example.org/${'who-it-is-and-how-to-reach-them/'.repeat(28)}`
const createsOfBlock = 1000

/** Height of the last block of a chain with so many DIDs, 288 above that with the last of them. */
export function topOf(dids: number): number {
  return Math.ceil(dids / createsOfBlock) + 1 + coinDepth
}

/** Makes a chain whose last block commits to the state after as many creates; returns the file of its spec, and the DIDs. */
export async function chainOfDids(directory: string, dataDir: string, count: number) {
  const time = Math.floor(Date.now() / 1000) - topOf(count) - 60
  const changes = { coinInterval: topOf(count), upgrades: [], time }
  const { file, spec, payers } = await writtenSpec(directory, Math.min(count, createsOfBlock), 'pow', changes)
  const dids: string[] = []
  await withLedger(spec, dataDir, async ({ chain }) => {
    for (let left = count; left > 0; left -= createsOfBlock) {
      const made = payers.slice(0, left).map((payer) => {
        const person = holder()
        dids.push(person.did)
        const operation = person.create({ services: [{ id: '#about', type: 'About', serviceEndpoint: about }] })
        return selfTransfer(payer, chain.sanity.assetId, { payload: { type: 10, operation } })
      })
      await chain.acceptBlock((await mineBlock(chain, made)).bytes)
    }
    while (chain.tip.header.height < topOf(count)) await chain.acceptBlock((await mineBlock(chain, [])).bytes)
  })
  return { file, spec, dids }
}
