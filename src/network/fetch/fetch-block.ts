import { checkBodyMatch } from '../../chain/match-body.js'
import type { SanityContext } from '../../consensus/sanity.js'
import { RuleError } from '../../errors/rule-error.js'
import { blockHashOf } from '../../primitives/block.js'
import { displayHash, equalBytes } from '../../primitives/bytes.js'
import type { Hash } from '../../primitives/hash.js'
import { LinkError } from '../link.js'
import type { Peer } from '../peers/peer-record.js'
import { blocksExchange } from '../wire/blocks-message.js'

/**
 * Requests a block under vote or a proposed block from a peer by its hash; undefined when the peer does not deliver it. Wrong
 * bytes → penalty by error code, and not passed on: other nodes would penalise this one.
 */
export async function fetchBlock(peer: Peer, hash: Hash, sanity: SanityContext): Promise<Uint8Array | undefined> {
  const bytes = await askFor(peer, hash)
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    if (!equalBytes(blockHashOf(bytes), hash)) {
      throw new RuleError('peer-withheld', `another block than ${displayHash(hash)} came`)
    }
    await checkBodyMatch(bytes, sanity)
    return bytes
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    peer.penalise(error.code, error.message)
    return undefined
  }
}

async function askFor(peer: Peer, hash: Hash): Promise<Uint8Array | undefined> {
  try {
    const [bytes] = await peer.ask(blocksExchange, [hash])
    return bytes
  } catch (error) {
    // A fault of the peer is penalised already.
    if (error instanceof LinkError || error instanceof RuleError) return undefined
    throw error
  }
}
