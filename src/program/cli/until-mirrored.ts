import { UserError } from '../../base/errors/rule-error.js'
import { exchangeText } from '../../clients/client/http.js'
import { mirroredHeight } from '../../ledger/mirror/mirror-step.js'
import type { Node } from '../../node/node.js'

/** Waits for the end of `mirror --once`, and gives up where nothing comes. */

/** @tuning ms: the question whether the node is there */
const askPatience = 10_000
/** @tuning ms: a follower that comes no nearer to its node */
const standPatience = 60_000
/** @tuning count: steps of the mirror that may fail one after another: their waits come to half a minute. */
const mostFailures = 5
/** Milliseconds between two looks. */
const lookInterval = 200

/** A follower that writes a mirror. */
export interface MirroringNode extends Pick<Node, 'spec' | 'sync' | 'standing'> {
  readonly chain: { readonly tip: { readonly header: { readonly height: number } } }
  readonly mirror: { readonly figures: { readonly height: number | undefined; readonly failures: number } } | undefined
}

/** Time for waits. */
export interface Waiting {
  now(): number
  pause(milliseconds: number): Promise<unknown>
}

const realTime: Waiting = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}

/** Throws a UserError unless a node answers at a URL: a follower would wait for it without end. */
export async function requireNode(url: string): Promise<void> {
  const hint = 'see whether the node runs, and whether --node names its REST port'
  await exchangeText(`${url}/api/v1/node/state`, undefined, { timeout: askPatience, hint })
}

/** Resolves when the files are as of the tip of the node. A UserError once no block has come, or no file can be written. */
export async function untilMirrored(
  node: MirroringNode,
  url: string,
  { now, pause }: Waiting = realTime,
): Promise<void> {
  let seen = progressOf(node)
  let since = now()
  for (;;) {
    const standing = node.standing()
    if (isThere(node, standing)) return
    if ((node.mirror?.figures.failures ?? 0) >= mostFailures) {
      throw new UserError(`the files were not written, ${mostFailures} tries failed; the warnings above say why`)
    }
    const progress = progressOf(node)
    if (standing.inStep || progress !== seen) {
      seen = progress
      since = now()
    } else if (now() - since >= standPatience) throw standsStill(node, standing.missing, url)
    await pause(lookInterval)
  }
}

function isThere({ spec, chain, mirror }: MirroringNode, { inStep }: ReturnType<Node['standing']>): boolean {
  const wanted = mirroredHeight(spec, chain.tip.header.height)
  return inStep && wanted !== undefined && (mirror?.figures.height ?? 0) >= wanted
}

/** Changes with each block and header. */
function progressOf(node: MirroringNode): string {
  const { stage, height, target } = node.sync()
  return [node.chain.tip.header.height, stage, height, target].join(' ')
}

function standsStill({ chain, mirror }: MirroringNode, missing: string, url: string): UserError {
  const seconds = standPatience / 1000
  const files =
    mirror?.figures.height === undefined ? 'there is no head yet' : `the head is of block ${mirror.figures.height}`
  return new UserError(
    `nothing came from ${url} for ${seconds} s at height ${chain.tip.header.height}: ${missing}; ${files}. See whether the port for peers of the node can be reached from here, and whether its chain goes on`,
  )
}
