import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as TallyModule from '../../src/answers/api/metrics/answer-metrics.js'
import type * as LimitsModule from '../../src/answers/api/api-limits.js'
import type * as AccessOptionsModule from '../../src/answers/api/http/access-options.js'
import type * as AccessModule from '../../src/answers/api/http/access.js'
import type * as PortModule from '../../src/answers/api/http/http-port.js'
import type * as ChainModule from '../../src/ledger/chain/chain.js'
import type * as NextDidRootModule from '../../src/ledger/chain/next-did-root.js'
import type * as CommitmentModule from '../../src/ledger/consensus/commitment.js'
import type * as ConnectModule from '../../src/ledger/consensus/connect.js'
import type * as ProgramCheckModule from '../../src/ledger/consensus/program-check.js'
import type * as ConnectBlockModule from '../../src/ledger/chain/connect-block.js'
import type * as ConsensusLedgerModule from '../../src/ledger/consensus/ledger.js'
import type * as SubsidyModule from '../../src/ledger/consensus/subsidy.js'
import type * as KeysModule from '../../src/base/crypto/keys.js'
import type * as CacheModule from '../../src/base/crypto/signature-cache.js'
import type * as PoolModule from '../../src/base/crypto/verifier-pool.js'
import type * as EventLogModule from '../../src/ledger/events/event-log.js'
import type * as MempoolModule from '../../src/ledger/mempool/mempool.js'
import type * as ChainProverModule from '../../src/node/chain-prover.js'
import type * as LedgerModule from '../../src/node/open-ledger.js'
import type * as ServingModule from '../../src/node/serve-node.js'
import type * as NodeModule from '../../src/node/start-node.js'
import type * as AddressModule from '../../src/base/primitives/address.js'
import type * as AuxPowModule from '../../src/base/primitives/auxpow.js'
import type * as BlockModule from '../../src/base/primitives/block.js'
import type * as ConfirmModule from '../../src/base/primitives/confirm.js'
import type * as GenesisModule from '../../src/base/primitives/genesis.js'
import type * as HeaderModule from '../../src/base/primitives/header.js'
import type * as ProgramModule from '../../src/base/primitives/program.js'
import type * as SpecModule from '../../src/base/primitives/spec.js'
import type * as InputModule from '../../src/base/primitives/input.js'
import type * as TransactionModule from '../../src/base/primitives/transaction.js'
import type * as SolveModule from '../../src/ledger/production/solve.js'
import type * as TemplateModule from '../../src/ledger/production/template.js'
import type * as GetResolverModule from '../../src/node/library/get-resolver.js'
import type * as MapTreeModule from '../../src/identity/proofs/map-tree.js'
import type * as ResolverModule from '../../src/answers/resolver/resolver.js'
import type * as SystemModule from '../../src/base/runtime/process-env.js'
import type * as DatabaseModule from '../../src/ledger/storage/database.js'
import type * as DirectoryModule from '../../src/ledger/storage/directory.js'
import type * as NativeLevelModule from '../../src/ledger/storage/native-level.js'
import type * as OverlayModule from '../../src/ledger/storage/write/overlay.js'
import type * as TablesModule from '../../src/ledger/storage/rows/tables.js'
import type * as KnownDocumentsModule from '../../src/ledger/storage/write/known-documents.js'
import type * as BuildMapModule from '../../src/ledger/storage/care/build-map.js'
import type * as MapRowsModule from '../../src/ledger/storage/rows/map/map-rows.js'
import type * as ReadWayModule from '../../src/ledger/storage/rows/map/read-way.js'
import type * as StoredStateModule from '../../src/ledger/storage/stored-state.js'
import type * as TokenIndexModule from '../../src/ledger/storage/rows/token-index.js'
import type * as AccountsModule from '../../src/clients/wallet/devnet-accounts.js'
import { isStale } from '../build-state.js'

/**
 * The measured program: compiled, as users run it. The loader that runs sources rewrites every closure, and verifier threads run
 * compiled files only. Compiles first if the sources are newer.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The command line, a script for node. */
export const commandFile = join(root, 'dist/cli/main.js')

// Forked processes measure the build of this one.
if (process.env['BENCH_BUILT'] === undefined && isStale()) build()
process.env['BENCH_BUILT'] = 'yes'

export const { Tally } = await compiled<typeof TallyModule>('answers/api/metrics/answer-metrics')
export const { Access } = await compiled<typeof AccessModule>('answers/api/http/access')
export const { accessDefaults } = await compiled<typeof AccessOptionsModule>('answers/api/http/access-options')
export const { apiLimits } = await compiled<typeof LimitsModule>('answers/api/api-limits')
export const { HttpPort } = await compiled<typeof PortModule>('answers/api/http/http-port')
export const { Chain } = await compiled<typeof ChainModule>('ledger/chain/chain')
export const { didRootAfter, nextDidRoot } = await compiled<typeof NextDidRootModule>('ledger/chain/next-did-root')
export const { commitmentAttribute } = await compiled<typeof CommitmentModule>('ledger/consensus/commitment')
export const { checkTransaction } = await compiled<typeof ConnectModule>('ledger/consensus/connect')
export const { ProgramCheck } = await compiled<typeof ProgramCheckModule>('ledger/consensus/program-check')
export const { connectInto } = await compiled<typeof ConnectBlockModule>('ledger/chain/connect-block')
export const { StateOverlay } = await compiled<typeof ConsensusLedgerModule>('ledger/consensus/ledger')
export const { subsidyAt } = await compiled<typeof SubsidyModule>('ledger/consensus/subsidy')
export const { sign } = await compiled<typeof KeysModule>('base/crypto/keys')
export const { createVerifierPool } = await compiled<typeof PoolModule>('base/crypto/verifier-pool')
export const { SignatureCache } = await compiled<typeof CacheModule>('base/crypto/signature-cache')
export const { EventLog } = await compiled<typeof EventLogModule>('ledger/events/event-log')
export const { Mempool } = await compiled<typeof MempoolModule>('ledger/mempool/mempool')
export const { selectTransactions, templateOf } = await compiled<typeof TemplateModule>('ledger/production/template')
export const { solve } = await compiled<typeof SolveModule>('ledger/production/solve')
export const { chainProver } = await compiled<typeof ChainProverModule>('node/chain-prover')
export const { openLedger } = await compiled<typeof LedgerModule>('node/open-ledger')
export const { startNode } = await compiled<typeof NodeModule>('node/start-node')
export const { addressFromPublicKey, addressOf, prefix, programHash, singleKeyCode } =
  await compiled<typeof AddressModule>('base/primitives/address')
export const { soloAuxPow } = await compiled<typeof AuxPowModule>('base/primitives/auxpow')
export const { Block, transactionRoot, witnessRoot } = await compiled<typeof BlockModule>('base/primitives/block')
export const { confirmBytes, proposalHash, proposalUnsigned, voteUnsigned } =
  await compiled<typeof ConfirmModule>('base/primitives/confirm')
export const { genesisBlock, registerAssetTransaction } =
  await compiled<typeof GenesisModule>('base/primitives/genesis')
export const { Header } = await compiled<typeof HeaderModule>('base/primitives/header')
export const { multisigCode, parameterOf, sortPrograms, standardProgram } =
  await compiled<typeof ProgramModule>('base/primitives/program')
export const { parseSpec } = await compiled<typeof SpecModule>('base/primitives/spec')
export const { coinbaseInput, finalSequence } = await compiled<typeof InputModule>('base/primitives/input')
export const { attributeUsage, Transaction } = await compiled<typeof TransactionModule>('base/primitives/transaction')
export const { getResolver } = await compiled<typeof GetResolverModule>('node/library/get-resolver')
export const { Resolver } = await compiled<typeof ResolverModule>('answers/resolver/resolver')
export const { serve } = await compiled<typeof ServingModule>('node/serve-node')
export const { Database } = await compiled<typeof DatabaseModule>('ledger/storage/database')
export const { DataDirectory } = await compiled<typeof DirectoryModule>('ledger/storage/directory')
export const { NativeLevel, rowBatchOf } = await compiled<typeof NativeLevelModule>('ledger/storage/native-level')
export const { Overlay } = await compiled<typeof OverlayModule>('ledger/storage/write/overlay')
export const { didMapKey } = await compiled<typeof MapTreeModule>('identity/proofs/map-tree')
export const { meta, tables } = await compiled<typeof TablesModule>('ledger/storage/rows/tables')
export const { KnownDocuments } = await compiled<typeof KnownDocumentsModule>('ledger/storage/write/known-documents')
export const { keepMap } = await compiled<typeof BuildMapModule>('ledger/storage/care/build-map')
export const { MapMemory, mapChangeOf, putMapBack, putMapChange } = await compiled<typeof MapRowsModule>(
  'ledger/storage/rows/map/map-rows',
)
export const { pagesAfter, readWay } = await compiled<typeof ReadWayModule>('ledger/storage/rows/map/read-way')
export const { putConnected, StoredState } = await compiled<typeof StoredStateModule>('ledger/storage/stored-state')
export const { TokenIndexChanges } = await compiled<typeof TokenIndexModule>('ledger/storage/rows/token-index')
export const { systemEnv } = await compiled<typeof SystemModule>('base/runtime/process-env')
export const { devnetValidatorKey } = await compiled<typeof AccountsModule>('clients/wallet/devnet-accounts')

export type Database = DatabaseModule.Database
export type Overlay = OverlayModule.Overlay
export type Block = BlockModule.Block
export type Chain = ChainModule.Chain
export type Header = HeaderModule.Header
export type Mempool = MempoolModule.Mempool
export type SignatureCache = CacheModule.SignatureCache
export type Transaction = TransactionModule.Transaction

function compiled<Module>(name: string): Promise<Module> {
  return import(new URL(`../../dist/${name}.js`, import.meta.url).href) as Promise<Module>
}

function build(): void {
  console.error('dist is missing or older than src: building it first')
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}
