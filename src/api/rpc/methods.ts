import type { ApiContext } from '../context.js'
import { addressMethods } from './addresses.js'
import { adminMethods } from './admin.js'
import { chainMethods } from './chain.js'
import { devnetMethods } from './devnet.js'
import { discoverMethod } from './discover.js'
import { ethereumMethods } from './ethereum.js'
import { eventMethods } from './events.js'
import { miningMethods } from './mining.js'
import type { RpcMethod } from './method.js'
import { nodeMethods } from './node.js'
import { peerMethods } from './peers.js'
import { queryDocuments } from './query.js'
import { didResolveDid, resolveDid } from './resolve.js'
import { transactionMethods } from './transactions.js'
import { validatorMethods } from './validators.js'

/** Every method that a node with this context answers to. */
export function rpcMethods({ devnet, reader }: ApiContext): readonly RpcMethod[] {
  const methods: readonly RpcMethod[] = [
    resolveDid,
    queryDocuments,
    didResolveDid,
    ...chainMethods,
    ...validatorMethods,
    ...transactionMethods,
    ...addressMethods,
    ...nodeMethods,
    ...peerMethods,
    ...ethereumMethods,
    ...miningMethods,
    ...eventMethods,
    ...adminMethods,
    discoverMethod(() => methods),
    ...(devnet === undefined ? [] : devnetMethods(devnet, reader.chain.spec.maxMoney)),
  ]
  return methods
}
