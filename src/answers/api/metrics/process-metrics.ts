import { readdir } from 'node:fs/promises'
import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * Adds figures of the whole process under their usual names. They are read on a scrape, and no observer keeps running: a closed
 * node leaves none behind.
 */
export function addProcessMetrics(registry: Registry): void {
  const gauge = gaugeOf(registry)
  counterOf(registry)('process_cpu_seconds_total', 'Processor time of the process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  const started = Date.now() / 1000 - process.uptime()
  gauge('process_start_time_seconds', 'Unix time of the start of the process.', () => started)
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss())
  gauge('process_open_fds', 'Open file descriptors of the process; 0 where the system does not tell.', openFiles)
  gauge('nodejs_heap_size_total_bytes', 'Size of the heap of JavaScript.', () => process.memoryUsage().heapTotal)
  gauge('nodejs_heap_size_used_bytes', 'Used part of that heap.', () => process.memoryUsage().heapUsed)
  gauge(
    'nodejs_external_memory_bytes',
    'Memory that JavaScript holds outside of the heap.',
    () => process.memoryUsage().external,
  )
}

/** Makes gauges whose value is read on a scrape. */
export function gaugeOf(
  registry: Registry,
): (name: string, help: string, read: () => number | Promise<number>) => void {
  return (name, help, read) => {
    const made: Gauge = new Gauge({ name, help, registers: [registry], collect: async () => made.set(await read()) })
  }
}

/** Makes counters whose value is read on a scrape. */
export function counterOf(registry: Registry): (name: string, help: string, read: () => number) => void {
  return (name, help, read) => {
    const made: Counter = new Counter({
      name,
      help,
      registers: [registry],
      collect: () => {
        made.reset()
        made.inc(read())
      },
    })
  }
}

async function openFiles(): Promise<number> {
  return (await readdir('/proc/self/fd').catch(() => [])).length
}
