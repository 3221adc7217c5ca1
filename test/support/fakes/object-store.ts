import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { authorizationIn, sha256, signatureOf } from './s3-signature.js'

/** A request that a store got. */
export interface StoreRequest {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

interface Given {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export interface ObjectStoreOptions {
  /** Whether it writes an object on condition that there is none; false: it refuses that with 501. */
  readonly conditional?: boolean
  /** Whether it deletes several objects by one request; false: it refuses that with 501. */
  readonly together?: boolean
  /** Names in a page, where a request asks for more. */
  readonly page?: number
  /** Requests that are under way before the first object is taken, which waits 50 ms for more of them. */
  readonly gathered?: number
  /** An answer instead of that of the store; undefined: the store answers. */
  readonly instead?: (request: StoreRequest, count: number) => Given | undefined
}

/** Variables of a process that may write into {@link ObjectStore}. */
const credentials = {
  AWS_ACCESS_KEY_ID: 'a-key',
  AWS_SECRET_ACCESS_KEY: 'a-secret/with+signs',
  AWS_SESSION_TOKEN: 'a-token',
}

/** An object store in memory, behind HTTP, with one bucket: it takes requests whose signature is right. */
export class ObjectStore {
  readonly objects = new Map<string, { readonly bytes: Buffer; readonly headers: IncomingMessage['headers'] }>()
  readonly requests: StoreRequest[] = []
  /** Requests that were under way at a time. */
  peak = 0
  readonly bucket = 'a-bucket'
  readonly #options: ObjectStoreOptions
  readonly #server: Server
  #underWay = 0
  #gathered = () => {}
  readonly #gathering: Promise<void> | undefined

  private constructor(options: ObjectStoreOptions) {
    this.#options = options
    if (options.gathered !== undefined) this.#gathering = new Promise((resolve) => (this.#gathered = resolve))
    this.#server = createServer((request, response) => void this.#take(request, response))
  }

  static async open(options: ObjectStoreOptions = {}): Promise<ObjectStore> {
    const store = new ObjectStore(options)
    await new Promise<void>((resolve) => store.#server.listen(0, '127.0.0.1', resolve))
    return store
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Variables of a process that writes into it. */
  get variables(): Record<string, string> {
    return { ...credentials, AWS_ENDPOINT_URL: this.url, AWS_REGION: 'mars-north-1' }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    this.peak = Math.max(this.peak, ++this.#underWay)
    if (this.#underWay === this.#options.gathered) setTimeout(this.#gathered, 50)
    response.once('close', () => this.#underWay--)
    const body = await buffer(asked).catch(() => undefined)
    if (body === undefined) return
    const request = { method: asked.method ?? '', target: asked.url ?? '', headers: asked.headers, body }
    this.requests.push(request)
    if (request.method === 'PUT') await this.#gathering
    const {
      status,
      headers,
      body: sent = '',
    } = this.#options.instead?.(request, this.requests.length) ?? this.#answer(request)
    response.writeHead(status, { 'content-length': Buffer.byteLength(sent), ...headers })
    response.end(request.method === 'HEAD' ? undefined : sent)
  }

  #answer(request: StoreRequest): Given {
    const { method, target, headers, body } = request
    if (!isSigned(request)) return refused(403, 'SignatureDoesNotMatch')
    const url = new URL(target, this.url)
    const [, bucket, ...parts] = url.pathname.split('/').map(decodeURIComponent)
    if (bucket !== this.bucket) return refused(404, 'NoSuchBucket')
    const key = parts.join('/')
    if (key === '' && method === 'POST' && url.searchParams.has('delete')) return this.#deleted(request)
    if (key === '') return this.#listed(url.searchParams)
    const there = this.objects.get(key)
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*') {
        if (this.#options.conditional === false) return refused(501, 'NotImplemented')
        if (there !== undefined) return refused(412, 'PreconditionFailed')
      }
      this.objects.set(key, { bytes: body, headers })
      return { status: 200 }
    }
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204 }
    }
    return there === undefined ? refused(404, 'NoSuchKey') : { status: 200, body: there.bytes }
  }

  #deleted({ headers, body }: StoreRequest): Given {
    if (this.#options.together === false) return refused(501, 'NotImplemented')
    if (headers['content-md5'] !== createHash('md5').update(body).digest('base64')) return refused(400, 'InvalidDigest')
    const keys = [...body.toString('utf8').matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) =>
      key.replaceAll('&amp;', '&'),
    )
    if (keys.length > 1000) return refused(400, 'MalformedXML')
    for (const key of keys) this.objects.delete(key)
    return { status: 200, body: '<?xml version="1.0"?>\n<DeleteResult xmlns="x"></DeleteResult>' }
  }

  #listed(query: URLSearchParams): Given {
    const after = Buffer.from(query.get('continuation-token') ?? '', 'base64url').toString('utf8')
    const most = Math.min(Number(query.get('max-keys') ?? 1000), this.#options.page ?? 1000)
    const keys = [...this.objects.keys()]
      .sort()
      .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after)
    const page = keys.slice(0, most)
    const contents = page.map((key) => `<Contents><Key>${key.replaceAll('&', '&#38;')}</Key><Size>1</Size></Contents>`)
    const isCut = keys.length > page.length
    const next = `<NextContinuationToken>${Buffer.from(page.at(-1) ?? '').toString('base64url')}</NextContinuationToken>`
    const body = `<?xml version="1.0"?>\n<ListBucketResult xmlns="x"><IsTruncated>${isCut}</IsTruncated>${isCut ? next : ''}${contents.join('')}</ListBucketResult>`
    return { status: 200, body }
  }
}

/** A refusal as stores write it. */
export function refused(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Given {
  return { status, headers, body: `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>no</Message></Error>` }
}

/** Whether key, token, signature and hash of the body are right, and headers that change the effect are signed. */
function isSigned({ method, target, headers, body }: StoreRequest): boolean {
  const given = authorizationIn(headers.authorization)
  if (given === undefined || given.key !== credentials.AWS_ACCESS_KEY_ID) return false
  if (headers['x-amz-security-token'] !== credentials.AWS_SESSION_TOKEN) return false
  if (headers['x-amz-content-sha256'] !== sha256(body)) return false
  const effective = Object.keys(headers).filter((name) =>
    /^(x-amz-.*|host|cache-control|if-none-match|content-md5)$/.test(name),
  )
  if (!effective.every((name) => given.signed.includes(name))) return false
  return signatureOf({ method, target, headers, secret: credentials.AWS_SECRET_ACCESS_KEY }, given) === given.signature
}
