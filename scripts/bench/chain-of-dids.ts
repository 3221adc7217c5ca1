import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { prefix } from '../../src/base/primitives/address.js'
import { coinDepth } from '../../src/base/primitives/coin-depth.js'
import type { Hash } from '../../src/base/primitives/hash.js'
import type { Output } from '../../src/base/primitives/output.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { holder } from '../../test/support/builders/did.js'
import { fee, mineBlock, type Payer, selfTransfer, standardHash, withLedger, writtenSpec } from './workshop.js'

/** A chain with many DIDs, made of real blocks. */

const about = `https://example.org/${'who-it-is-and-how-to-reach-them/'.repeat(28)}`
/** Members of a document of 1.4 kB. */
export const plainDocument = { services: [{ id: '#about', type: 'About', serviceEndpoint: about }] }
const createsOfBlock = 1000
const coinsOfBlock = 60_000
const coinValue = 1000n

/** Size of a chain when all of its blocks are made. */
interface ChainSize {
  readonly dids: number
  /** Coins beside those of the payers, each of an owner of its own. */
  readonly coins?: number
}

/** Height of the last block of a chain of that size, 288 above that with the last DID or coin. */
export function topOf({ dids, coins = 0 }: ChainSize): number {
  return Math.ceil(coins / coinsOfBlock) + Math.ceil(dids / createsOfBlock) + 1 + coinDepth
}

/** A chain on disk: the file of its spec, and its DIDs. */
interface ChainOfDids {
  readonly file: string
  readonly dids: readonly string[]
}

/**
 * A chain whose last block commits to the state with as many coins and DIDs. With `--chains=DIR` it is made once, and copied from there by
 * later runs: a million DIDs take the better part of an hour.
 */
export async function chainOfDids(directory: string, dataDir: string, size: ChainSize): Promise<ChainOfDids> {
  const kept = keptChain(size)
  if (kept === undefined) return makeChain(directory, dataDir, size)
  if (!existsSync(kept.dids)) {
    const { file, dids } = await makeChain(directory, dataDir, size)
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
function keptChain({ dids, coins = 0 }: ChainSize): Readonly<Record<'data' | 'spec' | 'dids', string>> | undefined {
  const option = '--chains='
  const folder = process.argv.find((argument) => argument.startsWith(option))?.slice(option.length)
  if (folder === undefined) return undefined
  const place = (name: string) => join(folder, `${dids}${coins === 0 ? '' : `+${coins}`}-${name}`)
  return { data: place('data'), spec: place('spec.json'), dids: place('dids') }
}

async function makeChain(directory: string, dataDir: string, size: ChainSize): Promise<ChainOfDids> {
  const top = topOf(size)
  const changes = { coinInterval: top, upgrades: [], time: Math.floor(Date.now() / 1000) - top - 60 }
  const { file, spec, payers } = await writtenSpec(directory, Math.min(size.dids, createsOfBlock), 'pow', changes)
  const dids: string[] = []
  await withLedger(spec, dataDir, async ({ chain }) => {
    const { assetId } = chain.sanity
    const connect = async (transactions: readonly Transaction[]) => {
      await chain.acceptBlock((await mineBlock(chain, transactions)).bytes)
    }
    for (let left = size.coins ?? 0; left > 0; left -= coinsOfBlock) {
      await connect([splitting(payers[0] as Payer, assetId, Math.min(left, coinsOfBlock))])
    }
    for (let left = size.dids; left > 0; left -= createsOfBlock) {
      await connect(
        payers.slice(0, left).map((payer) => {
          const person = holder()
          dids.push(person.did)
          const operation = person.create(plainDocument)
          return selfTransfer(payer, assetId, { payload: { type: 10, operation } })
        }),
      )
    }
    while (chain.tip.header.height < top) await connect([])
  })
  return { file, dids }
}

/** Pays `count` coins to owners that have no other; the rest goes back to the payer. */
function splitting(payer: Payer, assetId: Hash, count: number): Transaction {
  const output = (value: bigint, programHash: Uint8Array): Output => ({ assetId, value, outputLock: 0, programHash })
  const coins = Array.from({ length: count }, () =>
    output(coinValue, Buffer.concat([Buffer.of(prefix.standard), randomBytes(20)])),
  )
  const rest = payer.coin.value - coinValue * BigInt(count) - fee
  return selfTransfer(payer, assetId, { outputs: [output(rest, standardHash(payer.publicKey)), ...coins] })
}
