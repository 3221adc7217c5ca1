import { checkCoinbaseSize } from '../../src/ledger/consensus/coinbase-size.js'
import { quickSigner } from '../../src/base/crypto/quick-signer.js'
import { encodeBase64url } from '../../src/identity/did/base64url.js'
import { soloAuxPow } from '../../src/base/primitives/auxpow.js'
import { fullHeaderBytes } from '../../src/base/primitives/block.js'
import { concat, hex, reversed, toHex } from '../../src/base/primitives/bytes.js'
import { Reader, Writer } from '../../src/base/primitives/codec.js'
import { sha256, sha256d, zeroHash } from '../../src/base/primitives/hash.js'
import { Header, type HeaderFields } from '../../src/base/primitives/header.js'
import { foldBranch } from '../../src/base/primitives/merkle.js'
import { parseSpec } from '../../src/base/primitives/spec-file.js'
import { attributeUsage } from '../../src/base/primitives/transaction.js'
import { committedBlock, readAnchor } from '../../src/identity/proofs/anchor.js'
import { coinbaseAttributes } from '../../src/identity/proofs/anchor-coinbase.js'
import { readAnswer } from '../../src/identity/proofs/proof-answer.js'
import { readTransactions } from '../../src/identity/proofs/answer-transaction.js'
import { checkAuxPow } from '../../src/identity/proofs/auxpow-proof.js'
import { readChanges } from '../../src/identity/proofs/changes.js'
import { keyTexts, validatorKeys } from '../../src/identity/proofs/validator-list.js'
import { HeaderChain, readHeaders } from '../../src/identity/proofs/work.js'
import { longAuxPow, solved } from '../support/builders/blocks.js'
import { holder } from '../support/builders/did.js'
import { type BlockPlan, paperGenesis, ProofBook } from '../support/builders/proof-book.js'
import { testPublicKey, testSpec } from '../support/builders/spec.js'
import { everyDoor, limit } from './limit.js'

const time = 1_780_000_000
const genesis = paperGenesis('limits', time)
const signers = [quickSigner()]

/** A chain of miners with one more block. */
function mined(plan: BlockPlan = {}): ProofBook {
  const book = new ProofBook(genesis)
  book.make(plan)
  return book
}

/** Checks the anchor of the first block of a book, whose header may be another one. */
function checkAnchor(book: ProofBook, changes: object = {}, header?: Header): void {
  committedBlock(readAnchor({ ...book.anchor(1), ...changes }, false), header ?? book.page(1).block.header, false)
}

/** A block whose coinbase has so many bytes before its programs. */
function withCoinbase(size: number): ProofBook {
  const build = (length: number) => {
    const pad = { usage: attributeUsage.memo, data: new Uint8Array(length) }
    return mined({ attributes: (right) => [pad, right] })
  }
  const base = build(1000).page(1).block.transactions[0]?.unsignedSize ?? 0
  return build(1000 + size - base)
}

/** Reads the unsigned part of a coinbase with so many attributes and outputs. */
function readCoinbase(attributes: number, outputs: number): void {
  const writer = new Writer(1024).u8(0).u8(4).varuint(0).varuint(attributes)
  for (let i = 0; i < attributes; i++) writer.u8(attributeUsage.memo).varuint(0)
  writer.varuint(1).bytes(zeroHash).u16(0xffff).u32(0xffffffff).varuint(outputs)
  coinbaseAttributes(
    writer
      .bytes(new Uint8Array(65 * outputs))
      .u32(1)
      .finish(),
    1,
  )
}

const book = mined()
const { block } = book.page(1)
const chainId = 7000

function headerWith(changes: Partial<HeaderFields>): Header {
  const { version, previous, merkleRoot, bits, nonce, height } = block.header
  return new Header({ version, previous, merkleRoot, time: block.header.time, bits, nonce, height, ...changes })
}

const hashes = (count: number) => Array.from({ length: count }, (_, i) => sha256(`node ${i}`))

/** An AuxPow whose branches have these lengths, right in all else. */
function branched(coinbaseNodes: number, chainNodes: number) {
  const solo = soloAuxPow(block.header.hash, time)
  const [coinbaseBranch, auxBranch] = [hashes(coinbaseNodes), hashes(chainNodes)]
  const size = 2 ** chainNodes
  const scramble = (value: number) => (Math.imul(value, 1_103_515_245) + 12_345) >>> 0
  const auxIndex = scramble((scramble(0) + chainId) >>> 0) % size
  const root = reversed(foldBranch(reversed(block.header.hash), auxBranch, auxIndex))
  const script = new Writer(64).bytes(hex('fabe6d6d')).bytes(root).u32(size).u32(0).finish()
  const bytes = new Writer(128)
    .u32(1)
    .varuint(1)
    .bytes(zeroHash)
    .u32(0)
    .varbytes(script)
    .u32(0)
    .varuint(0)
    .u32(0)
    .finish()
  const parent = { ...solo.parent, merkleRoot: foldBranch(sha256d(bytes), coinbaseBranch, 0) }
  checkAuxPow(
    { ...solo, coinbase: { scripts: [script], bytes }, coinbaseBranch, auxBranch, auxIndex, parent },
    block.header.hash,
    chainId,
  )
}

/** A chain of one validator, who is followed by another at block 3. */
function handedOn(): ProofBook {
  const teams = [
    { height: 1, signers },
    { height: 3, signers: [quickSigner()] },
  ]
  const handed = new ProofBook(genesis, teams)
  while (handed.pages.length < 4) handed.make()
  return handed
}

const spec = parseSpec(testSpec())
const trust = { retarget: { interval: 720, spacing: 120 }, auxpowChainId: chainId, powLimitBits: genesis.header.bits }

export const proofLimits = [
  limit({
    name: 'identity/proofs/anchor-coinbase.maxAnchorCoinbase',
    unit: 'bytes',
    value: 64 * 1024,
    feed: everyDoor(
      (n) => checkAnchor(withCoinbase(n)),
      (n) => checkCoinbaseSize(spec, 1, { ...withCoinbase(n).page(1).block.transactions[0], unsignedSize: n } as never),
    ),
    refusal: /^anchor-coinbase: .*more than 65536 bytes\ncoinbase-too-large/,
  }),
  limit({
    name: 'identity/proofs/anchor-coinbase.listCap',
    unit: 'count',
    value: 65_535,
    feed: everyDoor(
      (n) => readCoinbase(n, 1),
      (n) => readCoinbase(1, n),
    ),
    refusal: /^anchor-coinbase: .*a count or length of 65536/,
  }),
  limit({
    name: 'identity/proofs/anchor.maxBranch',
    unit: 'count',
    value: 14,
    feed: (n) => {
      const [coinbase] = block.transactions
      const branch = hashes(n)
      const merkleRoot = foldBranch(sha256d(coinbase?.unsigned ?? zeroHash), branch, 0)
      checkAnchor(book, { branch: encodeBase64url(concat(...branch)) }, headerWith({ merkleRoot }))
    },
    refusal: 'anchor-branch: not at most 14 hashes',
  }),
  limit({
    name: 'identity/proofs/answer-transaction.maxTransactions',
    unit: 'count',
    value: 100_000,
    feed: (n) => {
      const owner = holder()
      const shown = mined({ operations: [owner.create()] }).answer(owner.did)
      readTransactions(new Array(n).fill(shown.transaction?.[0]))
    },
    refusal: 'form: 100001 elements, at most 100000',
  }),
  limit({
    name: 'identity/proofs/proof-answer.maxMaps',
    unit: 'count',
    value: 3,
    feed: (n) => {
      const answer = book.answer(holder().did)
      const proof = { ...answer.proof, maps: new Array(n).fill(answer.proof.maps[0]) }
      readAnswer({ ...answer, proof }, 'did', { genesis: book.genesis })
    },
    refusal: 'form: 4 elements, at most 3',
  }),
  limit({
    name: 'identity/proofs/auxpow-proof.maxCoinbaseBranch',
    unit: 'count',
    value: 32,
    feed: (n) => branched(n, 0),
    refusal: 'auxpow-index: branches are at most 32 and 16',
  }),
  limit({
    name: 'identity/proofs/auxpow-proof.maxAuxBranch',
    unit: 'count',
    value: 16,
    feed: (n) => branched(0, n),
    refusal: 'auxpow-index: branches are at most 32 and 16',
  }),
  limit({
    name: 'identity/proofs/changes.maxChanges',
    unit: 'count',
    value: 100,
    feed: (n) => {
      const handed = handedOn()
      const change = handed.change(3)
      const changes = Array.from({ length: n }, (_, i) => ({ ...change, height: 3 + i }))
      readChanges({ ...handed.changes(1), changes }, handed.genesis)
    },
    refusal: 'form: 101 elements, at most 100',
  }),
  limit({
    name: 'identity/proofs/validator-list.maxValidators',
    unit: 'count',
    value: 100,
    feed: (n) =>
      void validatorKeys(
        Array.from({ length: n }, (_, i) => toHex(testPublicKey(i))),
        'changes-keys',
      ),
    refusal: 'changes-keys: 101 validators',
  }),
  limit({
    name: 'identity/proofs/validator-list.maxListed',
    unit: 'count',
    value: 1000,
    feed: (n) => void keyTexts(new Array(n).fill(toHex(testPublicKey(0)))),
    refusal: 'form: 1001 elements, at most 1000',
  }),
  limit({
    name: 'identity/proofs/work.maxHeaders',
    unit: 'count',
    value: 2000,
    feed: (n) => void readHeaders(new Array(n).fill(book.headers(1, 1)[0])),
    refusal: 'form: 2001 elements, at most 2000',
  }),
  limit({
    name: 'identity/proofs/work.maxFullHeader',
    unit: 'bytes',
    value: 16_469,
    feed: (n) => {
      const { header } = block
      const auxPow = longAuxPow(header, n - header.bytes.length - 1)
      void readHeaders([encodeBase64url(fullHeaderBytes(header, auxPow))])
    },
    refusal: 'work-proof: more than 16469 bytes',
  }),
  limit({
    name: 'identity/proofs/work.maxAhead',
    unit: 's',
    value: 7200,
    feed: (n) => {
      const header = headerWith({ time: time + 10_000 })
      const chain = HeaderChain.over(trust, [Header.read(new Reader(genesis.header.bytes))])
      chain.add({ header, auxPow: solved(header) }, (header.time - n) * 1000)
    },
    refusal: 'work-time: time 20',
  }),
]
