import { publicKeyOf } from '../../base/crypto/keys.js'
import { UserError } from '../../base/errors/rule-error.js'
import { addressFromPublicKey, parseAddress, type ProgramHash, singleKeyCode } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { fromHex } from '../../base/primitives/bytes.js'
import { withoutGaps } from '../../base/primitives/digit-groups.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import { systemRandom as random } from '../../base/runtime/system-random.js'
import { accountOf, type KeyPair, type SigningAccount } from '../../clients/wallet/accounts.js'
import {
  buildDidTransaction,
  buildTransfer,
  type Payment,
  type UnsignedTransaction,
} from '../../clients/wallet/build-transaction.js'
import { type NodeChain, parseChain } from '../../clients/wallet/chain-answer.js'
import { parseCoins } from '../../clients/wallet/coins-file.js'
import { choosingAgain } from '../../clients/wallet/choose-again.js'
import { buildDeclare } from '../../clients/wallet/did-credential.js'
import { createIdentity, documentOf, parseDid } from '../../clients/wallet/did-identity.js'
import { issueCredential, type NewCredential, newCredentialName } from '../../clients/wallet/issue-credential.js'
import { coinsBesidePool } from '../../clients/wallet/pending-coins.js'
import { signTransaction } from '../../clients/wallet/sign-transaction.js'
import { chainTerms, specificationIn } from '../../clients/wallet/terms.js'
import { addYears, formatDate } from '../../identity/did/date.js'
import type { DidDocument, DidKey } from '../../identity/did/model.js'
import type { ResolveResult } from '../../identity/did/resolution.js'
import { ask } from '../ask/node-rpc.js'
import { Refusal } from '../ask/refusal.js'
import type { DevnetKeys, ShownTransaction } from '../ask/shapes.js'

/** Signs in the page for an account of a devnet, by the keys that its node tells, and sends; loaded when a form is sent. */

/** Years until a new document expires. */
const years = 5

/** Sends coins of an account to an address, or to that of the key of a DID; resolves with the txid. */
export async function send(index: number, to: string, amount: string): Promise<string> {
  const value = parseAmount(withoutGaps(amount.trim()))
  if (value === undefined) throw new UserError(`${amount} is no amount of coins, such as 12.5`)
  const programHash = await payeeOf(to.trim())
  return pay(await accountAt(index), (payment) => buildTransfer(payment, [{ programHash, value }]))
}

async function payeeOf(to: string): Promise<ProgramHash> {
  const did = parseDid(to)?.did
  const key = did === undefined ? undefined : ((await currentDocument(did)).defaultKey as DidKey)
  const hash = parseAddress(key === undefined ? to : addressFromPublicKey(key.publicKey))
  if (hash === undefined) throw new UserError(`${to} is neither an address nor a DID of this chain`)
  return hash
}

/** Registers the DID of an account, which pays for it; resolves with the txid. */
export async function createDid(index: number): Promise<string> {
  const account = await accountAt(index)
  const now = await devnetTime()
  const expires = formatDate(addYears(now, years))
  return pay(account, (payment, chain) => {
    const context = { account, specification: specificationIn(chain, 'did'), created: formatDate(now) }
    const recovery = account.recovery && { recovery: { publicKey: account.recovery.publicKey } }
    return operated(payment, createIdentity(context, { ...recovery, services: [], expires }), account)
  })
}

/** Signs a credential in the name of the DID of an account; resolves with its JSON text. */
export async function issue(index: number, credential: Omit<NewCredential, 'id'>): Promise<string> {
  const account = await accountAt(index)
  const [document, now] = await Promise.all([currentDocument(account.did), devnetTime()])
  const id = newCredentialName(credential.types, random)
  return issueCredential({ account, document, created: formatDate(now) }, { ...credential, id })
}

/** Declares a credential, JSON text, in the name of its holder, the DID of an account, which pays; resolves with the txid. */
export async function declare(index: number, credential: string): Promise<string> {
  const account = await accountAt(index)
  const document = await currentDocument(account.did)
  return pay(account, (payment, chain) => {
    const context = { account, specification: specificationIn(chain, 'credential') }
    return operated(payment, buildDeclare(context, document, credential), account)
  })
}

function operated(payment: Payment, operation: DidOperation, { did }: SigningAccount): UnsignedTransaction {
  return buildDidTransaction(payment, operation, parseDid(did)?.programHash)
}

async function accountAt(index: number): Promise<SigningAccount> {
  const { keys } = await ask<DevnetKeys>('dev_keys')
  const own = keys.find((one) => one.index === index)
  if (own === undefined) throw new UserError(`this devnet shows no account ${index}`)
  const pair = pairOf(own.privateKey)
  const { recoveryKey } = own
  const recovery = recoveryKey === undefined ? {} : { recovery: pairOf(recoveryKey) }
  return { ...accountOf(pair.publicKey, index), ...pair, ...recovery }
}

function pairOf(text: string): KeyPair {
  const privateKey = fromHex(text)
  if (privateKey === undefined) throw new UserError('the node told a key that is no hex')
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

/** Unix seconds of the clock of the devnet. */
function devnetTime(): Promise<number> {
  return ask<number>('dev_increaseTime', { seconds: 0 })
}

async function currentDocument(did: string): Promise<DidDocument> {
  const { status, transaction } = await ask<ResolveResult>('resolvedid', { did, all: false })
  const last = transaction?.[0]
  if (last !== undefined && status < 2) return documentOf(last.operation.payload)
  throw new UserError(`${did} ${status === 2 ? 'is deactivated' : 'is not registered: create it first'}`)
}

/** Sends a transaction that an account pays for and signs. */
function pay(
  account: SigningAccount,
  build: (payment: Payment, chain: NodeChain) => UnsignedTransaction,
): Promise<string> {
  return choosingAgain(() => payOnce(account, build), isSpentMeanwhile)
}

/** Whether the node refused a transaction because its coins were spent since it listed them: by the code of REST. */
function isSpentMeanwhile(error: unknown): boolean {
  return error instanceof Refusal && /^(?:45010|45016) /.test(error.detail)
}

async function payOnce(
  { address, publicKey, privateKey }: SigningAccount,
  build: (payment: Payment, chain: NodeChain) => UnsignedTransaction,
): Promise<string> {
  const [info, { perkilobyte }, listed, pool] = await Promise.all([
    ask<unknown>('getchaininfo'),
    ask<{ perkilobyte: number }>('getfeerate'),
    ask<unknown>('listunspent', { addresses: [address] }),
    ask<ShownTransaction[]>('getrawmempool', { state: 'all', addresses: [address] }),
  ])
  const chain = parseChain(info)
  const coins = coinsBesidePool(parseCoins(listed, chain.assetId), pool, address, chain.assetId)
  const payment = { ...chainTerms(chain, chain.height, perkilobyte), coins, code: singleKeyCode(publicKey), random }
  const { transaction } = signTransaction(build(payment, chain).transaction, [privateKey])
  return ask<string>('sendrawtransaction', { data: transaction.toHex(), replace: false })
}
