import { type Command, InvalidArgumentError, Option } from 'commander'
import { didMethod } from '../../base/primitives/did-method.js'
import { defined } from '../../base/primitives/defined.js'
import { UserError } from '../../base/errors/rule-error.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { readTextFile } from '../../clients/wallet/files.js'
import {
  issueCredential,
  issueCredentialJwt,
  type NewCredential,
  newCredentialName,
  type SignedBy,
} from '../../clients/wallet/issue-credential.js'
import { parseJsonToSign } from '../../clients/wallet/parse-json.js'
import { linkDomain, presentCredentials } from '../../clients/wallet/present-credentials.js'
import { configurationPath, linksTo } from '../../identity/credentials/domain-linkage.js'
import { readSignedCredential } from '../../identity/credentials/read-credential.js'
import { formatDate } from '../../identity/did/date.js'
import type { CliContext } from './cli-context.js'
import {
  collect,
  didArgument,
  type OutputOptions,
  type RestFlags,
  type WalletOptions,
  withNode,
  withOutput,
  withWallet,
} from './command-options.js'
import { controllersOf, currentIdentity } from './current-identity.js'
import { changedExpiry, chainNow, type ExpiryOptions, newExpiry, withExpiry } from './expiry.js'
import { keyChoice, type SignOptions, withSigning } from './key-options.js'
import { fileWord, shownFile, writeText } from './named-files.js'
import { examples, report, sameOptions, shellWord } from './print-output.js'
import { accountAndOthers, publicAccount } from './signing-account.js'
import { chainIds } from '../../identity/did/chain-ids.js'

interface SignedOptions extends WalletOptions, RestFlags, OutputOptions, SignOptions {
  readonly for?: string
  readonly output?: string
}

interface IssueOptions extends SignedOptions, ExpiryOptions {
  readonly type: string[]
  readonly subject?: string
  readonly id?: string
  readonly claim?: Claim[]
  readonly claims?: string
  readonly context?: string[]
  readonly format: 'ledger' | 'jwt'
}

interface PresentOptions extends SignedOptions {
  readonly realm: string
  readonly nonce: string
}

interface Claim {
  readonly name: string
  readonly value: string
}

const exampleSubject = 'did:ledger:ic6a1zRe5gv6FaAVRdmiy4a3bBwyqRxf1C'

/** `didledger did issue | present | configure-domain` */
export function registerDidIssuers(did: Command, context: CliContext): void {
  withExpiry(withSigner(did.command('issue')), 'default: it does not expire')
    .description('sign a credential in the name of the DID of an account; nothing is sent')
    .requiredOption('--type <name>', 'a type of the credential; may be given several times', collect(String))
    .option('--subject <did>', 'whom it is about (default: the issuer)', subjectOption)
    .option('--claim <name=text>', 'what it says; may be given several times', collect(claimOption))
    .option('--claims <file>', 'what it says: a JSON object, for values that are no text')
    .option('--id <name>', 'its name below the DID of the subject (default: its type and a random end)')
    .option('--context <url>', 'a JSON-LD context; may be given several times', collect(String))
    .addOption(
      new Option('--format <form>', 'ledger: JSON that the chain takes; jwt: a W3C credential as JWT')
        .choices(['ledger', 'jwt'])
        .default('ledger'),
    )
    .addHelpText(
      'after',
      examples(
        `did issue --devnet-account 0 --type DegreeCredential --subject ${exampleSubject} --claim degree=BSc -o degree.json`,
        `did issue --devnet-account 0 --type DegreeCredential --subject ${exampleSubject} --claims claims.json --format jwt`,
      ),
    )
    .action((options: IssueOptions) => issue(context, options))
  withSigner(did.command('present'))
    .description('show credentials of the DID of an account to a verifier: a signed presentation; nothing is sent')
    .argument('<file...>', 'the credentials: all JSON, or all JWT')
    .requiredOption('--realm <name>', 'for whom it is, as the verifier calls itself')
    .requiredOption('--nonce <text>', 'what the verifier chose for this one presentation')
    .addHelpText(
      'after',
      examples('did present degree.json --devnet-account 1 --realm https://jobs.example --nonce 6f1d -o shown.json'),
    )
    .action((files: string[], options: PresentOptions) => present(context, files, options))
  withExpiry(withSigner(did.command('configure-domain')), 'default: 5')
    .description(`link the DID of an account with an origin of the web: the file for ${configurationPath} there`)
    .argument('<origin>', 'such as https://example.org')
    .addHelpText(
      'after',
      examples('did configure-domain https://example.org --devnet-account 0 -o did-configuration.json'),
    )
    .action((origin: string, options: SignedOptions & ExpiryOptions) => configureDomain(context, origin, options))
}

/** Options of a command that signs in the name of a DID, and sends nothing. */
function withSigner(command: Command): Command {
  return withSigning(withWallet(withNode(withOutput(command))))
    .option('--for <did>', 'the DID that signs, by a key of it (default: that of the account)', didArgument)
    .option('-o, --output <file>', 'write it to a file')
}

/** A subject; one that begins as a DID of this chain has to be one. */
function subjectOption(text: string): string {
  return text.trim().toLowerCase().startsWith(`did:${didMethod}:`) ? didArgument(text) : text
}

function claimOption(text: string): Claim {
  const at = text.indexOf('=')
  if (at > 0) return { name: text.slice(0, at), value: text.slice(at + 1) }
  throw new InvalidArgumentError('A claim has the form name=text.')
}

async function issue(context: CliContext, options: IssueOptions): Promise<void> {
  const claims = claimsOf(options)
  const { by, now } = await signedBy(context, options)
  const { type: types, subject, context: contexts } = options
  const expires = changedExpiry(options, now)
  const id = options.id ?? newCredentialName(types, context.random)
  const credential: NewCredential = { id, types, claims, ...defined({ subject, expires, context: contexts }) }
  const text = options.format === 'jwt' ? issueCredentialJwt(by, credential) : issueCredential(by, credential)
  const read = readSignedCredential(text, chainIds)
  const { issuer, format } = read
  const said = `Signed ${read.id} in the name of ${issuer}.`
  const next = options.format === 'jwt' ? 'did verify-credential' : 'did declare'
  handOver(context, options, text, { value: { id: read.id, issuer, format, credential: text }, said, next })
}

function claimsOf({ claim = [], claims }: IssueOptions): Record<string, unknown> {
  const named = claims === undefined ? {} : parseJsonToSign(readTextFile(claims, 'claims'), `the claims ${claims}`)
  if (typeof named !== 'object' || named === null || Array.isArray(named)) {
    throw new UserError(`${claims} holds no JSON object of claims`, 2)
  }
  const all = new Map(Object.entries(named))
  for (const { name, value } of claim) {
    if (all.has(name)) throw new UserError(`the claim ${name} is given twice`, 2)
    all.set(name, value)
  }
  if (all.size === 0) throw new UserError('a credential says something: --claim name=text, or --claims FILE', 2)
  return Object.fromEntries(all)
}

async function present(context: CliContext, files: readonly string[], options: PresentOptions): Promise<void> {
  const credentials = files.map((file) => readTextFile(file, 'credential').trim())
  const again = credentials.findIndex((text, i) => credentials.indexOf(text) < i)
  if (again >= 0) throw new UserError(`${files[again]} holds a credential that is given twice`, 2)
  const { realm, nonce } = options
  const { by } = await signedBy(context, options)
  const text = presentCredentials(by, { credentials, realm, nonce })
  const count = credentials.length === 1 ? 'one credential' : `${credentials.length} credentials`
  handOver(context, options, text, {
    value: { holder: by.document.id, presentation: text },
    said: `Signed a presentation of ${count} by ${by.document.id}, for ${realm}.`,
    next: `did verify-credential --realm ${shellWord(realm)} --nonce ${shellWord(nonce)}`,
  })
}

async function configureDomain(
  context: CliContext,
  origin: string,
  options: SignedOptions & ExpiryOptions,
): Promise<void> {
  const { by, now } = await signedBy(context, options)
  const file = linkDomain(by, { origin, expires: newExpiry(options, now) })
  const listed = linksTo(by.document, origin)
  const update = `did update --add-service ${shellWord(`website,LinkedDomains,${origin}`)}${sameOptions(options)}`
  handOver(context, options, JSON.stringify(file, null, 2), {
    value: { did: by.document.id, origin, listed, configuration: file },
    said: `Linked ${by.document.id} with ${origin}: the file belongs at ${origin}${configurationPath}.`,
    next: undefined,
    more: listed ? [] : [`The document of the DID does not lead there yet: npx didledger ${update}`],
  })
}

/** The DID that signs, by the node, its key, and the time. */
async function signedBy(context: CliContext, options: SignedOptions): Promise<{ by: SignedBy; now: number }> {
  const client = new NodeClient(options)
  const { identity, expired } = await currentIdentity(client, options.for ?? publicAccount(options).did)
  const { document } = identity
  if (expired) {
    throw new UserError(
      `${document.id} has expired: nobody would believe what it signs ("did update --years 1" renews it)`,
    )
  }
  const controllers = await controllersOf(client, document)
  const choice = keyChoice(options, document, controllers)
  const now = await chainNow(context.clock, client)
  const { account, accounts } = await accountAndOthers(context, options)
  const by = { account, document, controllers, created: formatDate(now), ...defined({ signWith: choice(accounts) }) }
  return { by, now }
}

/** Writes what was signed to a file or to standard output. */
function handOver(
  context: CliContext,
  options: SignedOptions,
  text: string,
  // `next`: the command that takes the file.
  texts: { value: object; said: string; next: string | undefined; more?: readonly string[] },
): void {
  const { value, said, next, more = [] } = texts
  if (options.output === undefined) return report(context, options, value, text.split('\n'))
  const words = writeText(context, options.output, `${text}\n`, { mode: 0o644 })
  report(words, options, { ...value, file: options.output }, [
    said,
    `Wrote it to ${shownFile(options.output)}; nothing was sent.`,
    ...more,
    ...(next === undefined
      ? []
      : [`Next: npx didledger ${nextWith(next, options.output)}${sameOptions({ rest: options.rest })}`]),
  ])
}

/** A command with a file as its first argument. */
function nextWith(command: string, file: string): string {
  const [did, name, ...others] = command.split(' ')
  return [did, name, fileWord(file), ...others].join(' ')
}
