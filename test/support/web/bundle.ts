import { fileURLToPath } from 'node:url'
import type { BuildOptions, BuildResult } from 'esbuild'

// Else esbuild keeps a process for `buildSync`, which would outlive the test for a moment.
process.env['ESBUILD_WORKER_THREADS'] = '0'
export const { build, buildSync, stop } = await import('esbuild')

/** Files that a light resolver loads on demand, by dynamic imports. */
export const lightLater = [
  'check-bundle.js',
  'credential-question.js',
  'follow-changes.js',
  'follow-work.js',
  'fork-evidence.js',
  'from-checkpoint.js',
  'gossip.js',
  'light-memory.js',
  'mirror-server.js',
  'noble.js',
  'ed25519.js',
  'witnesses.js',
  'key-of-did.js',
]

export interface Bundle {
  readonly text: string
  /** Bytes of `text`, which is minified. */
  readonly size: number
  /** Files of which something is in it, from the root of the repository. */
  readonly files: readonly string[]
  /** Remaining imports of the bundle. */
  readonly imports: readonly string[]
}

const root = fileURLToPath(new URL('../../../', import.meta.url))

type BundleOptions = BuildOptions & { readonly from?: string }

/**
 * A module as a page loads it. Fails where something is imported that a browser lacks. As the package has no side effects, `code` has to
 * use what it imports: else nothing is left.
 */
export function bundleForBrowser(code: string, options: BundleOptions = {}): Bundle {
  return bundleOf(buildSync(buildOptions(code, options)))
}

/** The same where sources are run by a loader that uses esbuild itself. */
export async function bundleLater(code: string, options: BundleOptions = {}): Promise<Bundle> {
  return bundleOf(await build(buildOptions(code, options)))
}

function buildOptions(code: string, { from = root, ...options }: BundleOptions) {
  return {
    stdin: { contents: code, resolveDir: from, loader: 'ts' },
    absWorkingDir: from,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
    ...options,
  } as const satisfies BuildOptions
}

function bundleOf({ outputFiles = [], metafile }: Pick<BuildResult, 'outputFiles' | 'metafile'>): Bundle {
  const [output] = Object.values(metafile?.outputs ?? {})
  const [file] = outputFiles
  if (output === undefined || file === undefined) throw new Error('esbuild wrote nothing')
  const files = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return {
    text: file.text,
    size: file.contents.length,
    files: files.map(([name]) => name),
    imports: output.imports.map(({ path }) => path),
  }
}

/** A script of the repository for a page without Buffer, process and OpenSSL, loaded into this process. */
export async function importAsPage<T>(path: string): Promise<T> {
  const { text } = bundleForBrowser(`export * from './${path}'`, {
    define: { Buffer: 'undefined', 'globalThis.process': 'undefined', process: 'undefined' },
  })
  const url = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`
  return (await import(/* @vite-ignore */ url)) as T
}
