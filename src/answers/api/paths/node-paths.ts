/**
 * The paths of HTTP: one row each, from which the ports, 404 and 405, /openapi.json and docs/rest.md are made.
 *
 *   rest-routes.ts       /api/v1/...         envelope of REST           results; run by rest-paths.ts
 *   rpc-path.ts          /, /rpc             JSON-RPC                   rpc
 *   light-routes.ts      /light/1/...        bare JSON                  resolver.proofs
 *   witness-paths.ts     /witness/1/...      bare JSON                  heads that it has cosigned
 *   identifiers-path.ts  /1.0/identifiers/*  W3C DID Resolution         identifiers
 *   registrar-paths.ts   /1.0/create ...     DID Registration (devnet)  clients/registrar
 *   plain-routes.ts      /healthz ...        a form of their own        node-handles, metrics
 *   page-paths.ts        /, /assets/*        files of the explorer      http/page-files
 *
 * - rest-routes.ts, light-routes.ts and plain-routes.ts are tables for the ports and the reference; a *Paths function binds rows to a node.
 */
import { jsonForm } from '../http/answer-forms.js'
import type { PathRow } from '../http/path-row.js'
import { upgradeError, webSocketPath } from '../ws/web-sockets.js'
import { identifiersPath } from './identifiers-path.js'
import { lightPaths } from './light-paths.js'
import type { NodePort } from './node-port.js'
import { pagePaths } from './page-paths.js'
import { plainPaths, plainRoutesOf } from './plain-routes.js'
import { registrarPaths } from './registrar-paths.js'
import { restPaths } from './rest-paths.js'
import { nodeRpcPaths } from './rpc-path.js'
import { witnessPaths } from './witness-paths.js'

/** Every path of a node's REST port. */
export function nodePaths(port: NodePort, { webSockets }: { readonly webSockets: boolean }): PathRow[] {
  const { context, limits, heights, kept } = port
  const { resolver, log, dereference, pages } = context
  const source = { source: resolver, now: () => resolver.now() }
  return [
    ...restPaths(port),
    ...nodeRpcPaths(port),
    ...lightPaths(port),
    ...(context.witness === undefined ? [] : witnessPaths(context.witness)),
    identifiersPath({ ...source, dereference, log, limits, heights, kept }),
    ...(context.registrar === undefined
      ? []
      : registrarPaths({ registrar: context.registrar, access: port.access, log })),
    ...plainPaths(plainRoutesOf(context), context),
    ...(webSockets ? [webSocketRow] : []),
    ...(pages === undefined ? [] : pagePaths(pages)),
  ]
}

/** The path of WebSockets, for requests that ask for none. */
const webSocketRow: PathRow = {
  path: webSocketPath,
  methods: ['GET'],
  form: jsonForm('rpc'),
  headers: { upgrade: 'websocket' },
  run: () => {
    throw upgradeError('the request does not ask for it')
  },
}
