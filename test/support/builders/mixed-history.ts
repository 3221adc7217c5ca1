import { createHash } from 'node:crypto'
import { readBlock } from '../../../src/ledger/chain/read-body.js'
import type { IncomingBlock } from '../../../src/ledger/chain/block-run.js'
import { publicKeyOf, sign } from '../../../src/base/crypto/keys.js'
import type { SignatureCache } from '../../../src/base/crypto/signature-cache.js'
import { RuleError } from '../../../src/base/errors/rule-error.js'
import type { Block } from '../../../src/base/primitives/block.js'
import { defined } from '../../../src/base/primitives/defined.js'
import { registerAssetTransaction } from '../../../src/base/primitives/genesis.js'
import type { Hash } from '../../../src/base/primitives/hash.js'
import { craft, craftBlock, genesisCoin, personHash } from './blocks.js'
import { oneValidator, TestChain, withoutValidators } from './chain.js'
import { type Holder, holderOf } from './did.js'
import { Crowd, latestState, random } from './random-chain.js'
import { seededRandom } from './seeded-bytes.js'
import type { QuickSigner } from './signatures.js'
import type { SpecOverrides } from './spec.js'

/**
 * A history that is the same in every process: blocks of payments, of all operations on DIDs with and without names, and of
 * credentials, in the order in which a node gets them. Every so often a longer branch takes the place of the last blocks.
 */

/** A chain of work reorganises by itself; the blocks of a devnet have the votes of its validator, and are replaced. */
export const historySpecs = {
  work: { ...withoutValidators, coinInterval: 300 },
  devnet: { ...oneValidator(), producer: 'sponsor', devnet: true, coinInterval: 300 },
} as const satisfies Record<string, SpecOverrides>

export type HistoryKind = keyof typeof historySpecs

/** Blocks that come one after another, the first on top of the active block of a height. */
export interface Arrival {
  readonly above: number
  readonly blocks: readonly IncomingBlock[]
  /** Code with which each of them is refused. */
  readonly refused?: string
}

/** Blocks of a round: a few on the tip, then a branch that is longer by one than what it replaces. */
const roundBlocks = 9
const deepest = 4

/** A pair of keys that follows from a text, and signs the same bytes each time. */
function signerOf(name: string): QuickSigner {
  const privateKey = createHash('sha256').update(`mixed history, ${name}`).digest()
  return { publicKey: publicKeyOf(privateKey), sign: (message) => sign(message, privateKey) }
}

const holderNamed = (name: string) => holderOf(signerOf(name), signerOf(`recovery of ${name}`))
const issuers = ['ada', 'bea'].map(holderNamed)

/** Each is its own key, whatever names other crowds have: digests of the blocks are kept. */
const historyNames = ['a', 'shop', 'the.club']
/** People whose DIDs have ended after some rounds are followed by others, with other names. */
const roundsOfCrowd = 11
const crowdOf = (roll: (sides: number) => number, number: number) => {
  const holders = Array.from({ length: 6 }, (_, i) => holderNamed(`holder ${number * 6 + i}`))
  return new Crowd(
    roll,
    holders,
    historyNames.map((name) => `${name}${number}`),
  )
}

/** Makes a history, round by round. */
export class MixedHistory {
  readonly arrivals: Arrival[] = []
  /** A node to which every arrival was given, and whose pool has what people sent. */
  readonly chain: TestChain
  /** The miner of the branches. */
  readonly #rival: TestChain
  readonly #roll: (sides: number) => number
  #crowd: Crowd
  #rivals: Crowd
  #rounds = 0
  readonly #bytes = seededRandom('refused blocks')

  private constructor(chain: TestChain, rival: TestChain) {
    this.chain = chain
    this.#rival = rival
    this.#roll = random(2)
    this.#crowd = crowdOf(this.#roll, 0)
    this.#rivals = crowdOf(this.#roll, 0)
  }

  static async open(kind: HistoryKind, signatures: SignatureCache): Promise<MixedHistory> {
    const open = (seed: string) => TestChain.open(historySpecs[kind], { signatures, random: seededRandom(seed) })
    return new MixedHistory(await open('chain'), await open('rival'))
  }

  /** Some blocks on the tip, then a reorganisation: {@link roundBlocks} together. */
  async round(): Promise<void> {
    const crowd = Math.floor(this.#rounds++ / roundsOfCrowd)
    this.#crowd = crowdOf(this.#roll, crowd)
    this.#rivals = crowdOf(this.#roll, crowd)
    this.#crowd.look(this.chain)
    const depth = 1 + this.#roll(deepest)
    await this.extend(roundBlocks - 1 - depth)
    if (this.#roll(4) === 0) await this.#refusedBlock()
    const above = this.chain.reader.height - depth
    await this.#branch(above, depth)
    const blocks = await incomingFrom(this.#rival, above + 1)
    await this.#arrive({ above, blocks })
  }

  /** Blocks on the tip. */
  async extend(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.#act(this.chain, this.#crowd)
      const above = this.chain.reader.height
      const [block] = await this.#mine(this.chain)
      this.arrivals.push({ above, blocks: [incoming(this.chain, block as Block)] })
    }
  }

  async close(): Promise<void> {
    await this.chain.close()
    await this.#rival.close()
  }

  /** Has the rival mine a branch, which repeats some transactions of the blocks that it replaces. */
  async #branch(above: number, depth: number): Promise<void> {
    for (let height = this.#rival.reader.height + 1; height <= above; height++) {
      await this.#rival.accept(await blockAt(this.chain, height))
    }
    this.#rivals.look(this.#rival)
    for (let height = above + 1; height <= above + depth; height++) {
      const { transactions } = await blockAt(this.chain, height)
      for (const { bytes } of transactions.slice(1)) {
        if (this.#roll(2) === 0) await this.#rival.mempool.accept(bytes, { local: false }).catch(unlessRule)
      }
    }
    this.#rival.clock.time = this.chain.clock.time
    for (let i = 0; i <= depth; i++) {
      await this.#act(this.#rival, this.#rivals)
      await this.#mine(this.#rival)
    }
    this.chain.clock.time = this.#rival.clock.time
  }

  async #mine(test: TestChain): Promise<Block[]> {
    test.clock.time += 1000
    return test.mine()
  }

  /** Has people act before a block; an act that breaks a rule changes nothing. */
  async #act(test: TestChain, crowd: Crowd): Promise<void> {
    for (let acts = 2 + this.#roll(4); acts > 0; acts--) {
      if (this.#roll(3) === 0) await this.#issue(test).catch(unlessRule)
      else await crowd.act(test)
    }
  }

  /** An issuer gets a DID, changes its document, declares a credential or revokes one. */
  async #issue(test: TestChain): Promise<void> {
    const issuer = issuers[this.#roll(issuers.length)] as Holder
    const last = latestState(test, issuer.did)
    const id = `${issuer.did}#credential-${this.#roll(12)}`
    const credentials = () => [issuer.issue(issuer.did, { id })]
    const services = [
      { id: '#hub', type: `Hub${this.#roll(3)}`, serviceEndpoint: `https://hub.example/${this.#roll(9)}` },
    ]
    const forms = [
      () => issuer.update(last?.lastTxid ?? '', { services, credentials: credentials() }),
      () => issuer.declare(credentials()[0] as string),
      () => issuer.declare(credentials()[0] as string),
      () => issuer.revoke(id),
    ]
    const form = last === undefined ? () => issuer.create({ services }) : forms[this.#roll(forms.length)]
    await test.send(await test.carry((form as () => ReturnType<Holder['create']>)(), issuer.did, 10 + this.#roll(2)))
  }

  /** A block whose transaction has votes for producers in an output, which no chain takes. */
  async #refusedBlock(): Promise<void> {
    const { chain, spec } = this.chain
    const { hash: assetId } = registerAssetTransaction(spec)
    const votes = { type: 1, payload: Uint8Array.of(0, 1, 0, 1, 1, this.#roll(256)) }
    const output = { assetId, value: 1_000_000n, outputLock: 0, programHash: personHash(30), extra: votes }
    const voting = craft(spec, [genesisCoin(chain)], [], [10], { version: 9, outputs: [output] })
    const block = craftBlock(chain, { transactions: [voting], nonce: this.#bytes.bytes(8) })
    const above = this.chain.reader.height
    await this.#arrive({ above, blocks: [incoming(this.chain, block)], refused: 'tx-output-type' })
  }

  async #arrive(arrival: Arrival): Promise<void> {
    this.arrivals.push(arrival)
    await arrive(this.chain, arrival)
  }
}

/** Gives blocks to a node as they come: to a devnet in place of those above. */
export async function arrive(test: TestChain, { above, blocks, refused }: Arrival): Promise<void> {
  const { chain, mempool, reader, spec } = test
  if (spec.devnet && above < reader.height) {
    await chain.exclusive(({ replace }) => replace(chain.headers.activeHash(above) as Hash, blocks))
  } else {
    for (const { block, confirm } of blocks) {
      const code = await chain.acceptBlock(block, confirm).then(() => undefined, codeOf)
      if (code !== refused) throw new Error(`a block above ${above} had the code ${code}, not ${refused}`)
    }
  }
  await mempool.settled()
}

/** The blocks of the active chain from a height on. */
export async function incomingFrom(test: TestChain, first: number): Promise<IncomingBlock[]> {
  const blocks: IncomingBlock[] = []
  for (let height = first; height <= test.reader.height; height++)
    blocks.push(incoming(test, await blockAt(test, height)))
  return blocks
}

function incoming(test: TestChain, block: Block): IncomingBlock {
  return { block: block.bytes, ...defined({ confirm: test.confirmFor(block) }) }
}

function blockAt(test: TestChain, height: number): Promise<Block> {
  return readBlock(test.database, test.activeHeader(height))
}

function codeOf(error: unknown): string {
  unlessRule(error)
  return (error as RuleError).code
}

function unlessRule(error: unknown): void {
  if (!(error instanceof RuleError) && !String(error).includes('not enough coins')) throw error
}
