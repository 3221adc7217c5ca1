import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { commandFile } from './dist.js'
import type { Said } from './listeners.js'
import { residentBytes, run, type Running } from './processes.js'
import { median, type Row } from './report.js'

const subscribers = 1000
const blocks = 200
/** Milliseconds between blocks, so that each is announced alone. */
const pause = 20

/** One block to many subscribers of another process: time until the last one has it, and its cost for the node. */
export async function eventsSuite(): Promise<Row[]> {
  // Clients of this machine get half of the places; the benchmark mines over one more connection.
  const places = ['--ws-connections', String(2 * (subscribers + 1))]
  const devnet = ['devnet', '--no-automine', '--port-base', '0', '--json', ...places]
  const node = await run([commandFile, ...devnet], /"ws":"([^"]+)"/)
  try {
    const control = await Control.open(node.announced)
    await mineSome(control, node)
    const alone = await mineSome(control, node)
    const memory = residentBytes(node)
    const listening = fork(fileURLToPath(new URL('./listeners.ts', import.meta.url)), [
      node.announced,
      String(subscribers),
    ])
    try {
      await Promise.race([once(listening, 'message'), refusalOf(listening)])
      const perConnection = (residentBytes(node) - memory) / 1024 / subscribers
      const times: { first: number; last: number }[] = []
      listening.on('message', (said: Said) => 'last' in said && times.push(said))
      await mineSome(control, node, times)
      times.length = 0
      const observed = await mineSome(control, node, times)
      const toLast = times.map(({ last }, i) => last - (observed.sent[i] ?? NaN))
      const spread = times.map(({ first, last }) => last - first)
      const all = `${subscribers.toLocaleString('en')} subscribers`
      const row = (name: string, value: number, unit: string): Row => ({ name: `${all}: ${name}`, value, unit })
      return [
        row('a block made and told to the last of them, median', median(toLast), 'ms'),
        row('the same, worst', Math.max(...toLast), 'ms'),
        row('from the first to the last, median', median(spread), 'ms'),
        row('the same, worst', Math.max(...spread), 'ms'),
        row('processor time for one event', (observed.cpu - alone.cpu) / blocks, 'ms'),
        row('resident memory of one connection', perConnection, 'KB'),
      ]
    } finally {
      listening.kill()
      control.close()
    }
  } finally {
    await node.stop()
  }
}

/** Rejects when the subscribers end: the node takes no more of them. */
async function refusalOf(listening: ChildProcess): Promise<never> {
  const [code] = (await once(listening, 'exit')) as [number | null]
  throw new Error(`the process of subscribers ended with ${code}`)
}

interface Mined {
  /** Time of each request for a block, Unix milliseconds with fractions. */
  readonly sent: number[]
  /** Milliseconds of processor time of the node during that. */
  readonly cpu: number
}

/** Makes blocks one after another, each once all clients behind `times` have received the one before. */
async function mineSome(control: Control, node: Running, times?: readonly unknown[]): Promise<Mined> {
  const sent: number[] = []
  const before = cpuMilliseconds(node)
  const seen = times?.length ?? 0
  for (let i = 0; i < blocks; i++) {
    sent.push(performance.timeOrigin + performance.now())
    await control.mine()
    while (times !== undefined && times.length < seen + i + 1) await setTimeout(1)
    await setTimeout(pause)
  }
  return { sent, cpu: cpuMilliseconds(node) - before }
}

/** A connection that makes blocks. */
class Control {
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async open(url: string): Promise<Control> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'open')
    return new Control(socket)
  }

  async mine(): Promise<void> {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_mine', params: { blocks: 1 } }))
    const [answer] = (await once(this.#socket, 'message')) as [Buffer]
    if (answer.includes('"error"')) throw new Error(answer.toString())
  }

  close(): void {
    this.#socket.terminate()
  }
}

/** User and system time in ticks of 10 ms: fields 14 and 15 of Linux' stat, counted behind the name. */
function cpuMilliseconds({ process: { pid = 0 } }: Running): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
