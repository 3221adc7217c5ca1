import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** An error of the compiler: its file from the root of the repository, and what is wrong. */
export interface TypeFault {
  readonly file: string
  readonly text: string
}

/** Checks types of the repository with other text in some files. Files that do not change are read and bound once. */
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
    const names = [...new Set([...this.#config.fileNames, ...this.#changed.keys()])]
    const program = ts.createProgram(names, this.#config.options, this.#host, this.#program)
    this.#program = program
    const paths = new Set([...looked].map((file) => resolve(root, file)))
    const files = importers ? withImporters(program, paths) : paths
    return [...files].flatMap((file) => {
      const source = program.getSourceFile(file)
      if (source === undefined) return []
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return found.map(({ messageText }) => ({
        file: file.slice(root.length),
        text: ts.flattenDiagnosticMessageText(messageText, '\n'),
      }))
    })
  }
}

function configuration(): ts.ParsedCommandLine {
  const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), (file) => readFileSync(file, 'utf8')) as {
    config: unknown
  }
  return ts.parseJsonConfigFileContent(config, ts.sys, root)
}

/** Files with those that import one of them, types alone included. */
function withImporters(program: ts.Program, files: ReadonlySet<string>): Set<string> {
  const found = new Set(files)
  for (const source of program.getSourceFiles()) {
    if (source.fileName.includes('/node_modules/')) continue
    const imported = ts.preProcessFile(source.text).importedFiles
    const paths = imported.map(({ fileName }) => resolve(source.fileName, '..', fileName.replace(/\.js$/, '.ts')))
    if (paths.some((path) => files.has(path))) found.add(source.fileName)
  }
  return found
}
