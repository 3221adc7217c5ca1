// A thread that looks at a node every fifth of a second, so that nothing the test itself does holds the looks up: how long
// REST answers take, and how much memory and CPU time the process takes.
import { parentPort, workerData } from 'node:worker_threads'

const { rest } = workerData
const seen = { slowest: 0, failed: 0, looks: 0, memory: [], cpu: [] }
let done = false

function valueOf(text, name) {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function look() {
  const began = performance.now()
  try {
    const answer = await fetch(`${rest}/api/v1/block/height`, { signal: AbortSignal.timeout(120_000) })
    if (!answer.ok) seen.failed++
    await answer.text()
  } catch {
    seen.failed++
  }
  seen.slowest = Math.max(seen.slowest, performance.now() - began)
  seen.looks++
  const text = await (await fetch(`${rest}/metrics`)).text()
  seen.memory.push(valueOf(text, 'process_resident_memory_bytes'))
  seen.cpu.push(valueOf(text, 'process_cpu_seconds_total'))
}

parentPort.on('message', () => (done = true))
while (!done) {
  await look().catch(() => seen.failed++)
  await new Promise((resolve) => setTimeout(resolve, 200))
}
parentPort.postMessage(seen)
parentPort.close()
