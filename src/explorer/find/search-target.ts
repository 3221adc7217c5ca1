import { parseAddress, prefix } from '../../base/primitives/address.js'
import { didMethod } from '../../base/primitives/did-method.js'
import { writtenWords } from '../../base/primitives/written-words.js'
import { hashIn, readRoute } from '../route.js'
import { withoutUnseen } from '../text/safe-text.js'
import { anyLead, decoded, type DidTarget, didTarget, lead } from './did-target.js'

/** Things that a text in the search box may name. Pure. */

export type SearchTarget = DidTarget | { readonly kind: 'height' | 'hash' | 'address' | 'text'; readonly text: string }

/** Words that look like the secret of a wallet, which are neither sent nor kept. */
export interface Secret {
  readonly kind: 'secret'
}

/** A DID of a key before signs that belong to the text around it, such as `**` or `&x=1`: behind a right checksum nothing follows. */
const didFirst = new RegExp(`^did(?::|%3a)${didMethod}(?::|%3a)i[1-9a-z]{33}(?![\\p{L}\\p{N}])`, 'iu')
/** Quotes, brackets and separators that are copied along with an id. */
const [before, behind] = [/^[\p{Ps}\p{Pi}"'`<]+/u, /[\p{Pe}\p{Pf}\p{Pi}"'`>,;:!?][\p{Pe}\p{Pf}\p{Pi}"'`>,;:!?.]*$/u]
/** A height as people write and copy it: `1 234`, `1,234`, `1.234`, `1'234`, `#7`, `Block 7`, `height: 7.` */
const heightForm = /^(?:block|height|block height)?[\s:]*#?((?:\d[\s,_'’]*){1,10}|\d{1,3}(?:\.\d{3}){1,3})\.?$/i
/** A height in the address of a block, as other explorers and REST have it, or as a member of JSON: `…/block/7`, `"height": 7`. */
const namedHeight =
  /(?<![\p{L}\p{N}])(?:blocks?\/(?:[a-z]+\/)*|(?:block_?)?height(?:\/|["']?\s*[:=]\s*["']?))(\d{1,10})(?![\p{L}\p{N}.-])/iu
/** A DID URL alone: its fragment may hold anything, also blanks. */
const didUrlForm = /^did(?::|%3a)(?!did(?::|%3a))[\w.:%-]+(?:[/?][^\s#]*)?(?:#.*)?$/is
/** Ids within other text: a DID URL, a hash, an address or an identifier. */
const idForms =
  /(?<![\p{L}\p{N}])(?:did(?::|%3a)(?!did(?::|%3a))[a-z0-9]+(?::|%3a)[^\s\p{Ps}\p{Pe}\p{Pi}\p{Pf}"'`<>,;]*|(?:(?:0x)?[0-9a-f]{64}|[Ei][1-9A-HJ-NP-Za-km-z]{33})(?![\p{L}\p{N}]))/giu
/** Pages whose subject is an id. */
const pagesOfIds = ['address', 'block', 'credential', 'did', 'search', 'transaction']

/** Reads a text of the search box; undefined for an empty one. `hash` may be a block or a transaction. */
export function searchTarget(input: string): SearchTarget | Secret | undefined {
  const seen = withoutUnseen(input)
  if (input.trim() === '') return undefined
  if (seen === '') return { kind: 'text', text: input.trim() }
  if (isMnemonicLike(seen)) return { kind: 'secret' }
  const bare = seen.replace(before, '').replace(behind, '')
  const target = idAlone(seen) ?? idAlone(bare) ?? wrappedId(bare) ?? subjectOfPage(bare)
  // An address may stand in another one, as a parameter that is encoded once or twice.
  const [once, twice] = [decoded(seen), decoded(decoded(seen))]
  const within = idWithin(seen) ?? idWithin(once) ?? idWithin(twice) ?? heightWithin(seen)
  return target ?? within ?? { kind: 'text', text: trimmed(input) }
}

/** Whether a text is as many words as a mnemonic of BIP39 has, each of as many letters as those of its list. */
function isMnemonicLike(text: string): boolean {
  const words = writtenWords(text)
  return [12, 15, 18, 21, 24].includes(words.length) && words.every((word) => /^[a-z]{3,8}$/i.test(word))
}

/** A text without what is unseen around it. What is unseen within belongs to some names: they join letters. */
function trimmed(text: string): string {
  const characters = [...text]
  const isSeen = (character: string) => withoutUnseen(character) !== ''
  return characters.slice(characters.findIndex(isSeen), characters.findLastIndex(isSeen) + 1).join('')
}

/** The target of a text that is an id and nothing else, or looks like one. */
function idAlone(text: string): SearchTarget | undefined {
  const [, height] = heightForm.exec(text.normalize('NFKC')) ?? []
  if (height !== undefined) return { kind: 'height', text: String(Number(height.replace(/\D/g, ''))) }
  if (didUrlForm.test(text)) return didUrlTarget(text)
  if (/^[Ei][1-9A-HJ-NP-Za-km-z]{33}$/.test(text) && parseAddress(text) === undefined) {
    return { kind: 'wrong', text, reason: 'This looks like an address or a DID, but its checksum is wrong.' }
  }
  return hashOrAddress(text)
}

function hashOrAddress(text: string): SearchTarget | undefined {
  const hash = hashIn(text)
  if (hash !== undefined) return { kind: 'hash', text: hash }
  const address = parseAddress(text)
  if (address === undefined) return undefined
  return address[0] === prefix.did ? { kind: 'did', text: `${lead}${text}` } : { kind: 'address', text }
}

/** The target of an id that a mail or a terminal broke into lines: all of it but blanks is an id with a checksum, or a hash. */
function wrappedId(text: string): SearchTarget | undefined {
  const joined = text.replaceAll(' ', '').replace(anyLead, '')
  return text.includes(' ') ? hashOrAddress(joined) : undefined
}

/** A full stop ends the sentence, unless it is the last character of a name; any such sign does behind a fragment. */
function didUrlTarget(text: string): SearchTarget {
  const target = didTarget(text)
  if (target.kind === 'credential') return { ...target, text: target.text.replace(/[.,;:!]+$/, '') }
  const parts = [text.replace(/\.+$/, ''), didFirst.exec(text)?.[0] ?? '']
  return target.kind === 'wrong' ? (parts.map(didTarget).find(({ kind }) => kind !== 'wrong') ?? target) : target
}

/** The subject of the page that an address of these pages names, as `http://127.0.0.1:20334/#/block/3`. */
function subjectOfPage(text: string): SearchTarget | undefined {
  const [hash] = /#\/\S*/.exec(text) ?? []
  if (hash === undefined) return undefined
  const { page, subject } = readRoute(hash)
  return pagesOfIds.includes(page) ? idAlone(subject) : undefined
}

function heightWithin(text: string): SearchTarget | undefined {
  const [, height] = namedHeight.exec(text) ?? []
  return height === undefined ? undefined : { kind: 'height', text: String(Number(height)) }
}

/** The one id that stands within a text, such as a DID in the address of a resolver; several are told. */
function idWithin(text: string): SearchTarget | undefined {
  const found = [...text.matchAll(idForms)].flatMap(({ 0: id, index }) => targetWithin(id, text[index - 1]) ?? [])
  const right = new Map(found.filter(({ kind }) => kind !== 'wrong').map((target) => [target.text, target]))
  if (right.size > 1) return { kind: 'wrong', text, reason: 'Several ids stand here: look for one of them.' }
  return [...right.values()][0] ?? found[0]
}

/** The target of an id within a text; behind `=` it is a parameter, which `&` ends. */
function targetWithin(id: string, last: string | undefined): SearchTarget | undefined {
  if (!/^did(:|%3a)/i.test(id)) return hashOrAddress(id)
  return didUrlTarget((last === '=' ? id.replace(/&.*$/, '') : id).replace(behind, ''))
}
