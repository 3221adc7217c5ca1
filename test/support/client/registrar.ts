import { type QuickSigner } from '../builders/signatures.js'
import { fromUtf8 } from '../../../src/base/primitives/bytes.js'
import { askWith } from './api.js'

/** A client of a registrar that holds its own keys, as a program in another language would write it. */

interface Body {
  readonly jobId: string | null
  readonly didState: Readonly<Record<string, unknown>> & {
    readonly state: string
    readonly did?: string
    readonly reason?: string
    readonly signingRequest?: Readonly<Record<string, { serializedPayload: string; kid: string; alg: string }>>
  }
  readonly didRegistrationMetadata: Readonly<Record<string, unknown>>
  readonly didDocumentMetadata: Readonly<Record<string, unknown>>
}

export interface Registered {
  readonly status: number
  readonly body: Body
}

export class RegistrarUser {
  constructor(
    readonly port: number,
    readonly token: string | undefined,
    readonly key: QuickSigner,
  ) {}

  async post(kind: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Registered> {
    const authorization: Record<string, string> =
      this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }
    const { status, body: read } = await askWith(this.port, `/1.0/${kind}`, body, { ...authorization, ...headers })
    return { status, body: read as Body }
  }

  /** The response to what is asked, signed by the key. */
  signed({ body }: Registered, key = this.key): object {
    const asked = Object.entries(body.didState.signingRequest ?? {})
    const signingResponse = Object.fromEntries(
      asked.map(([name, { serializedPayload }]) => {
        const text = Buffer.from(serializedPayload, 'base64').toString()
        return [name, { signature: Buffer.from(key.sign(fromUtf8(text))).toString('base64') }]
      }),
    )
    return { jobId: body.jobId, secret: { signingResponse } }
  }

  /** Goes on until there is nothing left to sign, or to wait for. */
  async finish(kind: string, request: object): Promise<Registered> {
    let answer = await this.post(kind, request)
    while (answer.body.didState.state === 'action' || answer.body.didState.state === 'wait') {
      const next = answer.body.didState.state === 'wait' ? { jobId: answer.body.jobId } : this.signed(answer)
      answer = await this.post(kind, next)
    }
    return answer
  }
}
