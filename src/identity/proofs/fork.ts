import { encodeBase64url } from '../did/base64url.js'
import { RuleError } from '../../base/errors/rule-error.js'
import { displayHash, equalBytes, fromHex, toHex } from '../../base/primitives/bytes.js'
import { type Confirm, confirmBytes, parseConfirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { committedBlock, requireRoot } from './anchor.js'
import { compactConfirm, readConfirm, signaturesOf } from './anchor-confirm.js'
import { type LeafName, leafOf } from './proof-answer.js'
import { type Checking, requireSignatures } from './signature-checks.js'
import { type HistoryAt, mayBegin } from './history-prefix.js'
import { fail } from './proof-failure.js'
import { checkCosignatures, isAbout, readNote, type WitnessKey } from './witness-note.js'
import { base64, hashText, headerHex, list, type Members, members, optionalText, text } from './read-json.js'

/**
 * Evidence of two states that exclude each other, each confirmed by validators or cosigned by a witness: two blocks of one height, or two
 * histories of one leaf. A trust root, the changes of validators and the keys of witnesses are all that its check needs.
 */

export const evidenceFormat = 'didledger/evidence/1'

/** Two confirmed blocks that cannot both be of one honest chain, the lower one or the one with the lower hash first. */
export interface ForkEvidence {
  readonly format: typeof evidenceFormat
  /** Hash of the genesis block, display hex. */
  readonly chain: string
  /** Hex: headers of 84 bytes. */
  readonly headers: readonly [string, string]
  /** Hex: the whole confirm of each; null: witnesses alone stand for it. */
  readonly confirms: readonly [string | null, string | null]
  /** Texts of cosigned heads, where witnesses stand for a block; null: they do not for this one. */
  readonly notes?: readonly [string | null, string | null]
  /** Changes of validators from genesis, or from the block of a checkpoint, as nodes send them. */
  readonly changes: readonly unknown[]
  /** The leaf whose histories exclude each other, and the way from it to each block, where the heights differ. */
  readonly leaf?: LeafName
  /** Base64url. */
  readonly coinbases?: readonly [string, string]
  readonly branches?: readonly [string, string]
  readonly maps?: readonly [unknown, unknown]
  /** Hex: the roots of the maps, where the blocks are shown by themselves: a root names the chain, a confirm does not. */
  readonly roots?: readonly [string, string]
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
  /** Names of the witnesses who cosigned each of the blocks; absent: none was shown. */
  readonly witnesses?: readonly [readonly string[], readonly string[]]
}

/** The chain that evidence is about, with its validators as they are proved. */
export interface ForkTrust {
  readonly genesis: Hash
  readonly keysAt: (height: number) => readonly Uint8Array[] | undefined
  /** Keys of witnesses that count; none unless given. */
  readonly witnesses?: readonly WitnessKey[] | undefined
}

/** Checks evidence, whose format was read. Throws a `ProofError`; `no-contradiction` where both blocks hold, and can be of one chain. */
export function* checkFork(sent: unknown, trust: ForkTrust): Checking<ProvedFork> {
  const evidence = members(sent, 'evidence')
  const headers = pair(evidence['headers']).map(headerHex) as [Header, Header]
  const confirms: (Confirm | undefined)[] = []
  const notes = evidence['notes'] === undefined ? [null, null] : pair(evidence['notes'])
  const cosigned: (readonly string[])[] = []
  for (const [i, confirm] of pair(evidence['confirms']).entries()) {
    const header = headers[i] as Header
    const isConfirmed = confirm !== null
    confirms.push(isConfirmed ? yield* confirmOf(confirm, header, trust) : undefined)
    cosigned.push(yield* witnessesOf(notes[i] ?? null, header, trust, isConfirmed ? 0 : 1))
  }
  const leaf = evidence['leaf'] === undefined ? undefined : readLeafName(evidence['leaf'])
  if (leaf === undefined) requireTwoBlocks(evidence, headers, trust)
  else requireTwoHistories(evidence, leaf, headers, trust)
  const [one, other] = confirms.map((confirm) => (confirm?.votes ?? []).map(({ signer }) => toHex(signer))) as [
    string[],
    string[],
  ]
  return {
    heights: headers.map(({ height }) => height) as [number, number],
    hashes: headers.map(({ hash }) => displayHash(hash)) as [string, string],
    leaf,
    validators: one.filter((key) => other.includes(key)),
    ...(cosigned.some(({ length }) => length > 0) && { witnesses: cosigned as unknown as [string[], string[]] }),
  }
}

/** Names of the known witnesses who cosigned a block. */
function* witnessesOf(
  sent: unknown,
  header: Header,
  { genesis, witnesses: keys = [] }: ForkTrust,
  needed: number,
): Checking<readonly string[]> {
  if (sent === null) return needed === 0 ? [] : fail('unwitnessed', `nothing stands for block ${header.height}`)
  const note = readNote(sent)
  const head = { genesis, height: header.height, didRoot: note.didRoot, hash: header.hash }
  if (!isAbout(note, head)) fail('cosignature', `the note beside block ${header.height} is about another one`)
  const found = yield* checkCosignatures(head, note.lines, { keys, needed })
  return found.map(({ key }) => key.name)
}

function pair(sent: unknown): [unknown, unknown] {
  const both = list(sent, 2)
  return both.length === 2 ? (both as [unknown, unknown]) : fail('form', 'two are needed')
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

function requireTwoBlocks(evidence: Members, headers: readonly [Header, Header], { genesis }: ForkTrust): void {
  const [one, other] = headers
  if (one.height !== other.height || equalBytes(one.hash, other.hash)) {
    fail('no-contradiction', `blocks ${one.height} and ${other.height} can be of one chain`)
  }
  if (evidence['roots'] === undefined) return
  const roots = pair(evidence['roots'])
  for (const [i, block] of shownBlocks(evidence, headers).entries()) {
    requireRoot({ ...block.anchor, root: hashText(roots[i]) }, block, genesis)
  }
}

/** The blocks of evidence with what their coinbases commit to. */
function shownBlocks({ coinbases, branches }: Members, headers: readonly [Header, Header]) {
  const [coinbase, branch] = [pair(coinbases), pair(branches)]
  return headers.map((header, i) => {
    const anchor = { header: encodeBase64url(header.bytes), coinbase: base64(coinbase[i]), branch: base64(branch[i]) }
    return { anchor, ...committedBlock(anchor, header, true) }
  })
}

function requireTwoHistories(
  evidence: Members,
  leaf: LeafName,
  headers: readonly [Header, Header],
  { genesis }: ForkTrust,
): void {
  const map = pair(evidence['maps'])
  const histories = shownBlocks(evidence, headers).map((block, i): HistoryAt => {
    const { history } = leafOf(leaf, map[i], block, genesis)
    return { height: block.header.height, history }
  })
  const [lower, higher] = histories.sort((a, b) => a.height - b.height) as [HistoryAt, HistoryAt]
  if (mayBegin(lower, higher)) fail('no-contradiction', 'one history can be the beginning of the other')
}
