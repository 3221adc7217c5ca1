import type { SignatureCheck } from '../../src/base/primitives/signature.js'
import { Block, type Chain, ProgramCheck, SignatureCache } from './dist.js'
import { mineBlock, type Payer, selfTransfer } from './load.js'

/** Blocks on top of the genesis block, each with a transfer of every payer to itself. As bytes: objects would be collected with those measured. */
export async function transferBlocks(chain: Chain, payers: readonly Payer[], count: number): Promise<Uint8Array[]> {
  const prepared: Uint8Array[] = []
  let parent = chain.genesis.header
  while (prepared.length < count) {
    const block = await mineBlock(
      chain,
      parent,
      payers.map((payer) => selfTransfer(payer, chain.sanity.assetId)),
    )
    prepared.push(block.bytes)
    parent = block.header
  }
  return prepared
}

/** The signatures of the programs in a block. */
export function checksOf(bytes: Uint8Array): SignatureCheck[] {
  return Block.fromBytes(bytes)
    .transactions.slice(1)
    .flatMap((tx) =>
      tx.programs.map((_, i) => {
        const [script, signatures] = [tx.scriptAt(i), tx.signaturesAt(i)]
        if (script === undefined || signatures === undefined) throw new Error('a program of our own does not parse')
        return new ProgramCheck(tx, i, script, signatures)
      }),
    )
}

/** A signature cache whose contents can be replaced, and that shows what it is asked for. */
export class ChangingCache extends SignatureCache {
  current = new SignatureCache()
  /** What it is asked for, where that is wanted. */
  seen: SignatureCheck[] | undefined

  override unknown(checks: readonly SignatureCheck[]): readonly SignatureCheck[] {
    this.seen?.push(...checks)
    return this.current.unknown(checks)
  }
}
