import type { Command } from 'commander'
import { NoAnswer } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { PaymentLane } from '../../clients/registrar/payment-lane.js'
import { readClients, RegistrarClients, type Spent } from '../../clients/registrar/registrar-clients.js'
import { Registrar, type RegistrarNode } from '../../clients/registrar/registrar.js'
import { isThere, readJsonFile, readSecretFile, writeFileAtomically } from '../../clients/wallet/files.js'
import { UserError } from '../../base/errors/rule-error.js'
import { formatAmount, parseAmount } from '../../base/primitives/amount.js'
import { defined } from '../../base/primitives/defined.js'
import type { Log } from '../../base/runtime/env.js'
import type { CliContext } from './cli-context.js'
import {
  type OutputOptions,
  portOption,
  type SpecFlags,
  type WalletOptions,
  withChain,
  withNode,
  withOutput,
  withWallet,
} from './command-options.js'
import { openWarnings } from './open-log.js'
import { announce, examples } from './print-output.js'
import { registrarNode } from './registrar-node.js'
import { requireNames } from './require-names.js'
import { signingAccount } from './signing-account.js'
import { stopSignal } from './stop-signal.js'

interface RegistrarFlags extends WalletOptions, OutputOptions, SpecFlags {
  readonly rest?: string
  readonly clients: string
  readonly port: number
  readonly host: string
  readonly metricsPort?: number
  readonly metricsHost: string
}

/** `didledger registrar` */
export function registerRegistrar(program: Command, context: CliContext): void {
  withChain(withNode(withWallet(withOutput(program.command('registrar')))))
    .description('register DIDs for clients that sign themselves, by DID Registration over HTTP; the account pays')
    .requiredOption(
      '--clients <file>',
      'JSON with the clients: {"clients": [{"name", "token", "budget", "perMinute"}]}, a budget in coins; what each has spent is kept in FILE.spent',
    )
    .option('--port <n>', 'port to listen on; 0 takes a free one', portOption, 9080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--metrics-port <n>', 'port of /metrics, which names the clients and what each has spent', portOption)
    .option('--metrics-host <address>', 'address of that port', '127.0.0.1')
    .addHelpText(
      'after',
      examples(
        'registrar --devnet-account 9 --clients clients.json',
        'registrar --wallet payer.json --clients clients.json --host 0.0.0.0',
      ),
    )
    .action((flags: RegistrarFlags) => register(context, flags))
}

/** Serves until a stop signal, with the file of what clients have spent for this process alone: each of two would spend all that is left. */
async function register(context: CliContext, flags: RegistrarFlags): Promise<void> {
  const { clients: file } = flags
  const terms = readClients(jsonIn(file))
  const kept = `${file}.spent`
  const { lockPath } = await import('../../ledger/storage/care/level/lock-path.js')
  const release = await lockPath(`${kept}.lock`, `what clients have spent in ${kept}`)
  try {
    await serve(context, flags, terms, kept)
  } finally {
    await release()
  }
}

async function serve(
  context: CliContext,
  flags: RegistrarFlags,
  terms: ReturnType<typeof readClients>,
  kept: string,
): Promise<void> {
  const { port, host, json } = flags
  const keep = (spent: Spent) => writeFileAtomically(kept, spentText(spent), { mode: 0o600, replace: true })
  // A clock that is set back would refuse clients for as long.
  const steady = { now: () => performance.now() }
  const clients = new RegistrarClients(terms, { spent: spentIn(kept), keep, clock: steady })
  const account = await signingAccount(context, flags)
  const client = new NodeClient(flags)
  const log = openWarnings(context)
  const lane = new PaymentLane()
  const node = registrarNode(context, client, { account, clients, chain: flags, log, lane })
  const { clock, random } = context
  const registrar = new Registrar(node, { clock, random })
  await tryOut(node, client.rest, log)
  const stop = stopSignal()
  const { openRegistrar, openRegistrarMetrics } = await import('../../answers/api/servers/registrar-server.js')
  const { RegistrarMetrics } = await import('../../answers/api/metrics/registrar-metrics.js')
  const metrics = new RegistrarMetrics({
    waiting: () => registrar.waiting,
    payments: () => lane.waiting,
    budgets: () => clients.budgets(),
  })
  const ask = () => node.now()
  const server = await openRegistrar({ registrar, clients, metrics, ask, hosts: [host], port, log })
  const { metricsPort, metricsHost } = flags
  const measured =
    metricsPort === undefined
      ? undefined
      : await openRegistrarMetrics({ metrics, hosts: [metricsHost], port: metricsPort, log })
  const start = {
    listens: server.addresses.map((address) => `http://${address}`),
    rest: client.rest,
    payer: account.address,
    ...defined({ metrics: measured?.addresses.map((address) => `http://${address}/metrics`) }),
  }
  announce(context, { json }, start, [
    ...start.listens.map((address) => `Registrar  ${address}/1.0/create`),
    `Node       ${start.rest}`,
    ...(start.metrics ?? []).map((address) => `Metrics    ${address}`),
    `Pays       ${start.payer}`,
  ])
  try {
    await stop
  } finally {
    await Promise.all([server.close(), measured?.close()])
    log.close()
  }
}

/** Asks the node once, so that a wrong address or chain is met at the start, and not by the first client. It may start later. */
async function tryOut(node: Pick<RegistrarNode, 'specification'>, rest: string, log: Log): Promise<void> {
  try {
    await node.specification()
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    await requireNames([rest], '--rest')
    log.warn({}, `nothing is registered yet: ${error.fact}`)
  }
}

function jsonIn(file: string): unknown {
  const text = readSecretFile(file, 'file of clients')
  try {
    return JSON.parse(text)
  } catch {
    // The message of the parser shows a part of the text, which may be a token.
    throw new UserError(`the file of clients ${file} is no JSON`)
  }
}

function spentText(spent: Spent): string {
  const amounts = Object.fromEntries([...spent].map(([name, units]) => [name, formatAmount(units)]))
  return `${JSON.stringify(amounts, null, 2)}\n`
}

function spentIn(file: string): Spent {
  if (!isThere(file, 'what clients have spent')) return new Map()
  const kept = readJsonFile(file, 'what clients have spent')
  const entries = Object.entries(typeof kept === 'object' && kept !== null ? kept : {}).map(([name, amount]) => {
    const units = typeof amount === 'string' ? parseAmount(amount) : undefined
    if (units === undefined) throw new UserError(`${file} does not say what ${name} has spent`)
    return [name, units] as const
  })
  return new Map(entries)
}
