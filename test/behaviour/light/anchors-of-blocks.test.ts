import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import { auxPowBytes, maxAuxPowSize } from '../../../src/base/primitives/auxpow.js'
import { Block, maxBlockTransactions } from '../../../src/base/primitives/block.js'
import { concat, fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { confirmBytes } from '../../../src/base/primitives/confirm.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { Header } from '../../../src/base/primitives/header.js'
import { firstBranchSteps, foldBranch } from '../../../src/base/primitives/merkle.js'
import { fixedLimits, paramsAt } from '../../../src/base/primitives/spec.js'
import { finish } from '../../../src/base/primitives/steps.js'
import { attributeUsage, type Transaction } from '../../../src/base/primitives/transaction.js'
import type { Attribute, TransactionFields } from '../../../src/base/primitives/transaction-fields.js'
import {
  type Anchor,
  type AnchoredBlock,
  committedBlock,
  headerOf,
  type KnownChain,
  readAnchor,
  standingBlock,
} from '../../../src/identity/proofs/anchor.js'
import { maxAnchorCoinbase } from '../../../src/identity/proofs/anchor-coinbase.js'
import { checkChange, readChange } from '../../../src/identity/proofs/changes.js'
import type { Checking } from '../../../src/identity/proofs/signature-checks.js'
import { HeaderChain, readHeaders } from '../../../src/identity/proofs/work.js'
import {
  type BlockPlan,
  coinbaseOf,
  coinbasePayload,
  type ConfirmPlan,
  craftBlock,
  craftConfirm,
  longAuxPow,
  personHash,
} from '../../support/builders/blocks.js'
import { TestChain, withoutValidators } from '../../support/builders/chain.js'
import { changing, keysOf } from '../../support/builders/light-scene.js'
import type { SpecOverrides } from '../../support/builders/spec.js'
import { settle } from '../../support/assert/settle.js'
import { rounds } from '../../support/process/thorough.js'

/** Whatever block the chain accepts, an anchor is made of it, and the checks of proofs accept it. */

const opened: TestChain[] = []
afterAll(async () => {
  for (const chain of opened) await chain.close()
})

async function open(overrides: SpecOverrides): Promise<TestChain> {
  const test = await TestChain.open(overrides)
  opened.push(test)
  return test
}

/** What the checks make of the anchor of the tip, as it is sent. */
async function anchored(test: TestChain): Promise<AnchoredBlock> {
  const { spec, chain } = test
  const tip = chain.tip.header
  const sent = JSON.parse(JSON.stringify(await test.prover.change(tip, { depth: 0 }))) as { readonly anchor: unknown }
  const genesis = chain.genesis.header.hash
  if (!spec.hasValidators) {
    return settle(checkAnchor(readAnchor(sent.anchor, false), { genesis, requireWork: await worked(test) }))
  }
  const change = readChange(sent)
  const keysAt = (height: number) => paramsAt(spec, height).validators
  settle(checkChange(change, { height: tip.height, keys: keysAt(tip.height) }, genesis))
  return settle(checkAnchor(change.anchor, { genesis, keysAt }))
}

/** The steps of a checker for an anchor. */
function* checkAnchor(anchor: Anchor, known: KnownChain): Checking<AnchoredBlock> {
  const block = committedBlock(anchor, headerOf(anchor), known.keysAt !== undefined)
  return yield* standingBlock(anchor, block, known)
}

/** The chain of headers as it is sent, each with its work. */
async function worked({ spec, chain, prover, clock }: TestChain) {
  const headers = HeaderChain.over(spec, [chain.genesis.header])
  while (headers.tip.height < chain.tip.header.height) {
    const sent = await prover.headers(headers.tip.height + 1, 2000)
    expect(sent.length).toBeGreaterThan(0)
    for (const full of readHeaders(JSON.parse(JSON.stringify(sent)))) headers.add(full, clock.now())
  }
  return (header: Parameters<HeaderChain['requireDeep']>[0]) => headers.requireDeep(header, 0)
}

/** Hands a block in; whether the chain accepts it. */
async function accepts(test: TestChain, block: Block, confirm: ConfirmPlan = {}): Promise<boolean> {
  const { spec, chain } = test
  try {
    await chain.acceptBlock(
      block.bytes,
      spec.hasValidators ? confirmBytes(craftConfirm(spec, block, confirm)) : undefined,
    )
  } catch (error) {
    if (error instanceof RuleError) return false
    throw error
  }
  expect(chain.tip.header.id).toBe(block.hash)
  return true
}

interface RandomBlock {
  readonly version: 0 | 9
  readonly data: Uint8Array
  readonly before: readonly Attribute[]
  readonly after: readonly Attribute[]
  readonly outputs: readonly { readonly value: bigint; readonly outputLock: number; readonly person: number }[]
  readonly zeros: number
  readonly header: { readonly version: number; readonly nonce: number }
  readonly late: number
  readonly view: number
  /** Bytes that the unsigned part of the coinbase has above the limit, by a longer payload; undefined: whatever it has. */
  readonly above: number | undefined
}

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const data = (max: number) => fc.uint8Array({ maxLength: max })
const usages = Object.values(attributeUsage)
const attribute: fc.Arbitrary<Attribute> = fc.oneof(
  fc.record({ usage: fc.constantFrom(...usages), data: data(40) }),
  fc.record({ usage: fc.constantFrom(0x81, 0x90), data: fc.constant(new Uint8Array(fixedLimits.attributeSize)) }),
  // Close to a second commitment, and one.
  fc.record({ usage: fc.constant(0x81), data: data(34).map((more) => concat(fromUtf8('LDG'), more)) }),
  fc.constant({ usage: 0x20, data: personHash(3) }),
)
const attributes = fc.array(attribute, { maxLength: 8 })
const randomBlock: fc.Arbitrary<RandomBlock> = fc.record({
  version: fc.constantFrom<0 | 9>(0, 9),
  data: data(300),
  before: attributes,
  after: attributes,
  outputs: fc.array(
    fc.record({
      value: fc.bigInt({ min: -1n, max: 200_000_000n }),
      outputLock: u32,
      person: fc.integer({ min: 1, max: 9 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  zeros: fc.constantFrom(0, 0, 0, 0, 1, 3, 900, 988, 1024),
  header: fc.record({ version: u32, nonce: u32 }),
  late: fc.constantFrom(-1, 0, 0, 1, 7000),
  view: fc.oneof(fc.integer({ min: 0, max: 5 }), u32),
  above: fc.constantFrom(undefined, undefined, -1, 0, 1),
})

/** The plan of a random block on the tip of a chain. */
function planOf({ chain }: TestChain, random: RandomBlock): BlockPlan {
  const commitment = coinbaseOf(chain).attributes.at(-1) as Attribute
  const { version, before, after, above } = random
  const extra = version === 9 ? { extra: { type: 0, payload: new Uint8Array(0) } } : {}
  const { assetId } = chain.sanity
  const fields: Partial<TransactionFields> = {
    version,
    attributes: [...before, commitment, ...after],
    outputs: [
      ...random.outputs,
      ...Array.from({ length: random.zeros }, () => ({ value: 0n, outputLock: 0, person: 1 })),
    ].map(({ value, outputLock, person }) => ({
      assetId,
      value,
      outputLock,
      programHash: personHash(person),
      ...extra,
    })),
  }
  const payload = (length: number) => ({ type: 0, data: concat(random.data, new Uint8Array(length)) }) as const
  const size = (length: number) => coinbaseOf(chain, { coinbase: { ...fields, payload: payload(length) } }).unsignedSize
  // A payload that is longer has a longer count before it: 300 bytes and more have the same.
  const room = above === undefined ? 0 : maxAnchorCoinbase + above - size(300)
  const coinbase = { ...fields, payload: payload(room > 0 ? room + 300 : 0) }
  const parent = chain.tip.header
  return { coinbase, header: { ...random.header, time: parent.time + 1 + random.late } }
}

describe.each<[string, SpecOverrides]>([
  ['with a validator', { validators: keysOf(1) }],
  [
    'with seven validators, who change',
    {
      validators: keysOf(7),
      upgrades: [5, 9, 14, 20].map((height, i) => ({ height, name: 'u', parameters: { validators: keysOf(2 + i) } })),
    },
  ],
  ['without validators', withoutValidators],
])('a random block of a chain %s', (_, overrides) => {
  it('is refused, or an anchor that the checks accept', async () => {
    const test = await open(overrides)
    // Random times run ahead of a clock that stands still.
    test.clock.time += 1_000_000_000
    let accepted = 0
    const tried = rounds(24, 600)
    for (const random of fc.sample(randomBlock, { numRuns: tried, seed: 7 })) {
      const block = craftBlock(test.chain, planOf(test, random))
      if (!(await accepts(test, block, { view: random.view }))) continue
      accepted++
      expect((await anchored(test)).header.id).toBe(block.hash)
    }
    expect(accepted).toBeGreaterThan(tried / 5)
    expect(accepted).toBeLessThan(tried)
  })
})

type Bound = readonly [about: string, SpecOverrides, build: (test: TestChain) => Block, confirm: ConfirmPlan]

/** The bounds of what a checker reads, each reached by a block that the chain accepts. */
const bounds: readonly Bound[] = [
  [
    'a coinbase whose unsigned part has 64 KiB',
    { validators: keysOf(4) },
    ({ chain }) => craftBlock(chain, { coinbase: coinbasePayload(chain, maxAnchorCoinbase) }),
    {},
  ],
  [
    'a coinbase that pays as many outputs as fit',
    withoutValidators,
    ({ chain }) => {
      const { outputs, unsignedSize } = coinbaseOf(chain)
      const room = Math.floor((maxAnchorCoinbase - unsignedSize - 2) / 65)
      const more = Array.from({ length: room }, () => ({ ...(outputs[0] as (typeof outputs)[number]), value: 0n }))
      return craftBlock(chain, { coinbase: { outputs: [...outputs, ...more] } })
    },
    {},
  ],
  [
    'a coinbase with as many attributes as there may be, as long as they may be',
    withoutValidators,
    ({ chain }) => {
      const long = { usage: attributeUsage.memo, data: new Uint8Array(fixedLimits.attributeSize) }
      const commitment = coinbaseOf(chain).attributes.at(-1) as Attribute
      const many = Array.from({ length: fixedLimits.attributes - 1 }, () => long)
      return craftBlock(chain, { coinbase: { attributes: [...many, commitment] } })
    },
    {},
  ],
  [
    'a hundred validators, and the last view there is',
    { validators: keysOf(100) },
    ({ chain }) => craftBlock(chain),
    { view: 0xffffffff },
  ],
  [
    'votes of the last validators alone',
    { validators: keysOf(100) },
    ({ chain }) => craftBlock(chain),
    { voters: Array.from({ length: 67 }, (_, i) => 33 + i) },
  ],
  [
    'an AuxPow as long as one may be',
    withoutValidators,
    ({ chain }) => {
      const { header, transactions } = craftBlock(chain)
      return new Block(header, longAuxPow(header, maxAuxPowSize), transactions)
    },
    {},
  ],
]

it('the block before a change of validators cannot be made one of which there is no proof', async () => {
  const test = await open(changing)
  const { chain, prover } = test
  // The validators change at 4 and at 8.
  await test.mine(6)
  const { outputs } = coinbaseOf(chain)
  const zero = { ...(outputs[0] as (typeof outputs)[number]), value: 0n }
  const many = craftBlock(chain, { coinbase: { outputs: Array.from({ length: 1024 }, () => zero) } })
  await expect(test.accept(many)).rejects.toMatchObject({ code: 'coinbase-too-large' })
  // Nor is it prepared for a vote.
  await expect(chain.prepare(many.bytes)).rejects.toMatchObject({ code: 'coinbase-too-large' })
  await test.mine(3)
  const { changes } = await prover.changes(chain.tip.header, 0)
  expect(changes.map(({ height }) => height)).toEqual([4, 8])
})

describe('a block at a bound of what a checker reads', () => {
  it.each(bounds)('is accepted, and so is its anchor: %s', async (_, overrides, build, confirm) => {
    const test = await open(overrides)
    const block = build(test)
    expect(await accepts(test, block, confirm)).toBe(true)
    expect((await anchored(test)).header.id).toBe(block.hash)
  })

  it('has a branch that is read, with as many transactions as there may be', async () => {
    const { chain } = await open(withoutValidators)
    const { header, transactions } = craftBlock(chain)
    const others = Array.from({ length: maxBlockTransactions - 1 }, (_, i) => sha256(`transaction ${i + 1}`))
    const branch = finish(firstBranchSteps(others))
    const [coinbase] = transactions as [Transaction]
    const full = new Header({ ...header, merkleRoot: foldBranch(coinbase.hash, branch, 0) })
    const encoded = { header: full.bytes, coinbase: coinbase.unsigned, branch: concat(...branch) }
    const anchor = Object.fromEntries(Object.entries(encoded).map(([name, bytes]) => [name, encodeBase64url(bytes)]))
    expect(committedBlock(readAnchor(anchor, false), full, false).header.id).toBe(full.id)
  })

  it('of the AuxPow has as many bytes as one may', async () => {
    const { chain } = await open(withoutValidators)
    expect(auxPowBytes(longAuxPow(craftBlock(chain).header, maxAuxPowSize))).toHaveLength(maxAuxPowSize)
  })
})
