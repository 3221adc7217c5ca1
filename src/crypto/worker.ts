/** Entry of a signature worker: a packed batch in, the position of its first failing check (or -1) out. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { unpackBatch } from './batch.js'
import { holds, selectBackend, type BackendName } from './verify.js'

/** Start parameters of a worker. */
export interface WorkerSettings {
  readonly backend: BackendName
}

if (parentPort === null) throw new Error('this file runs as a worker thread only')
const port = parentPort

/** On Linux the priority is that of this thread alone: the event loop gets a processor before signatures do. */
const niceness = 10
if (process.platform === 'linux') setPriority(niceness)

selectBackend((workerData as WorkerSettings).backend)
port.on('message', (buffer: ArrayBuffer) => {
  port.postMessage(unpackBatch(buffer).findIndex((check) => !holds(check)))
})
