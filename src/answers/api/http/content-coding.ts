import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import type { AnswerStream } from '../streams/answer-stream.js'

/** How the bodies of answers are compressed, by what a client accepts. */

/**
 * A shorter answer fits into a packet as it is.
 * @tuning bytes: least answer that is compressed
 */
export const leastCompressed = 1024

interface Coder {
  compressSync(bytes: Buffer): Buffer
  compress(bytes: Buffer): Promise<Buffer>
  transform(): zlib.Gzip
}

/** Part of `node:zlib` from Node 22.15 on. */
interface Zstd {
  readonly createZstdCompress?: () => zlib.Gzip
  readonly zstdCompressSync?: (bytes: Buffer) => Buffer
  readonly zstdCompress?: (bytes: Buffer, done: Done) => void
}

type Done = (error: Error | null, result: Buffer) => void

const gzipCoder: Coder = {
  compressSync: (bytes) => zlib.gzipSync(bytes),
  compress: (bytes) => promised((done) => zlib.gzip(bytes, done)),
  transform: () => zlib.createGzip(),
}

function zstdCoder({ createZstdCompress, zstdCompressSync, zstdCompress }: Zstd): Coder | undefined {
  if (createZstdCompress === undefined || zstdCompressSync === undefined || zstdCompress === undefined) return undefined
  return {
    compressSync: (bytes) => zstdCompressSync(bytes),
    compress: (bytes) => promised((done) => zstdCompress(bytes, done)),
    transform: () => createZstdCompress(),
  }
}

function promised(begin: (done: Done) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    begin((error, result) => (error === null ? resolve(result) : reject(error)))
  })
}

const zstd = zstdCoder(zlib as Zstd)

/** Coders by the name of their coding in headers, the preferred one first. */
export const coders: ReadonlyMap<string, Coder> = new Map([
  ...(zstd === undefined ? [] : [['zstd', zstd] as const]),
  ['gzip', gzipCoder],
])

/** Longest `accept-encoding` that is read: browsers send some 30 characters. */
const longestHeader = 256

/**
 * The coding for an `accept-encoding`; undefined: as it stands, which every client gets, whatever its header says of `identity`.
 * `known` is in the order of preference, which decides between equal weights.
 */
export function codingFor(
  header: string | string[] | undefined,
  known: Iterable<string> = coders.keys(),
): string | undefined {
  const text = header?.toString() ?? ''
  if (text === '' || text.length > longestHeader) return undefined
  const weights = new Map(text.split(',').map(weightOf))
  let best: string | undefined
  let most = 0
  for (const name of known) {
    // The older name of gzip has the prefix (RFC 9110 §8.4.1.3).
    const weight = weights.get(name) ?? weights.get(`x-${name}`) ?? weights.get('*') ?? 0
    if (weight > most) [best, most] = [name, weight]
  }
  return best
}

/** `gzip;q=0.5` as a name and its weight, which programs also write as `.5` or with more digits; a weight that cannot be read is 0. */
function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
  const given = parameters.map((one) => /^q\s*=\s*(.*)$/.exec(one)?.[1]).find((text) => text !== undefined)
  if (given === undefined) return [name, 1]
  return [name, /^(0?\.\d+|[01]\.?|1\.0+)$/.test(given) ? Number(given) : 0]
}

/** Compresses a stream while it is read; ending one ends the other. */
export async function* compressedStream(stream: AnswerStream, coding: string): AnswerStream {
  const coder = coders.get(coding)
  if (coder === undefined) throw new TypeError(`no coder for ${coding}`)
  const transform = coder.transform()
  const source = Readable.from(stream, { highWaterMark: 1, objectMode: true })
  source.once('error', (error) => transform.destroy(error))
  source.pipe(transform)
  try {
    for await (const part of transform) yield part as Buffer
  } finally {
    source.destroy()
    transform.destroy()
    await stream.return()
  }
}
