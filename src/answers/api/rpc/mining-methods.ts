import { Type } from '@sinclair/typebox'
import { requiredBits } from '../../../ledger/consensus/context.js'
import { acceptedPrefixes } from '../../../ledger/consensus/sanity.js'
import { RuleError } from '../../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash } from '../../../base/primitives/address.js'
import type { Block } from '../../../base/primitives/block.js'
import { hex, toHex } from '../../../base/primitives/bytes.js'
import { hexFault } from '../../../base/primitives/hex-fault.js'
import { difficultyText } from '../../../base/primitives/compact.js'
import { networkHashRate } from '../../../ledger/production/hash-rate.js'
import { maxBlocks } from '../../../ledger/production/mining.js'
import { addressParam, closed, hash, hashParam, uint32 } from '../schemas/common-schemas.js'
import { count } from '../schemas/number-schemas.js'
import { JsonText, method, type RpcMethod } from './method.js'

const payToAddress = { ...addressParam, description: 'payee of the block' }
const bits = Type.String({ pattern: '^[0-9a-f]{8}$', description: 'compact target in hex' })
const internalOrder = 'internal order: not reversed, unlike hashes elsewhere'

const createAuxBlock = method({
  name: 'createauxblock',
  summary: 'The block that an outside miner should work for.',
  params: Type.Object({ paytoaddress: payToAddress }),
  result: closed({
    chainid: uint32('place of this chain in a merged-mining tree'),
    height: uint32('height of the block'),
    coinbasevalue: count('what the block pays, subsidy and fees, in units of 10^-8'),
    bits,
    hash: hash(internalOrder),
    previousblockhash: hash(internalOrder),
  }),
  run: async ({ mining, reader }, { paytoaddress }) => {
    const template = await mining.template(payeeOf(paytoaddress))
    return new JsonText(auxBlockJson(template, reader.chain.spec.auxpowChainId))
  },
})

const submitAuxBlock = method({
  name: 'submitauxblock',
  summary: 'Hands in the work for a block of createauxblock; true when the block is the tip.',
  effect: 'repeatable',
  params: Type.Object({
    blockhash: hashParam('the hash that createauxblock gave, in the same order'),
    auxpow: Type.String({ description: 'AuxPow in hex, without the byte that ends a full header' }),
  }),
  result: Type.Literal(true),
  run: async ({ mining, reader }, { blockhash, auxpow }, { strangerRefusal }) => {
    // The work for such a block proves nothing, and the validator's key signs whatever is submitted.
    if (reader.chain.spec.hasValidators && strangerRefusal !== undefined) {
      throw new RuleError('request-forbidden', `submitauxblock: ${strangerRefusal}`)
    }
    // No bytes are hex as well, and no AuxPow.
    const fault = auxpow === '' ? undefined : hexFault(auxpow)
    if (fault !== undefined) throw new RuleError('request-parameter', `auxpow: it has to be an AuxPow in hex: ${fault}`)
    await mining.submit(hex(blockhash), hex(auxpow))
    return true
  },
})

const getMiningInfo = method({
  name: 'getmininginfo',
  summary: 'What a miner may want to know of chain and node.',
  result: closed({
    chain: Type.String({ description: 'name of the chain' }),
    chainid: uint32('place of this chain in a merged-mining tree'),
    blocks: uint32('height of the tip'),
    bits,
    difficulty: Type.String({ pattern: '^[0-9]+$', description: 'of the next block, against the easiest target' }),
    networkhashps: Type.String({ pattern: '^[0-9]+$', description: 'hashes a second behind the last 120 blocks' }),
    pooledtx: count('transactions that wait'),
    mining: Type.Boolean({ description: 'whether this node makes blocks without being told to each time' }),
  }),
  run: ({ mining, reader: { chain }, mempool }) => {
    const { spec, tip, headers } = chain
    const next = requiredBits(spec, headers.ancestry(tip))
    return {
      chain: spec.name,
      chainid: spec.auxpowChainId,
      blocks: tip.header.height,
      bits: bitsText(next),
      difficulty: difficultyText(next, spec.powLimitBits),
      networkhashps: String(networkHashRate(chain)),
      pooledtx: mempool.size,
      mining: mining.active,
    }
  },
})

const discreteMining = method({
  name: 'discretemining',
  summary: 'Makes blocks one after another.',
  access: 'admin',
  params: Type.Object({
    count: Type.Integer({ minimum: 1, maximum: maxBlocks, description: `how many, from 1 to ${maxBlocks}` }),
    paytoaddress: Type.Optional({
      ...payToAddress,
      description: 'payee of the blocks; without it the address of --mine, or the validator of a devnet',
    }),
  }),
  result: Type.Array(hash('block hash')),
  run: async ({ mining }, { count: blocks, paytoaddress }) =>
    (await mining.mine(blocks, optionalPayee(paytoaddress))).map((block) => block.hash),
})

const toggleMining = method({
  name: 'togglemining',
  summary: 'Starts or stops making one block after another.',
  access: 'admin',
  params: Type.Object({
    mining: Type.Boolean({ description: 'whether to' }),
    paytoaddress: Type.Optional({
      ...payToAddress,
      description: 'payee of the blocks; without it the address of --mine',
    }),
  }),
  result: Type.Boolean({ description: 'whether the node makes blocks now' }),
  run: async ({ mining }, { mining: wanted, paytoaddress }) => {
    await mining.toggle(wanted, optionalPayee(paytoaddress))
    return mining.active
  },
})

/** Work for outside miners, and the node's own mining. */
export const miningMethods: readonly RpcMethod[] = [
  createAuxBlock,
  submitAuxBlock,
  getMiningInfo,
  discreteMining,
  toggleMining,
]

/** The value of the coinbase may be above 2^53, so the JSON text is built by hand. */
function auxBlockJson({ header, transactions }: Block, chainId: number): string {
  const value = transactions[0]?.outputs[0]?.value ?? 0n
  return (
    `{"chainid":${chainId},"height":${header.height},"coinbasevalue":${value},"bits":"${bitsText(header.bits)}",` +
    `"hash":"${toHex(header.hash)}","previousblockhash":"${toHex(header.previous)}"}`
  )
}

function bitsText(value: number): string {
  return value.toString(16).padStart(8, '0')
}

function optionalPayee(address: string | undefined): ProgramHash | undefined {
  return address === undefined ? undefined : payeeOf(address)
}

/** Recipient of a block: an address that a block may pay to. */
function payeeOf(address: string): ProgramHash {
  const payee = parseAddress(address)
  if (payee === undefined) {
    throw new RuleError('request-parameter', 'paytoaddress: an address is 34 characters of base58 with a checksum')
  }
  if (acceptedPrefixes.includes(payee[0])) return payee
  throw new RuleError('request-parameter', 'paytoaddress: this chain pays addresses that begin with E, 8 or i')
}
