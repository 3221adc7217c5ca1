import { type SearchTarget, searchTarget } from '../find/search-target.js'
import { readRoute } from '../route.js'

/** DIDs that a reader of the page types, pastes or has in its address. Pure. */

/** The DID in the address of the page: behind `#`, as links of the page have it, else `?did=`; other text as it stands. */
export function addressDid({ hash, search }: { readonly hash: string; readonly search: string }): string | undefined {
  const { page, subject } = readRoute(hash)
  const isDid = page === 'did' || page === 'search'
  const did = isDid && subject !== '' ? subject : (new URLSearchParams(search).get('did') ?? '')
  const target = searchTarget(did)
  return target === undefined || target.kind === 'secret' ? undefined : didOfTarget(target, did)
}

/** The DID that a text names, of a DID URL too; a text that names none is left as it is, for its refusal to show it. */
export function didOfTarget({ kind, text }: SearchTarget, given: string): string {
  if (kind === 'did') return text
  return kind === 'credential' ? text.replace(/#.*$/s, '') : given.trim()
}
