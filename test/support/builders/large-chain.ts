import { writeFileSync } from 'node:fs'
import { createVerifierPool } from '../../../src/base/crypto/verifier-pool.js'
import { openLedger } from '../../../src/node/open-ledger.js'
import { addressFromPublicKey, parseAddress, type ProgramHash } from '../../../src/base/primitives/address.js'
import { standardProgram } from '../../../src/base/primitives/program.js'
import { parseSpec } from '../../../src/base/primitives/spec-file.js'
import { finalSequence } from '../../../src/base/primitives/input.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { systemEnv } from '../../../src/base/runtime/process-env.js'
import { DataDirectory } from '../../../src/ledger/storage/directory.js'
import { craftBlock } from './blocks.js'
import { quietLog, withoutValidators } from './chain.js'
import { quickSigner } from './signatures.js'
import { testSpec } from './spec.js'

/** Outputs of a transaction that fills a block of 3.3 MB. */
const outputs = 50_000
/** Transfers of the block of small transactions. */
const transfers = 2000

/** A data directory whose blocks are large, with the file of its spec. */
export interface LargeChain {
  readonly genesis: string
  readonly directory: string
  /** Heights of blocks of one transaction with 50,000 outputs. */
  readonly wide: readonly number[]
  /** Height of the block of many transactions. */
  readonly long: number
  /** Hashes of all blocks, in display hex, by height. */
  readonly hashes: readonly string[]
  /** Ids of the large transactions. */
  readonly txids: readonly string[]
  /** The owner of all these outputs. */
  readonly address: string
}

/** Makes a chain without validators with `wide` blocks of 3.3 MB and one of 2000 transfers. */
export async function largeChain(directory: string, genesis: string, wide = 3): Promise<LargeChain> {
  const signer = quickSigner()
  const address = addressFromPublicKey(signer.publicKey)
  const programHash = parseAddress(address) as ProgramHash
  const text = testSpec({ ...withoutValidators, allocations: [{ address, amount: '200000000000' }] })
  writeFileSync(genesis, text)
  const place = await DataDirectory.open(directory)
  const verifier = createVerifierPool({ workers: 1 })
  const { chain, database } = await openLedger(parseSpec(text), place, verifier, systemEnv(quietLog()))
  const { assetId } = chain.sanity
  const transfer = (of: Transaction, index: number, values: readonly bigint[]): Transaction => {
    const fields = {
      version: 0,
      payloadVersion: 0,
      payload: { type: 2 as const },
      attributes: [],
      inputs: [{ txid: of.hash, index, sequence: finalSequence }],
      outputs: values.map((value) => ({ assetId, value, outputLock: 0, programHash })),
      lockTime: 0,
    }
    const { unsigned } = new Transaction({ ...fields, programs: [] })
    return new Transaction({ ...fields, programs: [standardProgram(signer.publicKey, signer.sign(unsigned))] })
  }
  try {
    let last = chain.genesis.transactions[0] as Transaction
    let rest = 200_000_000_000n
    const spread = async (count: number) => {
      const fees = 10_000_000n
      rest -= BigInt(count) * 1000n + fees
      last = transfer(last, 0, [rest, ...new Array<bigint>(count).fill(1000n)])
      await chain.acceptBlock(craftBlock(chain, { transactions: [last], fees }).bytes)
      return last.txid
    }
    await spread(transfers)
    const source = last
    const transactions = Array.from({ length: transfers }, (_, i) => transfer(source, i + 1, [500n]))
    await chain.acceptBlock(craftBlock(chain, { transactions, fees: 500n * BigInt(transfers) }).bytes)
    const long = chain.tip.header.height
    const txids: string[] = []
    const heights: number[] = []
    for (let i = 0; i < wide; i++) {
      txids.push(await spread(outputs))
      heights.push(chain.tip.header.height)
    }
    const every = Array.from({ length: chain.tip.header.height + 1 }, (_, height) => chain.headers.active(height))
    const hashes = every.map((known) => known?.header.id ?? '')
    return { genesis, directory, wide: heights, long, hashes, txids, address }
  } finally {
    await chain.close()
    await database.close()
    await verifier.close()
    await place.close()
  }
}
