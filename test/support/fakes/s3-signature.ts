import { createHash, createHmac } from 'node:crypto'

/** A request as it stands on the wire, and the secret of its key. */
export interface SignedRequest {
  readonly method: string
  /** Target of the request line. */
  readonly target: string
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly secret: string
}

/** Parts of the header `Authorization`; undefined for another one. */
export function authorizationIn(header: string | undefined) {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      header ?? '',
    )
  if (found === null) return undefined
  const [, key = '', day = '', region = '', signed = '', signature = ''] = found
  return { key, day, region, signed: signed.split(';'), signature }
}

/** The signature (AWS Signature Version 4) of a request, as a store computes it: written by the specification, not by the client. */
export function signatureOf(
  { method, target, headers, secret }: SignedRequest,
  { day, region, signed }: { readonly day: string; readonly region: string; readonly signed: readonly string[] },
): string {
  const [path = '', query = ''] = target.split('?')
  const parameters = [...new URLSearchParams(query)].map((pair) => pair.map(encoded).join('=')).sort()
  const canonical = [
    method,
    path
      .split('/')
      .map((part) => encoded(decodeURIComponent(part)))
      .join('/'),
    parameters.join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signed.join(';'),
    String(headers['x-amz-content-sha256']),
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (with_, part) => hmac(with_, part),
    `AWS4${secret}`,
  )
  return hmac(key, text).toString('hex')
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}
