import { encodeBase64url } from '../did/base64url.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, fromHex, toHex } from '../../base/primitives/bytes.js'
import { Reader } from '../../base/primitives/codec.js'
import { type Confirm, confirmBytes, parseConfirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import { Header, headerSize } from '../../base/primitives/header.js'
import { committedBlock } from './anchor.js'
import { compactConfirm, readConfirm, signaturesOf } from './anchor-confirm.js'
import { type LeafName, leafOf } from './proof-answer.js'
import { type Checking, requireSignatures } from './signature-checks.js'
import { type HistoryAt, mayBegin } from './history-prefix.js'
import { fail } from './proof-failure.js'
import { base64, hexText, list, type Members, members, optionalText, text } from './read-json.js'

/**
 * Evidence that validators confirmed two states that exclude each other: two blocks of one height, or two histories of one leaf. A
 * trust root and the changes of validators are all that its check needs.
 */

export const evidenceFormat = 'didledger/evidence/1'

/** Two confirmed blocks that cannot both be of one honest chain, the lower one or the one with the lower hash first. */
export interface ForkEvidence {
  readonly format: typeof evidenceFormat
  /** Hash of the genesis block, display hex. */
  readonly chain: string
  /** Hex: headers of 84 bytes. */
  readonly headers: readonly [string, string]
  /** Hex: the whole confirm of each. */
  readonly confirms: readonly [string, string]
  /** Changes of validators from genesis, or from the block of a checkpoint, as nodes send them. */
  readonly changes: readonly unknown[]
  /** The leaf whose histories exclude each other, and the way from it to each block, where the heights differ. */
  readonly leaf?: LeafName
  /** Base64url. */
  readonly coinbases?: readonly [string, string]
  readonly branches?: readonly [string, string]
  readonly maps?: readonly [unknown, unknown]
}

/** The conflict that evidence shows. */
export interface ProvedFork {
  readonly heights: readonly [number, number]
  /** Display hex. */
  readonly hashes: readonly [string, string]
  /** Undefined: the blocks are of one height. */
  readonly leaf: LeafName | undefined
  /** Hex: the keys of validators who signed both blocks. */
  readonly validators: readonly string[]
}

/** The chain that evidence is about, with its validators as they are proved. */
export interface ForkTrust {
  readonly genesis: Hash
  readonly keysAt: (height: number) => readonly Uint8Array[] | undefined
}

/** Checks evidence, whose format was read. Throws a `ProofError`; `no-contradiction` where both blocks hold, and can be of one chain. */
export function* checkFork(sent: unknown, trust: ForkTrust): Checking<ProvedFork> {
  const evidence = members(sent, 'evidence')
  const headers = pair(evidence['headers']).map(readHeader) as [Header, Header]
  const confirms: Confirm[] = []
  for (const [i, confirm] of pair(evidence['confirms']).entries()) {
    confirms.push(yield* confirmOf(confirm, headers[i] as Header, trust))
  }
  const leaf = evidence['leaf'] === undefined ? undefined : readLeafName(evidence['leaf'])
  if (leaf === undefined) requireTwoBlocks(headers)
  else requireTwoHistories(evidence, leaf, headers, trust)
  const [one, other] = confirms.map(({ votes }) => votes.map(({ signer }) => toHex(signer))) as [string[], string[]]
  return {
    heights: headers.map(({ height }) => height) as [number, number],
    hashes: headers.map(({ hash }) => displayHash(hash)) as [string, string],
    leaf,
    validators: one.filter((key) => other.includes(key)),
  }
}

function pair(sent: unknown): [unknown, unknown] {
  const both = list(sent, 2)
  return both.length === 2 ? (both as [unknown, unknown]) : fail('form', 'two are needed')
}

function readHeader(sent: unknown): Header {
  return Header.read(new Reader(fromHex(hexText(sent, headerSize)) as Uint8Array))
}

/** The confirm of a block by its validators. */
function* confirmOf(sent: unknown, header: Header, { keysAt }: ForkTrust): Checking<Confirm> {
  const keys = keysAt(header.height) ?? fail('changes-missing', `the validators of height ${header.height}`)
  const confirm = readConfirm(compactConfirm(parsedConfirm(sent), keys, keys.length), header, keys)
  // Each of its bytes counts: nothing else is handed on as evidence.
  if (toHex(confirmBytes(confirm)) !== sent) fail('confirm-form', 'it has more than votes of validators for the block')
  yield* requireSignatures(signaturesOf(confirm), 'confirm-signature', 'not all of them verify')
  return confirm
}

/** A confirm in hex, not checked. */
function parsedConfirm(sent: unknown): Confirm {
  const bytes = fromHex(text(sent)) ?? fail('confirm-form', 'no hex')
  try {
    return parseConfirm(bytes)
  } catch (error) {
    if (error instanceof RuleError) return fail('confirm-form', error.message)
    throw error
  }
}

function readLeafName(sent: unknown): LeafName {
  const { did, id, signer } = members(sent, 'a leaf')
  const given = optionalText(did)
  return given === undefined ? { id: text(id), signer: text(signer) } : { did: given }
}

function requireTwoBlocks([one, other]: readonly [Header, Header]): void {
  if (one.height === other.height && !equalBytes(one.hash, other.hash)) return
  fail('no-contradiction', `blocks ${one.height} and ${other.height} can be of one chain`)
}

function requireTwoHistories(
  { coinbases, branches, maps }: Members,
  leaf: LeafName,
  headers: readonly [Header, Header],
  { genesis }: ForkTrust,
): void {
  const [coinbase, branch, map] = [pair(coinbases), pair(branches), pair(maps)]
  const histories = headers.map((header, i): HistoryAt => {
    const anchor = { header: encodeBase64url(header.bytes), coinbase: base64(coinbase[i]), branch: base64(branch[i]) }
    const { history } = leafOf(leaf, map[i], committedBlock(anchor, header, true), genesis)
    return { height: header.height, history }
  })
  const [lower, higher] = histories.sort((a, b) => a.height - b.height) as [HistoryAt, HistoryAt]
  if (mayBegin(lower, higher)) fail('no-contradiction', 'one history can be the beginning of the other')
}
