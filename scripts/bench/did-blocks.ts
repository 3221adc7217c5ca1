import type { Verifier } from '../../src/base/crypto/verifier.js'
import type { Chain } from '../../src/ledger/chain/chain.js'
import type { Block } from '../../src/base/primitives/block.js'
import type { SignatureCheck } from '../../src/base/primitives/signature.js'
import type { Spec } from '../../src/base/primitives/spec.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { createVerifierPool, SignatureCache } from './dist.js'
import { ChangingCache } from './prepared-blocks.js'
import { median, type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { buildDocument, buildUpdate } from '../../src/identity/did/build.js'
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
      const maker = new UpdateMaker(chain, new Workshop(chain, owner), signatures)
      await maker.begin()
      const connecting: Spent[] = []
      const verifying: Spent[] = []
      await withChain(spec, { verifier }, async (other) => {
        for (const block of maker.blocks) await other.acceptBlock(block)
        for (let round = 0; round < warmUp + measured; round++) {
          const verified = await verifyingOf(await maker.next(), verifier)
          const connected = await spentOn(() => other.acceptBlock(maker.blocks.at(-1) as Uint8Array))
          if (round < warmUp) continue
          connecting.push(connected)
          verifying.push(verified)
        }
      })
      const syncing = await inBatches(spec, verifier, maker.blocks)
      const rate = (spent: readonly Spent[], blocks = 1) =>
        (operationsPerBlock * blocks) / (median(spent.map(({ wall }) => wall)) / 1000)
      const each = (of: keyof Spent) => (median(connecting.map((one) => one[of])) * 1000) / operationsPerBlock
      return [
        { name: 'verify the 2000 signatures of 500 updates', value: rate(verifying), unit: 'op/s' },
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

async function verifyingOf(checks: readonly SignatureCheck[], verifier: Verifier): Promise<Spent> {
  if (checks.length !== 4 * operationsPerBlock) throw new Error(`${checks.length} signatures in 500 updates`)
  return spentOn(() => verifier.verifyAll(checks))
}

/** Makes blocks of updates on a chain of its own. Keeps bytes: objects would be collected with those that are measured. */
class UpdateMaker {
  readonly blocks: Uint8Array[] = []
  readonly #chain: Chain
  readonly #shop: Workshop
  readonly #signatures: ChangingCache
  readonly #holders: readonly Holder[]
  #previous: readonly string[] = []
  #round = 0

  constructor(chain: Chain, shop: Workshop, signatures: ChangingCache) {
    this.#chain = chain
    this.#shop = shop
    this.#signatures = signatures
    this.#holders = Array.from({ length: operationsPerBlock }, () => shop.holder())
    chain.events.on('change', ({ connected }) => {
      for (const { block } of connected) this.blocks.push((block as Block).bytes)
    })
  }

  /** Blocks that create the DIDs, and the coins for their updates. */
  async begin(): Promise<void> {
    const coins = await this.#shop.fan(operationsPerBlock * (warmUp + measured + 2))
    this.#shop.coins.unshift(...coins)
    await this.#mine(this.#holders.map((holder) => this.#shop.carry(this.#shop.create(holder))))
  }

  /** Adds a block of updates; returns its signature checks. */
  async next(): Promise<readonly SignatureCheck[]> {
    const seen: SignatureCheck[] = []
    this.#signatures.current = new SignatureCache()
    this.#signatures.seen = seen
    const round = this.#round++
    await this.#mine(
      this.#holders.map((holder, i) => this.#shop.carry(updateOf(holder, this.#previous[i] as string, round))),
    )
    this.#signatures.seen = undefined
    return seen
  }

  async #mine(transactions: readonly Transaction[]): Promise<void> {
    this.#previous = transactions.map(({ txid }) => txid)
    const block = await mineBlock(this.#chain, this.#shop.parent, transactions)
    await this.#chain.acceptBlock(block.bytes)
    this.#shop.parent = block.header
  }
}

/** Connects all blocks to another chain, and measures the batches that hold nothing but updates. */
async function inBatches(spec: Spec, verifier: Verifier, blocks: readonly Uint8Array[]): Promise<readonly Spent[]> {
  const incoming = blocks.map((block) => ({ block }))
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
