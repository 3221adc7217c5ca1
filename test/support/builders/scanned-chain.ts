import { namedCredential, namedDid } from '../../../src/identity/did/named-did.js'
import { formatAmount } from '../../../src/base/primitives/amount.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { outpointKey } from '../../../src/base/primitives/input.js'
import type { Output } from '../../../src/base/primitives/output.js'
import { parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import type { TestChain } from './chain.js'

/** Lists of a chain made in the slow way: from whole blocks, genesis first, with every output remembered. */

const kinds: Readonly<Record<number, string>> = {
  0: 'coinbase',
  1: 'registerAsset',
  2: 'transfer',
  3: 'record',
  10: 'did',
}

/** Blocks of the active chain, genesis first. */
export async function activeBlocks({ reader }: TestChain): Promise<Block[]> {
  const blocks: Block[] = []
  for (let height = 0; height <= reader.height; height++) {
    const known = reader.headerAt(height)
    if (known !== undefined) blocks.push(await reader.block(known))
  }
  return blocks
}

/** The rows of `getaddresshistory`, newest first. */
export function scannedHistory(blocks: readonly Block[], address: string): object[] {
  const owner = Buffer.from(parseAddress(address) as ProgramHash)
  const isOwn = ({ programHash }: Output) => owner.equals(programHash)
  const sum = (outputs: readonly Output[]) => outputs.reduce((total, { value }) => total + value, 0n)
  const outputs = new Map<string, Output>()
  const rows: object[] = []
  for (const { header, transactions } of blocks) {
    for (const [index, tx] of transactions.entries()) {
      const inputs = tx.isCoinbase ? [] : tx.inputs.map((input) => outputs.get(outpointKey(input)) as Output)
      tx.outputs.forEach((output, i) => outputs.set(outpointKey({ txid: tx.hash, index: i }), output))
      if (![...inputs, ...tx.outputs].some(isOwn)) continue
      const place = { txid: tx.txid, height: header.height, index, blockhash: header.id, time: header.time }
      const received = formatAmount(sum(tx.outputs.filter(isOwn)))
      const spent = formatAmount(sum(inputs.filter(isOwn)))
      const fee = inputs.length === 0 ? {} : { fee: formatAmount(sum(inputs) - sum(tx.outputs)) }
      rows.push({ ...place, kind: kinds[tx.type], received, spent, ...fee })
    }
  }
  return rows.reverse()
}

/** The rows of `listdidoperations`, newest first. */
export function scannedOperations(blocks: readonly Block[]): { did: string; operation: string }[] {
  const rows = blocks.flatMap(({ header, transactions }) =>
    transactions.flatMap(({ payload, txid }, index) => {
      if (payload.type !== 10) return []
      const { operation } = payload
      const place = { txid, height: header.height, index, blockhash: header.id, time: header.time }
      const credential = namedCredential(operation)?.id
      const did = credential === undefined ? (namedDid(operation) as string) : (credential.split('#')[0] as string)
      const signer = operation.verificationMethod.split('#')[0] || did
      return [{ ...place, did, operation: operation.operation, signer, ...(credential && { credential }) }]
    }),
  )
  return rows.reverse()
}

/** The rows of `listblocks` on a chain without validators, newest first. */
export function scannedBlocks(blocks: readonly Block[]): object[] {
  const rows = blocks.map(({ header, transactions, bytes }) => ({
    height: header.height,
    hash: header.id,
    time: header.time,
    size: bytes.length,
    transactions: transactions.length,
    dids: transactions.filter(({ payload }) => payload.type === 10).length,
  }))
  return rows.reverse()
}

/** The numbers of `countdids`. */
export function scannedCount(blocks: readonly Block[]): { total: number; valid: number; deactivated: number } {
  const operations = scannedOperations(blocks)
  const count = (name: string) => operations.filter(({ operation }) => operation === name).length
  const [total, deactivated] = [count('create'), count('deactivate')]
  return { total, valid: total - deactivated, deactivated }
}
