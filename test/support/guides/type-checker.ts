import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** An error of the compiler: its file from the root of the repository, and what is wrong. */
export interface TypeFault {
  readonly file: string
  readonly text: string
}

/**
 * Checks types of files of the repository with other text in some. Of the others those are read that the checked ones import, once:
 * no file of the repository declares anything for files that do not import it.
 */
export class TypeChecker {
  readonly #config = configuration()
  readonly #host: ts.CompilerHost
  readonly #sources = new Map<string, ts.SourceFile | undefined>()
  #changed = new Map<string, string>()
  #program: ts.Program | undefined

  constructor() {
    const host = ts.createCompilerHost(this.#config.options)
    const { getSourceFile, fileExists, readFile } = host
    host.fileExists = (file) => this.#changed.has(file) || fileExists(file)
    host.readFile = (file) => this.#changed.get(file) ?? readFile(file)
    host.getSourceFile = (file, ...options) => {
      const key = `${file}\n${this.#changed.get(file) ?? ''}`
      if (!this.#sources.has(key)) this.#sources.set(key, getSourceFile(file, ...options))
      return this.#sources.get(key)
    }
    this.#host = host
  }

  /** Errors in some files, with `importers` also in those that import one of them, after others have changed. */
  faults(changed: ReadonlyMap<string, string>, looked: Iterable<string>, { importers = false } = {}): TypeFault[] {
    this.#changed = new Map([...changed].map(([file, text]) => [resolve(root, file), text]))
    const paths = new Set([...looked].map((file) => resolve(root, file)))
    const files = importers ? this.#withImporters(paths) : [...paths]
    const program = ts.createProgram(files, this.#config.options, this.#host, this.#program)
    this.#program = program
    return files.flatMap((file) => {
      const source = program.getSourceFile(file)
      if (source === undefined) return []
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return found.map(({ messageText }) => ({
        file: file.slice(root.length),
        text: ts.flattenDiagnosticMessageText(messageText, '\n'),
      }))
    })
  }

  /** Files with those of the repository that import one of them, types alone included. */
  #withImporters(files: ReadonlySet<string>): string[] {
    const names = [...files].map((file) => basename(file, '.ts'))
    const importing = this.#config.fileNames.filter((file) => {
      const text = this.#host.readFile(file) ?? ''
      if (!names.some((name) => text.includes(name))) return false
      const imported = ts.preProcessFile(text).importedFiles
      return imported.some(({ fileName }) => files.has(resolve(file, '..', fileName.replace(/\.js$/, '.ts'))))
    })
    return [...new Set([...files, ...importing])]
  }
}

function configuration(): ts.ParsedCommandLine {
  const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
    config: unknown
  }
  return ts.parseJsonConfigFileContent(config, ts.sys, root)
}
