import { readVerifierKey, type WitnessKey } from '../../identity/proofs/witness-note.js'
import { serverUrl } from './server-url.js'

/** A witness as options name it. */
export interface WitnessPlace {
  readonly key: WitnessKey
  /** URL at which it shows what it signed, without a slash at its end. */
  readonly url?: string
}

/** Reads `KEY` or `KEY,URL`, the key as C2SP writes it; `form`. A name may have a comma, base64 has none. */
export function readWitnessPlace(sent: string): WitnessPlace {
  const [, text = sent, address] = /^(.*\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+),(.+)$/s.exec(sent) ?? []
  const key = readVerifierKey(text)
  return address === undefined ? { key } : { key, url: serverUrl(address).url }
}
