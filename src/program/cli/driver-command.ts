import type { Command } from 'commander'
import { HttpResolver } from '../../clients/client/http-resolver.js'
import { typedUrl } from '../../clients/client/typed-url.js'
import type { CliContext } from './cli-context.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import type { Dereference } from '../../answers/identifiers/identifier-answer.js'
import { type OutputOptions, portOption, withDereference, withOutput } from './command-options.js'
import { stopSignal } from './stop-signal.js'

/** JSON-RPC of a node on this machine. */
const defaultRpcUrl = 'http://127.0.0.1:20336'
/** @tuning ms: one request of a driver to its node */
const nodeTimeout = 10_000
/** @limit bytes: an answer of the node to a driver: one operation, with its context */
const maxNodeAnswer = 4 * 1024 * 1024

interface DriverFlags extends OutputOptions {
  readonly rpc?: string
  readonly port: number
  readonly host: string
  readonly dereference: Dereference
}

/** `didledger driver` */
export function registerDriver(program: Command, context: CliContext): void {
  const command = withOutput(program.command('driver')).description(
    'serve W3C DID Resolution over a node elsewhere, as a driver of the Universal Resolver',
  )
  withDereference(command)
    .option('--rpc <url>', `JSON-RPC of the node (else DIDLEDGER_RPC, else ${defaultRpcUrl})`)
    .option('--port <n>', 'port to listen on; 0 takes a free one', portOption, 8080)
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .addHelpText('after', examples('driver --rpc http://192.0.2.7:20336', 'driver --port 8081 --host 127.0.0.1'))
    .action((flags: DriverFlags) => drive(context, flags))
}

/** The node behind a driver. */
export function driverSource(url: string): HttpResolver {
  return new HttpResolver(typedUrl(url), { timeout: nodeTimeout, maxAnswer: maxNodeAnswer })
}

/** Serves until a stop signal. */
async function drive(context: CliContext, { rpc, port, host, dereference, json }: DriverFlags): Promise<void> {
  const url = rpc ?? context.env['DIDLEDGER_RPC'] ?? defaultRpcUrl
  const source = driverSource(url)
  const stop = stopSignal()
  // Loading the HTTP server takes longer than all the rest; no other command waits for it.
  const { openDriver } = await import('../../answers/api/servers/driver-server.js')
  const log = openWarnings(context)
  const server = await openDriver({ source, hosts: [host], port, dereference, log })
  const start = { listens: server.addresses.map((address) => `http://${address}`), rpc: source.url }
  const lines = [
    ...start.listens.map((address) => `Identifiers ${address}/1.0/identifiers/`),
    `Node        ${start.rpc}`,
  ]
  announce(context, { json }, start, lines)
  try {
    await stop
  } finally {
    await server.close()
    log.close()
  }
}
