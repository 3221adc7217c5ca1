import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Pieces, throughDoor } from '../../../../src/program/console/door.js'
import type { LocalNode } from '../../../../src/program/cli/local-network.js'
import { type NodeStatus, statusLine, StatusScreen, statusTable } from '../../../../src/program/cli/local-status.js'

const well: NodeStatus = {
  ...{ node: 1, state: 'running', height: 12, view: 0, peers: 3, pool: 0, signing: 'yes' },
  ...{ heard: 3, validators: 4 },
}
const nodeAt = (number: number) =>
  ({ number, start: { rest: `http://127.0.0.1:2${number - 1}334`, rpc: `http://127.0.0.1:${number}` } }) as LocalNode

describe('the nodes of a local network', () => {
  it('are a table', () => {
    const statuses = [
      well,
      { ...well, node: 2, height: 9, signing: 'the sign state is missing; start with …' },
      { ...well, node: 3, state: 'ended: signal SIGKILL' },
      { node: 4, state: 'silent' },
    ] satisfies NodeStatus[]
    expect(statusTable(statuses, [1, 2, 3, 4].map(nodeAt))).toEqual([
      'node  REST                    height  view  votes  peers  pool  signing',
      '1     http://127.0.0.1:20334      12     0    3/4      3     0  yes',
      '2     http://127.0.0.1:21334       9     0    3/4      3     0  the sign state is missing',
      '3     http://127.0.0.1:22334      12     0    3/4      3     0  ended: signal SIGKILL',
      '4     http://127.0.0.1:23334       -     -      -      -     -  silent',
    ])
  })

  it('say why the chain does not go on, each reason once, within the width', () => {
    const stalled = 'no-quorum: votes of 2 of 4 validators have arrived'
    const [head, first, ...more] = statusTable(
      [
        { ...well, heard: 2, stalled },
        { ...well, node: 2, heard: 2, stalled },
        { ...well, node: 3, state: 'silent' },
      ],
      [1, 2, 3].map(nodeAt),
      40,
    )
    expect([head, first]).toEqual([
      'node  REST                    height  view  votes  peers  pool  signing',
      '1     http://127.0.0.1:20334      12     0    2/4      3     0  yes, stalled',
    ])
    expect(more.slice(2)).toEqual(['Stalled (node 1, 2): no-quorum: votes of', '2 of 4 validators have arrived.'])
  })

  it('are lines', () => {
    expect(statusLine(well)).toBe('node 1: height 12, view 0, peers 3, pool 0, signing yes')
    expect(statusLine({ ...well, state: 'silent' })).toBe('node 1: silent')
    expect(statusLine({ ...well, stalled: 'tip-old: no block' })).toBe(
      'node 1: height 12, view 0, peers 3, pool 0, signing yes, stalled: tip-old: no block',
    )
  })
})

describe('the screen', () => {
  afterEach(() => void vi.unstubAllGlobals())

  /** What is shown while the node has these heights one after the other. */
  async function shown(
    columns: number | undefined,
    json: boolean,
    heights: readonly number[],
    alarm: string | null = null,
    stalls: readonly (object | undefined)[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    let out = ''
    let heard = 0
    const reasons = [...stalls]
    const left = [...heights]
    vi.stubGlobal('fetch', async (_: string, { body }: { body: string }) => {
      const { method } = JSON.parse(body) as { method: string }
      const answers: Record<string, () => object> = {
        getsyncstatus: () => {
          const height = left.shift()
          if (left.length === 0) screen.stop()
          return { height, peers: [1, 2] }
        },
        getarbitersinfo: () => {
          const stalled = reasons.shift()
          const vote = { heard: heard++ % 5, validators: 4 }
          return { view: 1, signing: alarm ?? 'yes', alarm, ...vote, ...(stalled && { stalled }) }
        },
        getmininginfo: () => ({ pooledtx: 4 }),
      }
      return new Response(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[method]?.() }))
    })
    const context = { out: (text: Pieces) => void (out += throughDoor(text)), columns: () => columns, env }
    const screen = new StatusScreen(context, json, () => [nodeAt(1)])
    await screen.start()
    return out
  }

  it.each<[string, () => Response | Promise<Response>, string]>([
    ['has no answer', () => Promise.reject(new TypeError('fetch failed')), 'silent'],
    ['has another one', () => new Response('[]'), 'answers wrongly'],
    ['refuses', () => new Response('{"error":{"code":-32603,"message":"Internal error"}}'), 'answers wrongly'],
    ['lacks members', () => new Response('{"result":{}}'), 'answers wrongly'],
  ])('calls only that node silent which gives no answer: one %s', async (_, answer, state) => {
    let out = ''
    vi.stubGlobal('fetch', async () => answer())
    const screen = new StatusScreen(
      { out: (text: Pieces) => void (out += throughDoor(text)), columns: () => undefined, env: {} },
      false,
      () => [nodeAt(1)],
    )
    const ended = screen.start()
    await vi.waitFor(() => expect(out).toBe(`node 1: ${state}\n`))
    screen.stop()
    await ended
  })

  it('tells what changes, line by line', async () => {
    const line = (height: number) => `node 1: height ${height}, view 1, peers 2, pool 4, signing yes\n`
    expect(await shown(undefined, false, [5, 5, 6, 0])).toBe(line(5) + line(6))
  })

  it('tells it so on a terminal that clears no lines', async () => {
    const line = (height: number) => `node 1: height ${height}, view 1, peers 2, pool 4, signing yes\n`
    expect(await shown(80, false, [5, 5, 6, 0], null, [], { TERM: 'dumb' })).toBe(line(5) + line(6))
  })

  it('tells it as JSON where that is asked for', async () => {
    const seen = { node: 1, state: 'running', height: 5, view: 1, peers: 2, pool: 4, signing: 'yes' }
    const status = { ...seen, heard: 0, validators: 4 }
    expect(await shown(80, true, [5, 5, 0])).toBe(`${JSON.stringify(status)}\n`)
  })

  it('tells that the chain is stalled, and that it goes on', async () => {
    const stalled = { reason: 'no-quorum', since: 1, detail: 'validator 3 is missing' }
    const line = (height: number, more = '') =>
      `node 1: height ${height}, view 1, peers 2, pool 4, signing yes${more}\n`
    const why = ', stalled: no-quorum: validator 3 is missing'
    expect(await shown(undefined, false, [5, 5, 5, 6, 0], null, [undefined, stalled, stalled])).toBe(
      line(5) + line(5, why) + line(6),
    )
  })

  it('tells what to do about an alarm', async () => {
    const alarm = 'two confirmed blocks exist at height 1'
    const advice = 'a node of an earlier localnet is connected: stop it, and start the network anew'
    expect(await shown(undefined, false, [1, 0], alarm)).toBe(
      `node 1: height 1, view 1, peers 2, pool 4, signing ${advice}\n`,
    )
    expect(JSON.parse(await shown(80, true, [1, 0], alarm))).toMatchObject({ signing: advice })
    expect((await shown(80, false, [1, 0], alarm)).split('\n').slice(1)).toEqual([
      '1     http://127.0.0.1:20334       1     1    0/4      2     4  alarm',
      'Alarm: a node of an earlier localnet is connected:',
      'stop it, and start the network anew.',
      '',
    ])
  })

  it('writes the table over itself on a terminal, within its width', async () => {
    const out = await shown(30, false, [5, 6, 0])
    const [first = '', second] = out.split('\x1b[2A\r\x1b[J')
    expect(first.split('\n').map((line) => line.length)).toEqual([29, 29, 0])
    expect(second).toBe(first)
  })
})
