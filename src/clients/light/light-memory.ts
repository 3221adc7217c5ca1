import { displayHash, equalBytes, fromHex, toHex } from '../../base/primitives/bytes.js'
import { type Confirm, confirmBytes, parseConfirm } from '../../base/primitives/confirm.js'
import type { Hash } from '../../base/primitives/hash.js'
import type { Header } from '../../base/primitives/header.js'
import { compactConfirm, readConfirm, signaturesOf } from '../../identity/proofs/anchor-confirm.js'
import { requireSignatures } from '../../identity/proofs/signature-checks.js'
import { fail } from '../../identity/proofs/proof-failure.js'
import {
  displayHashText,
  headerHex,
  list,
  members,
  requireFormat,
  text,
  whole,
} from '../../identity/proofs/read-json.js'
import type { Trust } from '../../identity/proofs/trust-root.js'
import { keysInForce, keyTexts, type ValidatorList, validatorKeys } from '../../identity/proofs/validator-list.js'
import { parse } from './json-scan.js'
import type { Signatures } from './signatures.js'

/** Saved state of a light resolver about a chain, and its text between two runs. */

export const stateFormat = 'didledger/light/1'

/** Blocks below the highest one seen whose validators are remembered. */
const rememberedBlocks = 288
/** @limit count: lists of validators, and headers, in the state of a light resolver */
const maxRemembered = 1_100_000

/** A block that a light resolver has seen, or trusts. */
export interface SeenBlock {
  readonly header: Header
  /** On a chain with validators; undefined for a trusted one. */
  readonly confirm?: Confirm | undefined
}

/** Saved state. */
export interface LightMemory {
  /** The highest block seen; before the first answer the trusted one. */
  readonly seen: SeenBlock
  /** In order of their heights; empty on a chain without validators. */
  readonly lists: readonly ValidatorList[]
  /** The last headers of a chain without validators, lowest first. */
  readonly headers: readonly Header[]
  /** The sum of the work up to them. */
  readonly work: bigint
}

/** Memory as it is kept: without validators who are long out of office. */
export function memoryText({ seen, lists, headers, work }: LightMemory, chain: Hash): string {
  const { header, confirm } = seen
  const first = lists.findLastIndex(({ height }) => height <= header.height - rememberedBlocks)
  return JSON.stringify({
    format: stateFormat,
    chain: displayHash(chain),
    height: header.height,
    hash: displayHash(header.hash),
    time: header.time,
    header: toHex(header.bytes),
    ...(confirm && { confirm: toHex(confirmBytes(confirm)) }),
    lists: lists.slice(Math.max(0, first)).map(({ height, keys }) => ({ height, validators: keys.map(toHex) })),
    ...(headers.length > 0 && { headers: headers.map(({ bytes }) => toHex(bytes)), work: work.toString() }),
  })
}

/** Reads memory of a chain, whose block has to be confirmed; `form` for one that is damaged, `chain` for that of another chain. */
export async function loadMemory(
  kept: string,
  { trust, signatures }: { readonly trust: Trust; readonly signatures: Signatures },
): Promise<LightMemory> {
  const memory = readMemory(kept, trust)
  const { header, confirm } = memory.seen
  const keys = keysInForce(memory.lists, header.height)
  if (confirm === undefined || keys === undefined) return memory
  // Answers are held against this block: it must not be that of a damaged file.
  const due = signaturesOf(readConfirm(compactConfirm(confirm, keys), header, keys))
  await signatures.settle(requireSignatures(due, 'form', 'the confirm of the state does not hold'))
  return memory
}

function readMemory(kept: string, { chain, validators }: Trust): LightMemory {
  const sent = members(parse(kept), 'the state')
  requireFormat(sent['format'], stateFormat)
  if (!equalBytes(displayHashText(sent['chain']), chain)) fail('chain', 'the state is of another chain')
  const header = headerHex(sent['header'])
  const { height, hash, time } = sent
  if (height !== header.height || hash !== displayHash(header.hash) || time !== header.time) damaged()
  const confirm = sent['confirm'] === undefined ? undefined : confirmIn(sent['confirm'])
  const lists = validators === undefined ? [] : list(sent['lists'], maxRemembered).map(readList)
  const headers = validators === undefined ? list(sent['headers'], maxRemembered).map(headerHex) : []
  const inOrder = lists.every((one, i) => i === 0 || one.height > (lists[i - 1] as ValidatorList).height)
  if (!inOrder || lists.length + headers.length === 0) damaged()
  const work = validators === undefined ? readWork(sent['work']) : 0n
  return { seen: { header, confirm }, lists, headers, work }
}

function damaged(): never {
  return fail('form', 'the state is damaged')
}

function readList(sent: unknown): ValidatorList {
  const { height, validators } = members(sent, 'a list of validators')
  return { height: whole(height), keys: validatorKeys(keyTexts(validators), 'form') }
}

function confirmIn(sent: unknown): Confirm {
  const bytes = fromHex(text(sent))
  try {
    return bytes === undefined ? damaged() : parseConfirm(bytes)
  } catch {
    return damaged()
  }
}

function readWork(sent: unknown): bigint {
  const digits = text(sent)
  return /^\d{1,80}$/.test(digits) ? BigInt(digits) : damaged()
}
