import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import {
  type DidOperation,
  type DidOperationJson,
  isAboutCredential,
  operationForm,
} from '../../base/primitives/did-operation.js'
import { requireMembers } from '../../base/primitives/known-members.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { buildDidTransaction } from '../../clients/wallet/build-transaction.js'
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
import { specificationAfter } from '../../clients/wallet/terms.js'
import { addYears, formatDate } from '../../identity/did/date.js'
import { readOperationJson } from '../../identity/did/operation.js'
import { controllersIn, currentIn } from '../devnet/current-identity.js'
import type { Node } from '../node.js'
import { didOr } from './caller-values.js'
import type { NodePayments } from './node-payments.js'
import type { CredentialSigner, DidPayment, NodeWallet } from './node-types.js'

/** Years until a new document expires. */
const defaultYears = 5

const paymentMembers = { account: 'account', payer: 'account', fee: 'any' } as const
const signedMembers = { ...paymentMembers, signWith: 'key' } as const
const signerMembers = { account: 'account', did: 'text', signWith: 'key' } as const

/** Operations on DIDs, and credentials. */
export type WalletDids = Omit<NodeWallet, 'accounts' | 'account' | 'transfer' | 'merge' | 'bump' | 'cancel'>

/** The part of the wallet of a node that is about DIDs; `node` throws once it is closed. */
export function walletDids(node: () => Node, payments: NodePayments): WalletDids {
  return {
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
    return payments.send(payer, fee, (payment) => {
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
