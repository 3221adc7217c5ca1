import { createHash } from 'node:crypto'

/** The strong ETag of a content, quoted. */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` names an ETag, or any; a weak one is as good as a strong one (RFC 9110 §13.1.2). */
export function namesEtag(header: string | undefined, etag: string): boolean {
  const opaque = (one: string) => one.replace(/^W\//, '')
  return header?.split(',').some((one) => [opaque(etag), '*'].includes(opaque(one.trim()))) === true
}
