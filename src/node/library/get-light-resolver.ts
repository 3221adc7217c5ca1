import type { LightResolver } from '../../clients/light/light-resolver.js'
import { resolveProved } from '../../clients/light/proved-context.js'
import type { DidMethodResolver } from './did-resolver-types.js'
import { getResolver as resolverOver, type GetResolverOptions } from './get-resolver.js'

/**
 * The method `ledger` for the npm package did-resolver, version 4.1 or later, whose answers are proved. As `getResolver` of
 * `didledger/resolver`; an answer whose proof fails is the error `internalError`. The block hash of a version is left out: its height is
 * proved alone.
 */
export function getResolver(light: LightResolver, options: GetResolverOptions = {}): { ledger: DidMethodResolver } {
  // The other one refuses what is none.
  if (typeof (light as LightResolver | null | undefined)?.resolve !== 'function') return resolverOver(light, options)
  return resolverOver({ resolve: (did, asked) => resolveProved(light, did, asked) }, options)
}
