import type { Command } from 'commander'
import { interfaceErrors } from '../../answers/api/http/error-mapping.js'
import { NodeRefusal } from '../../clients/client/http.js'
import type { NodeClient } from '../../clients/client/node-client.js'
import { didPart } from '../../identity/did/identifier.js'
import { RuleError, UserError } from '../../base/errors/rule-error.js'
import { singleKeyCode } from '../../base/primitives/address.js'
import { hasName } from '../../base/primitives/did-name.js'
import {
  canFollow,
  type DidOperation,
  effectOf,
  operationForm,
  operationJson,
} from '../../base/primitives/did-operation.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { buildDidTransaction } from '../../clients/wallet/build-transaction.js'
import { didOfOperation, parseDid } from '../../clients/wallet/did-identity.js'
import { buildWithin } from '../../clients/wallet/pending-coins.js'
import { specificationIn } from '../../clients/wallet/terms.js'
import {
  broadcast,
  paymentFrom,
  requireEnough,
  sendBuilt,
  type Sent,
  sentJson,
  sentRows,
  signAll,
} from './send-transaction.js'
import { rulesAt, rulesOffline } from './chain-rules.js'
import type { CliContext } from './cli-context.js'
import {
  amountOption,
  requireWithinSupply,
  type SendOptions,
  type WalletOptions,
  withOutput,
  withSending,
  withWallet,
} from './command-options.js'
import { pendingCreate } from './current-identity.js'
import { fileWord, shownFile, writeText } from './named-files.js'
import { formatTable, report, sameOptions } from './print-output.js'
import { requireRoom } from './require-room.js'

/** Options of the commands that sign an operation, and send it or write it to a file. */

export interface OperationOptions extends WalletOptions, SendOptions {
  readonly fee?: bigint
  readonly output?: string
  readonly specification?: string
}

export function withPayment(command: Command): Command {
  return withSending(withWallet(withOutput(command))).option(
    '--fee <coins>',
    'fee (default: the least that the node takes)',
    amountOption,
  )
}

export function withOperation(command: Command): Command {
  return withPayment(command)
    .option('-o, --output <file>', 'write the signed operation to a file, - for standard output, and send nothing')
    .option(
      '--specification <text>',
      'another one of those that the chain accepts, for SDKs that read no other (default: the first)',
    )
}

/** The specification string that the options name, else the first one of the node's next block; without a node by the last rules in the spec. */
export async function specificationOf(
  options: OperationOptions,
  subject: 'did' | 'credential',
  client: NodeClient | undefined,
): Promise<string> {
  const rules = client === undefined ? rulesOffline(options) : await rulesAt(client, options)
  const { specification: chosen = specificationIn(rules, subject) } = options
  const accepted = rules.specifications[subject]
  if (accepted.includes(chosen)) return chosen
  throw new UserError(
    `--specification: the chain accepts ${accepted.join(', ')} for these operations, not ${chosen}`,
    2,
  )
}

/** Reads what a file holds; a {@link RuleError} names the file otherwise. */
export function readHeld<T>(file: string, what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RuleError) throw new RuleError(error.code, `${file} holds no ${what}: ${error.message}`)
    throw error
  }
}

/** Writes the operation to a file, or sends it in a transaction that the payer pays. */
export async function finish(
  context: CliContext,
  client: NodeClient,
  payer: SigningAccount,
  operation: DidOperation,
  options: OperationOptions,
  // `said`: once it is in a block.
  texts: { said: string; next: string | undefined },
): Promise<void> {
  const did = didOfOperation(operation)
  requireRoom(operation)
  if (options.output !== undefined) {
    const json = operationJson(operation)
    const words = writeText(context, options.output, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o644 })
    report(words, options, { did, file: options.output, operation: json }, [
      `Wrote the signed ${operation.operation} of ${did} to ${shownFile(options.output)}; nothing was sent.`,
      `Next: npx didledger did publish ${fileWord(options.output)}${sameOptions(options)}`,
    ])
    return
  }
  const sent = await publish(context, client, payer, operation, options)
  const rest = sameOptions({ rest: options.rest })
  report(context, options, { did, ...sentJson(sent) }, [
    sent.block === undefined ? acceptedText(operation) : texts.said,
    ...formatTable(sentRows(sent)),
    ...(texts.next === undefined ? [] : ['', `Next: npx didledger ${texts.next}${rest}`]),
  ])
}

/** The sentence for an operation that is in no block yet: it has changed nothing. */
function acceptedText(operation: DidOperation): string {
  const subject = didOfOperation(operation) ?? 'an unreadable payload'
  return `The node has accepted the ${operation.operation} of ${subject}, which waits for its block.`
}

async function publish(
  context: CliContext,
  client: NodeClient,
  payer: SigningAccount,
  operation: DidOperation,
  options: OperationOptions,
): Promise<Sent> {
  const rules = await rulesAt(client, options)
  if (options.fee !== undefined) requireWithinSupply('--fee', options.fee, rules)
  const did = didOfOperation(operation)
  const newLeaf = await addsLeaf(client, operation)
  const programHash = did === undefined ? undefined : parseDid(did)?.programHash
  const build = async () => {
    const payment = await paymentFrom(context, client, singleKeyCode(payer.publicKey), rules, options)
    const built = buildWithin(payment, payment.bounds?.ancestors, (within) =>
      buildDidTransaction(within, operation, programHash, newLeaf),
    )
    requireEnough(built, payment, newLeaf)
    return { transaction: signAll(built, payer.privateKey) }
  }
  try {
    const { sent } = await sendBuilt(build, (transaction) => broadcast(context, client, transaction, options))
    return sent
  } catch (error) {
    throw await withState(client, operation, error)
  }
}

/** Whether an operation is the first one on a credential in the name of its DID. */
async function addsLeaf(client: NodeClient, operation: DidOperation): Promise<boolean> {
  const form = operationForm(operation)
  if (form?.subject !== 'credential') return false
  const { payload } = operation
  if (form.payload !== 'credential-id' || didOfOperation(operation) !== didPart(payload)) return true
  const declared = await client.resolveCredential(payload).catch((error: unknown) => {
    // The fee for a leaf is enough in any case; an id of a wrong form is for the node to refuse.
    if (error instanceof UserError) return undefined
    throw error
  })
  return !declared?.transaction?.some(({ operation: { header } }) => effectOf(header) === 'credential')
}

/**
 * A refused create with what the node then answers about its DID; other errors stay unchanged. The code is that of all rules for
 * operations, so the cause is in the words of the node alone.
 */
async function withState(client: NodeClient, operation: DidOperation, error: unknown): Promise<unknown> {
  const did = didOfOperation(operation)
  const refused = error instanceof NodeRefusal && error.code === interfaceErrors['did-exists'].rest
  const form = operationForm(operation)
  const isFirst = form?.subject === 'did' && canFollow(form, undefined)
  if (!refused || !isFirst || did === undefined) return error
  const found = await stateOf(client, did).catch((failed: unknown) => {
    // An answer would only have added to the refusal.
    if (failed instanceof UserError) return undefined
    throw failed
  })
  if (found === undefined) return error
  const { code, description, reason } = error
  return new NodeRefusal('the node refused the transaction', code, description, `${reason || description}; ${found}`)
}

/** A sentence about a DID that exists, or whose create waits in the pool. */
async function stateOf(client: NodeClient, did: string): Promise<string | undefined> {
  const pending = await pendingCreate(client, did)
  if (pending !== undefined) return `the create of ${did} is pending: transaction ${pending} waits for its block`
  const { status } = await client.resolve(did)
  if (status === 3) return undefined
  if (status === 2) return `${did} is on the chain, deactivated`
  const update = hasName(did) ? 'did name update' : 'did update'
  return `${did} is on the chain: "npx didledger ${update}" changes its document, "did resolve" shows it`
}
