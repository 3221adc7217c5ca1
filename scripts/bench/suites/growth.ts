import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { oneValidator, TestChain } from '../../../test/support/builders/chain.js'
import { type Holder, holder } from '../../../test/support/builders/did.js'
import { testAddress } from '../../../test/support/builders/spec.js'
import { leastKeptDocuments } from '../../../src/ledger/storage/rows/prune-rows.js'
import { type Row, row } from '../report.js'
import { withDirectory } from '../workshop.js'

/** Blocks without transactions, and things of every other kind. */
const blocks = 2000
const things = 200
/** DIDs with many versions. */
const histories = 20
/** Text of a service, so that a document has between 1 and 2 kB. */
const text = 'Where somebody works, what they like, and how they are reached. '.repeat(6)
/** Bytes of a vote in a confirm, and votes of a quorum of four validators beyond the one of this chain. */
const vote = 132
const moreVotes = 2
/** Bytes behind every value. */
const checksum = 4

/**
 * How much the database grows by a block, a transfer and an operation on a DID, for the table of docs/operate.md, and what pruning takes
 * of it. Counts keys, values and checksums of all rows, then the files.
 */
export function suite(): Promise<Row[]> {
  return withDirectory(async (directory) => {
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
    const store = new Level<Buffer, Buffer>(directory, { ...encodings, compression: false })
    const node = await TestChain.open(oneValidator(), { store })
    const rows = await grown(node)
    await node.database.checkpoint(node.chain.tip.header)
    await node.close()
    const files = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
    return [...rows, row('files after a stop', files, 'B')]
  })
}

async function grown(node: TestChain): Promise<Row[]> {
  const rowBytes = async () => {
    let sum = 0
    for await (const [key, value] of node.database.scan({})) sum += key.length + value.length + checksum
    return sum
  }
  const growth = async (work: () => Promise<void>) => {
    const before = await rowBytes()
    await work()
    return (await rowBytes()) - before
  }
  // Index undo rows and the journal are bounded: the first blocks fill them.
  await node.mine(400)
  const empty = (await growth(async () => void (await node.mine(blocks)))) / blocks
  const firstTransfer = node.reader.height + 1
  const transfers = await growth(async () => {
    for (let i = 0; i < things; i++) {
      await node.send(await node.transfer(testAddress(3), 1000n))
      await node.mine()
    }
  })
  const holders = Array.from({ length: things }, () => ({ one: holder(), txid: '' }))
  const profile = (version: number) => ({
    services: [{ id: '#profile', type: 'Profile', serviceEndpoint: `${text}${version}` }],
  })
  const documentBytes = Buffer.from(holder().create(profile(1)).payload, 'base64url').length
  const creates = await growth(async () => {
    for (const who of holders) who.txid = await node.publish(who.one.create(profile(1)), who.one.did)
  })
  const updates = await growth(async () => {
    for (const { one, txid } of holders) await node.publish(one.update(txid, profile(2)), one.did)
  })
  const history = await historyGrowth(node, growth, { updates: 10, empty, change: profile })
  const givenUp = async (to: number) =>
    -(await growth(async () => {
      while ((await node.chain.exclusive(({ prune }) => prune(to))) < to);
    }))
  const emptyGivenUp = (await givenUp(firstTransfer - 1)) / (firstTransfer - 1)
  return [
    row('block without transactions, 1 validator', empty, 'B'),
    row('block without transactions, 4 validators', empty + moreVotes * vote, 'B'),
    row('transfer: 1 input, 2 outputs', transfers / things - empty, 'B'),
    row(`create of a DID, document of ${documentBytes} bytes`, creates / things - empty, 'B'),
    row(`update of a DID, document of ${documentBytes} bytes`, updates / things - empty, 'B'),
    row(`DID with 10 updates, documents of ${documentBytes} bytes`, history.all, 'B'),
    row('the same, superseded documents given up', history.all - history.givenUp, 'B'),
    row('given up of a block without transactions', emptyGivenUp, 'B'),
    row('given up of a transfer', (await givenUp(firstTransfer + things - 1)) / things - emptyGivenUp, 'B'),
    row('all rows', await rowBytes(), 'B'),
  ]
}

/** Bytes of DIDs with some updates each, and those that are given up of them once they are superseded deep below the tip. */
async function historyGrowth(
  node: TestChain,
  growth: (work: () => Promise<void>) => Promise<number>,
  plan: { readonly updates: number; readonly empty: number; change(version: number): Parameters<Holder['create']>[0] },
): Promise<{ readonly all: number; readonly givenUp: number }> {
  const { updates, empty, change } = plan
  const holders = Array.from({ length: histories }, () => holder())
  const all = await growth(async () => {
    for (const one of holders) {
      let last = await node.publish(one.create(change(0)), one.did)
      for (let i = 1; i <= updates; i++) last = await node.publish(one.update(last, change(i)), one.did)
    }
  })
  const to = node.reader.height
  await node.mineEmpty(leastKeptDocuments)
  const { chain } = node
  // What was superseded before is none of these.
  await giveUpTo(chain, to - histories * (updates + 1))
  const givenUp = -(await growth(() => giveUpTo(chain, to)))
  return { all: all / histories - (updates + 1) * empty, givenUp: givenUp / histories }
}

async function giveUpTo(chain: TestChain['chain'], to: number): Promise<void> {
  while ((await chain.exclusive(({ pruneDocuments }) => pruneDocuments(to))) < to);
}
