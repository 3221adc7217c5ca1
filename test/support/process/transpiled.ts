import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { minifySync, transformSync } from 'rolldown/utils'

const source = fileURLToPath(new URL('../../../src/', import.meta.url))
const known = new Map<string, string>()

/** A module, named by its path below `src`, in JavaScript without comments and without imports of types. Strings are in double quotes. */
export function transpiled(name: string): string {
  const before = known.get(name)
  if (before !== undefined) return before
  const { code, errors } = transformSync(name, readFileSync(join(source, name), 'utf8'), {
    target: 'es2022',
    typescript: { onlyRemoveTypeImports: true },
  })
  if (errors.length > 0) throw new Error(`${name}: ${errors.map(({ message }) => message).join('\n')}`)
  const printed = minifySync(name, code, {
    module: true,
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: false, legalComments: 'none' },
  })
  known.set(name, printed.code)
  return printed.code
}
