import { build } from 'vite'
import config from './config/pages.config.js'

/** Builds dist/pages; returns the modules that are in it, as absolute paths. */
export async function buildPages(): Promise<string[]> {
  const built = await build({ ...config, configFile: false })
  const outputs = Array.isArray(built) ? built : [built]
  return outputs.flatMap((one) => {
    if (!('output' in one)) throw new Error('Vite watches instead of building')
    return one.output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []))
  })
}
