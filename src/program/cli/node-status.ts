import { exchange } from '../../clients/client/http.js'
import { NodeClient } from '../../clients/client/node-client.js'
import { readinessOf } from '../../clients/client/node-status.js'
import { answerOf, asAny, asInteger, asText, listOf, optional } from '../../base/primitives/answer-form.js'
import { isObject } from '../../base/primitives/is-object.js'
import { UserError } from '../../base/errors/rule-error.js'
import { defined } from '../../base/primitives/defined.js'
import type { CliContext } from './cli-context.js'
import type { OutputOptions, RestFlags } from './command-options.js'
import { formatTable, report } from './print-output.js'

/** `didledger node status`: prints how a node is; a {@link UserError} after that if it is not ready. */
export async function showStatus(context: CliContext, flags: RestFlags & OutputOptions): Promise<void> {
  const client = new NodeClient(flags)
  const { rate, ...value } = await statusOf(client, Math.floor(context.clock.now() / 1000)).catch(
    async (error: unknown) => {
      throw (await noNode(client.rest)) ?? error
    },
  )
  report(context, flags, value, formatTable(rowsOf(value, rate)))
  if (!value.ready) throw new UserError(`the node at ${client.rest} is not ready: ${value.reason ?? value.status}`)
}

/**
 * The error for a program of didledger that is no node, by its refusal of a path that every node has, and for a path that the address has too
 * much; undefined for anything else.
 */
async function noNode(rest: string): Promise<UserError | undefined> {
  if ((await stateStatus(rest)) !== 404) return undefined
  const { origin } = new URL(rest)
  if (origin !== rest && (await stateStatus(origin)) === 200) {
    return new UserError(`there is no node at ${rest}, but one at ${origin}: leave the path out`)
  }
  const ready = await readinessOf(rest).catch(() => undefined)
  const itself = ready === undefined ? '' : `, which says of itself that it is ${ready.status}`
  return new UserError(
    `${rest} is no node, but a driver, light resolver, registrar, witness or mirror of didledger${itself}: name the node by --rest`,
  )
}

/** Status of HTTP of the answer about a node's state; undefined where nothing of didledger answers. */
async function stateStatus(rest: string): Promise<number | undefined> {
  const answer = await exchange(`${rest}/api/v1/node/state`, undefined, { timeout: patience }).catch(() => undefined)
  return isObject(answer?.body) && Number.isInteger(answer.body['Error']) ? answer.status : undefined
}

/** Milliseconds for a question that only makes a message better. */
const patience = 2_000

const asChain = answerOf('the answer to getchaininfo', {
  name: asText,
  genesis: asText,
  height: asInteger,
  hash: asText,
  time: asInteger,
  pruned: optional(asInteger),
  superseded: optional(asInteger),
  joined: optional(asInteger),
  verified: optional(asInteger),
  validators: asInteger,
  quorum: asAny,
})
const asSync = answerOf('the answer to getsyncstatus', {
  target: asInteger,
  catchingup: asAny,
  rate: asAny,
  peers: listOf((peer) => isObject(peer) && peer['external'] === true),
})
const asWork = answerOf('the answer to getmininginfo', { pooledtx: asInteger })
const asVotes = answerOf('the answer to getarbitersinfo', { height: asInteger, view: asInteger, signing: asText })

type Shown = Omit<Awaited<ReturnType<typeof statusOf>>, 'rate'>

/** State of a node at a time in Unix seconds. */
async function statusOf(client: NodeClient, now: number) {
  const { status, reason, inStep } = await readinessOf(client.rest)
  const methods = ['getchaininfo', 'getsyncstatus', 'getarbitersinfo', 'getmininginfo']
  const [chain, sync, votes, work] = await Promise.all(methods.map((method) => client.rpc(method, {})))
  const { validators, quorum, ...known } = asChain(chain)
  const { target, catchingup, rate, peers } = asSync(sync)
  return {
    ready: status === 'ready',
    status,
    ...defined({ reason }),
    ...known,
    tipAge: Math.max(0, now - known.time),
    target,
    catchingUp: catchingup === true,
    ...defined({ inStep }),
    peers: peers.length,
    inbound: peers.filter((inbound) => inbound).length,
    pool: asWork(work).pooledtx,
    ...(validators > 0 && { votes: { ...asVotes(votes), validators, quorum: asInteger(quorum, 'quorum') } }),
    rate,
  }
}

function rowsOf(shown: Shown, rate: unknown): [string, string][] {
  const { status, reason, height, target, peers, inbound, pool, votes } = shown
  const speed = typeof rate === 'number' && rate > 0 ? `, ${rate} blocks/s` : ''
  return [
    ['node', reason === undefined ? status : `${status}: ${reason}`],
    ['chain', `${shown.name}, genesis ${shown.genesis}`],
    ['height', `${height}  ${shown.hash}`],
    ['tip', `${ageText(shown.tipAge)} old, ${new Date(shown.time * 1000).toISOString().replace('.000', '')}`],
    ...historyRow(shown),
    ...documentsRow(shown),
    ['sync', shown.catchingUp ? `catching up, ${height} of ${target}${speed}` : stepText(shown)],
    ['peers', peers === 0 ? '0' : `${peers}, ${inbound} of them inbound`],
    ['pool', `${pool} ${pool === 1 ? 'transaction' : 'transactions'}`],
    ...(votes === undefined ? [] : [votesRow(votes)]),
  ]
}

function historyRow({ pruned, joined = 0, verified = 0 }: Shown): readonly [string, string][] {
  if (joined === 0) return []
  const since = pruned === undefined ? '' : `; transactions from height ${pruned + 1} on`
  const share = `${Math.floor((100 * verified) / joined)} % of the history below it verified`
  return [['history', `state of height ${joined} taken and checked against validators or work; ${share}${since}`]]
}

function documentsRow({ superseded = 0 }: Shown): readonly [string, string][] {
  if (superseded === 0) return []
  return [['documents', `those superseded up to height ${superseded} were given up; their hashes are there`]]
}

function stepText({ inStep }: Pick<Shown, 'inStep'>): string {
  if (inStep === undefined) return 'no better chain is known'
  return inStep ? 'in step with the chain' : 'out of step with the chain: it does not say what does not exist'
}

function votesRow({ height, view, signing, validators, quorum }: NonNullable<Shown['votes']>): [string, string] {
  return ['votes', `height ${height}, view ${view}, ${quorum} of ${validators} are needed; this node: ${signing}`]
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
