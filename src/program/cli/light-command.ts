import { type Command, InvalidArgumentError } from 'commander'
import { typedUrl } from '../../clients/client/typed-url.js'
import { UserError } from '../../base/errors/rule-error.js'
import { failureTexts } from '../../clients/light/failure-texts.js'
import type { Dereference } from '../../answers/identifiers/identifier-answer.js'
import { asLightError, LightError, type LightFailure } from '../../clients/light/light-error.js'
import type { LightOptions, LightResolver } from '../../clients/light/light-resolver.js'
import { repeatedServer } from '../../clients/light/server-url.js'
import { absentDid } from '../../identity/did/absent-did.js'
import type { Log } from '../../base/runtime/env.js'
import type { CliContext } from './cli-context.js'
import { collect, countOption, type OutputOptions, portOption, withDereference, withOutput } from './command-options.js'
import { DevnetLight } from './devnet-light.js'
import { isDevnet, openLight, type TrustFlags, trustOptions } from './light-options.js'
import { keepEvidence } from './evidence-file.js'
import { mirrorUrl } from './mirror-url.js'
import { lockState, stateFile } from './light-state.js'
import { loadEvidence } from './load-proofs.js'
import { showFork } from './show-fork.js'
import { readWitnessPlace } from '../../clients/light/witness-place.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import { requireNames } from './require-names.js'
import { stopSignal } from './stop-signal.js'

interface WitnessFlags {
  readonly witness?: readonly string[]
  readonly witnessesNeeded?: number
}

type CheckFlags = Partial<TrustFlags> & OutputOptions & WitnessFlags

interface LightFlags extends Partial<TrustFlags>, OutputOptions, WitnessFlags {
  readonly rest?: readonly string[]
  readonly mirror?: readonly string[]
  readonly gossip?: boolean
  readonly evidence?: string
  readonly needed: number
  readonly state?: string
  readonly port: number
  readonly host: string
  readonly dereference: Dereference
}

/** `didledger light` */
export function registerLight(program: Command, context: CliContext): void {
  const command = withOutput(program.command('light'))
    .description('resolve DIDs and credentials by nodes that are not believed: every answer is proved')
    .option('--rest <url>', 'REST address of a node; may be given several times', collect(typedUrl))
  command.option('--mirror <url>', 'address of the files of a mirror; may be given several times', collect(mirrorUrl))
  for (const option of trustOptions()) command.addOption(option)
  withDereference(withWitnesses(command))
    .option('--needed <n>', 'how many of the nodes and mirrors have to prove an answer', countOption, 1)
    .option('--gossip', 'tell each new head to all nodes and witnesses, and compare theirs with it')
    .option('--evidence <file>', 'where evidence goes that validators confirmed two histories')
    .option('--state <file>', 'where to keep what was seen, so that no older answer is believed after a restart')
    .option('--port <n>', 'port to listen on; 0 takes a free one', portOption, 8090)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addHelpText(
      'after',
      examples(
        'light --rest http://192.0.2.7:20334 --trust localnet --checkpoint checkpoint.json --state light.json',
        'light --mirror https://files.example/ledger --trust corp.trust.json',
        'light --rest https://one.example --rest https://two.example --needed 2 --trust corp.trust.json',
      ),
    )
    .action((flags: LightFlags) => serve(context, flags))
  // Options that both commands have are of the first, so that none can be mandatory.
  const check = withOutput(command.command('check-evidence'))
  for (const option of trustOptions()) check.addOption(option)
  withWitnesses(check)
    .description('check evidence of a fork without any node, and show who signed both histories')
    .argument('<file>', 'evidence that a light resolver, a witness or a node wrote')
    .addHelpText('after', examples('light check-evidence fork-evidence.json --trust corp.trust.json'))
    .action((file: string, _: unknown, own: Command) => checkEvidence(context, file, own.optsWithGlobals<CheckFlags>()))
}

/** Options of what asks for witnesses. */
function withWitnesses(command: Command): Command {
  return command
    .option(
      '--witness <key>',
      'public key of a witness, NAME+ID+KEY, with ,URL to ask it too; may be given several times',
      collect(witnessOption),
    )
    .option('--witnesses-needed <n>', 'how many of them have to have cosigned a block (default: 1)', countOption)
}

/** The text of a witness's key, once it can be read. */
function witnessOption(text: string): string {
  try {
    readWitnessPlace(text)
    return text
  } catch (error) {
    throw new InvalidArgumentError(asLightError(error).message)
  }
}

function missingTrust(): UserError {
  return new UserError('--trust <name|file> is missing', 2)
}

/** The witnesses of the options; undefined: none are needed. */
function witnessesOf({ witness: keys, witnessesNeeded: needed }: WitnessFlags): LightOptions['witnesses'] {
  if (keys === undefined) {
    if (needed === undefined) return undefined
    throw new UserError('--witnesses-needed is for witnesses: name their keys with --witness', 2)
  }
  if (needed !== undefined && (needed < 1 || needed > keys.length)) {
    throw new UserError(`--witnesses-needed ${needed}: ${keys.length} witnesses are named`, 2)
  }
  return { keys, ...(needed !== undefined && { needed }) }
}

async function checkEvidence(context: CliContext, file: string, flags: CheckFlags): Promise<void> {
  const { trust } = flags
  if (trust === undefined) throw missingTrust()
  const evidence = loadEvidence(file)
  const witnesses = witnessesOf(flags)
  const light = await openLight(context, { ...flags, trust }, { servers: [], ...(witnesses && { witnesses }) })
  showFork(context, flags, await light.verifyEvidence(evidence))
}

/** Failures that may pass while the command waits for questions; others need its user. */
const passing: readonly LightFailure[] = [
  'stale',
  'future',
  'rollback',
  'proof-missing',
  'quorum',
  'timeout',
  'unreachable',
  'unwitnessed',
]

/** Serves until a stop signal, with the file of --state for this process alone. */
async function serve(context: CliContext, flags: LightFlags): Promise<void> {
  const trust = requireServers(flags)
  const { state } = flags
  const release = state === undefined ? undefined : await lockState(state, 'the state of a light resolver')
  try {
    await serveFrom(context, { ...flags, trust })
  } finally {
    await release?.()
  }
}

/** The trust of the flags; a UserError unless they name one, and as many servers as are needed. */
function requireServers({ rest: servers = [], mirror: mirrors = [], trust, needed }: LightFlags): string {
  const all = [...servers, ...mirrors]
  if (all.length === 0) throw new UserError('--rest <url> or --mirror <url> is missing', 2)
  if (trust === undefined) throw missingTrust()
  const twice = repeatedServer(all)
  if (twice !== undefined) throw new UserError(`${twice} is given twice: its answer counts once`, 2)
  if (needed < 1 || needed > all.length) {
    throw new UserError(
      `--needed ${needed}: ${all.length === 1 ? 'one server is' : `${all.length} servers are`} named`,
      2,
    )
  }
  return trust
}

async function serveFrom(context: CliContext, flags: LightFlags & TrustFlags): Promise<void> {
  const { rest: servers = [], mirror: mirrors = [], port, host, dereference, json } = flags
  const log = openWarnings(context)
  const light = await openResolver(context, flags, log)
  const stop = stopSignal()
  await tryOut(light, flags, log)
  // Loading the HTTP server takes longer than all the rest; no other command waits for it.
  const { openLightServer } = await import('../../answers/api/servers/light-server.js')
  const server = await openLightServer({ light, hosts: [host], port, dereference, log })
  const listens = server.addresses.map((address) => `http://${address}`)
  const lines = [
    ...listens.flatMap((address) => [`Identifiers ${address}/1.0/identifiers/`, `JSON-RPC    ${address}/rpc`]),
    ...servers.map((url) => `Node        ${url}`),
    ...mirrors.map((url) => `Mirror      ${url}`),
  ]
  announce(context, { json }, { listens, nodes: servers, mirrors }, lines)
  try {
    await stop
  } finally {
    await server.close()
    log.close()
  }
}

async function openResolver(context: CliContext, flags: LightFlags & TrustFlags, log: Log) {
  const { rest: servers = [], mirror: mirrors = [], needed, gossip = false, evidence, state, maxAge } = flags
  const { load, save } = state === undefined ? {} : stateFile(state, log)
  const witnesses = witnessesOf(flags)
  // A fork that an answer meets is logged with it.
  const isKept = evidence !== undefined || gossip
  const onFork = ({ evidence: found }: LightError) => found && keepEvidence(evidence, found, log)
  const asking = {
    servers,
    mirrors,
    needed,
    gossip,
    ...(isKept && { onFork }),
    ...(witnesses && { witnesses }),
    ...(maxAge !== undefined && { maxAge }),
    ...(save && { save }),
  }
  const opened = await openLight(context, flags, { ...asking, ...(load && { load }) })
  return isDevnet(flags.trust) ? new DevnetLight(opened, () => openLight(context, flags, asking), log) : opened
}

/**
 * Asks once, so that a wrong trust root, state or name of a host is met at the start. A server may start later, as where all of them are
 * started together.
 */
async function tryOut(light: Pick<LightResolver, 'resolve'>, { rest = [], mirror = [] }: LightFlags, log: Log) {
  try {
    await light.resolve(absentDid)
  } catch (error) {
    if (!(error instanceof LightError) || !passing.includes(error.failure)) throw error
    if (error.failure === 'unreachable') {
      await requireNames(rest, '--rest')
      await requireNames(mirror, '--mirror')
    }
    log.warn({ failure: error.failure }, `nothing is proved yet: ${failureTexts[error.failure]}: ${error.message}`)
  }
}
