/**
 * Sends requests over new connections, one after another without a pause, from a thread of its own, so that they arrive whatever the
 * main thread does. Told anything, it ends, and says how many were answered, and how the others failed.
 */
import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const { port, path, atOnce } = workerData
const failures = []
let answered = 0
let over = false
parentPort.once('message', () => (over = true))

function ask() {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) answered++
        else failures.push(`status ${answer.statusCode}`)
        resolve()
      })
    })
    asked.on('error', (error) => {
      failures.push(error.code ?? error.message)
      resolve()
    })
    asked.end()
  })
}

async function knock() {
  while (!over) await ask()
}

await Promise.all(Array.from({ length: atOnce }, knock))
parentPort.postMessage({ answered, failures })
