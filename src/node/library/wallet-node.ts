import { addYears, formatDate } from '../../identity/did/date.js'
import { readOperationJson } from '../../identity/did/operation.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import type { Node } from '../node.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../base/primitives/address.js'
import { parseAmount } from '../../base/primitives/amount.js'
import { equalBytes, parseDisplayHash } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import type { Hash } from '../../base/primitives/hash.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import {
  type DidOperation,
  type DidOperationJson,
  isAboutCredential,
  operationForm,
} from '../../base/primitives/did-operation.js'
import type { Random } from '../../base/runtime/env.js'
import { requireWhole } from '../../clients/client/arguments.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import {
  buildDidTransaction,
  buildTransfer,
  payerOf,
  type Payment,
  type UnsignedTransaction,
} from '../../clients/wallet/build-transaction.js'
import {
  buildReplacement,
  type ReplacementOptions,
  type ReplacementPayment,
  type WaitingTransaction,
} from '../../clients/wallet/build-replacement.js'
import { devnetAccountCount, devnetAccountsOf, devnetMnemonic } from '../../clients/wallet/devnet-accounts.js'
import { choosingAgain, sendMerges } from '../../clients/wallet/choose-again.js'
import { buildDeclare, buildRevoke } from '../../clients/wallet/did-credential.js'
import {
  changeMembers,
  createIdentity,
  type CurrentIdentity,
  deactivateIdentity,
  didOfOperation,
  parseDid,
  updateIdentity,
} from '../../clients/wallet/did-identity.js'
import {
  credentialMembers,
  issueCredential,
  issueCredentialJwt,
  neededOfCredential,
  type SignedBy,
} from '../../clients/wallet/issue-credential.js'
import {
  neededOfPresentation,
  presentationMembers,
  presentCredentials,
} from '../../clients/wallet/present-credentials.js'
import { buildWithin } from '../../clients/wallet/pending-coins.js'
import { signTransaction } from '../../clients/wallet/sign-transaction.js'
import { chainTerms, specificationAfter } from '../../clients/wallet/terms.js'
import type { Amount, CredentialSigner, DidPayment, NodeWallet, Replaced } from './node-types.js'
import type { Funding } from '../devnet/fund-accounts.js'
import { controllersIn, currentIn } from '../devnet/current-identity.js'
import { isSpentMeanwhile, payerCoins } from '../devnet/payer-coins.js'

/** @tuning number: units of 10⁻⁸ for a byte that a program may choose, as with --fee-rate */
const mostRate = 1_000_000

/** Largest index of a key that is derived without hardening. */
const lastIndex = 2 ** 31 - 1
/** Years until a new document expires. */
const defaultYears = 5

const paymentMembers = { account: 'account', payer: 'account', fee: 'any' } as const
const signedMembers = { ...paymentMembers, signWith: 'key' } as const
const signerMembers = { account: 'account', did: 'text', signWith: 'key' } as const
const replacedMembers = { from: 'account', txid: 'text' } as const

/** The wallet of a node in this process, on a devnet with the accounts of `funding`; `node` throws once it is closed. */
export function nodeWallet(
  node: () => Node,
  random: Random,
  { accounts = devnetAccountCount, mnemonic = devnetMnemonic }: Pick<Funding, 'accounts' | 'mnemonic'> = {},
): NodeWallet {
  const devnet = node().spec.devnet
  const accountAt = devnetAccountsOf(mnemonic)
  const devnetAccounts = devnet ? Array.from({ length: accounts }, (_, index) => accountAt(index)) : []
  return {
    accounts: devnetAccounts,
    account: (index) => {
      if (!devnet) throw new UserError(`the chain ${node().spec.name} is no devnet: it has no accounts of its own`)
      return accountAt(requireWhole('index', index, [0, lastIndex]))
    },
    transfer: async (transfer) => {
      const optional = { fee: 'any', feeFromAmount: 'flag', outputLock: 'whole' } as const
      requireMembers('transfer', transfer, { from: 'account', to: 'any', amount: 'any', ...optional }, ['from'])
      const { from, to, amount, fee, outputLock, feeFromAmount } = transfer
      const value = amount === 'all' ? ('all' as const) : units('amount', amount)
      const recipient = { programHash: addressBytes(to, 'to'), value, ...defined({ outputLock }) }
      return send(from, fee, (payment) => buildTransfer({ ...payment, ...defined({ feeFromAmount }) }, [recipient]))
    },
    merge: async (merge) => {
      requireMembers('merge', merge, { from: 'account', fee: 'any' }, ['from'])
      const { from, fee } = merge
      return betweenBlocks(async () => {
        const merges = await sendMerges(
          () => paymentWith(from, fee),
          (built) => accept(built, from),
          isSpentMeanwhile,
        )
        return merges.map(({ sent }) => sent)
      })
    },
    bump: async (bump) => {
      requireMembers('bump', bump, { ...replacedMembers, fee: 'any', feeRate: 'any' }, ['txid'])
      const { fee, feeRate } = bump
      const wish = { fee: fee === undefined ? fee : units('fee', fee), feeRate: feeRate && thousandfold(feeRate) }
      return replace(bump, defined(wish))
    },
    cancel: async (cancel) => {
      requireMembers('cancel', cancel, replacedMembers, ['txid'])
      return replace(cancel, { cancel: true })
    },
    createDid: async (create) => {
      const lists = { services: 'list', keyAgreement: 'list', alsoKnownAs: 'list' } as const
      const ofDocument = { ...lists, expires: 'text', recovery: 'object' } as const
      requireMembers('createDid', create, { ...paymentMembers, ...ofDocument }, ['account'])
      const { services = [], keyAgreement = [], alsoKnownAs = [], expires, recovery, ...payment } = create
      const { account } = payment
      const keys = recovery ?? (account.recovery && { publicKey: account.recovery.publicKey })
      const txid = await sendOperation(payment, () => {
        const members = { services, keyAgreement, alsoKnownAs }
        const options = { ...members, expires: expires ?? formatDate(addYears(now(), defaultYears)) }
        return createIdentity(context(account), keys === undefined ? options : { ...options, recovery: keys })
      })
      return { did: account.did, txid }
    },
    updateDid: async (update) => {
      const lists = Object.fromEntries(
        changeMembers.map((name) => [name, name === 'expires' ? 'text' : 'list'] as const),
      )
      requireMembers('updateDid', update, { ...signedMembers, ...lists }, ['account'])
      const { account, payer, fee, signWith, ...changes } = update
      const txid = await sendOperation({ account, ...defined({ payer, fee }) }, () =>
        updateIdentity({ ...context(account), ...defined({ signWith }) }, current(account.did), changes),
      )
      return { did: account.did, txid }
    },
    deactivateDid: async (deactivate) => {
      requireMembers('deactivateDid', deactivate, { ...signedMembers, did: 'text' }, ['account'])
      const { account, signWith } = deactivate
      const did = didOr(account.did, deactivate.did)
      const txid = await sendOperation(deactivate, () => {
        const { document, controllers } = signing(did)
        return deactivateIdentity({ ...context(account), ...defined({ signWith }), controllers }, document)
      })
      return { did, txid }
    },
    declareCredential: async (declare) => {
      const members = { ...signedMembers, did: 'text', credential: 'json' } as const
      requireMembers('declareCredential', declare, members, ['account', 'credential'])
      const { account, credential, signWith } = declare
      const text = typeof credential === 'string' ? credential : JSON.stringify(credential)
      const did = didOr(account.did, declare.did)
      const txid = await sendOperation(declare, () => {
        const { document, controllers } = signing(did)
        return buildDeclare(
          { ...context(account, 'credential'), ...defined({ signWith }), controllers },
          document,
          text,
        )
      })
      return { did, txid }
    },
    revokeCredential: async (revoke) => {
      requireMembers('revokeCredential', revoke, { ...signedMembers, did: 'text', id: 'text' }, ['account', 'id'])
      const { account, id, signWith } = revoke
      const did = didOr(account.did, revoke.did)
      const txid = await sendOperation(revoke, () =>
        buildRevoke({ ...context(account, 'credential'), ...defined({ signWith }) }, current(did).document, id),
      )
      return { did, txid }
    },
    issueCredential: (issue) => {
      const members = { ...signerMembers, format: 'text', ...credentialMembers } as const
      requireMembers('issueCredential', issue, members, ['account', ...neededOfCredential])
      const { account, did, signWith, format = 'ledger', ...credential } = issue
      if (format !== 'ledger' && format !== 'jwt') throw new UserError('issueCredential: format is ledger or jwt')
      const by = signedBy({ account, ...defined({ did, signWith }) })
      return format === 'jwt' ? issueCredentialJwt(by, credential) : issueCredential(by, credential)
    },
    presentCredentials: (present) => {
      const members = { ...signerMembers, ...presentationMembers }
      requireMembers('presentCredentials', present, members, ['account', ...neededOfPresentation])
      const { account, did, signWith, ...presentation } = present
      return presentCredentials(signedBy({ account, ...defined({ did, signWith }) }), presentation)
    },
    publish: async (operation: DidOperationJson, payment) => {
      requireMembers('publish', payment, paymentMembers, ['account'])
      return sendOperation(payment, () => readOperationJson(JSON.stringify(operation)))
    },
  }

  async function sendOperation(
    { account, payer = account, fee }: DidPayment,
    build: () => DidOperation,
  ): Promise<string> {
    return send(payer, fee, (payment) => {
      const operation = build()
      const did = didOfOperation(operation)
      const programHash = did === undefined ? undefined : parseDid(did)?.programHash
      return buildDidTransaction(payment, operation, programHash, addsLeaf(operation, did))
    })
  }

  /** Whether an operation is the first one on a credential in the name of its DID. */
  function addsLeaf(operation: DidOperation, signer = ''): boolean {
    if (operationForm(operation)?.payload !== 'credential-id') return isAboutCredential(operation)
    return node().chain.state.credential(operation.payload, signer) === undefined
  }

  async function send(
    payer: SigningAccount,
    fee: Amount | undefined,
    build: (payment: Payment) => UnsignedTransaction,
  ): Promise<string> {
    return betweenBlocks(() =>
      choosingAgain(async () => {
        const { ancestors } = node().mempool.limits
        return accept(buildWithin(await paymentWith(payer, fee), ancestors, build), payer)
      }, isSpentMeanwhile),
    )
  }

  async function paymentWith(payer: SigningAccount, fee: Amount | undefined): Promise<Payment> {
    return { ...(await paymentOf(payer)), ...(fee === undefined ? {} : { fee: units('fee', fee) }) }
  }

  async function replace({ from, txid }: Replaced, options: ReplacementOptions): Promise<string> {
    return betweenBlocks(async () => {
      const waiting = waitingTransaction(node(), txid)
      const payer = from ?? ownerOf(waiting)
      return accept(buildReplacement(await paymentOf(payer), waiting, options), payer, { replace: true })
    })
  }

  /** The account of a devnet that pays for a transaction. */
  function ownerOf({ transaction: { txid, programs } }: WaitingTransaction): SigningAccount {
    const owner = devnetAccounts.find(({ publicKey }) =>
      programs.some(({ code }) => equalBytes(code, singleKeyCode(publicKey))),
    )
    if (owner !== undefined) return owner
    throw new UserError(`${txid} is paid by none of the accounts of this chain: name the account with from`)
  }

  async function paymentOf(payer: SigningAccount): Promise<ReplacementPayment> {
    const { reader, mempool, spec } = node()
    const code = singleKeyCode(payer.publicKey)
    const coins = await payerCoins(reader, mempool, payerOf(code))
    const { transactionSize: size, inputs } = mempool.limits
    return { code, coins, ...chainTerms(spec, reader.height, mempool.floor), random, bounds: { size, inputs } }
  }

  async function accept(
    { transaction }: UnsignedTransaction,
    { privateKey }: SigningAccount,
    { replace }: { readonly replace: boolean } = { replace: false },
  ): Promise<string> {
    const signed = signTransaction(transaction, [privateKey]).transaction
    return (await node().mempool.accept(signed.bytes, { local: true, replace })).txid
  }

  /**
   * Runs between blocks, one call after another: no block and no other call can spend the chosen coins before the transaction is
   * in the pool. One that comes over HTTP or from a peer can. Errors are returned out of the exclusive section, so that the chain does not treat them as its own failures.
   */
  async function betweenBlocks<T>(work: () => Promise<T>): Promise<T> {
    const outcome = await node().chain.exclusive(async () => {
      try {
        return { result: await work() }
      } catch (error) {
        return { error }
      }
    })
    if ('error' in outcome) throw outcome.error
    return outcome.result
  }

  /** The DID that signs, as it is now. */
  function signedBy({ account, did, signWith }: CredentialSigner): SignedBy {
    return { account, ...signing(didOr(account.did, did)), created: formatDate(now()), ...defined({ signWith }) }
  }

  /** The document of a DID as it is now, and those of its controllers. */
  function signing(did: string): Pick<SignedBy, 'document'> & Required<Pick<SignedBy, 'controllers'>> {
    const { document } = current(did)
    return { document, controllers: controllersIn(node(), document) }
  }

  function context(account: SigningAccount, subject: 'did' | 'credential' = 'did') {
    const { spec, reader } = node()
    return { account, specification: specificationAfter(spec, reader.height, subject), created: formatDate(now()) }
  }

  /** Unix seconds: the later of the chain's clock and its tip. */
  function now(): number {
    const { clock, chain } = node()
    return Math.max(Math.floor(clock.now() / 1000), chain.tip.header.time)
  }

  /** The state that the next operation of a DID follows: the last pending operation, else the last on the chain. */
  function current(did: string): CurrentIdentity {
    return currentIn(node(), did)
  }
}

/** A transaction in the pool of a node, with its coins; a {@link UserError} for one that is mined. */
function waitingTransaction({ chain, mempool, reader }: Node, txid: string): WaitingTransaction {
  const hash = parseDisplayHash(txid) as Hash | undefined
  if (hash === undefined) throw new RuleError('request-parameter', `txid: ${txid} is not the id of a transaction`)
  const transaction = mempool.get(hash)?.transaction
  if (transaction !== undefined) {
    const spent = transaction.inputs.flatMap((input) => {
      const coin = mempool.get(input.txid)?.transaction.outputs[input.index] ?? chain.state.coin(input)
      return coin === undefined ? [] : [{ ...input, value: coin.value, outputLock: coin.outputLock }]
    })
    return { transaction, spent }
  }
  const mined = reader.transaction(hash)
  if (mined !== undefined) throw new UserError(`${txid} waits no more: it is mined, at height ${mined.height}`)
  const reason = mempool.droppedReason(hash)
  const gone = reason === undefined ? '' : `; it left the pool unmined: ${reason}`
  throw new RuleError('unknown-transaction', `no transaction ${txid} waits for a block${gone}`)
}

/** Sela for 1000 bytes of a price of a byte; `request-parameter` for another value. */
function thousandfold(feeRate: number): number {
  if (typeof feeRate === 'number' && feeRate > 0 && feeRate <= mostRate) return Math.ceil(feeRate * 1000)
  throw new RuleError('request-parameter', `feeRate: ${String(feeRate)} is no price of a byte in units of 10^-8`)
}

/** A DID in full from its text, `own` without one; `request-parameter` for a text that is none. */
function didOr(own: string, text: string | undefined): string {
  const did = text === undefined ? own : parseDid(text)?.did
  if (did === undefined) throw new RuleError('request-parameter', `did: ${text} is not a DID of this chain`)
  return did
}

/** An amount in units of 10^-8; `request-parameter` for an invalid amount. */
export function units(name: string, amount: Amount): bigint {
  // A number is ambiguous: coins or units.
  const value = typeof amount === 'string' ? parseAmount(amount) : typeof amount === 'bigint' ? amount : undefined
  if (value !== undefined && value >= 0n) return value
  throw new RuleError(
    'request-parameter',
    `${name}: ${String(amount)} is neither an amount of coins as text, such as '12.5', nor a bigint of units`,
  )
}

/** The program hash of an address; `request-parameter` for an invalid address. */
export function addressBytes(text: string, name = 'address'): ProgramHash {
  const hash = typeof text === 'string' ? parseAddress(text) : undefined
  if (hash === undefined) throw new RuleError('request-parameter', `${name}: ${String(text)} is not an address`)
  return hash
}
