import { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import type { Block } from '../../../src/base/primitives/block.js'
import type { DidOperation } from '../../../src/base/primitives/did-operation.js'
import type { SignatureCheck } from '../../../src/base/primitives/signature.js'
import { type Holder, holder } from '../../../test/support/builders/did.js'
import { ChangingCache } from '../changing-cache.js'
import { byTurns, eachOf, rateOf, type Spent, spentOn } from '../measure.js'
import { type Row, row } from '../report.js'
import { create, mineBlock, update, withChain, withWorkshop, type Workshop } from '../workshop.js'

const operations = 500
const rounds = { warmUp: 4, measured: 8 }
const updateBlocks = rounds.warmUp + rounds.measured
/** Blocks of a batch, as a sync has them. */
const blocksOfSync = 4
const about = 'Where somebody works, what they like, and how they are reached. '.repeat(8)

/**
 * Connecting blocks of 500 updates of as many DIDs, with documents of about 1.5 kB that hold a credential of their own: one
 * signature of the transaction, of the operation, of the document and of the credential each. Against verifying these alone.
 */
export async function suite(): Promise<Row[]> {
  const signatures = new ChangingCache()
  const { spec, blocks, checks } = await withWorkshop((shop) => prepare(shop, signatures), signatures)
  const updates = blocks.splice(-updateBlocks)
  const { verifying, connecting } = await withChain(spec, async (chain, { verifier }) => {
    for (const block of blocks) await chain.acceptBlock(block)
    return byTurns(rounds, spentOn, {
      verifying: (round) => () => verifier.verifyAll(checks[round] as SignatureCheck[]),
      connecting: (round) => () => chain.acceptBlock(updates[round] as Uint8Array),
    })
  })
  const syncing: Spent[] = await withChain(spec, async (chain) => {
    for (const block of blocks) await chain.acceptBlock(block)
    const spent: Spent[] = []
    const incoming = updates.map((block) => ({ block }))
    while (incoming.length > 0) spent.push(await spentOn(() => chain.acceptBlocks(incoming.splice(0, blocksOfSync))))
    return spent
  })
  const verified = rateOf(verifying, operations)
  const [one, four] = [rateOf(connecting, operations), rateOf(syncing, operations * blocksOfSync)]
  const target = (rate: number) => ({ ratio: [rate / verified, 'verifying'], least: 0.5 }) as const
  return [
    row('verify the 2000 signatures of 500 updates', verified, 'op/s'),
    row('connect blocks of 500 updates of DIDs', one, 'op/s', target(one)),
    row('the same, four a batch as in a sync', four, 'op/s', target(four)),
    row('main thread an operation', eachOf(connecting, 'main', operations), 'µs'),
    row('of it garbage collection', eachOf(connecting, 'collecting', operations), 'µs'),
  ]
}

/** Blocks as bytes, of which the last ones are updates, and the signature checks of these. */
async function prepare(shop: Workshop, signatures: ChangingCache) {
  const { chain } = shop
  const blocks: Uint8Array[] = []
  chain.events.on('change', ({ connected }) => {
    for (const { block } of connected) blocks.push((block as Block).bytes)
  })
  shop.coins.unshift(...(await shop.fan(operations * (updateBlocks + 1))))
  const mine = async (made: readonly DidOperation[]) => {
    const transactions = made.map((operation) => shop.carry(operation))
    await chain.acceptBlock((await mineBlock(chain, transactions)).bytes)
    return transactions.map(({ txid }) => txid)
  }
  const holders = Array.from({ length: operations }, holder)
  let txids = await mine(holders.map((one) => create(one)))
  const checks: SignatureCheck[][] = []
  for (let round = 0; round < updateBlocks; round++) {
    signatures.current = new SignatureCache()
    const seen = (signatures.seen = [] as SignatureCheck[])
    txids = await mine(holders.map((one, i) => updateOf(one, txids[i] as string, round)))
    if (seen.length !== 4 * operations) throw new Error(`${seen.length} signatures in ${operations} updates`)
    checks.push(seen)
  }
  return { spec: chain.sanity.spec, blocks, checks }
}

function updateOf(one: Holder, previousTxid: string, round: number): DidOperation {
  const service = { id: '#about', type: 'About', serviceEndpoint: `https://example.org/${round}`, text: about }
  const credentialSubject = { id: one.did, name: `Ada ${round}`, email: 'ada@example.org' }
  const credential = one.issue(one.did, { type: ['T'], credentialSubject })
  return update(one, previousTxid, { services: [service], credentials: [credential] })
}
