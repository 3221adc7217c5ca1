/** Entry of a signature worker: a packed batch in, the position of its first failing check (or -1) out. */
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { unpackBatch } from './batch.js'
import { holds, selectBackend, type BackendName } from './verify.js'

/** Start parameters of a worker. */
export interface WorkerSettings {
  readonly backend: BackendName
}

if (parentPort === null) throw new Error('this file runs as a worker thread only')
const port = parentPort

/** Lets the event loop have a processor before signatures. Of this thread alone, which only Linux has; less niceness takes a privilege. */
const niceness = 5
if (process.platform === 'linux' && getPriority() < niceness) {
  try {
    setPriority(niceness)
  } catch {
    // A system that forbids it verifies as before.
  }
}

selectBackend((workerData as WorkerSettings).backend)
port.on('message', (buffer: ArrayBuffer) => {
  port.postMessage(unpackBatch(buffer).findIndex((check) => !holds(check)))
})
