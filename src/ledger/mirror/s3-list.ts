/** A page of the list of a bucket's objects. */
export interface ListedPage {
  readonly keys: readonly string[]
  /** Names the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** Characters that XML text cannot hold as they are. */
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads a page of `ListObjectsV2`; undefined for what is none. */
export function readListedPage(xml: string): ListedPage | undefined {
  if (!xml.includes('<ListBucketResult') || !xml.includes('</ListBucketResult>')) return undefined
  const keys = [...xml.matchAll(/<Contents>[^]*?<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => plain(key))
  const next = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(xml)?.[1]
  const isLast = !/<IsTruncated>\s*true\s*<\/IsTruncated>/.test(xml)
  if (isLast) return { keys, next: undefined }
  return next === undefined ? undefined : { keys, next: plain(next) }
}

/** The body of a `DeleteObjects` whose answer names failures alone. */
export function deletionXml(keys: readonly string[]): Uint8Array {
  const objects = keys.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`)
  return Buffer.from(
    `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects.join('')}</Delete>`,
  )
}

/** Codes of the failures in the answer to a `DeleteObjects`; undefined for what is none. */
export function deletionFailures(xml: string): readonly string[] | undefined {
  if (!/<DeleteResult\b/.test(xml)) return undefined
  return [...xml.matchAll(/<Error>[^]*?<Code>([A-Za-z]{1,64})<\/Code>/g)].map(([, code = '']) => code)
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character] as string)
}

/** Text of an XML element without its references. */
function plain(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex === undefined && decimal === undefined) return named[name] ?? whole
      const point = hex === undefined ? Number(decimal) : parseInt(hex, 16)
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole
    },
  )
}
