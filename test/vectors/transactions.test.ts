import { describe, expect, it } from 'vitest'
import { holds } from '../../src/base/crypto/verify.js'
import { addressOf } from '../../src/base/primitives/address.js'
import { displayHash, fromUtf8, hex, toHex, utf8 } from '../../src/base/primitives/bytes.js'
import { Reader } from '../../src/base/primitives/codec.js'
import type { Output } from '../../src/base/primitives/output.js'
import type { Payload } from '../../src/base/primitives/payload.js'
import { parseCode, parseParameter, type ProgramScript } from '../../src/base/primitives/program.js'
import { Transaction } from '../../src/base/primitives/transaction.js'
import { copied, openVectors } from '../support/builders/vectors.js'

interface TransactionVector {
  name: string
  raw: string
  unsigned: string
  txid: string
  txidInternal: string
  expectTxid: string | null
  size: number
  decoded: unknown
}

const file = openVectors<{ vectors: TransactionVector[] }>('transactions.json', {
  descriptive: ['about', 'name', 'source', 'note'],
})

/** Signatures that each vector's programs hold: none yet, some of a multisig, or as many as are needed. */
const signatures: Record<string, number[]> = {
  'v0-transfer-signed (REST POST example)': [1],
  'coinbase-height-123-mainnet': [],
  'cli-v9-0-type2': [0],
  'cli-v9-1-type2': [0],
  'cli-v9-2-type2': [0],
  'cli-v9-3-type2': [0],
  'cli-v9-4-type8': [0],
  'cli-v9-5-type2': [1],
  'cli-v9-6-type2': [1],
  'cli-v9-8-type2': [3],
  'cli-v9-9-type2': [1],
}

describe('published transactions', () => {
  it('are eleven, one for each expectation here', () => {
    expect(file.data.vectors.map(({ name }) => name)).toEqual(Object.keys(signatures))
  })

  for (const vector of file.data.vectors) {
    describe(vector.name, () => {
      const tx = Transaction.fromHex(vector.raw)

      it('keeps its bytes, decoded and built again from its fields', () => {
        expect(tx.toHex()).toBe(vector.raw)
        expect(toHex(tx.unsigned)).toBe(vector.unsigned)
        expect(tx.bytes).toHaveLength(vector.size)
        const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs } = tx
        const fields = { version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs }
        const rebuilt = new Transaction(fields)
        expect(rebuilt.toHex()).toBe(vector.raw)
        expect(toHex(rebuilt.unsigned)).toBe(vector.unsigned)
      })

      it('has its id in both orders', () => {
        expect(tx.txid).toBe(vector.txid)
        expect(toHex(tx.hash)).toBe(vector.txidInternal)
        expect(vector.expectTxid ?? vector.txid).toBe(tx.txid)
      })

      it('has every field', () => {
        expect(fieldsOf(tx)).toStrictEqual(copied(vector.decoded))
      })

      it('holds signatures that verify over the unsigned part', () => {
        const found = tx.programs.map(({ code, parameter }) => {
          const script = parseCode(code) as ProgramScript
          const count = parameter.length / 65
          const complete = count >= script.required
          expect(parseParameter(parameter, script) !== undefined).toBe(complete)
          const list = Array.from({ length: count }, (_, i) => parameter.subarray(65 * i + 1, 65 * i + 65))
          expect(holds({ message: tx.unsigned, keys: script.keys, signatures: list })).toBe(count > 0)
          const altered = Uint8Array.from(tx.unsigned)
          altered[altered.length - 1] = 0xee
          expect(holds({ message: altered, keys: script.keys, signatures: list })).toBe(false)
          return count
        })
        expect(found).toEqual(signatures[vector.name])
      })
    })
  }

  it('leave no member unread', () => file.finish())
})

/** The shape of the vectors' `decoded`. */
function fieldsOf(tx: Transaction): unknown {
  return {
    version: tx.version,
    type: tx.type,
    payloadversion: tx.payloadVersion,
    payload: payloadFields(tx.payload),
    attributes: tx.attributes.map(({ usage, data }) => ({ usage, data: toHex(data) })),
    vin: tx.inputs.map(({ txid, index, sequence }) => ({ txid: displayHash(txid), vout: index, sequence })),
    vout: tx.outputs.map((output) => ({
      assetid: displayHash(output.assetId),
      value: output.value.toString(),
      outputlock: output.outputLock,
      ph: toHex(output.programHash),
      address: addressOf(output.programHash),
      ...extraFields(output),
    })),
    locktime: tx.lockTime,
    programs: tx.programs.map(({ code, parameter }) => ({ code: toHex(code), parameter: toHex(parameter) })),
  }
}

function payloadFields(payload: Payload): unknown {
  if (payload.type === 0) return { CoinbaseData: utf8(payload.data) }
  if (payload.type === 8) return { assets: payload.assets.map((asset) => ({ ...asset, amount: `${asset.amount}` })) }
  return {}
}

/** A vote inside an output of type 1 or 6. */
interface VoteContent {
  readonly voteType: number
  readonly candidates: readonly { readonly candidate: Uint8Array; readonly votes?: bigint }[]
}

/** The payload of an output of type 1 or 6. */
function readVotes(reader: Reader): { version: number; contents: VoteContent[] } {
  const version = reader.u8()
  const candidate = () => {
    const key = reader.varbytes(1024 * 1024)
    return version >= 1 ? { candidate: key, votes: reader.i64() } : { candidate: key }
  }
  const content = () => ({ voteType: reader.u8(), candidates: reader.list(0xffff, 1, candidate) })
  return { version, contents: reader.list(0xffff, 2, content) }
}

function extraFields({ extra }: Output): object {
  if (extra === undefined) return {}
  if (extra.type !== 1) return { type: extra.type, payload: extra.payload.length === 0 ? {} : toHex(extra.payload) }
  const { version, contents } = readVotes(new Reader(extra.payload))
  const cands = (list: (typeof contents)[number]['candidates']) =>
    list.map(({ candidate, votes }) => ({ c: toHex(candidate), ...(votes === undefined ? {} : { votes: `${votes}` }) }))
  return {
    type: 1,
    payload: { version, contents: contents.map((c) => ({ type: c.voteType, cands: cands(c.candidates) })) },
  }
}

describe('the REST shape of the published transfer', () => {
  it('has the members in the order of the samples, amounts with eight decimals', () => {
    const tx = Transaction.fromHex((file.data.vectors[0] as TransactionVector).raw)
    const json = tx.toJSON()
    expect(Object.keys(json).join(' ')).toBe(
      'txid hash size vsize version locktime vin vout blockhash confirmations time blocktime type payloadversion ' +
        'payload attributes programs',
    )
    expect(json.vout.map(({ value }) => value)).toEqual(['1.00000000', '64783.15662240'])
    expect(json).toMatchObject({ hash: json.txid, size: 301, vsize: 301, blockhash: '', time: 0, payload: {} })
    expect(json.attributes).toEqual([{ usage: 0, data: toHex(fromUtf8('5577006791947779410')) }])
    expect(Transaction.fromBytes(hex(tx.toHex())).toJSON()).toEqual(json)
  })
})
