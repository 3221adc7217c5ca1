import { BlockBudget } from '../../src/ledger/consensus/block-budget.js'
import { coinRootOf, didRootAfter } from '../../src/ledger/chain/next-commitments.js'
import { commitmentAttribute } from '../../src/ledger/consensus/commitment.js'
import { noWork } from '../../src/ledger/consensus/signature-work.js'
import { sign } from '../../src/base/crypto/keys.js'
import type { Code } from '../../src/base/errors/error-codes.js'
import { brokenRule } from '../../src/base/errors/broken-rule.js'
import { type AuxPow, maxAuxPowSize } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { type Hash, zeroHash } from '../../src/base/primitives/hash.js'
import { standardProgram } from '../../src/base/primitives/program.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import { coinbaseInput } from '../../src/base/primitives/input.js'
import type { Attribute, TransactionFields } from '../../src/base/primitives/transaction-fields.js'
import {
  type BlockPlan,
  coinbaseOf,
  coinbasePayload,
  craft,
  craftBlock,
  genesisCoin,
  longAuxPow,
  outputOf,
  solved,
} from '../support/builders/blocks.js'
import { oneValidator, TestChain, withoutValidators } from '../support/builders/chain.js'
import { type SpecOverrides, testKey, testPublicKey, testSpec } from '../support/builders/spec.js'
import type { RuleRow } from './row.js'
import type { OtherState } from './states.js'
import { sideChainPow } from './transaction.js'

type Build = (chain: TestChain) => Promise<Block> | Block

/** A row whose blocks go into a new chain as bytes. */
function row(code: Code, accepted: Build, refused: Build, overrides: SpecOverrides = {}): RuleRow {
  const all = { ...withoutValidators, ...overrides }
  const submit = async (build: Build, state: OtherState | undefined) => {
    const chain = await TestChain.open(all)
    const other = await state?.chain(all, 'blocks')
    try {
      const block = await build(chain)
      const accepted = await (other ?? chain).accept(block)
      // What is kept aside is not decided, and not relayed.
      if (other !== undefined && accepted === 'side') throw brokenRule('block-stale')
    } finally {
      await chain.close()
      await other?.close()
    }
  }
  return { code, accepts: (state) => submit(accepted, state), refuses: (state) => submit(refused, state) }
}

/** The commitment of block 1 by the rules of a spec, with the witness root of a block without transactions. */
function commitment({ chain }: TestChain, spec = chain.spec): Attribute {
  return commitmentAttribute(spec, 1, { witnessRoot: zeroHash, didRoot: didRootAfter(chain, 0) })
}

/** The plan of the first block that commits to all coins, on a chain that grows up to it. */
async function committing(test: TestChain): Promise<BlockPlan> {
  await test.mineEmpty(287)
  return { coinRoot: await coinRootOf(test.chain, 288) }
}

const planned =
  (plan: BlockPlan | ((chain: TestChain) => BlockPlan | Promise<BlockPlan>) = {}): Build =>
  async (chain) =>
    craftBlock(chain.chain, typeof plan === 'function' ? await plan(chain) : plan)

const rich = 100_000_000_000n

/** A transfer of person 10 (output 0) or 11 (output 1) with a fee of 1000. */
function transfer(
  { spec, chain }: TestChain,
  output: 0 | 1 = 0,
  changes: Partial<TransactionFields> = {},
): Transaction {
  const value = (output === 0 ? rich : 2n * rich) - 1000n
  return craft(spec, [genesisCoin(chain, output)], [{ to: 30, value }], [10 + output], changes)
}

/** A block that counts as `size` bytes: a record fills it. */
const filled =
  (size: number): Build =>
  (chain) => {
    const build = (length: number) => {
      const record = { type: 3, recordType: '', content: new Uint8Array(length) } as const
      const outputs = [{ to: 30, value: rich - 20_000n }]
      const filler = craft(chain.spec, [genesisCoin(chain.chain)], outputs, [10], { payload: record })
      return craftBlock(chain.chain, { transactions: [filler] })
    }
    return build(1000 + size - build(1000).limitedSize)
  }

const limits = { blockSize: 10_000, blockTransactions: 3, transactionCost: 2, blockCost: 2 }

/** A budget after `documents` issuer documents of one byte. */
function spend(documents: number): void {
  const reads = Array.from({ length: documents }, (_, i) => ({ txid: `${i}`, payloadSize: 1, issuer: true }))
  new BlockBudget({ blockCost: 40_000 }).add({ work: noWork, did: { reads } })
}

/** A budget after programs that list `keys` keys. */
function list(keys: number): void {
  new BlockBudget({ blockCost: 40_000 }).add({ work: { ...noWork, keys } })
}

const bodyRows: readonly RuleRow[] = [
  row('block-size', filled(10_000), filled(10_001), { limits }),
  row(
    'block-transaction-count',
    planned((chain) => ({ transactions: [transfer(chain, 0), transfer(chain, 1)] })),
    planned((chain) => {
      const first = transfer(chain, 0)
      const next = craft(chain.spec, [outputOf(first)], [{ to: 31, value: rich - 2000n }], [30])
      return { transactions: [first, next, transfer(chain, 1)] }
    }),
    { limits },
  ),
  row('block-merkle-root', planned(), planned({ header: { merkleRoot: zeroHash } })),
  row(
    'block-duplicate-transaction',
    planned((chain) => ({ transactions: [transfer(chain)] })),
    planned((chain) => ({ transactions: [transfer(chain), transfer(chain)] })),
  ),
  row(
    'block-double-spend',
    planned((chain) => ({ transactions: [transfer(chain, 0), transfer(chain, 1)] })),
    planned((chain) => ({ transactions: [transfer(chain, 0), transfer(chain, 0, { attributes: [] })] })),
  ),
  row(
    'block-coinbase-position',
    planned((chain) => ({ transactions: [transfer(chain)] })),
    planned(({ chain }) => ({ transactions: [coinbaseOf(chain)] })),
  ),
  row(
    'block-signature-cost',
    planned((chain) => ({ transactions: [transfer(chain, 0), transfer(chain, 1)] })),
    planned((chain) => {
      const first = transfer(chain, 0)
      const next = craft(chain.spec, [outputOf(first)], [{ to: 31, value: rich - 2000n }], [30])
      return { transactions: [first, next, transfer(chain, 1)] }
    }),
    { limits: { ...limits, blockTransactions: 4 } },
  ),
  { code: 'block-signature-work', accepts: () => list(16_000), refuses: () => list(16_001) },
  { code: 'block-issuer-documents', accepts: () => spend(1000), refuses: () => spend(1001) },
]

/** A coinbase with other fields, committed to as it should be. */
const coinbase = (changes: Partial<TransactionFields>): Build => planned({ coinbase: changes })

/** A coinbase whose unsigned part has `size` bytes, on top of `below` blocks. */
const coinbaseOfSize =
  (size: number, below = 0): Build =>
  async (chain) => {
    for (let i = 0; i < below; i++) await chain.accept(craftBlock(chain.chain))
    return craftBlock(chain.chain, { coinbase: coinbasePayload(chain.chain, size) })
  }

/** A chain that commits to the state of all DIDs from block 2 on. */
const mapFromTwo = { didRoot: undefined, upgrades: [{ height: 2, name: 'map', parameters: { didRoot: true } }] }

const coinbaseRows: readonly RuleRow[] = [
  row(
    'coinbase-input',
    coinbase({ inputs: [coinbaseInput] }),
    coinbase({ inputs: [{ ...coinbaseInput, sequence: 0 }] }),
  ),
  row('coinbase-payload-version', coinbase({ payloadVersion: 4 }), coinbase({ payloadVersion: 0 })),
  row('coinbase-height', coinbase({ lockTime: 1 }), coinbase({ lockTime: 2 })),
  row(
    'coinbase-program',
    coinbase({ programs: [] }),
    coinbase({ programs: [standardProgram(testPublicKey(20), sign(new Uint8Array(1), testKey(20)))] }),
  ),
  row(
    'coinbase-commitment',
    planned((chain) => ({ coinbase: { attributes: [commitment(chain)] } })),
    planned((chain) => {
      const attribute = commitment(chain)
      return { coinbase: { attributes: [attribute, attribute] } }
    }),
  ),
  row(
    'coinbase-witness-root',
    planned((chain) => ({ transactions: [transfer(chain)] })),
    planned((chain) => ({
      transactions: [transfer(chain)],
      coinbase: { attributes: [commitment(chain)] },
    })),
  ),
  row(
    'coinbase-did-root',
    planned(() => ({})),
    planned(() => ({ didRoot: zeroHash })),
  ),
  row(
    'coinbase-coin-root',
    planned((chain) => committing(chain)),
    planned(async (chain) => ({ ...(await committing(chain)), coinRoot: zeroHash })),
    { coinInterval: 288 },
  ),
  row(
    'coinbase-validators',
    planned((chain) => ({ coinbase: { attributes: [commitment(chain)] } })),
    planned((chain) => ({ coinbase: { attributes: [commitment(chain, parseSpec(testSpec()))] } })),
    { ...oneValidator(), producer: 'sponsor' },
  ),
  row('coinbase-too-large', coinbaseOfSize(64 * 1024), coinbaseOfSize(64 * 1024 + 1)),
  row('coinbase-too-large', coinbaseOfSize(64 * 1024), coinbaseOfSize(64 * 1024 + 1), {
    ...oneValidator(),
    producer: 'sponsor',
    didRoot: undefined,
  }),
  row('coinbase-too-large', coinbaseOfSize(64 * 1024 + 1), coinbaseOfSize(64 * 1024 + 1, 1), mapFromTwo),
  row('coinbase-too-large', coinbaseOfSize(64 * 1024, 1), coinbaseOfSize(64 * 1024 + 1, 1), mapFromTwo),
  row(
    'coinbase-value',
    planned((chain) => ({ transactions: [transfer(chain)], fees: 1000n })),
    planned((chain) => ({ transactions: [transfer(chain)], fees: 1001n })),
  ),
]

const rising: SpecOverrides = { ...oneValidator(), producer: 'sponsor', sideChainOrder: true }

/** A block with proofs of these heights of one side chain, on top of one that proves height 9 if `below` says so. */
const proving =
  (below: readonly [9] | readonly [], ...heights: readonly number[]): Build =>
  async (test) => {
    const proof = (blockHeight: number, output: 0 | 1) => sideChainPow({ blockHeight, output })(test)
    for (const height of below) {
      await test.accept(craftBlock(test.chain, { transactions: [await proof(height, 0)] }))
    }
    const free = ([0, 1] as const).slice(below.length)
    const transactions: Transaction[] = []
    for (const [i, height] of heights.entries()) transactions.push(await proof(height, free[i] as 0 | 1))
    return craftBlock(test.chain, { transactions })
  }

const sideChainRows: readonly RuleRow[] = [
  row('tx-side-chain-proved', proving([9], 10), proving([9], 9), rising),
  row('tx-side-chain-proved', proving([9], 2 ** 29 - 1), proving([9], 8), rising),
  row('tx-side-chain-proved', proving([], 9, 10), proving([], 9, 9), rising),
  row('tx-side-chain-proved', proving([], 0, 1), proving([], 10, 9), rising),
]

/** A block whose body is its header's, and which is invalid all the same. */
const overpaid = (chain: TestChain) => craftBlock(chain.chain, { fees: 1n })

/** An unmined block on top of one that is not handed in. */
function orphan(chain: TestChain, parent: Block): Block {
  const { header } = parent
  const known = { ...chain.chain.tip, header }
  const didRoot = didRootAfter(chain.chain, 0) as Hash
  return craftBlock(chain.chain, { parent: known, didRoot, header: { bits: header.bits, time: header.time + 1 } })
}

/** `count` blocks on the active chain, then one that leaves it at genesis. */
const leavingAtGenesis =
  (count: number): Build =>
  async (chain) => {
    const genesis = chain.chain.tip
    for (let i = 0; i < count; i++) await chain.accept(craftBlock(chain.chain))
    return craftBlock(chain.chain, { parent: genesis })
  }

/** A block aside when so many are kept there. */
const aside =
  (count: number): Build =>
  async (chain) => {
    const genesis = chain.chain.tip
    for (let i = 0; i <= count; i++) await chain.accept(craftBlock(chain.chain, { parent: genesis }))
    return craftBlock(chain.chain, { parent: genesis })
  }

const two = 2 * 60 * 60
const ancestryRows: readonly RuleRow[] = [
  row(
    'block-parent-unknown',
    async (chain) => {
      const parent = craftBlock(chain.chain)
      const block = orphan(chain, parent)
      await chain.accept(parent)
      return block
    },
    (chain) => orphan(chain, craftBlock(chain.chain)),
  ),
  row('block-parent-invalid', planned(), async (chain) => {
    const parent = overpaid(chain)
    await chain.accept(parent).catch(() => {})
    return orphan(chain, parent)
  }),
  row('block-invalid', planned(), async (chain) => {
    const block = overpaid(chain)
    await chain.accept(block).catch(() => {})
    return block
  }),
  row('block-height', planned({ header: { height: 1 } }), planned({ header: { height: 2 } })),
  row('block-bits', planned({ header: { bits: 0x207fffff } }), planned({ header: { bits: 0x207ffffe } })),
  row(
    'block-time-early',
    planned(({ spec }) => ({ header: { time: spec.time + 1 } })),
    planned(({ spec }) => ({ header: { time: spec.time } })),
  ),
  row(
    'block-time-future',
    planned(({ clock }) => ({ header: { time: clock.time / 1000 + two } })),
    planned(({ clock }) => ({ header: { time: clock.time / 1000 + two + 1 } })),
  ),
  row('block-too-deep', leavingAtGenesis(288), leavingAtGenesis(289)),
  row('block-unsettled-full', aside(1023), aside(1024)),
  row(
    'block-stale',
    planned(),
    async (chain) => {
      const late = craftBlock(chain.chain)
      await chain.accept(craftBlock(chain.chain))
      return late
    },
    { ...oneValidator(), producer: 'sponsor' },
  ),
]

/** A block with another AuxPow. */
const worked =
  (change: (auxPow: AuxPow, block: Block) => AuxPow): Build =>
  (chain) => {
    const block = craftBlock(chain.chain)
    return new Block(block.header, change(block.auxPow, block), block.transactions)
  }

const auxPowRows: readonly RuleRow[] = [
  row(
    'auxpow-size',
    worked((_, { header }) => longAuxPow(header, maxAuxPowSize)),
    worked((_, { header }) => longAuxPow(header, maxAuxPowSize + 1)),
  ),
  row(
    'auxpow-parent',
    planned(),
    worked((auxPow) => ({ ...auxPow, parent: { ...auxPow.parent, merkleRoot: zeroHash } })),
  ),
  row(
    'auxpow-commitment',
    planned(),
    worked((_, { header }) => solved(Object.defineProperty(Object.create(header), 'hash', { value: zeroHash }))),
  ),
  row(
    'auxpow-index',
    planned(),
    worked((auxPow) => ({ ...auxPow, coinbaseIndex: 1 })),
  ),
  row(
    'auxpow-work',
    planned(),
    worked((_, { header }) => solved(header, false)),
  ),
]

/** A row for every code of a block but the one about its form. */
export const blockRules: RuleRow[] = [...bodyRows, ...coinbaseRows, ...sideChainRows, ...ancestryRows, ...auxPowRows]
