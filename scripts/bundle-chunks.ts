import { basename } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { build, type BuildOptions, type Metafile, type OutputFile, type Plugin, transform } from 'esbuild'

/**
 * Bundles a program into one script of many functions: what only some commands load is a chunk, and a chunk a function that runs when it is
 * first imported. V8 keeps code of functions that ran, and of those beside them: with all modules in one scope it would keep an entry of
 * every function of the program, for every command.
 *
 *   esbuild, split at each `import()`  ->  chunks with `import` and `export`
 *   commonJs                           ->  chunks with `require` and `module.exports`
 *   esbuild over the chunks            ->  one script
 */

const splitting = { format: 'esm', supported: {}, splitting: true, write: false, sourcemap: 'inline' } as const
const joining = { format: 'cjs', supported: { 'dynamic-import': false } } as const
/** Pattern of the exports of a module, as esbuild writes them. */
const exportsOfChunk = /__export\((\w+),\{([^}]*)\}\);module\.exports=__toCommonJS\(\1\);/
const namespace = 'chunk'

/** Bundles the one entry of `options`, and returns what the bundle consists of. `script` has the options of the script alone. */
export async function bundleChunks(
  options: BuildOptions & { readonly entryPoints: Record<string, string> },
  script: BuildOptions,
): Promise<Metafile> {
  const { outputFiles, metafile } = await build({ ...options, ...splitting, metafile: true })
  const chunks = new Map<string, string>()
  for (const file of outputFiles) chunks.set(basename(file.path), await commonJs(file, options))
  refuseCircles(metafile)
  const [name] = Object.keys(options.entryPoints)
  const entryPoints = { [name as string]: `${name}.js` }
  await build({ ...options, ...joining, ...script, entryPoints, plugins: [reading(chunks)] })
  return metafile
}

/**
 * A chunk in CommonJS. Its exports become plain members, set at its end: getters, as esbuild writes them, take 15 % of the time that a node
 * takes for a block.
 */
async function commonJs({ path, text }: OutputFile, { target, platform }: BuildOptions): Promise<string> {
  const options = { ...joining, target, platform, minifyWhitespace: true, sourcemap: 'inline' } as const
  const { code } = await transform(text, { ...options, sourcefile: basename(path) } as Parameters<typeof transform>[1])
  const [all, , members] = exportsOfChunk.exec(code) ?? []
  if (all === undefined || members === undefined) {
    if (code.includes('__toCommonJS(')) throw new Error(`the exports of ${path} are written in another way`)
    return code
  }
  const body = code.replace(all, '')
  const end = body.lastIndexOf('//# sourceMappingURL=')
  const set = namesSet(parseAst(body))
  const values = members.split(',').map((member) => exported(member, set))
  return `${body.slice(0, end)};module.exports={__esModule:true,${values.join(',')}};\n${body.slice(end)}`
}

/** A member `name:()=>value` of the exports: its value, or a getter where the chunk, or the one that it comes from, may set it later. */
function exported(member: string, set: ReadonlySet<string>): string {
  const [, name, value] = /^([\w$]+):\(\)=>([\w$.]+)$/.exec(member) ?? []
  if (name === undefined || value === undefined) throw new Error(`an export is written in another way: ${member}`)
  return set.has(value) || value.includes('.') ? `get ${name}(){return ${value}}` : `${name}:${value}`
}

/** Names that code sets anywhere but where it declares them; those of a function's own variables count too. */
function namesSet(code: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  visitNodes(code, (node) => {
    const target = targetOf(node)
    if (target === undefined) return
    visitNodes(target, ({ type, name }) => {
      if (type === 'Identifier') names.add(String(name))
    })
  })
  return names
}

/** The name, member or pattern that a node of a syntax tree (ESTree) sets. */
function targetOf({ type, left, argument }: SyntaxNode): unknown {
  if (type === 'AssignmentExpression' || type === 'ForInStatement' || type === 'ForOfStatement') return left
  return type === 'UpdateExpression' ? argument : undefined
}

type SyntaxNode = { readonly type: string } & Readonly<Record<string, unknown>>

function visitNodes(value: unknown, visit: (node: SyntaxNode) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') visit(value as SyntaxNode)
  for (const member of Object.values(value)) visitNodes(member, visit)
}

/** Throws where chunks import each other: one of them would run before the members of the other are set. */
function refuseCircles({ outputs }: Metafile): void {
  const done = new Set<string>()
  const visit = (path: string, above: readonly string[]) => {
    if (above.includes(path)) throw new Error(`chunks import each other: ${[...above, path].join(' ')}`)
    if (done.has(path)) return
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') visit(next, [...above, path])
    done.add(path)
  }
  for (const path of Object.keys(outputs)) visit(path, [])
}

/** Reads chunks by their names, with and without `./`. */
function reading(chunks: ReadonlyMap<string, string>): Plugin {
  return {
    name: namespace,
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /\.js$/ }, ({ path }) =>
        chunks.has(basename(path)) ? { path: basename(path), namespace } : undefined,
      )
      onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: chunks.get(path) ?? '', loader: 'js' }))
    },
  }
}
