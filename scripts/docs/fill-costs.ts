import { readFileSync } from 'node:fs'
import { newSpecJson } from '../../src/program/cli/genesis-spec.js'
import { policy } from '../../src/ledger/mempool/policy.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../src/base/primitives/address.js'
import { formatAmount } from '../../src/base/primitives/amount.js'
import { toHex } from '../../src/base/primitives/bytes.js'
import type { DidOperation } from '../../src/base/primitives/did-operation.js'
import { leastFee } from '../../src/base/primitives/fees.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { headerSize } from '../../src/base/primitives/header.js'
import { maxMultisigKeys } from '../../src/base/primitives/program.js'
import { paramsAt } from '../../src/base/primitives/spec.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { buildDidTransaction } from '../../src/clients/wallet/build-transaction.js'
import { devnetAccount, devnetValidatorKey } from '../../src/clients/wallet/devnet-accounts.js'
import { buildRevoke } from '../../src/clients/wallet/did-credential.js'
import { createIdentity, documentOf } from '../../src/clients/wallet/did-identity.js'
import { mirrorCostTable } from './mirror-costs.js'
import { grouped } from './shown.js'

/** Fills the tables of docs/operate.md: what it costs to fill a chain, by the spec that `genesis create` writes, and a mirror (mirror-costs.ts). */

const page = new URL('../../docs/operate.md', import.meta.url)
const marks = {
  filling: ['<!-- begin of what npm run docs computes -->\n', '<!-- end of it -->\n'],
  mirror: [
    '<!-- begin of the cost of a mirror, which npm run docs computes -->\n',
    '<!-- end of the cost of a mirror -->\n',
  ],
} as const
const account = devnetAccount(0)
const validator = devnetValidatorKey(0)
/** The spec that `genesis create` writes. */
export const createdSpec = parseSpec(
  newSpecJson({
    name: 'corp',
    time: 1_767_225_600,
    id: 1,
    allocation: { address: account.address, amount: 10n ** 15n },
    validators: [{ key: toHex(validator.publicKey) }],
    sdkStrings: false,
  }),
)
const { fees, specifications } = paramsAt(createdSpec, 1)
const { blockSize, blockTransactions, blockCost } = createdSpec.limits

/** One of many transactions that fill something. */
export interface Filler {
  readonly bytes: number
  /** Signature checks. */
  readonly checks: number
  readonly fee: bigint
}

/** The page with its tables as they are now. */
export function operatePage(): string {
  const text = readFileSync(page, 'utf8')
  return filledBetween(filledBetween(text, marks.filling, table()), marks.mirror, mirrorCostTable())
}

/** A text with a table between two lines of it. */
function filledBetween(text: string, [begin, end]: readonly [string, string], lines: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/operate.md lacks ${begin.trim()} or its end`)
  return `${text.slice(0, from)}${begin}\n${lines}\n${text.slice(to)}`
}

function table(): string {
  const room = blockSize - headerSize - policy.coinbaseRoom
  const block = cheapestFill(room, blockCost)
  const perDay = BigInt(Math.floor(86_400_000 / createdSpec.timing.minInterval))
  const checks = BigInt(Math.floor(blockCost / policy.signatureCost)) * fees.minimum
  const large = leastFee(fees, { unsignedSize: policy.transactionSize - filler(1, 35).bytes + (fees.freeBytes ?? 0) })
  const [create, revoke] = [leafMakers.create(), leafMakers.revoke()]
  return [
    '| filled | cheapest with | coins |',
    '| --- | --- | --- |',
    `| a block, ${grouped(room)} bytes | ${grouped(block.count)} transactions, no byte above the free ones, programs of many keys | ${formatAmount(block.fee)} |`,
    `| a day of them, ${grouped(Number(perDay))} | | ${formatAmount(block.fee * perDay)} |`,
    `| ${grouped(policy.transactionSize)} bytes | one transaction | ${formatAmount(large)} |`,
    `| the signature checks of a block, ${grouped(blockCost)}, while nothing pays more for a byte | transactions of ${policy.signatureCost} | ${formatAmount(checks)} |`,
    `| the pool, ${grouped(policy.poolSize)} bytes, until its floor rises | the same as a block | ${formatAmount(cheapestFill(policy.poolSize, Infinity).fee)} |`,
    `| the map of DIDs, a million leaves | creates of ${grouped(create.bytes)} bytes, ${formatAmount(create.fee)} each | ${formatAmount(create.fee * 1_000_000n)} |`,
    `| the same | revokes of what was never declared, ${formatAmount(revoke.fee)} each | ${formatAmount(revoke.fee * 1_000_000n)} |`,
    `| a day of blocks with leaves alone | ${grouped(leavesOfBlock(create))} creates in each block | ${formatAmount(create.fee * BigInt(leavesOfBlock(create)) * perDay)} |`,
    '',
  ].join('\n')
}

/** The least that transactions without a priced byte cost, so many bytes together: some with programs of many keys, as checks allow. */
function cheapestFill(bytes: number, checks: number): { count: number; fee: bigint } {
  const plain = filler(1, 35)
  let count = Math.ceil(bytes / plain.bytes)
  for (let programs = 1; programs * maxMultisigKeys <= policy.signatureCost; programs++) {
    const shared = filler(programs, 3 + 34 * maxMultisigKeys)
    const most = Math.min(Math.ceil(bytes / shared.bytes), Math.floor(checks / shared.checks))
    for (let some = 0; some <= most; some++) {
      const others = Math.max(0, Math.ceil((bytes - some * shared.bytes) / plain.bytes))
      if (some * shared.checks + others * plain.checks <= checks) count = Math.min(count, some + others)
    }
  }
  return { count, fee: BigInt(count) * plain.fee }
}

/** A transaction whose unsigned part has the free bytes, with programs of one signature and so many bytes of code. */
function filler(programs: number, codeSize: number): Filler {
  const unsignedSize = fees.freeBytes ?? 0
  const lengths = codeSize < 0xfd ? 2 : 4
  const checks = programs * (codeSize > 35 ? maxMultisigKeys : 1)
  return {
    bytes: unsignedSize + 1 + programs * (lengths + 65 + codeSize),
    checks,
    fee: leastFee(fees, { unsignedSize }),
  }
}

/** The smallest transactions of the wallet that add a leaf. */
export const leafMakers = {
  create: () => ({ ...operationFiller(createOperation()), operation: createOperation() }),
  revoke: () => {
    const document = documentOf(createOperation().payload)
    const context = { account, specification: specifications.credential[0] as string }
    return operationFiller(buildRevoke(context, document, `${devnetAccount(1).did}#1`))
  },
}

function createOperation(): DidOperation {
  const context = { account, specification: specifications.did[0] as string, created: '2026-01-01T00:00:00Z' }
  return createIdentity(context, { services: [], expires: '2031-01-01T00:00:00Z' })
}

function operationFiller(operation: DidOperation): Filler {
  const payment = {
    code: singleKeyCode(account.publicKey),
    coins: [{ txid: new Uint8Array(32), index: 0, value: 10n ** 9n, confirmations: 1 }],
    fee: fees,
    assetId: registerAssetTransaction(createdSpec).hash,
    maxMoney: createdSpec.maxMoney,
    random: { bytes: (length: number) => new Uint8Array(length).fill(0x77) },
  }
  const { transaction, fee } = buildDidTransaction(payment, operation, parseAddress(account.address) as ProgramHash)
  // The program's parameter is still empty.
  return { bytes: transaction.bytes.length + 65, checks: 3, fee }
}

function leavesOfBlock({ bytes, checks }: Filler): number {
  return Math.min(blockTransactions, Math.floor(blockSize / bytes), Math.floor(blockCost / checks))
}
