import type { DevnetControl } from '../node-handles.js'
import { addressMethods } from './address-methods.js'
import { adminMethods } from './admin-methods.js'
import { backupMethods } from './backup-methods.js'
import { chainMethods } from './chain-methods.js'
import { credentialMethods } from './credential-methods.js'
import { didListMethods } from './did-list-methods.js'
import { devnetMethods } from './devnet-methods.js'
import { discoverMethod, helpMethod } from './discover-method.js'
import { ethereumMethods } from './ethereum-methods.js'
import { eventMethods } from './event-methods.js'
import type { RpcMethod } from './method.js'
import { miningMethods } from './mining-methods.js'
import { nodeMethods } from './node-methods.js'
import { peerMethods } from './peer-methods.js'
import { proofMethods } from './proof-methods.js'
import { queryDocuments } from './query-method.js'
import { didResolveDid, resolveDid } from './resolve-method.js'
import { transactionMethods } from './transaction-methods.js'
import { validatorMethods } from './validator-methods.js'
import { walletMethods } from './wallet-methods.js'

/** Parts of the context on which the list of methods and the largest amount depend. */
interface MethodSources {
  readonly devnet?: DevnetControl
  readonly reader: { readonly chain: { readonly spec: { readonly maxMoney: bigint } } }
}

/** Every method of a node with this context. */
export function rpcMethods({ devnet, reader }: MethodSources): readonly RpcMethod[] {
  const methods: readonly RpcMethod[] = [
    resolveDid,
    queryDocuments,
    didResolveDid,
    ...credentialMethods,
    ...proofMethods,
    ...didListMethods,
    ...chainMethods,
    ...validatorMethods,
    ...transactionMethods,
    ...addressMethods,
    ...walletMethods,
    ...nodeMethods,
    ...peerMethods,
    ...ethereumMethods,
    ...miningMethods,
    ...eventMethods,
    ...adminMethods,
    ...backupMethods,
    helpMethod(() => methods),
    discoverMethod(() => methods),
    ...(devnet === undefined ? [] : devnetMethods(devnet, reader.chain.spec.maxMoney)),
  ]
  return methods
}
