import { oneLine } from '../../base/runtime/visible-text.js'
import { NoAnswer, NodeRefusal } from './http.js'
import { asText, isObject, unexpected } from './read-answers.js'

/** Start of a follower: the block of a height, the one after a block, or the next event. */
export type EventsFrom = { readonly fromHeight?: number } | { readonly afterBlock: string }

export interface FollowOptions {
  /** Address of the WebSocket interface. */
  readonly url: string
  readonly topics: readonly string[]
  readonly from: EventsFrom
  /** Ends it. */
  readonly signal: AbortSignal
  /** Takes the hash of the node's last block when the node begins to send. */
  onBegin?(hash: string): void
  onEvent(event: Readonly<Record<string, unknown>>): void
}

/** @limit bytes: a message of a node to a follower of events */
const largestMessage = 1024 * 1024
/** @tuning ms: opening a connection for events */
const openPatience = 10_000

/**
 * Passes on the events of a node in their order. Resolves once `signal` aborts; rejects with a {@link NoAnswer} if the node cannot be
 * reached or ends the connection, and with another UserError if it refuses, or sends what is none of its messages.
 */
export async function followEvents(options: FollowOptions): Promise<void> {
  const { url, topics, from, signal } = options
  const { WebSocket } = await import('ws')
  if (signal.aborted) return
  const socket = new WebSocket(url, { maxPayload: largestMessage, handshakeTimeout: openPatience })
  const leave = () => socket.terminate()
  signal.addEventListener('abort', leave, { once: true })
  let failure: Error | undefined
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  socket.on('open', () => {
    const params = { topics, ...from }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
  })
  socket.on('message', (data: Buffer) => {
    try {
      take(data.toString(), options)
    } catch (error) {
      failure ??= error as Error
      socket.terminate()
    }
  })
  socket.on('error', (error) => (failure ??= noEvents(`no events from ${url}: ${error.message}`)))
  try {
    const { code, reason } = await closed
    if (signal.aborted) return
    throw failure ?? noEvents(`the node at ${url} ended the connection: ${oneLine(reason) || `code ${code}`}`)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

const noEvents = (fact: string) => new NoAnswer(fact, { mayHaveArrived: false })

/** Passes on the content of a message; a refusal of the node is thrown. */
function take(text: string, { onBegin, onEvent }: FollowOptions): void {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    throw unexpected('a message that is not JSON')
  }
  if (!isObject(message)) throw unexpected('a message that is not an object')
  const { error, params, method, result } = message
  if (isObject(error)) {
    const [said, data] = [error['message'], error['data']].map((part) => (typeof part === 'string' ? part : ''))
    throw new NodeRefusal('the node refused subscribe', Number(error['code']), said ?? '', data ?? '')
  }
  if (isObject(result)) onBegin?.(asText(result['hash'], 'hash'))
  if (method === 'event' && isObject(params)) onEvent(params)
}
