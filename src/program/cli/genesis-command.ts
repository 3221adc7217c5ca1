import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { addressOf } from '../../base/primitives/address.js'
import { formatAmount } from '../../base/primitives/amount.js'
import { displayHash, toHex } from '../../base/primitives/bytes.js'
import { genesisBlock, registerAssetTransaction } from '../../base/primitives/genesis.js'
import { quorum, type Spec } from '../../base/primitives/spec.js'
import { parseSpec } from '../../base/primitives/spec-file.js'
import { trustOf } from '../../identity/proofs/make-trust.js'
import { makeDirectory, writeFileAtomically } from '../../clients/wallet/files.js'
import type { CliContext } from './cli-context.js'
import {
  amountOption,
  collect,
  type OutputOptions,
  recipientOption,
  wholeOption,
  withOutput,
} from './command-options.js'
import { firstBlockText } from './first-block.js'
import { newSpecJson, newSupply } from './genesis-spec.js'
import { loadSpec } from './load-spec.js'
import { isStandardOutput, writeText } from './named-files.js'
import { examples, report, shellWord, formatTable } from './print-output.js'
import { publicKeyArgument } from './key-options.js'
import { newValidatorKey, validatorKeyText, writeValidatorKey } from './validator-key.js'

interface CreateOptions extends OutputOptions {
  readonly pay: string
  readonly amount: bigint
  readonly validators: number
  readonly validator?: readonly NamedValidator[]
  readonly directory?: string
  readonly sdkStrings?: boolean
}

/** @limit count: validators for which `genesis create` makes keys */
const mostValidators = 100

/** `didledger genesis …` */
export function registerGenesis(program: Command, context: CliContext): void {
  const genesis = program.command('genesis').description('chain specs: make a chain of your own')
  withOutput(genesis.command('create'))
    .description('write the spec of a new chain, and keys for its validators')
    .argument('<name>', 'what the chain is called: small letters, digits and hyphens, a letter first', nameArgument)
    .addOption(
      new Option('--pay <address>', 'who has the coins of the new chain')
        .argParser((text) => recipientOption(text).address)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--amount <coins>', 'how many').argParser(amountOption).default(newSupply, '33000000'))
    .addOption(
      new Option('--validators <n>', `how many validators to make keys for, 1 to ${mostValidators}`)
        .argParser(validatorsOption)
        .default(4),
    )
    .addOption(
      new Option(
        '--validator <name,key>',
        'a validator: what pages call it, if it has a name, and its public key (hex, base58, PEM, JWK, or a file with it), for each; no keys are made then',
      )
        .argParser(collect(validatorOption))
        .conflicts('validators'),
    )
    .option('--directory <directory>', 'where to write (default: a new directory of that name)')
    .option('--sdk-strings', 'also accept DIDs as SDKs of the family write them, which can be replayed on other chains')
    .addHelpText('after', examples('genesis create corp --pay EKncjrsmMkiZLV34kRYfhZg1mehNfRB6uG'))
    .action((name: string, options: CreateOptions) => create(context, name, options))
  withOutput(genesis.command('key'))
    .description('write a new validator key to a file, and print its public key')
    .argument('<file>', 'file to write, - for standard output')
    .addHelpText('after', examples('genesis key validator.key'))
    .action((file: string, options: OutputOptions) => makeKey(context, file, options))
  withOutput(genesis.command('show'))
    .description('show what a chain spec says')
    .argument('<name|file>', 'devnet, localnet, pow or a file')
    .addHelpText('after', examples('genesis show localnet'))
    .action((nameOrFile: string, options: OutputOptions) => show(context, loadSpec(nameOrFile), options))
  withOutput(genesis.command('trust'))
    .description('print what a light resolver has to believe of a chain spec: a Trust, in JSON')
    .argument('<name|file>', 'devnet, localnet, pow or a file')
    .addHelpText('after', examples('genesis trust corp/corp.json > corp.trust.json'))
    .action((nameOrFile: string) => trust(context, loadSpec(nameOrFile)))
}

function trust(context: CliContext, spec: Spec): void {
  context.out(trustText(spec))
  const from = spec.sections.find(({ params }) => params.didRoot)?.height ?? 0
  if (from === 0) return
  context.err(
    `Blocks of ${spec.name} commit to the state of DIDs from height ${from} on: checking proofs also takes a checkpoint there ` +
      'or above (didledger chain checkpoint).\n',
  )
}

/** The file of a Trust; a {@link UserError} for a chain of which nothing can be proved. */
export function trustText(spec: Spec): string {
  const trust = trustOf(spec)
  if (trust !== undefined) return `${JSON.stringify(trust, null, 2)}\n`
  throw new UserError(
    `the blocks of ${spec.name} commit to no state of DIDs, so nothing of it can be proved: its spec has no didRoot`,
  )
}

function nameArgument(text: string): string {
  if (/^[a-z][a-z0-9-]{0,31}$/.test(text)) return text
  throw new InvalidArgumentError('A name has up to 32 small letters, digits and hyphens, a letter first.')
}

const validatorsOption = wholeOption(1, mostValidators, `Not a number from 1 to ${mostValidators}.`)

interface NamedValidator {
  readonly name?: string
  /** In hex. */
  readonly key: string
}

function validatorOption(text: string): NamedValidator {
  const [, name, key = text] = /^([^{,]*),([^]*)$/.exec(text) ?? []
  if (name !== undefined && (name === '' || [...name].length > 32)) {
    throw new InvalidArgumentError('The name of a validator has 1 to 32 characters.')
  }
  return { key: toHex(publicKeyArgument('--validator', key)), ...defined({ name }) }
}

/** Checks for faults that the spec parser would refuse, with messages in terms of the command's options. */
function requireSensible({ amount, validator = [] }: CreateOptions): void {
  const keys = validator.map(({ key }) => key)
  const most = formatAmount(newSupply)
  if (amount === 0n) throw new UserError('--amount 0: nobody could ever pay a fee on a chain without coins', 2)
  if (amount > newSupply) throw new UserError(`--amount ${formatAmount(amount)} is more than a chain holds, ${most}`, 2)
  const twice = keys.find((key, i) => keys.indexOf(key) < i)
  if (twice !== undefined) throw new UserError(`--validator ${twice} is given twice: each validator has its own key`, 2)
  if (keys.length > mostValidators) {
    throw new UserError(`--validator is given ${keys.length} times: a chain has at most ${mostValidators}`, 2)
  }
}

function create(context: CliContext, name: string, options: CreateOptions): void {
  requireSensible(options)
  const { pay, amount, directory = name, sdkStrings = false } = options
  const made = options.validator
    ? []
    : Array.from({ length: options.validators }, () => newValidatorKey(context.random))
  const keys = made.map(({ privateKey, publicKey }, i) => ({
    file: join(directory, `validator-${i + 1}.key`),
    privateKey,
    publicKey: toHex(publicKey),
  }))
  const file = join(directory, `${name}.json`)
  const validators = options.validator ?? keys.map(({ publicKey }) => ({ key: publicKey }))
  const text = newSpecJson({
    name,
    time: Math.floor(context.clock.now() / 1000),
    id: Buffer.from(context.random.bytes(4)).readUInt32LE() >>> 1,
    allocation: { address: pay, amount },
    validators,
    sdkStrings,
  })
  const spec = parseSpec(text)
  for (const path of [file, ...keys.map((key) => key.file)]) {
    if (existsSync(path)) throw new UserError(`${path} exists already and is not overwritten`)
  }
  makeDirectory(directory)
  for (const key of keys) writeValidatorKey(key.file, key.privateKey)
  writeFileAtomically(file, text, { mode: 0o644 })
  const shown = keys.map((key) => ({ file: key.file, publicKey: key.publicKey }))
  const genesis = genesisBlock(spec).hash
  const publicKeys = validators.map(({ key }) => key)
  report(context, options, { file, name, genesis, validators: publicKeys, keys: shown }, [
    `Wrote ${file}, the chain ${name}.`,
    ...formatTable([
      ['genesis', genesis],
      ['pays', `${formatAmount(amount)}  ${pay}`],
      ...publicKeys.map((key, i) => [`validator ${i + 1}`, namedKey(spec, key)] as const),
    ]),
    '',
    ...(keys.length === 0
      ? ['Every node needs this file. A validator also needs the private key of its public key.']
      : [
          `Every node needs this file; each validator also needs one of the ${keys.length} keys beside it. Give every key to one`,
          'machine, and keep its backup off line: two nodes that run with one key break the chain.',
        ]),
    '',
    `The first block comes ${firstBlockText(spec)}.`,
    '',
    `Next: npx didledger genesis show ${shellWord(file)}`,
  ])
}

function makeKey(context: CliContext, file: string, options: OutputOptions): void {
  const { privateKey, publicKey } = newValidatorKey(context.random)
  const words = writeText(context, file, validatorKeyText(privateKey), { mode: 0o600 })
  const isOutput = isStandardOutput(file)
  report(words, options, { file, publicKey: toHex(publicKey) }, [
    isOutput ? 'Wrote the private key to standard output.' : `Wrote ${file}, which only you may read.`,
    ...formatTable([['public key', toHex(publicKey)]]),
    '',
    `A spec names the public key; the node that votes with it runs with --validator-key ${isOutput ? 'FILE' : shellWord(basename(file))}.`,
  ])
}

function namedKey({ validatorNames }: Spec, key: string): string {
  const name = validatorNames[key]
  return name === undefined ? key : `${key}  ${name}`
}

function show(context: CliContext, spec: Spec, options: OutputOptions): void {
  const { name, devnet, producer, time, auxpowChainId, evmChainId, validatorNames } = spec
  const genesis = genesisBlock(spec).hash
  const asset = displayHash(registerAssetTransaction(spec).hash)
  const digest = toHex(spec.digest)
  const allocations = spec.allocations.map(({ programHash, amount }) => ({
    address: addressOf(programHash),
    amount: formatAmount(amount),
  }))
  const total = formatAmount(spec.allocations.reduce((sum, { amount }) => sum + amount, 0n))
  const sections = spec.sections.map(({ height, params: { validators, fees, specifications, didCore, didNames } }) => ({
    height,
    validators: validators.map(toHex),
    quorum: validators.length === 0 ? null : quorum(validators.length),
    fees: {
      minimum: formatAmount(fees.minimum),
      perByte: formatAmount(fees.perByte),
      freeBytes: fees.freeBytes ?? 0,
      leaf: formatAmount(fees.leaf ?? 0n),
      ...(didNames && { names: (fees.names ?? []).map(formatAmount) }),
    },
    specifications,
    didCore,
  }))
  const first = sections[0] as (typeof sections)[number]
  const rules = (section: typeof first): [string, string][] => rulesOf(spec, section)
  const changes = sections.slice(1).map((section, i) => {
    const before = rules(sections[i] as typeof first).map(String)
    return { height: section.height, rules: rules(section).filter((rule) => !before.includes(String(rule))) }
  })
  const value = {
    name,
    devnet,
    genesis,
    digest,
    asset,
    producer,
    time,
    auxpowChainId,
    evmChainId,
    allocations,
    validatorNames,
    sections,
  }
  report(context, options, value, [
    `${name}${devnet ? ', a devnet' : ''}`,
    ...formatTable([
      ['genesis', genesis],
      ['digest', digest],
      ['asset', asset],
      ['begins', new Date(time * 1000).toISOString().replace('.000', '')],
      ['blocks by', producer],
      ['chain ids', `${auxpowChainId} (merge mining), ${evmChainId} (Ethereum clients)`],
      ['coins', `${total} in ${allocations.length} outputs`],
      ...rules(first),
    ]),
    ...changes.flatMap(({ height, rules: changed }) => ['', `From height ${height}`, ...formatTable(changed)]),
  ])
}

interface ShownSection {
  /** In hex. */
  readonly validators: readonly string[]
  readonly quorum: number | null
  readonly fees: {
    readonly minimum: string
    readonly perByte: string
    readonly freeBytes: number
    readonly leaf: string
    /** By the length of a name; absent: there are no names. */
    readonly names?: readonly string[]
  }
  readonly specifications: { readonly did: readonly string[] }
  readonly didCore: boolean
}

/** The rules of a section, a name and a text each. */
function rulesOf(
  spec: Spec,
  { validators, quorum: votes, fees, specifications, didCore }: ShownSection,
): [string, string][] {
  return [
    ...validators.map((key, i): [string, string] => [`validator ${i + 1}`, namedKey(spec, key)]),
    ['confirmed by', votes === null ? 'work alone' : `${votes} of ${validators.length}`],
    ['fee', `${fees.minimum}, and ${fees.perByte} a byte${fees.freeBytes > 0 ? ` beyond ${fees.freeBytes}` : ''}`],
    ['new leaf', `${fees.leaf}, of a declare or revoke`],
    ['DIDs', specifications.did.join(', ')],
    ['DID names', fees.names === undefined ? 'none' : `${fees.names.join(', ')}, by their length`],
    ['documents', didCore ? 'with the members of DID Core' : 'with endpoints that are texts, and keys that sign'],
  ]
}
