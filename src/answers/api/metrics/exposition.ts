import type { Registry } from 'prom-client'

/**
 * All figures of a registry in the text format, version 0.0.4. The format has `NaN` for a figure that is not known; prom-client writes
 * `Nan`, which not every reader takes.
 */
export async function exposition(registry: Registry): Promise<string> {
  const text = await registry.metrics()
  return text.replace(/^([^#\n].*) Nan$/gm, '$1 NaN')
}
