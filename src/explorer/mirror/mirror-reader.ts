import { aboutName, mirrorAboutFormat } from '../../identity/proofs/mirror-head.js'
import { readTrust, type Trust } from '../../identity/proofs/trust-root.js'
import { answerBounds } from '../../clients/light/answer-bounds.js'
import type { Fetch } from '../../clients/light/ask-server.js'
import { parse } from '../../clients/light/json-scan.js'
import { asLightError, LightError } from '../../clients/light/light-error.js'
import { LightResolver } from '../../clients/light/light-resolver.js'
import { FileBudget, MirrorFiles } from '../../clients/light/mirror-files.js'
import type { LightResult } from '../../clients/light/proved-answer.js'
import { shippedTrust } from './shipped-trust.js'

/** Reads DIDs from the files of one mirror. */

/** Origin: where the Trust of a reader is from. */
export type TrustSource = 'pasted' | 'shipped' | 'mirror'

/** Content: what was read to answer. */
export interface Reading {
  readonly files: number
  readonly bytes: number
}

export interface MirrorAnswer {
  readonly result: LightResult
  readonly trust: Trust
  readonly source: TrustSource
  readonly reading: Reading
}

/** The part of `about` that a page uses: a claim of the mirror. */
interface About {
  readonly trust: { readonly chain?: unknown }
}

interface Opened {
  readonly light: LightResolver
  readonly trust: Trust
  readonly source: TrustSource
}

export class MirrorReader {
  readonly #url: string
  readonly #pasted: string
  readonly #fetch: Fetch
  #opened: Promise<Opened> | undefined
  #files = 0
  #bytes = 0

  /** `page`: address of the page beside the files; `pasted`: text of a Trust, empty for none. */
  constructor(page: string, pasted = '', fetch: Fetch = (url, init) => globalThis.fetch(url, init)) {
    this.#url = new URL('.', page).href.replace(/\/$/, '')
    this.#pasted = pasted.trim()
    this.#fetch = (url, init) => this.#counting(url, init, fetch)
  }

  /** The state of a DID with its history. Rejects with a {@link LightError}. */
  async resolve(did: string): Promise<MirrorAnswer> {
    const before = { files: this.#files, bytes: this.#bytes }
    const { light, trust, source } = await this.#open()
    const result = await light.resolve(did, { history: true })
    const reading = { files: this.#files - before.files, bytes: this.#bytes - before.bytes }
    return { result, trust, source, reading }
  }

  async #open(): Promise<Opened> {
    try {
      return await (this.#opened ??= this.#trusting())
    } catch (error) {
      this.#opened = undefined
      throw asLightError(error)
    }
  }

  async #trusting(): Promise<Opened> {
    const { sent, source } = this.#pasted === '' ? await this.#offered() : pastedTrust(this.#pasted)
    const trust = readTrust(sent)
    const light = new LightResolver({
      mirrors: [this.#url],
      trust: sent,
      fetch: this.#fetch,
      // A Trust is as old as its chain: the page says so where that is too old to rely on.
      allowOldRoot: true,
    })
    return { light, trust, source }
  }

  /** The page's own Trust of the chain that the Trust of the mirror is of, else that of the mirror. */
  async #offered(): Promise<{ readonly sent: unknown; readonly source: TrustSource }> {
    const files = new MirrorFiles(this.#url, this.#fetch)
    const about = await files.json(aboutName, answerBounds.chain.bytes, new FileBudget())
    if (!isAbout(about)) throw files.wrong(aboutName, `is none of the form ${mirrorAboutFormat}`)
    const own = shippedTrust(about.trust.chain)
    return own === undefined ? { sent: about.trust, source: 'mirror' } : { sent: own, source: 'shipped' }
  }

  async #counting(url: string, init: RequestInit, fetch: Fetch): Promise<Response> {
    this.#files++
    const { body, status, headers } = await fetch(url, { ...init, credentials: 'omit' })
    const count = (bytes: number) => void (this.#bytes += bytes)
    const counted = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          count(chunk.length)
          controller.enqueue(chunk)
        },
      }),
    )
    return new Response(counted ?? null, { status, headers })
  }
}

function isObject(sent: unknown): sent is Readonly<Record<string, unknown>> {
  return typeof sent === 'object' && sent !== null
}

function isAbout(sent: unknown): sent is Readonly<Record<string, unknown>> & About {
  if (!isObject(sent) || sent['format'] !== mirrorAboutFormat) return false
  return isObject(sent['trust'])
}

function pastedTrust(text: string): { readonly sent: unknown; readonly source: TrustSource } {
  try {
    return { sent: parse(text), source: 'pasted' }
  } catch {
    throw new LightError('form', 'the Trust that was pasted is no JSON')
  }
}
