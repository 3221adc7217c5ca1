/**
 * The work of an outside miner: a block of a parent chain whose coinbase commits to blocks of other chains, and the AuxPow that
 * proves it. Plain Node, so that it can be read without this project. Bytes are in the order in which they are hashed and sent
 * ("internal"), which is also how createauxblock prints its hashes.
 */
import { createHash } from 'node:crypto'

/** A block of any chain for which the parent block is mined. */
export interface AuxBlock {
  readonly chainId: number
  /** 32 bytes, internal order. */
  readonly hash: Buffer
}

const magic = Buffer.from('fabe6d6d', 'hex')
const zeros = Buffer.alloc(32)

export function sha256d(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(createHash('sha256').update(bytes).digest()).digest()
}

/** The integer that a parent hash must not exceed: a byte of exponent, three bytes of mantissa. */
export function targetOf(bits: number): bigint {
  return BigInt(bits & 0x7fffff) << BigInt(8 * ((bits >>> 24) - 3))
}

/** A legacy transaction with one input and one output, in the form of parent chains. */
export function legacyTransaction(outpoint: { txid: Buffer; index: number }, script: Buffer, value: bigint): Buffer {
  const amount = Buffer.alloc(8)
  amount.writeBigInt64LE(value)
  const payTo = Buffer.concat([Buffer.from('76a914', 'hex'), Buffer.alloc(20, 7), Buffer.from('88ac', 'hex')])
  const input = [outpoint.txid, u32(outpoint.index), varint(script.length), script, u32(0xffffffff)]
  return Buffer.concat([u32(1), varint(1), ...input, varint(1), amount, varint(payTo.length), payTo, u32(0)])
}

/** The tree of blocks for which one parent block is mined, each at the position that its chain id determines. */
export class AuxTree {
  /** The commitment in the script of the parent coinbase: magic, root, size, nonce. */
  readonly commitment: Buffer
  readonly #levels: Buffer[][]
  readonly #nonce: number

  constructor(blocks: readonly AuxBlock[]) {
    const { size, nonce } = roomFor(blocks)
    const leaves = Array.from({ length: size }, (): Buffer => zeros)
    // The tree is made of reversed hashes, and its root is reversed once more.
    for (const { chainId, hash } of blocks) leaves[positionOf(chainId, nonce, size)] = reversed(hash)
    this.#nonce = nonce
    this.#levels = levelsOf(leaves)
    const root = this.#levels.at(-1)?.[0] as Buffer
    this.commitment = Buffer.concat([magic, reversed(root), u32(size), u32(nonce)])
  }

  /** The branch from the block of a chain to the root. */
  branch(chainId: number): { readonly index: number; readonly nodes: readonly Buffer[] } {
    const index = positionOf(chainId, this.#nonce, (this.#levels[0] as Buffer[]).length)
    return { index, nodes: branchOf(this.#levels, index) }
  }
}

/** A block of the parent chain on which the work is done. */
export class ParentBlock {
  readonly #coinbase: Buffer
  readonly #branch: readonly Buffer[]
  readonly #header: Buffer

  /** `transactions` are those of the parent block after its coinbase. */
  constructor(tree: AuxTree, { height, time, transactions }: { height: number; time: number; transactions: Buffer[] }) {
    // A parent coinbase begins with its height; other data of the parent's pool may stand before or after the commitment.
    const script = Buffer.concat([Buffer.of(4), u32(height), tree.commitment, Buffer.from('/example/')])
    this.#coinbase = legacyTransaction({ txid: zeros, index: 0xffffffff }, script, 5_000_000_000n)
    const levels = levelsOf([this.#coinbase, ...transactions].map(sha256d))
    this.#branch = branchOf(levels, 0)
    const merkleRoot = levels.at(-1)?.[0] as Buffer
    const previous = sha256d(u32(height - 1))
    this.#header = Buffer.concat([u32(0x20000000), previous, merkleRoot, u32(time), u32(0x1d00ffff), u32(0)])
  }

  /** Tries so many nonces from `start` on; whether one of them meets the target. */
  search(target: bigint, start: number, count: number): boolean {
    for (let nonce = start; nonce < Math.min(start + count, 2 ** 32); nonce++) {
      this.#header.writeUInt32LE(nonce, 76)
      if (BigInt(`0x${reversed(sha256d(this.#header)).toString('hex')}`) <= target) return true
    }
    return false
  }

  /** The AuxPow for one of the chains, as submitauxblock takes it. */
  auxPow({ index, nodes }: ReturnType<AuxTree['branch']>): Buffer {
    // The hash of the parent block could stand after the coinbase; here it has to be zero. The coinbase has index 0.
    const coinbaseBranch = [varint(this.#branch.length), ...this.#branch, u32(0)]
    const auxBranch = [varint(nodes.length), ...nodes, u32(index)]
    return Buffer.concat([this.#coinbase, zeros, ...coinbaseBranch, ...auxBranch, this.#header])
  }
}

/** The position of a chain among `size` leaves; all arithmetic is modulo 2^32. */
function positionOf(chainId: number, nonce: number, size: number): number {
  const scramble = (value: number) => (Math.imul(value, 1103515245) + 12345) >>> 0
  return scramble((scramble(nonce) + chainId) >>> 0) % size
}

/**
 * The smallest tree, and the nonce, in which no two chains have the same position. A position comes from the low bits of an id
 * alone, so ids with the same low 16 bits need a larger tree than any made here.
 */
function roomFor(blocks: readonly AuxBlock[]): { size: number; nonce: number } {
  for (let size = 1; size <= 2 ** 16; size *= 2) {
    for (let nonce = 0; nonce < 64; nonce++) {
      if (new Set(blocks.map(({ chainId }) => positionOf(chainId, nonce, size))).size === blocks.length) {
        return { size, nonce }
      }
    }
  }
  throw new Error('no tree has a place for each of these chains: the low 16 bits of two ids are the same')
}

/** A merkle tree from its leaves up: pairs are hashed, an odd last one with itself. */
function levelsOf(leaves: readonly Buffer[]): Buffer[][] {
  const levels = [[...leaves]]
  for (let level = leaves; level.length > 1;) {
    const above: Buffer[] = []
    for (let i = 0; i < level.length; i += 2) {
      above.push(sha256d(Buffer.concat([level[i] as Buffer, level[i + 1] ?? (level[i] as Buffer)])))
    }
    levels.push(above)
    level = above
  }
  return levels
}

function branchOf(levels: readonly (readonly Buffer[])[], index: number): Buffer[] {
  return levels.slice(0, -1).map((level, depth) => {
    const place = index >>> depth
    return level[place ^ 1] ?? (level[place] as Buffer)
  })
}

function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes).reverse()
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Counts below 253 take one byte; larger ones do not occur here. */
function varint(value: number): Buffer {
  if (value >= 0xfd) throw new RangeError(`${value} does not fit in one byte`)
  return Buffer.of(value)
}
