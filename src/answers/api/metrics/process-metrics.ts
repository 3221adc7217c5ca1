import { readdir } from 'node:fs/promises'
import { Counter, Gauge, type Registry } from 'prom-client'

/**
 * Adds figures of the whole process under their usual names. They are read on a scrape, and no observer keeps running: a closed
 * node leaves none behind.
 */
export function addProcessMetrics(registry: Registry): void {
  const registers = [registry]
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process.',
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / 1e6)
    },
  })
  const started = Date.now() / 1000 - process.uptime()
  const gauges: readonly (readonly [string, string, () => number | Promise<number>])[] = [
    ['process_start_time_seconds', 'Unix time of the start of the process.', () => started],
    ['process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss()],
    ['process_open_fds', 'Open file descriptors of the process; 0 where the system does not tell.', openFiles],
    ['nodejs_heap_size_total_bytes', 'Size of the heap of JavaScript.', () => process.memoryUsage().heapTotal],
    ['nodejs_heap_size_used_bytes', 'Used part of that heap.', () => process.memoryUsage().heapUsed],
    [
      'nodejs_external_memory_bytes',
      'Memory that JavaScript holds outside of the heap.',
      () => process.memoryUsage().external,
    ],
  ]
  for (const [name, help, read] of gauges) {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: async () => gauge.set(await read()) })
  }
}

async function openFiles(): Promise<number> {
  return (await readdir('/proc/self/fd').catch(() => [])).length
}
