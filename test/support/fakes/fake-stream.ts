import type { FrameStream } from '../../../src/network/transport/frames.js'

/** A stream whose other side is the test. */
export class FakeStream extends EventTarget implements FrameStream {
  readonly sent: Uint8Array[] = []
  writeBufferLength = 0
  aborted: Error | undefined
  closed = false
  listeners = 0

  send(bytes: Uint8Array): boolean {
    if (this.closed) throw new Error('closed')
    this.sent.push(bytes)
    return true
  }

  abort(error: Error): void {
    this.aborted = error
  }

  close(): Promise<void> {
    this.closed = true
    return Promise.resolve()
  }

  override addEventListener(type: string, listener: (event: Event) => void): void {
    this.listeners++
    super.addEventListener(type, listener)
  }

  override removeEventListener(type: string, listener: (event: Event) => void): void {
    this.listeners--
    super.removeEventListener(type, listener)
  }

  arrive(...chunks: Uint8Array[]): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: chunks.length === 1 ? chunks[0] : chunks }))
  }

  end(): void {
    this.dispatchEvent(new Event('remoteCloseWrite'))
  }

  reset(): void {
    this.dispatchEvent(new Event('close'))
  }

  drain(): void {
    this.writeBufferLength = 0
    this.dispatchEvent(new Event('idle'))
  }
}

/** The bytes of a frame; `length` is what it says of its length. */
export function framed(body: Uint8Array, length = body.length): Uint8Array {
  const prefix = new Uint8Array(4)
  new DataView(prefix.buffer).setUint32(0, length, true)
  return Buffer.concat([prefix, body])
}
