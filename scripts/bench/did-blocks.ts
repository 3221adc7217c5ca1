import type { Verifier } from '../../src/crypto/verifier.js'
import type { Block as BlockType } from '../../src/primitives/block.js'
import type { Spec } from '../../src/primitives/spec.js'
import { createVerifierPool, SignatureCache } from './dist.js'
import { ChangingCache } from './prepared-blocks.js'
import { median, type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { buildDocument, buildUpdate } from '../../src/did/build.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { mineBlock, withChain } from './load.js'
import { credential, type Holder, operationPlan, Workshop } from './workshop.js'

const operationsPerBlock = 500
const warmUp = 4
const measured = 8
/** Blocks of a batch, as a sync has them. */
const blocksOfSync = 4
const about = 'Where somebody works, what they like, and how they are reached. '.repeat(8)

/**
 * Connecting blocks of 500 updates of as many DIDs, with documents of about 1.5 kB that hold a credential of their own: one
 * signature of the transaction, of the operation, of the document and of the credential each. Against verifying these alone.
 */
export async function didBlocksSuite(): Promise<Row[]> {
  const owner = quickSigner()
  const verifier = createVerifierPool()
  const signatures = new ChangingCache()
  try {
    const spec = Workshop.spec(owner)
    return await withChain(spec, { verifier, signatures }, async (chain) => {
      const blocks: Promise<BlockType>[] = []
      chain.events.on('change', ({ connected }) => blocks.push(...connected.map((block) => block.read())))
      const shop = new Workshop(chain, owner)
      const coins = await shop.fan(operationsPerBlock * (warmUp + measured + 2))
      shop.coins.unshift(...coins)
      const holders = Array.from({ length: operationsPerBlock }, () => shop.holder())
      const creates = holders.map((holder) => shop.carry(shop.create(holder)))
      await shop.mine(creates)
      let previous = creates.map(({ txid }) => txid)
      const connecting: Spent[] = []
      const verifying: Spent[] = []
      let count = 0
      for (let round = 0; round < warmUp + measured; round++) {
        const updates = holders.map((holder, i) => shop.carry(updateOf(holder, previous[i] as string, round)))
        previous = updates.map(({ txid }) => txid)
        const block = await mineBlock(chain, shop.parent, updates)
        signatures.current = new SignatureCache()
        signatures.seen = []
        const connected = await spentOn(() => chain.acceptBlock(block.bytes))
        const seen = signatures.seen ?? []
        const verified = await spentOn(() => verifier.verifyAll(seen))
        count = seen.length
        shop.parent = block.header
        if (round < warmUp) continue
        connecting.push(connected)
        verifying.push(verified)
      }
      const syncing = await inBatches(spec, verifier, await Promise.all(blocks))
      const rate = (spent: readonly Spent[], blocks = 1) =>
        (operationsPerBlock * blocks) / (median(spent.map(({ wall }) => wall)) / 1000)
      const each = (of: keyof Spent) => (median(connecting.map((one) => one[of])) * 1000) / operationsPerBlock
      return [
        {
          name: `verify the ${count} signatures of 500 updates`,
          value: rate(verifying),
          unit: 'op/s',
        },
        {
          name: 'connect blocks of 500 updates of DIDs',
          value: rate(connecting),
          unit: 'op/s',
          ratio: { value: rate(connecting) / rate(verifying), against: 'verifying' },
          target: { least: 0.5 },
        },
        {
          name: 'the same, four a batch as in a sync',
          value: rate(syncing, blocksOfSync),
          unit: 'op/s',
          ratio: { value: rate(syncing, blocksOfSync) / rate(verifying), against: 'verifying' },
          target: { least: 0.5 },
        },
        { name: 'main thread an operation', value: each('main'), unit: 'µs' },
        { name: 'of it garbage collection', value: each('collecting'), unit: 'µs' },
      ]
    })
  } finally {
    await verifier.close()
  }
}

/** Connects all blocks to another chain, and measures the batches that hold nothing but updates. */
async function inBatches(spec: Spec, verifier: Verifier, blocks: readonly BlockType[]): Promise<readonly Spent[]> {
  const incoming = blocks.map(({ bytes }) => ({ block: bytes }))
  const updates = incoming.splice(incoming.length - (warmUp + measured))
  return withChain(spec, { verifier }, async (chain) => {
    for (const { block } of incoming) await chain.acceptBlock(block)
    const spent: Spent[] = []
    for (let at = 0; at < updates.length; at += blocksOfSync) {
      spent.push(await spentOn(() => chain.acceptBlocks(updates.slice(at, at + blocksOfSync))))
    }
    return spent
  })
}

function updateOf(holder: Holder, previousTxid: string, round: number) {
  const { did, plan, signer } = holder
  const sign = (text: string) => signer.sign(Buffer.from(text))
  const service = { id: '#about', type: 'About', serviceEndpoint: `https://example.org/${round}`, text: about }
  const own = credential(holder, did, `${did}#profile`, { claims: { name: `Ada ${round}`, email: 'ada@example.org' } })
  const document = buildDocument({ ...plan, services: [service], credentials: [own] }, sign)
  return buildUpdate(document, { ...operationPlan, previousTxid }, sign)
}
