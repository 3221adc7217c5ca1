import { createVerifierPool, SignatureCache } from './dist.js'
import { withChain } from './load.js'
import { ChangingCache } from './prepared-blocks.js'
import { median, type Row } from './report.js'
import { type Spent, spentOn } from './thread-time.js'
import { buildDocument, buildUpdate } from '../../src/did/build.js'
import { quickSigner } from '../../test/support/builders/signatures.js'
import { mineBlock } from './load.js'
import { credential, type Holder, operationPlan, Workshop } from './workshop.js'

const operationsPerBlock = 500
const warmUp = 4
const measured = 8
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
    return await withChain(Workshop.spec(owner), { verifier, signatures }, async (chain) => {
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
        const updates = holders.map((holder, i) => {
          const operation = updateOf(holder, previous[i] as string, round)
          return shop.carry(operation)
        })
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
      const rate = (spent: readonly Spent[]) => operationsPerBlock / (median(spent.map(({ wall }) => wall)) / 1000)
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
        { name: 'main thread an operation', value: each('main'), unit: 'µs' },
        { name: 'of it garbage collection', value: each('collecting'), unit: 'µs' },
      ]
    })
  } finally {
    await verifier.close()
  }
}

function updateOf(holder: Holder, previousTxid: string, round: number) {
  const { did, plan, signer } = holder
  const sign = (text: string) => signer.sign(Buffer.from(text))
  const service = { id: '#about', type: 'About', serviceEndpoint: `https://example.org/${round}`, text: about }
  const own = credential(holder, did, `${did}#profile`, { claims: { name: `Ada ${round}`, email: 'ada@example.org' } })
  const document = buildDocument({ ...plan, services: [service], credentials: [own] }, sign)
  return buildUpdate(document, { ...operationPlan, previousTxid }, sign)
}
