import { displayHash } from '../../base/primitives/bytes.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type AnchoredBlock, anchorJson, headerOf, readAnchor } from '../../identity/proofs/anchor.js'
import { members } from '../../identity/proofs/read-json.js'
import type { Server } from './ask-server.js'
import { checkFollowing } from './check-following.js'
import type { Failed } from './compare-answers.js'
import { requireSame } from './contradiction.js'
import type { FollowedChain } from './followed-chain.js'
import { asLightError } from './light-error.js'
import { rootedAnchor } from './rooted-anchor.js'
import type { Signatures } from './signatures.js'
import { boundBlock } from './witnessed-heads.js'
import type { Witnesses } from './witnesses.js'

/** Tells others the head of a chain, and compares theirs with it. Loaded where a resolver gossips. */

/** The chain and the tools by which heads of others are checked. */
export interface GossipTools {
  readonly genesis: Hash
  readonly signatures: Signatures
  now(): number
  readonly witnesses?: Witnesses | undefined
}

/** Tells servers a head, and asks witnesses for theirs of its height. Returns what each of them contradicts; failures to answer count for nothing. */
export async function tellHead(
  block: AnchoredBlock,
  chain: FollowedChain,
  servers: readonly Server[],
  tools: GossipTools,
): Promise<readonly Failed[]> {
  const { witnesses } = tools
  const anchor = await rootedAnchor(block, servers)
  const sent = anchor && { chain: displayHash(tools.genesis), anchor: anchorJson(anchor) }
  const told = servers.map((server) =>
    failureOf(server.url, async () => {
      if (sent !== undefined) await compareWith(server, await server.tell('heads', sent), { block, chain, tools })
    }),
  )
  const asked = failureOf('witnesses', async () => {
    const [server] = servers
    if (witnesses === undefined || server === undefined) return
    for (const head of await witnesses.heads(block.header.height)) {
      await witnesses.requireSame(block, head, { chain, server })
    }
  })
  return (await Promise.all([...told, asked])).flat()
}

async function failureOf(server: string, work: () => Promise<void>): Promise<readonly Failed[]> {
  try {
    await work()
    return []
  } catch (error) {
    return [{ server, error: asLightError(error) }]
  }
}

async function compareWith(
  server: Server,
  answer: unknown,
  { block, chain, tools }: { block: AnchoredBlock; chain: FollowedChain; tools: GossipTools },
): Promise<void> {
  const other = readAnchor(members(answer, 'an answer with a head')['anchor'], block.confirm !== undefined)
  const own = headerOf(other)
  // One that is behind has another height, and its newest block: nothing to compare with.
  if (own.height !== block.header.height) return
  requireSame(block, await checkFollowing(server, { chain, ...tools }, (known) => boundBlock(other, known)))
}
