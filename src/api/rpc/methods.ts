import type { ApiContext } from '../context.js'
import { devnetMethods } from './devnet.js'
import type { RpcMethod } from './method.js'
import { didResolveDid, resolveDid } from './resolve.js'

/** Every method that a node with this context answers to. */
export function rpcMethods({ devnet, reader }: ApiContext): readonly RpcMethod[] {
  const always = [resolveDid, didResolveDid]
  return devnet === undefined ? always : [...always, ...devnetMethods(devnet, reader.chain.spec.maxMoney)]
}
