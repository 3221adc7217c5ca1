import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { WsClient } from '../../../test/support/client/ws.js'
import type { Received } from '../listeners.js'
import { median } from '../measure.js'
import { end, forked, residentBytes, runNode, type RunningNode, said } from '../processes.js'
import { type Row, row, shown } from '../report.js'

const subscribers = 1000
const blocks = 200
/** Milliseconds between blocks, so that each is announced alone. */
const pause = 20

/** One block to many subscribers of another process: time until the last one has it, and its cost for the node. */
export async function suite(): Promise<Row[]> {
  // Clients of this machine get half of the places; the benchmark mines over one more connection.
  const places = ['--ws-connections', String(2 * (subscribers + 1))]
  const node = await runNode(['devnet', '--no-automine', ...places])
  const control = await WsClient.open(node.ws, { perMessageDeflate: false })
  try {
    await mineSome(control, node)
    const alone = await mineSome(control, node)
    const memory = residentBytes(node.process)
    const listening = forked(new URL('../listeners.ts', import.meta.url), [node.ws, String(subscribers)])
    try {
      // Rejects when the node takes no more of them.
      await said(listening)
      const perConnection = (residentBytes(node.process) - memory) / 1024 / subscribers
      const times: Received[] = []
      listening.on('message', (received: Received) => times.push(received))
      await mineSome(control, node, times)
      times.length = 0
      const observed = await mineSome(control, node, times)
      const toLast = times.map(({ last }, i) => last - (observed.sent[i] ?? NaN))
      const spread = times.map(({ first, last }) => last - first)
      const all = `${shown(subscribers)} subscribers`
      return [
        row(`${all}: a block made and told to the last of them, median`, median(toLast), 'ms'),
        row(`${all}: the same, worst`, Math.max(...toLast), 'ms'),
        row(`${all}: from the first to the last, median`, median(spread), 'ms'),
        row(`${all}: the same, worst`, Math.max(...spread), 'ms'),
        row(`${all}: processor time for one event`, (observed.cpu - alone.cpu) / blocks, 'ms'),
        row(`${all}: resident memory of one connection`, perConnection, 'KB'),
      ]
    } finally {
      await end(listening)
    }
  } finally {
    control.ws.terminate()
    await node.stop()
  }
}

/** Makes blocks one after another, each once all clients behind `times` have received the one before: when each was requested, in Unix milliseconds, and the processor time of the node. */
async function mineSome(control: WsClient, node: RunningNode, times?: readonly Received[]) {
  const sent: number[] = []
  const before = cpuMilliseconds(node)
  const seen = times?.length ?? 0
  for (let i = 0; i < blocks; i++) {
    sent.push(performance.timeOrigin + performance.now())
    await control.result('dev_mine', { blocks: 1 })
    while (times !== undefined && times.length < seen + i + 1) await setTimeout(1)
    await setTimeout(pause)
  }
  return { sent, cpu: cpuMilliseconds(node) - before }
}

/** User and system time in ticks of 10 ms: fields 14 and 15 of Linux' stat, counted behind the name. */
function cpuMilliseconds({ process: { pid = 0 } }: RunningNode): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
