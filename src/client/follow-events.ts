import { UserError } from '../errors/rule-error.js'
import { defined } from '../primitives/defined.js'
import { NodeRefusal } from './http.js'
import { isObject, unexpected } from './read-answers.js'

export interface FollowOptions {
  /** Address of the WebSocket interface. */
  readonly url: string
  readonly topics: readonly string[]
  /** Begins with the block of this height; absent: with what happens next. */
  readonly fromHeight?: number | undefined
  /** Ends it. */
  readonly signal: AbortSignal
  onEvent(event: Readonly<Record<string, unknown>>): void
}

/** @limit bytes: a message of a node to a follower of events */
const largestMessage = 1024 * 1024
/** @limit ms: opening a connection for events */
const openPatience = 10_000

/**
 * Passes on the events of a node in their order. Resolves once `signal` aborts; rejects with a {@link UserError} if the node cannot
 * be reached, refuses, or ends the connection.
 */
export async function followEvents({ url, topics, fromHeight, signal, onEvent }: FollowOptions): Promise<void> {
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
    const params = { topics, ...defined({ fromHeight }) }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params }))
  })
  socket.on('message', (data: Buffer) => {
    try {
      take(data.toString(), onEvent)
    } catch (error) {
      failure ??= error as Error
      socket.terminate()
    }
  })
  socket.on('error', (error) => (failure ??= new UserError(`no events from ${url}: ${error.message}`)))
  try {
    const { code, reason } = await closed
    if (signal.aborted) return
    throw failure ?? new UserError(`the node at ${url} ended the connection: ${reason || `code ${code}`}`)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

/** Passes an event on; a refusal of the node is thrown. */
function take(text: string, onEvent: FollowOptions['onEvent']): void {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    throw unexpected('a message that is not JSON')
  }
  if (!isObject(message)) throw unexpected('a message that is not an object')
  const { error, params, method } = message
  if (isObject(error)) {
    const [said, data] = [error['message'], error['data']].map((part) => (typeof part === 'string' ? part : ''))
    throw new NodeRefusal('the node refused subscribe', Number(error['code']), said ?? '', data ?? '')
  }
  if (method === 'event' && isObject(params)) onEvent(params)
}
