import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as TallyModule from '../../src/api/answer-metrics.js'
import type * as LimitsModule from '../../src/api/api-limits.js'
import type * as BudgetModule from '../../src/api/body-budget.js'
import type * as CountModule from '../../src/api/count-answers.js'
import type * as ListenersModule from '../../src/api/listeners.js'
import type * as ChainModule from '../../src/chain/chain.js'
import type * as NextDidRootModule from '../../src/chain/next-did-root.js'
import type * as CommitmentModule from '../../src/consensus/commitment.js'
import type * as ConnectModule from '../../src/consensus/connect.js'
import type * as ProgramCheckModule from '../../src/consensus/program-check.js'
import type * as ConnectBlockModule from '../../src/chain/connect-block.js'
import type * as ConsensusLedgerModule from '../../src/consensus/ledger.js'
import type * as SubsidyModule from '../../src/consensus/subsidy.js'
import type * as KeysModule from '../../src/crypto/keys.js'
import type * as CacheModule from '../../src/crypto/signature-cache.js'
import type * as PoolModule from '../../src/crypto/verifier-pool.js'
import type * as EventLogModule from '../../src/events/event-log.js'
import type * as MempoolModule from '../../src/mempool/mempool.js'
import type * as ChainProverModule from '../../src/node/chain-prover.js'
import type * as LedgerModule from '../../src/node/open-ledger.js'
import type * as ServingModule from '../../src/node/serve-node.js'
import type * as NodeModule from '../../src/node/start-node.js'
import type * as AddressModule from '../../src/primitives/address.js'
import type * as AuxPowModule from '../../src/primitives/auxpow.js'
import type * as BlockModule from '../../src/primitives/block.js'
import type * as ConfirmModule from '../../src/primitives/confirm.js'
import type * as GenesisModule from '../../src/primitives/genesis.js'
import type * as HeaderModule from '../../src/primitives/header.js'
import type * as ProgramModule from '../../src/primitives/program.js'
import type * as SpecModule from '../../src/primitives/spec.js'
import type * as InputModule from '../../src/primitives/input.js'
import type * as TransactionModule from '../../src/primitives/transaction.js'
import type * as SolveModule from '../../src/production/solve.js'
import type * as TemplateModule from '../../src/production/template.js'
import type * as GetResolverModule from '../../src/library/get-resolver.js'
import type * as MapTreeModule from '../../src/proofs/map-tree.js'
import type * as ResolverModule from '../../src/resolver/resolver.js'
import type * as SystemModule from '../../src/runtime/process-env.js'
import type * as DatabaseModule from '../../src/storage/database.js'
import type * as DirectoryModule from '../../src/storage/directory.js'
import type * as NativeLevelModule from '../../src/storage/native-level.js'
import type * as OverlayModule from '../../src/storage/overlay.js'
import type * as SchemaModule from '../../src/storage/schema.js'
import type * as KnownDocumentsModule from '../../src/storage/known-documents.js'
import type * as BuildMapModule from '../../src/storage/map/build-map.js'
import type * as MapRowsModule from '../../src/storage/map/map-rows.js'
import type * as ReadWayModule from '../../src/storage/map/read-way.js'
import type * as StoredStateModule from '../../src/storage/stored-state.js'
import type * as TokenIndexModule from '../../src/storage/token-index.js'
import type * as AccountsModule from '../../src/wallet/devnet-accounts.js'
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

export const { Tally } = await compiled<typeof TallyModule>('api/answer-metrics')
export const { BodyBudget, countBodies } = await compiled<typeof BudgetModule>('api/body-budget')
export const { countAnswers } = await compiled<typeof CountModule>('api/count-answers')
export const { apiLimits } = await compiled<typeof LimitsModule>('api/api-limits')
export const { Listeners } = await compiled<typeof ListenersModule>('api/listeners')
export const { Chain } = await compiled<typeof ChainModule>('chain/chain')
export const { didRootAfter, nextDidRoot } = await compiled<typeof NextDidRootModule>('chain/next-did-root')
export const { commitmentAttribute } = await compiled<typeof CommitmentModule>('consensus/commitment')
export const { checkTransaction } = await compiled<typeof ConnectModule>('consensus/connect')
export const { ProgramCheck } = await compiled<typeof ProgramCheckModule>('consensus/program-check')
export const { connectInto } = await compiled<typeof ConnectBlockModule>('chain/connect-block')
export const { StateOverlay } = await compiled<typeof ConsensusLedgerModule>('consensus/ledger')
export const { subsidyAt } = await compiled<typeof SubsidyModule>('consensus/subsidy')
export const { sign } = await compiled<typeof KeysModule>('crypto/keys')
export const { createVerifierPool } = await compiled<typeof PoolModule>('crypto/verifier-pool')
export const { SignatureCache } = await compiled<typeof CacheModule>('crypto/signature-cache')
export const { EventLog } = await compiled<typeof EventLogModule>('events/event-log')
export const { Mempool } = await compiled<typeof MempoolModule>('mempool/mempool')
export const { selectTransactions, templateOf } = await compiled<typeof TemplateModule>('production/template')
export const { solve } = await compiled<typeof SolveModule>('production/solve')
export const { chainProver } = await compiled<typeof ChainProverModule>('node/chain-prover')
export const { openLedger } = await compiled<typeof LedgerModule>('node/open-ledger')
export const { startNode } = await compiled<typeof NodeModule>('node/start-node')
export const { addressFromPublicKey, addressOf, prefix, programHash, singleKeyCode } =
  await compiled<typeof AddressModule>('primitives/address')
export const { soloAuxPow } = await compiled<typeof AuxPowModule>('primitives/auxpow')
export const { Block, transactionRoot, witnessRoot } = await compiled<typeof BlockModule>('primitives/block')
export const { confirmBytes, proposalHash, proposalUnsigned, voteUnsigned } =
  await compiled<typeof ConfirmModule>('primitives/confirm')
export const { genesisBlock, registerAssetTransaction } = await compiled<typeof GenesisModule>('primitives/genesis')
export const { Header } = await compiled<typeof HeaderModule>('primitives/header')
export const { multisigCode, parameterOf, sortPrograms, standardProgram } =
  await compiled<typeof ProgramModule>('primitives/program')
export const { parseSpec } = await compiled<typeof SpecModule>('primitives/spec')
export const { coinbaseInput, finalSequence } = await compiled<typeof InputModule>('primitives/input')
export const { attributeUsage, Transaction } = await compiled<typeof TransactionModule>('primitives/transaction')
export const { getResolver } = await compiled<typeof GetResolverModule>('library/get-resolver')
export const { Resolver } = await compiled<typeof ResolverModule>('resolver/resolver')
export const { serve } = await compiled<typeof ServingModule>('node/serve-node')
export const { Database } = await compiled<typeof DatabaseModule>('storage/database')
export const { DataDirectory } = await compiled<typeof DirectoryModule>('storage/directory')
export const { NativeLevel, rowBatchOf } = await compiled<typeof NativeLevelModule>('storage/native-level')
export const { Overlay } = await compiled<typeof OverlayModule>('storage/overlay')
export const { didMapKey } = await compiled<typeof MapTreeModule>('proofs/map-tree')
export const { keys, rangeOf, table } = await compiled<typeof SchemaModule>('storage/schema')
export const { KnownDocuments } = await compiled<typeof KnownDocumentsModule>('storage/known-documents')
export const { keepMap } = await compiled<typeof BuildMapModule>('storage/map/build-map')
export const { MapMemory, mapChangeOf, putMapBack, putMapChange } =
  await compiled<typeof MapRowsModule>('storage/map/map-rows')
export const { pagesAfter, readWay } = await compiled<typeof ReadWayModule>('storage/map/read-way')
export const { putConnected, StoredState } = await compiled<typeof StoredStateModule>('storage/stored-state')
export const { TokenIndexChanges } = await compiled<typeof TokenIndexModule>('storage/token-index')
export const { systemEnv } = await compiled<typeof SystemModule>('runtime/process-env')
export const { devnetValidatorKey } = await compiled<typeof AccountsModule>('wallet/devnet-accounts')

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
