import { BlockBudget } from '../../src/ledger/consensus/block-budget.js'
import { blockSanitySteps, checkTransactionSanity } from '../../src/ledger/consensus/sanity.js'
import { parseAuxPow } from '../../src/base/primitives/auxpow.js'
import { Block } from '../../src/base/primitives/block.js'
import { Writer } from '../../src/base/primitives/codec.js'
import { confirmBytes, parseConfirm, type Vote } from '../../src/base/primitives/confirm.js'
import { registerAssetTransaction } from '../../src/base/primitives/genesis.js'
import { zeroHash } from '../../src/base/primitives/hash.js'
import { Header } from '../../src/base/primitives/header.js'
import { coinbaseInput } from '../../src/base/primitives/input.js'
import {
  multisigCode,
  parameterOf,
  parseCode,
  type Program,
  standardProgram,
} from '../../src/base/primitives/program.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { finish } from '../../src/base/primitives/steps.js'
import { attributeUsage, Transaction } from '../../src/base/primitives/transaction.js'
import { checkProofOfWork } from '../../src/identity/proofs/auxpow-proof.js'
import { craft, longAuxPow, personHash, solved } from '../support/builders/blocks.js'
import { testPublicKey, testSpec } from '../support/builders/spec.js'
import { everyDoor, limit, onlyFor } from './limit.js'

const spec = parseSpec(testSpec({ validators: [], producer: 'miners' }))
const { hash: assetId } = registerAssetTransaction(spec)
const sanity = { spec, assetId }
/** The words of a codec for a count or length above its bound. */
const tooMany = /a count or length of \d+ where at most/

/** Writes one part of a structure. */
type Part = (writer: Writer) => Writer

/** What byte strings have, and where structures are written: the largest have a little more than 16 MiB. */
const filler = new Uint8Array(17 * 1024 * 1024).fill(0x61)
const memory = new Uint8Array(17 * 1024 * 1024)

const nothing: Part = (writer) => writer.varuint(0)
/** A byte string, or text, of so many bytes. */
const bytes = (size: number): Part => {
  return (writer) => writer.varbytes(filler.subarray(0, size))
}
/** A list of so many equal items. */
const list = (count: number, item: Part): Part => {
  return (writer) => {
    writer.varuint(count)
    for (let i = 0; i < count; i++) item(writer)
    return writer
  }
}
/** A DID operation of six texts, of which one has so many bytes. */
const operation = (at: number, size: number): Part => {
  return (writer) => [0, 1, 2, 3, 4, 5].reduce((sum, i) => bytes(i === at ? size : 1)(sum), writer)
}
const output: Part = (writer) => writer.bytes(new Uint8Array(65))

/** Parts of a transaction; a transfer with nothing in it unless given. */
interface Parts {
  readonly version?: number
  readonly type?: number
  readonly payloadVersion?: number
  readonly payload?: Part
  readonly attributes?: Part
  readonly inputs?: Part
  readonly outputs?: Part
  readonly programs?: Part
}

/** Reads a transaction with these parts. */
function read({ version = 0, type = 2, payloadVersion = 0, payload = (writer) => writer, ...parts }: Parts): void {
  const writer = Writer.over(memory)
  if (version !== 0) writer.u8(version)
  payload(writer.u8(type).u8(payloadVersion))
  for (const part of [parts.attributes, parts.inputs, parts.outputs]) (part ?? nothing)(writer)
  const whole = (parts.programs ?? nothing)(writer.u32(0)).finish()
  Transaction.fromBytes(whole)
}

/** A version 9 transaction with one output of a type whose payload is this. */
function readTyped(type: number, payload: Part): void {
  read({ version: 9, outputs: (writer) => payload(output(writer.varuint(1)).u8(type)) })
}

/** An AuxPow whose parts are lists of these lengths, and whose scripts have these sizes. */
function auxPow(parts: { scripts?: Part; outputs?: Part; branch?: Part; chain?: Part }): void {
  const writer = new Writer(1024).u32(1)
  ;(parts.outputs ?? nothing)((parts.scripts ?? nothing)(writer))
  writer.u32(0).bytes(zeroHash)
  ;(parts.branch ?? nothing)(writer).u32(0)
  ;(parts.chain ?? nothing)(writer).u32(0)
  parseAuxPow(writer.bytes(new Uint8Array(80)).finish())
}

const script = (size: number): Part => {
  return (writer) => bytes(size)(writer.bytes(new Uint8Array(36))).u32(0)
}
const parentOutput = (size: number): Part => {
  return (writer) => bytes(size)(writer.bytes(new Uint8Array(8)))
}
const hash: Part = (writer) => writer.bytes(zeroHash)

const header = new Header({
  version: 0,
  previous: zeroHash,
  merkleRoot: zeroHash,
  time: spec.time,
  bits: spec.powLimitBits,
  nonce: 0,
  height: 1,
})

const recipient = personHash(30)

/** A signed-looking transfer; the rules of bytes verify no signature. */
function transfer(changes: Parameters<typeof craft>[4], outputs = 1): Transaction {
  const paid = Array.from({ length: outputs }, () => ({ to: recipient, value: 1n }))
  return craft(spec, [{ txid: zeroHash, index: 0 }], paid, [10], changes)
}

const signature = new Uint8Array(64).fill(1)
const single = standardProgram(testPublicKey(1), signature)
const keys = Array.from({ length: 16 }, (_, i) => testPublicKey(i))
const sixteen: Program = { code: multisigCode(1, keys), parameter: parameterOf([signature]) }

/** Checks a block by itself, whose programs these are: at most 100 in a transaction. */
function checkBlock(programs: readonly Program[], payload: Transaction['payload'] = { type: 2 }): void {
  const transactions: Transaction[] = []
  for (let i = 0; i < programs.length; i += 100) {
    transactions.push(transfer({ payload, lockTime: i, programs: programs.slice(i, i + 100) }))
  }
  checkTransactions(transactions)
}

function checkTransactions(transactions: readonly Transaction[]): void {
  const coinbase = craft(spec, [coinbaseInput], [{ to: 20, value: 1n }], [], {
    payload: { type: 0, data: new Uint8Array(1) },
    payloadVersion: 4,
    inputs: [coinbaseInput],
    lockTime: 1,
    programs: [],
  })
  finish(blockSanitySteps(new Block(header, solved(header), [coinbase, ...transactions]), sanity))
}

/** Programs that list so many keys. */
function programsOf(count: number): Program[] {
  const full = Array.from({ length: Math.floor(count / 16) }, () => sixteen)
  return [...full, ...Array.from({ length: count % 16 }, () => single)]
}

/** A transaction with 16 checks of signatures that hashes so many bytes for them, of which 16 divide all but a rest. */
function hashing(total: number): Transaction[] {
  const unit = 64 * 1024 * 1024
  const sizes: number[] = []
  // One program of cost 256 hashes the unsigned part so often.
  for (let left = total; left > 0; left -= unit) sizes.push(Math.min(left, unit))
  return sizes.map((size, i) => (size % 256 === 0 ? padded(size / 256, all, i) : padded(size, [single], i)))
}

const all: readonly Program[] = [{ code: multisigCode(16, keys), parameter: parameterOf(keys.map(() => signature)) }]

/** A transaction whose unsigned part has so many bytes. */
function padded(unsignedSize: number, programs: readonly Program[], lockTime: number): Transaction {
  const build = (length: number) => {
    const payload = { type: 3, recordType: 'x', content: new Uint8Array(length) } as const
    return transfer({ payload, lockTime, programs })
  }
  // The length before the content has more bytes in longer ones.
  const first = build(unsignedSize)
  return build(2 * unsignedSize - first.unsignedSize)
}

/** The text of a chain spec nested so deep, or with so many tokens. */
const deepSpec = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
function specWithTokens(count: number): string {
  const build = (names: number) => {
    return testSpec({ specifications: { did: Array.from({ length: names }, () => 'd'), credential: ['c'] } })
  }
  return build(1 + count - tokensOf(build(1)))
}

/** Names, strings, numbers, literals and opening brackets of a JSON text whose strings have no escapes. */
function tokensOf(text: string): number {
  return text.match(/"[^"]*"|[-\d.]+|true|false|null|[[{]/g)?.length ?? 0
}

function documents(reads: readonly { payloadSize: number; issuer: boolean }[]): void {
  const budget = new BlockBudget(spec.limits)
  const work = { cost: 0, keys: 0, hashedBytes: 0 }
  for (const [i, one] of reads.entries()) budget.add({ work, did: { reads: [{ txid: `${i}`, ...one }] } })
}

const text = (reading: (part: Part) => void) => (n: number) => reading(bytes(n))

export const primitives = [
  limit({
    name: 'base/primitives/auxpow.maxAuxPowSize',
    unit: 'bytes',
    value: 16 * 1024,
    feed: (n) => checkProofOfWork(spec, header, longAuxPow(header, n)),
    refusal: 'auxpow-size',
  }),
  limit({
    name: 'base/primitives/auxpow.scriptCap',
    unit: 'bytes',
    value: 16 * 1024,
    feed: everyDoor(
      (n) => auxPow({ scripts: list(1, script(n)) }),
      (n) => auxPow({ outputs: list(1, parentOutput(n)) }),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/auxpow.listCap',
    unit: 'count',
    value: 65_535,
    feed: everyDoor(
      (n) => auxPow({ scripts: list(n, script(0)) }),
      (n) => auxPow({ outputs: list(n, parentOutput(0)) }),
      (n) => auxPow({ branch: list(n, hash) }),
      (n) => auxPow({ chain: list(n, hash) }),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/block.maxBlockTransactions',
    unit: 'count',
    value: 10_000,
    feed: everyDoor(
      (n) => void parseSpec(testSpec({ limits: { ...spec.limits, blockTransactions: n } })),
      (n) => {
        const small = transfer({}).bytes
        const start = new Block(header, solved(header), []).bytes
        const writer = new Writer(start.length + n * small.length)
        writer.bytes(start.subarray(0, -4)).u32(n)
        for (let i = 0; i < n; i++) writer.bytes(small)
        Block.fromBytes(writer.finish())
      },
    ),
    refusal: /blockTransactions[^]*block-transaction-count/,
  }),
  limit({
    name: 'base/primitives/confirm.maxVotes',
    unit: 'count',
    value: 100,
    feed: (n) => {
      const vote: Vote = { proposalHash: zeroHash, signer: testPublicKey(1), accept: true, signature }
      const proposal = { sponsor: testPublicKey(1), blockHash: zeroHash, viewOffset: 0, signature }
      parseConfirm(confirmBytes({ proposal, votes: Array.from({ length: n }, () => vote) }))
    },
    refusal: 'confirm-malformed: 101 votes',
  }),
  limit({
    name: 'base/primitives/output.stringCap',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: everyDoor(
      text((part) => readTyped(3, (writer) => bytes(0)(part(writer.u8(0)).bytes(new Uint8Array(8))))),
      text((part) => readTyped(4, (writer) => bytes(0)(hash(part(writer.u8(0)))))),
      text((part) => readTyped(5, (writer) => hash(part(writer.u8(0))))),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/output.bytesCap',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: everyDoor(
      text((part) => readTyped(4, (writer) => part(hash(bytes(0)(writer.u8(0)))))),
      text((part) => readTyped(1, (writer) => list(1, (one) => list(1, part)(one.u8(0)))(writer.u8(0)))),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/payload.stringCap',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: everyDoor(
      text((part) => read({ type: 3, payload: (writer) => bytes(0)(part(writer)) })),
      text((part) => read({ type: 7, payload: (writer) => nothing(part(writer.u32(0))) })),
      ...[0, 1, 2, 3, 4, 5].map((at) => (n: number) => read({ type: 10, payload: operation(at, n) })),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/payload.bytesCap',
    unit: 'bytes',
    value: 1024 * 1024,
    feed: everyDoor(
      text((part) => read({ type: 0, payload: part })),
      text((part) => read({ type: 3, payload: (writer) => part(bytes(0)(writer)) })),
      text((part) => read({ type: 6, payload: (writer) => bytes(0)(part(writer)) })),
      text((part) => read({ type: 6, payload: (writer) => part(bytes(0)(writer)) })),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/payload.countCap',
    unit: 'count',
    value: 65_535,
    feed: everyDoor(
      (n) => read({ type: 7, payload: (writer) => list(n, hash)(bytes(0)(writer.u32(0))) }),
      (n) => read({ type: 7, payloadVersion: 2, payload: list(n, (writer) => writer.u8(0)) }),
      (n) => read({ type: 8, payload: list(n, (writer) => bytes(0)(writer).varuint(0).i64(0n)) }),
    ),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/program.maxMultisigKeys',
    unit: 'count',
    value: 16,
    feed: everyDoor(
      (n) =>
        void multisigCode(
          1,
          Array.from({ length: n }, (_, i) => testPublicKey(i)),
        ),
      (n) => {
        const pushed = Array.from({ length: n }, (_, i) => Uint8Array.of(33, ...testPublicKey(i)))
        pushed.sort((a, b) => Buffer.compare(a.subarray(2), b.subarray(2)))
        const code = Uint8Array.of(0x51, ...pushed.flatMap((key) => [...key]), 0x50 + n, 0xae)
        return parseCode(code) === undefined ? 'no form of a program' : undefined
      },
    ),
    refusal: /1 <= m <= n <= 16[^]*no form of a program/,
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.attributes',
    unit: 'count',
    value: 16,
    feed: (n) => {
      const memo = { usage: attributeUsage.memo, data: new Uint8Array(1) }
      checkTransactionSanity(transfer({ attributes: Array.from({ length: n }, () => memo) }), sanity)
    },
    refusal: 'tx-attribute: 17 attributes',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.attributeSize',
    unit: 'bytes',
    value: 1024,
    feed: (n) => {
      const memo = { usage: attributeUsage.memo, data: new Uint8Array(n) }
      checkTransactionSanity(transfer({ attributes: [memo] }), sanity)
    },
    refusal: 'tx-attribute: attribute 0 has 1025 bytes',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.outputs',
    unit: 'count',
    value: 65_535,
    feed: (n) => void checkTransactionSanity(transfer({}, n), sanity),
    refusal: 'tx-output-count: 65536 outputs',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.blockKeys',
    unit: 'count',
    value: 16_000,
    feed: (n) => checkBlock(programsOf(n)),
    refusal: 'block-signature-work: 16001 keys',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.blockHashedBytes',
    unit: 'bytes',
    value: 1024 * 1024 * 1024,
    feed: (n) => {
      // A rest of fewer bytes than a transaction has is taken from one that is hashed once.
      const rest = n % 256 === 0 ? 0 : 1024 + (n % 256)
      checkTransactions([...hashing(n - rest), ...(rest === 0 ? [] : hashing(rest))])
    },
    refusal: 'block-signature-work: ',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.issuerDocuments',
    unit: 'count',
    value: 1000,
    feed: (n) => documents(Array.from({ length: n }, () => ({ payloadSize: 1, issuer: true }))),
    refusal: 'block-issuer-documents: more than 1000',
  }),
  limit({
    name: 'base/primitives/spec.fixedLimits.documentBytes',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: (n) => {
      const full = Array.from({ length: 127 }, () => ({ payloadSize: 128 * 1024, issuer: false }))
      documents([...full, { payloadSize: n - 127 * 128 * 1024, issuer: false }])
    },
    refusal: 'block-issuer-documents',
  }),
  limit({
    name: 'base/primitives/spec-file.specLimits.depth',
    unit: 'levels',
    value: 8,
    feed: onlyFor(/nesting deeper/, (n) => void parseSpec(deepSpec(n))),
    refusal: 'the chain spec is not valid: nesting deeper',
  }),
  limit({
    name: 'base/primitives/spec-file.specLimits.tokens',
    unit: 'count',
    value: 400_000,
    feed: (n) => void parseSpec(specWithTokens(n)),
    refusal: 'the chain spec is not valid',
  }),
  limit({
    name: 'base/primitives/transaction.attributeCap',
    unit: 'bytes',
    value: 16 * 1024 * 1024,
    feed: (n) => read({ attributes: list(1, (writer) => bytes(n)(writer.u8(attributeUsage.memo))) }),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/transaction.codeCap',
    unit: 'bytes',
    value: 10_000,
    feed: (n) => read({ programs: list(1, (writer) => bytes(n)(bytes(0)(writer))) }),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/transaction.parameterCap',
    unit: 'bytes',
    value: 20_000,
    feed: (n) => read({ programs: list(1, (writer) => bytes(0)(bytes(n)(writer))) }),
    refusal: tooMany,
  }),
  limit({
    name: 'base/primitives/transaction.listCap',
    unit: 'count',
    value: 65_535,
    feed: everyDoor(
      (n) => read({ attributes: list(n, (writer) => bytes(0)(writer.u8(attributeUsage.memo))) }),
      (n) => read({ inputs: list(n, (writer) => writer.bytes(new Uint8Array(38))) }),
      (n) => read({ outputs: list(n, output) }),
      (n) => read({ version: 9, outputs: list(n, (writer) => output(writer).u8(0)) }),
      (n) => read({ programs: list(n, (writer) => bytes(0)(bytes(0)(writer))) }),
    ),
    refusal: tooMany,
  }),
]
