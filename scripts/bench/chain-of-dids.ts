import { existsSync } from 'node:fs'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coinDepth } from '../../src/base/primitives/coin-depth.js'
import { holder } from '../../test/support/builders/did.js'
import { mineBlock, selfTransfer, withLedger, writtenSpec } from './workshop.js'

/** A chain with many DIDs, made of real blocks. */

const about = `https://example.org/${'who-it-is-and-how-to-reach-them/'.repeat(28)}`
/** Members of a document of 1.4 kB. */
export const plainDocument = { services: [{ id: '#about', type: 'About', serviceEndpoint: about }] }
const createsOfBlock = 1000

/** Height of the last block of a chain with so many DIDs, 288 above that with the last of them. */
export function topOf(dids: number): number {
  return Math.ceil(dids / createsOfBlock) + 1 + coinDepth
}

/** A chain on disk: the file of its spec, and its DIDs. */
interface ChainOfDids {
  readonly file: string
  readonly dids: readonly string[]
}

/**
 * A chain whose last block commits to the state after as many creates. With `--chains=DIR` it is made once, and copied from there by later
 * runs: a million DIDs take the better part of an hour.
 */
export async function chainOfDids(directory: string, dataDir: string, count: number): Promise<ChainOfDids> {
  const kept = keptChain(count)
  if (kept === undefined) return makeChain(directory, dataDir, count)
  if (!existsSync(kept.dids)) {
    const { file, dids } = await makeChain(directory, dataDir, count)
    await cp(dataDir, kept.data, { recursive: true })
    await copyFile(file, kept.spec)
    // Last: a run that finds it finds all.
    await writeFile(kept.dids, dids.join('\n'))
    return { file, dids }
  }
  await cp(kept.data, dataDir, { recursive: true })
  return { file: kept.spec, dids: (await readFile(kept.dids, 'utf8')).split('\n') }
}

/** Places of a kept chain of that size; undefined without `--chains=DIR`. */
function keptChain(count: number): Readonly<Record<'data' | 'spec' | 'dids', string>> | undefined {
  const option = '--chains='
  const folder = process.argv.find((argument) => argument.startsWith(option))?.slice(option.length)
  if (folder === undefined) return undefined
  const place = (name: string) => join(folder, `${count}-${name}`)
  return { data: place('data'), spec: place('spec.json'), dids: place('dids') }
}

async function makeChain(directory: string, dataDir: string, count: number): Promise<ChainOfDids> {
  const time = Math.floor(Date.now() / 1000) - topOf(count) - 60
  const changes = { coinInterval: topOf(count), upgrades: [], time }
  const { file, spec, payers } = await writtenSpec(directory, Math.min(count, createsOfBlock), 'pow', changes)
  const dids: string[] = []
  await withLedger(spec, dataDir, async ({ chain }) => {
    for (let left = count; left > 0; left -= createsOfBlock) {
      const made = payers.slice(0, left).map((payer) => {
        const person = holder()
        dids.push(person.did)
        const operation = person.create(plainDocument)
        return selfTransfer(payer, chain.sanity.assetId, { payload: { type: 10, operation } })
      })
      await chain.acceptBlock((await mineBlock(chain, made)).bytes)
    }
    while (chain.tip.header.height < topOf(count)) await chain.acceptBlock((await mineBlock(chain, [])).bytes)
  })
  return { file, dids }
}
