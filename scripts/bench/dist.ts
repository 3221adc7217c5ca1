import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * What is measured: the compiled program, as users run it. The loader that runs sources rewrites every closure, and the
 * threads that verify run compiled files only. Compiles first when the sources are newer.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The command line, a script for node. */
export const commandFile = join(root, 'dist/cli/main.js')

buildIfStale()

type Address = typeof import('../../src/primitives/address.js')
type Blocks = typeof import('../../src/primitives/block.js')
type Programs = typeof import('../../src/primitives/program.js')
type Transactions = typeof import('../../src/primitives/transaction.js')

export const { Chain } = await compiled<typeof import('../../src/chain/chain.js')>('chain/chain')
export const { commitmentAttribute } =
  await compiled<typeof import('../../src/consensus/commitment.js')>('consensus/commitment')
export const { subsidyAt } = await compiled<typeof import('../../src/consensus/subsidy.js')>('consensus/subsidy')
export const { createVerifierPool } = await compiled<typeof import('../../src/crypto/pool.js')>('crypto/pool')
export const { SignatureCache } =
  await compiled<typeof import('../../src/crypto/signature-cache.js')>('crypto/signature-cache')
export const { solve } = await compiled<typeof import('../../src/mining/solve.js')>('mining/solve')
export const { openLedger } = await compiled<typeof import('../../src/node.js')>('node')
export const { addressFromPublicKey, prefix, programHash, singleKeyCode } =
  await compiled<Address>('primitives/address')
export const { soloAuxPow } = await compiled<typeof import('../../src/primitives/auxpow.js')>('primitives/auxpow')
export const { Block, transactionRoot, witnessRoot } = await compiled<Blocks>('primitives/block')
export const { Header } = await compiled<typeof import('../../src/primitives/header.js')>('primitives/header')
export const { parseCode, parseParameter, standardProgram } = await compiled<Programs>('primitives/program')
export const { parseSpec } = await compiled<typeof import('../../src/primitives/spec.js')>('primitives/spec')
export const { attributeUsage, coinbaseInput, finalSequence, Transaction } =
  await compiled<Transactions>('primitives/transaction')
export const { Resolver } = await compiled<typeof import('../../src/resolver/resolver.js')>('resolver/resolver')
export const { Database } = await compiled<typeof import('../../src/storage/database.js')>('storage/database')
export const { DataDirectory } = await compiled<typeof import('../../src/storage/directory.js')>('storage/directory')
export const { systemEnv } = await compiled<typeof import('../../src/system.js')>('system')

export type { Block } from '../../src/primitives/block.js'
export type { Chain } from '../../src/chain/chain.js'
export type { Database } from '../../src/storage/database.js'
export type { Header } from '../../src/primitives/header.js'
export type { SignatureCache } from '../../src/crypto/signature-cache.js'
export type { Transaction } from '../../src/primitives/transaction.js'

function compiled<Module>(name: string): Promise<Module> {
  return import(new URL(`../../dist/${name}.js`, import.meta.url).href) as Promise<Module>
}

function buildIfStale(): void {
  if (existsSync(commandFile) && newest(join(root, 'src')) <= statSync(commandFile).mtimeMs) return
  console.error('dist is missing or older than src: building it first')
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

function newest(directory: string): number {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return Math.max(...files.map((name) => statSync(join(directory, name)).mtimeMs))
}
