import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** Folders of test files that run in one process and need nothing built. */
const folders = ['unit', 'rules', 'vectors', 'limits', 'behaviour']

/** Finds the tests of a source file: nearest first. */
export class RelatedTests {
  /** Importers of each file. */
  readonly #importers = new Map<string, Set<string>>()

  constructor(root: string) {
    for (const folder of ['src', 'test']) {
      const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      const files = entries
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      for (const file of files) this.#read(root, file)
    }
  }

  /** Test files that import a file, itself or through others: its namesake, then its room, then by the number of imports. */
  of(source: string): string[] {
    const distances = new Map([[source, 0]])
    const queue = [source]
    for (const file of queue) {
      const distance = distances.get(file) ?? 0
      for (const importer of this.#importers.get(file) ?? []) {
        if (distances.has(importer)) continue
        distances.set(importer, distance + 1)
        queue.push(importer)
      }
    }
    const rank = (test: string) => 10 * (distances.get(test) ?? 0) - nearness(source, test)
    return [...distances.keys()].filter(isTest).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  }

  #read(root: string, file: string): void {
    const text = readFileSync(join(root, file), 'utf8')
    const add = (imported: string) => {
      const importers = this.#importers.get(imported) ?? new Set()
      this.#importers.set(imported, importers.add(file))
    }
    for (const [, path = ''] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      add(join(dirname(file), path).replace(/\.js$/, '.ts'))
    }
    // Tables of cases are imported by name of the folder.
    if (/readdirSync/.test(text) && isTest(file)) {
      const others = readdirSync(join(root, dirname(file))).filter((name) => /(?<!\.test)\.ts$/.test(name))
      others.forEach((name) => add(join(dirname(file), name)))
    }
  }
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') && folders.includes(file.split('/')[1] ?? '')
}

/** Higher for a test that is named after the file, lies in the folder of its room, or takes little time. */
function nearness(source: string, test: string): number {
  const name = source.replace(/^src\//, '').replace(/\.tsx?$/, '')
  if (test === `test/unit/${name}.test.ts`) return 100
  const [room, unit] = [dirname(name), test.startsWith('test/unit/') ? 4 : 0]
  const [top = ''] = room.split('/')
  if (test.startsWith(`test/unit/${room}/`)) return 12 + unit
  return (new RegExp(`^test/(unit|behaviour)/${top}/`).test(test) || test.startsWith('test/rules/') ? 6 : 0) + unit
}
