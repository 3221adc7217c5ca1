import { formatDate } from '../../src/identity/did/date.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../src/base/primitives/address.js'
import { paramsAt } from '../../src/base/primitives/spec.js'
import type { Transaction } from '../../src/base/primitives/transaction.js'
import {
  buildDidTransaction,
  buildTransfer,
  payerOf,
  type Payment,
} from '../../src/clients/wallet/build-transaction.js'
import { devnetAccount } from '../../src/clients/wallet/devnet-accounts.js'
import { createIdentity } from '../../src/clients/wallet/did-identity.js'
import { signTransaction } from '../../src/clients/wallet/sign-transaction.js'
import { Scene, sceneTime } from './scene.js'

/** Subjects of the samples of REST and JSON-RPC: few events on a devnet. */
export interface DevnetStory {
  readonly devnet: Scene
  /** A mined transfer. */
  readonly paid: Transaction
  /** A signed transfer that has not been sent. */
  readonly unsent: Transaction
}

/** Pays in each event, and owns the DID. */
export const payer = devnetAccount(0)
export const payee = devnetAccount(1)

/** A devnet with a transfer in block 1 and a DID in block 2. */
export async function openDevnetStory(): Promise<DevnetStory> {
  const devnet = await Scene.open('devnet')
  const pay = async (coins: bigint): Promise<Transaction> => {
    const to = parseAddress(payee.address) as ProgramHash
    return signed(buildTransfer(await payment(devnet), [{ programHash: to, value: coins * 100_000_000n }]).transaction)
  }
  const send = async (transaction: Transaction) => {
    await devnet.call('sendrawtransaction', { data: transaction.toHex() })
    await devnet.call('dev_mine', {})
  }
  const paid = await pay(12n)
  await send(paid)
  const operation = createIdentity(
    {
      account: payer,
      specification: paramsAt(devnet.node.spec, 1).specifications.did[0] as string,
      created: formatDate(sceneTime),
    },
    {
      services: [{ id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org' }],
      expires: formatDate(sceneTime + 2 * 365 * 86_400),
    },
  )
  const didHash = parseAddress(payer.did.replace(/^.*:/, '')) as ProgramHash
  await send(signed(buildDidTransaction(await payment(devnet), operation, didHash).transaction))
  const unsent = await pay(3n)
  return { devnet, paid, unsent }
}

async function payment({ node, env }: Scene): Promise<Payment> {
  const { reader, spec, chain } = node
  const code = singleKeyCode(payer.publicKey)
  const coins = (await reader.coins(payerOf(code))).map(({ outpoint, value, height }) => ({
    ...outpoint,
    value,
    confirmations: reader.height - height + 1,
  }))
  const { fees } = paramsAt(spec, reader.height + 1)
  return { code, coins, fee: fees, assetId: chain.sanity.assetId, maxMoney: spec.maxMoney, random: env.random }
}

function signed(transaction: Transaction): Transaction {
  return signTransaction(transaction, [payer.privateKey]).transaction
}

/** Hash of the block at a height, display order. */
export function hashAt({ node }: Scene, height: number): string {
  return node.reader.headerAt(height)?.header.id ?? ''
}
