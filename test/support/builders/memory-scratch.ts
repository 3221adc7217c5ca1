import type { ScratchFile } from '../../../src/ledger/storage/disk-files.js'

/** A scratch file in memory. */
export async function memoryScratch(): Promise<ScratchFile> {
  let memory = Buffer.alloc(0)
  return {
    async write(bytes, at) {
      if (at + bytes.length > memory.length)
        memory = Buffer.concat([memory, Buffer.alloc(at + bytes.length - memory.length)])
      memory.set(bytes, at)
    },
    async read(at, into) {
      if (memory.copy(into, 0, at) < into.length) throw new RangeError(`the file ends before byte ${at + into.length}`)
    },
    close: () => Promise.resolve(),
  }
}
