import { followEvents } from '../../clients/client/follow-events.js'
import { NoAnswer } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { webSocketUrl } from '../../clients/client/node-url.js'
import { answerOf, asInteger } from '../../base/primitives/answer-form.js'
import type { EventTopic } from '../../base/primitives/chain-event.js'
import { defined } from '../../base/primitives/defined.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, RestFlags } from './command-options.js'
import { linesText } from './print-output.js'
import { stopSignal } from './stop-signal.js'

export interface LogFlags extends RestFlags, OutputOptions {
  readonly topic?: readonly EventTopic[]
  readonly fromHeight?: number
  readonly ws?: string
}

type Told = Readonly<Record<string, unknown>>

/**
 * `didledger node log`: prints a line for each event until a stop signal; with --json the events as they come. When the node goes away, the
 * command waits for it and continues where it ended.
 */
export async function followLog(context: CliContext, { topic, fromHeight, ws, rest, json }: LogFlags): Promise<void> {
  const url = ws === undefined ? await namedUrl(rest) : webSocketUrl('--ws', ws)
  const stop = new AbortController()
  void stopSignal().then(() => stop.abort())
  const events = followEvents({
    url,
    ...defined({ topics: topic }),
    from: defined({ fromHeight }),
    signal: stop.signal,
    onLost: (error) => {
      const fact = error instanceof NoAnswer ? error.fact : error.message
      context.err(linesText([`${fact}; tried again until Ctrl-C`]))
    },
  })
  for await (const event of events) {
    context.out(json ? `${JSON.stringify(event)}\n` : linesText([eventLine({ ...event }, context.clock.now())]))
  }
}

/** The WebSocket interface by the host of the REST interface, and the port that the node names there. */
async function namedUrl(rest: string): Promise<string> {
  const client = new NodeClient({ rest })
  const { WSPort } = answerOf('the state of the node', { WSPort: asInteger })(await client.rpc('getnodestate', {}))
  const { protocol, hostname } = new URL(client.rest)
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${hostname}:${WSPort}`
}

/** `2026-01-31T12:00:00Z  + block        height 7, 2 transactions, <hash>`; `-` for what is taken back. `now`: milliseconds. */
export function eventLine(event: Told, now: number): string {
  const { topic, action } = event
  const time = new Date(now).toISOString().replace(/\.\d+/, '')
  if (topic === 'gap') return `${time}  ! gap          transactions that the pool took meanwhile are not told`
  return `${time}  ${action === 'revert' ? '-' : '+'} ${String(topic).padEnd(11)}  ${textOf(event)}`
}

function textOf(event: Told): string {
  const { topic, height, hash, transactions, txid, fee, size, type, did, id, operation, signer } = event
  const at = `height ${String(height)}`
  if (topic === 'block') return `${at}, ${String(transactions)} transactions, ${String(hash)}`
  if (topic === 'transaction') return `${String(txid)}, type ${String(type)}, ${String(size)} bytes, fee ${String(fee)}`
  if (topic === 'did') return `${String(operation)} ${String(did)}, ${at}, ${String(txid)}`
  return `${String(operation)} ${String(id)} by ${String(signer)}, ${at}, ${String(txid)}`
}
