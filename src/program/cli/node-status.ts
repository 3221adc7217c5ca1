import { NodeClient } from '../../clients/client/node-client.js'
import { readinessOf } from '../../clients/client/node-status.js'
import { asInteger, asList, asText, isObject, unexpected } from '../../clients/client/read-answers.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, RestFlags } from './command-options.js'
import { formatTable, report } from './print-output.js'

/** `didledger node status`: prints how a node is; a {@link UserError} after that if it is not ready. */
export async function showStatus(context: CliContext, flags: RestFlags & OutputOptions): Promise<void> {
  const client = new NodeClient(flags)
  const { status, reason, inStep } = await readinessOf(client.rest)
  const ask = async (method: string) => {
    const answer = await client.rpc(method, {})
    if (!isObject(answer)) throw unexpected(`the answer to ${method} is not an object`)
    return answer
  }
  const methods = ['getchaininfo', 'getsyncstatus', 'getarbitersinfo', 'getmininginfo']
  const [chain = {}, sync = {}, votes = {}, work = {}] = await Promise.all(methods.map(ask))
  const validators = asInteger(chain['validators'], 'validators')
  const time = asInteger(chain['time'], 'time')
  const reached = asList(sync['peers'], 'peers')
  const value = {
    ready: status === 'ready',
    status,
    ...defined({ reason }),
    name: asText(chain['name'], 'name'),
    genesis: asText(chain['genesis'], 'genesis'),
    height: asInteger(chain['height'], 'height'),
    hash: asText(chain['hash'], 'hash'),
    time,
    tipAge: Math.max(0, Math.floor(context.clock.now() / 1000) - time),
    target: asInteger(sync['target'], 'target'),
    catchingUp: sync['catchingup'] === true,
    ...defined({ inStep }),
    peers: reached.length,
    inbound: reached.filter((peer) => isObject(peer) && peer['external'] === true).length,
    pool: asInteger(work['pooledtx'], 'pooledtx'),
    ...(validators === 0 ? {} : { votes: votesOf(votes, validators, asInteger(chain['quorum'], 'quorum')) }),
  }
  report(context, flags, value, formatTable(rowsOf(value, sync['rate'])))
  if (!value.ready) throw new UserError(`the node at ${client.rest} is not ready: ${value.reason ?? value.status}`)
}

interface Votes {
  readonly height: number
  readonly view: number
  readonly signing: string
  readonly validators: number
  readonly quorum: number
}

function votesOf(votes: Readonly<Record<string, unknown>>, validators: number, quorum: number): Votes {
  return {
    height: asInteger(votes['height'], 'height'),
    view: asInteger(votes['view'], 'view'),
    signing: asText(votes['signing'], 'signing'),
    validators,
    quorum,
  }
}

interface Shown {
  readonly status: string
  readonly reason?: string
  readonly name: string
  readonly genesis: string
  readonly height: number
  readonly hash: string
  readonly time: number
  readonly tipAge: number
  readonly target: number
  readonly catchingUp: boolean
  readonly inStep?: boolean
  readonly peers: number
  readonly inbound: number
  readonly pool: number
  readonly votes?: Votes
}

function rowsOf(shown: Shown, rate: unknown): [string, string][] {
  const { status, reason, height, target, peers, inbound, pool, votes } = shown
  const speed = typeof rate === 'number' && rate > 0 ? `, ${rate} blocks/s` : ''
  return [
    ['node', reason === undefined ? status : `${status}: ${reason}`],
    ['chain', `${shown.name}, genesis ${shown.genesis}`],
    ['height', `${height}  ${shown.hash}`],
    ['tip', `${ageText(shown.tipAge)} old, ${new Date(shown.time * 1000).toISOString().replace('.000', '')}`],
    ['sync', shown.catchingUp ? `catching up, ${height} of ${target}${speed}` : stepText(shown)],
    ['peers', peers === 0 ? '0' : `${peers}, ${inbound} of them inbound`],
    ['pool', `${pool} ${pool === 1 ? 'transaction' : 'transactions'}`],
    ...(votes === undefined ? [] : [votesRow(votes)]),
  ]
}

function stepText({ inStep }: Pick<Shown, 'inStep'>): string {
  if (inStep === undefined) return 'no better chain is known'
  return inStep ? 'in step with the chain' : 'out of step with the chain: it does not say what does not exist'
}

function votesRow({ height, view, signing, validators, quorum }: Votes): [string, string] {
  return ['votes', `height ${height}, view ${view}, ${quorum} of ${validators} confirm; this node: ${signing}`]
}

/** Seconds in the largest two units: `3 min 5 s`. */
export function ageText(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first === -1) return '0 s'
  let left = seconds
  const parts = units.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? '' : `${count} ${name}`
  })
  return parts.filter((part) => part !== '').join(' ')
}
