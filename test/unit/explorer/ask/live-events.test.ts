import { afterEach, beforeEach, expect, it, vi } from 'vitest'

/** As the module of the pages has it, which only browsers can type. */
interface Live {
  readonly view: { readonly state: string; readonly height: number | undefined }
  start(): void
}

const file = '../../../../src/explorer/ask/live-events.js'
let sockets: Socket[]
/** The tip that the node answers with; undefined: it hangs. */
let tip: string | undefined
let live: Live

/** A connection that says what it is told to, and nothing else. */
class Socket {
  onopen = () => {}
  onmessage = (_message: { data: string }) => {}
  onclose = () => {}
  isClosed = false

  constructor() {
    sockets.push(this)
  }

  send(): void {
    this.onmessage({ data: JSON.stringify({ result: { hash: tip, height: 7 } }) })
  }

  close(): void {
    this.isClosed = true
    this.onclose()
  }
}

async function startAnew(): Promise<void> {
  const { LiveEvents } = (await import(file)) as { LiveEvents: new () => Live }
  live = new LiveEvents()
  live.start()
}

beforeEach(async () => {
  vi.useFakeTimers()
  sockets = []
  tip = 'aa'
  vi.stubGlobal('document', { baseURI: 'http://node/', visibilityState: 'visible', addEventListener: () => {} })
  vi.stubGlobal('WebSocket', Socket)
  vi.stubGlobal('fetch', async (_: URL, { body, signal }: { body: string; signal: AbortSignal }) => {
    const { method } = JSON.parse(body) as { method: string }
    if (tip === undefined) await new Promise((_done, reject) => signal.addEventListener('abort', reject))
    return new Response(JSON.stringify({ result: method === 'getbestblockhash' ? tip : 7 }))
  })
  await startAnew()
  sockets[0]?.onopen()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('a connection over which nothing happens stays while the chain does not move on', async () => {
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  expect(live.view.state).toBe('live')
  expect(sockets).toHaveLength(1)
})

it('a connection that is silent while the chain moves on is begun anew', async () => {
  tip = 'bb'
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sockets.map(({ isClosed }) => isClosed)).toEqual([true, false])
  expect(live.view.state).toBe('asking')
  sockets[1]?.onopen()
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  expect(live.view.state).toBe('live')
  expect(sockets).toHaveLength(2)
})

it('a node that hangs is called one that does not answer, until it goes on', async () => {
  tip = undefined
  await vi.advanceTimersByTimeAsync(60_000)
  expect(live.view.state).toBe('gone')
  tip = 'aa'
  await vi.advanceTimersByTimeAsync(20_000)
  expect(live.view.state).toBe('asking')
  sockets.at(-1)?.onopen()
  expect(live.view.state).toBe('live')
})

it.each([
  ['has no WebSocket', undefined],
  [
    'forbids them',
    class {
      constructor() {
        throw new Error('forbidden')
      }
    },
  ],
])('a browser that %s asks for the tip', async (_, WebSocket) => {
  vi.stubGlobal('WebSocket', WebSocket)
  await startAnew()
  await vi.advanceTimersByTimeAsync(4000)
  expect(live.view).toMatchObject({ state: 'asking', height: 7 })
})
