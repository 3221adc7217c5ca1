import { quickSigner } from '../../base/crypto/quick-signer.js'
import { InvariantError, RuleError, UserError } from '../../base/errors/rule-error.js'
import { parseAddress, type ProgramHash, singleKeyCode } from '../../base/primitives/address.js'
import { parseDisplayHash } from '../../base/primitives/bytes.js'
import { witnessRootBehindCoinbase } from '../../base/primitives/block.js'
import { didMethod } from '../../base/primitives/did-method.js'
import type { Hash } from '../../base/primitives/hash.js'
import { type Fees, leastFee, poolFees } from '../../base/primitives/fees.js'
import { parseCode, type ProgramScript, standardProgram } from '../../base/primitives/program.js'
import { paramsAt } from '../../base/primitives/spec.js'
import { Transaction } from '../../base/primitives/transaction.js'
import type { Producer } from '../../ledger/production/producer.js'
import { ProgramCheck } from '../../ledger/consensus/program-check.js'
import { solve } from '../../ledger/production/solve.js'
import { nextPlace, selectionOf, templateOf } from '../../ledger/production/template.js'
import { forEachCooperatively } from '../../base/runtime/cooperative.js'
import { buildDidTransaction, payerOf } from '../../clients/wallet/build-transaction.js'
import { registrarKey } from '../../clients/wallet/devnet-accounts.js'
import type { DevnetParts } from './devnet-parts.js'
import type { Faucet } from './faucet.js'
import type { DevnetValidator } from './own-validator.js'
import type { MadeCreate } from './seed-maker.js'
import { SeedThread } from './seed-thread.js'

/** DIDs of one round: coins for all of them in one transaction, then a transaction for each. */
const didsOfRound = 1000
/** DIDs of the first round: until the thread has made it, this one has nothing to connect. */
const didsOfFirstRound = 200
/** DIDs that the thread makes for one request. */
const didsOfRequest = 50
/** More bytes than a create of a seeded DID has without its signatures. */
const createBytes = 4096

export interface SeedingParts extends Pick<DevnetParts, 'chain' | 'signatures' | 'clock' | 'random'> {
  readonly faucet: Faucet
  readonly producer: Producer
  readonly validator: DevnetValidator
}

/** The seeded DIDs of a devnet. */
export interface SeededDids {
  readonly count: number
  /** Up to three of them. */
  readonly first: readonly string[]
}

/**
 * Registers the first `count` seeded DIDs that are not registered yet, each by a transaction in a block. `progress` gets how many
 * are, after each round and several times within it: it throws where the start is to end. A {@link UserError} where the faucet
 * cannot pay for them.
 */
export async function seedDids(
  parts: SeedingParts,
  count: number,
  progress: (done: number) => void = () => {},
): Promise<SeededDids> {
  const thread = new SeedThread()
  let done = 0
  const look = () => progress(done)
  const round = (from: number, most: number) =>
    makeRound(parts, thread, { from, end: Math.min(from + most, count) }, look)
  try {
    const first: string[] = []
    let next = round(0, didsOfFirstRound)
    while (done < count) {
      const { dids, creates } = await next
      // Its thread makes the next round while this one connects.
      next = round(done + dids.length, didsOfRound)
      next.catch(() => {})
      first.push(...dids.slice(0, 3 - first.length))
      await register(parts, creates, look)
      done += dids.length
      look()
    }
    return { count, first }
  } finally {
    await thread.close()
  }
}

/** The DIDs of a round, and the creates of those that are not registered yet. */
interface Round {
  readonly dids: readonly string[]
  readonly creates: readonly MadeCreate[]
}

async function makeRound(
  { chain, clock }: SeedingParts,
  thread: SeedThread,
  { from, end }: { readonly from: number; readonly end: number },
  look: () => void,
): Promise<Round> {
  const ask: SeedThread['ask'] = async (request) => {
    const answer = await thread.ask(request)
    look()
    return answer
  }
  const starts = Array.from({ length: Math.ceil((end - from) / didsOfRequest) }, (_, i) => from + i * didsOfRequest)
  const dids = await Promise.all(
    starts.map((first) => ask({ kind: 'dids', first, count: Math.min(didsOfRequest, end - first) })),
  )
  const { specifications } = paramsAt(chain.spec, chain.tip.header.height + 1)
  const creates = await Promise.all(
    dids.map((some, i) => {
      const numbers = some.flatMap((did, j) => (chain.state.did(did) ? [] : [(starts[i] as number) + j]))
      return ask({
        kind: 'creates',
        numbers,
        now: clock.seconds,
        specification: specifications.did[0] as string,
      })
    }),
  )
  return { dids: dids.flat(), creates: creates.flat() }
}

/** Registers DIDs: a block with coins for them, then blocks with their creates. */
async function register(parts: SeedingParts, made: readonly MadeCreate[], look: () => void): Promise<void> {
  if (made.length === 0) return
  const { chain, signatures, random, producer } = parts
  const { fees } = paramsAt(chain.spec, chain.tip.header.height + 1)
  const { privateKey, publicKey } = registrarKey()
  const payer = quickSigner(privateKey)
  const code = singleKeyCode(publicKey)
  const script = parseCode(code) as ProgramScript
  const value = coinOf(fees)
  const paying = await pay(parts, payerOf(code), made.length, value)
  const common = { code, fee: fees, assetId: chain.sanity.assetId, maxMoney: chain.spec.maxMoney, random }
  const creates: Create[] = []
  await forEachCooperatively(made.entries(), ([index, { did, operation, identities }]) => {
    if (index % didsOfRequest === 0) look()
    const coins = [{ txid: paying, index, value, confirmations: 1 }]
    const didHash = parseAddress(did.slice(`did:${didMethod}:`.length)) as ProgramHash
    const { transaction: unsigned, fee } = buildDidTransaction({ ...common, coins }, operation, didHash)
    const signature = payer.sign(unsigned.unsigned)
    const transaction = signed(unsigned, publicKey, signature)
    creates.push({ did, fee, transaction })
    signatures.addNamed(identities)
    signatures.add([new ProgramCheck(transaction, 0, script, [signature])])
  })
  look()
  await producer.between(() => mine(parts, creates))
}

/** A create that holds on the tip. */
interface Create {
  readonly did: string
  readonly fee: bigint
  readonly transaction: Transaction
}

/** Puts creates into a block. They skip the pool, whose checks the chain repeats for each block. */
async function mine({ chain, random, validator }: SeedingParts, creates: readonly Create[]): Promise<void> {
  const transactions = creates.map(({ transaction }) => transaction)
  const fees = creates.reduce((sum, { fee }) => sum + fee, 0n)
  const operations = creates.map(({ did: id, transaction: tx }, i) => {
    return { operation: { id, state: { operationCount: 1 } }, tx, index: i + 1 }
  })
  const chosen = { transactions, fees, witnessRoot: witnessRootBehindCoinbase(transactions), operations }
  const selection = await selectionOf(chain, nextPlace(chain, validator.time()), chosen)
  const template = templateOf(chain, selection, { payTo: validator.payTo, nonce: random.bytes(8) })
  const block = await solve(template)
  if (block === undefined) throw new InvariantError('a block of a devnet takes no work')
  await validator.offer(block)
}

function signed(unsigned: Transaction, publicKey: Uint8Array, signature: Uint8Array): Transaction {
  const { version, payloadVersion, payload, attributes, inputs, outputs, lockTime } = unsigned
  const programs = [standardProgram(publicKey, signature)]
  return new Transaction({ version, payloadVersion, payload, attributes, inputs, outputs, lockTime, programs })
}

/** Pays `count` coins to the registrar in a block of its own; returns the txid. */
async function pay(
  { chain, faucet, producer }: SeedingParts,
  to: ProgramHash,
  count: number,
  value: bigint,
): Promise<Hash> {
  try {
    const txid = await faucet.send(Array.from({ length: count }, () => ({ programHash: to, value })))
    await producer.produce()
    return parseDisplayHash(txid) as Hash
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError(
      `the faucet cannot pay for ${count} DIDs more at height ${chain.tip.header.height}; ${error.message}`,
    )
  }
}

/** Largest cost of one create; change of it returns to the registrar. */
function coinOf(fees: Fees): bigint {
  return leastFee(poolFees(fees), { unsignedSize: createBytes })
}
