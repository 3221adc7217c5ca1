import { NodeClient } from '../client/node-client.js'
import { followEvents } from '../client/follow-events.js'
import { asInteger, isObject, unexpected } from '../client/read-answers.js'
import { UserError } from '../errors/rule-error.js'
import { eventTopics } from '../events/ledger-event.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, RestFlags } from './command-options.js'
import { plainText } from './print-output.js'
import { stopSignal } from './stop-signal.js'

export interface LogFlags extends RestFlags, OutputOptions {
  readonly topic?: readonly string[]
  readonly fromHeight?: number
  readonly ws?: string
}

type Told = Readonly<Record<string, unknown>>

/** `didledger node log`: prints a line for each event until a stop signal; with --json the events as they come. */
export async function followLog(context: CliContext, { topic, fromHeight, ws, rest, json }: LogFlags): Promise<void> {
  const url = ws === undefined ? await namedUrl(rest) : webSocketUrl(ws)
  const stop = new AbortController()
  void stopSignal().then(() => stop.abort())
  await followEvents({
    url,
    topics: topic ?? eventTopics,
    fromHeight,
    signal: stop.signal,
    onEvent: ({ subscription: _, ...event }) => {
      context.out(`${json ? JSON.stringify(event) : eventLine(event, context.clock.now())}\n`)
    },
  })
}

function webSocketUrl(text: string): string {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `ws://${text}`
  if (URL.canParse(full) && /^wss?:$/.test(new URL(full).protocol)) return full
  throw new UserError(`--ws: not a URL of the form ws://host:port: ${text}`, 2)
}

/** The WebSocket interface by the host of the REST interface, and the port that the node names there. */
async function namedUrl(rest: string): Promise<string> {
  const client = new NodeClient({ rest })
  const state = await client.rpc('getnodestate', {})
  if (!isObject(state)) throw unexpected('the state of the node is not an object')
  const { protocol, hostname } = new URL(client.rest)
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${hostname}:${asInteger(state['WSPort'], 'WSPort')}`
}

/** `2026-01-31T12:00:00Z  + block        height 7, 2 transactions, <hash>`; `-` for what is taken back. `now`: milliseconds. */
export function eventLine(event: Told, now: number): string {
  const { topic, action } = event
  const time = new Date(now).toISOString().replace(/\.\d+/, '')
  const line = `${time}  ${action === 'revert' ? '-' : '+'} ${String(topic).padEnd(11)}  ${textOf(event)}`
  return plainText(line)
}

function textOf(event: Told): string {
  const { topic, height, hash, transactions, txid, fee, size, type, did, id, operation, signer } = event
  const at = `height ${String(height)}`
  if (topic === 'block') return `${at}, ${String(transactions)} transactions, ${String(hash)}`
  if (topic === 'transaction') return `${String(txid)}, type ${String(type)}, ${String(size)} bytes, fee ${String(fee)}`
  if (topic === 'did') return `${String(operation)} ${String(did)}, ${at}, ${String(txid)}`
  return `${String(operation)} ${String(id)} by ${String(signer)}, ${at}, ${String(txid)}`
}
