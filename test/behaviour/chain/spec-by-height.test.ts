import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { pruneBlocks } from '../../../src/ledger/chain/prune-chain.js'
import { UserError } from '../../../src/base/errors/rule-error.js'
import { chainProver } from '../../../src/node/chain-prover.js'
import { concat, hex, toHex } from '../../../src/base/primitives/bytes.js'
import { sha256 } from '../../../src/base/primitives/hash.js'
import { keepsMap, paramsAt, validatorChanges, validatorsHash } from '../../../src/base/primitives/spec.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { canonicalJson, parseStrictJson } from '../../../src/base/primitives/strict-json.js'
import { trustOf } from '../../../src/identity/proofs/make-trust.js'
import { tables } from '../../../src/ledger/storage/rows/tables.js'
import { runs } from '../../support/builders/arbitraries.js'
import { TestChain } from '../../support/builders/chain.js'
import { bookOf } from '../../support/builders/chain-book.js'
import { keysOf, lightIn } from '../../support/builders/light-scene.js'
import { type SpecOverrides, testPublicKey, testSpec } from '../../support/builders/spec.js'
import { contextOf, serve } from '../../support/client/api.js'
import { RpcClient } from '../../support/client/rpc.js'
import { rounds } from '../../support/process/thorough.js'

/** A spec is a function of the height: what each of its readers makes of random upgrades is compared with a table by height. */

interface Rules {
  readonly validators: readonly string[]
  readonly fees: {
    readonly minimum: string
    readonly perByte: string
    readonly freeBytes?: number
    readonly leaf?: string
  }
  readonly specifications: { readonly did: readonly string[]; readonly credential: readonly string[] }
  readonly didRoot: boolean
  readonly didCore: boolean
}

interface Entry {
  readonly height: number
  readonly name: string
  readonly parameters: Partial<Rules>
}

interface Plan {
  readonly base: Rules
  readonly upgrades: readonly Entry[]
}

/** The highest height of an entry: entries often meet at one. */
const top = 7
const heights = Array.from({ length: top + 3 }, (_, height) => height)
const few = [
  { minimum: '100', perByte: '1' },
  { minimum: '7', perByte: '0' },
  { minimum: '100', perByte: '1', freeBytes: 1024, leaf: '1200' },
] as const satisfies readonly Rules['fees'][]
const texts = [
  { did: ['a'], credential: [] },
  { did: ['b', 'a'], credential: ['c'] },
] as const

/** Upgrades of a chain whose validators are one of some lists; a list, like every value, often comes again. */
function plans(lists: readonly (readonly string[])[]): fc.Arbitrary<Plan> {
  const parameters = fc.record(
    {
      validators: fc.constantFrom(...lists),
      fees: fc.constantFrom(...few),
      specifications: fc.constantFrom(...texts),
      didRoot: fc.constant(true),
      didCore: fc.constant(true),
    },
    { requiredKeys: [] },
  )
  const entry = fc.record({ height: fc.integer({ min: 1, max: top }), name: fc.constantFrom('a', 'b'), parameters })
  const base = fc.record({
    validators: fc.constantFrom(...lists),
    fees: fc.constantFrom(...few),
    specifications: fc.constantFrom(...texts),
    didRoot: fc.boolean(),
    didCore: fc.boolean(),
  })
  const upgrades = fc.array(entry, { maxLength: 8 }).map((all) => all.toSorted((a, b) => a.height - b.height))
  return fc.record({ base, upgrades })
}

function overridesOf({ base, upgrades }: Plan): SpecOverrides {
  const { didRoot, didCore, ...rest } = base
  const producer = base.validators.length > 0 ? 'sponsor' : 'miners'
  return {
    ...rest,
    producer,
    upgrades,
    didRoot: didRoot || undefined,
    didCore: didCore || undefined,
    didNames: undefined,
  }
}

/** The rules of each height, made entry by entry. */
function tableOf({ base, upgrades }: Plan): readonly Rules[] {
  return heights.map((height) => {
    let rules = base
    for (const entry of upgrades) if (entry.height <= height) rules = { ...rules, ...entry.parameters }
    return rules
  })
}

/** Heights above 1 at which the lists of a table differ from those before. */
function changesIn(table: readonly Rules[]): readonly number[] {
  return heights.filter((height) => {
    const [before, now] = [table[height - 1], table[height]].map((rules) => rules?.validators.join())
    return height > 1 && before !== now
  })
}

const at = (table: readonly Rules[], height: number) => table[height] as Rules
const keysHash = (list: readonly string[]) => toHex(sha256(concat(...list.map(hex))))

const lists = [keysOf(4), keysOf(4).toReversed(), keysOf(7), [toHex(testPublicKey(9))]]
const anyPlan = fc.oneof(plans(lists), plans([[]]))

describe('a spec with random upgrades', () => {
  it('has the rules of each height, at most one section from each on, and names who follows whom', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const spec = parseSpec(testSpec(overridesOf(plan)))
        const table = tableOf(plan)
        for (const [height, { validators, fees, specifications, didRoot, didCore }] of table.entries()) {
          const found = paramsAt(spec, height)
          expect(found.validators.map(toHex)).toEqual(validators)
          const { minimum, perByte, freeBytes, leaf }: Rules['fees'] = fees
          const amounts = { minimum: BigInt(minimum), perByte: BigInt(perByte) }
          expect(found.fees).toEqual({ ...amounts, freeBytes, leaf: leaf === undefined ? undefined : BigInt(leaf) })
          expect([found.specifications, found.didRoot, found.didCore]).toEqual([specifications, didRoot, didCore])
          expect(toHex(validatorsHash(spec, height))).toBe(keysHash(validators))
        }
        const begins = spec.sections.map(({ height }) => height)
        expect(begins).toEqual([...new Set([0, ...plan.upgrades.map(({ height }) => height)])])
        for (const { height, params } of spec.sections) expect(params).toEqual(paramsAt(spec, height))
        expect(validatorChanges(spec)).toEqual(changesIn(table))
        expect(keepsMap(spec)).toBe(table.some(({ didRoot }) => didRoot))
        expect(trustOf(spec)?.validators).toEqual(
          keepsMap(spec) && spec.hasValidators ? at(table, 1).validators : undefined,
        )
      }),
      runs,
    )
  })

  it('has the digests of what is written, whatever is merged', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const spec = parseSpec(testSpec(overridesOf(plan)))
        expect(toHex(spec.digest)).toBe(toHex(parseSpec(testSpec({ ...overridesOf(plan), upgrades: [] })).digest))
        for (const height of heights) {
          const entries = plan.upgrades.filter((entry) => entry.height <= height)
          const text = canonicalJson(parseStrictJson(JSON.stringify(entries), { depth: 8, tokens: 1000 }))
          expect(toHex(spec.upgradesDigest(height))).toBe(toHex(sha256(text)))
        }
      }),
      runs,
    )
  })

  it('is refused where heights decrease', () => {
    fc.assert(
      fc.property(anyPlan, fc.integer({ min: 1, max: top }), (plan, height) => {
        const low = { height, name: 'low', parameters: {} }
        const upgrades = [...plan.upgrades, low]
        const isLow = plan.upgrades.some((entry) => entry.height > height)
        const read = () => parseSpec(testSpec({ ...overridesOf(plan), upgrades }))
        if (isLow) expect(read).toThrow(UserError)
        else expect(read).not.toThrow()
        if (isLow) expect(read).toThrow('upgrade low: heights must not decrease')
      }),
      runs,
    )
  })
})

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

/** Upgrades of chains that test persons confirm, with a commitment from some block on. */
const confirmedPlan = plans([1, 2, 4].map(keysOf)).filter(({ base, upgrades }) => {
  return base.didRoot || upgrades.some(({ parameters }) => parameters.didRoot === true)
})
const [sample, seed] = [rounds(8, 80), 5]
const dear = { minimum: '7', perByte: '0' }
/** Entries that meet at the height of a change, change nothing, or take back what one before them says. */
const meeting: Plan = {
  base: { validators: keysOf(4), fees: few[0], specifications: texts[0], didRoot: true, didCore: false },
  upgrades: [
    { height: 3, name: 'same', parameters: { validators: keysOf(4) } },
    { height: 4, name: 'fees', parameters: { fees: dear } },
    { height: 4, name: 'two', parameters: { validators: keysOf(2) } },
    { height: 4, name: 'nothing', parameters: {} },
    { height: 6, name: 'four', parameters: { validators: keysOf(4) } },
    { height: 6, name: 'two after all', parameters: { validators: keysOf(2) } },
    { height: 7, name: 'one', parameters: { validators: keysOf(1) } },
    { height: 7, name: 'fees again', parameters: { fees: few[0] } },
  ],
}

describe('a chain of random upgrades', () => {
  it.each([meeting, ...fc.sample(confirmedPlan, { numRuns: sample, seed })])(
    'is followed by light resolvers, tells its validators, and keeps what names others (%#)',
    async (plan) => {
      const test = await TestChain.open(overridesOf(plan))
      opened.push(test)
      const table = tableOf(plan)
      const last = heights.length - 2
      await test.mine(last)
      const tip = test.chain.tip.header
      const first = Math.max(
        1,
        table.findIndex(({ didRoot }) => didRoot),
      )
      const changes = changesIn(table).filter((height) => height > first && height <= last + 1)

      const told = await test.prover.changes(tip, 0)
      expect(told.changes.map(({ height, validators }) => [height, validators])).toEqual(
        changes.map((height) => [height, at(table, height).validators]),
      )

      const rpc = new RpcClient(contextOf(test))
      const next = changesIn(table).find((height) => height > last + 1)
      expect(await rpc.call('getarbitersinfo', {})).toMatchObject({
        arbiters: at(table, last + 1).validators,
        nextturnstartheight: next ?? null,
      })

      const server = await serve(contextOf(test))
      opened.push(server)
      // Without a checkpoint only who began at block 1 knows who names the others.
      if (first === 1) {
        const light = lightIn({ server, book: await bookOf(test) }, { maxAge: 1e9 })
        const found = await light.resolve('did:ledger:imUUPBfrZ1yZx6nWXe6LNN59VeX2E6PPKj')
        expect([found.status, found.proved.height]).toEqual([3, last])
      }

      await prune(test, last - 1)
      const below = heights.filter((height) => height > 0 && height < last)
      const kept = below.filter((height) => test.database.get(tables.transaction.key(height, 0)) !== undefined)
      expect(kept).toEqual(below.filter((height) => changesIn(table).includes(height + 1)))
      expect(await chainProver(test.chain).changes(tip, 0)).toEqual(told)
    },
  )
})

/** Has all blocks up to a height give up their transactions, as if the chain were higher. */
async function prune({ chain, database, spec }: TestChain, to: number): Promise<void> {
  const { height, hash } = chain.tip.header
  const commit = (overlay: Parameters<Parameters<typeof pruneBlocks>[0]['commit']>[0]) =>
    overlay.commit({ kind: 'header', height, hash }, { sync: false })
  const { headers } = chain
  expect(await pruneBlocks({ database, headers, spec, height: height + 1000, commit }, to)).toBe(to)
}
