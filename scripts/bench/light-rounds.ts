import { LightResolver } from '../../src/node/library/light-entry.js'

/** Times of a light resolver to check answers that are there already: in this process, and in a page. Imports nothing of Node. */

/** Answers of one server by the last part of a path, or by the DID that is asked for. */
export interface LightInput {
  readonly trust: object
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly dids: readonly string[]
  readonly answers: Readonly<Record<string, unknown>>
  readonly changes: unknown
}

/** Milliseconds: medians. */
export interface LightTimes {
  /** From genesis to the first answer, over all changes. */
  readonly first: number
  /** Each answer after that. */
  readonly next: number
}

const resolvers = 15
const answersOfEach = 20

export async function lightTimes({ trust, now, dids, answers, changes }: LightInput): Promise<LightTimes> {
  const fetch = (_: string, init: RequestInit): Promise<Response> => {
    const asked = typeof init.body === 'string' ? (JSON.parse(init.body) as { params: { did: string } }) : undefined
    const answer = asked === undefined ? changes : { jsonrpc: '2.0', id: 1, result: answers[asked.params.did] }
    return Promise.resolve(new Response(JSON.stringify(answer)))
  }
  const [first, next]: [number[], number[]] = [[], []]
  const timed = async (times: number[], light: LightResolver, did: string) => {
    const began = performance.now()
    const { status } = await light.resolve(did)
    times.push(performance.now() - began)
    if (status !== 0) throw new Error(`${did} has status ${status}`)
  }
  for (let i = 0; i < resolvers; i++) {
    const light = new LightResolver({ servers: ['http://node'], trust, fetch, now: () => now })
    await timed(first, light, dids[0] as string)
    for (let n = 0; n < answersOfEach; n++) await timed(next, light, dids[n % dids.length] as string)
  }
  return { first: middle(first), next: middle(next) }
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
