import { createHash } from 'node:crypto'
import { AnswerTooLong } from '../../base/runtime/http-request.js'
import { systemRandom } from '../../base/runtime/system-random.js'
import { systemTimers } from '../../base/runtime/process-env.js'
import { runBounded } from '../../base/runtime/run-bounded.js'
import { fileHeaders } from './file-headers.js'
import {
  isMirrorName,
  type MirrorFile,
  type MirrorStore,
  requireMirrorFolder,
  requireMirrorName,
  storeClosed,
} from './mirror-store.js'
import { S3Client, type S3Request, s3Requests, type S3Surroundings } from './s3-client.js'
import { exhausted, isPassing, isUnknownForm, refusalError, strangeAnswer, tooLarge } from './s3-failure.js'
import { deletionFailures, deletionXml, type ListedPage, readListedPage } from './s3-list.js'
import { type S3Place, s3Place, type Variables } from './s3-place.js'

/** Keys in one request, for stores take no more. */
const most = 1000
/** @tuning bytes: a page of 1,000 keys of 1,024 bytes, each character of which may be a reference of five, with dates and tags */
const longestPage = 8 * 1024 * 1024
/** @tuning count: times that the same keys are deleted while the store names failures that pass */
const deletions = 5
/** @tuning ms: time that requests under way have when a store is closed */
const closeGrace = 3000

const ofProcess: S3Surroundings = { clock: Date, random: systemRandom, timers: systemTimers }

/**
 * Opens a place `s3://BUCKET/PREFIX` of an object store, with the credentials and the endpoint that the variables name, and lists it: a
 * wrong name, key or region is a UserError here. `surroundings`: for tests.
 */
export async function openS3Store(
  target: string,
  variables: Variables,
  surroundings: S3Surroundings = ofProcess,
): Promise<MirrorStore> {
  const place = s3Place(target, variables)
  const store = new S3Store(place, new S3Client(place, surroundings))
  await store.look()
  return store
}

/** A mirror in an object store: one object for each file, under a common prefix. The store replaces an object as a whole. */
class S3Store implements MirrorStore {
  readonly #place: S3Place
  readonly #client: S3Client
  readonly #running = new Set<Promise<unknown>>()
  /** Whether the store has shown that it writes no object on condition that there is none. */
  #unconditional = false
  /** Whether the store has shown that it deletes one object a request. */
  #single = false
  #closed = false

  constructor(place: S3Place, client: S3Client) {
    this.#place = place
    this.#client = client
  }

  /** Lists the first name, to see that the place is there for this key. */
  async look(): Promise<void> {
    await this.#page('', { 'max-keys': '1' })
  }

  has(name: string): Promise<boolean> {
    requireMirrorName(name)
    return this.#during(async () => {
      const { refusal } = await this.#client.ask(
        { method: 'HEAD', key: this.#key(name) },
        ({ status }) => status === 404,
      )
      return refusal === undefined
    })
  }

  get(name: string, bytes: number): Promise<Uint8Array | undefined> {
    requireMirrorName(name)
    return this.#during(async () => {
      try {
        const { answer, refusal } = await this.#client.ask(
          { method: 'GET', key: this.#key(name), most: bytes },
          ({ status, code }) => status === 404 && code !== 'NoSuchBucket',
        )
        return refusal === undefined ? answer.bytes : undefined
      } catch (error) {
        throw error instanceof AnswerTooLong ? tooLarge(this.#place, name, bytes) : error
      }
    })
  }

  putAll(files: AsyncIterable<MirrorFile> | Iterable<MirrorFile>): Promise<void> {
    return this.#during(() => runBounded(files, s3Requests, (file) => this.#putNew(file)))
  }

  replace(file: MirrorFile): Promise<void> {
    requireMirrorName(file.name)
    return this.#during(() => this.#put(file))
  }

  deleteAll(names: readonly string[]): Promise<void> {
    for (const name of names) requireMirrorName(name)
    return this.#during(async () => {
      for (let i = 0; i < names.length; i += most) await this.#delete(names.slice(i, i + most))
    })
  }

  async *names(folder: string): AsyncGenerator<readonly string[]> {
    requireMirrorFolder(folder)
    const below = folder === '' ? '' : `${folder}/`
    let next: string | undefined
    do {
      const from: string | undefined = next
      const page: ListedPage = await this.#during(() =>
        this.#page(below, from === undefined ? {} : { 'continuation-token': from }),
      )
      const names = page.keys.map((key) => key.slice(this.#place.prefix.length)).filter(isMirrorName)
      for (let i = 0; i < names.length; i += most) yield names.slice(i, i + most)
      next = page.next
      // A list that begins anew has no end.
      if (next !== undefined && next === from) throw strangeAnswer(this.#place, 'a list')
    } while (next !== undefined)
  }

  async close(): Promise<void> {
    this.#closed = true
    const ended = Promise.allSettled(this.#running)
    if (this.#running.size > 0) await Promise.race([ended, this.#client.after(closeGrace)])
    this.#client.close()
    await ended
  }

  #key(name: string): string {
    return this.#place.prefix + name
  }

  /** Writes an object unless there is one, which then has the same content. */
  async #putNew(file: MirrorFile): Promise<void> {
    requireMirrorName(file.name)
    if (this.#unconditional) return this.#put(file)
    const { refusal } = await this.#client.ask(this.#putting(file, { 'if-none-match': '*' }), (given) => {
      // Some stores answer a PUT as a GET.
      return given.status === 412 || given.status === 304 || isUnknownForm(given)
    })
    if (refusal === undefined || !isUnknownForm(refusal)) return
    await this.#put(file)
    this.#unconditional = true
  }

  async #put(file: MirrorFile): Promise<void> {
    await this.#client.ask(this.#putting(file, {}))
  }

  #putting({ name, bytes }: MirrorFile, condition: Readonly<Record<string, string>>) {
    const headers = { ...fileHeaders(name), ...condition }
    return { method: 'PUT', key: this.#key(name), headers, body: bytes } as const
  }

  /** Deletes up to 1,000 objects, by one request where the store takes that. */
  async #delete(names: readonly string[]): Promise<void> {
    if (names.length > 1 && !this.#single && (await this.#deleteTogether(names))) return
    await runBounded(names, s3Requests, async (name) => {
      // Some stores say that there was none.
      const missing = ({ status, code = '' }: { status: number; code?: string | undefined }) =>
        status === 404 && code !== 'NoSuchBucket'
      await this.#client.ask({ method: 'DELETE', key: this.#key(name) }, missing)
    })
  }

  /** Deletes objects by one request; false where the store does not know it. */
  async #deleteTogether(names: readonly string[]): Promise<boolean> {
    const body = deletionXml(names.map((name) => this.#key(name)))
    const shown = `of ${names.length} deletions`
    const digest = createHash('md5').update(body).digest('base64')
    const request: S3Request = {
      method: 'POST',
      key: '',
      query: { delete: '' },
      body,
      most: longestPage,
      shown,
      headers: { 'content-md5': digest, 'content-type': 'application/xml' },
    }
    let code: string | undefined
    for (let sent = 0; sent < deletions; sent++) {
      const { answer, refusal } = await this.#client.ask(request, isUnknownForm)
      if (refusal !== undefined) {
        this.#single = true
        return false
      }
      const failures = deletionFailures(answer.bytes.toString('utf8'))
      if (failures === undefined) throw strangeAnswer(this.#place, shown)
      const grave = failures.find((one) => !isPassing({ status: 200, code: one, region: undefined }))
      if (grave !== undefined) {
        const status = grave === 'AccessDenied' ? 403 : 200
        throw refusalError(this.#place, 'DELETE', { status, code: grave, region: undefined })
      }
      code = failures[0]
      if (code === undefined) return true
    }
    throw exhausted(this.#place, 'DELETE', deletions, { status: 200, code })
  }

  /** A page of the list of the objects whose names begin with a text. */
  async #page(below: string, query: Readonly<Record<string, string>>): Promise<ListedPage> {
    const shown = `a list of ${below === '' ? 'all names' : below}`
    const request: S3Request = {
      method: 'GET',
      key: '',
      shown,
      most: longestPage,
      query: { 'list-type': '2', prefix: this.#key(below), ...query },
    }
    const { answer } = await this.#client.ask(request).catch((error: unknown) => {
      throw error instanceof AnswerTooLong ? strangeAnswer(this.#place, shown) : error
    })
    const page = readListedPage(answer.bytes.toString('utf8'))
    if (page === undefined) throw strangeAnswer(this.#place, shown)
    return page
  }

  /** Runs work for whose end {@link close} waits. */
  #during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(storeClosed())
    const running = work()
    this.#running.add(running)
    const end = () => this.#running.delete(running)
    running.then(end, end)
    return running
  }
}
