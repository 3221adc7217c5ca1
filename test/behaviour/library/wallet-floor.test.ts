import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNode, type LedgerNode } from '../../../src/index.js'
import { NodeClient } from '../../../src/clients/client/node-client.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../../src/base/primitives/address.js'
import { parseAmount } from '../../../src/base/primitives/amount.js'
import { parseDisplayHash } from '../../../src/base/primitives/bytes.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { finalSequence } from '../../../src/base/primitives/input.js'
import { Transaction } from '../../../src/base/primitives/transaction.js'
import { loadSpec } from '../../../src/program/cli/load-spec.js'
import type { SigningAccount } from '../../../src/clients/wallet/accounts.js'
import { buildTransfer } from '../../../src/clients/wallet/build-transaction.js'
import { signTransaction } from '../../../src/clients/wallet/sign-transaction.js'
import { chainTerms } from '../../../src/clients/wallet/terms.js'
import { seededRandom } from '../../support/builders/seeded-bytes.js'
import { operationJson } from '../../../src/base/primitives/did-operation.js'
import { holder } from '../../support/builders/did.js'
import { Workbench } from '../../support/process/workbench.js'

/** Wallets of a node whose pool is full of records at 2 sela a byte and more, so that it asks more than the chain. */

const poolSize = 8_000_000
const recordBytes = 198_000
const records = Math.ceil(poolSize / recordBytes) + 2
const coinValue = 10_000_000n
const spec = loadSpec('devnet')

let node: LedgerNode
let client: NodeClient
let bench: Workbench
let floor: number

beforeAll(async () => {
  node = await createNode({
    network: 'devnet',
    mining: 'manual',
    api: { portBase: 0 },
    tuning: { mempool: { size: poolSize } },
  })
  client = new NodeClient({ rest: (node.api as { rest: string }).rest })
  bench = new Workbench()
  const payer = node.wallet.account(0)
  const split = await splitCoin(payer)
  await node.devnet?.mine()
  for (let index = 0; index < records; index++) await node.mempool.send(record(payer, split, index))
  floor = await client.feeFloor()
})
afterAll(async () => {
  bench.close()
  await node.close()
})

/** Many coins of an account in one transaction; returns its id. */
async function splitCoin({ address, publicKey, privateKey }: SigningAccount): Promise<Hash> {
  const coins = (await node.chain.coins(address)).map(({ txid, index, value }) => {
    return { txid: parseDisplayHash(txid) as Hash, index, value }
  })
  const payment = { ...chainTerms(spec, 0), code: singleKeyCode(publicKey), coins, random: seededRandom('split') }
  const recipient = { programHash: parseAddress(address) as ProgramHash, value: coinValue }
  const built = buildTransfer(
    payment,
    Array.from({ length: records }, () => recipient),
  )
  await node.mempool.send(signTransaction(built.transaction, [privateKey]).transaction)
  return built.transaction.hash
}

function record({ address, publicKey, privateKey }: SigningAccount, txid: Hash, index: number): Transaction {
  const { assetId } = chainTerms(spec, 0)
  const value = coinValue - 400_000n - 20_000n * BigInt(index)
  const unsigned = new Transaction({
    version: 0,
    payloadVersion: 0,
    payload: { type: 3, recordType: '', content: new Uint8Array(recordBytes) },
    attributes: [],
    inputs: [{ txid, index, sequence: finalSequence }],
    outputs: [{ assetId, value, outputLock: 0, programHash: parseAddress(address) as ProgramHash }],
    lockTime: 0,
    programs: [{ code: singleKeyCode(publicKey), parameter: new Uint8Array(0) }],
  })
  return signTransaction(unsigned, [privateKey]).transaction
}

/** Fee and size of a transaction that waits. */
function waiting(txid: string): { fee: bigint; size: number } {
  const entry = node.mempool.entries().find(({ transaction }) => transaction.txid === txid)
  if (entry === undefined) throw new Error(`${txid} does not wait`)
  return { fee: entry.fee, size: entry.transaction.bytes.length }
}

/** The fee is to the unit what was asked at some moment since the pool is full: that sinks with time. */
async function expectAsked({ fee, size }: { fee: bigint; size: number }): Promise<void> {
  const asked = (rate: number) => (BigInt(rate) * BigInt(size) + 999n) / 1000n
  expect(fee).toBeLessThanOrEqual(asked(floor))
  expect(fee).toBeGreaterThanOrEqual(asked(await client.feeFloor()))
}

describe('while the pool is full', () => {
  it('the node asks more than 2 sela a byte', () => expect(floor).toBeGreaterThan(2000))

  it('the wallet of the node pays exactly what is asked', async () => {
    const [from, to] = [node.wallet.account(1), node.wallet.account(2)]
    await expectAsked(waiting(await node.wallet.transfer({ from, to: to.address, amount: '1' })))
    await expectAsked(waiting((await node.wallet.createDid({ account: from })).txid))
  })

  it('a fee below it is refused by the node, with what is needed', async () => {
    const [from, to] = [node.wallet.account(3), node.wallet.account(2)]
    const low = node.wallet.transfer({ from, to: to.address, amount: '1', fee: 100n })
    await expect(low).rejects.toMatchObject({
      code: 'fee-too-low',
      message: expect.stringMatching(/^2\.\d+ sela a byte are needed now: \d+ bytes pay 100 sela$/) as string,
    })
  })

  it('the command pays it, and refuses a lower --fee with a hint before it sends anything', async () => {
    const to = node.wallet.account(2).address
    const send = [
      'wallet',
      'send',
      '--to',
      to,
      '--amount',
      '1',
      '--devnet-account',
      '4',
      '--rest',
      client.rest,
      '--no-wait',
    ]
    const pooled = node.mempool.size
    const low = await bench.run(...send, '--fee', '0.00000100')
    expect(low.code).toBe(2)
    const needed = /--fee 0\.00000100 is too low: (0\.\d{8}) is asked for this transaction/.exec(low.err)?.[1]
    expect(node.mempool.size).toBe(pooled)
    const { txid } = await bench.json<{ txid: string }>(...send)
    const paid = waiting(txid)
    await expectAsked(paid)
    await expectAsked({ ...paid, fee: parseAmount(needed ?? '') as bigint })
    const more = [...send.slice(0, -3), '--rest', client.rest, '--no-wait', '--fee', '0.01']
    const dear = await bench.json<{ txid: string }>(...more)
    expect(waiting(dear.txid).fee).toBe(1_000_000n)
  })

  it('the command publishes operations for it', async () => {
    const ada = holder()
    const file = bench.write('create.json', JSON.stringify(operationJson(ada.create())))
    const publish = ['did', 'publish', file, '--devnet-account', '5', '--rest', client.rest, '--no-wait']
    const low = await bench.run(...publish, '--fee', '0.00001')
    expect(low).toMatchObject({ code: 2, err: expect.stringContaining('is too low') as string })
    const { txid } = await bench.json<{ txid: string }>(...publish)
    await expectAsked(waiting(txid))
  })
})
