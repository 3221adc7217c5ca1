/** Entry of the thread that makes documents while a state is checked: packed transactions in, their packed documents out. */
import { parentPort } from 'node:worker_threads'
import { packedDocuments } from './joined-document.js'

if (parentPort === null) throw new Error('this file runs as a worker thread only')
const port = parentPort

port.on('message', (transactions: Uint8Array) => {
  const documents = packedDocuments(transactions)
  port.postMessage(documents, [documents.buffer])
})
