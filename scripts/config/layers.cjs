// The layers of docs/architecture.md, lowest first. A folder may import from rows above its own, never sideways or up.
const rows = [
  ['errors.ts', 'env.ts', 'option.ts'],
  ['system.ts', 'slices.ts', 'token-bucket.ts', 'version.ts', 'json5.ts'],
  ['primitives'],
  ['crypto'],
  ['did'],
  ['consensus'],
  ['storage'],
  ['search'],
  ['chain'],
  ['mempool'],
  ['events'],
  ['mining'],
  ['voting'],
  ['network'],
  ['core.ts'],
  ['resolver', 'wallet'],
  ['devnet'],
  ['api'],
  ['node.ts'],
  ['serving.ts'],
  ['config', 'client'],
  ['library'],
  ['index.ts'],
  ['cli'],
]
const place = (name) => (name.endsWith('.ts') ? `^src/${name.replace('.', '\\.')}$` : `^src/${name}/`)

const layers = rows.flatMap((row, depth) =>
  row.map((name) => ({
    name: `layer-${name}`,
    comment: `${name} imports only from the layers below it`,
    severity: 'error',
    from: { path: place(name) },
    to: {
      path: '^src/',
      pathNot: [place(name), ...rows.slice(0, depth).flat().map(place)],
    },
  })),
)

module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'wallet-below',
      comment: 'the wallet works offline: primitives, crypto and did are all it needs',
      severity: 'error',
      from: { path: '^src/wallet/' },
      to: { path: '^src/(consensus|storage|search|chain|mempool|mining|voting|network|resolver|devnet|api)/' },
    },
    {
      name: 'resolver-below',
      severity: 'error',
      from: { path: '^src/resolver/' },
      to: { path: '^src/(chain|mempool|mining|voting|network|wallet|devnet|api)/' },
    },
    {
      name: 'pure-layers',
      comment: 'pure layers do no I/O; hashing is the one thing they take from Node',
      severity: 'error',
      from: {
        path: '^src/((primitives|did|consensus)/|voting/(message|machine|machine-events|votes|summary|sign-state)\\.ts$)',
        pathNot: '^src/primitives/hash\\.ts$',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'rules-never-verify',
      comment: 'consensus, did and the vote return the signature checks they need; the caller runs them in bulk',
      severity: 'error',
      from: { path: '^src/((did|consensus)/|voting/(message|machine|machine-events|votes|summary|sign-state)\\.ts$)' },
      to: { path: '^src/crypto/' },
    },
    {
      name: 'level-in-one-place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/database\\.ts$' },
      to: { path: 'node_modules/(level|classic-level|memory-level)/' },
    },
    {
      name: 'http-in-one-place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/api/' },
      to: { path: 'node_modules/(fastify|@fastify|ws)/' },
    },
    {
      name: 'libp2p-in-one-place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/network/transport/' },
      to: { path: 'node_modules/(libp2p|@libp2p|@chainsafe|@multiformats)/' },
    },
    {
      name: 'libp2p-when-needed',
      comment: 'a node without peers does not wait for libp2p to load',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/network/transport/' },
      to: {
        path: '^src/network/transport/',
        pathNot: '^src/network/transport/limits\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'worker-pool-in-node',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(node\\.ts|crypto/)' },
      to: { path: '^src/crypto/pool\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
}
