import type { NodeClient } from '../../clients/client/node-client.js'
import { UserError } from '../../base/errors/rule-error.js'
import { shippedSpecs } from '../../node/library/shipped.js'
import { genesisBlock } from '../../base/primitives/genesis.js'
import type { Spec } from '../../base/primitives/spec.js'
import { type ChainRules, chainRules } from '../../clients/wallet/terms.js'
import type { SpecFlags } from './command-options.js'
import { loadSpec } from './load-spec.js'

/**
 * The rules of the chain that a node has. With --genesis those of that spec, once the node is known to have its chain; else a
 * {@link UserError}, so that nothing is built for another chain.
 */
export async function rulesAt(client: NodeClient, { genesis }: SpecFlags): Promise<ChainRules> {
  const named = genesis === undefined ? undefined : loadSpec(genesis)
  const told = await client.chain()
  if (named === undefined && told !== undefined) return told
  const found = told?.genesis ?? (await client.blockAt(0)).hash
  const spec = named ?? shippedChain(client, found)
  const expected = genesisBlock(spec).hash
  if (found === expected) return chainRules(spec, told?.height ?? (await client.height()))
  const chain = told === undefined ? 'another chain' : `the chain ${told.name}`
  throw new UserError(
    `the node at ${client.rest} has ${chain} (genesis block ${found}), not ${spec.name} as --genesis ${genesis} says ` +
      `(${expected}); without --genesis the chain is that of the node`,
  )
}

/** The rules where no node is asked: of the spec named, else of the devnet. */
export function rulesOffline({ genesis = 'devnet' }: SpecFlags, height?: number): ChainRules {
  return chainRules(loadSpec(genesis), height)
}

/** The shipped chain of a node that does not tell its chain, as versions before did not. */
function shippedChain({ rest }: NodeClient, genesis: string): Spec {
  const found = shippedSpecs.map(loadSpec).find((spec) => genesisBlock(spec).hash === genesis)
  if (found !== undefined) return found
  throw new UserError(`the node at ${rest} does not tell which chain it has: name its spec with --genesis FILE`)
}
