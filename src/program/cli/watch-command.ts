import type { Command } from 'commander'
import { UserError } from '../../base/errors/rule-error.js'
import { displayHash } from '../../base/primitives/bytes.js'
import type { Log } from '../../base/runtime/env.js'
import { typedUrl } from '../../clients/client/typed-url.js'
import { readSecretFile } from '../../clients/wallet/files.js'
import { commandPatience, runCommand } from '../../clients/watch/run-command.js'
import { type Deliver, deliverMessage, giveUpUnasked } from '../../clients/watch/delivery.js'
import { watchDids } from '../../clients/watch/watch-dids.js'
import type { WatchMessage } from '../../clients/watch/watch-message.js'
import { webhook, webhookUrl } from '../../clients/watch/webhook.js'
import { readWebhookKey } from '../../clients/watch/webhook-signature.js'
import { readTrust } from '../../identity/proofs/trust-root.js'
import type { CliContext } from './cli-context.js'
import {
  collect,
  countOption,
  didArgument,
  onlyOnce,
  type OutputOptions,
  secondsOption,
  withOutput,
} from './command-options.js'
import { DevnetLight } from './devnet-light.js'
import { isDevnet, openLight, type TrustFlags, withTrust } from './light-options.js'
import type { Keeping } from './light-state.js'
import { loadTrust } from './load-proofs.js'
import { openWarnings } from './open-log.js'
import { examples, linesText } from './print-output.js'
import { requireNames } from './require-names.js'
import { requireProgram } from './require-program.js'
import { stopSignal } from './stop-signal.js'
import { openWatchFiles, requireAppendable } from './watch-files.js'

interface WatchFlags extends TrustFlags, OutputOptions {
  readonly query?: string
  readonly node: readonly string[]
  readonly needed: number
  readonly exec?: string
  readonly execTimeout: number
  readonly webhook?: string
  readonly keyFile?: string
  readonly state?: string
  readonly deadLetters?: string
  readonly giveUpAfter: number
  readonly checkEvery: number
}

/** `didledger watch` */
export function registerWatch(program: Command, context: CliContext): void {
  const command = withOutput(program.command('watch'))
    .description('tell a program or a webhook when DIDs change; each message is proved before it is sent')
    .argument('[dids...]', 'DIDs to watch, in full or as their identifiers', collect(didArgument))
    .option('--query <condition>', 'watch the documents that meet this condition of a search instead')
    .requiredOption('--node <url>', 'REST address of a node; may be given several times', collect(typedUrl))
  withTrust(command)
    .option('--needed <n>', 'how many of the nodes have to prove a change', countOption, 1)
    .option(
      '--exec <program>',
      'program to run for each message, without a shell; the message is on its standard input',
    )
    .option('--exec-timeout <seconds>', 'time of the program for one message', secondsOption, commandPatience / 1000)
    .option('--webhook <url>', 'URL to which each message is posted, signed')
    .option('--key-file <file>', 'file with the key of the webhook: whsec_ and base64')
    .option('--state <file>', 'where to keep what was told; without it a new start begins with what is so then')
    .option('--dead-letters <file>', 'where to put messages that were given up')
    .option('--give-up-after <seconds>', 'how long a message is tried again', countOption, giveUpUnasked / 1000)
    .option('--check-every <seconds>', 'how often each DID is proved without any hint of a node', secondsOption, 600)
    .addHelpText(
      'after',
      examples(
        'watch did:ledger:iiEfWDUctm8ofs3F7HBDcGyCMVBqyUK4uc --node http://192.0.2.7:20334 --trust localnet',
        'watch --query \'{service: {type: "Hub"}}\' --node http://192.0.2.7:20334 --trust localnet --webhook https://example.org/hook --key-file hook.key --state watch.json --dead-letters dead.jsonl',
      ),
    )
    .action((dids: string[] | undefined, flags: WatchFlags) => watch(context, dids ?? [], flags))
  onlyOnce(command, ['query', 'exec', 'webhook'], 'run a watch for each')
}

async function watch(context: CliContext, dids: readonly string[], flags: WatchFlags): Promise<void> {
  if ((dids.length === 0) === (flags.query === undefined)) {
    throw new UserError('watch: DIDs or --query is needed, one of both', 2)
  }
  const deliver = delivererOf(context, flags)
  const { node: servers, state, deadLetters } = flags
  await requireNames(servers, '--node')
  if (deadLetters !== undefined) requireAppendable(deadLetters)
  const trust = readTrust(loadTrust(flags.trust))
  const log = openWarnings(context)
  const files = state === undefined ? undefined : await openWatchFiles(state, trust, log)
  try {
    const ending = new AbortController()
    void stopSignal().then(() => ending.abort())
    const { signal } = ending
    const messages = watchDids({
      ...{ urls: servers.map(socketOf), signal, checkEvery: flags.checkEvery * 1000, chain: displayHash(trust.chain) },
      ...(flags.query === undefined ? { dids } : { query: flags.query }),
      ...files?.told,
      resolver: await resolverOf(context, flags, files?.seen, log),
      onNotice: ({ kind, text }) => (kind === 'following' ? log.info({ kind }, text) : log.warn({ kind }, text)),
    })
    for await (const message of messages) {
      const taken = await deliverMessage(message, {
        ...{ deliver, signal, giveUpAfter: flags.giveUpAfter * 1000, deadLetters },
        onFailure: ({ givenUp, ...failure }) => noteFailure(log, failure, givenUp),
      })
      // What was not taken is told again at the next start.
      if (!taken) break
    }
  } finally {
    await files?.release()
    log.close()
  }
}

/** A light resolver over the nodes, which remembers what it has seen. */
async function resolverOf(context: CliContext, flags: WatchFlags, seen: Keeping | undefined, log: Log) {
  const { node: servers, needed, maxAge } = flags
  const asking = { servers, needed, ...(maxAge !== undefined && { maxAge }) }
  const opened = await openLight(context, flags, { ...asking, ...seen })
  return isDevnet(flags.trust) ? new DevnetLight(opened, () => openLight(context, flags, asking), log) : opened
}

function noteFailure(log: Log, failure: Record<string, unknown>, givenUp: boolean): void {
  if (givenUp) log.error(failure, 'a message was given up; it is in the file of dead letters, if one is named')
  else log.warn(failure, 'a message was not taken; it is sent again')
}

/** Hands messages to a program, a webhook, or standard output, as the flags say. */
function delivererOf(context: CliContext, flags: WatchFlags): Deliver {
  const { exec, execTimeout, webhook: url, keyFile } = flags
  if (exec !== undefined && url !== undefined) throw new UserError('watch: --exec or --webhook, not both', 2)
  if ((url === undefined) !== (keyFile === undefined))
    throw new UserError('watch: --webhook and --key-file belong together', 2)
  if (exec !== undefined) requireProgram(exec, context.env['PATH'])
  if (exec !== undefined) return runCommand(exec, { patience: execTimeout * 1000, env: context.env })
  if (url === undefined || keyFile === undefined) {
    return async (message) => context.out(linesText([flags.json === true ? JSON.stringify(message) : lineOf(message)]))
  }
  const key = readWebhookKey(readSecretFile(keyFile, 'key file'), keyFile)
  return webhook({ url: webhookUrl(url), key, now: () => context.clock.now() })
}

/** A message for people. */
function lineOf(message: WatchMessage): string {
  if (message.kind === 'gap') return `gap: ${message.text} (${message.reason})`
  const { action, operation, did, height, txid, changed = [], change } = message
  const parts = [...new Set(changed.map(({ member }) => member))].join(', ')
  const left = action === 'revert' ? ' left the chain:' : ''
  return `height ${height}:${left} ${operation} of ${did}, ${change}${parts === '' ? '' : `: ${parts}`}  ${txid}`
}

/** The WebSocket interface on the REST port of a node. */
function socketOf(rest: string): string {
  return `${rest.replace(/^http/i, 'ws')}/ws`
}
