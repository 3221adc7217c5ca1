import { RuleError } from '../../src/base/errors/rule-error.js'
import { policy } from '../../src/ledger/mempool/policy.js'
import type { Payload } from '../../src/base/primitives/payload.js'
import { coinbaseOf, craft, craftBlock, genesisCoin, outputOf } from '../support/builders/blocks.js'
import { oneValidator } from '../support/builders/chain.js'
import { holder } from '../support/builders/did.js'
import type { SpecOverrides } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import { type Build, record, row, sideChainPow, smallBlocks } from './transaction.js'

const rich = 100_000_000_000n

/** A transaction on top of `length` unconfirmed ones. */
const chained =
  (length: number): Build =>
  async ({ spec, chain, mempool }) => {
    let value = rich - 1000n
    let last = craft(spec, [genesisCoin(chain)], [{ to: 10, value }], [10])
    for (let i = 0; i < length; i++) {
      await mempool.accept(last.bytes, { local: false })
      value -= 1000n
      last = craft(spec, [outputOf(last)], [{ to: 10, value }], [10])
    }
    return last
  }

/** The operation of a DID that comes after so many pending ones. */
const operation =
  (pending: number): Build =>
  async (chain) => {
    const ada = holder()
    let last = await chain.carry(ada.create(), ada.did)
    for (let i = 0; i < pending; i++) {
      const { txid } = await chain.send(last)
      last = await chain.carry(ada.update(txid), ada.did)
    }
    return last
  }

const create: Build = (chain) => {
  const ada = holder()
  return chain.carry(ada.create(), ada.did)
}

/** The update of a document that is on the chain, which has to be read. */
const updateOfMined: Build = async (chain) => {
  const ada = holder()
  const created = await chain.carry(ada.create(), ada.did)
  await chain.accept(craftBlock(chain.chain, { transactions: [created] }))
  return chain.carry(ada.update(created.txid), ada.did)
}

/** A pool with room for two, in which person 11 paid 5000; person 10 pays `fee`, person 20 pays 4000. */
const third =
  (fee: bigint): Build =>
  async (chain) => {
    const { spec, mempool } = chain
    const pay = (output: 0 | 1, rate: bigint) => {
      const value = (output === 0 ? rich : 2n * rich) - rate
      return craft(spec, [genesisCoin(chain.chain, output)], [{ to: 20, value }], [10 + output])
    }
    const first = pay(1, 5000n)
    await mempool.accept(first.bytes, { local: false })
    const second = craft(spec, [outputOf(first)], [{ to: 21, value: 2n * rich - 9000n }], [20])
    await mempool.accept(second.bytes, { local: false })
    return pay(0, fee)
  }

/** A payment of so much more than the floor of a pool for which a record was too large. */
const atFloor =
  (more: bigint): Build =>
  async ({ spec, chain, mempool }) => {
    const record = (bytes: number): Payload => ({ type: 3, recordType: '', content: new Uint8Array(bytes) })
    // It stays, so that the pool is not far from full.
    const dear = { to: 10, value: rich - 1_000_000n } as const
    const kept = craft(spec, [genesisCoin(chain)], [dear], [10], { payload: record(300) })
    await mempool.accept(kept.bytes, { local: false })
    const cheap = { to: 20, value: 2n * rich - 4000n } as const
    const evicted = craft(spec, [genesisCoin(chain, 1)], [cheap], [11], { payload: record(900) })
    await mempool.accept(evicted.bytes, { local: false }).catch(() => {})
    const pay = (fee: bigint) => craft(spec, [outputOf(kept)], [{ to: 20, value: dear.value - fee }], [10])
    const { length } = pay(1000n).bytes
    return pay(BigInt(Math.ceil((mempool.floor * length) / 1000)) + more)
  }

/** A payment of the genesis coins of some persons. */
const signers =
  (...persons: (10 | 11)[]): Build =>
  ({ spec, chain }) => {
    const coins = persons.map((person) => genesisCoin(chain, person === 10 ? 0 : 1))
    return craft(spec, coins, [{ to: 30, value: rich - 1000n }], persons)
  }

/** A payment for which a block of this node was refused, or another one was. */
const blamed =
  (itself: boolean): Build =>
  ({ spec, chain, mempool }) => {
    const pay = (to: number) => craft(spec, [genesisCoin(chain)], [{ to, value: rich - 1000n }], [10])
    const { txid } = pay(itself ? 30 : 31)
    mempool.refusedBlocks.note(new RuleError('tx-signature', 'program 0', { transaction: txid }), 1)
    return pay(30)
  }

/** A proof of work for a side chain of whose block 9 the pool holds one. */
const second =
  (blockHeight: number): Build =>
  async (chain) => {
    await chain.send(await sideChainPow({ blockHeight: 9 })(chain))
    return sideChainPow({ sideBlock: 3, output: 1, blockHeight })(chain)
  }

/** A proof of work for a side chain of which the chain has one of block 9. */
const afterMined =
  (blockHeight: number): Build =>
  async (chain) => {
    await chain.send(await sideChainPow({ blockHeight: 9 })(chain))
    await chain.mine()
    return sideChainPow({ sideBlock: 3, output: 1, blockHeight })(chain)
  }

/** A payment of 1000 sela and 119 bytes that waits, with or without a child, and one of another fee in its stead. */
const instead =
  (fee: bigint, { builtUpon = false } = {}): Build =>
  async ({ spec, chain, mempool }) => {
    const pay = (to: number, price: bigint) => craft(spec, [genesisCoin(chain)], [{ to, value: rich - price }], [10])
    const first = pay(20, 1000n)
    await mempool.accept(first.bytes, { local: false })
    const child = craft(spec, [outputOf(first)], [{ to: 21, value: rich - 2000n }], [20])
    if (builtUpon) await mempool.accept(child.bytes, { local: false })
    return pay(22, fee)
  }

/** Payments of two coins that wait, and one that spends both. */
const insteadOfTwo: Build = async ({ spec, chain, mempool }) => {
  const coins = [genesisCoin(chain), genesisCoin(chain, 1)] as const
  for (const [i, coin] of coins.entries()) {
    const one = craft(spec, [coin], [{ to: 20, value: BigInt(i + 1) * rich - 1000n }], [10 + i])
    await mempool.accept(one.bytes, { local: false })
  }
  return craft(spec, coins, [{ to: 20, value: 3n * rich - 9000n }], [10, 11])
}

/** What a block of 10 000 bytes holds beside header, count and coinbase. */
const largest = 10_000 - 84 - 4 - policy.coinbaseRoom

const validated: SpecOverrides = { ...oneValidator(), producer: 'sponsor' }

/** A row for every refusal that only a pool makes. */
export const poolRules: RuleRow[] = [
  row(
    'pool-coinbase',
    ({ spec, chain }) => craft(spec, [genesisCoin(chain)], [{ to: 30, value: 1n }], [10]),
    ({ chain }) => coinbaseOf(chain),
  ),
  row('pool-size', record(largest), record(largest + 1), smallBlocks),
  row('pool-size', record(policy.transactionSize), record(policy.transactionSize + 1)),
  row('pool-inputs', signers(10), signers(10, 11), {}, { inputs: 1 }),
  row('pool-signature-cost', signers(10), signers(10, 11), {}, { signatureCost: 1 }),
  row('pool-documents', create, updateOfMined, {}, { documentShare: 2 ** -24 }),
  row('pool-full', third(4001n), third(3999n), {}, { poolSize: 600 }),
  row('fee-too-low', atFloor(0n), atFloor(-1n), {}, { poolSize: 1300 }),
  row('pool-ancestors', chained(25), chained(26)),
  row('pool-did-pending', operation(7), operation(8)),
  row('pool-replacement-fee', instead(1219n), instead(1218n)),
  row('pool-replacement-built-upon', instead(9000n), instead(9000n, { builtUpon: true })),
  row('pool-replacements', instead(9000n), insteadOfTwo, {}, { replacements: 1 }),
  row('pool-unmineable', blamed(false), blamed(true)),
  row('pool-side-chain', second(10), second(9), validated),
  row('pool-side-chain', afterMined(10), afterMined(9), validated),
]
