import {
  canonicalDocument,
  verifyCredential,
  verifyDocument,
  verifyOperation,
} from '../../../src/node/library/verify-entry.js'
import {
  accountSource,
  addressOf,
  addSignature,
  buildDeclare,
  buildDidTransaction,
  buildRevoke,
  buildTransfer,
  chainTerms,
  createIdentity,
  deactivateIdentity,
  formatPrivateKey,
  formatPublicKey,
  documentOf,
  fileOf,
  generateMnemonic,
  isMnemonic,
  type KeyPair,
  multisigAccount,
  operationJson,
  parseAddress,
  parseCoins,
  parseDid,
  parseSpec,
  parseTransactionFile,
  type ProgramHash,
  readOperationJson,
  recoveryPath,
  RuleError,
  sign,
  signTransaction,
  singleKeyCode,
  systemRandom,
  Transaction,
  transactionFileJson,
  updateIdentity,
  UserError,
} from '../../../src/node/library/wallet-entry.js'

/** Use of the entries `didledger/wallet` and `didledger/verify` by a page: the same in a browser and in Node. */

interface PublishedDocument {
  readonly controller?: string | string[]
  readonly proof: object
}

/** Files of test/vectors and genesis, parsed. */
export interface ScenarioInput {
  readonly documents: readonly { readonly set: string; readonly id: string; readonly document: PublishedDocument }[]
  readonly credentials: readonly {
    readonly set: string
    readonly credential: { readonly issuer?: string; readonly credentialSubject: { readonly id: string } }
  }[]
  readonly operations: readonly { readonly operation: object; readonly document: object }[]
  readonly transactions: readonly { readonly raw: string }[]
  /** JSON text. */
  readonly spec: string
  /** Credential of account 0 about itself, as JSON text. */
  readonly credentialOfAda: string
}

export const mnemonic = 'test test test test test test test test test test test junk'
const method = 'elastos'
const created = '2026-01-01T00:00:00Z'

/** All results as JSON text. */
export function runScenario(input: ScenarioInput): string {
  return JSON.stringify({ ...verdicts(input), ...wallet(input), random: randomness() })
}

function verdicts({ documents, credentials, operations }: ScenarioInput): object {
  const named = (set: string, did: string) => {
    return documents.find((one) => one.set === set && one.id === did)?.document ?? {}
  }
  const controllersOf = (set: string, document: Partial<PublishedDocument>) => {
    return [document.controller ?? []].flat().map((did) => named(set, did))
  }
  return {
    documents: documents.map(({ set, document }) => {
      const controllers = controllersOf(set, document)
      const texts = canonicalDocument(document, { method })
      const tampered = { ...document, expires: '2999-01-01T00:00:00Z' }
      return [texts, ...[document, tampered].map((one) => verifyDocument(one, { method, controllers }))]
    }),
    credentials: credentials.map(({ set, credential }) => {
      const issuer = named(set, credential.issuer ?? credential.credentialSubject.id)
      const controllers = controllersOf(set, issuer)
      const tampered = { ...credential, credentialSubject: { ...credential.credentialSubject, name: 'Mallory' } }
      return [credential, tampered].map((one) => verifyCredential(one, issuer, { method, controllers }))
    }),
    operations: operations.map(({ operation, document }) => verifyOperation(operation, document, { method })),
  }
}

function wallet({ transactions, spec: specText, credentialOfAda }: ScenarioInput): object {
  const spec = parseSpec(specText)
  const accounts = [0, 1, 2].map(accountSource({ kind: 'mnemonic', mnemonic }))
  const [ada, bob, eve] = accounts as [(typeof accounts)[0], (typeof accounts)[0], (typeof accounts)[0]]
  const shared = multisigAccount(
    accounts.map(({ publicKey }) => publicKey),
    2,
  )
  const terms = chainTerms(spec, undefined)
  const coin = { txid: 'ab'.repeat(32), vout: 1, amount: '5', height: 1, confirmations: 200 }
  const asset = [...terms.assetId].reverse().map((byte) => byte.toString(16).padStart(2, '0'))
  const coins = parseCoins([{ ...coin, assetid: asset.join('') }], terms.assetId)
  const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
  const payment = { ...terms, coins, random }

  const context = { account: ada, specification: 'ledger/did/1.0', created }
  const services = [{ id: '#home', type: 'LinkedDomains', serviceEndpoint: 'https://example.org/', name: 'ü€😀' }]
  const expires = '2030-01-01T00:00:00Z'
  const create = createIdentity(context, { services, expires })
  const current = { document: documentOf(create.payload), txid: 'cd'.repeat(32) }
  const nothing = { addServices: [], removeServices: [], addCredentials: [], removeCredentials: [] }
  const update = updateIdentity(context, current, { ...nothing, removeServices: ['home'] })
  const deactivate = deactivateIdentity(context, current.document)
  const holder = { account: ada, specification: 'ledger/credential/1.0' }
  const declare = buildDeclare(holder, current.document, credentialOfAda)
  const revoke = buildRevoke(holder, current.document, `${ada.did}#diploma`)
  const forms = (['hex', 'base58', 'pem', 'der', 'jwk'] as const).map((form) => formatPublicKey(bob.publicKey, form))
  const secrets = (['hex', 'base58', 'pem', 'der', 'jwk'] as const).map((form) =>
    formatPrivateKey(ada.privateKey, form),
  )
  const keyed = forms.map((publicKey, i) => {
    const signWith = secrets[i] as string
    return updateIdentity({ ...context, signWith }, current, { addKeys: [{ name: 'laptop', publicKey }] })
  })
  const operations = [create, update, deactivate, declare, revoke, ...keyed]

  const pay = (code: Uint8Array) => {
    const recipients = [{ programHash: parseAddress(bob.address) as ProgramHash, value: 100_000_000n }]
    return buildTransfer({ ...payment, code }, recipients)
  }
  const adaCode = singleKeyCode(ada.publicKey)
  const transfer = pay(adaCode)
  const registered = buildDidTransaction({ ...payment, code: adaCode }, create, parseDid(ada.did)?.programHash)
  const signedBy = (transaction: Transaction, { publicKey, privateKey }: KeyPair) => {
    return addSignature(transaction, publicKey, sign(transaction.unsigned, privateKey))
  }
  const first = signedBy(pay(shared.code).transaction, ada)
  const both = signedBy(first, eve)
  const file = transactionFileJson(fileOf(transfer))
  return {
    accounts: accounts.map(({ address, did }) => [address, did]),
    shared: shared.address,
    recovery: recoveryPath(0),
    operations: operations.map(operationJson),
    read: operations.map((one) => readOperationJson(JSON.stringify(operationJson(one)))),
    verified: [
      verifyOperation(operationJson(create), undefined, { method: 'ledger' }),
      verifyOperation(operationJson(update), undefined, { method: 'ledger' }),
      ...[declare, revoke].map((one) =>
        verifyOperation(operationJson(one), textOf(create.payload), { method: 'ledger' }),
      ),
    ],
    transfer: signTransaction(transfer.transaction, [ada.privateKey]).transaction.toHex(),
    registered: signTransaction(registered.transaction, [ada.privateKey]).transaction.toHex(),
    shares: [first, both].map((one) => one.toHex()),
    file,
    fileAgain: parseTransactionFile(JSON.stringify(file)).transaction.txid,
    transactions: transactions.map(({ raw }) => {
      const { txid, outputs } = Transaction.fromHex(raw)
      return [txid, Transaction.fromHex(raw).toHex() === raw, outputs.map(({ programHash }) => addressOf(programHash))]
    }),
    refusals: [
      refusalOf(() => Transaction.fromHex('0900')),
      refusalOf(() => Transaction.fromHex(`${transactions[0]?.raw ?? ''}00`)),
      refusalOf(() => signTransaction(transfer.transaction, [bob.privateKey])),
      refusalOf(() => parseSpec(specText.replace('{', '{"time":-1,'))),
      refusalOf(() => canonicalDocument('{"id":"did:ledger:\\ud800"}', { method: 'ledger' })),
    ],
  }
}

/** The document in a payload. */
function textOf(payload: string): string {
  const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
}

function refusalOf(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    if (error instanceof RuleError) return `${error.code}: ${error.message}`
    return error instanceof UserError ? error.message : String(error)
  }
}

/** Two mnemonics of this machine's own randomness are valid and differ. */
function randomness(): boolean {
  const [one = '', other = ''] = [generateMnemonic(systemRandom, 12), generateMnemonic(systemRandom, 24)]
  return isMnemonic(one) && isMnemonic(other) && one !== other
}
