import * as Type from '@sinclair/typebox'
import { RuleError, UserError } from '../errors/rule-error.js'
import { parseAddress, prefix } from './address.js'
import { maxBlockTransactions } from './block.js'
import { fromUtf8, hex } from './bytes.js'
import { coinDepth } from './coin-depth.js'
import { easiestBits, targetOf, validTarget } from './compact.js'
import { defined } from './defined.js'
import { longestName } from './did-name.js'
import type { Fees } from './fees.js'
import { sha256 } from './hash.js'
import { coordinatesOf } from './p256.js'
import type { Params, Spec } from './spec.js'
import { canonicalJson, type JsonValue, parseStrictJson } from './strict-json.js'
import { Errors } from '@sinclair/typebox/errors'
import { Check } from '@sinclair/typebox/value'

/** Reads the file of a chain spec, whose format is in docs/genesis.md. */

/** A function, and pure: bundlers leave schema and typebox out where a program uses a {@link Spec} and reads none. */
function schemaOfSpec() {
  const strict = { additionalProperties: false }
  const integer = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER, description?: string) =>
    Type.Integer({ minimum, maximum, ...defined({ description }) })
  const amount = (description?: string) =>
    Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$', ...defined({ description }) })
  const publicKey = Type.String({ pattern: '^0[23][0-9a-f]{64}$' })

  const fees = Type.Object(
    {
      minimum: amount('per transaction'),
      perByte: amount('per byte of the unsigned part beyond the free ones'),
      freeBytes: Type.Optional(integer(0, 0xffffffff, 'bytes of the unsigned part that cost nothing; absent: 0')),
      leaf: Type.Optional(amount('for a leaf that an operation on a credential adds to the map of DIDs; absent: 0')),
    },
    strict,
  )
  const specifications = Type.Object(
    {
      did: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
      credential: Type.Array(Type.String({ minLength: 1 })),
    },
    strict,
  )
  const validators = Type.Array(publicKey, { maxItems: 100, uniqueItems: true })
  const didRoot = Type.Literal(true, { description: 'blocks commit to the state of all DIDs; absent: they do not' })
  const didCore = Type.Literal(true, {
    description:
      'documents take endpoints that are objects or lists, `keyAgreement` and `alsoKnownAs`; absent: they do not',
  })
  const didNames = Type.Array(amount('for a name of as many characters as its place in the list'), {
    minItems: 1,
    maxItems: longestName,
    description:
      'prices of names of DIDs, by their length; the last one holds for longer ones too. Absent: DIDs have no names and no controllers',
  })
  const coinInterval = integer(
    coinDepth,
    0xffffffff,
    'blocks from one that commits to all coins to the next; absent: none does',
  )

  return Type.Object(
    {
      name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }),
      devnet: Type.Boolean({ description: 'one validator, virtual time, dev_ methods; never for value' }),
      time: integer(0, 0xffffffff, 'Unix seconds of the genesis block'),
      asset: Type.Object(
        {
          name: Type.String(),
          description: Type.String(),
          precision: integer(8, 8),
          assetType: integer(0, 1),
          recordType: integer(0, 1),
          amount: amount(),
          controller: Type.String({ pattern: '^[0-9a-f]{42}$' }),
        },
        strict,
      ),
      allocations: Type.Array(Type.Object({ address: Type.String(), amount: amount() }, strict), {
        minItems: 1,
        maxItems: 65535,
      }),
      powLimitBits: integer(0, 0xffffffff),
      retarget: Type.Object({ interval: integer(2, 1_000_000), spacing: integer(1, 1_000_000) }, strict),
      auxpowChainId: integer(0, 0xffffffff),
      evmChainId: integer(0),
      producer: Type.Union([Type.Literal('sponsor'), Type.Literal('miners')]),
      maturity: integer(0, 1_000_000, 'blocks before a coinbase output may be spent'),
      maxMoney: amount('bound of every amount and sum'),
      subsidy: Type.Object({ initial: amount(), halving: integer(0, 0xffffffff) }, strict),
      fees,
      limits: Type.Object(
        {
          blockSize: integer(10_000, 8_000_000),
          blockTransactions: integer(1, maxBlockTransactions),
          transactionCost: integer(1, 2_000),
          blockCost: integer(1, 40_000),
        },
        strict,
      ),
      specifications,
      validators,
      validatorNames: Type.Optional(
        // Nor Type.Record.
        Type.Unsafe<Record<string, string>>({
          ...strict,
          description: 'what pages call the validators, by key; no part of the rules',
          [Type.Kind]: 'Record',
          type: 'object',
          patternProperties: { [publicKey.pattern as string]: Type.String({ minLength: 1, maxLength: 32 }) },
        }),
      ),
      didRoot: Type.Optional(didRoot),
      didCore: Type.Optional(didCore),
      didNames: Type.Optional(didNames),
      coinInterval: Type.Optional(coinInterval),
      sideChainOrder: Type.Optional(
        Type.Literal(true, { description: 'each proof of side-chain work is of a later block; absent: of any' }),
      ),
      timing: Type.Object(
        {
          minInterval: integer(0, 3_600_000, 'milliseconds'),
          emptyInterval: integer(0, 3_600_000, 'milliseconds'),
          maxDrift: integer(0, 3_600_000, 'milliseconds'),
          propose: integer(1, 3_600_000, 'milliseconds'),
          delta: integer(0, 3_600_000, 'milliseconds'),
        },
        strict,
      ),
      maxViewTimeout: integer(1, 3_600_000, 'milliseconds'),
      upgrades: Type.Array(
        Type.Object(
          {
            height: integer(1, 0xffffffff),
            name: Type.String({ minLength: 1 }),
            // Not Type.Partial: it would be loaded with every page that reads a spec.
            parameters: Type.Object(
              {
                validators: Type.Optional(validators),
                fees: Type.Optional(fees),
                specifications: Type.Optional(specifications),
                didRoot: Type.Optional(didRoot),
                didCore: Type.Optional(didCore),
                didNames: Type.Optional(didNames),
                coinInterval: Type.Optional(coinInterval),
              },
              strict,
            ),
          },
          strict,
        ),
      ),
    },
    strict,
  )
}

export const specSchema = /* @__PURE__ */ schemaOfSpec()

type SpecFile = Type.Static<typeof specSchema>

const specLimits = {
  /** @limit levels: nesting of a chain spec */
  depth: 8,
  /** @limit count: tokens of a chain spec */
  tokens: 400_000,
}

/**
 * Reads a chain spec. The text is parsed strictly: duplicate or unknown members are refused, numbers are integers below 2^53. A
 * {@link UserError} names a wrong member.
 */
export function parseSpec(text: string): Spec {
  const value = readJson(text)
  const file = plain(value)
  if (!Check(specSchema, file)) {
    const first = Errors(specSchema, file).First()
    throw new UserError(`the chain spec is not valid: ${first?.path || '/'}: ${first?.message}`)
  }
  return buildSpec(text, file, value as Map<string, JsonValue>)
}

function readJson(text: string): JsonValue {
  try {
    return parseStrictJson(text, specLimits)
  } catch (error) {
    if (error instanceof RuleError) throw new UserError(`the chain spec is not valid: ${error.message}`)
    throw error
  }
}

/** The members of a spec file that change with the height. */
type Rules = Pick<
  SpecFile,
  'validators' | 'fees' | 'specifications' | 'didRoot' | 'didCore' | 'didNames' | 'coinInterval'
>

/** The rules that change at a height. */
interface Upgrade {
  readonly height: number
  readonly names: string[]
  readonly parameters: Partial<Rules>
}

/** The heights of blocks that commit to all coins. */
function coinRootHeights(file: SpecFile): Pick<Spec, 'coinRoots'> {
  for (const { height, parameters } of [{ height: 0, parameters: file as Partial<Rules> }, ...upgradesByHeight(file)]) {
    if (parameters.coinInterval !== undefined) return { coinRoots: { from: height, interval: parameters.coinInterval } }
  }
  return {}
}

/** The rules as a function of the height. */
function sectionsOf(file: SpecFile): Spec['sections'] {
  const hasValidators = file.validators.length > 0
  const sections = [{ height: 0, params: paramsOf(file) }]
  let rules: Rules = file
  for (const { height, names, parameters } of upgradesByHeight(file)) {
    const name = names.join(', ')
    refuse(
      ![undefined, parameters.coinInterval ?? rules.coinInterval].includes(rules.coinInterval),
      `upgrade ${name}: coinInterval stays ${rules.coinInterval}`,
    )
    rules = { ...rules, ...parameters }
    refuse(rules.validators.length > 0 !== hasValidators, `upgrade ${name}: cannot switch between validators and none`)
    refuse(file.devnet && rules.validators.length !== 1, `upgrade ${name}: a devnet has exactly one validator`)
    const isOfCoinsAlone = Object.keys(parameters).join() === 'coinInterval'
    if (!isOfCoinsAlone) sections.push({ height, params: paramsOf(rules) })
  }
  return sections
}

/** Entries of one height are one change, in which the later entry wins: every height has one set of rules, not several in turn. */
function upgradesByHeight({ upgrades }: SpecFile): readonly Upgrade[] {
  const merged: Upgrade[] = []
  for (const { height, name, parameters } of upgrades) {
    const last = merged.at(-1)
    refuse(last !== undefined && height < last.height, `upgrade ${name}: heights must not decrease`)
    if (last?.height !== height) merged.push({ height, names: [name], parameters: { ...parameters } })
    else {
      last.names.push(name)
      Object.assign(last.parameters, parameters)
    }
  }
  return merged
}

function paramsOf({ validators, fees, specifications, didRoot, didCore, didNames }: Rules): Params {
  return {
    validators: validators.map(hex),
    fees: feesOf(fees, didNames),
    specifications,
    didRoot: didRoot === true,
    didCore: didCore === true,
    didNames: didNames !== undefined,
  }
}

function feesOf({ minimum, perByte, freeBytes, leaf }: Rules['fees'], names: Rules['didNames']): Fees {
  const optional = defined({
    freeBytes,
    leaf: leaf === undefined ? undefined : BigInt(leaf),
    names: names?.map(BigInt),
  })
  return { minimum: BigInt(minimum), perByte: BigInt(perByte), ...optional }
}

/** Refuses keys that can sign nothing: they count for the quorum, and no checker of a proof takes a list with one. */
function requirePoints({ validators, upgrades }: SpecFile): void {
  const known = new Set<string>()
  const require = (keys: readonly string[], place: string) => {
    for (const [i, key] of keys.entries()) {
      if (known.has(key)) continue
      refuse(coordinatesOf(hex(key)) === undefined, `${place}/${i}: ${key} is no public key: no point of P-256 has it`)
      known.add(key)
    }
  }
  require(validators, 'validators')
  for (const [i, { parameters }] of upgrades.entries()) {
    require(parameters.validators ?? [], `upgrades/${i}/parameters/validators`)
  }
}

function buildSpec(text: string, file: SpecFile, value: Map<string, JsonValue>): Spec {
  requirePoints(file)
  const hasValidators = file.validators.length > 0
  const sections = sectionsOf(file)
  const limit = targetOf(file.powLimitBits)
  refuse(!validTarget(limit), 'powLimitBits: not a target above 0 and below 2^255')
  refuse(file.devnet && file.validators.length !== 1, 'validators: a devnet has exactly one')
  refuse(file.producer === 'sponsor' && !hasValidators, 'producer: a chain without validators has no sponsor')
  refuse(
    file.producer === 'sponsor' && file.powLimitBits !== easiestBits,
    `powLimitBits: with producer sponsor it is ${easiestBits}, for the work of a block proves nothing`,
  )
  const maxMoney = BigInt(file.maxMoney)
  refuse(maxMoney >= 1n << 63n, 'maxMoney: an amount is below 2^63')
  refuse(BigInt(file.asset.amount) >= 1n << 63n, 'asset/amount: an amount is below 2^63')
  refuse(BigInt(file.subsidy.initial) > maxMoney, 'subsidy/initial: more than maxMoney')
  const allocations = file.allocations.map(({ address, amount: units }, i) => {
    const programHash = parseAddress(address)
    const accepted: readonly (number | undefined)[] = [prefix.standard, prefix.multisig, prefix.did]
    if (programHash === undefined || !accepted.includes(programHash[0])) {
      throw new UserError(`the chain spec is not valid: allocations/${i}/address: not an address of this chain`)
    }
    return { programHash, amount: BigInt(units) }
  })
  const total = allocations.reduce((sum, allocation) => sum + allocation.amount, 0n)
  refuse(total > maxMoney, 'allocations: more than maxMoney')

  const bound = new Map(value)
  bound.delete('upgrades')
  bound.delete('validatorNames')
  const upgrades = value.get('upgrades') as JsonValue[]
  return {
    text,
    name: file.name,
    devnet: file.devnet,
    time: file.time,
    asset: { ...file.asset, amount: BigInt(file.asset.amount), controller: hex(file.asset.controller) },
    allocations,
    powLimitBits: file.powLimitBits,
    retarget: file.retarget,
    auxpowChainId: file.auxpowChainId,
    evmChainId: file.evmChainId,
    producer: file.producer,
    maturity: file.maturity,
    maxMoney,
    subsidy: { initial: BigInt(file.subsidy.initial), halving: file.subsidy.halving },
    limits: file.limits,
    timing: file.timing,
    maxViewTimeout: file.maxViewTimeout,
    sections,
    hasValidators,
    validatorNames: file.validatorNames ?? {},
    sideChainOrder: file.sideChainOrder === true,
    ...coinRootHeights(file),
    digest: sha256(fromUtf8(canonicalJson(bound))),
    upgradesDigest: (height) =>
      sha256(fromUtf8(canonicalJson(upgrades.filter((_, i) => (file.upgrades[i]?.height ?? 0) <= height)))),
  }
}

function refuse(wrong: boolean, reason: string): void {
  if (wrong) throw new UserError(`the chain spec is not valid: ${reason}`)
}

/** A parsed JSON value with plain objects; safe because the strict parser refuses the names of prototypes. */
function plain(value: JsonValue): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]))
  if (Array.isArray(value)) return value.map(plain)
  return value
}
