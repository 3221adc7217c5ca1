import { type Command, Option } from 'commander'
import { NodeClient } from '../../clients/client/node-client.js'
import { formatDate } from '../../identity/did/date.js'
import { namedCredential } from '../../identity/did/named-did.js'
import { readOperationJson } from '../../identity/did/operation.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { DidOperation } from '../../base/primitives/did-operation.js'
import type { SigningAccount } from '../../clients/wallet/accounts.js'
import {
  createIdentity,
  didOfOperation,
  parseDid,
  rebaseUpdate,
  type RecoveryKey,
  updateIdentity,
} from '../../clients/wallet/did-identity.js'
import { readTextFile } from '../../clients/wallet/files.js'
import type { CliContext } from './cli-context.js'
import { collect, didArgument } from './command-options.js'
import { type Current, currentIdentity } from './current-identity.js'
import { registerDidCheckers } from './did-check-command.js'
import { registerDidCredentials } from './did-credential-command.js'
import { registerDidIssuers } from './did-issue-command.js'
import {
  finish,
  type OperationOptions,
  readHeld,
  specificationOf,
  withOperation,
  withPayment,
} from './did-operation.js'
import { deactivate, type DeactivateOptions } from './did-deactivate.js'
import { createName, neededOption, registerDidNames } from './did-name-command.js'
import { registerDidProofs } from './did-proof-command.js'
import { registerDidQuery } from './did-query-command.js'
import { registerDidReaders } from './did-read-command.js'
import {
  askedChanges,
  type ChangeOptions,
  type NewDocumentOptions,
  newMembers,
  withDocumentChanges,
  withNewDocument,
} from './document-options.js'
import { chainNow, isPast, newExpiry } from './expiry.js'
import { keyChoice, type KeyChoice, publicKeyArgument, type SignOptions, withKeys, withSigning } from './key-options.js'
import { examples, shellWord } from './print-output.js'
import { accountAndOthers, publicAccount, signingAccount } from './signing-account.js'
import { withoutArguments } from './usage-text.js'

interface UpdateOptions extends OperationOptions, ChangeOptions, SignOptions {
  readonly rebase?: string
}

interface CreateOptions extends OperationOptions, NewDocumentOptions {
  readonly recovery?: string[]
  readonly recoverableBy?: string[]
  readonly name?: string
  readonly needed?: number
}

/** `didledger did …` */
export function registerDid(program: Command, context: CliContext): void {
  const did = program.command('did').description('decentralized identifiers: create, change, publish, resolve')
  withNewDocument(withOperation(ofAccount(did.command('create'))))
    .description('register the DID of an account')
    .option('--recovery <did key...>', 'a DID and its public key (in any form) that may deactivate the new DID')
    .option(
      '--recoverable-by <did>',
      'with --name: a DID that shares control of it, and can replace a lost key; may be given several times',
      collect(didArgument),
    )
    .addOption(
      new Option('--name <name>', 'register did:ledger:<name>, as "did name create" does').conflicts('recovery'),
    )
    .addOption(neededOption())
    .addHelpText(
      'after',
      examples(
        'did create --devnet-account 0',
        'did create --service home,LinkedDomains,https://example.org --years 2',
        `did create --name ada --recoverable-by did:${didMethod}:i…`,
      ),
    )
    .action((options: CreateOptions) => createAny(context, options))
  withSigning(withKeys(withDocumentChanges(withOperation(ofAccount(did.command('update'))))))
    .description('change the document of the DID of an account')
    .addOption(
      new Option('--rebase <file>', 'sign a prepared update again so that it follows the last operation').conflicts([
        'addService',
        'removeService',
        'addCredential',
        'removeCredential',
        'addKey',
        'removeKey',
        'authorize',
        'revokeAuthorization',
        'addKeyAgreement',
        'removeKeyAgreement',
        'addAlsoKnownAs',
        'removeAlsoKnownAs',
        'expires',
        'years',
      ]),
    )
    .addHelpText(
      'after',
      examples(
        'did update --devnet-account 0 --years 3',
        'did update --add-key laptop,laptop.pem',
        'did update --remove-key laptop --sign-with recovery',
        'did update --rebase update.json',
      ),
    )
    .action((options: UpdateOptions) => update(context, options))
  withSigning(withOperation(ofAccount(did.command('deactivate'), ', or what --for names')))
    .description('end a DID for good')
    .option(
      '--for <did>',
      'another DID whose document lists a key of this account, or that of --sign-with',
      didArgument,
    )
    .addHelpText('after', examples('did deactivate --devnet-account 0', 'did deactivate --sign-with laptop.pem'))
    .action((options: DeactivateOptions) => deactivate(context, options.for ?? publicAccount(options).did, options))
  withPayment(did.command('publish <file>'))
    .description('put an operation {header, payload, proof} made by any tool on the chain, unchanged')
    .addHelpText('after', examples('did publish operation.json --devnet-account 0'))
    .action((file: string, options: OperationOptions) => publishFile(context, file, options))
  registerDidNames(did, context)
  registerDidIssuers(did, context)
  registerDidCheckers(did, context)
  registerDidCredentials(did, context)
  registerDidReaders(did, context)
  registerDidProofs(did, context)
  registerDidQuery(did, context)
}

/** Prepares a command for who names the DID: it is that of the account, whose key signs. */
function ofAccount(command: Command, others = ''): Command {
  const why = `the DID is that of the account, which --wallet, --account and --devnet-account choose${others}`
  return withoutArguments(command, why)
}

/** Creates the DID of the account, or one with a name that survives a lost key of the account. */
async function createAny(context: CliContext, options: CreateOptions): Promise<void> {
  const { name, recoverableBy: controller, needed } = options
  if (name !== undefined) return createName(context, name, { ...options, ...defined({ controller }) })
  if (controller !== undefined) {
    throw new UserError('--recoverable-by: a DID of a key ends with that key; one with a name does not: give --name', 2)
  }
  if (needed !== undefined) throw new UserError('--needed counts the controllers of a DID with a name: give --name', 2)
  await create(context, options)
}

async function create(context: CliContext, options: CreateOptions): Promise<void> {
  const client = new NodeClient(options)
  const given = options.recovery === undefined ? undefined : recoveryOption(options.recovery)
  // Writing to a file needs no node, so the clock of this machine is used.
  const asked = options.output === undefined ? client : undefined
  const now = await chainNow(context.clock, asked)
  const expires = newExpiry(options, now)
  const specification = await specificationOf(options, 'did', asked)
  const account = await signingAccount(context, options)
  const recovery = given ?? (account.recovery && { publicKey: account.recovery.publicKey })
  const operation = createIdentity(
    { account, specification, created: formatDate(now) },
    { ...newMembers(options), ...defined({ recovery }), expires },
  )
  await finish(context, client, account, operation, options, {
    said: `Created ${account.did}, ${isPast(expires, now) ? 'already expired since' : 'valid until'} ${expires}.`,
    next: `did resolve ${account.did}`,
  })
}

function recoveryOption(values: readonly string[]): RecoveryKey {
  const [did = '', key = ''] = values
  if (values.length !== 2) throw new UserError('--recovery takes two values: a DID and a public key', 2)
  const controller = parseDid(did)?.did
  if (controller === undefined) throw new UserError(`--recovery: ${did} is not a DID of this chain`, 2)
  return { controller, publicKey: publicKeyArgument('--recovery', key) }
}

async function update(context: CliContext, options: UpdateOptions): Promise<void> {
  const client = new NodeClient(options)
  const prepared = options.rebase === undefined ? undefined : readOperation(options.rebase)
  const did = preparedDid(prepared, options) ?? publicAccount(options).did
  const current = await currentIdentity(client, did)
  const choice = keyChoice(options, current.identity.document)
  const build = prepared === undefined ? await updater(context, client, current, options) : rebaser(current, prepared)
  const { account, accounts } = await accountAndOthers(context, options)
  const operation = build(account, choice(accounts))
  await finish(context, client, account, operation, options, { said: `Updated ${did}.`, next: `did history ${did}` })
}

/** The DID of a prepared update that another key than the account's signs: the account then only pays. */
function preparedDid(prepared: DidOperation | undefined, { signWith }: SignOptions): string | undefined {
  return prepared === undefined || signWith === undefined ? undefined : didOfOperation(prepared)
}

type Builder = (account: SigningAccount, signWith: ReturnType<KeyChoice>) => DidOperation

function rebaser({ identity }: Current, prepared: DidOperation): Builder {
  return (account, signWith) => rebaseUpdate(account, identity, prepared, signWith)
}

/** Prepares an update as far as possible without the password, so that errors come before the prompt. */
async function updater(
  context: CliContext,
  client: NodeClient,
  { identity, expired }: Current,
  options: UpdateOptions,
): Promise<Builder> {
  // A DID that the node calls expired proves that its clock is past the expiry, even without a newer block.
  const now = Math.max(await chainNow(context.clock, client), expired ? identity.document.expiresAt : 0)
  const changes = askedChanges(options, now)
  const specification = await specificationOf(options, 'did', client)
  const created = formatDate(now)
  return (account, signWith) =>
    updateIdentity({ account, specification, created, ...defined({ signWith }) }, identity, changes)
}

async function publishFile(context: CliContext, file: string, options: OperationOptions): Promise<void> {
  const operation = readOperation(file)
  const account = await signingAccount(context, options)
  const did = didOfOperation(operation)
  const credential = namedCredential(operation)
  await finish(context, new NodeClient(options), account, operation, options, {
    said: `Published the ${operation.operation} of ${did ?? 'an unreadable payload'}.`,
    next: credential !== undefined ? `did credential ${shellWord(credential.id)}` : did && `did resolve ${did}`,
  })
}

function readOperation(file: string): DidOperation {
  const text = readTextFile(file, 'operation file')
  return readHeld(file, 'operation', () => readOperationJson(text))
}
