import { NoAnswer } from '../../clients/client/http.js'
import { isObject } from '../../base/primitives/is-object.js'
import { callRpc } from '../../clients/client/rpc.js'
import { clearLines } from '../console/door.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import { visible } from '../../base/runtime/visible-text.js'
import type { CliContext } from './cli-context.js'
import type { LocalNode } from './local-network.js'
import { steers } from './open-log.js'
import { columnLines, linesText } from './print-output.js'

/** Milliseconds between two polls of the nodes, and milliseconds that a node may take to answer. */
const interval = 500
const patience = 2_000
/** Cause of a conflict alarm on a chain with public keys: deleted blocks have come back. */
const cause = 'a node of an earlier localnet is connected'
const remedy = 'stop it, and start the network anew'
const earlierNetwork = `${cause}: ${remedy}`

/** Status of one node of a local network. */
export interface NodeStatus {
  readonly node: number
  /** `running`, `silent`, or how it ended. */
  readonly state: string
  /** The rest is as last reported, and absent at first. */
  readonly height?: number
  readonly view?: number
  readonly peers?: number
  readonly pool?: number
  readonly signing?: string
  /** Validators of which any vote for the next block has arrived, of how many; not shown alone, for it changes all the time. */
  readonly heard?: number
  readonly validators?: number
  /** Reason why the chain does not advance at the node; absent while it does. */
  readonly stalled?: string
}

/**
 * Shows the status of the nodes until `stop`: on a terminal that clears lines as one table that is redrawn in place, else one line per
 * change of a node, and with `json` one object each.
 */
export class StatusScreen {
  readonly #context: Pick<CliContext, 'out' | 'columns' | 'env'>
  readonly #json: boolean
  readonly #nodes: () => readonly LocalNode[]
  #statuses: readonly NodeStatus[] = []
  /** Lines of the table on the terminal. */
  #drawn = 0
  #wake: () => void = () => {}
  #ended = false

  constructor(context: Pick<CliContext, 'out' | 'columns' | 'env'>, json: boolean, nodes: () => readonly LocalNode[]) {
    this.#context = context
    this.#json = json
    this.#nodes = nodes
  }

  async start(): Promise<void> {
    while (!this.#ended) {
      const before = this.#statuses
      this.#statuses = await Promise.all(this.#nodes().map((node, i) => statusOf(node, before[i])))
      if (this.#ended) return
      this.#show(before)
      await this.#pause()
    }
  }

  /** Shows lines above the table. */
  say(lines: readonly string[]): void {
    if (this.#json) return
    this.#clear()
    this.#context.out(linesText(lines))
    if (this.#columns !== undefined) this.#draw(this.#columns)
  }

  stop(): void {
    this.#ended = true
    this.#wake()
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, interval)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  get #columns(): number | undefined {
    return this.#json || !steers(this.#context) ? undefined : this.#context.columns('out')
  }

  #show(before: readonly NodeStatus[]): void {
    if (JSON.stringify(before) === JSON.stringify(this.#statuses)) return
    if (this.#columns !== undefined) {
      this.#clear()
      this.#draw(this.#columns)
      return
    }
    this.#statuses.forEach((status, i) => {
      if (comparable(status) === comparable(before[i])) return
      this.#context.out(this.#json ? `${JSON.stringify(status)}\n` : linesText([statusLine(status)]))
    })
  }

  #clear(): void {
    if (this.#drawn > 0) this.#context.out([clearLines(this.#drawn)])
    this.#drawn = 0
  }

  #draw(columns: number): void {
    if (this.#statuses.length === 0) return
    const table = statusTable(this.#statuses, this.#nodes(), columns - 1)
    const lines = table.map((line) => visible(line).slice(0, columns - 1))
    this.#context.out(linesText(lines))
    this.#drawn = lines.length
  }
}

/** Text of a status; a new line is printed when it changes. */
function comparable(status: NodeStatus | undefined): string {
  return JSON.stringify({ ...status, heard: undefined })
}

async function statusOf({ number, start, ended }: LocalNode, before: NodeStatus | undefined): Promise<NodeStatus> {
  const { state: _, stalled: __, ...known } = before ?? { node: number, state: '' }
  if (ended !== undefined) return { ...known, state: `ended: ${ended}` }
  const query = async (method: string) => {
    const answer = await callRpc(start.rpc, method, {}, { timeout: patience })
    if (!isObject(answer)) throw new UserError(`the answer to ${method} is no object`)
    return answer
  }
  try {
    const [sync, vote, work] = await Promise.all(['getsyncstatus', 'getarbitersinfo', 'getmininginfo'].map(query))
    return {
      node: number,
      state: 'running',
      height: sync?.['height'] as number,
      view: vote?.['view'] as number,
      peers: (sync?.['peers'] as unknown[]).length,
      pool: work?.['pooledtx'] as number,
      signing: typeof vote?.['alarm'] === 'string' ? earlierNetwork : String(vote?.['signing']),
      heard: vote?.['heard'] as number,
      validators: vote?.['validators'] as number,
      ...defined({ stalled: stallOf(vote) }),
    }
  } catch (error) {
    return { ...known, state: error instanceof NoAnswer ? 'silent' : 'answers wrongly' }
  }
}

function stallOf(vote: Record<string, unknown> | undefined): string | undefined {
  const stalled = vote?.['stalled']
  return isObject(stalled) ? `${String(stalled['reason'])}: ${String(stalled['detail'])}` : undefined
}

/** `node 1: height 3, view 0, peers 3, pool 0, signing yes`, and the reason of a stall. */
export function statusLine({ node, state, height, view, peers, pool, signing, stalled }: NodeStatus): string {
  if (state !== 'running') return `node ${node}: ${state}`
  const why = stalled === undefined ? '' : `, stalled: ${stalled}`
  return `node ${node}: height ${height}, view ${view}, peers ${peers}, pool ${pool}, signing ${signing}${why}`
}

/** One line per node below a heading, then within `width` the reason of a stall, and the remedy for an alarm. */
export function statusTable(
  statuses: readonly NodeStatus[],
  nodes: readonly Pick<LocalNode, 'start'>[],
  width = Infinity,
): string[] {
  const rows = [
    ['node', 'REST', 'height', 'view', 'votes', 'peers', 'pool', 'signing'],
    ...statuses.map((status, i) => {
      const { node, state, height, view, peers, pool, signing, stalled } = status
      return [
        ...[node, nodes[i]?.start.rest, height, view, votesOf(status), peers, pool].map((value) =>
          String(value ?? '-'),
        ),
        // The text after the reason is for the documentation.
        state === 'running' ? `${reasonOf(signing)}${stalled === undefined ? '' : ', stalled'}` : state,
      ]
    }),
  ]
  const alarm = statuses.some(({ signing }) => signing === earlierNetwork)
  const lines = columnLines(rows, (column) => column >= 2 && column <= 6)
  // Lines are cut to the width of the terminal, so the alarm takes two.
  return [...lines, ...stallLines(statuses, width), ...(alarm ? [`Alarm: ${cause}:`, `${remedy}.`] : [])]
}

/** `2/4`: votes of how many validators have arrived, of how many. */
function votesOf({ heard, validators }: NodeStatus): string | undefined {
  return heard === undefined || validators === undefined ? undefined : `${heard}/${validators}`
}

/** Each reason once, with the nodes that give it. */
function stallLines(statuses: readonly NodeStatus[], width: number): string[] {
  const reasons = new Map<string, number[]>()
  for (const { node, stalled } of statuses) {
    if (stalled !== undefined) reasons.set(stalled, [...(reasons.get(stalled) ?? []), node])
  }
  return [...reasons].flatMap(([reason, nodes]) => wrapped(`Stalled (node ${nodes.join(', ')}): ${reason}.`, width))
}

/** A text in lines of at most `width` characters, broken between words. */
function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

function reasonOf(signing = '-'): string {
  return signing === earlierNetwork ? 'alarm' : (signing.split(';')[0] as string)
}
