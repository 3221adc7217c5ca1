import { equalBytes } from '../../base/primitives/bytes.js'
import { type Anchor, headerOf, readAnchor } from '../../identity/proofs/anchor.js'
import { members } from '../../identity/proofs/read-json.js'
import type { Side } from './contradiction.js'
import { asLightError } from './light-error.js'
import type { AskedServer } from './time-limited-server.js'

/**
 * The anchor of a block with the root of its map, which a server has where the block was shown beside a map proof: without the root a
 * confirmed block names no chain. Undefined: no server shows it.
 */
export async function rootedAnchor(
  { header, anchor }: Side['block'],
  servers: readonly AskedServer[],
): Promise<Anchor | undefined> {
  if (anchor?.root !== undefined) return anchor
  for (const server of servers) {
    try {
      const { anchor: sent } = members(await server.get(`anchor/${header.height}`), 'an answer with a block')
      const rooted = readAnchor(sent, true)
      if (equalBytes(headerOf(rooted).hash, header.hash)) return rooted
    } catch (error) {
      asLightError(error)
    }
  }
  return undefined
}
