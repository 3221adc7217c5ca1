// The layers of docs/architecture.md, lowest first. A wing imports only from rows above its own, never sideways or from below it.
const wings = [
  ['base'],
  ['identity'],
  ['clients', 'ledger'],
  ['voting'],
  ['network'],
  ['answers'],
  ['node'],
  ['index.ts'],
  ['program'],
  ['explorer'],
]
// The order inside wings: names without .ts are folders, `files` are those of the wing that no row names.
const inside = {
  base: [['errors'], ['runtime'], ['primitives'], ['crypto']],
  identity: [['did'], ['proofs'], ['did-query'], ['did-index']],
  clients: [['light'], ['wallet'], ['client']],
  ledger: [['consensus'], ['storage'], ['chain'], ['mempool'], ['events'], ['production']],
  'ledger/storage': [['failure.ts', 'native-level.ts'], ['rows'], ['write'], ['files'], ['care']],
  voting: [['tendermint'], ['files'], ['height'], ['voting.ts']],
  network: [
    ['link.ts', 'assumed-block.ts', 'penalties.ts'],
    ['address'],
    ['wire'],
    ['transport', 'peers'],
    ['fetch'],
    ['sync', 'relay'],
    ['files'],
    ['network.ts'],
  ],
  answers: [['identifiers'], ['prover'], ['resolver'], ['api']],
  'answers/api': [
    ['api-limits.ts', 'node-handles.ts'],
    ['schemas'],
    ['parameters.ts'],
    ['streams'],
    ['http'],
    ['metrics'],
    ['api-context.ts'],
    ['results'],
    ['rpc'],
    ['ws'],
    ['paths'],
    ['servers', 'files'],
  ],
  node: [['devnet'], ['files'], ['config'], ['library']],
  program: [['console'], ['cli']],
}

/** One rule for each place of an order: what lies in it imports nothing from a later place of the same folder. */
function order(folder, rows) {
  const named = rows.flat().filter((name) => name !== 'files')
  const place = (name) => {
    if (name === 'files') return `^${folder}/(?!(${named.join('|').replaceAll('.', '\\.')})$)[^/]+\\.ts$`
    return name.endsWith('.ts') ? `^${folder}/${name.replace('.', '\\.')}$` : `^${folder}/${name}/`
  }
  return rows.flatMap((row, depth) =>
    row.map((name) => ({
      name: `layer-${folder.slice('src/'.length)}${folder === 'src' ? '' : '/'}${name}`,
      comment: `${name} imports only from the layers below it`,
      severity: 'error',
      from: { path: place(name) },
      to: { path: `^${folder}/`, pathNot: [place(name), ...rows.slice(0, depth).flat().map(place)] },
    })),
  )
}

const layers = [order('src', wings), ...Object.entries(inside).map(([wing, rows]) => order(`src/${wing}`, rows))].flat()

module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'wallet-below',
      comment: 'the wallet works offline: primitives, crypto and did are all it needs',
      severity: 'error',
      from: { path: '^src/clients/wallet/' },
      to: { path: '^src/', pathNot: '^src/(clients/wallet|base|identity/did)/' },
    },
    {
      name: 'resolver-below',
      severity: 'error',
      from: { path: '^src/answers/resolver/' },
      to: { path: '^src/(ledger/(chain|mempool|production)|voting|network|clients)/' },
    },
    {
      name: 'pure-layers',
      comment: 'pure layers do no I/O; runtime/node-crypto.ts is the one thing they take from Node',
      severity: 'error',
      from: {
        path: '^src/(base/primitives|identity/(did|proofs)|answers/identifiers|ledger/consensus|voting/tendermint)/',
      },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'rules-never-verify',
      comment: 'consensus, did and the vote return the signature checks they need; the caller runs them in bulk',
      severity: 'error',
      from: { path: '^src/(identity/(did|proofs)|ledger/consensus|voting/tendermint)/' },
      to: { path: '^src/base/crypto/' },
    },
    {
      name: 'level-in-one-place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/ledger/storage/native-level\\.ts$' },
      to: { path: 'node_modules/(level|classic-level|memory-level)/' },
    },
    {
      name: 'care-when-asked',
      comment:
        'a node reads backup, salvage, pruning and rebuilding when it is asked for them; the checks of a start are small',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/ledger/storage/care/(backup|level|check-map-rows|build-map)' },
      to: {
        path: '^src/ledger/storage/care/(backup|backup-place|prune-block|build-map|check-map-rows|level/salvage)\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'http-in-one-place',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(answers/api/|clients/client/follow-events\\.ts$)' },
      to: { path: 'node_modules/(find-my-way|ws)/' },
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
        pathNot: '^src/network/transport/transport-limits\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'pages-in-browsers',
      comment: 'pages run in a browser: rooms below them that do so too, packages for browsers, and types of answers',
      severity: 'error',
      from: { path: '^src/explorer/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/(explorer/|base/(errors|primitives)/|identity/did/|clients/light/|answers/api/schemas/|ledger/events/)',
      },
    },
    {
      name: 'pages-know-answers-as-types',
      severity: 'error',
      from: { path: '^src/explorer/' },
      to: { path: '^src/(answers|ledger)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pages-without-node',
      severity: 'error',
      from: { path: '^src/explorer/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'light-in-browsers',
      comment: 'a light resolver runs in a browser',
      severity: 'error',
      from: { path: '^src/clients/light/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'worker-pool-in-node',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(node|base/crypto)/' },
      to: { path: '^src/base/crypto/verifier-pool\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js'] },
  },
}
