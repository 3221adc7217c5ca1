import fc from 'fast-check'
import type { Coin } from '../../../src/ledger/consensus/ledger.js'
import type { AuxPow } from '../../../src/base/primitives/auxpow.js'
import { Block } from '../../../src/base/primitives/block.js'
import { mapKey } from '../../../src/base/primitives/bytes.js'
import { Writer } from '../../../src/base/primitives/codec.js'
import type { Confirm, Proposal, Vote } from '../../../src/base/primitives/confirm.js'
import { type DidOperation, operationForm, operationForms } from '../../../src/base/primitives/did-operation.js'
import type { ParentHeader } from '../../../src/base/primitives/header.js'
import { Header } from '../../../src/base/primitives/header.js'
import type { Output, OutputExtra } from '../../../src/base/primitives/output.js'
import type { Payload } from '../../../src/base/primitives/payload.js'
import { attributeUsage, Transaction } from '../../../src/base/primitives/transaction.js'
import type { TransactionFields } from '../../../src/base/primitives/transaction-fields.js'
import { rounds } from '../process/thorough.js'

/** Options of every property test; a failure prints its seed. */
export const runs = { numRuns: rounds(100, 3000) } as const

export const bytes = (least: number, most: number = least): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: least, maxLength: most })
export const hash = bytes(32)
export const u8 = fc.integer({ min: 0, max: 0xff })
export const u16 = fc.integer({ min: 0, max: 0xffff })
export const u32 = fc.integer({ min: 0, max: 0xffffffff })
export const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n })
export const programHash = bytes(21)
/** A sum in units. */
export const amount = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n })
export const coin: fc.Arbitrary<Coin> = fc.record({
  height: u32,
  coinbase: fc.boolean(),
  value: amount,
  outputLock: u32,
  owner: programHash.map(mapKey),
})
/** Any well-formed text, U+0000 and a leading BOM included. */
export const text = fc.string({ unit: 'binary', maxLength: 12 })
const few = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 3 })

const operation: fc.Arbitrary<DidOperation> = fc
  .record({
    specification: text,
    operation: fc.constantFrom(...Object.keys(operationForms), 'other', ''),
    previousTxid: text,
    ticket: text,
    payload: text,
    proofType: fc.constantFrom('', 'ECDSAsecp256r1'),
    verificationMethod: text,
    signature: text,
  })
  .map(({ previousTxid, ticket, ...rest }) => {
    const form = operationForm(rest)
    return { ...rest, ...(form?.previousTxid && { previousTxid }), ...(form?.ticket && { ticket }) }
  })

/** A payload of every layout there is, with its version. */
type TypedPayload<T> = fc.Arbitrary<{ payload: Extract<Payload, { type: T }>; payloadVersion: number }>

/** Payloads of each type, one entry for each layout. */
const payloads: { readonly [T in Payload['type']]: readonly TypedPayload<T>[] } = {
  0: [fc.record({ payload: fc.record({ type: fc.constant(0), data: bytes(0, 20) }), payloadVersion: u8 })],
  1: [
    fc.record({
      payload: fc.record({
        type: fc.constant(1),
        name: text,
        description: text,
        precision: u8,
        assetType: u8,
        recordType: u8,
        amount: i64,
        controller: bytes(21),
      }),
      payloadVersion: u8,
    }),
  ],
  2: [fc.record({ payload: fc.constant({ type: 2 }), payloadVersion: u8 })],
  3: [
    fc.record({
      payload: fc.record({ type: fc.constant(3), recordType: text, content: bytes(0, 20) }),
      payloadVersion: u8,
    }),
  ],
  5: [
    fc.record({
      payload: fc.record({
        type: fc.constant(5),
        sideBlockHash: hash,
        sideGenesisHash: hash,
        blockHeight: u32,
        signedData: bytes(64),
      }),
      payloadVersion: u8,
    }),
  ],
  6: [
    fc.record({
      payload: fc.record({
        type: fc.constant(6),
        merkleProof: bytes(0, 20),
        mainChainTransaction: bytes(0, 20),
      }),
      payloadVersion: fc.constant(0),
    }),
    fc.record({
      payload: fc.record({
        type: fc.constant(6),
        merkleProof: bytes(0),
        mainChainTransaction: bytes(0),
        mainChainTxHash: hash,
      }),
      payloadVersion: fc.constant(1),
    }),
  ],
  7: [
    fc.record({
      payload: fc.record({
        type: fc.constant(7),
        blockHeight: u32,
        genesisBlockAddress: text,
        sideTransactionHashes: few(hash),
        signers: fc.constant([]),
      }),
      payloadVersion: fc.constant(0),
    }),
    fc.record({
      payload: fc.record({
        type: fc.constant(7),
        blockHeight: fc.constant(0),
        genesisBlockAddress: fc.constant(''),
        sideTransactionHashes: fc.constant([]),
        signers: few(u8),
      }),
      payloadVersion: fc.constant(2),
    }),
  ],
  8: [
    fc.record({
      payload: fc.record({
        type: fc.constant(8),
        assets: few(fc.record({ address: text, index: u32, amount: i64 })),
      }),
      payloadVersion: fc.constant(0),
    }),
    fc.constant({ payload: { type: 8, assets: [] }, payloadVersion: 1 }),
  ],
  10: [fc.record({ payload: fc.record({ type: fc.constant(10), operation }), payloadVersion: u8 })],
}

const payload = fc.oneof(...Object.values(payloads).flat())

/** A typed extra of every output type there is. */
const extra: fc.Arbitrary<OutputExtra> = fc.oneof(
  fc.constant({ type: 0, payload: new Uint8Array(0) }),
  fc
    .tuple(fc.constantFrom(1, 6), fc.constantFrom(0, 1), few(fc.tuple(u8, few(fc.tuple(bytes(0, 33), i64)))))
    .map(([type, version, contents]) => {
      const writer = new Writer().u8(version)
      writer.list(contents, ([voteType, candidates]) => {
        writer.u8(voteType).list(candidates, ([key, votes]) => {
          writer.varbytes(key)
          if (version >= 1) writer.i64(votes)
        })
      })
      return { type, payload: writer.finish() }
    }),
  fc.tuple(bytes(0, 33), bytes(0, 20), bytes(0, 64)).map(([key, id, signature]) => ({
    type: 2,
    payload: new Writer().u8(0).varbytes(key).varbytes(id).varbytes(signature).finish(),
  })),
  fc.tuple(text, i64, bytes(0, 20)).map(([address, amount, data]) => ({
    type: 3,
    payload: new Writer().u8(0).varstring(address).i64(amount).varbytes(data).finish(),
  })),
  fc.tuple(text, hash, bytes(0, 20)).map(([address, sideHash, data]) => ({
    type: 4,
    payload: new Writer().u8(0).varstring(address).bytes(sideHash).varbytes(data).finish(),
  })),
  fc.tuple(text, hash).map(([address, deposit]) => ({
    type: 5,
    payload: new Writer().u8(0).varstring(address).bytes(deposit).finish(),
  })),
  bytes(21).map((stake) => ({ type: 7, payload: new Writer().u8(0).bytes(stake).finish() })),
)

const bareOutput = { assetId: hash, value: i64, outputLock: u32, programHash: bytes(21) }

/** Fields of a transaction that some layout can hold; most of them break rules. */
export const transactionFields: fc.Arbitrary<TransactionFields> = fc
  .tuple(fc.constantFrom(0, 9), payload)
  .chain(([version, { payload: body, payloadVersion }]) =>
    fc.record({
      // A DID operation has no version byte.
      version: fc.constant(body.type === 10 ? 0 : version),
      payloadVersion: fc.constant(payloadVersion),
      payload: fc.constant(body),
      attributes: few(fc.record({ usage: fc.constantFrom(...Object.values(attributeUsage)), data: bytes(0, 20) })),
      inputs: few(fc.record({ txid: hash, index: u16, sequence: u32 })),
      outputs: few(
        (version === 9 && body.type !== 10
          ? fc.record({ ...bareOutput, extra })
          : fc.record(bareOutput)) as fc.Arbitrary<Output>,
      ),
      lockTime: u32,
      programs: few(fc.record({ parameter: bytes(0, 70), code: bytes(0, 40) })),
    }),
  )

export const transaction: fc.Arbitrary<Transaction> = transactionFields.map((fields) => new Transaction(fields))

export const header: fc.Arbitrary<Header> = fc
  .record({ version: u32, previous: hash, merkleRoot: hash, time: u32, bits: u32, nonce: u32, height: u32 })
  .map((fields) => new Header(fields))

const parentHeader: fc.Arbitrary<ParentHeader> = fc.record({
  version: u32,
  previous: hash,
  merkleRoot: hash,
  time: u32,
  bits: u32,
  nonce: u32,
})

const parentCoinbase = fc
  .tuple(u32, few(fc.tuple(hash, u32, bytes(0, 30), u32)), few(fc.tuple(i64, bytes(0, 30))), u32)
  .map(([version, inputs, outputs, lockTime]) => {
    const writer = new Writer().u32(version)
    writer.list(inputs, ([txid, index, script, sequence]) =>
      writer.bytes(txid).u32(index).varbytes(script).u32(sequence),
    )
    writer.list(outputs, ([value, script]) => writer.i64(value).varbytes(script)).u32(lockTime)
    return { scripts: inputs.map(([, , script]) => script), bytes: writer.finish() }
  })

export const auxPow: fc.Arbitrary<AuxPow> = fc.record({
  coinbase: parentCoinbase,
  parentHash: hash,
  coinbaseBranch: few(hash),
  coinbaseIndex: u32,
  auxBranch: few(hash),
  auxIndex: u32,
  parent: parentHeader,
})

export const block: fc.Arbitrary<Block> = fc
  .tuple(header, auxPow, few(transaction))
  .map(([head, work, transactions]) => new Block(head, work, transactions))

export const proposal: fc.Arbitrary<Proposal> = fc.record({
  sponsor: bytes(33),
  blockHash: hash,
  viewOffset: u32,
  signature: bytes(64),
})

export const vote: fc.Arbitrary<Vote> = fc.record({
  proposalHash: hash,
  signer: bytes(33),
  accept: fc.boolean(),
  signature: bytes(64),
})

export const confirm: fc.Arbitrary<Confirm> = fc.record({ proposal, votes: few(vote) })

/** Changes to make to a byte string: each sets, inserts or removes at a place given as a fraction of its length. */
export const mutation = fc.array(
  fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    kind: fc.constantFrom('set', 'insert', 'remove'),
    value: fc.oneof(u8, fc.constantFrom(0, 1, 0xfc, 0xfd, 0xfe, 0xff)),
  }),
  { minLength: 1, maxLength: 4 },
)

export function mutated(
  original: Uint8Array,
  changes: readonly { place: number; kind: string; value: number }[],
): Uint8Array {
  const result = [...original]
  for (const { place, kind, value } of changes) {
    const at = Math.floor(place * result.length)
    result.splice(at, kind === 'insert' ? 0 : 1, ...(kind === 'remove' ? [] : [value]))
  }
  return Uint8Array.from(result)
}
