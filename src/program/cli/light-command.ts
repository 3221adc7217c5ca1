import type { Command } from 'commander'
import { baseUrl } from '../../clients/client/node-url.js'
import { UserError } from '../../base/errors/rule-error.js'
import { failureTexts } from '../../clients/light/failure-texts.js'
import type { Dereference } from '../../answers/identifiers/identifier-answer.js'
import { LightError, type LightFailure } from '../../clients/light/light-error.js'
import type { LightResolver } from '../../clients/light/light-resolver.js'
import { repeatedServer } from '../../clients/light/server-url.js'
import { absentDid } from '../../identity/did/absent-did.js'
import type { Log } from '../../base/runtime/env.js'
import type { CliContext } from './cli-context.js'
import { collect, countOption, type OutputOptions, portOption, withDereference, withOutput } from './command-options.js'
import { DevnetLight } from './devnet-light.js'
import { isDevnet, openLight, type TrustFlags, withTrust } from './light-options.js'
import { stateFile } from './light-state.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import { stopSignal } from './stop-signal.js'

interface LightFlags extends TrustFlags, OutputOptions {
  readonly rest: readonly string[]
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
    .requiredOption('--rest <url>', 'REST address of a node; may be given several times', collect(baseUrl))
  withDereference(withTrust(command))
    .option('--needed <n>', 'how many of the nodes have to prove an answer', countOption, 1)
    .option('--state <file>', 'where to keep what was seen, so that no older answer is believed after a restart')
    .option('--port <n>', 'port to listen on; 0 takes a free one', portOption, 8090)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addHelpText(
      'after',
      examples(
        'light --rest http://192.0.2.7:20334 --trust localnet --checkpoint checkpoint.json --state light.json',
        'light --rest https://one.example --rest https://two.example --needed 2 --trust corp.trust.json',
      ),
    )
    .action((flags: LightFlags) => serve(context, flags))
}

/** Failures that may pass while the command waits for questions; others need its user. */
const passing: readonly LightFailure[] = ['stale', 'future', 'rollback', 'proof-missing', 'quorum', 'timeout']

/** Serves until a stop signal. */
async function serve(context: CliContext, flags: LightFlags): Promise<void> {
  const { rest: servers, needed, state, maxAge, port, host, dereference, json } = flags
  const twice = repeatedServer(servers)
  if (twice !== undefined) throw new UserError(`--rest ${twice} is given twice: its answer counts once`, 2)
  if (needed < 1 || needed > servers.length) {
    throw new UserError(
      `--needed ${needed}: ${servers.length === 1 ? 'one node is' : `${servers.length} nodes are`} named`,
      2,
    )
  }
  const log = openWarnings(context)
  const { load, save } = state === undefined ? {} : stateFile(state, log)
  const asking = { servers, needed, ...(maxAge !== undefined && { maxAge }), ...(save && { save }) }
  const opened = await openLight(context, flags, { ...asking, ...(load && { load }) })
  const light = isDevnet(flags.trust) ? new DevnetLight(opened, () => openLight(context, flags, asking), log) : opened
  const stop = stopSignal()
  await tryOut(light, log)
  // Loading the HTTP server takes longer than all the rest; no other command waits for it.
  const { openLightServer } = await import('../../answers/api/servers/light-server.js')
  const server = await openLightServer({ light, hosts: [host], port, dereference, log })
  const listens = server.addresses.map((address) => `http://${address}`)
  const lines = [
    ...listens.flatMap((address) => [`Identifiers ${address}/1.0/identifiers/`, `JSON-RPC    ${address}/rpc`]),
    ...servers.map((url) => `Node        ${url}`),
  ]
  announce(context, { json }, { listens, nodes: servers }, lines)
  try {
    await stop
  } finally {
    await server.close()
    log.close()
  }
}

/** Asks once, so that a wrong address, trust root or state is met at the start. */
async function tryOut(light: Pick<LightResolver, 'resolve'>, log: Log): Promise<void> {
  try {
    await light.resolve(absentDid)
  } catch (error) {
    if (!(error instanceof LightError) || !passing.includes(error.failure)) throw error
    log.warn({ failure: error.failure }, `nothing is proved yet: ${failureTexts[error.failure]}`)
  }
}
