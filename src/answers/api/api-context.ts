/**
 * Serves a node over HTTP and WebSocket: REST, JSON-RPC, DID Resolution, proofs, pages and figures.
 *
 *   connection -> Listeners -> HttpPort: path and method, rate, Access, BodyBudget -> PathRow.kept | PathRow.run
 *     servers/  the ports of a node, of a driver, of the metrics
 *     paths/    every path of every port, one row each -> results/, rpc/ -> answer with its envelope
 *     streams/  long answers: made once for all who ask, in parts, in bounded memory
 *   RuleError  -> http/error-mapping -> status, envelope with code
 *   WebSocket  -> ws/ -> RpcCore; EventCursor -> events
 *
 * Imports client, engine, chain, consensus, did, did-index, errors, events, identifiers, light, mempool, mirror, network, primitives, production, proofs, registrar, resolver, runtime, shipping, storage, voting,
 * wallet, witness; used by gateway, node, devnet, library, cli, explorer (types), standing, serving.
 * - Holds no state of the chain: caches end with the tip.
 * - Bounded before work: connections, headers, bodies, requests of an address, bytes that wait for slow readers.
 */
import type { Registrar } from '../../clients/registrar/registrar.js'
import type { CosignedHeads } from '../../clients/witness/cosigned-heads.js'
import type { ChainReader } from '../../ledger/chain/reader.js'
import type { Mempool } from '../../ledger/mempool/mempool.js'
import type { Dereference } from '../identifiers/identifier-answer.js'
import type { Mining } from '../../ledger/production/mining.js'
import type { CredentialAnswers } from '../resolver/credential-answers.js'
import type { ProofAnswers } from '../resolver/proof-answers.js'
import type { Resolver } from '../resolver/resolver.js'
import type { Log } from '../../base/runtime/env.js'
import type { AccessOptions } from './http/access-options.js'
import type { AllowedOrigins } from './http/allowed-origins.js'
import type { ApiLimits } from './api-limits.js'
import type { BodyBudget } from './http/body-budget.js'
import type { HeightGate } from './http/height-gate.js'
import type { KeptAnswers } from './http/kept-answers.js'
import type { SharedAnswers } from './streams/shared-answer.js'
import type { ServerMetrics } from './metrics/server-metrics.js'
import type {
  BackupView,
  DevnetControl,
  FollowedView,
  NetworkView,
  NodesBehind,
  NodeHealth,
  NodeInfo,
  VotingView,
} from './node-handles.js'
import type { PageFiles } from './http/page-files.js'

/** Everything that the interfaces need from the node. */
export interface ApiContext {
  readonly reader: ChainReader
  readonly mempool: Pick<
    Mempool,
    'accept' | 'get' | 'entries' | 'parents' | 'size' | 'additions' | 'spender' | 'droppedReason' | 'floor' | 'limits'
  > & { readonly refusedBlocks: Pick<Mempool['refusedBlocks'], 'count' | 'reason'> }
  readonly resolver: Pick<Resolver, 'resolve' | 'resolveShort' | 'queryJson' | 'now' | 'answersAt' | 'standing'> & {
    readonly credentials: Pick<CredentialAnswers, 'resolve' | 'list'>
    readonly proofs: Pick<ProofAnswers, 'did' | 'credential' | 'anchor' | 'changes' | 'headers' | 'trust'>
  }
  readonly mining: Pick<Mining, 'template' | 'submit' | 'mine' | 'toggle' | 'active'>
  nodeInfo(): NodeInfo
  health(): NodeHealth
  /** Absent: the node has no peers and dials none. */
  readonly network?: NetworkView
  /** Absent on a chain without validators and on a devnet. */
  readonly voting?: VotingView
  /** Counts requests and answers. */
  readonly metrics: ServerMetrics
  /** Whether the metrics have a port of their own, so that the REST port has none. */
  readonly metricsApart?: boolean
  /** How the address of a service is answered; absent: by a redirect. */
  readonly dereference?: Dereference
  /** The heads that this node has cosigned; absent: it is no witness. */
  readonly witness?: Pick<CosignedHeads, 'shown'>
  /** Cosignatures that it has collected; absent: it names no witnesses. */
  readonly witnessed?: { shown(): object }
  /** Compares heads that others send with its own. */
  readonly compareHeads?: { exchange(sent: unknown): Promise<object> }
  /** The node to which a follower passes what clients send; absent: this node has a pool. */
  readonly followed?: FollowedView
  /** Nodes that answer what a gateway has no rows of; absent: this is a node. */
  readonly nodes?: NodesBehind
  /** Runs what reads rows that may have to be fetched first; absent: all rows are here. */
  settle?<T>(work: () => T | Promise<T>): Promise<T>
  /** Absent: there are no `dev_*` methods. */
  readonly devnet?: DevnetControl
  /** Registers DIDs for clients that may use the controls of a devnet; absent: there is no such path. */
  readonly registrar?: Pick<Registrar, 'handle'>
  /** Absent: the node makes no backups. */
  readonly backups?: BackupView
  /** Token for methods with `admin`, 32 bytes; absent: these methods are refused. */
  readonly adminToken?: Uint8Array
  /** Directory of the chain and of that token. */
  readonly dataDir?: string
  /** Stops the node once its open requests are answered; absent: no request can. */
  stop?(): void
  /** Overrides of {@link accessDefaults}. */
  readonly access?: Partial<AccessOptions>
  /** Pages of other sites that may use a devnet; absent on every other chain. */
  readonly allowedOrigins?: AllowedOrigins
  /** Answers in progress, shared by all interfaces; absent: each interface has its own. */
  readonly sharedAnswers?: SharedAnswers
  /** Waits for heights, shared likewise. */
  readonly heights?: HeightGate
  /** Budget of request bodies, shared likewise. */
  readonly bodies?: BodyBudget
  /** Answers that are kept, shared likewise. */
  readonly kept?: KeptAnswers
  /** Absent: the REST port serves no pages. */
  readonly pages?: PageFiles
  readonly log: Log
  /** Overrides of {@link apiLimits}. */
  readonly limits?: Partial<ApiLimits>
}
