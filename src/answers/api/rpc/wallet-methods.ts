import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { ChainReader } from '../../../ledger/chain/reader.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { formatAmount } from '../../../base/primitives/amount.js'
import { fromHex } from '../../../base/primitives/bytes.js'
import { hexFault } from '../../../base/primitives/hex-fault.js'
import type { Output } from '../../../base/primitives/output.js'
import { txType } from '../../../base/primitives/payload.js'
import { parseInputs } from '../../../base/primitives/input.js'
import { Transaction } from '../../../base/primitives/transaction.js'
import type { Input } from '../../../base/primitives/transaction-fields.js'
import { apiLimits } from '../api-limits.js'
import { readAmount, readParameter } from '../parameters.js'
import { chainKey, StreamedAnswer } from '../streams/streamed-answer.js'
import { amountOf } from '../results/inputs-amount.js'
import { addressParam, amount, amountParam, bytes, hashParam, uint32 } from '../schemas/common-schemas.js'
import { type SchemaCheck, schemaCheck } from '../schemas/schema-check.js'
import { withIntegers } from './decimal-text.js'
import { method, type RpcMethod } from './method.js'

const most = apiLimits.listedInputs
/** Characters of hex: the number of inputs in 3 bytes, and each input in 38. */
const longestInputs = 2 * (3 + 38 * most)

/** A list as JSON, or as the JSON text of one, which is what clients of the family send. */
function listOrText<T extends TSchema>(item: T, description: string) {
  // The text is parsed in one go: the limit of a body does not see the values in it.
  const text = Type.String({ maxLength: apiLimits.listText })
  return Type.Union([Type.Array(item, { minItems: 1, maxItems: most }), text], {
    description: `${description}; 1 to ${most} of them, as an array or as its JSON text`,
  })
}

const input = Type.Object({
  txid: hashParam('id of the transaction that is spent'),
  vout: Type.Integer({ minimum: 0, maximum: 0xffff, description: 'number of its output' }),
})
const output = Type.Object({ address: addressParam, amount: amountParam })
const inputList = schemaCheck(Type.Array(input, { minItems: 1, maxItems: most }))
const outputList = schemaCheck(Type.Array(output, { minItems: 1, maxItems: most }))

/** Bytes counted for the inputs, and for the small transaction that is decoded at a time. */
const amountMemory = 1024 * 1024

/** Methods that wallets of the family call to build a transaction. */
export const walletMethods: readonly RpcMethod[] = [
  method({
    name: 'createrawtransaction',
    summary: 'Builds an unsigned transfer from coins and payments; the chain is not asked, and nothing is added.',
    params: Type.Object({
      inputs: listOrText(input, 'the coins to spend'),
      outputs: listOrText(output, 'the payments'),
      locktime: uint32('height at or below which it cannot be mined; 0 is no such limit'),
    }),
    result: bytes('the transaction in hex, without programs'),
    run: ({ reader }, { inputs, outputs, locktime }) => {
      const payments = listOf('outputs', outputs, outputList)
      return new Transaction({
        version: 9,
        payloadVersion: 0,
        payload: { type: txType.transfer },
        attributes: [],
        inputs: listOf('inputs', inputs, inputList).map(({ txid, vout }) => {
          return { txid: readParameter('hash', 'inputs', txid), index: vout, sequence: 0 }
        }),
        outputs: payments.map((payment) => outputOf(reader, payment)),
        lockTime: locktime,
        programs: [],
      }).toHex()
    },
  }),
  method({
    name: 'getamountbyinputs',
    lasts: 'chain',
    summary: 'Sum of the outputs that inputs spend, spent or not.',
    params: Type.Object({
      inputs: Type.String({
        minLength: 2,
        maxLength: longestInputs,
        description: `their number and the inputs in hex, as a transaction holds them; at most ${most}`,
      }),
    }),
    result: amount(),
    run: ({ reader }, { inputs: text }) => {
      const inputs = inputsOf(text)
      return new StreamedAnswer({
        key: chainKey(reader, 'amount', text),
        repeatable: true,
        search: amountMemory,
        write: async (sink) => sink.add(JSON.stringify(formatAmount(await amountOf(reader, inputs, sink)))),
      })
    },
  }),
]

/** A parameter that is a list or its JSON text; `request-parameter` with what is wrong. */
function listOf<T extends TSchema>(name: string, given: unknown, { schema, holds, faults }: SchemaCheck<T>): Static<T> {
  let list = given
  try {
    if (typeof given === 'string') list = withIntegers(JSON.parse(given), schema)
  } catch (error) {
    throw new RuleError('request-parameter', `${name}: not JSON: ${(error as Error).message}`)
  }
  if (holds(list)) return list
  const [error] = faults(list)
  throw new RuleError('request-parameter', `${name}${(error?.path ?? '').replaceAll('/', '.')}: ${error?.message}`)
}

function outputOf({ chain }: ChainReader, { address, amount: text }: Static<typeof output>): Output {
  return {
    assetId: chain.sanity.assetId,
    value: readAmount('outputs.amount', text, chain.spec.maxMoney),
    outputLock: 0,
    programHash: readParameter('address', 'outputs.address', address),
    extra: { type: 0, payload: new Uint8Array(0) },
  }
}

function inputsOf(text: string): readonly Input[] {
  const encoded = fromHex(text)
  const inputs = encoded === undefined ? undefined : parseInputs(encoded)
  if (inputs !== undefined) return inputs
  const fault = hexFault(text)
  const why = fault === undefined ? '' : `: ${fault}`
  throw new RuleError(
    'request-parameter',
    `inputs: not a number of inputs and the inputs in hex, at most ${most} are taken${why}`,
  )
}
