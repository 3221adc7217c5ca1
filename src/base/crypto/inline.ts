import { setImmediate } from 'node:timers/promises'
import type { SignatureCheck } from '../primitives/signature.js'
import type { Verifier } from './verifier.js'
import { verifyAsync } from './verify.js'

/**
 * All of them share libuv's few threads with the database and the file system.
 * @tuning count: single signature checks at once
 */
const window = 64
/**
 * Every pending verification holds a copy of its message.
 * @tuning bytes: message of a single check that takes one slot; a longer one takes more
 */
const bytesPerPlace = 64 * 1024
/** Milliseconds on the main thread (it imports keys) after which other work runs. */
const sliceMilliseconds = 2

/**
 * A verifier without threads of its own: OpenSSL works on libuv's threads, this thread only imports keys. For a few checks; bulk
 * goes to the pool. With the JavaScript backend it verifies on this thread, one check per slice. `verify`: one signature by one
 * key.
 */
export function createInlineVerifier(verify = verifyAsync): Verifier {
  let free = window
  const waiting: { slots: number; go: () => void }[] = []
  let sliceStart = performance.now()
  let pause: Promise<void> | undefined
  let closed = false

  function release(slots: number): void {
    free += slots
    for (let next = waiting[0]; next !== undefined && next.slots <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.slots
      next.go()
    }
  }

  async function verifyOne(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const slots = Math.min(window, 1 + Math.floor(message.length / bytesPerPlace))
    if (waiting.length === 0 && slots <= free) free -= slots
    else await new Promise<void>((go) => waiting.push({ slots, go }))
    try {
      // No await between the clock check and the work: otherwise all lanes would pass the check before any of them works.
      while (performance.now() - sliceStart > sliceMilliseconds) {
        pause ??= setImmediate().then(() => {
          pause = undefined
          sliceStart = performance.now()
        })
        await pause
      }
      if (closed) throw new Error('the verifier is closed')
      return await verify(key, message, signature)
    } finally {
      release(slots)
    }
  }

  /** As `holds` in verify.ts. */
  async function checkHolds({ message, keys, signatures }: SignatureCheck): Promise<boolean> {
    const unused = [...keys]
    for (const signature of signatures) {
      let index = 0
      while (index < unused.length && !(await verifyOne(unused[index] as Uint8Array, message, signature))) index++
      if (index === unused.length) return false
      unused.splice(index, 1)
    }
    return signatures.length > 0
  }

  return {
    async verifyAll(checks) {
      if (closed) throw new Error('the verifier is closed')
      let next = 0
      let firstFailing = checks.length
      const lane = async (): Promise<void> => {
        while (next < firstFailing) {
          const index = next++
          if (!(await checkHolds(checks[index] as SignatureCheck))) firstFailing = Math.min(firstFailing, index)
        }
      }
      await Promise.all(Array.from({ length: Math.min(window, checks.length) }, lane))
      return firstFailing === checks.length ? -1 : firstFailing
    },
    close() {
      closed = true
      return Promise.resolve()
    },
  }
}
