import type { Command } from 'commander'
import { isJwt } from '../../identity/credentials/compact-jws.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { exchangeText } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { checkCredential, type CredentialReport } from '../../clients/verifier/check-credential.js'
import { checkDomain, type LinkedDid } from '../../clients/verifier/check-domain.js'
import { checkPresentation, type PresentationReport } from '../../clients/verifier/check-presentation.js'
import type { CredentialSource } from '../../clients/verifier/credential-source.js'
import type { Check } from '../../clients/verifier/report.js'
import type { Proved } from '../../clients/light/proved-answer.js'
import { readTextFile } from '../../clients/wallet/files.js'
import { requireOrigin } from '../../clients/wallet/present-credentials.js'
import { configurationPath } from '../../identity/credentials/domain-linkage.js'
import type { CliContext } from './cli-context.js'
import { collect, countOption, type OutputOptions, type RestFlags, withNode, withOutput } from './command-options.js'
import { chainNow } from './expiry.js'
import { openLight, type TrustFlags, trustText } from './light-options.js'
import { loadProof } from './load-proofs.js'
import { examples, formatTable, jsonLines, report } from './print-output.js'
import { SilentExit } from './silent-exit.js'

interface SourceOptions extends RestFlags, OutputOptions, Partial<TrustFlags> {
  readonly proof?: readonly string[]
}

interface CheckOptions extends SourceOptions {
  readonly realm?: string
  readonly nonce?: string
}

/** `didledger did verify-credential | check-domain` */
export function registerDidCheckers(did: Command, context: CliContext): void {
  withSource(did.command('verify-credential'))
    .description(
      'check a credential or a presentation: its signature, its dates, its issuer, and what the chain says of it',
    )
    .argument('<file>', 'JSON or a JWT')
    .option('--realm <name>', 'of a presentation: for whom it has to be')
    .option('--nonce <text>', 'of a presentation: what was chosen for it')
    .addHelpText(
      'after',
      examples(
        'did verify-credential degree.json',
        'did verify-credential degree.json --proof issuer.json --proof degree-proof.json --trust devnet',
        'did verify-credential shown.json --realm https://jobs.example --nonce 6f1d',
      ),
    )
    .action((file: string, options: CheckOptions) => verifyCredential(context, file, options))
  withSource(did.command('check-domain'))
    .description('show which DIDs an origin of the web is linked with')
    .argument('<origin>', 'such as https://example.org')
    .option('--file <file>', `the DID configuration, instead of what the origin has at ${configurationPath}`)
    .addHelpText('after', examples('did check-domain https://example.org'))
    .action((origin: string, options: SourceOptions & { file?: string }) => domain(context, origin, options))
}

/** Options of a command that looks at issuers: by a node, or by proofs alone. */
function withSource(command: Command): Command {
  return withNode(withOutput(command))
    .option(
      '--proof <bundle>',
      'ask no node: what "did prove" printed of each issuer, holder and credential; may be given several times',
      collect(String),
    )
    .option(
      '--trust <name|file>',
      'with --proof, the chain that is believed: devnet, localnet, pow, or a Trust in a file',
    )
    .option(
      '--checkpoint <file>',
      'with --proof, a block of that chain that is believed as well, instead of its genesis',
    )
    .option('--max-age <seconds>', 'with --proof, how old the block of a proof may be at most', countOption)
    .option('--allow-old-root', 'with --proof, begin with a block older than 30 days too')
}

interface Opened {
  readonly source: CredentialSource
  readonly now: () => number
  /** Lines on what the answers rest on. */
  readonly basis: readonly (readonly [string, string])[]
  readonly proved?: Proved
}

async function opened(context: CliContext, options: SourceOptions): Promise<Opened> {
  const { proof, trust } = options
  if (proof !== undefined && trust !== undefined) return openedProofs(context, { ...options, proof, trust })
  if (proof !== undefined) throw new UserError('--proof needs --trust: the chain that is believed', 2)
  if (trust !== undefined) throw new UserError('--trust is for --proof; a node is believed as it is', 2)
  const client = new NodeClient(options)
  const seconds = await chainNow(context.clock, client)
  const source: CredentialSource = {
    resolve: (did) => client.resolve(did),
    resolveCredential: (id, { issuer }) => client.resolveCredential(id, issuer),
  }
  return { source, now: () => seconds * 1000, basis: [['told by', client.rest]] }
}

async function openedProofs(
  context: CliContext,
  options: SourceOptions & { readonly proof: readonly string[]; readonly trust: string },
): Promise<Opened> {
  const { maxAge } = options
  const bundles = options.proof.map(loadProof)
  const light = await openLight(context, options, { servers: [] })
  const { bundleSource } = await import('../../clients/light/bundle-source.js')
  const source = await bundleSource(light, bundles, defined({ maxAge }))
  const { oldest } = source
  const basis = [
    ['proved as of', `height ${oldest.height}, ${oldest.age} s ago; what came later is not known`],
    ['trust root', trustText(options, oldest)],
  ] as const
  return { source, now: () => context.clock.now(), basis, proved: oldest }
}

async function verifyCredential(context: CliContext, file: string, options: CheckOptions): Promise<void> {
  const text = readTextFile(file, 'credential')
  const { realm, nonce } = options
  const presented = isPresentation(text)
  if (presented && (realm === undefined || nonce === undefined)) {
    throw new UserError(
      `${file} is a presentation: --realm and --nonce say what was asked for; without them it could be a copy of one for others`,
      2,
    )
  }
  if (!presented && (realm !== undefined || nonce !== undefined)) {
    throw new UserError(`${file} is no presentation: --realm and --nonce are for those`, 2)
  }
  const { source, now, basis, proved } = await opened(context, options)
  const result = presented
    ? await checkPresentation(text, source, { realm: realm ?? '', nonce: nonce ?? '', now })
    : await checkCredential(text, source, { now })
  report(context, options, { ...result, ...defined({ proved }) }, [
    ...('credentials' in result ? presentationLines(result) : credentialLines(result)),
    '',
    ...formatTable(basis),
  ])
  if (!result.valid) throw new SilentExit()
}

/** Whether a text says that it is a presentation; a false one is refused by the reader. */
function isPresentation(text: string): boolean {
  const trimmed = text.trim()
  const json = isJwt(trimmed) ? Buffer.from(trimmed.split('.')[1] ?? '', 'base64url').toString() : trimmed
  try {
    const value = JSON.parse(json) as { vp?: unknown; verifiableCredential?: unknown } | null
    return value !== null && (isJwt(trimmed) ? value.vp : value.verifiableCredential) !== undefined
  } catch {
    return false
  }
}

function credentialLines({ valid, checks, credential }: CredentialReport): string[] {
  const of = credential?.id ?? 'credential'
  if (credential === undefined) return ['This is no credential.', ...checkLines(checks)]
  const { types, issuer, subject, claims } = credential
  return [
    `The credential ${of} is ${valid ? 'valid' : 'NOT valid'}.`,
    ...checkLines(checks),
    '',
    ...formatTable([
      ['types', types.join(', ')],
      ['issuer', issuer],
      ['subject', subject],
    ]),
    ...jsonLines(claims).map((line) => `  ${line}`),
  ]
}

function presentationLines({ valid, checks, holder, credentials }: PresentationReport): string[] {
  const by = holder === undefined ? '' : ` of ${holder}`
  return [
    `The presentation${by} is ${valid ? 'valid' : 'NOT valid'}.`,
    ...checkLines(checks),
    ...credentials.flatMap((credential) => ['', ...credentialLines(credential)]),
  ]
}

function checkLines(checks: readonly Check[]): string[] {
  return formatTable(checks.map(({ name, holds, says }) => [name, holds ? says : `FAILS: ${says}`] as const))
}

async function domain(context: CliContext, origin: string, options: SourceOptions & { file?: string }): Promise<void> {
  requireOrigin(origin)
  const { file } = options
  const text = file === undefined ? await configurationOf(origin) : readTextFile(file, 'DID configuration')
  const { source, now, basis, proved } = await opened(context, options)
  const result = await checkDomain(origin, text, source, { now })
  report(context, options, { ...result, ...defined({ proved }) }, [
    ...(result.dids.length === 0
      ? [`${origin} names no DID of this chain.`]
      : result.dids.map((did) => linkedLine(origin, did))),
    '',
    ...formatTable(basis),
  ])
  if (!result.dids.some(({ linked }) => linked)) throw new SilentExit()
}

function linkedLine(origin: string, { did, linked, listed, reason }: LinkedDid): string {
  if (!linked) return `${did ?? 'An entry'} is NOT linked with ${origin}: ${reason ?? 'it cannot be read'}`
  const back = listed ? 'its document leads there' : 'its document does not name the origin'
  return `${did} is linked with ${origin}; ${back}.`
}

/** @tuning ms: asking an origin for its DID configuration */
const originTimeout = 15_000

/** @limit bytes: a DID configuration of an origin */
const maxConfiguration = 1024 * 1024

async function configurationOf(origin: string): Promise<string> {
  const url = `${origin}${configurationPath}`
  const hint = 'is the address right?'
  const { response, text } = await exchangeText(url, undefined, {
    timeout: originTimeout,
    maxAnswer: maxConfiguration,
    hint,
  })
  if (response.ok) return text
  throw new UserError(`${url} answered HTTP ${response.status}: there is no DID configuration`)
}
