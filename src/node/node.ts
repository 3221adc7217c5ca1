import { type OpenStep, stepUnits } from './open-ledger.js'
import { joinUnits } from './taken-state.js'
import { type Devnet, type DevnetStep, devnetUnits } from './devnet/devnet.js'
import type { Resolver } from '../answers/resolver/resolver.js'
import type { Standing } from '../answers/resolver/standing.js'
import type { Spec } from '../base/primitives/spec.js'
import type { Clock } from '../base/runtime/env.js'
import type { WitnessSigner, WitnessSignerOptions } from '../clients/witness/witness-signer.js'
import type { Chain } from '../ledger/chain/chain.js'
import type { ChainReader } from '../ledger/chain/reader.js'
import type { EventLog } from '../ledger/events/event-log.js'
import type { Mempool } from '../ledger/mempool/mempool.js'
import type { Mirror } from '../ledger/mirror/mirror.js'
import type { Variables } from '../ledger/mirror/s3-place.js'
import type { Mining } from '../ledger/production/mining.js'
import type { ShippingFigures } from '../ledger/shipping/shipping-figures.js'
import type { BackupJob } from '../ledger/storage/care/backup-job.js'
import type { DataDirectory } from '../ledger/storage/directory.js'
import type { Identity } from '../network/address/peer-identity.js'
import type { Network } from '../network/network.js'
import type { SyncProgress } from '../network/sync/sync-progress.js'
import type { NodeTransport } from '../network/transport/transport-options.js'
import type { SignReset } from '../voting/signer.js'
import type { Voting } from '../voting/voting.js'
import type { ChainWatch } from './standing/chain-watch.js'
import type { HeadComparison } from './heads/compare-heads.js'
import type { Followed } from './followed-node.js'
import type { JoinStep } from './join-state.js'
import type { PeeringNode } from './open-peering.js'
import type { WitnessCollector } from './heads/witness-collector.js'

export interface NodeOptions extends PeeringNode {
  /** A key that votes on a chain with validators. */
  readonly validator?: NodeValidator
  /** A key that cosigns heads, with its state. */
  readonly witness?: NodeWitness
  /** Variables of the process, which name the object store of a mirror. */
  readonly variables?: Variables
  /** Takes the progress of all that it does before it serves. */
  readonly onStep?: (step: StartStep) => void
}

/** Units of the stages of a start. */
export const startUnits = { ...joinUnits, ...stepUnits, pool: 'transactions', ...devnetUnits } as const

/** How far a start is; without `total`: how much there is is unknown. */
export type StartStep = JoinStep | OpenStep | PoolStep | DevnetStep

interface PoolStep {
  readonly stage: 'pool'
  readonly done: number
  /** Absent: unknown. */
  readonly total?: number
}

/** A key that votes: 32 bytes of a private key, or the path of the socket of its signer. */
export type NodeValidator = ({ readonly key: Uint8Array } | { readonly signer: string }) & {
  /** Begins a new sign state if the stored one is missing or damaged. */
  readonly resetSignState?: SignReset
}

/** A key by which a node is a witness. */
export type NodeWitness = Pick<WitnessSignerOptions, 'secret' | 'store'>

/** The peers of a node, and where it listens for them. */
export interface NodeNetwork {
  readonly network: Network
  readonly transport: NodeTransport
}

/** A running node; node/serving/serve-node.ts opens its interfaces. */
export interface Node {
  readonly spec: Spec
  readonly directory: DataDirectory
  readonly identity: Identity
  /** Opens the methods of the owner: the 32 bytes in the file admin.token. */
  readonly adminToken: Uint8Array
  readonly chain: Chain
  readonly reader: ChainReader
  readonly mempool: Mempool
  readonly events: EventLog
  readonly resolver: Resolver
  readonly devnet: Devnet | undefined
  readonly mining: Mining
  /** On a chain with validators that is no devnet. */
  readonly voting: Voting | undefined
  readonly network: NodeNetwork | undefined
  /** The node that a follower follows; undefined for every other node. */
  readonly followed: Followed | undefined
  /** Returns its id, then those of the nodes along which it follows; undefined: it follows none. */
  readonly follows: (() => readonly string[]) | undefined
  readonly backups: BackupJob
  /** The heads that it has cosigned; undefined: it is no witness. */
  readonly witness: WitnessSigner | undefined
  /** Cosignatures of its witnesses; undefined: it names none. */
  readonly witnessed: WitnessCollector | undefined
  /** Compares heads that others send with its own. */
  readonly compareHeads: HeadComparison
  /** Figures of rows on their way to shards; undefined without any. */
  readonly shipping: ShippingFigures | undefined
  /** The mirror that the node writes; undefined: none. */
  readonly mirror: Mirror | undefined
  /** How far the node is: see node/standing/sync-status.ts. */
  sync(): SyncProgress
  /** Whether it may say what is so now: see node/standing/in-step.ts. */
  standing(): Standing
  /** Whether the chain advances, and whether the clock is right; undefined on a devnet, which makes blocks when it is asked. */
  readonly watch: ChainWatch | undefined
  /** The clock of the chain: the virtual one on a devnet. */
  readonly clock: Clock
  /** Rejects when the node cannot continue: a failed write, a broken invariant. */
  readonly failure: Promise<never>
  close(): Promise<void>
}
