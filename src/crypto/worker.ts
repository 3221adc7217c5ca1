/** Entry of a signature worker: a packed batch in, the position of its first failing check (or -1) out. */
import { parentPort, workerData } from 'node:worker_threads'
import { unpackBatch } from './batch.js'
import { holds, selectBackend, type BackendName } from './verify.js'

/** Start parameters of a worker. */
export interface WorkerSettings {
  readonly backend: BackendName
}

if (parentPort === null) throw new Error('this file runs as a worker thread only')
const port = parentPort

selectBackend((workerData as WorkerSettings).backend)
port.on('message', (buffer: ArrayBuffer) => {
  port.postMessage(unpackBatch(buffer).findIndex((check) => !holds(check)))
})
