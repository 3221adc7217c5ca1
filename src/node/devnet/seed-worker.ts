/** Entry of the thread that makes seeded DIDs: a request in, its answer out. */
import { parentPort } from 'node:worker_threads'
import { SeedMaker, type SeedRequest } from './seed-maker.js'

if (parentPort === null) throw new Error('this file runs as a worker thread only')
const port = parentPort
const maker = new SeedMaker()

port.on('message', (request: SeedRequest) => port.postMessage(maker.answer(request)))
