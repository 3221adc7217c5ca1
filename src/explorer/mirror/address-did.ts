import { readRoute } from '../route.js'

/** The DID in the address of the page: behind `#`, as links of the page have it, else `?did=`. Pure. */
export function addressDid({ hash, search }: { readonly hash: string; readonly search: string }): string | undefined {
  const { page, subject } = readRoute(hash)
  const isDid = page === 'did' || page === 'search'
  const did = isDid && subject !== '' ? subject : (new URLSearchParams(search).get('did') ?? '')
  return did.trim() === '' ? undefined : did.trim()
}
