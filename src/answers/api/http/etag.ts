import { createHash } from 'node:crypto'

/** The strong ETag of a content, quoted. */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` names an ETag, or any. */
export function namesEtag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((one) => [etag, '*'].includes(one.trim().replace(/^W\//, ''))) === true
}
