import type { SignatureCheck } from '../../src/primitives/signature.js'
import type { Block, Chain } from './dist.js'
import { parseCode, parseParameter, SignatureCache } from './dist.js'
import { mineBlock, type Payer, selfTransfer } from './load.js'

/** Blocks that a suite gives to a chain, and the signatures in them. */
export interface Prepared {
  readonly bytes: Uint8Array
  readonly checks: readonly SignatureCheck[]
}

/** Blocks on top of the genesis block, each with a transfer of every payer to itself. */
export async function transferBlocks(chain: Chain, payers: readonly Payer[], count: number): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  let parent = chain.genesis.header
  while (prepared.length < count) {
    const block = await mineBlock(
      chain,
      parent,
      payers.map((payer) => selfTransfer(payer, chain.sanity.assetId)),
    )
    prepared.push({ bytes: block.bytes, checks: checksOf(block) })
    parent = block.header
  }
  return prepared
}

/** The signatures of the programs in a block. */
export function checksOf(block: Block): SignatureCheck[] {
  return block.transactions.slice(1).flatMap((tx) =>
    tx.programs.map(({ code, parameter }): SignatureCheck => {
      const script = parseCode(code)
      if (script === undefined) throw new Error('a program of our own does not parse')
      const signatures = parseParameter(parameter, script) ?? []
      return { message: tx.unsigned, keys: script.keys, signatures, code: 'tx-signature', subject: tx.txid }
    }),
  )
}

/** A signature cache whose contents can be replaced, and that shows what it is asked for. */
export class ChangingCache extends SignatureCache {
  current = new SignatureCache()
  seen: SignatureCheck[] = []

  override unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    this.seen.push(...checks)
    return this.current.unknown(checks)
  }
}
