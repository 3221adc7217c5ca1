import { type Command, InvalidArgumentError } from 'commander'
import { NodeClient } from '../../clients/client/node-client.js'
import type { CredentialResult } from '../../identity/did/resolution.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { effectOf } from '../../base/primitives/did-operation.js'
import { buildDeclare, buildRevoke, readCredential, requireCredentialId } from '../../clients/wallet/did-credential.js'
import type { CliContext } from './cli-context.js'
import {
  countOption,
  didArgument,
  type OutputOptions,
  type RestFlags,
  withNode,
  withOutput,
} from './command-options.js'
import { controllersOf, currentIdentity } from './current-identity.js'
import { finish, type OperationOptions, readHeld, specificationOf, withOperation } from './did-operation.js'
import { ageLines, operationLines, payloadLines } from './did-read-command.js'
import { chainNow, isPast } from './expiry.js'
import { examples, report, sameOptions, shellWord } from './print-output.js'
import { jsonCredential } from './json-credential.js'
import { keyChoice, type SignOptions, withSigning } from './key-options.js'
import { accountAndOthers, publicAccount } from './signing-account.js'

interface SignedOptions extends OperationOptions, SignOptions {
  readonly for?: string
}

interface ListOptions extends RestFlags, OutputOptions {
  readonly skip?: number
  readonly limit?: number
}

const exampleId = 'did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc#degree'

/** `didledger did declare | revoke | credential | credentials` */
export function registerDidCredentials(did: Command, context: CliContext): void {
  withHolder(did.command('declare'))
    .description('put a signed credential of the DID of an account on the chain')
    .argument('<file>', 'the credential: JSON with its id in full')
    .option('--force', 'declare it even if it has expired')
    .addHelpText('after', examples('did declare degree.json --devnet-account 0'))
    .action((file: string, options: SignedOptions & { force?: boolean }) => declare(context, file, options))
  withHolder(did.command('revoke'))
    .description('revoke a credential for good, as its holder or its issuer')
    .argument('<id>', 'the id of the credential in full', credentialArgument)
    .addHelpText('after', examples(`did revoke '${exampleId}' --devnet-account 0`))
    .action((id: string, options: SignedOptions) => revoke(context, id, options))
  withNode(withOutput(did.command('credential')))
    .description('show what the chain says of a credential')
    .argument('<id>', 'the id of the credential in full', credentialArgument)
    .option('--issuer <did>', 'count a revoke by this DID even if the credential is not declared', didArgument)
    .addHelpText('after', examples(`did credential '${exampleId}'`))
    .action((id: string, options: RestFlags & OutputOptions & { issuer?: string }) => show(context, id, options))
  withNode(withOutput(did.command('credentials')))
    .description('list the credentials that a DID declared, oldest first')
    .argument('<did>', 'a DID, or its identifier alone', didArgument)
    .option('--skip <n>', 'leave out the first n of them', countOption)
    .option('--limit <n>', 'show at most n of them (default: 128, at most 256)', countOption)
    .addHelpText('after', examples('did credentials did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc'))
    .action((of: string, options: ListOptions) => list(context, of, options))
}

/** Options of a command that signs in the name of a DID: that of the account, or another one by a key of it. */
function withHolder(command: Command): Command {
  return withSigning(withOperation(command)).option(
    '--for <did>',
    'the DID in whose name it is, by the key of --sign-with or one of this account (default: that of the account)',
    didArgument,
  )
}

/** The id of a credential in full. */
export function credentialArgument(text: string): string {
  try {
    requireCredentialId(text)
    return text
  } catch (error) {
    if (error instanceof UserError) throw new InvalidArgumentError('Not the id of a credential (did:ledger:i…#name).')
    throw error
  }
}

async function declare(context: CliContext, file: string, options: SignedOptions & { force?: boolean }): Promise<void> {
  const text = jsonCredential(file)
  const credential = readHeld(file, 'credential', () => readCredential(text))
  const client = new NodeClient(options)
  const { document } = (await currentIdentity(client, options.for ?? publicAccount(options).did)).identity
  const controllers = await controllersOf(client, document)
  const choice = keyChoice(options, document, controllers)
  const { expirationDate } = credential
  if (expirationDate !== undefined && !options.force && isPast(expirationDate, await chainNow(context.clock, client))) {
    throw new UserError(`${credential.id} has expired on ${expirationDate} (--force declares it nevertheless)`, 2)
  }
  const specification = await specificationOf(options, 'credential', client)
  const { account, accounts } = await accountAndOthers(context, options)
  const signWith = choice(accounts)
  const operation = buildDeclare({ account, specification, ...defined({ signWith }), controllers }, document, text)
  await finish(context, client, account, operation, options, {
    said: `Declared ${credential.id}.`,
    next: `did credential ${shellWord(credential.id)}`,
  })
}

async function revoke(context: CliContext, id: string, options: SignedOptions): Promise<void> {
  const client = new NodeClient(options)
  const { document } = (await currentIdentity(client, options.for ?? publicAccount(options).did)).identity
  const choice = keyChoice(options, document)
  const specification = await specificationOf(options, 'credential', client)
  const { account, accounts } = await accountAndOthers(context, options)
  const signWith = choice(accounts)
  const operation = buildRevoke({ account, specification, ...defined({ signWith }) }, document, id)
  await finish(context, client, account, operation, options, {
    said: `Revoked ${id} as ${document.id}.`,
    next: `did credential ${shellWord(id)}`,
  })
}

async function show(
  context: CliContext,
  id: string,
  options: RestFlags & OutputOptions & { issuer?: string },
): Promise<void> {
  const result = await new NodeClient(options).resolveCredential(id, options.issuer)
  const declared = result.transaction?.find(({ operation }) => effectOf(operation.header) === 'credential')
  report(context, options, result, [
    credentialLine(result),
    ...ageLines(result),
    ...operationLines(result),
    ...(declared === undefined ? [] : ['', ...payloadLines(declared)]),
  ])
}

/** The state of a credential in a sentence. */
export function credentialLine({ id, status }: Pick<CredentialResult, 'id' | 'status'>): string {
  const texts = ['is declared', 'is declared, and has expired', 'is revoked', 'is neither declared nor revoked']
  return `${id} ${texts[status]}.`
}

async function list(context: CliContext, did: string, options: ListOptions): Promise<void> {
  const { skip, limit } = options
  const client = new NodeClient(options)
  const result = await client.listCredentials(did, defined({ skip, limit }))
  const none = `${did} has declared no credentials${skip ? ` after the first ${skip}` : ''}.`
  const next = `npx didledger did credential '<id>'${sameOptions({ rest: options.rest })}`
  const { credentials } = result
  report(context, options, result, credentials.length === 0 ? [none] : [...credentials, '', `Next: ${next}`])
}
