import { setTimeout } from 'node:timers/promises'
import { type EventsFrom, followEvents } from '../../clients/client/follow-events.js'
import { NoAnswer } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { answerOf, asInteger } from '../../clients/client/read-answers.js'
import { UserError } from '../../base/errors/rule-error.js'
import { eventTopics } from '../../ledger/events/ledger-event.js'
import { toHex } from '../../base/primitives/bytes.js'
import { defined } from '../../base/primitives/defined.js'
import { sha256 } from '../../base/primitives/hash.js'
import { LruMap } from '../../base/runtime/lru-map.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, RestFlags } from './command-options.js'
import { linesText } from './print-output.js'
import { stopSignal } from './stop-signal.js'

export interface LogFlags extends RestFlags, OutputOptions {
  readonly topic?: readonly string[]
  readonly fromHeight?: number
  readonly ws?: string
}

type Told = Readonly<Record<string, unknown>>

/** Milliseconds between two attempts to reach a node again. */
const retryPause = 1_000
/** @tuning count: events since the last block that a log remembers by their hash; older ones may be printed twice */
export const rememberedEvents = 20_000

/**
 * `didledger node log`: prints a line for each event until a stop signal; with --json the events as they come. When the node goes away, the
 * command waits for it and continues where it ended.
 */
export async function followLog(context: CliContext, { topic, fromHeight, ws, rest, json }: LogFlags): Promise<void> {
  const url = ws === undefined ? await namedUrl(rest) : webSocketUrl(ws)
  const stop = new AbortController()
  void stopSignal().then(() => stop.abort())
  const place = new LogPlace(defined({ fromHeight }))
  const topics = topic ?? eventTopics
  let told = true
  const attempt = () =>
    followEvents({
      url,
      // Only a block says that all events before it have come.
      topics: [...new Set([...topics, 'block'])],
      from: place.from,
      signal: stop.signal,
      onBegin: (hash) => {
        place.begin(hash)
        told = false
      },
      onEvent: ({ subscription: _, ...event }) => {
        if (!place.take(event) || !topics.includes(String(event['topic']))) return
        context.out(json ? `${JSON.stringify(event)}\n` : linesText([eventLine(event, context.clock.now())]))
      },
    })
  while (!stop.signal.aborted) {
    try {
      await attempt()
    } catch (error) {
      // What never worked is a mistake in the command.
      if (!(error instanceof NoAnswer) || !place.hasBegun) throw error
      if (!told) context.err(linesText([`${error.fact}; tried again every second, until Ctrl-C`]))
      told = true
      await setTimeout(retryPause, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
}

/** How far the events of a node were followed, over connections that end. */
export class LogPlace {
  /** Start of the next connection. */
  from: EventsFrom
  hasBegun = false
  /** Events since the last block, which come again where the connection ended before the next one. */
  #sinceBlock = new LruMap<true>(rememberedEvents)

  constructor(from: EventsFrom) {
    this.from = from
  }

  /** The node begins to send; `hash`: its last block. */
  begin(hash: string): void {
    if (!this.hasBegun && !('fromHeight' in this.from)) this.from = { afterBlock: hash }
    this.hasBegun = true
  }

  /** Takes an event; false if it came before. */
  take({ number: _, ...event }: Told): boolean {
    if (event['topic'] === 'block') {
      this.from = { afterBlock: String(event['action'] === 'apply' ? event['hash'] : event['previousblockhash']) }
      this.#sinceBlock = new LruMap(rememberedEvents)
      return true
    }
    // Only what belongs to a block is told again.
    if (event['topic'] === 'transaction') return true
    const text = toHex(sha256(Buffer.from(JSON.stringify(event))))
    if (this.#sinceBlock.get(text) === true) return false
    this.#sinceBlock.set(text, true)
    return true
  }
}

function webSocketUrl(text: string): string {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `ws://${text}`
  if (URL.canParse(full) && /^wss?:$/.test(new URL(full).protocol)) return full
  throw new UserError(`--ws: not a URL of the form ws://host:port: ${text}`, 2)
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
