import { quickSigner } from '../../../src/base/crypto/quick-signer.js'
import { fullHeaderBytes } from '../../../src/base/primitives/block.js'
import { Header } from '../../../src/base/primitives/header.js'
import type { Fetch } from '../../../src/clients/light/ask-server.js'
import { encodeBase64url } from '../../../src/identity/did/base64url.js'
import { paperGenesis, ProofBook } from './proof-book.js'

/**
 * A chain of so many blocks of ten seconds by one validator: of its first and its last block all there is, of the others their headers,
 * which follow from each other.
 */
export class LongChain {
  readonly book = new ProofBook(paperGenesis('long', 1_780_000_000), [{ height: 1, signers: [quickSigner()] }])
  readonly #headers: string[] = []
  /** Requests for headers so far. */
  asked = 0

  constructor() {
    this.grow()
  }

  get height(): number {
    return this.book.tip.height
  }

  /** Makes the next block. */
  grow(): void {
    const { header, auxPow } = this.book.make()
    this.#headers[header.height] = encodeBase64url(fullHeaderBytes(header, auxPow))
  }

  /** Makes headers up to a height, and the block of that height. */
  growTo(height: number): void {
    const { book } = this
    const { auxPow } = book.page(1).block
    let last = book.tip
    while (last.height < height - 1) {
      const { version, merkleRoot, bits, nonce } = last
      const fields = {
        version,
        merkleRoot,
        bits,
        nonce,
        previous: last.hash,
        time: last.time + 10,
        height: last.height + 1,
      }
      last = new Header(fields)
      this.#headers[last.height] = encodeBase64url(fullHeaderBytes(last, auxPow))
    }
    book.pages[last.height] = { ...book.page(1), block: { ...book.page(1).block, header: last } as never }
    this.grow()
  }

  /** A node of the chain as a witness sees it. */
  readonly fetch: Fetch = async (url) => {
    if (url.endsWith('/anchor')) return json(this.book.change(this.height + 1))
    const [, from, count] = (/\/headers\/(\d+)\/(\d+)$/.exec(url) ?? []).map(Number)
    if (from === undefined || count === undefined) return new Response('', { status: 404 })
    this.asked++
    return json(this.#headers.slice(from, from + count))
  }
}

function json(value: unknown): Response {
  return new Response(JSON.stringify(value))
}
