import { type Command, InvalidArgumentError, Option } from 'commander'
import { NodeClient } from '../../clients/client/node-client.js'
import { formatDate } from '../../identity/did/date.js'
import { neededControllers } from '../../identity/did/control.js'
import { didPart } from '../../identity/did/identifier.js'
import type { DidDocument } from '../../identity/did/model.js'
import type { Ticket } from '../../identity/did/ticket.js'
import { InvariantError, UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { capitalsFault, isDidName, nameRule } from '../../base/primitives/did-name.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import { authenticationKeys, signingKey } from '../../clients/wallet/document-keys.js'
import {
  changedDraft,
  type Controller,
  draftOperation,
  draftText,
  missingProofs,
  type NamedDraft,
  namedDraft,
  readDraft,
  readTicket,
  signDraft,
  signTicket,
  ticketFor,
  ticketText,
} from '../../clients/wallet/named-identity.js'
import { type DraftChange, requireTicketFollows, reviewDraft } from '../../clients/wallet/review-draft.js'
import type { CliContext } from './cli-context.js'
import { collect, didArgument, type OutputOptions, type RestFlags, withNode, withOutput } from './command-options.js'
import { controllersOf, currentIdentity, identityIfAny } from './current-identity.js'
import { deactivate, type DeactivateOptions } from './did-deactivate.js'
import { finish, type OperationOptions, readHeld, specificationOf, withOperation } from './did-operation.js'
import {
  askedChanges,
  type ChangeOptions,
  type NewDocumentOptions,
  newMembers,
  withDocumentChanges,
  withNewDocument,
} from './document-options.js'
import { chainNow, newExpiry } from './expiry.js'
import { keyChoice, type KeyOptions, type SignOptions, withKeys, withSigning } from './key-options.js'
import { fileWord, shownFile, wordsBeside, writeText } from './named-files.js'
import { columnLines, examples, linesText, report, sameOptions } from './print-output.js'
import { readTextOnce } from './read-once.js'
import { accountAndOthers, publicAccount } from './signing-account.js'

interface ControlOptions {
  readonly controller?: string[]
  readonly needed?: number
}

/** Options of a command that ends in an operation, which another key may sign than the one that proves its document. */
interface DraftOptions extends OperationOptions, SignOptions {}

/** Options of a command that registers a name. */
export interface NewNameOptions extends DraftOptions, NewDocumentOptions, ControlOptions {}

interface FileOptions extends OperationOptions {
  /** Whether the file may be there already. */
  readonly replace?: boolean
}

/** `didledger did name …`: DIDs with a name, which controllers have together. */
export function registerDidNames(did: Command, context: CliContext): void {
  const name = did
    .command('name')
    .description('DIDs with a name, under one or several controllers: one key may be lost')
  withSigning(withControllers(withNewDocument(withOperation(name.command('create <name>')))))
    .description('register a name, with the DID of the account as a controller')
    .addHelpText(
      'after',
      examples('did name create shop', `did name create club --controller did:${didMethod}:i… --needed 2 -o club.json`),
    )
    .action((text: string, options: NewNameOptions) => createName(context, text, options))
  withSigning(withKeys(withDocumentChanges(withOperation(name.command('update <name>')))))
    .description('change its document')
    .addHelpText('after', examples('did name update shop --add-service site,LinkedDomains,https://shop.example'))
    .action((text: string, options: DraftOptions & ChangeOptions & KeyOptions) =>
      update(context, didOfName(text), options),
    )
  withOperation(name.command('ticket <name>'))
    .requiredOption('--to <did>', 'DID that controls it from then on, and signs its next document', didArgument)
    .description('begin to give it to others: writes a ticket, which as many controllers sign as have to')
    .addHelpText('after', examples(`did name ticket shop --to did:${didMethod}:i… -o ticket.json`))
    .action((text: string, options: OperationOptions & { to: string }) => ticket(context, didOfName(text), options))
  withSigning(withControllers(withNewDocument(withOperation(name.command('transfer <ticket>')))))
    .description('take it by a signed ticket, under controllers of which the DID of the account is one')
    .addHelpText('after', examples('did name transfer ticket.json --controller did:ledger:i… --needed 1'))
    .action((file: string, options: DraftOptions & NewDocumentOptions & ControlOptions) =>
      transfer(context, file, options),
    )
  withNode(withOutput(name.command('show <file>')))
    .description('show the changes of a draft, or the receiver of a ticket')
    .addHelpText('after', examples('did name show club.json', 'did name show ticket.json'))
    .action((file: string, options: OutputOptions & RestFlags) => show(context, file, options))
  withOperation(name.command('sign <file>'))
    .description('show a draft or a ticket of others, and sign it as a controller')
    .addHelpText('after', examples('did name sign club.json', 'did name sign ticket.json'))
    .action((file: string, options: OperationOptions) => sign(context, file, options))
  withSigning(withOperation(name.command('publish <file>')))
    .description('send a draft that has all its signatures')
    .addHelpText('after', examples('did name publish club.json', 'did name publish change.json --sign-with work.pem'))
    .action((file: string, options: DraftOptions) => publish(context, file, options))
  withSigning(withOperation(name.command('deactivate <name>')))
    .description('end it for good; one controller can, and the name is not free again')
    .addHelpText('after', examples('did name deactivate shop'))
    .action((text: string, options: DeactivateOptions) => deactivate(context, didOfName(text), options))
}

function withControllers(command: Command): Command {
  return command
    .option('--controller <did>', 'a further controller; may be given several times', collect(didArgument))
    .addOption(neededOption())
}

export function neededOption(): Option {
  return new Option('--needed <count>', 'how many of the controllers sign a change (default: 1)').argParser(
    neededArgument,
  )
}

function neededArgument(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('Not a number of controllers.')
}

/** The DID of a name, which may be given in full. */
function didOfName(text: string): string {
  const start = `did:${didMethod}:`
  const name = text.startsWith(start) ? text.slice(start.length) : text
  if (isDidName(name)) return start + name
  const capitals = capitalsFault(name)
  if (capitals !== '') throw new UserError(`${text} cannot be a name: ${capitals}`, 2)
  throw new UserError(`${text} cannot be a name: ${nameRule}`, 2)
}

/** Registers a name under the DID of the account and `controller`; where more of them have to sign, writes a draft. */
export async function createName(context: CliContext, name: string, options: NewNameOptions): Promise<void> {
  const did = didOfName(name)
  const parts = await opened(context, options)
  const { now, account, controller } = parts
  const draft = namedDraft(newIdentity(did, options, account, now), formatDate(now))
  await goOn(context, parts, signDraft(draft, controller, formatDate(now)), options)
}

function newIdentity(did: string, options: NewDocumentOptions & ControlOptions, account: SigningAccount, now: number) {
  const { controller = [], needed } = options
  const expires = newExpiry(options, now)
  return { did, controllers: [account.did, ...controller], ...newMembers(options), ...defined({ needed }), expires }
}

async function update(context: CliContext, did: string, options: DraftOptions & ChangeOptions): Promise<void> {
  const parts = await opened(context, options)
  const { client, now, controller } = parts
  const { identity } = await currentIdentity(client, did)
  const draft = changedDraft(identity, askedChanges(options, now), formatDate(now))
  await goOn(context, parts, signDraft(draft, controller, formatDate(now)), options)
}

async function ticket(context: CliContext, did: string, options: OperationOptions & { to: string }): Promise<void> {
  const { client, now, controller } = await opened(context, options)
  const { identity } = await currentIdentity(client, did)
  const signed = signTicket(ticketFor(identity, options.to), controller, identity.document, formatDate(now))
  writeTicket(context, signed, identity.document, options)
}

async function transfer(
  context: CliContext,
  file: string,
  options: DraftOptions & NewDocumentOptions & ControlOptions,
): Promise<void> {
  const parts = await opened(context, options)
  const { now, account, controller } = parts
  const given = ticketIn(file)
  const draft = namedDraft(newIdentity(given.id, options, account, now), formatDate(now), given)
  await goOn(context, parts, signDraft(draft, controller, formatDate(now)), options)
}

/** A draft or a ticket in a file, held against the chain. */
type Held = { readonly draft: NamedDraft; readonly changes: readonly DraftChange[] } | HeldTicket
interface HeldTicket {
  readonly ticket: Ticket
  /** The document on the chain, whose controllers sign the ticket. */
  readonly document: DidDocument
}

async function held(client: NodeClient, file: string): Promise<Held> {
  if (isDraft(file)) {
    const draft = draftIn(file)
    return { draft, changes: reviewDraft(draft, await identityIfAny(client, draft.document.id)) }
  }
  const given = ticketIn(file)
  const { identity } = await currentIdentity(client, given.id)
  requireTicketFollows(given, identity)
  return { ticket: given, document: identity.document }
}

async function show(context: CliContext, file: string, options: OutputOptions & RestFlags): Promise<void> {
  const shown = await held(new NodeClient(options), file)
  const value =
    'ticket' in shown
      ? { did: shown.ticket.id, to: shown.ticket.to }
      : { did: shown.draft.document.id, operation: shown.draft.operation, changes: shown.changes }
  report(context, options, value, heldLines(shown))
}

async function sign(context: CliContext, file: string, options: OperationOptions): Promise<void> {
  const shown = await held(new NodeClient(options), file)
  // What it reads it replaces, unless another file is named.
  const into = { ...options, output: options.output ?? file, replace: options.output === undefined }
  // Before the wallet is opened: who is asked for its password has seen for what.
  if (!options.json) wordsBeside(context, into.output).out(linesText([...heldLines(shown), '']))
  const { now, controller } = await opened(context, options)
  const created = formatDate(now)
  if ('ticket' in shown) {
    const { ticket: given, document } = shown
    writeTicket(context, signTicket(given, controller, document, created), document, into)
  } else writeDraft(context, signDraft(shown.draft, controller, created), into, { changes: shown.changes })
}

/** Effects of a signature, in words. */
function heldLines(shown: Held): string[] {
  if ('ticket' in shown) {
    const { id, to } = shown.ticket
    return [`The ticket gives ${id} to ${to}, who says who controls it from then on.`]
  }
  const { draft, changes } = shown
  const { id, controllers } = draft.document
  // All of them, changed or not: what the chain has the node says.
  const signers = `${neededControllers(draft.document)} of ${controllers.join(', ')}`
  return [
    `The draft of the ${draft.operation} of ${id}, to be signed by ${signers}${changes.length === 0 ? ', changes nothing.' : ':'}`,
    ...columnLines(changes.map(changeCells)),
  ]
}

function changeCells({ member, id, before, after }: DraftChange): string[] {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
  // A text in a list is its own id.
  const texts = [before, after].filter(
    (value) => value !== undefined && (id === undefined || typeof value !== 'string'),
  )
  return [`  ${kind}`, member, id ?? '', texts.map((value) => JSON.stringify(value)).join(' -> ')]
}

async function publish(context: CliContext, file: string, options: DraftOptions): Promise<void> {
  const draft = draftIn(file)
  // Another key signs: the account only pays, and need be no controller.
  const isPayer = options.signWith !== undefined
  const parts = isPayer ? await paying(context, options) : await opened(context, options)
  await send(context, parts, draft, options)
}

interface Paying {
  readonly client: NodeClient
  readonly account: SigningAccount
  /** All of the wallet: `--sign-with` may name a key of another one. */
  readonly accounts: readonly SigningAccount[]
}

interface Opened extends Paying {
  readonly controller: Controller
}

async function paying(context: CliContext, options: OperationOptions): Promise<Paying> {
  return { client: new NodeClient(options), ...(await accountAndOthers(context, options)) }
}

function expiredController({ id, expires }: DidDocument): string {
  return `${id} expired at ${expires}, and signs for no name until it is renewed: "npx didledger did update --expires DATE", and a block`
}

/** The account with the id of its default key, as its document has it now. */
async function opened(context: CliContext, options: OperationOptions): Promise<Opened & { readonly now: number }> {
  const client = new NodeClient(options)
  const { did } = publicAccount(options)
  const { identity, expired } = await currentIdentity(client, did)
  const { document } = identity
  if (expired) throw new UserError(expiredController(document))
  const now = await chainNow(context.clock, client)
  const { account, accounts } = await accountAndOthers(context, options)
  const key = document.defaultKey?.id
  if (key === undefined) throw new UserError(`the document of ${did} has no default key`)
  return { client, account, accounts, controller: { pair: account, key }, now }
}

/** Sends a draft that has all its proofs, unless it is to be written to a file; one that has not goes to the others by a file. */
async function goOn(context: CliContext, parts: Opened, draft: NamedDraft, options: DraftOptions): Promise<void> {
  if (options.output !== undefined && options.signWith !== undefined) {
    throw new UserError('--sign-with signs an operation, and -o writes a draft: give it to "did name publish FILE"', 2)
  }
  const missing = missingProofs(draft)
  if (missing === 0 && options.output === undefined) return send(context, parts, draft, options)
  if (options.output === undefined) {
    throw new UserError(
      `${missing} more of ${others(draft).join(', ')} have to sign: give -o FILE for a draft, which they sign by "did name sign FILE"`,
      2,
    )
  }
  writeDraft(context, draft, options)
}

async function send(
  context: CliContext,
  parts: Paying & Partial<Opened>,
  draft: NamedDraft,
  options: DraftOptions,
): Promise<void> {
  const { client, account } = parts
  const { id } = draft.document
  const by = await operationKey(parts, draft, options)
  const specification = await specificationOf(options, 'did', client)
  const operation = draftOperation(draft, by, specification)
  await finish(context, client, account, operation, options, {
    said: `Published the ${operation.operation} of ${id}, signed by ${draft.document.proofs.length} of its controllers.`,
    next: `did resolve ${id}`,
  })
}

/** The key that signs the operation of a draft: that of `--sign-with`, an own one of the document or of a controller, else the controller's. */
async function operationKey(
  { client, accounts, controller }: Paying & Partial<Opened>,
  { document }: NamedDraft,
  options: DraftOptions,
): Promise<Controller> {
  const controllers = options.signWith === undefined ? [] : await controllersOf(client, document)
  const signWith = keyChoice(options, document, controllers)(accounts)
  if (signWith !== undefined) {
    const keys = authenticationKeys({ document, controllers })
    const { pair, id } = signingKey(signWith, document, { keys, what: 'an operation' })
    return { pair, key: id }
  }
  if (controller !== undefined) return controller
  throw new InvariantError('an operation without --sign-with is signed by a controller')
}

/** Controllers whose proof a draft has not. */
function others({ document }: NamedDraft): string[] {
  const signed = new Set(document.proofs.map(({ creator }) => didPart(creator)))
  return document.controllers.filter((did) => !signed.has(did))
}

function writeDraft(
  context: CliContext,
  draft: NamedDraft,
  options: FileOptions,
  more: { readonly changes?: readonly DraftChange[] } = {},
): void {
  const file = options.output as string
  const words = writeText(context, file, draftText(draft), { mode: 0o644, ...defined({ replace: options.replace }) })
  const missing = missingProofs(draft)
  const verb = missing === 0 ? 'publish' : 'sign'
  report(words, options, { did: draft.document.id, file, missing, ...more }, [
    missing === 0
      ? `Wrote the ${draft.operation} of ${draft.document.id} to ${shownFile(file)}: it has all its signatures; nothing was sent.`
      : `Wrote the ${draft.operation} of ${draft.document.id} to ${shownFile(file)}: ${missing} more of ${others(draft).join(', ')} have to sign.`,
    `Next: npx didledger did name ${verb} ${fileWord(file)}${missing === 0 ? sameOptions(options) : ''}`,
  ])
}

function writeTicket(
  context: CliContext,
  signed: Ticket,
  { controllers, multisig }: DidDocument,
  options: FileOptions,
): void {
  const file = options.output
  if (file === undefined)
    throw new UserError('give -o FILE: the ticket goes to the others, and to who takes the DID', 2)
  const words = writeText(context, file, ticketText(signed), { mode: 0o644, ...defined({ replace: options.replace }) })
  const missing = neededControllers({ ...defined({ multisig }) }) - signed.proofs.length
  const verb = missing === 0 ? 'transfer' : 'sign'
  report(words, options, { did: signed.id, to: signed.to, file, missing }, [
    missing === 0
      ? `Wrote the ticket for ${signed.id} to ${shownFile(file)}: ${signed.to} can take it.`
      : `Wrote the ticket for ${signed.id} to ${shownFile(file)}: ${missing} more of ${controllers.join(', ')} have to sign.`,
    `Next: npx didledger did name ${verb} ${fileWord(file)}`,
  ])
}

function isDraft(file: string): boolean {
  return /"operation"\s*:/.test(readTextOnce(file, 'draft or ticket'))
}

function draftIn(file: string): NamedDraft {
  return readHeld(file, 'draft', () => readDraft(readTextOnce(file, 'draft')))
}

function ticketIn(file: string): Ticket {
  return readHeld(file, 'ticket', () => readTicket(readTextOnce(file, 'ticket')))
}
